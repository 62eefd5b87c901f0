"""Reader of linkwork's YAML format for robots in modified Denavit-Hartenberg form (Khalil and Kleinfinger).

    name: arm
    sources: {book: "Author, Title, table 1"}    # key -> reference; `illustrative` needs no entry
    source: {joints: book, links: illustrative}  # of whole tables; a row's own `source` goes before
    joints:                                      # geometry, a row per frame j
      - {name: waist, r: 0.3}
      - {name: elbow, link: fore, sigma: 0, alpha: pi/2, d: 0.2}
    links:                                       # inertia: M; MX MY MZ or center; XX XY XZ YY YZ ZZ or central
      - {link: fore, M: 2, MX: 0.3, YY: 0.1, ZZ: 0.1}
    drives:                                      # Ia Fs Fv K rest limits velocity effort mimic
      - {joint: waist, Ia: 0.5, limits: [-170 deg, 170 deg]}
    frames:                                      # placed in a link's frame by the six parameters, or by xyz and rpy
      - {name: tool, link: fore, d: 0.25}

Joint rows. Frame j in frame a(j) is Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r); what is not given is zero. Sigma
0 is revolute (the default), 1 prismatic, 2 fixed; theta or r of a moving joint is its value at position zero. `parent`
is a link's name or a row's number, 0 or `base` for the base; without it, the row before. Names default to joint1 and
link1, and so on. Where no common normal is near, a joint may be placed by xyz and rpy instead.

Inertia. XX ... ZZ are elements of the inertia matrix about the frame's origin (XY is minus the product of inertia);
`central: [XX, XY, XZ, YY, YZ, ZZ]` or `[XX, YY, ZZ]` is about the centre of mass `center`. The base's stands in
`base: {kind: floating, link: trunk, M: ...}`; `base: fixed` is the default.

With `convention: standard` the joint rows are theta, d, a, alpha of distal frames, and inertias and frames are given in
those; each distal frame stays available as LINK_dh.

A frame named like its link is the link's own frame: the Description has poses and inertia in it, where the file has all
in the joints' frames. So a robot whose axes are not z keeps its links' frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import yaml

from ..model.description import STANDARD_GRAVITY, Description, JointDescription, Link, LinkInertia, Mimic, Placement
from ..model.placement import ModifiedParameters
from ..model.rotations import rotation_from_rpy
from .dh import from_standard_dh
from .yaml_nodes import Nodes

TABLES = ("joints", "links", "drives", "frames", "base", "gravity")  # what a source can be stated for
ILLUSTRATIVE = "illustrative"
ELEMENTS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ")
INERTIA = ("M", "MX", "MY", "MZ", "center", *ELEMENTS, "central", "source")
KINDS = {"0": "revolute", "1": "prismatic", "2": "fixed"}  # by sigma
MODIFIED = ModifiedParameters._fields
STANDARD = ("theta", "d", "a", "alpha")
DRIVES = {
    "Ia": "rotor_inertia",
    "Fs": "coulomb",
    "Fv": "viscous",
    "K": "stiffness",
    "rest": "rest",
    "velocity": "velocity_limit",
    "effort": "effort_limit",
}

Row = dict[str, yaml.Node]


def read_mdh(text: str, source: str = "") -> Description:
    """The robot that a YAML text describes. ``source`` is the file's name, for messages.

    ``Description.sources`` maps source keys to references, and tables, rows and values ("links", "links.fore",
    "links.fore.M") to source keys.
    """
    return _Reader(source).robot(text)


class _Reader(Nodes):
    """One file being read: its tables, top to bottom."""

    def robot(self, text: str) -> Description:
        root = self.root(text)
        if isinstance(root, yaml.MappingNode) and (loops := [key for key, _ in root.value if key.value == "loops"]):
            self.fail(loops[0], "this version does not read loops", fix="cut the loops and leave `loops` out")
        top = self.mapping(root, ("name", "description", "convention", "sources", "source", *TABLES))
        for key in ("name", "joints"):
            if key not in top:
                self.fail(root, f"{key!r} is missing", expected=f"{key}: ...")
        self.sources = self.read_sources(top)
        standard = "convention" in top and self.name(top["convention"], "convention", ("modified", "standard"))
        base, floating = self.read_base(top.get("base"))
        joints, distal = self.read_joints(top["joints"], base.name, standard == "standard")
        links = {base.name: base.inertia, **{joint["child"]: None for joint in joints.values()}}
        self.read_links(top, links, base.name)
        frames = self.read_frames(top, links)
        self.read_drives(top, joints)
        gravity = self.numbers(top["gravity"], 3) if "gravity" in top else STANDARD_GRAVITY

        # The file is in the joints' frames or the distal ones, the Description in the links' own.
        given = {name: distal.get(name, Placement()) for name in links}
        own = {name: given[name] @ frames.pop(name)[1] if name in frames else Placement() for name in links}
        if standard == "standard":
            frames = {f"{name}_dh": (name, Placement()) for name in distal} | frames
        seen = {name: own[name].inverse() @ given[name] for name in links}
        for joint in joints.values():
            parent, child = joint["parent"], joint["child"]
            if joint["kind"] != "fixed" and own[child].translation[:2].any():
                self.label = f"frame {child!r}"
                self.fail(top["frames"], "a link's own frame must have its origin on the joint's axis", fix="rename it")
            joint["origin"] = own[parent].inverse() @ joint["origin"] @ own[child]
            joint["axis"] = own[child].rotation[2] + 0.0
        return Description(
            name=self.text(top["name"]),
            links=tuple(Link(name, inertia and inertia.placed(seen[name])) for name, inertia in links.items()),
            joints=tuple(JointDescription(**joint) for joint in joints.values()),
            gravity=(gravity[0], gravity[1], gravity[2]),
            floating=floating,
            frames={name: (link, seen[link] @ placement) for name, (link, placement) in frames.items()},
            summary=self.text(top["description"]) if "description" in top else "",
            sources=self.sources,
            source=self.source,
        )

    # --- sources

    def read_sources(self, top: Row) -> dict[str, str]:
        self.label = "sources"
        rows = self.mapping(top["sources"]) if "sources" in top else {}
        for key in rows:
            if key in TABLES or key == ILLUSTRATIVE or "." in key:
                self.fail(rows[key], f"{key!r} cannot be the key of a source", fix="choose another key")
        self.references = {key: self.text(node) for key, node in rows.items()}
        sources = dict(self.references)
        self.label = "source"
        if "source" in top:
            tables = {table: top["source"] for table in TABLES if table in top}
            if isinstance(top["source"], yaml.MappingNode):
                tables = self.mapping(top["source"], TABLES)
            sources |= {table: self.reference(node) for table, node in tables.items()}
        self.label = ""
        return sources

    def reference(self, node: yaml.Node) -> str:
        return self.name(node, "source", (*self.references, ILLUSTRATIVE))

    def note_source(self, row: Row, path: str) -> None:
        """Take a row's `source`, one key or {value: key, ...}, out of the row."""
        node = row.pop("source", None)
        if isinstance(node, yaml.MappingNode):
            for value, reference in self.mapping(node, list(row)).items():
                self.sources[f"{path}.{value}"] = self.reference(reference)
        elif node is not None:
            self.sources[path] = self.reference(node)

    # --- tables

    def rows(self, top: Row, table: str, known: Iterable[str]) -> Iterable[tuple[yaml.Node, Row]]:
        nodes = self.sequence(top[table]) if table in top else []
        for j, node in enumerate(nodes, 1):
            self.label = f"{table} row {j}"
            yield node, self.mapping(node, tuple(known))
        self.label = ""

    def name_of(self, node: yaml.Node, row: Row, key: str, names: Iterable[str]) -> str:
        """Which link or joint the row is about."""
        if key not in row:
            self.fail(node, f"{key!r} is missing", expected=f"{key}: its name")
        name = self.name(row.pop(key), key, names)
        self.label = f"{key} {name!r}"
        return name

    def read_base(self, node: yaml.Node | None) -> tuple[Link, bool]:
        self.label = "base"
        row = self.mapping(node, ("kind", "link", *INERTIA)) if isinstance(node, yaml.MappingNode) else {}
        kind = row.pop("kind", None) if row else node
        floating = kind is not None and self.name(kind, "kind of base", ("fixed", "floating")) == "floating"
        name = self.text(row.pop("link")) if "link" in row else "base"
        self.note_source(row, "base")
        inertia = self.inertia(row, node) if row and node is not None else None
        self.label = ""
        return Link(name, inertia), floating

    def read_joints(
        self, table: yaml.Node, base: str, standard: bool
    ) -> tuple[dict[str, dict[str, Any]], dict[str, Placement]]:
        """Fields of each JointDescription, with ``origin`` between the joints' frames; and, in the standard
        convention, the links' distal frames in the joints' frames."""
        joints: dict[str, dict[str, Any]] = {}
        parents: list[str] = [base]  # links by number
        placements: list[Placement] = []
        columns: list[list[float]] = [[], [], [], []]
        geometry = STANDARD if standard else (*MODIFIED, "xyz", "rpy")
        known = ("name", "link", "parent", "sigma", "source", *geometry)
        for node, row in self.rows({"joints": table}, "joints", known):
            j = len(parents)
            name = self.text(row.pop("name")) if "name" in row else f"joint{j}"
            self.label = f"joint {name!r}"
            link = self.text(row.pop("link")) if "link" in row else f"link{j}"
            if name in joints or link in parents:
                self.fail(node, "the name of a joint or link is used twice", got=f"{name!r}, {link!r}")
            sigma = self.name(row.pop("sigma"), "sigma", KINDS) if "sigma" in row else "0"
            parent = parents[-1]
            if "parent" in row:
                numbers = {str(k): link_k for k, link_k in enumerate(parents)}
                earlier = {"base": base, **numbers, **dict(zip(parents, parents, strict=True))}
                parent = earlier[self.name(row.pop("parent"), "earlier link", earlier)]
            self.note_source(row, f"joints.{name}")
            if standard:
                for column, key in zip(columns, STANDARD, strict=True):
                    column.append(self.number(row[key]) if key in row else 0.0)
            else:
                placements.append(self.placement(row, node))
            joints[name] = {"name": name, "kind": KINDS[sigma], "parent": parent, "child": link}
            parents.append(link)
        distal: dict[str, Placement] = {}
        if standard:
            before = [parents.index(joint["parent"]) - 1 for joint in joints.values()]
            modified, ends = from_standard_dh(*columns, parent=before)
            placements = [parameters.placement() for parameters in modified]
            distal = dict(zip(parents[1:], ends, strict=True))
        for joint, placement in zip(joints.values(), placements, strict=True):
            joint["origin"] = placement
        return joints, distal

    def placement(self, row: Row, node: yaml.Node) -> Placement:
        parameters = {key: self.number(row[key]) for key in MODIFIED if key in row}
        if "xyz" not in row and "rpy" not in row:
            return ModifiedParameters(**parameters).placement()
        if parameters:
            self.fail(node, "placed twice", got=", ".join(row), expected=f"{', '.join(MODIFIED)}, or xyz and rpy")
        xyz = self.numbers(row["xyz"], 3) if "xyz" in row else [0.0, 0.0, 0.0]
        rpy = self.numbers(row["rpy"], 3) if "rpy" in row else [0.0, 0.0, 0.0]
        return Placement(rotation_from_rpy(*rpy), np.array(xyz))

    def read_links(self, top: Row, links: dict[str, LinkInertia | None], base: str) -> None:
        for node, row in self.rows(top, "links", ("link", *INERTIA)):
            link = self.name_of(node, row, "link", links)
            if link == base:
                self.fail(node, "the base's inertia stands under `base`", fix="base: {kind: fixed, M: ...}")
            if links[link] is not None:
                self.fail(node, "the link has two rows", fix="keep one of them")
            self.note_source(row, f"links.{link}")
            links[link] = self.inertia(row, node)

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

    def read_frames(self, top: Row, links: Mapping[str, object]) -> dict[str, tuple[str, Placement]]:
        frames: dict[str, tuple[str, Placement]] = {}
        for node, row in self.rows(top, "frames", ("name", "link", "source", *MODIFIED, "xyz", "rpy")):
            if "name" not in row:
                self.fail(node, "'name' is missing", expected="name: its name")
            name = self.text(row.pop("name"))
            self.label = f"frame {name!r}"
            if "link" not in row:
                self.fail(node, "'link' is missing", expected="link: the link that carries the frame")
            link = self.name(row.pop("link"), "link", links)
            if name in frames or (name in links and name != link):
                self.fail(node, "the name of the frame is used twice")
            self.note_source(row, f"frames.{name}")
            frames[name] = link, self.placement(row, node)
        return frames

    def read_drives(self, top: Row, joints: Mapping[str, dict[str, Any]]) -> None:
        seen: set[str] = set()
        for node, row in self.rows(top, "drives", ("joint", *DRIVES, "limits", "mimic", "source")):
            name = self.name_of(node, row, "joint", joints)
            joint = joints[name]
            if name in seen:
                self.fail(node, "the joint has two rows", fix="keep one of them")
            if joint["kind"] == "fixed":
                self.fail(node, "a fixed joint has no drive", fix="remove the row, or set sigma to 0 or 1")
            seen.add(name)
            self.note_source(row, f"drives.{name}")
            for key, attribute in DRIVES.items():
                if key in row:
                    joint[attribute] = self.number(row[key], finite=key not in ("velocity", "effort"))
            if "limits" in row:
                joint["lower"], joint["upper"] = self.numbers(row["limits"], 2, finite=False)
            if "mimic" in row:
                mimic = self.mapping(row["mimic"], ("joint", "multiplier", "offset"))
                if "joint" not in mimic:
                    self.fail(row["mimic"], "'joint' is missing", expected="mimic: {joint: its name, ...}")
                leader = self.name(mimic.pop("joint"), "joint", joints)
                joint["mimic"] = Mimic(leader, **{key: self.number(value) for key, value in mimic.items()})
        for joint in joints.values():
            if joint["kind"] == "revolute" and "lower" not in joint:
                joint["kind"] = "continuous"


def _matrix(elements: list[float]) -> np.ndarray:
    XX, XY, XZ, YY, YZ, ZZ = elements
    return np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
