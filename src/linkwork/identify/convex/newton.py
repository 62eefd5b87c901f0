"""Least squares over physical bodies: a convex problem, solved by damped Newton steps.

  minimise  |A theta - b|^2 / 2 + gamma times the entropic term of theta

Newton's steps converge near the minimum. Elsewhere bodies may have to go along the boundary of what is physical, where
such steps creep; there the central path leads near the minimum first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..regression.stacked_regressor import triangle
from .entropic import Entropic
from .interior_point import follow_central_path, inverse_of

TIGHT = 1e-12  # decrement that ends Newton's steps, relative to the cost
MOST, DIRECT = 50, 8  # largest number of steps; and before the central path is tried
ROUNDED = 1e-9  # gains below this share of the cost are lost in rounding
ENOUGH = 1e-4  # share of the expected gain that a step must reach
SHORTEST = 1e-12  # shortest length of a step


@dataclass(frozen=True, eq=False)
class Minimum:
    """Parameters ``theta`` and ``cost`` with the entropic term; ``settled`` is False if the search did not converge."""

    theta: np.ndarray
    cost: float
    iterations: int
    settled: bool


def minimum(A: np.ndarray, b: np.ndarray, prior: Entropic, gamma: float, start: np.ndarray | None = None) -> Minimum:
    """Return the minimum, by Newton's steps from ``start`` if they converge quickly, else along the central path."""
    if start is not None and (result := newton(A, b, prior, gamma, start, most=DIRECT)).settled:
        return result
    theta, iterations = follow_central_path(A, b, prior, gamma)
    result = newton(A, b, prior, gamma, theta)
    return replace(result, iterations=result.iterations + iterations)


def newton(
    A: np.ndarray,
    b: np.ndarray,
    prior: Entropic,
    gamma: float,
    theta: np.ndarray,
    tight: float = TIGHT,
    most: int = MOST,
) -> Minimum:
    """Return the minimum by Newton's steps, each shortened until it stays inside and lowers the cost enough."""

    def cost(theta: np.ndarray, residual: np.ndarray) -> float:
        return (
            0.5 * float(residual @ residual)
            + gamma * prior.value(theta)
            + 0.5 * float(prior.weak @ (theta - prior.start) ** 2)
        )

    residual = A @ theta - b
    now = cost(theta, residual)
    for iteration in range(1, most):
        g, J = prior.slopes(theta)
        g = A.T @ residual + gamma * g + prior.weak * (theta - prior.start)
        inverse = _inverse_root(A, prior, gamma, J)
        step = -inverse @ (inverse.T @ g)
        gain = -float(g @ step)
        if gain < tight * max(abs(now), gamma):
            return Minimum(theta, now, iteration, True)
        length, along = 1.0, A @ step
        while (ahead := cost(theta + length * step, residual + length * along)) > now - ENOUGH * length * gain:
            length *= 0.5
            if length < SHORTEST:
                return Minimum(theta, now, iteration, gain < ROUNDED * abs(now))
        theta, now = theta + length * step, ahead
        residual = A @ theta - b
    return Minimum(theta, now, iteration, False)


def covariance(A: np.ndarray, prior: Entropic, gamma: float, theta: np.ndarray) -> np.ndarray:
    """Return the covariance of theta at the minimum, for equations in standard deviations and with the prior."""
    inverse = _inverse_root(A, prior, gamma, prior.slopes(theta)[1])
    return inverse @ inverse.T


def _inverse_root(A: np.ndarray, prior: Entropic, gamma: float, J: np.ndarray) -> np.ndarray:
    """Return the inverse of R, where R^T R is the Hessian, without squares, which lose digits of a weak prior."""
    return inverse_of(triangle(np.concatenate([A, math.sqrt(gamma) * J, np.diag(np.sqrt(prior.weak))])))
