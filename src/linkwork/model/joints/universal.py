"""Two rotations about axes that intersect at right angles: the first fixed in the parent, the second in the body."""

from __future__ import annotations

import numpy as np

from ...scalar import cos, sin
from ...spatial import Inertia, Motion, Screw, Vector, Z
from .kind import JointKind


class Universal(JointKind):
    """Rotations about z, a quarter turn about x, and about z: the second axis is z of the body, the first y at zero."""

    name = "universal"
    position_parts = velocity_parts = ("first", "second")
    position_units = ("rad", "rad")
    position_meaning = "about the first axis, then the second"
    velocity_meaning = "about the first axis, then the second"
    turning = (True, True)
    directions = 2
    successive = True

    def frames(self, axis, second_axis):
        first, second = (each / np.linalg.norm(each) for each in (axis, second_axis))
        normal = np.cross(first, second)
        return np.stack([normal, -second, first], axis=1) + 0.0, np.stack([normal, first, second], axis=1) + 0.0

    def axes(self, frame):
        return frame[:, 1].copy(), frame[:, 2].copy()

    def transform(self, joint, q):
        first, second = q
        return Screw("z", cos(first), sin(first)), Screw("x", 0, 1), Screw("z", cos(second), sin(second))

    def subspace(self, joint, q):
        return [Motion(angular=Vector(sin(q[1]), cos(q[1]), 0)), Motion(angular=Z)]

    def subspace_rates(self, joint, q, v):
        """Return the rates: seen from the body, the first axis turns backwards about the second."""
        return [Motion(angular=Vector(cos(q[1]), -sin(q[1]), 0) * v[1]), Motion()]

    def grouped(self, inertia):
        return without_mass(inertia)


def without_mass(inertia: Inertia) -> tuple[Inertia, Inertia]:
    """Split off a mass in the centre of all rotations, which needs no force of them."""
    return Inertia(0, inertia.h, inertia.J), Inertia(inertia.mass)
