"""Tables of the YAML format: rows of joints, links, drives and frames, and the sources of their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from typing import Any

import numpy as np
import yaml

from ..errors import ModelError, one_of, perhaps
from ..model.constraints import SECTIONS
from ..model.conventions import XYZ_RPY
from ..model.coordinates import Segment
from ..model.description import MOST_LINKS, ConstraintDescription, LinkInertia, Mimic, Placement, Written
from ..model.drive import JointValues
from ..model.element import Element
from ..model.joints import JOINT_KINDS, JointKind, joint_kind
from ..model.placement import ModifiedParameters
from ..model.pseudo_inertia import symmetric
from ..model.rotations import rotation_from_rpy
from .dh import ORDER, from_standard_dh
from .mdh_flexible import place_station, read_flexible
from .yaml_nodes import Nodes

# Tables for which a file can give a source.
TABLES = ("joints", "links", "drives", "frames", *SECTIONS, "home", "forces", "transmissions", "base", "gravity")
PARALLEL = ("platform", "leg", "legs", "modules")
EXPANDED = ("joints", "links", "drives", "loops", "home")  # tables that the parallel ones add to
ILLUSTRATIVE = "illustrative"
ELEMENTS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ")
INERTIA = ("M", "MX", "MY", "MZ", "center", *ELEMENTS, "central", "source")
SIGMA = {"0": "revolute", "1": "prismatic", "2": "fixed"}  # Khalil's numbers for kinds
KIND_KEYS = {"helical": {"pitch": "metres per radian"}}  # required keys that only one kind of joint has
MODIFIED = ModifiedParameters._fields
PLACED = (*MODIFIED, "xyz", "rpy")
STANDARD = ORDER["standard"]
DRIVE_KEYS = (*JointValues.keys(), "limits", "mimic")

Row = dict[str, yaml.Node]
Side = tuple[str, Placement]  # a link, and a frame placed in the frame of its joint


@dataclass(frozen=True)
class Scope:
    """The rows being read: those of the robot, or of one leg, whose names get a prefix."""

    base: str  # the link that row 0 and `base` refer to
    prefix: str = ""
    at: Placement = field(default_factory=Placement)  # where the base frame of the rows is in that link

    def of(self, names: Mapping[str, Any]) -> Mapping[str, str]:
        """Map names as the rows write them to names as the robot has them."""
        return _Prefixed(names, self.prefix)


@dataclass(frozen=True)
class _Prefixed(Mapping[str, str]):
    """A view of the names with a prefix. It copies nothing, because a robot may have many legs."""

    names: Mapping[str, Any]
    prefix: str

    def __getitem__(self, name: str) -> str:
        if self.prefix + name not in self.names:
            raise KeyError(name)
        return self.prefix + name

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(self.prefix) for name in self.names if name.startswith(self.prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def kind_of(joint: Mapping[str, Any]) -> JointKind:
    """Return the kind of a joint from the fields of its description."""
    return joint_kind(joint["kind"], joint.get("flexible"))


class Tables(Nodes):
    """One file being read, and the content of its tables so far.

    ``joints`` has the fields of each JointDescription, with ``origin`` between the frames of joints. ``links`` has
    inertias, and ``distal`` the frames of the standard convention in these links.
    """

    def __init__(self, source: str):
        super().__init__(source)
        self.within = ""  # the leg or module being read, for messages
        self.root_link, self.floating = "base", False
        self.references: dict[str, str] = {ILLUSTRATIVE: ""}
        self.sources: dict[str, str] = {}
        self.joints: dict[str, dict[str, Any]] = {}
        self.links: dict[str, LinkInertia | None] = {}
        self.distal: dict[str, Placement] = {}
        self.driven: set[str] = set()
        self.constraints: dict[Any, ConstraintDescription] = {}  # by name; those with a switch by number
        self.home: dict[str, float | tuple[float, ...]] = {}
        self.home_poses: dict[str, Placement] = {}  # of floating bodies, by joint
        self.independent: list[str] = []

    # --- sources

    def read_sources(self, top: Row) -> None:
        self.label = "sources"
        with self.keep_reading():
            for key, node in (self.mapping(top["sources"]) if "sources" in top else {}).items():
                with self.keep_reading():
                    if key in TABLES or key == ILLUSTRATIVE or "." in key:
                        self.fail(node, f"{key!r} cannot be the key of a source", fix="choose another key")
                    self.sources[key] = self.text(node)
        self.references |= self.sources
        self.label = "source"
        if "source" in top:
            present = {*top, *(EXPANDED if any(key in top for key in PARALLEL) else ())}
            tables = {table: top["source"] for table in TABLES if table in present}
            if isinstance(top["source"], yaml.MappingNode):
                tables = self.mapping(top["source"], TABLES)
            self.sources |= {table: self.reference(node) for table, node in tables.items()}
        self.label = ""

    def reference(self, node: yaml.Node) -> str:
        return self.name(node, "source", self.references)

    def note_source(self, row: Row, path: str) -> None:
        """Remove the `source` of a row, one key or {value: key, ...}, and note it."""
        node = row.pop("source", None)
        if isinstance(node, yaml.MappingNode):
            for value, reference in self.mapping(node, list(row)).items():
                self.sources[f"{path}.{value}"] = self.reference(reference)
        elif node is not None:
            self.sources[path] = self.reference(node)

    # --- rows

    def rows(self, top: Row, table: str, keys: Iterable[str]) -> Iterable[tuple[yaml.Node, Row]]:
        nodes, keys = [], tuple(keys)
        with self.keep_reading():
            nodes = self.sequence(top[table]) if table in top else []
        for j, node in enumerate(nodes, 1):
            self.label = f"{self.within}{table} row {j}"
            row = None
            with self.keep_reading():
                row = self.mapping(node, keys)
            if row is not None:
                yield node, row
        self.label = self.within.removesuffix(": ")

    def name_of(self, node: yaml.Node, row: Row, key: str, names: Mapping[str, str]) -> str:
        """Return the name of the link or joint that the row describes."""
        self.require(node, row, key, "its name")
        name = self.text(row[key])
        if name not in names:
            raise self.unknown(row[key], key, name, names)
        del row[key]
        self.label = f"{key} {names[name]!r}"
        return names[name]

    def placement(self, row: Row, node: yaml.Node) -> Placement:
        parameters = {key: self.number(row[key]) for key in MODIFIED if key in row}
        if "xyz" not in row and "rpy" not in row:
            return ModifiedParameters(**parameters).placement()
        if parameters:
            self.fail(node, "it is placed twice", got=", ".join(row), expected=f"{', '.join(MODIFIED)}, or xyz and rpy")
        xyz = self.numbers(row["xyz"], 3) if "xyz" in row else [0.0, 0.0, 0.0]
        rpy = self.numbers(row["rpy"], 3) if "rpy" in row else [0.0, 0.0, 0.0]
        return Placement(rotation_from_rpy(*rpy), np.array(xyz), Written(XYZ_RPY, (*xyz, *rpy)))

    def inertia(self, row: Row, node: yaml.Node) -> LinkInertia:
        if "M" not in row:
            self.fail(node, "the mass is missing", expected="M: mass in kg")
        mass = self.number(row["M"])
        for vector, components in (("center", ("MX", "MY", "MZ")), ("central", ELEMENTS)):
            if vector in row and (both := [key for key in components if key in row]):
                self.fail(row[both[0]], f"a value is given by {vector!r} and by {both[0]!r}", fix="keep one form")
        numbers = [self.number(row[key]) if key in row else 0.0 for key in ("MX", "MY", "MZ", *ELEMENTS)]
        moments = np.array(numbers[:3])
        if not mass and moments.any():
            self.fail(node, "first moments without a mass", got=moments.tolist(), expected="M above zero")
        center = np.array(self.numbers(row["center"], 3)) if "center" in row else moments / (mass or 1.0)
        if "central" not in row:
            about_origin = symmetric(numbers[3:])
            return LinkInertia(mass, center, LinkInertia.about(mass, mass * center, about_origin).central)
        elements = self.numbers(row["central"], 3, 6)
        return LinkInertia(mass, center, np.diag(elements) if len(elements) == 3 else symmetric(elements))

    # --- tables

    def read_base(self, node: yaml.Node | None) -> None:
        self.label = "base"
        with self.keep_reading():
            row = self.mapping(node, ("kind", "link", *INERTIA)) if isinstance(node, yaml.MappingNode) else {}
            kind = row.pop("kind", None) if row else node
            self.floating = kind is not None and self.name(kind, "kind of base", ("fixed", "floating")) == "floating"
            self.root_link = self.text(row.pop("link")) if "link" in row else "base"
            self.links[self.root_link] = None
            self.note_source(row, "base")
            self.links[self.root_link] = self.inertia(row, node) if row and node is not None else None
        self.label = ""

    def read_joints(self, top: Row, scope: Scope, standard: bool = False) -> str:
        """Add a joint and its link per row, and return the link of the last row."""
        if "joints" in top:
            self.sequence(top["joints"])  # without them, nothing that follows makes sense
        links: list[str] = [scope.base]  # links by number
        numbers = {"base": scope.base, "0": scope.base}
        ports: list[dict[str, Any]] = []
        drive_rows: list[tuple[yaml.Node, dict[str, Any], Row]] = []
        columns: list[list[float]] = [[], [], [], []]
        of_kinds = [key for keys in KIND_KEYS.values() for key in keys]
        known = ("name", "link", "parent", "sigma", "kind", *of_kinds, "flexible", "origin", *INERTIA, *DRIVE_KEYS)
        known += STANDARD if standard else (*PLACED, "axis")
        for node, row in self.rows(top, "joints", known):
            with self.keep_reading():
                j = len(links)
                name = scope.prefix + (self.text(row.pop("name")) if "name" in row else f"joint{j}")
                self.label = f"joint {name!r}"
                link = scope.prefix + (self.text(row.pop("link")) if "link" in row else f"link{j}")
                kind = {} if "flexible" in row else {"kind": self.kind_name(row)}
                parent_node = row.pop("parent", None)
                parent = self.parent(parent_node, scope, numbers) if parent_node is not None else links[-1]
                self.note_source(row, f"joints.{name}")
                kind = kind or read_flexible(self, row, standard, scope.prefix)
                joint = self.add_joint(node, name, parent, link, kind)
                ports.append(joint)
                links.append(link)
                numbers[str(j)] = link
                if body := {key: row.pop(key) for key in INERTIA if key in row}:
                    self.links[link] = self.inertia(body, node)
                if drive := {key: row.pop(key) for key in DRIVE_KEYS if key in row}:
                    drive_rows.append((node, joint, drive))
                if standard:
                    for column, key in zip(columns, STANDARD, strict=True):
                        column.append(self.number(row[key]) if key in row else 0.0)
                joint |= self.kind_values(node, row, joint["kind"])
                if kind_of(joint).tied:
                    place_station(self, joint, [row[key] for key in PLACED if key in row], parent_node)
                elif not standard:
                    base = scope.at if parent == scope.base else Placement()
                    self.place_joint(joint, base, self.placement(row, node))
        for node, joint, row in drive_rows:  # mimic joints may name one of a later row
            with self.keep_reading():
                self.label = f"joint {joint['name']!r}"
                self.driven.add(joint["name"])
                self.read_drive(joint, node, row, scope.of(self.joints))
        self.label = self.within.removesuffix(": ")
        if standard:
            number = {link: k - 1 for k, link in enumerate(links)}
            modified, ends = from_standard_dh(*columns, parent=[number[joint["parent"]] for joint in ports])
            self.distal = dict(zip(links[1:], ends, strict=True))
            for joint, parameters in zip(ports, modified, strict=True):
                self.place_joint(joint, Placement(), parameters.placement())
        return links[-1]

    def kind_name(self, row: Row) -> str:
        """Return the name of the kind of joint that a row gives as `kind` or as `sigma`."""
        if "kind" not in row:
            sigma = self.text(row["sigma"]) if "sigma" in row else "0"
            if sigma in JOINT_KINDS:
                self.fail(row["sigma"], "sigma is a number", got=sigma, expected="0, 1 or 2", fix=f"kind: {sigma}")
            return SIGMA[self.name(row.pop("sigma"), "sigma", SIGMA)] if "sigma" in row else SIGMA[sigma]
        if "sigma" in row:
            self.fail(row["sigma"], "the kind of joint is given by 'kind' and by 'sigma'", fix="keep one of them")
        return self.name(row.pop("kind"), "kind of joint", JOINT_KINDS)

    def kind_values(self, node: yaml.Node, row: Row, kind: str) -> dict[str, Any]:
        """Return the fields that only some kinds of joints have."""
        values: dict[str, Any] = {}
        for owner, keys in KIND_KEYS.items():
            for key, expected in keys.items():
                if kind == owner:
                    self.require(node, row, key, expected)
                    values[key] = self.number(row[key])
                elif key in row:
                    self.fail(row[key], f"a {kind} joint has no {key}", fix=f"remove it, or write kind: {owner}")
        if "origin" in row:
            if kind not in JOINT_KINDS or not joint_kind(kind).free:
                self.fail(row["origin"], f"a {kind} joint has no `origin`: its row places it", fix="remove `origin`")
            values["origin"] = self.placement(self.mapping(row["origin"], PLACED), row["origin"])
        if "axis" in row:
            if kind not in JOINT_KINDS or joint_kind(kind).directions != 1:
                self.fail(row["axis"], f"a {kind} joint has no single axis", fix="turn its frame by rpy")
            values["axis"] = np.array(self.numbers(row["axis"], 3))
            if not values["axis"].any():
                self.fail(row["axis"], "the axis is zero", got=[0, 0, 0], expected="axis: [0, 1, 0]")
        return values

    def place_joint(self, joint: dict[str, Any], base: Placement, at: Placement) -> None:
        """Place a joint in the frame ``base`` of its parent.

        For a floating joint, ``at`` is the pose at home, counted from its origin. A beam begins at ``at``, and the
        origin of its joint is its tip.
        """
        kind = kind_of(joint)
        if kind.free:
            self.home_poses[joint["name"]], at = at, joint["origin"]
        joint["origin"] = base @ (at @ kind.material.tip_placement if kind.modes else at)

    def parent(self, node: yaml.Node, scope: Scope, numbers: Mapping[str, str]) -> str:
        """Return the link that a row gives by its name or its number."""
        name = self.text(node)
        if scope.prefix + name in self.links:
            return scope.prefix + name
        links_by_name = numbers if name in numbers else {**numbers, **scope.of(self.links)}
        return links_by_name[self.name(node, "earlier link", links_by_name)]

    def add_joint(self, node: yaml.Node, name: str, parent: str, link: str, kind: Mapping[str, Any]) -> dict[str, Any]:
        """Add a joint and its link. ``kind``: the fields that determine how it moves."""
        if name in self.joints or link in self.links:
            self.fail(node, "the name of a joint or link is used twice: rename one", got=f"{name!r}, {link!r}")
        if len(self.links) >= MOST_LINKS:
            self.stop_reading(node, "too many links", expected=f"at most {MOST_LINKS:,}")
        joint = {"name": name, "parent": parent, "child": link, "origin": Placement(), **kind}
        if kind_of(joint).free:
            joint["role"] = "passive"
        self.joints[name], self.links[link] = joint, None
        return joint

    def read_links(self, top: Row, scope: Scope) -> None:
        names = scope.of(self.links)
        for node, row in self.rows(top, "links", ("link", *INERTIA)):
            with self.keep_reading():
                link = self.name_of(node, row, "link", names)
                if link == self.root_link:
                    self.fail(node, "the inertia of the base belongs in `base`", fix="base: {kind: fixed, M: ...}")
                if self.links[link] is not None:
                    self.fail(node, "the link has two rows", fix="keep one of them")
                self.note_source(row, f"links.{link}")
                self.links[link] = self.inertia(row, node)

    def read_frames(self, top: Row) -> dict[str, Side]:
        frames: dict[str, Side] = {}
        for node, row in self.rows(top, "frames", ("name", "link", "source", *PLACED)):
            with self.keep_reading():
                self.require(node, row, "name", "its name")
                name = self.text(row.pop("name"))
                self.label = f"frame {name!r}"
                self.require(node, row, "link", "the link that carries the frame")
                link = self.name(row.pop("link"), "link", self.links)
                if name in frames or (name in self.links and name != link):
                    self.fail(node, "the name of the frame is used twice: rename one")
                frames[name] = link, Placement()
                self.note_source(row, f"frames.{name}")
                frames[name] = link, self.placement(row, node)
        return frames

    def read_drives(self, top: Row, scope: Scope) -> None:
        names = scope.of(self.joints)
        for node, row in self.rows(top, "drives", ("joint", *DRIVE_KEYS, "source")):
            with self.keep_reading():
                name = self.name_of(node, row, "joint", names)
                if name in self.driven:
                    self.fail(node, "the joint has two rows", fix="keep one of them")
                self.driven.add(name)
                self.note_source(row, f"drives.{name}")
                self.read_drive(self.joints[name], node, row, names)

    def read_drive(self, joint: dict[str, Any], node: yaml.Node, row: Row, names: Mapping[str, str]) -> None:
        kind = kind_of(joint)
        if not kind.nv:
            self.fail(node, f"a {kind.name} joint has no drive", fix="remove the row, or let the joint move")
        if kind.modes:
            fix = "remove the row, and give stiffness and damping of the modes in `flexible`"
            self.fail(node, "a flexible link has no drive", fix=fix)
        joint |= self.values(row, JointValues)
        if kind.free and joint["role"] == "active":
            self.fail(row["role"], f"no motor drives a {kind.name} joint", fix="leave its role out: it is passive")
        if "limits" in row:
            joint["lower"], joint["upper"] = self.numbers(row["limits"], 2, finite=False)
        if "mimic" in row:
            mimic = self.mapping(row["mimic"], ("joint", "multiplier", "offset"))
            self.require(row["mimic"], mimic, "joint", "the name of the joint that it follows")
            leader = names[self.name(mimic.pop("joint"), "joint", names)]
            joint["mimic"] = Mimic(leader, **{key: self.number(value) for key, value in mimic.items()})

    # --- elements

    def carriers(self) -> dict[str, str]:
        """Map each velocity entry that a gear can couple to its joint."""
        kinds = {name: kind_of(joint) for name, joint in self.joints.items()}
        straight = {name: kind for name, kind in kinds.items() if kind.straight}
        return {part: name for name, kind in straight.items() for part in Segment(name, kind.velocity_parts, ()).names}

    def ratios(self, node: yaml.Node) -> tuple[tuple[str, float], ...]:
        """Return the ratios of a gear: a number for each of two joints or more."""
        carriers, rows = self.carriers(), self.mapping(node)
        for part, ratio in rows.items():
            if part not in carriers:
                self.fail(ratio, **self.not_geared(part, [*carriers]))
        if len(rows) < 2:
            self.fail(node, "a gear couples two joints at least", got=", ".join(rows) or "none")
        return tuple((part, self.number(ratio)) for part, ratio in rows.items())

    def not_geared(self, part: str, links: list[str]) -> dict[str, str]:
        """Return message and fix for a joint of this name that a gear cannot couple."""
        joint = self.joints.get(part)
        if joint is None or not (kind := kind_of(joint)).nv or not kind.straight:
            reason = "does not exist" if joint is None else f"is {joint['kind']}: its position is not one number"
            return {"message": f"joint {part!r} {reason}", "fix": perhaps(part, links) or one_of(part, links)}
        names = Segment(part, kind.velocity_parts, ()).names
        return {"message": f"joint {part!r} has several degrees of freedom", "expected": f"one of {', '.join(names)}"}

    def values(self, row: Row, kind: type[Element]) -> dict[str, Any]:
        """Return the fields of an element that a row gives."""
        present = (each for key, each in kind.declared().items() if key in row and each.rule.written)
        return {each.name: each.rule.read(self, row[each.key]) for each in present}

    def element(self, node: yaml.Node, kind: type[Element], row: Row | None = None) -> Any:
        """Return an element with the values of a row. ``row``: default the node, whose keys are all the element's."""
        row = self.mapping(node, kind.keys()) if row is None else row
        for key, each in kind.declared().items():
            if each.default is MISSING and each.rule.written:
                self.require(node, row, key, each.rule.what)
        return self.construct(node, row, kind, self.values(row, kind))

    def construct(self, node: yaml.Node, row: Row, kind: Any, values: Mapping[str, Any]) -> Any:
        """Construct a class that checks its values; an error is reported at the line of the value."""
        try:
            return kind(**values)
        except ModelError as error:  # its place is the class and the field
            name = error.where.partition(".")[2]
            self.fail(row.get(name, node), f"{name}: {error.message}", error.got, error.expected, error.fix)

    def place(self, node: yaml.Node) -> str | tuple[float, ...]:
        """Return a place: the name of a link or frame, or a point of the world."""
        return tuple(self.numbers(node, 3)) if isinstance(node, yaml.SequenceNode) else self.text(node)
