"""Reader of linkwork's YAML format for robots in modified Denavit-Hartenberg form (Khalil and Kleinfinger).

    name: arm
    sources: {book: "Author, Title, table 1"}    # key -> reference; `illustrative` needs no entry
    source: {joints: book, links: illustrative}  # of whole tables; the `source` of a row takes precedence
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

Joint rows. Frame j in frame a(j) is Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r) at position zero; the default of
each parameter is zero. `parent` is the name of a link or the number of a row, 0 or `base` for the base; default: the
row before. Default names are joint1 and link1, and so on. Where the common normal is far away, place a joint by xyz and
rpy instead. A joint moves about or along z of its frame, or about `axis`, a direction in that frame. A joint row may
also have the keys of its link's row in `links` and of its own row in `drives`.
The motion from there is given by sigma, 0 revolute (the default), 1 prismatic, 2 fixed, or by `kind`:

    revolute, continuous   rotation about z; a revolute joint without limits is continuous
    prismatic              translation along z
    helical                rotation about z, and translation along it by `pitch` metres per radian
    cylindrical            translation along z, and rotation about it
    universal              rotation about z, which is fixed in the parent, and about x, fixed in the link
    planar                 translation along x and y, and rotation about z
    spherical              any rotation about the origin
    floating               any motion
    fixed                  no motion
    flexible: {...}        the tip of the link before, which is flexible: see ``mdh_flexible``

The placement in the row of a floating joint is the pose of the link at home, relative to the frame from which its
positions count. That is the frame of the parent, or `origin: {d, r, ...}` in it.

Drives. The role of a joint is active (the default), passive, or elastic: moved by its spring K alone. The values of a
joint with several degrees of freedom act on each of them; limits and mimic need a single one. `friction` adds friction
laws by name, each once: {joint: waist, Fs: 0.4, friction: {stribeck: {excess: 0.2, velocity: 0.05}, offset: {offset:
0.01}}}. `width` is the velocity within which friction that jumps at rest is smoothed.

Other tables: ``mdh_structure`` describes `loops`, `rolling`, `gears`, `feet`, `home`, `independent`, `actuation`,
`forces` and `transmissions`, ``mdh_parallel`` describes `platform`, `leg`, `legs` and `modules`.

Inertia. XX ... ZZ are elements of the inertia matrix about the origin of the frame (XY is minus the product of
inertia); `central: [XX, XY, XZ, YY, YZ, ZZ]` or `[XX, YY, ZZ]` is about the centre of mass `center`. The inertia of the
base is in `base: {kind: floating, link: trunk, M: ...}`; `base: fixed` is the default.

With `convention: standard` the joint rows are theta, d, a, alpha of distal frames, and inertias and frames are given in
those; each distal frame stays available as LINK_dh.

A frame with the name of its link is the frame of that link. The Description has poses and inertia in it, while the file
has all of them in the frames of joints. So a robot whose axes are not z keeps the frames of its links.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..model.description import STANDARD_GRAVITY, Description, JointDescription, Link, Placement
from ..model.joints import JointKind
from ..model.rotations import quaternion_from_rotation
from .mdh_flexible import with_beams
from .mdh_parallel import modules_of, parent_of, read_module
from .mdh_structure import read_constraints, read_forces, read_home, read_independent, read_transmissions
from .mdh_tables import ILLUSTRATIVE, PARALLEL, TABLES, Row, Scope, Side, Tables, kind_of

__all__ = ["ILLUSTRATIVE", "TABLES", "read_mdh"]

SAME = 1e-9  # entries of rotations that are the same but for rounding
KEYS = ("name", "description", "convention", "sources", "source", *TABLES, *PARALLEL, "independent", "actuation")


def read_mdh(content: str | Mapping[str, Any], source: str = "") -> Description:
    """Return the robot that a YAML text, or the same content as Python data, describes.

    ``source`` is the name of the file in messages. ``Description.sources`` maps source keys to references, and tables,
    rows and values ("links", "links.fore", "links.fore.M") to source keys.
    """
    return _Reader(source).robot(content)


class _Reader(Tables):
    """Reads one file, table by table."""

    def robot(self, content: str | Mapping[str, Any]) -> Description:
        with self.collecting_errors():
            root = self.root(content)
            top = self.mapping(root, KEYS)
            modules = modules_of(self, top, root)
            name, summary = (self.text(top[key]) if key in top else "" for key in ("name", "description"))
            with self.keep_reading():
                self.require(root, top, "name", "...")
            if not modules:
                self.require(root, top, "joints", "...")
            convention = "convention" in top and self.name(top["convention"], "convention", ("modified", "standard"))
            standard = convention == "standard"
            if modules and standard:
                message = "legs are read in the modified convention only"
                self.fail(top["convention"], message, fix="write the rows in modified Denavit-Hartenberg parameters")
            redundant = "actuation" in top and bool(self.name(top["actuation"], "actuation", ("redundant",)))
            gravity = self.numbers(top["gravity"], 3) if "gravity" in top else STANDARD_GRAVITY
            self.read_sources(top)
            self.read_base(top.get("base"))
            whole = Scope(self.root_link)
            while modules and ((link := parent_of(self, modules[0])) == "base" or link in self.links):
                read_module(self, modules.pop(0))  # before the joints: its platform may be floating
            self.read_joints(top, whole, standard)
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

        self.links = {link: with_beams(link, body, self.joints.values()) for link, body in self.links.items()}

        # The file uses the frames of joints or the distal frames, the Description those of the links.
        file_frames = {name: self.distal.get(name, Placement()) for name in self.links}
        link_frames = {
            name: file_frames[name] @ replace(frames.pop(name)[1], written=None) if name in frames else Placement()
            for name in self.links
        }
        if standard:
            frames = {f"{name}_dh": (name, Placement()) for name in self.distal} | frames
        changes = {name: link_frames[name].inverse() @ file_frames[name] for name in self.links}
        self.move_joints(top, link_frames)

        def placed(side: Side) -> Side:
            return (side[0], changes[side[0]] @ side[1]) if side[0] else side

        return Description(
            name=name,
            links=tuple(Link(name, inertia and inertia.placed(changes[name])) for name, inertia in self.links.items()),
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

    def move_joints(self, top: Row, link_frames: dict[str, Placement]) -> None:
        """Convert origins, axes and home positions to the frames of links; revolute without limits is continuous."""
        for name, joint in self.joints.items():
            parent, child = link_frames[joint["parent"]], link_frames[joint["child"]]
            kind = kind_of(joint)
            axis = joint.pop("axis", np.array([0.0, 0.0, 1.0]))
            if required := _required_frame(kind, axis, child):
                self.label = f"frame {joint['child']!r}"
                self.fail(top["frames"], f"the frame of a link must have {required}", fix="rename it")
            axes = {"axis": axis, "second_axis": np.array([1.0, 0.0, 0.0])}
            joint |= {key: axes[key] @ child.rotation + 0.0 for key in [*axes][: kind.directions]}
            joint["origin"] = parent.inverse() @ joint["origin"] @ child
            if name in self.home_poses and name not in self.home:
                home = child.inverse() @ self.home_poses[name] @ child
                if home.translation.any() or (home.rotation != np.eye(3)).any():
                    self.home[name] = (*home.translation.tolist(), *quaternion_from_rotation(home.rotation))
            if "lower" not in joint:
                joint["kind"] = kind.unlimited or kind.name


def _required_frame(kind: JointKind, axis: np.ndarray, frame: Placement) -> str:
    """Return what the frame of a link needs so that positions of its joint mean the same motion; empty if nothing."""
    if kind.free or not kind.nv or not (frame.translation.any() or (frame.rotation != np.eye(3)).any()):
        return ""
    if kind.modes:
        return "the origin and the axes of the tip"
    if kind.directions != 1:
        return "its origin in the centre of the joint" if frame.translation.any() else ""
    if np.cross(axis, frame.translation).any():
        return "its origin on the axis of the joint"
    difference = kind.frames(axis @ frame.rotation, axis)[0] - frame.rotation.T
    if not kind.axial and np.abs(difference).max() > SAME:
        return f"the axes that determine x and y of a {kind.name} joint"
    return ""
