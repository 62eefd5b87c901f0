"""``linkwork count``: operations of compiled programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Annotated, Any

import typer

from .. import inspection
from ..errors import LinkworkError
from ..formulations import QUANTITIES
from ..program import Operations
from .common import Json, Source, method_option, print_json, progress, quantity_option, say, show, takes_robot

RARE = (  # not shown where there are none
    "div", "sqrt", "sincos", "exp", "log", "tanh", "atan2", "sign", "abs", "min", "max", "neg",
)  # fmt: skip
SHOWN = ("mul", "add", "sincos")


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
    derivatives: Annotated[
        bool, typer.Option("--derivatives", help="Of derivatives, beside published forms; default: of the dynamics.")
    ] = False,
    json: Json = False,
) -> None:
    """Count the operations that each quantity takes for this very robot, by each method.

    \b
    linkwork count panda
    linkwork count rx90 --passes
    linkwork count panda --quantity forward_dynamics --derivatives
    linkwork count puma560 --quantity forward_dynamics --method aba --parameters input
    """
    if passes and derivatives:
        raise LinkworkError("one table at a time", got="--passes and --derivatives", fix="leave one of them out")
    robot, how = source.load(), {"frame": frame, "parameters": parameters}
    counted = inspection.passes if passes else inspection.derivatives if derivatives else inspection.count
    with progress("tracing"):
        found = counted(robot, quantity, method, **how)
    if json:
        print_json(found)
    elif passes:
        _show_passes(robot.name, found["passes"])
    elif derivatives:
        _show_derivatives(robot.name, found)
    else:
        _show_counts(robot.name, found)


def _show_counts(robot: str, found: Mapping[str, Any]) -> None:
    rows = found["counts"]
    short = {"sincos": "sin\ncos", "instructions": "instr."}
    for stage, when in (("on_line", "on line, per state"), ("off_line", "off line, per set of parameters")):
        of_stage = [row for row in rows if stage in row]
        names = [key for key in asdict(Operations()) if key not in RARE or any(row[stage][key] for row in of_stage)]
        if of_stage:
            headers = ["quantity\n  method", *(short.get(name, name) for name in names)]
            shown = []
            for quantity, some in groupby(of_stage, key=lambda row: row["quantity"]):
                own = list(some)
                if own[0]["method"]:
                    shown.append([quantity, *[None] * len(names)])
                for row in own:
                    counts = [row[stage][name] or (None if name in RARE else 0) for name in names]
                    shown.append([f"  {row['method']}" if row["method"] else quantity, *counts])
            show(f"{robot}: operations {when}", headers, shown)
    say(found["convention"], "dim")
    if any(QUANTITIES[row["quantity"]].of_frame for row in rows):
        say(f"Pose and Jacobians are those of frame {found['frame']!r}.", "dim")
    for reason in found["refused"]:
        say(reason, "dim")


def _show_passes(robot: str, tables: Sequence[Mapping[str, Any]]) -> None:
    headers = ["pass", "alone:\nmul", "add", "sin\ncos", "in turn:\nmul", "add", "sin\ncos", "saved\nin all"]
    for table in tables:
        rows = []
        for row in table["passes"]:
            alone, after = [_change(row["alone"][key]) for key in SHOWN], [row["after"][key] for key in SHOWN]
            rows.append([row["pass"], *alone, *after, row["saved"]])
        show(f"{robot}: {table['quantity']} by {table['method']}", headers, rows)
    say("mul and add saved in all, of those that the formulation takes as it is traced.", "dim")


def _show_derivatives(robot: str, found: Mapping[str, Any]) -> None:
    names = ("mul", "add", "div", "sincos", "instructions")
    for table in found["tables"]:
        own = table["derivatives"][0]["on_line"]["instructions"]
        rows = []
        for row in table["derivatives"]:
            counts = [row["on_line"][name] for name in names]
            times = f"{counts[-1] / own:.2f}" if own else None
            rows.append([row["how"], ", ".join(row["gives"]), *counts, times])
        of = f" of {found['frame']}" if QUANTITIES[table["quantity"]].of_frame else ""
        by = f" by {table['method']}" if table["method"] else ""
        headers = ["", "gives", "mul", "add", "div", "sin\ncos", "instr.", "times"]
        show(f"{robot}: {table['quantity']}{of}{by} and its derivatives, per state", headers, rows)
        if (form := f"{table['quantity']}_derivatives") in QUANTITIES:
            say(f"Rows named after a method: {form}, a quantity of its own.", "dim")
    say("Times: instructions over those of the quantity itself.", "dim")
    say(found["convention"], "dim")


def _change(number: int) -> str:
    return f"{number:+d}" if number else "-"
