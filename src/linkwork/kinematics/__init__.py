"""Inverse kinematics: joint positions for poses, positions, directions and other tasks of frames."""

from .steps import Solution, solve
from .tasks import CenterOfMass, Direction, OnLine, OnPlane, Orientation, Pose, Position, Task

__all__ = [
    "CenterOfMass",
    "Direction",
    "OnLine",
    "OnPlane",
    "Orientation",
    "Pose",
    "Position",
    "Solution",
    "Task",
    "solve",
]
