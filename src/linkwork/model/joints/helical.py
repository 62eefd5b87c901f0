"""A rotation about z with a translation along it: a screw of ``pitch`` metres per radian."""

from __future__ import annotations

from ...spatial import Motion, Screw, Vector, Z
from .cylindrical import without_symmetric_tensor
from .kind import JointKind
from .revolute import cos_sin_of_sum


class Helical(JointKind):
    name = "helical"
    position_units = ("rad",)
    turning = (True,)
    directions = 1
    axial = True
    bounded = True
    pitched = True

    def transform(self, joint, q):
        return (Screw("z", *cos_sin_of_sum(q[0], joint.angle), joint.pitch * q[0] + joint.length),)

    def subspace(self, joint, q):
        return [Motion(Vector(0, 0, joint.pitch), Z)]

    def grouped(self, inertia):
        return without_symmetric_tensor(inertia)
