"""What is wrong with the structure beyond the bare tree: constraints, roles of joints, home, floating joints.

Whether loops can close, how many freedoms they leave for how many motors, and where closing them leads is told when
they are closed: see ``linkwork.constraints``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ..errors import nearest
from .description import ConstraintDescription, Description, Finding, JointDescription, Placement
from .element import HUGE, Fault
from .joints import JointKind

SAME = 1e-9  # metres and radians: two axes this close are one


def place(description: Description, element: str = "", name: str = "") -> str:
    """Where a finding is: the file, and one of its elements or the whole robot."""
    named = f"{element} {name!r}" if element else f"robot {description.name!r}"
    return f"{description.source}: {named}" if description.source else named


def check_structure(description: Description) -> Iterator[Finding]:
    yield from _constraints(description)
    yield from _roles(description)
    yield from _home(description)
    yield from _independent(description)


def tells_position(kind: JointKind, numbers: Iterable[float]) -> bool:
    """Whether they can be normalised: a quaternion of no length cannot."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(kind.normalised([np.array([x], float) for x in numbers])).all())


def check_drives(description: Description) -> Iterator[Finding]:
    """Elastic drives without a motor's inertia. Needs a sound tree."""
    inner = {joint.child: joint for joint in description.joints}
    inertia = {link.name: link.inertia for link in description.links}
    shared = {name for each in description.transmissions if each.has_rotors for name in each.joints}
    held = Counter(joint.parent for joint in description.joints)
    held.update(link for each in description.permanent for link, _ in each.sides.values())
    for spring in description.joints:
        motor, own = inner.get(spring.parent), inertia[spring.parent]
        if spring.role != "elastic" or motor is None or motor.motion.nv != 1 or motor.rotor_inertia:
            continue
        if motor.name in shared:  # the rotors of its transmission
            continue
        massless = own is None or not (own.mass or own.central.any())
        if massless and held[spring.parent] == 1 and _one_axis(motor, spring):
            message = f"it turns nothing but the elastic joint {spring.name!r}, so its acceleration is undefined"
            yield Finding(
                "warning", place(description, "joint", motor.name), message, "give it the motor's rotor inertia (Ia)"
            )


def _one_axis(motor: JointDescription, spring: JointDescription) -> bool:
    """Whether the two joints move the same way at all positions."""
    if motor.motion.turning != spring.motion.turning:
        return False
    along, direction = (axis / np.linalg.norm(axis) for axis in (motor.axis, spring.origin.rotation @ spring.axis))
    arm = np.zeros(3) if not any(motor.motion.turning) else spring.origin.translation
    return bool(np.abs(np.cross(along, [direction, arm])).max() < SAME)


def _constraints(description: Description) -> Iterator[Finding]:
    links = {link.name: None for link in description.links}
    root = next((name for name in links if name not in {joint.child for joint in description.joints}), None)
    for group in (description.permanent, description.switched):
        counts = Counter(each.name for each in group)
        for each in {each.name: each for each in group if counts[each.name] > 1}.values():
            word, many = (each.kind.word, each.kind.plural) if each.kind.switched else ("loop", "loops")
            message = f"{counts[each.name]} {many} have this name"
            yield Finding("error", place(description, word, each.name), message, "rename all but one")
    for each in description.constraints:
        where = place(description, each.kind.word, each.name)
        for message, fix, level in _faults(description, each, links, root):
            yield Finding(level, where, message, fix)


def _faults(
    description: Description, constraint: ConstraintDescription, links: Mapping[str, None], root: str | None
) -> Iterator[Fault]:
    yield from constraint.kind.check(description, constraint)
    for name, side in constraint.sides.items():
        link, placement = side
        if link not in links and not (getattr(constraint.kind, name).ground and not link):
            message = f"its {name} side is on link {link!r}, which does not exist"
            yield Fault(message, nearest(link, links))
        if not _is_finite(placement):
            yield Fault(f"the placement of its {name} side is not finite", "write finite numbers")
    if isinstance(constraint.second, str):
        if not description.link_of(constraint.second):
            places = [*links, *description.frames]
            yield Fault(f"there is no frame {constraint.second!r}", nearest(constraint.second, places))
        return
    first, second = constraint.first[0], constraint.second[0]
    on_ground = not (first or description.floating) and second == root
    if (first == second or on_ground) and not constraint.kind.coordinates:
        message = f"both of its sides are on {'the ground' if on_ground else f'link {first!r}'}"
        yield Fault(message, "join two links that move against each other")


def _roles(description: Description) -> Iterator[Finding]:
    for joint in description.joints:
        where = place(description, "joint", joint.name)
        if joint.role != "active" and (kept := _has_no_coordinate(joint)):
            yield Finding("error", where, f"its role is {joint.role}, but {kept}", "leave its role out")
        elif joint.role == "elastic" and not joint.stiffness > 0 and not joint.motion.modes:
            fix = "give its stiffness (K in `drives`, <linkwork stiffness> in URDF), or make it passive"
            yield Finding("error", where, f"it is elastic, but its stiffness is {joint.stiffness:g}", fix)


def _home(description: Description) -> Iterator[Finding]:
    for name, joint in _named(description, description.home, "home"):
        if isinstance(joint, Finding):
            yield joint
            continue
        where, position = place(description, "joint", name), description.home[name]
        numbers = np.atleast_1d(np.asarray(position, float))
        if reason := _has_no_coordinate(joint):
            yield Finding("error", where, f"`home` names it, but {reason}", "leave it out of `home`")
        elif not (np.abs(numbers) < HUGE).all():
            yield Finding("error", where, f"its home position is not finite: {position}", "write a finite number")
        elif numbers.shape != (joint.motion.nq,):
            message = f"its home position has {numbers.size} numbers, a {joint.kind} joint {joint.motion.nq}"
            yield Finding("error", where, message, f"give {', '.join(joint.motion.position_parts) or 'one number'}")
        elif not tells_position(joint.motion, numbers):
            message = f"its home position is a quaternion of no length: {position}"
            yield Finding("error", where, message, "give one of length one: 0, 0, 0, 1 is no turn")
        elif joint.motion.bounded and not joint.lower <= numbers[0] <= joint.upper:
            message = f"its home position {numbers[0]:g} is outside its limits {joint.lower:g} and {joint.upper:g}"
            yield Finding("warning", where, message, "choose a home position the joint can reach")


def _independent(description: Description) -> Iterator[Finding]:
    counts = Counter(description.independent)
    for name, joint in _named(description, counts, "independent", parts=True):
        where = place(description, "joint", name)
        if isinstance(joint, Finding):
            yield joint
        elif reason := _has_no_coordinate(joint):
            yield Finding("error", where, f"`independent` names it, but {reason}", "leave it out of `independent`")
        elif counts[name] > 1:
            yield Finding("error", where, "`independent` names it twice", "name it once")
    if description.independent and not description.permanent:
        message = "`independent` says nothing without loops: every joint is independent"
        yield Finding("warning", place(description), message, "remove it, or describe the loops")


def _named(
    description: Description, names: Iterable[str], table: str, parts: bool = False
) -> Iterator[tuple[str, JointDescription | Finding]]:
    """The joint of each name, or of one of its freedoms by its own name; or what to say if there is none."""
    joints = description.all_joints()
    freedoms = {name: joint for joint in joints.values() for name in joint.freedoms} if parts else {}
    if parts:  # a moving base is independent as a whole unless something holds it
        joints = {joint.name: joint for joint in description.joints}
    for name in names:
        message = f"`{table}` names joint {name!r}, which does not exist"
        nothing = Finding("error", place(description), message, nearest(name, joints | freedoms))
        yield name, joints.get(name) or freedoms.get(name) or nothing


def _has_no_coordinate(joint: JointDescription) -> str:
    """Why nothing can be said of the joint's coordinate; empty if it has one."""
    return "it is fixed" if not joint.motion.nv else f"it follows {joint.mimic.joint!r}" if joint.mimic else ""


def _is_finite(placement: Placement) -> bool:
    return bool((np.abs(np.append(placement.rotation, placement.translation)) < HUGE).all())
