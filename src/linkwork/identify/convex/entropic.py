"""Pseudo-inertias of bodies, and the entropic prior that keeps bodies physical and near a prior.

The 4 x 4 pseudo-inertia of a body with mass m, first moments h and inertia J about the origin is positive definite
exactly where the body is physical (Wensing, Kim and Slotine 2018):

  P = [S  h; h^T  m],    S = tr(J) / 2 1 - J

The entropic term, with P0 the pseudo-inertia of the prior and k the other numbers that must be positive, is

  (1)  sum_i [tr(P0_i^-1 P_i) - log det P_i] + sum_k [x_k / x0_k - log x_k]

Up to a constant it is the divergence of densities (Lee, Wensing and Park 2020). It is least at the prior and infinite
where a body ceases to be physical, so Newton's steps stay inside. It does not depend on frames and units.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...model import pseudo_inertia as pseudo_inertia_of
from ..regression.unknowns import TEN

THIN, EXTENT = 1e-6, 1e-3  # smallest eigenvalue that is accepted, relative to the mass, and the one set instead
LIGHT, SIZE = 1e-3, 0.1  # mass of a massless body, relative to the mean of the others; its size in m by default
SMALL = 1e-3  # smallest size of a body in m
UNITS = np.array([pseudo_inertia_of(unit) for unit in np.eye(TEN)])  # P for a unit of each of the ten parameters


def pseudo_inertia(rows: np.ndarray) -> np.ndarray:
    """Return the pseudo-inertias (..., 4, 4) of bodies with ten parameters each, (..., 10)."""
    return np.tensordot(rows, UNITS, axes=1)


def parameters_of(P: np.ndarray) -> np.ndarray:
    """Return the ten parameters (..., 10) of pseudo-inertias (..., 4, 4)."""
    S = P[..., :3, :3]
    J = np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S
    i, j = np.triu_indices(3)
    return np.concatenate([P[..., 3:, 3], P[..., :3, 3], J[..., i, j]], axis=-1)


def make_physical(rows: np.ndarray) -> np.ndarray:
    """Return bodies (n, 10) that are strictly physical.

    A body that is not physical, or as thin as a line or a point, gets some extent: small eigenvalues of its
    pseudo-inertia are raised, as shares of the mass with lengths in radii of gyration. A body without mass becomes a
    small ball.
    """
    masses = rows[:, 0]
    light = masses <= 0
    if light.any():
        total, spread = masses[~light].sum(), 0.5 * rows[~light][:, [4, 7, 9]].clip(min=0).sum()
        size = np.sqrt(spread / total / 3) if total > 0 and spread > 0 else SIZE
        mass = LIGHT * (masses[~light].mean() if total > 0 else 1.0)
        ball = mass * np.array([1.0, 0, 0, 0, *(2 * size**2 * np.array([1, 0, 0, 1, 0, 1]))])
        possible = (rows[:, [4, 7, 9]] >= 0).all(axis=1, keepdims=True)  # then the body keeps its own inertia
        rows = np.where(light[:, None], rows * (possible & (np.arange(TEN) > 3)) + ball, rows)
    P = pseudo_inertia(rows)
    size = np.sqrt(np.maximum(np.trace(P[:, :3, :3], axis1=1, axis2=2) / 3 / rows[:, 0], SMALL**2))
    units = np.ones((len(rows), 4))
    units[:, :3] = size[:, None]
    values, vectors = np.linalg.eigh(P / units[:, :, None] / units[:, None, :])
    eigenvalues = np.maximum(values, EXTENT * rows[:, :1])
    repaired = (vectors * eigenvalues[:, None, :]) @ vectors.transpose(0, 2, 1) * units[:, :, None] * units[:, None, :]
    return np.where(np.any(values < THIN * rows[:, :1], axis=1, keepdims=True), parameters_of(repaired), rows)


def factors(inverse: np.ndarray) -> np.ndarray:
    """Return F (bodies, 10, 10) with |F x|^2 = tr(X X), X = G^-1 P(x) G^-T, given the inverses of G (bodies, 4, 4)."""
    X = inverse[:, None] @ UNITS @ inverse.transpose(0, 2, 1)[:, None]
    i, j = np.triu_indices(4)
    return (X[:, :, i, j] * np.where(i == j, 1.0, np.sqrt(2.0))).transpose(0, 2, 1)


@dataclass(frozen=True, eq=False)
class Entropic:
    """The entropic term (1) of a vector.

    Attributes:
        bodies: Where the ten parameters of each body begin.
        positive: Places of the other positive numbers.
        start: The prior of all numbers, strictly inside.
        hold: Weight of a quadratic pull on all other numbers, such as offsets.
    """

    bodies: tuple[int, ...]
    positive: tuple[int, ...]
    start: np.ndarray
    hold: float

    @cached_property
    def places(self) -> np.ndarray:
        """Places of the bodies' parameters, (bodies, 10)."""
        return np.array(self.bodies, int)[:, None] + np.arange(TEN)

    @cached_property
    def degree(self) -> int:
        """Degree of the barrier: 4 for each body, 1 for each positive number."""
        return 4 * len(self.bodies) + len(self.positive)

    @cached_property
    def P0_inverse(self) -> np.ndarray:
        return np.linalg.inv(self.parts(self.start)[0])

    @cached_property
    def linear_term(self) -> np.ndarray:
        """Coefficients of the linear part of (1)."""
        return self.gradient_of(self.P0_inverse, 1 / self.parts(self.start)[1])

    @cached_property
    def weak(self) -> np.ndarray:
        """Weights of the quadratic pull: ``hold`` for numbers of no body and no sign, so that none is undetermined."""
        weights = np.full(len(self.start), self.hold)
        weights[self.places] = 0.0
        weights[list(self.positive)] = 0.0
        return weights

    def parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the pseudo-inertias of the bodies, and the other positive numbers."""
        return pseudo_inertia(theta[self.places]), theta[list(self.positive)]

    def gradient_of(self, S: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return the gradient for all numbers from those for the parts, S and s: tr(E_k S) for the k-th of a body."""
        gradient = np.zeros(len(self.start))
        gradient[self.places] = np.einsum("kij,bji->bk", UNITS, S)
        gradient[list(self.positive)] = s
        return gradient

    def root(self, inverse: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return rows J such that J^T J has ``factors`` of the inverses for bodies, else squares of the scales."""
        count, J = self.places.size, np.zeros((self.places.size + len(self.positive), len(self.start)))
        J[np.arange(count).reshape(-1, TEN, 1), self.places[:, None]] = factors(inverse)
        J[count + np.arange(len(scale)), list(self.positive)] = scale
        return J

    def value(self, theta: np.ndarray) -> float:
        """Return (1); infinite outside."""
        P, others = self.parts(theta)
        try:
            logs = 2 * np.log(np.diagonal(np.linalg.cholesky(P), axis1=1, axis2=2)).sum()
        except np.linalg.LinAlgError:
            return np.inf
        return float(self.linear_term @ theta - logs - np.log(others).sum()) if (others > 0).all() else np.inf

    def slopes(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient, and a root of the Hessian."""
        P, others = self.parts(theta)
        inverse = np.linalg.inv(np.linalg.cholesky(P))
        gradient = self.linear_term - self.gradient_of(inverse.transpose(0, 2, 1) @ inverse, 1 / others)
        return gradient, self.root(inverse, 1 / others)

    def divergences(self, theta: np.ndarray) -> np.ndarray:
        """Return the divergence of each body from its prior: zero if they are equal."""
        product = self.P0_inverse @ self.parts(theta)[0]
        return np.trace(product, axis1=1, axis2=2) - np.linalg.slogdet(product)[1] - 4.0
