"""Motion of frames: velocity and acceleration of one, and poses, Jacobians, velocities and accelerations of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..constraints import ClosedLoops
from ..model import Frame, Model
from ..scalar import Scalar, Scalars
from ..spatial import Pose, Vector
from . import kinematics


def frame_velocity(model: Model, q: Scalars, v: Scalars, *, frame: Frame, axes: str = "world") -> list[Scalar]:
    q = model.expand(q)
    return _velocities(model, [frame], q, ClosedLoops(model, q).rates(v), axes)[0]


def frame_acceleration(
    model: Model, q: Scalars, v: Scalars, a: Scalars, *, frame: Frame, axes: str = "world"
) -> list[Scalar]:
    return _accelerations(model, [frame], q, v, a, axes)[0]


def frame_poses(model: Model, q: Scalars) -> list[list[list[Scalar]]]:
    poses = kinematics.body_poses(model, model.expand(q))
    return [_matrix(poses[frame.body].then(frame.pose)) for frame in model.frames.values()]


def frame_jacobians(model: Model, q: Scalars) -> list[list[list[Scalar]]]:
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    return [tree.collect_rows(kinematics.frame_jacobian(model, frame, q)) for frame in model.frames.values()]


def frame_velocities(model: Model, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    q = model.expand(q)
    return _velocities(model, [*model.frames.values()], q, ClosedLoops(model, q).rates(v), "world")


def frame_accelerations(model: Model, q: Scalars, v: Scalars, a: Scalars) -> list[list[Scalar]]:
    return _accelerations(model, [*model.frames.values()], q, v, a, "world")


def _matrix(pose: Pose) -> list[list[Scalar]]:
    return [[*row, x] for row, x in zip(pose.rotation.rows, pose.origin, strict=True)] + [[0, 0, 0, 1]]


def _velocities(model: Model, frames: Sequence[Frame], q: Scalars, qd: Scalars, axes: str) -> list[list[Scalar]]:
    """Linear velocity of each frame's origin and angular velocity; ``q`` and ``qd`` are tree vectors."""
    poses, motion = kinematics.body_poses(model, q), kinematics.body_velocities(model, q, qd)
    rows = []
    for frame in frames:
        at, turn = motion[frame.body], _to_axes(poses[frame.body], frame, axes)
        rows.append([*turn(at.linear + at.angular.cross(frame.pose.origin)), *turn(at.angular)])
    return rows


def _accelerations(
    model: Model, frames: Sequence[Frame], q: Scalars, v: Scalars, a: Scalars, axes: str
) -> list[list[Scalar]]:
    """Acceleration of each frame's origin, as a point, and angular acceleration."""
    q = model.expand(q)
    tree = ClosedLoops(model, q)
    qd = tree.rates(v)
    poses = kinematics.body_poses(model, q)
    motion = kinematics.body_motions(model, q, qd, tree.accelerations(qd, a), Vector())
    rows = []
    for frame in frames:
        at, turn = motion[frame.body], _to_axes(poses[frame.body], frame, axes)
        rows.append([*turn(at.vd + at.U @ frame.pose.origin), *turn(at.wd)])
    return rows


def _to_axes(body: Pose, frame: Frame, axes: str) -> Callable[[Vector], Vector]:
    """Return the function that takes vectors from the axes of the body to those of the world or of the frame."""
    return frame.pose.inward if axes == "local" else body.outward
