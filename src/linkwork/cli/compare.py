"""``linkwork compare``: all methods of a quantity side by side; ``linkwork cite``: their references."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Annotated, Any

import typer

from ..errors import UnknownNameError
from ..formulations import METHODS, Method, executed, methods, references
from ..published import printed
from ..robot import Robot
from .bench import describe_host
from .common import METHOD_NAMES, Json, Source, among, print_json, progress, say, show, takes_robot
from .measure import deviation, seconds
from .states import random_states

WITH_METHODS = tuple(dict.fromkeys(method.quantity for method in METHODS))
BATCH = 4096


@takes_robot
def compare(
    source: Source,
    quantity: Annotated[
        str | None,
        typer.Option(
            metavar="QUANTITY",
            help=f"One of {', '.join(WITH_METHODS)}; default: all.",
            autocompletion=among(WITH_METHODS),
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Put all methods that work for this robot side by side: operations, speed, agreement.

    Printed: what a paper's table has for this many rotary joints. Written: what the method as it is written executes
    for this robot, constants off line and structural zeros free. Compiled: what is left in the final program. Apart:
    the largest deviation from any other method, relative, over random states. `linkwork cite` has the references.

    \b
    linkwork compare puma560
    linkwork compare stanford --quantity inertia_matrix
    """
    if quantity is not None and quantity not in WITH_METHODS:
        raise UnknownNameError("quantity with methods", quantity, WITH_METHODS)
    robot = source.load()
    report = {name: compare_methods(robot, name) for name in ([quantity] if quantity else WITH_METHODS)}
    if json:
        print_json({"robot": robot.name, "batch": BATCH, "quantities": report})
        return
    counts = ["printed\nmul", "\nadd", "written\nmul", "\nadd", "compiled\nmul", "\nadd", "\ndiv"]
    headers = ["method", "reference", *counts, "state\nns", "apart"]
    for name, rows in report.items():
        shown = [
            [
                row["method"], row["reference"], *(row["printed"] or (None, None)),
                row["executed"]["mul"], row["executed"]["add"],
                row["operations"]["mul"], row["operations"]["add"], row["operations"]["div"] or None,
                round(row["batch_ns_per_state"], 1), f"{row['deviation']:.1e}",
            ]
            for row in rows
            if not row["refusal"]
        ]  # fmt: skip
        show(f"{robot.name}: {name}", headers, shown, spare="reference")
        for row in rows:
            if row["refusal"]:
                say(f"{row['method']}: {row['refusal']}", "dim")
    say(describe_host(), "dim")


def compare_methods(robot: Robot, quantity: str) -> list[dict[str, Any]]:
    """One row for each method of a quantity, the fewest operations first; refused methods come last."""
    rows, results = [], {}
    states = random_states(robot.model, BATCH)
    for method in methods(quantity):
        row: dict[str, Any] = {"method": method.name, "reference": method.reference}
        row["refusal"] = method.refusal(robot.model)
        row["printed"] = _printed(method, robot.model.nv)
        rows.append(row)
        if row["refusal"]:
            continue
        with progress(f"{quantity} by {method.name}"):
            function = robot.compile(quantity, method=method.name)
            arguments = [states[port.name] for port in function.program.inputs]
            results[method.name] = function(*arguments)
            tally = executed(method, robot.model)
            row["executed"] = {"mul": tally["mul"], "add": tally["add"]}
            row["operations"] = asdict(function.operations)
            row["batch_ns_per_state"] = seconds(lambda: function(*arguments), repeats=5) / BATCH * 1e9  # noqa: B023
    for row in rows:
        others = [result for name, result in results.items() if name != row["method"]]
        if not row["refusal"]:
            row["deviation"] = max((deviation(results[row["method"]], other) for other in others), default=0.0)
    return sorted(rows, key=_operations)


def _operations(row: dict[str, Any]) -> float:
    """Multiplications and additions."""
    return math.inf if row["refusal"] else row["operations"]["mul"] + row["operations"]["add"]


def _printed(method: Method, n: int) -> tuple[int, int] | None:
    """Printed multiplications and additions for n joints: the table's own number, or its polynomial's."""
    rows = printed(method)
    if not rows:
        return None
    return rows[0].values.get(n) or (round(rows[0].mul(n)), round(rows[0].add(n)))


def cite(
    method: Annotated[
        str, typer.Argument(metavar="METHOD", help="Such as lin-1991.", autocompletion=among(METHOD_NAMES))
    ],
    json: Json = False,
) -> None:
    """Print the reference of a method as BibTeX.

    \b
    linkwork cite crba
    """
    found: list[Method] = [m for m in METHODS if m.name == method]
    if not found:
        raise UnknownNameError("method", method, METHOD_NAMES)
    entries = {m.reference: references()[m.reference] for m in found}
    if json:
        print_json(entries)
    else:
        print("\n\n".join(entries.values()))
