"""Equalities of a model compiled by MuJoCo: joints that follow or are held, and loops.

MuJoCo pulls loops shut by springs (``solref``, ``solimp``); here they are rigid. The meaning of its data was read off
its residuals: ``connect`` has the anchor in body 1, then in body 2; ``weld`` the anchor in body 2, then that in body 1,
then the orientation of body 2 in body 1. Between sites, the sites themselves are the frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..model.description import LoopDescription, Mimic, Placement
from .mjcf_values import fresh, placement_of

if TYPE_CHECKING:
    from .mjcf_tree import TreeReader


@dataclass
class Equalities:
    followers: dict[int, Mimic] = field(default_factory=dict)  # by joint
    held: dict[int, float] = field(default_factory=dict)  # position by joint
    loops: list[LoopDescription] = field(default_factory=list)
    grounded: bool = False  # whether a loop ends at something that stands still


def read_equalities(reader: TreeReader) -> Equalities:
    model, types, found = reader.model, reader.mujoco.mjtEq, Equalities()
    names = {model.equality(e).name for e in range(model.neq)}
    for e in range(0 if reader.disabled("EQUALITY", "CONSTRAINT") else model.neq):
        name, kind = model.equality(e).name, int(model.eq_type[e])
        if not model.eq_active0[e]:
            reader.tell("warning", "equality", name, "it is not active: left out")
        elif kind == types.mjEQ_JOINT:
            _couple(reader, e, found)
        elif kind in (types.mjEQ_CONNECT, types.mjEQ_WELD):
            _close(reader, e, name or fresh(f"loop{e + 1}", names), found)
        else:
            fix = "remove it, or couple joints instead"
            reader.tell("error", "equality", name, "only joints, `connect` and `weld` are read", fix)
    return found


def _couple(reader: TreeReader, e: int, found: Equalities) -> None:
    model, name = reader.model, reader.model.equality(e).name
    c0, c1, *higher = map(float, model.eq_data[e][:5])
    one, two = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    if any(higher) or one in found.followers or one in found.held:
        fix = "keep one equality of a joint, of the form polycoef='c0 c1 0 0 0'"
        reader.tell("error", "equality", name, "a joint can only follow one other, by a straight line", fix)
    elif two < 0:
        found.held[one] = float(model.qpos0[model.jnt_qposadr[one]]) + c0
        reader.tell("warning", "joint", reader.names[one], "an equality holds it in place: taken as fixed")
    else:
        at, leader_at = (float(model.qpos0[model.jnt_qposadr[j]]) for j in (one, two))
        found.followers[one] = Mimic(reader.names[two], c1, at + c0 - c1 * leader_at)


def _close(reader: TreeReader, e: int, name: str, found: Equalities) -> None:
    model, data = reader.model, reader.model.eq_data[e]
    is_weld = model.eq_type[e] == reader.mujoco.mjtEq.mjEQ_WELD
    kind = "weld" if is_weld and data[10] else "spherical"  # a weld with torquescale 0 holds no turns
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
        reader.tell("warning", "equality", name, "it pulls at a mocap body, which the user moves: left out")
        return
    if carriers[0] == carriers[1]:
        reader.tell("warning", "equality", name, "it joins what does not move against each other: left out")
        return
    message = "this loop is rigid here: how softly MuJoCo closes it (solref, solimp) is not taken over"
    reader.tell("warning", "equality", name, message)
    first, second = ((reader.bodies[b], side) for b, side in zip(bodies, sides, strict=True))
    found.loops.append(LoopDescription(name, kind, first, second))
    found.grounded |= 0 in carriers
