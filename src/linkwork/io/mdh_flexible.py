"""Flexible links in the YAML format: `flexible` in the row of a joint, whose link is then the tip of the link before.

    joints:
      - {name: hub}
      - name: bend                               # its coordinates: bend.y1, bend.y2, bend.z1, ..., bend.twist1
        link: tip
        flexible:
          length: 0.5                            # m; the beam lies along x from where the row places its root
          density: 2710                          # kg/m^3
          area: 1e-4                             # m^2
          youngs: 7.1e10                         # Pa; shear: 2.7e10 where it twists
          moments: {z: 8.3e-10}                  # m^4; that about z, int y^2 dA, resists bending along y; or [Iy, Iz]
          modes: 2                               # exact ones, in each plane that has a moment; or {y: 2, twist: 1}
          damping: 0.01                          # ratio, for all modes or a list with one for each
    links:
      - {link: tip, M: 0.1}                      # a payload, if there is one

Modes are y, z, twist and stretch, each normalised to one metre (or radian) at the tip. In place of `modes`, `shapes:
{y: [[0, 0, 3, -1], ...]}` has polynomials in x / length. `polar` is the polar moment of the section and `torsion` the
constant of its stiffness against twist; the default of both is the sum of the moments. With `stiffening: true` bending
shortens the beam. The inertia of the straight beam is added to that of the flexible link, the one before.

Results of a finite-element program have the form `flexible: {modal: {tip: [0.5, 0, 0], frequencies: [...], damping:
..., shifts: ..., turns: ..., first: ..., second: ..., products: ...}}` (see ``Modal``). Their link has its inertia at
rest in `links`, like any other.

Another place along the link is a joint like that to its tip, and follows it: `{name: middle, link: middle, flexible:
{along: bend, at: 0.5}}`, where `at` is a share of the length. For modal data it is `{along: bend, tip: ..., shifts:
..., turns: ...}`. Its row has no placement, and its link is massless unless `links` gives it an inertia.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from ..model.description import JointDescription, LinkInertia, Mimic, Placement
from ..model.flexible.beam import ACROSS, Beam
from ..model.flexible.material import Material
from ..model.flexible.modal import Modal
from ..model.flexible.station import Station
from ..model.joints import Flexible

if TYPE_CHECKING:
    from .mdh_tables import Row, Tables

REQUIRED = {"length": "a number, in m", "density": "a number, in kg/m^3", "area": "a number, in m^2"}
DIGITS = 15  # decimals of what is left of an inertia without its beams
ROUNDING = 1e-14  # share of an inertia that is taken for rounding errors


def read_flexible(tables: Tables, row: Row, standard: bool = False, prefix: str = "") -> dict[str, Any]:
    """Return the fields of the joint that `flexible` in its row gives. ``prefix``: of the names of joints."""
    node = row["flexible"]
    for key in {"kind", "sigma"} & {*row}:
        tables.fail(row[key], f"the kind of joint is given twice, by 'flexible' and by {key!r}", fix="keep one of them")
    if standard:
        message = "flexible links are read in the modified convention only"
        tables.fail(node, message, fix="write the rows in modified Denavit-Hartenberg parameters")
    material = _material(tables, node, prefix)
    follows = {"mimic": Mimic(material.along)} if material.along else {"role": "elastic"}
    return {"kind": Flexible.name, "flexible": material, **follows}


def _material(tables: Tables, node: yaml.Node, prefix: str) -> Material:
    if isinstance(node, yaml.MappingNode) and any(key.value == "along" for key, _ in node.value):
        return _station(tables, node, prefix)
    row = tables.mapping(node, ("modal", *(each.name for each in fields(Beam))))
    if "modal" in row:
        if len(row) > 1:
            other = next(key for key in row if key != "modal")
            tables.fail(row[other], f"`modal` replaces {other!r}", fix="keep one of them")
        node = row["modal"]
        row = tables.mapping(node, [each.name for each in fields(Modal)])
        for name in (each.name for each in fields(Modal) if each.default is MISSING):
            tables.require(node, row, name, "see `linkwork.model.Modal`")
        return tables.construct(node, row, Modal, {key: tables.nested(value) for key, value in row.items()})
    for name, expected in REQUIRED.items():
        tables.require(node, row, name, expected)
    return tables.construct(node, row, Beam, {key: _beam_value(tables, key, value) for key, value in row.items()})


def _beam_value(tables: Tables, key: str, node: yaml.Node) -> Any:
    if key == "stiffening":
        return tables.boolean(node)
    if key in ("modes", "moments", "shapes") and isinstance(node, yaml.MappingNode):
        return {axis: _number(key, tables.nested(value)) for axis, value in tables.mapping(node).items()}
    if key == "moments" and isinstance(node, yaml.SequenceNode):
        return dict(zip(ACROSS, tables.numbers(node, 2), strict=True))
    return _number(key, tables.nested(node))


def _number(key: str, value: Any) -> Any:
    """Return a count of modes as an integer; ``Beam`` refuses one that is none."""
    return int(value) if key == "modes" and isinstance(value, float) and value.is_integer() else value


def _station(tables: Tables, node: yaml.Node, prefix: str) -> Station:
    row = tables.mapping(node, [each.name for each in fields(Station) if each.name != "material"])
    materials = {name: joint["flexible"] for name, joint in tables.joints.items() if joint.get("flexible")}
    tips = {
        name.removeprefix(prefix): name
        for name, material in materials.items()
        if name.startswith(prefix) and not material.along
    }
    if not tips:
        message, fix = "there is no flexible link that it could be along", "describe the flexible link first"
        expected = "the name of a joint before it that has `flexible: {length: ..., ...}`"
        tables.fail(row["along"], message, tables.text(row["along"]), expected, fix)
    along = tips[tables.name(row["along"], "joint of a flexible link", tips)]
    values = {key: tables.nested(value) for key, value in row.items() if key != "along"}
    return tables.construct(node, row, Station, {"material": materials[along], "along": along, **values})


def place_station(tables: Tables, joint: dict[str, Any], rows: list[yaml.Node], parent: yaml.Node | None) -> None:
    """Place a joint along its flexible link, and refuse any other placement in its row."""
    station = joint["flexible"]
    tip = tables.joints[station.along]
    if parent is not None and joint["parent"] != tip["parent"]:
        rows = [parent, *rows]
    if rows:
        fix = "leave its parent and placement out"
        tables.fail(rows[0], f"its place along {station.along!r} is given by `flexible`", fix=fix)
    root = tip["origin"] @ tip["flexible"].tip_placement.inverse()
    joint |= {"parent": tip["parent"], "origin": root @ station.tip_placement}


# --- inertia


def _beams(link: str, joints: Iterable[Mapping[str, Any]]) -> list[LinkInertia]:
    """Return the inertias of the straight beams that are part of a link, in its frame."""
    flexible = [(x["flexible"], x["origin"]) for x in joints if x["parent"] == link and x.get("flexible")]
    placements = ((each.inertia, tip @ each.tip_placement.inverse()) for each, tip in flexible)
    return [inertia.placed(root) for inertia, root in placements if inertia is not None]


def with_beams(link: str, inertia: LinkInertia | None, joints: Iterable[Mapping[str, Any]]) -> LinkInertia | None:
    """Add the inertias of the straight beams that are part of a link. ``joints``: fields of JointDescriptions."""
    for beam in _beams(link, joints):
        inertia = beam if inertia is None else inertia + beam
    return inertia


def without_beams(
    link: str, inertia: LinkInertia, joints: Iterable[JointDescription], row_frames: Mapping[str, Placement]
) -> LinkInertia | None:
    """Subtract the inertias of the straight beams of a link; None if only rounding errors are left.

    ``row_frames``: the frame of each row in the frame of its link; ``inertia`` is in that of the row.
    """
    flexible = (
        {"parent": x.parent, "flexible": x.flexible, "origin": row_frames[x.parent].inverse() @ x.origin}
        for x in joints
        if x.flexible is not None
    )
    rest = inertia
    for beam in _beams(link, flexible):
        rest = rest - beam
    if rest is inertia:
        return inertia
    size = inertia.mass + np.abs(inertia.about_origin).max()
    digits = DIGITS - math.ceil(math.log10(size)) if size else DIGITS  # the difference has no more than these
    rest = LinkInertia(round(rest.mass, digits), rest.center.round(digits), rest.central.round(digits))
    small = np.abs(rest.about_origin).max() <= ROUNDING * np.abs(inertia.about_origin).max()
    return None if small and abs(rest.mass) <= ROUNDING * inertia.mass else rest
