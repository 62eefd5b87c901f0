"""Reader of URDF: everything in the file that affects the dynamics, and a warning for everything that is not used.

Malformed XML and numbers raise ModelError at once; other errors become findings that ``check`` lists. As in the
specification, the default ``<axis>`` is x, and ``lower`` and ``upper`` of a ``<limit>`` are 0 by default. The axis of a
planar joint is the normal of its plane; positions of planar and floating joints count from their ``<origin>``.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable

import numpy as np

from ..model.conventions import XYZ_RPY
from ..model.description import (
    STANDARD_GRAVITY,
    Description,
    JointDescription,
    Link,
    LinkInertia,
    Mimic,
    Placement,
    Written,
)
from ..model.joints import FIXED, joint_kind
from ..model.pseudo_inertia import symmetric
from ..model.rotations import exact_angle, rotation_from_rpy
from .findings import Findings
from .other_formats import OTHERS, SDF
from .rpy import EXACT, is_rounded_quarter_turn, rotation_from_quaternion
from .xml import Element, parse_xml, repair_warnings

TYPES = ("revolute", "continuous", "prismatic", "planar", "floating", "fixed")  # also names of our kinds
LIMITED = ("revolute", "prismatic")  # types that must have a <limit>
ROTOR = ("rotorInertia", "rotor_inertia", "motorInertia", "motor_inertia")
REDUCTION = ("mechanicalReduction", "mechanical_reduction", "gearRatio", "gear_ratio")
INERTIA = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")

# What is read: tag -> its attributes and children. Tags in OPAQUE do not affect the dynamics; of a transmission,
# `rotor_inertias` reads the rotor inertia. Anything else gives a warning.
OPAQUE = {"visual", "collision", "material", "gazebo", "sensor", "ros2_control"}
OPAQUE |= {"transmission", "safety_controller", "calibration", *ROTOR, *REDUCTION}
KNOWN: dict[str, tuple[set[str], set[str]]] = {
    "robot": (
        {"name", "version"},
        {"link", "joint", "transmission", "material", "gazebo", "sensor", "ros2_control", "linkwork"},
    ),
    "link": ({"name"}, {"inertial", "visual", "collision", "material", "gazebo", "sensor"}),
    "inertial": (set(), {"origin", "mass", "inertia"}),
    "origin": ({"xyz", "rpy", "quat_xyzw"}, set()),
    "mass": ({"value"}, set()),
    "inertia": (set(INERTIA), set()),
    "joint": (
        {"name", "type"},
        {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "linkwork"}
        | {"safety_controller", "calibration", "gazebo", *ROTOR, *REDUCTION},
    ),
    "parent": ({"link"}, set()),
    "child": ({"link"}, set()),
    "axis": ({"xyz"}, set()),
    "limit": ({"lower", "upper", "velocity", "effort"}, set()),
    "dynamics": ({"damping", "friction"}, set()),
    "mimic": ({"joint", "multiplier", "offset"}, set()),
    "linkwork": ({"gravity", "stiffness", "rest"}, set()),  # our extension, see urdf_writer
}


def read_urdf(text: str | bytes, source: str = "") -> Description:
    """Return the robot in a URDF text. ``source`` is the name of the file in messages."""
    robot = parse_xml(text, source)
    if robot.tag != "robot":
        fixes = {"mujoco": "this is MJCF: name the file .xml or .mjcf", "sdf": f"this is SDF: {SDF}"}
        fix = fixes.get(robot.tag, "give the file that describes the robot")
        robot.fail("this is not a URDF file", f"<{robot.tag}>", '<robot name="...">', fix)
    for element in robot.walk():
        if element.prefix == "xacro":
            kind, fix = OTHERS[".xacro"]
            element.fail(f"this is {kind}", f"<xacro:{element.tag}>", "plain URDF", fix)
    return _Reader(robot).description()


class _Reader:
    """Reads one file."""

    def __init__(self, robot: Element):
        self.robot = robot
        self.joint_names = {element.attributes.get("name") for element in robot.all("joint")}
        self.findings = Findings()

    def description(self) -> Description:
        robot = self.robot
        self.warn_of_unread(robot)
        if not robot.attributes.get("name"):
            self.warn(robot, "the robot has no name", 'write <robot name="...">')
        links = [self.link(element) for element in robot.all("link")]
        rotors = self.rotor_inertias()
        joints = [self.joint(element, rotors) for element in robot.all("joint")]
        base = self.floating_base(joints)
        if base is not None:
            joints.remove(base)
            links = [link for link in links if link.name != base.parent]
        extension = robot.child("linkwork")
        gravity = extension.numbers("gravity", 3, STANDARD_GRAVITY) if extension else STANDARD_GRAVITY
        return Description(
            name=robot.attributes.get("name") or "robot",
            links=tuple(links),
            joints=tuple(joints),
            gravity=(gravity[0], gravity[1], gravity[2]),
            floating=base is not None,
            findings=(*sorted(self.findings.listed(), key=lambda x: x.level), *repair_warnings(robot.mistakes)),
            source=robot.source,
        )

    def link(self, element: Element) -> Link:
        name = element.attribute("name")
        inertial = element.child("inertial")
        if inertial is None:
            return Link(name)
        mass_element = inertial.child("mass")
        if mass_element is None:  # Pinocchio ignores it, too
            message = "its <inertial> has no <mass> and is ignored"
            self.ignore(inertial, message, 'add <mass value="..."/>', at_load=True)
            return Link(name)
        mass = mass_element.number("value")
        inertia = inertial.required("inertia", '<inertia ixx="..." iyy="..." izz="..." ixy="..." ixz="..." iyz="..."/>')
        xx, yy, zz, xy, xz, yz = (inertia.number(entry) for entry in INERTIA)
        origin = self.placement(inertial)
        with np.errstate(over="ignore", invalid="ignore"):  # `check` reports absurd numbers
            central = origin.rotation @ symmetric([xx, xy, xz, yy, yz, zz]) @ origin.rotation.T
            return Link(name, LinkInertia(mass, origin.translation, (central + central.T) / 2))

    def joint(self, element: Element, rotors: dict[str, float]) -> JointDescription:
        name, kind = element.attribute("name"), element.attribute("type")
        parent = element.required("parent", '<parent link="..."/>').attribute("link")
        child = element.required("child", '<child link="..."/>').attribute("link")
        origin = self.placement(element)
        if kind not in TYPES:
            fix = f"use {', '.join(TYPES)}, several of them with massless links between, or YAML, which has all kinds"
            self.findings.add("error", element.where, f"joints of type {kind!r} are not supported", fix)
            kind = FIXED.name
        motion = joint_kind(kind)
        if motion.nv != 1 and element.child("mimic"):
            message = f"a {kind} joint cannot follow another; its <mimic> is ignored"
            self.ignore(element, message, "remove the <mimic>", at_load=bool(motion.nv))
        if not motion.nv:  # nothing else affects such a joint
            return JointDescription(name, kind, parent, child, origin)
        lower, upper, velocity, effort = self.limits(element, kind)

        def number(tag: str, attribute: str) -> float:
            holder = element.child(tag)
            return holder.number(attribute, 0.0) if holder else 0.0

        return JointDescription(
            name=name,
            kind=kind,
            parent=parent,
            child=child,
            origin=origin,
            axis=self.axis(element) if motion.directions else np.array([0.0, 0.0, 1.0]),
            lower=lower,
            upper=upper,
            velocity_limit=velocity,
            effort_limit=effort,
            rotor_inertia=rotors.get(name, 0.0) + self.rotor_inertia([element]),
            coulomb=number("dynamics", "friction"),
            viscous=number("dynamics", "damping"),
            stiffness=number("linkwork", "stiffness"),
            rest=number("linkwork", "rest"),
            mimic=self.mimic(element) if motion.nv == 1 else None,
            role="passive" if motion.free else JointDescription.role,
        )

    @staticmethod
    def axis(element: Element) -> np.ndarray:
        axis = element.child("axis")
        return np.array(axis.numbers("xyz", 3) if axis else (1.0, 0.0, 0.0))

    def limits(self, element: Element, kind: str) -> tuple[float, float, float, float]:
        """Return lower, upper, velocity and effort limits; the largest double means none (see ``urdf_writer``)."""
        limit = element.child("limit")
        bounded = kind in LIMITED
        if limit is None:
            if bounded:
                self.warn(element, f"a {kind} joint has no <limit>, so it is unlimited", "add a <limit>")
            return -math.inf, math.inf, math.inf, math.inf
        if bounded and not limit.attributes.keys() & {"lower", "upper"}:
            self.warn(limit, "'lower' and 'upper' are missing; both default to 0: no range", "add them")
        if joint_kind(kind).nv > 1 and limit.attributes.keys() & {"lower", "upper"}:
            self.ignore(limit, f"'lower' and 'upper' of a {kind} joint are ignored", "remove them")
        lower = limit.number("lower", 0.0, infinite=True) if bounded else -math.inf
        upper = limit.number("upper", 0.0, infinite=True) if bounded else math.inf
        velocity, effort = (limit.number(name, math.inf, infinite=True) for name in ("velocity", "effort"))
        largest = sys.float_info.max
        upper, velocity, effort = (math.inf if x == largest else x for x in (upper, velocity, effort))
        return -math.inf if lower == -largest else lower, upper, velocity, effort

    def mimic(self, element: Element) -> Mimic | None:
        mimic = element.child("mimic")
        if mimic is None:
            return None
        leader = mimic.attribute("joint")
        if leader not in self.joint_names:
            # Robot hands of some vendors have such leftovers, and other readers load them.
            message = f"there is no joint {leader!r}, so <mimic> is ignored"
            self.warn(mimic, message, "correct or remove the <mimic>", at_load=True)
            return None
        return Mimic(leader, mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))

    def rotor_inertias(self) -> dict[str, float]:
        """Return the reflected rotor inertias in ``<transmission>`` elements, by joint."""
        total: dict[str, float] = {}
        for transmission in self.robot.all("transmission"):
            if not any(element.tag in ROTOR for element in transmission.walk()):
                continue
            joints = transmission.all("joint")
            name = joints[0].attribute("name") if len(joints) == 1 else None
            if name not in self.joint_names or name is None:
                reason = f"it drives {len(joints)} joints" if name is None else f"there is no joint {name!r}"
                message = f"its rotor inertia is ignored: {reason}"
                self.ignore(transmission, message, "give each joint a <transmission>", at_load=True)
                continue
            for motor in transmission.all("actuator") or [joints[0]]:
                holders = dict.fromkeys((motor, joints[0], transmission))  # one element may be two of them
                total[name] = total.get(name, 0.0) + self.rotor_inertia(holders)
        return total

    @staticmethod
    def rotor_inertia(holders: Iterable[Element]) -> float:
        """Return the first rotor inertia among the children of the holders, times their gear ratios squared."""
        holders = list(holders)
        rotors = [child.value() for holder in holders for child in holder.all(*ROTOR)]
        if not rotors:
            return 0.0
        reduction = math.prod(child.value() for holder in holders for child in holder.all(*REDUCTION))
        return rotors[0] * reduction * reduction

    def floating_base(self, joints: list[JointDescription]) -> JointDescription | None:
        """Return the floating joint between the root and its only child, which makes the base float, if there is one.

        Any other floating joint lets a body move relative to its parent.
        """
        touching = Counter(link for joint in joints for link in (joint.parent, joint.child))
        for element, joint in zip(self.robot.all("joint"), joints, strict=True):
            if joint.motion.free and touching[joint.parent] == 1:
                if joint.origin.translation.any() or (joint.origin.rotation != np.eye(3)).any():
                    tilted = bool((joint.origin.rotation != np.eye(3)).any())  # relative to gravity
                    message = "the origin of a floating joint is ignored: the pose of the base is a coordinate"
                    self.ignore(element, message, at_load=tilted)
                if joint.viscous or joint.coulomb or joint.rotor_inertia or joint.stiffness:
                    self.ignore(element, "friction, rotor and spring of a floating base are ignored", at_load=True)
                return joint
        return None

    def placement(self, element: Element) -> Placement:
        origin = element.child("origin")
        if origin is None:
            return Placement()
        translation = np.array(origin.numbers("xyz", 3, (0.0, 0.0, 0.0)))
        angles = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
        for word in origin.attributes.get("rpy", "").split():
            if is_rounded_quarter_turn(word):
                message = f"the angle {word.lstrip('+-')} looks like a rounded multiple of pi/2; it is used as written"
                self.warn(origin, message, "write at least eleven decimals, e.g. 1.57079632679")
        if "quat_xyzw" not in origin.attributes:
            values = *translation.tolist(), *(exact_angle(angle, EXACT) for angle in angles)
            return Placement(rotation_from_rpy(*angles, exact=EXACT), translation, Written(XYZ_RPY, values))
        quaternion = origin.numbers("quat_xyzw", 4)
        if "rpy" in origin.attributes or not any(quaternion):
            got, expected = ", ".join(sorted(origin.attributes)[:20]), "either rpy or a quat_xyzw that is not zero"
            origin.fail("the rotation is not defined", got, expected, "keep one of the two")
        return Placement(rotation_from_quaternion(*quaternion), translation)

    def warn_of_unread(self, element: Element) -> None:
        """Warn of unknown tags and attributes, and of repetitions."""
        attributes, children = KNOWN[element.tag]
        for name in element.attributes:
            if name not in attributes and name.split(":")[0] not in ("xmlns", "xml", "xsi"):
                self.ignore(element, f"attribute {name!r} of <{element.tag}> is unknown and ignored")
        tags: set[str] = set()
        for child in element.children:
            if child.tag not in children:
                self.ignore(child, f"<{child.tag}> in <{element.tag}> is unknown and ignored")
            elif child.tag in tags and element is not self.robot and child.tag not in OPAQUE:
                message = f"a second <{child.tag}> in one <{element.tag}> is ignored"
                self.ignore(child, message, "keep one of them", at_load=child.tag != "limit")
            elif child.tag not in OPAQUE:
                self.warn_of_unread(child)
            tags.add(child.tag)

    def warn(self, element: Element, message: str, fix: str = "", **flags: bool) -> None:
        self.findings.add("warning", element.where, message, fix, **flags)

    def ignore(self, element: Element, message: str, fix: str = "", *, at_load: bool = False) -> None:
        """Warn of something that is left out."""
        self.warn(element, message, fix, at_load=at_load, unread=True)
