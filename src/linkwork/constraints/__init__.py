"""Constraints of a robot: their equations, the degrees of freedom they leave, and how they are satisfied."""

from .closed_loops import ClosedLoops
from .equations import ConstraintEquations, SwitchedEquations, row_names
from .initial_assembly import closed
from .mobility import determines
from .saddle import RedundantSaddle, RegularSaddle, SaddlePoint, forces_at_cuts

__all__ = [
    "ClosedLoops",
    "ConstraintEquations",
    "RedundantSaddle",
    "RegularSaddle",
    "SaddlePoint",
    "SwitchedEquations",
    "closed",
    "determines",
    "forces_at_cuts",
    "row_names",
]
