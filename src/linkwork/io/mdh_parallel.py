"""Parallel robots in the YAML format: a platform on legs, written as one leg and where it stands.

    platform:                                    # the link that the legs carry
      {link: platform, freedoms: floating, at: {xyz: [0, 0, 1]}, M: 20, center: [0, 0, 0.02], central: [0.8, 0.8, 1.5]}
    leg:                                         # of every leg that does not give its own
      joints:                                    # as in `joints`; the first stands on the base of the leg
        - {name: swing, link: cross, alpha: -pi/2, theta: -pi/2}
        - {name: tilt, link: cylinder, alpha: -pi/2, theta: pi/2}
        - {name: slide, link: rod, sigma: 1, alpha: pi/2}
      links: [...]                               # as in `links`
      drives: [{joint: swing, role: passive}, {joint: tilt, role: passive}, {joint: slide, Fv: 300}]
      home: {slide: 1.1}
      closure: spherical                         # kind of the loop that joins its tip to the platform
      tip: {r: 0.02}                             # in the frame of its last link, or of {link: NAME, ...}
    legs:                                        # where each stands on the base, and where it holds the platform
      - {name: leg1, base: {gamma: 10 deg, d: 0.65}, platform: {gamma: 50 deg, d: 0.4}}
      - {name: leg2, base: {gamma: 110 deg, d: 0.65}, platform: {gamma: 70 deg, d: 0.4}, home: {tilt: 0.2}}

It is read as a tree with loops: first the platform on the base, then the legs, whose joints and links are named
leg1_slide, leg1_rod, ...; a loop named like the leg has its tip as the first side, the platform as the second. A leg
may have joints, links, drives, closure and tip of its own, and `home` positions beside those of the template. Names of
legs default to leg1, leg2, ...

The joints of the platform are passive and independent; so are elastic modes of legs. `at` is its pose at home; by its
`freedoms` its joints are

    floating      one joint of six freedoms, PLATFORM_joint
    planar        x, y and angle, in the plane x, y of the base
    translation   x, y, z
    spatial       x, y, z, then yaw, pitch, roll (of rpy): where a platform of six freedoms rides on a moving link

Modules. Parallel robots in series, or one at the end of an arm, stand in `modules`; each has a name, which goes before
all its names, and the link it stands on. What it does not give of platform, legs and the keys of leg is the file's own:

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
from .mdh_constraints import read_home
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
    """A platform with its legs, as the file gives it."""

    node: yaml.Node
    row: Row  # name, parent, platform, legs
    leg: Row  # template of the legs


def modules_of(tables: Tables, top: Row, root: yaml.Node) -> list[Module]:
    """The modules of a file, each with what it takes from the top."""
    common = {key: top[key] for key in ("platform", "legs") if key in top}
    tables.label = "leg"
    leg = tables.mapping(top["leg"], LEG) if "leg" in top else {}
    tables.label = ""
    if "modules" not in top:
        return [Module(root, common, leg)] if common or leg else []
    modules = []
    for node, row in tables.rows(top, "modules", ("name", "parent", "platform", "leg", "legs")):
        tables.need(node, row, "name", "what goes before its names")
        own = tables.mapping(row["leg"], LEG) if "leg" in row else {}
        modules.append(Module(node, common | row, leg | own))
    return modules


def stands_on(tables: Tables, module: Module) -> str:
    """The link a module names as its parent, known yet or not."""
    return tables.text(module.row["parent"]) if "parent" in module.row else "base"


def read_module(tables: Tables, module: Module) -> None:
    """Add a platform and its legs to the tables."""
    node, row, template = module
    name = tables.text(row["name"]) if "name" in row else ""
    prefix, within = (f"{name}_", f"module {name!r}: ") if name else ("", "")
    tables.label, tables.within = within.removesuffix(": "), within
    links = {"base": tables.root_link, **{link: link for link in tables.links}}
    parent = links[tables.name(row["parent"], "link", links)] if "parent" in row else tables.root_link
    for key, what in (("platform", "{link: platform, freedoms: ..., at: ...}"), ("legs", "a list of legs")):
        tables.need(node, row, key, what)
    platform = _platform(tables, row["platform"], parent, prefix)
    tables.label = within.removesuffix(": ")
    if not tables.sequence(row["legs"]):
        tables.fail(row["legs"], "a platform stands on legs", got="none")
    for j, (leg_node, leg) in enumerate(tables.rows(row, "legs", ("name", "base", "platform", *LEG)), 1):
        leg_name = prefix + (tables.text(leg["name"]) if "name" in leg else f"leg{j}")
        tables.label, tables.within = f"leg {leg_name!r}", f"leg {leg_name!r}: "
        _leg(tables, leg_node, leg, template, leg_name, parent, platform)
        tables.within = within
    tables.label = tables.within = ""


def _platform(tables: Tables, node: yaml.Node, parent: str, prefix: str) -> str:
    """The platform's link, moved against its parent by one joint or a chain of them."""
    tables.label = f"{tables.within}platform"
    row = tables.mapping(node, ("link", "freedoms", "at", *INERTIA))
    link = prefix + (tables.text(row.pop("link")) if "link" in row else "platform")
    tables.label = f"platform {link!r}"
    tables.need(node, row, "freedoms", f"one of {', '.join(FREEDOMS)}")
    freedoms = tables.name(row.pop("freedoms"), "kind of freedoms", FREEDOMS)
    at = Placement()
    if "at" in row:
        placed = row.pop("at")
        at = tables.placement(tables.mapping(placed, PLACED), placed)
    if not FREEDOMS[freedoms]:
        joint = tables.add_joint(node, f"{link}_joint", freedoms, parent, link)
        tables.stand(joint, Placement(), at)
        tables.independent.append(joint["name"])
    else:
        _chain(tables, node, prefix, parent, link, freedoms, at)
    tables.note_source(row, f"links.{link}")
    tables.links[link] = tables.inertia(row, node) if row else None
    return link


def _chain(tables: Tables, node: yaml.Node, prefix: str, parent: str, link: str, freedoms: str, at: Placement) -> None:
    """Joints x, y, ... with massless links between; what of ``at`` they cannot move stays in their origins."""
    chain = FREEDOMS[freedoms]
    xyz, rpy = at.translation.tolist(), [*rpy_from_rotation(at.rotation)]
    joints = []
    for name, kind, axis in chain:
        carried = link if name == chain[-1][0] else f"{link}_{name}"
        joint = tables.add_joint(node, prefix + name, kind, parent, carried)
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
    """The leg's joints and links on the parent, and the loop to the platform."""
    given = template | {key: leg[key] for key in LEG if key in leg}
    for key in ("base", "platform"):
        tables.need(node, leg, key, f"{{where it stands on the {key}: d, gamma, ... or xyz, rpy}}")
    for key, what in (("joints", "its rows"), ("closure", f"one of {', '.join(CUT_JOINTS)}")):
        tables.need(node, given, key, f"{what}, here or in `leg`")
    if name in tables.constraints:
        tables.fail(node, "the name of the leg is used twice")
    base, end = (tables.placement(tables.mapping(leg[key], PLACED), leg[key]) for key in ("base", "platform"))
    scope = Scope(parent, f"{name}_", base)
    before = len(tables.joints)
    last = tables.read_joints(given, scope)
    if last == parent:
        tables.fail(given["joints"], "a leg has joints", got="none")
    own = [*islice(reversed(tables.joints), len(tables.joints) - before)]  # not all of them again for each leg
    kinds = {joint: kind_of(tables.joints[joint]) for joint in reversed(own)}
    tables.independent += (joint for joint, kind in kinds.items() if kind.modes and not kind.tied)
    tables.read_links(given, scope)
    tables.read_drives(given, scope)
    if "joints" not in leg:
        read_home(tables, template, scope)
    read_home(tables, leg, scope)
    tip = Placement()
    if "tip" in given:
        links = scope.of(tables.links)
        row = tables.mapping(given["tip"], ("link", *PLACED))
        last = links[tables.name(row.pop("link"), "link", links)] if "link" in row else last
        tip = tables.placement(row, given["tip"])
    kind = tables.name(given["closure"], "kind of closure", CUT_JOINTS)
    tables.constraints[name] = ConstraintDescription(name, CUT_JOINTS[kind], (last, tip), (platform, end))
