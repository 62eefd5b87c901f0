"""Friction that is larger at slow motion, before a film of lubricant has built up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...scalar import Scalar, positive_part
from ..element import number
from .law import FrictionLaw, Sliding

FORMULA = "Stribeck, Fst sign(v) / (1 + (v / vs)^2)"


@dataclass(frozen=True)
class Stribeck(FrictionLaw, name="stribeck", formula=FORMULA):
    """Fst sign(v) / (1 + (v / vs)^2), beside Coulomb friction Fs, so that Fs + Fst is that of breaking away.

    Hess & Soom (1990), "Friction at a lubricated line contact operating at oscillating sliding velocities". Other
    authors have exp(-(v / vs)^2) there; both are fits of the same curves. This one is made of the arithmetic that every
    back end has, so it costs one division.

    excess    Fst: static less Coulomb friction
    velocity  vs, at which half of it is left
    """

    excess: Any = number(unit=("N m", "N"), parameter="FST")
    velocity: Any = number(unit=("rad/s", "m/s"), least=0, open=True)

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        return {"FST": sliding.sense * self._share(sliding)}

    def damping(self, sliding: Sliding) -> Scalar:
        return positive_part(self.slope(sliding))

    def _share(self, sliding: Sliding) -> Scalar:
        ratio = sliding.v * (1 / self.velocity)
        return 1 / (1 + ratio * ratio)
