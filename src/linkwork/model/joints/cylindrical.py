"""A translation along z and a rotation about it."""

from __future__ import annotations

from ...spatial import Inertia, Motion, Screw, Symmetric, Vector, Z
from .kind import JointKind
from .revolute import cos_sin_of_sum


class Cylindrical(JointKind):
    name = "cylindrical"
    position_parts = velocity_parts = ("shift", "turn")
    position_units = ("m", "rad")
    position_meaning = "shift along the axis, then turn about it"
    velocity_meaning = "along the axis, then about it"
    turning = (False, True)
    directions = 1
    axial = True

    def transform(self, joint, q):
        shift, turn = q
        return (Screw("z", *cos_sin_of_sum(turn, joint.angle), shift + joint.length),)

    def subspace(self, joint, q):
        return [Motion(linear=Z), Motion(angular=Z)]

    def grouped(self, inertia):
        return without_symmetric_tensor(inertia)


def without_symmetric_tensor(inertia: Inertia) -> tuple[Inertia, Inertia]:
    """Split off a tensor that is symmetric about z without moment about it, which needs no force of these motions."""
    J, yy = inertia.J, inertia.J.yy
    rest = Inertia(inertia.mass, inertia.h, Symmetric(J.xx - yy, J.xy, J.xz, 0, J.yz, J.zz))
    return rest, Inertia(0, Vector(), Symmetric(yy, 0, 0, yy, 0, 0))
