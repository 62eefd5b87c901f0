"""The base parameters, the fewest that determine all joint forces, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..robot import Robot


def params(robot: Robot, kind: str = "khalil", drives: bool | Sequence[str] | None = None) -> dict[str, Any]:
    """Return the base parameters, the fewest that determine all joint forces, and the role of each standard parameter.

    ``Robot.base_parameters`` returns the same as an object to compute with.

    Args:
        robot: The robot.
        kind: "khalil": those of Gautier and Khalil. "lin": the minimal linear combinations of Lin.
        drives: Parameters of drives to include, as in ``Robot.regressor``. Default: those that are not zero.

    Returns:
        Counts, the rank of the regressor, the base parameters with values and formulas, and the standard ones.

    Raises:
        UnknownNameError: There is no such kind.
        UnsupportedError: Lin's combinations do not exist for this robot.

    Example:
        >>> linkwork.inspection.params(linkwork.load("planar2r"), drives=False)["count"]
        6
    """
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
            {"name": name, "value": float(value), "status": status, "in": list(groups)}
            for (name, status, groups), value in zip(base.table, base.standard_values, strict=True)
        ],
    }
