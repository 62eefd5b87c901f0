"""linkwork: a compiler for the dynamics of robots.

import linkwork

robot = linkwork.load("panda")  # a bundled robot, a URDF, MJCF or YAML file
tau = robot.inverse_dynamics(q, v, a)  # arrays of any leading batch axes
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    DivergedError,
    IdentificationWarning,
    LinkworkError,
    ModelError,
    ModelWarning,
    ShapeError,
    SimulationWarning,
    SymbolsWarning,
    UnknownNameError,
    UnsupportedError,
)
from .renamed import refuse

if TYPE_CHECKING:
    from . import (
        control,
        drawing,
        forces,
        identify,
        inspection,
        io,
        kinematics,
        library,
        linalg,
        model,
        report,
        rotations,
        scalar,
        spatial,
        sweep,
        targets,
        view,
    )
    from .assembly import Assembly
    from .coefficient_tables import Tables, tabulate
    from .compose import Input, TracedRobot, compile
    from .formulations import Method, methods
    from .function import Function
    from .io import bundled_robots
    from .iteration import Root, find_root, repeat
    from .model import ElasticDrive, Model, SoftLimits
    from .program import Operations, Program
    from .robot import Robot, load
    from .rotations import pose_error
    from .sampled import SampledFunction
    from .sim import AdamsBashforth, Integrator, Rosenbrock, RungeKutta, Stepper, Trajectory, add_integrator
    from .symbolic import SymbolicModel

__version__ = "0.1.0"

__all__ = [  # every name has its place in a page of docs/api/
    "AdamsBashforth",
    "Assembly",
    "DivergedError",
    "ElasticDrive",
    "Function",
    "IdentificationWarning",
    "Input",
    "Integrator",
    "LinkworkError",
    "Method",
    "Model",
    "ModelError",
    "ModelWarning",
    "Operations",
    "Program",
    "Robot",
    "Root",
    "Rosenbrock",
    "RungeKutta",
    "SampledFunction",
    "ShapeError",
    "SimulationWarning",
    "SoftLimits",
    "Stepper",
    "SymbolicModel",
    "SymbolsWarning",
    "Tables",
    "TracedRobot",
    "Trajectory",
    "UnknownNameError",
    "UnsupportedError",
    "add_integrator",
    "bundled_robots",
    "compile",
    "control",
    "drawing",
    "find_root",
    "forces",
    "identify",
    "inspection",
    "io",
    "kinematics",
    "library",
    "linalg",
    "load",
    "methods",
    "model",
    "pose_error",
    "repeat",
    "report",
    "rotations",
    "scalar",
    "spatial",
    "sweep",
    "tabulate",
    "targets",
    "view",
]

_PARTS = {  # where the names are; a part is imported when it, or something of it, is first asked for
    "assembly": {"Assembly"},
    "coefficient_tables": {"Tables", "tabulate"},
    "compose": {"Input", "TracedRobot", "compile"},
    "control": set(),
    "drawing": set(),
    "forces": set(),
    "formulations": {"Method", "methods"},
    "function": {"Function"},
    "identify": set(),
    "inspection": set(),
    "io": {"bundled_robots"},
    "iteration": {"Root", "find_root", "repeat"},
    "kinematics": set(),
    "library": set(),
    "linalg": set(),
    "model": {"ElasticDrive", "Model", "SoftLimits"},
    "program": {"Operations", "Program"},
    "report": set(),
    "robot": {"Robot", "load"},
    "rotations": {"pose_error"},
    "sampled": {"SampledFunction"},
    "scalar": set(),
    "sim": {"AdamsBashforth", "Integrator", "Rosenbrock", "RungeKutta", "Stepper", "Trajectory", "add_integrator"},
    "spatial": set(),
    "sweep": set(),
    "symbolic": {"SymbolicModel"},
    "targets": set(),
    "view": set(),
}


def __getattr__(name: str) -> Any:
    for part, names in _PARTS.items():
        if name == part or name in names:
            module = import_module(f".{part}", __name__)
            globals()[name] = value = module if name == part else getattr(module, name)
            return value
    refuse(__name__, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
