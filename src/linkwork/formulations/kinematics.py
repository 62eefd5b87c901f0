"""Poses, Jacobians and their rates of named frames; motion of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..model import Frame, Model
from ..scalar import Scalar, Scalars
from ..spatial import Matrix, Motion, Pose, Vector
from .rnea import acceleration_matrix


def body_poses(model: Model, q: Scalars) -> dict[int, Pose]:
    """Return the pose of every body in the world; 0 is the ground."""
    poses = {0: Pose.identity()}
    for i, p in model.outward():
        poses[i] = poses[p].then(model.transform(i, q))
    return poses


def body_velocities(model: Model, q: Scalars, v: Scalars) -> dict[int, Motion]:
    """Return the velocity of every body in its own frame; 0 is the ground."""
    velocity = {0: Motion()}
    for i, p in model.outward():
        velocity[i] = model.transform(i, q).motion_inward(velocity[p]) + model.joint_motion(i, q, v)
    return velocity


def frame_pose(model: Model, frame: Frame, q: Scalars) -> Pose:
    """Return the pose of a frame in the world."""
    return body_poses(model, q)[frame.body].then(frame.pose)


def frame_poses(model: Model, frames: Sequence[Frame], q: Scalars) -> list[Pose]:
    """Return the poses of several frames in the world."""
    poses = body_poses(model, q)
    return [poses[frame.body].then(frame.pose) for frame in frames]


def frame_jacobian(model: Model, frame: Frame, q: Scalars) -> list[list[Scalar]]:
    """Return the 6 x n Jacobian of a frame in world axes: velocity of its origin, then angular velocity.

    A revolute joint about the unit vector z through the point o moves the frame's origin p with z x (p - o).
    """
    poses = body_poses(model, q)
    p = poses[frame.body].then(frame.pose).origin
    J: list[list[Scalar]] = [[0] * model.n_tree for _ in range(6)]
    for i in (frame.body, *model.ancestors(frame.body)) if frame.body else ():
        for k, S in zip(model.freedoms(i), model.subspace(i, q), strict=True):
            linear, angular = poses[i].outward(S.linear), poses[i].outward(S.angular)
            column = (*(linear + angular.cross(p - poses[i].origin)), *angular)
            for row, value in zip(J, column, strict=True):
                row[k] = value
    return J


class BodyMotion(NamedTuple):
    """Motion of a body in its frame: angular velocity and acceleration, velocity and acceleration of the origin, and U:
    the point r has acceleration vd + U r."""

    w: Vector
    wd: Vector
    v: Vector
    vd: Vector
    U: Matrix

    @property
    def rates(self) -> Motion:
        """Rates of the components of the velocity."""
        return Motion(self.vd - self.w.cross(self.v), self.wd)


def body_motions(model: Model, q: Scalars, v: Scalars, a: Scalars, ground: Vector) -> dict[int, BodyMotion]:
    """Return the motion of every body, as in ``rnea``; ``ground``: acceleration of body 0, -g to include gravity."""
    at = {0: BodyMotion(Vector(), Vector(), Vector(), ground, Matrix.zero())}
    for i, p in model.outward():
        X, joint_v = model.transform(i, q), model.joint_motion(i, q, v)
        joint_a = model.joint_motion(i, q, a) + model.joint_drift(i, q, v)
        carried = X.inward(at[p].w)
        w = carried + joint_v.angular
        wd = X.inward(at[p].wd) + carried.cross(joint_v.angular) + joint_a.angular
        linear = X.inward(at[p].v + at[p].w.cross(X.origin)) + joint_v.linear
        vd = (
            X.inward(at[p].vd + at[p].U @ X.origin)
            + (2 * carried + joint_v.angular).cross(joint_v.linear) + joint_a.linear
        )
        at[i] = BodyMotion(w, wd, linear, vd, acceleration_matrix(w, wd))
    return at


def frame_drift(model: Model, frame: Frame, q: Scalars, v: Scalars) -> list[Scalar]:
    """Return Jdot v in world axes: the frame's acceleration (point, then angular) when the joints do not accelerate."""
    at = body_motions(model, q, v, [0] * model.n_tree, Vector())[frame.body]
    outward = body_poses(model, q)[frame.body].outward
    return [*outward(at.vd + at.U @ frame.pose.origin), *outward(at.wd)]


def frame_velocity(model: Model, frame: Frame, q: Scalars, v: Scalars) -> list[Scalar]:
    """Return the frame's velocity J v in world axes."""
    return [sum((a * b for a, b in zip(row, v, strict=True)), start=0) for row in frame_jacobian(model, frame, q)]
