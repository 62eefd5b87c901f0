"""Parallel robots in the YAML format: a platform on legs, given by one leg and the places of all legs.

    platform:                                    # the link that the legs carry
      {link: platform, freedoms: floating, at: {xyz: [0, 0, 1]}, M: 20, center: [0, 0, 0.02], central: [0.8, 0.8, 1.5]}
    leg:                                         # template: defaults of every leg
      joints:                                    # as in `joints`; the first is placed in the base frame of the leg
        - {name: swing, link: cross, alpha: -pi/2, theta: -pi/2}
        - {name: tilt, link: cylinder, alpha: -pi/2, theta: pi/2}
        - {name: slide, link: rod, sigma: 1, alpha: pi/2}
      links: [...]                               # as in `links`
      drives: [{joint: swing, role: passive}, {joint: tilt, role: passive}, {joint: slide, Fv: 300}]
      home: {slide: 1.1}
      closure: spherical                         # kind of the loop that joins its tip to the platform
      tip: {r: 0.02}                             # in the frame of its last link, or of {link: NAME, ...}
    legs:                                        # where each is attached to the base and to the platform
      - {name: leg1, base: {gamma: 10 deg, d: 0.65}, platform: {gamma: 50 deg, d: 0.4}}
      - {name: leg2, base: {gamma: 110 deg, d: 0.65}, platform: {gamma: 70 deg, d: 0.4}, home: {tilt: 0.2}}

It is read as a tree with loops: first the platform on the base, then the legs, whose joints and links are named
leg1_slide, leg1_rod, .... A loop with the name of the leg has the tip of the leg as its first side and the platform as
its second. A leg may have its own joints, links, drives, closure and tip, and `home` positions in addition to those of
the template. Default names of legs are leg1, leg2, ....

The joints of the platform are passive and independent; so are elastic modes of legs. `at` is its pose at home. Its
`freedoms` give its joints:

    floating      one joint with six degrees of freedom, PLATFORM_joint
    planar        x, y and angle, in the plane x, y of the base
    translation   x, y, z
    spatial       x, y, z, then yaw, pitch, roll (of rpy): for six degrees of freedom on a moving link

Modules. Parallel robots in series, or one at the end of an arm, are listed in `modules`. Each has a name, which is the
prefix of all its names, and a parent link. Defaults of platform, legs and the keys of leg are those of the file:

    modules:
      - {name: lower}
      - {name: upper, parent: lower_platform, leg: {home: {slide: 0.3}}, legs: [...]}
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np
import yaml

from ..model.constraints import CUT_JOINTS
from ..model.description import ConstraintDescription, LinkInertia, Placement
from ..model.joints import joint_kind
from ..model.rotations import rotation_from_rpy
from .mdh_structure import read_home
from .mdh_tables import INERTIA, PLACED, Row, Scope, Tables, kind_of
from .rpy import rpy_from_rotation

LEG = ("joints", "links", "drives", "home", "closure", "tip")
SHIFTS = (("x", "prismatic", 0), ("y", "prismatic", 1), ("z", "prismatic", 2))
FREEDOMS = {  # joint, kind, axis
    "floating": (),  # a joint of this kind
    "planar": (*SHIFTS[:2], ("angle", "revolute", 2)),
    "translation": SHIFTS,
    "spatial": (*SHIFTS, ("yaw", "revolute", 2), ("pitch", "revolute", 1), ("roll", "revolute", 0)),
}
MASSLESS = LinkInertia(0.0)


class Module(NamedTuple):
    """Nodes of a platform and its legs."""

    node: yaml.Node
    row: Row  # name, parent, platform, legs
    leg: Row  # template of the legs


def modules_of(tables: Tables, top: Row, root: yaml.Node) -> list[Module]:
    """Return the modules of a file, each with the defaults of the file."""
    common = {key: top[key] for key in ("platform", "legs") if key in top}
    tables.label = "leg"
    leg = tables.mapping(top["leg"], LEG) if "leg" in top else {}
    tables.label = ""
    if "modules" not in top:
        return [Module(root, common, leg)] if common or leg else []
    modules = []
    for node, row in tables.rows(top, "modules", ("name", "parent", "platform", "leg", "legs")):
        tables.require(node, row, "name", "the prefix of its names")
        changes = tables.mapping(row["leg"], LEG) if "leg" in row else {}
        modules.append(Module(node, common | row, leg | changes))
    return modules


def parent_of(tables: Tables, module: Module) -> str:
    """Return the name of the parent link of a module, which need not have been read yet."""
    return tables.text(module.row["parent"]) if "parent" in module.row else "base"


def read_module(tables: Tables, module: Module) -> None:
    """Add a platform and its legs to the tables."""
    node, row, template = module
    name = tables.text(row["name"]) if "name" in row else ""
    prefix, within = (f"{name}_", f"module {name!r}: ") if name else ("", "")
    tables.label, tables.within = within.removesuffix(": "), within
    links = {"base": tables.root_link, **{link: link for link in tables.links}}
    parent = links[tables.name(row["parent"], "link", links)] if "parent" in row else tables.root_link
    for key, expected in (("platform", "{link: platform, freedoms: ..., at: ...}"), ("legs", "a list of legs")):
        tables.require(node, row, key, expected)
    platform = _platform(tables, row["platform"], parent, prefix)
    tables.label = within.removesuffix(": ")
    if not tables.sequence(row["legs"]):
        tables.fail(row["legs"], "a platform needs legs", got="none")
    for j, (leg_node, leg) in enumerate(tables.rows(row, "legs", ("name", "base", "platform", *LEG)), 1):
        leg_name = prefix + (tables.text(leg["name"]) if "name" in leg else f"leg{j}")
        tables.label, tables.within = f"leg {leg_name!r}", f"leg {leg_name!r}: "
        _leg(tables, leg_node, leg, template, leg_name, parent, platform)
        tables.within = within
    tables.label = tables.within = ""


def _platform(tables: Tables, node: yaml.Node, parent: str, prefix: str) -> str:
    """Add the link of the platform, on one joint or a chain of joints, and return its name."""
    tables.label = f"{tables.within}platform"
    row = tables.mapping(node, ("link", "freedoms", "at", *INERTIA))
    link = prefix + (tables.text(row.pop("link")) if "link" in row else "platform")
    tables.label = f"platform {link!r}"
    tables.require(node, row, "freedoms", f"one of {', '.join(FREEDOMS)}")
    freedoms = tables.name(row.pop("freedoms"), "kind of freedoms", FREEDOMS)
    at = Placement()
    if "at" in row:
        place = row.pop("at")
        at = tables.placement(tables.mapping(place, PLACED), place)
    if not FREEDOMS[freedoms]:
        joint = tables.add_joint(node, f"{link}_joint", parent, link, {"kind": freedoms})
        tables.place_joint(joint, Placement(), at)
        tables.independent.append(joint["name"])
    else:
        _chain(tables, node, prefix, parent, link, freedoms, at)
    tables.note_source(row, f"links.{link}")
    tables.links[link] = tables.inertia(row, node) if row else None
    return link


def _chain(tables: Tables, node: yaml.Node, prefix: str, parent: str, link: str, freedoms: str, at: Placement) -> None:
    """Add joints x, y, ... with massless links between. Their origins have the rest of ``at``, which they keep."""
    chain = FREEDOMS[freedoms]
    xyz, rpy = at.translation.tolist(), [*rpy_from_rotation(at.rotation)]
    joints = []
    for name, kind, axis in chain:
        carried = link if name == chain[-1][0] else f"{link}_{name}"
        joint = tables.add_joint(node, prefix + name, parent, carried, {"kind": kind})
        joint |= {"role": "passive", "origin": Placement(), "axis": np.eye(3)[axis]}
        tables.links[carried] = MASSLESS
        position = rpy if any(joint_kind(kind).turning) else xyz
        if position[axis]:
            tables.home[prefix + name], position[axis] = position[axis], 0.0
        tables.independent.append(prefix + name)
        joints.append(joint)
        parent = carried
    turn = rotation_from_rpy(*rpy)
    joints[0]["origin"] = Placement(np.eye(3), np.array(xyz))
    joints[-1]["origin"], joints[-1]["axis"] = Placement(turn), joints[-1]["axis"] @ turn


def _leg(tables: Tables, node: yaml.Node, leg: Row, template: Row, name: str, parent: str, platform: str) -> None:
    """Add the joints and links of a leg on the parent, and the loop to the platform."""
    row = template | {key: leg[key] for key in LEG if key in leg}
    for key in ("base", "platform"):
        tables.require(node, leg, key, f"{{where it is attached to the {key}: d, gamma, ... or xyz, rpy}}")
    for key, expected in (("joints", "its rows"), ("closure", f"one of {', '.join(CUT_JOINTS)}")):
        tables.require(node, row, key, f"{expected}, here or in `leg`")
    if name in tables.constraints:
        tables.fail(node, "the name of the leg is used twice: rename one")
    base, end = (tables.placement(tables.mapping(leg[key], PLACED), leg[key]) for key in ("base", "platform"))
    scope = Scope(parent, f"{name}_", base)
    before = len(tables.joints)
    last = tables.read_joints(row, scope)
    if last == parent:
        tables.fail(row["joints"], "a leg needs joints", got="none")
    joints = [*islice(reversed(tables.joints), len(tables.joints) - before)]  # only those of this leg
    kinds = {joint: kind_of(tables.joints[joint]) for joint in reversed(joints)}
    tables.independent += (joint for joint, kind in kinds.items() if kind.modes and not kind.tied)
    tables.read_links(row, scope)
    tables.read_drives(row, scope)
    if "joints" not in leg:
        read_home(tables, template, scope)
    read_home(tables, leg, scope)
    tip = Placement()
    if "tip" in row:
        links = scope.of(tables.links)
        tip_row = tables.mapping(row["tip"], ("link", *PLACED))
        last = links[tables.name(tip_row.pop("link"), "link", links)] if "link" in tip_row else last
        tip = tables.placement(tip_row, row["tip"])
    kind = tables.name(row["closure"], "kind of closure", CUT_JOINTS)
    tables.constraints[name] = ConstraintDescription(name, CUT_JOINTS[kind], (last, tip), (platform, end))
