"""A translation along z."""

from __future__ import annotations

from ...spatial import Inertia, Motion, Screw, Symmetric, Vector, Z
from ..rotations import cos_sin
from .kind import JointKind


class Prismatic(JointKind):
    name = "prismatic"
    position_units = ("m",)
    turning = (False,)
    directions = 1
    axial = True
    bounded = True

    def transform(self, joint, q):
        return (Screw("z", *cos_sin(joint.angle), q[0] + joint.length),)

    def subspace(self, joint, q):
        return [Motion(linear=Z)]

    def grouped(self, inertia):
        """Move the moments and products of inertia."""
        return Inertia(inertia.mass, inertia.h, Symmetric()), Inertia(0, Vector(), inertia.J)
