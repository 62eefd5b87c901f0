"""Modal: a flexible link given by the modes of a finite-element program and their integrals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..description import LinkInertia, Placement
from ..element import Fault, declare
from .material import Material, Nested, inertia_text, spatial_inertia
from .modes import ElasticModes, are_ratios, matrices, modal_damping, of_rows, require_numbers, vectors

if TYPE_CHECKING:
    from .station import Station

Numbers = Any  # nested tuples or an array
SAME = 1e-6  # relative: programs print products of modes with few digits


@dataclass(frozen=True, eq=False)
class Modal(Material):
    """A flexible link given by n modes in the frame of its root, as a finite-element program computed them.

    Mass and inertia at rest are those of the link itself. Integrals are over the mass of the undeformed link.

    Args:
        tip: origin of the tip's frame without deformation (3,), m; its axes are those of the root.
        shifts: displacement of the tip by each mode (n, 3).
        turns: rotation of the tip by each mode (n, 3).
        first: integrals of phi_j (n, 3).
        second: integrals of r phi_j^T (n, 3, 3).
        products: integrals of phi_j phi_k^T (n, n, 3, 3), whose traces are the modal masses.
        frequencies: of the clamped link (n,), Hz; or give ``stiffness``.
        stiffness: stiffness matrix (n, n).
        damping: damping ratio of each mode, or one number for all; default 0.

    Raises:
        ModelError: if values do not fit together.

    Example:
        >>> products = [[np.diag([0, 0.5, 0])]]
        >>> first, second = [[0, 0.4, 0]], [[[0, 0.3, 0], [0, 0, 0], [0, 0, 0]]]
        >>> linkwork.model.Modal([1, 0, 0], [[0, 1, 0]], [[0, 0, 1.4]], first, second, products, frequencies=[5]).length
        1.0
    """

    tip: Numbers = declare(Nested())
    shifts: Numbers = declare(Nested())
    turns: Numbers = declare(Nested())
    first: Numbers = declare(Nested())
    second: Numbers = declare(Nested())
    products: Numbers = declare(Nested())
    frequencies: Numbers = declare(Nested(unit="Hz"), ())
    stiffness: Numbers = declare(Nested(), ())
    damping: Any = declare(Nested(), 0.0)
    along = ""

    def __post_init__(self):
        self.convert()
        n = _size(self.shifts)
        if not n:
            self._fail("shifts", "there are no modes", None, "at least one, [[x, y, z], ...]")
        sizes: dict[str, tuple[int, ...]] = {
            "tip": (3,), "shifts": (n, 3), "turns": (n, 3), "first": (n, 3), "second": (n, 3, 3),
            "products": (n, n, 3, 3),
        }  # fmt: skip
        if _size(self.frequencies) and _size(self.stiffness):
            self._fail("frequencies", "given by `frequencies` and by `stiffness`", None, "one of them")
        if not _size(self.frequencies) and not _size(self.stiffness):
            fix = "the frequencies of the clamped link, in Hz, as the program prints them"
            self._fail("frequencies", "modes without stiffness", None, "frequencies: [...], or stiffness", fix)
        sizes |= {"frequencies": (n,)} if _size(self.frequencies) else {"stiffness": (n, n)}
        for name, size in sizes.items():
            require_numbers(getattr(self, name), size, f"Modal.{name}")
        if (np.asarray(self.frequencies, float) <= 0).any():
            self._fail("frequencies", "modes without stiffness", list(self.frequencies), "frequencies above zero")
        products, C, K = np.asarray(self.products, float), self._products, np.asarray(self.stiffness, float)
        if np.abs(products - C).max() > SAME * np.abs(C).max():
            self._fail("products", "products (j, k) and (k, j) differ", None, "that of (k, j) transposed")
        if np.linalg.eigvalsh(self._masses).min() <= 0:
            self._fail("products", "the modal masses are not positive", np.diagonal(self._masses).tolist(), "positive")
        if (
            _size(self.frequencies)
            and np.abs(self._masses - np.diag(np.diagonal(self._masses))).max() > SAME * np.abs(self._masses).max()
        ):
            fix = "give the stiffness matrix instead"
            self._fail("frequencies", "these modes are not orthogonal by mass, so frequencies do not determine "
                       "their stiffness", None, "products whose traces are zero for two modes", fix)  # fmt: skip
        even = not _size(self.stiffness) or np.abs(K - K.T).max() <= SAME * np.abs(K).max()
        if not even or np.linalg.eigvalsh(self._stiffness).min() <= 0:
            self._fail("stiffness", "modes without stiffness", K.tolist(), "a symmetric matrix, positive definite")
        if not are_ratios(self.damping, n):
            self._fail("damping", "these are not damping ratios", self.damping, f"one number, or {n}, not negative")
        with np.errstate(all="ignore"):
            if not np.isfinite(self.elastic.damping).all():
                self._fail("damping", "this damping overflows", self.damping, "SI units")

    def to_dict(self) -> dict[str, Any]:
        """Return the values as files write them.

        Returns:
            {"modal": values}.
        """
        return {"modal": super().to_dict()}

    @property
    def _products(self) -> np.ndarray:
        """The products, symmetric to the last digit."""
        C = np.asarray(self.products, float)
        return (C + C.transpose(1, 0, 3, 2)) / 2

    @property
    def _masses(self) -> np.ndarray:
        return np.einsum("jkcc->jk", self._products)

    @property
    def _stiffness(self) -> np.ndarray:
        if _size(self.stiffness):
            K = np.asarray(self.stiffness, float)
            return (K + K.T) / 2
        return np.diag((2 * np.pi * np.asarray(self.frequencies, float)) ** 2 * np.diagonal(self._masses))

    @property
    def length(self) -> float:
        """Distance from the root to the tip, m."""
        return float(np.linalg.norm(self.tip))

    def line(self, s: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return points of the deformed axis, to draw it.

        The data has only the tip, so it is a cubic from the root to the displacement and rotation of the tip.

        Args:
            s: places x / length (points,).
            d: coordinates of the modes (modes,), m or rad.

        Returns:
            Points in the frame of the root (points, 3), m.
        """
        tip = np.asarray(self.tip, float)
        shift, turn = (d @ np.asarray(each, float) for each in (self.shifts, self.turns))
        s = s[:, None]
        return s * tip + s**2 * (3 - 2 * s) * shift + s**2 * (s - 1) * np.cross(turn, tip)

    def check(self, link: str, inertia: LinkInertia, root: Placement) -> Iterator[Fault]:
        # the link without what its modes move, I - P m^-1 P^T, must be an inertia again
        second = np.asarray(self.second, float)
        turns = second[:, [1, 2, 0], [2, 0, 1]] - second[:, [2, 0, 1], [1, 2, 0]]
        P = np.hstack([np.asarray(self.first, float), turns])
        whole = spatial_inertia(inertia.placed(root.inverse()))
        unit = np.repeat([1.0, 1 / (self.length or 1.0)], 3)  # so that all entries are masses
        rest = (whole - P.T @ np.linalg.solve(self.elastic.masses, P)) * np.outer(unit, unit)
        if np.linalg.eigvalsh(rest)[0] < -SAME * np.abs(whole * np.outer(unit, unit)).max():
            message = (
                f"its modes move more mass than link {link!r} has, {inertia_text(inertia)}: the inertia matrix may be"
                " indefinite"
            )
            fix = (
                "give the link its whole mass and inertia at rest, since modal data add none; or check `first`,"
                " `second` and `products`"
            )
            yield Fault(message, fix, "warning")

    def require_place(self, place: Station) -> None:
        if place.at:
            place._fail("at", "a place along modal data is given by `tip`, `shifts` and `turns`", place.at, "no `at`")
        n = self.elastic.size
        for name, size in (("tip", (3,)), ("shifts", (n, 3)), ("turns", (n, 3))):
            require_numbers(getattr(place, name), size, f"Station.{name}")

    def motion_at(self, place: Station) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        tip, shifts, turns = (np.asarray(each, float) for each in (place.tip, place.shifts, place.turns))
        return tip, shifts, turns

    def undamped(self) -> Modal:
        """Return the same link without damping.

        Returns:
            The link.
        """
        return replace(self, damping=0.0)

    @cached_property
    def elastic(self) -> ElasticModes:
        n, K, C = _size(self.shifts), self._stiffness, self._products
        D = modal_damping(self._masses, K, np.broadcast_to(np.asarray(self.damping, float), (n,)))
        return ElasticModes(
            parts=tuple(f"mode{j + 1}" for j in range(n)),
            turning=(False,) * n,
            tip=vectors(np.asarray([self.tip], float))[0],
            shifts=vectors(np.asarray(self.shifts, float)),
            turns=vectors(np.asarray(self.turns, float)),
            S=vectors(np.asarray(self.first, float)),
            B=matrices(np.asarray(self.second, float)),
            C=tuple(map(matrices, C)),
            spins=vectors(np.zeros((n, 3))),
            section=of_rows(np.zeros((n, n))),
            stiffness=of_rows(K),
            damping=of_rows(D),
        )


def _size(value: Numbers) -> int:
    return len(np.atleast_1d(np.asarray(value, object)))
