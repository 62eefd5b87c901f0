"""Writer of the YAML format that ``mdh`` reads: any tree of links and joints with its loops, to the last digit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ..errors import ModelError
from ..forces import ForceLaw
from ..model.constraints import SECTIONS
from ..model.description import (
    STANDARD_GRAVITY,
    Description,
    JointDescription,
    LinkInertia,
    Placement,
)
from ..model.joints import JointKind
from ..model.placement import modified_parameters
from ..model.rotations import LAST_DIGIT, frame_of_axis
from ..quoting import in_yaml
from .mdh_constraints import constraint_rows
from .mdh_drives import written_transmissions
from .mdh_flexible import beams_on
from .mdh_tables import ELEMENTS, ILLUSTRATIVE, OWN, TABLES
from .rpy import rotation_from_quaternion, rpy_from_rotation

SIGMA = {"revolute": {}, "continuous": {}, "prismatic": {"sigma": "1"}, "fixed": {"sigma": "2"}}  # others by name
ANGLES = ("gamma", "alpha", "theta")
DIGITS = 15  # decimals of parameters
ROUNDING = 1e-14  # of what is left of an inertia when parts of it are taken away


def write_mdh(description: Description) -> str:
    """YAML text from which ``read_mdh`` makes the same robot: names, frames, dynamics, loops and sources.

    Platforms and legs are written out as the joints, links and loops they stand for.
    Frames of moving links are turned until z is the joint's axis; the links' own frames are written as frames of the
    same name. A joint whose axis is nearly parallel to the one before is placed by xyz and rpy, since its common
    normal would be too far away to keep all digits.
    """
    root, joints = _outward(description)
    turned = {link.name: Placement() for link in description.links}  # the joint's frame in the link's own
    turned |= {joint.child: Placement(_row_frame(joint)) for joint in joints}
    beams = _rows(joints, turned)
    inertias = {
        link.name: own
        for link in description.links
        if link.inertia is not None
        and (own := _without_beams(link.inertia.placed(turned[link.name].inverse()), beams_on(link.name, beams)))
    }
    sources = _Sources(description.sources)
    own = {name: (name, turn.inverse()) for name, turn in turned.items() if not _is_identity(turn.rotation)}
    named = {name: (link, turned[link].inverse() @ placement) for name, (link, placement) in description.frames.items()}

    lines = [f"name: {in_yaml(description.name or 'robot')}"]
    if description.summary:
        lines.append(f"description: {in_yaml(description.summary)}")
    lines += sources.head()
    if description.floating or root != "base" or root in inertias:
        kind = "floating" if description.floating else "fixed"
        base = {"kind": kind, "link": in_yaml(root), **_inertia(inertias.pop(root, None))}
        lines.append(f"base: {_flow(sources.added(base, 'base'))}")
    if tuple(description.gravity) != STANDARD_GRAVITY:
        lines.append(f"gravity: {_list(description.gravity)}")
    lines += _table("joints", (_joint(joint, turned, sources, description.home) for joint in joints)) or ["joints: []"]
    lines += _table(
        "links",
        (
            sources.added({"link": in_yaml(joint.child), **_inertia(inertias[joint.child])}, f"links.{joint.child}")
            for joint in joints
            if joint.child in inertias
        ),
    )
    lines += _table("drives", (row for joint in joints if len(row := _drive(joint, sources)) > 1))
    lines += _table(
        "frames",
        (
            sources.added({"name": in_yaml(name), "link": in_yaml(link), **_pose(placement)}, f"frames.{name}")
            for name, (link, placement) in (own | named).items()
        ),
    )
    for table in SECTIONS:
        rows = constraint_rows(description, table, lambda side: _side(side, turned), _value)
        lines += _table(table, (sources.added(row, f"{table}.{name}") for name, row in rows))
    if home := _home(description):
        lines.append(f"home: {_flow(home)}")
    if description.independent:
        lines.append(f"independent: [{', '.join(map(in_yaml, description.independent))}]")
    if description.redundant:
        lines.append("actuation: redundant")
    lines += _table("forces", _forces(description, sources))
    lines += _table("transmissions", _transmissions(description, sources))
    return "\n".join(lines) + "\n"


def _rows(joints: Iterable[JointDescription], turned: Mapping[str, Placement]) -> list[dict[str, Any]]:
    """The joints that bend, in the frames of the rows."""
    return [
        {"parent": joint.parent, "flexible": joint.flexible, "origin": turned[joint.parent].inverse() @ joint.origin}
        for joint in joints
        if joint.flexible is not None
    ]


def _without_beams(inertia: LinkInertia, beams: Iterable[LinkInertia]) -> LinkInertia | None:
    """What a link has beside its straight beams; None if nothing but rounding."""
    rest = inertia
    for beam in beams:
        rest = rest - beam
    if rest is not inertia:  # digits that the difference does not have
        size = inertia.mass + np.abs(inertia.about_origin).max()
        digits = DIGITS - math.ceil(math.log10(size)) if size else DIGITS
        rest = LinkInertia(round(rest.mass, digits), rest.center.round(digits), rest.central.round(digits))
    small = np.abs(rest.about_origin).max() <= ROUNDING * np.abs(inertia.about_origin).max()
    return None if rest is not inertia and small and abs(rest.mass) <= ROUNDING * inertia.mass else rest


def _row_frame(joint: JointDescription) -> np.ndarray:
    """The axes of the joint's row in those of its link: z along the axis, and x along the second one if there is."""
    if joint.motion.directions < 2:
        return frame_of_axis(joint.axis) if joint.motion.directions else np.eye(3)
    z, x = (axis / np.linalg.norm(axis) for axis in (joint.axis, joint.second_axis))
    return np.stack([x, np.cross(z, x), z], axis=1) + 0.0


def _outward(description: Description) -> tuple[str, list[JointDescription]]:
    """The root link, and the joints depth first in the description's order."""
    children = {joint.child for joint in description.joints}
    roots = [link.name for link in description.links if link.name not in children]
    if len(roots) != 1:
        raise ModelError("not a tree", where=description.name, got=f"roots {roots}", expected="one root link")
    outgoing = description.outgoing()
    order, pending = [], outgoing[roots[0]][::-1]
    while pending:
        order.append(joint := pending.pop())
        pending += outgoing[joint.child][::-1]
    return roots[0], order


def _is_identity(rotation: np.ndarray) -> bool:
    return bool((rotation == np.eye(3)).all())


# --- rows


def _joint(
    joint: JointDescription, turned: Mapping[str, Placement], sources: _Sources, home: Mapping[str, Any]
) -> dict[str, str]:
    origin = turned[joint.parent].inverse() @ joint.origin @ turned[joint.child]
    row = {"name": in_yaml(joint.name), "link": in_yaml(joint.child), "parent": in_yaml(joint.parent)}
    if joint.motion.tied:
        del row["parent"]
        return sources.added(row | {"flexible": _value(joint.flexible.to_dict())}, f"joints.{joint.name}")
    if joint.flexible is not None:
        origin = origin @ joint.flexible.tip_placement.inverse()
        row["flexible"] = _value(joint.flexible.to_dict())
    else:
        row |= SIGMA.get(joint.kind, {"kind": joint.kind})
    row |= {key: _number(getattr(joint, key)) for key in OWN.get(joint.kind, ())}
    if not joint.motion.free:
        row |= _parameters(origin)
    else:  # its row says where it stands at home
        *place, x, y, z, w = home.get(joint.name, joint.motion.neutral())
        row |= _pose(Placement(rotation_from_quaternion(x, y, z, w), np.array(place)))
        if counted := _pose(origin):
            row["origin"] = _flow(counted)
    return sources.added(row, f"joints.{joint.name}")


def _parameters(placement: Placement) -> dict[str, str]:
    """The six parameters, where they keep all digits; the noise of computing them is rounded off, so that what was read
    is written as it was."""
    parameters = modified_parameters(placement)
    if parameters is None:
        return _pose(placement)
    row = {}
    for key, value in parameters._asdict().items():
        text = (_angle if key in ANGLES else _number)(round(value, DIGITS))
        if text != "0":
            row[key] = "pi" if text == "-pi" else text
    return row


def _pose(placement: Placement) -> dict[str, str]:
    xyz, rpy = _list(placement.translation), _list(rpy_from_rotation(placement.rotation), _angle)
    return {key: text for key, text in (("xyz", xyz), ("rpy", rpy)) if text != "[0, 0, 0]"}


def _inertia(inertia: LinkInertia | None) -> dict[str, str]:
    if inertia is None:
        return {}
    central = inertia.central[np.triu_indices(3)]
    return {"M": _number(inertia.mass), "center": _list(inertia.center), "central": _list(central)}


def _drive(joint: JointDescription, sources: _Sources) -> dict[str, str]:
    row = {"joint": in_yaml(joint.name)}
    if not joint.motion.nv or joint.motion.modes:
        return row
    values = joint.to_dict()
    if (role := values.pop("role", "")) and not joint.motion.free:
        row["role"] = role
    row |= {key: _value(x) for key, x in values.items()}
    if joint.motion.bounded and (math.isfinite(joint.lower) or math.isfinite(joint.upper)):
        row["limits"] = _list((joint.lower, joint.upper), _written(*joint.motion.position_units))
    if mimic := joint.mimic:
        numbers = {"multiplier": _number(mimic.multiplier), "offset": _number(mimic.offset)}
        row["mimic"] = _flow({"joint": in_yaml(mimic.joint), **numbers})
    return sources.added(row, f"drives.{joint.name}")


def _written(unit: str):
    """How numbers of a unit are written."""
    return _angle if unit == "rad" else _number


def _side(side: tuple[str, Placement], turned: Mapping[str, Placement]) -> str:
    link, placement = side
    if not link:
        return _flow(_parameters(placement))
    return _flow({"link": in_yaml(link), **_parameters(turned[link].inverse() @ placement)})


def _home(description: Description) -> dict[str, str]:
    """Home positions by joint, without floating joints that have rows: their rows give the home position."""
    floating = {joint.name for joint in description.joints if joint.motion.free}
    joints = description.all_joints()
    return {
        in_yaml(name): _positions(joints[name].motion, position)
        for name, position in description.home.items()
        if name not in floating
    }


def _positions(kind: JointKind, position: float | tuple[float, ...]) -> str:
    numbers = zip(kind.position_units, np.atleast_1d(np.asarray(position, float)), strict=True)
    texts = [_written(unit)(float(number)) for unit, number in numbers]
    return texts[0] if kind.nq == 1 else f"[{', '.join(texts)}]"


def law_name(description: Description, frame: str, law: Any) -> str:
    """What files call a force law; one that is a function of the user's has no name."""
    if not isinstance(law, ForceLaw):
        raise ModelError(
            "this law of the surroundings cannot be written",
            where=f"{description.name}: forces at {frame!r}",
            got=repr(law),
            expected=f"one of: {', '.join(ForceLaw.known)}",
            fix="write the robot without it, and add it again after loading",
        )
    return law.name


def _forces(description: Description, sources: _Sources) -> Iterator[dict[str, str]]:
    for j, (frame, law) in enumerate(description.forces, 1):
        name_of_law = law_name(description, frame, law)
        values = {each.name: getattr(law, each.name) for each in fields(law) if getattr(law, each.name) != each.default}
        row = {"frame": in_yaml(frame), "law": name_of_law, **{name: _value(x) for name, x in values.items()}}
        yield sources.added(row, f"forces.{j}")


def _transmissions(description: Description, sources: _Sources) -> Iterator[dict[str, str]]:
    for row in written_transmissions(description.transmissions):
        yield sources.added({key: _value(x) for key, x in row.items()}, f"transmissions.{row['name']}")


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return _flow({in_yaml(key): _value(x) for key, x in value.items()})
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return in_yaml(value) if isinstance(value, str) else _number(value)


class _Sources:
    """``Description.sources`` parted again into references and what refers to them."""

    def __init__(self, sources: Mapping[str, str]):
        self.sources = sources
        self.references = {key: text for key, text in sources.items() if key.split(".")[0] not in TABLES}

    def head(self) -> list[str]:
        lines = []
        if self.references:
            lines.append("sources:")
            lines += [f"  {in_yaml(key)}: {in_yaml(text)}" for key, text in self.references.items()]
        if tables := {table: key for table in TABLES if table != "base" and (key := self.key(table))}:
            lines.append(f"source: {_flow(tables)}")
        return lines

    def key(self, path: str) -> str:
        key = self.sources.get(path, "")
        return in_yaml(key) if key in self.references or key == ILLUSTRATIVE else ""

    def added(self, row: dict[str, str], path: str) -> dict[str, str]:
        """The row with its `source`, if it has one of its own."""
        if whole := self.key(path):
            return row | {"source": whole}
        written = {"center": ("MX", "MY", "MZ"), "central": ELEMENTS}  # what other forms are written as
        values = {
            value: key
            for value in row
            for given in (value, *written.get(value, ()))
            if (key := self.key(f"{path}.{given}"))
        }
        return row | {"source": _flow(values)} if values else row


# --- text


def _table(name: str, rows: Iterable[Mapping[str, str]]) -> list[str]:
    lines = [f"  - {_flow(row)}" for row in rows]
    return [f"{name}:", *lines] if lines else []


def _flow(row: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in row.items()) + "}"


def _list(values: Iterable[float], written=None) -> str:
    return "[" + ", ".join((written or _number)(float(value)) for value in values) + "]"


def _number(value: float) -> str:
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _angle(value: float) -> str:
    """A multiple of pi/2 by name."""
    if not math.isfinite(value):
        return _number(value)
    quarters = round(value / (math.pi / 2))
    if not quarters or abs(value - quarters * (math.pi / 2)) > LAST_DIGIT * abs(quarters):
        return _number(value) if abs(value) > LAST_DIGIT else "0"
    count, half = (quarters, "/2") if quarters % 2 else (quarters // 2, "")
    return {1: "pi", -1: "-pi"}.get(count, f"{count}*pi") + half
