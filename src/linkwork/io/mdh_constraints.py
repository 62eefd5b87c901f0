"""Constraints, home position and forces in the YAML format.

    loops:                                       # cut joints: kind, and where both sides sit
      - {name: cut, kind: revolute, first: {link: coupler, d: 0.3}, second: {link: rocker, d: 0.25}}
      - {kind: spherical, first: {frame: ball}, second: {frame: socket}}
    rolling:                                     # contacts with planes; without `plane`, with the ground
      - {name: left, kind: wheel, wheel: {link: left_wheel}, radius: 0.1, friction: 0.8}
      - {kind: blade, wheel: {link: sledge, d: 0.2, alpha: -pi/2}, plane: {link: table, r: 0.02}}
    gears:                                       # sum of ratio * position = offset, of any joints
      - {joints: {motor: 1, wheel: -20}}
      - {name: rack, joints: {pinion: 0.02, slide: -1}, offset: 0.1}
    feet:                                        # where the robot may stand on the ground, the plane z = 0 of the world
      - {name: left, frame: left_sole, size: [0.2, 0.1], friction: 0.7, restitution: 0.1}
      - {frame: toe}                             # a point, named like its frame
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
centre; of those without a radius it is the point that touches. The kinds are the subclasses of ``Rolling`` in
``model.constraints``, with the keys that their fields name. `friction` is the coefficient beyond which it would slip;
without it nothing is said of that.

Gears. Joints are named, or entries of joints with several freedoms (slide.shift): those whose positions are numbers.

Feet. `frame` is a link or a frame. With `size`, length and width, the foot is a sole around the frame's origin, along x
and y; without it a point. By default it never slips, and does not bounce.

Names of loops default to loop1, loop2, ..., of the others to wheel1, gear2, ..., all in one count. The role of a joint
(active, passive or elastic) and the weight of its force under redundant actuation stand in `drives`. The laws and their
values are the classes of ``linkwork.forces``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

from ..forces import ForceLaw
from ..model.constraints import SECTIONS, ConstraintKind, End, kinds_in
from ..model.coordinates import Segment
from ..model.description import ConstraintDescription, Description, Placement, floating_joint
from .mdh_tables import PLACED, Row, Scope, Side, Tables, kind_of


def read_constraints(tables: Tables, top: Row, frames: Mapping[str, Side]) -> None:
    places = dict.fromkeys((*tables.links, *frames))
    for section in SECTIONS:
        kinds = kinds_in(section)
        ends = [end.key for kind in kinds.values() for end in (kind.first, kind.second) if end.key]
        keys = [
            "name",
            *["kind"] * (len(kinds) > 1),
            *ends,
            *(key for kind in kinds.values() for key in kind.declared()),
        ]
        for node, row in tables.rows(top, section, (*dict.fromkeys(keys), "source")):
            with tables.going_on():
                _constraint(tables, node, row, section, frames, places)


def _constraint(
    tables: Tables, node: yaml.Node, row: Row, section: str, frames: Mapping[str, Side], places: Mapping[str, None]
) -> None:
    kinds = kinds_in(section)
    first, *others = kinds.values()
    kind = next((each for each in kinds.values() if each.default), first)

    def chosen() -> type[ConstraintKind]:
        return kinds[tables.name(row["kind"], f"kind of {section.removesuffix('s')}", kinds)] if "kind" in row else kind

    if len({each.word for each in kinds.values()}) > 1:  # what it is called depends on its kind
        kind = chosen()
    word, second = kind.word, None
    if kind.second.named:
        tables.need(node, row, kind.second.key, kind.second.what)
        second = tables.name(row.pop(kind.second.key), "link or frame", places)
    name = tables.text(row.pop("name")) if "name" in row else second or f"{word}{len(tables.constraints) + 1}"
    tables.label = f"{word} {name!r}"
    if name in tables.constraints:
        tables.fail(node, f"the name of the {word} is used twice")
    tables.note_source(row, f"{section}.{name}")
    if others and not any(each.default for each in kinds.values()):
        tables.need(node, row, "kind", f"one of {', '.join(kinds)}")
    kind = chosen()
    made = _made(tables, node, row, kind)
    if made.coordinates:
        links = [tables.joints[tables.carriers()[part]]["child"] for part in made.coordinates]
        sides = (links[0], Placement()), (links[-1], Placement())
    else:
        sides = tuple(_side(tables, node, row, end, frames) for end in (kind.first, kind.second) if not end.named)
    key = (section, len(tables.constraints)) if kind.switched else name  # of those, ``check`` counts the names
    tables.constraints[key] = ConstraintDescription(name, made, sides[0], sides[1] if second is None else second)


def _made(tables: Tables, node: yaml.Node, row: Row, kind: type[ConstraintKind]) -> ConstraintKind:
    """The kind with the numbers of a row."""
    made = tables.element(node, kind, row)
    for key in (key for key in row if key not in (*kind.keys(), "kind", kind.first.key, kind.second.key)):
        tables.fail(row[key], f"a {kind.name} has no {key}", fix=kind.lacks.get(key, "remove it"))
    return made


def constraint_rows(
    description: Description, section: str, side: Callable[[Side], Any], plain: Callable[[Any], Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and rows of a table of files, with frames and values as a writer has them."""
    several = len(kinds_in(section)) > 1
    for each in (each for each in description.constraints if each.kind.section == section):
        row = {"name": plain(each.name)} | ({"kind": each.kind.name} if several else {})
        pairs = (each.kind.first, each.first), (each.kind.second, each.second)
        for end, place in sorted(pairs, key=lambda pair: pair[0].ground):
            placed = plain(place) if isinstance(place, str) else side(place)
            if end.key and not (end.ground and placed in ({}, "{}")):
                row[end.key] = placed
        yield each.name, row | {key: plain(value) for key, value in each.kind.to_dict().items()}


def _side(tables: Tables, node: yaml.Node, row: Row, end: End, frames: Mapping[str, Side]) -> Side:
    key = end.key
    if end.ground and key not in row:
        return "", Placement()
    tables.need(node, row, key, end.what)
    side = tables.mapping(row[key], ("link", "frame", *PLACED))
    if "frame" in side:
        if len(side) > 1:
            tables.fail(row[key], "placed twice", got=", ".join(side), expected="a frame alone, or a link")
        return frames[tables.name(side["frame"], "frame", frames)]
    if "link" not in side and end.ground:
        return "", tables.placement(side, row[key])
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
    laws = ForceLaw.known
    every = {key: None for law in laws.values() for key in law.declared()}
    places = dict.fromkeys((*tables.links, *frames))
    for node, row in tables.rows(top, "forces", ("frame", "law", "source", *every)):
        with tables.going_on():
            tables.need(node, row, "frame", "the link or frame it acts at")
            tables.need(node, row, "law", f"one of {', '.join(laws)}")
            frame = tables.name(row.pop("frame"), "link or frame", places)
            law = laws[tables.name(row.pop("law"), "law", laws)]
            tables.note_source(row, f"forces.{len(forces) + 1}")
            for key in row:
                if key not in law.declared():
                    tables.note(tables.unknown(row[key], "key", key, law.declared()))
            made = tables.element(node, law, row)
            for place in (place for place in getattr(made, "to", ()) if place not in places and isinstance(place, str)):
                tables.note(tables.unknown(row["to"], "link or frame", place, places))
            forces.append((frame, made))
    return forces
