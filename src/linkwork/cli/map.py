"""``linkwork map``: where a frame can be, and how well it moves or what it can carry there."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ..inspection.states import entries, unit
from ..kinematics import Map
from ..kinematics.map_values import VALUES
from ..table import Table
from .common import PICTURES, Json, Plot, Source, among, option, printed_warnings, require_suffix, takes_robot
from .printing import print_json, progress, say, show
from .states import parse

SIZES = {1: ("length", "m"), 2: ("area", "m^2"), 3: ("volume", "m^3")}


@takes_robot
def map_quantity(
    source: Source,
    *,
    frame: Annotated[str, option("FRAME", "The link or frame whose origin is mapped.")],
    quantity: Annotated[
        str, option("QUANTITY", f"What to map: {', '.join(VALUES)}.", autocompletion=among(VALUES))
    ] = "reach",
    plane: Annotated[str | None, option("AXES", "xy, xz or yz. Default: the whole space.")] = None,
    at: Annotated[float | None, option("M", "Coordinate of the plane. Default: that of the frame at home.")] = None,
    cells: Annotated[int, option("N", "Cells along the longest axis.", min=1)] = 40,
    samples: Annotated[int, option("N", "Samples of the joints.", min=1)] = 1_000_000,
    start: Annotated[
        str | None, option("VALUES", "Positions q, or home, from which to solve one branch. Default: samples.")
    ] = None,
    length: Annotated[float | None, option("M", "Length that counts as one rad in the conditioning.")] = None,
    plot: Plot = None,
    output: Annotated[Path | None, option("FILE", "NumPy file for the map, .npz.", "--output", "-o")] = None,
    json: Json = False,
) -> None:
    """Map where a frame can be, and how well it moves or what it can carry there.

    Quantities: reach; dexterity, the share of all orientations; conditioning, the inverse condition number of the
    Jacobian by the motors; payload and force, the largest that the motors hold within their effort limits.

    \b
    linkwork map panda --frame panda_link8 --plot reach.png
    linkwork map panda --frame panda_link8 --quantity payload --plane xz --plot payload.png
    linkwork map five-bar --frame tool --quantity conditioning --start home -o map.npz
    """
    require_suffix("--plot", plot, PICTURES)
    require_suffix("--output", output, [".npz"])
    robot = source.load()
    q: Any = robot.home if start == "home" else None if start is None else parse(robot.model, "q", start, "--start")
    with nullcontext() if q is None else progress("mapping"), printed_warnings(source.printed):
        result = robot.workspace(
            frame, quantity, plane=plane, at=at, cells=cells, samples=samples, start=q, length=length
        )
    if plot is not None:
        result.plot(plot)
    if output is not None:
        result.save(output)
    place = np.unravel_index(np.argmax(np.where(result.reached, result.values, -np.inf)), result.values.shape)
    if json:
        print_json(_facts(result, place))
    else:
        _say(result, place)
        names, best = entries(robot.model, "q"), result.q[place].tolist()
        if quantity != "reach":
            heads = ["", ("q", unit(robot.model, ("rad", "m")))]
            show(Table("Positions with the highest value", heads, [*map(list, zip(names, best, strict=True))]))


def _facts(result: Map, place: Any) -> dict[str, Any]:
    centres = zip(result.centres.items(), place, strict=True)
    return {
        "robot": result.robot, "frame": result.frame, "quantity": result.quantity, "unit": result.unit,
        "cells": result.values.shape, "samples": result.samples, "length": result.length, "volume": result.volume(),
        "error": result.error, "share": result.share, "best": result.values[place], "q": result.q[place],
        "place": {**{axis: centre[k] for (axis, centre), k in centres}, **result.at},
    }  # fmt: skip


def _say(result: Map, place: Any) -> None:
    name, size = SIZES[result.values.ndim]
    how = f"{result.samples:,} samples" if result.samples else "cells solved one from another"
    say(f"{result.robot}: {result.meaning} of {result.frame}, {how}", "bold")
    share = f"{100 * result.share:.3g} % of its bounding box"
    say(f"Workspace: {name} {result.volume():.4g} {size}, error at most {result.error:.2g} {size}; {share}")
    if result.quantity != "reach":
        where = ", ".join(f"{axis} {x:.3g} m" for axis, x in _facts(result, place)["place"].items())
        values = result.values[result.reached]
        low, middle = (f"{x:.4g} {result.unit}".strip() for x in (values.min(), np.median(values)))
        say(f"Values: from {low}, median {middle}, to {values.max():.4g} {result.unit}".rstrip() + f" at {where}")
    print()
