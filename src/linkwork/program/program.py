"""Program: a straight-line list of scalar instructions with named, shaped inputs and outputs.

Values are numbered: first every input scalar (ports flattened in C order, one after another), then the
constants, then one value per instruction. An instruction refers to earlier values only, so a Program can be run
from top to bottom, by the interpreter here or by emitted code.

A program may have loops. An instruction gives one of the final values of a loop; operations from ``REPEAT`` on are
these values, numbered one loop after another. Instructions with the same loop and the same arguments share one run.
"""

from __future__ import annotations

import hashlib
import json
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, cached_property
from itertools import chain
from math import prod
from typing import Any

from ..errors import LinkworkError
from ..files import parse_json


class Op(IntEnum):
    """What an instruction does with its arguments a, b, c."""

    ADD = 0  # a + b
    SUB = 1  # a - b
    MUL = 2  # a * b
    DIV = 3  # a / b
    NEG = 4  # -a
    SQRT = 5
    SIN = 6
    COS = 7
    SIGN = 8  # -1, 0 or 1; NaN stays NaN
    FMA = 9  # a * b + c, rounded once
    FMS = 10  # a * b - c, rounded once
    FNMA = 11  # c - a * b, rounded once
    EXP = 12
    LOG = 13
    TANH = 14
    ATAN2 = 15  # the angle of the point (b, a), as C's atan2(a, b)
    ABS = 16
    MIN = 17  # the smaller of a and b; NaN if one of them is
    MAX = 18
    LESS = 19  # 1 where a < b, else 0, also where one of them is NaN
    LESS_EQUAL = 20  # 1 where a <= b, else 0, also where one of them is NaN
    SELECT = 21  # b where a is not zero, else c


UNARY = (Op.NEG, Op.SQRT, Op.SIN, Op.COS, Op.SIGN, Op.EXP, Op.LOG, Op.TANH, Op.ABS)
FUSED = (Op.FMA, Op.FMS, Op.FNMA)
REPEAT = 64  # the first final value of the first loop of a program
ARITY = {op: 1 if op in UNARY else 3 if op in (*FUSED, Op.SELECT) else 2 for op in Op}

STATE, PARAMETER = "state", "parameter"
FORMAT = "linkwork-program-1"
GIVEN, FOLLOWING = "x", "y"  # ports of the body of a loop


@dataclass(frozen=True)
class Port:
    """A named array that goes in or comes out; inputs of the stage "parameter" are known before the state is."""

    name: str
    shape: tuple[int, ...]
    stage: str = STATE

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Loop:
    """A program that runs several times, on what it made of it in the last turn.

    Attributes:
        body: One turn. The first entries of its only input are the carried values, and the others stay the same in all
            turns. Its only output has the next carried values.
        turns: Number of turns, or the largest number if ``guarded``.
        guarded: Whether a state takes another turn only where its first carried value is not zero. Its values do not
            change afterwards.
        roots: Pairs (k, m) of carried values, if the loop ends at a fixed point of the body. The derivatives of value k
            are those of what the body makes of value m there, with all carried values held. All other carried values
            count as constants. Empty: all derivatives are those of the turns.

    Example:
        >>> robot.gravity.program.loops
        ()
    """

    body: Program
    turns: int
    guarded: bool = False
    roots: tuple[tuple[int, int], ...] = ()

    def __hash__(self) -> int:
        return hash((self.turns, self.body.results))  # all instructions would take long

    @property
    def carried(self) -> int:
        """Number of carried values."""
        return len(self.body.results)


@cache  # without a bound: machine code has the address of the type
def result_type(names: tuple[str, ...]) -> type:
    """Return the named tuple of several outputs; the same type for the same names."""
    return namedtuple("Result", names, rename=True)  # programs of simulations have names that Python does not take


Instruction = tuple[int, ...]  # (op, a), (op, a, b) or (op, a, b, c)


@dataclass(frozen=True)
class Program:
    """Straight-line code with named inputs and outputs.

    Attributes:
        name: Its name.
        inputs: Input ports.
        outputs: Output ports.
        constants: Numbers that instructions refer to.
        instructions: Operation and numbers of its arguments, one row for each value.
        results: Number of the value of every output scalar, ports flattened in order.
        loops: Loops whose final values instructions refer to.

    Example:
        >>> len(robot.gravity.program.instructions) > 50
        True
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    constants: tuple[float, ...]
    instructions: tuple[Instruction, ...]
    results: tuple[int, ...]
    loops: tuple[Loop, ...] = ()

    @cached_property
    def n_inputs(self) -> int:
        """Number of input scalars."""
        return sum(port.size for port in self.inputs)

    @cached_property
    def first_instruction(self) -> int:
        """Number of the value of the first instruction."""
        return self.n_inputs + len(self.constants)

    @property
    def n_values(self) -> int:
        """Number of values: inputs, constants and instructions."""
        return self.first_instruction + len(self.instructions)

    def numbered(self) -> Iterator[tuple[int, Instruction]]:
        """Return each instruction with the number of its value.

        Returns:
            Pairs (number, instruction).
        """
        return enumerate(self.instructions, self.first_instruction)

    @cached_property
    def _final(self) -> list[tuple[Loop, int]]:
        return [(loop, k) for loop in self.loops for k in range(loop.carried)]

    def final(self, op: int) -> tuple[Loop, int]:
        """Return what an operation from ``REPEAT`` on stands for.

        Args:
            op: The operation.

        Returns:
            A loop, and the number of its carried value.
        """
        return self._final[op - REPEAT]

    @cached_property
    def runs(self) -> dict[tuple[Loop, tuple[int, ...]], dict[int, int]]:
        """Runs of loops: (loop, arguments) -> number of the carried value -> number of its final value."""
        runs: dict[tuple[Loop, tuple[int, ...]], dict[int, int]] = {}
        if self.loops:
            for number, (op, *args) in self.numbered():
                if op >= REPEAT:
                    loop, k = self.final(op)
                    runs.setdefault((loop, tuple(args)), {})[k] = number
        return runs

    @cached_property
    def work(self) -> int:
        """Number of instructions that are executed, with the largest number of turns of every loop."""
        runs = sum(loop.turns * loop.body.work for loop, _ in self.runs)
        return len(self.instructions) - sum(map(len, self.runs.values())) + runs

    @cached_property
    def operations(self) -> frozenset[int]:
        """Operations of its instructions and of those in loops, without final values of loops."""
        bodies = (loop.body.operations for loop in self.loops)
        return frozenset(op for op, *_ in self.instructions if op < REPEAT).union(*bodies)

    @property
    def all_loops(self) -> list[Loop]:
        """All loops, each once, those inside others before them."""
        return list(dict.fromkeys(each for loop in self.loops for each in (*loop.body.all_loops, loop)))

    def check(self) -> Program:
        """Raise LinkworkError if an instruction refers forward, an operation is unknown or a result is missing.

        Returns:
            The program itself.
        """
        for loop in self.loops:
            body, n = loop.body.check(), loop.carried
            ports = (Port(GIVEN, (body.n_inputs,)),), (Port(FOLLOWING, (n,)),)
            fits = (body.inputs, body.outputs) == ports and 0 < n <= body.n_inputs
            if not fits or not 0 < loop.turns <= MOST_TURNS or not {*chain(*loop.roots)} <= {*range(n)}:
                got = f"{loop.turns} turns of {body.inputs} -> {body.outputs}"
                raise LinkworkError("a loop is malformed", where=f"program {self.name!r}", got=got)
        arity: dict[int, int] = {int(op): n for op, n in ARITY.items()}
        arity |= {REPEAT + k: loop.body.n_inputs for k, (loop, _) in enumerate(self._final)}
        for number, (op, *args) in self.numbered():
            if op not in arity or len(args) != arity[op] or not all(0 <= a < number for a in args):
                raise LinkworkError(
                    f"instruction {number} is malformed", where=f"program {self.name!r}", got=(op, *args)
                )
        finals = sum(code[0] >= REPEAT for code in self.instructions)
        if finals != sum(map(len, self.runs.values())):
            got = f"{finals} final values, some of them equal"
            raise LinkworkError("a loop runs twice on the same values", where=f"program {self.name!r}", got=got)
        if self.loops and self.work > MOST_WORK:
            got, expected = f"{self.work} instructions for a state", f"at most {MOST_WORK}"
            raise LinkworkError("its loops take too long", where=f"program {self.name!r}", got=got, expected=expected)
        wanted = sum(port.size for port in self.outputs)
        if len(self.results) != wanted or not all(0 <= r < self.n_values for r in self.results):
            raise LinkworkError(
                "the results do not fit the outputs",
                where=f"program {self.name!r}",
                got=len(self.results),
                expected=f"{wanted} value numbers below {self.n_values}",
            )
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of the content; equal programs have equal digests."""
        # No cached_property: before Python 3.12 it has a lock, and this takes long enough for a fork to copy it locked.
        if "_digest" not in self.__dict__:
            self.__dict__["_digest"] = hashlib.sha256(self.to_json().encode()).hexdigest()
        return self.__dict__["_digest"]

    def to_json(self) -> str:
        """Return the program as text that :meth:`from_json` reads back exactly (floats as hexadecimal).

        Returns:
            JSON.
        """
        return json.dumps(self._document(), separators=(",", ":"))

    def _document(self) -> dict[str, Any]:
        port = lambda p: [p.name, list(p.shape), p.stage]  # noqa: E731
        document = {
            "format": FORMAT,
            "name": self.name,
            "inputs": [port(p) for p in self.inputs],
            "outputs": [port(p) for p in self.outputs],
            "constants": [c.hex() for c in self.constants],
            "instructions": self.instructions,
            "results": self.results,
        }
        if self.loops:
            document["loops"] = [
                {"body": each.body._document(), "turns": each.turns, "guarded": each.guarded, "roots": each.roots}
                for each in self.loops
            ]
        return document

    @staticmethod
    def from_json(text: str) -> Program:
        """Read a program that :meth:`to_json` wrote. The text may come from anywhere: its content is checked first.

        Args:
            text: JSON.

        Returns:
            The program.

        Raises:
            LinkworkError: This is not a program.
        """
        try:
            return _read(parse_json(text)).check()
        except ValueError as error:
            raise LinkworkError(
                f"this is not a linkwork program: {error}", expected="text written by Function.save or Program.to_json"
            ) from error


# Reading --------------------------------------------------------------------------------------------------------------

MOST_PORTS, MOST_AXES = 1000, 16
MOST_SCALARS = 1_000_000  # of all inputs together; outputs are listed one by one
MOST_LOOPS, MOST_TURNS = 1000, 1_000_000
MOST_DEPTH = 8  # loops inside each other
MOST_WORK = 10_000_000  # instructions for a state, with all turns of its loops


def entry(document: Any, name: str, kind: type) -> Any:
    """Return an entry of a JSON object, or raise ValueError that says what is wrong with it."""
    if not isinstance(document, dict):
        raise ValueError(f"{name!r} is looked for in {type(document).__name__}")
    if name not in document:
        raise ValueError(f"{name!r} is missing")
    if type(document[name]) is not kind:
        raise ValueError(f"{name!r} is {type(document[name]).__name__}, not {kind.__name__}")
    return document[name]


def _read(data: Any, depth: int = 0) -> Program:
    if (version := entry(data, "format", str)) != FORMAT:
        raise ValueError(f"unknown format {version!r}")
    inputs, outputs = (_ports(entry(data, name, list), name) for name in ("inputs", "outputs"))
    if (scalars := sum(port.size for port in inputs)) > MOST_SCALARS:
        raise ValueError(f"its inputs hold {scalars} numbers, more than {MOST_SCALARS}")
    instructions, results = entry(data, "instructions", list), entry(data, "results", list)
    if not all(type(row) is list and row and all([type(k) is int for k in row]) for row in instructions):
        raise ValueError("an instruction is not a list of whole numbers")
    if not all(type(k) is int for k in results):
        raise ValueError("a result is not a whole number")
    constants = tuple(map(_constant, entry(data, "constants", list)))
    name, instructions = entry(data, "name", str), tuple(map(tuple, instructions))
    return Program(name, inputs, outputs, constants, instructions, tuple(results), _loops(data, depth))


def _loops(data: Any, depth: int) -> tuple[Loop, ...]:
    if "loops" not in data:
        return ()
    rows = entry(data, "loops", list)
    if len(rows) > MOST_LOOPS or depth == MOST_DEPTH:
        raise ValueError(f"more than {MOST_LOOPS} loops, or more than {MOST_DEPTH} inside each other")
    loops = []
    for row in rows:
        roots = entry(row, "roots", list)
        if not all(type(pair) is list and [type(k) for k in pair] == [int, int] for pair in roots):
            raise ValueError("a root of a loop is not a pair of whole numbers")
        body = _read(entry(row, "body", dict), depth + 1)
        loops.append(Loop(body, entry(row, "turns", int), entry(row, "guarded", bool), tuple(map(tuple, roots))))
    return tuple(loops)


def _ports(rows: list, what: str) -> tuple[Port, ...]:
    if len(rows) > MOST_PORTS:
        raise ValueError(f"{len(rows)} {what}, more than {MOST_PORTS}")
    for row in rows:
        match row:
            case [str(), [*sizes], "state" | "parameter"] if len(sizes) <= MOST_AXES:
                if all(type(size) is int and 0 <= size <= MOST_SCALARS for size in sizes):
                    continue
        raise ValueError(f"{row!r} among its {what} is not a name, a shape and a stage")
    return tuple(Port(name, tuple(shape), stage) for name, shape, stage in rows)


def _constant(text: Any) -> float:
    try:
        return float.fromhex(text)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a hexadecimal number") from None
