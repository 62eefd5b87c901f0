"""Forces that no motor gives: each joint's own friction and spring, and the surroundings'."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Frame, Model
from ..scalar import Scalar, is_zero, sign, sqrt
from ..spatial import Force, Vector
from .energy import body_velocities
from .kinematics import body_poses

WrenchRows = Sequence[Sequence[Scalar]]  # one row of six for each loaded frame


def passive_forces(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Force each joint's own friction, spring and stops take: Fs sign(v) + Fv v + K (q - rest), on tree vectors.

    With ``model.friction_width`` w > 0, sign(v) is v / sqrt(v^2 + w^2).
    """
    width = model.friction_width
    forces: list[Scalar] = [0] * model.n_tree
    for i, _ in model.outward():
        joint = model.joint(i)
        if joint.kind.nv == 1:
            (k,), (at,) = model.freedoms(i), model.positions(i)
            forces[k] = joint.viscous * v[k] + joint.stiffness * (q[at] - joint.rest)
            if not is_zero(joint.coulomb):
                forces[k] = forces[k] + joint.coulomb * (_smooth_sign(v[k], width) if width else sign(v[k]))
            if model.soft_limits is not None:
                forces[k] = forces[k] + model.soft_limits.force(joint.lower, joint.upper, q[at], v[k])
    return forces


def _smooth_sign(x: Scalar, width: float) -> Scalar:
    return x / sqrt(x * x + width * width)


def friction_slopes(model: Model, v: Sequence[Scalar]) -> list[Scalar]:
    """By how much the friction of ``passive_forces``, which must be smooth, grows with each velocity; tree vectors."""
    slopes: list[Scalar] = [0] * model.n_tree
    for i, _ in model.outward():
        joint = model.joint(i)
        if joint.kind.nv == 1:
            (k,) = model.freedoms(i)
            slopes[k] = joint.viscous
            if not is_zero(joint.coulomb):
                square = v[k] * v[k] + model.friction_width**2
                slopes[k] = slopes[k] + joint.coulomb * model.friction_width**2 / (square * sqrt(square))
    return slopes


def body_wrenches(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], loaded: Sequence[Frame], rows: WrenchRows
) -> dict[int, Force]:
    """Forces on bodies: of the model's force laws, and of wrenches given at frames (force, then moment about the
    frame's origin, in its axes)."""
    total: dict[int, Force] = {}

    def add(frame: Frame, wrench: Force) -> None:
        total[frame.body] = total.get(frame.body, Force()) + frame.pose.force_outward(wrench)

    for frame, row in zip(loaded, rows, strict=True):
        add(frame, Force(Vector(*row[:3]), Vector(*row[3:])))
    if model.forces:
        poses, velocities = body_poses(model, q), body_velocities(model, q, v)
        for frame, law in model.forces:
            add(frame, law(poses[frame.body].then(frame.pose), frame.pose.motion_inward(velocities[frame.body])))
    return total
