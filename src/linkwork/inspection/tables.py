"""What a robot has beside joints and links, as tables: title, headers and rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..formulations.flexible import bending_joints
from ..model import Model
from .facts import beam, carrier

Table = tuple[str, list[str], list[list[Any]]]


def further_tables(model: Model) -> Iterator[Table]:
    """Those that have rows: links that bend, loops and contacts, forces of the surroundings, feet."""
    yield from (table for table in (_beams(model), _loops(model), _forces(model), _feet(model)) if table[-1])


def _beams(model: Model) -> Table:
    rows = [
        [told["joint"], told["link"], told["tip"], float(told["length"]), mode, float(frequency), float(ratio)]
        for told in (beam(model, i, p) for i, p in bending_joints(model) if not model.joint(i).leader)
        for mode, frequency, ratio in zip(told["modes"], told["frequencies"], told["damping"], strict=True)
    ]
    headers = ["joint", "bends", "tip", "length\nm", "mode", "alone, clamped\nHz", "damping\nratio"]
    return "Links that bend", headers, rows


def _loops(model: Model) -> Table:
    rows: list[list[Any]] = [
        [x.name, x.kind.name, carrier(model, x.first.body), carrier(model, x.second.body), _numbers(x.kind.told())]
        for x in model.loops
    ]
    if all(x.kind.cut for x in model.loops):
        return "Loops: cut joints", ["loop", "kind", "first on", "second on"], [row[:-1] for row in rows]
    heads = ["name", "kind", "first on", "second on", "numbers\nSI"]
    return "Loops, contacts (planes first) and gears", heads, rows


def _numbers(told: Mapping[str, Any]) -> str | None:
    """Of a contact or a gear."""
    flat = {key: value for key, value in told.items() if isinstance(value, float) and value not in (0.0, math.inf)}
    return ", ".join(f"{key} {value:g}" for key, value in (flat | dict(told.get("ratios", {}))).items()) or None


def _forces(model: Model) -> Table:
    """Laws of the surroundings, and what they are commanded by."""
    told = {s.name: ", ".join(f"{n}, {unit}" for n, unit in zip(s.names, s.units, strict=True))
            for s in model.commands.segments}  # fmt: skip
    rows = [
        [at.name, repr(law), told.get(at.name) if getattr(law, "commands", {}) else None] for at, law in model.forces
    ]
    return "Forces of the surroundings", ["frame", "law", "command"], rows


def _feet(model: Model) -> Table:
    """Where it may stand on the ground."""
    rows = [
        [foot.name, foot.frame, " x ".join(f"{x:g}" for x in foot.size) or "point", foot.friction, foot.restitution]
        for foot in model.feet
    ]
    return "Feet", ["foot", "frame", "sole\nm", "friction", "restitution"], rows
