"""``linkwork count``: operations of compiled programs."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from typing import Annotated, Any

import typer

from ..formulations import QUANTITIES, methods
from ..pipeline import Robot
from ..program import Operations
from .common import Json, Source, print_json, progress, say, show, takes_robot

CONVENTION = inspect.cleandoc(Operations.__doc__ or "").replace("\n", " ").replace("``", "")


@takes_robot
def count(
    source: Source,
    quantity: Annotated[
        str | None, typer.Option(metavar="QUANTITY", help="Only this one, e.g. inverse_dynamics; default: all.")
    ] = None,
    method: Annotated[str | None, typer.Option(metavar="METHOD", help="Only this method, e.g. rnea or aba.")] = None,
    frame: Annotated[
        str | None, typer.Option(metavar="FRAME", help="For pose and Jacobians; default: the robot's last frame.")
    ] = None,
    parameters: Annotated[
        str,
        typer.Option(
            metavar="HOW", help="constant: inertias are baked in. input: they are inputs, off-line work is told apart."
        ),
    ] = "constant",
    json: Json = False,
) -> None:
    """Count the operations that each quantity takes for this very robot, by each method.

    \b
    linkwork count panda
    linkwork count puma560 --quantity forward_dynamics --method aba --parameters input
    """
    robot = source.load()
    frame = frame or list(robot.frame_names)[-1]
    with progress("tracing"):
        rows = [
            row
            for name in ([quantity] if quantity else QUANTITIES)
            for chosen in _methods(robot, name, method, named=quantity is not None)
            for row in _rows(robot, name, chosen, frame, parameters)
        ]
    if json:
        print_json({"robot": robot.name, "frame": frame, "convention": CONVENTION, "counts": rows})
        return
    headers = ["quantity", "method", *Operations.__dataclass_fields__]
    for stage in ("on line", "off line"):
        shown = [[row["quantity"], row["method"], *row[stage].values()] for row in rows if stage in row]
        if shown:
            title = f"{robot.name}: operations {stage}, " + ("per state" if stage == "on line" else "per set of parameters")
            show(title, [name.replace("instructions", "instr.") for name in headers], shown)
    say(CONVENTION, "dim")
    if any(QUANTITIES[row["quantity"]].of_frame for row in rows):
        say(f"Pose and Jacobians are those of frame {frame!r}.", "dim")


def _methods(robot: Robot, quantity: str, method: str | None, *, named: bool) -> list[str]:
    """The methods to count. One that the user named must exist, or refuse the robot in its own words."""
    known = methods(quantity)
    if method and (named or any(m.name == method for m in known)):
        return [method]
    if method:
        return []
    return [m.name for m in known if not m.refusal(robot.model)] or ["auto"]


def _rows(robot: Robot, quantity: str, method: str, frame: str, parameters: str) -> list[dict[str, Any]]:
    of_frame = {"frame": frame} if QUANTITIES[quantity].of_frame else {}
    function = robot.compile(quantity, method=method, parameters=parameters, **of_frame)
    row: dict[str, Any] = {"quantity": quantity, "method": function.label.method, "on line": asdict(function.operations)}
    if parameters == "input":
        row["off line"] = asdict(function.off_line_operations)
    return [row]
