"""JointValues: what a joint has of its own, beside where it stands and how it moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from .drive import Drive


@dataclass(frozen=True, eq=False, kw_only=True)
class JointValues(Drive):
    """Limits, drive, friction, spring. Described and built joints share these fields."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity_limit: float = math.inf
    effort_limit: float = math.inf
    role: str = "active"  # a motor drives it; "passive": nothing does; "elastic": its own spring alone
    weight: float = 1.0  # where motors share the work, the sum of weight * force^2 is least

    def values(self) -> dict[str, Any]:
        """The fields by name, to make another joint with."""
        return {each.name: getattr(self, each.name) for each in fields(JointValues)}
