"""Viscous friction: Fv v."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...scalar import Scalar
from ..element import number
from .law import FrictionLaw, Sliding


@dataclass(frozen=True)
class Viscous(FrictionLaw, name="viscous", formula="viscous, Fv v", jumps=False):
    viscous: Any = number(unit=("N m s", "N s/m"), parameter="FV")

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        return {"FV": sliding.v}
