"""Runs of loops: one for loops that have become equal, with arguments that have become equal."""

from __future__ import annotations

from dataclasses import replace

from ..program import REPEAT, Instruction, Loop, Program
from .dead import rebuild


def share_runs(program: Program) -> Program:
    """Compute equal values once, final values of equal loops among them: back ends expect one run of each."""
    if not program.loops:
        return program
    first: dict[Loop, int] = {}  # operation of the first final value
    operations = REPEAT
    for loop in program.loops:
        if loop not in first:
            first[loop], operations = operations, operations + loop.carried
    at = list(range(program.n_values))  # the first value that is equal
    made: dict[Instruction, int] = {}
    for number, (op, *args) in program.numbered():
        if op >= REPEAT:
            loop, k = program.final(op)
            op = first[loop] + k
        at[number] = made.setdefault((op, *(at[a] for a in args)), number)
    numbered = ((number, instruction) for instruction, number in made.items())
    return rebuild(replace(program, loops=tuple(first)), numbered, tuple(at[r] for r in program.results))
