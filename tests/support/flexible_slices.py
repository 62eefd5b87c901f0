"""Flexible links from their positions alone: every body and every slice of a beam is a cloud of points, each with its
place as a function of time. Forces follow by d'Alembert's principle, the sum of m (x'' - g) . dx/dq: no inertia
integral, no recursion, no velocity transform is used.

A path is its value, rate and second rate: arrays of shape (3, ...).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import mpmath
import numpy as np

SLICES = 40  # Gauss points along a beam


@lru_cache
def clamped_free(mode: int) -> tuple[float, float]:
    """beta L, and 1 - sigma of the textbook's cosh - cos - sigma (sinh - sin)."""
    with mpmath.workdps(40):
        b = mpmath.findroot(lambda x: mpmath.cos(x) + mpmath.sech(x), (mode - 0.5) * mpmath.pi)
        sigma = (mpmath.cosh(b) + mpmath.cos(b)) / (mpmath.sinh(b) + mpmath.sin(b))
        return float(b), float(1 - sigma)


def bending(mode: int, s: np.ndarray | float, order: int = 0) -> np.ndarray:
    """Exact mode of a clamped-free beam of length one, one at its tip; ``order``: which derivative."""
    b, rest = clamped_free(mode)

    def shape(s):
        flip = (-1.0) ** order
        waves = np.cos(b * s + order * np.pi / 2) - (1 - rest) * np.sin(b * s + order * np.pi / 2)
        return b**order * (flip * np.exp(-b * s) + rest * (np.exp(b * s) - flip * np.exp(-b * s)) / 2 - waves)

    return shape(np.asarray(s, float)) / (2.0 * (-1) ** (mode + 1))


def shaft(mode: int, s: np.ndarray | float, order: int = 0) -> np.ndarray:
    """Exact mode of a shaft or bar that is clamped at one end, one at its tip."""
    k = (mode - 0.5) * np.pi
    return k**order * np.sin(k * np.asarray(s, float) + order * np.pi / 2) * (-1) ** (mode + 1)


@dataclass
class Beam:
    """``modes``: (way, shape) with a way of y, z, twist or stretch, and a number (an exact mode) or the coefficients of
    a polynomial of s = x / length, the constant first."""

    length: float
    density: float
    area: float
    youngs: float
    shear: float
    moments: tuple[float, float]  # Iy, Iz
    modes: list[tuple[str, int | tuple[float, ...]]]
    polar: float = 0.0  # of the section, for its inertia about x
    torsion: float = 0.0  # its constant of torsion
    stiffening: bool = False

    def shape(self, j: int, s: np.ndarray | float, order: int = 0) -> np.ndarray:
        """Of mode j, derived by x."""
        way, what = self.modes[j]
        if isinstance(what, tuple):
            value = np.polynomial.Polynomial(what).deriv(order)(s)
        else:
            value = (bending if way in "yz" else shaft)(what, s, order)
        return value / self.length**order

    def ways(self, s: np.ndarray | float, order: int = 0) -> np.ndarray:
        """Displacement (..., mode, 3) of the axis at s."""
        result = np.zeros((*np.shape(s), len(self.modes), 3))
        for j, (way, _) in enumerate(self.modes):
            if way != "twist":
                result[..., j, {"stretch": 0, "y": 1, "z": 2}[way]] = self.shape(j, s, order)
        return result

    def twists(self, s: np.ndarray | float) -> np.ndarray:
        """Angle (..., mode) of the sections at s."""
        return np.stack([self.shape(j, s) * (way == "twist") for j, (way, _) in enumerate(self.modes)], axis=-1)

    def shortening(self, s: np.ndarray) -> np.ndarray:
        """G(x), (..., mode, mode): the integral of phi' . phi' from the root to s, of bending alone."""
        at, weights = gauss(0.0, 1.0, 24)
        slopes = self.ways(np.multiply.outer(s, at), 1)[..., 1:]
        sums = np.einsum("p,...pja,...pka->...jk", weights, slopes, slopes)
        return self.stiffening * self.length * np.asarray(s)[..., None, None] * sums

    def stiffness(self) -> np.ndarray:
        at, weights = gauss(0.0, 1.0, SLICES)
        K = np.zeros((len(self.modes),) * 2)
        rigid = {
            "y": (2, self.youngs * self.moments[1]),
            "z": (2, self.youngs * self.moments[0]),
            "twist": (1, self.shear * self.torsion),
            "stretch": (1, self.youngs * self.area),
        }
        for j, (way, _) in enumerate(self.modes):
            for k, (other, _) in enumerate(self.modes):
                if way == other:
                    order, value = rigid[way]
                    slopes = self.shape(j, at, order) * self.shape(k, at, order)
                    K[j, k] = value * self.length * weights @ slopes
        return K

    @cached_property
    def slices(self) -> tuple[np.ndarray, ...]:
        """s of each, its share of the length, phi, G and angle of twist."""
        at, weights = gauss(0.0, 1.0, SLICES)
        return at, weights, self.ways(at), self.shortening(at), self.twists(at)

    def axis(self, s: np.ndarray, phi: np.ndarray, G: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Paths (3, ..., 3) of points of the axis at s, in the root frame."""
        x = np.einsum("tj,...ja->t...a", d, phi)
        square = np.einsum("...jk,tj,uk->tu...", G, d, d)
        x[..., 0] -= np.stack([square[0, 0] / 2, square[0, 1], square[1, 1] + square[0, 2]])
        x[0, ..., 0] += s * self.length
        return x

    def points(self, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Masses (p), and paths of places in the root frame (3, p, 3). The inertia of sections is that of rings about
        the root frame's x, with points on x that take away their mass and their moments about y and z."""
        s, weights, phi, G, twist = self.slices
        each = self.density * self.length * weights
        masses, places = [each * self.area], [self.axis(s, phi, G, d)]
        if self.polar:
            still = np.zeros_like(places[0])
            still[0, :, 0] = s * self.length
            r, lever, turned = np.sqrt(self.polar / self.area), self.length / 7, d @ twist.T
            for spoke in r * np.array([[0, 1, 0], [0, 0, 1], [0, -1, 0], [0, 0, -1]]):
                ring = np.stack([rotation(np.eye(3)[0], turn) @ spoke for turn in turned.T], axis=1)
                masses.append(each * self.area / 4)
                places.append(still + ring)
            balance = each * self.polar / 2 / (2 * lever**2)
            for shift, mass in ((0.0, 2 * balance - each * self.area), (lever, -balance), (-lever, -balance)):
                masses.append(mass)
                places.append(still + shift * np.array([1.0, 0, 0]) * np.array([1.0, 0, 0])[:, None, None])
        return np.concatenate(masses), np.concatenate(places, axis=1)

    def frame(self, s: float, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Paths of the rotation and of the origin of the frame at s; 1 is the tip."""
        slopes = self.ways(s, 1)
        angles = np.stack([slopes[:, 1], -slopes[:, 2], self.twists(s)])
        R = np.stack([np.eye(3), np.zeros((3, 3)), np.zeros((3, 3))])
        for axis, along in zip(np.eye(3)[[2, 1, 0]], angles, strict=True):
            R = product(R, rotation(axis, d @ along))
        at = np.array(s)
        return R, self.axis(at, self.ways(s), self.shortening(at), d)


@dataclass
class Part:
    """Carried by ``parent`` (-1: the ground), placed there, then moved: "free", "turn" (about z) or a Beam. Or it is
    along the beam of another part, (its number, s). A cloud of point masses is fixed to where it ends."""

    parent: int
    motion: str | Beam | tuple[int, float]
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    translation: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rpy: np.ndarray = field(default_factory=lambda: np.zeros(3))  # of the rotation, for files
    masses: np.ndarray = field(default_factory=lambda: np.zeros(0))
    cloud: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))

    def inertia(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, centre, and inertia about it, of the cloud."""
        mass = self.masses.sum()
        center = self.masses @ self.cloud / mass
        away = self.cloud - center
        second = np.einsum("p,pi,pj->ij", self.masses, away, away)
        return mass, center, np.trace(second) * np.eye(3) - second


class Slices:
    """A tree of parts in a field of gravity."""

    def __init__(self, parts: list[Part], gravity: np.ndarray):
        self.parts, self.gravity = parts, gravity

    def paths(self, q, v, a) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
        """Masses (p), places (3, p, 3), and the frame at the end of each part."""
        frames, masses, places = [], [], []
        row, column, roots = 0, 0, {}
        still = np.stack([np.eye(3), np.zeros((3, 3)), np.zeros((3, 3))]), np.zeros((3, 3))
        for k, part in enumerate(self.parts):
            R, p = frames[part.parent] if part.parent >= 0 else still
            p, R = p + R @ part.translation, R @ part.rotation
            if part.motion == "free":
                (x, w), (xd, wd) = (v[column : column + 6].reshape(2, 3), a[column : column + 6].reshape(2, 3))
                turned, W = of_quaternion(q[row + 3 : row + 7]), cross(w)
                own = np.stack([turned, turned @ W, turned @ (cross(wd) + W @ W)])
                shift = np.stack([q[row : row + 3], turned @ x, turned @ (xd + np.cross(w, x))])
                row, column = row + 7, column + 6
            elif part.motion == "turn":
                own, shift = rotation(np.array([0, 0, 1.0]), np.array([q[row], v[column], a[column]])), np.zeros((3, 3))
                row, column = row + 1, column + 1
            elif isinstance(part.motion, tuple):
                along, s = part.motion
                R, p, beam, d = roots[along]
                own, shift = beam.frame(s, d)
            else:
                assert isinstance(part.motion, Beam)
                n = len(part.motion.modes)
                d = np.stack([q[row : row + n], v[column : column + n], a[column : column + n]])
                own_masses, own_places = part.motion.points(d)
                masses.append(own_masses)
                places.append(p[:, None] + moved(R, own_places))
                own, shift = part.motion.frame(1.0, d)
                roots[k] = R, p, part.motion, d
                row, column = row + n, column + n
            p, R = p + product(R, shift), product(R, own)
            frames.append((R, p))
            masses.append(part.masses)
            places.append(p[:, None] + np.einsum("tab,pb->tpa", R, part.cloud))
        return np.concatenate(masses), np.concatenate(places, axis=1), frames

    def jacobian(self, q, nv: int) -> np.ndarray:
        """(nv, p, 3)."""
        return np.stack([self.paths(q, e, np.zeros(nv))[1][1] for e in np.eye(nv)])

    def inertia_matrix(self, q, nv: int) -> np.ndarray:
        J, masses = self.jacobian(q, nv), self.paths(q, np.zeros(nv), np.zeros(nv))[0]
        return np.einsum("p,ipa,jpa->ij", masses, J, J)

    def elastic(self, nv: int) -> np.ndarray:
        """Stiffness (nv, nv) of all beams, placed where their modes are."""
        K, column = np.zeros((nv, nv)), 0
        for part in self.parts:
            n = {"free": 6, "turn": 1}.get(part.motion, 0) if isinstance(part.motion, str) else 0
            if isinstance(part.motion, Beam):
                n = len(part.motion.modes)
                K[column : column + n, column : column + n] = part.motion.stiffness()
            column += n
        return K

    def inverse_dynamics(self, q, v, a) -> np.ndarray:
        masses, x, _ = self.paths(q, v, a)
        forces = np.einsum("p,pa,ipa->i", masses, x[2] - self.gravity, self.jacobian(q, len(v)))
        straight = q if len(q) == len(v) else np.concatenate([np.zeros(6), q[7:]])  # of a free base nothing is elastic
        return forces + self.elastic(len(v)) @ straight

    def kinetic_energy(self, q, v) -> float:
        masses, x, _ = self.paths(q, v, np.zeros(len(v)))
        return float(masses @ (x[1] ** 2).sum(axis=1) / 2)


def gauss(begin: float, end: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    at, weights = np.polynomial.legendre.leggauss(count)
    return (begin + end) / 2 + (end - begin) / 2 * at, (end - begin) / 2 * weights


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Of paths of matrices, or of a matrix and a vector."""
    return np.stack([A[0] @ B[0], A[1] @ B[0] + A[0] @ B[1], A[2] @ B[0] + 2 * A[1] @ B[1] + A[0] @ B[2]])


def moved(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A path of a rotation times paths of points (3, p, 3)."""
    return product(R, x.swapaxes(1, 2)).swapaxes(1, 2)


def cross(u: np.ndarray) -> np.ndarray:
    x, y, z = u
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rotation(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Path of a turn about a fixed axis."""
    K = cross(axis)
    R = np.eye(3) + np.sin(angle[0]) * K + (1 - np.cos(angle[0])) * K @ K
    return np.stack([R, angle[1] * R @ K, angle[2] * R @ K + angle[1] ** 2 * R @ K @ K])


def of_quaternion(quaternion: np.ndarray) -> np.ndarray:
    *u, w = quaternion / np.linalg.norm(quaternion)
    return np.eye(3) + 2 * w * cross(np.array(u)) + 2 * cross(np.array(u)) @ cross(np.array(u))
