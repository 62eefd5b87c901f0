"""Domain randomisation: parameters of a robot that differ from sample to sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LinkworkError, ShapeError, UnknownNameError
from ...model import Joint, Model, Offset, Stribeck, carrying
from ...model.pseudo_inertia import negative_mass
from ...model.structure_checks import check_values
from ...scalar import Scalar, is_zero
from ...spatial import Inertia, Vector

if TYPE_CHECKING:
    from .inputs import Inputs

INERTIAL = ("mass", "parameters", "payload")
LAWS = {"offset": (Offset, "offset"), "stribeck": (Stribeck, "excess"), "stribeck_velocity": (Stribeck, "velocity")}
POSITIVE = ("friction_width", "stribeck_velocity")
OF_JOINTS = ("rotor_inertia", "viscous", "coulomb", *LAWS, "friction_width", "stiffness")
VARIED = (*INERTIAL, *OF_JOINTS, "gravity")


def varied(model: Model, values: Mapping[str, Any], payload: str = "") -> Model:
    """Return the robot with the parameters among ``values``; ``payload`` is the frame that carries one."""
    if "parameters" in values:
        model = model.with_parameters(values["parameters"])
    if "mass" in values:
        masses = zip(model.bodies, values["mass"], strict=True)
        model = model.with_inertias([_with_mass(body.inertia, mass) for body, mass in masses])
    if "payload" in values:
        model = carrying(model, payload, values["payload"])
    if "gravity" in values:
        model = replace(model, gravity=Vector(*values["gravity"]))
    for name in OF_JOINTS:
        if name in values:
            model = _with_joints(model, name, values[name])
    return model


def _with_joints(model: Model, name: str, values: Sequence[Scalar]) -> Model:
    by_joint = dict(zip(model.position_names, values, strict=True))
    bodies = [
        replace(body, joint=with_value(body.joint, name, by_joint[body.joint.name]))
        if body.joint.name in by_joint
        else body
        for body in model.bodies
    ]
    return replace(model, bodies=tuple(bodies))


def with_value(joint: Joint, name: str, value: Scalar) -> Joint:
    """Return a joint with another value of a parameter.

    A joint without the friction law in question gets an offset, and stays without the other laws.
    """
    if name not in LAWS:
        return replace(joint, **{name: value})
    kind, field = LAWS[name]
    if kind is Offset and not any(isinstance(law, Offset) for law in joint.friction):
        return replace(joint, friction=(*joint.friction, Offset(value)))
    laws: list[Any] = list(joint.friction)
    laws = [replace(law, **{field: value}) if isinstance(law, kind) else law for law in laws]
    return replace(joint, friction=tuple(laws))


def value_of(joint: Joint, name: str) -> float:
    """Return the value that ``with_value`` replaces; zero if the joint does not have the law."""
    if name not in LAWS:
        return getattr(joint, name)
    kind, field = LAWS[name]
    return next((getattr(law, field) for law in joint.friction if isinstance(law, kind)), 0.0)


def _with_mass(inertia: Inertia, mass: Scalar) -> Inertia:
    """Inertia of a body of the same shape and another density; a massless body stays massless."""
    if is_zero(inertia.mass):
        return inertia
    share = mass / inertia.mass
    return Inertia.of(share * value for value in inertia)


def add_varied(inputs: Inputs, model: Model, vary: Mapping[str, Any]) -> str:
    """Check the parameters of each sample and add them to the inputs; return the frame of a payload."""
    shapes = {"mass": (model.n_bodies,), "parameters": (model.n_bodies, 10), "gravity": (3,), "payload": (10,)}
    shapes |= dict.fromkeys(OF_JOINTS, (len(model.position_names),))
    frame = ""
    for name, value in vary.items():
        if name not in VARIED:
            raise UnknownNameError("parameter to vary", name, VARIED, where="vary")
        if name == "payload":
            if not isinstance(value, Mapping) or len(value) != 1:
                raise ShapeError("a payload is carried by one frame", where="vary", got=repr(value)[:80],
                                 expected='{"payload": {frame: (samples, 10)}}')  # fmt: skip
            ((frame, value),) = value.items()
            if not model.frame(frame).body:
                raise ShapeError("a payload is carried by a moving link", where="vary", got=f"frame {frame!r}")
        where = f"vary[{name!r}]"
        inputs.add(name, value, shapes[name], where)
        _check_varied(model, name, inputs.constants[name], where)
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


def _check_varied(model: Model, name: str, values: np.ndarray, where: str) -> None:
    """Raise an error for values (samples, entries) that a robot file may not have either."""
    if name in INERTIAL:
        _check_masses(model, name, values, where)
    if name in OF_JOINTS:
        joints = {body.joint.name: body.joint for body in model.bodies}
        for joint, column in zip(model.position_names, values.T, strict=True):
            for finding in check_values(f"{where}, joint {joint!r}", with_value(joints[joint], name, column)):
                raise LinkworkError(finding.message, where=finding.where, fix=finding.fix)
    if name in POSITIVE and not (values > 0).all():
        raise ShapeError("out of range", where=where, got=values.min(), expected="positive numbers")
    if (kind := LAWS.get(name, (Offset,))[0]) is not Offset and not any(
        isinstance(law, kind) for body in model.bodies for law in body.joint.friction
    ):
        fix = f"give joints this friction law: friction=({kind.__name__}(...),)"
        raise ShapeError(f"no joint has the friction law {kind.name!r}", where=where, fix=fix)


def _check_masses(model: Model, name: str, values: np.ndarray, where: str) -> None:
    """Raise an error for negative masses, and for first moments of a link without mass."""
    links = ["payload"] if name == "payload" else [f"link {body.name!r}" for body in model.bodies]
    for link, columns in zip(links, np.split(values, len(links), axis=1), strict=True):
        if wrong := negative_mass(columns[:, 0]):
            raise LinkworkError(wrong, where=f"{where}, {link}", fix="give masses of zero or more")
        massless = (columns[:, 0] == 0) & columns[:, 1:4].any(axis=1)
        if name == "parameters" and massless.any():  # a payload without mass may have its centre anywhere
            moments = ", ".join(f"{x:g}" for x in columns[massless][0, 1:4])
            got, fix = f"MX, MY, MZ = {moments}", "give a mass above zero"
            raise LinkworkError("first moments without a mass", where=f"{where}, {link}", got=got, fix=fix)
