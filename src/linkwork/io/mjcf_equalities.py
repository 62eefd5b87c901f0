"""Equalities of a model compiled by MuJoCo: joints that follow or are held, also through fixed tendons, and loops.

MuJoCo pulls loops shut by springs (``solref``, ``solimp``); here they are rigid. The meaning of its data was read off
its residuals: ``connect`` has the anchor in body 1, then in body 2; ``weld`` the anchor in body 2, then that in body 1,
then the orientation of body 2 in body 1. Between sites, the sites themselves are the frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ..model.constraints import POINT, WELD, Gear
from ..model.description import ConstraintDescription, Placement
from .mjcf_values import fresh, placement_of

if TYPE_CHECKING:
    from .mjcf_tree import TreeReader


Sum = dict[int, float]  # of joint positions, each times a coefficient
PASSES = 100  # over equalities that others may yet reduce; a robot has at most so many loops
SOFT = "this loop is rigid here: how softly MuJoCo closes it (solref, solimp) is not taken over"


class Coupling(NamedTuple):
    """``total`` is ``wanted``; ``first``: the joint that follows if two are coupled."""

    number: int
    name: str
    total: Sum
    wanted: float
    first: int | None


@dataclass
class Equalities:
    followers: dict[int, tuple[int, float, float]] = field(default_factory=dict)  # joint -> leader, multiplier, offset
    held: dict[int, float] = field(default_factory=dict)  # position by joint
    sums: list[Coupling] = field(default_factory=list)  # of three joints or more
    constraints: list[ConstraintDescription] = field(default_factory=list)
    grounded: bool = False  # whether a loop ends at something that stands still

    def reduced(self, total: Sum) -> tuple[Sum, float]:
        """The same sum over joints that move on their own, and what the others add."""
        own, constant, pending = {}, 0.0, list(total.items())
        while pending:
            joint, factor = pending.pop()
            if joint in self.held:
                constant += factor * self.held[joint]
            elif joint in self.followers:
                leader, multiplier, offset = self.followers[joint]
                pending.append((leader, factor * multiplier))
                constant += factor * offset
            else:
                own[joint] = own.get(joint, 0.0) + factor
        least = 1e-12 * max(map(abs, total.values()), default=0.0)  # what rounding leaves where terms cancel
        return {joint: factor for joint, factor in own.items() if abs(factor) > least}, constant


def read_equalities(reader: TreeReader) -> Equalities:
    model, types, found = reader.model, reader.mujoco.mjtEq, Equalities()
    names = {model.equality(e).name for e in range(model.neq)}
    for e in range(0 if reader.disabled("EQUALITY", "CONSTRAINT") else model.neq):
        name, kind = model.equality(e).name, int(model.eq_type[e])
        if not model.eq_active0[e]:
            reader.report("warning", "equality", name, "it is not active: left out")
        elif kind in (types.mjEQ_JOINT, types.mjEQ_TENDON):
            ids = [int(x[e]) for x in (model.eq_obj1id, model.eq_obj2id) if x[e] >= 0]
            joints = kind == types.mjEQ_JOINT
            _couple(reader, e, name, found, [{x: 1.0} if joints else tendon_length(reader, x) for x in ids])
        elif kind in (types.mjEQ_CONNECT, types.mjEQ_WELD):
            _close(reader, e, name or fresh(f"loop{e + 1}", names), found)
        else:
            fix = "remove it, or couple joints instead"
            reader.report("error", "equality", name, "only joints, fixed tendons, `connect` and `weld` are read", fix)
    for _ in range(PASSES):
        left = [each for each in found.sums if not _settled(reader, each, found)]
        if len(left) == len(found.sums):
            break
        found.sums = left
    for joint in list(found.followers):
        own, constant = found.reduced({joint: 1.0})
        if not own:  # what it follows was held later
            found.held[joint] = constant
            del found.followers[joint]
    found.constraints += [_tied(reader, each, found, names) for each in found.sums]
    return found


def tendon_length(reader: TreeReader, tendon: int) -> Sum | None:
    """The length of a fixed tendon; None of one that runs through space."""
    model, total = reader.model, {}
    for part in range(model.tendon_adr[tendon], model.tendon_adr[tendon] + model.tendon_num[tendon]):
        if model.wrap_type[part] != reader.mujoco.mjtWrap.mjWRAP_JOINT:
            return None
        joint = int(model.wrap_objid[part])
        total[joint] = total.get(joint, 0.0) + float(model.wrap_prm[part])
    return total


def _couple(reader: TreeReader, e: int, name: str, found: Equalities, lengths: list[Sum | None]) -> None:
    """``length1 - length1_0 = c0 + c1 (length2 - length2_0)``, of joints or tendons; without a second: ``= c0``."""
    model = reader.model
    c0, c1, *higher = map(float, model.eq_data[e][:5])
    if None in lengths or (len(lengths) > 1 and any(higher)):
        message = "only joints and fixed tendons can be coupled, and by a straight line"
        reader.report("error", "equality", name, message, "give it the form polycoef='c0 c1 0 0 0', or remove it")
        return
    total: Sum = {}
    for length, factor in zip(lengths, (1.0, -c1), strict=False):
        for joint, coefficient in (length or {}).items():
            total[joint] = total.get(joint, 0.0) + factor * coefficient
    wanted = sum(factor * float(model.qpos0[model.jnt_qposadr[joint]]) for joint, factor in total.items()) + c0
    first = next(iter(total)) if len(lengths[0] or ()) == 1 else None
    each = Coupling(e, name, total, wanted, first)
    if not _settled(reader, each, found):
        found.sums.append(each)


def _settled(reader: TreeReader, each: Coupling, found: Equalities) -> bool:
    """Whether it leaves at most one joint a choice; the others are held, or follow that one."""
    own, constant = found.reduced(each.total)
    joints = sorted(own, key=lambda joint: (joint in reader.actuators.forces, -joint))  # those with actuators lead
    if each.first in own:
        joints.sort(key=lambda joint: joint != each.first)  # but the first of two joints follows
    if len(joints) > 2:
        return False
    if len(joints) == 1:
        found.held[joints[0]] = (each.wanted - constant) / own[joints[0]]
        name = reader.names[joints[0]]
        reader.report("warning", "joint", name, "an equality holds it in place: taken as fixed")
    elif joints:
        follower, leader = joints
        share = -own[leader] / own[follower]
        found.followers[follower] = leader, share, (each.wanted - constant) / own[follower]
    elif abs(each.wanted - constant) > 1e-9 * max(1.0, abs(constant)):
        reader.report("error", "equality", each.name, "other equalities contradict it", "remove it")
    return True


def _tied(reader: TreeReader, each: Coupling, found: Equalities, taken: set[str]) -> ConstraintDescription:
    """The gear of three joints or more that keep a sum."""
    own, constant = found.reduced(each.total)
    reader.report("warning", "equality", each.name, SOFT)
    first, *_, last = ((reader.bodies[reader.model.jnt_bodyid[joint]], Placement()) for joint in own)
    ratios = tuple((reader.names[joint], factor) for joint, factor in own.items())
    name = each.name or fresh(f"gear{each.number + 1}", taken)
    return ConstraintDescription(name, Gear(ratios, each.wanted - constant), first, last)


def _close(reader: TreeReader, e: int, name: str, found: Equalities) -> None:
    model, data = reader.model, reader.model.eq_data[e]
    is_weld = model.eq_type[e] == reader.mujoco.mjtEq.mjEQ_WELD
    kind = WELD if is_weld and data[10] else POINT  # a weld with torquescale 0 holds no turns
    ids = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    holders = getattr(model, "eq_objtype", [reader.mujoco.mjtObj.mjOBJ_BODY] * model.neq)  # older versions: bodies only
    if holders[e] == reader.mujoco.mjtObj.mjOBJ_SITE:
        bodies = [int(model.site_bodyid[s]) for s in ids]
        sides = [placement_of(model.site_pos[s], model.site_quat[s]) for s in ids]
    else:
        bodies, sides = list(ids), [Placement(translation=data[:3].copy()), Placement(translation=data[3:6].copy())]
        if is_weld:
            sides = [placement_of(data[3:6], data[6:10]), sides[0]]
    carriers = [reader.carriers[b] for b in bodies]
    if any(not c and model.body_mocapid[model.body_rootid[b]] >= 0 for b, c in zip(bodies, carriers, strict=True)):
        message = "it pulls at a mocap body, which the user moves: left out"
        reader.report("warning", "equality", name, message, at_load=True)
        return
    if carriers[0] == carriers[1]:
        reader.report("warning", "equality", name, "it joins what does not move against each other: left out")
        return
    reader.report("warning", "equality", name, SOFT)
    first, second = ((reader.bodies[b], side) for b, side in zip(bodies, sides, strict=True))
    found.constraints.append(ConstraintDescription(name, kind, first, second))
    found.grounded |= 0 in carriers
