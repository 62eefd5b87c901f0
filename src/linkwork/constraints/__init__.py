"""What holds a robot's joints together beyond its tree: equations of loops, what they leave free, what closes them."""

from .closed_loops import ClosedLoops
from .equations import LoopEquations, SwitchedEquations, row_names
from .initial_assembly import closed
from .mobility import determines
from .saddle import RedundantSaddle, RegularSaddle, SaddlePoint, forces_at_cuts

__all__ = [
    "ClosedLoops",
    "LoopEquations",
    "RedundantSaddle",
    "RegularSaddle",
    "SaddlePoint",
    "SwitchedEquations",
    "closed",
    "determines",
    "forces_at_cuts",
    "row_names",
]
