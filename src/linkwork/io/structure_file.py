"""The side file: YAML with the structure that a URDF cannot express, next to the file of the robot.

    loops:                                       # cut joints: the kind, and the two frames that it connects
      - {kind: revolute, first: rod_end, second: rocker_pin}
      - {name: cut, kind: spherical, first: {link: arm, xyz: [0, 0, 0.3]}, second: {frame: socket}}
    rolling:
      - {name: left, kind: wheel, wheel: {link: left_wheel, rpy: [pi/2, 0, 0]}, radius: 0.1, friction: 0.8}
    gears:
      - {joints: {motor: 1, wheel: -20}}
    flexible:                                    # fixed joints whose child is the tip of a flexible link
      boom_tip: {length: 4, density: 7850, area: 4e-3, youngs: 2.1e11, moments: [8e-6, 8e-6], modes: 2}
    roles: {passive: [rod, rocker], elastic: [spring]}    # other joints are active
    weights: {left_motor: 2}                     # of their forces, under redundant actuation
    home: {crank: 60 deg, ball: [0, 0, 1, 0]}
    independent: [crank]
    actuation: redundant
    forces:
      - {frame: tail, law: drag, length: 0.2, k_normal: 40}
    friction: {crank: {stribeck: {excess: 0.2, velocity: 0.05}}}    # in addition to that of the robot file
    widths: {crank: 0.01}                        # velocities within which friction is smoothed
    feet:
      - {name: left, frame: left_sole, size: [0.2, 0.1], friction: 0.7}
    transmissions:
      - {name: wrist, joints: [pitch, roll], motors: [{name: m1, ratios: [50, 0]}, {name: m2, ratios: [-50, 50]}]}

A side of a loop may be the name of a frame or link. All else is as in the YAML format for whole robots
(``mdh_structure``, ``mdh_flexible``), except that the robot file has the inertia of straight beams. A side file may
belong to any robot file, and its values take precedence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import yaml

from ..model.constraints import SECTIONS
from ..model.description import Description, Placement
from ..model.drive import ROLES, JointValues
from ..model.joints import JointKind
from .mdh_flexible import read_flexible
from .mdh_structure import (
    constraint_rows,
    force_rows,
    read_constraints,
    read_forces,
    read_home,
    read_independent,
    read_transmissions,
    transmission_rows,
)
from .mdh_tables import Row, Scope, Tables, kind_of
from .rpy import rpy_from_rotation

KEYS = (*SECTIONS, "flexible", "roles", "weights", "home", "independent", "actuation", "forces", "friction", "widths")
KEYS += ("transmissions",)
BY_JOINT = {  # tables of single values of joints
    table: JointValues.declared()[key]
    for table, key in {"weights": "weight", "friction": "friction", "widths": "width"}.items()
}


@dataclass(frozen=True)
class Structure:
    """The content of a side file, or the same as Python data. ``source``: its name, for messages."""

    content: str | Mapping[str, Any]
    source: str = ""


def read_structure(content: str | Mapping[str, Any], source: str = "") -> Structure:
    """Return the structure in the text of a side file, or the same as data. Refuses other files at once."""
    _Reader(source).top(content)
    return Structure(content, source)


def apply(description: Description, structure: Structure) -> Description:
    """Return the robot with the loops, roles, home and forces of its side file."""
    return _Reader(structure.source).applied(description, structure.content)


class _Reader(Tables):
    def top(self, content: str | Mapping[str, Any]) -> Row:
        return self.mapping(self.root(content), KEYS)

    def mapping(self, node: yaml.Node, keys: Collection[str] | None = None) -> Row:
        """Return the nodes by key; a plain name in place of a side of a loop is the name of a frame."""
        if isinstance(node, yaml.ScalarNode) and {"link", "frame"} <= set(keys or ()):
            return {"frame": node}
        return super().mapping(node, keys)

    def applied(self, description: Description, content: str | Mapping[str, Any]) -> Description:
        with self.collecting_errors():
            top = self.top(content)
            self.links = {link.name: link.inertia for link in description.links}
            self.floating = description.floating
            self.joints = {
                joint.name: {"kind": joint.kind, "child": joint.child, "flexible": joint.flexible}
                for joint in description.joints
            }
            self.read_flexible(top)
            frames = {name: (name, Placement()) for name in self.links} | dict(description.frames)
            read_constraints(self, top, frames)
            read_home(self, top, Scope(""))
            read_independent(self, top)
            forces = read_forces(self, top, description.frames)
            roles, changes, transmissions = self.read_roles(top), self.read_values(top), read_transmissions(self, top)
            if "actuation" in top:
                self.label = "actuation"
                self.name(top["actuation"], "actuation", ("redundant",))
        joints = []
        for joint in description.joints:
            role = {"role": roles[joint.name]} if joint.name in roles else {}
            values = {field: values[joint.name] for field, values in changes.items() if joint.name in values}
            joints.append(replace(joint, **role, **values, **self.joints[joint.name]))
        return replace(
            description,
            joints=tuple(joints),
            constraints=(*description.constraints, *self.constraints.values()),
            home={**description.home, **self.home},
            keyframes={} if self.home else description.keyframes,
            independent=tuple(self.independent) or description.independent,
            redundant=description.redundant or "actuation" in top,
            forces=(*description.forces, *forces),
            transmissions=(*description.transmissions, *transmissions),
        )

    def moving(self) -> dict[str, JointKind]:
        kinds = {name: kind_of(joint) for name, joint in self.joints.items()}
        return {name: kind for name, kind in kinds.items() if kind.nv}

    def read_flexible(self, top: Row) -> None:
        """Make fixed joints those of flexible links. The robot file has the inertia of the straight beam."""
        self.label = "flexible"
        with self.keep_reading():
            fixed = [name for name, joint in self.joints.items() if not kind_of(joint).nv]
            for name, node in (self.mapping(top["flexible"], fixed) if "flexible" in top else {}).items():
                self.joints[name] = read_flexible(self, {"flexible": node})
        self.label = ""

    def read_roles(self, top: Row) -> dict[str, str]:
        self.label = "roles"
        roles: dict[str, str] = {}
        with self.keep_reading():
            joints = {name: kind for name, kind in self.moving().items() if kind.drivable}
            for role, names in (self.mapping(top["roles"], ROLES) if "roles" in top else {}).items():
                for node in self.sequence(names):
                    name = self.text(node)
                    if name not in joints:
                        self.note_error(self.unknown(node, "joint", name, joints))
                    elif name in roles:
                        self.note_error(self.error_at(node, f"joint {name!r} is named twice", fix="give it one role"))
                    roles[name] = role
        return roles

    def read_values(self, top: Row) -> dict[str, dict[str, Any]]:
        """Return the values of joints that have tables of their own: field -> joint -> value."""
        changes: dict[str, dict[str, Any]] = {}
        for key, each in BY_JOINT.items():
            self.label = key
            with self.keep_reading():
                rows = self.mapping(top[key], self.moving()) if key in top else {}
                changes[each.name] = {name: each.rule.read(self, node) for name, node in rows.items()}
        return changes


def write_structure(description: Description) -> str:
    """Return the text of the side file from which ``apply`` restores the structure; empty if there is none."""
    joints = [joint for joint in description.joints if joint.motion.nv]
    drivable = [joint for joint in joints if joint.motion.drivable]
    names_by_role = {
        role: [joint.name for joint in drivable if joint.role == role] for role in ROLES if role != "active"
    }
    content = {
        **{
            table: [row for _, row in constraint_rows(description, table, lambda side: _side(*side), lambda x: x)]
            for table in SECTIONS
        },
        "flexible": {joint.name: joint.flexible.to_dict() for joint in joints if joint.motion.modes},
        "roles": {role: names for role, names in names_by_role.items() if names},
        **{
            table: {joint.name: joint.to_dict()[each.key] for joint in joints if each.key in joint.to_dict()}
            for table, each in BY_JOINT.items()
        },
        "home": {name: np.asarray(position, float).tolist() for name, position in description.home.items()},
        "independent": list(description.independent),
        "actuation": "redundant" if description.redundant else "",
        "forces": list(force_rows(description)),
        "transmissions": transmission_rows(description.transmissions),
    }
    content = {key: value for key, value in content.items() if value}
    if not content:
        return ""
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)


def _side(link: str, placement: Placement) -> dict[str, Any]:
    xyz, rpy = placement.translation.tolist(), list(rpy_from_rotation(placement.rotation))
    pose = {key: value for key, value in (("xyz", xyz), ("rpy", rpy)) if any(value)}
    return {"link": link} | pose if link else pose
