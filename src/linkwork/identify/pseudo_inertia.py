"""Bodies as 4 x 4 pseudo-inertias, positive where a body is physical, and the entropic pull towards a prior.

  P = [S  h; h^T  m],    S = tr(J) / 2 1 - J

with mass m, first moments h, and inertia J about the origin (Wensing, Kim and Slotine 2018). The pull is the divergence
of densities (Lee, Wensing and Park 2020): zero at the prior's P0, beyond all bounds where a body ceases to be physical:

  (1)  D(P) = tr(P0^-1 P) - log det P - 4 + log det P0
"""

from __future__ import annotations

import numpy as np

from ..model import ELEMENTS
from ..model import pseudo_inertia as of_one

TEN = len(ELEMENTS)  # of a body
THIN, EXTENT = 1e-6, 1e-3  # of a body: thinner is none, and what it is given then
LIGHT, SIZE = 1e-3, 0.1  # of the mean mass of the others; metres, if nothing tells a size
SMALL = 1e-3  # metres: no body is smaller
UNITS = np.array([of_one(unit) for unit in np.eye(TEN)])  # P of a unit of each of the ten


def pseudo_inertia(rows: np.ndarray) -> np.ndarray:
    """Of the ten parameters of bodies (..., 10)."""
    return np.tensordot(rows, UNITS, axes=1)


def parameters_of(P: np.ndarray) -> np.ndarray:
    """The ten of pseudo-inertias (..., 4, 4)."""
    S = P[..., :3, :3]
    J = np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S
    i, j = np.triu_indices(3)
    return np.concatenate([P[..., 3:, 3], P[..., :3, 3], J[..., i, j]], axis=-1)


def made_physical(rows: np.ndarray) -> np.ndarray:
    """Bodies (n, 10); those that are not physical, or as thin as a line or a point, moved inside, so that they have
    some extent: eigenvalues are shares of the mass, with lengths in radii of gyration. Those without mass get some: a
    small ball beside the others."""
    masses = rows[:, 0]
    light = masses <= 0
    if light.any():
        total, spread = masses[~light].sum(), 0.5 * rows[~light][:, [4, 7, 9]].clip(min=0).sum()
        size = np.sqrt(spread / total / 3) if total > 0 and spread > 0 else SIZE
        mass = LIGHT * (masses[~light].mean() if total > 0 else 1.0)
        ball = mass * np.array([1.0, 0, 0, 0, *(2 * size**2 * np.array([1, 0, 0, 1, 0, 1]))])
        turns = (rows[:, [4, 7, 9]] >= 0).all(axis=1, keepdims=True)  # what it has of inertia stays, if that can be
        rows = np.where(light[:, None], rows * (turns & (np.arange(TEN) > 3)) + ball, rows)
    P = pseudo_inertia(rows)
    size = np.sqrt(np.maximum(np.trace(P[:, :3, :3], axis1=1, axis2=2) / 3 / rows[:, 0], SMALL**2))
    units = np.ones((len(rows), 4))
    units[:, :3] = size[:, None]
    values, vectors = np.linalg.eigh(P / units[:, :, None] / units[:, None, :])
    raised = np.maximum(values, EXTENT * rows[:, :1])
    moved = (vectors * raised[:, None, :]) @ vectors.transpose(0, 2, 1) * units[:, :, None] * units[:, None, :]
    return np.where(np.any(values < THIN * rows[:, :1], axis=1, keepdims=True), parameters_of(moved), rows)


class Entropic:
    """The pull (1) on bodies whose prior has these ten each, (bodies, 10)."""

    def __init__(self, prior: np.ndarray):
        self.rows, P = prior, pseudo_inertia(prior)
        self.inverse = np.linalg.inv(P)
        self.constant = 4 * len(P) - float(np.linalg.slogdet(P)[1].sum())

    def value(self, rows: np.ndarray) -> float:
        """Infinite where a body is not physical."""
        P = pseudo_inertia(rows)
        try:
            factors = np.linalg.cholesky(P)
        except np.linalg.LinAlgError:
            return np.inf
        logs = 2 * np.log(np.diagonal(factors, axis1=1, axis2=2)).sum()
        return float(np.einsum("bij,bji->", self.inverse, P) - logs - self.constant)

    def slopes(self, rows: np.ndarray) -> np.ndarray:
        """(bodies, 10)"""
        return np.einsum("kij,bji->bk", UNITS, self.inverse - np.linalg.inv(pseudo_inertia(rows)))


def factors(rows: np.ndarray) -> np.ndarray:
    """F (bodies, 10, 10) of the Hessian F^T F of the pull, whatever the prior: the metric in which steps of bodies are
    measured, independent of frames and units. |F x|^2 = tr(X X), X = L^-1 P(x) L^-T, P = L L^T."""
    inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(rows)))
    X = inverse[:, None] @ UNITS @ inverse.transpose(0, 2, 1)[:, None]
    i, j = np.triu_indices(4)
    return (X[:, :, i, j] * np.where(i == j, 1.0, np.sqrt(2.0))).transpose(0, 2, 1)


def room(P: np.ndarray, step: np.ndarray) -> float:
    """How many times a step of positive matrices (n, 4, 4) can be made until one of them ceases to be positive."""
    if not len(P):
        return np.inf
    L = np.linalg.cholesky(P)
    inside = np.linalg.solve(L, np.linalg.solve(L, step).transpose(0, 2, 1))
    least = np.linalg.eigvalsh(inside).min()
    return np.inf if least >= 0 else -1.0 / float(least)
