"""Constraints, home position, forces and transmissions: tables that robot files and side files have in common.

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
    home: {crank: 60 deg, ball: [0, 0, 1, 0]}    # positions near which the loops close; default: zero
    independent: [crank]                         # joints that determine all others; default: active ones first
    actuation: redundant                         # allows more active joints than degrees of freedom
    forces:                                      # external force laws, each acting at a link or frame
      - {frame: tail, law: drag, length: 0.2, k_normal: 40, current: [0.1, 0, 0]}
      - {frame: hand, law: spring, to: [elbow, [0, 0, 1]], stiffness: 200, rest: 0.4}
    transmissions:                               # motors that move several joints together
      - name: wrist
        joints: [pitch, roll]
        motors:                                  # ratios: velocity of the motor per velocity of each joint
          - {name: motor5, ratios: [72, 0], Ia: 2e-5, Fv: 1e-4}
          - {name: motor6, ratios: [13.5, 76.7], Ia: 2e-5, Fs: 0.01}
      - {joints: [hip, knee], motors: [{name: tendon, ratios: [0.03, -0.02], K: 4e3, rest: 0.01, role: passive}]}

Loops. A mechanism with loops is a tree whose loops are cut, each at one joint. The frame of the cut joint is Khalil's
frame k on one side and frame k + B on the other (B: the number of loops): `first` and `second`. Each is placed in its
link's frame by the six parameters or by xyz and rpy, as a row of `frames`, or it is a frame of that table. Kinds:

    revolute    z of both frames is one line; the frames turn about it and do not slide along it
    prismatic   the frames slide along their common z; their axes x and y stay parallel
    universal   origins coincide, z of the first stays perpendicular to x of the second; the frames turn about these
    spherical   origins coincide; the frames turn freely
    weld        the frames coincide

Rolling. The plane is z = 0 of its frame, which may be on any link. z of the frame `wheel` is the axle, and its origin
is the centre; for kinds without a radius the origin is the contact point. The kinds are the subclasses of ``Rolling``
in ``model.constraints``, and their fields are the keys. `friction` is the coefficient of friction, above which the
wheel would slip; without it slip is not reported.

Gears. `joints` has names of joints, or of velocity entries of joints with several degrees of freedom (slide.shift),
whose positions are numbers.

Feet. `frame` is a link or a frame. With `size`, length and width, the foot is a sole around the origin of the frame,
along x and y. Without it the foot is a point. By default a foot never slips and does not bounce.

Transmissions. Ia, Fs, Fv, `friction`, `width` and the spring K, `rest`, `slack` are those of the motor itself, before
the gears. The joints feel T^T Ia T, T^T f(T v) and T^T K (T q - rest), where row k of T has the ratios of motor k. From
`rest` to `rest + slack` the spring has no force. A passive motor couples the joints and is not driven: a tendon, an
anti-roll bar.

Loops without a name are called loop1, loop2, ..., the others wheel1, gear2, ..., all in one count. The role of a joint
(active, passive or elastic) and the weight of its force under redundant actuation are in `drives`. The force laws and
their values are the classes of ``linkwork.forces``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import yaml

from ..errors import ModelError
from ..forces import ForceLaw
from ..model.constraints import SECTIONS, ConstraintKind, End, kinds_in
from ..model.coordinates import Segment
from ..model.description import ConstraintDescription, Description, Placement, floating_joint
from ..model.drive import Motor, Transmission
from .mdh_tables import PLACED, Row, Scope, Side, Tables, kind_of


def read_constraints(tables: Tables, top: Row, frames: Mapping[str, Side]) -> None:
    """Add the constraints of all tables of constraints."""
    for section in SECTIONS:
        kinds = kinds_in(section)
        ends = [end.key for kind in kinds.values() for end in (kind.first, kind.second) if end.key]
        fields_of_kinds = (key for kind in kinds.values() for key in kind.declared())
        keys = ["name", *["kind"] * (len(kinds) > 1), *ends, *fields_of_kinds]
        for node, row in tables.rows(top, section, (*dict.fromkeys(keys), "source")):
            with tables.keep_reading():
                _constraint(tables, node, row, section, frames)


def _constraint(tables: Tables, node: yaml.Node, row: Row, section: str, frames: Mapping[str, Side]) -> None:
    kinds = kinds_in(section)
    first, *others = kinds.values()
    kind = next((each for each in kinds.values() if each.default), first)

    def chosen() -> type[ConstraintKind]:
        return kinds[tables.name(row["kind"], f"kind of {section.removesuffix('s')}", kinds)] if "kind" in row else kind

    if len({each.word for each in kinds.values()}) > 1:  # its name depends on its kind
        kind = chosen()
    word, second = kind.word, None
    if kind.second.named:
        tables.require(node, row, kind.second.key, kind.second.what)
        second = tables.name(row.pop(kind.second.key), "link or frame", {**tables.links, **frames})
    name = tables.text(row.pop("name")) if "name" in row else second or f"{word}{len(tables.constraints) + 1}"
    tables.label = f"{word} {name!r}"
    if name in tables.constraints:
        tables.fail(node, f"the name of the {word} is used twice: rename one")
    tables.note_source(row, f"{section}.{name}")
    if others and not any(each.default for each in kinds.values()):
        tables.require(node, row, "kind", f"one of {', '.join(kinds)}")
    kind = chosen()
    constraint = tables.element(node, kind, row)
    for key in (key for key in row if key not in (*kind.keys(), "kind", kind.first.key, kind.second.key)):
        tables.fail(row[key], f"a {kind.name} has no {key}", fix=kind.lacks.get(key, "remove it"))
    if constraint.coordinates:
        links = [tables.joints[tables.carriers()[part]]["child"] for part in constraint.coordinates]
        sides = (links[0], Placement()), (links[-1], Placement())
    else:
        sides = tuple(_side(tables, node, row, end, frames) for end in (kind.first, kind.second) if not end.named)
    key = (section, len(tables.constraints)) if kind.switched else name  # ``check`` reports repeated names of these
    tables.constraints[key] = ConstraintDescription(name, constraint, sides[0], sides[1] if second is None else second)


def constraint_rows(
    description: Description, section: str, side: Callable[[Side], Any], plain: Callable[[Any], Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield names and rows of a table of constraints. ``side`` and ``plain`` write frames and values."""
    several = len(kinds_in(section)) > 1
    for each in (each for each in description.constraints if each.kind.section == section):
        row = {"name": plain(each.name)} | ({"kind": each.kind.name} if several else {})
        pairs = (each.kind.first, each.first), (each.kind.second, each.second)
        for end, place in sorted(pairs, key=lambda pair: pair[0].ground):
            placement = plain(place) if isinstance(place, str) else side(place)
            if end.key and not (end.ground and placement in ({}, "{}")):
                row[end.key] = placement
        yield each.name, row | {key: plain(value) for key, value in each.kind.to_dict().items()}


def _side(tables: Tables, node: yaml.Node, row: Row, end: End, frames: Mapping[str, Side]) -> Side:
    key = end.key
    if end.ground and key not in row:
        return "", Placement()
    tables.require(node, row, key, end.what)
    side = tables.mapping(row[key], ("link", "frame", *PLACED))
    if "frame" in side:
        if len(side) > 1:
            tables.fail(row[key], "it is placed twice", got=", ".join(side), expected="a frame alone, or a link")
        return frames[tables.name(side["frame"], "frame", frames)]
    if "link" not in side and end.ground:
        return "", tables.placement(side, row[key])
    tables.require(row[key], side, "link", "the link that carries this side")
    return tables.name(side.pop("link"), "link", tables.links), tables.placement(side, row[key])


def read_home(tables: Tables, top: Row, scope: Scope) -> None:
    """Add the home positions."""
    if "home" in top:
        tables.label = f"{tables.within}home"
        with tables.keep_reading():
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
                    joints_with_positions = [each for each, joint in joints.items() if kind_of(tables.joints[joint]).nq]
                    tables.note_error(
                        tables.unknown(node, "key", name, [*([base.name] if base else []), *joints_with_positions])
                    )
        tables.label = tables.within.removesuffix(": ")


def read_independent(tables: Tables, top: Row) -> None:
    """Read the names of the independent joints or velocity entries."""
    if "independent" in top:
        tables.label = "independent"
        with tables.keep_reading():
            names = {}
            for name, joint in tables.joints.items():
                entries = Segment(name, kind_of(joint).velocity_parts, ()).names
                names |= dict.fromkeys((name, *entries) if entries else ())
            if tables.floating:
                names |= dict.fromkeys(floating_joint(tables.joints, "").freedoms)
            tables.independent = [tables.name(node, "joint", names) for node in tables.sequence(top["independent"])]
        tables.label = ""


def read_forces(tables: Tables, top: Row, frames: Mapping[str, Side]) -> list[tuple[str, Any]]:
    """Return each force law with the name of the link or frame at which it acts."""
    forces: list[tuple[str, Any]] = []
    laws = ForceLaw.known
    every = {key: None for law in laws.values() for key in law.declared()}
    places = dict.fromkeys((*tables.links, *frames))
    for node, row in tables.rows(top, "forces", ("frame", "law", "source", *every)):
        with tables.keep_reading():
            tables.require(node, row, "frame", "the link or frame it acts at")
            tables.require(node, row, "law", f"one of {', '.join(laws)}")
            frame = tables.name(row.pop("frame"), "link or frame", places)
            law = laws[tables.name(row.pop("law"), "law", laws)]
            tables.note_source(row, f"forces.{len(forces) + 1}")
            for key in row:
                if key not in law.declared():
                    tables.note_error(tables.unknown(row[key], "key", key, law.declared()))
            force = tables.element(node, law, row)
            for place in getattr(force, "to", ()):
                if isinstance(place, str) and place not in places:
                    tables.note_error(tables.unknown(row["to"], "link or frame", place, places))
            forces.append((frame, force))
    return forces


def force_rows(description: Description) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `forces`, without values that are at their defaults."""
    for frame, law in description.forces:
        if not isinstance(law, ForceLaw):
            raise ModelError(
                "this force law cannot be written to a file",
                where=f"{description.name}: forces at {frame!r}",
                got=repr(law),
                expected=f"one of: {', '.join(ForceLaw.known)}",
                fix="write the robot without it, and add it again after loading",
            )
        yield {"frame": frame, "law": law.name, **law.to_dict()}


def read_transmissions(tables: Tables, top: Row) -> list[Transmission]:
    """Return the transmissions of a file."""
    transmissions: list[Transmission] = []
    for node, row in tables.rows(top, "transmissions", ("name", "joints", "motors", "source")):
        with tables.keep_reading():
            name = tables.text(row.pop("name")) if "name" in row else f"transmission{len(transmissions) + 1}"
            tables.label = f"transmission {name!r}"
            tables.require(node, row, "joints", "the names of its joints")
            tables.require(node, row, "motors", "a row for each motor")
            tables.note_source(row, f"transmissions.{name}")
            joints = tuple(tables.name(each, "joint", tables.joints) for each in tables.sequence(row["joints"]))
            motors, matrix = [], []
            for each in tables.sequence(row["motors"]):
                motor = tables.mapping(each, ("name", "ratios", *Motor.keys()))
                tables.require(each, motor, "name", "its name")
                tables.require(each, motor, "ratios", f"{len(joints)} numbers")
                motors.append(Motor(tables.text(motor["name"]), **tables.values(motor, Motor)))
                matrix.append(tuple(tables.numbers(motor["ratios"], len(joints))))
            transmissions.append(Transmission(name, joints, tuple(motors), tuple(matrix)))
    return transmissions


def transmission_rows(transmissions: Iterable[Transmission]) -> list[dict[str, Any]]:
    """Return the rows of the table `transmissions`."""
    return [
        {
            "name": each.name,
            "joints": list(each.joints),
            "motors": [
                {"name": motor.name, "ratios": list(ratios), **motor.to_dict()}
                for motor, ratios in zip(each.motors, each.matrix, strict=True)
            ],
        }
        for each in transmissions
    ]
