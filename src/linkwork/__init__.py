"""linkwork: a compiler for the dynamics of robots.

import linkwork

robot = linkwork.load("panda")  # a bundled robot, a URDF or a YAML file
tau = robot.inverse_dynamics(q, v, a)  # arrays of any leading batch axes
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import forces
from .assembly import Assembly
from .coefficient_tables import Tables, tabulate
from .errors import (
    DivergedError,
    LinkworkError,
    ModelError,
    ShapeError,
    SimulationWarning,
    UnknownNameError,
    UnsupportedError,
)
from .formulations import Method, methods
from .function import Function
from .io import bundled_robots
from .model import ElasticDrive, Model, SoftLimits
from .pipeline import compile
from .program import Operations, Program
from .robot import Robot, load
from .symbolic import SymbolicModel

if TYPE_CHECKING:
    from . import control
    from .sim import Trajectory

__version__ = "0.1.0"

__all__ = [
    "Assembly",
    "DivergedError",
    "ElasticDrive",
    "Function",
    "LinkworkError",
    "Method",
    "Model",
    "ModelError",
    "Operations",
    "Program",
    "Robot",
    "ShapeError",
    "SimulationWarning",
    "SoftLimits",
    "SymbolicModel",
    "Tables",
    "Trajectory",
    "UnknownNameError",
    "UnsupportedError",
    "bundled_robots",
    "compile",
    "control",
    "forces",
    "load",
    "methods",
    "tabulate",
]


def __getattr__(name: str) -> Any:
    """Simulation is imported when it is first used, so that all else starts sooner."""
    if name == "control":
        return import_module(".control", __name__)
    if name == "Trajectory":
        return import_module(".sim", __name__).Trajectory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
