"""The consistent fit: weighted least squares in the standard parameters, over physical bodies near a prior.

  minimise  |R K theta - z|^2 / 2 + gamma sum_i [tr(P0_i^-1 P_i) - log det P_i]
                                  + gamma sum_k [theta_k / theta0_k - log theta_k]

with P the 4 x 4 pseudo-inertia of a body (Wensing, Kim and Slotine 2018), P0 that of the prior, and k the other
positive parameters: rotor inertias and friction. Equations are in standard deviations of the forces' noise, so gamma
has no unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...notes import Note
from ..regression.least_squares import Solution
from ..regression.observations import Estimate, Observations
from ..regression.stacked_regressor import HELD
from ..regression.unknowns import Unknowns
from .entropic import Entropic, make_physical
from .interior_point import follow_central_path
from .newton import Minimum, covariance, minimum, newton

GAMMAS = tuple(10.0**k for k in range(4, -5, -1))  # weights that are tried on held-out data
NEAR = 1e-6  # decrement that ends Newton's steps where weights are compared, relative to the cost
WEAK = 1e-9  # weight of the quadratic pull on parameters of no body and no sign
EXACT = 1e-6  # least deviation of a force, relative to its size: no measurement is better
NEARLY = 1e-3  # increase of the held-out error, relative to its minimum, that a stronger prior may cause
BARRIER = 1e-2  # weight of the entropic term without a prior: it keeps bodies physical and hardly pulls


@dataclass(frozen=True, eq=False)
class Prior(Entropic):
    """The entropic term of the standard parameters of ``unknowns``."""

    unknowns: Unknowns

    @staticmethod
    def of(unknowns: Unknowns, values: np.ndarray, sizes: np.ndarray) -> Prior:
        """Return the prior with these standard parameters, made physical; ``sizes`` replace zeros of drives."""
        prior = Prior(tuple(at for _, at in unknowns.bodies), unknowns.positive, values.copy(), WEAK, unknowns)
        places, start = list(unknowns.positive), prior.start
        if unknowns.bodies:
            start[prior.places] = make_physical(start[prior.places])
        start[places] = np.where(start[places] > 0, start[places], sizes[places])
        return prior


def minimum_with_prior(T: np.ndarray, prior: Prior, gamma: float, start: np.ndarray | None = None) -> Minimum:
    """Return the minimum for the triangle T = [R z] of the base parameters, in deviations; ``start`` may be near it."""
    return minimum(T[:, :-1] @ prior.unknowns.matrix, T[:, -1], prior, gamma, start)


def minima_by_gamma(T: np.ndarray, prior: Prior) -> Iterator[Minimum]:
    """Yield the minimum for each of GAMMAS, from a strong to a weak prior, each from the last one or the prior."""
    A, b = T[:, :-1] @ prior.unknowns.matrix, T[:, -1]
    near = None
    for gamma in GAMMAS:
        result = newton(A, b, prior, gamma, follow_central_path(A, b, prior, gamma, near)[0], NEAR)
        if near is not None and not result.settled:
            result = newton(A, b, prior, gamma, follow_central_path(A, b, prior, gamma)[0], NEAR)
        near = result.theta, gamma
        yield result


def nearest_parameters(unknowns: Unknowns, prior: Prior, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard parameters theta with K theta = x nearest to the prior, and their derivative dtheta/dx.

    The distance is that of the entropic term near the prior, which does not depend on frames and units. Drive
    parameters take part in units of their sizes.
    """
    _, J = prior.slopes(prior.start)
    K, H = unknowns.matrix, J.T @ J
    metric = np.diag(H)
    H = H + np.diag(np.where(metric > 0, 0.0, 1.0))
    scale = 1 / np.sqrt(np.diag(H))
    HinvKt = scale[:, None] * np.linalg.solve(H * scale * scale[:, None], scale[:, None] * K.T)
    KHinvKt = K @ HinvKt
    scale = 1 / np.sqrt(np.maximum(np.diag(KHinvKt), np.finfo(float).tiny))
    slope = HinvKt * scale @ np.linalg.pinv(KHinvKt * scale * scale[:, None], rcond=1e-13) * scale
    theta = prior.start + slope @ (x - K @ prior.start)
    return theta + slope @ (x - K @ theta), slope


def consistent_fit(data: Observations, first: Solution, prior: Prior, gamma: float | None) -> Estimate:
    """Return the estimate with forces weighted by the deviations of plain least squares.

    The default weight of the prior is the largest one that predicts held-out data as well as the best does, within the
    spread of the folds.
    """
    unknowns, information = data.unknowns, data.excited
    size = np.sqrt(information.power.sum(axis=0) / np.maximum(information.count.sum(axis=0), 1))
    weights = np.sqrt(information.thin) / np.maximum(first.sigma, EXACT * size)
    K = unknowns.matrix
    notes: list[Note] = []
    if gamma is None and not unknowns.prior.any():
        gamma = BARRIER
    elif gamma is None:
        gamma, note = _choose_gamma(data, prior, weights)
        notes.append(note)
    result = minimum_with_prior(information.triangle(weights), prior, gamma)
    R = information.triangle(weights / np.sqrt(first.lasting))[:, :-1] @ K
    uncertainty = covariance(R, prior, gamma, result.theta)

    def refit(folds: Sequence[int]) -> np.ndarray:
        return K @ minimum_with_prior(information.without(folds).triangle(weights), prior, gamma, result.theta).theta

    x = K @ result.theta
    sigma = np.sqrt(information.squares(x) / np.maximum(information.count.sum(axis=0), 1))
    solution = replace(first, x=x, sigma=sigma, refit=refit)  # deviations are those of the data alone
    text = f"consistent: {result.iterations} steps, weight of the prior {gamma:g}"
    notes.append(Note("iterations", text, values={"iterations": result.iterations, "gamma": gamma}))
    if not result.settled:
        text = "the consistent fit did not converge: no physical robot is near what the data say"
        notes.append(Note("not-converged", text, severity="warning"))
    return Estimate(solution, result.theta, uncertainty, gamma, divergences(prior, result.theta), tuple(notes))


def _choose_gamma(data: Observations, prior: Prior, weights: np.ndarray) -> tuple[float, Note]:
    """Return the weight of the prior and a note; goes from strong to weak until the held-out error has grown twice."""
    information, K = data.excited, data.unknowns.matrix
    if data.validation is not None:
        pairs, source = [(information, data.validation)], "recordings held out"
    else:
        pairs = [(information.without(folds), information.only(folds)) for folds in HELD]
        source = f"each of {len(HELD)} spans held out"
    paths = zip(*(minima_by_gamma(fitted.triangle(weights), prior) for fitted, _ in pairs), strict=True)
    squares: list[list[float]] = []
    for results in paths:
        squares.append(
            [
                float(validation.squares(K @ x.theta) @ weights**2)
                for x, (_, validation) in zip(results, pairs, strict=True)
            ]
        )
        mean = np.mean(squares, axis=1)
        if len(mean) > mean.argmin() + 2:
            break
    rows = np.array(squares)
    mean, best = rows.mean(axis=1), int(rows.mean(axis=1).argmin())
    deviation = (rows - rows[best]).std(axis=1, ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else 0.0
    near = mean <= mean[best] + np.maximum(deviation, NEARLY * mean[best])
    k = int(np.flatnonzero(near)[0])
    error = np.sqrt(rows[k].sum() / sum(validation.thin * validation.count.sum() for _, validation in pairs))
    text = f"weight of the prior, {GAMMAS[k]:g}, chosen on {source}: their error is {error:.3g} deviations"
    return GAMMAS[k], Note("prior-weight", text, values={"gamma": GAMMAS[k], "error": float(error)})


def typical_sizes(unknowns: Unknowns, x: np.ndarray) -> np.ndarray:
    """Return sizes of the standard parameters, from the base parameters that contain them; one where there are none."""
    sizes = np.abs(np.linalg.lstsq(unknowns.matrix, x, rcond=1e-10)[0])
    median = np.median(sizes[list(unknowns.positive)]) if unknowns.positive else 1.0
    return np.maximum(sizes, 1e-3 * median if median > 0 else 1e-3)


def divergences(prior: Prior, theta: np.ndarray) -> dict[str, float]:
    """Return the divergence of each body from its prior, by name: zero if they are equal."""
    return {name: float(x) for (name, _), x in zip(prior.unknowns.bodies, prior.divergences(theta), strict=True)}
