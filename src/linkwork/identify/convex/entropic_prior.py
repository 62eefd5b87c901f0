"""Fits whose every body is physical, in the standard parameters:

  minimise  |R K theta - z|^2 / 2 + gamma sum_i [tr(P0_i^-1 P_i) - log det P_i]
                                  + gamma sum_k [theta_k / theta0_k - log theta_k]

with P the 4 x 4 pseudo-inertia of a body (Wensing, Kim and Slotine 2018), P0 the prior's, and k those that are positive
beside the bodies: rotor inertia and friction. Equations are in deviations of the forces' noise, so gamma has no unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..regression.unknowns import Unknowns
from .entropic import Entropic
from .inertia_cone import made_physical
from .interior_point import central
from .newton import Minimum, minimum, newton

GAMMAS = tuple(10.0**k for k in range(4, -5, -1))  # weights that are tried on held-out data
NEAR = 1e-6  # decrement that ends Newton's steps where weights are compared, relative to the cost
WEAK = 1e-9  # pull on what has neither body nor sign


@dataclass(frozen=True, eq=False)
class Prior(Entropic):
    """Of the standard parameters of ``unknowns``."""

    unknowns: Unknowns

    @staticmethod
    def of(unknowns: Unknowns, thought: np.ndarray, typical: np.ndarray) -> Prior:
        """``thought``: all standard parameters, as far as known before. ``typical``: sizes of the drives' parameters,
        where these are zero."""
        found = Prior(tuple(at for _, at in unknowns.bodies), unknowns.positive, thought.copy(), WEAK, unknowns)
        places, start = list(unknowns.positive), found.start
        if unknowns.bodies:
            start[found.places] = made_physical(start[found.places])
        start[places] = np.where(start[places] > 0, start[places], typical[places])
        return found


def consistent(T: np.ndarray, prior: Prior, gamma: float, start: np.ndarray | None = None) -> Minimum:
    """``T``: triangle [R z] of the base parameters, in deviations. ``start``: where the minimum is thought to be, of
    nearly the same problem."""
    return minimum(T[:, :-1] @ prior.unknowns.matrix, T[:, -1], prior, gamma, start)


def path(T: np.ndarray, prior: Prior) -> Iterator[Minimum]:
    """For each of the weights that are tried, from strong pull to weak, each from where the last one ended, or from the
    prior on if that leads nowhere."""
    A, b = T[:, :-1] @ prior.unknowns.matrix, T[:, -1]
    near = None
    for gamma in GAMMAS:
        found = newton(A, b, prior, gamma, central(A, b, prior, gamma, near)[0], NEAR)
        if near is not None and not found.settled:
            found = newton(A, b, prior, gamma, central(A, b, prior, gamma)[0], NEAR)
        near = found.theta, gamma
        yield found
