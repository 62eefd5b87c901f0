"""Forward and reverse mode over a straight list of instructions.

Both work on the values of a program as nodes of a graph (``replay``). Equal expressions are one node there, so what
columns, rows and the program itself have in common is computed once, and structural zeros vanish.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..program import Op, Program
from ..program.graph import Node
from ..scalar import is_zero, where
from .slopes import slopes

Column = dict[int, Any]  # direction -> slope along it; what is not there is zero


def forward(program: Program, values: Sequence[Any], seeds: Mapping[int, Column]) -> list[Column]:
    """Return the slopes of every result along all directions, by forward mode.

    ``seeds``: slopes of the inputs, by number of the input scalar.
    """
    tangents: dict[int, Column] = {k: column for k, column in seeds.items() if column}
    for number, (op, *arguments) in program.numbered():
        if not any([k in tangents for k in arguments]):
            continue
        column: Column = {}
        for k, slope in slopes(op, arguments, values, values[number]):
            if k not in tangents or is_zero(slope):
                continue
            for direction, tangent in tangents[k].items():
                term = slope * tangent
                column[direction] = column[direction] + term if direction in column else term
        column = {direction: x for direction, x in column.items() if not is_zero(x)}
        if column:
            tangents[number] = column
    return [tangents.get(k, {}) for k in program.results]


def reverse(
    program: Program, values: Sequence[Any], weights: Mapping[int, Any], moving: Collection[int] | None = None
) -> list[Any]:
    """Return the derivatives of a weighted sum of values with respect to every input scalar, by reverse mode.

    ``weights``: by number of the value. ``moving``: values that depend on the inputs of interest; default: on any
    input.
    """
    if moving is None:
        moving = dependent(program, range(program.n_inputs))
    bars = {k: weight for k, weight in weights.items() if k in moving and not is_zero(weight)}
    first = program.first_instruction
    for number in range(max(bars, default=0), first - 1, -1):
        bar = bars.pop(number, 0)
        if is_zero(bar):
            continue
        op, *arguments = program.instructions[number - first]
        for k, slope in slopes(op, arguments, values, values[number]):
            if k not in moving or is_zero(slope):
                continue
            term = _weighted(slope, bar)
            bars[k] = bars[k] + term if k in bars else term
    return [bars.get(k, 0) for k in range(program.n_inputs)]


def _weighted(slope: Any, bar: Any) -> Any:
    """Return slope times bar. Where a choice makes bar zero, the product is zero, also for a slope that is infinite or
    not a number there: the branch that is not taken must not spoil the one that is."""
    if isinstance(bar, Node) and bar.op == Op.SELECT:
        if is_zero(bar.c):
            return where(bar.a, slope * bar.b, 0)
        if is_zero(bar.b):
            return where(bar.a, 0, slope * bar.c)
    return slope * bar


def dependent(program: Program, inputs: Collection[int]) -> set[int]:
    """Return the numbers of the values that depend on these inputs."""
    moving = {*inputs}
    for number, (_, *arguments) in program.numbered():
        if not moving.isdisjoint(arguments):
            moving.add(number)
    return moving
