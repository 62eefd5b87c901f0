"""Drag of a fluid on a slender link, summed up along it section by section (resistive theory)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..errors import ModelError
from ..scalar import sign, sqrt
from ..spatial import Force, Motion, Pose, Vector
from .fields import tidy

TINY = 1e-30  # (m/s)^2 beside the squared speed: nothing in the value, and its root has a slope at rest
MOST = 16  # points


@dataclass(frozen=True)
class Drag:
    """Of a link that lies along x of its frame, from the origin to x = ``length``.

    The section at x moves through the fluid with velocity u(x) = v + w x (x, 0, 0) - current. Per metre it meets the
    force -(c_axial + k_axial |u_x|) u_x along the link and -(c_normal + k_normal |u_n|) u_n across, u_n = (u_y, u_z).
    Force and moment are their integrals. A turn about the link's own axis meets no resistance.

    length    m
    c_axial   N s/m^2, of slow flow along the link, per metre of it
    c_normal  N s/m^2, of slow flow across
    k_axial   N s^2/m^3, of fast flow along the link: density / 2 * coefficient * circumference
    k_normal  N s^2/m^3, of fast flow across: density / 2 * coefficient * thickness
    current   m/s, velocity of the fluid in the world
    points    of the Gauss-Legendre rule, 2 to 16. Force and moment are exact without k_normal, and where the flow
              across comes from one side along the whole link; where it changes sides, k_normal's part is off by at
              most 1 per cent (of flow from one side) with 3 points, 1e-4 with 16
    """

    length: float
    c_axial: float = 0.0
    c_normal: float = 0.0
    k_axial: float = 0.0
    k_normal: float = 0.0
    current: tuple[float, float, float] = (0.0, 0.0, 0.0)
    points: int = 3

    def __post_init__(self):
        tidy(self, positive=("length",))
        if self.points not in range(2, MOST + 1):
            raise ModelError("out of range", where="Drag.points", got=self.points, expected=f"2, 3, ... or {MOST}")
        object.__setattr__(self, "points", int(self.points))

    def __call__(self, pose: Pose, velocity: Motion) -> Force:
        v, w = velocity.linear - pose.inward(Vector(*self.current)), velocity.angular
        axial = -self.length * (self.c_axial + self.k_axial * (v.x * sign(v.x))) * v.x
        force, moment = Vector(axial), Vector()
        for at, weight in _rule(self.points if self.k_normal else 2):
            x = at * self.length
            y, z = v.y + w.z * x, v.z - w.y * x
            speed = sqrt(y * y + z * z + TINY)
            density = -(weight * self.length) * (self.c_normal + self.k_normal * speed)
            y, z = density * y, density * z
            force += Vector(0, y, z)
            moment += Vector(0, -x * z, x * y)
        return Force(force, moment)


@cache
def _rule(points: int) -> list[tuple[float, float]]:
    """Places and weights between 0 and 1."""
    at, weights = np.polynomial.legendre.leggauss(points)
    return list(zip(((1 + at) / 2).tolist(), (weights / 2).tolist(), strict=True))
