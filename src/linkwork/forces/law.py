"""ForceLaw: the base of force laws that robot files can name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..model.element import Element, number, numbers
from ..scalar import Scalar, sqrt
from ..spatial import ArticulatedInertia, Force, Motion, Pose

TINY = 1e-30  # (m/s)^2, added to squared speeds: it changes no value, and the derivative of the root is finite at rest


def nonnegative(default: float, unit: str = "", **rule: Any) -> Any:
    """Declare a field that holds a number, zero or more."""
    return number(default, least=0, unit=unit, **rule)


def vector(default: tuple[float, float, float], unit: str = "", **rule: Any) -> Any:
    """Declare a field that holds three numbers."""
    return numbers(default, counts=(3,), unit=unit, **rule)


def direction() -> Any:
    """Declare a field that holds a vector of any length except zero; default: z."""
    return vector((0.0, 0.0, 1.0), nonzero=True, fix="give a direction, such as (0, 0, 1)")


def length_of(direction: Sequence[Scalar]) -> Scalar:
    """Return the length of a direction."""
    if all(isinstance(x, float) for x in direction):
        return math.hypot(*direction)
    return sqrt(sum((x * x for x in direction), start=0))


class ForceLaw(Element):
    """A law that gives the force on a frame from its pose and velocity: ``law(pose, velocity)``.

    Subclasses are frozen dataclasses whose fields are declared with rules, and have the ``name`` that robot files use.
    Any other function with the same signature is a law as well, but files cannot name it.

    The call gets the ``pose`` of the frame in the world and its ``velocity``: the linear velocity of the frame's origin
    and the angular velocity. It returns the force applied to the robot at the frame's origin, with the moment about the
    origin. Velocity and force are in the frame's axes. A law must not branch on values: see ``linkwork.scalar``.

    Optional attributes of a law:

    - ``commands``: a dict, command -> unit. The law is called ``law(pose, velocity, commands)`` with their values.
    - ``takes_gravity = True``: the call gets ``gravity=``, the acceleration of gravity in the world.
    - ``to``: further places. The call gets lists of poses and velocities, its frame first, and returns as many forces.
    - ``energy(poses)``: potential energy of the law; ``without_spring()``: the law without the forces of that energy.
    - ``added_inertia``: the inertia that it adds to its body, in the frame.
    - ``ground``: the height and the normal of the plane that it acts against.

    Example:
        >>> law = linkwork.forces.Thruster(axis=(1, 0, 0))
        >>> law.commands
        {'force': 'N'}
        >>> robot.with_forces({"panda_link8": lambda pose, velocity: linkwork.spatial.Force(velocity.linear * -2.0)}).nv
        7
    """

    name: ClassVar[str]
    known: ClassVar[dict[str, type[ForceLaw]]] = {}  # all laws, by name

    def __init_subclass__(cls, *, name: str, **options: Any):
        super().__init_subclass__(**options)
        cls.name = name
        ForceLaw.known[name] = cls

    def __post_init__(self):
        self.convert()

    @property
    def added_inertia(self) -> ArticulatedInertia | None:
        """The inertia that it adds to its body, in the frame; default: none."""
        return None

    @property
    def ground(self) -> tuple[float, tuple[float, ...]] | None:
        """The height and the normal of the plane that it acts against; default: none."""
        return None

    def __call__(self, pose: Pose, velocity: Motion, /) -> Force:
        raise NotImplementedError
