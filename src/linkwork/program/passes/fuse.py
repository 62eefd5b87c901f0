"""Fused multiply-add selection: a product that only feeds sums is computed inside them, rounded once."""

from __future__ import annotations

from ..program import Op, Program
from .dead import rebuild, use_counts


def fuse_multiply_add(program: Program) -> Program:
    """``a * b + c`` becomes FMA, ``a * b - c`` FMS, ``c - a * b`` FNMA where the product has no other use.

    Chosen here, never by the optimiser of a back end, so that every back end and every position in a batch gives the
    same bits.
    """
    uses = use_counts(program)
    product = {number: args for number, (op, *args) in program.numbered() if op == Op.MUL and uses[number] == 1}
    fused = []
    for number, instruction in program.numbered():
        op, *args = instruction
        if op == Op.ADD:
            a, b = args
            if b in product:
                instruction = (Op.FMA, *product[b], a)
            elif a in product:
                instruction = (Op.FMA, *product[a], b)
        elif op == Op.SUB:
            a, b = args
            if b in product:
                instruction = (Op.FNMA, *product[b], a)
            elif a in product:
                instruction = (Op.FMS, *product[a], b)
        fused.append((number, tuple(int(x) for x in instruction)))
    return rebuild(program, fused, program.results)
