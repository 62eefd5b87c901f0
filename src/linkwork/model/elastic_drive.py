"""The flexible-joint drive: a motor, the spring of its gear, and the link, as two joints in series on one axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..errors import ModelError, UnknownNameError
from .description import Description, JointDescription, Link, LinkInertia, Placement
from .drive import Transmission


@dataclass(frozen=True)
class ElasticDrive:
    """A motor that drives its joint through a spring, all seen at the joint (after the gear).

    ``stiffness`` in N m/rad (or N/m), ``damping`` of the spring in N m s/rad (or N s/m), ``motor_inertia`` in kg m^2
    (or kg), the rotor's times the gear ratio squared, ``rest``: position of the spring without force.
    """

    stiffness: float
    motor_inertia: float
    damping: float = 0.0
    rest: float = 0.0

    def __post_init__(self) -> None:
        self._require("stiffness", "a positive number; leave a rigid joint out", lambda value: value > 0)
        self._require("motor_inertia", "a positive number", lambda value: value > 0)
        self._require("damping", "zero or a positive number", lambda value: value >= 0)
        self._require("rest", "a finite number", lambda value: True)

    def _require(self, name: str, expected: str, fits: Callable[[float], bool]) -> None:
        value = getattr(self, name)
        if not (isinstance(value, (int, float)) and math.isfinite(value) and fits(value)):
            message = f"an elastic drive cannot have this {name.replace('_', ' ')}"
            raise ModelError(message, got=repr(value), expected=expected)


def with_elastic_drives(description: Description, drives: Mapping[str, ElasticDrive]) -> Description:
    """The robot with elastic drives in the named joints: joint NAME becomes NAME_motor and NAME, on the same axis.

    NAME_motor is active and takes the limits and the friction of NAME; NAME is elastic, and its position is the
    deflection of the spring. Their sum is the position of the joint as it was. Between them is the massless link
    NAME_rotor.
    """
    known = {joint.name: joint for joint in description.joints}
    if not isinstance(drives, Mapping):
        raise ModelError(
            "elastic says which joints have drives", got=repr(drives), expected="{joint: ElasticDrive(...)}"
        )
    for name, drive in drives.items():
        if name not in known:
            raise UnknownNameError("joint", name, known, where=description.name)
        if not isinstance(drive, ElasticDrive):
            raise ModelError(
                f"joint {name!r} needs an elastic drive",
                where=description.name,
                got=repr(drive),
                expected="ElasticDrive(stiffness=..., motor_inertia=...)",
            )
        _refuse_unfit(description, known[name])
    joints, links = [], []
    for joint in description.joints:
        joints += _in_series(joint, drives[joint.name]) if joint.name in drives else [joint]
    rotors = {joint.child: _rotor(joint) for joint in description.joints if joint.name in drives}
    for link in description.links:
        links += [Link(rotors[link.name], _massless()), link] if link.name in rotors else [link]
    independent = [each for name in description.independent for each in _names(name, drives)]
    return replace(
        description,
        links=tuple(links),
        joints=tuple(joints),
        home={_names(name, drives)[0]: position for name, position in description.home.items()},
        independent=tuple(independent),
        transmissions=tuple(_coupled(each, drives) for each in description.transmissions),
    )


def _refuse_unfit(description: Description, joint: JointDescription) -> None:
    followers = [other.name for other in description.joints if other.mimic and other.mimic.joint == joint.name]
    reasons = {
        f"it is {joint.kind}": joint.motion.nv != 1 or bool(joint.pitch),
        f"it follows joint {joint.mimic.joint!r}" if joint.mimic else "": joint.mimic is not None,
        f"joint {followers[0]!r} follows it" if followers else "": bool(followers),
        f"it is {joint.role}, without a motor": joint.role != "active",
        "it has a spring of its own": joint.stiffness != 0,
    }
    for reason, holds in reasons.items():
        if holds:
            raise ModelError(
                f"joint {joint.name!r} cannot have an elastic drive: {reason}",
                where=description.name,
                expected="a revolute, continuous or prismatic joint with a motor, that moves on its own",
            )


def _in_series(joint: JointDescription, drive: ElasticDrive) -> list[JointDescription]:
    motor, spring = _names(joint.name, {joint.name: drive})
    kind = joint.motion.unlimited or joint.kind
    return [
        replace(joint, name=motor, child=_rotor(joint), rotor_inertia=drive.motor_inertia),
        JointDescription(
            spring, kind, _rotor(joint), joint.child, Placement(), joint.axis,
            role="elastic", stiffness=drive.stiffness, viscous=drive.damping, rest=drive.rest,
        ),
    ]  # fmt: skip


def _names(joint: str, drives: Mapping[str, ElasticDrive]) -> tuple[str, ...]:
    """The joints in the place of ``joint``."""
    return (f"{joint}_motor", joint) if joint in drives else (joint,)


def _coupled(transmission: Transmission, drives: Mapping[str, ElasticDrive]) -> Transmission:
    """Its motors turn the motors of elastic joints; what is passive sees the link, which is at the sum of both."""
    places = [_names(name, drives) for name in transmission.joints]
    if all(motor.driven for motor in transmission.motors):
        return replace(transmission, joints=tuple(names[0] for names in places))
    matrix = []
    for motor, row in zip(transmission.motors, transmission.matrix, strict=True):
        shares = ((ratio, 0.0 if motor.driven else ratio)[: len(each)] for ratio, each in zip(row, places, strict=True))
        matrix.append(tuple(x for share in shares for x in share))
    return replace(transmission, joints=tuple(name for names in places for name in names), matrix=tuple(matrix))


def _rotor(joint: JointDescription) -> str:
    return f"{joint.name}_rotor"


def _massless() -> LinkInertia:
    return LinkInertia(0.0, np.zeros(3), np.zeros((3, 3)))
