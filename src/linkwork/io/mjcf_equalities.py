"""Equalities of a model compiled by MuJoCo: mimic and fixed joints, also through fixed tendons, and loops.

MuJoCo closes loops by springs (``solref``, ``solimp``); here they are rigid. The meaning of its data was deduced from
its residuals: ``connect`` has the anchor in body 1, then in body 2; ``weld`` the anchor in body 2, then that in body 1,
then the orientation of body 2 in body 1. Between sites, the sites themselves are the frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ..model.constraints import POINT, WELD, Gear
from ..model.description import ConstraintDescription, Placement
from .findings import unused_name
from .rpy import placement_from_mujoco

if TYPE_CHECKING:
    from .mjcf_tree import TreeReader


Sum = dict[int, float]  # of joint positions, each times a coefficient
PASSES = 100  # passes over equalities, each of which may reduce others; more than any robot needs
SOFT = "this loop is rigid here: the softness in MuJoCo (solref, solimp) is not read"


class Coupling(NamedTuple):
    """The equality ``total = value``; ``first``: the joint that follows if two are coupled."""

    number: int
    name: str
    total: Sum
    value: float
    first: int | None


@dataclass
class Equalities:
    """The equalities of a model by their effect on joints."""

    followers: dict[int, tuple[int, float, float]] = field(default_factory=dict)  # joint -> leader, multiplier, offset
    held: dict[int, float] = field(default_factory=dict)  # position by joint
    sums: list[Coupling] = field(default_factory=list)  # of three joints or more
    constraints: list[ConstraintDescription] = field(default_factory=list)
    grounded: bool = False  # whether a loop ends at a fixed body

    def reduced(self, total: Sum) -> tuple[Sum, float]:
        """Return the same sum over independent joints, and the constant that the others add."""
        independent, constant, pending = {}, 0.0, list(total.items())
        while pending:
            joint, factor = pending.pop()
            if joint in self.held:
                constant += factor * self.held[joint]
            elif joint in self.followers:
                leader, multiplier, offset = self.followers[joint]
                pending.append((leader, factor * multiplier))
                constant += factor * offset
            else:
                independent[joint] = independent.get(joint, 0.0) + factor
        least = 1e-12 * max(map(abs, total.values()), default=0.0)  # rounding errors where terms cancel
        return {joint: factor for joint, factor in independent.items() if abs(factor) > least}, constant


def read_equalities(reader: TreeReader) -> Equalities:
    """Read the equalities of a model."""
    model, types, equalities = reader.model, reader.mujoco.mjtEq, Equalities()
    names = {model.equality(e).name for e in range(model.neq)}
    for e in range(0 if reader.disabled("EQUALITY", "CONSTRAINT") else model.neq):
        name, kind = model.equality(e).name, int(model.eq_type[e])
        if not model.eq_active0[e]:
            reader.report("warning", "equality", name, "it is not active: left out")
        elif kind in (types.mjEQ_JOINT, types.mjEQ_TENDON):
            ids = [int(x[e]) for x in (model.eq_obj1id, model.eq_obj2id) if x[e] >= 0]
            joints = kind == types.mjEQ_JOINT
            _couple(reader, e, name, equalities, [{x: 1.0} if joints else tendon_length(reader, x) for x in ids])
        elif kind in (types.mjEQ_CONNECT, types.mjEQ_WELD):
            _close(reader, e, name or unused_name(f"loop{e + 1}", names), equalities)
        else:
            fix = "remove it, or couple joints instead"
            reader.report("error", "equality", name, "only joints, fixed tendons, `connect` and `weld` are read", fix)
    for _ in range(PASSES):
        unresolved = [each for each in equalities.sums if not _resolved(reader, each, equalities)]
        if len(unresolved) == len(equalities.sums):
            break
        equalities.sums = unresolved
    for joint in list(equalities.followers):
        independent, constant = equalities.reduced({joint: 1.0})
        if not independent:  # a later equality holds its leader
            equalities.held[joint] = constant
            del equalities.followers[joint]
    equalities.constraints += [_gear(reader, each, equalities, names) for each in equalities.sums]
    return equalities


def tendon_length(reader: TreeReader, tendon: int) -> Sum | None:
    """Return the length of a fixed tendon as a sum over joints; None for a tendon through sites."""
    model, total = reader.model, {}
    for part in range(model.tendon_adr[tendon], model.tendon_adr[tendon] + model.tendon_num[tendon]):
        if model.wrap_type[part] != reader.mujoco.mjtWrap.mjWRAP_JOINT:
            return None
        joint = int(model.wrap_objid[part])
        total[joint] = total.get(joint, 0.0) + float(model.wrap_prm[part])
    return total


def _couple(reader: TreeReader, e: int, name: str, equalities: Equalities, lengths: list[Sum | None]) -> None:
    """Add ``length1 - length1_0 = c0 + c1 (length2 - length2_0)`` of joints or tendons; without a second ``= c0``."""
    model = reader.model
    c0, c1, *higher = map(float, model.eq_data[e][:5])
    if None in lengths or (len(lengths) > 1 and any(higher)):
        message = "only joints and fixed tendons can be coupled, and only linearly"
        reader.report("error", "equality", name, message, "give it the form polycoef='c0 c1 0 0 0', or remove it")
        return
    total: Sum = {}
    for length, factor in zip(lengths, (1.0, -c1), strict=False):
        for joint, coefficient in (length or {}).items():
            total[joint] = total.get(joint, 0.0) + factor * coefficient
    value = sum(factor * float(model.qpos0[model.jnt_qposadr[joint]]) for joint, factor in total.items()) + c0
    first = next(iter(total)) if len(lengths[0] or ()) == 1 else None
    each = Coupling(e, name, total, value, first)
    if not _resolved(reader, each, equalities):
        equalities.sums.append(each)


def _resolved(reader: TreeReader, each: Coupling, equalities: Equalities) -> bool:
    """Make a coupling of one joint hold it, and one of two a mimic joint; False for more joints."""
    factors, constant = equalities.reduced(each.total)
    joints = sorted(factors, key=lambda joint: (joint in reader.actuators.forces, -joint))  # those with actuators lead
    if each.first in factors:
        joints.sort(key=lambda joint: joint != each.first)  # but the first of two joints follows
    if len(joints) > 2:
        return False
    if len(joints) == 1:
        equalities.held[joints[0]] = (each.value - constant) / factors[joints[0]]
        name = reader.names[joints[0]]
        reader.report("warning", "joint", name, "an equality holds it in place: read as fixed")
    elif joints:
        follower, leader = joints
        multiplier = -factors[leader] / factors[follower]
        equalities.followers[follower] = leader, multiplier, (each.value - constant) / factors[follower]
    elif abs(each.value - constant) > 1e-9 * max(1.0, abs(constant)):
        reader.report("error", "equality", each.name, "other equalities contradict it", "remove it")
    return True


def _gear(reader: TreeReader, each: Coupling, equalities: Equalities, names: set[str]) -> ConstraintDescription:
    """Return a gear between three joints or more."""
    factors, constant = equalities.reduced(each.total)
    reader.report("warning", "equality", each.name, SOFT)
    first, *_, last = ((reader.bodies[reader.model.jnt_bodyid[joint]], Placement()) for joint in factors)
    ratios = tuple((reader.names[joint], factor) for joint, factor in factors.items())
    name = each.name or unused_name(f"gear{each.number + 1}", names)
    return ConstraintDescription(name, Gear(ratios, each.value - constant), first, last)


def _close(reader: TreeReader, e: int, name: str, equalities: Equalities) -> None:
    """Add a loop."""
    model, data = reader.model, reader.model.eq_data[e]
    is_weld = model.eq_type[e] == reader.mujoco.mjtEq.mjEQ_WELD
    kind = WELD if is_weld and data[10] else POINT  # a weld with torquescale 0 holds no turns
    ids = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    holders = getattr(model, "eq_objtype", [reader.mujoco.mjtObj.mjOBJ_BODY] * model.neq)  # older versions: bodies only
    if holders[e] == reader.mujoco.mjtObj.mjOBJ_SITE:
        bodies = [int(model.site_bodyid[s]) for s in ids]
        sides = [placement_from_mujoco(model.site_pos[s], model.site_quat[s]) for s in ids]
    else:
        bodies, sides = list(ids), [Placement(translation=data[:3].copy()), Placement(translation=data[3:6].copy())]
        if is_weld:
            sides = [placement_from_mujoco(data[3:6], data[6:10]), sides[0]]
    carriers = [reader.carriers[b] for b in bodies]
    if any(not c and model.body_mocapid[model.body_rootid[b]] >= 0 for b, c in zip(bodies, carriers, strict=True)):
        message = "it connects a mocap body, which the user moves: left out"
        reader.report("warning", "equality", name, message, at_load=True)
        return
    if carriers[0] == carriers[1]:
        reader.report(
            "warning", "equality", name, "it connects bodies that do not move relative to each other: left out"
        )
        return
    reader.report("warning", "equality", name, SOFT)
    first, second = ((reader.bodies[b], side) for b, side in zip(bodies, sides, strict=True))
    equalities.constraints.append(ConstraintDescription(name, kind, first, second))
    equalities.grounded |= 0 in carriers
