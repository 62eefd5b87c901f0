"""What the entries of a trajectory's arrays are called, and their units."""

from __future__ import annotations

from ..codegen.listing import FLOATING
from ..formulations import VARIABLES, sizes, vectors
from ..model import Model, closure

JOINT_VECTORS = ("q", "v", "a", "tau")


def entries(model: Model) -> dict[str, tuple[str, ...]]:
    """Names along the last axis of the arrays of a trajectory."""
    named = {kind: entry_names(model, kind) for kind in JOINT_VECTORS}
    return named | {"loop_residual": tuple(closure.row_names(model))}


def entry_names(model: Model, kind: str) -> tuple[str, ...]:
    """Names of the entries of a kind of vector: q, v, a, tau, ..."""
    joints = vectors(model)[kind]
    parts = FLOATING.get(sizes(model)[kind] - len(joints), ())
    return (*(f"{model.floating_name}.{part}" for part in parts), *joints)


def units(model: Model) -> dict[str, tuple[str, ...]]:
    """Units of the entries of joint vectors."""
    slides = {joint.name: joint.prismatic for joint in model.leading_joints}

    def unit(kind: str, name: str) -> str:
        if name in slides:
            return VARIABLES[kind].unit[slides[name]]
        part = name.rpartition(".")[2]
        return "" if part in ("qx", "qy", "qz", "qw") else VARIABLES[kind].unit[part in ("x", "y", "z")]

    return {kind: tuple(unit(kind, name) for name in entry_names(model, kind)) for kind in JOINT_VECTORS}
