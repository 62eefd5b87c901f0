"""linkwork: a compiler for the dynamics of robots.

import linkwork

robot = linkwork.load("panda")  # a bundled robot, a URDF or a YAML file
tau = robot.inverse_dynamics(q, v, a)  # arrays of any leading batch axes
"""

from . import control, forces
from .assembly import Assembly
from .coefficient_tables import Tables, tabulate
from .errors import DivergedError, LinkworkError, ModelError, ShapeError, UnknownNameError, UnsupportedError
from .formulations import Method, methods
from .function import Function
from .io import bundled_robots
from .model import ElasticDrive, Model, SoftLimits
from .pipeline import compile
from .program import Operations, Program
from .robot import Robot, load
from .sim import Trajectory
from .symbolic import SymbolicModel

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
