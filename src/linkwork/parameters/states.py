"""Random states that the parameters of a robot are told apart by; loops are closed there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..constraints import ConstraintEquations
from ..constraints.projection import Solve, closer
from ..errors import LinkworkError
from ..model import Model
from ..scalar import Scalar

PARAMETERS = 13  # of a body and its joint
RANK = 1e-6  # of the loops' equations: rounded numbers make them contradict each other by less
STRIDE, STRIDES = 0.2, 10  # radians or metres at most, and how many are taken from home
NEWTON = 10  # steps, of which three are enough for a stride
CLOSED = 1e-9  # metres and radians, before the last step
TRIES = 5  # as many walks as would do if all went well


def states(model: Model, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations, with at least twice as many forces as there are parameters, however
    many motors share a freedom."""
    rng = np.random.default_rng(seed)
    count = 8 + 2 * PARAMETERS * model.n_bodies // max(model.nv, 1)
    q = _closed_positions(model, count, rng) if model.constrained else rng.uniform(-3, 3, (count, model.nq))
    v, a = (rng.uniform(-3, 3, (count, model.nv)) for _ in range(2))
    return q, v, a


def doubles(rows: Sequence[Sequence[Scalar]], count: int) -> np.ndarray:
    """A matrix of scalars that have ``count`` values each, rounded: (count, rows, columns)."""
    found = [[np.broadcast_to(getattr(x, "high", x), count) for x in row] for row in rows]
    columns = len(found[0]) if found else 0
    return np.array(found, float).reshape(len(found), columns, count).transpose(2, 0, 1)


def open_by(equations: ConstraintEquations, count: int) -> np.ndarray:
    """How far the loops are open at ``count`` positions: (count, equations, 1)."""
    return doubles([[x] for x in equations.residual], count)


def jacobian(model: Model, q: Sequence[Scalar], count: int) -> np.ndarray:
    return doubles(ConstraintEquations.at(model, q).J, count)


def shortest(J: np.ndarray) -> Solve:
    """For Newton's step to where the loops are closed, with a Jacobian for each position."""
    inverse = np.linalg.pinv(J, rcond=RANK)
    return lambda equations: list((inverse @ open_by(equations, len(J)))[..., 0].T)


def of_freedoms(model: Model) -> Model:
    """The same robot with a force on each freedom and no motors, which tell the same."""
    mobility = model.mobility
    return replace(model, closed_mobility=replace(mobility, motors=(), driven=(), free=mobility.independent))


def _closed_positions(model: Model, count: int, rng: np.random.Generator) -> np.ndarray:
    """Those on short walks from home as the loops allow, so that they stay put together as they are there."""
    if not model.nv:
        return np.tile(model.home, (count, 1))
    found = np.zeros((0, model.nq))
    walks = -(-count // STRIDES)
    for _ in range(TRIES):
        q = np.tile(model.home, (walks, 1))
        ahead, length = rng.normal(size=(walks, model.coordinates.nv, 1)), rng.uniform(0, STRIDE, (walks, 1, 1))
        for _ in range(STRIDES):
            J = jacobian(model, list(q.T), len(q))
            step = ahead - np.linalg.pinv(J, rcond=RANK) @ (J @ ahead)
            step = step * (length / np.abs(step).max(axis=1, keepdims=True))
            q, closed = _closed(model, model.moved(list(q.T), list(step[..., 0].T)), len(q))
            q, ahead, length = q[closed], ahead[closed], length[closed]
            found = np.concatenate([found, q])
        if len(found) >= count:
            return found[:count]
    raise LinkworkError(
        "too few positions close the loops to count the parameters that act",
        where=f"robot {model.name!r}",
        got=f"{len(found)} on {TRIES * walks} ways from home",
        fix="choose a home position farther from the ends of the robot's reach",
    )


def _closed(model: Model, q: list[Scalar], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions, and at which of them Newton's steps have closed the loops."""
    closed = np.zeros(count, bool)
    for _ in range(NEWTON):
        equations = ConstraintEquations.closing(model, q)
        closed = np.abs(open_by(equations, count)).max(axis=(1, 2)) < CLOSED
        q = closer(equations, q, shortest(doubles(equations.J, count)))
        if closed.all():
            break
    return np.stack(q, axis=1), closed
