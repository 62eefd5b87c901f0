"""How each body of a tree can move, as far as it decides which of its parameters act on the joints."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..model import Model
from ..spatial import Pose, Vector, Z

PARALLEL = 1e-12  # sine or cosine of the angle below which axes are parallel or at right angles

EVERY_WAY = "every way"  # it turns about axes that are not parallel, or floats, or the rules cannot exclude it
ABOUT_ONE = "about one direction"  # all its rotations are about parallel axes, which never turn themselves
NO_TURN = "no turn"  # it only slides


@dataclass(frozen=True)
class BodyMotion:
    """The motion of one body, from the ground to its own joint.

    Attributes:
        turns: EVERY_WAY, ABOUT_ONE or NO_TURN.
        along: Whether its own joint is parallel to the one direction of ABOUT_ONE.
        moments: Whether first moments across that direction act; they do not if it only turns about, or slides along,
            one vertical line.
        rotor: Whether a rotor inertia acts like a moment zz of the body (a mass, at prismatic joints).
    """

    turns: str
    along: bool = False
    moments: bool = True
    rotor: bool = False


def body_motions(model: Model) -> dict[int, BodyMotion]:
    """Return the motion of each body, computed at neutral joint positions.

    Before the first axis that is not parallel to the others, nothing turns except about their direction, so what is
    parallel there is parallel everywhere.
    """
    pose, motions = {0: Pose.identity()}, {}
    q = model.tree.neutral().tolist()
    for i, p in model.outward():
        joint = model.joint(i)
        pose[i] = pose[p].then(model.transform(i, q))
        if (p and motions[p].turns == EVERY_WAY) or not (joint.revolute or joint.prismatic):
            motions[i] = BodyMotion(EVERY_WAY)
            continue
        before = list(model.ancestors(i))
        turning = [k for k in before if not model.joint(k).prismatic]
        sliding = [pose[k].outward(Z) for k in before if model.joint(k).prismatic]
        axis = pose[i].outward(Z)
        one = pose[turning[0]].outward(Z) if turning else None
        if joint.prismatic:
            along = one is not None and _parallel(one, [axis])
            alone = _across(axis, [model.gravity, *sliding]) and (along or one is None)
            motions[i] = BodyMotion(ABOUT_ONE if turning else NO_TURN, along, rotor=alone)
        elif one is None or _parallel(one, [axis]):
            arms = (pose[i].origin - pose[k].origin for k in turning)
            idle = _parallel(axis, [model.gravity, *sliding, *arms])
            motions[i] = BodyMotion(ABOUT_ONE, True, not idle, rotor=one is None)
        else:
            motions[i] = BodyMotion(EVERY_WAY, rotor=_across(axis, [one]))
    return motions


def rules_suffice(model: Model) -> bool:
    """Return whether the rules of the papers suffice.

    They do not where loops, mimic joints or transmissions couple joints, nor where a joint that is neither revolute nor
    prismatic connects a body to the ground. A floating body and what it carries move every way, whatever the joints
    are.
    """
    free = {i for i, _ in model.outward() if model.joint(i).kind.free}
    kinds = (
        model.joint(i).revolute or model.joint(i).prismatic or not free.isdisjoint((i, *model.ancestors(i)))
        for i, _ in model.outward()
    )
    return not (model.constrained or model.has_mimic or model.transmissions) and all(kinds)


def _parallel(axis: Vector, others: Iterable[Vector]) -> bool:
    return all(math.hypot(*axis.cross(v)) <= PARALLEL * max(1.0, math.hypot(*v)) for v in others)


def _across(axis: Vector, others: Iterable[Vector]) -> bool:
    return all(abs(axis.dot(v)) <= PARALLEL * max(1.0, math.hypot(*v)) for v in others)
