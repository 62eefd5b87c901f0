"""One step of a fit by simulation: data as a quadratic form, the pull of the prior as it is.

  (1)  minimise  g d + d H d / 2 + damping |F d|^2 / 2 + gamma D(z + d)    with z + d not below its least

Unknowns are taken along the directions of H in the metric F^T F, d = W y, so that what is seen well does not drown in
rounding what is hardly seen, or not at all:

  (2)  minimise  c y + sum (l + damping) y^2 / 2 + gamma D(z + W y)

Near the answer Newton's steps do it. Elsewhere bodies may have to go along the border of what is physical, where such
steps creep; then the border's forces Z are unknowns as well, and with P the bodies' pseudo-inertias

  (3)  c + (l + damping) y + W^T U (gamma P0^-1 - Z) = 0,   P Z = mu 1,   mu -> gamma,    U: S -> tr(E_k S)

is followed from the prior (Helmberg and others 1996). Both cost little beside a simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..pseudo_inertia import TEN, UNITS, Entropic, factors, pseudo_inertia, room
from .searched import Searched

INSIDE = 0.9  # of the way to where a body ceases to be physical
DIRECT, MOST = 8, 100  # steps of the first kind, of the second
SMALLER = 0.1  # mu from step to step
TIGHT = 1e-8
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
        problem = Inside(self.searched.prior, self.gamma, self.searched.rows(z), directions, self.damping)
        y, done = problem.newton()
        return directions.ways @ (y if done else problem.followed())


@dataclass(frozen=True, eq=False)
class Inside:
    """(2) with bodies that are ``rows`` (n, 10) now, which stand first among the unknowns, and nothing else bounded."""

    prior: Entropic
    gamma: float
    rows: np.ndarray
    directions: Directions
    damping: float

    @cached_property
    def ways(self) -> np.ndarray:
        """Of bodies, (n, 10, y)."""
        return self.directions.ways[: self.rows.size].reshape(*self.rows.shape, -1)

    @cached_property
    def stiffness(self) -> np.ndarray:
        return self.directions.seen + self.damping

    def newton(self) -> tuple[np.ndarray, bool]:
        """y, and whether it is the minimum."""
        y = np.zeros(len(self.stiffness))
        now = self._value(y)
        for _ in range(DIRECT):
            rows = self.rows + self.ways @ y
            step, promised = self._step(np.sqrt(self.gamma) * factors(rows), y, self.gamma * self.prior.slopes(rows))
            if promised < TIGHT * self.gamma:
                return y, True
            length = min(1.0, INSIDE * room(pseudo_inertia(rows), pseudo_inertia(self.ways @ step)))
            while not (ahead := self._value(y + length * step)) <= now - 1e-4 * length * promised:
                length *= 0.5
                if length < 1e-6:
                    return y, promised < 1e-3 * self.gamma
            y, now = y + length * step, ahead
        return y, False

    def followed(self) -> np.ndarray:
        """From the prior's bodies, by (3)."""
        prior, gamma, count = self.prior, self.gamma, 4 * len(self.rows)
        y = before = self.directions.back[:, : self.rows.size] @ (prior.rows - self.rows).ravel()
        P = pseudo_inertia(prior.rows)
        acting = self.stiffness * y + self.directions.slope
        mu = max(gamma, abs(float(acting @ (self.directions.back[:, : self.rows.size] @ prior.rows.ravel()))) / count)
        Z, length = mu * np.linalg.inv(P), 1.0
        for _ in range(MOST):
            mu = float(np.einsum("bij,bji->", P, Z)) / count
            aim = max(gamma, (SMALLER if length > 0.3 else 0.5) * mu)
            try:
                L, K = np.linalg.cholesky(P), np.linalg.cholesky(Z)
            except np.linalg.LinAlgError:  # digits do not tell more
                return before
            inverse = np.linalg.inv(P)
            F = (np.linalg.inv(L)[:, None] @ UNITS @ K[:, None]).reshape(len(P), TEN, 16).transpose(0, 2, 1)
            pull = np.einsum("kij,bji->bk", UNITS, gamma * prior.inverse - aim * inverse)
            step, promised = self._step(F, y, pull)
            dP = pseudo_inertia(self.ways @ step)
            turned = inverse @ dP @ Z
            dZ = aim * inverse - Z - 0.5 * (turned + turned.transpose(0, 2, 1))
            length = min(1.0, INSIDE * min(room(P, dP), room(Z, dZ)))
            before, y, P, Z = y, y + length * step, P + length * dP, Z + length * dZ
            if length == 1.0 and aim == gamma and promised < TIGHT * gamma:
                break
        return y

    def _value(self, y: np.ndarray) -> float:
        pull = self.prior.value(self.rows + self.ways @ y)
        return float(self.directions.slope @ y + 0.5 * self.stiffness @ y**2) + self.gamma * pull

    def _step(self, F: np.ndarray, y: np.ndarray, pull: np.ndarray) -> tuple[np.ndarray, float]:
        """-(stiffness + K^T K)^-1 gradient with K = F W, body by body, and what it promises, twice."""
        K = F @ self.ways
        H = np.diag(self.stiffness) + (K.transpose(0, 2, 1) @ K).sum(axis=0)
        gradient = self.stiffness * y + self.directions.slope + np.einsum("bk,bky->y", pull, self.ways)
        scale = 1 / np.sqrt(np.diag(H))
        step = -scale * np.linalg.solve(H * scale * scale[:, None], scale * gradient)
        return step, -float(gradient @ step)
