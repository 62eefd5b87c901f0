"""Independent parameters by numbers: the regressor at random states, its rank and its independent columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..formulations.regressor import Parameter, regressor
from ..model import Model
from .double_double import DoubleDouble
from .precise import power_of_two, precise_rows
from .states import doubles, of_freedoms, states

DOUBTFUL = 1e-13, 1e-6  # relative singular values of doubles: below is rounding, above is certain
SURE, CERTAIN = 1e4, 1e-14  # a column with a larger residual certainly acts: relative to rounding, and absolute
TIE = 1e-6  # columns whose residuals differ less are chosen in their order
SMALL, EXACT = 1e-9, 1e-15  # coefficients that are set to zero, if the others fit the column to this accuracy
REFINED = 3  # refinements, from 16 digits to 31
SHORT = 1e-3  # length of the shortest column that is scaled to one, relative to the longest


@dataclass(frozen=True)
class Independent:
    """Independent ``columns``, and the ``matrix`` that yields all of them: Y = Y[:, columns] @ matrix.

    ``ambiguity`` describes what was assumed where numbers do not decide.
    """

    columns: list[int]
    matrix: np.ndarray
    ambiguity: str


def stacked(model: Model, parameters: Sequence[Parameter], seed: int = 0) -> np.ndarray:
    """Return rows of the regressor at random states, at least twice as many as columns, each of length one.

    Near singular positions rows are so long that the others would be lost in rounding.
    """
    q, v, a = states(model, seed)
    rows = regressor(of_freedoms(model), list(q.T), list(v.T), list(a.T), parameters)
    Y = doubles(rows, len(q)).transpose(1, 0, 2).reshape(-1, len(parameters))
    length = np.linalg.norm(Y, axis=1, keepdims=True)
    return Y / np.where(length, length, 1.0)


def rank(model: Model, parameters: Sequence[Parameter], expected: int | None = None) -> int:
    """Return the rank of the regressor: the number of parameters of the robot that act by themselves.

    Doubles decide it where they leave no doubt and confirm what is ``expected``, else all digits do.
    """
    Y = stacked(model, parameters)
    sizes = np.linalg.svd(Y * _scale(Y), compute_uv=False)
    low, high = (share * sizes.max(initial=0.0) for share in DOUBTFUL)
    count = int((sizes > low).sum())
    if ((low < sizes) & (sizes < high)).any() or count != (count if expected is None else expected):
        count = len(independent(*precise_rows(model, parameters)).columns)
    return count


def independent(Y: DoubleDouble, noise: float) -> Independent:
    """Return independent columns by pivoted Gram-Schmidt: next is the column with the largest residual.

    A column whose residual is at most ``noise``, with rows of length one, depends on the others.
    """
    scale = _scale(Y.high)
    rest, candidates = Y * scale, np.arange(Y.high.shape[1])
    R = DoubleDouble(np.zeros((min(Y.high.shape), len(candidates))))
    pivots, sizes = [], []
    while len(pivots) < len(R.high) and len(candidates):
        lengths = np.sqrt((rest.high**2).sum(axis=0))
        best = int((lengths >= (1 - TIE) * lengths.max()).argmax())
        if lengths[best] <= noise:
            break
        direction = rest[:, best] / (rest[:, best] * rest[:, best]).total().sqrt()
        shares = (rest * direction[:, None]).total()
        R[len(pivots), candidates] = shares
        pivots.append(int(candidates[best]))
        sizes.append(float(lengths[best]))
        others = np.delete(np.arange(len(candidates)), best)
        rest, candidates = rest[:, others] - direction[:, None] * shares[others][None], candidates[others]
    R = R[: len(pivots)]
    matrix = _solve(R, pivots, noise)
    order = np.argsort(pivots)
    columns = [pivots[k] for k in order]
    return Independent(columns, matrix[order] * scale[columns, None] / scale, _ambiguity(sizes, noise))


def _solve(R: DoubleDouble, columns: list[int], noise: float) -> np.ndarray:
    """Return the columns of R by the chosen ones, which are an upper triangle.

    Small coefficients are set to zero where the others fit as well.
    """
    triangle, rest = R[:, columns], R
    x = DoubleDouble(np.zeros_like(R.high))
    for k in reversed(range(len(columns))):
        x[k] = rest[k] / triangle[k, k]
        rest = rest - triangle[:, k, None] * x[k][None]
    matrix = x.high
    matrix[:, columns] = np.eye(len(columns))
    for k in np.flatnonzero(((matrix != 0) & (np.abs(matrix) < SMALL)).any(axis=0)):
        nonzero = np.abs(matrix[:, k]) >= SMALL
        few, error = _fitted(triangle[:, nonzero], R[:, k])
        if error <= max(EXACT, noise):
            matrix[:, k] = 0.0
            matrix[nonzero, k] = few
    return matrix


def _fitted(A: DoubleDouble, b: DoubleDouble) -> tuple[np.ndarray, float]:
    """Return x with A x = b and its error, by refined least squares."""
    inverse, x, rest = np.linalg.pinv(A.high), DoubleDouble(np.zeros(A.high.shape[1])), b
    for _ in range(REFINED):
        x = x + inverse @ rest.high
        rest = b - (A.T * x[:, None]).total()
    return x.high, float(np.abs(rest.high).max(initial=0.0))


def _ambiguity(sizes: Sequence[float], noise: float) -> str:
    doubtful = [size for size in sizes if size < max(CERTAIN, SURE * noise)]
    if not doubtful:
        return ""
    return (
        f"{len(doubtful)} of the base parameters add no more than {max(doubtful):.0e} to the effect of the others near"
        f" home, which may be rounding: they are assumed to act"
    )


def _scale(Y: np.ndarray) -> np.ndarray:
    """Return factors that make columns of about length one; very short ones stay short, or rounding would grow."""
    length = np.sqrt((Y**2).sum(axis=0))
    return power_of_two(1 / np.maximum(length, SHORT * (length.max(initial=0.0) or 1.0)))
