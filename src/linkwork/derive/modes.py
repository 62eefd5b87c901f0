"""Forward and reverse mode over a straight list of instructions.

Both work on the values of a program as nodes of a graph (``replay``). Equal expressions are one node there, so what
columns, rows and the program itself have in common is computed once, and structural zeros vanish.

A loop carries the slopes of its values along with them, by forward mode; reverse mode takes the Jacobian of the final
values from there. Of a loop that ends at a root x = f(x, p) where f does not change with x, as after Newton's steps, dx
is that of f(x, p) with x held.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any

from ..program import Op, Program
from ..program.graph import Graph, Node
from ..program.loops import body_of, final_value
from ..program.program import REPEAT, Loop
from ..program.replay import replay
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
        if op >= REPEAT:
            loop, final = program.final(op)[0], program.runs[program.final(op)[0], tuple(arguments)]
            if number == min(final.values()):
                given = [values[k] for k in arguments]
                columns = _final_columns(loop, given, [tangents.get(k, {}) for k in arguments])
                tangents |= {n: columns[k] for k, n in final.items() if columns[k]}
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
    for number in range(max(bars, default=-1), first - 1, -1):
        op, *arguments = program.instructions[number - first]
        if op >= REPEAT:
            loop, final = program.final(op)[0], program.runs[program.final(op)[0], tuple(arguments)]
            if number == min(final.values()):
                wanted = {k: bars.pop(n) for k, n in final.items() if n in bars}
                for k, term in _final_terms(loop, [values[k] for k in arguments], wanted):
                    if arguments[k] in moving and not is_zero(term):
                        bars[arguments[k]] = bars.get(arguments[k], 0) + term
            continue
        bar = bars.pop(number, 0)
        if is_zero(bar):
            continue
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


# -- loops -------------------------------------------------------------------------------------------------------------


def _final_columns(loop: Loop, given: Sequence[Any], columns: Sequence[Column]) -> list[Column]:
    """Return the slopes of every final value of a loop, from its arguments and their slopes."""
    n = loop.carried
    if loop.roots:
        values = _at_root(loop, given)
        found = forward(loop.body, values, dict(enumerate(columns[n:], n)))
        columns = [{} for _ in range(n)]
        for k, source in loop.roots:
            columns[k] = found[source]
        return columns
    places = _carried_places(loop, columns)
    graph, carried = Graph(), [(k, d) for k in range(n) for d in sorted(places[k])]
    fixed = [(k, d) for k in range(n, len(columns)) for d, x in columns[k].items() if isinstance(x, Node)]
    inputs = [graph.input(k) for k in range(len(given) + len(carried) + len(fixed))]
    # carried values, their slopes, values that stay, and their slopes unless these are plain numbers
    own, slopes_in, others = inputs[:n], inputs[n : n + len(carried)], inputs[n + len(carried) :]
    seeds: dict[int, Column] = {k: {d: x for d, x in columns[k].items()} for k in range(n, len(columns))}
    seeds |= {k: {} for k in range(n)}
    for (k, d), node in zip((*carried, *fixed), (*slopes_in, *others[len(given) - n :]), strict=True):
        seeds[k][d] = node
    values = replay(loop.body, [*own, *others[: len(given) - n]])
    found = forward(loop.body, values, seeds)
    following = [*(values[k] for k in loop.body.results), *(found[k].get(d, 0) for k, d in carried)]
    made = Loop(body_of(inputs, following), loop.turns, loop.guarded)
    begin = [columns[k].get(d, 0) for k, d in carried]
    arguments = [*given[:n], *begin, *given[n:], *(columns[k][d] for k, d in fixed)]
    final: list[Column] = [{} for _ in range(n)]
    for place, (k, d) in enumerate(carried, n):
        final[k][d] = final_value(made, place, arguments)
    return final


def _carried_places(loop: Loop, columns: Sequence[Column]) -> list[set[int]]:
    """Return the directions along which each carried value may change, in any turn."""
    n = loop.carried
    places = [{*column} for column in columns]
    while True:
        graph = Graph()
        values = replay(loop.body, [graph.input(k) for k in range(len(columns))])
        unknown = map(graph.input, count(len(columns)))  # slopes, all different, so that none cancel
        found = forward(loop.body, values, {k: {d: next(unknown) for d in each} for k, each in enumerate(places)})
        grown = [each | {*column} for each, column in zip(places, found, strict=False)]
        if grown == places[:n]:
            return grown
        places[:n] = grown


def _final_terms(loop: Loop, given: Sequence[Any], weights: Mapping[int, Any]) -> list[tuple[int, Any]]:
    """Return the derivatives of a weighted sum of final values with respect to arguments, by number of the argument."""
    n = loop.carried
    if loop.roots:
        wanted: dict[int, Any] = {}
        for k, source in loop.roots:
            result = loop.body.results[source]
            wanted[result] = wanted.get(result, 0) + weights.get(k, 0)
        moving = dependent(loop.body, range(n, len(given)))
        row = reverse(loop.body, _at_root(loop, given), wanted, moving)
        return [(k, row[k]) for k in range(n, len(given))]
    columns = _final_columns(loop, given, [{k: 1} for k in range(len(given))])
    return [(k, _weighted(slope, bar)) for number, bar in weights.items() for k, slope in columns[number].items()]


def _at_root(loop: Loop, given: Sequence[Any]) -> list[Any]:
    """Return all values of one more turn from the final values."""
    final = [final_value(loop, k, given) for k in range(loop.carried)]
    return replay(loop.body, [*final, *given[loop.carried :]])
