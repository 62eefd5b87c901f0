"""Passes: Program -> Program, each with the same inputs, outputs and values (to rounding)."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from ..collector import collector_at_rest
from ..program import Program
from .constants import rescale
from .factor import factor
from .fuse import fuse_multiply_add
from .order import order_for_registers
from .powers import share_products
from .runs import share_runs
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
    "share_runs",
    "share_sums",
    "squares_of_sine_and_cosine",
]

CUSTOMISING = (squares_of_sine_and_cosine, angle_sums, rescale, factor, collect_terms, share_products, share_sums)
LARGE = 8000  # instructions; beyond, customising takes too long


def customise(program: Program) -> Program:
    """Apply the passes that reduce the number of operations, one after the other; a second round gains little."""
    program = _with_bodies(program, customise)
    if len(program.instructions) <= LARGE:
        for _, made in customising(program):
            program = made
    return share_runs(program)


def customising(program: Program) -> Iterator[tuple[str, Program]]:
    """Yield the name of each customising pass in turn, and the program after it."""
    for lower in CUSTOMISING:
        program = lower(program)
        yield lower.__name__, program


def _with_bodies(program: Program, rewrite: Callable[[Program], Program]) -> Program:
    """Return the program with the bodies of its loops rewritten."""
    if not program.loops:
        return program
    return replace(program, loops=tuple(replace(loop, body=rewrite(loop.body)) for loop in program.loops))


def schedule(program: Program) -> Program:
    """Absorb signs, fuse multiply-adds and order instructions: fast, for programs that are not customised."""
    program = _with_bodies(program, schedule)
    return order_for_registers(share_runs(fuse_multiply_add(absorb_signs(program))))


@collector_at_rest()
def optimize(program: Program) -> Program:
    """Apply the passes that every compiled program goes through."""
    return schedule(customise(program))
