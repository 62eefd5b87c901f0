"""Unit quaternions x, y, z, w over any scalar, and the rotations and screw motions they describe.

A rotation vector w has the direction of the axis and the angle as its length. Where a length is divided by, TINY is
added to its square. That changes no value, and makes sin(x) / x equal to 1 at zero.
"""

from __future__ import annotations

import numpy as np

from ..scalar import Scalar, Scalars, cos, sign, sin, sqrt
from .vectors import Vector

TINY = 1e-30


def quaternion_product(p: Scalars, r: Scalars) -> list[Scalar]:
    """Return the quaternion p r, which turns by r in the axes that p gives.

    Args:
        p, r: quaternions x, y, z, w, (4,).

    Returns:
        The product, x, y, z, w.

    Example:
        >>> linkwork.spatial.quaternion_product([0, 0, 1, 0], [0, 0, 1, 0])
        [0, 0, 0, -1]
    """
    x, y, z, w = p
    a, b, c, d = r
    return [
        d * x + w * a + y * c - z * b,
        d * y + w * b + z * a - x * c,
        d * z + w * c + x * b - y * a,
        d * w - x * a - y * b - z * c,
    ]


def unit_quaternion(q: Scalars) -> list[Scalar]:
    """Return q scaled to length one."""
    scale = 1 / sqrt(sum((value * value for value in q), start=0))
    return [scale * value for value in q]


def quaternion_of_turn(half: Scalars) -> list[Scalar]:
    """Return the quaternion of the rotation vector 2 ``half``."""
    angle = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2] + TINY)
    share = sin(angle) / angle
    return [*(share * value for value in half), cos(angle)]


def turn_between(p: Scalars, r: Scalars) -> Vector:
    """Return the shortest rotation vector, in the axes of p, that leads from p to r; for numbers and arrays only."""
    x, y, z, w = p
    *u, c = (np.asarray(value, float) for value in quaternion_product([-x, -y, -z, w], r))
    u, c = [np.where(c < 0, -value, value) for value in u], np.abs(c)
    length = np.hypot(np.hypot(u[0], u[1]), u[2])
    still = length == 0
    share = np.where(still, 2.0, 2 * np.arctan2(length, c) / np.where(still, 1.0, length))
    return Vector(*(share * value for value in u))


def turn_of(q: Scalars) -> Vector:
    """Return the shortest rotation vector of a quaternion, over any scalar, without an arctangent.

    A series gives p, a quarter of the half angle, from its tangent t <= sqrt(2) - 1 with an error of at most 6e-6.
    Adding sin(exact - p) then leaves a sixth of the cube of this error.
    """
    x, y, z, w = q
    side = sign(w)
    side = side + 1 - side * side  # not zero at half a turn
    u, c = Vector(x, y, z) * side, w * side
    square = u.dot(u) + TINY
    s = sqrt(square)
    t = s / (sqrt(square + c * c) + c)
    t = t / (1 + sqrt(1 + t * t))
    tt = t * t
    p = t * (1 - tt * (1 / 3 - tt * (1 / 5 - tt * (1 / 7 - tt / 9))))
    p = p + (t * cos(p) - sin(p)) / sqrt(1 + tt)
    return u * (8 * p / s)


def screw_shift(w: Vector, v: Vector) -> Vector:
    """Return V(w) v: the displacement in unit time of a point with velocity v in axes that turn with w.

    V = 1 + a [w x] + b [w x][w x], a = (1 - cos |w|) / |w|^2, b = (1 - sin |w| / |w|) / |w|^2. What cancels in b is
    multiplied by |w|^2 again, so no digit of the result is lost.
    """
    square = 0.25 * w.dot(w) + TINY
    half = sqrt(square)
    share = sin(half) / half
    across = w.cross(v)
    return v + across * (0.5 * share * share) + w.cross(across) * ((1 - share * cos(half)) / (4 * square))


def screw_velocity(w: Vector, p: Vector) -> Vector:
    """Return v with screw_shift(w, v) = p, for angles up to pi; for numbers and arrays only."""
    half = 0.5 * np.hypot(np.hypot(w.x, w.y), w.z)
    still = half < 1e-4  # the next term of the series is of 1e-18
    safe = np.where(still, 1.0, half)
    share = np.where(still, 1 / 12, (1 - safe * np.cos(safe) / np.sin(safe)) / (4 * safe * safe))
    across = w.cross(p)
    return p - across * 0.5 + w.cross(across) * share
