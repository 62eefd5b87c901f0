"""Kinematics: joint positions for poses and other tasks, and the fastest motion along a path."""

from .closed_forms import ClosedForm, closed_form
from .inverse import Solutions
from .path_following import FollowedPath
from .steps import Solution, solve
from .tasks import CenterOfMass, Direction, OnLine, OnPlane, Orientation, Pose, Position, Task
from .timed_path import TimedPath

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
    "TimedPath",
    "closed_form",
    "solve",
]


def __dir__() -> list[str]:
    return __all__
