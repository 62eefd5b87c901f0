"""A rotation about z."""

from __future__ import annotations

from ...scalar import Scalar, cos, sin
from ...spatial import Inertia, Motion, Screw, Symmetric, Vector, Z
from ..rotations import cos_sin
from .kind import JointKind


class Revolute(JointKind):
    name = "revolute"
    position_units = ("rad",)
    turning = (True,)
    directions = 1
    axial = True
    bounded = True
    unlimited = "continuous"

    def transform(self, joint, q):
        return (Screw("z", *cos_sin_of_sum(q[0], joint.angle), joint.length),)

    def subspace(self, joint, q):
        return [Motion(angular=Z)]

    def grouped(self, inertia):
        """Move a mass distribution that is symmetric about the axis and has no moment of inertia about it."""
        J, yy = inertia.J, inertia.J.yy
        rest = Inertia(0, Vector(inertia.h.x, inertia.h.y, 0), Symmetric(J.xx - yy, J.xy, J.xz, 0, J.yz, J.zz))
        return rest, Inertia(inertia.mass, Vector(0, 0, inertia.h.z), Symmetric(yy, 0, 0, yy, 0, 0))


def cos_sin_of_sum(value: Scalar, constant: float) -> tuple[Scalar, Scalar]:
    """Return cosine and sine of ``value + constant``; quarter turns only exchange them and cost nothing."""
    c, s = cos_sin(constant)
    if c * s == 0:
        C, S = cos(value), sin(value)
        return c * C - s * S, s * C + c * S
    return cos(value + constant), sin(value + constant)
