"""Closing loops: Newton's step towards closed positions over any scalar, and a search with such steps.

At positions with the residual r, the step -x of the non-mimic joints with J x = r closes the loops to first order.
There may be many such x, or none if equations contradict each other. The caller chooses: least squares of the joints
that may move (``keeping``, ``shortest``) or least kinetic energy (``SaddlePoint.correction``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..scalar import Scalar, sqrt
from ..scalar.orthogonal import Orthogonal
from .equations import ConstraintEquations

CLOSE = 1e-2  # below this residual, Newton steps without damping
DEPENDENT = 1e-9  # singular values below this share of the largest belong to dependent equations

Solve = Callable[[ConstraintEquations], Sequence[Scalar]]


def closer(equations: ConstraintEquations, q: Sequence[Scalar], solve: Solve) -> list[Scalar]:
    """Return the positions after Newton's step from the user's ``q`` of the ``equations``; ``solve`` gives x."""
    return equations.model.moved(q, [-x for x in solve(equations)])


def keeping(freedoms: Sequence[int], damping: Scalar = None) -> Solve:
    """Return the least-squares solver that keeps velocities (``freedoms``) zero, with Marquardt's ``damping``."""

    def solve(equations: ConstraintEquations) -> list[Scalar]:
        unknown = [k for k in range(equations.model.coordinates.nv) if k not in freedoms]
        columns, b = equations.columns(unknown), list(equations.residual)
        if damping is not None:
            damp, n = sqrt(damping), len(columns)
            columns = [[*column, *(damp if i == j else 0 for j in range(n))] for i, column in enumerate(columns)]
            b += [0] * n
        steps = dict(zip(unknown, Orthogonal(columns).solve(b), strict=True))
        return [steps.get(k, 0) for k in range(equations.model.coordinates.nv)]

    return solve


def shortest(along: np.ndarray, damping: float = 0.0) -> Solve:
    """Return the solver for the shortest least-squares combination of the rows of ``along``, for numbers."""

    def solve(equations: ConstraintEquations) -> list[float]:
        J, r = numbers(equations.J, equations.model.coordinates.nv), np.array(equations.residual, float)
        damped = np.vstack([J @ along.T, np.sqrt(damping) * np.eye(len(along))])
        x = np.linalg.lstsq(damped, np.append(r, np.zeros(len(along))), rcond=DEPENDENT)[0]
        return (x @ along).tolist()

    return solve


def numbers(rows: Sequence[Sequence[float]], columns: int) -> np.ndarray:
    """Return a matrix with any number of rows."""
    return np.array(rows, float).reshape(len(rows), columns)


def search(
    step: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    q: np.ndarray,
    tolerance: float,
    iterations: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions nearest to closed from each of ``q`` (B, nq), and the number of steps.

    Levenberg-Marquardt method: Newton's steps near the solution, descent far from it. ``step(q, damping)`` gives the
    next positions, and the residual at ``q``. States that have converged are not changed any more.
    """
    best, steps = q.copy(), np.zeros(len(q), int)
    todo, at, damping, least = np.arange(len(q)), q, np.full((len(q), 1), 1e-4), np.full(len(q), np.inf)
    for iteration in range(iterations + 1):
        next_q, r = step(at, damping)
        square = (r * r).sum(axis=-1)
        better = square <= least
        best[todo[better]], steps[todo[better]] = at[better], iteration
        least = np.where(better, square, least)
        damping = np.where(better[:, None], 0.01 * damping, 100 * np.maximum(damping, 1e-8))
        damping[better & (square < CLOSE**2)] = 0.0
        keep = ~((better & (square <= tolerance**2)) | (damping[:, 0] > 1e12) | ~np.isfinite(square))
        if not keep.any():
            break
        # a step that increased the residual is repeated, shorter, from its start
        worse = keep & ~better
        if worse.any():
            next_q[worse] = step(best[todo[worse]], damping[worse])[0]
        todo, at, damping, least = todo[keep], next_q[keep], damping[keep], least[keep]
    return best, steps
