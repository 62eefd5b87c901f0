"""A function of one's own over a robot's quantities, as a compiled function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import LinkworkError, UnknownNameError, UnsupportedError
from ..formulations import QUANTITIES, Problem
from ..function import Function
from ..model import Model, number_inputs
from ..pipeline import HasModel, checked_inputs, checked_options, model_of
from ..program import PARAMETER, Port
from ..program.traced_array import TracedArray
from .function_ports import check_port, function_ports, named_outputs
from .method_combinations import compiled
from .traced_robot import TracedRobot
from .user_code import traced_once


def compile_function(
    robot: Model | HasModel,
    function: Callable[..., Any],
    /,
    *,
    name: str | None = None,
    methods: Mapping[str, str] | None = None,
    dtype: Any = "float64",
    backend: str = "native",
    inputs: Sequence[str] = (),
    **shapes: Any,
) -> Function:
    """Compile an ordinary Python function of a robot's quantities; ``Robot.function`` explains the arguments."""
    model = model_of(robot)
    dtype, _ = checked_options(wrenches=(), dtype=dtype, backend=backend)
    if not callable(function):
        raise UnsupportedError("this is not a function", got=repr(function), expected="f(robot, q, ...)")
    label = name or getattr(function, "__name__", type(function).__name__).replace("<lambda>", "result")
    check_port(label, "output")
    where = f"function {label!r}"
    ports, meanings = function_ports(function, shapes, model, where)
    numbers = {each.port: each for each in number_inputs(model, checked_inputs(inputs))}
    if taken := [port.name for port in ports if port.name in numbers]:
        raise LinkworkError(
            "an argument has the name of an input", where=where, got=taken[0], fix="rename the argument"
        )
    ports += [Port(name, each.shape, PARAMETER) for name, each in numbers.items()]
    meanings |= {name: ", ".join(filter(None, (each.meaning, each.unit))) for name, each in numbers.items()}

    def run(methods: Mapping[str, str], values: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
        of_robot = {each.name: values[name] for name, each in numbers.items()}
        traced = TracedRobot(model, methods, of_robot, dtype)

        def call() -> dict[str, Any]:  # on new arrays: it may change them in place
            arrays = {key: TracedArray(value) for key, value in values.items() if key not in numbers}
            return named_outputs(function(traced, **arrays), label, where)

        results = traced_once(call, where, function)
        return results, [*traced.used.values()]

    for quantity in methods or {}:
        if quantity not in QUANTITIES:
            raise UnknownNameError("quantity of methods=", quantity, QUANTITIES, where=where)
    chosen = dict(methods or {})
    return compiled(model, label, ports, run, chosen, meanings, dtype, backend, numbers=numbers)
