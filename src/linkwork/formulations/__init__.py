"""The published algorithms, one file each, over any scalar; quantities compose them, the catalog lists them."""

from .catalog import METHODS, find, methods, references
from .execute import executed
from .method import Method
from .orthogonal import Orthogonal, dot
from .quantities import QUANTITIES, Quantity, Request, entries, sizes, vectors

__all__ = [
    "METHODS",
    "QUANTITIES",
    "Method",
    "Orthogonal",
    "Quantity",
    "Request",
    "dot",
    "entries",
    "executed",
    "find",
    "methods",
    "references",
    "sizes",
    "vectors",
]
