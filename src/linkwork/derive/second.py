"""Second derivatives of programs.

Along tangents that do not commute (rotations of a body), the second derivative depends on the order. Here it is the
second derivative of f(integrate(q, d)) with respect to d at zero. It is symmetric: the mean of both orders of nested
derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from ..program import Port, Program
from ..program.collector import collector_at_rest
from ..program.replay import assembled, input_nodes, replayed, split
from .programs import Tangents, jacobian, jvp, vjp


@collector_at_rest()
def hessian(program: Program, wrt: Sequence[str], of: Sequence[str], tangents: Tangents | None = None) -> Program:
    """Return the program of ``d2OUTPUT_dINPUT_dINPUT`` for each output and pair of inputs, in the order of ``wrt``.

    Blocks of one input are symmetric to the last bit.
    """
    tangents = tangents or {}
    first = jacobian(program, wrt, of, tangents)
    nested = jacobian(first, wrt, [port.name for port in first.outputs], tangents)
    found = replayed(nested, split(input_nodes(program.inputs), program.inputs))
    shapes = {port.name: port.shape for port in (*program.outputs, *first.outputs, *nested.outputs)}
    outputs: dict[Port, list[Any]] = {}
    for name in (port.name for port in program.outputs if port.name in of):
        size = len(shapes[name])
        for k, a in enumerate(wrt):
            for b in wrt[k:]:
                key = f"dd{name}_d{a}_d{b}"
                flat, shape = found[key], shapes[key]
                if a == b:
                    columns = prod(shapes[f"d{name}_d{a}"][size:])
                    flat = _symmetric(flat, columns, both=a in tangents)
                outputs[Port(f"d2{name}_d{a}_d{b}", shape)] = flat
    return assembled(f"{program.name}_hessian", program.inputs, outputs)


def _symmetric(flat: list[Any], n: int, both: bool) -> list[Any]:
    """Return consecutive square blocks made symmetric.

    Entries above the diagonal are copies of those below or, with ``both``, entries are the mean of the two.
    """
    made = []
    for start in range(0, len(flat), n * n or 1):
        for i in range(n):
            for j in range(n):
                low, high = flat[start + max(i, j) * n + min(i, j)], flat[start + min(i, j) * n + max(i, j)]
                made.append(0.5 * (low + high) if both and i != j else low)
    return made


@collector_at_rest()
def hvp(program: Program, wrt: Sequence[str], of: Sequence[str], tangents: Tangents | None = None) -> Program:
    """``INPUT_bar``: the Hessian of the sum of all outputs times ``OUTPUT_bar``, times the direction ``dINPUT``."""
    tangents = tangents or {}
    orders = [_along(vjp(program, wrt, of, tangents), wrt, tangents)]
    if any(name in tangents for name in wrt):
        orders.append(_of_slope(jvp(program, wrt, of, tangents), wrt, of, tangents))
    inputs = orders[0].inputs
    given = split(input_nodes(inputs), inputs)
    found = [replayed(order, given) for order in orders]
    outputs = {}
    for port, names in zip(orders[0].outputs, zip(*found, strict=True), strict=True):
        flats = [each[name] for each, name in zip(found, names, strict=True)]
        mean = flats[0] if len(flats) == 1 else [0.5 * (x + y) for x, y in zip(*flats, strict=True)]
        outputs[Port(port.name.removeprefix("d"), port.shape)] = mean
    return assembled(f"{program.name}_hvp", inputs, outputs)


def _along(gradient: Program, wrt: Sequence[str], tangents: Tangents) -> Program:
    """Return the derivative of a gradient along the direction d."""
    return jvp(gradient, wrt, [port.name for port in gradient.outputs], tangents)


def _of_slope(slope: Program, wrt: Sequence[str], of: Sequence[str], tangents: Tangents) -> Program:
    """Return the gradient of the slope along d with respect to the inputs of the first program."""
    made = vjp(slope, wrt, [f"d{name}" for name in of], tangents)
    names = {f"d{name}_bar": f"{name}_bar" for name in of}
    renamed = tuple(replace(port, name=names.get(port.name, port.name)) for port in made.inputs)
    return replace(made, inputs=renamed)
