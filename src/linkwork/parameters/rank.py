"""How many parameters act by themselves, by numbers: the regressor at random states, its rank and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..formulations.regressor import Parameter, regressor
from ..model import Model
from .double_double import DoubleDouble
from .precise import power_of_two, precise_rows
from .states import doubles, of_freedoms, states

DOUBTFUL = 1e-13, 1e-6  # singular values of doubles, of the largest one: rounding is below, what surely acts above
SURE, TOLD = 1e4, 1e-14  # what the others leave of a column that surely acts: times the rounding, and in doubles
TIE = 1e-6  # columns that differ less in what the others leave of them are taken in their order
SMALL, EXACT = 1e-9, 1e-15  # coefficients that are left out, of columns of length one, where the others do to this
REFINED = 3  # times, from 16 digits to 31 with some to spare
SHORT = 1e-3  # of the longest column


@dataclass(frozen=True)
class Independent:
    """``columns`` that are independent, and the ``matrix`` that makes all of them: Y = Y[:, columns] @ matrix.
    ``ambiguity``: what was assumed where numbers do not decide."""

    columns: list[int]
    matrix: np.ndarray
    ambiguity: str


def stacked(model: Model, asked: Sequence[Parameter], seed: int = 0) -> np.ndarray:
    """Rows of the regressor at random states, twice as many as columns at least, each of length one: near singular
    positions they are so long that the others would be lost beside them."""
    q, v, a = states(model, seed)
    rows = regressor(of_freedoms(model), list(q.T), list(v.T), list(a.T), asked)
    Y = doubles(rows, len(q)).transpose(1, 0, 2).reshape(-1, len(asked))
    length = np.linalg.norm(Y, axis=1, keepdims=True)
    return Y / np.where(length, length, 1.0)


def rank(model: Model, asked: Sequence[Parameter], expected: int | None = None) -> int:
    """Of the regressor: the number of parameters of the robot that act by themselves. Doubles tell it where they leave
    no doubt and find what is ``expected``, else all digits do."""
    Y = stacked(model, asked)
    sizes = np.linalg.svd(Y * _scale(Y), compute_uv=False)
    low, high = (share * sizes.max(initial=0.0) for share in DOUBTFUL)
    found = int((sizes > low).sum())
    if ((low < sizes) & (sizes < high)).any() or found != (found if expected is None else expected):
        found = len(independent(*precise_rows(model, asked)).columns)
    return found


def independent(Y: DoubleDouble, noise: float) -> Independent:
    """Gram and Schmidt's way with pivots: of the columns left, the one next that those taken explain least.

    A column that is explained but for ``noise``, with rows of length one, depends on the others.
    """
    scale = _scale(Y.high)
    rest, left = Y * scale, np.arange(Y.high.shape[1])
    R = DoubleDouble(np.zeros((min(Y.high.shape), len(left))))
    taken, sizes = [], []
    while len(taken) < len(R.high) and len(left):
        lengths = np.sqrt((rest.high**2).sum(axis=0))
        best = int((lengths >= (1 - TIE) * lengths.max()).argmax())
        if lengths[best] <= noise:
            break
        direction = rest[:, best] / (rest[:, best] * rest[:, best]).total().sqrt()
        shares = (rest * direction[:, None]).total()
        R[len(taken), left] = shares
        taken.append(int(left[best]))
        sizes.append(float(lengths[best]))
        others = np.delete(np.arange(len(left)), best)
        rest, left = rest[:, others] - direction[:, None] * shares[others][None], left[others]
    R = R[: len(taken)]
    matrix = _solved(R, taken, noise)
    order = np.argsort(taken)
    columns = [taken[k] for k in order]
    return Independent(columns, matrix[order] * scale[columns, None] / scale, _ambiguity(sizes, noise))


def _solved(R: DoubleDouble, taken: list[int], noise: float) -> np.ndarray:
    """The columns of R by those taken, which are an upper triangle; small coefficients are left out where the others
    do as well."""
    triangle, rest = R[:, taken], R
    x = DoubleDouble(np.zeros_like(R.high))
    for k in reversed(range(len(taken))):
        x[k] = rest[k] / triangle[k, k]
        rest = rest - triangle[:, k, None] * x[k][None]
    matrix = x.high
    matrix[:, taken] = np.eye(len(taken))
    for k in np.flatnonzero(((matrix != 0) & (np.abs(matrix) < SMALL)).any(axis=0)):
        needed = np.abs(matrix[:, k]) >= SMALL
        few, off = _fitted(triangle[:, needed], R[:, k])
        if off <= max(EXACT, noise):
            matrix[:, k] = 0.0
            matrix[needed, k] = few
    return matrix


def _fitted(A: DoubleDouble, b: DoubleDouble) -> tuple[np.ndarray, float]:
    """x with A x = b and by how much it is not: least squares of doubles, refined."""
    inverse, x, rest = np.linalg.pinv(A.high), DoubleDouble(np.zeros(A.high.shape[1])), b
    for _ in range(REFINED):
        x = x + inverse @ rest.high
        rest = b - (A.T * x[:, None]).total()
    return x.high, float(np.abs(rest.high).max(initial=0.0))


def _ambiguity(sizes: Sequence[float], noise: float) -> str:
    doubtful = [size for size in sizes if size < max(TOLD, SURE * noise)]
    if not doubtful:
        return ""
    return (
        f"{len(doubtful)} of the base parameters add no more than {max(doubtful):.0e} to what the others do near home,"
        f" which may be rounding: they are taken to act"
    )


def _scale(Y: np.ndarray) -> np.ndarray:
    """What makes columns of about length one; very short ones stay short, lest rounding grows."""
    length = np.sqrt((Y**2).sum(axis=0))
    return power_of_two(1 / np.maximum(length, SHORT * (length.max(initial=0.0) or 1.0)))
