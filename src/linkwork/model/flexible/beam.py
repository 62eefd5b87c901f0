"""Beam: a slender flexible link, given by its material and its cross section."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..description import LinkInertia, Placement
from ..element import HUGE, Fault, Number, Whole, declare, number, positive
from .material import Flag, Material, Nested, Parts
from .modes import ElasticModes, are_ratios, cleaned, matrices, modal_damping, of_rows, vectors
from .shapes import Shape, bending, gauss, polynomial, twisting

if TYPE_CHECKING:
    from .station import Station

FAMILIES = ("y", "z", "twist", "stretch")
ACROSS = {"y": "z", "z": "y"}  # bending along y is resisted by the moment about z, the integral of y^2
MOST_MODES = 30  # of a family
MOST_PRODUCTS = 8  # most modes of a plane with stiffening, which needs a product for each pair
CLAMPED = 1e-9  # of a polynomial's largest coefficient
DEPENDENT = 1e12  # condition number of the shapes' inner products
SLENDER = 10.0  # ratio of length to depth below which shear and rotary inertia matter, which are not modelled
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Beam(Material):
    """A slender link along x, clamped at its root, that bends, twists and stretches. SI units.

    Its modes are exact modes of a clamped-free Euler-Bernoulli beam, or polynomials.

    Args:
        length: from the root to the tip, m.
        density: kg/m^3.
        area: of the cross section, m^2.
        youngs: Young's modulus, Pa; required for bending and stretching.
        shear: shear modulus, Pa; required for twisting.
        moments: second moments of area, m^4: {"y": int z^2 dA, "z": int y^2 dA}. That about z resists bending along y.
        modes: how many exact modes of each family, {"y", "z", "twist", "stretch"}, or one number for each plane that
            has a moment.
        shapes: polynomials in s = x / length instead of ``modes``, as {"y": [[0, 0, 3, -1], ...]}.
        damping: damping ratio of each mode, or one number for all; default 0.
        polar: polar moment of area, int y^2 + z^2 dA, m^4; default: the sum of the moments.
        torsion: the constant J of the torsional stiffness G J, m^4; default: ``polar``, as for a round section.
        stiffening: whether bending shortens the beam by half the integral of the squared slope, so that it gets stiffer
            under tension; default False.

    Raises:
        ModelError: if a value is out of range, or the modes have no stiffness.

    Example:
        >>> moments = {"z": 8.3e-10}
        >>> beam = linkwork.model.Beam(0.5, density=2710, area=1e-4, youngs=7.1e10, moments=moments, modes=2)
        >>> beam.elastic.parts
        ('y1', 'y2')
    """

    length: float = positive(unit="m", what="a number, in m")
    density: float = positive(unit="kg/m^3", what="a number, in kg/m^3")
    area: float = positive(unit="m^2", what="a number, in m^2")
    youngs: float = number(0.0, unit="Pa", least=0)
    shear: float = number(0.0, unit="Pa", least=0)
    moments: Mapping[str, float] = declare(Parts(names=tuple(ACROSS), part=Number(least=0, open=True), unit="m^4"), {})
    modes: Mapping[str, int] = declare(Parts(names=FAMILIES, part=Whole(least=0, most=MOST_MODES)), {})
    shapes: Mapping[str, Sequence[Sequence[float]]] = declare(Parts(names=FAMILIES, part=Nested()), {})
    damping: float | tuple[float, ...] = declare(Nested(), 0.0)
    polar: float = number(0.0, unit="m^4", least=0)
    torsion: float = number(0.0, unit="m^4", least=0)
    stiffening: bool = declare(Flag(), False)
    along = ""

    def __post_init__(self):
        if isinstance(self.modes, (int, np.integer)) and isinstance(self.moments, Mapping):
            each = int(self.modes)
            object.__setattr__(self, "modes", {name: each for name in ACROSS if ACROSS[name] in self.moments})
        self.convert()
        for family, shapes in self.shapes.items():
            for shape in shapes if isinstance(shapes, (Sequence, np.ndarray)) else (shapes,):
                self._require_clamped(family, shape)
        fix = "modes: 2 has two exact modes in each plane that has a moment; shapes are polynomials"
        if self.shapes and self.modes:
            self._fail("shapes", "given by `modes` and by `shapes`", None, "one of them", "keep one of them")
        if not self._names:
            self._fail("modes", "the beam has no modes", dict(self.modes), "at least one", fix)
        for family in dict.fromkeys(name for name, _ in self._names):
            self._require_stiffness(family)
        if not are_ratios(self.damping, len(self._names)):
            expected = f"a ratio that is not negative, or {len(self._names)}: one for each mode"
            self._fail("damping", "these are not damping ratios", self.damping, expected)
        most = max((len(shapes) for name, shapes in self._families.items() if name in ACROSS), default=0)
        if self.stiffening and most > MOST_PRODUCTS:
            fix = "leave out the high ones, which hardly stiffen"
            self._fail("modes", "too many modes for `stiffening`", most, f"{MOST_PRODUCTS} in a plane at most", fix)
        with np.errstate(all="ignore"):
            lengths = np.sqrt(np.diagonal(self._masses))
            angles = self._masses / np.outer(lengths, lengths)
            if not (np.isfinite(angles).all() and np.isfinite(self._stiffness).all()):
                self._fail("length", "its masses or stiffnesses overflow", None, "SI units")
            if np.linalg.cond(angles) > DEPENDENT:
                fix = "leave one out"
                self._fail("shapes", "these shapes are not independent", None, "no one a sum of others", fix)
            if not np.isfinite(self.elastic.damping).all():
                self._fail("damping", "this damping overflows", self.damping, "ratios far below one")

    def __reduce__(self) -> Any:
        """The fields alone: shape functions cannot be pickled and are made again."""
        return Beam, tuple(getattr(self, each.name) for each in fields(self))

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
            self._fail("shapes", "this shape is not a polynomial", shape, f"{expected}, coefficients of 1, s, s^2, ...")
        if np.abs(c[:order]).max() > CLAMPED * most:
            expected = f"a polynomial that is 0 at s = 0{', and its slope too' * (order == 2)}"
            self._fail("shapes", "this shape is not clamped at the root", list(shape), expected)
        if not abs(c.sum()) > CLAMPED * most:
            fix = "add s^2 (or another shape) to it, which does not change the space of the shapes"
            self._fail("shapes", "this shape does not move the tip, where modes are normalised", list(shape), "", fix)

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
        """Return the displacements of points of the axis by each mode.

        Args:
            s: places x / length (points,).

        Returns:
            Displacements per coordinate (modes, points, 3).
        """
        shifts = np.zeros((len(self._names), len(s), 3))
        for row, (name, j) in zip(shifts, self._names, strict=True):
            if name != "twist":
                row[:, ("stretch", "y", "z").index(name)] = self._families[name][j](s)[0]
        return shifts

    def turns(self, s: np.ndarray) -> np.ndarray:
        """Return the rotations of the sections by each mode.

        Args:
            s: places x / length (points,).

        Returns:
            Twist, -du_z/dx and du_y/dx per coordinate (modes, points, 3).
        """
        angles = np.zeros((len(self._names), len(s), 3))
        for row, (name, j) in zip(angles, self._names, strict=True):
            value, slope, _ = self._families[name][j](s)
            if name == "twist":
                row[:, 0] = value
            elif name in ACROSS:
                row[:, 2 if name == "y" else 1] = (slope if name == "y" else -slope) / self.length
        return angles

    def _shortening(self, s: np.ndarray) -> np.ndarray:
        """Return G(x) = int_0^x of the products of slopes: (modes, modes, points)."""
        points, weights = gauss()
        slopes = self.turns((s[:, None] * points).ravel())[:, :, 1:].reshape(len(self._names), len(s), len(points), 2)
        return np.einsum("jpnc,kpnc,n,p->jkp", slopes, slopes, weights, s * self.length)

    def line(self, s: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return points of the deformed axis.

        Args:
            s: places x / length (points,).
            d: coordinates of the modes (modes,), m or rad.

        Returns:
            Points in the frame of the root (points, 3), m.
        """
        points = np.einsum("j,jpc->pc", d, self.displacements(s))
        points[:, 0] += self.length * s
        if self.stiffening:
            points[:, 0] -= 0.5 * np.einsum("j,k,jkp->p", d, d, self._shortening(s))
        return points

    # -- integrals ----------------------------------------------------------------------------------------------------

    @property
    def mass(self) -> float:
        """Mass of the beam, kg."""
        return self.density * self.area * self.length

    @property
    def around(self) -> float:
        """Moment of inertia of all sections about x, kg m^2."""
        return self.density * self.length * self._polar

    @property
    def _polar(self) -> float:
        return self.polar or sum(self.moments.values())

    @property
    def inertia(self) -> LinkInertia:
        """Inertia of the undeformed beam in the frame of its root; of its sections, only that about x."""
        across = self.mass * self.length**2 / 12
        return LinkInertia(self.mass, np.array([0.5 * self.length, 0.0, 0.0]), np.diag([self.around, across, across]))

    @cached_property
    def _masses(self) -> np.ndarray:
        """Mass matrix of the modes, with rotations of the sections."""
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
            strains = np.array([shape(points)[2 if name in ACROSS else 1] for shape in shapes]).reshape(-1, len(points))
            end = start + len(shapes)
            K[start:end, start:end] = rigid * np.einsum("jp,kp,p->jk", strains, strains, weights)
            start = end
        return cleaned(K)

    @cached_property
    def _products(self) -> list[tuple[int, int]]:
        """Pairs of modes that together shorten the beam."""
        shortened = self._shortening(np.ones(1))[:, :, 0] if self.stiffening else np.zeros((0, 0))
        return [(j, k) for j in range(len(shortened)) for k in range(j, len(shortened)) if shortened[j, k]]

    def _shapes(self, s: np.ndarray) -> np.ndarray:
        """Return the displacements by all amplitudes, modes before products: (amplitudes, points, 3)."""
        shortened = np.zeros((len(self._products), len(s), 3))
        if self._products:
            j, k = np.array(self._products).T
            shortened[:, :, 0] = -np.where(j == k, 0.5, 1.0)[:, None] * self._shortening(s)[j, k]
        return np.concatenate([self.displacements(s), shortened])

    def shapes_at(self, s: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the displacement by the amplitudes and the rotation by the modes at one point.

        Args:
            s: place x / length.

        Returns:
            Displacements (amplitudes, 3) and rotations (modes, 3).
        """
        return self._shapes(np.array([s]))[:, 0], self.turns(np.array([s]))[:, 0]

    def check(self, link: str, inertia: LinkInertia, root: Placement) -> Iterator[Fault]:
        del root
        if inertia.mass < (1 - ROUNDING) * self.mass:
            message = f"its beam weighs {self.mass:.6g} kg, more than link {link!r} with {inertia.mass:.6g} kg"
            yield Fault(message, "the inertia of the straight beam is part of that of the link", "warning")
        for name in ("y", "z"):
            if name in self.modes or name in self.shapes:
                depth = math.sqrt(12 * self.moments[ACROSS[name]] / self.area)
                if self.length < SLENDER * depth:
                    message = (
                        f"along {name} it is {depth:.3g} m deep and {self.length:.3g} m long: the sections of so short"
                        " a beam shear and rotate, which is not modelled"
                    )
                    yield Fault(message, "check its moments (m^4), or give modes of a finer model", "warning")

    def require_place(self, place: Station) -> None:
        if any(np.asarray(each, object).size for each in (place.tip, place.shifts, place.turns)):
            place._fail("at", "a place along a beam is given by `at` alone", None, "no tip, shifts and turns")
        if not 0 < place.at <= 1:
            place._fail("at", "not a place on the beam", place.at, "a fraction of the length, above 0, at most 1")

    def motion_at(self, place: Station) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.array([place.at * self.length, 0.0, 0.0]), *self.shapes_at(place.at)

    def undamped(self) -> Beam:
        """Return the same beam without damping.

        Returns:
            The beam.
        """
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
            at = slice(start, start := start + len(shapes))
            if shapes:
                D[at, at] = modal_damping(self._masses[at, at], self._stiffness[at, at], ratios[at])
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
