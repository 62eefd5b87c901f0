"""Gears and racks: joints whose positions keep a sum, whichever joints they are.

(1)  sum of ratio * position = offset,   sum of ratio * velocity = 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .loop_kind import LoopKind


@dataclass(frozen=True)
class Gear(LoopKind):
    """``tied``: entries of velocities by name, with their ratios."""

    tied: tuple[tuple[str, float], ...]
    offset: float = 0.0
    name: str = "gear"

    @property
    def rows(self) -> tuple[str, ...]:
        return ("sum",)

    @property
    def ratios(self) -> tuple[tuple[str, float], ...]:
        return self.tied

    def told(self) -> dict[str, Any]:
        return {"ratios": dict(self.tied), "offset": self.offset}
