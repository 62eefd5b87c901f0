"""Feet in the YAML format.

    feet:                                        # where the robot may stand on the ground, the plane z = 0 of the world
      - {name: left, frame: left_sole, size: [0.2, 0.1], friction: 0.7, restitution: 0.1}
      - {frame: toe}                             # a point, called as its frame

`frame` is a link or a frame. With `size`, length and width, the foot is a sole around the frame's origin, along x and
y; without it a point. It never slips if no `friction` is given, and does not bounce if no `restitution` is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..model.description import Foot
from .mdh_tables import Row, Side, Tables

KEYS = ("name", "frame", "size", "friction", "restitution", "source")


def read_feet(tables: Tables, top: Row, frames: Mapping[str, Side]) -> tuple[Foot, ...]:
    feet: list[Foot] = []
    places = dict.fromkeys((*tables.links, *frames))
    for node, row in tables.rows(top, "feet", KEYS):
        with tables.going_on():
            tables.need(node, row, "frame", "the link or frame that stands on the ground")
            frame = tables.name(row.pop("frame"), "link or frame", places)
            name = tables.text(row.pop("name")) if "name" in row else frame
            tables.label = f"foot {name!r}"
            tables.note_source(row, f"feet.{name}")
            size = tuple(tables.numbers(row.pop("size"), 2)) if "size" in row else ()
            friction = {key: tables.number(value, finite=key != "friction") for key, value in row.items()}
            feet.append(Foot(name, frame, size, **friction))
    return tuple(feet)


def written_feet(feet: Iterable[Foot]) -> list[dict[str, Any]]:
    rows = []
    for foot in feet:
        row: dict[str, Any] = {"name": foot.name, "frame": foot.frame}
        if foot.size:
            row["size"] = list(foot.size)
        if foot.friction != math.inf:
            row["friction"] = foot.friction
        if foot.restitution:
            row["restitution"] = foot.restitution
        rows.append(row)
    return rows
