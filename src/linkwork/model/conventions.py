"""Conventions by which files place a frame in another: six values each, as poses of any scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..scalar import Scalar, cos, sin
from ..spatial import Matrix, Pose, Screw, Transform, Vector


@dataclass(frozen=True)
class Convention:
    """Six values that place a frame.

    Attributes:
        entries: names of the values.
        pose: the pose that they give.
    """

    entries: tuple[str, ...]
    pose: Callable[[Sequence[Scalar]], Pose]

    def __reduce__(self) -> str:
        return next(name for name, value in globals().items() if value is self)


def _xyz_rpy(values: Sequence[Scalar]) -> Pose:
    """Return the pose with a position, and the rotation Rz(yaw) Ry(pitch) Rx(roll) of URDF."""
    x, y, z, *angles = values
    (cr, sr), (cp, sp), (cy, sy) = ((cos(angle), sin(angle)) for angle in angles)
    rotation = Matrix(
        Vector(cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        Vector(sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        Vector(-sp, cp * sr, cp * cr),
    )
    return Pose(rotation, Vector(x, y, z))


def _modified(values: Sequence[Scalar]) -> Pose:
    """Return the pose Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r) of modified Denavit-Hartenberg parameters."""
    gamma, b, alpha, d, theta, r = values
    screws = (("z", gamma, b), ("x", alpha, d), ("z", theta, r))
    return Pose.identity().then(Transform(*(Screw(axis, cos(turn), sin(turn), t) for axis, turn, t in screws)))


XYZ_RPY = Convention(("x", "y", "z", "roll", "pitch", "yaw"), _xyz_rpy)
MODIFIED = Convention(("gamma", "b", "alpha", "d", "theta", "r"), _modified)
