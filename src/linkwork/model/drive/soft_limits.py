"""Stops at the ends of the joints' ranges, soft enough to be integrated."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import ModelError, at_door
from ...scalar import Scalar, positive_part, sign


@dataclass(frozen=True)
class SoftLimits:
    """At depth d > 0 beyond a limit, the stop pushes back with max(0, k d + c d'), of every joint that has limits.

    stiffness  k, N m/rad (N/m of a joint that slides)
    damping    c, N m s/rad (N s/m). It acts at full strength from the first touch on
    """

    stiffness: float
    damping: float = 0.0

    def __post_init__(self):
        for name, least in (("stiffness", "positive"), ("damping", "zero or more")):
            value = getattr(self, name)
            if not (math.isfinite(value) and (value > 0 or (value == 0 and name == "damping"))):
                where = at_door(f"SoftLimits.{name}", "--limits")
                raise ModelError("out of range", where=where, got=value, expected=f"a number, {least}")

    def force(self, lower: float, upper: float, q: Scalar, v: Scalar) -> Scalar:
        """What the stops take from the joint's force."""
        above = self._push(q - upper, v) if math.isfinite(upper) else 0
        below = self._push(lower - q, -v) if math.isfinite(lower) else 0
        return above - below

    def _push(self, depth: Scalar, rate: Scalar) -> Scalar:
        return positive_part(sign(depth)) * positive_part(self.stiffness * depth + self.damping * rate)
