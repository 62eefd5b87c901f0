"""What is wrong or suspicious in a Description, told before anyone trusts a number.

Errors stop loading: the tree is broken, a number is missing, or the numbers mean nothing (negative mass, rotor inertia,
friction or stiffness, an axis of no direction). Impossible values with which dynamics can still be computed, and which
real robots' files do contain, are warnings: indefinite inertia (romeo_laas_small, tiago), a violated triangle
inequality (pr2, anymal, allegro), mass without inertia (icub) and inertia without mass (bolt).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ModelError, at_door
from ..quoting import unprintable
from .constraint_checks import check_drives, check_structure, place
from .description import LONGEST_NAME, MOST_LINKS, Description, Finding, JointDescription, LinkInertia
from .drive_checks import check_spring, check_transmissions, check_values
from .element import HUGE
from .flexible.checks import check_flexible
from .model import Joint
from .pseudo_inertia import impossible, told

ROUNDING = 1e-3  # relative: inertias are often printed with few digits
SQUARE = 1e-9  # cosine: axes this close to right angles are
POINT = 1e-6  # metres: a radius of gyration below this is no extent at all
MOST_LOOPS, MOST_OF_LOOPS = 100, 1000  # loops, and joints of a robot that has any: how they move takes long to find
MOST_SWITCHED = 100
LONGEST_CHAIN = 100  # joints, each following the next
LONGEST_LIST = 1400  # characters that tell errors in one message
DENSEST = 22600.0  # kg/m^3, osmium: no ball of the same mass has less inertia


def check(description: Description) -> tuple[Finding, ...]:
    """All findings of the reader and of the rules here, in that order."""
    if sizes := [*_sizes(description)]:  # the other rules would take long
        return (*description.findings, *sizes)
    structure = [*_names(description), *_tree(description), *_mimics(description), *check_structure(description)]
    structure += [*check_transmissions(description), *check_flexible(description)]
    numbers = [*_finite(description), *_joint_values(description), *_inertias(description), *_units(description)]
    findings = [*description.findings, *structure, *numbers]
    if not any(finding.level == "error" for finding in findings):  # needs a sound tree
        findings += [*_singular(description), *check_drives(description)]
    return tuple(findings)


def raise_errors(findings: Iterable[Finding], where: str = "") -> None:
    """One ModelError that lists the errors, if there are any."""
    errors = [finding for finding in findings if finding.level == "error"]
    if errors:
        count = "an error" if len(errors) == 1 else f"{len(errors)} errors"
        told = [f"\n- {finding}".replace("\n  ", "\n    ") for finding in errors]
        lengths = accumulate(map(len, told))
        shown = max(1, sum(length <= LONGEST_LIST for length in lengths))
        more = f"\n- and {len(told) - shown} more: `linkwork check` lists them" if len(told) > shown else ""
        message = f"this robot cannot be loaded because of {count}{''.join(told[:shown])}{more}"
        error = ModelError(message, where=where)
        error.findings = tuple(errors)
        raise error


def _sizes(description: Description) -> Iterator[Finding]:
    where = f"{description.source}: robot".removeprefix(": ")
    joints, loops = len(description.joints), len(description.permanent)
    bounds = [("links", len(description.links), MOST_LINKS), ("loops", loops, MOST_LOOPS)]
    bounds += [("places to stand", len(description.switched), MOST_SWITCHED)]
    bounds += [("joints, and loops", joints, MOST_OF_LOOPS) if loops else ("joints", joints, MOST_LINKS)]
    for what, count, most in bounds:
        if count > most:
            yield Finding(
                "error", where, f"it has {count:,} {what}; at most {most:,} are read", "describe a part of it"
            )
    for element, name in _all_names(description):
        if len(name) > LONGEST_NAME:
            message = f"a name has {len(name):,} characters, more than {LONGEST_NAME}: {name[:20]}..."
            yield Finding("error", where, message, "choose a shorter one")
        if bad := unprintable(name):
            message = f"the name of this {element} holds the character {bad}, which cannot be printed"
            fix = "rename it: control characters and invisible ones are refused"
            yield Finding("error", place(description, element, name), message, fix)


def _all_names(description: Description) -> Iterator[tuple[str, str]]:
    """What is named, and its name."""
    yield "robot", description.name
    kinds = {"link": description.links, "joint": description.joints}
    kinds |= {"transmission": description.transmissions}
    kinds["motor"] = tuple(motor for each in description.transmissions for motor in each.motors)
    yield from ((element, each.name) for element, group in kinds.items() for each in group)
    yield from ((each.kind.word, each.name) for each in description.constraints)
    yield from (("frame", name) for name in description.frames)


def _names(description: Description) -> Iterator[Finding]:
    groups = {
        "link": [link.name for link in description.links],
        "joint": [joint.name for joint in description.joints],
    }
    for element, names in groups.items():
        for name, count in Counter(names).items():
            if count > 1:
                where = place(description, element, name)
                yield Finding("error", where, f"{count} {element}s have this name", f"rename all but one {element}")
    for joint in description.joints:
        parts = {*joint.motion.position_parts, *joint.motion.velocity_parts} - {""}
        for name in {f"{joint.name}.{part}" for part in parts}.intersection(groups["joint"]):
            where = place(description, "joint", name)
            yield Finding("error", where, f"so is a part of joint {joint.name!r} called", "rename one of them")
    for name in description.frames:
        if name in groups["link"]:
            where = place(description, "frame", name)
            yield Finding("error", where, "a link has the same name, and links are frames too", "rename the frame")


def _tree(description: Description) -> Iterator[Finding]:
    links = {link.name for link in description.links}
    if not links:
        yield Finding("error", place(description), "there are no links", "describe at least one link")
        return
    parents: dict[str, list[JointDescription]] = {}
    for joint in description.joints:
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                where = place(description, "joint", joint.name)
                yield Finding("error", where, f"its {role} link {link!r} does not exist", "add the link or correct it")
        parents.setdefault(joint.child, []).append(joint)
    for name, (link, _) in description.frames.items():
        if link not in links:
            where = place(description, "frame", name)
            yield Finding("error", where, f"its link {link!r} does not exist", "add the link or correct it")
    for link, joints in parents.items():
        if len(joints) > 1:
            listed = _some([joint.name for joint in joints])
            where, fix = place(description, "link", link), "keep one: make a tree, and close it again by `loops`"
            yield Finding("error", where, f"it is the child of {len(joints)} joints: {listed}", fix)

    roots = [link.name for link in description.links if link.name not in parents]
    if len(roots) > 1:
        message = f"{len(roots)} links have no parent: {_some(roots)}"
        yield Finding("error", place(description), message, "join them by fixed joints, or remove them")
    checked: set[str] = set()
    for start in description.links:
        path: dict[str, None] = {}  # an ordered set
        link = start.name
        while link in parents and link not in checked and link not in path:
            path[link] = None
            link = parents[link][0].parent
        if link in path:
            loop = list(path)[list(path).index(link) :]
            names, fix = _some([*loop, link], " <- "), "make a tree, and close it again by `loops`"
            yield Finding("error", place(description, "link", link), f"it is its own ancestor: {names}", fix)
        checked.update(path)


def _some(names: Sequence[str], between: str = ", ") -> str:
    return between.join(map(repr, names[:10])) + (f"{between}..." if len(names) > 10 else "")


def _mimics(description: Description) -> Iterator[Finding]:
    joints = {joint.name: joint for joint in description.joints}
    for joint in description.joints:
        if joint.mimic is None:
            continue
        where, name = place(description, "joint", joint.name), joint.mimic.joint
        leader = joints.get(name)
        if leader is None:
            yield Finding("error", where, f"it follows joint {name!r}, which does not exist", "correct the name")
            continue
        bending = joint.motion.modes and leader.motion.modes  # all modes together
        several = [each for each in (joint, leader) if each.motion.nv > 1 and not bending]
        if several:
            message = f"{several[0].name!r} is {several[0].kind}: only joints with one freedom follow and are followed"
            yield Finding("error", where, message, "remove its mimic")
            continue
        followed = {joint.name: None}  # an ordered set
        while leader is not None and leader.name not in followed and len(followed) <= LONGEST_CHAIN:
            followed[leader.name] = None
            leader = joints.get(leader.mimic.joint) if leader.mimic else None
        chain = list(followed)
        listed = _some(chain, " -> ")
        if len(chain) > LONGEST_CHAIN:
            message = f"it follows a joint that follows another, and so on, more than {LONGEST_CHAIN} times: {listed}"
            yield Finding("error", where, message, "follow the first of them directly")
        elif leader is not None:
            message = "it follows itself" if len(chain) == 1 else f"it follows in a circle: {listed} -> {leader.name!r}"
            yield Finding("error", where, message, "let one joint of them move on its own")
        elif len(chain) > 2:
            message = f"it follows a joint that itself follows: {listed}"
            yield Finding("warning", where, message, f"follow {chain[-1]!r} directly; some programs refuse chains")
        elif not joints[name].motion.nv:
            message = f"it follows the fixed joint {name!r}, so it stays at its offset {joint.mimic.offset:g}"
            yield Finding("warning", where, message, "make it fixed, or follow a joint that moves")


def _finite(description: Description) -> Iterator[Finding]:
    fix = "write a finite number"
    if not _is_finite(description.gravity):
        yield Finding("error", place(description), f"gravity is not finite: {description.gravity}", fix)
    for link in description.links:
        if link.inertia is not None and not _has_numbers(link.inertia):
            where = place(description, "link", link.name)
            values = f"mass {link.inertia.mass}, centre {link.inertia.center}, inertia {link.inertia.central.tolist()}"
            yield Finding("error", where, f"its inertia is not finite: {values}", fix)
    for joint in description.joints:
        where = place(description, "joint", joint.name)
        values = {
            "axis": joint.axis,
            "second axis": joint.second_axis,
            "pitch": joint.pitch,
            "origin": np.append(joint.origin.rotation, joint.origin.translation),
        }
        if joint.mimic is not None:
            values |= {"multiplier": joint.mimic.multiplier, "offset": joint.mimic.offset}
        for name, value in values.items():
            if not _is_finite(value):
                yield Finding("error", where, f"its {name} is not finite: {value}", fix)
    for name, (_, placement) in description.frames.items():
        if not _is_finite(np.append(placement.rotation, placement.translation)):
            yield Finding("error", place(description, "frame", name), "its placement is not finite", fix)


def _is_finite(values: ArrayLike) -> bool:
    return bool((np.abs(values) < HUGE).all())


def _has_numbers(inertia: LinkInertia) -> bool:
    return _is_finite([inertia.mass, *inertia.center, *inertia.central.flat])


def _joint_values(description: Description) -> Iterator[Finding]:
    for joint in description.joints:
        where = place(description, "joint", joint.name)
        if not joint.motion.nv:
            continue
        yield from _axes(where, joint)
        if joint.pitch and not joint.motion.pitched:
            message = f"its pitch {joint.pitch:g} says nothing of a {joint.kind} joint, and is left out"
            yield Finding("warning", where, message, "make it helical, or remove the pitch", True)
        if not joint.motion.bounded and (joint.lower > -math.inf or joint.upper < math.inf):
            message = f"limits say nothing of a {joint.kind} joint, and are left out"
            yield Finding("warning", where, message, "make it of joints with one freedom, which have limits")
        if joint.lower > joint.upper:
            message = f"its lower limit {joint.lower:g} is above its upper limit {joint.upper:g}"
            yield Finding("warning", where, message, "exchange them")
        yield from check_values(where, joint)
        yield from check_spring(where, joint, joint.motion)
        largest = max((abs(limit) for limit in (joint.lower, joint.upper) if abs(limit) < 1e4), default=0.0)
        if joint.motion.position_units == ("rad",) and largest > 50:
            message = f"its limits are {joint.lower:g} and {joint.upper:g} rad: degrees?"
            yield Finding("warning", where, message, "write radians: degrees times pi/180")
    for motor in (motor for each in description.transmissions for motor in each.motors):
        yield from check_values(place(description, "motor", motor.name), motor)


def _inertias(description: Description) -> Iterator[Finding]:
    known = [link.inertia for link in description.links if link.inertia is not None and _has_numbers(link.inertia)]
    total = sum(inertia.mass for inertia in known)
    has_extent = any(np.abs(inertia.central).max() > POINT**2 * inertia.mass for inertia in known)
    for link in description.links:
        inertia, where = link.inertia, place(description, "link", link.name)
        if inertia is None or not _has_numbers(inertia):
            continue
        mass, moments = inertia.mass, np.linalg.eigvalsh(inertia.central)
        largest = float(np.abs(moments).max())
        if (largest > POINT**2 * mass or mass < 0) and (wrong := impossible(mass, moments, ROUNDING)):
            yield Finding("error" if mass < 0 else "warning", where, wrong, _remedy(mass, moments))
        if mass > 0 and largest > 100 * mass:
            size = math.sqrt(largest) / math.sqrt(mass)
            message = f"its inertia fits a body of {size:.0f} m radius: {mass:g} kg, principal moments {told(moments)}"
            yield Finding("warning", where, message, "write kg m^2: kg cm^2 times 1e-4, g mm^2 times 1e-9")
        # In a robot of point masses only, or for a small part of the mass, no extent is a fair idealisation.
        radius = (3 * abs(mass) / (4 * math.pi * DENSEST)) ** (1 / 3)
        if has_extent and mass > 0.01 * total and moments.sum() < 3 * 0.4 * mass * radius**2:
            message = (
                f"it weighs {mass:g} kg but has less inertia than a ball of osmium: principal moments {told(moments)}"
            )
            yield Finding("warning", where, message, "write mass in kg and inertia in kg m^2; add the missing inertia")


def _remedy(mass: float, moments: np.ndarray) -> str:
    """For a body that cannot be."""
    if mass < 0:
        return "write the mass, which is positive"
    if mass == 0:
        return "give the mass, or remove the inertia"
    first = "signs of ixy, ixz, iyz, and the point of reference" if moments[0] < 0 else "that it is about the centre"
    values = at_door("`robot.with_parameters`", "--with-parameters FILE")
    identify = at_door('`robot.identify(log, method="consistent")`', "`linkwork identify`")
    return f"check {first}; or take values by {values}, or of measurements: {identify}"


def _units(description: Description) -> Iterator[Finding]:
    magnitude = math.hypot(*description.gravity)
    if magnitude and math.isfinite(magnitude) and not 9.7 < magnitude < 9.9:
        message = f"gravity is {magnitude:g} m/s^2, not about 9.81"
        yield Finding("warning", place(description), message, "write it in m/s^2, unless it is meant so")
    for link in description.links:
        if link.inertia is None:
            continue
        where = place(description, "link", link.name)
        if link.inertia.mass > 1e4:
            yield Finding("warning", where, f"its mass is {link.inertia.mass:g} kg: grams?", "write the mass in kg")
        yield from _length(where, "centre of mass", link.inertia.center)
    for joint in description.joints:
        yield from _length(place(description, "joint", joint.name), "origin", joint.origin.translation)


def _length(where: str, what: str, vector: np.ndarray) -> Iterator[Finding]:
    length = math.hypot(*vector)
    if 100 < length < math.inf:
        yield Finding("warning", where, f"its {what} is {length:g} m away: millimetres?", "write lengths in metres")


def _singular(description: Description) -> Iterator[Finding]:
    """Coordinates without inertia, from the diagonal of the inertia matrix at position zero."""
    below = description.outgoing()
    inertia = {link.name: link.inertia for link in description.links}
    order = [description.root]
    for link in order:
        order.extend(joint.child for joint in below[link])
    subtree: dict[str, LinkInertia] = {}  # all that hangs on the link, in its frame
    given: dict[str, bool] = {}  # whether the link or anything fixed to it has an inertial
    for link in reversed(order):
        own = inertia[link] or LinkInertia(0.0, np.zeros(3), np.zeros((3, 3)))
        given[link] = inertia[link] is not None
        for joint in below[link]:
            own = _sum(own, joint, subtree[joint.child])
            given[link] |= not joint.motion.nv and given[joint.child]
        subtree[link] = own

    if description.permanent:  # they share out inertia: a joint may have it through another branch
        return
    if description.floating and subtree[description.root].mass <= 0:
        message = "the robot floats but has no mass, so its motion under forces is undefined"
        yield Finding("warning", place(description), message, "give its links mass and inertia")
    shared = {joint.mimic.joint for joint in description.joints if joint.mimic}
    shared |= {name for each in description.transmissions if each.has_rotors for name in each.joints}
    for joint in description.joints:
        if not joint.motion.nv or joint.mimic or joint.name in shared:  # coupled joints share their inertia
            continue
        if joint.motion.modes:  # modes have their own
            continue
        where, moved = place(description, "joint", joint.name), subtree[joint.child]
        excess, along = min(_apparent(joint, moved))
        if excess <= 0:
            message = (
                f"what it moves has mass {moved.mass:g} kg and inertia {along:g} along its axis, so the inertia matrix"
                " is singular or indefinite and forward dynamics fails"
            )
            carried = joint.role == "active" or description.switched  # else its acceleration is always asked for
            level = "warning" if carried else "error"
            yield Finding(level, where, message, f"give link {joint.child!r} mass and inertia, or fix the joint")
        elif not given[joint.child]:
            where = place(description, "link", joint.child)
            yield Finding("warning", where, "it moves but has no inertia; taken as massless", "give it an inertial")


def _apparent(joint: JointDescription, moved: LinkInertia) -> Iterator[tuple[float, float]]:
    """For each freedom at position zero: by how much its inertia is more than none, and the inertia."""
    kind, (_, frame) = joint.motion, joint.motion.frames(joint.axis, joint.second_axis)
    for S in kind.subspace(Joint(joint.name, kind, pitch=joint.pitch), kind.neutral()):
        shift, axis = (frame @ np.array(list(vector), float) for vector in (S.linear, S.angular))
        coupling = 2 * shift @ np.cross(axis, moved.first_moment)
        inertia = moved.mass * (shift @ shift) + coupling + axis @ moved.about_origin @ axis
        least = POINT**2 * moved.mass if axis.any() and not shift.any() else 0.0
        yield float(inertia + joint.rotor_inertia - least), float(inertia)


def _axes(where: str, joint: JointDescription) -> Iterator[Finding]:
    given = [joint.axis, joint.second_axis][: joint.motion.directions]
    if any(np.abs(axis).max() < 1 / HUGE for axis in given):
        yield Finding("error", where, "its axis is zero", "give the direction of motion, e.g. 0 0 1")
    elif len(given) == 2:
        cosine = given[0] @ given[1] / (np.linalg.norm(given[0]) * np.linalg.norm(given[1]))
        if abs(cosine) > SQUARE:
            angle = math.degrees(math.acos(min(1.0, abs(cosine))))
            message = f"its axes are at {angle:.6g} degrees, not at right angles"
            yield Finding("error", where, message, "use two revolute joints with a massless link between them")


def _sum(outer: LinkInertia, joint: JointDescription, inner: LinkInertia) -> LinkInertia:
    """The inertia of two bodies, the inner one seen through its joint at position zero."""
    return outer + inner.placed(joint.origin)
