"""Operations of compiled programs, method by method and pass by pass, and of their derivatives."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any

from .. import pipeline
from ..errors import LinkworkError, UnknownNameError
from ..formulations import METHODS, PARAMETERS, QUANTITIES, methods
from ..program import Operations, Program
from ..program import count as counted
from ..program.passes import CUSTOMISING, customising
from ..robot import Robot
from ..table import Table

METHOD_NAMES = tuple(dict.fromkeys(method.name for method in METHODS))
RARE = (  # not shown where there are none
    "div", "sqrt", "sincos", "exp", "log", "tanh", "atan2", "sign", "abs", "min", "max", "neg",
)  # fmt: skip
SHOWN = ("mul", "add", "sincos")
HEADS = {"sincos": ("sin", "cos"), "instructions": ("instr.", "")}
DYNAMICS = ("inverse_dynamics", "forward_dynamics", "inertia_matrix")
CONVENTION = inspect.cleandoc(Operations.__doc__ or "").replace("\n", " ").replace("``", "")


def count(
    robot: Robot,
    quantity: str | None = None,
    method: str | None = None,
    *,
    frame: str | None = None,
    parameters: str = "minimal",
) -> dict[str, Any]:
    """Operations of each quantity by each method that works for this robot, or of those that are named.

    ``frame``: of poses and Jacobians; the last one, if not said. ``parameters``: as of ``compile``; with "input" the
    work off line is told apart.
    """
    frame = _checked(robot, quantity, frame, parameters)
    rows, refused = [], []
    for name, chosen in _asked(robot, quantity, method):
        try:
            rows.append(_row(robot, name, chosen, frame, parameters))
        except LinkworkError as error:
            if quantity:
                raise
            refused.append(f"{name}: {error}")
    return {"robot": robot.name, "frame": frame, "convention": CONVENTION, "counts": rows, "refused": refused}


def passes(
    robot: Robot,
    quantity: str | None = None,
    method: str | None = None,
    *,
    frame: str | None = None,
    parameters: str = "minimal",
) -> dict[str, Any]:
    """What each pass of the compiler saves, alone and in turn: of the dynamics by the methods with the fewest
    operations, or of what is named."""
    frame = _checked(robot, quantity, frame, parameters)
    dynamics = [(each, "auto") for each in ([quantity] if quantity else DYNAMICS)]
    tables = []
    for name, chosen in _asked(robot, quantity, method) if method else dynamics:
        taken, program = pipeline.traced(robot, name, method=chosen, parameters=parameters, **_of_frame(name, frame))
        tables.append({"quantity": name, "method": taken, "passes": pass_by_pass(program)})
    return {"robot": robot.name, "convention": CONVENTION, "passes": tables}


def derivatives(
    robot: Robot,
    quantity: str | None = None,
    method: str | None = None,
    *,
    frame: str | None = None,
    parameters: str = "minimal",
) -> dict[str, Any]:
    """Operations of derivatives as the compiler makes them: by each input, by all of the state, vjp, jvp and hvp; and
    those of QUANTITY_derivatives by each method, where there is such a quantity. Of the dynamics by the methods with
    the fewest operations, or of what is named."""
    frame = _checked(robot, quantity, frame, parameters)
    dynamics = [(each, "auto") for each in ([quantity] if quantity else DYNAMICS)]
    tables = []
    for name, chosen in _asked(robot, quantity, method) if method else dynamics:
        function = robot.compile(name, method=chosen, parameters=parameters, **_of_frame(name, frame))
        inputs = [port.name for port in function.program.inputs]
        made = [("itself", function)]
        made += [("derivative", function.derivative(each)) for each in inputs if len(inputs) > 1]
        made += [(how, getattr(function, how)()) for how in ("derivative", "vjp", "jvp", "hvp")]
        if (form := f"{name}_derivatives") in QUANTITIES:
            made += [(each, robot.compile(form, method=each, parameters=parameters)) for each in _names(robot, form)]
        rows = [
            {"how": how, "gives": [port.name for port in each.program.outputs], "on_line": asdict(each.operations)}
            for how, each in made
        ]
        tables.append({"quantity": name, "method": function.label.method, "derivatives": rows})
    return {"robot": robot.name, "frame": frame, "convention": CONVENTION, "tables": tables}


def _checked(robot: Robot, quantity: str | None, frame: str | None, parameters: str) -> str:
    """The frame to take; what is not known is refused."""
    for value, allowed, what in (
        (quantity, QUANTITIES, "quantity"),
        (parameters, PARAMETERS, "treatment of parameters"),
    ):
        if value and value not in allowed:
            raise UnknownNameError(what, value, allowed)
    return robot.model.frame(frame or robot.frame_names[-1]).name


def _of_frame(quantity: str, frame: str) -> dict[str, str]:
    return {"frame": frame} if QUANTITIES[quantity].of_frame else {}


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
    function = robot.compile(quantity, method=method, parameters=parameters, **_of_frame(quantity, frame))
    row: dict[str, Any] = {"quantity": quantity, "method": function.label.method}
    row["on_line"] = asdict(function.operations)
    if parameters == "input":
        row["off_line"] = asdict(function.off_line_operations)
    return row


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


# -- tables of these facts ---------------------------------------------------------------------------------------------


def count_tables(facts: Mapping[str, Any]) -> Iterator[Table]:
    """Tables of what ``count`` returns: on line, and off line where parameters are inputs."""
    rows = facts["counts"]
    notes = [facts["convention"]]
    if any(QUANTITIES[row["quantity"]].of_frame for row in rows):
        notes.append(f"Pose and Jacobians are those of frame {facts['frame']!r}.")
    stages = {"on_line": "on line, per state", "off_line": "off line, per set of parameters"}
    for stage, when in stages.items():
        of_stage = [row for row in rows if stage in row]
        names = [key for key in asdict(Operations()) if key not in RARE or any(row[stage][key] for row in of_stage)]
        shown: list[list[Any]] = []
        for quantity, some in groupby(of_stage, key=lambda row: row["quantity"]):
            own = list(some)
            if own[0]["method"]:
                shown.append([quantity, *[None] * len(names)])
            for row in own:
                counts = [row[stage][name] or (None if name in RARE else 0) for name in names]
                shown.append([f"  {row['method']}" if row["method"] else quantity, *counts])
        columns = [("quantity", "  method"), *(HEADS.get(name, name) for name in names)]
        yield Table(f"{facts['robot']}: operations {when}", columns, shown)
    yield Table("", [], [], [*notes, *facts["refused"]])


def pass_tables(facts: Mapping[str, Any]) -> Iterator[Table]:
    """Tables of what ``passes`` returns."""
    counted = ("add", HEADS["sincos"])
    columns = ["pass", ("alone:", "mul"), *counted, ("in turn:", "mul"), *counted, ("saved", "in all")]
    for each in facts["passes"]:
        rows = []
        for row in each["passes"]:
            alone = (f"{row['alone'][key]:+d}" if row["alone"][key] else "-" for key in SHOWN)
            rows.append([row["pass"], *alone, *(row["after"][key] for key in SHOWN), row["saved"]])
        yield Table(f"{facts['robot']}: {each['quantity']} by {each['method']}", columns, rows)
    yield Table("", [], [], ["mul and add saved in all, of those that the formulation takes as it is traced."])


def derivative_tables(facts: Mapping[str, Any]) -> Iterator[Table]:
    """Tables of what ``derivatives`` returns."""
    names = ("mul", "add", "div", "sincos", "instructions")
    columns = ["", "gives", *(HEADS.get(name, name) for name in names), "times"]
    for each in facts["tables"]:
        own = each["derivatives"][0]["on_line"]["instructions"]
        rows = []
        for row in each["derivatives"]:
            counts = [row["on_line"][name] for name in names]
            times = f"{counts[-1] / own:.2f}" if own else None
            rows.append([row["how"], ", ".join(row["gives"]), *counts, times])
        of = f" of {facts['frame']}" if QUANTITIES[each["quantity"]].of_frame else ""
        by = f" by {each['method']}" if each["method"] else ""
        form = f"{each['quantity']}_derivatives"
        notes = [f"Rows named after a method: {form}, a quantity of its own."] if form in QUANTITIES else []
        yield Table(
            f"{facts['robot']}: {each['quantity']}{of}{by} and its derivatives, per state", columns, rows, notes
        )
    yield Table("", [], [], ["Times: instructions over those of the quantity itself.", facts["convention"]])
