"""The central path: an interior-point method for data that press bodies against the boundary of what is physical.

Newton's steps creep along such a boundary. So each pseudo-inertia P gets a positive dual variable Z:

  (1)  A^T (A theta - b) + gamma P0^-1 - Z = 0      (by the parameters: tr(E_k S) for a matrix S)
  (2)  P Z = mu 1,    mu -> gamma

and likewise for positive numbers. Both are followed together from a large mu on, in the scaling of Nesterov and Todd
(1997): with P = L L^T, Z = R R^T, R^T L = U D V^T and G = L V D^-1/2, both G^-1 P G^-T and G^T Z G are D. Eliminating
dZ leaves least squares, with G^-1 E_k G^-T in the place of the Hessian's root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..regression.stacked_regressor import triangle
from .entropic import Entropic

MOST = 60  # steps
AHEAD, BACK = 0.98, 0.95  # shares of the way to the boundary: of a predictor step, and of a step that is made
CLOSE = 0.1  # of gamma: a step with less expected decrease is the last; Newton's steps do the rest


def follow_central_path(
    A: np.ndarray, b: np.ndarray, prior: Entropic, gamma: float, near: tuple[np.ndarray, float] | None = None
) -> tuple[np.ndarray, int]:
    """Return theta near the minimum for the weight gamma, and the number of steps.

    Args:
        A, b: The equations A theta = b.
        prior: The entropic term.
        gamma: Its weight.
        near: The minimum for another weight, and this weight. Default: start from the prior.
    """
    count = prior.degree
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
            linear = _Linearised.at(A, b, prior, gamma, state)
            inside = state.theta
            step = linear.step(gamma)  # how far could mu fall?
            ahead = linear.moved(step, min(1.0, AHEAD * step.reach)).gap(prior) / count
            now = state.gap(prior) / count
            mu = max(gamma, min(1.0, max(ahead, 0.0) / now) ** 2 * now)
            step = linear.step(mu)
            length = min(1.0, BACK * step.reach)
            state = linear.moved(step, length)
            if mu == gamma and length == 1.0 and abs(float(step.theta @ linear.slope(mu))) < CLOSE * gamma:
                return state.theta, iteration
        except np.linalg.LinAlgError:  # double precision is exhausted
            return inside, iteration
    return inside, MOST


def _heavy(A: np.ndarray, b: np.ndarray, prior: Entropic) -> np.ndarray:
    """Return the prior with all bodies scaled up to what the data require; bodies that are too light slow the path."""
    bodies = np.zeros_like(prior.start)
    bodies[prior.places] = prior.start[prior.places]
    effect, residual = A @ bodies, b - A @ prior.start
    factor = float(effect @ residual) / max(float(effect @ effect), np.finfo(float).tiny)
    return prior.start + max(factor, 0.0) * bodies


class _Step(NamedTuple):
    """Changes of a state, and how many times the step can be made until the boundary."""

    theta: np.ndarray
    Z: np.ndarray
    z: np.ndarray
    reach: float


@dataclass(frozen=True, eq=False)
class _State:
    """The parameters ``theta``, and dual variables ``Z`` of the bodies and ``z`` of the positive numbers."""

    theta: np.ndarray
    Z: np.ndarray
    z: np.ndarray

    @staticmethod
    def of(theta: np.ndarray, mu: float, prior: Entropic) -> _State:
        P, o = prior.parts(theta)
        L = np.linalg.inv(np.linalg.cholesky(P))
        return _State(theta, mu * L.transpose(0, 2, 1) @ L, mu / o)

    def gap(self, prior: Entropic) -> float:
        P, o = prior.parts(self.theta)
        return float(np.einsum("bij,bji->", P, self.Z) + o @ self.z)


@dataclass(frozen=True, eq=False)
class _Linearised:
    """What all steps from a state share."""

    prior: Entropic
    state: _State
    base: np.ndarray  # gradient of the cost without the barrier
    border: np.ndarray  # gradient of log det P
    inverse: np.ndarray  # inverse of the root of the normal equations
    back: np.ndarray  # G^-1
    roots: tuple[np.ndarray, np.ndarray]  # inverses of the Cholesky factors of P and Z
    D: np.ndarray

    @staticmethod
    def at(A: np.ndarray, b: np.ndarray, prior: Entropic, gamma: float, state: _State) -> _Linearised:
        P, o = prior.parts(state.theta)
        L, R = np.linalg.cholesky(P), np.linalg.cholesky(state.Z)
        _, D, Vt = np.linalg.svd(R.transpose(0, 2, 1) @ L)
        back = np.linalg.inv(L @ Vt.transpose(0, 2, 1) / np.sqrt(D)[:, None, :])
        roots = np.linalg.inv(L), np.linalg.inv(R)
        border = prior.gradient_of(roots[0].transpose(0, 2, 1) @ roots[0], 1 / o)
        J = prior.root(back, np.sqrt(state.z / o))
        inverse = inverse_of(triangle(np.concatenate([A, J, np.diag(np.sqrt(prior.weak))])))
        base = A.T @ (A @ state.theta - b) + prior.weak * (state.theta - prior.start) + gamma * prior.linear_term
        return _Linearised(prior, state, base, border, inverse, back, roots, D)

    def slope(self, mu: float) -> np.ndarray:
        return self.base - mu * self.border

    def step(self, mu: float) -> _Step:
        """Return the step towards the point of the path with this mu."""
        step = -self.inverse @ (self.inverse.T @ self.slope(mu))
        _, o = self.prior.parts(self.state.theta)
        dP, do = self.prior.parts(step)
        scaled = self.back @ dP @ self.back.transpose(0, 2, 1)
        inner = (mu / self.D - self.D)[:, :, None] * np.eye(4) - scaled
        dZ = self.back.transpose(0, 2, 1) @ inner @ self.back
        dz = mu / o - self.state.z - self.state.z / o * do
        least = [
            np.linalg.eigvalsh(root @ each @ root.transpose(0, 2, 1)).min(initial=0.0)
            for root, each in zip(self.roots, (dP, dZ), strict=True)
        ]
        lowest = min(*least, (do / o).min(initial=0.0), (dz / self.state.z).min(initial=0.0))
        return _Step(step, 0.5 * (dZ + dZ.transpose(0, 2, 1)), dz, -1 / lowest if lowest < 0 else np.inf)

    def moved(self, step: _Step, length: float) -> _State:
        old = self.state
        return _State(old.theta + length * step.theta, old.Z + length * step.Z, old.z + length * step.z)


def inverse_of(R: np.ndarray) -> np.ndarray:
    """Return the inverse of a triangle whose columns may have very different lengths."""
    scale = np.linalg.norm(R, axis=0)
    return np.linalg.inv(R / scale) / scale[:, None]
