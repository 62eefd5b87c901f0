"""Inverse kinematics: joint positions for poses, positions, directions and other tasks of frames."""

from .inverse import Solutions
from .maps import Map
from .path_following import FollowedPath
from .steps import Solution, solve
from .tasks import CenterOfMass, Direction, OnLine, OnPlane, Orientation, Pose, Position, Task

__all__ = [
    "CenterOfMass",
    "Direction",
    "FollowedPath",
    "Map",
    "OnLine",
    "OnPlane",
    "Orientation",
    "Pose",
    "Position",
    "Solution",
    "Solutions",
    "Task",
    "solve",
]


def __dir__() -> list[str]:
    return __all__
