"""One step of a fit by simulation: data as a quadratic form, the pull of the prior as it is.

  (1)  minimise  g d + d H d / 2 + damping |F d|^2 / 2 + gamma D(z + d)    with z + d not below its least

Unknowns are taken along the directions of H in the metric F^T F, d = W y, so that what is seen well does not drown in
rounding what is hardly seen, or not at all:

  (2)  minimise  c y + sum (l + damping) y^2 / 2 + gamma D(z + W y)

which are least squares inside of what is physical. They cost little beside a simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..convex.newton import minimum
from .search_variables import Searched

UNSEEN = 1e-14  # of what is seen best, times their number: less is the rounding of sums


@dataclass(frozen=True, eq=False)
class Directions:
    """Of normal equations in a metric: d = ``ways`` y, y = ``back`` d; ``seen``: l of (2), zero where nothing is, and
    ``slope``: c."""

    ways: np.ndarray
    back: np.ndarray
    seen: np.ndarray
    slope: np.ndarray

    @staticmethod
    def of(H: np.ndarray, g: np.ndarray, F: np.ndarray) -> Directions:
        inside = np.linalg.solve(F.T, np.linalg.solve(F.T, H).T)
        values, V = np.linalg.eigh(0.5 * (inside + inside.T))
        told = values > UNSEEN * len(values) * values[-1]
        ways = np.linalg.solve(F, V)
        return Directions(ways, V.T @ F, np.where(told, values, 0.0), np.where(told, ways.T @ g, 0.0))

    def gain(self, d: np.ndarray) -> float:
        """By how much less the quadratic form is at d."""
        y = self.back @ d
        return -float(self.slope @ y + 0.5 * self.seen @ y**2)

    @property
    def factor(self) -> np.ndarray:
        """R of H = R^T R."""
        told = self.seen > 0
        return np.sqrt(self.seen[told])[:, None] * self.back[told]


@dataclass(frozen=True, eq=False)
class Quadratic:
    """(1)."""

    searched: Searched
    gamma: float
    H: np.ndarray
    g: np.ndarray
    F: np.ndarray
    damping: float

    @cached_property
    def directions(self) -> Directions:
        return Directions.of(self.H, self.g, self.F)

    def minimum(self, z: np.ndarray) -> np.ndarray:
        """z + d. What would go below its least stays there."""
        own = self.searched
        fixed, d = np.zeros(len(z), bool), np.zeros(len(z))
        for _ in range(len(z) + 1):
            d = np.where(fixed, own.least - z, 0.0)
            d[~fixed] = self._within(z, d, ~fixed)
            below = ~fixed & (z + d < own.least)
            released = fixed & (self.g + self.H @ d + self.damping * self.F.T @ (self.F @ d) < 0)
            if not (below.any() or released.any()):
                break
            fixed = (fixed & ~released) | below
        return np.maximum(z + d, own.least)

    def _within(self, z: np.ndarray, d: np.ndarray, free: np.ndarray) -> np.ndarray:
        """The free ones of d, those that are fixed given; in the metric these have nothing to do with others."""
        directions = self.directions
        if not free.all():
            both = np.ix_(free, free)
            directions = Directions.of(
                self.H[both], self.g[free] + self.H[np.ix_(free, ~free)] @ d[~free], self.F[both]
            )
        if not self.searched.bodies:
            return directions.ways @ -(directions.slope / (directions.seen + self.damping))
        size = np.sqrt(directions.seen + self.damping)
        A = size[:, None] * directions.back
        prior = replace(self.searched.prior, start=self.searched.prior.start[free])
        return minimum(A, A @ z[free] - directions.slope / size, prior, self.gamma, z[free]).theta - z[free]
