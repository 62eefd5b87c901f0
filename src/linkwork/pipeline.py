"""Compilation of one quantity: choose a method, trace it, optimise the program, and make a Function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from .codegen.optimised import optimised
from .errors import LinkworkError, UnknownNameError, UnsupportedError, names_of
from .formulations import Method, Problem, by_inertia_and_bias, find_method, methods, position_map
from .function import Function
from .metadata import Label, Nominal, dtype_name
from .model import Model, NumberInput, number_inputs, with_numbers
from .parameters import parameter_vector
from .program import PARAMETER, STATE, Port, Program, count, trace
from .program.passes import absorb_signs, fuse_multiply_add
from .targets import find as find_target
from .timing import least_seconds

COLUMNS = ("minimal", "standard", "lin")  # choices of columns of a regressor, which the values do not affect
LARGE = 36  # degrees of freedom beyond which factoring the inertia matrix is costly, also to trace
CLOSE = 1.01  # a method is optimised if its traced program has at most this many times the fewest instructions
_known: WeakKeyDictionary[Model, dict[Any, dict[str, int]]] = WeakKeyDictionary()  # a model does not change
SHARING = 1.5  # the same for a method whose work may be shared with that of other quantities
T = TypeVar("T")
CHOOSING = ("auto", "fastest")  # instead of a method's name


class HasModel(Protocol):
    """A Robot, a Workspace, or whatever else has a Model."""

    @property
    def model(self) -> Model: ...


def model_of(robot: Model | HasModel) -> Model:
    """Return the Model of a robot, or the Model itself."""
    model = getattr(robot, "model", robot)
    if not isinstance(model, Model):
        raise UnsupportedError("this is not a robot", got=repr(robot), fix=f"linkwork.load({robot!r})")
    return model


def checked_options(
    *,
    wrenches: Any = (),
    dtype: Any = "float64",
    backend: str = "native",
    **names: Any,
) -> tuple[str, tuple[str, ...]]:
    """Check options of ``compile``; return the name of the number type, and the frames of the wrenches."""
    if isinstance(wrenches, str) or not isinstance(wrenches, Sequence):
        fix = f"wrenches=[{wrenches!r}]" if isinstance(wrenches, str) else "give their names; values go into the call"
        raise UnsupportedError("wrenches is a list of frames", got=repr(wrenches), fix=fix)
    wrenches = tuple(wrenches)
    if not all(isinstance(name, str) for name in wrenches):
        raise UnsupportedError("wrenches is a list of frames", got=repr(wrenches), expected="names of frames")
    for name, value in {**names, "backend": backend}.items():
        if value is not None and not isinstance(value, str):
            raise UnsupportedError(
                f"{name} is a name", where=f"compile({name}=...)", got=repr(value), expected="a text"
            )
    dtype = dtype_name(dtype)
    find_target(backend, "run")
    return dtype, wrenches


def checked_frame(quantity: str, frame: Any = None) -> str:
    """Return the name of the frame with which a call of this quantity begins."""
    if not isinstance(frame, str):
        got = "" if frame is None else " ".join(repr(frame).split())[:80]
        raise LinkworkError(f"{quantity} needs a frame", got=got, fix=f'robot.{quantity}("frame", q)')
    return frame


def checked_inputs(inputs: Any) -> tuple[str, ...]:
    """Return the names of the numbers that are inputs."""
    names = isinstance(inputs, Sequence) and not isinstance(inputs, str)
    if not names or not all(isinstance(name, str) for name in inputs):
        fix = f"inputs=[{inputs!r}]" if isinstance(inputs, str) else "give their names; values go into the call"
        raise UnsupportedError("inputs is a list of names", got=repr(inputs), fix=fix)
    return tuple(inputs)


def compile_quantity(
    robot: Model | HasModel,
    quantity: str,
    *,
    method: str = "auto",
    frame: str | None = None,
    axes: str = "world",
    wrenches: Sequence[str] = (),
    parameters: str = "minimal",
    drives: bool | Sequence[str] | None = None,
    inputs: Sequence[str] = (),
    known: Sequence[str] | None = None,
    dtype: Any = "float64",
    backend: str = "native",
) -> Function:
    """Compile one quantity; the options are those of ``linkwork.compile``."""
    model = model_of(robot)
    names = {"quantity": quantity, "method": method, "axes": axes, "parameters": parameters}
    names |= {"frame": frame} if frame is not None else {}
    dtype, wrenches = checked_options(wrenches=wrenches, dtype=dtype, backend=backend, **names)
    options: dict[str, Any] = {"frame": frame, "axes": axes, "parameters": parameters}
    options |= {"drives": drives, "inputs": checked_inputs(inputs), "known": known, "dtype": dtype}
    problem = bound(model, quantity, wrenches=wrenches, **options)
    candidates = _trace_candidates(problem, method)

    def with_wrenches(names: tuple[str, ...]) -> Function:
        return compile_quantity(model, quantity, method=method, backend=backend, wrenches=names, **options)

    more = with_wrenches if problem.definition.takes_wrenches and not wrenches else None
    if method == "fastest":
        chosen = [(each, optimised(program)) for each, program in candidates]
    else:
        each, _, program = fewest(candidates)
        chosen = [(each, program)]
    along = partial(tangents, model, problem.numbers) if "q" in problem.inputs else None
    functions = [Function(program, _label(each), dtype, backend, more, along) for each, program in chosen]
    return min(functions, key=_seconds) if len(functions) > 1 else functions[0]


def bound(
    model: Model,
    quantity: str,
    *,
    parameters: str = "minimal",
    drives: bool | Sequence[str] | None = None,
    inputs: tuple[str, ...] = (),
    known: str | Sequence[str] | None = None,
    **options: Any,
) -> Problem:
    """Return the Problem that ``compile`` solves, without a method yet.

    A regressor has the columns of ``parameters`` and of ``drives``.
    """
    columns = None
    if quantity == "regressor":
        if parameters not in COLUMNS:
            raise UnknownNameError("treatment of parameters", parameters, COLUMNS)
        columns = parameter_vector(model, parameters, drives)
        placed = [each.name for each in number_inputs(model, inputs) if each.placed]
        if parameters != "standard" and placed:
            message, fix = "which parameters act together depends on the geometry", 'parameters="standard"'
            raise UnsupportedError(message, where=quantity, got=f"{parameters!r}, and {placed[0]} as an input", fix=fix)
    options["known"] = None if known is None else names_of(known, "known")
    return Problem(model, quantity, parameters=parameters, columns=columns, as_inputs=inputs, **options)


def tangents(model: Model, numbers: Mapping[str, NumberInput] = {}) -> dict[str, Program]:
    """Return a program of dq/dt per independent direction, for robots whose q cannot change along its own numbers.

    In loops it depends on those ``numbers`` that are geometry.
    """
    coordinates = model.coordinates
    if not model.constrained and all(joint.kind.straight for joint in coordinates.joints):
        return {}
    placed = {name: each for name, each in numbers.items() if each.placed and model.constrained}

    def run(q: list[Any], *values: Any) -> Mapping[str, Any]:
        units = position_map(with_numbers(model, placed, dict(zip(placed, values, strict=True))), q)
        columns = [coordinates.rates(q, column) for column in zip(*units, strict=True)]
        return {"tangent": [list(row) for row in zip(*columns, strict=True)]}

    ports = [Port("q", (model.nq,)), *(Port(name, each.shape, PARAMETER) for name, each in placed.items())]
    return {"q": trace("tangent", run, ports)}


def _label(problem: Problem) -> Label:
    model = problem.model
    return Label(
        model.name,
        problem.quantity,
        _name(problem),
        problem.frame or "",
        problem.layouts,
        problem.wrenches,
        problem.axes if problem.definition.has_axes else "",
        problem.assumed,
        nominal_of(problem.numbers),
        problem.meanings,
    )


def _name(problem: Problem) -> str:
    return problem.method.name if problem.method is not None else ""


def nominal_of(numbers: Mapping[str, NumberInput]) -> dict[str, Nominal]:
    """Return the robot's own values of the numbers that are inputs."""
    return {port: Nominal(each.name, each.rows, each.nominal) for port, each in numbers.items()}


def traced(
    robot: Model | HasModel,
    quantity: str,
    *,
    method: str = "auto",
    frame: str | None = None,
    parameters: str = "minimal",
    inputs: Sequence[str] = (),
) -> tuple[str, Program]:
    """Return the method that ``compile`` would choose, and its traced program before the passes."""
    problem = bound(model_of(robot), quantity, frame=frame, parameters=parameters, inputs=checked_inputs(inputs))
    chosen, program, _ = fewest(_trace_candidates(problem, method))
    return _name(chosen), program


def fewest(candidates: list[tuple[T, Program]]) -> tuple[T, Program, Program]:
    """Return the candidate with the fewest instructions, its traced program and its optimised program.

    Only candidates whose traced programs come close to the shortest one are optimised.
    """
    if len(candidates) > 1:
        counts = [instructions(program) for _, program in candidates]
        candidates = [pair for pair, n in zip(candidates, counts, strict=True) if n <= CLOSE * min(counts)]
    made = [(each, program, optimised(program)) for each, program in candidates]
    return min(made, key=lambda each: count(each[2]).instructions)


def instructions(program: Program) -> int:
    """Return the number of instructions of a traced program after signs are absorbed and products fused."""
    return count(fuse_multiply_add(absorb_signs(program))).instructions


def _seconds(function: Function) -> float:
    """Return the time of a call with a batch of random states, once it is compiled."""
    random = np.random.default_rng(0)
    states = [random.normal(size=(1024, *port.shape)).astype(function.dtype) for port in function.program.inputs]
    return least_seconds(lambda: function(*states), runs=10)


def _trace_candidates(problem: Problem, method: str) -> list[tuple[Problem, Program]]:
    """Return the problem and its program by the given method, or by each that "auto" and "fastest" choose from."""
    model, quantity, needs = problem.model, problem.quantity, problem.needs
    available = methods(quantity)
    if not available:
        if method not in CHOOSING:
            raise UnknownNameError(f"method of {quantity}", method, CHOOSING)
        return [(problem, _trace(problem))]
    if method in CHOOSING:
        candidates = [m for m in available if m.candidate and not m.refusal(model, **needs)]
        linear = [m for m in candidates if m.linear]
        if model.nv > LARGE and linear:
            candidates = linear
        elif quantity == "forward_dynamics":  # also by the best inertia matrix and the best bias
            parts = replace(problem, quantity="inertia_matrix", wrenches=()), replace(problem, quantity="bias")
            candidates.append(find_method(quantity, "+".join(map(_shortest, parts)), model, **needs))
    else:
        candidates = [find_method(quantity, method, model, **needs)]
    each = [replace(problem, method=candidate) for candidate in candidates]
    return [(one, _trace(one)) for one in each]


def close_methods(problem: Problem) -> list[str]:
    """Return the names of the methods that may be best inside a larger program, where work is shared."""
    lengths = _lengths(problem)
    return [name for name, n in lengths.items() if n <= SHARING * min(lengths.values())]


def _shortest(problem: Problem) -> str:
    """Return the name of the method with the fewest instructions."""
    lengths = _lengths(problem)
    return min(lengths, key=lengths.__getitem__)


def _lengths(problem: Problem) -> dict[str, int]:
    """Return the instructions of each method that "auto" chooses from, by its name; counted once for a robot."""
    known = _known.setdefault(problem.model, {})
    key = problem.quantity, problem.frame, problem.axes, problem.wrenches, problem.parameters, problem.as_inputs
    if key not in known:
        candidates = _trace_candidates(replace(problem, method=None), "auto")
        known[key] = {_name(each): instructions(program) for each, program in candidates}
    return known[key]


def _trace(problem: Problem) -> Program:
    def run(*values: Any) -> Mapping[str, Any]:
        shapes = problem.outputs
        return {
            name: np.array(value, dtype=object).reshape(shapes[name])
            for name, value in problem.evaluate(*values).items()
        }

    stages = {name: PARAMETER if name in problem.numbers else STATE for name in problem.inputs}
    ports = [Port(name, shape, stages[name]) for name, shape in problem.inputs.items()]
    return trace(problem.quantity, run, ports)


def choose(
    model: Model,
    quantity: str,
    method: str = "auto",
    *,
    wrenches: Sequence[str] = (),
    varied: bool = False,
    placed: bool = False,
) -> Method:
    """Return the method of a quantity that is part of a larger program.

    ``varied``: whether inertias are inputs; ``placed``: whether geometry is. Constrained dynamics has a method "A+B": A
    computes the inertia matrix, B the bias.
    """
    if not isinstance(method, str):
        raise UnknownNameError(f"method of {quantity}", method, (*CHOOSING, *(each.name for each in methods(quantity))))
    if quantity == "constrained_dynamics":
        if method not in CHOOSING and "+" not in method:
            raise UnknownNameError("method for a robot with loops", method, CHOOSING, where="inertia matrix + bias")
        parts = method.split("+", 1) if "+" in method else (method, method)
        inertia = choose(model, "inertia_matrix", parts[0].strip(), varied=varied, placed=placed)
        bias = choose(model, "bias", parts[1].strip(), wrenches=wrenches, varied=varied, placed=placed)
        return by_inertia_and_bias(inertia, bias, quantity)
    inputs = ("parameters",) * varied + ("geometry",) * placed
    problem = Problem(model, quantity, wrenches=tuple(wrenches), as_inputs=inputs)
    return find_method(quantity, _shortest(problem) if method in CHOOSING else method, model, **problem.needs)
