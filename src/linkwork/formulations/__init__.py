"""The published algorithms, one file each, over any scalar; quantities compose them, the catalog lists them."""

from .catalog import METHODS, find, methods, references
from .energy import body_velocities
from .execute import executed
from .khalil import ClosedLoops
from .method import Method
from .orthogonal import Orthogonal, dot
from .passive import body_wrenches, friction_slopes, passive_forces
from .quantities import QUANTITIES, Quantity, Request, entries, sizes, vectors

__all__ = [
    "METHODS",
    "QUANTITIES",
    "ClosedLoops",
    "Method",
    "Orthogonal",
    "Quantity",
    "Request",
    "body_velocities",
    "body_wrenches",
    "dot",
    "entries",
    "executed",
    "find",
    "friction_slopes",
    "methods",
    "passive_forces",
    "references",
    "sizes",
    "vectors",
]
