"""What the entries of a trajectory's arrays are called, and their units."""

from __future__ import annotations

from ..codegen.listing import FLOATING
from ..constraints import row_names
from ..formulations import sizes, vectors
from ..model import Model

# of joint vectors: for a joint that turns, for one that slides
UNITS = {"q": ("rad", "m"), "v": ("rad/s", "m/s"), "a": ("rad/s^2", "m/s^2"), "tau": ("N m", "N")}


def entries(model: Model) -> dict[str, tuple[str, ...]]:
    """Names along the last axis of the arrays of a trajectory."""
    named = {kind: entry_names(model, kind) for kind in ("q", "v", "a", "tau")}
    return named | {"loop_residual": tuple(row_names(model))}


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
            return UNITS[kind][slides[name]]
        part = name.rpartition(".")[2]
        return "" if part in ("qx", "qy", "qz", "qw") else UNITS[kind][part in ("x", "y", "z")]

    return {kind: tuple(unit(kind, name) for name in names) for kind, names in entries(model).items() if kind in UNITS}
