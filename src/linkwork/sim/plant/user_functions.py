"""Functions that act on a robot in a simulation, as programs: controllers, references, commands and wrenches over time.

A function is traced anew for every simulation and known again by the program that this gives. So whatever it reads
(globals, closures, attributes, arrays, other functions) counts as it is at that moment, and stays so in what is
compiled. Controllers and references of ``linkwork.control`` read their fields alone, and are known by these, untraced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from ...control import PD, PID, ComputedTorque, Fourier, Law, PDGravity, Point, Quintic, Trapezoidal
from ...control.law import TRACED, entries, unchanging
from ...errors import ShapeError, UnsupportedError
from ...formulations import sizes
from ...model import Model, SoftLimits, command_vector
from ...program import Port, Program, trace
from ...scalar import Scalar
from .instant import GAIN, MEMORY, REFERENCE

PLAIN = {bool, int, float, str}
READ_FIELDS_ALONE = {PD, PID, PDGravity, ComputedTorque, Quintic, Trapezoidal, Fourier, SoftLimits}


@dataclass(frozen=True)
class Acting:
    """``source``: all that the program of ``run`` is made of, as it was given."""

    source: Any
    run: Callable[[], Program]

    @cached_property
    def program(self) -> Program:
        return self.run()

    @property
    def key(self) -> Any:
        """Equal only for what acts in the same way."""
        return content(self.source) or self.program.digest


def controlled(controller: Any, law: Law, reference: Any, shapes: Mapping[str, tuple[int, ...]]) -> Acting:
    """The torques of a ``law`` made of a ``controller``, its commands if it gives some, and the rates of its memory.
    ``reference``: a function that it follows, if there is one; ``shapes``: those of all inputs, gains among them."""

    def program() -> Program:
        known = sizes(law.model)
        own = [*[REFERENCE] * (REFERENCE in shapes), *(name for name in shapes if name.startswith(GAIN))]
        ports = [Port("t", ()), *(Port(name, (known[name],)) for name in "qv"), *(Port(x, shapes[x]) for x in own)]
        ports += [Port(MEMORY + name, values.shape) for name, values in law.memory.items()]
        return trace("controller", lambda *values: run(dict(zip((x.name for x in ports), values, strict=True))), ports)

    def run(given: Mapping[str, Any]) -> dict[str, Any]:
        gains = {name.removeprefix(GAIN): x for name, x in given.items() if name.startswith(GAIN)}
        memory = {name: given[MEMORY + name] for name in law.memory}
        point = None
        if REFERENCE in given:
            point = Point(*(np.array(row, dtype=object) for row in given[REFERENCE]))
        elif reference is not None:
            point = _at("reference", reference, given["t"])
        tau, commands, rates = law.evaluate(given["t"], given["q"], given["v"], point, gains, memory)
        return {
            "tau": tau,
            **({"commands": commands} if law.commanding else {}),
            **{MEMORY + name: rate for name, rate in rates.items()},
        }

    return Acting((controller, reference), program)


def commanded(function: Callable[[Scalar], Any], model: Model) -> Acting:
    """Commands of force laws over time."""

    def run(t: Scalar) -> dict[str, Any]:
        row = command_vector(model.commands, _at("commands", function, t), "commands")
        return {"commands": entries("a command", row, "commands")}

    return Acting(function, lambda: trace("commands", run, [Port("t", ())]))


def pushed(function: Callable[[Scalar], Any], frame: str) -> Acting:
    """A wrench over time."""
    where = f"wrench on {frame!r}"

    def run(t: Scalar) -> dict[str, Any]:
        row = np.array(_at(where, function, t), dtype=object)
        if row.shape != (6,):
            raise ShapeError("wrong shape", where=where, got=row.shape, expected="(6,)")
        return {"wrench": entries("a force", row, where)}

    return Acting(function, lambda: trace("wrench", run, [Port("t", ())]))


def _at(where: str, function: Callable[[Scalar], Any], t: Scalar) -> Any:
    try:
        return unchanging(lambda: function(t), where)
    except (TypeError, AttributeError) as error:
        raise UnsupportedError("this cannot be traced over time", where=where, got=str(error), fix=TRACED) from error


def content(value: Any) -> Any:
    """Something hashable that is equal only for equal contents; None for what has no contents to compare, such as a
    function or an object of somebody else's class."""
    if value is None or type(value) in PLAIN:
        return (value,)
    match value:
        case bool() | int() | float() | str():  # also NumPy's
            return (value,)
        case np.ndarray() if value.dtype != object:
            return (value.shape, value.dtype.str, value.tobytes())
        case tuple() | list():
            parts = [content(part) for part in value]
        case _ if type(value) in READ_FIELDS_ALONE:
            parts = [(type(value),), *(content(getattr(value, each.name)) for each in fields(value))]
        case _:
            return None
    return None if any(part is None for part in parts) else tuple(parts)
