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

FORMATS = {"motions": (".csv", ".npz", ".parquet"), "pictures": (".png", ".svg", ".pdf")}
LIMIT = "One number, or JOINT=NUMBER,...; the tighter of this and the file's counts."


@takes_robot
def excite(
    source: Source,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help=f"Motion: {', '.join(FORMATS['motions'])}.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"Picture: {', '.join(FORMATS['pictures'])}.")
    ] = None,
    objective: Annotated[str, typer.Option(metavar="NAME", help="condition or logdet.")] = "condition",
    period: Annotated[float, typer.Option(metavar="SECONDS", help="Of the lowest harmonic.")] = 10.0,
    periods: Annotated[int, typer.Option(min=1, help="How often it is gone through.")] = 1,
    harmonics: Annotated[int, typer.Option(min=1, help="Of the series of each joint.")] = 5,
    ramp: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="From rest to the series and back; else period / 5.")
    ] = None,
    rate: Annotated[float, typer.Option(metavar="HERTZ", help="Samples per second in the file.")] = 100.0,
    position: Annotated[
        str | None, typer.Option(metavar="LIMITS", help="To each side of home or zero; or JOINT=LOWER:UPPER,...")
    ] = None,
    velocity: Annotated[str | None, typer.Option(metavar="LIMITS", help=LIMIT)] = None,
    acceleration: Annotated[str | None, typer.Option(metavar="LIMITS", help="One number, or JOINT=NUMBER,...")] = None,
    torque: Annotated[str | None, typer.Option(metavar="LIMITS", help=LIMIT)] = None,
    share: Annotated[float, typer.Option(help="Of all limits that may be used.")] = 0.9,
    still: Annotated[
        list[str] | None, typer.Option(metavar="JOINT[=POSITION]", help="Does not move; may be repeated.")
    ] = None,
    frame: Annotated[
        list[str] | None, typer.Option(metavar="FRAME", help="Keeps clear of --height and --box; may be repeated.")
    ] = None,
    height: Annotated[float | None, typer.Option(metavar="METRES", help="Frames stay above, along z.")] = None,
    box: Annotated[
        str | None, typer.Option(metavar="X,Y,Z,X,Y,Z", help="Lower and upper corner of what frames stay out of.")
    ] = None,
    starts: Annotated[int, typer.Option(min=1, help="The best of so many descents.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Of the random motions they start from.")] = 0,
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
    found = excited(
        robot,
        objective=objective,
        period=period,
        periods=periods,
        harmonics=harmonics,
        ramp=ramp,
        rate=rate,
        position=_limits(position, "--position"),
        velocity=_limits(velocity, "--velocity"),
        acceleration=_limits(acceleration, "--acceleration"),
        torque=_limits(torque, "--torque"),
        share=share,
        still=_still(still or ()),
        frames=frame or (),
        height=height,
        box=None if box is None else _corners(box),
        starts=starts,
        seed=seed,
    )
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


# -- what is written on the command line ---------------------------------------------------------------------------


def _limits(text: str | None, option: str) -> Any:
    if text is None:
        return None
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


def _still(texts: Any) -> Any:
    """Names, or where they are if that is said of all."""
    parts = [text.rpartition("=") for text in texts]
    placed = [bool(equals) for _, equals, _ in parts]
    if any(placed) and not all(placed):
        raise typer.BadParameter("say a position of each joint or of none", param_hint="--still")
    return {name: number(value, "--still") for name, _, value in parts} if any(placed) else list(texts)


def _corners(text: str) -> list[list[float]]:
    found = numbers(text, "--box")
    return [found[:3], found[3:]]
