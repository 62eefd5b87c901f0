"""All rotations about a point: a ball joint."""

from __future__ import annotations

import numpy as np

from ...spatial import AXES, Motion, Pose
from ...spatial.quaternions import quaternion_of_turn, quaternion_product, turn_between, turn_of, unit_quaternion
from .kind import JointKind
from .universal import without_mass


class Spherical(JointKind):
    """Positions are a unit quaternion, velocities the angular velocity in the body's axes."""

    name = "spherical"
    position_parts = ("qx", "qy", "qz", "qw")
    position_units = ("", "", "", "")
    velocity_parts = ("rx", "ry", "rz")
    position_meaning = "unit quaternion x, y, z, w"
    velocity_meaning = "about its own axes"
    straight = False
    turning = (True, True, True)

    def transform(self, joint, q):
        return (Pose.of_quaternion((0, 0, 0), q),)

    def subspace(self, joint, q):
        return [Motion(angular=axis) for axis in AXES]

    def grouped(self, inertia):
        return without_mass(inertia)

    def stretch(self, q, rest):
        """Return the shortest rotation from the unit quaternion, which is its rest."""
        return list(turn_of(q))

    def rates(self, q, v):
        return quaternion_product(q, [*(0.5 * value for value in v), 0])

    def velocities(self, q, rates):
        x, y, z, w = q
        return [2 * value for value in quaternion_product([-x, -y, -z, w], rates)[:3]]

    def advanced(self, q, v, dt):
        return unit_quaternion(quaternion_product(q, quaternion_of_turn([0.5 * dt * value for value in v])))

    def step(self, q, v):
        return self.advanced(q, v, 1)

    def difference(self, q0, q1):
        return list(turn_between(q0, q1))

    def normalised(self, q):
        return unit_quaternion(q)

    def neutral(self):
        return [0.0, 0.0, 0.0, 1.0]

    def random(self, rng, shape, lower, upper):
        """Return uniform random rotations."""
        q = rng.normal(size=(*shape, 4))
        return q / np.linalg.norm(q, axis=-1, keepdims=True)
