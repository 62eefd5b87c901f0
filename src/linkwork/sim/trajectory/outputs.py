"""Names of the arrays of a trajectory and of their entries, and units."""

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
LOOP_OUTPUTS = ("loop_residual", "loop_rates", "constraint_forces")  # one entry per equation
OUTPUTS = (*JOINT_VECTORS, "kinetic_energy", "potential_energy", "momentum", "center_of_mass", *LOOP_OUTPUTS, "work")
CONTACT_OUTPUTS = ("contacts", "contact_forces")
PARTS = ("fx", "fy", "fz", "mx", "my", "mz")  # entries of the force on a contact
ALL_STATES = "memory"  # output that selects all states of the controller
RESERVED = {*OUTPUTS, *CONTACT_OUTPUTS, ALL_STATES, *dir(Trajectory({"t": ()}, {}, robot="", method="", dt=0.0))}


def checked_outputs(
    model: Model, memory: Mapping[str, Any], outputs: Iterable[str], has_contacts: bool = False
) -> tuple[str, ...]:
    """Return the names of what is recorded; raise an error for names that this simulation does not have.

    Args:
        model: The robot.
        memory: States of the controller by name; each is recorded as an array of this name.
        outputs: Names that the user passed.
        has_contacts: Whether contacts on the ground are simulated.
    """
    if clash := sorted(RESERVED.intersection(memory)):
        got, fix = ", ".join(clash), "choose another name: a trajectory uses this one"
        raise LinkworkError("a controller state cannot have this name", where="controller", got=got, fix=fix)
    absent = [*LOOP_OUTPUTS * (not model.constrained), *["commands"] * (not model.commands.size)]
    known = [name for name in OUTPUTS if name not in absent]
    known += CONTACT_OUTPUTS if has_contacts else ()
    names: dict[str, None] = {}
    for name in outputs:
        one_of_names("output", name, [*known, *[ALL_STATES] * bool(memory), *memory], where=f"robot {model.name!r}")
        names |= dict.fromkeys(memory if name == ALL_STATES else [name])
    return tuple(names)


def by_output(outputs: Sequence[str], result: Any) -> dict[str, Any]:
    """Return the results of a compiled function by output; it returns a tuple, or the value of a single output."""
    return dict(zip(outputs, result if len(outputs) != 1 else (result,), strict=True))


def entries(model: Model, memory: Mapping[str, tuple[int, ...]] | None = None) -> dict[str, tuple[str, ...]]:
    """Return the names along the last axis of each array; entries of a memory are named by their indices."""
    layout = layouts(model)
    names = {kind: layout[kind].names for kind in JOINT_VECTORS}
    names |= dict.fromkeys(LOOP_OUTPUTS, tuple(row_names(model)))
    for name, shape in (memory or {}).items():
        if shape:
            names[name] = tuple(".".join(map(str, index)) for index in np.ndindex(shape))
    contacts = layout["contacts"].names
    return names | {
        "contacts": contacts,
        "contact_forces": tuple(f"{name}.{part}" for name in contacts for part in PARTS),
    }


def units(model: Model) -> dict[str, tuple[str, ...]]:
    """Return the units of the entries of joint vectors."""
    layout = layouts(model)
    return {kind: layout[kind].units for kind in JOINT_VECTORS}
