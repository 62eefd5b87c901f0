"""Tables of the YAML format: rows of joints, links, drives and frames, with the sources of their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from typing import Any

import numpy as np
import yaml

from ..errors import ModelError, one_of, perhaps
from ..model.constraints import SECTIONS
from ..model.coordinates import Segment
from ..model.description import MOST_LINKS, ConstraintDescription, LinkInertia, Mimic, Placement
from ..model.drive import JointValues
from ..model.element import Element
from ..model.joints import JOINT_KINDS, Flexible, JointKind, joint_kind
from ..model.placement import ModifiedParameters
from ..model.rotations import rotation_from_rpy
from .dh import ORDER, from_standard_dh
from .mdh_flexible import follow, read_flexible
from .yaml_nodes import Nodes

TABLES = (
    "joints",
    "links",
    "drives",
    "frames",
    *SECTIONS,
    "home",
    "forces",
    "transmissions",
    "base",
    "gravity",
)  # that have sources
PARALLEL = ("platform", "leg", "legs", "modules")
EXPANDED = ("joints", "links", "drives", "loops", "home")  # what the parallel ones are read as
ILLUSTRATIVE = "illustrative"
ELEMENTS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ")
INERTIA = ("M", "MX", "MY", "MZ", "center", *ELEMENTS, "central", "source")
SIGMA = {"0": "revolute", "1": "prismatic", "2": "fixed"}  # Khalil's words for kinds; all have names
OWN = {"helical": {"pitch": "metres per radian"}}  # keys that a kind has for itself, and needs
MODIFIED = ModifiedParameters._fields
PLACED = (*MODIFIED, "xyz", "rpy")
STANDARD = ORDER["standard"]
DRIVE_KEYS = (*JointValues.keys(), "limits", "mimic")

Row = dict[str, yaml.Node]
Side = tuple[str, Placement]  # a link, and a frame in its joint's frame


@dataclass(frozen=True)
class Scope:
    """Whose rows are read: the robot's, or those of one leg, whose names get a prefix."""

    base: str  # the link that row 0 and `base` mean
    prefix: str = ""
    at: Placement = field(default_factory=Placement)  # where the rows' base frame sits in that link

    def of(self, names: Mapping[str, Any]) -> Mapping[str, str]:
        """Names as the rows write them -> names as the robot has them."""
        return _Own(names, self.prefix)


@dataclass(frozen=True)
class _Own(Mapping[str, str]):
    """Nothing is copied, for there may be many legs."""

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
    """How a joint moves of which the fields are known."""
    return joint_kind(joint["kind"], joint.get("flexible"))


class Tables(Nodes):
    """One file being read, and what its tables have given so far: fields of each JointDescription in ``joints``, with
    ``origin`` between the joints' frames; inertias in ``links``; in the standard convention ``distal`` frames in them.
    """

    def __init__(self, source: str):
        super().__init__(source)
        self.within = ""  # the leg that is read, for messages
        self.root_link, self.floating = "base", False
        self.references: dict[str, str] = {ILLUSTRATIVE: ""}
        self.sources: dict[str, str] = {}
        self.joints: dict[str, dict[str, Any]] = {}
        self.links: dict[str, LinkInertia | None] = {}
        self.distal: dict[str, Placement] = {}
        self.driven: set[str] = set()
        self.constraints: dict[Any, ConstraintDescription] = {}  # by name; of those with a switch, by number
        self.home: dict[str, float | tuple[float, ...]] = {}
        self.standing: dict[str, Placement] = {}  # where bodies that float stand at home, by joint
        self.independent: list[str] = []

    # --- sources

    def read_sources(self, top: Row) -> None:
        self.label = "sources"
        with self.going_on():
            for key, node in (self.mapping(top["sources"]) if "sources" in top else {}).items():
                with self.going_on():
                    if key in TABLES or key == ILLUSTRATIVE or "." in key:
                        self.fail(node, f"{key!r} cannot be the key of a source", fix="choose another key")
                    self.sources[key] = self.text(node)
        self.references |= self.sources
        self.label = "source"
        if "source" in top:
            given = {*top, *(EXPANDED if any(key in top for key in PARALLEL) else ())}
            tables = {table: top["source"] for table in TABLES if table in given}
            if isinstance(top["source"], yaml.MappingNode):
                tables = self.mapping(top["source"], TABLES)
            self.sources |= {table: self.reference(node) for table, node in tables.items()}
        self.label = ""

    def reference(self, node: yaml.Node) -> str:
        return self.name(node, "source", self.references)

    def note_source(self, row: Row, path: str) -> None:
        """Take a row's `source`, one key or {value: key, ...}, out of the row."""
        node = row.pop("source", None)
        if isinstance(node, yaml.MappingNode):
            for value, reference in self.mapping(node, list(row)).items():
                self.sources[f"{path}.{value}"] = self.reference(reference)
        elif node is not None:
            self.sources[path] = self.reference(node)

    # --- rows

    def rows(self, top: Row, table: str, known: Iterable[str]) -> Iterable[tuple[yaml.Node, Row]]:
        nodes, known = [], tuple(known)
        with self.going_on():
            nodes = self.sequence(top[table]) if table in top else []
        for j, node in enumerate(nodes, 1):
            self.label = f"{self.within}{table} row {j}"
            row = None
            with self.going_on():
                row = self.mapping(node, known)
            if row is not None:
                yield node, row
        self.label = self.within.removesuffix(": ")

    def name_of(self, node: yaml.Node, row: Row, key: str, names: Mapping[str, str]) -> str:
        """Which link or joint the row is about."""
        self.need(node, row, key, "its name")
        name = self.text(row[key])
        if name not in names:
            raise self.unknown(row[key], key, name, names)
        del row[key]
        self.label = f"{key} {names[name]!r}"
        return names[name]

    def need(self, node: yaml.Node | None, row: Row, key: str, what: str) -> None:
        if key not in row:
            self.fail(node, f"{key!r} is missing", expected=f"{key}: {what}")

    def placement(self, row: Row, node: yaml.Node) -> Placement:
        parameters = {key: self.number(row[key]) for key in MODIFIED if key in row}
        if "xyz" not in row and "rpy" not in row:
            return ModifiedParameters(**parameters).placement()
        if parameters:
            self.fail(node, "placed twice", got=", ".join(row), expected=f"{', '.join(MODIFIED)}, or xyz and rpy")
        xyz = self.numbers(row["xyz"], 3) if "xyz" in row else [0.0, 0.0, 0.0]
        rpy = self.numbers(row["rpy"], 3) if "rpy" in row else [0.0, 0.0, 0.0]
        return Placement(rotation_from_rpy(*rpy), np.array(xyz))

    def inertia(self, row: Row, node: yaml.Node) -> LinkInertia:
        if "M" not in row:
            self.fail(node, "the mass is missing", expected="M: mass in kg")
        mass = self.number(row["M"])
        for vector, components in (("center", ("MX", "MY", "MZ")), ("central", ELEMENTS)):
            if vector in row and (both := [key for key in components if key in row]):
                self.fail(row[both[0]], f"given by {vector!r} and by {both[0]!r}", fix="keep one form")
        given = {key: self.number(row[key]) if key in row else 0.0 for key in ("MX", "MY", "MZ", *ELEMENTS)}
        moments = np.array([given["MX"], given["MY"], given["MZ"]])
        if not mass and moments.any():
            self.fail(node, "first moments without a mass", got=moments.tolist(), expected="M above zero")
        center = np.array(self.numbers(row["center"], 3)) if "center" in row else moments / (mass or 1.0)
        if "central" not in row:
            about_origin = _matrix([given[key] for key in ELEMENTS])
            return LinkInertia(mass, center, LinkInertia.about(mass, mass * center, about_origin).central)
        elements = self.numbers(row["central"], 3, 6)
        return LinkInertia(mass, center, np.diag(elements) if len(elements) == 3 else _matrix(elements))

    # --- tables

    def read_base(self, node: yaml.Node | None) -> None:
        self.label = "base"
        with self.going_on():
            row = self.mapping(node, ("kind", "link", *INERTIA)) if isinstance(node, yaml.MappingNode) else {}
            kind = row.pop("kind", None) if row else node
            self.floating = kind is not None and self.name(kind, "kind of base", ("fixed", "floating")) == "floating"
            self.root_link = self.text(row.pop("link")) if "link" in row else "base"
            self.links[self.root_link] = None
            self.note_source(row, "base")
            self.links[self.root_link] = self.inertia(row, node) if row and node is not None else None
        self.label = ""

    def read_joints(self, top: Row, scope: Scope, standard: bool = False) -> str:
        """Add a joint and its link per row; the link of the last row."""
        if "joints" in top:
            self.sequence(top["joints"])  # without them, nothing that follows makes sense
        carried: list[str] = [scope.base]  # links by number
        numbers = {"base": scope.base, "0": scope.base}
        added: list[dict[str, Any]] = []
        driven: list[tuple[yaml.Node, dict[str, Any], Row]] = []
        columns: list[list[float]] = [[], [], [], []]
        own = [key for keys in OWN.values() for key in keys]
        known = ("name", "link", "parent", "sigma", "kind", *own, "flexible", "origin", *INERTIA, *DRIVE_KEYS)
        known += STANDARD if standard else (*PLACED, "axis")
        for node, row in self.rows(top, "joints", known):
            with self.going_on():
                j = len(carried)
                name = scope.prefix + (self.text(row.pop("name")) if "name" in row else f"joint{j}")
                self.label = f"joint {name!r}"
                link = scope.prefix + (self.text(row.pop("link")) if "link" in row else f"link{j}")
                kind = self.kind_of(row)
                given = row.pop("parent", None)
                parent = self.parent(given, scope, numbers) if given is not None else carried[-1]
                self.note_source(row, f"joints.{name}")
                material = read_flexible(self, row["flexible"], standard, scope.prefix) if "flexible" in row else None
                joint = self.add_joint(node, name, kind, parent, link, material)
                added.append(joint)
                carried.append(link)
                numbers[str(j)] = link
                if body := {key: row.pop(key) for key in INERTIA if key in row}:
                    self.links[link] = self.inertia(body, node)
                if drive := {key: row.pop(key) for key in DRIVE_KEYS if key in row}:
                    driven.append((node, joint, drive))
                if standard:
                    for column, key in zip(columns, STANDARD, strict=True):
                        column.append(self.number(row[key]) if key in row else 0.0)
                joint |= self.own_values(node, row, kind)
                if material is not None and material.along:
                    elsewhere = [given] if given is not None and parent != self.joints[material.along]["parent"] else []
                    follow(self, joint, elsewhere + [row[key] for key in PLACED if key in row], material)
                elif not standard:
                    base = scope.at if parent == scope.base else Placement()
                    self.stand(joint, base, self.placement(row, node))
        for node, joint, row in driven:  # mimic joints may name one of a later row
            with self.going_on():
                self.label = f"joint {joint['name']!r}"
                self.driven.add(joint["name"])
                self.read_drive(joint, node, row, scope.of(self.joints))
        self.label = self.within.removesuffix(": ")
        if standard:
            number = {link: k - 1 for k, link in enumerate(carried)}
            modified, ends = from_standard_dh(*columns, parent=[number[joint["parent"]] for joint in added])
            self.distal = dict(zip(carried[1:], ends, strict=True))
            for joint, parameters in zip(added, modified, strict=True):
                self.stand(joint, Placement(), parameters.placement())
        return carried[-1]

    def kind_of(self, row: Row) -> str:
        """The kind of joint that a row names, or gives the sigma of."""
        if "flexible" in row:
            for both in {"kind", "sigma"} & {*row}:
                self.fail(row[both], f"given by 'flexible' and by {both!r}", fix="keep one of them")
            return Flexible.name
        if "kind" not in row:
            sigma = self.text(row["sigma"]) if "sigma" in row else "0"
            if sigma in JOINT_KINDS:
                self.fail(row["sigma"], "sigma is a number", got=sigma, expected="0, 1 or 2", fix=f"kind: {sigma}")
            return SIGMA[self.name(row.pop("sigma"), "sigma", SIGMA)] if "sigma" in row else SIGMA[sigma]
        if "sigma" in row:
            self.fail(row["sigma"], "given by 'kind' and by 'sigma'", fix="keep one of them")
        return self.name(row.pop("kind"), "kind of joint", JOINT_KINDS)

    def own_values(self, node: yaml.Node, row: Row, kind: str) -> dict[str, Any]:
        """What not every kind of joint has."""
        values: dict[str, Any] = {}
        for owner, keys in OWN.items():
            for key, what in keys.items():
                if kind == owner:
                    self.need(node, row, key, what)
                    values[key] = self.number(row[key])
                elif key in row:
                    fix = f"remove it, or write kind: {owner}"
                    self.fail(row[key], f"a {kind} joint has no {key}", fix=fix)
        if "origin" in row:
            if kind not in JOINT_KINDS or not joint_kind(kind).free:
                self.fail(row["origin"], f"the row's placement is the origin of a {kind} joint", fix="keep one of them")
            values["origin"] = self.placement(self.mapping(row["origin"], PLACED), row["origin"])
        if "axis" in row:
            if kind not in JOINT_KINDS or joint_kind(kind).directions != 1:
                self.fail(row["axis"], f"a {kind} joint has no single axis", fix="turn its frame by rpy")
            values["axis"] = np.array(self.numbers(row["axis"], 3))
            if not values["axis"].any():
                self.fail(row["axis"], "not a direction", got=[0, 0, 0], expected="axis: [0, 1, 0]")
        return values

    def stand(self, joint: dict[str, Any], base: Placement, at: Placement) -> None:
        """Place a joint in the frame ``base`` of its parent. A body that floats is there at home, counted from its
        origin; a beam begins there, and its tip is the link."""
        if kind_of(joint).free:
            self.standing[joint["name"]], at = at, joint["origin"]
        if joint.get("flexible"):
            at = at @ joint["flexible"].tip_placement
        joint["origin"] = base @ at

    def parent(self, node: yaml.Node, scope: Scope, numbers: Mapping[str, str]) -> str:
        """The link that a row names, or gives the number of."""
        name = self.text(node)
        if scope.prefix + name in self.links:
            return scope.prefix + name
        known = numbers if name in numbers else {**numbers, **scope.of(self.links)}
        return known[self.name(node, "earlier link", known)]

    def add_joint(
        self, node: yaml.Node, name: str, kind: str, parent: str, link: str, flexible: Any = None
    ) -> dict[str, Any]:
        if name in self.joints or link in self.links:
            self.fail(node, "the name of a joint or link is used twice", got=f"{name!r}, {link!r}")
        if len(self.links) >= MOST_LINKS:
            self.give_up(node, "too many links", expected=f"at most {MOST_LINKS:,}")
        joint = {"name": name, "kind": kind, "parent": parent, "child": link, "origin": Placement()}
        if flexible:
            joint["flexible"] = flexible
        if (flexible and not flexible.along) or kind_of(joint).free:
            joint["role"] = "elastic" if flexible else "passive"
        self.joints[name], self.links[link] = joint, None
        return joint

    def read_links(self, top: Row, scope: Scope) -> None:
        names = scope.of(self.links)
        for node, row in self.rows(top, "links", ("link", *INERTIA)):
            with self.going_on():
                link = self.name_of(node, row, "link", names)
                if link == self.root_link:
                    self.fail(node, "the base's inertia stands under `base`", fix="base: {kind: fixed, M: ...}")
                if self.links[link] is not None:
                    self.fail(node, "the link has two rows", fix="keep one of them")
                self.note_source(row, f"links.{link}")
                self.links[link] = self.inertia(row, node)

    def read_frames(self, top: Row) -> dict[str, Side]:
        frames: dict[str, Side] = {}
        for node, row in self.rows(top, "frames", ("name", "link", "source", *PLACED)):
            with self.going_on():
                self.need(node, row, "name", "its name")
                name = self.text(row.pop("name"))
                self.label = f"frame {name!r}"
                self.need(node, row, "link", "the link that carries the frame")
                link = self.name(row.pop("link"), "link", self.links)
                if name in frames or (name in self.links and name != link):
                    self.fail(node, "the name of the frame is used twice")
                frames[name] = link, Placement()
                self.note_source(row, f"frames.{name}")
                frames[name] = link, self.placement(row, node)
        return frames

    def read_drives(self, top: Row, scope: Scope) -> None:
        names = scope.of(self.joints)
        for node, row in self.rows(top, "drives", ("joint", *DRIVE_KEYS, "source")):
            with self.going_on():
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
            fix = "remove the row: stiffness and damping of the modes stand in `flexible`"
            self.fail(node, "a link that bends has no drive", fix=fix)
        joint |= self.values(row, JointValues)
        if kind.free and joint["role"] == "active":
            self.fail(row["role"], f"no motor drives a {kind.name} joint", fix="leave its role out: it is passive")
        if "limits" in row:
            joint["lower"], joint["upper"] = self.numbers(row["limits"], 2, finite=False)
        if "mimic" in row:
            mimic = self.mapping(row["mimic"], ("joint", "multiplier", "offset"))
            if "joint" not in mimic:
                self.fail(row["mimic"], "'joint' is missing", expected="mimic: {joint: its name, ...}")
            leader = names[self.name(mimic.pop("joint"), "joint", names)]
            joint["mimic"] = Mimic(leader, **{key: self.number(value) for key, value in mimic.items()})

    # --- elements

    def carriers(self) -> dict[str, str]:
        """Entries of velocities that a gear can tie -> their joints."""
        kinds = {name: kind_of(joint) for name, joint in self.joints.items()}
        straight = {name: kind for name, kind in kinds.items() if kind.straight}
        return {part: name for name, kind in straight.items() for part in Segment(name, kind.velocity_parts, ()).names}

    def ratios(self, node: yaml.Node) -> tuple[tuple[str, float], ...]:
        """A number for each of two joints or more."""
        carriers, rows = self.carriers(), self.mapping(node)
        for part, ratio in rows.items():
            if part not in carriers:
                self.fail(ratio, **self.not_geared(part, [*carriers]))
        if len(rows) < 2:
            self.fail(node, "a gear ties two joints at least", got=", ".join(rows) or "none")
        return tuple((part, self.number(ratio)) for part, ratio in rows.items())

    def not_geared(self, part: str, carried: list[str]) -> dict[str, str]:
        """Why a gear cannot tie a joint of this name."""
        joint = self.joints.get(part)
        if joint is None or not (kind := kind_of(joint)).nv or not kind.straight:
            what = "does not exist" if joint is None else f"is {joint['kind']}: it has no position to count by"
            return {"message": f"joint {part!r} {what}", "fix": perhaps(part, carried) or one_of(part, carried)}
        names = Segment(part, kind.velocity_parts, ()).names
        return {"message": f"joint {part!r} has several freedoms", "expected": f"one of {', '.join(names)}"}

    def values(self, row: Row, kind: type[Element]) -> dict[str, Any]:
        """The fields of an element that a row gives."""
        given = (each for key, each in kind.declared().items() if key in row and each.rule.written)
        return {each.name: each.rule.read(self, row[each.key]) for each in given}

    def element(self, node: yaml.Node, kind: type[Element], row: Row | None = None, **more: Any) -> Any:
        """An element with the values of a row. ``row``: those keys of the node that are the element's."""
        row = self.mapping(node, kind.keys()) if row is None else row
        for key, each in kind.declared().items():
            if each.default is MISSING and each.rule.written:
                self.need(node, row, key, each.rule.what)
        try:
            return kind(**self.values(row, kind), **more)
        except ModelError as error:  # it names the class and the field
            name = error.where.partition(".")[2]
            self.fail(row.get(name, node), f"{name}: {error.message}", error.got, error.expected, error.fix)

    def place(self, node: yaml.Node) -> str | tuple[float, ...]:
        return tuple(self.numbers(node, 3)) if isinstance(node, yaml.SequenceNode) else self.text(node)


def _matrix(elements: list[float]) -> np.ndarray:
    XX, XY, XZ, YY, YZ, ZZ = elements
    return np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
