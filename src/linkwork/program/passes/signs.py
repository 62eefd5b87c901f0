"""Signs: a negation that meets an output is pushed into the difference behind it."""

from __future__ import annotations

from ..program import Op, Program
from .dead import rebuild, use_counts


def absorb_signs(program: Program) -> Program:
    """Tracing leaves negations at outputs only; ``-(a - b)`` becomes ``b - a`` where ``a - b`` has no other use."""
    uses = use_counts(program)
    code = dict(program.numbered())
    for number, (op, *args) in program.numbered():
        if op == Op.NEG and args[0] in code and uses[args[0]] == 1:
            inner, *operands = code[args[0]]
            if inner == Op.SUB:
                code[number] = (int(Op.SUB), operands[1], operands[0])
    return rebuild(program, code.items(), program.results)
