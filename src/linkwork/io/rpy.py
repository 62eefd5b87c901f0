"""Angles and quaternions of URDF and MuJoCo.

Files write pi/2 as 1.57079632679. Used as written, that gives entries of 5e-12 in rotation matrices where 0 is meant,
and each of them costs operations. So an angle within 1e-10 of a multiple of pi/2 is read as that multiple.
"""

from __future__ import annotations

from decimal import Decimal
from math import hypot, pi

import numpy as np

from ..model.description import Placement
from ..model.rotations import rpy_from_rotation as rpy_from_rotation

EXACT = 1e-10  # radians: an angle this close to a quarter turn is read as one
QUARTER = pi / 2


def rotation_from_quaternion(x: float, y: float, z: float, w: float) -> np.ndarray:
    """Return the rotation of a quaternion of any length but zero."""
    norm = hypot(x, y, z, w)
    x, y, z, w = x / norm, y / norm, z / norm, w / norm
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_from_mujoco(quaternion: np.ndarray) -> np.ndarray:
    """Return the rotation of a quaternion w, x, y, z."""
    w, x, y, z = quaternion.tolist()
    return rotation_from_quaternion(x, y, z, w)


def placement_from_mujoco(position: np.ndarray, quaternion: np.ndarray) -> Placement:
    """Return the placement with a quaternion w, x, y, z."""
    return Placement(rotation_from_mujoco(quaternion), position.copy())


def is_rounded_quarter_turn(text: str) -> bool:
    """Return whether a number is a multiple of pi/2, other than 0, with too few digits to be read as exact."""
    angle = abs(float(text))
    turns = round(angle / QUARTER)
    error = abs(angle - turns * QUARTER)
    if not turns or error <= EXACT:
        return False
    unit = 10.0 ** int(Decimal(text).as_tuple().exponent)  # of the last digit
    return unit <= 0.01 and (error <= unit / 2 or (error < unit and angle < turns * QUARTER))
