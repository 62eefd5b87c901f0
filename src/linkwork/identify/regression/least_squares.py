"""Least squares on triangles: ordinary, weighted by force, robust, and with instrumental variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..logs.log import Log
from .noise_floor import Unexcited, independent, unexcited, unexcited_columns
from .stacked_regressor import Collector, Information, Progress, blocks
from .unknowns import Unknowns

RANK = 1e-11  # singular values below this share of the largest, for columns of length one, count as zero
STEADY = 1e-6  # relative change of residuals that ends an iteration of weights
SETTLED = 1e-2  # change of the unknowns, in deviations, that ends an iteration over the data
MOST = 50  # iterations
HUBER = 1.345  # residuals above this many standard deviations count less; 95 % efficient for normal noise
MEDIAN = 0.6745  # median of the absolute value of a standard normal variable
MEDIANS = 200_000  # largest number of samples for a median
SPANS = 20  # spans of a recording, for the deviations of instrumental variables
LEAST = 1e-9  # least deviation of a force, relative to its size


@dataclass(frozen=True, eq=False)
class Solution:
    """Solution of the equations.

    Attributes:
        x: The unknowns.
        covariance: Their covariance.
        sigma: Standard deviation of each force's equations.
        unseen: Unidentifiable directions (unknowns, k), along which x keeps the value of the prior.
        condition: Condition number of the weighted equations with columns of length one.
        refit: Function from folds to x without these folds; None where that would take too long.
        iterations: Number of iterations.
        lasting: Factor by which variances are larger than those of white noise, see ``correlated``.
    """

    x: np.ndarray
    covariance: np.ndarray
    sigma: np.ndarray
    unseen: np.ndarray
    condition: float
    refit: Callable[[Sequence[int]], np.ndarray] | None
    iterations: int = 1
    lasting: float = 1.0

    @property
    def deviations(self) -> np.ndarray:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


def ols(information: Information, prior: np.ndarray, weights: np.ndarray | None = None) -> Solution:
    """Return the solution with equal weights, or with weights by force; deviations hold for forces of unequal noise."""

    def refit(folds: Sequence[int]) -> np.ndarray:
        T = information.without(folds).triangle(weights)
        return _solve(T[:, :-1], T[:, -1], prior, information.projection)[0]

    T = information.triangle(weights)
    x, inverse, unseen, condition = _solve(T[:, :-1], T[:, -1], prior, information.projection)
    sigma = deviations_of(information, x)
    w = np.ones_like(sigma) if weights is None else weights
    normal = inverse @ inverse.T
    root = information.triangle(w * w * sigma)[:, :-1] @ normal  # M N^-1: of N^-1 M^T M N^-1
    covariance = root.T @ root / information.thin
    scores = [_score(each, x, w) for each in (information.only((k,)) for k in range(len(information.R)))]
    lasting = correlated(scores, normal, covariance)
    return Solution(x, covariance * lasting, sigma, unseen, condition, refit, lasting=lasting)


def _score(information: Information, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Y^T W (Y x - z): zero for all data; for a span, what it would change in the unknowns."""
    R = information.by_force
    return np.einsum("j,jkp,jk->p", weights**2, R[..., :-1], R @ np.append(x, -1.0))


def correlated(scores: Sequence[np.ndarray], normal: np.ndarray, covariance: np.ndarray) -> float:
    """Return the factor by which variances are larger than those of white noise.

    Residuals of real recordings are correlated in time, which shows in how much the spans of time disagree (clusters,
    Liang and Zeger 1986). The factor is the median over the unknowns.
    """
    changes = np.array(scores) @ normal
    count, white = len(changes), np.diag(covariance)
    nonzero = white > 0
    if not nonzero.any():
        return 1.0
    variances = count / (count - 1) * (changes**2).sum(axis=0)
    return max(1.0, float(np.median(variances[nonzero] / white[nonzero])))


def wls(information: Information, prior: np.ndarray) -> Solution:
    """Return the solution with each force weighted by the deviation of its residual, iterated until these are
    steady."""
    solution = ols(information, prior)
    for iteration in range(1, MOST):
        previous, solution = solution, ols(information, prior, 1 / solution.sigma)
        if np.abs(solution.sigma / previous.sigma - 1).max() < STEADY:
            return replace(solution, iterations=iteration)
    return solution


def irls(
    unknowns: Unknowns,
    logs: Sequence[Log],
    information: Information,
    noise: np.ndarray | None = None,
    progress: Progress = None,
) -> Solution:
    """Return the robust solution: equations with residuals beyond 1.345 deviations count less (Huber 1964).

    The deviation of a force is that of the median.
    """
    prior = unknowns.base_prior
    solution = wls(information, prior)
    for iteration in range(1, MOST):
        scale = _medians(unknowns, logs, solution.x)
        collector = Collector(*information.R.shape[1:3])
        for block in blocks(unknowns, logs, progress):
            excess = np.abs(block.z - block.Y @ solution.x) / (HUBER * scale)
            weights = 1 / np.sqrt(np.maximum(excess, 1.0))
            collector.add(block.equations, block, weights)
        weighted = collector.information(information.thin)
        weighted = unexcited(weighted, noise).cleaned(weighted, prior)
        previous, solution = solution, ols(weighted, prior, 1 / scale)
        solution = replace(solution, iterations=iteration, sigma=scale)
        if _settled(previous, solution):
            break
    return solution


def _medians(unknowns: Unknowns, logs: Sequence[Log], x: np.ndarray) -> np.ndarray:
    """Return standard deviations of the forces from the median of their residuals, or of a part of many."""
    step = -(-sum(map(len, logs)) // MEDIANS)
    parts = [(np.abs(block.z - block.Y @ x)[::step], np.abs(block.tau).max(axis=0)) for block in blocks(unknowns, logs)]
    scale = np.median(np.concatenate([residuals for residuals, _ in parts]), axis=0) / MEDIAN
    return np.maximum(scale, _floor(np.max([size for _, size in parts], axis=0)))


def iv(
    unknowns: Unknowns,
    logs: Sequence[Log],
    information: Information,
    instruments: Callable[[np.ndarray], Sequence[Log]],
    noise: np.ndarray | None = None,
    progress: Progress = None,
) -> Solution:
    """Return the solution by instrumental variables (Janot, Vandanjon and Gautier 2014): Z^T (Y x - z) = 0.

    Z is the regressor of a noise-free motion at the same times, which ``instruments`` computes for the unknowns so far,
    and Z^T Y has little of the noise of Y.
    """
    solution, p, noisy = wls(information, unknowns.base_prior), len(unknowns), None
    motions, triangles = logs, information
    for iteration in range(1, MOST):
        collector = Collector(information.R.shape[1], 2 * p + 1)
        motions = instruments(solution.x)
        for block, clean in zip(blocks(unknowns, logs, progress), blocks(unknowns, motions), strict=True):
            collector.add(np.concatenate([clean.Y, block.Y, block.z[..., None]], axis=-1), block)
        triangles = collector.information(information.thin)
        noisy = _unexcited_by(triangles, noise, solution.sigma, independent(logs)) if noisy is None else noisy
        triangles = noisy.cleaned(triangles, unknowns.base_prior, copies=2)
        previous, solution = (
            solution,
            replace(_instrumental(triangles, unknowns.base_prior, solution.sigma), iterations=iteration),
        )
        if _settled(previous, solution):
            break
    return replace(solution, covariance=_scattered(unknowns, logs, motions, triangles, solution))


def _unexcited_by(triangles: Information, noise: np.ndarray | None, sigma: np.ndarray, share: float) -> Unexcited:
    """Return unexcited directions from triangles of [Z Y z], with the noise of Y that falls into the space of Z.

    ``share`` is the share of the noise samples that are independent.
    """
    p, count = triangles.R.shape[-1] // 2, triangles.count.sum(axis=0)
    if noise is None:
        return Unexcited(np.zeros((p, 0)), [])
    weights = np.sqrt(count * p / max(share * count.sum(), p)) / sigma
    return unexcited_columns(triangles.triangle(1 / sigma)[:p, p:-1], (weights[:, None, None] * noise).reshape(-1, p))


def _instrumental(triangles: Information, prior: np.ndarray, sigma: np.ndarray) -> Solution:
    """Return the solution from triangles of [Z Y z]: the first rows of the weighted one are Q_Z^T [Y z]."""
    p = len(prior)

    def solve(triangles: Information, sigma: np.ndarray) -> Any:
        T = triangles.triangle(1 / sigma)[:p, p:]
        return _solve(T[:, :-1], T[:, -1], prior, triangles.projection)

    plain = Information(triangles.R[..., p:], triangles.count, triangles.power, triangles.thin)
    sigma = deviations_of(plain, solve(triangles, sigma)[0])
    x, inverse, unseen, condition = solve(triangles, sigma)
    return Solution(
        x, inverse @ inverse.T / triangles.thin, deviations_of(plain, x), unseen, condition,
        lambda folds: solve(triangles.without(folds), sigma)[0],
    )  # fmt: skip


def _scattered(
    unknowns: Unknowns, logs: Sequence[Log], motions: Sequence[Log], triangles: Information, solution: Solution
) -> np.ndarray:
    """Return the covariance from how much spans of time disagree, since differentiated noise is far from white.

    Spans overlap by half and fade in and out, cos^2 + sin^2 = 1, because high-frequency noise would not cancel at sharp
    boundaries.
    """
    p, weights = len(solution.x), 1 / solution.sigma
    T = triangles.triangle(weights)[:p]
    lengths = np.maximum(np.linalg.norm(T[:, :p], axis=0), np.finfo(float).tiny)
    inverse = _solve(T[:, p : 2 * p], T[:, 2 * p], solution.x, triangles.projection)[1]
    normal = inverse @ np.linalg.pinv((T[:, :p] / lengths).T) / lengths  # (Z^T W Y)^-1
    scores = np.zeros((len(logs), SPANS, p))
    for block, clean in zip(blocks(unknowns, logs), blocks(unknowns, motions), strict=True):
        forces = np.einsum("rj,rjp->rp", (block.z - block.Y @ solution.x) * weights**2, clean.Y)
        distance = block.part[:, None] * (SPANS - 1) - np.arange(SPANS)
        scores[block.log] += (np.cos(0.5 * np.pi * np.clip(distance, -1, 1))).T @ forces
    changes = scores.reshape(-1, p) @ normal.T
    variances = SPANS / (SPANS - 1) * (changes**2).sum(axis=0)
    share = np.sqrt(variances / np.maximum(np.diag(solution.covariance), np.finfo(float).tiny))
    return solution.covariance * share * share[:, None]


def _settled(previous: Solution, solution: Solution) -> bool:
    return bool((np.abs(solution.x - previous.x) <= SETTLED * solution.deviations + 1e-14 * np.abs(solution.x)).all())


# -- algebra -----------------------------------------------------------------------------------------------------


def deviations_of(information: Information, x: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each force's residual, at least what rounding leaves."""
    count, power = information.count.sum(axis=0), information.power.sum(axis=0)
    dof = np.maximum(count - len(x) / len(count), 1.0)
    sigma = np.sqrt(information.squares(x) / dof)
    return np.maximum(sigma, _floor(np.sqrt(power / np.maximum(count, 1))))


def _floor(size: np.ndarray) -> np.ndarray:
    """Return the least deviation of forces of this size; a force that is always zero counts as the smallest other."""
    least = size[size > 0].min(initial=np.inf)
    return LEAST * np.where(size > 0, size, least if np.isfinite(least) else 1.0)


def _solve(
    A: np.ndarray, b: np.ndarray, prior: np.ndarray, projection: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return x with A x = b nearest to the prior, the pseudo-inverse of A, its null space and its condition number."""
    lengths = np.linalg.norm(A, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)
    U, s, Vt = np.linalg.svd(A / scale, full_matrices=False)
    nonzero = s > RANK * s.max(initial=0.0)
    inverse = (Vt[nonzero].T / s[nonzero] @ U[:, nonzero].T) / scale[:, None]
    inverse = inverse if projection is None else projection @ inverse
    x = prior + inverse @ (b - A @ prior)
    x = x + inverse @ (b - A @ x)
    condition = float(s.max() / s.min()) if nonzero.all() and len(s) else float("inf")
    return x, inverse, Vt[~nonzero].T / scale[:, None], condition
