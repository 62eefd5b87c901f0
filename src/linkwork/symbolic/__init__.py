"""Readable equations: quantities in named steps, with the papers' symbols, as text, LaTeX, Python and sympy."""

from .build import from_program, symbolic
from .symbolic_model import SymbolicModel

__all__ = ["SymbolicModel", "from_program", "symbolic"]
