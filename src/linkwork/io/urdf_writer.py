"""Writer of URDF. Every number is written so that it reads back as the same double.

URDF has no elements for springs and gravity. They are written as ``<linkwork>`` elements, which other readers skip.
Loops, flexible links, roles of joints and forces go to a side file (``structure_file``). Rotations become roll, pitch
and yaw; an angle within 1e-10 of a quarter turn reads back as that turn.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from math import isfinite
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from ..errors import UnsupportedError
from ..model.description import STANDARD_GRAVITY, Description, JointDescription, LinkInertia, Placement
from ..model.joints import FIXED, FLOATING
from ..model.validate import check, raise_errors
from .findings import unused_name
from .rpy import rpy_from_rotation
from .urdf import LIMITED, TYPES


def write_urdf(description: Description) -> str:
    """Return the URDF text of a description. Refuses one with errors that ``check`` finds.

    Extra frames become massless links on fixed joints, a floating base a ``floating`` joint from a link ``world``.
    """
    raise_errors(check(description))
    _require_types(description)
    robot = Element("robot", name=description.name)
    if tuple(description.gravity) != STANDARD_GRAVITY:
        SubElement(robot, "linkwork", gravity=_words(description.gravity))
    link_names = {link.name for link in description.links} | set(description.frames)
    joint_names = {joint.name for joint in description.joints}
    for name in (description.name, *sorted(link_names | joint_names)):
        if not name:
            where, fix = f"robot {description.name!r}", "name all links and joints, and the robot"
            raise UnsupportedError("URDF cannot hold an empty name", where=where, fix=fix)

    if description.floating:
        world = unused_name("world", link_names)
        SubElement(robot, "link", name=world)
        _joint(
            robot, JointDescription(unused_name("floating_base", joint_names), FLOATING.name, world, description.root)
        )
    for link in description.links:
        element = SubElement(robot, "link", name=link.name)
        if link.inertia is not None:
            _inertial(element, link.inertia)
    for joint in description.joints:
        _joint(robot, joint)
    for name, (link, placement) in description.frames.items():
        SubElement(robot, "link", name=name)
        _joint(robot, JointDescription(unused_name(f"{name}_joint", joint_names), FIXED.name, link, name, placement))
    for joint in description.joints:
        if joint.rotor_inertia and joint.motion.nv:
            _transmission(robot, joint)

    indent(robot)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(robot, encoding="unicode") + "\n"


def _require_types(description: Description) -> None:
    """Refuse joints that URDF does not have, and a floating joint that it would read as a floating base."""
    for joint in description.joints:
        if joint.kind not in TYPES and not joint.motion.modes:
            raise UnsupportedError(
                f"URDF has no {joint.kind} joints",
                where=f"joint {joint.name!r}",
                expected=f"one of: {', '.join(TYPES)}",
                fix="write YAML, or replace it by several joints with massless links between (other coordinates)",
            )
    root = description.root
    touching = [joint for joint in description.outgoing()[root] if not description.floating]
    framed = any(link == root for link, _ in description.frames.values())
    if len(touching) == 1 and touching[0].motion.free and not framed:
        raise UnsupportedError(
            "in URDF this platform would be a floating base",
            where=f"joint {touching[0].name!r}",
            fix="write YAML, or put a frame on the root link",
        )


def _inertial(link: Element, inertia: LinkInertia) -> None:
    inertial, i = SubElement(link, "inertial"), inertia.central
    _origin(inertial, Placement(translation=inertia.center))
    SubElement(inertial, "mass", value=_word(inertia.mass))
    entries = {"ixx": i[0, 0], "ixy": i[0, 1], "ixz": i[0, 2], "iyy": i[1, 1], "iyz": i[1, 2], "izz": i[2, 2]}
    SubElement(inertial, "inertia", {name: _word(entry) for name, entry in entries.items()})


def _joint(robot: Element, joint: JointDescription) -> None:
    kind = FIXED.name if joint.motion.modes else joint.kind  # the side file has the modes
    element = SubElement(robot, "joint", name=joint.name, type=kind)
    _origin(element, joint.origin)
    SubElement(element, "parent", link=joint.parent)
    SubElement(element, "child", link=joint.child)
    if not joint.motion.nv or joint.motion.modes:
        return
    if joint.motion.directions:
        SubElement(element, "axis", xyz=_words(joint.axis))
    limits = {"effort": joint.effort_limit, "velocity": joint.velocity_limit}
    if joint.kind in LIMITED:
        limits |= {"lower": joint.lower, "upper": joint.upper}
    if joint.motion.nv == 1 or any(map(isfinite, limits.values())):
        SubElement(element, "limit", {name: _word(limit) for name, limit in limits.items()})
    if joint.viscous or joint.coulomb:
        SubElement(element, "dynamics", damping=_word(joint.viscous), friction=_word(joint.coulomb))
    if joint.mimic is not None:
        follows = {"multiplier": _word(joint.mimic.multiplier), "offset": _word(joint.mimic.offset)}
        SubElement(element, "mimic", {"joint": joint.mimic.joint, **follows})
    if joint.stiffness or joint.rest:
        SubElement(element, "linkwork", stiffness=_word(joint.stiffness), rest=_word(joint.rest))


def _origin(element: Element, placement: Placement) -> None:
    SubElement(element, "origin", xyz=_words(placement.translation), rpy=_words(rpy_from_rotation(placement.rotation)))


def _transmission(robot: Element, joint: JointDescription) -> None:
    transmission = SubElement(robot, "transmission", name=f"{joint.name}_transmission")
    SubElement(transmission, "type").text = "transmission_interface/SimpleTransmission"
    SubElement(transmission, "joint", name=joint.name)
    actuator = SubElement(transmission, "actuator", name=f"{joint.name}_motor")
    SubElement(actuator, "mechanicalReduction").text = "1"
    SubElement(actuator, "rotorInertia").text = _word(joint.rotor_inertia)


def _word(number: float) -> str:
    """Return the shortest decimal that reads back as this double.

    Other readers refuse ``inf`` in limits, so an infinite limit is written as the largest double.
    """
    number = float(number)
    return repr(number if isfinite(number) else sys.float_info.max * (1 if number > 0 else -1))


def _words(numbers: Iterable[float] | np.ndarray) -> str:
    return " ".join(_word(number) for number in numbers)
