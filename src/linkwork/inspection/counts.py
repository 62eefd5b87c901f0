"""Operations of compiled programs, method by method and pass by pass, and of their derivatives."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from .. import pipeline
from ..errors import LinkworkError, UnknownNameError, UnsupportedError
from ..formulations import METHODS, QUANTITIES, check_parameters, methods
from ..function import Function
from ..program import Operations, Program
from ..program import count as counted
from ..program.passes import CUSTOMISING, customising
from ..robot import Robot
from ..table import Table

METHOD_NAMES = tuple(dict.fromkeys(method.name for method in METHODS))
RARE = (  # columns that are shown only if there are any
    "div", "sqrt", "sincos", "exp", "log", "tanh", "atan2", "choose", "neg",
)  # fmt: skip
CHOICES = ("sign", "abs", "min", "max", "compare", "select")  # shown together, as "choose"
SHOWN = ("mul", "add", "sincos")
HEADS = {"sincos": ("sin", "cos"), "instructions": ("instr.", "")}
DYNAMICS = ("inverse_dynamics", "forward_dynamics", "inertia_matrix")
CONVENTION = inspect.cleandoc(Operations.__doc__ or "").split("\n\n")[1].replace("\n", " ")


def count(
    robot: Robot,
    quantity: str | Sequence[str] | None = None,
    method: str | None = None,
    *,
    frame: str | None = None,
    parameters: str = "minimal",
    inputs: Sequence[str] = (),
) -> dict[str, Any]:
    """Count the operations of each quantity by each method that works for this robot.

    Args:
        robot: The robot.
        quantity: Only this quantity. Default: all. Several: each alone, their sum, and all in one program;
            "pose:hand" is the pose of the frame "hand".
        method: Only this method. Default: all.
        frame: Frame of poses and Jacobians. Default: the robot's last frame.
        parameters: Inertial parameters: "minimal" or "standard", as for ``compile``.
        inputs: Numbers of the robot that are inputs, as for ``compile``; operations that depend on them alone are
            counted as off line.

    Returns:
        The robot, the frame, the convention of counting, a list of counts, and a list of refused methods.

    Raises:
        UnknownNameError: There is no such quantity, method, frame or choice of parameters.

    Example:
        >>> row = linkwork.inspection.count(robot, "inverse_dynamics", "rnea")["counts"][0]
        >>> sorted(row)
        ['method', 'on_line', 'quantity']
    """
    if isinstance(quantity, Sequence) and not isinstance(quantity, str):
        if len(quantity) > 1:
            return _together(robot, quantity, method, frame, parameters, inputs)
        quantity = quantity[0] if quantity else None
    frame = _checked(robot, quantity, frame, parameters)
    rows, refusals, last = [], [], LinkworkError("no method")
    for name, method_name in _pairs(robot, quantity, method):
        try:
            rows.append(_row(robot, name, method_name, frame, parameters, inputs))
        except LinkworkError as error:
            if quantity and (method or not isinstance(error, UnsupportedError)):
                raise
            refusals.append(f"{name}: {error}")
            last = error
    if quantity and not rows:
        raise last
    return {"robot": robot.name, "frame": frame, "convention": CONVENTION, "counts": rows, "refused": refusals}


def _together(
    robot: Robot,
    quantities: Sequence[str],
    method: str | None,
    frame: str | None,
    parameters: str,
    inputs: Sequence[str],
) -> dict[str, Any]:
    """Count several quantities: each alone, the sum, and all in one program."""
    if method is not None:
        raise LinkworkError("several quantities have no common method", got=method, fix="leave the method out")
    frame = _checked(robot, None, frame, parameters)
    names = [text if ":" in text or not _of_frame(text, frame) else f"{text}:{frame}" for text in quantities]
    rows = [_row_of(text, robot.compile(text, parameters=parameters, inputs=inputs)) for text in names]
    stages = [stage for stage in ("on_line", "off_line") if stage in rows[0]]
    total = {stage: {key: sum(row[stage][key] for row in rows) for key in Operations().to_dict()} for stage in stages}
    rows.append({"quantity": "sum", "method": "", **total})
    rows.append(_row_of("together", robot.compile(names, parameters=parameters, inputs=inputs)) | {"method": ""})
    return {"robot": robot.name, "frame": frame, "convention": CONVENTION, "counts": rows, "refused": []}


def _row_of(name: str, function: Function) -> dict[str, Any]:
    row = {"quantity": name, "method": function.label.method, "on_line": function.operations.to_dict()}
    return row | ({"off_line": function.off_line_operations.to_dict()} if function.label.nominal else {})


def passes(robot: Robot, quantity: str | None = None, method: str | None = None, **options: Any) -> dict[str, Any]:
    """Count what each compiler pass saves, alone and in turn.

    Args:
        robot: The robot.
        quantity: Only this quantity. Default: inverse and forward dynamics and inertia matrix.
        method: Only this method. Default: the one with the fewest operations.
        **options: ``frame``, ``parameters`` and ``inputs``, as for ``count``.

    Returns:
        The robot, the convention of counting, and a table for each quantity and method.

    Raises:
        UnknownNameError: There is no such quantity, method, frame or choice of parameters.

    Example:
        >>> table = linkwork.inspection.passes(robot, "gravity")["passes"][0]
        >>> table["passes"][0]["pass"]
        'as traced'
    """
    _, selected = _selected(robot, quantity, method, **options)
    tables = []
    for name, method_name, how in selected:
        pass_names, program = pipeline.traced(robot, name, method=method_name, **how)
        if program.loops:
            raise LinkworkError(f"passes are not counted for {name}: its work is in a loop", fix="count it without")
        tables.append({"quantity": name, "method": pass_names, "passes": pass_by_pass(program)})
    return {"robot": robot.name, "convention": CONVENTION, "passes": tables}


def derivatives(robot: Robot, quantity: str | None = None, method: str | None = None, **options: Any) -> dict[str, Any]:
    """Count the operations of derivatives: with respect to each input and the whole state, vjp, jvp and hvp.

    Quantities that are derivatives themselves, such as forward_dynamics_derivatives, are counted by each method.

    Args:
        robot: The robot.
        quantity: Only this quantity. Default: inverse and forward dynamics and inertia matrix.
        method: Only this method. Default: the one with the fewest operations.
        **options: ``frame``, ``parameters`` and ``inputs``, as for ``count``.

    Returns:
        The robot, the frame, the convention of counting, and a table for each quantity and method.

    Raises:
        UnknownNameError: There is no such quantity, method, frame or choice of parameters.

    Example:
        >>> table = linkwork.inspection.derivatives(linkwork.load("planar2r"), "gravity")["tables"][0]
        >>> [row["how"] for row in table["derivatives"]]
        ['itself', 'derivative', 'vjp', 'jvp', 'hvp']
    """
    frame, selected = _selected(robot, quantity, method, **options)
    tables = []
    for name, method_name, how in selected:
        function = robot.compile(name, method=method_name, **how)
        inputs = [port.name for port in function.program.inputs]
        functions = [("itself", function)]
        functions += [("derivative", function.derivative(each)) for each in inputs if len(inputs) > 1]
        functions += [(kind, getattr(function, kind)()) for kind in ("derivative", "vjp", "jvp", "hvp")]
        if (published := f"{name}_derivatives") in QUANTITIES:
            functions += [(each, robot.compile(published, method=each, **how)) for each in _names(robot, published)]
        rows = [
            {"how": kind, "gives": [port.name for port in each.program.outputs], "on_line": each.operations.to_dict()}
            for kind, each in functions
        ]
        tables.append({"quantity": name, "method": function.label.method, "derivatives": rows})
    return {"robot": robot.name, "frame": frame, "convention": CONVENTION, "tables": tables}


def _selected(
    robot: Robot,
    quantity: str | None,
    method: str | None,
    *,
    frame: str | None = None,
    parameters: str = "minimal",
    inputs: Sequence[str] = (),
) -> tuple[str, list[tuple[str, str, dict[str, Any]]]]:
    """Return the frame, and the quantities and methods to count, with options of ``compile``.

    By default these are the dynamics, by the methods with the fewest operations.
    """
    frame = _checked(robot, quantity, frame, parameters)
    pairs = [(each, "auto") for each in ([quantity] if quantity else DYNAMICS)]
    pairs = _pairs(robot, quantity, method) if method else pairs
    how: dict[str, Any] = {"parameters": parameters, "inputs": inputs}
    return frame, [(name, method_name, {**how, **_of_frame(name, frame)}) for name, method_name in pairs]


def _checked(robot: Robot, quantity: str | None, frame: str | None, parameters: str) -> str:
    """Return the frame to use; raise an error for an unknown name."""
    if quantity and quantity not in QUANTITIES:
        raise UnknownNameError("quantity", quantity, QUANTITIES)
    check_parameters(parameters)
    return robot.model.frame(frame or robot.frame_names[-1]).name


def _of_frame(quantity: str, frame: str) -> dict[str, str]:
    if quantity not in QUANTITIES:
        raise UnknownNameError("quantity", quantity, QUANTITIES)
    return {"frame": frame} if QUANTITIES[quantity].of_frame else {}


def _pairs(robot: Robot, quantity: str | None, method: str | None) -> list[tuple[str, str]]:
    """Return the pairs of quantity and method to count; those that the user names are kept even if refused later."""
    if quantity:
        return [(quantity, name) for name in ([method] if method else _names(robot, quantity))]
    if method and method not in METHOD_NAMES:
        raise UnknownNameError("method", method, METHOD_NAMES)
    if method:
        return [(m.quantity, method) for m in METHODS if m.name == method]
    some = [name for name, each in QUANTITIES.items() if each.applies_to(robot.model)]
    return [(each, name) for each in some for name in _names(robot, each)]


def _names(robot: Robot, quantity: str) -> list[str]:
    return [m.name for m in methods(quantity) if not m.refusal(robot.model)] or ["auto"]


def _row(
    robot: Robot, quantity: str, method: str, frame: str, parameters: str, inputs: Sequence[str]
) -> dict[str, Any]:
    options: dict[str, Any] = {"parameters": parameters, "inputs": inputs, **_of_frame(quantity, frame)}
    return _row_of(quantity, robot.compile(quantity, method=method, **options))


def pass_by_pass(program: Program) -> list[dict[str, Any]]:
    """Return the operations of the traced program, after each pass in turn, and what each pass changes alone."""
    start = counted(program)
    rows: list[dict[str, Any]] = []

    def add(name: str, alone: Operations, after: Operations) -> None:
        change = {key: getattr(alone, key) - getattr(start, key) for key in SHOWN}
        saved = start.mul + start.add - after.mul - after.add
        rows.append({"pass": name, "alone": change, "after": after.to_dict(), "saved": saved})

    add("as traced", start, start)
    for lower, (name, after) in zip(CUSTOMISING, customising(program), strict=True):
        add(name.replace("_", " "), counted(lower(program)), counted(after))
    return rows


# -- tables ------------------------------------------------------------------------------------------------------------


def count_tables(facts: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables of ``count``: on line, and off line if parameters are inputs."""
    rows = facts["counts"]
    notes = [facts["convention"]]
    if any(row["quantity"] in QUANTITIES and QUANTITIES[row["quantity"]].of_frame for row in rows):
        notes.append(f"Pose and Jacobians are those of frame {facts['frame']!r}.")
    stages = {"on_line": "on line, per state", "off_line": "off line, per set of parameters"}
    for stage, when in stages.items():
        of_stage = [row for row in rows if stage in row]
        counted = [row[stage] for row in of_stage]
        counted += [each for turns in map(_turns, counted) for _, each in turns]
        counted = [*map(_columns, counted)]
        names = [key for key in _columns(Operations().to_dict()) if key not in RARE or any(x[key] for x in counted)]
        result: list[list[Any]] = []
        for quantity, some in groupby(of_stage, key=lambda row: row["quantity"]):
            group = list(some)
            if group[0]["method"]:
                result.append([quantity, *[None] * len(names)])
            for row in group:
                title = f"  {row['method']}" if row["method"] else quantity
                for head, each in ((title, row[stage]), *_turns(row[stage])):
                    shown = _columns(each)
                    result.append([head, *(shown[name] or (None if name in RARE else 0) for name in names)])
        columns = [("quantity", "  method"), *(HEADS.get(name, name) for name in names)]
        yield Table(f"{facts['robot']}: operations {when}", columns, result)
        if "choose" in names:
            notes.append("choose: signs, absolute values, minima, maxima, comparisons and choices by them.")
    yield Table("", [], [], [*notes, *facts["refused"]])


def _columns(operations: Mapping[str, Any]) -> dict[str, Any]:
    """Return operations by column of the table, those of ``CHOICES`` together."""
    columns: dict[str, Any] = {}
    for name, number in operations.items():
        column = "choose" if name in CHOICES else name
        columns[column] = columns.get(column, 0) + number if name in CHOICES else number
    return columns


def _turns(operations: Mapping[str, Any], indent: str = "  ") -> list[tuple[str, Mapping[str, Any]]]:
    """Return a title and the operations of a turn of each loop, those inside others after these."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for loop in operations.get("loops", ()):
        found += [(f"{indent}a turn, of at most {loop['turns']}", loop["each"]), *_turns(loop["each"], f"{indent}  ")]
    return found


def pass_tables(facts: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables of ``passes``."""
    operations = ("add", HEADS["sincos"])
    columns = ["pass", ("alone:", "mul"), *operations, ("in turn:", "mul"), *operations, ("saved", "in all")]
    for each in facts["passes"]:
        rows = []
        for row in each["passes"]:
            alone = (f"{row['alone'][key]:+d}" if row["alone"][key] else "-" for key in SHOWN)
            rows.append([row["pass"], *alone, *(row["after"][key] for key in SHOWN), row["saved"]])
        yield Table(f"{facts['robot']}: {each['quantity']} by {each['method']}", columns, rows)
    yield Table("", [], [], ["Saved in all: mul and add, compared with the formulation as it is traced."])


def derivative_tables(facts: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables of ``derivatives``."""
    names = ("mul", "add", "div", "sincos", "instructions")
    columns = ["", "gives", *(HEADS.get(name, name) for name in names), "times"]
    for each in facts["tables"]:
        itself = each["derivatives"][0]["on_line"]["instructions"]
        rows = []
        for row in each["derivatives"]:
            counts = [row["on_line"][name] for name in names]
            times = f"{counts[-1] / itself:.2f}" if itself else None
            rows.append([row["how"], ", ".join(row["gives"]), *counts, times])
        of = f" of {facts['frame']}" if _of_frame(each["quantity"], facts["frame"]) else ""
        by = f" by {each['method']}" if each["method"] else ""
        form = f"{each['quantity']}_derivatives"
        notes = [f"Rows named after a method: {form}, a quantity of its own."] if form in QUANTITIES else []
        yield Table(
            f"{facts['robot']}: {each['quantity']}{of}{by} and its derivatives, per state", columns, rows, notes
        )
    yield Table("", [], [], ["Times: instructions over those of the quantity itself.", facts["convention"]])
