"""Close the loops of a robot when it is loaded, and check the home position."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..errors import ModelError
from ..model import Description, Finding, Model
from ..model.build import home_of
from .equations import ConstraintEquations
from .mobility import stand_still, with_mobility

EXACT = 1e-10  # metres and radians: loops that are open by more at best do not fit
MOVED = 1e-3  # metres and radians: an independent joint farther from its home position gives a warning
BEYOND = 1e-6  # metres and radians, of limits
CORRECT = "correct the frames of the loops, the lengths of the links, or `home`"


def closed(model: Model, description: Description) -> Model:
    """Return the Model of a description with its loops closed at home, and with its mobility; a tree is unchanged."""
    if not model.constrained:
        return model
    try:
        result = with_mobility(model, description.independent, description.redundant)
    except ModelError as error:
        return _at_keyframe(model, description, error)
    return replace(result, findings=(*model.findings, *check_home(description, model, result)))


def _at_keyframe(model: Model, description: Description, error: ModelError) -> Model:
    """Return the same at the first suitable keyframe; raises the ``error`` from home if there is none."""
    for name, positions in description.keyframes.items():
        try:
            there = closed(replace(model, home=home_of(positions, model)), replace(description, keyframes={}))
        except ModelError:
            continue
        message = f"home is its keyframe {name!r}, since its initial position is not suitable: {error.message}"
        finding = Finding(
            "warning", description.place(), message, "to choose another, give `home` in a side file", True
        )
        return replace(there, findings=(*there.findings, finding))
    raise error


def check_home(description: Description, model: Model, closed: Model) -> Iterator[Finding]:
    """Check home: ``model`` has it as in the file, ``closed`` with the loops closed."""
    gap = max((abs(float(r)) for r in ConstraintEquations.closing(closed, closed.home).residual), default=0.0)
    if gap > EXACT:
        message = f"the loops stay open by {gap:.2g} (m, rad) at best; they are treated as closed"
        yield Finding(
            "warning", description.place(), message, "write frames and axes with all digits: pi/2, not 1.5708", True
        )
    if stand_still(closed):
        message = "no wheel can move along its plane: they block each other, or are locked"
        yield Finding(
            "warning", description.place(), message, "if no brakes are intended, check axles, joints and gears", True
        )
    elsewhere = "not where the file puts it, because the loops cannot be closed there"
    step = closed.coordinates.difference(np.array(model.home), np.array(closed.home))
    for joint, v, at in zip(
        closed.coordinates.joints, closed.coordinates.velocity_ranges, closed.coordinates.position_ranges, strict=True
    ):
        where, change = description.place("joint", joint.name), step[v.start : v.stop]
        before, after = model.home[at.start], closed.home[at.start]
        if joint.name in description.independent and np.abs(change).max() > MOVED:
            shift, turn = (
                float(np.linalg.norm(change[[t is kind for t in joint.kind.turning]])) for kind in (False, True)
            )
            instead = f"moved by {shift:.3g} m, turned by {math.degrees(turn):.3g} degrees"
            if joint.kind.nq == 1:
                instead = f"{after:.6g} instead of {before:.6g}"
            yield Finding("warning", where, f"at home it is {elsewhere}; {instead}", CORRECT, True)
        if not joint.kind.bounded:
            continue
        reported = joint.name in description.home and not joint.lower <= before <= joint.upper  # by ``check``
        if not reported and not joint.lower - BEYOND <= after <= joint.upper + BEYOND:
            message = (
                f"with the loops closed it is at {after:.6g}, outside its limits {joint.lower:g} and {joint.upper:g}"
            )
            yield Finding("warning", where, message, CORRECT, True)
