"""Tracing: run a function on graph nodes and write down, as a Program, what its outputs need."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from numbers import Real
from operator import attrgetter
from typing import Any

import numpy as np

from ..errors import LinkworkError
from .collector import collector_at_rest
from .graph import INPUT, Graph, Node
from .program import REPEAT, Loop, Port, Program

LEAK = "an array that was made in the body of a loop is used outside of it"


@collector_at_rest()
def trace(
    name: str, function: Callable[..., Mapping[str, Any]], inputs: Sequence[Port], graph: Graph | None = None
) -> Program:
    """Return the program that ``function`` computes.

    The function gets one nested list of graph nodes per input port (a single node for shape ``()``). It returns a
    mapping from output name to a scalar or a nested sequence of scalars.
    """
    graph, start, arguments = graph or Graph(), 0, []
    for port in inputs:
        nodes = [graph.input(start + k) for k in range(port.size)]
        arguments.append(_nest(nodes, port.shape))
        start += port.size
    outputs, results = [], []
    for label, value in function(*arguments).items():
        array = _as_array(value)
        outputs.append(Port(label, array.shape))
        results.extend(array.ravel().tolist())
    return linearize(name, inputs, outputs, results)


def linearize(
    name: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    results: Sequence[Any],
    arguments: Sequence[Node] | None = None,
) -> Program:
    """Return the program of the nodes that ``results`` need, in order of creation, without dead code.

    ``arguments``: the nodes that are the scalars of the inputs; default: the input nodes of the graph.
    """
    for value in results:
        if not isinstance(value, (Node, Real)):
            raise LinkworkError("a traced output must be a number", where=name, got=type(value).__name__)
    number: dict[Node, int] = {node: k for k, node in enumerate(arguments or ())}
    live = _reachable((value for value in results if isinstance(value, Node)), number)
    operations = _final_values(live)
    constants: dict[float, int] = {}
    first_constant = sum(port.size for port in inputs)
    for node in live:
        for operand in node.operands:
            if not isinstance(operand, Node):
                constants.setdefault(float(operand), first_constant + len(constants))
    for value in results:
        if not isinstance(value, Node):
            constants.setdefault(float(value), first_constant + len(constants))

    def of(operand: Any) -> int:
        return number[operand] if isinstance(operand, Node) else constants[float(operand)]

    instructions = []
    for node in live:
        if node.op == INPUT:
            if node.graph.level or arguments is not None:
                fix = "return it from the body, as a carried value"
                raise LinkworkError(LEAK, where=name, fix=fix)
            number[node] = node.a
        else:
            number[node] = first_constant + len(constants) + len(instructions)
            op = node.op if node.op < REPEAT else operations[node.b[0]] + node.b[1]
            instructions.append((op, *map(of, node.operands)))
    found = tuple(of(v) for v in results)
    return Program(name, tuple(inputs), tuple(outputs), tuple(constants), tuple(instructions), found, tuple(operations))


def _final_values(nodes: Iterable[Node]) -> dict[Loop, int]:
    """Return the loops of these nodes, and the operation of the first final value of each."""
    operations: dict[Loop, int] = {}
    following = REPEAT
    for node in nodes:
        if node.op == REPEAT and (loop := node.b[0]) not in operations:
            operations[loop] = following
            following += loop.carried
    return operations


def _reachable(roots: Iterable[Node], ends: Container[Node] = ()) -> list[Node]:
    """Return the nodes that ``roots`` need, in order of creation; without ``ends``, and what only these need."""
    seen = {node for node in roots if node not in ends}
    stack = list(seen)
    while stack:
        node = stack.pop()
        for x in node.operands:
            if isinstance(x, Node) and x not in seen and x not in ends:
                seen.add(x)
                stack.append(x)
    return sorted(seen, key=attrgetter("number"))


def _nest(items: list, shape: tuple[int, ...]) -> Any:
    if not shape:
        return items[0]
    if len(shape) == 1:
        return items
    step = len(items) // shape[0] if shape[0] else 0
    return [_nest(items[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def _as_array(value: Any) -> np.ndarray:
    array = np.empty(_shape(value), dtype=object)
    array[...] = value
    return array


def _shape(value: Any) -> tuple[int, ...]:
    if isinstance(value, (list, tuple)):
        return (len(value), *(_shape(value[0]) if value else ()))
    return np.shape(value) if isinstance(value, np.ndarray) else ()
