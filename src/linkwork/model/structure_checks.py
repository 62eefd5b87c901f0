"""Checks of the structure other than the tree: constraints, roles of joints, home, drives and transmissions.

Whether loops can be closed, how many degrees of freedom they leave for how many motors, and where closing them leads is
checked when they are closed: see ``linkwork.constraints``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..errors import counted, nearest
from .description import ConstraintDescription, Description, Finding, JointDescription
from .drive import Drive, JointValues, Transmission
from .element import HUGE, Fault
from .joints import JointKind

SAME = 1e-9  # metres and radians: two axes this close are one


def check_structure(description: Description) -> Iterator[Finding]:
    """Check everything here that does not need a sound tree."""
    yield from _constraints(description)
    yield from _roles(description)
    yield from _home(description)
    yield from _independent(description)
    yield from _transmissions(description)


def is_finite(values: ArrayLike) -> bool:
    """Whether all values are numbers whose squares do not overflow."""
    return bool((np.abs(values) < HUGE).all())


def is_position(kind: JointKind, numbers: Iterable[float]) -> bool:
    """Whether positions of a joint can be normalised: a quaternion of length zero cannot."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(kind.normalised([np.array([x], float) for x in numbers])).all())


# -- constraints, roles, home ------------------------------------------------------------------------------------------


def _constraints(description: Description) -> Iterator[Finding]:
    links = {link.name: None for link in description.links}
    root = next((name for name in links if name not in {joint.child for joint in description.joints}), None)
    for group in (description.permanent, description.switched):
        counts = Counter(each.name for each in group)
        for each in {each.name: each for each in group if counts[each.name] > 1}.values():
            word, many = (each.kind.word, each.kind.plural) if each.kind.switched else ("loop", "loops")
            message = f"{counts[each.name]} {many} have this name"
            yield Finding("error", description.place(word, each.name), message, "rename all but one")
    for each in description.constraints:
        where = description.place(each.kind.word, each.name)
        for message, fix, level in _faults(description, each, links, root):
            yield Finding(level, where, message, fix)


def _faults(
    description: Description, constraint: ConstraintDescription, links: Mapping[str, None], root: str | None
) -> Iterator[Fault]:
    yield from constraint.kind.check(description, constraint)
    for name, side in constraint.sides.items():
        link, placement = side
        if link not in links and not (getattr(constraint.kind, name).ground and not link):
            yield Fault(f"its {name} side is on link {link!r}, which does not exist", nearest(link, links))
        if not is_finite(np.append(placement.rotation, placement.translation)):
            yield Fault(f"the placement of its {name} side is not finite", "write finite numbers")
    if isinstance(constraint.second, str):
        if not description.link_of(constraint.second):
            frames = [*links, *description.frames]
            yield Fault(f"there is no frame {constraint.second!r}", nearest(constraint.second, frames))
        return
    first, second = constraint.first[0], constraint.second[0]
    on_ground = not (first or description.floating) and second == root
    if (first == second or on_ground) and not constraint.kind.coordinates:
        message = f"both of its sides are on {'the ground' if on_ground else f'link {first!r}'}"
        yield Fault(message, "join two links that move relative to each other")


def _roles(description: Description) -> Iterator[Finding]:
    for joint in description.joints:
        where = description.place("joint", joint.name)
        if joint.role != "active" and (reason := _has_no_coordinate(joint)):
            yield Finding("error", where, f"its role is {joint.role}, but {reason}", "leave its role out")
        elif joint.role == "elastic" and not joint.stiffness > 0 and not joint.motion.modes:
            fix = "give its stiffness (K in `drives`, <linkwork stiffness> in URDF), or make it passive"
            yield Finding("error", where, f"it is elastic, but its stiffness is {joint.stiffness:g}", fix)


def _home(description: Description) -> Iterator[Finding]:
    for name, joint in _named(description, description.home, "home"):
        if isinstance(joint, Finding):
            yield joint
            continue
        where, position = description.place("joint", name), description.home[name]
        numbers = np.atleast_1d(np.asarray(position, float))
        if reason := _has_no_coordinate(joint):
            yield Finding("error", where, f"`home` names it, but {reason}", "leave it out of `home`")
        elif not is_finite(numbers):
            yield Finding("error", where, f"its home position is not finite: {position}", "write a finite number")
        elif numbers.shape != (joint.motion.nq,):
            message = f"its home position has {counted(numbers.size, 'number')}, a {joint.kind} joint {joint.motion.nq}"
            yield Finding("error", where, message, f"give {', '.join(joint.motion.position_parts) or 'one number'}")
        elif not is_position(joint.motion, numbers):
            message = f"its home position is a quaternion of length zero: {position}"
            yield Finding("error", where, message, "give one of length one: 0, 0, 0, 1 is no rotation")
        elif joint.motion.bounded and not joint.lower <= numbers[0] <= joint.upper:
            message = f"its home position {numbers[0]:g} is outside its limits {joint.lower:g} and {joint.upper:g}"
            yield Finding("warning", where, message, "choose a home position the joint can reach")


def _independent(description: Description) -> Iterator[Finding]:
    counts = Counter(description.independent)
    for name, joint in _named(description, counts, "independent", parts=True):
        where = description.place("joint", name)
        if isinstance(joint, Finding):
            yield joint
        elif reason := _has_no_coordinate(joint):
            yield Finding("error", where, f"`independent` names it, but {reason}", "leave it out of `independent`")
        elif counts[name] > 1:
            yield Finding("error", where, "`independent` names it twice", "name it once")
    if description.independent and not description.permanent:
        message = "`independent` has no effect without loops: every joint is independent"
        yield Finding("warning", description.place(), message, "remove it, or describe the loops")


def _named(
    description: Description, names: Iterable[str], table: str, parts: bool = False
) -> Iterator[tuple[str, JointDescription | Finding]]:
    """The joint of each name, or the one that has a velocity of that name; a finding if there is none."""
    joints = description.all_joints()
    freedoms = {name: joint for joint in joints.values() for name in joint.freedoms} if parts else {}
    if parts:  # a moving base is independent as a whole unless a constraint holds it
        joints = {joint.name: joint for joint in description.joints}
    for name in names:
        message = f"`{table}` names joint {name!r}, which does not exist"
        missing = Finding("error", description.place(), message, nearest(name, joints | freedoms))
        yield name, joints.get(name) or freedoms.get(name) or missing


def _has_no_coordinate(joint: JointDescription) -> str:
    """Why the joint has no coordinate; empty if it has one."""
    return "it is fixed" if not joint.motion.nv else f"it follows {joint.mimic.joint!r}" if joint.mimic else ""


# -- drives and transmissions ------------------------------------------------------------------------------------------


def check_values(where: str, drive: Drive) -> Iterator[Finding]:
    """Check the values of a joint or motor: numbers, or arrays with one entry for each sample."""
    for message, fix, level in drive.faults():
        yield Finding(level, where, message, fix)


def check_spring(where: str, joint: JointValues, kind: JointKind) -> Iterator[Finding]:
    """Check that a kind of joint can have its spring."""
    if joint.stiffness and not kind.has_spring:
        message = f"a {kind.name} joint cannot have a spring, since its direction would be ambiguous"
        yield Finding("error", where, message, "use joints with fewer degrees of freedom, or a force law")
    elif joint.rest and not kind.straight:
        message = f"the spring of a {kind.name} joint rests at zero rotation, not at {joint.rest:g}"
        yield Finding("error", where, message, "leave out `rest`, and rotate the joint's origin instead")


def check_massless_motors(description: Description) -> Iterator[Finding]:
    """Check elastic drives for motors without inertia; needs a sound tree."""
    to_link = {joint.child: joint for joint in description.joints}
    inertia = {link.name: link.inertia for link in description.links}
    with_rotors = {name for each in description.transmissions if each.has_rotors for name in each.joints}
    joints_of = Counter(joint.parent for joint in description.joints)
    joints_of.update(link for each in description.permanent for link, _ in each.sides.values())
    for spring in description.joints:
        motor, between = to_link.get(spring.parent), inertia[spring.parent]
        if spring.role != "elastic" or motor is None or motor.motion.nv != 1 or motor.rotor_inertia:
            continue
        massless = between is None or not (between.mass or between.central.any())
        alone = massless and joints_of[spring.parent] == 1 and _one_axis(motor, spring)
        if alone and motor.name not in with_rotors:
            message = f"it turns nothing but the elastic joint {spring.name!r}, so its acceleration is undefined"
            where = description.place("joint", motor.name)
            yield Finding("warning", where, message, "give it the motor's rotor inertia (Ia)")


def _one_axis(motor: JointDescription, spring: JointDescription) -> bool:
    """Whether the two joints move the same way at all positions."""
    if motor.motion.turning != spring.motion.turning:
        return False
    along, direction = (axis / np.linalg.norm(axis) for axis in (motor.axis, spring.origin.rotation @ spring.axis))
    arm = np.zeros(3) if not any(motor.motion.turning) else spring.origin.translation
    return bool(np.abs(np.cross(along, [direction, arm])).max() < SAME)


def _transmissions(description: Description) -> Iterator[Finding]:
    joints = {joint.name: joint for joint in description.joints}
    for name, count in Counter(motor.name for each in description.transmissions for motor in each.motors).items():
        if count > 1 or name in joints:
            message = "a joint has this name" if name in joints else f"{count} motors have this name"
            yield Finding("error", description.place("motor", name), message, "give each motor its own name")
    for name, count in Counter(each.name for each in description.transmissions).items():
        if count > 1:
            where = description.place("transmission", name)
            yield Finding("error", where, f"{count} transmissions have this name", "rename all but one")
    for each in description.transmissions:
        where = description.place("transmission", each.name)
        errors = [Finding("error", where, *fault) for fault in (*_matrix(each), *_joints(each, joints))]
        yield from errors
        if not errors and np.linalg.matrix_rank(np.array(each.matrix)) < len(each.motors):
            message = f"its motors cannot move independently: the rows of its matrix {each.matrix} are dependent"
            yield Finding("warning", where, message, "give one motor for each degree of freedom, and its ratios")


def _matrix(each: Transmission) -> Iterator[tuple[str, str]]:
    """What is wrong with the matrix of a transmission, and the fix."""
    n, m = len(each.joints), len(each.motors)
    if not n or not m or len(each.matrix) != m or any(len(row) != n for row in each.matrix):
        sizes = f"{len(each.matrix)} rows of {', '.join(str(len(row)) for row in each.matrix)}"
        message = f"its matrix has {sizes} ratios, for {m} motors and {n} joints"
        yield message, "give each motor one ratio for each joint"
    elif not is_finite(each.matrix):
        yield f"its ratios are not finite: {each.matrix}", "write finite numbers"


def _joints(each: Transmission, joints: dict[str, JointDescription]) -> Iterator[tuple[str, str]]:
    """What is wrong with the joints of a transmission, and the fix."""
    for name, count in Counter(each.joints).items():
        if count > 1:
            yield f"it names joint {name!r} {count} times", "name each joint once"
        if name not in joints:
            yield f"its joint {name!r} does not exist", f"name joints of the robot: {', '.join(list(joints)[:20])}"
        elif joints[name].motion.nv != 1:
            yield f"its joint {name!r} is {joints[name].kind}", "name joints with one degree of freedom"
        elif joints[name].mimic:
            message = f"its joint {name!r} follows another one"
            yield message, "name the joint that it follows, with the ratios of both"
