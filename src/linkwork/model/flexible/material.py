"""Material: the base class of descriptions of flexible links and of places along them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ModelError
from ..description import Placement
from ..element import Element, Rule
from .modes import ElasticModes


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

    def _fail(self, name: str, message: str, got: Any, expected: str, fix: str = "") -> None:
        where = f"{type(self).__name__}.{name}"
        raise ModelError(message, where=where, got=got, expected=expected, fix=fix)


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
