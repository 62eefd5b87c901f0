"""Bodies as 4 x 4 pseudo-inertias, positive where a body is physical.

  P = [S  h; h^T  m],    S = tr(J) / 2 1 - J

with mass m, first moments h, and inertia J about the origin (Wensing, Kim and Slotine 2018).
"""

from __future__ import annotations

import numpy as np

from ...model import pseudo_inertia as of_one
from ..regression.unknowns import TEN

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


def factors(inverse: np.ndarray) -> np.ndarray:
    """F (bodies, 10, 10) with |F x|^2 = tr(X X), X = G^-1 P(x) G^-T, of the inverses of some G (bodies, 4, 4)."""
    X = inverse[:, None] @ UNITS @ inverse.transpose(0, 2, 1)[:, None]
    i, j = np.triu_indices(4)
    return (X[:, :, i, j] * np.where(i == j, 1.0, np.sqrt(2.0))).transpose(0, 2, 1)
