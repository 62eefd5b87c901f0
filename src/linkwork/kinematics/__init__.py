"""Inverse kinematics: joint positions for poses, positions, directions and other tasks of frames."""

from .closed_form import ClosedForm, closed_form
from .inverse import Solutions
from .path_following import FollowedPath
from .steps import Solution, solve
from .tasks import CenterOfMass, Direction, OnLine, OnPlane, Orientation, Pose, Position, Task

__all__ = [
    "CenterOfMass",
    "ClosedForm",
    "Direction",
    "FollowedPath",
    "OnLine",
    "OnPlane",
    "Orientation",
    "Pose",
    "Position",
    "Solution",
    "Solutions",
    "Task",
    "closed_form",
    "solve",
]


def __dir__() -> list[str]:
    return __all__
