"""Loops, rolling, gears, home position and forces in the YAML format.

    loops:                                       # cut joints: kind, and where both sides sit
      - {name: cut, kind: revolute, first: {link: coupler, d: 0.3}, second: {link: rocker, d: 0.25}}
      - {kind: spherical, first: {frame: ball}, second: {frame: socket}}
    rolling:                                     # contacts with planes; without `plane`, with the ground
      - {name: left, kind: wheel, wheel: {link: left_wheel}, radius: 0.1, friction: 0.8}
      - {kind: blade, wheel: {link: sledge, d: 0.2, alpha: -pi/2}, plane: {link: table, r: 0.02}}
    gears:                                       # sum of ratio * position = offset, of any joints
      - {joints: {motor: 1, wheel: -20}}
      - {name: rack, joints: {pinion: 0.02, slide: -1}, offset: 0.1}
    home: {crank: 60 deg, ball: [0, 0, 1, 0]}    # positions near which the loops close; zero where none is given
    independent: [crank]                         # joints that tell all others; without it, active ones first
    actuation: redundant                         # more active joints than freedoms are meant
    forces:                                      # laws of the surroundings, each acting at a link or frame
      - {frame: tail, law: drag, length: 0.2, k_normal: 40, current: [0.1, 0, 0]}
      - {frame: hand, law: spring, to: [elbow, [0, 0, 1]], stiffness: 200, rest: 0.4}

Loops. A mechanism with loops is a tree whose loops are cut, each at one joint. The frame of the cut joint is Khalil's
frame k on one side and frame k + B on the other (B: the number of loops): `first` and `second`. Each is placed in its
link's frame by the six parameters or by xyz and rpy, as a row of `frames`, or it is a frame of that table. Kinds:

    revolute    z of both frames is one line, along which nothing slides; free is the turn about it
    prismatic   free is the shift along the common z; the axes x and y stay parallel
    universal   origins coincide, z of the first stays perpendicular to x of the second; free are the turns about them
    spherical   origins coincide; all turns are free
    weld        the frames coincide; nothing is free

Rolling. The plane is z = 0 of its frame, which may be on any link. z of the frame `wheel` is the axle, its origin the
centre; of a blade and a glide, which have no radius, it is the point that touches. Kinds:

    wheel       rolls without slipping
    omni        does not slip along, but may across, along its axle: an omniwheel
    blade       may slip along, but not across: a skate, a castor, or passive wheels that are too light to matter
    glide       stays on the plane and may slip all ways: a ball castor, a pad; its axes do not matter

`friction` is the coefficient beyond which it would slip; without it nothing is said of that.

Gears. Joints are named, or entries of joints with several freedoms (slide.shift): those whose positions are numbers.

Names of loops default to loop1, loop2, ..., of the others to wheel1, gear2, ..., all in one count. The role of a joint
(active, passive or elastic) and the weight of its force under redundant actuation stand in `drives`. The laws and their
values are the classes of ``linkwork.forces``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import yaml

from ..errors import one_of, perhaps
from ..forces import LAWS
from ..model.contacts import CONTACTS, ROUND
from ..model.coordinates import Segment
from ..model.cut_joints import CUT_JOINTS
from ..model.description import Placement, floating_joint
from .mdh_tables import PLACED, Row, Scope, Side, Tables, kind_of


def read_loops(tables: Tables, top: Row, frames: Mapping[str, Side]) -> None:
    for node, row in tables.rows(top, "loops", ("name", "kind", "first", "second", "source")):
        with tables.going_on():
            name = tables.text(row.pop("name")) if "name" in row else f"loop{len(tables.loops) + 1}"
            tables.label = f"loop {name!r}"
            if name in tables.loops:
                tables.fail(node, "the name of the loop is used twice")
            tables.note_source(row, f"loops.{name}")
            tables.need(node, row, "kind", f"one of {', '.join(CUT_JOINTS)}")
            kind = tables.name(row["kind"], "kind of loop", CUT_JOINTS)
            first, second = (_side(tables, node, row, key, frames) for key in ("first", "second"))
            tables.loops[name] = kind, first, second, {}


def read_rolling(tables: Tables, top: Row, frames: Mapping[str, Side]) -> None:
    for node, row in tables.rows(top, "rolling", ("name", "kind", "wheel", "plane", "radius", "friction", "source")):
        with tables.going_on():
            kind = tables.name(row["kind"], "kind of rolling", CONTACTS) if "kind" in row else "wheel"
            name = _name(tables, node, row, kind, "rolling")
            wheel = _side(tables, node, row, "wheel", frames)
            plane = _side(tables, node, row, "plane", frames, "") if "plane" in row else ("", Placement())
            values = {key: tables.number(row[key]) for key in ("radius", "friction") if key in row}
            if kind in ROUND:
                tables.need(node, row, "radius", "in metres")
            elif "radius" in row:
                fix = "remove it, and place the frame where it touches; or write kind: wheel"
                tables.fail(row["radius"], f"a {kind} has no radius", fix=fix)
            tables.loops[name] = kind, plane, wheel, values


def read_gears(tables: Tables, top: Row) -> None:
    for node, row in tables.rows(top, "gears", ("name", "joints", "offset", "source")):
        with tables.going_on():
            name = _name(tables, node, row, "gear", "gears")
            tables.need(node, row, "joints", "{joint: ratio, ...}")
            carried = {part: joint for joint in tables.joints for part in _parts(tables, joint)}
            given = tables.mapping(row["joints"])
            for part, ratio in given.items():
                if part not in carried:
                    tables.fail(ratio, **_not_geared(tables, part, carried))
            if len(given) < 2:
                tables.fail(row["joints"], "a gear ties two joints at least", got=", ".join(given) or "none")
            ratios = {part: tables.number(ratio) for part, ratio in given.items()}
            links = [tables.joints[carried[part]]["child"] for part in given]
            values = {"ratios": ratios, "offset": tables.number(row["offset"]) if "offset" in row else 0.0}
            tables.loops[name] = "gear", (links[0], Placement()), (links[-1], Placement()), values


def _parts(tables: Tables, joint: str) -> tuple[str, ...]:
    """Entries of a joint that a gear can tie."""
    kind = kind_of(tables.joints[joint])
    return Segment(joint, kind.velocity_parts, ()).names if kind.straight else ()


def _not_geared(tables: Tables, part: str, carried: Iterable[str]) -> dict[str, str]:
    joint = tables.joints.get(part)
    if joint is None or not (kind := kind_of(joint)).nv or not kind.straight:
        what = "does not exist" if joint is None else f"is {joint['kind']}: it has no position to count by"
        return {"message": f"joint {part!r} {what}", "fix": perhaps(part, [*carried]) or one_of(part, [*carried])}
    names = Segment(part, kind.velocity_parts, ()).names
    return {"message": f"joint {part!r} has several freedoms", "expected": f"one of {', '.join(names)}"}


def _name(tables: Tables, node: yaml.Node, row: Row, kind: str, table: str) -> str:
    """Of a row of ``rolling`` or ``gears``."""
    name = tables.text(row.pop("name")) if "name" in row else f"{kind}{len(tables.loops) + 1}"
    tables.label = f"{kind} {name!r}"
    if name in tables.loops:
        tables.fail(node, "the name is used twice, here or among the loops")
    tables.note_source(row, f"{table}.{name}")
    return name


def _side(
    tables: Tables, node: yaml.Node, row: Row, key: str, frames: Mapping[str, Side], link: str | None = None
) -> Side:
    """``link``: the one that carries it if the row names none."""
    tables.need(node, row, key, "{link: its name, ...} or {frame: its name}")
    side = tables.mapping(row[key], ("link", "frame", *PLACED))
    if "frame" in side:
        if len(side) > 1:
            tables.fail(row[key], "placed twice", got=", ".join(side), expected="a frame alone, or a link")
        return frames[tables.name(side["frame"], "frame", frames)]
    if "link" not in side and link is not None:
        return link, tables.placement(side, row[key])
    tables.need(row[key], side, "link", "the link that carries this side")
    return tables.name(side.pop("link"), "link", tables.links), tables.placement(side, row[key])


def read_home(tables: Tables, top: Row, scope: Scope) -> None:
    if "home" in top:
        tables.label = f"{tables.within}home"
        with tables.going_on():
            joints = scope.of(tables.joints)
            base = floating_joint(tables.joints, "") if tables.floating and not scope.prefix else None
            for name, node in tables.mapping(top["home"]).items():
                size = kind_of(tables.joints[joints[name]]).nq if name in joints else 0
                if base and name == base.name:
                    tables.home[name] = tuple(tables.numbers(node, base.motion.nq))
                elif size:
                    listed = size > 1 or isinstance(node, yaml.SequenceNode)
                    tables.home[joints[name]] = tuple(tables.numbers(node, size)) if listed else tables.number(node)
                else:
                    known = [each for each in joints if kind_of(tables.joints[joints[each]]).nq]
                    tables.note(tables.unknown(node, "key", name, [*([base.name] if base else []), *known]))
        tables.label = tables.within.removesuffix(": ")


def read_independent(tables: Tables, top: Row) -> None:
    if "independent" in top:
        tables.label = "independent"
        with tables.going_on():
            names = {}
            for name, joint in tables.joints.items():
                own = Segment(name, kind_of(joint).velocity_parts, ()).names
                names |= dict.fromkeys((name, *own) if own else ())
            if tables.floating:
                names |= dict.fromkeys(floating_joint(tables.joints, "").freedoms)
            tables.independent = [tables.name(node, "joint", names) for node in tables.sequence(top["independent"])]
        tables.label = ""


def read_forces(tables: Tables, top: Row, frames: Mapping[str, Side]) -> list[tuple[str, Any]]:
    """Each law with the name of the link or frame it acts at."""
    forces: list[tuple[str, Any]] = []
    every = {each.name: None for law in LAWS.values() for each in fields(law)}
    places = dict.fromkeys((*tables.links, *frames))
    for node, row in tables.rows(top, "forces", ("frame", "law", "source", *every)):
        with tables.going_on():
            tables.need(node, row, "frame", "the link or frame it acts at")
            tables.need(node, row, "law", f"one of {', '.join(LAWS)}")
            frame = tables.name(row.pop("frame"), "link or frame", places)
            law = LAWS[tables.name(row.pop("law"), "law", LAWS)]
            tables.note_source(row, f"forces.{len(forces) + 1}")
            own = [each.name for each in fields(law)]
            for key in row:
                if key not in own:
                    tables.note(tables.unknown(row[key], "key", key, own))
            made = tables.law(node, row, law)
            for place in (place for place in getattr(made, "to", ()) if place not in places and isinstance(place, str)):
                tables.note(tables.unknown(row["to"], "link or frame", place, places))
            forces.append((frame, made))
    return forces
