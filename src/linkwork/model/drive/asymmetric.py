"""Friction that differs between the two ways a joint can move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...scalar import Scalar, sign
from ..element import number
from .law import FrictionLaw, Sliding

FORMULA = "asymmetric, Fs+ sign(v) + Fv+ v forward and Fs- sign(v) + Fv- v backward"


@dataclass(frozen=True)
class Asymmetric(FrictionLaw, name="asymmetric", formula=FORMULA):
    """Fs+ sign(v) + Fv+ v where v > 0, Fs- sign(v) + Fv- v where v < 0; all four are positive where friction brakes."""

    coulomb_forward: Any = number(0.0, unit=("N m", "N"), parameter="FSP")
    coulomb_backward: Any = number(0.0, unit=("N m", "N"), parameter="FSN")
    viscous_forward: Any = number(0.0, unit=("N m s", "N s/m"), parameter="FVP")
    viscous_backward: Any = number(0.0, unit=("N m s", "N s/m"), parameter="FVN")

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        forward, sense, v = _forward(sliding), sliding.sense, sliding.v
        ahead, swift = forward * sense, forward * v
        return {"FSP": ahead, "FSN": sense - ahead, "FVP": swift, "FVN": v - swift}


def _forward(sliding: Sliding) -> Scalar:
    """One where v > 0, else zero."""
    way = sign(sliding.v)
    return 0.5 * (way + way * way)
