"""Passes: Program -> Program, each with the same inputs, outputs and values (to rounding)."""

from collections.abc import Iterator

from ..collector import collector_at_rest
from ..program import Program
from .constants import rescale
from .factor import factor
from .fuse import fuse_multiply_add
from .order import order_for_registers
from .powers import share_products
from .signs import absorb_signs
from .sums import collect_terms, share_sums
from .trigonometry import angle_sums, squares_of_sine_and_cosine

__all__ = [
    "CUSTOMISING",
    "absorb_signs",
    "angle_sums",
    "collect_terms",
    "customise",
    "customising",
    "factor",
    "fuse_multiply_add",
    "optimize",
    "order_for_registers",
    "rescale",
    "schedule",
    "share_products",
    "share_sums",
    "squares_of_sine_and_cosine",
]

CUSTOMISING = (squares_of_sine_and_cosine, angle_sums, rescale, factor, collect_terms, share_products, share_sums)
LARGE = 8000  # instructions; beyond, customising takes too long


def customise(program: Program) -> Program:
    """The passes that lower the number of operations, one after the other. A second round finds next to nothing."""
    if len(program.instructions) <= LARGE:
        for _, made in customising(program):
            program = made
    return program


def customising(program: Program) -> Iterator[tuple[str, Program]]:
    """The name of each pass in turn and the program after it."""
    for lower in CUSTOMISING:
        program = lower(program)
        yield lower.__name__, program


def schedule(program: Program) -> Program:
    """Signs, fused multiply-adds and a good order: quick, for programs that are not worth customising."""
    return order_for_registers(fuse_multiply_add(absorb_signs(program)))


@collector_at_rest()
def optimize(program: Program) -> Program:
    """The passes that every compiled program goes through."""
    return schedule(customise(program))
