"""Your own functions over a robot's quantities, and several quantities at once, each compiled into one program.

An ordinary Python function runs once, on arrays of graph nodes (``TracedArray``), with a ``TracedRobot`` whose
quantities take and return such arrays. Work that several quantities share is one node of the graph, so it is done once.
"""

from .compile_quantities import compile
from .function_ports import Input
from .traced_robot import TracedRobot

__all__ = ["Input", "TracedRobot", "compile"]
