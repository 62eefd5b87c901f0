"""Forward sensitivities: derivatives of records with respect to parameters, held inputs and the initial state.

A step maps the state x and constants c to the state x' after it. With the sensitivity S of x, one column per unknown,

  (1)  S after the step = A S + C,    A = dx'/dx, C = dx'/dc

A and C are the adjoint of the step with a unit weight for each entry of x', for many steps and samples at once. So
whatever has a gradient has forward sensitivities: loops, memory and controllers, with every single-step method.
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

SAMPLES = 32  # samples that run together
NUMBERS = 2**19  # entries of A and C at a time, so that they stay in the processor's cache


@dataclass(frozen=True)
class Forward:
    """Sensitivities of a run that kept its states.

    The columns, in this order: one for each chosen entry of ``constants``; one along ``held``, where all these inputs
    change together; those of ``start``.

    Attributes:
        tape: The run.
        constants: Indices of entries by name of a constant.
        held: Directions of change by name of a held input, (samples or 1, steps, ...).
        start: Sensitivity of the initial state, (samples, state_size, columns). Default: zero.
    """

    tape: Tape
    constants: Mapping[str, Sequence[int]] = field(default_factory=dict)
    held: Mapping[str, np.ndarray] = field(default_factory=dict)
    start: np.ndarray | None = None

    def __post_init__(self):
        if self.tape.adjoint.scheme.history:
            raise UnsupportedError(
                "a step of this method depends on earlier steps, not on the state alone",
                where=f"method {self.tape.runner.method!r}",
                fix="use a single-step method, such as 'rk4' or 'semi-implicit-euler'",
            )

    @property
    def columns(self) -> int:
        """Number of columns."""
        inputs = sum(map(len, self.constants.values())) + bool(self.held)
        return inputs + (0 if self.start is None else self.start.shape[2])

    def blocks(self, outputs: Sequence[str]) -> Iterator[tuple[slice, slice, np.ndarray]]:
        """Yield samples, rows of the records, and derivatives (samples, rows, entries of these outputs, columns)."""
        for piece in self.tape.pieces():
            for first in range(piece.start, piece.stop, SAMPLES):
                yield from self._of_group(slice(first, min(first + SAMPLES, piece.stop)), outputs)

    def _of_group(self, group: slice, outputs: Sequence[str]) -> Iterator[tuple[slice, slice, np.ndarray]]:
        tape, x, every = self.tape, self.tape.plant.state_size, self.tape.every
        count = group.stop - group.start
        S = np.zeros((count, x, self.columns))
        if self.start is not None:
            S[:, :, self.columns - self.start.shape[2] :] = self.start[group]
        chunk = max(1, NUMBERS // (count * x * (x + self.columns)))
        row = 0
        for begin in range(0, tape.steps, tape.segment):
            states = tape.states_between(group, begin, end := min(begin + tape.segment, tape.steps), None)[..., :x]
            for k in range(begin, end, chunk):
                steps = np.arange(k, min(k + chunk, end))
                last = steps[-1] + 1 == tape.steps
                recorded = np.append(steps, tape.steps) if last else steps
                recorded = recorded[recorded % every == 0]
                at_records = np.empty((count, len(recorded), x, self.columns))
                A, C = self._step(group, steps, states[:, steps - begin])
                for n, step in enumerate(steps):
                    if step % every == 0:
                        at_records[:, (step - recorded[0]) // every] = S
                    S = A[:, n] @ S  # (1)
                    for columns, part in C:
                        S[:, :, columns] += part[:, n]
                if last and tape.steps % every == 0:
                    at_records[:, -1] = S
                if len(recorded):
                    rows = slice(row, row := row + len(recorded))
                    x_recorded = states[:, recorded - begin]
                    yield group, rows, self._of_records(outputs, group, recorded, x_recorded, at_records)

    def _step(self, group: slice, steps: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, list[tuple[Any, np.ndarray]]]:
        """A (samples, steps, x, x), and parts of C with their columns."""
        inputs = {**self.tape.inputs_at(group, steps, x), "s": x}
        jacobians = self._rows(self.tape.adjoint.rows((*self.held, *self.constants)), inputs, "s")
        return jacobians["s"], list(self._input_columns(group, steps, jacobians))

    def _input_columns(
        self, group: slice, steps: np.ndarray, jacobians: Mapping[str, np.ndarray]
    ) -> Iterator[tuple[Any, np.ndarray]]:
        """Columns of constants and held inputs, from Jacobians (samples, steps, rows, ...) with all their entries."""
        at = 0
        for name, entries in self.constants.items():
            flat = _flat(jacobians[name])
            yield (
                slice(at, at := at + len(entries)),
                flat if len(entries) == flat.shape[3] else flat[..., list(entries)],
            )
        for name, direction in self.held.items():
            change = direction[group] if len(direction) > 1 else direction
            change = change[:, np.minimum(steps, self.tape.steps - 1)].reshape(len(change), len(steps), 1, -1)
            yield slice(at, at + 1), (_flat(jacobians[name]) * change).sum(axis=3, keepdims=True)

    def _of_records(
        self, outputs: Sequence[str], group: slice, steps: np.ndarray, x: np.ndarray, S: np.ndarray
    ) -> np.ndarray:
        """Derivatives (samples, rows, entries, columns) of outputs, where x has the sensitivity S."""
        tape, model = self.tape, self.tape.plant.model
        direct = {} if model.constrained else {"q": slice(0, model.nq), "v": slice(model.nq, model.nq + model.nv)}
        if tuple(outputs) == ("q", "v") and direct:
            return S[:, :, : model.nq + model.nv]
        results, inputs = [], None
        for name in outputs:
            if name in direct:
                results.append(S[:, :, direct[name]])
                continue
            inputs = inputs or tape.inputs_at(group, steps, x)
            jacobians = self._rows(tape.plant.record_vjp(tape.runner.scheme, tape.setup.outputs, (name,)), inputs, name)
            result = np.concatenate([_flat(jacobians[port.name]) for port in tape.plant.state], axis=3) @ S
            for columns, part in self._input_columns(group, steps, jacobians):
                result[..., columns] += part
            results.append(result)
        return np.concatenate(results, axis=2) if len(results) > 1 else results[0]

    def _rows(self, program: Program, inputs: Mapping[str, np.ndarray], weighted: str) -> dict[str, np.ndarray]:
        """Jacobians (samples, steps, rows, ...) by name, from a vector-Jacobian product and all unit weights of one
        result."""
        unit = next(
            np.eye(port.size).reshape(-1, *port.shape) for port in program.inputs if port.name == weighted + BAR
        )
        arguments = []
        for port in program.inputs[:-1]:
            array = inputs[port.name]
            lead = array.shape[: array.ndim - len(port.shape)]
            arguments.append(array.reshape(*lead, 1, *port.shape) if lead else array)
        lead = inputs[self.tape.plant.state[0].name].shape[:2]
        out = [np.empty((*lead, len(unit), *port.shape)) for port in program.outputs]
        backend(self.tape.runner.backend).compile(program, "float64").call(*arguments, unit, out=tuple(out))
        return {port.name.removesuffix(BAR): x for port, x in zip(program.outputs, out, strict=True)}


def _flat(jacobian: np.ndarray) -> np.ndarray:
    """(samples, steps, rows, entries) from an input of any shape."""
    return jacobian.reshape(*jacobian.shape[:3], -1)
