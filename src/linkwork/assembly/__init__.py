"""Assembly of a robot with loops: positions of all joints from those of some."""

from .assembler import SINGULAR, Assembler, Assembly, finite_array

__all__ = ["SINGULAR", "Assembler", "Assembly", "finite_array"]
