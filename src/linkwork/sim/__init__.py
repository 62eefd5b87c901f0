"""Motion: one simulated trajectory, or batches of them with the time loop in native code."""

from .findings import WARNING
from .names import entry_names
from .rollout import OUTPUTS, STOPPED, rollout
from .setup import OPEN, rest, zero
from .simulate import METHODS, STEP, simulate
from .trajectory import Trajectory

__all__ = [
    "METHODS",
    "OPEN",
    "OUTPUTS",
    "STEP",
    "STOPPED",
    "WARNING",
    "Trajectory",
    "entry_names",
    "rest",
    "rollout",
    "simulate",
    "zero",
]
