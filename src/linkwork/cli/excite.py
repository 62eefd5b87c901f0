"""``linkwork excite``: an exciting trajectory for identification, its file and its picture."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..identify.excitation.excitation import Excitation, Margin
from ..identify.excitation.excite import excite as excited
from ..table import Column, Table
from .common import PICTURES, Json, Plot, Source, number, numbers, option, require_suffix, takes_robot
from .options import Typed, takes_options
from .printing import print_json, say, show

MOTIONS = (".csv", ".npz", ".parquet")


# -- parsing --------------------------------------------------------------------------------------------------------


def _limits(text: str, option: str) -> Any:
    if "=" not in text:
        return number(text, option)
    limits: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        if not equals:
            raise typer.BadParameter(f"{part.strip()!r} is not of the form JOINT=NUMBER", param_hint=option)
        ends = [number(end, option) for end in value.split(":")]
        limits[name.strip()] = ends if len(ends) > 1 else ends[0]
    return limits


def _still(texts: list[str], option: str) -> Any:
    """Parse names of joints, or positions by joint."""
    parts = [text.rpartition("=") for text in texts]
    with_position = [bool(equals) for _, equals, _ in parts]
    if any(with_position) and not all(with_position):
        raise typer.BadParameter("give =POSITION for all joints or for none", param_hint=option)
    return {name: number(value, option) for name, _, value in parts} if any(with_position) else texts


def _corners(text: str, option: str) -> list[list[float]]:
    coordinates = numbers(text, option)
    return [coordinates[:3], coordinates[3:]]


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
    "frames": Typed("FRAME", str, repeated=True),
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
        Path | None, option("FILE", f"File for the motion: {', '.join(MOTIONS)}.", "--output", "-o")
    ] = None,
    plot: Plot = None,
    *,
    options: dict[str, Any],
    json: Json = False,
) -> None:
    """Find an exciting trajectory: a motion within the robot's limits from which its parameters are identified best.

    Each joint follows a Fourier series that begins and ends at rest. The condition number is that of the regressor with
    scaled columns, for base parameters, rotor inertias, friction and offsets. The result is compared with
    random motions.

    \b
    linkwork excite puma560 -o excitation.csv --plot e.png
    linkwork excite panda --velocity panda_joint1=1,panda_joint2=1
    linkwork excite panda --torque 40 --frames panda_link8 --height 0.2
    linkwork excite delta --period 4 --periods 3 -o motion.npz
    """
    require_suffix("--output", output, MOTIONS)
    require_suffix("--plot", plot, PICTURES)
    robot = source.load()
    start = time.perf_counter()
    result = excited(robot, **options)
    seconds = time.perf_counter() - start
    if output is not None:
        result.save(output)
    if plot is not None:
        result.plot(plot)
    if json:
        print_json(summary(result))
        return
    show_excitation(result)
    for note in result.notes:
        say(f"Note: {note}.", "dim")
    say(f"{seconds:.1f} s, compilation included.", "dim")
    for path in (output, plot):
        if path is not None:
            say(f"wrote {path}")


def summary(result: Excitation) -> dict[str, Any]:
    """Return the data that ``--json`` prints."""
    fields = ("lower", "upper", "least", "most", "left")
    margins = [
        {"quantity": m.quantity, "name": m.name, "unit": m.unit, **{name: getattr(m, name) for name in fields}}
        for m in result.margins
    ]
    names = ("objective", "duration", "condition", "log_determinant", "parameters", "random", "starts")
    values = {name: getattr(result, name) for name in names}
    return {"robot": result.robot.name, **values, "margins": margins, "notes": result.notes,
            "coefficients": result.coefficients}  # fmt: skip


def show_excitation(result: Excitation) -> None:
    """Show the objective compared with random motions, and the margin to each limit."""
    count, motion = result.random["count"], result.motion
    words = {"condition": "condition number", "log_determinant": "log det of information"}
    title = (
        f"{result.robot.name}: {result.duration:g} s of motion, {motion.sines.shape[1]} harmonics of "
        f"{motion.frequency:g} Hz, {len(result.parameters)} parameters"
    )
    rows = [
        [text, float(getattr(result, key)), *(float(result.random[key][k]) for k in ("best", "median"))]
        for key, text in words.items()
    ]
    show(Table(title, ["", *_columns("reached", ("best of", f"{count} random"), ("median of", "these"))], rows))
    rows = []
    for name in result.names:
        cells: list[object] = [name]
        for quantity in ("position", "velocity", "acceleration", "torque"):
            cells += _cells(result.margin(quantity, name))
        rows.append(cells)
    columns = _columns(("position", "from"), "to", "left", "velocity", "left", "accel.", "left", "force", "left")
    show(Table("Ranges of the joints, and margins to their limits", ["", *columns], rows))
    others = [m for m in result.margins if m.quantity in ("height", "clearance", "regularity")]
    rows = [[m.quantity, m.name, float(m.least), float(m.lower), m.unit or None] for m in others]
    show(Table("Clearances", ["", "of", *_columns("least", "limit"), "unit"], rows))


def _columns(*names: str | tuple[str, str]) -> list[Column]:
    return [Column(*((name, "") if isinstance(name, str) else name), digits=4) for name in names]


def _cells(margin: Margin | None) -> list[object]:
    """Return the largest value and the margin; for a position, both ends of its range."""
    if margin is None:
        return [None, None]
    left = float(margin.left) if math.isfinite(margin.left) else None
    if margin.quantity == "position":
        return [float(margin.least), float(margin.most), left]
    return [float(max(-margin.least, margin.most)), left]
