"""Where the data press bodies against the border of what is physical: the central path, to its end.

Newton's steps creep along such a border. So beside each pseudo-inertia P there is a force Z of the border, positive:

  (1)  A^T (A theta - b) + gamma P0^-1 - Z = 0      (of the parameters: tr(E_k S) of a matrix S)
  (2)  P Z = mu 1,    mu -> gamma

and likewise of numbers that are positive. Both are followed together from a large mu on, in the scaling of Nesterov and
Todd (1997): with P = L L^T, Z = R R^T, R^T L = U D V^T and G = L V D^-1/2, both G^-1 P G^-T and G^T Z G are D.
Eliminating dZ leaves least squares, with G^-1 E_k G^-T in the place of the Hessian's root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..pseudo_inertia import TEN, UNITS
from .equations import triangle

if TYPE_CHECKING:
    from .consistent import Prior

MOST = 60  # steps
AHEAD, BACK = 0.98, 0.95  # of the way to the border, when looking ahead and when going
CLOSE = 0.1  # of gamma: a step that promises less is the last; Newton's do the rest


def central(
    A: np.ndarray, b: np.ndarray, prior: Prior, gamma: float, near: tuple[np.ndarray, float] | None = None
) -> tuple[np.ndarray, int]:
    """theta near the minimum with the weight gamma, and the number of steps. ``near``: the minimum with another weight,
    and this weight; else from the prior on."""
    count = 4 * len(prior.unknowns.bodies) + len(prior.unknowns.positive)
    if not count:
        return prior.start, 0
    if near is None:
        inside = _heavy(A, b, prior)
        mu = max(gamma, 0.5 * float(((A @ inside - b) ** 2).sum()) / count)
    else:
        inside, mu = near
    state = _State.of(inside, mu, prior)
    for iteration in range(1, MOST):
        try:
            way = _Way.at(A, b, prior, gamma, state)
            inside = state.theta
            *_, reach = way.step(gamma)  # how far could mu fall?
            ahead = way.moved(gamma, min(1.0, AHEAD * reach)).gap(prior) / count
            now = state.gap(prior) / count
            mu = max(gamma, min(1.0, max(ahead, 0.0) / now) ** 2 * now)
            step, *_, reach = way.step(mu)
            length = min(1.0, BACK * reach)
            if mu == gamma and length == 1.0 and abs(float(step @ way.slope(mu))) < CLOSE * gamma:
                return way.moved(mu, length).theta, iteration
            state = way.moved(mu, length)
        except np.linalg.LinAlgError:  # digits do not tell more
            return inside, iteration
    return inside, MOST


def _heavy(A: np.ndarray, b: np.ndarray, prior: Prior) -> np.ndarray:
    """The prior, with bodies as heavy as the data ask for, all alike, if that is more: from bodies that are far too
    light the path would go along the border, in steps of a thousandth."""
    bodies = np.zeros_like(prior.start)
    for _, at in prior.unknowns.bodies:
        bodies[at : at + TEN] = prior.start[at : at + TEN]
    acting, left = A @ bodies, b - A @ prior.start
    more = float(acting @ left) / max(float(acting @ acting), np.finfo(float).tiny)
    return prior.start + max(more, 0.0) * bodies


@dataclass(frozen=True, eq=False)
class _State:
    """``Z``: forces of the bodies' borders, ``z`` of the positive numbers'."""

    theta: np.ndarray
    Z: np.ndarray
    z: np.ndarray

    @staticmethod
    def of(theta: np.ndarray, mu: float, prior: Prior) -> _State:
        P, o = prior.parts(theta)
        L = np.linalg.inv(np.linalg.cholesky(P))
        return _State(theta, mu * L.transpose(0, 2, 1) @ L, mu / o)

    def gap(self, prior: Prior) -> float:
        P, o = prior.parts(self.theta)
        return float(np.einsum("bij,bji->", P, self.Z) + o @ self.z)


@dataclass(frozen=True, eq=False)
class _Way:
    """From a state: all that its steps share."""

    prior: Prior
    state: _State
    base: np.ndarray  # slope of the cost without the border
    border: np.ndarray  # slope of -log det P, times minus one
    inverse: np.ndarray  # of the root of the equations
    back: np.ndarray  # G^-1
    roots: tuple[np.ndarray, np.ndarray]  # inverses of those of P and Z
    D: np.ndarray

    @staticmethod
    def at(A: np.ndarray, b: np.ndarray, prior: Prior, gamma: float, state: _State) -> _Way:
        theta, bodies, places = state.theta, prior.unknowns.bodies, list(prior.unknowns.positive)
        P, o = prior.parts(theta)
        L, R = np.linalg.cholesky(P), np.linalg.cholesky(state.Z)
        _, D, Vt = np.linalg.svd(R.transpose(0, 2, 1) @ L)
        back = np.linalg.inv(L @ Vt.transpose(0, 2, 1) / np.sqrt(D)[:, None, :])
        roots = np.linalg.inv(L), np.linalg.inv(R)
        J, border, pull = np.zeros((16 * len(bodies) + len(places), len(theta))), np.zeros_like(theta), prior.pull
        for k, (_, at) in enumerate(bodies):
            own = slice(at, at + TEN)
            J[16 * k : 16 * (k + 1), own] = (back[k] @ UNITS @ back[k].T).reshape(TEN, 16).T
            border[own] = np.einsum("kij,ji->k", UNITS, roots[0][k].T @ roots[0][k])
        J[16 * len(bodies) + np.arange(len(places)), places] = np.sqrt(state.z / o)
        border[places] = 1 / o
        inverse = inverse_of(triangle(np.concatenate([A, J, np.diag(np.sqrt(prior.weak))])))
        base = A.T @ (A @ theta - b) + prior.weak * (theta - prior.start) + gamma * pull
        return _Way(prior, state, base, border, inverse, back, roots, D)

    def slope(self, mu: float) -> np.ndarray:
        return self.base - mu * self.border

    def step(self, mu: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Of theta, Z and z towards the path's point of mu, and how many times it can be gone until the border."""
        step = -self.inverse @ (self.inverse.T @ self.slope(mu))
        _, o = self.prior.parts(self.state.theta)
        dP, do = self.prior.parts(step)
        turned = self.back @ dP @ self.back.transpose(0, 2, 1)
        inner = (mu / self.D - self.D)[:, :, None] * np.eye(4) - turned
        dZ = self.back.transpose(0, 2, 1) @ inner @ self.back
        dz = mu / o - self.state.z - self.state.z / o * do
        least = [
            np.linalg.eigvalsh(root @ each @ root.transpose(0, 2, 1)).min(initial=0.0)
            for root, each in zip(self.roots, (dP, dZ), strict=True)
        ]
        lowest = min(*least, (do / o).min(initial=0.0), (dz / self.state.z).min(initial=0.0))
        return step, 0.5 * (dZ + dZ.transpose(0, 2, 1)), dz, -1 / lowest if lowest < 0 else np.inf

    def moved(self, mu: float, length: float) -> _State:
        step, dZ, dz, _ = self.step(mu)
        old = self.state
        return _State(old.theta + length * step, old.Z + length * dZ, old.z + length * dz)


def inverse_of(R: np.ndarray) -> np.ndarray:
    """Of a triangle whose columns may have very different lengths."""
    scale = np.linalg.norm(R, axis=0)
    return np.linalg.inv(R / scale) / scale[:, None]
