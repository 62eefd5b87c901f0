"""Simulation: one motion, batches of motions with a compiled time loop, and their derivatives."""

from ..codegen.schemes import AdamsBashforth, Rosenbrock, RungeKutta
from ..options import Options
from .contact.contact_report import ContactForces
from .derivatives.linear_system import LinearSystem, linearise
from .plant.initial_state import OPEN, rest, zero
from .schemes.integrators import INTEGRATORS, Integrator, add_integrator
from .simulate import STEP, rollout, simulate
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
