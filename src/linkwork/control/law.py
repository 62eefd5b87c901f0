"""Law: a controller made ready for one robot, over plain or traced numbers."""

from __future__ import annotations

import cmath
import inspect
import keyword
import pickle
import random
import traceback
from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any

import numpy as np

from ..errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from ..model import Model, command_vector
from ..model.coordinates import real_numbers
from ..program.graph import Node
from ..scalar import Scalar
from .references import Point

FORM = "controller(t, q, v, reference) -> tau, further gains by keyword only: (t, q, v, reference, *, kp, kd)"
RESULT = ("tau", "commands")  # what a controller may return by name
TRACED = (
    "it runs once, on numbers without a value: use + - * / and whole powers, np.sin, np.cos, np.sqrt, and absolute, "
    "exp, log, tanh, atan2, and instead of branches sign, minimum, maximum, clip of linkwork.control; or give the "
    "torques as arrays over time"
)
NOISE = (
    "draw or compute beforehand what changes from step to step, and give it as arrays over time: wrenches={frame: "
    "(steps, 6)}, torque=(steps, n) instead of a controller, or reference=linkwork.control.Sampled(times, q + noise)"
)

REMEMBERING = (
    "controller(t, q, v, reference, memory) -> tau, {name: rates}, marked by "
    "@linkwork.control.with_memory(name=initial values)"
)
AGAIN = 12  # times that a function is asked while somebody draws random numbers


def with_memory(**initial: Any) -> Callable[[Any], Any]:
    """Mark a controller as one with states of its own: ``@with_memory(integral=np.zeros(7))``, of any shapes.

    It is called as (t, q, v, reference, memory), where ``memory`` has their values by name, and returns tau and, by
    name, their rates of change, which the time loop integrates with those of the robot. The mark is an attribute
    ``memory`` with the initial values, which an object that is called, or what ``for_model`` returns, may have, too.
    """

    def mark(controller: Any) -> Any:
        controller.memory = initial
        return controller

    return mark


class Law:
    """What a simulator calls. ``controller``: a function (t, q, v, reference) -> tau, whose gains, if any, are
    keyword-only parameters; or one ``with_memory``; or an object with ``for_model(model)`` that returns such a
    function, as ``PD`` is. Instead of tau it may return {"tau": ..., "commands": ...}, or one of them.

    ``gains``: the names of its gains; ``needed``: those without a default; ``shapes``: by name, those that a gain may
    have, which is the shape of its default, or any if there are none; ``check_gain``: refuses values out of range;
    ``memory``: initial values by name; ``commanding``: did it give commands when it was called?
    """

    def __init__(self, controller: Any, model: Model):
        self.name = getattr(controller, "__name__", type(controller).__name__)
        self._where = f"controller {self.name!r}"
        if isinstance(controller, type):
            fix = f"give one with its gains, such as {self.name}(...)"
            raise LinkworkError("this is a class of controllers", where=self._where, fix=fix)
        self.model, self.commanding = model, False
        self._function = controller.for_model(model) if hasattr(controller, "for_model") else controller
        try:
            signature = inspect.signature(self._function)
        except (TypeError, ValueError) as error:
            raise LinkworkError("this is not a controller", got=repr(controller), expected=FORM) from error
        self.memory = self._initial(getattr(self._function, "memory", {}))
        places = 5 if self.memory else 4
        parameters = signature.parameters.values()
        by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        required = [p for p in by_place if p.default is p.empty]
        if len(required) > places or (len(by_place) < places and all(p.kind != p.VAR_POSITIONAL for p in parameters)):
            got = f"{self.name}{signature}" + f", with a memory of {', '.join(self.memory)}" * bool(self.memory)
            expected = f"{FORM}; or {REMEMBERING}"
            raise LinkworkError("a controller has other parameters", where=self._where, got=got, expected=expected)
        by_name = [p for p in parameters if p.kind == p.KEYWORD_ONLY]
        self.gains = tuple(p.name for p in by_name)
        self.needed = tuple(p.name for p in by_name if p.default is p.empty)
        self.check_gain = getattr(self._function, "check_gain", lambda name, values, where: None)
        own = getattr(self._function, "gain_shapes", {})  # of laws that take more than the shape of the default
        self.shapes = {p.name: own.get(p.name) or _shapes(None if p.default is p.empty else p.default) for p in by_name}

    def __call__(
        self,
        t: Scalar,
        q: Any,
        v: Any,
        reference: Point | None = None,
        gains: Mapping[str, Any] | None = None,
        memory: Mapping[str, Any] | None = None,
    ) -> list[Scalar]:
        """tau as forward dynamics takes it. ``gains``: scalars, or arrays of them, by name; ``memory``: likewise, as it
        is at first where nothing is said."""
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
        """tau, commands, and the rates of the memory by name, nested lists in its shapes."""
        given = {name: _array(value) for name, value in (gains or {}).items()}
        for name in given:
            if name not in self.gains:
                raise UnknownNameError("gain", name, self.gains, where=self._where)
        if missing := [name for name in self.needed if name not in given]:
            fix = f"gains={{{', '.join(f'{name!r}: ...' for name in missing)}}}, or a default in the function"
            raise LinkworkError("gains are missing", where=self._where, got=", ".join(given) or "none", fix=fix)
        q, v = np.array(q), np.array(v)
        if reference is not None:
            if not isinstance(reference, tuple) or len(reference) != 3:
                got = type(reference).__name__
                raise ShapeError("a reference gives q, v and a", got=got, expected="linkwork.control.Point(q, v, a)")
            reference = Point(*map(_array, reference))
        held = [self._remembered(memory or {})] if self.memory or memory else []

        def run() -> tuple[list[Scalar], list[Scalar], dict[str, Any]]:
            result = self._function(t, q, v, reference, *held, **given)
            acting, rates = self._parted(result) if held else (result, {})
            acting = acting if isinstance(acting, Mapping) else {"tau": acting}
            for name in acting:
                if name not in RESULT:
                    raise UnknownNameError("result of a controller", name, RESULT, where=self._where)
            tau = self._torques(acting["tau"]) if "tau" in acting else [0] * len(self.model.mobility.forced)
            self.commanding = "commands" in acting
            commands = command_vector(self.model.commands, acting.get("commands", {}), self._where)
            return tau, self._entries("a command", commands), self._rates(rates)

        if not any(isinstance(x, Node) for x in (t, *q, *v)):
            return run()
        try:
            return unchanging(run, self._where)
        except (TypeError, AttributeError) as error:
            frames = traceback.extract_tb(error.__traceback__)[3:4]  # the controller's own line
            lines = [f"line {frame.lineno}: {frame.line or '...'}" for frame in frames]
            message, got = "this controller cannot be traced", "\n       ".join([*lines, str(error)])
            raise UnsupportedError(message, where=self._where, got=got, fix=TRACED) from error

    def _initial(self, memory: Any) -> dict[str, np.ndarray]:
        """Copies of what the controller begins with."""
        if not isinstance(memory, Mapping) or not all(isinstance(name, str) for name in memory):
            got, expected = repr(memory)[:80], "initial values by name: {'integral': np.zeros(7)}"
            raise LinkworkError("this is not a memory", where=self._where, got=got, expected=expected)
        for name in memory:
            if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
                expected = "a name as a variable has one, such as integral"
                raise LinkworkError(
                    "a memory cannot be called so", where=self._where, got=repr(name), expected=expected
                )
        found = {}
        for name, value in memory.items():
            found[name] = np.array(real_numbers(value, f"{self._where}, memory {name!r}"))
            if not np.isfinite(found[name]).all():
                raise LinkworkError("not finite", where=f"{self._where}, memory {name!r}", got=value)
        return found

    def _remembered(self, memory: Mapping[str, Any]) -> dict[str, Any]:
        for name, value in memory.items():
            if name not in self.memory:
                raise UnknownNameError("memory", name, self.memory, where=self._where)
            shape = self.memory[name].shape
            if np.shape(value) != shape:
                where = f"{self._where}, memory {name!r}"
                raise ShapeError("wrong shape", where=where, got=np.shape(value), expected=str(shape))
        return {name: _array(value) for name, value in {**self.memory, **memory}.items()}

    def _parted(self, result: Any) -> tuple[Any, Mapping[str, Any]]:
        if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], Mapping):
            parts = ", ".join(type(part).__name__ for part in result) if isinstance(result, tuple) else ""
            got = f"a tuple of {parts or 'nothing'}" if isinstance(result, tuple) else type(result).__name__
            names = ", ".join(f"{name!r}: ..." for name in self.memory)
            message, fix = "a controller with a memory gives tau and rates", f"return tau, {{{names}}}"
            raise ShapeError(message, where=self._where, got=got, fix=fix)
        return result

    def _rates(self, rates: Mapping[str, Any]) -> dict[str, Any]:
        for name in rates:
            if name not in self.memory:
                raise UnknownNameError("memory", name, self.memory, where=f"{self._where}, rates")
        if missing := [name for name in self.memory if name not in rates]:
            got, fix = ", ".join(rates) or "none", f"return tau, {{{', '.join(f'{name!r}: ...' for name in missing)}}}"
            raise LinkworkError("rates of the memory are missing", where=self._where, got=got, fix=fix)
        found = {}
        for name, initial in self.memory.items():
            what = f"the rate of {name!r}"
            try:
                array = np.array(rates[name])
            except ValueError as error:
                raise ShapeError(f"{what} is not an array", where=self._where, got=error) from error
            if array.shape != initial.shape:
                raise ShapeError(
                    f"{what} does not fit its memory", where=self._where, got=array.shape, expected=str(initial.shape)
                )
            entries = np.array(self._entries(what, array.ravel()), dtype=object)
            found[name] = entries.reshape(initial.shape).tolist()
        return found

    def _torques(self, tau: Any) -> list[Scalar]:
        """The entries of tau, zeros filled in where only the motors' are given."""
        mobility, names = self.model.mobility, self.model.names_of(self.model.mobility.motors)
        forced, motors = len(mobility.forced), len(mobility.motors)
        forms = [f"{motors} forces, one per motor: {', '.join(names)}"] * bool(motors)
        forms += [f"{forced} forces, with those on what no motor drives"] * (forced != motors)
        expected = "; or ".join(forms) or "no forces, since nothing moves"
        try:
            array = np.array(tau)
        except ValueError as error:
            raise ShapeError("tau is not a vector", where=self._where, got=error, expected=expected) from error
        if array.ndim == 0 and isinstance(array.item(), (Node, Number)) and motors == 1:
            array = array[None]
        if array.ndim != 1 or len(array) not in (forced, motors):
            got = f"shape {array.shape}" if array.ndim else "one traced number" if isinstance(tau, Node) else repr(tau)
            raise ShapeError("tau does not fit the robot", where=self._where, got=got, expected=expected)
        entries = self._entries("tau", array)
        if len(entries) == forced:
            return entries
        given = dict(zip(mobility.motors, entries, strict=True))
        return [given.get(k, 0) for k in mobility.forced]

    def _entries(self, what: str, array: np.ndarray) -> list[Scalar]:
        return entries(what, array, self._where)


def entries(what: str, array: np.ndarray, where: str) -> list[Scalar]:
    """Of a vector: numbers that are finite, or traced."""
    found = [x.item() if isinstance(x, np.generic) else x for x in array.tolist()]
    for k, x in enumerate(found):
        if not isinstance(x, (Node, int, float, complex)):
            raise ShapeError(f"{what} is not a number", where=f"{where}, entry {k}", got=repr(x))
        if not isinstance(x, Node) and not cmath.isfinite(x):
            raise LinkworkError(f"{what} is not finite", where=f"{where}, entry {k}", got=x)
    return found


def unchanging(run: Callable[[], Any], where: str) -> Any:
    """What ``run`` makes of traced numbers. It is asked twice: equal expressions are one node of the graph, so a
    function of its arguments gives the same nodes, and one of random numbers, clocks or counters does not."""
    drawn = _random_state()
    value = run()
    same = _listed(value) == _listed(run())
    if same and _random_state() != drawn:  # by it, or by another thread: few values may come out the same twice
        same = all(_listed(value) == _listed(run()) for _ in range(AGAIN))
    if same:
        return value
    raise UnsupportedError(
        "its result changes from call to call, and would be frozen at what it is now",
        where=where,
        got="random numbers, a clock, a counter or a memory of earlier calls",
        expected="a function of its arguments alone, which is traced once",
        fix=f"{NOISE}; what it shall remember is integrated: linkwork.control.with_memory",
    )


def _random_state() -> tuple:
    """Of the generators that belong to no one."""
    return random.getstate(), pickle.dumps(np.random.get_state(legacy=False))


def _listed(value: Any) -> Any:
    return [*map(_listed, value)] if isinstance(value, (tuple, list)) else np.array(value, dtype=object).tolist()


def _shapes(default: Any) -> tuple[tuple[int, ...], ...]:
    """The shape of numbers; none of what is no number."""
    try:
        return (np.array(default, float).shape,) if default is not None else ()
    except (TypeError, ValueError):
        return ()


def _array(value: Any) -> Any:
    """A number as it is, anything else as an array."""
    return value if isinstance(value, (Node, Number)) else np.array(value)
