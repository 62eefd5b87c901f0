"""JointValues: what a joint has of its own, beside where it stands and how it moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..element import choice, number
from .drive import Drive

ROLES = ("active", "passive", "elastic")
LIMIT: dict[str, Any] = {"least": 0, "finite": False, "level": "warning"}


@dataclass(frozen=True, eq=False, kw_only=True)
class JointValues(Drive):
    """Limits, drive, friction, spring. Described and built joints share these fields.

    ``role``: "active" if a motor drives it; "passive": nothing does; "elastic": its own spring alone. ``weight``: where
    motors share the work, the sum of weight * force^2 is least.
    """

    lower: float = number(-math.inf, unit=("rad", "m"), finite=False, written=False)
    upper: float = number(math.inf, unit=("rad", "m"), finite=False, written=False)
    velocity_limit: float = number(math.inf, key="velocity", unit=("rad/s", "m/s"), **LIMIT)
    effort_limit: float = number(math.inf, key="effort", unit=("N m", "N"), **LIMIT)
    role: str = choice("active", ROLES, words="role")
    weight: float = number(1.0, least=0, open=True)

    def joint_values(self) -> dict[str, Any]:
        """The values by the names of their fields, to make another joint with."""
        return {each.name: getattr(self, each.name) for each in JointValues.declared().values()}
