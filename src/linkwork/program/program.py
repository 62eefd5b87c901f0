"""Program: a straight-line list of scalar instructions with named, shaped inputs and outputs.

Values are numbered: first every input scalar (ports flattened in C order, one after another), then the
constants, then one value per instruction. An instruction refers to earlier values only, so a Program can be run
from top to bottom, by the interpreter here or by emitted code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from math import prod

from ..errors import LinkworkError


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


ARITY = {op: 3 if op >= Op.FMA else 1 if op in (Op.NEG, Op.SQRT, Op.SIN, Op.COS, Op.SIGN) else 2 for op in Op}

STATE, PARAMETER = "state", "parameter"


@dataclass(frozen=True)
class Port:
    """A named array that goes in or comes out. Parameter inputs are known off line, state inputs on line."""

    name: str
    shape: tuple[int, ...]
    stage: str = STATE

    @property
    def size(self) -> int:
        return prod(self.shape)


Instruction = tuple[int, ...]  # (op, a), (op, a, b) or (op, a, b, c)


@dataclass(frozen=True)
class Program:
    """Straight-line code. ``results`` names the value of every output scalar, ports flattened in order."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    constants: tuple[float, ...]
    instructions: tuple[Instruction, ...]
    results: tuple[int, ...]

    @cached_property
    def n_inputs(self) -> int:
        return sum(port.size for port in self.inputs)

    @cached_property
    def first_instruction(self) -> int:
        """Number of the value made by the first instruction."""
        return self.n_inputs + len(self.constants)

    @property
    def n_values(self) -> int:
        return self.first_instruction + len(self.instructions)

    def numbered(self) -> Iterator[tuple[int, Instruction]]:
        """Each instruction with the number of the value it makes."""
        return enumerate(self.instructions, self.first_instruction)

    def check(self) -> Program:
        """Raise if an instruction refers forward, an operation is unknown or a result is missing."""
        for number, (op, *args) in self.numbered():
            if op not in ARITY or len(args) != ARITY[Op(op)] or not all(0 <= a < number for a in args):
                raise LinkworkError(
                    f"instruction {number} is malformed", where=f"program {self.name!r}", got=(op, *args)
                )
        wanted = sum(port.size for port in self.outputs)
        if len(self.results) != wanted or not all(0 <= r < self.n_values for r in self.results):
            raise LinkworkError(
                "the results do not fit the outputs",
                where=f"program {self.name!r}",
                got=len(self.results),
                expected=f"{wanted} value numbers below {self.n_values}",
            )
        return self

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content; equal programs have equal digests."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """Text that :meth:`from_json` reads back exactly (floats as hexadecimal)."""
        port = lambda p: [p.name, list(p.shape), p.stage]  # noqa: E731
        return json.dumps(
            {
                "format": "linkwork-program-1",
                "name": self.name,
                "inputs": [port(p) for p in self.inputs],
                "outputs": [port(p) for p in self.outputs],
                "constants": [c.hex() for c in self.constants],
                "instructions": self.instructions,
                "results": self.results,
            },
            separators=(",", ":"),
        )

    @staticmethod
    def from_json(text: str) -> Program:
        try:
            data = json.loads(text)
            if data["format"] != "linkwork-program-1":
                raise ValueError(f"unknown format {data['format']!r}")
            ports = lambda rows: tuple(Port(n, tuple(shape), stage) for n, shape, stage in rows)  # noqa: E731
            return Program(
                data["name"],
                ports(data["inputs"]),
                ports(data["outputs"]),
                tuple(float.fromhex(c) for c in data["constants"]),
                tuple(tuple(int(k) for k in row) for row in data["instructions"]),
                tuple(int(k) for k in data["results"]),
            ).check()
        except (ValueError, KeyError, TypeError) as error:
            raise LinkworkError(
                f"this is not a linkwork program: {error}", expected="text written by Function.save or Program.to_json"
            ) from error
