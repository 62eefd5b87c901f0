"""Comparison of all methods of a quantity: operations, speed, agreement."""

from __future__ import annotations

import math
from contextlib import nullcontext
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
    """Compare all methods that work for this robot: operations, speed, agreement.

    Args:
        robot: The robot.
        quantity: Name of the quantity. Default: all quantities with several methods.
        progress: Context manager called with a text for each method. Default: none.

    Returns:
        The robot, the batch size, and for each quantity a list of methods: operations printed in the paper, executed as
        written, and in the final program, ns per state in a batch, and the largest relative deviation from any other
        method over random states.

    Raises:
        UnknownNameError: There is no such quantity, or it has one method only.

    Example:
        >>> table = linkwork.inspection.compare(robot, "inertia_matrix")  # doctest: +SKIP
    """
    if quantity is not None and quantity not in WITH_METHODS:
        raise UnknownNameError("quantity with methods", quantity, WITH_METHODS)
    rows = {each: _methods(robot, each, progress) for each in ([quantity] if quantity else WITH_METHODS)}
    return {"robot": robot.name, "batch": BATCH, "quantities": rows}


def cite(method: str) -> dict[str, str]:
    """Return the reference of a method as BibTeX.

    Args:
        method: Name of the method, such as "crba".

    Returns:
        {key: BibTeX}; several if quantities have different methods of that name.

    Raises:
        UnknownNameError: There is no such method.

    Example:
        >>> list(linkwork.inspection.cite("crba"))
        ['walker1982']
    """
    keys = [m.reference for m in METHODS if m.name == method]
    if not keys:
        raise UnknownNameError("method", method, dict.fromkeys(m.name for m in METHODS))
    return {key: references()[key] for key in keys}


def _methods(robot: Robot, quantity: str, progress: Progress) -> list[dict[str, Any]]:
    """Return a row for each method of a quantity, the fewest operations first and refused methods last."""
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
            row["operations"] = function.operations.to_dict()
            row["batch_ns_per_state"] = seconds(lambda: function(*arguments), repeats=5) / BATCH * 1e9  # noqa: B023
    for row in rows:
        others = [result for name, result in results.items() if name != row["method"]]
        if not row["refusal"]:
            row["deviation"] = max((deviation(results[row["method"]], other) for other in others), default=0.0)
    return sorted(rows, key=_operations)


def _operations(row: dict[str, Any]) -> float:
    """Return the number of multiplications and additions, for sorting."""
    return math.inf if row["refusal"] else row["operations"]["mul"] + row["operations"]["add"]


def _printed(method: Method, n: int) -> tuple[int, int] | None:
    """Return the printed multiplications and additions for n joints: the number in the table, or its polynomial."""
    rows = printed(method)
    if not rows:
        return None
    return rows[0].values.get(n) or (round(rows[0].mul(n)), round(rows[0].add(n)))
