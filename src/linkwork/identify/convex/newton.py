"""Least squares inside of what is physical: a convex problem, by damped Newton's steps.

  minimise  |A theta - b|^2 / 2 + gamma times the entropic pull of theta

Near the minimum Newton's steps do it. Elsewhere bodies may have to go along the border of what is physical, where such
steps creep; there the central path leads near it first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..regression.stacked_regressor import triangle
from .entropic import Entropic
from .interior_point import central, inverse_of

TIGHT = 1e-12  # decrement that ends Newton's steps, relative to the cost
MOST, DIRECT = 50, 8  # of these steps; and before the central path is asked
ROUNDED = 1e-9  # of the cost: a gain below this is lost in rounding
ENOUGH = 1e-4  # of the gain that a step promises
SHORTEST = 1e-12  # of a step


@dataclass(frozen=True, eq=False)
class Minimum:
    """``cost`` with the entropic term. ``settled``: is it the minimum?"""

    theta: np.ndarray
    cost: float
    iterations: int
    settled: bool


def minimum(A: np.ndarray, b: np.ndarray, prior: Entropic, gamma: float, start: np.ndarray | None = None) -> Minimum:
    """``start``: where it is thought to be; if it is not near, or not known, it is looked for from the prior on."""
    if start is not None and (found := newton(A, b, prior, gamma, start, most=DIRECT)).settled:
        return found
    theta, iterations = central(A, b, prior, gamma)
    found = newton(A, b, prior, gamma, theta)
    return replace(found, iterations=found.iterations + iterations)


def newton(
    A: np.ndarray,
    b: np.ndarray,
    prior: Entropic,
    gamma: float,
    theta: np.ndarray,
    tight: float = TIGHT,
    most: int = MOST,
) -> Minimum:
    """Newton's steps, each as long as keeps inside and lessens the cost enough."""

    def cost(theta: np.ndarray, left: np.ndarray) -> float:
        return (
            0.5 * float(left @ left) + gamma * prior.value(theta) + 0.5 * float(prior.weak @ (theta - prior.start) ** 2)
        )

    left = A @ theta - b
    now = cost(theta, left)
    for iteration in range(1, most):
        g, J = prior.slopes(theta)
        g = A.T @ left + gamma * g + prior.weak * (theta - prior.start)
        inverse = _inverse_root(A, prior, gamma, J)
        step = -inverse @ (inverse.T @ g)
        gain = -float(g @ step)
        if gain < tight * max(abs(now), gamma):
            return Minimum(theta, now, iteration, True)
        length, along = 1.0, A @ step
        while (ahead := cost(theta + length * step, left + length * along)) > now - ENOUGH * length * gain:
            length *= 0.5
            if length < SHORTEST:
                return Minimum(theta, now, iteration, gain < ROUNDED * abs(now))
        theta, now = theta + length * step, ahead
        left = A @ theta - b
    return Minimum(theta, now, iteration, False)


def covariance(A: np.ndarray, prior: Entropic, gamma: float, theta: np.ndarray) -> np.ndarray:
    """Of theta, at the minimum, where equations are in deviations and the prior counts as knowledge."""
    inverse = _inverse_root(A, prior, gamma, prior.slopes(theta)[1])
    return inverse @ inverse.T


def _inverse_root(A: np.ndarray, prior: Entropic, gamma: float, J: np.ndarray) -> np.ndarray:
    """Of R with R^T R the Hessian. Data may be 10^12 times as sure as the prior: squares would not tell."""
    return inverse_of(triangle(np.concatenate([A, math.sqrt(gamma) * J, np.diag(np.sqrt(prior.weak))])))
