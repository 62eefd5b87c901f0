"""Coulomb friction: Fs sign(v)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...scalar import Scalar
from .law import FrictionLaw, Sliding


@dataclass(frozen=True)
class Coulomb(FrictionLaw, name="coulomb", elements={"FS": "coulomb"}, formula="Coulomb, Fs sign(v)"):
    coulomb: Any

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        return {"FS": sliding.sense}
