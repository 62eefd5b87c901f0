"""Reader of linkwork's YAML format for robots in modified Denavit-Hartenberg form (Khalil and Kleinfinger).

    name: arm
    sources: {book: "Author, Title, table 1"}    # key -> reference; `illustrative` needs no entry
    source: {joints: book, links: illustrative}  # of whole tables; a row's own `source` goes before
    joints:                                      # geometry, a row per frame j; sigma or kind, pitch, origin, axis
      - {name: waist, r: 0.3}
      - {name: elbow, link: fore, sigma: 0, alpha: pi/2, d: 0.2}
      - {name: ball, link: hand, kind: spherical, d: 0.3}
    links:                                       # inertia: M; MX MY MZ or center; XX XY XZ YY YZ ZZ or central
      - {link: fore, M: 2, MX: 0.3, YY: 0.1, ZZ: 0.1}
    drives:                             # role, Ia Fs Fv friction width K rest, limits velocity effort, weight, mimic
      - {joint: waist, Ia: 0.5, limits: [-170 deg, 170 deg]}
    frames:                                      # placed in a link's frame by the six parameters, or by xyz and rpy
      - {name: tool, link: fore, d: 0.25}

Joint rows. Frame j in frame a(j) is Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r) at position zero; what is not given
is zero. `parent` is a link's name or a row's number, 0 or `base` for the base; without it, the row before. Names are
joint1 and link1, and so on, if not given. Where no common normal is near, a joint may be placed by xyz and rpy instead.
A joint moves about or along z of its frame, or `axis`, a direction in that frame. A joint row may also have the keys of
its link's row in `links` and of its own row in `drives`.
From there the frame moves as sigma tells, 0 revolute (the default), 1 prismatic, 2 fixed, or as `kind` does:

    revolute, continuous   a turn about z; a revolute joint without limits is continuous
    prismatic              a shift along z
    helical                a turn about z, and a shift along it by `pitch` metres per radian
    cylindrical            a shift along z, and a turn about it
    universal              a turn about z, which stays fixed in the parent, and one about x, fixed in the link
    planar                 shifts along x and y, and a turn about z
    spherical              all turns about the origin
    floating               everything
    fixed                  nothing
    flexible: {...}        the tip of the link before, which bends: see ``mdh_flexible``

The placement in the row of a floating joint is another thing: where the link is at home, seen from where its positions
count. That is the parent's frame, or `origin: {d, r, ...}` in it.

Drives. A joint's role is active (the default), passive, or elastic: moved by its spring K alone. What a joint with
several freedoms has acts on each of them; limits and mimic are for one freedom alone. ``mdh_drives`` tells of
`friction` beside Fs and Fv and of `transmissions`, ``mdh_constraints`` of `loops`, `rolling`, `gears`, `feet`, `home`,
`independent`, `actuation` and `forces`, ``mdh_parallel`` of `platform`, `leg`, `legs` and `modules`.

Inertia. XX ... ZZ are elements of the inertia matrix about the frame's origin (XY is minus the product of inertia);
`central: [XX, XY, XZ, YY, YZ, ZZ]` or `[XX, YY, ZZ]` is about the centre of mass `center`. The base's stands in
`base: {kind: floating, link: trunk, M: ...}`; `base: fixed` is the default.

With `convention: standard` the joint rows are theta, d, a, alpha of distal frames, and inertias and frames are given in
those; each distal frame stays available as LINK_dh.

A frame named like its link is the link's own frame: the Description has poses and inertia in it, where the file has all
in the joints' frames. So a robot whose axes are not z keeps its links' frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..model.description import STANDARD_GRAVITY, Description, JointDescription, Link, Placement
from ..model.joints import JointKind
from ..model.rotations import quaternion_from_rotation
from .mdh_constraints import read_constraints, read_forces, read_home, read_independent
from .mdh_drives import read_transmissions
from .mdh_flexible import beams_on
from .mdh_parallel import modules_of, read_module, stands_on
from .mdh_tables import ILLUSTRATIVE, PARALLEL, TABLES, Row, Scope, Side, Tables, kind_of

__all__ = ["ILLUSTRATIVE", "TABLES", "read_mdh"]

SAME = 1e-9  # entries of rotations that are the same but for rounding
KEYS = ("name", "description", "convention", "sources", "source", *TABLES, *PARALLEL, "independent", "actuation")


def read_mdh(content: str | Mapping[str, Any], source: str = "") -> Description:
    """The robot that a YAML text, or the same as Python data, describes. ``source``: the file's name, for messages.

    ``Description.sources`` maps source keys to references, and tables, rows and values ("links", "links.fore",
    "links.fore.M") to source keys.
    """
    return _Reader(source).robot(content)


class _Reader(Tables):
    """One file being read: its tables, top to bottom."""

    def robot(self, content: str | Mapping[str, Any]) -> Description:
        with self.collecting():
            root = self.root(content)
            top = self.mapping(root, KEYS)
            modules = modules_of(self, top, root)
            name, summary = (self.text(top[key]) if key in top else "" for key in ("name", "description"))
            with self.going_on():
                self.need(root, top, "name", "...")
            if not modules:
                self.need(root, top, "joints", "...")
            standard = "convention" in top and self.name(top["convention"], "convention", ("modified", "standard"))
            if modules and standard == "standard":
                fix = "write modified rows"
                self.fail(top["convention"], "legs are read in the modified convention alone", fix=fix)
            redundant = "actuation" in top and bool(self.name(top["actuation"], "actuation", ("redundant",)))
            gravity = self.numbers(top["gravity"], 3) if "gravity" in top else STANDARD_GRAVITY
            self.read_sources(top)
            self.read_base(top.get("base"))
            whole = Scope(self.root_link)
            while modules and ((link := stands_on(self, modules[0])) == "base" or link in self.links):
                read_module(self, modules.pop(0))  # before the joints: its platform may be floating
            self.read_joints(top, whole, standard == "standard")
            for module in modules:
                read_module(self, module)
            self.read_links(top, whole)
            frames = self.read_frames(top)
            self.read_drives(top, whole)
            read_constraints(self, top, frames)
            read_home(self, top, whole)
            read_independent(self, top)
            forces = read_forces(self, top, frames)
            transmissions = read_transmissions(self, top)

        for link in self.links:
            for beam in beams_on(link, self.joints.values()):
                rest = self.links[link]
                self.links[link] = beam if rest is None else rest + beam

        # The file is in the joints' frames or the distal ones, the Description in the links' own.
        given = {name: self.distal.get(name, Placement()) for name in self.links}
        own = {name: given[name] @ frames.pop(name)[1] if name in frames else Placement() for name in self.links}
        if standard == "standard":
            frames = {f"{name}_dh": (name, Placement()) for name in self.distal} | frames
        seen = {name: own[name].inverse() @ given[name] for name in self.links}
        self.turn_joints(top, own)

        def placed(side: Side) -> Side:
            return (side[0], seen[side[0]] @ side[1]) if side[0] else side

        return Description(
            name=name,
            links=tuple(Link(name, inertia and inertia.placed(seen[name])) for name, inertia in self.links.items()),
            joints=tuple(JointDescription(**joint) for joint in self.joints.values()),
            gravity=(gravity[0], gravity[1], gravity[2]),
            floating=self.floating,
            frames={name: placed(side) for name, side in frames.items()},
            constraints=tuple(
                replace(each, **{key: placed(side) for key, side in each.sides.items()})
                for each in self.constraints.values()
            ),
            home=self.home,
            independent=tuple(self.independent),
            redundant=redundant,
            forces=tuple(forces),
            transmissions=tuple(transmissions),
            summary=summary,
            sources=self.sources,
            source=self.source,
        )

    def turn_joints(self, top: Row, own: dict[str, Placement]) -> None:
        """Origins, axes and homes in the links' own frames, and revolute joints without limits continuous."""
        for name, joint in self.joints.items():
            parent, child = own[joint["parent"]], own[joint["child"]]
            kind = kind_of(joint)
            first = joint.pop("axis", np.array([0.0, 0.0, 1.0]))
            if reason := _unfit(kind, first, child):
                self.label = f"frame {joint['child']!r}"
                self.fail(top["frames"], f"a link's own frame must have {reason}", fix="rename it")
            axes = {"axis": first, "second_axis": np.array([1.0, 0.0, 0.0])}
            joint |= {key: axes[key] @ child.rotation + 0.0 for key in [*axes][: kind.directions]}
            joint["origin"] = parent.inverse() @ joint["origin"] @ child
            if name in self.standing and name not in self.home:
                home = child.inverse() @ self.standing[name] @ child
                if home.translation.any() or (home.rotation != np.eye(3)).any():
                    self.home[name] = (*home.translation.tolist(), *quaternion_from_rotation(home.rotation))
            if "lower" not in joint:
                joint["kind"] = kind.unlimited or kind.name


def _unfit(kind: JointKind, axis: np.ndarray, own: Placement) -> str:
    """Why a frame cannot be the link's own: the joint's positions would tell of another motion. Empty if it can."""
    if kind.free or not kind.nv or not (own.translation.any() or (own.rotation != np.eye(3)).any()):
        return ""
    if kind.modes:
        return "the origin and the axes of the tip"
    if kind.directions != 1:
        return "its origin in the joint's centre" if own.translation.any() else ""
    if np.cross(axis, own.translation).any():
        return "its origin on the joint's axis"
    turned = kind.frames(axis @ own.rotation, axis)[0] - own.rotation.T
    if not kind.axial and np.abs(turned).max() > SAME:
        return f"the axes from which x and y of a {kind.name} joint follow"
    return ""
