"""Functions with a sample time in a simulation: controllers whose tau is held, and observers.

Each has these parts of the state: its memory; its outputs, which are held between samples; the next memory, which
becomes the memory when the step ends, so that both are known when a state is recorded; and the number of steps until
its next sample. The programs that advance x hold all of them, and ``TimeLoop.samples`` evaluate the functions that are
due before a state is recorded, the controller first: observers see its tau.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control import Point
from ...derive import vjp
from ...errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError, at_door
from ...formulations import sizes
from ...model import Model
from ...program import Port, interpret, trace
from ...program.graph import StrictGraph
from ...program.replay import flattened, nested, replay
from ...sampled import SampledFunction
from ...scalar import less, where
from ...targets.sampled_listing import MEMORY, NEXT
from .instant import GAIN, REFERENCE, SAMPLED
from .user_functions import UserFunction

if TYPE_CHECKING:
    from .instant import Instant

KNOWN = ("t", "q", "v", "tau", "commands", REFERENCE)  # arguments that a simulation gives
ACTIONS = ("tau", "commands")  # outputs of a controller that act
WHOLE = 1e-6  # largest deviation of a period from a whole number of steps, in steps


@dataclass(frozen=True)
class Sampled:
    """A function with a sample time as part of a plant.

    Attributes:
        function: The function.
        acts: Whether it is the controller, whose tau and commands act on the robot.
    """

    function: SampledFunction
    acts: bool = False

    @property
    def name(self) -> str:
        """Its name, which begins the names of its memory and outputs in a simulation."""
        return self.function.program.name

    @property
    def key(self) -> tuple[Any, ...]:
        """Key for caches."""
        function = self.function
        programs = [each.program for each in (function.function, function.initial) if each is not None]
        digests = (program.digest for program in programs)
        numbers = tuple(nominal.values for nominal in function.label.nominal.values())
        return self.name, self.acts, function.period, function.arguments, tuple(function.memory), numbers, *digests

    @property
    def memory(self) -> dict[str, str]:
        """Name in the simulation -> name in the function, of the memory."""
        return {f"{self.name}_memory_{name}": name for name in self.function.memory}

    @property
    def outputs(self) -> dict[str, str]:
        """Name in the simulation -> name in the function, of the outputs."""
        return {f"{self.name}_{name}": name for name in self.function.outputs}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of memory and outputs by their names in the simulation."""
        shapes = self.function.memory, self.function.outputs
        return {
            name: each[of] for each, names in zip(shapes, (self.memory, self.outputs), strict=True)
            for name, of in names.items()
        }  # fmt: skip

    @property
    def gains(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs that are gains of the simulation."""
        ports = {port.name: port.shape for port in self.function.program.inputs}
        return {name: ports[name] for name in self.function.arguments if name != "memory" and name not in KNOWN}

    @property
    def _nominal(self) -> dict[str, np.ndarray]:
        """The robot's own values of those inputs that are its numbers."""
        nominal = self.function.label.nominal
        return {port.name: nominal[port.name].array(port) for port in self.function.program.inputs
                if port.name in nominal}  # fmt: skip

    @property
    def held_ports(self) -> list[Port]:
        """Parts of the state that a sample computes: outputs and next memory."""
        ports = [Port(SAMPLED + name, self.shapes[name]) for name in self.outputs]
        return ports + [Port(NEXT + name, self.shapes[name]) for name in self.memory]

    def sampled(self, instant: Instant) -> dict[str, Any]:
        """Outputs and next memory after a sample where it is due, else as they are."""
        outputs, following = self.results(instant)
        due = self.due(instant.values)
        return {name: chosen(due, made, instant.values[name]) for name, made in {**outputs, **following}.items()}

    def results(self, instant: Instant) -> tuple[dict[str, Any], dict[str, Any]]:
        """Outputs and next memory at an instant, by their names in the state."""
        function, values = self.function, instant.values
        known: dict[str, Any] = {"t": instant.t, "q": instant.q, "v": instant.v}
        known |= {name: values[GAIN + name] if GAIN + name in values else self._nominal[name] for name in self.gains}
        known |= {MEMORY + of: values[SAMPLED + name] for name, of in self.memory.items()}
        for name in {"tau", "commands"}.intersection(function.arguments):
            known[name] = getattr(instant, name)
        if REFERENCE in function.arguments:
            known[REFERENCE] = instant.reference_rows
        program = function.program
        nodes = replay(program, flattened(known, program.inputs))
        made = nested([nodes[k] for k in program.results], program.outputs)
        outputs = {SAMPLED + name: made[of] for name, of in self.outputs.items()}
        return outputs, {NEXT + name: made[NEXT + of] for name, of in self.memory.items()}

    def due(self, values: Mapping[str, Any]) -> Any:
        """1 if it is evaluated in this step, else 0."""
        return less(values[self.countdown], 0.5)

    @property
    def countdown(self) -> str:
        """Name of the part of the state with the number of steps until its next sample."""
        return f"steps until {self.name}"

    def advanced(self, values: Mapping[str, Any], dt: Any) -> dict[str, Any]:
        """Memory and countdown at the end of a step."""
        due, parts = self.due(values), {}
        for name in self.memory:
            parts[SAMPLED + name] = chosen(due, values[NEXT + name], values[SAMPLED + name])
        count = values[self.countdown]
        return parts | {self.countdown: where(due, self.function.period / dt - 1, count - 1)}

    def start(self, q: np.ndarray, v: np.ndarray, given: Collection[str]) -> dict[str, np.ndarray]:
        """Initial memory by its names in the simulation, from states (samples, n); ``given``: names of gains."""
        values = {"q": q, "v": v} | {name: x for name, x in self._nominal.items() if name not in given}
        names = [port.name for port in self.function.initial.program.inputs] if self.function.initial else []
        if unknown := [name for name in names if name not in values]:
            got, fix = ", ".join(unknown), f"give memory={{{self.name!r}: step.start(...)}}"
            message = "the initial memory depends on more than the initial state"
            raise LinkworkError(message, where=f"function {self.name!r}", got=got, fix=fix)
        memory = self.function.start(**{name: values[name] for name in names})
        return {name: memory[of] for name, of in self.memory.items()}

    def start_bars(self, q: np.ndarray, v: np.ndarray, bars: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return bars of q and v by name from those of initial memory, by its names in the simulation."""
        if self.function.initial is None or not bars:
            return {}
        program, values = self.function.initial.program, {"q": q, "v": v, **self._nominal}
        names = [port.name for port in program.inputs]
        wrt = [name for name in names if name in ("q", "v")]
        taken_back = vjp(program, wrt, [MEMORY + self.memory[name] for name in bars])
        results = interpret(taken_back, [*(values[name] for name in names), *bars.values()])
        return dict(zip(wrt, results, strict=True))


def chosen(condition: Any, if_true: Any, if_false: Any) -> Any:
    """Choose entry by entry between nested lists."""
    first, second = np.array(if_true, dtype=object), np.array(if_false, dtype=object)
    pairs = zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)
    entries = np.empty(first.size, dtype=object)
    entries[:] = [where(condition, x, y) for x, y in pairs]
    return entries.reshape(first.shape).tolist()


def state_ports(functions: Sequence[Sampled]) -> list[Port]:
    """Parts of the state that belong to functions with a sample time."""
    ports = []
    for each in functions:
        ports += [Port(SAMPLED + name, each.shapes[name]) for name in each.memory]
        ports += [*each.held_ports, Port(each.countdown, ())]
    return ports


def acting(functions: Sequence[Sampled], model: Model, values: Mapping[str, Any], action: str) -> list[Any] | None:
    """Tau of all joints on which forces can act, or commands, that the controller holds; None without one."""
    for each in functions:
        if not each.acts or action not in each.function.outputs:
            continue
        held = list(values[SAMPLED + f"{each.name}_{action}"])
        mobility = model.mobility
        if action == "commands" or len(held) == len(mobility.forced):
            return held
        by_motor = dict(zip(mobility.motors, held, strict=True))
        return [by_motor.get(k, 0) for k in mobility.forced]
    return None


def checked(model: Model, torque: Any, observers: Any) -> tuple[Sampled, ...]:
    """Return the functions with a sample time of a simulation, the controller first; raise an error for others."""
    functions = [Sampled(torque, acts=True)] if isinstance(torque, SampledFunction) else []
    several = observers if isinstance(observers, (list, tuple)) else [] if observers is None else [observers]
    for each in several:
        if not isinstance(each, SampledFunction):
            fix = "robot.function(observer, memory=..., period=...)"
            raise UnsupportedError("not a function with a sample time", where="observers", got=repr(each)[:80], fix=fix)
        functions.append(Sampled(each))
    names = [each.name for each in functions]
    if twice := [name for name in names if names.count(name) > 1]:
        fix = "compile one of them under another name: robot.function(..., name='other')"
        raise LinkworkError("two functions have the same name", where="observers", got=twice[0], fix=fix)
    names = [name for each in functions for name in each.shapes]
    if twice := [name for name in names if names.count(name) > 1]:
        fix = "compile one of the functions under another name: robot.function(..., name='other')"
        raise LinkworkError(
            "two functions have outputs or memory of the same name", where="observers", got=twice[0], fix=fix
        )
    for each in functions:
        _check(model, each)
    return tuple(functions)


def _check(model: Model, each: Sampled) -> None:
    function, size = each.function, sizes(model)
    where_ = f"function {each.name!r}"
    motors = len(model.mobility.motors)
    if function.dtype != "float64":
        got, fix = function.dtype, "compile it without dtype"
        raise UnsupportedError("simulations compute in float64", where=where_, got=got, fix=fix)
    expected = {name: (size[name],) for name in ("q", "v", "tau", "commands") if name in size}
    expected |= {"t": (), REFERENCE: (3, motors)}
    for port in function.program.inputs:
        if port.name in expected and port.name in function.arguments and port.shape != expected[port.name]:
            robot, shape = f"robot {model.name!r}", str(expected[port.name])
            message = f"its input {port.name!r} does not fit {robot}"
            raise ShapeError(message, where=where_, got=port.shape, expected=shape)
    if not each.acts:
        return
    if taken := [name for name in ACTIONS if name in function.arguments]:
        message = f"a controller cannot take {taken[0]}, which it determines"
        raise UnsupportedError(message, where=where_, fix="run it as one of the observers")
    if not set(ACTIONS).intersection(function.outputs):
        got, fix = ", ".join(function.outputs), 'return {"tau": tau}, or run it as one of the observers'
        raise LinkworkError("a controller has an output tau or commands", where=where_, got=got, fix=fix)
    forms = {"tau": [(size["tau"],), (motors,)], "commands": [(model.commands.size,)]}
    for action in ACTIONS:
        if action in function.outputs and (shape := function.outputs[action]) not in forms[action]:
            expected_shape = " or ".join(map(str, dict.fromkeys(forms[action])))
            raise ShapeError(f"its output {action} does not fit", where=where_, got=shape, expected=expected_shape)


def check_periods(functions: Sequence[Sampled], dt: float) -> None:
    """Raise an error unless each period is a whole number of steps."""
    for each in functions:
        period = each.function.period
        steps = max(round(period / dt), 1)
        if abs(period / dt - steps) > WHOLE:
            forms = at_door("dt={:.15g}, or period={:.15g}", "--dt {:.15g}, or --period {:.15g}")
            fix = forms.format(period / max(-(-period // dt), 1), steps * dt)
            got = f"period {period:.15g}, dt {dt:.15g}"
            message = "the sample time is not a whole number of steps"
            raise LinkworkError(message, where=f"function {each.name!r}", got=got, fix=fix)


def gain_shapes(functions: Sequence[Sampled]) -> dict[str, tuple[int, ...]]:
    """Shapes of the gains of all functions; those of the same name are the same gain."""
    shapes: dict[str, tuple[int, ...]] = {}
    for each in functions:
        for name, shape in each.gains.items():
            if shapes.setdefault(name, shape) != shape:
                got, fix = f"{shapes[name]} and {shape}", "rename one of them"
                raise ShapeError(f"two functions have a gain {name!r} of different shapes", got=got, fix=fix)
    return shapes


def flat_memory(functions: Sequence[Sampled], memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return initial values by their names in the simulation, from those of each function by its name."""
    flat = {name: value for name, value in memory.items() if not isinstance(value, Mapping)}
    by_name = {each.name: each for each in functions}
    for name, values in memory.items():
        if not isinstance(values, Mapping):
            continue
        if name not in by_name:
            raise UnknownNameError("function with memory", name, by_name, where="memory")
        for key, value in values.items():
            if key not in by_name[name].function.memory:
                raise UnknownNameError("memory", key, by_name[name].function.memory, where=f"memory[{name!r}]")
            flat[f"{name}_memory_{key}"] = value
    return flat


def reference_function(reference: Any, motors: int) -> UserFunction:
    """Return the function of the rows q, v, a of a reference over time."""

    def run(t: Any) -> dict[str, Any]:
        point = reference(t)
        rows = [np.array(part, dtype=object) for part in Point(*point)]
        if any(row.shape != (motors,) for row in rows):
            got, expected = ", ".join(str(row.shape) for row in rows), f"({motors},), one entry per motor"
            raise ShapeError("the reference does not fit", where="reference", got=got, expected=expected)
        return {REFERENCE: [row.tolist() for row in rows]}

    return UserFunction(reference, lambda: trace("reference", run, [Port("t", ())], StrictGraph()))
