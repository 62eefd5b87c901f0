"""Assembling a robot with loops: positions of all joints from those of some."""

from .assembler import SINGULAR, Assembler, Assembly, numbers

__all__ = ["SINGULAR", "Assembler", "Assembly", "numbers"]
