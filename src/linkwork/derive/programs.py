"""Derivatives of programs, each a program again, with the inputs of the first.

Where an input may not move along its own numbers (a unit quaternion, positions that close loops) ``tangents`` has a
program for it, from inputs to its tangent: a row for each of its numbers, a column for each direction. The derivative
then has these columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from ..errors import LinkworkError
from ..program import Port, Program, count
from ..program.collector import collector_at_rest
from ..program.passes import absorb_signs, fuse_multiply_add
from ..program.replay import assembled, input_nodes, replay, replayed, split
from ..scalar import is_zero
from .modes import Column, dependent, forward, reverse

Tangents = Mapping[str, Program]
Output = tuple[Port, list[Any]]  # an output port and its nodes, flattened
BOTH = 2_000_000  # both modes are tried up to this product of instructions and columns (or rows)


@dataclass(frozen=True)
class Direction:
    """An input to differentiate with respect to, and its columns among those of all such inputs."""

    port: Port
    first: int  # its first column
    shape: tuple[int, ...]  # of the columns
    start: int  # number of its first scalar among the inputs

    @property
    def columns(self) -> range:
        return range(self.first, self.first + prod(self.shape))


class Derivation:
    """A program on a graph, with what its derivatives need."""

    def __init__(
        self, program: Program, wrt: Sequence[str], of: Sequence[str], tangents: Tangents, more: Sequence[Port] = ()
    ):
        """Replay the program on a new graph; ``more``: further inputs that only the derivative has."""
        self.program = program
        self.inputs = (*program.inputs, *more)
        _require_distinct(self.inputs, f"inputs of a derivative of {program.name}")
        nodes = input_nodes(self.inputs)
        self.given = split(nodes, self.inputs)
        try:
            self.values = replay(program, nodes[: program.n_inputs])
        except (ZeroDivisionError, ValueError) as error:
            raise LinkworkError(f"its constants make no number: {error}", where=program.name) from error
        self.tangents = {name: self._tangent(tangents[name]) for name in wrt if name in tangents}
        self.along = self._directions(wrt)
        numbers = split(program.results, program.outputs)
        self.of = {port: numbers[port.name] for port in program.outputs if port.name in of}

    def _tangent(self, program: Program) -> list[list[Any]]:
        ((rows, columns),) = [port.shape for port in program.outputs]
        (flat,) = replayed(program, self.given).values()
        return [flat[k * columns : (k + 1) * columns] for k in range(rows)]

    def _directions(self, wrt: Sequence[str]) -> list[Direction]:
        starts, start = {}, 0
        for port in self.program.inputs:
            starts[port.name] = port, start
            start += port.size
        found, first = [], 0
        for name in wrt:
            port, start = starts[name]
            rows = self.tangents.get(name)
            shape = port.shape if rows is None else (len(rows[0]) if rows else 0,)
            found.append(Direction(port, first, shape, start))
            first += prod(shape)
        return found

    @property
    def columns(self) -> int:
        return sum(len(each.columns) for each in self.along)

    @cached_property
    def seeds(self) -> dict[int, Column]:
        """Return the seed of each input, by number: one direction for each column."""
        seeds: dict[int, Column] = {}
        for each in self.along:
            rows = self.tangents.get(each.port.name)
            for k in range(each.port.size):
                row = [int(k == j) for j in range(each.port.size)] if rows is None else rows[k]
                seeds[each.start + k] = {c: x for c, x in zip(each.columns, row, strict=True) if not is_zero(x)}
        return seeds

    @cached_property
    def moving(self) -> set[int]:
        return dependent(self.program, self.seeds)

    def row(self, weights: Mapping[int, Any]) -> list[Any]:
        """Return the slopes of a weighted sum of values along all columns, by reverse mode; weights are by number."""
        bars = reverse(self.program, self.values, weights, self.moving)
        row: list[Any] = [0] * self.columns
        for number, column in self.seeds.items():
            if is_zero(bars[number]):
                continue
            for c, x in column.items():
                row[c] = row[c] + bars[number] * x
        return row

    def by_columns(self) -> list[list[Any]]:
        """Return the Jacobian of the chosen outputs by forward mode, a row for each of their scalars."""
        wanted = {k for numbers in self.of.values() for k in numbers}
        results = dict(zip(self.program.results, forward(self.program, self.values, self.seeds), strict=True))
        rows = {k: [results[k].get(c, 0) for c in range(self.columns)] for k in wanted}
        return [rows[k] for numbers in self.of.values() for k in numbers]

    def by_rows(self) -> list[list[Any]]:
        """Return the Jacobian of the chosen outputs by reverse mode, a row for each of their scalars."""
        rows: dict[int, list[Any]] = {}
        for numbers in self.of.values():
            for k in numbers:
                if k not in rows:
                    rows[k] = self.row({k: 1})
        return [rows[k] for numbers in self.of.values() for k in numbers]

    def parted(self, rows: list[list[Any]]) -> list[Output]:
        """Split a Jacobian into outputs, one for each pair of an output and an input."""
        parts: list[Output] = []
        start = 0
        for port in self.of:
            own = rows[start : start + port.size]
            start += port.size
            for each in self.along:
                made = Port(f"d{port.name}_d{each.port.name}", (*port.shape, *each.shape))
                parts.append((made, [row[c] for row in own for c in each.columns]))
        return parts

    def own_results(self) -> list[Output]:
        return [(port, [self.values[k] for k in numbers]) for port, numbers in self.of.items()]

    def made(self, kind: str, outputs: list[Output], value: bool) -> Program:
        """Return the program with these outputs; with ``value`` the results of the function itself come first."""
        outputs = [*(self.own_results() if value else ()), *outputs]
        _require_distinct([port for port, _ in outputs], f"outputs of a derivative of {self.program.name}")
        return assembled(f"{self.program.name}_{kind}", self.inputs, dict(outputs))


def _require_distinct(ports: Sequence[Port], what: str) -> None:
    names = [port.name for port in ports]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise LinkworkError(
            f"two {what} would be called {twice[0]!r}",
            expected="different names",
            fix="take hessian or hvp for second derivatives, or leave out value=True before it is differentiated again",
        )


@collector_at_rest()
def jacobian(
    program: Program, wrt: Sequence[str], of: Sequence[str], tangents: Tangents | None = None, value: bool = False
) -> Program:
    """Return the program of ``dOUTPUT_dINPUT`` for each pair of names, by the mode with fewer instructions.

    With ``value`` the outputs themselves come first.
    """
    tangents = tangents or {}
    shown = Derivation(program, wrt, of, tangents)
    rows = sum(port.size for port in shown.of)
    length = len(program.instructions)
    modes = {Derivation.by_columns: length * shown.columns, Derivation.by_rows: length * rows}
    if max(modes.values()) > BOTH:
        modes = dict([min(modes.items(), key=lambda each: each[1])])
    made = []
    for mode in modes:
        own = Derivation(program, wrt, of, tangents)  # on a graph of its own: nodes of the other mode are not shared
        made.append(own.made("derivative", own.parted(mode(own)), value))
    return min(made, key=_instructions)


def _instructions(program: Program) -> int:
    return count(fuse_multiply_add(absorb_signs(program))).instructions


def bars(ports: Sequence[Port]) -> list[Port]:
    """Return the input ports for weights of these outputs, named ``OUTPUT_bar``."""
    return [Port(f"{port.name}_bar", port.shape) for port in ports]


@collector_at_rest()
def vjp(
    program: Program, wrt: Sequence[str], of: Sequence[str], tangents: Tangents | None = None, value: bool = False
) -> Program:
    """Return the program of ``INPUT_bar``, the gradient of the sum of all outputs times their weights.

    The weights ``OUTPUT_bar`` are further inputs.
    """
    weights = bars([port for port in program.outputs if port.name in of])
    own = Derivation(program, wrt, of, tangents or {}, weights)
    given: dict[int, Any] = {}
    for port, numbers in own.of.items():
        for k, weight in zip(numbers, own.given[f"{port.name}_bar"], strict=True):
            given[k] = given[k] + weight if k in given else weight
    row = own.row(given)
    outputs = [(Port(f"{e.port.name}_bar", e.shape), [row[c] for c in e.columns]) for e in own.along]
    return own.made("vjp", outputs, value)


@collector_at_rest()
def jvp(
    program: Program, wrt: Sequence[str], of: Sequence[str], tangents: Tangents | None = None, value: bool = False
) -> Program:
    """Return the program of ``dOUTPUT``, the changes of the outputs along the further inputs ``dINPUT``."""
    shapes = Derivation(program, wrt, of, tangents or {}).along
    own = Derivation(program, wrt, of, tangents or {}, [Port(f"d{e.port.name}", e.shape) for e in shapes])
    step = [x for each in own.along for x in own.given[f"d{each.port.name}"]]
    seeds = {}
    for number, column in own.seeds.items():
        total: Any = 0
        for c, x in column.items():
            total = total + x * step[c]
        seeds[number] = {0: total} if not is_zero(total) else {}
    tangent = dict(zip(program.results, forward(program, own.values, seeds), strict=True))
    outputs = [(Port(f"d{p.name}", p.shape), [tangent[k].get(0, 0) for k in numbers]) for p, numbers in own.of.items()]
    return own.made("jvp", outputs, value)
