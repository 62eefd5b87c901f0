"""Motion: one simulated trajectory, or batches of them with the time loop in native code."""

from .names import UNITS, entry_names
from .rollout import OUTPUTS, STOPPED, rollout
from .setup import OPEN, rest
from .simulate import METHODS, simulate
from .trajectory import Trajectory

__all__ = ["METHODS", "OPEN", "OUTPUTS", "STOPPED", "UNITS", "Trajectory", "entry_names", "rest", "rollout", "simulate"]
