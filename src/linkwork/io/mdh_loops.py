"""Loops, home position and forces in the YAML format.

    loops:                                       # cut joints: kind, and where both sides sit
      - {name: cut, kind: revolute, first: {link: coupler, d: 0.3}, second: {link: rocker, d: 0.25}}
      - {kind: spherical, first: {frame: ball}, second: {frame: socket}}
    home: {crank: 60 deg, ball: [0, 0, 1, 0]}    # positions near which the loops close; zero where none is given
    independent: [crank]                         # joints that tell all others; without it, active ones first
    actuation: redundant                         # more active joints than freedoms are meant
    forces:                                      # laws of the surroundings, each acting at a link or frame
      - {frame: tail, law: drag, length: 0.2, k_normal: 40, current: [0.1, 0, 0]}

Loops. A mechanism with loops is a tree whose loops are cut, each at one joint. The frame of the cut joint is Khalil's
frame k on one side and frame k + B on the other (B: the number of loops): `first` and `second`. Each is placed in its
link's frame by the six parameters or by xyz and rpy, as a row of `frames`, or it is a frame of that table. Kinds:

    revolute    z of both frames is one line, along which nothing slides; free is the turn about it
    prismatic   free is the shift along the common z; the axes x and y stay parallel
    universal   origins coincide, z of the first stays perpendicular to x of the second; free are the turns about them
    spherical   origins coincide; all turns are free
    weld        the frames coincide; nothing is free

Names of loops default to loop1, loop2, ... The role of a joint (active, passive or elastic) and the weight of its force
under redundant actuation stand in `drives`. The laws and their values are the classes of ``linkwork.forces``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import yaml

from ..forces import LAWS
from ..model.coordinates import Segment
from ..model.cut_joints import CUT_JOINTS
from .mdh_flexible import kind_of
from .mdh_tables import PLACED, Row, Scope, Side, Tables


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
            tables.loops[name] = kind, first, second


def _side(tables: Tables, node: yaml.Node, row: Row, key: str, frames: Mapping[str, Side]) -> Side:
    tables.need(node, row, key, "{link: its name, ...} or {frame: its name}")
    side = tables.mapping(row[key], ("link", "frame", *PLACED))
    if "frame" in side:
        if len(side) > 1:
            tables.fail(row[key], "placed twice", got=", ".join(side), expected="a frame alone, or a link")
        return frames[tables.name(side["frame"], "frame", frames)]
    tables.need(row[key], side, "link", "the link that carries this side")
    return tables.name(side.pop("link"), "link", tables.links), tables.placement(side, row[key])


def read_home(tables: Tables, top: Row, scope: Scope) -> None:
    if "home" in top:
        tables.label = f"{tables.within}home"
        with tables.going_on():
            joints = scope.of(tables.joints)
            for name, node in tables.mapping(top["home"]).items():
                if name in joints and _has_position(tables.joints[joints[name]]):
                    size = kind_of(tables.joints[joints[name]]).nq
                    several = tuple(tables.numbers(node, size)) if size > 1 else ()
                    tables.home[joints[name]] = several or tables.number(node)
                else:
                    known = [each for each in joints if _has_position(tables.joints[joints[each]])]
                    tables.note(tables.unknown(node, "key", name, known))
        tables.label = tables.within.removesuffix(": ")


def _has_position(joint: Mapping[str, Any]) -> bool:
    return kind_of(joint).nq > 0


def read_independent(tables: Tables, top: Row) -> None:
    if "independent" in top:
        tables.label = "independent"
        with tables.going_on():
            names = {}
            for name, joint in tables.joints.items():
                own = Segment(name, kind_of(joint).velocity_parts, ()).names
                names |= dict.fromkeys((name, *own) if own else ())
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
            forces.append((frame, tables.law(node, row, law)))
    return forces
