"""Added mass: the fluid that a body carries along when it accelerates."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import ModelError
from ..spatial import ArticulatedInertia, Force, Matrix, Motion, Pose, Symmetric, Vector
from .fields import tidy


@dataclass(frozen=True)
class AddedMass:
    """Of a body with three planes of symmetry, those of the frame through ``center``, in a fluid that is at rest.

    The fluid has the kinetic energy 1/2 V^T A V of the frame's velocity V = (v, w), and by Kirchhoff's equations it
    takes the force A V' + V x* A V, where V' are the rates of the components of V. It has inertia and no weight, and
    its inertia is another one along each axis: so a body that does not move along one of them meets a moment, Munk's,
    v x p. As a law of force this is -V x* A V alone; A V' is inertia, and stands in M of the robot.

    mass     kg, along x, y and z
    inertia  kg m^2, about axes through the centre
    center   m, in the frame
    """

    mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: tuple[float, float, float] = (0.0, 0.0, 0.0)
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self):
        tidy(self)
        for name in ("mass", "inertia"):
            if min(getattr(self, name)) < 0:
                expected = "three numbers, zero or more"
                raise ModelError("out of range", where=f"AddedMass.{name}", got=getattr(self, name), expected=expected)

    @staticmethod
    def slender(length: float, width: float, height: float, density: float = 1000.0) -> AddedMass:
        """Of a link along x of its frame, from the origin to x = ``length``, with elliptic sections, ``width`` along y
        and ``height`` along z (m), by strips: a section that moves along y carries density pi (height / 2)^2 per metre
        (kg/m), the circle over what is across its way; along z likewise; along x nothing."""
        for name, value in (("length", length), ("width", width), ("height", height), ("density", density)):
            if not 0 < value < math.inf:
                raise ModelError("out of range", where=f"AddedMass.slender, {name}", got=value, expected="above zero")
        y, z = (density * math.pi * across**2 / 4 * length for across in (height, width))
        roll = density * math.pi * (width**2 - height**2) ** 2 / 128 * length
        return AddedMass((0.0, y, z), (roll, z * length**2 / 12, y * length**2 / 12), (length / 2, 0.0, 0.0))

    @property
    def matrix(self) -> ArticulatedInertia:
        """A, at the frame's origin."""
        (x, y, z), (a, b, c) = self.mass, self.inertia
        own = ArticulatedInertia(Symmetric(x, 0, 0, y, 0, z), Matrix.zero(), Symmetric(a, 0, 0, b, 0, c))
        return Pose(Matrix.identity(), Vector(*self.center)).articulated_outward(own)

    def __call__(self, pose: Pose, velocity: Motion) -> Force:
        return -velocity.cross_force(self.matrix @ velocity)
