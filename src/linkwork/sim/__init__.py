"""Motion: one simulated trajectory, or batches of them with the time loop compiled."""

from ..codegen.schemes import AdamsBashforth, Rosenbrock, RungeKutta
from ..options import Options
from .contact.contact_report import ContactForces
from .derivatives.linear_system import LinearSystem, linearise
from .plant.initial_state import OPEN, rest, zero
from .rollout import rollout
from .schemes.integrators import INTEGRATORS, Integrator, add_integrator
from .simulate import STEP, simulate
from .stepper import Stepper
from .trajectory.output_buffer import STOPPED
from .trajectory.outputs import OUTPUTS
from .trajectory.trajectory import Trajectory

__all__ = [
    "INTEGRATORS",
    "OPEN",
    "OUTPUTS",
    "STEP",
    "STOPPED",
    "AdamsBashforth",
    "ContactForces",
    "Integrator",
    "LinearSystem",
    "Options",
    "Rosenbrock",
    "RungeKutta",
    "Stepper",
    "Trajectory",
    "add_integrator",
    "linearise",
    "rest",
    "rollout",
    "simulate",
    "zero",
]
