"""Slopes of what a run recorded, forward through time: by parameters, along a change of held inputs, by the start.

A step takes the state x and constants c to the state after it. With S the slopes of x, a column for each unknown,

  (1)  S after the step = A S + C,    A = dx'/dx, C = dx'/dc

A and C are the step's adjoint with a unit weight for each entry of x', all steps and samples at once. Whatever can be
pulled back from can so be followed forward, with loops, memory and controllers, by every method of single steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ...program import Program
from ...targets import backend
from .adjoint import BAR
from .gradient import Tape

SAMPLES = 32  # that go side by side
NUMBERS = 2**19  # slopes of steps that are there at a time: they should stay in the cache


@dataclass(frozen=True)
class Forward:
    """Columns, in this order: one for each of the chosen entries of ``constants``, one along ``held``, where all these
    inputs change together, (samples or 1, steps, ...), and those of ``start``, (samples, x, columns)."""

    tape: Tape
    constants: Mapping[str, Sequence[int]] = field(default_factory=dict)
    held: Mapping[str, np.ndarray] = field(default_factory=dict)
    start: np.ndarray | None = None

    def __post_init__(self):
        if self.tape.adjoint.scheme.history:
            raise UnsupportedError(
                "a step of this method depends on the steps before it, not on the state alone",
                where=f"method {self.tape.runner.method!r}",
                fix="a method of single steps, such as 'rk4' or 'semi-implicit-euler'",
            )

    @property
    def columns(self) -> int:
        own = sum(map(len, self.constants.values())) + bool(self.held)
        return own + (0 if self.start is None else self.start.shape[2])

    def blocks(self, outputs: Sequence[str]) -> Iterator[tuple[slice, slice, np.ndarray]]:
        """Samples, rows of the records, and slopes (samples, rows, entries of all these outputs, columns)."""
        for piece in self.tape.pieces():
            for first in range(piece.start, piece.stop, SAMPLES):
                yield from self._followed(slice(first, min(first + SAMPLES, piece.stop)), outputs)

    def _followed(self, group: slice, outputs: Sequence[str]) -> Iterator[tuple[slice, slice, np.ndarray]]:
        tape, x, every = self.tape, self.tape.plant.x, self.tape.every
        count = group.stop - group.start
        S = np.zeros((count, x, self.columns))
        if self.start is not None:
            S[:, :, self.columns - self.start.shape[2] :] = self.start[group]
        chunk = max(1, NUMBERS // (count * x * (x + self.columns)))
        row = 0
        for begin in range(0, tape.steps, tape.segment):
            states = tape.states_between(group, begin, end := min(begin + tape.segment, tape.steps), None)[..., :x]
            for k in range(begin, end, chunk):
                now = np.arange(k, min(k + chunk, end))
                last = now[-1] + 1 == tape.steps
                at = np.append(now, tape.steps) if last else now
                at = at[at % every == 0]
                kept = np.empty((count, len(at), x, self.columns))
                A, C = self._step(group, now, states[:, now - begin])
                for n, step in enumerate(now):
                    if step % every == 0:
                        kept[:, (step - at[0]) // every] = S
                    S = A[:, n] @ S  # (1)
                    for columns, slopes in C:
                        S[:, :, columns] += slopes[:, n]
                if last and tape.steps % every == 0:
                    kept[:, -1] = S
                if len(at):
                    rows = slice(row, row := row + len(at))
                    yield group, rows, self._of_records(outputs, group, at, states[:, at - begin], kept)

    def _step(self, group: slice, now: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, list[tuple[Any, np.ndarray]]]:
        """A (samples, steps, x, x) of steps, and parts of C with their columns."""
        inputs = {**self.tape.inputs_at(group, now, x), "s": x}
        slopes = self._rows(self.tape.adjoint.rows((*self.held, *self.constants)), inputs, "s")
        return slopes["s"], list(self._own(group, now, slopes))

    def _own(self, group: slice, now: np.ndarray, slopes: Mapping[str, np.ndarray]) -> Iterator[tuple[Any, np.ndarray]]:
        """Columns of constants and held inputs, from slopes by all their entries, (samples, steps, rows, ...)."""
        at = 0
        for name, entries in self.constants.items():
            own = slopes[name].reshape(*slopes[name].shape[:3], -1)
            yield slice(at, at := at + len(entries)), own if len(entries) == own.shape[3] else own[..., list(entries)]
        for name, along in self.held.items():
            own = slopes[name].reshape(*slopes[name].shape[:3], -1)
            change = along[group] if len(along) > 1 else along
            change = change[:, np.minimum(now, self.tape.steps - 1)].reshape(len(change), len(now), 1, -1)
            yield slice(at, at + 1), (own * change).sum(axis=3, keepdims=True)

    def _of_records(
        self, outputs: Sequence[str], group: slice, now: np.ndarray, x: np.ndarray, S: np.ndarray
    ) -> np.ndarray:
        """Slopes (samples, rows, entries, columns) of outputs where x has slopes S."""
        tape, model = self.tape, self.tape.plant.model
        direct = {} if model.constrained else {"q": slice(0, model.nq), "v": slice(model.nq, model.nq + model.nv)}
        if tuple(outputs) == ("q", "v") and direct:
            return S[:, :, : model.nq + model.nv]
        found, inputs = [], None
        for name in outputs:
            if name in direct:
                found.append(S[:, :, direct[name]])
                continue
            inputs = inputs or tape.inputs_at(group, now, x)
            slopes = self._rows(tape.adjoint.of_records(tape.setup.outputs, (name,)), inputs, name)
            parts = [slopes[port.name].reshape(*slopes[port.name].shape[:3], -1) for port in tape.plant.state]
            own = np.concatenate(parts, axis=3) @ S
            for columns, more in self._own(group, now, slopes):
                own[..., columns] += more
            found.append(own)
        return np.concatenate(found, axis=2) if len(found) > 1 else found[0]

    def _rows(self, program: Program, inputs: Mapping[str, np.ndarray], weighted: str) -> dict[str, np.ndarray]:
        """A product with weights from the left, for all unit weights of one result: (samples, steps, rows, ...) by
        name."""
        unit = next(
            np.eye(port.size).reshape(-1, *port.shape) for port in program.inputs if port.name == weighted + BAR
        )
        given = []
        for port in program.inputs[:-1]:
            array = inputs[port.name]
            lead = array.shape[: array.ndim - len(port.shape)]
            given.append(array.reshape(*lead, 1, *port.shape) if lead else array)
        lead = inputs[self.tape.plant.state[0].name].shape[:2]
        out = [np.empty((*lead, len(unit), *port.shape)) for port in program.outputs]
        backend(self.tape.runner.backend).compile(program, "float64").call(*given, unit, out=tuple(out))
        return {port.name.removesuffix(BAR): x for port, x in zip(program.outputs, out, strict=True)}
