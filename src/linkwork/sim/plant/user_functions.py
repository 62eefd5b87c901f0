"""User functions in a simulation, as programs: controllers, references, commands and wrenches over time.

A function is traced again for every simulation, and the digest of its program is the key of the compiled plant. So the
values that it reads at that moment (globals, closures, attributes, arrays, other functions) are compiled in.
Controllers and references of ``linkwork.control`` depend on their fields alone; these are the key, without tracing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from ...compose.user_code import traced_once
from ...control import PD, PID, ComputedTorque, Fourier, Law, PDGravity, Point, Quintic, Trapezoidal
from ...control.law import entries
from ...errors import ShapeError
from ...formulations import sizes
from ...model import Model, SoftLimits, command_vector
from ...program import Port, Program, trace
from ...program.graph import StrictGraph
from ...scalar import Scalar
from .instant import GAIN, MEMORY, REFERENCE

PLAIN = {bool, int, float, str}
DEPEND_ON_FIELDS = {PD, PID, PDGravity, ComputedTorque, Quintic, Trapezoidal, Fourier, SoftLimits}


@dataclass(frozen=True)
class UserFunction:
    """A function to be traced; ``source`` is everything that the program depends on, as the user passed it."""

    source: Any
    trace: Callable[[], Program]

    @cached_property
    def program(self) -> Program:
        """Traced program."""
        return self.trace()

    @property
    def key(self) -> Any:
        """Key for caches, equal only for functions that compute the same."""
        return content_key(self.source) or self.program.digest


def controller_function(
    controller: Any, law: Law, reference: Any, shapes: Mapping[str, tuple[int, ...]]
) -> UserFunction:
    """Return the function of torques, commands if the controller returns some, and rates of its memory.

    Args:
        controller: The controller as the user passed it.
        law: The same, made ready for the robot.
        reference: Function that it follows; None if samples of it are an input.
        shapes: Shapes of all inputs, gains among them.
    """

    def program() -> Program:
        size = sizes(law.model)
        gains = [GAIN + name for name in law.gains if GAIN + name in shapes]
        inputs = [*[REFERENCE] * (REFERENCE in shapes), *gains]
        ports = [Port("t", ()), *(Port(name, (size[name],)) for name in "qv"), *(Port(x, shapes[x]) for x in inputs)]
        ports += [Port(MEMORY + name, values.shape) for name, values in law.memory.items()]
        return trace(
            "controller",
            lambda *values: run(dict(zip((x.name for x in ports), values, strict=True))),
            ports,
            StrictGraph(),
        )

    def run(values: Mapping[str, Any]) -> dict[str, Any]:
        gains = {name.removeprefix(GAIN): x for name, x in values.items() if name.startswith(GAIN)}
        memory = {name: values[MEMORY + name] for name in law.memory}
        point = None
        if REFERENCE in values:
            point = Point(*(np.array(row, dtype=object) for row in values[REFERENCE]))
        elif reference is not None:
            point = _traced("reference", reference, values["t"])
        tau, commands, rates = law.evaluate(values["t"], values["q"], values["v"], point, gains, memory)
        return {
            "tau": tau,
            **({"commands": commands} if law.commanding else {}),
            **{MEMORY + name: rate for name, rate in rates.items()},
        }

    return UserFunction((controller, reference), program)


def command_function(function: Callable[[Scalar], Any], model: Model) -> UserFunction:
    """Return the function of the force laws' commands over time."""

    def run(t: Scalar) -> dict[str, Any]:
        row = command_vector(model.commands, _traced("commands", function, t), "commands")
        return {"commands": entries("a command", row, "commands")}

    return UserFunction(function, lambda: trace("commands", run, [Port("t", ())], StrictGraph()))


def wrench_function(function: Callable[[Scalar], Any], frame: str) -> UserFunction:
    """Return the function of a wrench over time."""
    where = f"wrench on {frame!r}"

    def run(t: Scalar) -> dict[str, Any]:
        row = np.array(_traced(where, function, t), dtype=object)
        if row.shape != (6,):
            raise ShapeError("wrong shape", where=where, got=row.shape, expected="(6,)")
        return {"wrench": entries("a force", row, where)}

    return UserFunction(function, lambda: trace("wrench", run, [Port("t", ())], StrictGraph()))


def _traced(where: str, function: Callable[[Scalar], Any], t: Scalar) -> Any:
    return traced_once(lambda: function(t), where, function)


def content_key(value: Any) -> Any:
    """Return a hashable key that is equal only for equal contents.

    None for a value whose contents cannot be compared, such as a function or an object of a user's class.
    """
    if value is None or type(value) in PLAIN:
        return (value,)
    match value:
        case bool() | int() | float() | str():  # subclasses, such as NumPy's floats
            return (value,)
        case np.ndarray() if value.dtype != object:
            return (value.shape, value.dtype.str, value.tobytes())
        case tuple() | list():
            parts = [content_key(part) for part in value]
        case _ if type(value) in DEPEND_ON_FIELDS:
            parts = [(type(value),), *(content_key(getattr(value, each.name)) for each in fields(value))]
        case _:
            return None
    return None if any(part is None for part in parts) else tuple(parts)
