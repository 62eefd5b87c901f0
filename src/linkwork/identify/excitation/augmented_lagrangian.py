"""The search for the best motion: its information, derivatives, and descent within limits.

Condition number and determinant are functions of the information matrix F, the mean over a period of (Y P)^T (Y P). P
scales the columns of the regressor Y, each by its root mean square over the random motions, and leaves out what acts in
none of them. The derivative with respect to F is pulled back exactly to Y, through the regressor to positions,
velocities and accelerations, and from these to the coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...function import Function
from .fourier_from_rest import Grid
from .motion_limits import Rows
from .motion_path import Path, RobotMotion, Slopes

SINGULAR = 1e-12  # condition numbers beyond its inverse are rounding
RANK = 1e-8  # of the largest singular value of all random motions: directions below act in none
SHARP = (1, 3, 5)  # doublings of the power with which sums of eigenvalues approximate the extreme ones at first
SMALL = 200_000  # multiplications of a product that is computed at once
MEMORY = 20  # steps that L-BFGS stores
GAIN = 1e-4  # a descent that gains less in ten steps has converged

Judge = Callable[[np.ndarray], tuple[float, np.ndarray]]


# -- functions of the information ----------------------------------------------------------------------------------


def condition(F: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the logarithm of the condition number of W = Y P, the root of that of F, and its gradient in F."""
    values, V = np.linalg.eigh(F)
    if not values[0] > 0:
        raise np.linalg.LinAlgError
    largest, least = (np.outer(V[:, k], V[:, k]) / values[k] for k in (-1, 0))
    return 0.5 * float(np.log(values[-1] / values[0])), 0.5 * (largest - least)


def logdet(F: np.ndarray) -> tuple[float, np.ndarray]:
    """Return minus the logarithm of the determinant of F, per parameter, and its gradient."""
    root = np.diag(np.linalg.cholesky(F))
    return -2 * float(np.log(root).mean()), -np.linalg.inv(F) / len(F)


def smooth_condition(doublings: int) -> Judge:
    """Return a smooth ``condition``, with trace(F^p)^(1/p), p = 2^doublings, for the largest eigenvalue, likewise the
    least.

    Where several eigenvalues are nearly extreme, a step that improves only the worst makes another one the worst. It
    uses only products, since eigenvalue routines of a library would wait for threads.
    """
    power = 2**doublings

    def judge(F: np.ndarray) -> tuple[float, np.ndarray]:
        np.linalg.cholesky(F)  # raises if F is not positive definite
        inverse = np.linalg.inv(F)
        value, slope = 0.0, np.zeros_like(F)
        for matrix, other, sense in ((F, inverse, 1), (inverse, F, -1)):
            raised, scale = matrix, 0.0  # matrix^p, and the logarithm of what it was divided by
            for _ in range(doublings):
                size = float(np.trace(raised))
                raised = (raised / size) @ (raised / size)
                scale = 2 * (scale + np.log(size))
            total = float(np.trace(raised))
            value += 0.5 * (scale + np.log(total)) / power
            gradient = raised @ other / total  # matrix^(p - 1) / trace(matrix^p)
            slope += 0.5 * (gradient if sense > 0 else -inverse @ gradient @ inverse)
        return value, (slope + slope.T) / 2

    return judge


OBJECTIVES: dict[str, tuple[Judge, ...]] = {  # used one after the other; the last is the objective itself
    "condition": (*map(smooth_condition, SHARP), condition),
    "logdet": (logdet,),
}


# -- the problem ---------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Problem:
    """The objective as a function of the coefficients (n, 2 K + 1) of the series of each joint.

    Attributes:
        path: The robot's motion, given that of the joints.
        rows: Limits.
        regressor: Regressor of the base parameters.
        grid: Times.
        moving: Joints whose coefficients are searched for; the others stay still.
        unit: Size of each coefficient.
        still: Coefficients of the joints that do not move, zero for the others.
        columns: P.
    """

    path: Path
    rows: list[Rows]
    regressor: Function
    grid: Grid
    moving: np.ndarray
    unit: np.ndarray
    still: np.ndarray
    columns: np.ndarray = field(init=False)

    def __post_init__(self):
        self.back = self.regressor.vjp(("q", "v", "a"))
        self.lower, self.upper, self.scale = (
            np.concatenate([getattr(each, name) for each in self.rows]) for name in ("lower", "upper", "scale")
        )

    def coefficients(self, z: np.ndarray) -> np.ndarray:
        coefficients = self.still.copy()
        coefficients[self.moving] = z.reshape(-1, self.unit.shape[1]) * self.unit[self.moving]
        return coefficients

    def unknowns(self, coefficients: np.ndarray) -> np.ndarray:
        return (coefficients[self.moving] / self.unit[self.moving]).ravel()

    def at(self, coefficients: np.ndarray, grid: Grid | None = None) -> RobotMotion | None:
        grid = grid or self.grid
        return self.path.at(*(basis @ coefficients.T for basis in (grid.q, grid.v, grid.a)))

    def regressors(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the regressor over the period, without scaling, (N, forces, columns)."""
        motion = self.at(coefficients)
        assert motion is not None
        return self.regressor(*(each[self.grid.inside] for each in (motion.q, motion.v, motion.a)))

    def information(self, Y: np.ndarray) -> np.ndarray:
        """Return F, by products so small that BLAS does not distribute them among threads, which is slower."""
        W = (Y @ self.columns).reshape(-1, self.columns.shape[1])
        rows = max(8, SMALL // W.shape[1] ** 2)
        return np.sum([W[k : k + rows].T @ W[k : k + rows] for k in range(0, len(W), rows)], axis=0) / len(Y)

    def scaled_by(self, motions: Sequence[np.ndarray]) -> int:
        """Choose P by these motions, and return how many columns act in none of them, alone or together."""
        stacked = np.concatenate([np.concatenate(self.regressors(each)) for each in motions])
        size = np.sqrt((stacked**2).mean(axis=0))
        inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > RANK * size.max())
        _, values, directions = np.linalg.svd(np.linalg.qr(stacked * inverse, mode="r"))
        rank = int((values > RANK * values[0]).sum())
        self.columns = inverse[:, None] * directions[:rank].T if rank < len(size) else np.diag(inverse)
        return len(size) - rank

    def figures(self, coefficients: np.ndarray) -> tuple[float, float]:
        """Return the condition number of the scaled regressor over a period, and the logarithm of det F."""
        W = self.regressors(coefficients) @ self.columns
        values = np.linalg.svd(np.concatenate(W), compute_uv=False)
        if len(values) < W.shape[-1] or not values[-1] > SINGULAR * values[0]:
            return np.inf, -np.inf
        return float(values[0] / values[-1]), float(2 * np.log(values).sum() - len(values) * np.log(len(W)))

    def value(self, z: np.ndarray, judge: Judge, weights: Weights | None = None) -> tuple[float, np.ndarray]:
        """Return the objective ``judge`` of the motion with the penalty of violated limits, and its gradient."""
        infinite = np.inf, np.zeros(0)
        motion = self.at(self.coefficients(z))
        if motion is None:
            return infinite
        inside = self.grid.inside
        state = [each[inside] for each in (motion.q, motion.v, motion.a)]
        Y = self.regressor(*state)
        if not np.isfinite(Y).all():
            return infinite
        try:
            value, by_F = judge(self.information(Y))
        except np.linalg.LinAlgError:
            return infinite
        Y_bar = (2 / len(Y)) * (Y @ (self.columns @ by_F @ self.columns.T))
        slopes = Slopes.zeros(motion)
        for whole, part in zip((slopes.q, slopes.v, slopes.a), self.back(*state, Y_bar), strict=True):
            whole[inside] = part
        if weights is not None:
            value += self._priced(motion, weights, slopes)
        pulled = self.path.pulled(motion, slopes)
        gradient = sum(
            bar.T @ basis for bar, basis in zip(pulled, (self.grid.q, self.grid.v, self.grid.a), strict=True)
        )
        return value, (gradient * self.unit)[self.moving].ravel()

    def broken(self, motion: RobotMotion) -> np.ndarray:
        """Return how far each row is beyond its limits, upper and lower, relative to the allowed range, (2, N, m)."""
        values = np.concatenate([each.values(motion) for each in self.rows], axis=1)
        return np.stack([values - self.upper, self.lower - values]) / self.scale

    def _priced(self, motion: RobotMotion, weights: Weights, slopes: Slopes) -> float:
        """Return the terms of the augmented Lagrangian, max(0, multiplier + penalty * excess)^2 / (2 penalty)."""
        push = np.maximum(0.0, weights.multipliers + weights.penalty * (self.broken(motion) + weights.inset))
        bar, start = (push[0] - push[1]) / self.scale, 0
        for each in self.rows:
            columns = slice(start, start := start + len(each.names))
            if push[..., columns].any():
                each.pull(motion, bar[:, columns], slopes)
        return float((push**2).sum() - (weights.multipliers**2).sum()) / (2 * weights.penalty)


@dataclass
class Weights:
    """Weights of an augmented Lagrangian; limits are tightened by ``inset``, relative to the allowed range."""

    multipliers: np.ndarray
    penalty: float
    inset: float


def descend(
    problem: Problem,
    z: np.ndarray,
    judges: Sequence[Judge],
    effort: tuple[int, int],
    inset: float,
    advance: Callable[[int], None],
) -> list[np.ndarray]:
    """Return coefficients after each round of an augmented Lagrangian, which uses the ``judges`` one after the other.

    ``effort`` is the number of rounds, and of steps in each; ``advance`` is called with the number of steps done.
    """
    rounds, steps = effort
    weights = Weights(np.zeros((2, len(problem.grid.t), len(problem.lower))), 1.0, inset)
    results = []
    for k in range(rounds):
        judge = judges[min(k * len(judges) // max(rounds - 1, 1), len(judges) - 1)]
        z = minimise(lambda z, judge=judge: problem.value(z, judge, weights), z, steps, advance)
        results.append(problem.coefficients(z))
        motion = problem.at(results[-1])
        assert motion is not None
        excess = problem.broken(motion) + inset
        weights.multipliers = np.maximum(0.0, weights.multipliers + weights.penalty * excess)
        if excess.max() > 1e-3:
            weights.penalty *= 4
    return results


# -- descent -------------------------------------------------------------------------------------------------------


def minimise(
    value: Callable[[np.ndarray], tuple[float, np.ndarray]], x: np.ndarray, steps: int, advance: Callable[[int], None]
) -> np.ndarray:
    """Return the result of L-BFGS: at most so many ``steps`` from ``x`` along which ``value`` (with its gradient)
    falls.

    Lewis and Overton's line search by bisection and doubling, for the weak Wolfe conditions, also works where the
    gradient jumps.
    """
    f, g = value(x)
    if not np.isfinite(f):
        advance(steps)
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
            advance(steps - k)
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
                advance(steps - k)
                return x
            pairs.clear()  # stored steps may be from the other side of a kink
            advance(1)
            continue
        s, y = best[1] - x, best[2] - g
        if float(s @ y) > 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            pairs = [*pairs[-MEMORY + 1 :], (s, y, 1 / float(s @ y))]
        f, x, g = best
        course.append(f)
        advance(1)
        if len(course) > 10 and course[-11] - f < GAIN:
            advance(steps - k - 1)
            break
    return x


def _by_inverse(g: np.ndarray, pairs: Sequence[tuple[np.ndarray, np.ndarray, float]]) -> Any:
    """Return the inverse Hessian of the last steps times g."""
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
