"""Forces of the surroundings: laws that give the force on a frame from where it is and how it moves.

A law is a function of any scalar, so it is traced and compiled with the dynamics it acts in. Those here are ready; any
function of the same form is a law too. Laws with ``commands`` are driven: thrusters, rotors.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..spatial import Force, Motion, Pose
from .added_mass import AddedMass
from .contact import Contact
from .drag import Drag
from .fluid import Buoyancy, Plate
from .spring import Spring
from .thruster import Rotor, Thruster
from .tyre import Tyre

__all__ = ["AddedMass", "Buoyancy", "Contact", "Drag", "ForceLaw", "Plate", "Rotor", "Spring", "Thruster", "Tyre"]


def __dir__() -> list[str]:
    return __all__


class ForceLaw(Protocol):
    """``law(pose, velocity)``: the force applied to the robot at a frame's origin, with a moment about it.

    ``pose`` places the frame in the world; ``velocity`` has the linear velocity of the frame's origin and the angular
    velocity. Velocity and force are in the frame's own axes. No branches on values: see ``linkwork.scalar``.

    A law with an attribute ``commands``, a dict what -> unit, is called ``law(pose, velocity, commands)``, with their
    values. One with ``takes_gravity = True`` gets the acceleration of gravity in the world, ``gravity=``, too.

    A law with an attribute ``to``, further places, is called ``law(poses, velocities)`` with those of its frame first,
    and gives a force for each. One with a method ``energy(poses)`` adds to the robot's potential energy, and its
    ``without_spring()`` is the law without the forces that come from it.
    """

    def __call__(self, pose: Pose, velocity: Motion, /) -> Force: ...


LAWS: dict[str, type[Any]] = {  # by their names in robot files
    "drag": Drag,
    "contact": Contact,
    "added_mass": AddedMass,
    "buoyancy": Buoyancy,
    "plate": Plate,
    "thruster": Thruster,
    "rotor": Rotor,
    "spring": Spring,
    "tyre": Tyre,
}
