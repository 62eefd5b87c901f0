"""Loops on nodes of a graph: their final values, and the making of a loop from the nodes of its body."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from .graph import Graph, Node, operand
from .interpret import final_values
from .program import FOLLOWING, GIVEN, REPEAT, Loop, Port, Program
from .trace import linearize

_of_numbers = lru_cache(maxsize=16)(final_values)  # one run for all final values


def final_value(loop: Loop, k: int, arguments: Sequence[Any]) -> Any:
    """Return carried value ``k`` after a loop: a node, or a number if all arguments are numbers."""
    nodes = [x for x in arguments if isinstance(x, Node)]
    if not all(isinstance(x, (Node, int, float, complex, np.number)) for x in arguments):
        kinds = ", ".join(sorted({type(x).__name__ for x in arguments}))
        fix = "leave the loop out of a controller whose steps are linearised; gradients by pullback know loops"
        raise UnsupportedError("a loop runs on numbers alone", where=loop.body.name, got=kinds, fix=fix)
    if not nodes:
        return _of_numbers(loop, tuple(arguments))[k]
    graph = max((node.graph for node in nodes), key=lambda graph: graph.level)
    return graph.make(REPEAT, tuple(map(operand, arguments)), (loop, k))


def final_of(program: Program, op: int, arguments: Sequence[Any]) -> Any:
    """Return what an operation from ``REPEAT`` on of a program gives."""
    return final_value(*program.final(op), arguments)


def turn(graph: Graph, carried: Sequence[Node], following: Sequence[Any]) -> tuple[Program, list[Node]]:
    """Return the body of a loop, and the nodes outside of it that it needs, which are its further inputs.

    ``following`` are the next values of ``carried``, the inputs of the graph of the body.
    """
    stack = [x for x in following if isinstance(x, Node)]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node.number >= graph.first:
            operands = [x for x in node.operands if isinstance(x, Node) and x not in seen]
            seen.update(operands)
            stack += operands
    outside = sorted((node for node in seen if node.number < graph.first), key=attrgetter("number"))
    return body_of([*carried, *outside], following), outside


def body_of(inputs: Sequence[Node], following: Sequence[Any]) -> Program:
    """Return the body of a loop from the nodes of its inputs and of the next carried values."""
    ports = [Port(GIVEN, (len(inputs),))], [Port(FOLLOWING, (len(following),))]
    return linearize("turn", *ports, following, inputs)
