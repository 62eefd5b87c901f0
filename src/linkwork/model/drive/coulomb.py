"""Coulomb friction: Fs sign(v)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...scalar import Scalar
from ..element import number
from .law import FrictionLaw, Sliding


@dataclass(frozen=True)
class Coulomb(FrictionLaw, name="coulomb", formula="Coulomb, Fs sign(v)"):
    coulomb: Any = number(unit=("N m", "N"), parameter="FS")

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        return {"FS": sliding.sense}
