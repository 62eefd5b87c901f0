"""A force that is always there, whichever way the joint moves: of a cable, of an amplifier that is not adjusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...scalar import Scalar
from ..element import number
from .law import FrictionLaw, Sliding


@dataclass(frozen=True)
class Offset(FrictionLaw, name="offset", formula="offset, F0", jumps=False, brakes=False):
    """F0: what the joint's force is larger by."""

    offset: Any = number(unit=("N m", "N"), parameter="F0")

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        return {"F0": 1}
