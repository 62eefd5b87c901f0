"""Forces of the surroundings: laws that give the force on a frame from where it is and how it moves.

A law is a function of any scalar, so it is traced and compiled with the dynamics it acts in. Those here are
ready; any function of the same form is a law too.
"""

from __future__ import annotations

from typing import Protocol

from ..spatial import Force, Motion, Pose
from .added_mass import AddedMass
from .contact import Contact
from .drag import Drag

__all__ = ["AddedMass", "Contact", "Drag", "ForceLaw"]


def __dir__() -> list[str]:
    return __all__


class ForceLaw(Protocol):
    """``law(pose, velocity)``: the force applied to the robot at a frame's origin, with a moment about it.

    ``pose`` places the frame in the world; ``velocity`` has the linear velocity of the frame's origin and the angular
    velocity. Velocity and force are in the frame's own axes. No branches on values: see ``linkwork.scalar``.
    """

    def __call__(self, pose: Pose, velocity: Motion, /) -> Force: ...


LAWS: dict[str, type] = {"drag": Drag, "contact": Contact, "added_mass": AddedMass}  # by their names in robot files
