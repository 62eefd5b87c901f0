"""The elastic drive: a motor, the spring of its gear, and the link, as two joints in series on one axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..errors import ModelError, UnknownNameError
from .description import Description, JointDescription, Link, LinkInertia, Placement
from .drive import Transmission
from .element import Element, number, positive


@dataclass(frozen=True)
class ElasticDrive(Element):
    """A motor that drives its joint through a spring, with all values seen at the joint (after the gear).

    Args:
        stiffness: of the spring, N m/rad or N/m.
        motor_inertia: rotor inertia times the gear ratio squared, kg m^2 or kg.
        damping: of the spring, N m s/rad or N s/m.
        rest: position of the spring without force, rad or m.

    Raises:
        ModelError: if a value is out of range.

    Example:
        >>> drive = linkwork.ElasticDrive(stiffness=5000.0, motor_inertia=0.5)
        >>> linkwork.load("panda", elastic={"panda_joint1": drive}).nv
        8
    """

    stiffness: float = positive(fix="leave a rigid joint out")
    motor_inertia: float = positive()
    damping: float = number(0.0, least=0)
    rest: float = number(0.0)

    def __post_init__(self):
        self.convert()


def with_elastic_drives(description: Description, drives: Mapping[str, ElasticDrive]) -> Description:
    """Return the robot with elastic drives in the named joints: NAME becomes NAME_motor and NAME, on the same axis.

    NAME_motor is active and has the limits and the friction of NAME; NAME is elastic, and its position is the
    deflection of the spring. Their sum is the position of the original joint. The massless link NAME_rotor is between
    them.
    """
    by_name = {joint.name: joint for joint in description.joints}
    if not isinstance(drives, Mapping):
        raise ModelError("elastic drives are given by joint", got=repr(drives), expected="{joint: ElasticDrive(...)}")
    for name, drive in drives.items():
        if name not in by_name:
            raise UnknownNameError("joint", name, by_name, where=description.name)
        if not isinstance(drive, ElasticDrive):
            raise ModelError(
                f"joint {name!r} needs an elastic drive",
                where=description.name,
                got=repr(drive),
                expected="ElasticDrive(stiffness=..., motor_inertia=...)",
            )
        _refuse_unfit(description, by_name[name])
    joints, links = [], []
    for joint in description.joints:
        joints += _in_series(joint, drives[joint.name]) if joint.name in drives else [joint]
    rotors = {joint.child: _rotor(joint) for joint in description.joints if joint.name in drives}
    for link in description.links:
        links += [Link(rotors[link.name], LinkInertia(0.0)), link] if link.name in rotors else [link]
    return replace(
        description,
        links=tuple(links),
        joints=tuple(joints),
        home={_names(name, drives)[0]: position for name, position in description.home.items()},
        independent=tuple(each for name in description.independent for each in _names(name, drives)),
        transmissions=tuple(_coupled(each, drives) for each in description.transmissions),
    )


def _refuse_unfit(description: Description, joint: JointDescription) -> None:
    """Raise ModelError if the joint cannot have an elastic drive."""
    followers = [other.name for other in description.joints if other.mimic and other.mimic.joint == joint.name]
    reasons = {
        f"it is {joint.kind}": joint.motion.nv != 1 or bool(joint.pitch),
        f"it follows joint {joint.mimic.joint!r}" if joint.mimic else "": joint.mimic is not None,
        f"joint {followers[0]!r} follows it" if followers else "": bool(followers),
        f"it is {joint.role}, without a motor": joint.role != "active",
        "it already has a spring": joint.stiffness != 0,
    }
    for reason, holds in reasons.items():
        if holds:
            raise ModelError(
                f"joint {joint.name!r} cannot have an elastic drive: {reason}",
                where=description.name,
                expected="a revolute, continuous or prismatic joint with a motor and without mimic",
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
    """Names of the joints that replace ``joint``."""
    return (f"{joint}_motor", joint) if joint in drives else (joint,)


def _coupled(transmission: Transmission, drives: Mapping[str, ElasticDrive]) -> Transmission:
    """The transmission with elastic joints: its motors turn theirs; passive ones see the link, the sum of both."""
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
