"""Shapes of a beam that is clamped at one end, normalised to 1 at the other: bending, and twisting or stretching.

Functions take s = x / length in an array and give value, slope and curvature by s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

Shape = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
POINTS = 100  # of a quadrature that is exact to rounding for products of 30 modes


@cache
def gauss() -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of Gauss and Legendre on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    return 0.5 * (points + 1), 0.5 * weights


def root(j: int) -> float:
    """The j-th root of cos(x) cosh(x) = -1, j = 1, 2, ...; the mode's frequency is (x / length)^2 sqrt(EI / rho A)."""
    x = (j - 0.5) * np.pi
    for _ in range(30):  # of cos(x) + 1 / cosh(x), by Newton; three steps are enough, but for the first root
        e = np.exp(-x)
        sech, tanh = 2 * e / (1 + e * e), (1 - e * e) / (1 + e * e)
        step = (np.cos(x) + sech) / (np.sin(x) + sech * tanh)
        x += step
        if abs(step) < 1e-16 * x:
            break
    return float(x)


def bending(j: int) -> Shape:
    """The exact mode of a clamped and free beam: cosh - cos - sigma (sinh - sin) of x s, over its value at the end.

    With e = exp(-x) and kappa = (sin x - cos x - e) / (1 - e^2 + 2 e sin x) it is 1 - sigma = 2 e kappa, and nothing
    grows or cancels, however high the mode, in

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
    """The exact mode of a shaft, or of a bar that is stretched: sin((j - 1/2) pi s), over its value at the end."""
    x = (j - 0.5) * np.pi
    return _normalised(lambda s: (np.sin(x * s), x * np.cos(x * s), -x * x * np.sin(x * s)))


def polynomial(coefficients: Sequence[float]) -> Shape:
    """c0 + c1 s + c2 s^2 ..., over its value at the end."""
    own = np.polynomial.Polynomial(coefficients)
    first, second = own.deriv(), own.deriv(2)
    return _normalised(lambda s: (own(s), first(s) + 0 * s, second(s) + 0 * s))


def _normalised(shape: Shape) -> Shape:
    end = shape(np.ones(1))[0][0]
    return lambda s: tuple(each / end for each in shape(s))  # type: ignore[return-value]
