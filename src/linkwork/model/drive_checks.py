"""What is wrong or suspicious in the drives of a Description: rotors, friction, springs, transmissions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from .constraint_checks import place
from .description import Description, Finding, JointDescription
from .drive import Drive, JointValues, Transmission
from .element import HUGE
from .joints import JointKind


def check_values(where: str, drive: Drive) -> Iterator[Finding]:
    """Judge the values of a joint or motor: numbers, or arrays of them, one entry for each sample."""
    for message, fix, level in drive.faults():
        yield Finding(level, where, message, fix)


def check_spring(where: str, joint: JointValues, kind: JointKind) -> Iterator[Finding]:
    if joint.stiffness and not kind.has_spring:
        message = f"a {kind.name} joint has no spring, since there is no one way back"
        yield Finding("error", where, message, "make it of joints with fewer freedoms, or push by a force law")
    elif joint.rest and not kind.straight:
        message = f"the spring of a {kind.name} joint rests where nothing is turned, not at {joint.rest:g}"
        yield Finding("error", where, message, "leave out `rest`, and turn the joint's origin instead")


def check_transmissions(description: Description) -> Iterator[Finding]:
    joints = {joint.name: joint for joint in description.joints}
    motors = Counter(motor.name for each in description.transmissions for motor in each.motors)
    for name, count in motors.items():
        if count > 1 or name in joints:
            message = "a joint has this name" if name in joints else f"{count} motors have this name"
            yield Finding("error", place(description, "motor", name), message, "give each motor a name of its own")
    for first, second in pairwise(sorted(description.transmissions, key=lambda each: each.name)):
        if first.name == second.name:
            where = place(description, "transmission", first.name)
            yield Finding("error", where, "two transmissions have this name", "rename one of them")
    for each in description.transmissions:
        where = place(description, "transmission", each.name)
        errors = [*_shape(where, each), *_joined(where, each, joints)]
        yield from errors
        if not errors and np.linalg.matrix_rank(np.array(each.matrix)) < len(each.motors):
            message = f"its motors cannot move independently: the rows of its matrix {each.matrix} are dependent"
            yield Finding("warning", where, message, "give one motor for each freedom, and its ratios")


def _shape(where: str, each: Transmission) -> Iterator[Finding]:
    n, m = len(each.joints), len(each.motors)
    if not n or not m or len(each.matrix) != m or any(len(row) != n for row in each.matrix):
        sizes = f"{len(each.matrix)} rows of {', '.join(str(len(row)) for row in each.matrix)}"
        message = f"its matrix has {sizes} ratios, for {m} motors and {n} joints"
        yield Finding("error", where, message, "give each motor one ratio for each joint")
    elif not (np.abs(np.array(each.matrix)) < HUGE).all():
        yield Finding("error", where, f"its ratios are not finite: {each.matrix}", "write finite numbers")


def _joined(where: str, each: Transmission, joints: dict[str, JointDescription]) -> Iterator[Finding]:
    for name, count in Counter(each.joints).items():
        if count > 1:
            yield Finding("error", where, f"it names joint {name!r} {count} times", "name each joint once")
        if name not in joints:
            message = f"its joint {name!r} does not exist"
            yield Finding("error", where, message, f"name joints of the robot: {', '.join(list(joints)[:20])}")
        elif joints[name].motion.nv != 1:
            message = f"its joint {name!r} is {joints[name].kind}"
            yield Finding("error", where, message, "name joints of one freedom")
        elif joints[name].mimic:
            message = f"its joint {name!r} follows another one"
            yield Finding("error", where, message, "name the joint that leads, with the ratios of both")
