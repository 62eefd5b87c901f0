"""The position at which loops are closed, and what is suspicious about it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..errors import ModelError
from ..model import Description, Finding, Model
from ..model.build import home_of
from .equations import LoopEquations
from .mobility import stand_still, with_mobility

EXACT = 1e-10  # metres and radians: loops that are open by more at best do not fit
MOVED = 1e-3  # metres and radians: an independent joint farther from its home position is told
BEYOND = 1e-6  # metres and radians, of limits
CORRECT = "correct the frames of the loops, the lengths of the links, or `home`"


def closed(model: Model, description: Description) -> Model:
    """The Model built from a description with its loops closed: at home, its freedoms told apart. A tree stays as it
    is."""
    if not model.constrained:
        return model
    try:
        found = with_mobility(model, description.independent, description.redundant)
    except ModelError as error:
        return _at_keyframe(model, description, error)
    return replace(found, findings=(*model.findings, *check_home(description, model, found)))


def _at_keyframe(model: Model, description: Description, error: ModelError) -> Model:
    """The same at the first keyframe that will do; without any, the ``error`` that was met at home."""
    for name, positions in description.keyframes.items():
        try:
            there = closed(replace(model, home=home_of(positions, model)), replace(description, keyframes={}))
        except ModelError:
            continue
        message = f"home is its keyframe {name!r}, since its initial position will not do: {error.message}"
        finding = Finding(
            "warning", description.place(), message, "to choose another, give `home` in a side file", True
        )
        return replace(there, findings=(*there.findings, finding))
    raise error


def check_home(description: Description, given: Model, closed: Model) -> Iterator[Finding]:
    """What is suspicious about home, as the file has ``given`` it and with the loops ``closed``."""
    gap = max((abs(float(r)) for r in LoopEquations.closing(closed, closed.home).residual), default=0.0)
    if gap > EXACT:
        message = f"the loops stay open by {gap:.2g} (m, rad) at best; they are taken as closed"
        yield Finding(
            "warning", description.place(), message, "write frames and axes with all digits: pi/2, not 1.5708", True
        )
    if stand_still(closed):
        message = "no wheel can move along its plane: they hold each other fast, or are locked"
        yield Finding(
            "warning", description.place(), message, "if no brakes are meant, check axles, joints and gears", True
        )
    turned = "not where the file puts it: there the loops do not close"
    step = closed.coordinates.difference(np.array(given.home), np.array(closed.home))
    for joint, v, at in zip(
        closed.coordinates.joints, closed.coordinates.velocity_ranges, closed.coordinates.position_ranges, strict=True
    ):
        where, moved = description.place("joint", joint.name), step[v.start : v.stop]
        before, after = given.home[at.start], closed.home[at.start]
        if joint.name in description.independent and np.abs(moved).max() > MOVED:
            shift, turn = (
                float(np.linalg.norm(moved[[t is kind for t in joint.kind.turning]])) for kind in (False, True)
            )
            instead = f"moved by {shift:.3g} m, turned by {math.degrees(turn):.3g} degrees"
            if joint.kind.nq == 1:
                instead = f"{after:.6g} instead of {before:.6g}"
            yield Finding("warning", where, f"at home it is {turned}; {instead}", CORRECT, True)
        if not joint.kind.bounded:
            continue
        told = joint.name in description.home and not joint.lower <= before <= joint.upper  # already
        if not told and not joint.lower - BEYOND <= after <= joint.upper + BEYOND:
            message = (
                f"with the loops closed it is at {after:.6g}, outside its limits {joint.lower:g} and {joint.upper:g}"
            )
            yield Finding("warning", where, message, CORRECT, True)
