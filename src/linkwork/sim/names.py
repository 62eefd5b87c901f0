"""What the entries of a trajectory's arrays are called, and their units."""

from __future__ import annotations

from ..constraints import row_names
from ..formulations import layouts
from ..model import Model

JOINT_VECTORS = ("q", "v", "a", "tau")


def entries(model: Model) -> dict[str, tuple[str, ...]]:
    """Names along the last axis of the arrays of a trajectory."""
    known = layouts(model)
    return {kind: known[kind].names for kind in JOINT_VECTORS} | {"loop_residual": tuple(row_names(model))}


def units(model: Model) -> dict[str, tuple[str, ...]]:
    """Units of the entries of joint vectors."""
    known = layouts(model)
    return {kind: known[kind].units for kind in JOINT_VECTORS}
