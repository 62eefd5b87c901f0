"""Functions with memory and a sample time, such as observers, filters and controllers with an integral.

One step is a Function whose inputs and outputs include the memory; the initial values are another Function.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .compose.compile_function import compile_function
from .errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from .files import parse_json, read_text, write_text
from .function import Function, document, from_document
from .model import Model
from .pipeline import HasModel, model_of
from .program import Program
from .program.program import entry, result_type
from .program.traced_array import TracedArray
from .targets.registry import export
from .targets.sampled_listing import MEMORY, NEXT

if TYPE_CHECKING:
    from .symbolic import SymbolicModel

FORMAT = "linkwork-sampled-function-1"
FORM = 'def observer(robot, q, v, memory, period): ... return {"residual": r}, {"momentum": p}'


class SampledFunction:
    """A compiled function with memory, evaluated once in each sample time; ``robot.function`` makes one.

    Attributes:
        function: One step as a Function of everything: memory is in its inputs ``memory_NAME``, and its next values
            are in its outputs ``next_NAME``. It has derivatives, counts and exports.
        initial: Function of the initial values of the memory.
        period: Sample time in s.
        arguments: Names of the arguments of a step, in order.
        memory: Shapes of the memory, by name.
        outputs: Shapes of the outputs, by name.

    Example:
        >>> def smooth(robot, q, memory, period):
        ...     filtered = memory["x"] + period / 0.01 * (q - memory["x"])
        ...     return {"filtered": filtered}, {"x": filtered}
        >>> step = robot.function(smooth, memory={"x": np.zeros(7)}, period=1e-3)
        >>> memory = step.start()
        >>> for _ in range(100):
        ...     filtered, memory = step(np.ones(7), memory)
        >>> bool(np.allclose(filtered, 1 - 0.9**100))
        True
    """

    def __init__(self, function: Function, initial: Function | None, period: float, arguments: tuple[str, ...]):
        self.function, self.initial, self.period, self.arguments = function, initial, period, arguments
        self.program, self.label, self.dtype = function.program, function.label, function.dtype
        self.memory = {} if initial is None else _memory(initial.program)
        results = [(port.name, port.shape) for port in function.program.outputs]
        self.outputs = dict(results[: len(results) - len(self.memory)])
        self._inputs = [port.name for port in function.program.inputs]
        self._result = result_type(tuple(self.outputs))

    @property
    def signature(self) -> str:
        """Inputs and outputs with their shapes, e.g. ``q(7), v(7), memory -> residual(7), memory``."""
        shapes = {port.name: port.shape for port in self.program.inputs}
        show = lambda name, shape: f"{name}({','.join(map(str, shape))})"  # noqa: E731
        inputs = [name if name == "memory" else show(name, shapes[name]) for name in self.arguments]
        return f"{', '.join(inputs)} -> {', '.join([*(show(*each) for each in self.outputs.items()), 'memory'])}"

    def __repr__(self) -> str:
        memory = ", ".join(f"{name}({','.join(map(str, shape))})" for name, shape in self.memory.items()) or "none"
        name, robot = self.function.__name__, self.label.robot
        return f"<linkwork SampledFunction {name} of {robot}, {self.period:g} s: {self.signature}; memory: {memory}>"

    def __reduce__(self):
        return SampledFunction, (self.function, self.initial, self.period, self.arguments)

    def start(self, /, *args: Any, **named: Any) -> dict[str, Any]:
        """Return the initial values of the memory.

        Args:
            *args: Arguments of the function of initial values, if there is one: arrays of any leading batch axes.
            **named: The same by name.

        Returns:
            Arrays by name, for the first step.

        Example:
            >>> observer = robot.function(linkwork.control.MomentumObserver(50.0), period=1e-3)
            >>> observer.start(np.zeros((10, 7)), np.zeros(7))["momentum"].shape
            (10, 7)
        """
        if self.initial is None:
            return {}
        values = self.initial(*args, **named)
        return dict(zip(self.memory, values if len(self.memory) > 1 else (values,), strict=True))

    def __call__(self, /, *args: Any, threads: int | str = 1, **named: Any) -> tuple[Any, dict[str, Any]]:
        """Make one step: ``outputs, memory = step(q, v, ..., memory)``, arguments by position or name.

        Args:
            *args: Arguments in order: arrays of any leading batch axes, and for ``memory`` what ``start`` or the last
                step returned.
            threads: Largest number of threads that share a batch. Default: 1.
            **named: Arguments by name.

        Returns:
            The output, or a named tuple of several, and the memory for the next step.

        Raises:
            ShapeError: An argument is missing or has the wrong shape.
            UnknownNameError: There is no such argument, or no such memory.

        Example:
            >>> observer = robot.function(linkwork.control.MomentumObserver(50.0), period=1e-3)
            >>> q, v = np.zeros((2, 7))
            >>> residual, memory = observer(q, v, robot.gravity(q), observer.start(q, v))
            >>> bool(np.abs(residual).max() < 1e-9)
            True
        """
        if len(args) > len(self.arguments):
            got, takes = f"{len(args)} arguments", f"{self.function.__name__} takes {len(self.arguments)} inputs"
            raise ShapeError(takes, got=got, expected=self.signature)
        values = dict(zip(self.arguments, args, strict=False))
        if twice := sorted({*values}.intersection(named)):
            raise ShapeError(f"input {twice[0]!r} is given twice", where=self.function.__name__)
        values |= named
        if self.memory:
            values |= {MEMORY + name: value for name, value in self._states(values.pop("memory", None)).items()}
        options = {} if threads == 1 else {"threads": threads}
        if values.keys() == {*self._inputs}:
            results = self.function(*(values[name] for name in self._inputs), **options)
        else:
            self._refuse_arguments(values)
            results = self.function(**values, **options)  # which fills in zeros, or says what is missing
        if len(self.program.outputs) == 1:
            return results, {}
        count = len(self.outputs)
        outputs = self._result(*results[:count]) if count > 1 else results[0]
        return outputs, dict(zip(self.memory, results[count:], strict=True))

    def _states(self, memory: Any) -> Mapping[str, Any]:
        where, fix = self.function.__name__, "give what start() or the last step returned"
        if not isinstance(memory, Mapping):
            got = "none" if memory is None else type(memory).__name__
            raise ShapeError(
                "memory is a dict of arrays by name", where=where, got=got, expected=self.signature, fix=fix
            )
        if unknown := [name for name in memory if name not in self.memory]:
            raise UnknownNameError("memory", unknown[0], self.memory, where=where)
        if missing := [name for name in self.memory if name not in memory]:
            got = ", ".join(memory) or "nothing"
            raise ShapeError(f"memory lacks {', '.join(missing)}", where=where, got=got, fix=fix)
        return memory

    def _refuse_arguments(self, values: Mapping[str, Any]) -> None:
        known = {name for name in self.arguments if name != "memory"}
        known |= {nominal.name for nominal in self.label.nominal.values()}
        for name in values:
            if name not in known and name.removeprefix(MEMORY) not in self.memory:
                raise UnknownNameError("input", name, self.arguments, where=self.function.__name__)

    # -- keeping -------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the function to a file; ``linkwork.SampledFunction.load`` reads it.

        Args:
            path: File to write, JSON.

        Example:
            >>> robot.function(linkwork.control.MomentumObserver(50.0), period=1e-3).save("observer.json")
            >>> linkwork.SampledFunction.load("observer.json").period
            0.001
        """
        initial = None if self.initial is None else document(self.initial)
        parts = {"format": FORMAT, "period": self.period, "arguments": self.arguments}
        write_text(path, json.dumps(parts | {"function": document(self.function), "initial": initial}))

    @staticmethod
    def load(path: str | Path) -> SampledFunction:
        """Read a function that ``save`` wrote, and compile it for this machine.

        Args:
            path: File to read.

        Returns:
            The SampledFunction.

        Raises:
            LinkworkError: This is not a saved function with memory.

        Example:
            >>> robot.function(linkwork.control.MomentumObserver(50.0), period=1e-3).save("observer.json")
            >>> linkwork.SampledFunction.load("observer.json").memory
            {'momentum': (7,)}
        """
        text = read_text(path, fix="give a file that SampledFunction.save wrote")
        try:
            return _from_document(parse_json(text))
        except (ValueError, LinkworkError) as error:
            message, expected = f"this is not a saved function: {error}", "a file written by SampledFunction.save"
            raise LinkworkError(message, where=str(path), expected=expected) from error

    # -- exports -------------------------------------------------------------------------------------------------

    export = export

    def symbolic(self) -> SymbolicModel:
        """Return the equations of one step, as those of ``function``.

        Returns:
            The SymbolicModel.

        Example:
            >>> step = robot.function(lambda robot, q, memory: (q, {"x": q}), memory={"x": np.zeros(7)}, period=1.0)
            >>> list(step.symbolic().outputs)
            ['result', 'next_x']
        """
        return self.function.symbolic()

    def to_c(
        self,
        folder: str | Path,
        *,
        name: str | None = None,
        states: Mapping[str, Any] | None = None,
        overwrite: bool = False,
    ) -> list[Path]:
        """Write it as C99: a struct of the memory, ``NAME_reset`` and ``NAME_step``, with a test and a CMake file.

        Args:
            folder: Folder to write to; it is created.
            name: First part of the names in C. Default: made of robot and function.
            states: Inputs of the test by name, (steps, ...) for consecutive steps. Default: random ones.
            overwrite: Replace existing files. Default: False.

        Returns:
            The paths of the files.

        Raises:
            LinkworkError: A file exists, or the name is not a name in C.

        Example:
            >>> observer = robot.function(linkwork.control.MomentumObserver(50.0), period=1e-3)
            >>> [path.name for path in observer.to_c("out")][:2]
            ['panda_momentum_observer.h', 'panda_momentum_observer.c']
        """
        return self.export("c", folder, name=name, states=states, overwrite=overwrite)


def compile_sampled(
    robot: Model | HasModel,
    function: Callable[..., Any],
    /,
    *,
    memory: Mapping[str, Any] | Callable[..., Any] | None = None,
    period: float | None = None,
    name: str | None = None,
    **options: Any,
) -> SampledFunction:
    """Compile a function with memory; ``Robot.function`` explains the arguments."""
    label = name or _label_of(function)
    where = f"function {label!r}"
    memory = getattr(function, "start", None) if memory is None else memory
    period = _checked_period(period, where)
    parameters = _parameters(function, where)
    if memory is None and "memory" in parameters:
        fix = 'give initial values: memory={"integral": np.zeros(7)}, or a function of them'
        raise LinkworkError("this function has memory", where=where, got="no initial values", fix=fix)
    inputs = {key: value for key, value in options.items() if key not in ("methods", "dtype", "backend", "inputs")}
    settings: dict[str, Any] = {key: value for key, value in options.items() if key not in inputs}
    initial = None if memory is None else _initial(robot, memory, period, f"{label}_start", inputs, settings, where)
    shapes = _memory(initial.program) if initial else {}
    for_start = {port.name for port in initial.program.inputs} if initial else set()
    inputs = {key: value for key, value in inputs.items() if key in parameters or key not in for_start}
    model = model_of(robot)
    known: dict[str, Any] = {"t": (), "reference": (3, len(model.mobility.motors))}  # that a simulation gives
    known |= {"commands": (model.commands.size,)} if model.commands.size else {}  # also if they are optional
    inputs |= {key: shape for key, shape in known.items() if key in parameters and key not in inputs}
    if shapes and "memory" not in parameters:
        raise LinkworkError(
            "this function takes no argument 'memory'", where=where, got=", ".join(parameters), fix=FORM
        )

    def step(traced: Any, **values: Any) -> dict[str, Any]:
        states = _Memory({key: values.pop(MEMORY + key) for key in shapes})
        result = function(traced, **values, **{"memory": states} if shapes else {}, **_timed(parameters, period))
        outputs, following = _split(result, shapes, where) if shapes else (result, {})
        outputs = _by_name(outputs, label, where)
        for key, shape in shapes.items():
            if taken := [name for name in (MEMORY + key, NEXT + key) if name in outputs]:
                fix = 'return it by another name: {"my_name": array}'
                raise LinkworkError(f"an output has the name of the memory {key!r}", where=where, got=taken[0], fix=fix)
            outputs[NEXT + key] = _fitting(following[key], shape, f"{where}, next {key!r}")
        return outputs

    arguments = tuple(each for each in parameters if each != "period")
    expanded = {key: parameters[key] for key in arguments if key != "memory"}
    order = [port for key in arguments for port in ([MEMORY + each for each in shapes] if key == "memory" else [key])]
    if twice := [key for key in order if order.count(key) > 1]:
        raise LinkworkError(f"an argument has the name of the memory {twice[0]!r}", where=where, fix="rename it")
    _sign(step, function, [expanded.get(key, _named(key)) for key in order])
    by_name: dict[str, Any] = {MEMORY + key: shape for key, shape in shapes.items()}
    made = compile_function(robot, step, name=label, **settings, **inputs, **by_name)
    kept = {port.name for port in made.program.inputs}
    meanings = {MEMORY + key: f"memory {key}" for key in shapes} | {NEXT + key: f"next {key}" for key in shapes}
    made.label = replace(made.label, meanings={**made.label.meanings, **meanings})
    arguments = (*(key for key in arguments if key == "memory" or key in kept), *made.label.nominal)
    return SampledFunction(made, initial, period, arguments)


def _initial(
    robot: Any,
    memory: Any,
    period: float,
    name: str,
    inputs: Mapping[str, Any],
    settings: dict[str, Any],
    where: str,
) -> Function:
    """The function of the initial values."""
    if isinstance(memory, Mapping):
        values: dict[str, Any] = {key: _finite(value, f"{where}, memory {key!r}") for key, value in memory.items()}
        settings = settings | {"inputs": ()}  # on which these values do not depend
        return compile_function(robot, lambda _: _prefixed(values, where), name=name, **settings)
    if not callable(memory):
        expected = '{"integral": np.zeros(7)}, or a function (robot, q, v) of such a dict'
        raise LinkworkError("memory is not initial values", where=where, got=repr(memory)[:80], expected=expected)
    parameters = _parameters(memory, f"{where}, memory")

    def start(traced: Any, **values: Any) -> Any:
        result = memory(traced, **values, **_timed(parameters, period))
        if not isinstance(result, Mapping):
            got, fix = type(result).__name__, 'return {"momentum": p}'
            raise ShapeError("initial values are a dict", where=f"{where}, memory", got=got, fix=fix)
        return _prefixed(result, where)

    _sign(start, memory, [each for key, each in parameters.items() if key != "period"])
    shapes = {key: value for key, value in inputs.items() if key in parameters}
    return compile_function(robot, start, name=name, **settings, **shapes)


class _Memory(dict):
    """Memory as a function of one's own takes it."""

    def __missing__(self, name: Any) -> Any:
        raise UnknownNameError("memory", str(name), self)


def _prefixed(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    if odd := [name for name in values if not isinstance(name, str)]:
        raise LinkworkError("a memory has a name", where=where, got=repr(odd[0]), expected="a text")
    return {f"{MEMORY}{name}": value for name, value in values.items()}


def _memory(initial: Program) -> dict[str, tuple[int, ...]]:
    """Shapes of the memory by name, from the program of the initial values."""
    return {port.name.removeprefix(MEMORY): port.shape for port in initial.outputs}


def _label_of(function: Any) -> str:
    """Name of a function, or of an object's class: momentum_observer."""
    if hasattr(function, "__name__"):
        return function.__name__.replace("<lambda>", "result")
    name = type(function).__name__
    return "".join("_" * (k > 0 and x.isupper() and not name[k - 1].isupper()) + x.lower() for k, x in enumerate(name))


def _checked_period(period: Any, where: str) -> float:
    if period is None:
        raise LinkworkError("a function with memory has a sample time", where=where, fix="period=1e-3, in s")
    number = isinstance(period, (int, float, np.integer, np.floating)) and not isinstance(period, bool)
    if not number or not 0 < period < np.inf:
        raise ShapeError("out of range", where=f"{where}, period", got=repr(period), expected="a positive number, in s")
    return float(period)


def _parameters(function: Any, where: str) -> dict[str, inspect.Parameter]:
    """Parameters of a function but the first, the robot."""
    if not callable(function):
        raise UnsupportedError("this is not a function", where=where, got=repr(function)[:80], expected=FORM)
    try:
        _robot, *parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        message = "this function has no first argument, the robot"
        raise UnsupportedError(message, where=where, expected=FORM) from error
    if unnamed := [each for each in parameters if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]:
        message, fix = "arguments of a compiled function have names", "name every argument: f(robot, q, v, memory)"
        raise UnsupportedError(message, where=where, got=str(unnamed[0]), fix=fix)
    return {each.name: each for each in parameters}


def _timed(parameters: Mapping[str, Any], period: float) -> dict[str, float]:
    return {"period": period} if "period" in parameters else {}


def _named(name: str) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _sign(step: Any, function: Any, parameters: list[inspect.Parameter]) -> None:
    """Give a function the parameters of which ``compile_function`` makes inputs, and the place for error messages."""
    robot = inspect.Parameter("traced", inspect.Parameter.POSITIONAL_ONLY)
    by_name = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    step.__signature__, step.__wrapped__ = inspect.Signature([robot, *by_name]), function


def _split(result: Any, shapes: Mapping[str, Any], where: str) -> tuple[Any, Mapping[str, Any]]:
    """Outputs and next memory."""
    names = ", ".join(f"{name!r}: ..." for name in shapes)
    fix = f"return outputs, {{{names}}}"
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], Mapping):
        got = type(result).__name__
        raise ShapeError(
            "a function with memory returns its outputs and the next memory", where=where, got=got, fix=fix
        )
    following = result[1]
    if unknown := [name for name in following if name not in shapes]:
        raise UnknownNameError("memory", unknown[0], shapes, where=where)
    if missing := [name for name in shapes if name not in following]:
        got = ", ".join(following) or "none"
        raise LinkworkError(f"the next values of {', '.join(missing)} are missing", where=where, got=got, fix=fix)
    return result


def _by_name(outputs: Any, label: str, where: str) -> dict[str, Any]:
    """Outputs by name; a single one has the name of the function."""
    if not isinstance(outputs, Mapping) and hasattr(outputs, "_asdict"):  # a named tuple
        outputs = outputs._asdict()
    if isinstance(outputs, (tuple, str)) or outputs is None:
        fix = 'return one array, or a dict: {"tau": tau, "error": error}'
        raise ShapeError("the output is not an array", where=where, got=type(outputs).__name__, fix=fix)
    outputs = dict(outputs) if isinstance(outputs, Mapping) else {label: outputs}
    if not outputs:
        raise ShapeError("there are no outputs", where=where, fix=FORM)
    return outputs


def _fitting(value: Any, shape: tuple[int, ...], where: str) -> Any:
    try:
        array = TracedArray(value)
    except ValueError as error:
        raise ShapeError("not a rectangular array", where=where, got=error) from error
    if array.shape != shape:
        raise ShapeError("another shape than the initial value", where=where, got=array.shape, expected=str(shape))
    return array


def _finite(value: Any, where: str) -> np.ndarray:
    try:
        array = np.array(value, float)
    except (TypeError, ValueError) as error:
        raise ShapeError("not an array of numbers", where=where, got=repr(value)[:80]) from error
    if not np.isfinite(array).all():
        raise LinkworkError("not finite", where=where, got=repr(value)[:80])
    return array


def _from_document(saved: Any) -> SampledFunction:
    if (version := entry(saved, "format", str)) != FORMAT:
        raise ValueError(f"unknown format {version!r}")
    function = from_document(entry(saved, "function", dict))
    initial = None if saved.get("initial") is None else from_document(entry(saved, "initial", dict))
    program = function.program
    memory = [] if initial is None else [*_memory(initial.program).items()]
    results = [(port.name, port.shape) for port in program.outputs]
    if results[len(results) - len(memory) :] != [(NEXT + name, shape) for name, shape in memory]:
        raise ValueError("its memory does not fit its outputs")
    if len(results) == len(memory):
        raise ValueError("it has no outputs")
    arguments, names = entry(saved, "arguments", list), []
    for name in arguments:
        names += [MEMORY + key for key, _ in memory] if name == "memory" else [name]
    shapes = {port.name: port.shape for port in program.inputs}
    if names != [*shapes] or any(shapes.get(MEMORY + name) != shape for name, shape in memory):
        raise ValueError("its arguments do not fit its inputs")
    return SampledFunction(function, initial, _checked_period(saved.get("period"), "period"), tuple(arguments))
