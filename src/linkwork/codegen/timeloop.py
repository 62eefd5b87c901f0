"""Definition of a time loop, in which samples run through all their steps by an integration scheme.

Every program takes these rows as its inputs:

    x: state | t | dt | held inputs, port by port | constants

A scheme advances ``x``: a table combines the rates that one program computes, or that program computes the whole step.
Another program may project x back to its manifold after each step, and a third computes the recorded values.

Further programs compute some rows of x before a state is recorded or advanced: ``samples``, values that are held from
one sample time to the next. Each runs in blocks in which it is due. What they compute before a last record, after which
no step follows, is not kept: the next run begins with it.

The state of a sample, on input and output, is x, then the rates of earlier steps that the scheme uses, latest first,
then n, the number of steps after which x was finite. It is complete: the time of a sample is ``t0 + n dt``, and a
multistep scheme uses its starting method while n is small. So a run may be interrupted anywhere, and a sample may be
restarted at any time.
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
class Sample:
    """Program of rows of x that are held between sample times; it keeps them where it is not due."""

    program: Program
    first: int  # row of x that it computes; the others follow
    due: int  # row of x that is below a half where it is due


@dataclass(frozen=True)
class TimeLoop:
    """Scheme and programs of a loop; ``held`` has the sizes of the held inputs, ``dtype`` is that of all arrays."""

    scheme: LoopScheme
    advance: Program  # from x to its rates, or to the next x for a scheme without a table
    finish: Program | None  # projects x back to its manifold after a step
    record: Program
    x: int
    held: tuple[int, ...]
    constants: int
    dtype: str = "float64"
    samples: tuple[Sample, ...] = ()

    @property
    def state(self) -> int:
        """Number of entries of a sample's state."""
        return self.x * (1 + self.scheme.history) + 1

    @property
    def n_inputs(self) -> int:
        return self.x + 2 + sum(self.held) + self.constants

    @cached_property
    def instructions(self) -> int:
        """Number of instructions of a step."""
        lengths = {name: program.work for name, program in self.programs.items()}
        return lengths.pop("advance") * self.scheme.evaluations + sum(lengths.values())

    @cached_property
    def digest(self) -> str:
        """Text that is equal for loops that compute the same."""
        digests = (f"{name} {program.digest}" for name, program in self.programs.items())
        more = (self.dtype,) if self.dtype != "float64" else ()
        more += tuple(f"{each.first} {each.due}" for each in self.samples)
        return "\n".join((repr(self.scheme), str(self.x), str(self.held), str(self.constants), *more, *digests))

    @property
    def programs(self) -> dict[str, Program]:
        named = {"advance": self.advance, "finish": self.finish, "record": self.record}
        named |= {f"sample{k}": each.program for k, each in enumerate(self.samples)}
        return {name: program for name, program in named.items() if program is not None}


@dataclass(frozen=True)
class Turns:
    """Steps to run: ``steps`` steps from number ``first`` on.

    States at multiples of ``every`` are recorded; with ``end`` also the state after the last step, if it is a multiple.
    Steps after ``last_held`` use its row of the held inputs.
    """

    first: int
    steps: int
    every: int
    end: bool
    last_held: int


class Run(Protocol):
    """A compiled loop: called with steps and arrays it returns a function that runs these steps at each call.

    The arrays have the ``dtype`` of the loop, are contiguous along the last axis, and must live as long as the
    function. ``state`` (samples, loop.state) is changed; ``held`` has an array (samples or 1, steps, size) for each
    port; ``constants`` is (samples or 1, size); ``records`` (samples, rows, numbers) is filled from its first row on.
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
