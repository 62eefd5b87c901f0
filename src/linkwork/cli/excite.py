"""``linkwork excite``: a motion that shows the parameters of a robot, what it reached, its file and its picture."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import LinkworkError
from ..identify.excitation.excitation import Excitation, Margin
from ..identify.excitation.excite import excite as excited
from ..table import Column, Table
from .common import Json, Source, number, numbers, print_json, say, show, takes_robot
from .options import Typed, takes_options

FORMATS = {"motions": (".csv", ".npz", ".parquet"), "pictures": (".png", ".svg", ".pdf")}


# -- what is written on the command line ---------------------------------------------------------------------------


def _limits(text: str, option: str) -> Any:
    if "=" not in text:
        return number(text, option)
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        if not equals:
            raise typer.BadParameter(f"{part.strip()!r} is not of the form JOINT=NUMBER", param_hint=option)
        ends = [number(end, option) for end in value.split(":")]
        found[name.strip()] = ends if len(ends) > 1 else ends[0]
    return found


def _still(texts: list[str], option: str) -> Any:
    """Names, or where they are if that is said of all."""
    parts = [text.rpartition("=") for text in texts]
    placed = [bool(equals) for _, equals, _ in parts]
    if any(placed) and not all(placed):
        raise typer.BadParameter("say a position of each joint or of none", param_hint=option)
    return {name: number(value, option) for name, _, value in parts} if any(placed) else texts


def _corners(text: str, option: str) -> list[list[float]]:
    found = numbers(text, option)
    return [found[:3], found[3:]]


OPTIONS = {
    "objective": Typed("NAME"),
    "period": Typed("SECONDS"),
    "periods": Typed(),
    "harmonics": Typed(),
    "ramp": Typed("SECONDS", float),
    "rate": Typed("HERTZ"),
    **dict.fromkeys(("position", "velocity", "acceleration", "torque"), Typed("LIMITS", parse=_limits)),
    "share": Typed(),
    "still": Typed("JOINT[=POSITION]", parse=_still, repeated=True),
    "frames": Typed("FRAME", str, repeated=True, flag="--frame"),
    "height": Typed("METRES", float),
    "box": Typed("X,Y,Z,X,Y,Z", parse=_corners),
    "starts": Typed(),
    "seed": Typed(),
}


# -- the command -----------------------------------------------------------------------------------------------------


@takes_robot
@takes_options("excite", OPTIONS)
def excite(
    source: Source,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help=f"Motion: {', '.join(FORMATS['motions'])}.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"Picture: {', '.join(FORMATS['pictures'])}.")
    ] = None,
    *,
    options: dict[str, Any],
    json: Json = False,
) -> None:
    """Find a motion from which the parameters of a robot can be told best, within its limits.

    Each joint follows a Fourier series that begins and ends at rest. The condition number is that of the regressor of
    the minimal parameters with rotors, friction and offsets, columns scaled; it is compared with random motions.

    \b
    linkwork excite puma560 -o excitation.csv --plot e.png
    linkwork excite panda --velocity panda_joint1=1,panda_joint2=1
    linkwork excite panda --torque 40 --frame panda_link8 --height 0.2
    linkwork excite delta --period 4 --periods 3 -o motion.npz
    """
    for path, what in ((output, "motions"), (plot, "pictures")):
        if path is not None and path.suffix not in FORMATS[what]:
            expected = ", ".join(FORMATS[what])
            raise LinkworkError(f"the suffix tells no format of {what}", where=str(path), expected=expected)
    robot = source.load()
    began = time.perf_counter()
    found = excited(robot, **options)
    took = time.perf_counter() - began
    if output is not None:
        found.save(output)
    if plot is not None:
        found.plot(plot)
    if json:
        print_json(summary(found))
        return
    show_excitation(found)
    for note in found.notes:
        say(f"Note: {note}.", "dim")
    say(f"{took:.1f} s, compilation included.", "dim")
    for path in (output, plot):
        if path is not None:
            say(f"wrote {path}")


def summary(found: Excitation) -> dict[str, Any]:
    fields = ("lower", "upper", "least", "most", "left")
    margins = [
        {"quantity": m.quantity, "name": m.name, "unit": m.unit, **{name: getattr(m, name) for name in fields}}
        for m in found.margins
    ]
    return {"robot": found.robot.name, "objective": found.objective, "duration": found.duration,
            "condition": found.condition, "log_determinant": found.log_determinant, "parameters": found.parameters,
            "random": found.random, "starts": found.starts, "margins": margins, "notes": found.notes,
            "coefficients": found.coefficients}  # fmt: skip


def show_excitation(found: Excitation) -> None:
    """What was reached, beside random motions; and how near each limit is."""
    count, motion = found.random["count"], found.motion
    words = {"condition": "condition number", "log_determinant": "log det of information"}
    reached = {"condition": found.condition, "log_determinant": found.log_determinant}
    title = (
        f"{found.robot.name}: {found.duration:g} s of motion, {motion.sines.shape[1]} harmonics of "
        f"{motion.frequency:g} Hz, {len(found.parameters)} parameters"
    )
    rows = [
        [words[key], float(reached[key]), *(float(found.random[key][k]) for k in ("best", "median"))] for key in words
    ]
    show(Table(title, ["", *_columns("reached", ("best of", f"{count} random"), ("median of", "these"))], rows))
    rows = []
    for name in found.names:
        cells: list[object] = [name]
        for quantity in ("position", "velocity", "acceleration", "torque"):
            cells += _cells(found.margin(quantity, name))
        rows.append(cells)
    columns = _columns(("position", "from"), "to", "left", "velocity", "left", "accel.", "left", "force", "left")
    show(Table("What joints do, and what is left to their limits", ["", *columns], rows))
    others = [m for m in found.margins if m.quantity in ("height", "clearance", "regularity")]
    rows = [[m.quantity, m.name, float(m.least), float(m.lower), m.unit or None] for m in others]
    show(Table("Room", ["", "of", *_columns("least", "limit"), "unit"], rows))


def _columns(*names: str | tuple[str, str]) -> list[Column]:
    return [Column(*((name, "") if isinstance(name, str) else name), digits=4) for name in names]


def _cells(margin: Margin | None) -> list[object]:
    """Where it goes and what is left; of a position both ends."""
    if margin is None:
        return [None, None]
    left = float(margin.left) if math.isfinite(margin.left) else None
    if margin.quantity == "position":
        return [float(margin.least), float(margin.most), left]
    return [float(max(-margin.least, margin.most)), left]
