"""One step of a fit by simulation: data as a linear least squares problem, the pull of the prior as it is.

  (1)  minimise  |A d + b|^2 / 2 + gamma D(z + d)    with z + d not below its least

Near the answer Newton's steps do it. Elsewhere bodies may have to go along the border of what is physical, where such
steps creep; then the border's forces Z are unknowns as well, and with P the bodies' pseudo-inertias

  (2)  A^T (A d + b) + gamma U P0^-1 - U Z = 0,   P Z = mu 1,    mu -> gamma,    U: S -> tr(E_k S)

is followed from the prior (Helmberg and others 1996). Both cost little beside a simulation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .pseudo_inertia import TEN, UNITS, Entropic, factors, pseudo_inertia, room
from .searched import Searched

INSIDE = 0.9  # of the way to where a body ceases to be physical
DIRECT, MOST = 8, 100  # steps of the first kind, of the second
SMALLER = 0.1  # mu from step to step
TIGHT = 1e-8
UNSEEN = 1e-14  # of what is seen best, times their number: less is the rounding of sums


@dataclass(frozen=True, eq=False)
class Quadratic:
    """``A`` and ``b``: of data and damping."""

    searched: Searched
    gamma: float
    A: np.ndarray
    b: np.ndarray

    def minimum(self, z: np.ndarray) -> np.ndarray:
        """z + d. What would go below its least stays there."""
        own = self.searched
        fixed = np.zeros(len(z), bool)
        d = np.zeros(len(z))
        for _ in range(len(z) + 1):
            d = np.where(fixed, own.least - z, 0.0)
            d[~fixed] = self._within(z, d, ~fixed)
            below = ~fixed & (z + d < own.least)
            released = fixed & (self.A.T @ (self.A @ d + self.b) < 0)
            if not (below.any() or (released & ~below).any()):
                break
            fixed = (fixed & ~released) | below
        return np.maximum(z + d, own.least)

    def _within(self, z: np.ndarray, d: np.ndarray, free: np.ndarray) -> np.ndarray:
        """The free ones of d, those that are fixed given."""
        A, b = self.A[:, free], self.A @ np.where(free, 0.0, d) + self.b
        bodies = self.searched.rows(z)
        if not len(bodies):
            return -least_squares(A, b)
        problem = Inside(self.searched.prior, self.gamma, A, b, bodies)
        found, done = problem.newton()
        return found if done else problem.followed()


@dataclass(frozen=True, eq=False)
class Inside:
    """(1) with bodies that are ``rows`` (n, 10) now, which stand first among the unknowns, and nothing else that is
    bounded."""

    prior: Entropic
    gamma: float
    A: np.ndarray
    b: np.ndarray
    rows: np.ndarray

    @property
    def body(self) -> int:
        return self.rows.size

    def value(self, d: np.ndarray) -> float:
        pull = self.prior.value(self.rows + d[: self.body].reshape(-1, TEN))
        return 0.5 * float(((self.A @ d + self.b) ** 2).sum()) + self.gamma * pull

    def newton(self) -> tuple[np.ndarray, bool]:
        """d, and whether it is the minimum."""
        prior, body = self.prior, self.body
        d = np.zeros(self.A.shape[1])
        now = self.value(d)
        for _ in range(DIRECT):
            rows = self.rows + d[:body].reshape(-1, TEN)
            F = np.sqrt(self.gamma) * factors(rows)
            pull = np.linalg.solve(F.transpose(0, 2, 1), self.gamma * prior.slopes(rows)[..., None]).ravel()
            step = self._step(F, d, pull)
            promised = float((self._all(F, step) ** 2).sum())
            if promised < TIGHT * self.gamma:
                return d, True
            P, along = pseudo_inertia(rows), pseudo_inertia(step[:body].reshape(-1, TEN))
            length = min(1.0, INSIDE * room(P, along))
            while not (ahead := self.value(d + length * step)) <= now - 1e-4 * length * promised:
                length *= 0.5
                if length < 1e-6:
                    return d, promised < 1e-3 * self.gamma
            d, now = d + length * step, ahead
        return d, False

    def followed(self) -> np.ndarray:
        """From the prior's bodies, by (2)."""
        prior, gamma, body = self.prior, self.gamma, self.body
        d = np.zeros(self.A.shape[1])
        d[:body] = (prior.rows - self.rows).ravel()
        P = pseudo_inertia(prior.rows)
        own = self.A.T @ (self.A @ d + self.b)
        mu = max(gamma, abs(float(own[:body] @ prior.rows.ravel())) / (4 * len(P)))
        Z = mu * np.linalg.inv(P)
        length, before = 1.0, d
        for _ in range(MOST):
            mu = float(np.einsum("bij,bji->", P, Z)) / (4 * len(P))
            aim = max(gamma, (SMALLER if length > 0.3 else 0.5) * mu)
            try:
                L, K = np.linalg.cholesky(P), np.linalg.cholesky(Z)
            except np.linalg.LinAlgError:  # digits do not tell more
                return before
            back, inverse = np.linalg.inv(L), np.linalg.inv(P)
            F = (back[:, None] @ UNITS @ K[:, None]).reshape(len(P), TEN, 16).transpose(0, 2, 1)
            G = gamma * prior.inverse - aim * inverse
            right = np.linalg.solve(K, (L.transpose(0, 2, 1) @ G).transpose(0, 2, 1)).transpose(0, 2, 1)
            step = self._step(F, d, right.ravel())
            dP = pseudo_inertia(step[:body].reshape(-1, TEN))
            turned = inverse @ dP @ Z
            dZ = aim * inverse - Z - 0.5 * (turned + turned.transpose(0, 2, 1))
            length = min(1.0, INSIDE * min(room(P, dP), room(Z, dZ)))
            before, d, P, Z = d, d + length * step, P + length * dP, Z + length * dZ
            if length == 1.0 and aim == gamma and (self._all(F, step) ** 2).sum() < TIGHT * gamma:
                break
        return d

    def _step(self, F: np.ndarray, d: np.ndarray, right: np.ndarray) -> np.ndarray:
        """-(A^T A + F^T F)^-1 (A^T (A d + b) + F^T right), F of each body."""
        whole = np.zeros((right.size, self.A.shape[1]))
        size = F.shape[1]
        for i, own in enumerate(F):
            whole[size * i : size * (i + 1), TEN * i : TEN * (i + 1)] = own
        return -least_squares(np.concatenate([self.A, whole]), np.concatenate([self.A @ d + self.b, right]))

    def _all(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        bodies = np.einsum("bij,bj->bi", F, step[: self.body].reshape(-1, TEN))
        return np.concatenate([self.A @ step, bodies.ravel()])


def triangle(H: np.ndarray, g: np.ndarray, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and r of normal equations, H = R^T R and g = R^T r, without directions that only rounding has put there: as
    measured by a metric factor^T factor."""
    inside = np.linalg.solve(factor.T, np.linalg.solve(factor.T, H).T)
    values, ways = np.linalg.eigh(0.5 * (inside + inside.T))
    kept = values > UNSEEN * len(values) * values[-1]
    roots, ways = np.sqrt(values[kept])[:, None], ways[:, kept].T
    return roots * (ways @ factor), (ways @ np.linalg.solve(factor.T, g)) / roots[:, 0]


def least_squares(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x of least |A x - b|, whose columns may have different units."""
    scale = 1 / np.maximum(np.linalg.norm(A, axis=0), np.finfo(float).tiny)
    Q, R = np.linalg.qr(A * scale)
    if A.shape[0] >= A.shape[1] and (np.abs(np.diag(R)) > 1e-14).all():
        return scale * np.linalg.solve(R, Q.T @ b)
    return scale * np.linalg.lstsq(A * scale, b, rcond=1e-14)[0]
