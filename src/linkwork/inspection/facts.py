"""The parts of a robot, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..formulations import METHODS
from ..io import bundled_robots
from ..io.mdh import ILLUSTRATIVE
from ..io.mdh_structure import transmission_rows
from ..io.rpy import rpy_from_rotation
from ..model import Joint, Model, describe, in_words
from ..robot import Robot, load
from .states import entries

JOINT_VALUES = (
    "lower", "upper", "velocity_limit", "effort_limit", "rotor_inertia", "coulomb", "viscous", "stiffness", "rest",
)  # fmt: skip


def robots() -> list[dict[str, Any]]:
    """List the bundled robots.

    Returns:
        A dict for each robot: name, number of joints and degrees of freedom, base, structure, description, sources.

    Example:
        >>> [row["robot"] for row in linkwork.inspection.robots() if row["joints"] == 7]  # doctest: +SKIP
    """
    rows = []
    for name in bundled_robots():
        model = load(name).model
        rows.append(
            {
                "robot": name,
                "joints": len(model.position_names),
                "freedoms": model.nv,
                "base": model.base,
                "structure": structure(model),
                "description": model.summary,
                "sources": _references(model.sources),
            }
        )
    return rows


def structure(model: Model) -> str:
    """Describe a structure in a few words: chain or tree, loops, elastic joints, flexible links, floating base."""
    words = ["chain" if model.serial and not model.constrained else "tree"]
    if not model.position_names:
        words = ["body"]
    if constraints := in_words(loop.kind for loop in model.permanent):
        words = [constraints]
    joints = model.coordinates.joints
    if any(joint.role == "elastic" and not joint.kind.modes for joint in joints):
        words.append("elastic")
    words += dict.fromkeys(joint.kind.deforms for joint in joints if joint.kind.deforms)
    if model.moving_base:
        words.append("floating base")
    if bodies := sum(joint.kind.free for joint in joints) - model.moving_base:
        in_loop = any(loop.kind.closes_loop for loop in model.permanent)
        words.append("platform" if in_loop else f"{bodies} floating bod{'y' if bodies == 1 else 'ies'}")
    return ", ".join(words)


def _references(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the sources of the values: {key: reference}."""
    keys = dict.fromkeys(key for key in sources.values() if key in sources or key == ILLUSTRATIVE)
    return {key: sources.get(key, "plausible values, not those of a real robot") for key in keys}


def ground(model: Model) -> str:
    return "ground" if model.moving_base else model.root


def carrier(model: Model, body: int) -> str:
    return model.body(body).name if body else ground(model)


def inspect(robot: Robot) -> dict[str, Any]:
    """Return the parts of a robot: joints, bodies, frames, loops, vectors, methods that apply, sources of values.

    Args:
        robot: The robot.

    Returns:
        A dict of lists and numbers, in SI units.

    Example:
        >>> [joint["kind"] for joint in linkwork.inspection.inspect(robot)["joints"]][0]
        'revolute'
    """
    model = robot.model
    inertias = {link.name: link.inertia for link in describe(model).links}
    return {
        "robot": model.name,
        "description": model.summary,
        "base": model.base,
        "structure": structure(model),
        "nq": model.nq,
        "nv": model.nv,
        "gravity": list(model.gravity),
        "total_mass": model.base_inertia.mass + sum(body.inertia.mass for body in model.bodies),
        "moving_mass": sum(body.inertia.mass for body in model.bodies),
        "joints": [_joint(joint) for joint in model.joints_on_base],
        "bodies": [
            {
                "name": body.name,
                "parent": carrier(model, body.parent),
                "joint": body.joint.name,
                "mass": body.inertia.mass,
                "center": inertia.center if (inertia := inertias[body.name]) else np.zeros(3),
                "central_inertia": inertia.central if inertia else np.zeros((3, 3)),
                "parameters": parameters,
                "placement": [_screw(*screw) for screw in screws(body.joint)],
            }
            for body, parameters in zip(model.bodies, robot.parameters, strict=True)
        ],
        "frames": [
            {
                "name": frame.name,
                "body": carrier(model, frame.body),
                "origin": list(frame.pose.origin),
                "rpy": rpy_from_rotation(np.array([list(row) for row in frame.pose.rotation.rows], float)),
            }
            for frame in model.frames.values()
        ],
        "beams": [*with_modes(model)],
        "loops": [
            {
                "name": loop.name,
                "kind": loop.kind.name,
                "first": carrier(model, loop.first.body),
                "second": carrier(model, loop.second.body),
                **loop.kind.values(),
            }
            for loop in model.permanent
        ],
        "home": list(model.home),
        "vectors": {name: entries(model, name) for name in ("q", "v", "tau", "a_known", "tau_known", "commands")},
        "transmissions": transmission_rows(model.transmissions),
        "forces": [{"frame": frame.name, "law": repr(law)} for frame, law in model.forces],
        "contacts": [
            {"name": each.name, "kind": each.kind.name, "frame": each.second.name, **each.kind.to_dict()}
            for each in model.switched
        ],
        "methods": [
            {"quantity": m.quantity, "method": m.name, "summary": m.summary, "refusal": m.refusal(model)}
            for m in METHODS
        ],
        "sources": _references(model.sources),
    }


def with_modes(model: Model) -> Iterator[dict[str, Any]]:
    """Yield a row for each flexible link."""
    for body in model.bodies:
        joint = body.joint
        if joint.kind.modes and not joint.leader:  # otherwise it is a station along such a link
            row = {"joint": joint.name, "link": carrier(model, body.parent), "tip": body.name}
            yield row | joint.kind.facts()


def _joint(joint: Joint) -> dict[str, Any]:
    mimic = {"joint": joint.leader, "multiplier": joint.multiplier, "offset": joint.offset} if joint.leader else None
    return {
        "name": joint.name,
        "kind": joint.kind.name,
        "freedoms": joint.kind.nv,
        "pitch": joint.pitch,
        "role": joint.role,
        **{name: getattr(joint, name) for name in JOINT_VALUES},
        "friction": {law.name: law.values() for law in joint.friction},
        "friction_width": joint.friction_width,
        "mimic": mimic,
    }


def screws(joint: Joint) -> list[tuple[str, float, float, str]]:
    """Return axis, angle and length of each screw from the parent, and whether the joint changes angle or length."""
    constant = [(screw.axis, screw.angle, screw.length, "") for screw in joint.placement]
    if not joint.kind.axial:
        return constant
    moves = "length" if not any(joint.kind.turning) else "both" if joint.pitch or joint.kind.nv > 1 else "angle"
    return [*constant, ("z", joint.angle, joint.length, moves)]


def _screw(axis: str, angle: float, length: float, moves: str) -> dict[str, Any]:
    return {"axis": axis, "angle": angle, "length": length, "moves": moves or None}
