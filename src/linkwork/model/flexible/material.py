"""Material: the base class of descriptions of flexible links and of places along them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ModelError
from ..description import LinkInertia, Placement
from ..element import Element, Fault, Rule
from ..pseudo_inertia import moments_text
from .modes import ElasticModes

if TYPE_CHECKING:
    from .station import Station


class Material(Element):
    """The base of Beam, Modal and Station: elements with ``elastic``, their modes at the tip or at a place."""

    along: str  # the joint whose coordinates move it; empty at the tip, which has its own

    @property
    def elastic(self) -> ElasticModes:
        """Its modes, with their integrals, stiffness and damping."""
        raise NotImplementedError

    @property
    def tip_placement(self) -> Placement:
        """Placement of the undeformed tip in the frame of the root."""
        return Placement(np.eye(3), np.array(list(self.elastic.tip), float))

    @property
    def inertia(self) -> LinkInertia | None:
        """Its inertia in the frame of the root, a part of that of the link; None: the link's inertia has all of it."""
        return None

    def check(self, link: str, inertia: LinkInertia, root: Placement) -> Iterator[Fault]:
        """Check it against the link that it is part of.

        Args:
            link: name of the link.
            inertia: of the whole link, at rest, in the link's frame.
            root: placement of its root in the link's frame.

        Returns:
            What is wrong.
        """
        raise NotImplementedError

    def require_place(self, place: Station) -> None:
        """Check the values that give a place along it.

        Args:
            place: the place.

        Raises:
            ModelError: if they do not fit this material.
        """
        raise NotImplementedError

    def motion_at(self, place: Station) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how its modes move a place.

        Args:
            place: the place.

        Returns:
            Origin of the place without deformation (3,), m; displacements by the amplitudes (amplitudes, 3); rotations
            by the modes (modes, 3).
        """
        raise NotImplementedError

    def _fail(self, name: str, message: str, got: Any, expected: str, fix: str = "") -> None:
        where = f"{type(self).__name__}.{name}"
        raise ModelError(message, where=where, got=got, expected=expected, fix=fix)


def spatial_inertia(body: LinkInertia) -> np.ndarray:
    """Return the spatial inertia (6, 6): linear velocity of the frame's origin, then angular velocity."""
    (x, y, z), matrix = body.first_moment, np.zeros((6, 6))
    matrix[:3, :3], matrix[3:, 3:] = body.mass * np.eye(3), body.about_origin
    matrix[3:, :3] = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix[:3, 3:] = matrix[3:, :3].T
    return matrix


def inertia_text(body: LinkInertia) -> str:
    """Return mass, centre of mass and principal moments in words."""
    center = ", ".join(f"{x:.4g}" for x in body.center)
    return f"{body.mass:.6g} kg at ({center}) m, principal moments {moments_text(np.linalg.eigvalsh(body.central))}"


class Nested(Rule):
    """Numbers in nested lists, or an array; their number and size are checked with the modes."""

    @property
    def expected(self) -> str:
        return "lists of numbers"

    def convert(self, value: Any) -> Any:
        return () if isinstance(value, list | tuple) and not len(value) else value

    def plain(self, value: Any) -> Any:
        if hasattr(value, "tolist"):
            return value.tolist()
        return [self.plain(x) for x in value] if isinstance(value, tuple | list) else value


class Flag(Rule):
    """True or false."""

    @property
    def expected(self) -> str:
        return "true or false"

    def convert(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise TypeError
        return value


@dataclass(frozen=True, kw_only=True)
class Parts(Rule):
    """Values by some of the ``names``, each with the rule ``part``."""

    names: tuple[str, ...]
    part: Rule

    @property
    def expected(self) -> str:
        return f"a mapping of {', '.join(self.names)} to {self.part.expected}"

    def convert(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise TypeError
        return {name: self.part.convert(x) for name, x in value.items()}

    def allows(self, value: dict[str, Any]) -> bool:
        return {*value} <= {*self.names} and all(map(self.part.allows, value.values()))

    def plain(self, value: dict[str, Any]) -> dict[str, Any]:
        return {name: self.part.plain(x) for name, x in value.items()}
