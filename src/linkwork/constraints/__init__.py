"""What holds a robot's joints together beyond its tree: equations of loops, what they leave free, what closes them."""

from .closed_loops import ClosedLoops
from .equations import LoopEquations, row_names
from .feet import Standing, Supports
from .initial_assembly import closed
from .mobility import determines
from .multipliers import Multipliers, forces_at_cuts

__all__ = [
    "ClosedLoops",
    "LoopEquations",
    "Multipliers",
    "Standing",
    "Supports",
    "closed",
    "determines",
    "forces_at_cuts",
    "row_names",
]
