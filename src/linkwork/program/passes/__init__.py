"""Passes: Program -> Program, each with the same inputs, outputs and values (to rounding)."""

from ..program import Program
from .dead import remove_dead_code
from .fuse import fuse_multiply_add
from .order import order_for_registers
from .signs import absorb_signs

__all__ = ["absorb_signs", "fuse_multiply_add", "optimize", "order_for_registers", "remove_dead_code"]


def optimize(program: Program) -> Program:
    """The passes that every compiled program goes through."""
    return order_for_registers(fuse_multiply_add(absorb_signs(program)))
