"""ElasticModes: what dynamics needs of a flexible link, from a beam or from modal data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import ModelError
from ...scalar import Scalar
from ...spatial import Inertia, Matrix, Symmetric, Vector
from ..element import HUGE

Scalars = Sequence[Scalar]


@dataclass(frozen=True, eq=False)
class ElasticModes:
    """The material point r0 of the link is at r = r0 + sum phi_a(r0) eta_a, in the frame of its root.

    The amplitudes eta are the coordinates d, then products d_j d_k if bending shortens the link (``products``), whose
    phi_a is the shortening along x. Integrals are over the mass of the undeformed link:

      S_a = int phi_a dm,   B_a = int r0 phi_a^T dm,   C_ab = int phi_a phi_b^T dm

    ``spins`` and ``section`` are int Js psi_j dx and int psi_j^T Js psi_k dx of cross sections that rotate by psi_j
    about x. ``shifts`` and ``turns`` are phi_a and psi_j of the tip, whose frame is at ``tip`` without deformation;
    stiffness and damping are matrices.
    """

    parts: tuple[str, ...]  # names of the coordinates
    turning: tuple[bool, ...]  # is it an angle?
    tip: Vector
    shifts: tuple[Vector, ...]
    turns: tuple[Vector, ...]
    S: tuple[Vector, ...]
    B: tuple[Matrix, ...]
    C: tuple[tuple[Matrix, ...], ...]
    spins: tuple[Vector, ...]
    section: tuple[tuple[float, ...], ...]
    stiffness: tuple[tuple[float, ...], ...]
    damping: tuple[tuple[float, ...], ...]
    products: tuple[tuple[int, int], ...] = ()

    @property
    def size(self) -> int:
        """Number of modes."""
        return len(self.parts)

    @cached_property
    def clamped(self) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies in Hz and damping ratios of the clamped link without load, in each family (y, z, ...) from the
        slowest on."""
        K, D, result = np.array(self.stiffness), np.array(self.damping), np.zeros((2, self.size))
        families = [part.rstrip("0123456789") for part in self.parts]
        for family in dict.fromkeys(families):
            modes = [k for k, name in enumerate(families) if name == family]
            at = np.ix_(modes, modes)
            root = np.linalg.cholesky(self.masses[at])
            squares, turned = np.linalg.eigh(np.linalg.solve(root, np.linalg.solve(root, K[at]).T))
            w = np.sqrt(np.maximum(squares, 0.0))
            loss = np.einsum("ji,jk,ki->i", turned, np.linalg.solve(root, np.linalg.solve(root, D[at]).T), turned)
            result[:, modes] = w / (2 * np.pi), loss / (2 * w)
        return result[0], result[1]

    @property
    def masses(self) -> np.ndarray:
        """Mass matrix of the modes without deformation."""
        blocks = np.array([[[list(row) for row in C.rows] for C in matrices] for matrices in self.C], float)
        return np.einsum("jkcc->jk", blocks)[: self.size, : self.size] + np.array(self.section)

    def amplitudes(self, d: Scalars) -> list[Scalar]:
        """Return eta."""
        return [*d, *(d[j] * d[k] for j, k in self.products)]

    def amplitude_rates(self, d: Scalars, u: Scalars) -> list[Scalar]:
        """Return the rates of eta at rates u of d."""
        return [*u, *(d[j] * u[k] + u[j] * d[k] for j, k in self.products)]

    def amplitude_drifts(self, u: Scalars, x: Scalars) -> list[Scalar]:
        """Return how the rates of eta at constant rates x of d change while d changes at u: second rates if x is u."""
        return [0] * self.size + [u[j] * x[k] + x[j] * u[k] for j, k in self.products]

    def by_coordinates(self, values: Sequence[Any], d: Scalars) -> list[Any]:
        """Return values of the amplitudes by the coordinates: the sum of d eta_a / d d_j times the value of a."""
        total = list(values[: self.size])
        for value, (j, k) in zip(values[self.size :], self.products, strict=True):
            total[j] = total[j] + value * d[k]
            total[k] = total[k] + value * d[j]
        return total

    def by_coordinates_rates(self, values: Sequence[Any], u: Scalars) -> list[Any]:
        """Return the rate of ``by_coordinates`` at rates u and constant values."""
        return self.by_coordinates([value * 0 for value in values[: self.size]] + list(values[self.size :]), u)

    def deformed_moments(self, d: Scalars) -> list[Matrix]:
        """Return int r phi_a^T dm = B_a + sum_b eta_b C_ba."""
        eta, moments = self.amplitudes(d), []
        for a, B in enumerate(self.B):
            for x, row in zip(eta, self.C, strict=True):
                B = B + row[a] * x
            moments.append(B)
        return moments

    def inertia(self, d: Scalars) -> Inertia:
        """Return what deformation adds to h = int r dm and J = int -[r x][r x] dm, in the frame of the root."""
        h, moments = Vector(), Matrix.zero()  # of int r r^T dm
        for x, S, B, deformed in zip(self.amplitudes(d), self.S, self.B, self.deformed_moments(d), strict=True):
            h, moments = h + S * x, moments + (B.T + deformed) * x
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = moments.rows
        return Inertia(0, h, Symmetric(yy + zz, -xy, -xz, xx + zz, -yz, xx + yy))


def are_ratios(damping: Any, count: int) -> bool:
    """Whether it is a damping ratio for all modes, or one for each."""
    try:
        ratios = np.asarray(damping, float)
    except (TypeError, ValueError):
        return False
    return ratios.shape in ((), (count,)) and bool(((ratios >= 0) & (ratios < HUGE)).all())


def require_numbers(values: Any, size: tuple[int, ...], where: str) -> None:
    """Raise ModelError unless the values are finite and have the shape ``size``."""
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != size or not (np.abs(array) < HUGE).all():
        got, expected = f"shape {array.shape}", f"finite, {' x '.join(map(str, size))}"
        raise ModelError("these numbers do not fit the modes", where=where, got=got, expected=expected)


def of_rows(rows: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, rows.tolist()))


def vectors(rows: np.ndarray) -> tuple[Vector, ...]:
    return tuple(Vector(*row) for row in rows.tolist())


def matrices(blocks: np.ndarray) -> tuple[Matrix, ...]:
    return tuple(Matrix(*vectors(block)) for block in blocks)


def cleaned(products: np.ndarray, noise: float = 1e-13) -> np.ndarray:
    """Return inner products (n, n, ...) without those that are rounding errors relative to the two lengths."""
    size = np.abs(products).reshape(*products.shape[:2], -1).max(axis=-1, initial=0.0)
    length = np.sqrt(np.diagonal(size))
    rounding = size <= noise * np.outer(length, length)
    return np.where(rounding.reshape(*rounding.shape, *[1] * (products.ndim - 2)), 0.0, products)


def modal_damping(masses: np.ndarray, stiffness: np.ndarray, ratios: np.ndarray) -> np.ndarray:
    """Return D for damping ratios of the modes, from the slowest on: M Phi (2 zeta omega) Phi^T M."""
    root = np.linalg.cholesky(masses)
    squares, turned = np.linalg.eigh(np.linalg.solve(root, np.linalg.solve(root, stiffness).T))
    weighted = root @ turned  # M Phi
    return (weighted * (2 * ratios * np.sqrt(np.maximum(squares, 0.0)))) @ weighted.T
