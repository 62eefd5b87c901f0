"""Outputs of one's own: quantities of the robot and functions of the user, as one program of an instant.

Its inputs have the names of the plant's inputs and outputs. Functions of the user are traced for every simulation, with
any method of each quantity, since the digest is part of the key of the compiled plant. The whole program is traced with
the best methods where the plant is not known yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

from ...compose import TracedRobot
from ...compose.compile_quantities import quantities_by_output
from ...compose.function_ports import named_arguments, named_outputs
from ...compose.method_combinations import candidate_programs
from ...compose.user_code import traced_once
from ...control import Point
from ...errors import LinkworkError, UnknownNameError, UnsupportedError, at_door
from ...formulations import Problem, layouts, methods, sizes
from ...model import Model, NumberInput
from ...pipeline import instructions
from ...program import Port, Program, trace
from ...program.graph import StrictGraph
from ...program.traced_array import TracedArray
from ..trajectory.outputs import RESERVED
from .instant import GAIN, REFERENCE
from .randomisation import is_varied, varied, varied_numbers

Shape = tuple[int, ...]
Results = dict[str, Any]  # arrays by name


@dataclass(frozen=True)
class _Item:
    """A quantity, or a function of the user.

    Attributes:
        function: Called with a TracedRobot and a function from a name to a new array; returns the outputs by name.
        arguments: Names of the arrays.
        names: Names of the outputs; None for a function, which must be called to know them.
        entries: Names of the entries of outputs, where they are not numbered.
    """

    function: Callable[..., Results]
    arguments: tuple[str, ...]
    names: tuple[str, ...] | None = None
    entries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class OwnOutputs:
    """Program of the own outputs of a simulation.

    Args:
        model: Robot as it is simulated.
        outputs: Texts such as "pose:hand", and functions.
        inputs: Shapes of the plant's inputs, by name.
        memory: Parts of the state that belong to controllers and observers, by name.
        frames: Frames of the wrenches.
        reference: Function that the controller follows; None if its samples are an input, or without one.
        payload: Frame that carries the payload.
        has_contacts: Whether contacts on the ground are simulated.
    """

    model: Model
    outputs: Sequence[Any]
    inputs: Mapping[str, Shape]
    memory: Mapping[str, Port]
    frames: tuple[str, ...] = ()
    reference: Callable[..., Any] | None = None
    payload: str = ""
    has_contacts: bool = False

    @property
    def key(self) -> Any:
        """Key for caches, equal only for outputs that compute the same and have the same names."""
        texts = tuple(output if isinstance(output, str) else None for output in self.outputs)
        return texts, tuple(self.names), self._draft[0].digest

    @property
    def takes_work(self) -> bool:
        """Whether a function takes the work done on the robot, which is then part of the state."""
        return any(port.name == "work" for port in self._ports)

    @cached_property
    def names(self) -> list[tuple[str, ...]]:
        """Names of the recorded arrays, for each of ``outputs``."""
        of_functions = iter(self._draft[1])
        by_item = [item.names or next(of_functions) for item in self._items]
        names = [name for each in by_item for name in each]
        for name in names:
            fix = at_door('return a dict with other names: {"my_name": array}', "one command for each")
            if names.count(name) > 1:
                raise LinkworkError("two outputs have the same name", where="outputs", got=repr(name), fix=fix)
            if name in RESERVED or name in self.memory:
                message = "an output cannot have the name of another part of a trajectory"
                raise LinkworkError(message, where="outputs", got=repr(name), fix=fix)
        return by_item

    @cached_property
    def entries(self) -> dict[str, tuple[str, ...]]:
        """Names of the entries of each array that is not one number, in C order."""
        known = {name: entries for item in self._items for name, entries in item.entries.items()}
        ports = ((port.name.partition(" ")[2], port.shape) for port in self._draft[0].outputs)
        return known | {name: _joined(map(range, shape)) for name, shape in ports if shape}

    @cached_property
    def program(self) -> Program:
        """Program by the methods with the fewest instructions."""

        def run(asked: Mapping[str, str], values: Mapping[str, Any]) -> tuple[Results, list[Problem]]:
            robot = self._robot(values, asked)
            results = self._results(self._items, robot, values)
            return _merged(results), [*robot.used.values()]

        programs = [program for _, program in candidate_programs("outputs", self._ports, run, {})]
        return min(programs, key=instructions) if len(programs) > 1 else programs[0]

    @cached_property
    def _draft(self) -> tuple[Program, list[tuple[str, ...]]]:
        """Program of the functions by any methods, and the names of their outputs."""
        functions, names = [item for item in self._items if item.names is None], []

        def run(*values: Any) -> Results:
            by_name = dict(zip((port.name for port in self._ports), values, strict=True))
            results = self._results(functions, self._robot(by_name, None), by_name)
            names.extend(map(tuple, results))
            return {f"{k} {name}": value for k, each in enumerate(results) for name, value in each.items()}

        return trace("outputs", run, self._ports, StrictGraph()), names

    def _results(self, items: Sequence[_Item], robot: TracedRobot, values: Mapping[str, Any]) -> list[Results]:
        return [item.function(robot, lambda name: self._argument(name, values)) for item in items]

    def _robot(self, values: Mapping[str, Any], asked: Mapping[str, str] | None) -> TracedRobot:
        numbers = varied_numbers(self.model, self.inputs, self.payload).values()
        return _SampledRobot(self.model, varied(self.model, values, self.payload), asked, numbers)

    # -- arguments -------------------------------------------------------------------------------------------------

    @cached_property
    def _known(self) -> dict[str, Port]:
        """Inputs of the program by the names of arguments; a reference that is a function follows from t."""
        size, entries = sizes(self.model), self.model.commands.size
        constrained = self.model.constrained or self.has_contacts
        names = ["q", "v", "a", "tau", "v_joints", *["commands"] * bool(entries), *["contacts"] * self.has_contacts]
        ports = [*(Port(name, (size[name],)) for name in names), Port("t", ()), Port("work", ())]
        ports += [Port("constraint_forces", (size["residual"],))] * constrained
        ports += [Port("contact_forces", (size["contacts"], 6))] * self.has_contacts
        ports += [Port("wrenches", (len(self.frames), 6))] * bool(self.frames)
        known = {port.name: port for port in ports}
        if self.reference is not None:
            known[REFERENCE] = known["t"]
        if REFERENCE in self.inputs:
            known[REFERENCE] = Port(REFERENCE, self.inputs[REFERENCE])
        for name, port in self.memory.items():
            known.setdefault(name, port)
        for name in (name for name in self.inputs if name.startswith(GAIN)):
            known.setdefault(name.removeprefix(GAIN), Port(name, self.inputs[name]))
        return known

    @cached_property
    def _ports(self) -> list[Port]:
        """Inputs of the program: what the functions take, and the parameters that differ from sample to sample."""
        taken = [self._known[name] for item in self._items for name in item.arguments]
        parameters = [Port(name, shape) for name, shape in self.inputs.items() if is_varied(name)]
        return [*dict.fromkeys([*taken, *parameters])]

    def _argument(self, name: str, values: Mapping[str, Any]) -> Any:
        """Return an argument of a function, as a new array, which the function may change in place."""
        if name != REFERENCE:
            return TracedArray(values[self._known[name].name])
        if self.reference is None:
            return Point(*map(TracedArray, values[REFERENCE]))
        return Point(*map(TracedArray, self.reference(TracedArray(values["t"]))))

    # -- quantities and functions ----------------------------------------------------------------------------------

    @cached_property
    def _items(self) -> list[_Item]:
        texts = [each for each in self.outputs if isinstance(each, str)]
        quantities = iter(quantities_by_output(texts, None).items() if texts else ())
        return [
            self._quantity(*next(quantities)) if isinstance(each, str) else self._function(each)
            for each in self.outputs
        ]

    def _quantity(self, output: str, definition: tuple[str, str | None]) -> _Item:
        quantity, frame = definition
        problem = Problem(self.model, quantity, frame=frame)
        names = problem.definition.inputs
        if missing := [name for name in names if name not in self._known]:
            raise UnsupportedError(
                f"{quantity} cannot be recorded: a motion does not have its input {missing[0]!r}",
                where="outputs",
                expected=f"quantities of {', '.join(self._known)}",
                fix="write a function of the robot that computes this input, too",
            )
        options: dict[str, Any] = {} if frame is None else {"frame": frame}
        several = len(problem.outputs) > 1
        by_key = {key: f"{output}_{key}" if several else output for key in problem.outputs}

        def run(robot: TracedRobot, argument: Callable[[str], Any]) -> Results:
            result = robot.evaluate(quantity, **{name: argument(name) for name in names}, **options)
            results = dict(zip(by_key.values(), result if several else [result], strict=True))
            return named_outputs(results, output, "outputs")

        entries = {}
        for variable in problem.definition.outputs:
            axes = [variable.along(k) or self._along(n) for k, n in enumerate(variable.shape)]
            if axes:
                entries[by_key[variable.name]] = _joined(axes)
        return _Item(run, names, tuple(by_key.values()), entries)

    def _along(self, size: int | str) -> Sequence[Any]:
        """Names along an axis of this size: those of joints or frames."""
        if isinstance(size, int):
            return range(size)
        if size == "frames":
            return list(self.model.frames)
        layout = layouts(self.model).get(size)
        return layout.names if layout is not None else range(sizes(self.model)[size])

    def _function(self, function: Callable[..., Any]) -> _Item:
        label = getattr(function, "__name__", type(function).__name__).replace("<lambda>", "result")
        where = f"outputs, function {label!r}"
        names = [each.name for each in named_arguments(function, where) if each.default is each.empty]
        for name in names:
            if name not in self._known:
                raise UnknownNameError("argument", name, self._known, where=where)

        def run(robot: TracedRobot, argument: Callable[[str], Any]) -> Results:
            def call() -> Results:
                return named_outputs(function(robot, **{name: argument(name) for name in names}), label, where)

            return traced_once(call, where, function)

        return _Item(run, tuple(names))


class _SampledRobot(TracedRobot):
    """A robot inside a function with the parameters of a sample; without methods it takes the first that it finds."""

    def __init__(self, model: Model, sample: Model, asked: Mapping[str, str] | None, numbers: Iterable[NumberInput]):
        names = ("parameters" if each.inertial else each.name for each in numbers if each.inertial or each.placed)
        super().__init__(model, asked, dict.fromkeys(names))  # which methods are possible; ``sample`` has the values
        self._sample, self._draft = sample, asked is None

    def _problem(self, *args: Any) -> Problem:
        problem = super()._problem(*args)
        if self._sample is self.model:
            return problem
        return replace(problem, model=self._sample, as_inputs=())

    def _with_method(self, problem: Problem) -> Problem:
        if not self._draft:
            return super()._with_method(problem)
        known = methods(problem.quantity)
        fits = [method for method in known if not method.refusal(self.model, **problem.needs)]
        return replace(problem, method=max(fits, key=lambda method: method.candidate)) if known else problem


def _merged(results: Sequence[Results]) -> Results:
    return {name: value for each in results for name, value in each.items()}


def _joined(axes: Any) -> tuple[str, ...]:
    """Names of the entries of an array from the names along its axes."""
    return tuple(".".join(map(str, index)) for index in product(*axes))
