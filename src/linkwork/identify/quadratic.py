"""One step of a fit by simulation: data as a linear least squares problem, the pull of the prior as it is.

  minimise  |R d + r|^2 / 2 + d L d / 2 + gamma D(z + d)    with z + d not below its least

by Newton's steps, bodies physical all the way; they cost little beside a simulation. Where the last weighs little
against the data, the way from where bodies are now may lead along the border of what is physical; then it is gone from
the prior, with a pull that grows weaker and weaker.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .pseudo_inertia import TEN, room
from .searched import Searched

INSIDE = 0.9  # of the way to where a body ceases to be physical
DIRECT, MOST = 12, 50  # steps from where bodies are now, and with each pull from the prior on
WEAKER = 0.1  # from one pull to the next
TIGHT = 1e-9
UNSEEN = 1e-14  # of what is seen best, times their number: less is the rounding of sums


@dataclass(frozen=True, eq=False)
class Quadratic:
    """``damping``: a factor of L, L = damping^T damping."""

    searched: Searched
    gamma: float
    R: np.ndarray
    r: np.ndarray
    damping: np.ndarray

    def minimum(self, z: np.ndarray) -> tuple[np.ndarray, float]:
        """Where it is, and by how much less the undamped sum is there."""
        begun = self._value(z, np.zeros(len(z)), self.gamma)
        d, done = self._newton(z, np.zeros(len(z)), self.gamma, DIRECT)
        if not done:
            body = TEN * len(self.searched.bodies)
            d[:body] = (self.searched.start - z)[:body]
            own = np.linalg.norm(self.R[:, :body] @ np.linalg.pinv(self.searched.factor(z)[:body, :body]), 2) ** 2
            for gamma in _weaker(max(own, self.gamma), self.gamma):
                d, _ = self._newton(z, d, gamma, MOST)
        gained = begun - self._value(z, d, self.gamma)
        return z + d, gained + 0.5 * float(((self.damping @ d) ** 2).sum())

    def _value(self, z: np.ndarray, d: np.ndarray, gamma: float) -> float:
        own = self.searched
        pull = own.prior.value(own.rows(z + d)) if own.bodies else 0.0
        return 0.5 * float(((self.R @ d + self.r) ** 2).sum() + ((self.damping @ d) ** 2).sum()) + gamma * pull

    def _newton(self, z: np.ndarray, d: np.ndarray, gamma: float, most: int) -> tuple[np.ndarray, bool]:
        own = self.searched
        body, least = TEN * len(own.bodies), own.least
        now = self._value(z, d, gamma)
        for _ in range(most):
            rows = [self.R, self.damping]
            left = [self.R @ d + self.r, self.damping @ d]
            gradient = self.R.T @ left[0] + self.damping.T @ left[1]
            if body:
                pull = gamma * own.prior.slopes(own.rows(z + d)).ravel()
                gradient[:body] += pull
                factor = np.sqrt(gamma) * own.factor(z + d)[:body]
                rows.append(factor)
                left.append(np.linalg.solve(factor[:, :body].T, pull))
            free = ~((z + d <= least) & (gradient > 0))
            step = np.zeros(len(z))
            step[free] = -_least_squares(np.concatenate(rows)[:, free], np.concatenate(left))
            promised = -float(gradient @ step)
            if not promised > TIGHT * (now + gamma):
                return d, True
            length = min(1.0, INSIDE * room(own.rows(z + d), step[:body].reshape(-1, TEN)))
            while True:
                moved = np.maximum(z + d + length * step, least) - z
                ahead = self._value(z, moved, gamma)
                if ahead <= now - 1e-4 * length * promised:
                    break
                length *= 0.5
                if length < 1e-9:
                    return d, True
            d, now = moved, ahead
        return d, False


def _weaker(first: float, last: float) -> list[float]:
    count = max(int(np.ceil(np.log(first / last) / np.log(1 / WEAKER))), 0)
    return [last / WEAKER**k for k in range(count, -1, -1)]


def triangle(H: np.ndarray, g: np.ndarray, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and r of normal equations, H = R^T R and g = R^T r, without directions that only rounding has put there: as
    measured by a metric factor^T factor."""
    inside = np.linalg.solve(factor.T, np.linalg.solve(factor.T, H).T)
    values, ways = np.linalg.eigh(0.5 * (inside + inside.T))
    kept = values > UNSEEN * len(values) * values[-1]
    roots, ways = np.sqrt(values[kept])[:, None], ways[:, kept].T
    return roots * (ways @ factor), (ways @ np.linalg.solve(factor.T, g)) / roots[:, 0]


def _least_squares(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x of least |A x - b|, whose columns may have different units."""
    scale = 1 / np.maximum(np.linalg.norm(A, axis=0), np.finfo(float).tiny)
    Q, R = np.linalg.qr(A * scale)
    if (np.abs(np.diag(R)) > 1e-14).all():
        return scale * np.linalg.solve(R, Q.T @ b)
    return scale * np.linalg.lstsq(A * scale, b, rcond=1e-14)[0]
