"""A robot inside a function that is traced: its quantities take and return arrays of graph nodes."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ..errors import ShapeError, UnknownNameError
from ..formulations import QUANTITIES, Problem
from ..model import Model, command_vector, number_inputs
from ..pipeline import HasModel, bound, checked_frame, model_of
from ..program.graph import Node
from ..program.traced_array import TracedArray, nested_nodes
from .method_combinations import with_method

OPTIONS = ("frame", "axes", "drives", "known", "turns", "tolerance")  # of quantities, besides wrenches and parameters


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
        dtype: Number type of the function, "float64" (default) or "float32".

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
        dtype: str = "float64",
    ):
        self.model = model_of(robot)
        self.used: dict[tuple[Any, ...], Problem] = {}
        self._methods, self._inputs, self._dtype = dict(methods or {}), dict(inputs or {}), dtype

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
                ``assemble`` has ``known``, names of the known joints; ``turns``, the largest number of steps, 30 by
                default; and ``tolerance``, the residual at which the loops are closed, in m and rad.

        Returns:
            The output, or a named tuple of several outputs.
        """
        options = {name: named.pop(name) for name in OPTIONS if name in named}
        if quantity == "regressor":
            options["parameters"] = named.pop("parameters", "standard")
        if QUANTITIES[quantity].of_frame and "frame" not in options:
            options["frame"], values = checked_frame(quantity, *values[:1]), values[1:]
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
        key = quantity, wrenches, *sorted((k, repr(v)) for k, v in options.items())
        if key not in self.used:
            numbers = used_inputs(self.model, quantity, tuple(self._inputs))
            problem = bound(self.model, quantity, wrenches=wrenches, inputs=numbers, dtype=self._dtype, **options)
            self.used[key] = self._with_method(problem)
        return self.used[key]

    def _with_method(self, problem: Problem) -> Problem:
        return with_method(problem, self._methods)

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


def used_inputs(model: Model, quantity: str, inputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of ``inputs`` on which a quantity may depend: inertia is what a regressor leaves out."""
    numbers = number_inputs(model, inputs)
    return tuple(each.name for each in numbers if not (quantity == "regressor" and each.inertial))
