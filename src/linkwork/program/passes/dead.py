"""Dead code: keep only what the results need, and number it anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from ..program import Instruction, Program


def rebuild(program: Program, numbered: Iterable[tuple[int, Instruction]], results: tuple[int, ...]) -> Program:
    """A program from ``(number, instruction)`` pairs in any valid order; dead ones are dropped, values renumbered."""
    instructions = list(numbered)
    live = set(results)
    for number, (_, *args) in reversed(instructions):
        if number in live:
            live.update(args)
    n_inputs, first = program.n_inputs, program.first_instruction
    new = {k: k for k in range(n_inputs)}
    constants = []
    for k in range(n_inputs, first):
        if k in live:
            new[k] = n_inputs + len(constants)
            constants.append(program.constants[k - n_inputs])
    start = n_inputs + len(constants)
    kept = []
    for number, (op, *args) in instructions:
        if number in live:
            new[number] = start + len(kept)
            kept.append((op, *(new[a] for a in args)))
    return replace(
        program,
        constants=tuple(constants),
        instructions=tuple(kept),
        results=tuple(new[r] for r in results),
    )


def use_counts(program: Program) -> list[int]:
    """How often each value is used, results included."""
    uses = Counter(program.results)
    uses.update(chain.from_iterable([code[1:] for code in program.instructions]))
    return [uses[value] for value in range(program.n_values)]
