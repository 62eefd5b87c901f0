"""Dead code: keep only what the results need, and renumber it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

import numpy as np

from ..program import REPEAT, Instruction, Program


def rebuild(program: Program, numbered: Iterable[tuple[int, Instruction]], results: tuple[int, ...]) -> Program:
    """A program from ``(number, instruction)`` pairs in any valid order; dead ones are dropped, values renumbered."""
    instructions = list(numbered)
    live = bytearray(program.n_values)
    for r in results:
        live[r] = True
    for number, code in reversed(instructions):
        if live[number]:
            for a in code[1:]:
                live[a] = True
    n_inputs, first = program.n_inputs, program.first_instruction
    kept_constants = [k for k in range(n_inputs, first) if live[k]]
    new = [*range(n_inputs), *[0] * (program.n_values - n_inputs)]  # number of each value that is kept
    for number, k in enumerate(kept_constants, n_inputs):
        new[k] = number
    following = n_inputs + len(kept_constants)
    kept = []
    for number, code in instructions:
        if live[number]:
            new[number] = following
            following += 1
            kept.append((code[0], *[new[a] for a in code[1:]]))
    rebuilt = replace(
        program,
        constants=tuple([program.constants[k - n_inputs] for k in kept_constants]),
        instructions=tuple(kept),
        results=tuple(new[r] for r in results),
    )
    return _without_unused_loops(rebuilt) if program.loops else rebuilt


def _without_unused_loops(program: Program) -> Program:
    """The program without loops of which no instruction gives a final value; operations are renumbered."""
    used = {op for op, *_ in program.instructions}
    loops, operations, start, free = [], {}, REPEAT, REPEAT
    for loop in program.loops:
        if not used.isdisjoint(range(start, start + loop.carried)):
            loops.append(loop)
            operations |= {start + k: free + k for k in range(loop.carried)}
            free += loop.carried
        start += loop.carried
    code = tuple((operations.get(op, op), *args) for op, *args in program.instructions)
    return replace(program, instructions=code, loops=tuple(loops))


def use_counts(program: Program) -> list[int]:
    """Return how often each value is used, results included."""
    used = [*program.results, *chain.from_iterable([code[1:] for code in program.instructions])]
    return np.bincount(used, minlength=program.n_values).tolist()
