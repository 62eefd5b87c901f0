"""Motion: one simulated trajectory, or batches of them with the time loop compiled."""

from ..codegen.schemes import AdamsBashforth, Rosenbrock, RungeKutta
from .findings import WARNING
from .grip import Grip, grip
from .integrators import INTEGRATORS, Integrator, add_integrator
from .linear import LinearSystem, linearise
from .names import OUTPUTS
from .options import Options
from .reuse import STOPPED
from .rollout import rollout
from .setup import OPEN, rest, zero
from .simulate import STEP, simulate
from .stepper import Stepper
from .trajectory import Trajectory

__all__ = [
    "INTEGRATORS",
    "OPEN",
    "OUTPUTS",
    "STEP",
    "STOPPED",
    "WARNING",
    "AdamsBashforth",
    "Grip",
    "Integrator",
    "LinearSystem",
    "Options",
    "Rosenbrock",
    "RungeKutta",
    "Stepper",
    "Trajectory",
    "add_integrator",
    "grip",
    "linearise",
    "rest",
    "rollout",
    "simulate",
    "zero",
]
