"""How many parameters act by themselves, by numbers: the regressor at random states, its rank and its columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import LinkworkError
from ..formulations.regressor import Parameter, regressor
from ..model import Model, closure

TOLERANCE, ROUNDING = 1e-12, 3e-16  # of the largest singular value: below may be rounding, below is
SMALL, EXACT = 1e-9, 1e-13  # coefficients that are left out, where the others do as well, to this
SHORT = 1e-3  # of the longest column
RANK = 1e-6  # of the loops' equations: rounded numbers make them contradict each other by less
STRIDE, STRIDES = 0.2, 10  # radians or metres at most, and how many are taken from home
NEWTON = 10  # steps, of which three are enough for a stride
CLOSED = 1e-9  # metres and radians, before the last step
TRIES = 5  # walks for each position


def stacked(model: Model, asked: Sequence[Parameter], seed: int = 0) -> np.ndarray:
    """Rows of the regressor at random states, twice as many as columns at least, each of length one: near singular
    positions they are so long that the others would be lost beside them."""
    rng = np.random.default_rng(seed)
    count = 8 + 2 * len(asked) // max(len(model.mobility.forced), 1)
    q = _closed_positions(model, count, rng) if model.loops else rng.uniform(-3, 3, (count, model.nq))
    v, a = (rng.uniform(-3, 3, (count, model.nv)) for _ in range(2))
    rows = regressor(model, list(q.T), list(v.T), list(a.T), asked)
    Y = np.array([[np.broadcast_to(x, count) for x in row] for row in rows], float)
    Y = Y.reshape(len(rows), len(asked), count).transpose(0, 2, 1).reshape(-1, len(asked))
    length = np.linalg.norm(Y, axis=1, keepdims=True)
    return Y / np.where(length, length, 1.0)


def _closed_positions(model: Model, count: int, rng: np.random.Generator) -> np.ndarray:
    """Those on short walks from home as the loops allow, so that they stay put together as they are there."""
    found: list[list[float]] = []
    for _ in range(TRIES * count):
        if len(found) >= count:
            return np.array(found[:count])
        q, stride, length = list(model.home), rng.normal(size=model.n_leading), rng.uniform(0, STRIDE)
        for _ in range(STRIDES):
            J = _loop_jacobian(model, q)
            step = stride - np.linalg.lstsq(J, J @ stride, rcond=RANK)[0]
            q = _closed(model, model.moved(q, (step * (length / np.abs(step).max())).tolist()))
            if q is None:
                break
            found.append(q)
    raise LinkworkError(
        "too few positions close the loops to count the parameters that act",
        where=f"robot {model.name!r}",
        got=f"{len(found)} on {TRIES * count} ways from home",
        fix="choose a home position farther from the ends of the robot's reach",
    )


def _closed(model: Model, q: list[float]) -> list[float] | None:
    """The loops closed by Newton's steps."""
    for _ in range(NEWTON):
        gap = np.array(closure.residual(model, model.expand(q)), float)
        q = model.moved(q, (-np.linalg.lstsq(_loop_jacobian(model, q), gap, rcond=RANK)[0]).tolist())
        if np.abs(gap).max() < CLOSED:
            return q
    return None


def _loop_jacobian(model: Model, q: list[float]) -> np.ndarray:
    return np.array(model.collect_rows(closure.jacobian(model, model.expand(q))), float)


def rank(model: Model, asked: Sequence[Parameter]) -> int:
    """Of the regressor: the number of parameters of the robot that act by themselves."""
    return _rank(_scaled(stacked(model, asked))[0])


def independent(Y: np.ndarray) -> tuple[list[int], np.ndarray]:
    """As many columns as are independent, and the matrix that makes all columns of them:
    ``Y = Y[:, columns] @ matrix``.

    Gram and Schmidt's way with pivots: of the columns left, the one next that those taken explain least.
    """
    scaled, length = _scaled(Y)
    rest, taken, basis = scaled.copy(), [], np.zeros((len(Y), 0))
    for _ in range(_rank(scaled)):
        best = int(np.linalg.norm(rest, axis=0).argmax())
        direction = rest[:, best] - basis @ (basis.T @ rest[:, best])  # once more, for the rounding
        direction /= np.linalg.norm(direction)
        basis = np.column_stack([basis, direction])
        rest -= np.outer(direction, direction @ rest)
        taken.append(best)
        rest[:, taken] = 0.0
    taken.sort()
    chosen = scaled[:, taken]
    matrix = np.linalg.lstsq(chosen, scaled, rcond=None)[0]
    for k, column in enumerate(scaled.T):
        needed = np.abs(matrix[:, k]) >= SMALL
        few = np.linalg.lstsq(chosen[:, needed], column, rcond=None)[0]
        if np.linalg.norm(chosen[:, needed] @ few - column) < EXACT:
            matrix[:, k] = 0.0
            matrix[needed, k] = few
    matrix[:, taken] = np.eye(len(taken))
    return taken, matrix * length / length[taken, None]


def _rank(scaled: np.ndarray) -> int:
    """Before the largest step from one singular value to the next, of steps that end low enough to be rounding."""
    sizes = np.linalg.svd(scaled, compute_uv=False)
    if not sizes.any():
        return 0
    sizes = np.append(np.maximum(sizes / sizes[0], ROUNDING), ROUNDING)
    return 1 + int(np.where(sizes[1:] <= TOLERANCE, sizes[:-1] / sizes[1:], 0.0).argmax())


def _scaled(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns of length one, and what they were divided by; very short ones stay short, lest rounding grows."""
    length = np.linalg.norm(Y, axis=0)
    length = np.maximum(length, SHORT * (length.max(initial=0.0) or 1.0))
    return Y / length, length
