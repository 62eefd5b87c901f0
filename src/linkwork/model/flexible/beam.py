"""Beam: a slender link that bends, twists and stretches, from its material and its cross section."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..description import LinkInertia
from .material import Material
from .modes import HUGE, ElasticModes, are_ratios, cleaned, matrices, modal_damping, of_rows, vectors
from .shapes import Shape, bending, gauss, polynomial, twisting

FAMILIES = ("y", "z", "twist", "stretch")
ACROSS = {"y": "z", "z": "y"}  # bending along y is resisted by the moment about z, the integral of y^2
BELOW = f" and below {HUGE:g}"
MOST_MODES = 30  # of a family
MOST_PRODUCTS = 8  # modes of a plane whose products stiffen: they are many
CLAMPED = 1e-9  # of a polynomial's largest coefficient
DEPENDENT = 1e12  # condition of the shapes' inner products


@dataclass(frozen=True, eq=False)
class Beam(Material):
    """Along x from its root, where it is clamped, to its tip. SI units.

    ``moments``: second moments of area, {"y": int z^2 dA, "z": int y^2 dA}; that about z resists bending along y.
    ``modes``: how many, of {"y", "z", "twist", "stretch"}, or one number for each plane that has a moment; exact modes
    of a clamped and free Euler-Bernoulli beam. ``shapes``: polynomials in s = x / length instead, as {"y": [[0, 0, 3,
    -1], ...]}. ``damping``: ratio of each mode, or one number for all. ``polar``: int y^2 + z^2 dA, which turns where
    the beam twists (the sum of the moments if it is not given); ``torsion``: the constant J of its stiffness G J
    (``polar``, as of a round section). ``stiffening``: bending takes the tip back by half the integral of the slope's
    square, so that a beam gets stiffer where it is pulled.
    """

    length: float
    density: float
    area: float
    youngs: float = 0.0
    shear: float = 0.0
    moments: Mapping[str, float] = field(default_factory=dict)
    modes: Mapping[str, int] = field(default_factory=dict)
    shapes: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    damping: float | tuple[float, ...] = 0.0
    polar: float = 0.0
    torsion: float = 0.0
    stiffening: bool = False
    along = ""

    def __post_init__(self):
        for name in ("length", "density", "area"):
            self._require(name, _is_number(getattr(self, name), above=0), f"a number above zero{BELOW}")
        for name in ("youngs", "shear", "polar", "torsion"):
            fits = _is_number(getattr(self, name)) and getattr(self, name) >= 0
            self._require(name, fits, f"a number that is not negative{BELOW}")
        self._require("moments", _parted(self.moments, ACROSS), "{y: ..., z: ...}, in m^4")
        expected = f"numbers above zero{BELOW}, in m^4"
        self._require("moments", all(_is_number(x, above=0) for x in self.moments.values()), expected)
        if isinstance(self.modes, (int, np.integer)):
            each = int(self.modes)
            object.__setattr__(self, "modes", {name: each for name in ACROSS if ACROSS[name] in self.moments})
        expected = f"whole numbers from 0 to {MOST_MODES}, of {', '.join(FAMILIES)}"
        self._require("modes", _parted(self.modes, FAMILIES), expected)
        fits = (isinstance(n, (int, np.integer)) and 0 <= n <= MOST_MODES for n in self.modes.values())
        self._require("modes", all(fits), expected)
        self._require("shapes", _parted(self.shapes, FAMILIES), f"polynomials of {', '.join(FAMILIES)}")
        self._require("stiffening", isinstance(self.stiffening, bool), "true or false")
        for family, shapes in self.shapes.items():
            for shape in shapes if isinstance(shapes, (Sequence, np.ndarray)) else (shapes,):
                self._require_clamped(family, shape)
        fix = "modes: 2 has two exact modes in each plane that has a moment; shapes are polynomials"
        if self.shapes and self.modes:
            self._fail("shapes", "given by `modes` and by `shapes`", None, "one of them", "keep one of them")
        if not self._names:
            self._fail("modes", "the beam has no modes", dict(self.modes), "one at least", fix)
        for family in dict.fromkeys(name for name, _ in self._names):
            self._require_stiffness(family)
        expected = f"a ratio that is not negative, or {len(self._names)}: one for each mode"
        self._require("damping", are_ratios(self.damping, len(self._names)), expected)
        most = max((len(shapes) for name, shapes in self._families.items() if name in ACROSS), default=0)
        if self.stiffening and most > MOST_PRODUCTS:
            fix = "leave out the high ones, which hardly stiffen"
            self._fail("modes", "too many modes for `stiffening`", most, f"{MOST_PRODUCTS} in a plane at most", fix)
        with np.errstate(all="ignore"):
            lengths = np.sqrt(np.diagonal(self._masses))
            angles = self._masses / np.outer(lengths, lengths)
            if not (np.isfinite(angles).all() and np.isfinite(self._stiffness).all()):
                self._fail("length", "its masses or stiffnesses are beyond all numbers", None, "SI units")
            if np.linalg.cond(angles) > DEPENDENT:
                fix = "leave one out"
                self._fail("shapes", "these shapes are not independent", None, "no one a sum of others", fix)
            self._require("damping", bool(np.isfinite(self.elastic.damping).all()), "ratios far below one")

    def __reduce__(self) -> Any:
        return Beam, tuple(getattr(self, each.name) for each in fields(self))  # its functions are made again

    def _require(self, name: str, fits: bool, expected: str) -> None:
        if not fits:
            value = getattr(self, name)
            self._fail(name, f"a beam cannot have this {name}", value, expected)

    def _require_stiffness(self, family: str) -> None:
        needs = {
            "y": ("moments", "moments: {z: ...}, the second moment of area about z, int y^2 dA"),
            "z": ("moments", "moments: {y: ...}, the second moment of area about y, int z^2 dA"),
            "twist": ("around", "polar: the polar moment of area, int y^2 + z^2 dA"),
        }
        modulus = "shear" if family == "twist" else "youngs"
        if not getattr(self, modulus):
            what = {"twist": "twists", "stretch": "stretches"}.get(family, "bends")
            message = f"modes without stiffness: the beam {what}, but its modulus is not given"
            self._fail(modulus, message, None, f"{modulus}: a modulus in Pa, 2.1e11 (youngs) or 8e10 (shear) of steel")
        name, what = needs.get(family, ("area", ""))
        if not (self.moments.get(ACROSS[family]) if family in ACROSS else getattr(self, name)):
            message = f"modes without stiffness: the section of the beam has no moment for modes of {family}"
            fix = f"give it, or leave out the modes of {family}"
            self._fail("polar" if name == "around" else name, message, None, what, fix)

    def _require_clamped(self, family: str, shape: Sequence[float]) -> None:
        try:
            c, order = np.asarray(shape, float), 2 if family in ACROSS else 1
        except ValueError:  # lists in lists
            c, order = np.zeros(0), 1
        most = np.abs(c).max(initial=0.0)
        if c.ndim != 1 or not 0 < len(c) <= MOST_MODES or not most < HUGE:
            expected = f"a list of at most {MOST_MODES} finite numbers"
            self._fail("shapes", "this shape is no polynomial", shape, f"{expected}, coefficients of 1, s, s^2, ...")
        if np.abs(c[:order]).max() > CLAMPED * most:
            held = "0 at s = 0, and its slope too" if order == 2 else "0 at s = 0"
            self._fail("shapes", "this shape is not clamped at the root", list(shape), f"a polynomial that is {held}")
        if not abs(c.sum()) > CLAMPED * most:
            fix = "add s^2 (or another shape) to it, which changes no motion that the shapes have together"
            self._fail("shapes", "this shape does not move the tip, by which modes are measured", list(shape), "", fix)

    # -- shapes -------------------------------------------------------------------------------------------------------

    @cached_property
    def _families(self) -> dict[str, list[Shape]]:
        if self.shapes:
            return {name: [polynomial(each) for each in self.shapes[name]] for name in FAMILIES if name in self.shapes}
        exact = {name: bending if name in ACROSS else twisting for name in FAMILIES}
        return {name: [exact[name](j + 1) for j in range(self.modes[name])] for name in FAMILIES if name in self.modes}

    @cached_property
    def _names(self) -> list[tuple[str, int]]:
        return [(name, j) for name, shapes in self._families.items() for j in range(len(shapes))]

    def displacements(self, s: np.ndarray) -> np.ndarray:
        """Of the points at s = x / length by each mode: (modes, points, 3)."""
        own = np.zeros((len(self._names), len(s), 3))
        for row, (name, j) in zip(own, self._names, strict=True):
            if name != "twist":
                row[:, ("stretch", "y", "z").index(name)] = self._families[name][j](s)[0]
        return own

    def turns(self, s: np.ndarray) -> np.ndarray:
        """Of the sections by each mode: (modes, points, 3), twist, -du_z/dx, du_y/dx."""
        own = np.zeros((len(self._names), len(s), 3))
        for row, (name, j) in zip(own, self._names, strict=True):
            value, slope, _ = self._families[name][j](s)
            if name == "twist":
                row[:, 0] = value
            elif name in ACROSS:
                row[:, 2 if name == "y" else 1] = (slope if name == "y" else -slope) / self.length
        return own

    def _shortening(self, s: np.ndarray) -> np.ndarray:
        """G(x) = int_0^x of the products of slopes: (modes, modes, points)."""
        points, weights = gauss()
        slopes = self.turns((s[:, None] * points).ravel())[:, :, 1:].reshape(len(self._names), len(s), len(points), 2)
        return np.einsum("jpnc,kpnc,n,p->jkp", slopes, slopes, weights, s * self.length)

    def line(self, s: np.ndarray, d: np.ndarray) -> np.ndarray:
        """The points at s while it is bent: (points, 3)."""
        points = np.einsum("j,jpc->pc", d, self.displacements(s))
        points[:, 0] += self.length * s
        if self.stiffening:
            points[:, 0] -= 0.5 * np.einsum("j,k,jkp->p", d, d, self._shortening(s))
        return points

    # -- integrals ----------------------------------------------------------------------------------------------------

    @property
    def mass(self) -> float:
        return self.density * self.area * self.length

    @property
    def around(self) -> float:
        """Moment of inertia of all sections about x."""
        return self.density * self.length * self._polar

    @property
    def _polar(self) -> float:
        return self.polar or sum(self.moments.values())

    @property
    def inertia(self) -> LinkInertia:
        """Of the straight beam in the frame of its root; of its sections, that about x."""
        across = self.mass * self.length**2 / 12
        return LinkInertia(self.mass, np.array([0.5 * self.length, 0.0, 0.0]), np.diag([self.around, across, across]))

    @cached_property
    def _masses(self) -> np.ndarray:
        """Inner products of the modes by mass, sections included."""
        points, weights = gauss()
        shifts, turns = self.displacements(points), self.turns(points)[:, :, 0]
        around = self.around * np.einsum("jp,kp,p->jk", turns, turns, weights)
        return cleaned(self.mass * np.einsum("jpc,kpc,p->jk", shifts, shifts, weights) + around)

    @cached_property
    def _stiffness(self) -> np.ndarray:
        points, weights = gauss()
        L, K = self.length, np.zeros((len(self._names),) * 2)
        start = 0
        for name, shapes in self._families.items():
            per = {"twist": self.shear * (self.torsion or self._polar) / L, "stretch": self.youngs * self.area / L}
            rigid = per[name] if name in per else self.youngs * self.moments[ACROSS[name]] / L**3
            bent = np.array([shape(points)[2 if name in ACROSS else 1] for shape in shapes]).reshape(-1, len(points))
            end = start + len(shapes)
            K[start:end, start:end] = rigid * np.einsum("jp,kp,p->jk", bent, bent, weights)
            start = end
        return cleaned(K)

    @cached_property
    def _products(self) -> list[tuple[int, int]]:
        """Pairs of modes that together shorten the beam."""
        shortened = self._shortening(np.ones(1))[:, :, 0] if self.stiffening else np.zeros((0, 0))
        return [(j, k) for j in range(len(shortened)) for k in range(j, len(shortened)) if shortened[j, k]]

    def _shapes(self, s: np.ndarray) -> np.ndarray:
        """Of all amplitudes, those of products after those of modes: (amplitudes, points, 3)."""
        taken = np.zeros((len(self._products), len(s), 3))
        if self._products:
            j, k = np.array(self._products).T
            taken[:, :, 0] = -np.where(j == k, 0.5, 1.0)[:, None] * self._shortening(s)[j, k]
        return np.concatenate([self.displacements(s), taken])

    def shapes_at(self, s: float) -> tuple[np.ndarray, np.ndarray]:
        """Shifts by the amplitudes and turns by the modes at one point: (amplitudes, 3) and (modes, 3)."""
        return self._shapes(np.array([s]))[:, 0], self.turns(np.array([s]))[:, 0]

    def undamped(self) -> Beam:
        return replace(self, damping=0.0)

    @cached_property
    def elastic(self) -> ElasticModes:
        points, weights = gauss()
        n, shifts, (tips, turns) = len(self._names), self._shapes(points), self.shapes_at(1.0)
        along = np.zeros((len(points), 3))
        along[:, 0] = self.length * points
        twists = self.turns(points)[:, :, 0]
        spins = np.zeros((n, 3))
        spins[:, 0] = self.around * twists @ weights
        ratios = np.broadcast_to(np.asarray(self.damping, float), (n,))
        D, start = np.zeros((n, n)), 0
        for shapes in self._families.values():
            own = slice(start, start := start + len(shapes))
            if shapes:
                D[own, own] = modal_damping(self._masses[own, own], self._stiffness[own, own], ratios[own])
        C = cleaned(self.mass * np.einsum("apc,bpd,p->abcd", shifts, shifts, weights))
        return ElasticModes(
            parts=tuple(f"{name}{j + 1}" for name, j in self._names),
            turning=tuple(name == "twist" for name, _ in self._names),
            tip=vectors(np.array([[self.length, 0.0, 0.0]]))[0],
            shifts=vectors(tips),
            turns=vectors(turns),
            S=vectors(self.mass * np.einsum("apc,p->ac", shifts, weights)),
            B=matrices(self.mass * np.einsum("pc,apd,p->acd", along, shifts, weights)),
            C=tuple(map(matrices, C)),
            spins=vectors(spins),
            section=of_rows(cleaned(self.around * np.einsum("jp,kp,p->jk", twists, twists, weights))),
            stiffness=of_rows(self._stiffness),
            damping=of_rows(cleaned(D)),
            products=tuple(self._products),
        )


def _is_number(value: Any, above: float = -HUGE) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and bool(above < value < HUGE)


def _parted(values: Any, names: Collection[str]) -> bool:
    """Is it a mapping by some of these names?"""
    return isinstance(values, Mapping) and {*values} <= {*names}
