"""Fused multiply-add selection: a product that only feeds sums is computed inside them, rounded once."""

from __future__ import annotations

from ..program import Op, Program
from .dead import rebuild, use_counts

MUL = int(Op.MUL)
FUSED = {  # what becomes of a sum or difference whose first, or second, operand is a product
    int(Op.ADD): (int(Op.FMA), int(Op.FMA)),
    int(Op.SUB): (int(Op.FMS), int(Op.FNMA)),
}


def fuse_multiply_add(program: Program) -> Program:
    """``a * b + c`` becomes FMA, ``a * b - c`` FMS, ``c - a * b`` FNMA where the product has no other use.

    Chosen here, never by the optimiser of a back end, so that every back end and every position in a batch gives the
    same bits.
    """
    uses = use_counts(program)
    product = {number: code[1:] for number, code in program.numbered() if code[0] == MUL and uses[number] == 1}
    fused = []
    for number, code in program.numbered():
        if code[0] in FUSED:
            if code[2] in product:
                code = (FUSED[code[0]][1], *product[code[2]], code[1])
            elif code[1] in product:
                code = (FUSED[code[0]][0], *product[code[1]], code[2])
        fused.append((number, code))
    return rebuild(program, fused, program.results)
