"""JointValues: what a joint has of its own, beside where it stands and how it moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from .drive import Drive, Own


@dataclass(frozen=True, eq=False, kw_only=True)
class JointValues(Drive):
    """Limits, drive, friction, spring. Described and built joints share these fields."""

    fields = Drive.fields | {"K": "stiffness"}  # type: ignore[operator]

    lower: float = -math.inf
    upper: float = math.inf
    velocity_limit: float = math.inf
    effort_limit: float = math.inf
    stiffness: Any = 0.0
    rest: Any = 0.0
    role: str = "active"  # a motor drives it; "passive": nothing does; "elastic": its own spring alone
    weight: float = 1.0  # where motors share the work, the sum of weight * force^2 is least

    def values(self) -> dict[str, Any]:
        """The fields by name, to make another joint with."""
        return {each.name: getattr(self, each.name) for each in fields(JointValues)}

    def without_spring(self: Own) -> Own:
        return replace(self, stiffness=0.0)  # type: ignore[call-arg]
