"""URDF's angles and quaternions.

Files write pi/2 as 1.57079632679. Taken literally, that scatters entries of 5e-12 over the rotation matrices where
the designer meant 0, and each costs operations. So an angle within 1e-10 of a multiple of pi/2 is that multiple.
"""

from __future__ import annotations

from decimal import Decimal
from math import atan2, hypot, pi

import numpy as np

EXACT = 1e-10  # radians: how close to a quarter turn an angle is taken for one
QUARTER = pi / 2


def rpy_from_rotation(rotation: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation, the inverse of ``rotation_from_rpy``.

    Roll and pitch are taken after undoing yaw, so that near gimbal lock, where yaw is ill defined, they make up for its
    error.
    """
    r = rotation.tolist()
    horizontal = hypot(r[0][0], r[1][0])
    c, s = (r[0][0] / horizontal, r[1][0] / horizontal) if horizontal else (1.0, 0.0)
    roll = atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1])
    return roll + 0.0, atan2(-r[2][0], horizontal) + 0.0, atan2(s, c) + 0.0


def rotation_from_quaternion(x: float, y: float, z: float, w: float) -> np.ndarray:
    """Of a quaternion of any length but zero."""
    norm = hypot(x, y, z, w)
    x, y, z, w = x / norm, y / norm, z / norm, w / norm
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def is_rounded_quarter_turn(text: str) -> bool:
    """Whether a number is a multiple of pi/2, other than 0, rounded or cut off too early to be taken as exact."""
    angle = abs(float(text))
    turns = round(angle / QUARTER)
    error = abs(angle - turns * QUARTER)
    if not turns or error <= EXACT:
        return False
    unit = 10.0 ** int(Decimal(text).as_tuple().exponent)  # worth of the last digit
    return unit <= 0.01 and (error <= unit / 2 or (error < unit and angle < turns * QUARTER))
