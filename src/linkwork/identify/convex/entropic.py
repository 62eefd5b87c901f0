"""The entropic pull of bodies and of positive numbers towards a prior, which also keeps them inside of what can be.

  (1)  sum_i [tr(P0_i^-1 P_i) - log det P_i] + sum_k [x_k / x0_k - log x_k]

with P the 4 x 4 pseudo-inertia of a body and P0 the prior's; k: numbers that are positive beside the bodies. But for a
constant it is the divergence of densities (Lee, Wensing and Park 2020): least at the prior, and beyond all bounds where
a body ceases to be physical, so that Newton's steps stay inside. It does not depend on frames and units.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..regression.unknowns import TEN
from .inertia_cone import UNITS, factors, pseudo_inertia


@dataclass(frozen=True, eq=False)
class Entropic:
    """Of a vector: where the ten of each of its ``bodies`` begin, and places of its ``positive`` numbers. ``start``:
    the prior of all, strictly inside. ``hold``: a quadratic pull on the others, offsets say."""

    bodies: tuple[int, ...]
    positive: tuple[int, ...]
    start: np.ndarray
    hold: float

    @cached_property
    def places(self) -> np.ndarray:
        """Of the bodies, (bodies, 10)."""
        return np.array(self.bodies, int)[:, None] + np.arange(TEN)

    @cached_property
    def degree(self) -> int:
        """Of the border: entries on the diagonals of all P, and positive numbers."""
        return 4 * len(self.bodies) + len(self.positive)

    @cached_property
    def P0_inverse(self) -> np.ndarray:
        return np.linalg.inv(self.parts(self.start)[0])

    @cached_property
    def pull(self) -> np.ndarray:
        """What (1) has beside its border, per unit of each number."""
        return self.along(self.P0_inverse, 1 / self.parts(self.start)[1])

    @cached_property
    def weak(self) -> np.ndarray:
        """The pull on those that have neither body nor sign, so that none is left undetermined."""
        found = np.full(len(self.start), self.hold)
        found[self.places] = 0.0
        found[list(self.positive)] = 0.0
        return found

    def parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pseudo-inertias, and the numbers that are positive beside them."""
        return pseudo_inertia(theta[self.places]), theta[list(self.positive)]

    def along(self, S: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Slopes by all numbers where those by the parts are S and s: tr(E_k S) of the k-th of a body."""
        found = np.zeros(len(self.start))
        found[self.places] = np.einsum("kij,bji->bk", UNITS, S)
        found[list(self.positive)] = s
        return found

    def root(self, inverse: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Rows J whose J^T J has ``factors`` of the inverses for bodies, and squares of scales."""
        count, J = self.places.size, np.zeros((self.places.size + len(self.positive), len(self.start)))
        J[np.arange(count).reshape(-1, TEN, 1), self.places[:, None]] = factors(inverse)
        J[count + np.arange(len(scale)), list(self.positive)] = scale
        return J

    def value(self, theta: np.ndarray) -> float:
        """(1); infinite outside."""
        P, others = self.parts(theta)
        try:
            logs = 2 * np.log(np.diagonal(np.linalg.cholesky(P), axis1=1, axis2=2)).sum()
        except np.linalg.LinAlgError:
            return np.inf
        return float(self.pull @ theta - logs - np.log(others).sum()) if (others > 0).all() else np.inf

    def slopes(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient, and a root of the Hessian."""
        P, others = self.parts(theta)
        inverse = np.linalg.inv(np.linalg.cholesky(P))
        gradient = self.pull - self.along(inverse.transpose(0, 2, 1) @ inverse, 1 / others)
        return gradient, self.root(inverse, 1 / others)

    def divergences(self, theta: np.ndarray) -> np.ndarray:
        """Of each body from its prior: zero if they are equal."""
        turned = self.P0_inverse @ self.parts(theta)[0]
        return np.trace(turned, axis1=1, axis2=2) - np.linalg.slogdet(turned)[1] - 4.0
