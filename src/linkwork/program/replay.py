"""Replay a program on nodes of a graph or on numbers, to differentiate and combine programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .graph import Graph
from .interpret import ARITHMETIC, FUNCTIONS
from .loops import final_of
from .program import REPEAT, Op, Port, Program
from .trace import linearize

APPLY = ARITHMETIC | FUNCTIONS  # to any scalar


def input_nodes(ports: Sequence[Port]) -> list[Any]:
    """Return one node of a new graph for each scalar of the input ports."""
    graph = Graph()
    return [graph.input(k) for k in range(sum(port.size for port in ports))]


def replay(program: Program, inputs: Sequence[Any]) -> list[Any]:
    """Return all values of a program, in the order of their numbers; fused operations are split again."""
    values = [*inputs, *program.constants]
    for op, *arguments in program.instructions:
        scalars = [values[k] for k in arguments]
        values.append(APPLY[Op(op)](*scalars) if op < REPEAT else final_of(program, op, scalars))
    return values


def replayed(program: Program, inputs: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Return the outputs of a program by name, from its inputs by name, all as flat lists.

    ``inputs`` may have further names.
    """
    values = replay(program, [x for port in program.inputs for x in inputs[port.name]])
    return split([values[k] for k in program.results], program.outputs)


def split(flat: Sequence[Any], ports: Sequence[Port]) -> dict[str, list[Any]]:
    """Split the scalars of several ports, one port after the other, by name."""
    parts, start = {}, 0
    for port in ports:
        parts[port.name] = list(flat[start : start + port.size])
        start += port.size
    return parts


def flattened(values: Mapping[str, Any], ports: Sequence[Port]) -> list[Any]:
    """Scalars of several ports, one port after the other, from nested lists by name; there may be others among them."""
    return [x for port in ports for x in np.array(values[port.name], dtype=object).ravel().tolist()]


def nested(flat: Sequence[Any], ports: Sequence[Port]) -> dict[str, Any]:
    """Return the scalars of several ports by name, as nested lists in the shapes of the ports."""
    return {
        port.name: np.array(part, dtype=object).reshape(port.shape).tolist()
        for port, part in zip(ports, split(flat, ports).values(), strict=True)
    }


def assembled(name: str, inputs: Sequence[Port], outputs: Mapping[Port, Sequence[Any]]) -> Program:
    """Return the program with these outputs: port -> its nodes, as a flat list."""
    return linearize(name, inputs, list(outputs), [x for flat in outputs.values() for x in flat])
