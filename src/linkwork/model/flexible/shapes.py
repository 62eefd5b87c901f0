"""Shapes of a beam that is clamped at one end, normalised to 1 at the other: bending, and twisting or stretching.

Functions take s = x / length as an array and return value, slope and curvature with respect to s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

Shape = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
POINTS = 100  # of a quadrature that is exact to rounding for products of 30 modes


@cache
def gauss() -> tuple[np.ndarray, np.ndarray]:
    """Return points and weights of the Gauss-Legendre rule on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    return 0.5 * (points + 1), 0.5 * weights


def root(j: int) -> float:
    """Return the j-th root of cos(x) cosh(x) = -1, j = 1, 2, ...; the mode's frequency is (x / length)^2 sqrt(EI / rho
    A)."""
    x = (j - 0.5) * np.pi
    for _ in range(30):  # Newton's method on cos(x) + 1 / cosh(x); only the first root needs more than three steps
        e = np.exp(-x)
        sech, tanh = 2 * e / (1 + e * e), (1 - e * e) / (1 + e * e)
        step = (np.cos(x) + sech) / (np.sin(x) + sech * tanh)
        x += step
        if abs(step) < 1e-16 * x:
            break
    return float(x)


def bending(j: int) -> Shape:
    """Return the exact mode of a clamped-free beam: cosh - cos - sigma (sinh - sin) of x s, over its value at the end.

    With e = exp(-x) and kappa = (sin x - cos x - e) / (1 - e^2 + 2 e sin x), 1 - sigma = 2 e kappa, and for all modes
    nothing overflows or cancels in

      u = exp(-xs) + kappa (exp(xs - x) - exp(-xs - x)) - cos xs + (1 - 2 e kappa) sin xs
    """
    x = root(j)
    e = np.exp(-x)
    kappa = (np.sin(x) - np.cos(x) - e) / (1 - e * e + 2 * e * np.sin(x))
    sigma = 1 - 2 * e * kappa

    def shape(s):
        falling, rising, mirrored = np.exp(-x * s), kappa * np.exp(x * s - x), kappa * np.exp(-x * s - x)
        c, sn = np.cos(x * s), np.sin(x * s)
        value = falling + rising - mirrored - c + sigma * sn
        slope = -falling + rising + mirrored + sn + sigma * c
        curvature = falling + rising - mirrored + c - sigma * sn
        return value, x * slope, x * x * curvature

    return _normalised(shape)


def twisting(j: int) -> Shape:
    """Return the exact mode of a shaft, or of a stretched bar: sin((j - 1/2) pi s), over its value at the end."""
    x = (j - 0.5) * np.pi
    return _normalised(lambda s: (np.sin(x * s), x * np.cos(x * s), -x * x * np.sin(x * s)))


def polynomial(coefficients: Sequence[float]) -> Shape:
    """Return c0 + c1 s + c2 s^2 ..., over its value at the end."""
    value = np.polynomial.Polynomial(coefficients)
    first, second = value.deriv(), value.deriv(2)
    return _normalised(lambda s: (value(s), first(s) + 0 * s, second(s) + 0 * s))


def _normalised(shape: Shape) -> Shape:
    end = shape(np.ones(1))[0][0]
    return lambda s: tuple(each / end for each in shape(s))  # type: ignore[return-value]
