"""Names of the arrays of a trajectory and of their entries, and units."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from ...constraints import row_names
from ...errors import LinkworkError, UnknownNameError
from ...formulations import QUANTITIES, layouts
from ...model import Model
from ...options import one_of_names
from .trajectory import Trajectory

JOINT_VECTORS = ("q", "v", "a", "tau", "commands")
LOOP_OUTPUTS = ("loop_residual", "loop_rates", "constraint_forces")  # one entry per equation
OUTPUTS = (*JOINT_VECTORS, "kinetic_energy", "potential_energy", "momentum", "center_of_mass", *LOOP_OUTPUTS, "work")
CONTACT_OUTPUTS = ("contacts", "contact_forces")
PARTS = ("fx", "fy", "fz", "mx", "my", "mz")  # entries of the force on a contact
NEAR = 0.75  # similarity of a name that probably means a quantity
ALL_STATES = "memory"  # output that selects all states of the controller
RESERVED = {*OUTPUTS, *CONTACT_OUTPUTS, ALL_STATES, *dir(Trajectory({"t": ()}, {}, robot="", method="", dt=0.0))}


def checked_outputs(
    model: Model, memory: Mapping[str, Any], outputs: Iterable[Any], has_contacts: bool = False
) -> tuple[Any, ...]:
    """Return what is recorded: names, quantities such as "pose:hand", and functions.

    Args:
        model: The robot.
        memory: States of the controller by name; each is recorded as an array of this name.
        outputs: What the user passed.
        has_contacts: Whether contacts on the ground are simulated.

    Raises:
        UnknownNameError: This simulation does not have an output.
    """
    if clash := sorted(RESERVED.intersection(memory)):
        got, fix = ", ".join(clash), "choose another name: a trajectory uses this one"
        raise LinkworkError("a controller state cannot have this name", where="controller", got=got, fix=fix)
    absent = [*LOOP_OUTPUTS * (not model.constrained), *["commands"] * (not model.commands.size)]
    known = [name for name in OUTPUTS if name not in absent]
    known += CONTACT_OUTPUTS if has_contacts else ()
    known += [*[ALL_STATES] * bool(memory), *memory]
    checked: list[Any] = []
    for output in outputs:
        if not is_own(output, memory):
            _check_name(output, known, f"robot {model.name!r}")
        names = memory if output == ALL_STATES else [output]
        checked += [name for name in names if name not in checked]
    return tuple(checked)


def _check_name(output: Any, known: Sequence[str], where: str) -> None:
    """Raise an error for a name that is neither a known output nor a quantity."""
    if isinstance(output, str) and output not in (*RESERVED, *known):
        quantity, colon, _ = output.partition(":")
        if colon or get_close_matches(quantity, QUANTITIES, 1, NEAR):
            raise UnknownNameError("quantity", quantity, QUANTITIES, where=where)
    one_of_names("output", output, known, where=where)


def is_own(output: Any, memory: Collection[str]) -> bool:
    """Return whether an output is a quantity or a function of the user, not one of the bundled outputs."""
    if isinstance(output, str):
        return output.partition(":")[0] in QUANTITIES and output not in RESERVED and output not in memory
    return callable(output)


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
