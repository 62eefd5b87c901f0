"""Loop equations: what a cut joint asks of the joints around its loop, over any scalar.

The loop is walked from the frame ``first`` of the cut joint, inward to the last body both branches share and outward
to the frame ``second``. Everything is told relative to ``first`` and in its axes, so a moving base does not enter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model import Loop, Model
from ..scalar import Scalar
from ..spatial import Matrix, Pose, Transform, Vector


def row_names(model: Model) -> list[str]:
    """The equations: loop and direction, with r for turns."""
    return [f"{loop.name}.{row}" for loop in model.loops for row in loop.kind.rows]


@dataclass(frozen=True)
class Step:
    """One joint on the way around: where its axis stands, and whether it is passed outward (1) or inward (-1)."""

    body: int
    side: int
    at: Pose


def around(model: Model, loop: Loop, q: Sequence[Scalar]) -> tuple[list[Step], Pose]:
    """The joints from ``first`` to ``second``, and where ``second`` is, all seen from ``first``."""
    inner, outer = (_branch(model, frame.body) for frame in (loop.first, loop.second))
    steps, at = [], loop.first.pose.inverse()
    for i in inner:
        if i not in outer:
            steps.append(Step(i, -1, at))
            at = _before(at, model.transform(i, q))
    for i in reversed(outer):
        if i not in inner:
            at = at.then(model.transform(i, q))
            steps.append(Step(i, 1, at))
    return steps, at.then(loop.second.pose)


def _branch(model: Model, body: int) -> list[int]:
    return [body, *model.ancestors(body)] if body else []


def _before(inner: Pose, placed: Transform | Pose) -> Pose:
    """The outer frame in which ``placed`` puts the frame ``inner``."""
    rotation = Matrix(*(placed.outward(row) for row in inner.rotation.rows))
    return Pose(rotation, inner.origin - rotation @ placed.origin)


def residual(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """By how much every loop is open, at tree positions ``q``: metres and, for small ones, radians."""
    return [row for loop in model.loops for row in loop.kind.residual(around(model, loop, q)[1])]


def aligned(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """For each loop a number that is positive if no axis, and no frame, is turned by more than a right angle."""
    return [loop.kind.aligned(around(model, loop, q)[1]) for loop in model.loops]


def jacobian(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Rate of the residual of closed loops per tree velocity."""
    rows: list[list[Scalar]] = []
    for loop in model.loops:
        steps, end = around(model, loop, q)
        own: list[list[Scalar]] = [[0] * model.n_tree for _ in loop.kind.rows]
        for step in steps:
            for k, S in zip(model.freedoms(step.body), model.subspace(step.body), strict=True):
                angular = step.at.outward(S.angular) * step.side
                linear = step.at.outward(S.linear) * step.side + angular.cross(end.origin - step.at.origin)
                for row, value in zip(own, loop.kind.held(end, linear, angular), strict=True):
                    row[k] = value
        rows += own
    return rows


def drift(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Second rate of the residual of closed loops when the joints do not accelerate, at tree velocities ``v``."""
    rows: list[Scalar] = []
    for loop in model.loops:
        steps, end = around(model, loop, q)
        w, wd, acceleration, at = Vector(), Vector(), Vector(), Vector()
        for step in steps:
            arm, at = step.at.origin - at, step.at.origin
            own = model.joint_motion(step.body, v)
            slide, turn = step.at.outward(own.linear) * step.side, step.at.outward(own.angular) * step.side
            acceleration = acceleration + wd.cross(arm) + w.cross(w.cross(arm)) + (2 * w + turn).cross(slide)
            wd = wd + w.cross(turn)
            w = w + turn
        arm = end.origin - at
        acceleration = acceleration + wd.cross(arm) + w.cross(w.cross(arm))
        rows += loop.kind.drift(end, w, acceleration, wd)
    return rows
