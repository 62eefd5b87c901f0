"""Rotation matrices whose entries are exactly 0 and +-1 for quarter turns."""

from __future__ import annotations

import math

import numpy as np

LAST_DIGIT = 1e-15  # an angle this close to a multiple of pi/2 is that multiple
TIED = 1e-9  # entries that differ by less are equal; near a half turn w is zero


def cos_sin(angle: float, exact: float = LAST_DIGIT) -> tuple[float, float]:
    """Return cosine and sine; within ``exact`` of a quarter turn, those of the quarter turn."""
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * (math.pi / 2)) <= exact * max(1, abs(quarters)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return math.cos(angle), math.sin(angle)


def rotation(axis: str, angle: float, exact: float = LAST_DIGIT) -> np.ndarray:
    """Return the rotation matrix about the x, y or z axis."""
    c, s = cos_sin(angle, exact)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[j, i], R[i, j] = s, -s
    return R


def rotation_from_rpy(roll: float, pitch: float, yaw: float, exact: float = LAST_DIGIT) -> np.ndarray:
    """Return Rz(yaw) Ry(pitch) Rx(roll), as in URDF."""
    turns = rotation("z", yaw, exact) @ rotation("y", pitch, exact) @ rotation("x", roll, exact)
    return turns + 0.0  # no negative zeros


def rpy_from_rotation(rotation: np.ndarray) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of a rotation, the inverse of ``rotation_from_rpy``.

    Roll and pitch are computed after undoing yaw, so that near gimbal lock, where yaw is ill defined, they compensate
    its error.
    """
    r = rotation.tolist()
    horizontal = math.hypot(r[0][0], r[1][0])
    c, s = (r[0][0] / horizontal, r[1][0] / horizontal) if horizontal else (1.0, 0.0)
    roll = math.atan2(s * r[0][2] - c * r[1][2], c * r[1][1] - s * r[0][1])
    return roll + 0.0, math.atan2(-r[2][0], horizontal) + 0.0, math.atan2(s, c) + 0.0


def exact_angle(angle: float, exact: float) -> float:
    """Return the angle; within ``exact`` of a quarter turn, that quarter turn."""
    quarter = round(angle / (math.pi / 2)) * (math.pi / 2)
    return quarter if abs(angle - quarter) <= exact else angle


def frame_of_axis(axis: np.ndarray) -> np.ndarray:
    """Return a rotation whose third column is along ``axis``. The first column is as near as possible to the coordinate
    axis that is farthest from ``axis``, the first of several; exact for coordinate axes."""
    z = np.asarray(axis, float) / np.linalg.norm(axis)
    z = np.where(np.abs(z) < LAST_DIGIT, 0.0, z)
    x = np.zeros(3)
    x[int(np.argmax(np.abs(z) < np.abs(z).min() + TIED))] = 1.0
    x -= x @ z * z
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1) + 0.0


def quaternion_from_rotation(R: np.ndarray) -> list[float]:
    """Return the unit quaternion x, y, z, w with w >= 0 up to rounding. For a half turn the largest entry is positive,
    the first of several."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    rows = (  # each is the quaternion times four of its entries
        (1 + a - e - i, b + d, c + g, h - f),
        (b + d, 1 + e - a - i, f + h, c - g),
        (c + g, f + h, 1 + i - a - e, d - b),
        (h - f, c - g, d - b, 1 + a + e + i),
    )
    most = max(row[k] for k, row in enumerate(rows))
    row = next(row for k, row in enumerate(rows) if row[k] > (1 - TIED) * most)  # independent of rounding
    length = math.hypot(*row) * (-1.0 if row[3] < -TIED * most else 1.0)
    return [entry / length for entry in row]
