"""Links that bend in the YAML format: `flexible` in the row of a joint, whose link is then the tip of the one before.

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
{y: [[0, 0, 3, -1], ...]}` has polynomials in x / length. `polar` and `torsion` are the polar moment of the section and
the constant of its stiffness against twist, where they are not the sum of the moments; `stiffening: true` lets bending
shorten the beam. The inertia of the straight beam is added to that of the link that bends, the one before.

Results of a finite-element program stand in `flexible: {modal: {tip: [0.5, 0, 0], frequencies: [...], damping: ...,
shifts: ..., turns: ..., first: ..., second: ..., products: ...}}` (see ``Modal``). There all inertia at rest is the
link's own.

Another place along the link is a joint like that to its tip, and follows it: `{name: middle, link: middle, flexible:
{along: bend, at: 0.5}}`, a share of the length; of modal data `{along: bend, tip: ..., shifts: ..., turns: ...}`. Its
row has no placement, and its link is massless unless `links` says more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import yaml

from ..errors import ModelError
from ..model.description import LinkInertia, Mimic
from ..model.flexible.beam import ACROSS, FAMILIES, Beam
from ..model.flexible.material import Material
from ..model.flexible.modal import Modal
from ..model.flexible.station import Station

if TYPE_CHECKING:
    from .mdh_tables import Row, Tables

NEEDED = {"length": "m", "density": "kg/m^3", "area": "m^2"}


def read_flexible(tables: Tables, node: yaml.Node, standard: bool = False, prefix: str = "") -> Material:
    """``prefix``: of the names of joints."""
    if standard:
        message, fix = "links that bend are read in the modified convention alone", "write modified rows"
        tables.fail(node, message, fix=fix)
    if isinstance(node, yaml.MappingNode) and any(key.value == "along" for key, _ in node.value):
        return _read_station(tables, node, prefix)
    own = [each.name for each in fields(Beam)]
    row = tables.mapping(node, ("modal", *own))
    if "modal" in row:
        if len(row) > 1:
            other = next(key for key in row if key != "modal")
            tables.fail(row[other], f"{other!r} says nothing beside `modal`", fix="keep one of them")
        given = tables.mapping(row["modal"], [each.name for each in fields(Modal)])
        for name in (each.name for each in fields(Modal) if each.default is MISSING):
            tables.need(row["modal"], given, name, "see `linkwork.model.Modal`")
        return _made(tables, row["modal"], given, Modal, {key: _nested(tables, value) for key, value in given.items()})
    for name, unit in NEEDED.items():
        tables.need(node, row, name, f"a number, in {unit}")
    values: dict[str, Any] = {}
    for key, value in row.items():
        if key in PARTED and (key == "shapes" or isinstance(value, yaml.MappingNode)):
            known, read = PARTED[key]
            values[key] = {name: read(tables, each) for name, each in tables.mapping(value, known).items()}
        elif key == "moments":
            values[key] = dict(zip(ACROSS, tables.numbers(value, 2), strict=True))
        elif key == "stiffening":
            values[key] = tables.name(value, "choice", ("true", "false")) == "true"
        else:
            values[key] = {"modes": _whole, "damping": _nested}.get(key, _number)(tables, value)
    return _made(tables, node, row, Beam, values)


def _read_station(tables: Tables, node: yaml.Node, prefix: str) -> Station:
    row = tables.mapping(node, [each.name for each in fields(Station) if each.name != "material"])
    tips = {name: joint for name, joint in tables.joints.items() if (own := joint.get("flexible")) and not own.along}
    own = {name.removeprefix(prefix): name for name in tips if name.startswith(prefix)}
    if not own:
        message, fix = "there is no link that bends for it to be along", "describe the link that bends first"
        expected = "the name of a joint before it that has `flexible: {length: ..., ...}`"
        tables.fail(row["along"], message, tables.text(row["along"]), expected, fix)
    along = own[tables.name(row.pop("along"), "link that bends, by its joint", own)]
    values = {key: (_number if key == "at" else _nested)(tables, value) for key, value in row.items()}
    return _made(tables, node, row, Station, {"material": tips[along]["flexible"], "along": along, **values})


def follow(tables: Tables, joint: dict[str, Any], placed: list[yaml.Node], station: Material) -> None:
    """Place a joint along the link that bends, by nothing else."""
    if placed:
        tables.fail(placed[0], f"its place is that along {station.along!r}", fix="leave its parent and placement out")
    tip = tables.joints[station.along]
    root = tip["origin"] @ tip["flexible"].tip_placement.inverse()
    joint |= {"parent": tip["parent"], "origin": root @ station.tip_placement, "mimic": Mimic(station.along)}


def _made(tables: Tables, node: yaml.Node, row: Row, kind: Any, values: dict[str, Any]) -> Any:
    try:
        return kind(**values)
    except ModelError as error:  # it names the field
        name = error.where.partition(".")[2]
        tables.fail(row.get(name, node), error.message, error.got, error.expected, error.fix)


def _whole(tables: Tables, node: yaml.Node) -> int:
    value = tables.number(node)
    if value != int(value):
        tables.fail(node, "not a whole number", got=value, expected="how many modes")
    return int(value)


def _number(tables: Tables, node: yaml.Node) -> float:
    return tables.number(node)


def _nested(tables: Tables, node: yaml.Node) -> Any:
    """Numbers, and lists of them, and so on."""
    if isinstance(node, yaml.SequenceNode):
        return tuple(_nested(tables, each) for each in node.value)
    return tables.number(node)


PARTED = {"modes": (FAMILIES, _whole), "moments": (tuple(ACROSS), _number), "shapes": (FAMILIES, _nested)}  # by axes


def beams_on(link: str, joints: Iterable[Mapping[str, Any]]) -> list[LinkInertia]:
    """Inertias of the straight beams that are part of a link, in its frame."""
    own = (joint for joint in joints if joint["parent"] == link and joint.get("flexible"))
    placed = ((joint["flexible"].inertia, joint["origin"] @ joint["flexible"].tip_placement.inverse()) for joint in own)
    return [inertia.placed(root) for inertia, root in placed if inertia is not None]
