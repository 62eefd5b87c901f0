"""Gradients through time: from weights of recorded arrays back to the initial state and all inputs of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ...assembly import finite_array
from ...codegen.timeloop import TimeLoop, Turns
from ...control import Point
from ...errors import ShapeError, UnknownNameError, UnsupportedError
from ...formulations import sizes
from ...targets import backend
from ..plant.constrained import CONTACTS
from ..plant.inputs import motor_indices
from ..plant.instant import GAIN, REFERENCE, WRENCH
from ..schemes.runner import GROUP, Runner, of_samples, shares
from ..trajectory.trajectory import Trajectory
from .adjoint import BAR, Adjoint
from .linear_system import LinearSystem
from .step_jacobian import linear_step

SEGMENT = 64  # steps that are computed again at a time, by default
PIECE = 256  # samples that run backwards together, so that arrays of a segment stay in the processor's cache


@dataclass(frozen=True)
class Gradient:
    """Gradient of a number L, a function of the records, with respect to the initial state and inputs of a run.

    Arrays of inputs have the shapes in which the inputs were passed; inputs that were not passed are None or missing.
    The initial state has a row for each sample, even if all samples started from the same one.

    Attributes:
        q0: dL/dq0 along the tangent, (samples, nv) or (nv,): one entry per independent velocity.
        v0: dL/dv0, in the same shape.
        torque: dL/dtau.
        reference: dL/dq, dL/dv and dL/da of a reference that was passed as numbers.
        gains: dL of the controller's gains, by name.
        memory: dL of the initial values of the controller's states, and of the memory of functions with a sample time,
            by name.
        vary: dL of varied parameters, by name.
        wrenches: dL of wrenches, by frame.
        commands: dL of the commands.

    Example:
        >>> arm = linkwork.load("planar2r")
        >>> run = arm.rollout(np.zeros(2), np.zeros(2), np.zeros(2), dt=1e-3, steps=5, checkpoint_every=1)
        >>> weights = np.zeros_like(run.q)
        >>> weights[-1, 0] = 1.0
        >>> run.pullback(q=weights).torque.shape
        (2,)
    """

    q0: np.ndarray
    v0: np.ndarray
    torque: np.ndarray | None = None
    reference: Point | None = None
    gains: dict[str, np.ndarray] = field(default_factory=dict)
    memory: dict[str, np.ndarray] = field(default_factory=dict)
    vary: dict[str, Any] = field(default_factory=dict)
    wrenches: dict[str, np.ndarray] = field(default_factory=dict)
    commands: np.ndarray | None = None


class Tape:
    """What a run keeps for derivatives: states at every n-th step, or nothing if the records have all states.

    ``exclusive`` says that the records stay in memory that nobody else writes to.
    """

    def __init__(self, runner: Runner, steps: int, every: int, checkpoint_every: int, threads: int, exclusive: bool):
        self.runner, self.steps, self.every, self.threads = runner, steps, every, threads
        self.setup, self.plant = runner.setup, runner.setup.plant
        scheme = runner.scheme
        self.adjoint = self.plant.cached(("adjoint", scheme), lambda: Adjoint(self.plant, scheme))
        state = [port.name for port in self.plant.state]
        complete = list(self.setup.outputs[: len(state)]) == state == ["q", "v"]
        self.recorded = checkpoint_every == every == 1 and exclusive and complete and not self.adjoint.needs_history
        self.segment = steps if self.recorded else SEGMENT if checkpoint_every == 1 else checkpoint_every
        self.records = np.zeros((0, 0, 0))
        self.states: dict[tuple[int, int], np.ndarray] = {}  # first sample of a group, step -> state
        runner.held = [x.copy() for x in runner.held]

    def keep(self, first: int, step: int, state: np.ndarray) -> None:
        """Keep the state of a group of samples."""
        if not self.recorded:
            self.states[first, step] = state.copy()

    def until(self, step: int) -> int:
        """Return the number of steps until the next state is to be kept."""
        return self.segment - step % self.segment

    def attach(self, trajectory: Trajectory) -> None:
        """Attach this tape to the trajectory; records that it needs become read-only."""
        trajectory.tape = self
        if self.recorded:
            self.records.flags.writeable = False
            for name, array in trajectory.arrays.items():
                if name != "t":
                    array.flags.writeable = False

    # -- derivatives -----------------------------------------------------------------------------------------------

    def pullback(self, weights: Mapping[str, Any]) -> Gradient:
        """Return the gradient; see ``Trajectory.pullback``."""
        runner, samples, n = self.runner, self.setup.samples, self.plant.state_size
        checked = self._weights(weights)
        s, c, h = self.adjoint.sizes
        x_bar = np.empty((samples, n))
        constants_bar = np.empty((samples, c))
        held_bars = [np.zeros((len(x), self.steps, x.shape[2])) for x in runner.held]
        with ThreadPoolExecutor(self.threads) if self.threads > 1 else nullcontext() as pool:
            for group in self.pieces():
                state = np.zeros((group.stop - group.start, s + c + h + 1))
                for begin, end in self._segments():
                    block = self._back(group, begin, end, state, checked, pool)
                    start = 0
                    for x, total in zip(runner.held, held_bars, strict=True):
                        part = block[..., start : start + x.shape[2]]
                        start += x.shape[2]
                        if len(x) > 1:
                            total[group, begin:end] = part
                        else:
                            total[:, begin:end] += part.sum(axis=0)
                x_bar[group] = state[:, :n]
                constants_bar[group] = state[:, s : s + c]
        return self._gradient(x_bar, held_bars, constants_bar)

    def linearised(self) -> LinearSystem:
        """Return the Jacobians of all steps; see ``Trajectory.linearised``."""
        if self.plant.sampled:
            message = "functions with a sample time make no linear system from step to step: they hold values"
            fix = "use pullback, or linearise the motion without them"
            raise UnsupportedError(message, where="linearised", got=self.plant.sampled[0].name, fix=fix)
        runner, samples = self.runner, self.setup.samples
        function = linear_step(self.plant, runner.scheme, runner.method, runner.backend)
        names = [port.name for port in function.program.inputs]
        A, B = (np.empty((samples, self.steps, *port.shape)) for port in function.program.outputs)
        zeros = {
            name: np.zeros(sizes(self.plant.model)[name]) for name in ("tau", "commands")
        }  # added to a controller's
        with ThreadPoolExecutor(self.threads) if self.threads > 1 else nullcontext() as pool:
            for group in self.pieces():
                for begin, end in self._segments():
                    states = self.states_between(group, begin, end, pool)[:, : end - begin, : self.plant.state_size]
                    inputs = zeros | self.inputs_at(group, np.arange(begin, end), states)
                    inputs["v"] = inputs["v"][..., list(self.plant.model.mobility.independent)]
                    out = A[group, begin:end], B[group, begin:end]
                    function(*(inputs[name] for name in names), out=out, threads=self.threads)
        return LinearSystem(A, B) if self.setup.batched else LinearSystem(A[0], B[0])

    def pieces(self) -> Iterator[slice]:
        """Yield samples that run together."""
        size, samples = min(PIECE * self.threads, GROUP), self.setup.samples
        for first in range(0, samples, GROUP):
            for start in range(first, min(first + GROUP, samples), size):
                yield slice(start, min(start + size, first + GROUP, samples))

    def _segments(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of steps, the last first; those that start a multistep scheme are a range of their own."""
        size = self.segment
        if self.recorded:  # with few samples, more steps fit into the same memory
            size = min(size, SEGMENT * max(1, PIECE // self.setup.samples))
        cuts = {*range(0, self.steps, size), min(self.adjoint.scheme.history, self.steps), self.steps}
        ends = sorted(cuts)
        yield from reversed(list(pairwise(ends)))

    def _back(
        self, group: slice, begin: int, end: int, bars: np.ndarray, weights: Mapping[str, np.ndarray], pool: Any
    ) -> np.ndarray:
        """Take bars at ``end`` to those at ``begin``, in place; return those of the held inputs in between."""
        adjoint, runner, count, x = self.adjoint, self.runner, end - begin, self.plant.state_size
        states = self.states_between(group, begin, end, pool)
        back = adjoint.scheme.history if adjoint.needs_history else 0
        last = end == self.steps
        x_bars, held_bars, constants_bar = self._record_bars(group, begin, end + last, states[:, back:, :x], weights)
        if last:
            for part, bar in zip(x_bars, self.plant.parts(bars[:, :x]).values(), strict=True):
                bar += part[:, -1].reshape(-1, *bar.shape[1:])
        bars[:, adjoint.s : adjoint.s + constants_bar.shape[1]] += constants_bar
        held = [states[:, back : back + count, :x]]
        held += [states[:, back - k : back - k + count, x:] for k in range(1, back + 1)]
        held += [of_samples(part, group)[:, begin:end] for part in runner.held]
        held = [part[:, ::-1] for part in (*held, *(part[:, :count] for part in x_bars))]
        loop = adjoint.early if begin < adjoint.scheme.history else adjoint.later
        run = self._compiled(loop)
        width = adjoint.sizes[2]
        block = np.zeros((len(states), count + 1, width))
        bars[:, -1] = 0.0  # the number of steps, from which the loop computes time

        def work(here: slice) -> None:
            turns = Turns(0, count, 1, bool(width), count - 1)
            constants = of_samples(runner.constants, slice(group.start + here.start, group.start + here.stop))
            parts = [of_samples(part, here) for part in held]
            run(turns, (end - 1) * runner.dt, -runner.dt, bars[here], parts, constants, block[here])()

        list((map if pool is None else pool.map)(work, shares(len(states), self.threads)))
        block = block[:, :0:-1]
        if held_bars.size:
            block += held_bars[:, :count]
            block[:, -1] += held_bars[:, count:].sum(axis=1)  # the last record uses the inputs of the last step
        return block

    def _compiled(self, loop: TimeLoop) -> Any:
        return backend(self.runner.backend).compile_loop(loop, self.setup.samples)

    def states_between(self, group: slice, begin: int, end: int, pool: Any) -> np.ndarray:
        """Return the states (samples, steps, x) from step ``begin`` to ``end``.

        If the adjoint needs them, each has its rates, and states of the steps before ``begin`` precede.
        """
        if self.recorded:
            return self.records[group, begin : end + 1, : self.plant.state_size]
        adjoint, runner, x = self.adjoint, self.runner, self.plant.state_size
        kept = begin - begin % self.segment
        first = group.start - group.start % GROUP
        state = self.states[first, kept][group.start - first : group.stop - first].copy()
        loop = adjoint.forward
        back = adjoint.scheme.history if adjoint.needs_history else 0
        block = np.zeros((len(state), back + end + 1 - kept, len(loop.record.results)))
        for age in range(1, back + 1):
            block[:, back - age, x:] = state[:, age * x : (age + 1) * x]
        run = self._compiled(loop)

        def work(here: slice) -> None:
            samples = slice(group.start + here.start, group.start + here.stop)
            held = [of_samples(part, samples) for part in runner.held]
            turns = Turns(kept, end - kept, 1, end=True, last_held=self.steps - 1)
            run(turns, 0.0, runner.dt, state[here], held, of_samples(runner.constants, samples), block[here, back:])()

        list((map if pool is None else pool.map)(work, shares(len(state), self.threads)))
        return block[:, begin - kept :]

    # -- weights of records ----------------------------------------------------------------------------------------

    def _weights(self, weights: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Check weights; return (samples, rows, ...) of each, in the order of the records."""
        arrays, shapes, rows = {}, self.runner.shapes, self.steps // self.every + 1
        lead = (self.setup.samples, rows) if self.setup.batched else (rows,)
        for name, value in weights.items():
            if name not in shapes:
                raise UnknownNameError("recorded array", name, shapes, where="pullback")
            where = f"pullback, {name!r}"
            array, shape = finite_array(value, where), (*lead, *shapes[name])
            if array.shape != shape:
                raise ShapeError(
                    "wrong shape", where=where, got=array.shape, expected=f"{shape}, as recorded",
                    fix=f"w = np.zeros_like(run.{name}), then set weights, such as those of the last time",
                )  # fmt: skip
            if array.strides[-1] != array.itemsize:  # time loops read contiguous rows
                array = np.ascontiguousarray(array)
            arrays[name] = array if self.setup.batched else array[None]
        if not arrays:
            raise ShapeError(
                "weights are missing", where="pullback", expected=f"weights of: {', '.join(shapes)}",
                fix="pullback(q=dL_dq, v=dL_dv), arrays as they were recorded",
            )  # fmt: skip
        return {name: arrays[name] for name in shapes if name in arrays}

    def _record_bars(
        self, group: slice, begin: int, end: int, states: np.ndarray, weights: Mapping[str, np.ndarray]
    ) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
        """Bars of parts of x at steps ``begin`` to ``end`` - 1, of held inputs there and of constants, from records."""
        count, length, every = len(states), end - begin, self.every
        rows = slice(-(-begin // every), -(-end // every))
        at = slice(rows.start * every - begin, None, every)
        chosen = {name: array[group, rows] for name, array in weights.items()} if rows.start < rows.stop else {}

        def spread(array: np.ndarray | None, size: int) -> np.ndarray:
            """Spread rows of records over all steps; without an array, zeros that all samples share."""
            if array is None:
                return np.zeros((1, length, size))
            array = array.reshape(count, -1, size)
            if every == 1:
                return array
            full = np.zeros((count, length, size))
            full[:, at] = array
            return full

        plant, runner = self.plant, self.runner
        if not chosen or (not plant.has_constraints and chosen.keys() <= {"q", "v"}):
            bars = [spread(chosen.get(port.name), port.size) for port in plant.state]
            return bars, np.zeros((count, length, 0)), np.zeros((count, 0))
        steps = np.arange(begin, end)[at]
        inputs = self.inputs_at(group, steps, states[:, :length][:, at]).values()
        program = plant.record_vjp(runner.scheme, self.setup.outputs, tuple(chosen))
        results = {port.name.removesuffix(BAR): np.empty((count, len(steps), *port.shape)) for port in program.outputs}
        backend(runner.backend).compile(program, "float64").call(*inputs, *chosen.values(), out=tuple(results.values()))
        bars = [spread(results[port.name], port.size) for port in plant.state]
        held = np.zeros((count, length, sum(x.shape[2] for x in runner.held)))
        if plant.held:
            held[:, at] = np.concatenate([results[name].reshape(count, len(steps), -1) for name in plant.held], axis=2)
        summed = [results[name].reshape(count, len(steps), -1).sum(axis=1) for name in plant.constants]
        return bars, held, np.concatenate(summed, axis=1) if summed else np.zeros((count, 0))

    def inputs_at(self, group: slice, steps: np.ndarray, states: np.ndarray) -> dict[str, np.ndarray]:
        """Return the inputs of the plant's programs at some steps, (samples, steps, ...), by name."""
        runner, plant = self.runner, self.plant
        inputs = {**plant.parts(states), "t": runner.dt * steps, "dt": np.array(runner.dt)}
        for name, x in zip(plant.held, runner.held, strict=True):
            rows = of_samples(x, group)[:, np.minimum(steps, self.steps - 1)]
            inputs[name] = rows.reshape(-1, len(steps), *plant.held[name])
        start, constants = 0, of_samples(runner.constants, group)
        for name, shape in plant.constants.items():
            end = start + math.prod(shape)
            inputs[name] = constants[:, start:end].reshape(-1, 1, *shape)
            start = end
        return inputs

    # -- by input --------------------------------------------------------------------------------------------------

    def _gradient(self, x_bar: np.ndarray, held_bars: list[np.ndarray], constants_bar: np.ndarray) -> Gradient:
        """Gradient by input, in the shapes that the user passed."""
        plant, inputs = self.plant, self.setup.inputs
        parts = plant.parts(x_bar)
        bars = dict(zip(plant.held, held_bars, strict=True))
        q0, v0, of_start = self._initial(parts)
        start = 0
        for name, shape in plant.constants.items():
            size = math.prod(shape)
            columns = constants_bar[:, start : start + size]
            if name in of_start:
                columns = columns + of_start[name].reshape(len(columns), size)
            bars[name] = columns if len(inputs.constants[name]) > 1 else columns.sum(axis=0)
            start += size
        bars = {name: array.reshape(inputs.full_shapes[name]) for name, array in bars.items()}
        bars.pop(CONTACTS, None)  # a switch has no derivative
        memory = {name: parts[plant.part_of(name)] for name in self.setup.settable}
        if not self.setup.batched:
            q0, v0, memory = q0[0], v0[0], {name: x[0] for name, x in memory.items()}
        reference = bars.pop(REFERENCE, None)
        torque, commands = bars.pop("tau", None), bars.pop("commands", None)
        if torque is not None and inputs.motors_only:
            torque = torque[..., motor_indices(plant.model)]
        kinds: dict[str, dict[str, Any]] = {GAIN: {}, WRENCH: {}, "": {}}
        for name, array in bars.items():
            kind = next(kind for kind in kinds if name.startswith(kind))
            kinds[kind][name.removeprefix(kind)] = array
        gains, wrenches, vary = kinds.values()
        if "payload" in vary:
            vary["payload"] = {plant.payload: vary["payload"]}
        point = None
        if reference is not None and inputs.reference_shapes:  # otherwise these are samples of a function
            shapes = enumerate(inputs.reference_shapes)
            point = Point(*(_summed(reference[..., k, :], axes).reshape(shape) for k, (shape, axes) in shapes))
        return Gradient(q0, v0, torque, point, gains, memory, vary, wrenches, commands)

    def _initial(self, bars: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Gradients along the tangent of q0, with respect to the independent velocities, and by numbers that vary.

        Positions and velocities of all joints and places of contacts follow from these.
        """
        plant, geometry = self.plant, self.setup.geometry
        x0 = plant.parts(self.setup.x0)
        q_start, v_start = self._start(x0, bars)
        q_bar, v_bar, more = bars["q"] + q_start, bars["v"], []
        if plant.has_constraints:
            program = self.adjoint.start_vjp
            weights = [q_bar, v_bar, *([bars["stand"]] if plant.has_contacts else [])]
            start = x0["q"], x0["v"][:, list(plant.model.mobility.independent)], *geometry.values()
            results = tuple(np.empty((len(q_bar), *port.shape)) for port in program.outputs)
            backend(self.runner.backend).compile(program, "float64").call(*start, *weights, out=results)
            q_bar, v_bar, *more = results
        if "q" in self.adjoint.tangents:
            q_bar = np.einsum("skn,sk->sn", self.tangent(), q_bar)
        return q_bar, v_bar + v_start, dict(zip(geometry, more, strict=False))

    def _start(self, x0: Mapping[str, np.ndarray], bars: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Bars of q and of the independent velocities, from memory that starts from them."""
        at = {"q": x0["q"], "v": x0["v"][:, list(self.plant.model.mobility.independent)]}
        total = {name: np.zeros_like(x) for name, x in at.items()}
        for each in self.plant.sampled:
            own = {name: bars[self.plant.part_of(name)] for name in each.memory if name in self.setup.from_state}
            for name, bar in each.start_bars(**at, bars=own).items():
                total[name] += bar
        return total["q"], total["v"]

    def tangent(self) -> np.ndarray:
        """Return the derivative of initial positions along their tangent, (samples, nq, independent velocities)."""
        model, q = self.plant.model, self.plant.parts(self.setup.x0)["q"]
        if (program := self.adjoint.tangents.get("q")) is None:
            return np.broadcast_to(np.eye(model.nq), (len(q), model.nq, model.nq))
        T = np.empty((len(q), *program.outputs[0].shape))
        geometry = (self.setup.geometry[port.name] for port in program.inputs[1:])
        backend(self.runner.backend).compile(program, "float64").call(q, *geometry, out=(T,))
        return T


def _summed(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sum over the axes along which one value was used for many."""
    return array.sum(axis=tuple(k for k, n in enumerate(shape) if n != array.shape[k]), keepdims=True)
