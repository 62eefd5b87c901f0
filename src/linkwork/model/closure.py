"""Loop equations: what a cut joint asks of the joints around its loop, over any scalar.

The loop is walked from the frame ``first`` of the cut joint, inward to the last body both branches share and outward
to the frame ``second``. Everything is told relative to ``first`` and in its axes, so a moving base does not enter.
Turns are told by sines: a residual is zero, too, where an axis points exactly the wrong way, which ``aligned`` tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..scalar import Scalar
from ..spatial import AXES, Matrix, Pose, Transform, Vector, X, Y, Z
from .model import Loop, Model

# Directions in which each kind of cut joint holds the origins together, and about which it holds the turns. The
# universal joint's one is the normal of its two axes, which moves.
HELD = {
    "revolute": (AXES, (X, Y)),
    "prismatic": ((X, Y), AXES),
    "universal": (AXES, None),
    "spherical": (AXES, ()),
    "weld": (AXES, AXES),
}


def row_names(model: Model) -> list[str]:
    """The equations: loop and direction, with r for turns."""
    names = []
    for loop in model.loops:
        shifts, turns = HELD[loop.kind]
        names += [f"{loop.name}.{'xyz'[AXES.index(axis)]}" for axis in shifts]
        names += [f"{loop.name}.r"] if turns is None else [f"{loop.name}.r{'xyz'[AXES.index(axis)]}" for axis in turns]
    return names


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


def turned(end: Pose, kind: str) -> tuple[Vector, ...]:
    """Directions about which ``second`` cannot turn against ``first``."""
    directions = HELD[kind][1]
    return (end.rotation.columns[0].cross(Z),) if directions is None else directions


def residual(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """By how much every loop is open, at tree positions ``q``: metres and, for small ones, radians."""
    rows: list[Scalar] = []
    for loop in model.loops:
        _, end = around(model, loop, q)
        rows += [direction.dot(end.origin) for direction in HELD[loop.kind][0]]
        x, y, z = end.rotation.columns
        if loop.kind == "universal":
            rows.append(x.z)
        elif loop.kind == "revolute":
            rows += [-z.y, z.x]
        elif loop.kind != "spherical":
            rows += [0.5 * (y.z - z.y), 0.5 * (z.x - x.z), 0.5 * (x.y - y.x)]
    return rows


def aligned(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """For each loop a number that is positive if no axis, and no frame, is turned by more than a right angle."""
    found: list[Scalar] = []
    for loop in model.loops:
        x, y, z = around(model, loop, q)[1].rotation.columns
        if loop.kind == "revolute":
            found.append(z.z)
        else:
            found.append(x.x + y.y + z.z - 1 if loop.kind in ("prismatic", "weld") else 1)
    return found


def jacobian(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Rate of the residual of closed loops per tree velocity."""
    rows: list[list[Scalar]] = []
    for loop in model.loops:
        steps, end = around(model, loop, q)
        own: list[list[Scalar]] = [[0] * model.n_tree for _ in (*HELD[loop.kind][0], *turned(end, loop.kind))]
        for step in steps:
            for k, S in zip(model.freedoms(step.body), model.subspace(step.body, q), strict=True):
                angular = step.at.outward(S.angular) * step.side
                linear = step.at.outward(S.linear) * step.side + angular.cross(end.origin - step.at.origin)
                for row, value in zip(own, _held(loop.kind, end, linear, angular), strict=True):
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
            own, change = model.joint_motion(step.body, q, v), model.joint_drift(step.body, q, v)
            slide, turn = step.at.outward(own.linear) * step.side, step.at.outward(own.angular) * step.side
            acceleration = acceleration + wd.cross(arm) + w.cross(w.cross(arm)) + (2 * w + turn).cross(slide)
            acceleration = acceleration + step.at.outward(change.linear) * step.side
            wd = wd + w.cross(turn) + step.at.outward(change.angular) * step.side
            w = w + turn
        arm = end.origin - at
        acceleration = acceleration + wd.cross(arm) + w.cross(w.cross(arm))
        own = _held(loop.kind, end, acceleration, wd)
        if loop.kind == "universal":  # its held direction moves: w . d/dt (x cross z), z at rest
            own[-1] = own[-1] + w.dot(w.cross(end.rotation.columns[0]).cross(Z))
        rows += own
    return rows


def _held(kind: str, end: Pose, linear: Vector, angular: Vector) -> list[Scalar]:
    """The components of a motion of ``second`` that the cut joint does not allow."""
    return [
        *(direction.dot(linear) for direction in HELD[kind][0]),
        *(direction.dot(angular) for direction in turned(end, kind)),
    ]
