"""Parameters of a robot that may differ from sample to sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..model import Joint, Model, Offset, Stribeck, carrying
from ..scalar import Scalar, is_zero
from ..spatial import Inertia, Vector

INERTIAL = ("mass", "parameters", "payload")
LAWS = {"offset": (Offset, "offset"), "stribeck": (Stribeck, "excess"), "stribeck_velocity": (Stribeck, "velocity")}
POSITIVE = ("friction_width", "stribeck_velocity")
OF_JOINTS = ("rotor_inertia", "viscous", "coulomb", *LAWS, "friction_width", "stiffness")
VARIED = (*INERTIAL, *OF_JOINTS, "gravity")


def varied(model: Model, values: Mapping[str, Any], payload: str = "") -> Model:
    """With the values there are; others are not looked at. ``payload``: the frame that carries it."""
    if "parameters" in values:
        model = model.with_parameters(values["parameters"])
    if "mass" in values:
        own = zip(model.bodies, values["mass"], strict=True)
        model = model.with_inertias([_with_mass(body.inertia, mass) for body, mass in own])
    if "payload" in values:
        model = carrying(model, payload, values["payload"])
    if "gravity" in values:
        model = replace(model, gravity=Vector(*values["gravity"]))
    for name in OF_JOINTS:
        if name in values:
            model = _with_joints(model, name, values[name])
    return model


def _with_joints(model: Model, name: str, values: Sequence[Scalar]) -> Model:
    own = dict(zip(model.position_names, values, strict=True))
    bodies = [
        replace(body, joint=with_value(body.joint, name, own[body.joint.name])) if body.joint.name in own else body
        for body in model.bodies
    ]
    return replace(model, bodies=tuple(bodies))


def with_value(joint: Joint, name: str, value: Scalar) -> Joint:
    """Of one that has not the law in question: every joint can have an offset; the others stay without."""
    if name not in LAWS:
        return replace(joint, **{name: value})
    kind, field = LAWS[name]
    if kind is Offset and not any(isinstance(law, Offset) for law in joint.friction):
        return replace(joint, friction=(*joint.friction, Offset(value)))
    laws: list[Any] = list(joint.friction)
    laws = [replace(law, **{field: value}) if isinstance(law, kind) else law for law in laws]
    return replace(joint, friction=tuple(laws))


def value_of(joint: Joint, name: str) -> float:
    """As ``with_value`` changes it; zero of a law that the joint has not."""
    if name not in LAWS:
        return getattr(joint, name)
    kind, field = LAWS[name]
    return next((getattr(law, field) for law in joint.friction if isinstance(law, kind)), 0.0)


def _with_mass(inertia: Inertia, mass: Scalar) -> Inertia:
    """Of a body of the same shape and another density; one without mass stays so."""
    if is_zero(inertia.mass):
        return inertia
    share = mass / inertia.mass
    return Inertia.of(share * value for value in inertia)
