"""Six degrees of freedom: a free body."""

from __future__ import annotations

import numpy as np

from ...spatial import AXES, Motion, Pose, Vector
from ...spatial.quaternions import screw_shift, screw_velocity, turn_between
from .kind import WIDE, JointKind
from .spherical import Spherical

BALL = Spherical()


class Floating(JointKind):
    """Positions are those of the body's origin and a unit quaternion; velocities are linear and angular, in the body's
    axes. A constant velocity gives a screw motion."""

    name = "floating"
    position_parts = ("x", "y", "z", *BALL.position_parts)
    position_units = ("m", "m", "m", *BALL.position_units)
    velocity_parts = ("x", "y", "z", *BALL.velocity_parts)
    position_meaning = "place of its origin in the frame it moves from, then unit quaternion x, y, z, w"
    velocity_meaning = "linear, then angular part, in its own axes"
    turning = (False, False, False, True, True, True)
    has_spring = False
    straight = False
    free = True

    def transform(self, joint, q):
        return (Pose.of_quaternion(q[:3], q[3:]),)

    def subspace(self, joint, q):
        return [Motion(linear=axis) for axis in AXES] + [Motion(angular=axis) for axis in AXES]

    def stretch(self, q, rest):
        """Return zero: it has no spring, since its direction would be ambiguous."""
        return [0] * self.nv

    def rates(self, q, v):
        origin = Pose.of_quaternion(q[:3], q[3:]).outward(Vector(*v[:3]))
        return [*origin, *BALL.rates(q[3:], v[3:])]

    def velocities(self, q, rates):
        linear = Pose.of_quaternion(q[:3], q[3:]).inward(Vector(*rates[:3]))
        return [*linear, *BALL.velocities(q[3:], rates[3:])]

    def advanced(self, q, v, dt):
        origin = Vector(*q[:3]) + Pose.of_quaternion(q[:3], q[3:]).outward(Vector(*v[:3])) * dt
        return [*origin, *BALL.advanced(q[3:], v[3:], dt)]

    def step(self, q, v):
        shift = screw_shift(Vector(*v[3:]), Vector(*v[:3]))
        origin = Vector(*q[:3]) + Pose.of_quaternion(q[:3], q[3:]).outward(shift)
        return [*origin, *BALL.step(q[3:], v[3:])]

    def difference(self, q0, q1):
        turn = turn_between(q0[3:], q1[3:])
        shift = Pose.of_quaternion(q0[:3], q0[3:]).inward(Vector(*q1[:3]) - Vector(*q0[:3]))
        return [*screw_velocity(turn, shift), *turn]

    def normalised(self, q):
        return [*q[:3], *BALL.normalised(q[3:])]

    def neutral(self):
        return [0.0, 0.0, 0.0, *BALL.neutral()]

    def random(self, rng, shape, lower, upper):
        place = rng.uniform(-WIDE, WIDE, (*shape, 3))
        return np.concatenate([place, BALL.random(rng, shape, lower, upper)], axis=-1)
