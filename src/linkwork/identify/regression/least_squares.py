"""Least squares on triangles: ordinary, weighted by force, robust, and with instruments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..logs.log import Log
from .noise_floor import Unexcited, independent, unexcited, unexcited_columns
from .stacked_regressor import Collector, Information, Progress, blocks
from .unknowns import Unknowns

RANK = 1e-11  # of the largest singular value, columns of length one: below it nothing is told
STEADY = 1e-6  # relative change of residuals that ends an iteration of weights
SETTLED = 1e-2  # change of the unknowns, in deviations, that ends an iteration over the data
MOST = 50  # iterations
HUBER = 1.345  # deviations beyond which an equation counts less: 95 % as good as least squares on normal noise
MEDIAN = 0.6745  # of the size of a normal deviate
MEDIANS = 200_000  # samples of which a median is taken
SPANS = 20  # of a recording, by which deviations of instrumental variables are told
LEAST = 1e-9  # of the size of a force: its least deviation


@dataclass(frozen=True, eq=False)
class Solution:
    """``x``: the unknowns; ``covariance`` of them; ``sigma``: deviation of each force's equations. ``unseen``
    (unknowns, k): directions that the data do not tell, along which x is the prior's. ``condition``: of the weighted
    equations with columns of length one. ``refit``: folds -> x of all data but these; none where that would take too
    long. ``lasting``: by how much variances are larger than those of white noise (see ``correlated``)."""

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
    """Each equation counts the same, or each force's by its weight. Deviations hold for forces of unequal noise."""

    def refit(folds: Sequence[int]) -> np.ndarray:
        T = information.without(folds).triangle(weights)
        return _solved(T[:, :-1], T[:, -1], prior, information.keeps)[0]

    T = information.triangle(weights)
    x, inverse, unseen, condition = _solved(T[:, :-1], T[:, -1], prior, information.keeps)
    sigma = deviations_of(information, x)
    w = np.ones_like(sigma) if weights is None else weights
    normal = inverse @ inverse.T
    spread = information.triangle(w * w * sigma)[:, :-1] @ normal  # M N^-1: of N^-1 M^T M N^-1
    covariance = spread.T @ spread / information.thin
    scores = [_score(each, x, w) for each in (information.only((k,)) for k in range(len(information.R)))]
    lasting = correlated(scores, normal, covariance)
    return Solution(x, covariance * lasting, sigma, unseen, condition, refit, lasting=lasting)


def _score(information: Information, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Y^T W (Y x - z): zero of all data, of a span what it would have the unknowns changed by."""
    R = information.by_force
    return np.einsum("j,jkp,jk->p", weights**2, R[..., :-1], R @ np.append(x, -1.0))


def correlated(scores: Sequence[np.ndarray], normal: np.ndarray, covariance: np.ndarray) -> float:
    """By how much variances are larger than those of white noise: residuals of real recordings last for a while, which
    shows in how much the spans of time disagree (clusters, Liang and Zeger 1986); the median over the unknowns."""
    pulls = np.array(scores) @ normal
    count, white = len(pulls), np.diag(covariance)
    seen = white > 0
    if not seen.any():
        return 1.0
    variances = count / (count - 1) * (pulls**2).sum(axis=0)
    return max(1.0, float(np.median(variances[seen] / white[seen])))


def wls(information: Information, prior: np.ndarray) -> Solution:
    """Each force's equations over the deviation of their own residual, until these are steady."""
    found = ols(information, prior)
    for iteration in range(1, MOST):
        last, found = found, ols(information, prior, 1 / found.sigma)
        if np.abs(found.sigma / last.sigma - 1).max() < STEADY:
            return replace(found, iterations=iteration)
    return found


def irls(
    unknowns: Unknowns,
    logs: Sequence[Log],
    information: Information,
    noise: np.ndarray | None = None,
    progress: Progress = None,
) -> Solution:
    """Robust: an equation whose residual is beyond 1.345 deviations of its force counts as much less as it is beyond
    (Huber 1964), where the deviation is that of the median."""
    prior = unknowns.base_prior
    found = wls(information, prior)
    for iteration in range(1, MOST):
        scale = _medians(unknowns, logs, found.x)
        collector = Collector(*information.R.shape[1:3])
        for block in blocks(unknowns, logs, progress):
            off = np.abs(block.z - block.Y @ found.x) / (HUBER * scale)
            weights = 1 / np.sqrt(np.maximum(off, 1.0))
            collector.add(block.equations, block, weights)
        counted = collector.information(information.thin)
        counted = unexcited(counted, noise).cleaned(counted, prior)
        last, found = found, ols(counted, prior, 1 / scale)
        found = replace(found, iterations=iteration, sigma=scale)
        if _settled(last, found):
            break
    return found


def _medians(unknowns: Unknowns, logs: Sequence[Log], x: np.ndarray) -> np.ndarray:
    """Deviations of the forces, from the middle of their residuals, or of a part of them if they are many."""
    step = -(-sum(map(len, logs)) // MEDIANS)
    pairs = [(np.abs(block.z - block.Y @ x)[::step], np.abs(block.tau).max(axis=0)) for block in blocks(unknowns, logs)]
    scale = np.median(np.concatenate([off for off, _ in pairs]), axis=0) / MEDIAN
    return np.maximum(scale, _floor(np.max([size for _, size in pairs], axis=0)))


def iv(
    unknowns: Unknowns,
    logs: Sequence[Log],
    information: Information,
    instruments: Callable[[np.ndarray], Sequence[Log]],
    noise: np.ndarray | None = None,
    progress: Progress = None,
) -> Solution:
    """Instrumental variables (Janot, Vandanjon and Gautier 2014): Z^T (Y x - z) = 0, with Z the regressor of a motion
    that has none of the measurement's noise. ``instruments``: unknowns -> recordings of that motion, at the same times;
    simulated with the unknowns found so far, until these are steady. Of the noise of Y little is left in Z^T Y."""
    found, p, hidden = wls(information, unknowns.base_prior), len(unknowns), None
    motions, own = logs, information
    for iteration in range(1, MOST):
        collector = Collector(information.R.shape[1], 2 * p + 1)
        motions = instruments(found.x)
        for block, clean in zip(blocks(unknowns, logs, progress), blocks(unknowns, motions), strict=True):
            collector.add(np.concatenate([clean.Y, block.Y, block.z[..., None]], axis=-1), block)
        own = collector.information(information.thin)
        hidden = _unexcited_by(own, noise, found.sigma, independent(logs)) if hidden is None else hidden
        own = hidden.cleaned(own, unknowns.base_prior, copies=2)
        last, found = found, replace(_instrumental(own, unknowns.base_prior, found.sigma), iterations=iteration)
        if _settled(last, found):
            break
    return replace(found, covariance=_scattered(unknowns, logs, motions, own, found))


def _unexcited_by(own: Information, noise: np.ndarray | None, sigma: np.ndarray, share: float) -> Unexcited:
    """From triangles of [Z Y z], with what of the noise of Y falls into the space of Z; ``share`` of the samples of the
    noise that are independent."""
    p, count = own.R.shape[-1] // 2, own.count.sum(axis=0)
    if noise is None:
        return Unexcited(np.zeros((p, 0)), [])
    weights = np.sqrt(count * p / max(share * count.sum(), p)) / sigma
    return unexcited_columns(own.triangle(1 / sigma)[:p, p:-1], (weights[:, None, None] * noise).reshape(-1, p))


def _instrumental(own: Information, prior: np.ndarray, sigma: np.ndarray) -> Solution:
    """From triangles of [Z Y z]: the first rows of the weighted one are Q_Z^T [Y z]."""
    p = len(prior)

    def solved(own: Information, sigma: np.ndarray) -> Any:
        T = own.triangle(1 / sigma)[:p, p:]
        return _solved(T[:, :-1], T[:, -1], prior, own.keeps)

    plain = Information(own.R[..., p:], own.count, own.power, own.thin)
    sigma = deviations_of(plain, solved(own, sigma)[0])
    x, inverse, unseen, condition = solved(own, sigma)
    return Solution(
        x, inverse @ inverse.T / own.thin, deviations_of(plain, x), unseen, condition,
        lambda folds: solved(own.without(folds), sigma)[0],
    )  # fmt: skip


def _scattered(
    unknowns: Unknowns, logs: Sequence[Log], motions: Sequence[Log], own: Information, found: Solution
) -> np.ndarray:
    """Covariance by how much spans of time disagree, unknown by unknown, since noise of positions that was
    differentiated is far from white. Spans overlap by half and fade in and out, cos^2 + sin^2 = 1: at sharp borders
    quick noise would leave most of what it adds up to."""
    p, weights = len(found.x), 1 / found.sigma
    T = own.triangle(weights)[:p]
    lengths = np.maximum(np.linalg.norm(T[:, :p], axis=0), np.finfo(float).tiny)
    inverse = _solved(T[:, p : 2 * p], T[:, 2 * p], found.x, own.keeps)[1]
    normal = inverse @ np.linalg.pinv((T[:, :p] / lengths).T) / lengths  # (Z^T W Y)^-1
    scores = np.zeros((len(logs), SPANS, p))
    for block, clean in zip(blocks(unknowns, logs), blocks(unknowns, motions), strict=True):
        pulls = np.einsum("rj,rjp->rp", (block.z - block.Y @ found.x) * weights**2, clean.Y)
        away = block.part[:, None] * (SPANS - 1) - np.arange(SPANS)
        scores[block.log] += (np.cos(0.5 * np.pi * np.clip(away, -1, 1))).T @ pulls
    apart = scores.reshape(-1, p) @ normal.T
    variances = SPANS / (SPANS - 1) * (apart**2).sum(axis=0)
    share = np.sqrt(variances / np.maximum(np.diag(found.covariance), np.finfo(float).tiny))
    return found.covariance * share * share[:, None]


def _settled(last: Solution, found: Solution) -> bool:
    return bool((np.abs(found.x - last.x) <= SETTLED * found.deviations + 1e-14 * np.abs(found.x)).all())


# -- algebra -----------------------------------------------------------------------------------------------------


def deviations_of(information: Information, x: np.ndarray) -> np.ndarray:
    """Of each force's residual, not below what rounding leaves."""
    count, power = information.count.sum(axis=0), information.power.sum(axis=0)
    freedoms = np.maximum(count - len(x) / len(count), 1.0)
    sigma = np.sqrt(information.squares(x) / freedoms)
    return np.maximum(sigma, _floor(np.sqrt(power / np.maximum(count, 1))))


def _floor(size: np.ndarray) -> np.ndarray:
    """The least deviation of forces of this size; a force that is always zero counts as the smallest of the others."""
    least = size[size > 0].min(initial=np.inf)
    return LEAST * np.where(size > 0, size, least if np.isfinite(least) else 1.0)


def _solved(
    A: np.ndarray, b: np.ndarray, prior: np.ndarray, keeps: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """x with A x = b nearest to the prior where A does not tell, A's pseudo-inverse, the directions it does not tell,
    and its condition number. ``keeps``: of ``Information``."""
    lengths = np.linalg.norm(A, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)
    U, s, Vt = np.linalg.svd(A / scale, full_matrices=False)
    told = s > RANK * s.max(initial=0.0)
    inverse = (Vt[told].T / s[told] @ U[:, told].T) / scale[:, None]
    inverse = inverse if keeps is None else keeps @ inverse
    x = prior + inverse @ (b - A @ prior)
    x = x + inverse @ (b - A @ x)
    condition = float(s.max() / s.min()) if told.all() and len(s) else float("inf")
    return x, inverse, Vt[~told].T / scale[:, None], condition
