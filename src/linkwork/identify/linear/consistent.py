"""Fits whose every body is physical: a convex problem in the standard parameters, by damped Newton's steps.

  minimise  |R K theta - z|^2 / 2 + gamma sum_i [tr(P0_i^-1 P_i) - log det P_i]
                                  + gamma sum_k [theta_k / theta0_k - log theta_k]

with P the 4 x 4 pseudo-inertia of a body (Wensing, Kim and Slotine 2018), P0 the prior's, and k those that are positive
beside the bodies: rotor inertia and friction. The entropic term is the divergence of densities (Lee, Wensing and Park
2020); it is finite where a body is positive and grows without bound at the border, so that Newton's steps stay inside.
Equations are in deviations of the forces' noise, so gamma has no unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..pseudo_inertia import TEN, UNITS, made_physical, pseudo_inertia
from .central import central, inverse_of
from .equations import triangle
from .unknowns import Unknowns

GAMMAS = tuple(10.0**k for k in range(4, -5, -1))  # weights that are tried on held-out data
TIGHT = 1e-12  # decrement that ends Newton's steps, relative to the cost
NEAR = 1e-6  # the same where weights are compared
MOST = 50  # of these steps
WEAK = 1e-9  # pull on what has neither body nor sign
ROUNDED = 1e-9  # of the cost: a gain below this is lost in rounding
ENOUGH = 1e-4  # of the gain that a step promises
SHORTEST = 1e-12  # of a step


@dataclass(frozen=True, eq=False)
class Prior:
    """``P0_inverse`` (bodies, 4, 4); ``scales`` of the positive drive parameters. ``start``: all standard parameters,
    strictly inside."""

    unknowns: Unknowns
    P0_inverse: np.ndarray
    scales: np.ndarray
    start: np.ndarray

    @staticmethod
    def of(unknowns: Unknowns, thought: np.ndarray, typical: np.ndarray) -> Prior:
        """``thought``: all standard parameters, as far as known before. ``typical``: sizes of the drives' parameters,
        where these are zero."""
        start = thought.copy()
        bodies = [slice(at, at + TEN) for _, at in unknowns.bodies]
        inverse = np.zeros((0, 4, 4))
        if bodies:
            rows = made_physical(np.array([start[each] for each in bodies]))
            inverse = np.linalg.inv(pseudo_inertia(rows))
            for each, own in zip(bodies, rows, strict=True):
                start[each] = own
        places = list(unknowns.positive)
        scales = np.where(start[places] > 0, start[places], typical[places])
        start[places] = scales
        return Prior(unknowns, inverse, scales, start)

    @cached_property
    def pull(self) -> np.ndarray:
        """What the entropic term has beside its border: tr(E_k P0^-1)."""
        found = np.zeros(len(self.start))
        for (_, at), inverse in zip(self.unknowns.bodies, self.P0_inverse, strict=True):
            found[at : at + TEN] = np.einsum("kij,ji->k", UNITS, inverse)
        found[list(self.unknowns.positive)] = 1 / self.scales
        return found

    @cached_property
    def weak(self) -> np.ndarray:
        """A weak pull on those that have neither body nor sign, offsets say, so that none is left undetermined."""
        bound = np.zeros(len(self.start), bool)
        for _, at in self.unknowns.bodies:
            bound[at : at + TEN] = True
        bound[list(self.unknowns.positive)] = True
        return np.where(bound, 0.0, WEAK)

    def value(self, theta: np.ndarray) -> float:
        """The entropic term; infinite outside."""
        P, others = self.parts(theta)
        try:
            logs = 2 * np.log(np.diagonal(np.linalg.cholesky(P), axis1=1, axis2=2)).sum() if len(P) else 0.0
        except np.linalg.LinAlgError:
            return np.inf
        if (others <= 0).any():
            return np.inf
        traces = np.einsum("bij,bji->", self.P0_inverse, P)
        return float(traces - logs + (others / self.scales - np.log(others)).sum())

    def slopes(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient, and a root of the Hessian, rows J with J^T J: of a body, with P = L L^T, they are the entries of
        L^-1 E_k L^-T for the k-th parameter."""
        P, others = self.parts(theta)
        bodies, places = self.unknowns.bodies, list(self.unknowns.positive)
        g, J = np.zeros(len(theta)), np.zeros((16 * len(bodies) + len(places), len(theta)))
        for k, ((_, at), own, prior) in enumerate(zip(bodies, P, self.P0_inverse, strict=True)):
            part = slice(at, at + TEN)
            L = np.linalg.inv(np.linalg.cholesky(own))
            g[part] = np.einsum("kij,ji->k", UNITS, prior - L.T @ L)
            J[16 * k : 16 * (k + 1), part] = (L @ UNITS @ L.T).reshape(TEN, 16).T
        g[places] = 1 / self.scales - 1 / others
        J[16 * len(bodies) + np.arange(len(places)), places] = 1 / others
        return g, J

    def parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pseudo-inertias, and the numbers that are positive beside them."""
        rows = np.array([theta[at : at + TEN] for _, at in self.unknowns.bodies]).reshape(-1, TEN)
        return pseudo_inertia(rows), theta[list(self.unknowns.positive)]


@dataclass(frozen=True, eq=False)
class Consistent:
    """``theta``: all standard parameters. ``cost`` with the entropic term; ``root``: triangle R with R^T R its Hessian.
    ``settled``: is it the minimum?"""

    theta: np.ndarray
    cost: float
    root: np.ndarray
    iterations: int
    settled: bool

    @property
    def covariance(self) -> np.ndarray:
        inverse = inverse_of(self.root)
        return inverse @ inverse.T


def consistent(T: np.ndarray, prior: Prior, gamma: float, start: np.ndarray | None = None) -> Consistent:
    """``T``: triangle [R z] of the base parameters, in deviations. ``start``: where the minimum is thought to be, of
    nearly the same problem; else it is looked for from the prior on."""
    A, b = T[:, :-1] @ prior.unknowns.matrix, T[:, -1]
    if start is not None:
        return _newton(A, b, prior, gamma, start, TIGHT)
    theta, iterations = central(A, b, prior, gamma)
    found = _newton(A, b, prior, gamma, theta, TIGHT)
    return replace(found, iterations=found.iterations + iterations)


def _newton(A: np.ndarray, b: np.ndarray, prior: Prior, gamma: float, theta: np.ndarray, tight: float) -> Consistent:
    """Newton's steps, each as long as keeps inside and lessens the cost enough."""
    free = prior.weak

    def cost(theta: np.ndarray, left: np.ndarray) -> float:
        return 0.5 * float(left @ left) + gamma * prior.value(theta) + 0.5 * float(free @ (theta - prior.start) ** 2)

    left = A @ theta - b
    now = cost(theta, left)
    for iteration in range(1, MOST):
        g, J = prior.slopes(theta)
        g = A.T @ left + gamma * g + free * (theta - prior.start)
        root = triangle(np.concatenate([A, math.sqrt(gamma) * J, np.diag(np.sqrt(free))]))
        inverse = inverse_of(root)  # data may be 10^12 times as sure as the prior: squares would not tell
        step = -inverse @ (inverse.T @ g)
        gain = -float(g @ step)
        if gain < tight * max(abs(now), gamma):
            return Consistent(theta, now, root, iteration, True)
        length, along = 1.0, A @ step
        while (ahead := cost(theta + length * step, left + length * along)) > now - ENOUGH * length * gain:
            length *= 0.5
            if length < SHORTEST:
                return Consistent(theta, now, root, iteration, gain < ROUNDED * abs(now))
        theta, now = theta + length * step, ahead
        left = A @ theta - b
    return Consistent(theta, now, root, iteration, False)


def path(T: np.ndarray, prior: Prior) -> Iterator[Consistent]:
    """For each of the weights that are tried, from strong pull to weak, each from where the last one ended, or from the
    prior on if that leads nowhere."""
    A, b = T[:, :-1] @ prior.unknowns.matrix, T[:, -1]
    near = None
    for gamma in GAMMAS:
        found = _newton(A, b, prior, gamma, central(A, b, prior, gamma, near)[0], NEAR)
        if near is not None and not found.settled:
            found = _newton(A, b, prior, gamma, central(A, b, prior, gamma)[0], NEAR)
        near = found.theta, gamma
        yield found
