"""How each body of a tree can move, as far as it matters to which of its parameters act on the joints."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..model import Model
from ..spatial import Pose, Vector, Z

PARALLEL = 1e-12  # sine or cosine of the angle below which axes are parallel or at right angles

EVERY_WAY = "every way"  # it turns about axes that are not parallel, or floats, or may for all the rules know
ABOUT_ONE = "about one direction"  # all its turns are about parallel axes, which never turn themselves
NO_TURN = "no turn"  # it only slides


@dataclass(frozen=True)
class Excitation:
    """Of one body, on the way from the ground to it, its own joint included.

    ``turns``: one of the above. ``along``: its own joint is parallel to the one direction of ``ABOUT_ONE``.
    ``moments``: do first moments across that direction act at all? Not if all it does is turn about one vertical line,
    or slide along it. ``rotor``: is a rotor inertia felt like a moment zz (a mass, at prismatic joints) of the body?
    """

    turns: str
    along: bool = False
    moments: bool = True
    rotor: bool = False


def excitations(model: Model) -> dict[int, Excitation]:
    """By numbers at neutral joint positions: before the first axis that is not parallel to the others nothing turns but
    about their direction, so what is parallel there is parallel everywhere."""
    pose, found = {0: Pose.identity()}, {}
    q = model.tree.neutral().tolist()
    for i, p in model.outward():
        joint = model.joint(i)
        pose[i] = pose[p].then(model.transform(i, q))
        if (p and found[p].turns == EVERY_WAY) or not (joint.revolute or joint.prismatic):
            found[i] = Excitation(EVERY_WAY)
            continue
        before = list(model.ancestors(i))
        turning = [k for k in before if not model.joint(k).prismatic]
        sliding = [pose[k].outward(Z) for k in before if model.joint(k).prismatic]
        axis = pose[i].outward(Z)
        one = pose[turning[0]].outward(Z) if turning else None
        if joint.prismatic:
            along = one is not None and _parallel(one, [axis])
            alone = _across(axis, [model.gravity, *sliding]) and (along or one is None)
            found[i] = Excitation(ABOUT_ONE if turning else NO_TURN, along, rotor=alone)
        elif one is None or _parallel(one, [axis]):
            arms = (pose[i].origin - pose[k].origin for k in turning)
            idle = _parallel(axis, [model.gravity, *sliding, *arms])
            found[i] = Excitation(ABOUT_ONE, True, not idle, rotor=one is None)
        else:
            found[i] = Excitation(EVERY_WAY, rotor=_across(axis, [one]))
    return found


def told_by_rules(model: Model) -> bool:
    """Are the rules of the papers enough? Not where loops, mimic joints or transmissions tie joints together, nor where
    a body is held to the ground by a joint that is neither revolute nor prismatic. A floating body and what it carries
    move every way, whatever the joints are."""
    free = {i for i, _ in model.outward() if model.joint(i).kind.free}
    known = (
        model.joint(i).revolute or model.joint(i).prismatic or not free.isdisjoint((i, *model.ancestors(i)))
        for i, _ in model.outward()
    )
    return not (model.constrained or model.has_mimic or model.transmissions) and all(known)


def _parallel(axis: Vector, others: Iterable[Vector]) -> bool:
    return all(math.hypot(*axis.cross(v)) <= PARALLEL * max(1.0, math.hypot(*v)) for v in others)


def _across(axis: Vector, others: Iterable[Vector]) -> bool:
    return all(abs(axis.dot(v)) <= PARALLEL * max(1.0, math.hypot(*v)) for v in others)
