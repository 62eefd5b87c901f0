"""The consistent fit of recordings: weights of the forces, and how strongly the prior pulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..regression.least_squares import Solution
from ..regression.observations import Estimate, Observations
from ..regression.stacked_regressor import HELD
from ..regression.unknowns import Unknowns
from .entropic_prior import GAMMAS, Prior, consistent, path
from .newton import covariance

EXACT = 1e-6  # of the size of a force: no measurement is better, and the prior's term would drown in rounding
NEARLY = 1e-3  # of the least error of held-out data: a stronger pull may cost as much
BARRIER = 1e-2  # weight of the entropic term where nothing is thought before: it keeps inside, and pulls by no more


def consistent_fit(data: Observations, first: Solution, prior: Prior, gamma: float | None) -> Estimate:
    """Forces in deviations of plain least squares; the pull is the strongest one that predicts held-out data as well as
    the best does, within the spread of the folds."""
    unknowns, information = data.unknowns, data.excited
    size = np.sqrt(information.power.sum(axis=0) / np.maximum(information.count.sum(axis=0), 1))
    weights = np.sqrt(information.thin) / np.maximum(first.sigma, EXACT * size)
    K = unknowns.matrix
    notes: tuple[str, ...] = ()
    if gamma is None and not unknowns.prior.any():
        gamma = BARRIER
    elif gamma is None:
        gamma, text = _chosen(data, prior, weights)
        notes = (text,)
    found = consistent(information.triangle(weights), prior, gamma)
    sure = information.triangle(weights / np.sqrt(first.lasting))[:, :-1] @ K
    spread = covariance(sure, prior, gamma, found.theta)

    def refit(folds: Sequence[int]) -> np.ndarray:
        return K @ consistent(information.without(folds).triangle(weights), prior, gamma, found.theta).theta

    x = K @ found.theta
    sigma = np.sqrt(information.squares(x) / np.maximum(information.count.sum(axis=0), 1))
    solution = replace(first, x=x, sigma=sigma, refit=refit)  # deviations are those of the data alone
    pull = divergences(prior, found.theta)
    notes = (*notes, f"consistent: {found.iterations} steps, weight of the prior {gamma:g}")
    unsettled = "the consistent fit did not settle: no physical robot is near what the data say"
    return Estimate(solution, found.theta, spread, gamma, pull, notes, doubts=() if found.settled else (unsettled,))


def _chosen(data: Observations, prior: Prior, weights: np.ndarray) -> tuple[float, str]:
    """Goes from strong pull to weak until the error of held-out data has grown twice."""
    information, K = data.excited, data.unknowns.matrix
    if data.held is not None:
        pairs, what = [(information, data.held)], "recordings held out"
    else:
        pairs = [(information.without(folds), information.only(folds)) for folds in HELD]
        what = f"each of {len(HELD)} spans held out"
    paths = zip(*(path(fitted.triangle(weights), prior) for fitted, _ in pairs), strict=True)
    squares: list[list[float]] = []
    for found in paths:
        squares.append(
            [float(held.squares(K @ x.theta) @ weights**2) for x, (_, held) in zip(found, pairs, strict=True)]
        )
        mean = np.mean(squares, axis=1)
        if len(mean) > mean.argmin() + 2:
            break
    rows = np.array(squares)
    mean, best = rows.mean(axis=1), int(rows.mean(axis=1).argmin())
    spread = (rows - rows[best]).std(axis=1, ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else 0.0
    near = mean <= mean[best] + np.maximum(spread, NEARLY * mean[best])
    k = int(np.flatnonzero(near)[0])
    error = np.sqrt(rows[k].sum() / sum(held.thin * held.count.sum() for _, held in pairs))
    return GAMMAS[k], f"weight of the prior, {GAMMAS[k]:g}, chosen on {what}: their error is {error:.3g} deviations"


def typical(unknowns: Unknowns, x: np.ndarray) -> np.ndarray:
    """Sizes of the standard parameters, from the base parameters that hold them; one where nothing tells."""
    sizes = np.abs(np.linalg.lstsq(unknowns.matrix, x, rcond=1e-10)[0])
    typical = np.median(sizes[list(unknowns.positive)]) if unknowns.positive else 1.0
    return np.maximum(sizes, 1e-3 * typical if typical > 0 else 1e-3)


def divergences(prior: Prior, theta: np.ndarray) -> dict[str, float]:
    """Of each body from its prior: zero if they are equal."""
    return {name: float(x) for (name, _), x in zip(prior.unknowns.bodies, prior.divergences(theta), strict=True)}
