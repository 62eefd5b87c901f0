"""The published algorithms, one file each, over any scalar; quantities compose them, the catalog lists them."""

from .catalog import METHODS, find, methods, references
from .execute import executed
from .method import Method
from .quantities import QUANTITIES, Quantity, Request

__all__ = ["METHODS", "QUANTITIES", "Method", "Quantity", "Request", "executed", "find", "methods", "references"]
