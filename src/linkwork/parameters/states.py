"""Random states at which the parameters of a robot are compared; loops are closed there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..constraints import ConstraintEquations
from ..constraints.projection import Solve, closer
from ..errors import LinkworkError
from ..model import Model
from ..scalar import Scalar

PARAMETERS = 13  # number of parameters of a body and its joint
RANK = 1e-6  # relative singular values of the loops' equations that count as zero: rounding makes them contradict
STRIDE, STRIDES = 0.2, 10  # largest stride in radians or metres, and their number from home
NEWTON = 10  # largest number of Newton steps; three suffice for a stride
CLOSED = 1e-9  # largest residual in metres and radians, before the last step
TRIES = 5  # times as many walks as necessary if all succeed


def states(model: Model, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and accelerations, with at least twice as many forces as there are parameters."""
    rng = np.random.default_rng(seed)
    count = 8 + 2 * PARAMETERS * model.n_bodies // max(model.nv, 1)
    q = _closed_positions(model, count, rng) if model.constrained else rng.uniform(-3, 3, (count, model.nq))
    v, a = (rng.uniform(-3, 3, (count, model.nv)) for _ in range(2))
    return q, v, a


def doubles(rows: Sequence[Sequence[Scalar]], count: int) -> np.ndarray:
    """Return a matrix of scalars that have ``count`` values each, rounded to doubles, (count, rows, columns)."""
    entries = [[np.broadcast_to(getattr(x, "high", x), count) for x in row] for row in rows]
    columns = len(entries[0]) if entries else 0
    return np.array(entries, float).reshape(len(entries), columns, count).transpose(2, 0, 1)


def open_by(equations: ConstraintEquations, count: int) -> np.ndarray:
    """Return the residuals of the loops at ``count`` positions, (count, equations, 1)."""
    return doubles([[x] for x in equations.residual], count)


def jacobian(model: Model, q: Sequence[Scalar], count: int) -> np.ndarray:
    return doubles(ConstraintEquations.at(model, q).J, count)


def shortest(J: np.ndarray) -> Solve:
    """Return the solver of Newton's step to closed loops, with a Jacobian for each position."""
    inverse = np.linalg.pinv(J, rcond=RANK)
    return lambda equations: list((inverse @ open_by(equations, len(J)))[..., 0].T)


def of_freedoms(model: Model) -> Model:
    """Return the same robot with a force on each dof and no motors, which has the same base parameters."""
    mobility = model.mobility
    return replace(model, closed_mobility=replace(mobility, motors=(), driven=(), free=mobility.independent))


def _closed_positions(model: Model, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return positions on short walks from home that the loops allow, all in the same assembly mode."""
    if not model.nv:
        return np.tile(model.home, (count, 1))
    positions = np.zeros((0, model.nq))
    walks = -(-count // STRIDES)
    for _ in range(TRIES):
        q = np.tile(model.home, (walks, 1))
        direction, length = rng.normal(size=(walks, model.coordinates.nv, 1)), rng.uniform(0, STRIDE, (walks, 1, 1))
        for _ in range(STRIDES):
            J = jacobian(model, list(q.T), len(q))
            step = direction - np.linalg.pinv(J, rcond=RANK) @ (J @ direction)
            step = step * (length / np.abs(step).max(axis=1, keepdims=True))
            q, closed = _closed(model, model.moved(list(q.T), list(step[..., 0].T)), len(q))
            q, direction, length = q[closed], direction[closed], length[closed]
            positions = np.concatenate([positions, q])
        if len(positions) >= count:
            return positions[:count]
    raise LinkworkError(
        "too few positions with closed loops were found to count the base parameters",
        where=f"robot {model.name!r}",
        got=f"{len(positions)} on {TRIES * walks} walks from home",
        fix="choose a home position farther from the ends of the robot's reach",
    )


def _closed(model: Model, q: list[Scalar], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return positions, and at which of them Newton's steps have closed the loops."""
    closed = np.zeros(count, bool)
    for _ in range(NEWTON):
        equations = ConstraintEquations.closing(model, q)
        closed = np.abs(open_by(equations, count)).max(axis=(1, 2)) < CLOSED
        q = closer(equations, q, shortest(doubles(equations.J, count)))
        if closed.all():
            break
    return np.stack(q, axis=1), closed
