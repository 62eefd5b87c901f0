"""Domain randomisation: parameters of a robot that differ from sample to sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError, ShapeError, UnknownNameError
from ...formulations import drives_of
from ...model import Model, NumberInput, number_input, require_apart, with_numbers
from ...model.number_inputs import KINDS, LAWS, OF_DRIVES, with_value
from ...model.pseudo_inertia import negative_mass
from ...model.structure_checks import check_values

if TYPE_CHECKING:
    from .inputs import Inputs

POSITIVE = ("friction_width", "stribeck_velocity")


def is_varied(name: str) -> bool:
    """Return whether an input of a simulation has numbers of the robot."""
    return name.partition(":")[0] in KINDS


def varied_numbers(model: Model, names: Iterable[str], payload: str = "") -> dict[str, NumberInput]:
    """Return those inputs that have numbers of the robot; ``payload`` is the frame of the one called "payload"."""
    asked = ((name, f"payload:{payload}" if name == "payload" else name) for name in names if is_varied(name))
    return {name: number_input(model, each) for name, each in asked}


def varied_geometry(model: Model, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return those inputs on which closed loops and places of contacts depend."""
    names = (name for name in inputs if is_varied(name) and name != "payload")
    return {name: inputs[name] for name in names if number_input(model, name).placed}


def varied(model: Model, values: Mapping[str, Any], payload: str = "") -> Model:
    """Return the robot with the parameters among ``values``; ``payload`` is the frame that carries one."""
    return with_numbers(model, varied_numbers(model, values, payload), values)


def add_varied(inputs: Inputs, model: Model, vary: Mapping[str, Any]) -> str:
    """Check the parameters of each sample and add them to the inputs; return the frame of a payload."""
    frame = ""
    for name in vary:
        if not isinstance(name, str) or not is_varied(name):
            raise UnknownNameError("parameter to vary", str(name), KINDS, where="vary")
    if isinstance(payload := vary.get("payload"), Mapping) and len(payload) == 1:
        (frame,) = payload
        vary = {**vary, "payload": payload[frame]}
        if not model.frame(frame).body:
            raise ShapeError("a payload is carried by a moving link", where="vary", got=f"frame {frame!r}")
    elif payload is not None:
        raise ShapeError("a payload is carried by one frame", where="vary", got=repr(payload)[:80],
                         expected='{"payload": {frame: (samples, 10)}}')  # fmt: skip
    _require_law(model, vary)
    numbers = varied_numbers(model, vary, frame)
    require_apart(model, [each for name, each in numbers.items() if name != "mass" or "parameters" not in vary])
    for name, each in numbers.items():
        where = f"vary[{name!r}]"
        inputs.add(name, vary[name], each.shape, where)
        _check_varied(model, each, inputs.constants[name], where)
    if "mass" in vary and "parameters" not in vary:  # masses scale the inertia of the file
        for body, masses in zip(model.bodies, inputs.constants["mass"].T, strict=True):
            if not body.inertia.mass and masses.any():
                raise ShapeError(
                    "a massless body has no inertia to scale",
                    where="vary['mass']",
                    got=f"body {body.name!r}",
                    fix="give 0 for this body, or vary 'parameters'",
                )
    return frame


def _require_law(model: Model, names: Iterable[str]) -> None:
    """Raise an error for numbers of a friction law that no joint has; an offset is added where there is none."""
    laws = {law.name for body in model.bodies for law in body.joint.friction}
    for name in names:
        law = LAWS.get(name, (None, ""))[0]
        if law is not None and name != "offset" and law.name not in laws:
            fix = f"give joints this friction law: friction=({law.__name__}(...),)"
            raise ShapeError(f"no joint has the friction law {law.name!r}", where=f"vary[{name!r}]", fix=fix)


def _check_varied(model: Model, number: NumberInput, values: np.ndarray, where: str) -> None:
    """Raise an error for values (samples, entries) that a robot file may not have either."""
    name = number.name.partition(":")[0]
    if number.inertial:
        _check_masses(model, number, values, where)
    if name in OF_DRIVES:
        drives = {drive.name: drive for drive in drives_of(model)}
        for joint, column in zip(number.rows, values.T, strict=True):
            for finding in check_values(f"{where}, joint {joint!r}", with_value(drives[joint], name, column)):
                raise LinkworkError(finding.message, where=finding.where, fix=finding.fix)
    for row, rule, column in zip(number.rows, number.rules, values.T, strict=bool(number.rules)):
        for fault in rule.faults(row, column):
            raise LinkworkError(fault.message, where=where, fix=fault.fix)
    if name in POSITIVE and not (values > 0).all():
        raise ShapeError("out of range", where=where, got=values.min(), expected="positive numbers")


def _check_masses(model: Model, number: NumberInput, values: np.ndarray, where: str) -> None:
    """Raise an error for negative masses, and for first moments of a link without mass."""
    name, _, of = number.name.partition(":")
    bodies = [of] if of else [body.name for body in model.bodies]
    links = ["payload"] if name == "payload" else [f"link {body!r}" for body in bodies]
    for link, columns in zip(links, np.split(values, len(links), axis=1), strict=True):
        if wrong := negative_mass(columns[:, 0]):
            raise LinkworkError(wrong, where=f"{where}, {link}", fix="give masses of zero or more")
        massless = (columns[:, 0] == 0) & columns[:, 1:4].any(axis=1)
        if name == "parameters" and massless.any():  # a payload without mass may have its centre anywhere
            moments = ", ".join(f"{x:g}" for x in columns[massless][0, 1:4])
            got, fix = f"MX, MY, MZ = {moments}", "give a mass above zero"
            raise LinkworkError("first moments without a mass", where=f"{where}, {link}", got=got, fix=fix)
