"""Your own functions over a robot's quantities, and several quantities at once, each compiled into one program.

An ordinary Python function runs once, on arrays of graph nodes (``TracedArray``), with a ``TracedRobot`` whose
quantities take and return such arrays. Work that several quantities share is one node of the graph, so it is done once.
"""

from __future__ import annotations

import inspect
import pickle
import random
import traceback
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from keyword import iskeyword
from math import prod
from typing import Any

import numpy as np

from .codegen.optimised import optimised
from .constraints import determines
from .constraints.assembly_loop import assemble, closing_tolerance, known_freedoms
from .errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from .formulations import QUANTITIES, Problem, layouts, methods, sizes
from .formulations.quantity import VARIABLES
from .function import Function
from .metadata import PORT_NAME, Label
from .model import Model, NumberInput, command_vector, number_inputs
from .pipeline import (
    HasModel,
    bound,
    checked_inputs,
    checked_options,
    choose,
    close_methods,
    compile_quantity,
    instructions,
    model_of,
    nominal_of,
    tangents,
)
from .program import PARAMETER, STATE, Port, Program, trace
from .program.graph import Node, StrictGraph
from .program.trace import LEAK
from .program.traced_array import TracedArray, nested_nodes
from .quoting import identifier

ASSEMBLE = "assemble"  # a quantity besides QUANTITIES: it is solved for by a loop
SINGLE = 1e-5  # metres and radians, at which loops are closed in float32
COMBINATIONS = 24  # of methods that are tried; beyond, one quantity after the other
RESERVED = ("out", "threads", "wrenches")  # options of a call
OPTIONS = (  # names arguments cannot have
    "name", "methods", "dtype", "backend", "function", "robot", "self", "inputs", "parameters", "payload",
)  # fmt: skip
AGAIN = 12  # further calls of a function that looks constant while random numbers are drawn
# From methods by quantity, and inputs by name: the results by name, and the quantities that they took.
Run = Callable[[Mapping[str, str], Mapping[str, Any]], tuple[dict[str, Any], list[Problem]]]
TRACED = (
    "the function runs once, on arrays without values: use NumPy's functions and operators, np.where(condition, a, b) "
    "instead of branches, np.stack instead of filling an array; what changes from call to call is an input"
)


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


class TracedRobot:
    """A robot inside a function of your own: its quantities for one state, on traced or plain arrays.

    It has a method for each quantity of ``Robot``, called in the same way: ``robot.bias(q, v)``, ``robot.pose(frame,
    q)``, ``robot.jacobian(frame, q, axes="local")``, ``robot.inverse_dynamics(q, v, a, wrenches={frame: w})``. Traced
    arrays make them part of the program that is being traced; arrays of numbers give arrays of numbers.

    Args:
        robot: A Robot or a Model.
        methods: Method by quantity. Default: the one with the fewest instructions.
        inputs: Values of numbers of the robot, by the names that ``linkwork.compile`` takes for ``inputs``: gravity,
            payloads, friction. Default: its own.

    Example:
        >>> arm = linkwork.TracedRobot(robot)
        >>> arm.gravity(np.zeros(7)).shape
        (7,)
    """

    def __init__(
        self,
        robot: Model | HasModel,
        methods: Mapping[str, str] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ):
        self.model = model_of(robot)
        self.used: dict[tuple[Any, ...], Problem] = {}
        self._methods, self._inputs = dict(methods or {}), dict(inputs or {})

    @property
    def nq(self) -> int:
        """Number of positions."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of independent velocities."""
        return self.model.nv

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in QUANTITIES:
            raise AttributeError(
                f"a robot inside a function has no attribute {name!r}; it has: {', '.join(QUANTITIES)}"
            )
        return partial(self.evaluate, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *QUANTITIES]

    def evaluate(self, quantity: str, /, *values: Any, wrenches: Mapping[str, Any] | None = None, **named: Any) -> Any:
        """Return a quantity of one state.

        Args:
            quantity: Its name.
            *values: Its inputs in order, after the frame if it has one.
            wrenches: Applied force and moment by frame, each (6,), in the frame's axes.
            **named: Inputs by name, and ``frame``, ``axes``, ``parameters``, ``drives`` where the quantity has them.

        Returns:
            The output, or a named tuple of several outputs.
        """
        options = {name: named.pop(name) for name in ("frame", "axes", "drives") if name in named}
        if quantity == "regressor":
            options["parameters"] = named.pop("parameters", "standard")
        if QUANTITIES[quantity].of_frame and "frame" not in options:
            if not values:
                raise LinkworkError(f"{quantity} needs a frame", fix=f'robot.{quantity}("frame", q)')
            options["frame"], values = values[0], values[1:]
        problem = self._problem(quantity, tuple(wrenches or ()), options)
        inputs = self._bound(problem, values, named)
        if wrenches:
            inputs["wrenches"] = np.stack([_array(row) for row in wrenches.values()])
        inputs |= {port: self._inputs[each.name] for port, each in problem.numbers.items()}
        arrays = [_vector(quantity, name, inputs[name], shape) for name, shape in problem.inputs.items()]
        results = problem.evaluate(*arrays)
        outputs = [_output(results[name], shape) for name, shape in problem.outputs.items()]
        return namedtuple("Result", problem.outputs)(*outputs) if len(outputs) > 1 else outputs[0]

    def _problem(self, quantity: str, wrenches: tuple[str, ...], options: Mapping[str, Any]) -> Problem:
        drives = options.get("drives")
        key = quantity, wrenches, *sorted((k, repr(v)) for k, v in options.items())
        if key not in self.used:
            more: dict[str, Any] = {k: v for k, v in options.items() if k not in ("drives", "parameters")}
            more["inputs"] = used_inputs(self.model, quantity, tuple(self._inputs))
            parameters = options.get("parameters", "minimal")
            problem = bound(self.model, quantity, wrenches=wrenches, parameters=parameters, drives=drives, **more)
            self.used[key] = self._with_method(problem)
        return self.used[key]

    def _with_method(self, problem: Problem) -> Problem:
        return _with_method(problem, self._methods)

    def _bound(self, problem: Problem, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs by name; commands of force laws and known forces are zero by default."""
        names = [name for name in problem.definition.inputs if name in problem.inputs]
        if len(values) > len(names):
            raise ShapeError(
                f"{problem.quantity} takes {len(names)} inputs", got=f"{len(values)}", expected=", ".join(names)
            )
        inputs = dict(zip(names, values, strict=False))
        for name, value in named.items():
            if name not in names or name in inputs:
                raise UnknownNameError("input", name, [x for x in names if x not in inputs], where=problem.quantity)
            inputs[name] = value
        for name in {"tau_known", "commands"}.intersection(names):
            if inputs.get(name) is None:
                inputs[name] = [0] * prod(problem.inputs[name])
        if "commands" in inputs:
            inputs["commands"] = command_vector(self.model.commands, inputs["commands"], problem.quantity)
        if missing := [name for name in names if name not in inputs]:
            raise ShapeError(f"{problem.quantity} needs {', '.join(missing)}", expected=", ".join(names))
        return inputs

    def assemble(
        self,
        positions: Any,
        guess: Any,
        *,
        known: Sequence[str] | None = None,
        turns: int = 30,
        tolerance: float | None = None,
    ) -> Any:
        """Return the positions of all joints of a robot with loops, by Newton's steps from a guess.

        The loops close in the assembly mode of the guess if it is near, within about half a radian or metre.
        Derivatives by ``positions`` are those of the closed loops; the guess has none.

        Args:
            positions: Positions of the known joints (n,).
            guess: Positions of all joints (nq,), such as those of the previous step.
            known: Names of the known joints. Default: the motors if they determine all joints, else the independent
                joints.
            turns: Largest number of steps.
            tolerance: Residual at which the loops are closed, in m and rad. Default: as for ``Robot.assemble``.

        Returns:
            Named tuple of q (nq,), solved (1 or 0), residual in m and rad, and turns.

        Raises:
            UnsupportedError: The robot has no loops.
            LinkworkError: The known joints do not determine the others.
        """
        freedoms = _assembled_from(self.model, known)
        size = self.model.coordinates.whole(freedoms).nq
        goal = _vector("assemble", "positions", positions, (size,))
        start = _vector("assemble", "guess", guess, (self.model.nq,))
        limit = closing_tolerance(self.model) if tolerance is None else tolerance
        results = assemble(self.model, freedoms, goal, start, turns, limit)
        shapes = ((self.model.nq,), (), (), ())
        return Assembled(*(_output(value, shape) for value, shape in zip(results, shapes, strict=True)))

    # -- motors, for controllers ---------------------------------------------------------------------------------

    def motor_positions(self, q: Any) -> Any:
        """Return the positions of the active joints, in the order of ``Robot.motor_names``.

        Args:
            q: Positions (nq,).

        Returns:
            One position per motor.
        """
        return _array(q)[list(self.model.motor_places())]

    def motor_velocities(self, q: Any, v: Any) -> Any:
        """Return the velocities of the active joints, which may depend on the independent ones.

        Args:
            q: Positions (nq,).
            v: Independent velocities (nv,).

        Returns:
            One velocity per motor.
        """
        mobility = self.model.mobility
        if set(mobility.motors) <= set(mobility.independent):
            return _array(v)[[mobility.independent.index(k) for k in mobility.motors]]
        return self.joint_velocities(q, v)[list(mobility.motors)]

    def motor_drift(self, q: Any, v: Any) -> Any:
        """Return the accelerations of the motors when the independent accelerations are zero.

        Args:
            q: Positions (nq,).
            v: Independent velocities (nv,).

        Returns:
            One acceleration per motor.
        """
        return self.joint_accelerations(q, v, [0] * self.nv)[list(self.model.mobility.motors)]


Assembled = namedtuple("Assembled", "q solved residual turns")


def _assembled_from(model: Model, known: Sequence[str] | None) -> tuple[int, ...]:
    """Return the dofs of the known joints."""
    if known is None and model.constrained:
        motors = tuple(sorted(set(model.mobility.motors)))
        if len(motors) == len(model.mobility.configuration) and determines(model, motors):
            return motors
    return known_freedoms(model, known)


def _array(value: Any) -> Any:
    array = np.asanyarray(value)
    return TracedArray(array) if array.dtype == object else array


def _vector(quantity: str, name: str, value: Any, shape: tuple[int, ...]) -> Any:
    array = _array(value)
    if array.shape != shape:
        raise ShapeError("wrong shape", where=f"{quantity}, input {name!r}", got=array.shape, expected=str(shape))
    return nested_nodes(array)


def _output(value: Any, shape: tuple[int, ...]) -> Any:
    array = np.array(value, dtype=object).reshape(shape)
    if any(isinstance(x, Node) for x in array.flat):
        return TracedArray(array)
    return array.astype(complex if any(isinstance(x, complex) for x in array.flat) else float)[()]


# -- compile -----------------------------------------------------------------------------------------------------------


def compile(
    robot: Model | HasModel,
    quantity: str | Sequence[str] | Mapping[str, str],
    *,
    method: str | Mapping[str, str] = "auto",
    frame: str | None = None,
    axes: str = "world",
    wrenches: Sequence[str] = (),
    parameters: str = "minimal",
    payload: str | None = None,
    drives: bool | Sequence[str] | None = None,
    inputs: Sequence[str] = (),
    known: Sequence[str] | None = None,
    dtype: Any = "float64",
    backend: str = "native",
) -> Function:
    """Compile one quantity of a robot, or several into one program that does their common work once.

    "assemble" is compiled alone. It closes the loops of a robot: ``q, solved, residual, turns = f(positions, guess)``,
    as ``TracedRobot.assemble``.

    Args:
        robot: A Robot, or its Model.
        quantity: A quantity, a list of quantities, or a dict from output name to quantity. In a list or dict,
            "pose:hand" is the pose of the frame "hand".
        method: A name from the catalog. "auto" takes the method with the fewest instructions for this robot among those
            worth trying (``Method.candidate``), "fastest" the one of them that takes the least time here. For several
            quantities: a dict from quantity to method; those left out are chosen together, by instructions.
        frame: Frame of the quantities that have one, if not given as "pose:hand".
        axes: "world" (default) or "local", for jacobian and jacobian_drift.
        wrenches: Frames on which wrenches act. Adds the input ``wrenches`` of shape (len(wrenches), 6): force, then
            moment about the frame's origin, in its axes, applied to the robot.
        parameters: "minimal" (default) groups the inertial parameters into the fewest that act on the joints, where the
            quantity is about the joints alone. "standard" leaves them as they are; some methods group them themselves.
            "input" adds the input ``parameters`` of shape (bodies, 10), those of each moving body in the order of
            ``Robot.parameters``.
        payload: A frame. Adds the input ``payload`` of shape (10,): mass, centre of mass (3) in that frame, and inertia
            about the centre of mass (xx, xy, xz, yy, yz, zz) in its axes.
        drives: Which parameters of the drives have columns in a regressor, as in ``Robot.regressor``.
        inputs: Numbers of the robot that are inputs, each by its name: "gravity", "parameters:LINK", "payload:FRAME",
            "friction" and others, see the page on inputs. A call that leaves one out takes the robot's own.
        known: Joints whose positions "assemble" takes. Default: the motors if they determine all joints, else the
            independent joints.
        dtype: "float64" (default) or "float32".
        backend: "native" (default), or "interpreter", which runs in NumPy without LLVM.

    Returns:
        The compiled Function. One of several quantities returns a named tuple; an output has the name of its quantity,
        followed by the frame where a quantity occurs more than once.

    Raises:
        UnknownNameError: There is no such quantity, method, frame or option.

    Example:
        >>> f = linkwork.compile(robot, ["inertia_matrix", "bias", "pose:panda_link8"])
        >>> f.signature
        'q(7), v(7) -> inertia_matrix(7,7), bias(7), pose(4,4)'
    """
    options: dict[str, Any] = {"axes": axes, "wrenches": wrenches, "parameters": parameters, "payload": payload}
    options |= {"drives": drives, "inputs": inputs, "dtype": dtype, "backend": backend}
    if isinstance(quantity, str) and quantity == ASSEMBLE:
        return _compile_assembly(model_of(robot), known, options | {"method": method, "frame": frame})
    if known is not None:
        raise UnsupportedError("only assemble has known joints", got=f"known={known!r}")
    if isinstance(quantity, str):
        name, _, of = quantity.partition(":")
        if not isinstance(method, str):
            raise UnsupportedError("one quantity has one method", got=repr(method), fix="method='name'")
        return compile_quantity(robot, name, method=method, frame=of or frame, **options)
    return _several(robot, quantity, method, frame, **options)


def _compile_assembly(model: Model, known: Sequence[str] | None, options: Mapping[str, Any]) -> Function:
    """Compile the positions of all joints from those of the known ones and a guess."""
    usual = {"method": "auto", "axes": "world", "parameters": "minimal"}
    for name, value in options.items():
        if name not in ("dtype", "backend") and value != usual.get(name) and value not in ((), [], None):
            raise UnsupportedError(f"{ASSEMBLE} has no {name}", where=f"robot {model.name!r}", got=f"{name}={value!r}")
    freedoms = _assembled_from(model, known)
    layout, everything = model.coordinates.whole(freedoms).positions, model.coordinates.positions
    tolerance = max(closing_tolerance(model), SINGLE if np.dtype(options["dtype"]) == np.float32 else 0)

    def run(robot: TracedRobot, positions: Any, guess: Any) -> dict[str, Any]:
        return robot.assemble(positions, guess, known=known, tolerance=tolerance)._asdict()

    function = compile_function(
        model, run, name=ASSEMBLE, dtype=options["dtype"], backend=options["backend"],
        positions=Input((layout.size,), "rad (m for a prismatic joint)", f"positions of {', '.join(layout.joints)}"),
        guess=Input((everything.size,), "rad (m for a prismatic joint)", "positions of all joints, near the result"),
    )  # fmt: skip
    label = replace(
        function.label,
        layouts={"positions": layout, "guess": everything, "q": everything},
        meanings={
            **function.label.meanings,
            "q": "positions of all joints",
            "solved": "1 where the loops are closed, else 0",
            "residual": "residual of the loops, m and rad",
            "turns": "number of Newton's steps",
        },
    )
    return Function(function.program, label, function.dtype, function.backend)


def _several(
    robot: Model | HasModel, quantities: Any, method: Any, frame: str | None, *, wrenches: Sequence[str], **options: Any
) -> Function:
    """Compile several quantities into one program."""
    model = model_of(robot)
    axes, drives, inputs = options.pop("axes"), options.pop("drives"), checked_inputs(options.pop("inputs"))
    dtype, wrenches = checked_options(wrenches=wrenches, axes=axes, **options)
    chosen = quantities_by_output(quantities, frame)
    if isinstance(method, str) and method != "auto":
        raise UnsupportedError(
            "several quantities have no common method", got=repr(method), fix='method={"inertia_matrix": "crba"}'
        )
    asked = dict(method) if isinstance(method, Mapping) else {}
    if unknown := [name for name in asked if name not in {each for each, _ in chosen.values()}]:
        raise UnknownNameError("quantity of method=", unknown[0], [name for name, _ in chosen.values()])
    problems = {
        output: bound(
            model,
            name,
            frame=of,
            axes=axes if QUANTITIES[name].has_axes else "world",
            wrenches=wrenches if QUANTITIES[name].takes_wrenches else (),
            parameters="standard"
            if name == "regressor" and options["parameters"] == "input"
            else options["parameters"],
            payload=options["payload"] if name != "regressor" else None,
            drives=drives,
            inputs=used_inputs(model, name, inputs),
        )
        for output, (name, of) in chosen.items()
    }
    if all(not QUANTITIES[name].takes_wrenches for name, _ in chosen.values()) and wrenches:
        raise LinkworkError("none of these quantities takes wrenches", got=", ".join(wrenches))
    shapes: dict[str, tuple[int, ...]] = {}
    for problem in problems.values():
        shapes |= problem.inputs
    numbers: dict[str, NumberInput] = {}
    for problem in sorted(problems.values(), key=lambda problem: -len(problem.numbers)):  # that of most inputs first
        numbers |= {name: each for name, each in problem.numbers.items() if name not in numbers}
    order = [*(name for name in shapes if name not in numbers), *(name for name in numbers if name in shapes)]
    ports = [Port(name, shapes[name], PARAMETER if name in numbers else STATE) for name in order]

    def run(methods: Mapping[str, str], values: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
        results, bound_problems = {}, []
        for output, problem in problems.items():
            each = _with_method(problem, methods)
            bound_problems.append(each)
            made = each.evaluate(*(values[name] for name in each.inputs))
            for key, value in made.items():
                name = output if len(made) == 1 else key if len(problems) == 1 else f"{output}_{key}"
                results[name] = np.array(value, dtype=object).reshape(each.outputs[key])
        return results, bound_problems

    name = "_and_".join(problems) if len("_and_".join(problems)) <= 60 else f"{next(iter(problems))}_and_others"
    meanings = {}
    for output, problem in problems.items():
        known = problem.meanings
        meanings |= {key: known[key] for key in problem.inputs}
        several = len(problem.outputs) > 1
        meanings |= {(f"{output}_{key}" if several else output): known[key] for key in problem.outputs}
    more = wrenches, options["payload"], numbers
    return _compiled(model, name, ports, run, asked, meanings, dtype, options["backend"], *more)


def used_inputs(model: Model, quantity: str, inputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of ``inputs`` on which a quantity may depend: inertia is what a regressor leaves out."""
    numbers = number_inputs(model, inputs)
    return tuple(each.name for each in numbers if not (quantity == "regressor" and each.inertial))


def _with_method(problem: Problem, asked: Mapping[str, str]) -> Problem:
    if not methods(problem.quantity):
        return problem
    asked_one, needs = asked.get(problem.quantity, "auto"), problem.needs
    varied, placed = needs["as_input"], needs["placed"]
    method = choose(problem.model, problem.quantity, asked_one, wrenches=problem.wrenches, varied=varied, placed=placed)
    return replace(problem, method=method)


def quantities_by_output(quantities: Any, frame: str | None) -> dict[str, tuple[str, str | None]]:
    """Return quantity and frame by output name."""
    if isinstance(quantities, Mapping):
        pairs = list(quantities.items())
    elif isinstance(quantities, Sequence):
        pairs = [("", each) for each in quantities]
    else:
        raise UnsupportedError("quantity is a name, a list of names, or a dict", got=repr(quantities))
    if not pairs:
        raise LinkworkError("no quantity to compile", expected='names such as ["inertia_matrix", "bias"]')
    parsed = []
    for output, text in pairs:
        if not isinstance(text, str) or not isinstance(output, str):
            raise UnsupportedError("a quantity is a name", got=repr(text), expected="a text such as 'pose:hand'")
        name, _, of = text.partition(":")
        if name == ASSEMBLE:
            fix = "call robot.assemble(positions, guess) in a function of your own"
            raise UnsupportedError(f"{ASSEMBLE} is compiled alone", got=", ".join(map(str, quantities)), fix=fix)
        if name not in QUANTITIES:
            raise UnknownNameError("quantity", name, QUANTITIES)
        parsed.append((output, name, of or (frame if QUANTITIES[name].of_frame else None)))
    names = [name for _, name, _ in parsed]
    found: dict[str, tuple[str, str | None]] = {}
    for output, name, of in parsed:
        output = output or (name if names.count(name) == 1 else identifier(f"{name}_{of}" if of else name))
        if output in found:
            raise LinkworkError("two outputs have the same name", got=output, fix=f'{{"my_name": "{name}", ...}}')
        _check_port(output, "output")
        found[output] = name, of
    return found


# -- functions of one's own --------------------------------------------------------------------------------------------


def compile_function(
    robot: Model | HasModel,
    function: Callable[..., Any],
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
    _check_port(label, "output")
    where = f"function {label!r}"
    ports, meanings = _ports(function, shapes, model, where)
    numbers = {each.port: each for each in number_inputs(model, checked_inputs(inputs))}
    if taken := [port.name for port in ports if port.name in numbers]:
        raise LinkworkError(
            "an argument has the name of an input", where=where, got=taken[0], fix="rename the argument"
        )
    ports += [Port(name, each.shape, PARAMETER) for name, each in numbers.items()]
    meanings |= {name: ", ".join(filter(None, (each.meaning, each.unit))) for name, each in numbers.items()}

    def run(methods: Mapping[str, str], values: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
        of_robot = {each.name: values[name] for name, each in numbers.items()}
        traced = TracedRobot(model, methods, of_robot)

        def call() -> dict[str, Any]:  # on new arrays: it may change them in place
            arrays = {key: TracedArray(value) for key, value in values.items() if key not in numbers}
            return named_outputs(function(traced, **arrays), label, where)

        results = traced_once(call, where, function)
        return results, [*traced.used.values()]

    for quantity in methods or {}:
        if quantity not in QUANTITIES:
            raise UnknownNameError("quantity of methods=", quantity, QUANTITIES, where=where)
    chosen = dict(methods or {})
    return _compiled(model, label, ports, run, chosen, meanings, dtype, backend, numbers=numbers)


def named_arguments(function: Callable[..., Any], where: str) -> list[inspect.Parameter]:
    """Return the arguments of a function of one's own after the robot, which are passed by name."""
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


def _ports(
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
        _check_port(each.name, "argument")
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


def _check_port(name: str, what: str) -> None:
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
        _check_port(key, "output")
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


def _compiled(
    model: Model,
    name: str,
    ports: Sequence[Port],
    run: Run,
    asked: Mapping[str, str],
    meanings: Mapping[str, str],
    dtype: str,
    backend: str,
    wrenches: tuple[str, ...] = (),
    payload: str | None = None,
    numbers: Mapping[str, NumberInput] = {},
) -> Function:
    """Trace with the combination of methods that gives the fewest instructions, and compile."""
    program, problems = shortest_program(name, ports, run, asked)
    if twice := [port.name for port in program.outputs if port.name in numbers]:
        fix = f'give the output another name: {{"my_name": "{twice[0]}", ...}}'
        raise LinkworkError("an output has the name of an input", where=name, got=twice[0], fix=fix)
    known = layouts(model)
    vectors = {port.name: known[port.name] for port in (*program.inputs, *program.outputs)
               if port.name in known and port.shape == (known[port.name].size,)}  # fmt: skip
    chosen = {problem.quantity: problem.method.name for problem in problems if problem.method is not None}
    label = Label(
        model.name,
        name,
        ", ".join(f"{quantity}: {method}" for quantity, method in chosen.items()),
        layouts=vectors,
        wrenches=wrenches,
        payload=payload or "",
        assumed=tuple(dict.fromkeys(sentence for problem in problems for sentence in problem.assumed)),
        nominal=nominal_of(numbers),
        meanings=meanings,
    )
    along = partial(tangents, model, numbers) if Port("q", (model.nq,)) in ports else None
    return Function(optimised(program), label, dtype, backend, None, along)


def shortest_program(
    name: str, ports: Sequence[Port], run: Run, asked: Mapping[str, str]
) -> tuple[Program, list[Problem]]:
    """Return the program by the combination of methods that gives the fewest instructions, and its quantities."""

    def traced(methods: Mapping[str, str]) -> tuple[Program, list[Problem]]:
        problems: list[Problem] = []

        def call(*values: Any) -> Mapping[str, Any]:
            results, used = run(methods, dict(zip((port.name for port in ports), values, strict=True)))
            problems.extend(used)
            return results

        return trace(name, call, ports, StrictGraph()), problems

    program, problems = traced(asked)
    open_to: dict[str, list[str]] = {}
    for problem in problems:
        if problem.method is not None and problem.quantity not in asked:
            open_to.setdefault(problem.quantity, close_methods(problem))
    for choice in _combinations(open_to, problems):
        other, used = traced({**asked, **choice})
        if instructions(other) < instructions(program):
            program, problems = other, used
    return program, problems


def _combinations(open_to: Mapping[str, list[str]], problems: Sequence[Problem]) -> Iterator[dict[str, str]]:
    """Other choices of methods: all of them if they are few, else those that change one quantity's."""
    first = {problem.quantity: problem.method.name for problem in problems if problem.method is not None}
    if prod(map(len, open_to.values())) <= COMBINATIONS:
        every = (dict(zip(open_to, names, strict=True)) for names in product(*open_to.values()))
        yield from (choice for choice in every if any(first[q] != name for q, name in choice.items()))
        return
    for quantity, names in open_to.items():
        yield from ({quantity: name} for name in names if name != first[quantity])


# -- running a function on traced numbers ------------------------------------------------------------------------------


def traced_once(run: Callable[[], Any], where: str, function: Callable[..., Any], fix: str = TRACED) -> Any:
    """Return what ``run`` makes of traced numbers; what cannot be traced raises with the line of ``function``."""
    try:
        return unchanging(run, where)
    except (TypeError, AttributeError, IndexError, ValueError) as error:
        if isinstance(error, LinkworkError):
            raise
        got = "\n       ".join([*_lines(error, function), str(error)])
        raise UnsupportedError("this function cannot be traced", where=where, got=got, fix=fix) from error


def _lines(error: Exception, function: Callable[..., Any]) -> list[str]:
    """The innermost line of the user's own file on the way to an error."""
    code = getattr(inspect.unwrap(function), "__code__", None) or getattr(type(function).__call__, "__code__", None)
    file = getattr(code, "co_filename", None)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return [f"line {frame.lineno}: {frame.line or '...'}" for frame in frames[-1:]]


def unchanging(run: Callable[[], Any], where: str) -> Any:
    """Return the result of ``run``, which is called twice: equal expressions are one node of the graph, so a function
    of its arguments alone gives the same nodes, and one of random numbers, clocks or counters does not."""
    before = _random_state()
    value = run()
    same = _listed(value) == _listed(run())
    if same and _random_state() != before:  # by it, or by another thread: few values may come out the same twice
        same = all(_listed(value) == _listed(run()) for _ in range(AGAIN))
    if same:
        return value
    raise UnsupportedError(
        "the result changes from call to call, and would be compiled in as a constant",
        where=where,
        got="random numbers, a clock, a counter or a memory of earlier calls",
        expected="a function of its arguments alone, which is traced once",
        fix=NOISE,
    )


NOISE = (
    "make what changes an input; in a simulation, compute beforehand what changes from step to step, and give it as "
    "arrays over time: wrenches={frame: (steps, 6)}, torque=(steps, n) instead of a controller, or "
    "reference=linkwork.control.Sampled(times, q + noise); what a controller remembers is integrated: "
    "linkwork.control.with_memory"
)


def _random_state() -> tuple[Any, ...]:
    """The state of the random generators that all code shares."""
    return random.getstate(), pickle.dumps(np.random.get_state(legacy=False))


def _listed(value: Any) -> Any:
    """Nested lists that compare by identity of nodes."""
    if isinstance(value, Mapping):
        return [[key, _listed(each)] for key, each in value.items()]
    if isinstance(value, (tuple, list)):
        return [*map(_listed, value)]
    if isinstance(value, np.ndarray) and value.ndim:
        return [*map(_listed, value)]
    entry = value.nodes() if isinstance(value, TracedArray) else value
    return id(entry) if isinstance(entry, Node) else repr(entry)  # NaN is not equal to itself
