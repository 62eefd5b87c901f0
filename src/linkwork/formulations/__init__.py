"""The published algorithms, one file each, over any scalar; quantities compose them, the catalog lists them."""

from .catalog import METHODS, by_inertia_and_bias, find, methods, references
from .drives import drives_of, friction_laws
from .energy import body_velocities, kinetic_energy, momentum
from .execute import executed
from .khalil import ClosedLoops
from .method import Method
from .multipliers import ByMultipliers, Multipliers, drift
from .orthogonal import Orthogonal, dot
from .passive import body_wrenches, passive_forces, with_friction_ahead
from .quantities import QUANTITIES, Quantity, Request, entries, joint_forces, sizes, vectors

__all__ = [
    "METHODS",
    "QUANTITIES",
    "ByMultipliers",
    "ClosedLoops",
    "Method",
    "Multipliers",
    "Orthogonal",
    "Quantity",
    "Request",
    "body_velocities",
    "body_wrenches",
    "by_inertia_and_bias",
    "dot",
    "drift",
    "drives_of",
    "entries",
    "executed",
    "find",
    "friction_laws",
    "joint_forces",
    "kinetic_energy",
    "methods",
    "momentum",
    "passive_forces",
    "references",
    "sizes",
    "vectors",
    "with_friction_ahead",
]
