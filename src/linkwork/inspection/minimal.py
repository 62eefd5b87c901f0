"""The fewest parameters that tell all joint forces, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..robot import Robot


def params(robot: Robot, kind: str = "khalil", drives: bool | Sequence[str] | None = None) -> dict[str, Any]:
    """The fewest parameters that tell all joint forces, the combinations of the standard ones that they are, and what
    became of each of these. ``Robot.base_parameters`` has the same to compute with."""
    base = robot.base_parameters(kind, drives)
    return {
        "robot": base.model.name,
        "kind": base.kind,
        "count": len(base),
        "standard_count": len(base.standard),
        "rank": base.rank,
        "ambiguity": base.ambiguity,
        "parameters": [
            {
                "name": name,
                "value": float(value),
                "formula": base.formulas.get(name),
                "combination": base.combinations[name],
            }
            for name, value in zip(base.names, base.values, strict=True)
        ],
        "standard": [
            {"name": name, "value": float(value), "status": status, "in": list(found)}
            for (name, status, found), value in zip(base.table, base.standard_values, strict=True)
        ],
    }
