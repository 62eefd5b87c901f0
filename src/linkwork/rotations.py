"""Rotations and poses for functions of your own: on NumPy arrays with any leading batch axes, and on traced ones.

Quaternions are (x, y, z, w), rotation vectors are axis times angle in rad, poses are 4 x 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["exp", "from_quaternion", "inverse_pose", "log", "make_pose", "pose_error", "to_quaternion"]

TINY = 1e-30  # added to squares that are divided by: changes no value, and makes sin(x) / x equal to 1 at 0


def __dir__() -> list[str]:
    return __all__


def exp(w: Any) -> Any:
    """Return the rotation matrix of a rotation vector.

    Args:
        w: Axis times angle (..., 3), in rad.

    Returns:
        R (..., 3, 3), with R x the vector x rotated about the axis.

    Example:
        >>> linkwork.rotations.exp([0, 0, np.pi / 2]).round(12).tolist()
        [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    w = np.asanyarray(w)
    return from_quaternion(_quaternion(w))


def log(R: Any) -> Any:
    """Return the rotation vector of a rotation matrix: the shortest, at most pi long.

    Args:
        R: Rotation matrices (..., 3, 3).

    Returns:
        Axis times angle (..., 3), in rad. At half a turn one of the two axes is chosen.

    Example:
        >>> w = np.array([0.1, -0.2, 0.3])
        >>> bool(np.allclose(linkwork.rotations.log(linkwork.rotations.exp(w)), w))
        True
    """
    q = to_quaternion(R)
    u, c = q[..., :3], q[..., 3]
    sine = np.sqrt(np.sum(u * u, axis=-1) + TINY)
    return u * np.expand_dims(2 * np.arctan2(sine, c) / sine, -1)


def to_quaternion(R: Any) -> Any:
    """Return the unit quaternion of a rotation matrix.

    The largest of the four components is computed first (Shepperd 1978), so no digit is lost for any rotation.

    Args:
        R: Rotation matrices (..., 3, 3).

    Returns:
        Quaternions (..., 4) as x, y, z, w, with w not negative.

    Example:
        >>> linkwork.rotations.to_quaternion(np.diag([1.0, -1.0, -1.0])).tolist()
        [1.0, 0.0, 0.0, 0.0]
    """
    R = np.asanyarray(R)
    xx, yy, zz = (R[..., k, k] for k in range(3))
    sums = [R[..., i, j] + R[..., j, i] for i, j in ((0, 1), (0, 2), (1, 2))]
    differences = [R[..., i, j] - R[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0))]
    one = 1.0
    rows = [  # proportional to x, y, z, w; the row of the largest component is the accurate one
        [one + xx - yy - zz, sums[0], sums[1], differences[0]],
        [sums[0], one - xx + yy - zz, sums[2], differences[1]],
        [sums[1], sums[2], one - xx - yy + zz, differences[2]],
        [differences[0], differences[1], differences[2], one + xx + yy + zz],
    ]
    best, largest = rows[3], rows[3][3]
    for k in range(3):
        better = rows[k][k] > largest
        best = [np.where(better, new, old) for new, old in zip(rows[k], best, strict=True)]
        largest = np.maximum(largest, rows[k][k])
    q = np.stack(best, axis=-1)
    q = q / np.expand_dims(np.sqrt(np.sum(q * q, axis=-1)), -1)
    return np.where(np.expand_dims(q[..., 3] < 0, -1), -q, q)


def from_quaternion(q: Any) -> Any:
    """Return the rotation matrix of a quaternion, which need not have length one.

    Args:
        q: Quaternions (..., 4) as x, y, z, w.

    Returns:
        Rotation matrices (..., 3, 3).

    Example:
        >>> linkwork.rotations.from_quaternion([0, 0, 0, 2.0]).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    q = np.asanyarray(q)
    x, y, z, w = (q[..., k] for k in range(4))
    s = 2 / (x * x + y * y + z * z + w * w)
    rows = [
        [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
        [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
        [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def make_pose(R: Any, p: Any) -> Any:
    """Return the pose with these axes and this origin.

    Args:
        R: Rotation matrix (3, 3).
        p: Origin (3,), in m.

    Returns:
        The pose (4, 4).

    Example:
        >>> linkwork.rotations.make_pose(np.eye(3), [1.0, 2.0, 3.0])[:3, 3].tolist()
        [1.0, 2.0, 3.0]
    """
    top = np.concatenate([np.asanyarray(R), np.reshape(np.asanyarray(p), (3, 1))], axis=1)
    return np.concatenate([top, np.array([[0.0, 0.0, 0.0, 1.0]])], axis=0)


def inverse_pose(T: Any) -> Any:
    """Return the inverse of a pose.

    Args:
        T: Pose (4, 4).

    Returns:
        The pose (4, 4) whose product with ``T`` is the identity.

    Example:
        >>> T = robot.pose("panda_link8", np.zeros(7))
        >>> bool(np.allclose(linkwork.rotations.inverse_pose(T) @ T, np.eye(4)))
        True
    """
    T = np.asanyarray(T)
    R = T[:3, :3].T
    return make_pose(R, -(R @ T[:3, 3]))


def pose_error(target: Any, pose: Any) -> Any:
    """Return the motion that takes a pose to a target: translation, then rotation vector, in world axes.

    It is zero at the target, and its rate is minus the frame's velocity there: a step dq with J dq = pose_error moves
    the frame towards the target (J: ``robot.jacobian``, in world axes).

    Args:
        target: Poses (..., 4, 4) to reach.
        pose: Poses (..., 4, 4) of the frame.

    Returns:
        The error (..., 6), in m and rad; the rotation is at most half a turn.

    Example:
        >>> T = robot.pose("panda_link8", np.zeros(7))
        >>> linkwork.pose_error(T, T).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    target, pose = np.asanyarray(target), np.asanyarray(pose)
    R = target[..., :3, :3] @ np.swapaxes(pose[..., :3, :3], -1, -2)
    return np.concatenate([target[..., :3, 3] - pose[..., :3, 3], log(R)], axis=-1)


def _quaternion(w: Any) -> Any:
    """Return the unit quaternion of a rotation vector."""
    half = 0.5 * np.sqrt(np.sum(w * w, axis=-1) + TINY)
    share = 0.5 * np.sin(half) / half
    return np.concatenate([w * np.expand_dims(share, -1), np.expand_dims(np.cos(half), -1)], axis=-1)
