"""Law: a controller bound to one robot, which runs on numbers or on traced numbers."""

from __future__ import annotations

import cmath
import inspect
import keyword
from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any

import numpy as np

from ..compose.user_code import traced_once
from ..errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from ..model import Model, command_vector
from ..model.coordinates import real_numbers
from ..program.graph import Node
from ..program.traced_array import TracedArray
from ..sampled import SampledFunction
from ..scalar import Scalar
from .references import Point

FORM = "controller(t, q, v, reference) -> tau; gains, if any, after a *: (t, q, v, reference, *, kp, kd)"
RESULTS = ("tau", "commands")  # names of what a controller may return
MEMORY_FORM = (
    "controller(t, q, v, reference, memory) -> tau, {name: rates}, marked by "
    "@linkwork.control.with_memory(name=initial values)"
)


def with_memory(**initial: Any) -> Callable[[Any], Any]:
    """Return a decorator that gives a controller states of its own, such as the integral of an error.

    The controller is called as (t, q, v, reference, memory), where ``memory`` has the values of its states by name. It
    returns tau and a dict of the states' rates of change, which the time loop integrates with the motion. The decorator
    sets an attribute ``memory`` with the initial values. A callable object, or what ``for_model`` returns, may have
    this attribute as well.

    Args:
        **initial: Initial values by name, numbers or arrays of any shape.

    Returns:
        The decorator.

    Example:
        >>> @linkwork.control.with_memory(integral=np.zeros(7))
        ... def controller(t, q, v, reference, memory):
        ...     return -10 * q - v - memory["integral"], {"integral": q}
        >>> robot.simulate(duration=0.01, torque=controller).integral.shape
        (11, 7)
    """

    def mark(controller: Any) -> Any:
        controller.memory = initial
        return controller

    return mark


class Law:
    """A controller bound to one robot, as a simulation calls it.

    Args:
        controller: A function (t, q, v, reference) -> tau whose gains, if any, are keyword-only parameters; a function
            decorated by ``with_memory``; or an object with a method ``for_model(model)`` that returns such a function,
            such as ``PD``. Instead of tau it may return a dict with "tau", "commands" or both.
        model: The robot.

    Attributes:
        gains: Names of the gains.
        needed: Names of gains without a default.
        shapes: Allowed shapes of each gain, usually that of its default; empty if any shape is allowed.
        check_gain: Function (name, values, where) that raises an error for gains out of range.
        memory: Initial values of the states, by name.
        commanding: Whether the last call returned commands.

    Raises:
        LinkworkError: The controller has other parameters, or is a class.

    Example:
        >>> law = linkwork.control.Law(lambda t, q, v, reference, *, kp=10.0: -kp * q, robot.model)
        >>> law.gains, law(0.0, np.ones(7), np.zeros(7))[:2]
        (('kp',), [-10.0, -10.0])
    """

    def __init__(self, controller: Any, model: Model):
        self.name = getattr(controller, "__name__", type(controller).__name__)
        self._where = f"controller {self.name!r}"
        if isinstance(controller, type):
            fix = f"pass an instance with gains, such as {self.name}(...)"
            raise LinkworkError("the controller is a class", where=self._where, fix=fix)
        if isinstance(controller, SampledFunction):
            message = "a function with a sample time is no controller in continuous time"
            raise UnsupportedError(message, where=self._where, got=repr(controller), expected=FORM)
        self.model, self.commanding = model, False
        self._function = controller.for_model(model) if hasattr(controller, "for_model") else controller
        try:
            signature = inspect.signature(self._function)
        except (TypeError, ValueError) as error:
            raise LinkworkError("not a controller", got=repr(controller), expected=FORM) from error
        self.memory = self._initial(getattr(self._function, "memory", {}))
        places = 5 if self.memory else 4
        parameters = signature.parameters.values()
        by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if by_place and by_place[0].name == "robot":
            message, fix = "this is a function of a robot's quantities", "torque=robot.function(f, period=1e-3)"
            raise LinkworkError(message, where=self._where, got=f"{self.name}{signature}", expected=FORM, fix=fix)
        required = [p for p in by_place if p.default is p.empty]
        if len(required) > places or (len(by_place) < places and all(p.kind != p.VAR_POSITIONAL for p in parameters)):
            got = f"{self.name}{signature}" + f", with states {', '.join(self.memory)}" * bool(self.memory)
            expected = f"{FORM}; or {MEMORY_FORM}"
            raise LinkworkError("the controller has wrong arguments", where=self._where, got=got, expected=expected)
        by_name = [p for p in parameters if p.kind == p.KEYWORD_ONLY]
        self.gains = tuple(p.name for p in by_name)
        self.needed = tuple(p.name for p in by_name if p.default is p.empty)
        self.check_gain = getattr(self._function, "check_gain", lambda name, values, where: None)
        shapes = getattr(self._function, "gain_shapes", {})  # of controllers that accept several shapes
        self.shapes = {
            p.name: shapes.get(p.name) or _shapes(None if p.default is p.empty else p.default) for p in by_name
        }

    def __call__(
        self,
        t: Scalar,
        q: Any,
        v: Any,
        reference: Point | None = None,
        gains: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
    ) -> list[Scalar]:
        """Return tau, as ``evaluate`` does."""
        return self.evaluate(t, q, v, reference, gains, memory)[0]

    def evaluate(
        self,
        t: Scalar,
        q: Any,
        v: Any,
        reference: Point | None = None,
        gains: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
    ) -> tuple[list[Scalar], list[Scalar], dict[str, Any]]:
        """Evaluate the controller at one state, on numbers or traced numbers.

        Args:
            t: Time in s.
            q: Positions (nq,).
            v: Velocities (nv,).
            reference: What the controller follows. Default: none.
            gains: Gains by name, numbers or arrays. Default: those of the controller.
            memory: Values of the states by name. Default: the initial values.

        Returns:
            tau of all joints on which forces can act, commands of the force laws, and rates of the states by name, as
            nested lists in their shapes.

        Raises:
            LinkworkError: Gains or rates are missing, or a result is not finite.
            UnsupportedError: The controller cannot be traced, or its result changes from call to call.
        """
        values = {name: _array(value) for name, value in (gains or {}).items()}
        for name in values:
            if name not in self.gains:
                raise UnknownNameError("gain", name, self.gains, where=self._where)
        if missing := [name for name in self.needed if name not in values]:
            fix = f"gains={{{', '.join(f'{name!r}: ...' for name in missing)}}}, or a default in the function"
            raise LinkworkError("gains are missing", where=self._where, got=", ".join(values) or "none", fix=fix)
        q, v = _array(q), _array(v)
        if reference is not None:
            if not isinstance(reference, tuple) or len(reference) != 3:
                got = type(reference).__name__
                raise ShapeError("a reference returns q, v and a", got=got, expected="linkwork.control.Point(q, v, a)")
            reference = Point(*map(_array, reference))
        states = [self._states(memory or {})] if self.memory or memory else []

        def run() -> tuple[list[Scalar], list[Scalar], dict[str, Any]]:
            result = self._function(t, q, v, reference, *states, **values)
            actions, rates = self._split(result) if states else (result, {})
            actions = actions if isinstance(actions, Mapping) else {"tau": actions}
            for name in actions:
                if name not in RESULTS:
                    raise UnknownNameError("result of a controller", name, RESULTS, where=self._where)
            tau = self._torques(actions["tau"]) if "tau" in actions else [0] * len(self.model.mobility.forced)
            self.commanding = "commands" in actions
            commands = command_vector(self.model.commands, actions.get("commands", {}), self._where)
            return tau, self._entries("a command", commands), self._rates(rates)

        if not any(isinstance(x, (Node, TracedArray)) for x in (t, q, v)):
            return run()
        t = TracedArray(t)
        return traced_once(run, self._where, self._function)

    def _initial(self, memory: Any) -> dict[str, np.ndarray]:
        """Copies of the initial values, checked."""
        if not isinstance(memory, Mapping) or not all(isinstance(name, str) for name in memory):
            got, expected = repr(memory)[:80], "initial values by name: {'integral': np.zeros(7)}"
            raise LinkworkError("memory is not a dict of initial values", where=self._where, got=got, expected=expected)
        for name in memory:
            if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
                expected = "a name of a variable, such as integral"
                raise LinkworkError(
                    "a controller state cannot have this name", where=self._where, got=repr(name), expected=expected
                )
        arrays = {}
        for name, value in memory.items():
            arrays[name] = np.array(real_numbers(value, f"{self._where}, memory {name!r}"))
            if not np.isfinite(arrays[name]).all():
                raise LinkworkError("not finite", where=f"{self._where}, memory {name!r}", got=value)
        return arrays

    def _states(self, memory: Mapping[str, Any]) -> dict[str, Any]:
        """Values of all states: those passed, or the initial ones."""
        for name, value in memory.items():
            if name not in self.memory:
                raise UnknownNameError("controller state", name, self.memory, where=self._where)
            shape = self.memory[name].shape
            if np.shape(value) != shape:
                where = f"{self._where}, memory {name!r}"
                raise ShapeError("wrong shape", where=where, got=np.shape(value), expected=str(shape))
        return {name: _array(value) for name, value in {**self.memory, **memory}.items()}

    def _split(self, result: Any) -> tuple[Any, Mapping[str, Any]]:
        """Check that a result is tau and rates."""
        if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], Mapping):
            parts = ", ".join(type(part).__name__ for part in result) if isinstance(result, tuple) else ""
            got = f"a tuple of {parts or 'nothing'}" if isinstance(result, tuple) else type(result).__name__
            names = ", ".join(f"{name!r}: ..." for name in self.memory)
            message, fix = "a controller with states returns tau and their time derivatives", f"return tau, {{{names}}}"
            raise ShapeError(message, where=self._where, got=got, fix=fix)
        return result

    def _rates(self, rates: Mapping[str, Any]) -> dict[str, Any]:
        """Rates of all states as nested lists, checked."""
        for name in rates:
            if name not in self.memory:
                raise UnknownNameError("controller state", name, self.memory, where=f"{self._where}, rates")
        if missing := [name for name in self.memory if name not in rates]:
            got, fix = ", ".join(rates) or "none", f"return tau, {{{', '.join(f'{name!r}: ...' for name in missing)}}}"
            raise LinkworkError("derivatives of controller states are missing", where=self._where, got=got, fix=fix)
        lists = {}
        for name, initial in self.memory.items():
            what = f"the rate of {name!r}"
            try:
                array = np.asarray(_array(rates[name]))
            except ValueError as error:
                raise ShapeError(f"{what} is not an array", where=self._where, got=error) from error
            if array.shape != initial.shape:
                raise ShapeError(
                    f"{what} has another shape than its initial value",
                    where=self._where,
                    got=array.shape,
                    expected=str(initial.shape),
                )
            entries = np.array(self._entries(what, array.ravel()), dtype=object)
            lists[name] = entries.reshape(initial.shape).tolist()
        return lists

    def _torques(self, tau: Any) -> list[Scalar]:
        """Entries of tau, with zeros for joints without a motor if only the motors' are returned."""
        mobility, names = self.model.mobility, self.model.names_of(self.model.mobility.motors)
        forced, motors = len(mobility.forced), len(mobility.motors)
        forms = [f"{motors} forces, one per motor: {', '.join(names)}"] * bool(motors)
        forms += [f"{forced} forces, with those of joints without a motor"] * (forced != motors)
        expected = "; or ".join(forms) or "no forces, since nothing moves"
        try:
            array = np.asarray(_array(tau))
        except ValueError as error:
            raise ShapeError("tau is not a vector", where=self._where, got=error, expected=expected) from error
        if array.ndim == 0 and isinstance(array.item(), (Node, Number)) and motors == 1:
            array = array[None]
        if array.ndim != 1 or len(array) not in (forced, motors):
            got = (
                f"shape {array.shape}"
                if array.ndim
                else "one traced number"
                if isinstance(array.item(), Node)
                else repr(tau)
            )
            raise ShapeError("tau has the wrong number of entries", where=self._where, got=got, expected=expected)
        entries = self._entries("tau", array)
        if len(entries) == forced:
            return entries
        by_motor = dict(zip(mobility.motors, entries, strict=True))
        return [by_motor.get(k, 0) for k in mobility.forced]

    def _entries(self, what: str, array: np.ndarray) -> list[Scalar]:
        return entries(what, array, self._where)


def entries(what: str, array: np.ndarray, where: str) -> list[Scalar]:
    """Return the entries of a vector, finite numbers or traced ones; raise an error for others."""
    array = np.asarray(_array(array))
    numbers = [x.item() if isinstance(x, np.generic) else x for x in array.tolist()]
    for k, x in enumerate(numbers):
        if not isinstance(x, (Node, int, float, complex)):
            raise ShapeError(f"{what} is not a number", where=f"{where}, entry {k}", got=repr(x))
        if not isinstance(x, Node) and not cmath.isfinite(x):
            raise LinkworkError(f"{what} is not finite", where=f"{where}, entry {k}", got=x)
    return numbers


def _shapes(default: Any) -> tuple[tuple[int, ...], ...]:
    """Shape of a default; none if it is not numeric."""
    try:
        return (np.array(default, float).shape,) if default is not None else ()
    except (TypeError, ValueError):
        return ()


def _array(value: Any) -> Any:
    """Return a number unchanged, anything else as an array; an array of traced numbers behaves as one of numbers."""
    if isinstance(value, Number):
        return value
    array = np.array(value)
    return TracedArray(array) if array.dtype == object else array
