"""Friction that differs between the two ways a joint can move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...scalar import Scalar, sign
from .law import FrictionLaw, Sliding

ELEMENTS = {
    "FSP": "coulomb_forward", "FSN": "coulomb_backward", "FVP": "viscous_forward", "FVN": "viscous_backward",
}  # fmt: skip
FORMULA = "asymmetric, Fs+ sign(v) + Fv+ v forward and Fs- sign(v) + Fv- v backward"


@dataclass(frozen=True)
class Asymmetric(FrictionLaw, name="asymmetric", elements=ELEMENTS, formula=FORMULA):
    """Fs+ sign(v) + Fv+ v where v > 0, Fs- sign(v) + Fv- v where v < 0; all four are positive where friction brakes."""

    coulomb_forward: Any = 0.0
    coulomb_backward: Any = 0.0
    viscous_forward: Any = 0.0
    viscous_backward: Any = 0.0

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        forward, sense, v = _forward(sliding), sliding.sense, sliding.v
        ahead, swift = forward * sense, forward * v
        return {"FSP": ahead, "FSN": sense - ahead, "FVP": swift, "FVN": v - swift}


def _forward(sliding: Sliding) -> Scalar:
    """One where v > 0, else zero."""
    way = sign(sliding.v)
    return 0.5 * (way + way * way)
