"""Contact with compliant ground: spring and damper against it, friction along it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..scalar import positive_part, sign, sqrt
from ..spatial import Force, Motion, Pose, Vector
from .fields import direction, tidy


@dataclass(frozen=True)
class Contact:
    """Of the frame's origin with the ground, the half-space n . p < ``height`` below a plane of the world.

    At depth d > 0 the ground pushes along n with N = max(0, k d - c n . v) and rubs with -mu N v_t / sqrt(v_t^2 + s^2),
    where v_t is the velocity along the plane. It never pulls, and at d <= 0 there is no force.

    stiffness  k, N/m
    damping    c, N s/m. It acts at full strength from the first touch on
    friction   mu
    slip       s, m/s: friction grows from zero to 0.7 mu N at this speed, so on a slope the point creeps
    height     m, of the plane above the world's origin, measured along n
    normal     n, out of the ground, in the world; of any length but zero
    """

    stiffness: float
    damping: float = 0.0
    friction: float = 0.0
    slip: float = 1e-3
    height: float = 0.0
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self):
        tidy(self, positive=("stiffness", "slip"), signed=("height",))
        direction(self, "normal")

    def __call__(self, pose: Pose, velocity: Motion) -> Force:
        normal = Vector(*self.normal) * (1 / math.hypot(*self.normal))
        depth = self.height - normal.dot(pose.origin)
        n, v = pose.inward(normal), velocity.linear
        rising = n.dot(v)
        sliding = v - n * rising
        touching = positive_part(sign(depth))
        push = touching * positive_part(self.stiffness * depth - self.damping * rising)
        rubbing = self.friction * push / sqrt(sliding.dot(sliding) + self.slip**2)
        return Force(n * push - sliding * rubbing)
