"""Inputs and outputs of a function of one's own: their names, shapes and meanings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

import numpy as np

from ..errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from ..formulations import layouts, sizes
from ..formulations.quantity import VARIABLES
from ..metadata import PORT_NAME
from ..model import Model
from ..program import Port, Program
from ..program.graph import Node
from ..program.trace import LEAK
from ..program.traced_array import TracedArray

RESERVED = ("out", "threads", "wrenches")  # options of a call
OPTIONS = (  # names arguments cannot have
    "name", "methods", "dtype", "backend", "function", "robot", "self", "inputs", "parameters",
)  # fmt: skip


@dataclass(frozen=True)
class Input:
    """An input of a function of your own.

    Attributes:
        shape: Its shape, such as (4, 4); () is one number.
        unit: Its unit, for listings.
        meaning: What it is, for listings.

    Example:
        >>> stiffness = linkwork.Input((6,), unit="N/m, N m/rad", meaning="stiffness of the hand")
    """

    shape: tuple[int, ...]
    unit: str = ""
    meaning: str = ""


def named_arguments(function: Callable[..., Any], where: str) -> list[inspect.Parameter]:
    """Return the arguments of a function of one's own after the robot, which are passed by name."""
    if isinstance(getattr(function, "program", None), Program):
        fix = "give the Python function from which it was compiled"
        raise UnsupportedError("this function is compiled already", where=where, got=repr(function)[:80], fix=fix)
    try:
        _robot, *parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise UnsupportedError(
            "this function has no first argument, the robot", where=where, expected="f(robot, q, ...)"
        ) from error
    for each in parameters:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD, each.POSITIONAL_ONLY):
            fix = "name every argument: f(robot, q, v, target)"
            raise UnsupportedError("arguments of a compiled function have names", where=where, got=str(each), fix=fix)
    return parameters


def function_ports(
    function: Callable[..., Any], inputs: Mapping[str, Any], model: Model, where: str
) -> tuple[list[Port], dict[str, str]]:
    """Inputs of a function of one's own, and what they mean."""
    parameters = named_arguments(function, where)
    names = [each.name for each in parameters]
    for key in inputs:
        if key not in names:
            raise UnknownNameError("argument", key, names, where=where)
    if taken := [name for name in names if name in OPTIONS]:
        got, fix = taken[0], "choose another name: an option of robot.function, or an input of its own, has this one"
        raise LinkworkError("an argument cannot have this name", where=where, got=repr(got), fix=fix)
    known, size = layouts(model), sizes(model)
    ports, meanings = [], {}
    for each in parameters:
        if each.name in inputs:
            shape, meaning = _shape(inputs[each.name], f"{where}, {each.name}=")
        elif each.name in known and (each.default is each.empty):
            shape, meaning = (size[each.name],), VARIABLES[each.name].meaning if each.name in VARIABLES else ""
            if each.name in VARIABLES:
                meaning = f"{meaning}, {VARIABLES[each.name].unit_text}"
        elif each.default is not each.empty:
            continue
        else:
            fix = f"give its shape: {each.name}=(3,), or () for one number"
            raise ShapeError(f"the argument {each.name!r} has no shape", where=where, expected=fix)
        check_port(each.name, "argument")
        ports.append(Port(each.name, shape))
        if meaning:
            meanings[each.name] = meaning
    return ports, meanings


def _shape(value: Any, where: str) -> tuple[tuple[int, ...], str]:
    meaning = ""
    if isinstance(value, Input):
        meaning = ", ".join(filter(None, (value.meaning, value.unit)))
        value = value.shape
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        value = (value,)
    if not isinstance(value, tuple) or not all(isinstance(n, (int, np.integer)) and n >= 0 for n in value):
        raise ShapeError(
            "this is not a shape", where=where, got=repr(value)[:80], expected="(4, 4), (6,), or () for one number"
        )
    return tuple(map(int, value)), meaning


def check_port(name: str, what: str) -> None:
    if not PORT_NAME.fullmatch(name) or iskeyword(name) or name in RESERVED:
        fix = "letters, digits and _, at most 64, and none of: " + ", ".join(RESERVED)
        raise LinkworkError(f"this cannot be the name of an {what}", got=repr(name), expected=fix)


def named_outputs(result: Any, name: str, where: str) -> dict[str, Any]:
    """Return the results of a function by name, as object arrays of nodes and numbers."""
    if hasattr(result, "_asdict"):  # a named tuple
        result = result._asdict()
    if not isinstance(result, Mapping):
        if result is None or isinstance(result, (tuple, str)):
            fix = 'return one array, or a dict: {"tau": tau, "error": error}'
            raise ShapeError("the result is not an array", where=where, got=type(result).__name__, fix=fix)
        result = {name: result}
    if not result:
        raise ShapeError("the result is an empty dict", where=where, fix='return {"tau": tau, ...}')
    found = {}
    for key, value in result.items():
        if not isinstance(key, str):
            raise LinkworkError("an output has a name", where=where, got=repr(key), expected="a text")
        check_port(key, "output")
        try:
            array = TracedArray(value)
        except ValueError as error:
            raise ShapeError(f"the output {key!r} is not a rectangular array", where=where, got=error) from error
        for x in array.flat:
            entry = x.nodes() if isinstance(x, TracedArray) else x
            if isinstance(entry, Node) and entry.graph.level:
                raise LinkworkError(LEAK, where=f"{where}, output {key!r}", fix="return it from the body")
            if not isinstance(entry, (Node, int, float, np.integer, np.floating)):
                raise ShapeError(f"the output {key!r} is not an array of numbers", where=where, got=repr(entry)[:80])
        found[key] = array.view(np.ndarray)
    return found
