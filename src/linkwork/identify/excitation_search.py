"""Looking for the best motion: information of a motion, its slopes, and descent within limits.

Condition number and determinant are functions of the eigenvalues of the information matrix F, the mean over a period of
(Y P)^T (Y P). P scales the columns of the regressor Y, each by its root mean square over the random motions, and leaves
out what does not act in any of them. The slope by F is V diag(slopes by eigenvalues) V^T, and goes back through F to Y,
through the regressor to positions, velocities and accelerations, and from these to the coefficients, all exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..function import Function
from .excitation_limits import Rows
from .excitation_path import Moved, Path, Slopes
from .excitation_series import Grid

DIGITS = 1e-8  # of the largest eigenvalue: smaller ones of F are not exact enough for slopes
SINGULAR = 1e-12  # condition numbers beyond its inverse are rounding alone
RANK = 1e-8  # of the largest singular value of the random motions together: what is below acts in none
SHARP = (2.0, 8.0)  # powers of eigenvalues whose sums stand for the extreme ones at first, see ``_smooth_condition``
MEMORY = 20  # steps that L-BFGS remembers
GAIN = 1e-4  # a descent that gains less in ten steps has arrived

Judge = Callable[[np.ndarray], tuple[float, np.ndarray]]


# -- functions of eigenvalues --------------------------------------------------------------------------------------


def condition(eigenvalues: np.ndarray) -> tuple[float, np.ndarray]:
    """Logarithm of the condition number of W, and its slopes."""
    slopes = np.zeros_like(eigenvalues)
    slopes[0] += 0.5 / eigenvalues[0]
    slopes[-1] -= 0.5 / eigenvalues[-1]
    return 0.5 * float(np.log(eigenvalues[0] / eigenvalues[-1])), slopes


def logdet(eigenvalues: np.ndarray) -> tuple[float, np.ndarray]:
    """Minus the logarithm of the determinant of F, per parameter and of a root as W has, and its slopes."""
    count = 2 * len(eigenvalues)
    return -float(np.log(eigenvalues).sum()) / count, -1 / (count * eigenvalues)


def smooth_condition(power: float) -> Judge:
    """As ``condition``, with (sum of eigenvalue^p)^(1/p) for the largest, and likewise the least: where several are
    nearly extreme, a step that only betters one of them makes another the worst."""

    def judge(eigenvalues: np.ndarray) -> tuple[float, np.ndarray]:
        logs = np.log(eigenvalues)
        value, slopes = 0.0, np.zeros_like(eigenvalues)
        for sense in (1, -1):
            most = float((sense * logs).max())
            weights = np.exp(power * (sense * logs - most))
            value += 0.5 * (most + float(np.log(weights.sum())) / power)
            slopes += 0.5 * sense * weights / weights.sum() / eigenvalues
        return value, slopes

    return judge


OBJECTIVES: dict[str, tuple[Judge, ...]] = {  # one after the other; the last is what was asked for
    "condition": (*map(smooth_condition, SHARP), condition),
    "logdet": (logdet,),
}


# -- the problem ---------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Problem:
    """Coefficients (n, 2 K + 1) of the series of each joint, and what they are worth. ``moving``: the joints whose
    coefficients are looked for; the others stay still. ``unit``: the size of each coefficient that is looked for."""

    path: Path
    rows: list[Rows]
    regressor: Function
    grid: Grid
    moving: np.ndarray
    unit: np.ndarray
    still: np.ndarray  # coefficients of the joints that do not move, zeros of the others
    columns: np.ndarray = field(init=False)  # P

    def __post_init__(self):
        self.back = self.regressor.vjp(("q", "v", "a"))
        self.lower, self.upper, self.scale = (
            np.concatenate([getattr(each, name) for each in self.rows]) for name in ("lower", "upper", "scale")
        )

    @cached_property
    def size(self) -> int:
        return int(self.moving.sum()) * self.unit.shape[1]

    def coefficients(self, z: np.ndarray) -> np.ndarray:
        found = self.still.copy()
        found[self.moving] = z.reshape(-1, self.unit.shape[1]) * self.unit[self.moving]
        return found

    def unknowns(self, coefficients: np.ndarray) -> np.ndarray:
        return (coefficients[self.moving] / self.unit[self.moving]).ravel()

    def at(self, coefficients: np.ndarray, grid: Grid | None = None) -> Moved | None:
        grid = grid or self.grid
        return self.path.at(*(basis @ coefficients.T for basis in (grid.q, grid.v, grid.a)))

    def regressors(self, coefficients: np.ndarray) -> np.ndarray:
        """Over the period, without scaling: (N, forces, columns)."""
        moved = self.at(coefficients)
        assert moved is not None
        return self.regressor(*(each[self.grid.inside] for each in (moved.q, moved.v, moved.a)))

    def spectrum(self, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of F and its eigenvectors in columns, the largest first. Where F itself would lose too many
        digits, by the triangular factor of W = Y P."""
        W = (Y @ self.columns).reshape(-1, self.columns.shape[1])
        values, vectors = np.linalg.eigh(W.T @ W / len(Y))
        if values[0] > DIGITS * values[-1]:
            return values[::-1], vectors[:, ::-1]
        _, roots, transposed = np.linalg.svd(np.linalg.qr(W, mode="r"))
        values = np.zeros(len(transposed))
        values[: len(roots)] = roots**2 / len(Y)
        return values, transposed.T

    def scaled_by(self, motions: Sequence[np.ndarray]) -> int:
        """Choose P by these motions; how many columns act in none of them, alone or together."""
        stacked = np.concatenate([np.concatenate(self.regressors(each)) for each in motions])
        size = np.sqrt((stacked**2).mean(axis=0))
        inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > RANK * size.max())
        _, values, directions = np.linalg.svd(np.linalg.qr(stacked * inverse, mode="r"))
        rank = int((values > RANK * values[0]).sum())
        self.columns = inverse[:, None] * directions[:rank].T if rank < len(size) else np.diag(inverse)
        return len(size) - rank

    def figures(self, coefficients: np.ndarray) -> tuple[float, float]:
        """Condition number of the scaled regressor over a period, and logarithm of the determinant of F."""
        values, _ = self.spectrum(self.regressors(coefficients))
        with np.errstate(divide="ignore"):
            return float(np.sqrt(values[0] / values[-1])), float(np.log(values).sum())

    def value(self, z: np.ndarray, judge: Judge, weights: Weights | None = None) -> tuple[float, np.ndarray]:
        """What ``judge`` says of the motion, with the price of limits it breaks; and its slopes."""
        lost = np.inf, np.zeros(0)
        moved = self.at(self.coefficients(z))
        if moved is None:
            return lost
        inside = self.grid.inside
        state = [each[inside] for each in (moved.q, moved.v, moved.a)]
        Y = self.regressor(*state)
        if not np.isfinite(Y).all():
            return lost
        values, V = self.spectrum(Y)
        if not values[-1] > SINGULAR**2 * values[0]:
            return lost
        found, by_values = judge(values)
        Y_bar = (2 / len(Y)) * (Y @ (self.columns @ ((V * by_values) @ V.T) @ self.columns.T))
        slopes = Slopes(
            *(np.zeros((len(self.grid.t), n)) for n in 3 * [len(self.path.names)] + 3 * [self.path.model.nv])
        )
        for whole, part in zip((slopes.q, slopes.v, slopes.a), self.back(*state, Y_bar), strict=True):
            whole[inside] = part
        if weights is not None:
            found += self._priced(moved, weights, slopes)
        by = self.path.pulled(moved, slopes)
        gradient = sum(bar.T @ basis for bar, basis in zip(by, (self.grid.q, self.grid.v, self.grid.a), strict=True))
        return found, (gradient * self.unit)[self.moving].ravel()

    def broken(self, moved: Moved) -> np.ndarray:
        """How far each row is beyond its limits, upper and lower, relative to what is allowed; (2, N, m)."""
        found = np.concatenate([each.values(moved) for each in self.rows], axis=1)
        return np.stack([found - self.upper, self.lower - found]) / self.scale

    def _priced(self, moved: Moved, weights: Weights, slopes: Slopes) -> float:
        """The terms of the augmented Lagrangian, max(0, multiplier + penalty * excess)^2 / (2 penalty)."""
        push = np.maximum(0.0, weights.multipliers + weights.penalty * (self.broken(moved) + weights.inset))
        bar, start = (push[0] - push[1]) / self.scale, 0
        for each in self.rows:
            own = slice(start, start := start + len(each.names))
            if push[..., own].any():
                each.pull(moved, bar[:, own], slopes)
        return float((push**2).sum() - (weights.multipliers**2).sum()) / (2 * weights.penalty)


@dataclass
class Weights:
    """Of an augmented Lagrangian. ``inset``: by how much limits are taken tighter, relative to what is allowed."""

    multipliers: np.ndarray
    penalty: float
    inset: float


def descend(
    problem: Problem,
    z: np.ndarray,
    judges: Sequence[Judge],
    effort: tuple[int, int],
    inset: float,
    told: Callable[[int], None],
) -> list[np.ndarray]:
    """Coefficients after each round of an augmented Lagrangian, which goes through ``judges`` on the way. ``effort``:
    rounds, and steps in each; ``told``: is told how many steps are done."""
    rounds, steps = effort
    weights = Weights(np.zeros((2, len(problem.grid.t), len(problem.lower))), 1.0, inset)
    found = []
    for k in range(rounds):
        judge = judges[min(k * len(judges) // max(rounds - 1, 1), len(judges) - 1)]
        z = minimise(lambda z, judge=judge: problem.value(z, judge, weights), z, steps, told)
        found.append(problem.coefficients(z))
        moved = problem.at(found[-1])
        assert moved is not None
        excess = problem.broken(moved) + inset
        weights.multipliers = np.maximum(0.0, weights.multipliers + weights.penalty * excess)
        if excess.max() > 1e-3:
            weights.penalty *= 4
    return found


# -- descent -------------------------------------------------------------------------------------------------------


def minimise(
    value: Callable[[np.ndarray], tuple[float, np.ndarray]], x: np.ndarray, steps: int, told: Callable[[int], None]
) -> np.ndarray:
    """L-BFGS: at most so many steps from ``x`` along which ``value`` (and its gradient) falls. Lewis and Overton's
    search by halving and doubling, which asks for the weak conditions of Wolfe, holds where slopes jump, too."""
    f, g = value(x)
    if not np.isfinite(f):
        told(steps)
        return x
    pairs: list[tuple[np.ndarray, np.ndarray, float]] = []
    course = [f]
    for k in range(steps):
        d = -_by_inverse(g, pairs)
        slope = float(d @ g)
        if not slope < 0:
            pairs.clear()
            d, slope = -g, -float(g @ g)
        if slope > -1e-14:
            told(steps - k)
            return x
        low, high, t = 0.0, np.inf, 1.0 if pairs else min(1.0, 0.1 / float(np.abs(d).max()))
        best: tuple[float, np.ndarray, np.ndarray] | None = None
        for _ in range(25):
            f_t, g_t = value(x + t * d)
            if not f_t <= f + 1e-4 * t * slope:
                high = t
            elif float(g_t @ d) < 0.9 * slope:
                low, best = t, (f_t, x + t * d, g_t)
            else:
                best = (f_t, x + t * d, g_t)
                break
            t = (low + high) / 2 if np.isfinite(high) else 2 * t
        if best is None:
            if not pairs:
                told(steps - k)
                return x
            pairs.clear()  # what is remembered may be of another side of a kink
            told(1)
            continue
        s, y = best[1] - x, best[2] - g
        if float(s @ y) > 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            pairs = [*pairs[-MEMORY + 1 :], (s, y, 1 / float(s @ y))]
        f, x, g = best
        course.append(f)
        told(1)
        if len(course) > 10 and course[-11] - f < GAIN:
            told(steps - k - 1)
            break
    return x


def _by_inverse(g: np.ndarray, pairs: Sequence[tuple[np.ndarray, np.ndarray, float]]) -> Any:
    """The inverse Hessian that the last steps tell of, times g."""
    q, shares = g.copy(), []
    for s, y, r in reversed(pairs):
        shares.append(r * float(s @ q))
        q -= shares[-1] * y
    if pairs:
        s, y, r = pairs[-1]
        q /= r * float(y @ y)
    for (s, y, r), share in zip(pairs, reversed(shares), strict=True):
        q += s * (share - r * float(y @ q))
    return q
