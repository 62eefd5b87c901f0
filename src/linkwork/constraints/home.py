"""The position at which loops are closed, and what is suspicious about it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..model import Description, Finding, Model
from ..model.loop_checks import place
from .equations import LoopEquations
from .mobility import with_mobility

EXACT = 1e-10  # metres and radians: loops that are open by more at best do not fit
MOVED = 1e-3  # metres and radians: an independent joint farther from its home position is told
BEYOND = 1e-6  # metres and radians, of limits
CORRECT = "correct the frames of the loops, the lengths of the links, or `home`"


def closed(model: Model, description: Description) -> Model:
    """The Model built from a description with its loops closed: at home, its freedoms told apart. A tree stays as it
    is."""
    if not model.loops:
        return model
    found = with_mobility(model, description.independent, description.redundant)
    return replace(found, findings=tuple(check_home(description, model, found)))


def check_home(description: Description, given: Model, closed: Model) -> Iterator[Finding]:
    """What is suspicious about home, as the file has ``given`` it and with the loops ``closed``."""
    gap = max((abs(float(r)) for r in LoopEquations.at(closed, closed.home).residual), default=0.0)
    if gap > EXACT:
        message = f"the loops stay open by {gap:.2g} (m, rad) at best; they are taken as closed"
        yield Finding("warning", place(description), message, "write frames and axes with all digits: pi/2, not 1.5708")
    first, turned = 0, "not where the file puts it: there the loops do not close"
    if closed.floating:
        first, body = 7, closed.joint(1).name
        shift = float(np.linalg.norm(np.subtract(closed.home, given.home)[:3]))
        turn = 2 * math.acos(min(1.0, abs(float(np.dot(closed.home[3:7], given.home[3:7])))))
        if body in description.independent and max(shift, turn) > MOVED:
            message = f"at home it is {turned}; moved by {shift:.3g} m, turned by {math.degrees(turn):.3g} degrees"
            yield Finding("warning", place(description, "joint", body), message, CORRECT)
    for joint, before, after in zip(closed.leading_joints, given.home[first:], closed.home[first:], strict=True):
        where = place(description, "joint", joint.name)
        if joint.name in description.independent and abs(after - before) > MOVED:
            message = f"at home it is {turned}; {after:.6g} instead of {before:.6g}"
            yield Finding("warning", where, message, CORRECT)
        told = joint.name in description.home and not joint.lower <= before <= joint.upper  # already
        if not told and not joint.lower - BEYOND <= after <= joint.upper + BEYOND:
            message = (
                f"with the loops closed it is at {after:.6g}, outside its limits {joint.lower:g} and {joint.upper:g}"
            )
            yield Finding("warning", where, message, CORRECT)
