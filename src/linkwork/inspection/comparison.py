"""All methods of a quantity side by side: operations, speed, agreement."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

from ..errors import UnknownNameError
from ..formulations import METHODS, Method, executed_operations, methods, references
from ..published import printed
from ..robot import Robot
from .measure import Progress, deviation, seconds
from .states import random_states

WITH_METHODS = tuple(dict.fromkeys(method.quantity for method in METHODS))
BATCH = 4096


def compare(robot: Robot, quantity: str | None = None, *, progress: Progress = nullcontext) -> dict[str, Any]:
    """All methods that work for this robot side by side, of a quantity or of all that have methods: operations that
    the paper prints, those that the method executes as written, those of the final program, nanoseconds of one state in
    a batch, and the largest deviation from any other method, relative, over random states."""
    if quantity is not None and quantity not in WITH_METHODS:
        raise UnknownNameError("quantity with methods", quantity, WITH_METHODS)
    asked = [quantity] if quantity else WITH_METHODS
    return {
        "robot": robot.name,
        "batch": BATCH,
        "quantities": {each: _methods(robot, each, progress) for each in asked},
    }


def cite(method: str) -> dict[str, str]:
    """The reference of a method, or those of several of that name: key -> BibTeX."""
    found = [m.reference for m in METHODS if m.name == method]
    if not found:
        raise UnknownNameError("method", method, dict.fromkeys(m.name for m in METHODS))
    return {key: references()[key] for key in found}


def _methods(robot: Robot, quantity: str, progress: Progress) -> list[dict[str, Any]]:
    """One row for each method of a quantity, the fewest operations first; refused methods come last."""
    rows, results = [], {}
    states = random_states(robot, BATCH)
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
            tally = executed_operations(method, robot.model)
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
