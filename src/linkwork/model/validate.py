"""Check a Description for errors and suspicious values.

Errors stop loading: the tree is broken, a number is missing, or a number is meaningless (negative mass, rotor inertia,
friction or stiffness, an axis of length zero). Physically impossible values with which dynamics can still be computed,
and which files of real robots contain, are warnings: indefinite inertia (romeo_laas_small, tiago), a violated triangle
inequality (pr2, anymal, allegro), mass without inertia (icub) and inertia without mass (bolt).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np

from ..errors import ModelError, at_door
from ..quoting import unprintable
from .description import LONGEST_NAME, MOST_LINKS, Description, Finding, JointDescription, LinkInertia
from .element import HUGE
from .flexible.checks import check_flexible, require_beams
from .model import Joint
from .pseudo_inertia import impossible, moments_text
from .structure_checks import check_massless_motors, check_spring, check_structure, check_values, is_finite

ROUNDING = 1e-3  # relative: inertias are often printed with few digits
SQUARE = 1e-9  # cosine of the angle up to which axes count as perpendicular
POINT = 1e-6  # metres: a body with a smaller radius of gyration is a point mass
MOST_LOOPS, MOST_WITH_LOOPS = 100, 1000  # loops, and joints of a robot with loops: finding its mobility takes long
MOST_SWITCHED = 100
LONGEST_CHAIN = 100  # mimic joints, each following the next
LONGEST_LIST = 1400  # characters of errors in one message
DENSEST = 22600.0  # kg/m^3, osmium: no ball of the same mass has less inertia


def check(description: Description) -> tuple[Finding, ...]:
    """Check a description.

    Args:
        description: of the robot.

    Returns:
        The findings of the reader, then errors and warnings of the checks.

    Example:
        >>> from linkwork.model import Description, Link, check
        >>> print(check(Description("robot", (), ()))[0])
        error: robot 'robot': there are no links
          fix: describe at least one link
    """
    if sizes := [*_sizes(description)]:  # the other rules would take long
        return (*description.findings, *sizes)
    checks = (_names, _tree, _mimics, check_structure, check_flexible, _finite, _joint_values, _inertias, _units)
    findings = [*description.findings, *(finding for check in checks for finding in check(description))]
    if not any(finding.level == "error" for finding in findings):  # these checks need a sound tree
        findings += [*_singular(description), *check_massless_motors(description)]
    return tuple(findings)


def raise_errors(findings: Iterable[Finding], where: str = "") -> None:
    """Raise a ModelError that lists the errors, if there are any."""
    errors = [finding for finding in findings if finding.level == "error"]
    if errors:
        count = "an error" if len(errors) == 1 else f"{len(errors)} errors"
        lines = [f"\n- {finding}".replace("\n  ", "\n    ") for finding in errors]
        lines_shown = max(1, sum(length <= LONGEST_LIST for length in accumulate(map(len, lines))))
        more = (
            f"\n- and {len(lines) - lines_shown} more: `linkwork check` lists them" if len(lines) > lines_shown else ""
        )
        message = f"this robot cannot be loaded because of {count}{''.join(lines[:lines_shown])}{more}"
        error = ModelError(message, where=where)
        error.findings = tuple(errors)
        raise error


def require_valid(description: Description, changed_links: Collection[str], where: str) -> None:
    """Raise ModelError for the errors of a robot whose links were changed, also if one is less than its own beam."""
    raise_errors(check(description), where)
    require_beams(description, changed_links)


def _sizes(description: Description) -> Iterator[Finding]:
    where = f"{description.source}: robot".removeprefix(": ")
    joints, loops = len(description.joints), len(description.permanent)
    bounds = [("links", len(description.links), MOST_LINKS), ("loops", loops, MOST_LOOPS)]
    bounds += [("feet", len(description.switched), MOST_SWITCHED)]
    bounds += [("joints, and loops", joints, MOST_WITH_LOOPS) if loops else ("joints", joints, MOST_LINKS)]
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
            yield Finding("error", description.place(element, name), message, fix)


def _all_names(description: Description) -> Iterator[tuple[str, str]]:
    """Pairs of an element's kind and its name."""
    yield "robot", description.name
    motors = tuple(motor for each in description.transmissions for motor in each.motors)
    kinds = {"link": description.links, "joint": description.joints, "motor": motors}
    kinds |= {"transmission": description.transmissions}
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
                where = description.place(element, name)
                yield Finding("error", where, f"{count} {element}s have this name", f"rename all but one {element}")
    for joint in description.joints:
        parts = {*joint.motion.position_parts, *joint.motion.velocity_parts} - {""}
        for name in {f"{joint.name}.{part}" for part in parts}.intersection(groups["joint"]):
            where = description.place("joint", name)
            yield Finding(
                "error", where, f"a coordinate of joint {joint.name!r} has this name too", "rename one of them"
            )
    for name in description.frames:
        if name in groups["link"]:
            where = description.place("frame", name)
            yield Finding("error", where, "a link has the same name, and links are frames too", "rename the frame")


def _tree(description: Description) -> Iterator[Finding]:
    links = {link.name for link in description.links}
    if not links:
        yield Finding("error", description.place(), "there are no links", "describe at least one link")
        return
    parents: dict[str, list[JointDescription]] = {}
    for joint in description.joints:
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                where = description.place("joint", joint.name)
                yield Finding("error", where, f"its {end} link {link!r} does not exist", "add the link or correct it")
        parents.setdefault(joint.child, []).append(joint)
    for name, (link, _) in description.frames.items():
        if link not in links:
            where = description.place("frame", name)
            yield Finding("error", where, f"its link {link!r} does not exist", "add the link or correct it")
    for link, joints in parents.items():
        if len(joints) > 1:
            text = _some([joint.name for joint in joints])
            where, fix = description.place("link", link), "keep one: make a tree, and close it again by `loops`"
            yield Finding("error", where, f"it is the child of {len(joints)} joints: {text}", fix)

    roots = [link.name for link in description.links if link.name not in parents]
    if len(roots) > 1:
        message = f"{len(roots)} links have no parent: {_some(roots)}"
        yield Finding("error", description.place(), message, "join them by fixed joints, or remove them")
    visited: set[str] = set()
    for start in description.links:
        path: dict[str, None] = {}  # an ordered set
        link = start.name
        while link in parents and link not in visited and link not in path:
            path[link] = None
            link = parents[link][0].parent
        if link in path:
            loop = list(path)[list(path).index(link) :]
            names, fix = _some([*loop, link], " <- "), "make a tree, and close it again by `loops`"
            yield Finding("error", description.place("link", link), f"it is its own ancestor: {names}", fix)
        visited.update(path)


def _some(names: Sequence[str], between: str = ", ") -> str:
    return between.join(map(repr, names[:10])) + (f"{between}..." if len(names) > 10 else "")


def _mimics(description: Description) -> Iterator[Finding]:
    joints = {joint.name: joint for joint in description.joints}
    for joint in description.joints:
        if joint.mimic is None:
            continue
        where, name = description.place("joint", joint.name), joint.mimic.joint
        leader = joints.get(name)
        if leader is None:
            yield Finding("error", where, f"it follows joint {name!r}, which does not exist", "correct the name")
            continue
        with_modes = joint.motion.modes and leader.motion.modes  # a place along a link follows all modes of its tip
        several = [each for each in (joint, leader) if each.motion.nv > 1 and not with_modes]
        if several:
            message = f"{several[0].name!r} is {several[0].kind}: only joints with one degree of freedom can mimic"
            yield Finding("error", where, message, "remove its mimic")
            continue
        followed = {joint.name: None}  # an ordered set
        while leader is not None and leader.name not in followed and len(followed) <= LONGEST_CHAIN:
            followed[leader.name] = None
            leader = joints.get(leader.mimic.joint) if leader.mimic else None
        chain = list(followed)
        chain_text = _some(chain, " -> ")
        if len(chain) > LONGEST_CHAIN:
            message = (
                f"it follows a joint that follows another, and so on, more than {LONGEST_CHAIN} times: {chain_text}"
            )
            yield Finding("error", where, message, "follow the first of them directly")
        elif leader is not None:
            message = (
                "it follows itself" if len(chain) == 1 else f"it follows in a circle: {chain_text} -> {leader.name!r}"
            )
            yield Finding("error", where, message, "remove the mimic of one of them")
        elif len(chain) > 2:
            message = f"it follows a joint that itself follows: {chain_text}"
            yield Finding("warning", where, message, f"follow {chain[-1]!r} directly; some programs refuse chains")
        elif not joints[name].motion.nv:
            message = f"it follows the fixed joint {name!r}, so it stays at its offset {joint.mimic.offset:g}"
            yield Finding("warning", where, message, "make it fixed, or follow a joint that moves")


def _finite(description: Description) -> Iterator[Finding]:
    fix = "write a finite number"
    if not is_finite(description.gravity):
        yield Finding("error", description.place(), f"gravity is not finite: {description.gravity}", fix)
    for link in description.links:
        if link.inertia is not None and not _has_numbers(link.inertia):
            where = description.place("link", link.name)
            values = f"mass {link.inertia.mass}, centre {link.inertia.center}, inertia {link.inertia.central.tolist()}"
            yield Finding("error", where, f"its inertia is not finite: {values}", fix)
    for joint in description.joints:
        where = description.place("joint", joint.name)
        values = {
            "axis": joint.axis,
            "second axis": joint.second_axis,
            "pitch": joint.pitch,
            "origin": np.append(joint.origin.rotation, joint.origin.translation),
        }
        if joint.mimic is not None:
            values |= {"multiplier": joint.mimic.multiplier, "offset": joint.mimic.offset}
        for name, value in values.items():
            if not is_finite(value):
                yield Finding("error", where, f"its {name} is not finite: {value}", fix)
    for name, (_, placement) in description.frames.items():
        if not is_finite(np.append(placement.rotation, placement.translation)):
            yield Finding("error", description.place("frame", name), "its placement is not finite", fix)


def _has_numbers(inertia: LinkInertia) -> bool:
    return is_finite([inertia.mass, *inertia.center, *inertia.central.flat])


def _joint_values(description: Description) -> Iterator[Finding]:
    for joint in description.joints:
        where = description.place("joint", joint.name)
        if not joint.motion.nv:
            continue
        yield from _axes(where, joint)
        if joint.pitch and not joint.motion.pitched:
            message = f"its pitch {joint.pitch:g} has no effect on a {joint.kind} joint, and is left out"
            yield Finding("warning", where, message, "make it helical, or remove the pitch", True)
        if not joint.motion.bounded and (joint.lower > -math.inf or joint.upper < math.inf):
            message = f"limits have no effect on a {joint.kind} joint, and are left out"
            yield Finding("warning", where, message, "use joints with one degree of freedom, which have limits")
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
        yield from check_values(description.place("motor", motor.name), motor)


def _inertias(description: Description) -> Iterator[Finding]:
    bodies = [link.inertia for link in description.links if link.inertia is not None and _has_numbers(link.inertia)]
    total = sum(inertia.mass for inertia in bodies)
    has_extent = any(np.abs(inertia.central).max() > POINT**2 * inertia.mass for inertia in bodies)
    for link in description.links:
        inertia, where = link.inertia, description.place("link", link.name)
        if inertia is None or not _has_numbers(inertia):
            continue
        mass, moments = inertia.mass, np.linalg.eigvalsh(inertia.central)
        largest, principal = float(np.abs(moments).max()), moments_text(moments)
        if (largest > POINT**2 * mass or mass < 0) and (wrong := impossible(mass, moments, ROUNDING)):
            yield Finding("error" if mass < 0 else "warning", where, wrong, _remedy(mass, moments))
        if mass > 0 and largest > 100 * mass:
            size = math.sqrt(largest) / math.sqrt(mass)
            message = f"its inertia fits a body of {size:.0f} m radius: {mass:g} kg, principal moments {principal}"
            yield Finding("warning", where, message, "write kg m^2: kg cm^2 times 1e-4, g mm^2 times 1e-9")
        # In a robot of point masses only, or for a small part of the mass, a point mass is a fair idealisation.
        radius = (3 * abs(mass) / (4 * math.pi * DENSEST)) ** (1 / 3)
        if has_extent and mass > 0.01 * total and moments.sum() < 3 * 0.4 * mass * radius**2:
            message = f"it weighs {mass:g} kg but has less inertia than a ball of osmium: principal moments {principal}"
            yield Finding("warning", where, message, "write mass in kg and inertia in kg m^2; add the missing inertia")


def _remedy(mass: float, moments: np.ndarray) -> str:
    """Return the fix for a physically impossible body."""
    if mass < 0:
        return "write a positive mass"
    if mass == 0:
        return "give the mass, or remove the inertia"
    first = "signs of ixy, ixz, iyz, and the point of reference" if moments[0] < 0 else "that it is about the centre"
    values = at_door("`robot.with_parameters`", "--with-parameters FILE")
    identify = at_door('`robot.identify(log, method="consistent")`', "`linkwork identify`")
    return f"check {first}; or give values by {values}, or identify them from measurements: {identify}"


def _units(description: Description) -> Iterator[Finding]:
    magnitude = math.hypot(*description.gravity)
    if magnitude and math.isfinite(magnitude) and not 9.7 < magnitude < 9.9:
        message = f"gravity is {magnitude:g} m/s^2, not about 9.81"
        yield Finding("warning", description.place(), message, "write it in m/s^2, unless it is intended")
    for link in description.links:
        if link.inertia is None:
            continue
        where = description.place("link", link.name)
        if link.inertia.mass > 1e4:
            yield Finding("warning", where, f"its mass is {link.inertia.mass:g} kg: grams?", "write the mass in kg")
        yield from _length(where, "centre of mass", link.inertia.center)
    for joint in description.joints:
        yield from _length(description.place("joint", joint.name), "origin", joint.origin.translation)


def _length(where: str, what: str, vector: np.ndarray) -> Iterator[Finding]:
    length = math.hypot(*vector)
    if 100 < length < math.inf:
        yield Finding("warning", where, f"its {what} is {length:g} m away: millimetres?", "write lengths in metres")


def _singular(description: Description) -> Iterator[Finding]:
    """Check for coordinates without inertia, by the diagonal of the inertia matrix at position zero."""
    below = description.outgoing()
    inertia = {link.name: link.inertia for link in description.links}
    order = [description.root]
    for link in order:
        order.extend(joint.child for joint in below[link])
    subtree: dict[str, LinkInertia] = {}  # inertia of the link with all its descendants, in its frame
    has_inertia: dict[str, bool] = {}  # whether the file gives an inertia of the link or of a link fixed to it
    for link in reversed(order):
        subtree[link] = inertia[link] or LinkInertia(0.0)
        has_inertia[link] = inertia[link] is not None
        for joint in below[link]:
            subtree[link] += subtree[joint.child].placed(joint.origin)
            has_inertia[link] |= not joint.motion.nv and has_inertia[joint.child]

    if description.permanent:  # a joint may have its inertia through another branch
        return
    if description.floating and subtree[description.root].mass <= 0:
        message = "the robot floats but has no mass, so its motion under forces is undefined"
        yield Finding("warning", description.place(), message, "give its links mass and inertia")
    coupled_joints = {joint.mimic.joint for joint in description.joints if joint.mimic}
    coupled_joints |= {name for each in description.transmissions if each.has_rotors for name in each.joints}
    for joint in description.joints:
        coupled = joint.mimic or joint.name in coupled_joints  # these share their inertia; modes have their own
        if not joint.motion.nv or coupled or joint.motion.modes:
            continue
        where, load = description.place("joint", joint.name), subtree[joint.child]
        excess, along = min(_apparent(joint, load))
        if excess <= 0:
            message = (
                f"what it moves has mass {load.mass:g} kg and inertia {along:g} along its axis, so the inertia matrix"
                " is singular or indefinite and forward dynamics fails"
            )
            may_be_held = joint.role == "active" or description.switched  # else every method needs its acceleration
            level = "warning" if may_be_held else "error"
            yield Finding(level, where, message, f"give link {joint.child!r} mass and inertia, or fix the joint")
        elif not has_inertia[joint.child]:
            where = description.place("link", joint.child)
            yield Finding("warning", where, "it moves but has no inertia; treated as massless", "give it an inertial")


def _apparent(joint: JointDescription, body: LinkInertia) -> Iterator[tuple[float, float]]:
    """For each velocity at position zero: by how much its inertia exceeds the least one, and the inertia."""
    kind, (_, frame) = joint.motion, joint.motion.frames(joint.axis, joint.second_axis)
    for S in kind.subspace(Joint(joint.name, kind, pitch=joint.pitch), kind.neutral()):
        shift, axis = (frame @ np.array(list(vector), float) for vector in (S.linear, S.angular))
        coupling = 2 * shift @ np.cross(axis, body.first_moment)
        inertia = body.mass * (shift @ shift) + coupling + axis @ body.about_origin @ axis
        least = POINT**2 * body.mass if axis.any() and not shift.any() else 0.0
        yield float(inertia + joint.rotor_inertia - least), float(inertia)


def _axes(where: str, joint: JointDescription) -> Iterator[Finding]:
    axes = [joint.axis, joint.second_axis][: joint.motion.directions]
    if any(np.abs(axis).max() < 1 / HUGE for axis in axes):
        yield Finding("error", where, "its axis is zero", "give the direction of motion, e.g. 0 0 1")
    elif len(axes) == 2:
        cosine = axes[0] @ axes[1] / (np.linalg.norm(axes[0]) * np.linalg.norm(axes[1]))
        if abs(cosine) > SQUARE:
            angle = math.degrees(math.acos(min(1.0, abs(cosine))))
            message = f"its axes are at {angle:.6g} degrees, not at right angles"
            yield Finding("error", where, message, "use two revolute joints with a massless link between them")
