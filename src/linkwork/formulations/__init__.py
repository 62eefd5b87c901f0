"""The published algorithms, one file each, over any scalar; quantities compose them, the catalog lists them."""

from .catalog import METHODS, by_inertia_and_bias, find, methods, references
from .energy import body_velocities, kinetic_energy, momentum
from .execute import executed
from .method import Method
from .multipliers import ByMultipliers
from .passive import body_wrenches, friction_slopes, passive_forces
from .quantities import QUANTITIES, Quantity, Request, entries, joint_forces, sizes, vectors

__all__ = [
    "METHODS",
    "QUANTITIES",
    "ByMultipliers",
    "Method",
    "Quantity",
    "Request",
    "body_velocities",
    "body_wrenches",
    "by_inertia_and_bias",
    "entries",
    "executed",
    "find",
    "friction_slopes",
    "joint_forces",
    "kinetic_energy",
    "methods",
    "momentum",
    "passive_forces",
    "references",
    "sizes",
    "vectors",
]
