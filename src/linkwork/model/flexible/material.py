"""Material: what is common to the descriptions of flexible links and of places along them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from ...errors import ModelError
from ..description import Placement
from .modes import ElasticModes


class Material:
    """The base of Beam, Modal and Station, each a dataclass with ``elastic``, its modes at the tip or the place."""

    along: str  # the joint whose coordinates move it; empty at the tip, which has its own

    @property
    def elastic(self) -> ElasticModes:
        raise NotImplementedError

    @property
    def tip_placement(self) -> Placement:
        """Where the straight tip is in the frame of the root."""
        return Placement(np.eye(3), np.array(list(self.elastic.tip), float))

    def to_dict(self) -> dict[str, Any]:
        """What a robot file says under `flexible`."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "material"}  # pyright: ignore[reportArgumentType]
        plain = {name: _plain(value) for name, value in values.items()}
        return {name: value for name, value in plain.items() if value not in ({}, [], 0.0, False)}

    def _fail(self, name: str, message: str, got: Any, expected: str, fix: str = "") -> None:
        where = f"{type(self).__name__.lower()}.{name}"
        raise ModelError(message, where=where, got=got, expected=expected, fix=fix)


def _plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return {key: _plain(x) for key, x in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_plain(x) for x in value] if isinstance(value, (tuple, list)) else value
