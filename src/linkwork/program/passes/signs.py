"""Signs: a negation that meets an output is pushed into the difference behind it."""

from __future__ import annotations

from ..program import Op, Program
from .dead import rebuild, use_counts

SUB, NEG = int(Op.SUB), int(Op.NEG)


def absorb_signs(program: Program) -> Program:
    """Tracing leaves negations at outputs only; ``-(a - b)`` becomes ``b - a`` where ``a - b`` has no other use."""
    uses, first = use_counts(program), program.first_instruction
    absorbed = {}
    for number, code in program.numbered():
        if code[0] == NEG and code[1] >= first and uses[code[1]] == 1:
            inner, *operands = program.instructions[code[1] - first]
            if inner == SUB:
                absorbed[number] = (SUB, operands[1], operands[0])
    if not absorbed:
        return program
    return rebuild(program, (dict(program.numbered()) | absorbed).items(), program.results)
