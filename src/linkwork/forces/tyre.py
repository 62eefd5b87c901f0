"""A tyre with slip: what ideal rolling leaves out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..scalar import atan2, positive_part, sign, sin, sqrt
from ..spatial import Force, Motion, Pose, Vector
from .drag import TINY
from .fields import direction, tidy


@dataclass(frozen=True)
class Tyre:
    """Of a wheel that turns about z of its frame, whose origin is the wheel's centre, on the plane n . p = ``height``.

    The contact is at r = -radius m from the centre, where m is the part of n across the axle a, of length one. At depth
    d > 0 below the plane it bears the load N = max(0, k d - c n . v). Along the plane the wheel travels at v_x forward,
    along x = a x n, and v_y sideways, along y = n x x. It slips by what its lowest point moves, s = v + w x r:

      (1)  sigma = s / sqrt(v_x^2 + least^2)             (s_x and s_y; of a free wheel s_y / v_x is the slip angle)
      (2)  F = -friction N sin(C atan(B |sigma|)) sigma / |sigma|

    (2) is the magic formula without its curvature, the same along and across, so braking takes from the grip aside.
    Its slope at no slip, B C friction N, is the slip stiffness. Where the force acts at r it turns the wheel back.

    radius     m, of the tyre without load
    stiffness  k, N/m
    damping    c, N s/m
    friction   largest force per load
    slope      B, per unit of slip
    shape      C: 1 rises towards the friction, above it the force falls again beyond a slip
    least      m/s: slower than this, slip is a matter of velocity, not of ways
    height     m, of the plane above the world's origin, measured along n
    normal     n, out of the ground, in the world; of any length but zero
    """

    radius: float
    stiffness: float
    damping: float = 0.0
    friction: float = 1.0
    slope: float = 10.0
    shape: float = 1.4
    least: float = 0.1
    height: float = 0.0
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self):
        tidy(self, positive=("radius", "stiffness", "slope", "shape", "least"), signed=("height",))
        direction(self, "normal")

    def __call__(self, pose: Pose, velocity: Motion) -> Force:
        normal = Vector(*self.normal) * (1 / math.hypot(*self.normal))
        n, v = pose.inward(normal), velocity.linear
        level = 1 / sqrt(n.x * n.x + n.y * n.y + TINY)  # of x and m, which a wheel that lies flat has not
        x, r = Vector(-n.y, n.x) * level, Vector(n.x, n.y) * (-self.radius * level)
        y = n.cross(x)
        depth = self.height - normal.dot(pose.origin) - n.dot(r)
        touching = positive_part(sign(depth))
        N = touching * positive_part(self.stiffness * depth - self.damping * n.dot(v))
        s = v + velocity.angular.cross(r)
        forward = x.dot(v)
        per = 1 / sqrt(forward * forward + self.least**2)
        ahead, aside = x.dot(s) * per, y.dot(s) * per  # (1)
        slip = sqrt(ahead * ahead + aside * aside + TINY)
        grip = -self.friction * N * sin(self.shape * atan2(self.slope * slip, 1)) / slip  # (2)
        push = n * N + (x * ahead + y * aside) * grip
        return Force(push, r.cross(push))
