"""What the arrays of a trajectory and their entries are called, and their units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...constraints import row_names
from ...errors import LinkworkError
from ...formulations import layouts
from ...model import Model
from ...options import one_of_names
from .trajectory import Trajectory

JOINT_VECTORS = ("q", "v", "a", "tau", "commands")
OF_LOOPS = ("loop_residual", "loop_rates", "constraint_forces")  # entries are equations
OUTPUTS = (*JOINT_VECTORS, "kinetic_energy", "potential_energy", "momentum", "center_of_mass", *OF_LOOPS, "work")
OF_CONTACTS = ("contacts", "contact_forces")
PARTS = ("fx", "fy", "fz", "mx", "my", "mz")  # of the force on a contact
ALL_STATES = "memory"  # the output that stands for all states of the controller
TAKEN = {*OUTPUTS, *OF_CONTACTS, ALL_STATES, *dir(Trajectory({"t": ()}, {}, robot="", method="", dt=0.0))}


def checked_outputs(
    model: Model, memory: Mapping[str, Any], outputs: Iterable[str], stands: bool = False
) -> tuple[str, ...]:
    """Names of what is recorded. ``memory``: states of the controller, each an array by its own name. ``stands``: are
    contacts held by the ground?"""
    if clash := sorted(TAKEN.intersection(memory)):
        got, fix = ", ".join(clash), "another name: a trajectory means something else by it"
        raise LinkworkError("a memory cannot be called so", where="controller", got=got, fix=fix)
    absent = [*OF_LOOPS * (not model.constrained), *["commands"] * (not model.commands.size)]
    known = [name for name in OUTPUTS if name not in absent]
    known += OF_CONTACTS if stands else ()
    found: dict[str, None] = {}
    for name in outputs:
        one_of_names("output", name, [*known, *[ALL_STATES] * bool(memory), *memory], where=f"robot {model.name!r}")
        found |= dict.fromkeys(memory if name == ALL_STATES else [name])
    return tuple(found)


def by_output(outputs: Sequence[str], result: Any) -> dict[str, Any]:
    """What a compiled function of these outputs gave, by name: a tuple, or the value of a single one."""
    return dict(zip(outputs, result if len(outputs) != 1 else (result,), strict=True))


def entries(model: Model, memory: Mapping[str, tuple[int, ...]] | None = None) -> dict[str, tuple[str, ...]]:
    """Names along the last axis of the arrays of a trajectory; those of a memory, given by its shapes, are the places
    of its numbers."""
    known = layouts(model)
    own = {name: np.ndindex(shape) for name, shape in (memory or {}).items() if shape}
    numbered = {name: tuple(".".join(map(str, place)) for place in places) for name, places in own.items()}
    contacts = known["contacts"].names
    numbered |= {"contacts": contacts, "contact_forces": tuple(f"{name}.{part}" for name in contacts for part in PARTS)}
    of_loops = dict.fromkeys(OF_LOOPS, tuple(row_names(model)))
    return {kind: known[kind].names for kind in JOINT_VECTORS} | of_loops | numbered


def units(model: Model) -> dict[str, tuple[str, ...]]:
    """Units of the entries of joint vectors."""
    known = layouts(model)
    return {kind: known[kind].units for kind in JOINT_VECTORS}
