"""Looking for the best motion: information of a motion, its slopes, and descent within limits.

Condition number and determinant are functions of the information matrix F, the mean over a period of (Y P)^T (Y P). P
scales the columns of the regressor Y, each by its root mean square over the random motions, and leaves out what acts in
none of them. The slope by F goes back to Y, through the regressor to positions, velocities and accelerations, and from
these to the coefficients, all exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...function import Function
from .fourier_from_rest import Grid
from .motion_limits import Rows
from .motion_path import Moved, Path, Slopes

SINGULAR = 1e-12  # condition numbers beyond its inverse are rounding alone
RANK = 1e-8  # of the largest singular value of the random motions together: what is below acts in none
SHARP = (1, 3, 5)  # doublings of the power by which sums of eigenvalues stand for the extreme ones at first
SMALL = 200_000  # multiplications of a product that is computed at once
MEMORY = 20  # steps that L-BFGS remembers
GAIN = 1e-4  # a descent that gains less in ten steps has arrived

Judge = Callable[[np.ndarray], tuple[float, np.ndarray]]


# -- functions of the information ----------------------------------------------------------------------------------


def condition(F: np.ndarray) -> tuple[float, np.ndarray]:
    """Logarithm of the condition number of W = Y P, the root of that of F, and its slope, by the extreme vectors."""
    values, V = np.linalg.eigh(F)
    if not values[0] > 0:
        raise np.linalg.LinAlgError
    largest, least = (np.outer(V[:, k], V[:, k]) / values[k] for k in (-1, 0))
    return 0.5 * float(np.log(values[-1] / values[0])), 0.5 * (largest - least)


def logdet(F: np.ndarray) -> tuple[float, np.ndarray]:
    """Minus the logarithm of the determinant of F, per parameter, and its slope."""
    root = np.diag(np.linalg.cholesky(F))
    return -2 * float(np.log(root).mean()), -np.linalg.inv(F) / len(F)


def smooth_condition(doublings: int) -> Judge:
    """As ``condition``, with trace(F^p)^(1/p), where p = 2^doublings, for the largest eigenvalue and likewise for the
    least. Where several are nearly extreme, a step that betters only the worst makes another one so.
    It takes products alone, where a library's eigenvalues would wait for threads."""
    power = 2**doublings

    def judge(F: np.ndarray) -> tuple[float, np.ndarray]:
        np.linalg.cholesky(F)  # it is positive, or there is no condition
        inverse = np.linalg.inv(F)
        value, slope = 0.0, np.zeros_like(F)
        for matrix, other, sense in ((F, inverse, 1), (inverse, F, -1)):
            raised, scale = matrix, 0.0  # of matrix^p, the logarithm of what it was divided by
            for _ in range(doublings):
                size = float(np.trace(raised))
                raised = (raised / size) @ (raised / size)
                scale = 2 * (scale + np.log(size))
            total = float(np.trace(raised))
            value += 0.5 * (scale + np.log(total)) / power
            by_own = raised @ other / total  # matrix^(p - 1) / trace(matrix^p)
            slope += 0.5 * (by_own if sense > 0 else -inverse @ by_own @ inverse)
        return value, (slope + slope.T) / 2

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

    def information(self, Y: np.ndarray) -> np.ndarray:
        """F, by products so small that a library of linear algebra does not share them among threads: these would wait
        for each other longer than the work takes, and long where other programs keep the processors busy."""
        W = (Y @ self.columns).reshape(-1, self.columns.shape[1])
        rows = max(8, SMALL // W.shape[1] ** 2)
        return np.sum([W[k : k + rows].T @ W[k : k + rows] for k in range(0, len(W), rows)], axis=0) / len(Y)

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
        W = self.regressors(coefficients) @ self.columns
        values = np.linalg.svd(np.concatenate(W), compute_uv=False)
        if len(values) < W.shape[-1] or not values[-1] > SINGULAR * values[0]:
            return np.inf, -np.inf
        return float(values[0] / values[-1]), float(2 * np.log(values).sum() - len(values) * np.log(len(W)))

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
        try:
            found, by_F = judge(self.information(Y))
        except np.linalg.LinAlgError:
            return lost
        Y_bar = (2 / len(Y)) * (Y @ (self.columns @ by_F @ self.columns.T))
        slopes = Slopes.zeros(moved)
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
