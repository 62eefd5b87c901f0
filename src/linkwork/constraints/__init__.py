"""What holds a robot's joints together beyond its tree: equations of loops, what they leave free, what closes them."""

from . import closure
from .closed_loops import ClosedLoops
from .home import closed
from .mobility import determines
from .multipliers import Multipliers, drift, forces_at_cuts

__all__ = ["ClosedLoops", "Multipliers", "closed", "closure", "determines", "drift", "forces_at_cuts"]
