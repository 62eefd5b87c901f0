"""Translations along x and y and a rotation about z."""

from __future__ import annotations

import numpy as np

from ...scalar import cos, sin
from ...spatial import Matrix, Motion, Pose, Screw, Vector, X, Y, Z
from ...spatial.quaternions import screw_shift, screw_velocity
from ...spatial.vectors import turn, turn_back
from .cylindrical import without_symmetric_tensor
from .kind import JointKind


class Planar(JointKind):
    """Positions x and y are in the parent's axes, velocities along x and y in the body's: so the subspace is constant,
    and a constant velocity gives an arc."""

    name = "planar"
    position_parts = ("x", "y", "angle")
    position_units = ("m", "m", "rad")
    velocity_parts = ("x", "y", "rz")
    position_meaning = "place of its origin in the plane, then angle"
    velocity_meaning = "along its own axes, then turn"
    straight = False
    turning = (False, False, True)
    has_spring = False
    directions = 1

    def transform(self, joint, q):
        x, y, angle = q
        return Pose(Matrix.identity(), Vector(x, y, 0)), Screw("z", cos(angle), sin(angle))

    def subspace(self, joint, q):
        return [Motion(linear=X), Motion(linear=Y), Motion(angular=Z)]

    def grouped(self, inertia):
        return without_symmetric_tensor(inertia)

    def stretch(self, q, rest):
        """Return zero: it has no spring, since its direction would be ambiguous."""
        return [0] * self.nv

    def rates(self, q, v):
        shift = turn("z", cos(q[2]), sin(q[2]), Vector(v[0], v[1], 0))
        return [shift.x, shift.y, v[2]]

    def velocities(self, q, rates):
        shift = turn_back("z", cos(q[2]), sin(q[2]), Vector(rates[0], rates[1], 0))
        return [shift.x, shift.y, rates[2]]

    def step(self, q, v):
        arc = screw_shift(Vector(0, 0, v[2]), Vector(v[0], v[1], 0))
        shift = turn("z", cos(q[2]), sin(q[2]), arc)
        return [q[0] + shift.x, q[1] + shift.y, q[2] + v[2]]

    def difference(self, q0, q1):
        """Return the difference by the smaller angle, since beyond half a turn some positions are on no arc."""
        turn = np.asarray(q1[2], float) - q0[2]
        angle = turn - 2 * np.pi * np.round(turn / (2 * np.pi))
        shift = turn_back("z", np.cos(q0[2]), np.sin(q0[2]), Vector(q1[0] - q0[0], q1[1] - q0[1], 0))
        v = screw_velocity(Vector(0, 0, angle), shift)
        return [v.x, v.y, angle]
