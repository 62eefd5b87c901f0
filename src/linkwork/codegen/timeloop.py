"""The time loop: samples that run through all their steps by a scheme. What it is made of, and how it is called.

Every program takes these rows as its inputs:

    x: state | t | dt | held inputs, port by port | constants

``x`` advances by a scheme: a table combines rates, which one program gives; or that program makes the step itself.
Another may put x on its manifold again after each step, and a third gives what is recorded.

The state of a sample, as it goes in and out: x, the rates of the steps before that the scheme looks back on, youngest
first, and n, the number of steps after which x was finite. It tells all: the time of a sample is ``t0 + n dt``, and a
scheme that looks back starts while n is small. So a run may be cut anywhere, and a sample may start anew at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..program.program import Program
from .schemes import LoopScheme


@dataclass(frozen=True)
class TimeLoop:
    """What runs in the loop. ``held`` are sizes of the held ports."""

    scheme: LoopScheme
    advance: Program  # x -> rates, or x -> x of a scheme that has no table
    finish: Program | None  # x -> x
    record: Program
    x: int
    held: tuple[int, ...]
    constants: int

    @property
    def state(self) -> int:
        """Numbers that tell where a sample stands."""
        return self.x * (1 + self.scheme.history) + 1

    @property
    def n_inputs(self) -> int:
        return self.x + 2 + sum(self.held) + self.constants

    @cached_property
    def instructions(self) -> int:
        """Of a step."""
        lengths = {name: len(program.instructions) for name, program in self.programs.items()}
        return lengths.pop("advance") * self.scheme.evaluations + sum(lengths.values())

    @cached_property
    def digest(self) -> str:
        """Equal for loops that do the same."""
        digests = (f"{name} {program.digest}" for name, program in self.programs.items())
        return "\n".join((repr(self.scheme), str(self.x), str(self.held), str(self.constants), *digests))

    @property
    def programs(self) -> dict[str, Program]:
        named = {"advance": self.advance, "finish": self.finish, "record": self.record}
        return {name: program for name, program in named.items() if program is not None}


@dataclass(frozen=True)
class Turns:
    """Which steps to make: ``steps`` from step ``first`` on. States at steps that are multiples of ``every`` are
    recorded, and with ``end`` also the one after the last step, if it is such. Steps after ``last_held`` take its row
    of the held inputs."""

    first: int
    steps: int
    every: int
    end: bool
    last_held: int


class Run(Protocol):
    """A loop made by a back end, told what to do: what it gives makes these turns, each time that it is called.

    Arrays of float64, the last axis without gaps, which must live as long: ``state`` (samples, loop.state) is changed;
    ``held``: (samples or 1, steps, size) of each port; ``constants``: (samples or 1, size); ``records`` (samples, rows,
    numbers) is filled from its first row on.
    """

    def __call__(
        self,
        turns: Turns,
        t0: float,
        dt: float,
        state: np.ndarray,
        held: Sequence[np.ndarray],
        constants: np.ndarray,
        records: np.ndarray,
    ) -> Callable[[], None]: ...
