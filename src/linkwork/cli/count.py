"""``linkwork count``: operations of compiled programs."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from .. import pipeline
from ..errors import LinkworkError, UnknownNameError
from ..formulations import METHODS, PARAMETERS, QUANTITIES, methods
from ..program import Operations, Program
from ..program import count as counted
from ..program.passes import CUSTOMISING, customising
from ..robot import Robot
from .common import (
    METHOD_NAMES,
    Json,
    Source,
    method_option,
    print_json,
    progress,
    quantity_option,
    say,
    show,
    takes_robot,
)

DYNAMICS = ("inverse_dynamics", "forward_dynamics", "inertia_matrix")
RARE = ("div", "sqrt", "sincos", "sign", "neg")  # not shown where there are none
CONVENTION = inspect.cleandoc(Operations.__doc__ or "").replace("\n", " ").replace("``", "")


@takes_robot
def count(
    source: Source,
    quantity: Annotated[str | None, quantity_option("Only this one, e.g. inverse_dynamics; default: all.")] = None,
    method: Annotated[str | None, method_option("Only this method, e.g. rnea or aba.")] = None,
    frame: Annotated[
        str | None, typer.Option(metavar="FRAME", help="For pose and Jacobians; default: the robot's last frame.")
    ] = None,
    parameters: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="minimal: inertias grouped into the fewest that act. standard: as they are. input: as inputs of the"
            " function, with the off-line work told apart.",
        ),
    ] = "minimal",
    passes: Annotated[
        bool, typer.Option("--passes", help="What each pass saves, alone and in turn; default: of the dynamics.")
    ] = False,
    json: Json = False,
) -> None:
    """Count the operations that each quantity takes for this very robot, by each method.

    \b
    linkwork count panda
    linkwork count rx90 --passes
    linkwork count puma560 --quantity forward_dynamics --method aba --parameters input
    """
    for value, allowed, what in (
        (quantity, QUANTITIES, "quantity"),
        (parameters, PARAMETERS, "treatment of parameters"),
    ):
        if value and value not in allowed:
            raise UnknownNameError(what, value, allowed)
    robot = source.load()
    frame = robot.model.frame(frame or list(robot.frame_names)[-1]).name
    if passes:
        dynamics = [(each, "auto") for each in ([quantity] if quantity else DYNAMICS)]
        _show_passes(robot, _asked(robot, quantity, method) if method else dynamics, frame, parameters, json)
        return
    rows, refused = [], []
    with progress("tracing"):
        for name, chosen in _asked(robot, quantity, method):
            try:
                rows.append(_row(robot, name, chosen, frame, parameters))
            except LinkworkError as error:
                if quantity:
                    raise
                refused.append(f"{name}: {error}")
    if json:
        print_json({"robot": robot.name, "frame": frame, "convention": CONVENTION, "counts": rows, "refused": refused})
        return
    short = {"sincos": "sin\ncos", "instructions": "instr."}
    headers = ["quantity", "method", *(short.get(name, name) for name in asdict(Operations()))]
    for stage, when in (("on_line", "on line, per state"), ("off_line", "off line, per set of parameters")):
        counts = [[n or (None if name in RARE else 0) for name, n in row.get(stage, {}).items()] for row in rows]
        if shown := [[row["quantity"], row["method"], *some] for row, some in zip(rows, counts, strict=True) if some]:
            show(f"{robot.name}: operations {when}", headers, shown)
    say(CONVENTION, "dim")
    if any(QUANTITIES[row["quantity"]].of_frame for row in rows):
        say(f"Pose and Jacobians are those of frame {frame!r}.", "dim")
    for reason in refused:
        say(reason, "dim")


def _asked(robot: Robot, quantity: str | None, method: str | None) -> list[tuple[str, str]]:
    """The pairs of quantity and method to count. What the user names is kept, even if it is refused later."""
    if quantity:
        return [(quantity, name) for name in ([method] if method else _names(robot, quantity))]
    if method and method not in METHOD_NAMES:
        raise UnknownNameError("method", method, METHOD_NAMES)
    if method:
        return [(m.quantity, method) for m in METHODS if m.name == method]
    return [(each, name) for each in QUANTITIES for name in _names(robot, each)]


def _names(robot: Robot, quantity: str) -> list[str]:
    return [m.name for m in methods(quantity) if not m.refusal(robot.model)] or ["auto"]


def _row(robot: Robot, quantity: str, method: str, frame: str, parameters: str) -> dict[str, Any]:
    of_frame = {"frame": frame} if QUANTITIES[quantity].of_frame else {}
    function = robot.compile(quantity, method=method, parameters=parameters, **of_frame)
    row: dict[str, Any] = {"quantity": quantity, "method": function.label.method}
    row["on_line"] = asdict(function.operations)
    if parameters == "input":
        row["off_line"] = asdict(function.off_line_operations)
    return row


def _show_passes(robot: Robot, pairs: Sequence[tuple[str, str]], frame: str, parameters: str, json: bool) -> None:
    tables = []
    with progress("tracing"):
        for quantity, method in pairs:
            of_frame = {"frame": frame} if QUANTITIES[quantity].of_frame else {}
            name, program = pipeline.traced(robot, quantity, method=method, parameters=parameters, **of_frame)
            tables.append({"quantity": quantity, "method": name, "passes": pass_by_pass(program)})
    if json:
        print_json({"robot": robot.name, "convention": CONVENTION, "passes": tables})
        return
    headers = ["pass", "alone:\nmul", "add", "sin\ncos", "in turn:\nmul", "add", "sin\ncos", "saved\nin all"]
    for table in tables:
        rows = []
        for row in table["passes"]:
            alone, after = [_change(row["alone"][key]) for key in SHOWN], [row["after"][key] for key in SHOWN]
            rows.append([row["pass"], *alone, *after, row["saved"]])
        show(f"{robot.name}: {table['quantity']} by {table['method']}", headers, rows)
    say("mul and add saved in all, of those that the formulation takes as it is traced.", "dim")


SHOWN = ("mul", "add", "sincos")


def pass_by_pass(program: Program) -> list[dict[str, Any]]:
    """Operations of the program as traced, after each pass in turn; what each changes alone."""
    start = counted(program)
    rows: list[dict[str, Any]] = []

    def add(name: str, alone: Operations, after: Operations) -> None:
        change = {key: getattr(alone, key) - getattr(start, key) for key in SHOWN}
        saved = start.mul + start.add - after.mul - after.add
        rows.append({"pass": name, "alone": change, "after": asdict(after), "saved": saved})

    add("as traced", start, start)
    for lower, (name, after) in zip(CUSTOMISING, customising(program), strict=True):
        add(name.replace("_", " "), counted(lower(program)), counted(after))
    return rows


def _change(number: int) -> str:
    return f"{number:+d}" if number else "-"
