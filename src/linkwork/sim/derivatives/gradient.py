"""Gradients through time: from weights of what a run recorded back to all that it started from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ...assembly import numbers
from ...codegen.timeloop import TimeLoop, Turns
from ...control import Point
from ...derive import vjp
from ...errors import ShapeError, UnknownNameError
from ...formulations import sizes
from ...program import interpret
from ...targets import backend
from ..plant.constrained import CONTACTS, places_program
from ..plant.inputs import of_motors
from ..plant.instant import MEMORY, REFERENCE
from ..schemes.runner import GROUP, Runner, of_samples, shares
from ..trajectory.trajectory import Trajectory
from .adjoint import BAR, Adjoint
from .linear_system import LinearSystem
from .step_jacobian import linear_step

SEGMENT = 64  # steps that are computed again at a time, unless less memory is asked for
PIECE = 256  # samples that go back side by side: arrays of a segment stay in the cache


@dataclass(frozen=True)
class Gradient:
    """Of a number L(records) by all that a run was given, in the shapes it was given in; what was not given is not
    there. Where a run begins is of each sample, given or not: ``q0`` along the tangent, ``v0``, both with one entry for
    each independent velocity, and the controller's ``memory``."""

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
    """What must be kept of a run to go back through it: its states at every so many steps, and where its records have
    all states already, nothing else."""

    def __init__(self, runner: Runner, steps: int, every: int, checkpoint_every: int, threads: int, kept: bool):
        """``kept``: do the records stay in memory that nobody else writes to?"""
        self.runner, self.steps, self.every, self.threads = runner, steps, every, threads
        self.setup, self.plant = runner.setup, runner.setup.plant
        scheme = runner.scheme
        self.adjoint: Adjoint = self.plant.adjoints.setdefault(scheme, Adjoint(self.plant, scheme))
        state = [port.name for port in self.plant.state]
        leading = list(self.setup.outputs[: len(state)]) == state == ["q", "v"]
        self.recorded = checkpoint_every == 1 and every == 1 and kept and leading and not self.adjoint.looks_back
        self.segment = steps if self.recorded else SEGMENT if checkpoint_every == 1 else checkpoint_every
        self.records = np.zeros((0, 0, 0))
        self.states: dict[tuple[int, int], np.ndarray] = {}  # first sample of a group, step -> state
        runner.held = [x.copy() for x in runner.held]

    def keep(self, first: int, step: int, state: np.ndarray) -> None:
        if not self.recorded:
            self.states[first, step] = state.copy()

    def until(self, step: int) -> int:
        """Steps until the next state is to be kept."""
        return self.segment - step % self.segment

    def attach(self, trajectory: Trajectory) -> None:
        """The run is over. Records that are needed cannot be written to any more."""
        trajectory.tape = self
        if self.recorded:
            self.records.flags.writeable = False
            for name, array in trajectory.arrays.items():
                if name != "t":
                    array.flags.writeable = False

    # -- going back ------------------------------------------------------------------------------------------------

    def pullback(self, weights: Mapping[str, Any]) -> Gradient:
        runner, samples = self.runner, self.setup.samples
        given = self._weights(weights)
        s, c, h = self.adjoint.sizes
        bars_of_x = np.empty((samples, self.plant.x))
        bars_of_constants = np.empty((samples, c))
        bars_of_held = [np.zeros((len(x), self.steps, x.shape[2])) for x in runner.held]
        with ThreadPoolExecutor(self.threads) if self.threads > 1 else nullcontext() as pool:
            for group in self.pieces():
                state = np.zeros((group.stop - group.start, s + c + h + 1))
                for begin, end in self._segments():
                    block = self._back(group, begin, end, state, given, pool)
                    start = 0
                    for x, total in zip(runner.held, bars_of_held, strict=True):
                        part = block[..., start : start + x.shape[2]]
                        start += x.shape[2]
                        if len(x) > 1:
                            total[group, begin:end] = part
                        else:
                            total[:, begin:end] += part.sum(axis=0)
                bars_of_x[group] = state[:, : self.plant.x]
                bars_of_constants[group] = state[:, s : s + c]
        return self._gradient(bars_of_x, bars_of_held, bars_of_constants)

    def linearised(self) -> LinearSystem:
        runner, samples = self.runner, self.setup.samples
        function = linear_step(self.plant, runner.scheme, runner.method, runner.backend)
        names = [port.name for port in function.program.inputs]
        A, B = (np.empty((samples, self.steps, *port.shape)) for port in function.program.outputs)
        beside = {name: np.zeros(sizes(self.plant.model)[name]) for name in ("tau", "commands")}  # of a controller
        with ThreadPoolExecutor(self.threads) if self.threads > 1 else nullcontext() as pool:
            for group in self.pieces():
                for begin, end in self._segments():
                    states = self.states_between(group, begin, end, pool)[:, : end - begin, : self.plant.x]
                    given = beside | self.inputs_at(group, np.arange(begin, end), states)
                    given["v"] = given["v"][..., list(self.plant.model.mobility.independent)]
                    out = A[group, begin:end], B[group, begin:end]
                    function(*(given[name] for name in names), out=out, threads=self.threads)
        return LinearSystem(A, B) if self.setup.batched else LinearSystem(A[0], B[0])

    def pieces(self) -> Iterator[slice]:
        """Samples that go side by side."""
        size, samples = min(PIECE * self.threads, GROUP), self.setup.samples
        for first in range(0, samples, GROUP):
            for start in range(first, min(first + GROUP, samples), size):
                yield slice(start, min(start + size, first + GROUP, samples))

    def _segments(self) -> Iterator[tuple[int, int]]:
        """Steps, the last first; those that start a scheme are by themselves."""
        size = self.segment
        if self.recorded:  # of few samples more steps, which take no more room
            size = min(size, SEGMENT * max(1, PIECE // self.setup.samples))
        cuts = {*range(0, self.steps, size), min(self.adjoint.scheme.history, self.steps), self.steps}
        ends = sorted(cuts)
        yield from reversed(list(pairwise(ends)))

    def _back(
        self, group: slice, begin: int, end: int, bars: np.ndarray, weights: Mapping[str, np.ndarray], pool: Any
    ) -> np.ndarray:
        """Bars at ``end`` become those at ``begin``; gives those of the held inputs in between."""
        adjoint, runner, count, x = self.adjoint, self.runner, end - begin, self.plant.x
        states = self.states_between(group, begin, end, pool)
        back = adjoint.scheme.history if adjoint.looks_back else 0
        last = end == self.steps
        own, of_held, of_constants = self._of_records(group, begin, end + last, states[:, back:, :x], weights)
        if last:
            for part, bar in zip(own, self.plant.parts(bars[:, :x]).values(), strict=True):
                bar += part[:, -1].reshape(-1, *bar.shape[1:])
        bars[:, adjoint.s : adjoint.s + of_constants.shape[1]] += of_constants
        held = [states[:, back : back + count, :x]]
        held += [states[:, back - k : back - k + count, x:] for k in range(1, back + 1)]
        held += [of_samples(part, group)[:, begin:end] for part in runner.held]
        held = [part[:, ::-1] for part in (*held, *(part[:, :count] for part in own))]
        loop = adjoint.early if begin < adjoint.scheme.history else adjoint.later
        run = self._compiled(loop)
        width = adjoint.sizes[2]
        block = np.zeros((len(states), count + 1, width))
        bars[:, -1] = 0.0  # steps made, by which time is counted

        def work(here: slice) -> None:
            turns = Turns(0, count, 1, bool(width), count - 1)
            constants = of_samples(runner.constants, slice(group.start + here.start, group.start + here.stop))
            parts = [of_samples(part, here) for part in held]
            run(turns, (end - 1) * runner.dt, -runner.dt, bars[here], parts, constants, block[here])()

        list((map if pool is None else pool.map)(work, shares(len(states), self.threads)))
        block = block[:, :0:-1]
        if of_held.size:
            block += of_held[:, :count]
            block[:, -1] += of_held[:, count:].sum(axis=1)  # the last record takes what is held over the last step
        return block

    def _compiled(self, loop: TimeLoop) -> Any:
        return backend(self.runner.backend).compile_loop(loop, self.setup.samples)

    def states_between(self, group: slice, begin: int, end: int, pool: Any) -> np.ndarray:
        """States at steps from ``begin`` to ``end`` (samples, steps, x), each with its rates if they count, and then
        with those of as many steps before as the scheme looks back on."""
        if self.recorded:
            return self.records[group, begin : end + 1, : self.plant.x]
        adjoint, runner, x = self.adjoint, self.runner, self.plant.x
        known = begin - begin % self.segment
        first = group.start - group.start % GROUP
        state = self.states[first, known][group.start - first : group.stop - first].copy()
        loop = adjoint.forward
        back = adjoint.scheme.history if adjoint.looks_back else 0
        block = np.zeros((len(state), back + end + 1 - known, len(loop.record.results)))
        for age in range(1, back + 1):
            block[:, back - age, x:] = state[:, age * x : (age + 1) * x]
        run = self._compiled(loop)

        def work(here: slice) -> None:
            samples = slice(group.start + here.start, group.start + here.stop)
            held = [of_samples(part, samples) for part in runner.held]
            turns = Turns(known, end - known, 1, end=True, last_held=self.steps - 1)
            run(turns, 0.0, runner.dt, state[here], held, of_samples(runner.constants, samples), block[here, back:])()

        list((map if pool is None else pool.map)(work, shares(len(state), self.threads)))
        return block[:, begin - known :]

    # -- weights of records ----------------------------------------------------------------------------------------

    def _weights(self, weights: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """(samples, rows, ...) of each, in the order of the records."""
        found, shapes, rows = {}, self.runner.shapes, self.steps // self.every + 1
        lead = (self.setup.samples, rows) if self.setup.batched else (rows,)
        for name, value in weights.items():
            if name not in shapes:
                raise UnknownNameError("recorded array", name, shapes, where="pullback")
            where = f"pullback, {name!r}"
            array, shape = numbers(value, where), (*lead, *shapes[name])
            if array.shape != shape:
                raise ShapeError(
                    "wrong shape", where=where, got=array.shape, expected=f"{shape}, as recorded",
                    fix=f"w = np.zeros_like(run.{name}), and then weights where they count, such as the last time",
                )  # fmt: skip
            if array.strides[-1] != array.itemsize:  # rows that time loops read have no gaps
                array = np.ascontiguousarray(array)
            found[name] = array if self.setup.batched else array[None]
        if not found:
            raise ShapeError(
                "there is nothing to pull back", where="pullback", expected=f"weights of: {', '.join(shapes)}",
                fix="pullback(q=dL_dq, v=dL_dv), arrays as they were recorded",
            )  # fmt: skip
        return {name: found[name] for name in shapes if name in found}

    def _of_records(
        self, group: slice, begin: int, end: int, states: np.ndarray, weights: Mapping[str, np.ndarray]
    ) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
        """Bars of each part of x at steps from ``begin`` up to ``end``, of held inputs there, and of the constants,
        from what is recorded at these steps."""
        count, length, every = len(states), end - begin, self.every
        rows = slice(-(-begin // every), -(-end // every))
        at = slice(rows.start * every - begin, None, every)
        given = {name: array[group, rows] for name, array in weights.items()} if rows.start < rows.stop else {}

        def spread(array: np.ndarray | None, size: int) -> np.ndarray:
            """Over all steps; one row serves all samples where there is nothing."""
            if array is None:
                return np.zeros((1, length, size))
            array = array.reshape(count, -1, size)
            if every == 1:
                return array
            whole = np.zeros((count, length, size))
            whole[:, at] = array
            return whole

        plant, runner = self.plant, self.runner
        if not given or (not plant.held_together and given.keys() <= {"q", "v"}):
            bars = [spread(given.get(port.name), port.size) for port in plant.state]
            return bars, np.zeros((count, length, 0)), np.zeros((count, 0))
        steps = np.arange(begin, end)[at]
        inputs = self.inputs_at(group, steps, states[:, :length][:, at]).values()
        program = self.adjoint.of_records(self.setup.outputs, tuple(given))
        slopes = {port.name.removesuffix(BAR): np.empty((count, len(steps), *port.shape)) for port in program.outputs}
        backend(runner.backend).compile(program, "float64").call(*inputs, *given.values(), out=tuple(slopes.values()))
        bars = [spread(slopes[port.name], port.size) for port in plant.state]
        held = np.zeros((count, length, sum(x.shape[2] for x in runner.held)))
        if plant.held:
            held[:, at] = np.concatenate([slopes[name].reshape(count, len(steps), -1) for name in plant.held], axis=2)
        summed = [slopes[name].reshape(count, len(steps), -1).sum(axis=1) for name in plant.constants]
        return bars, held, np.concatenate(summed, axis=1) if summed else np.zeros((count, 0))

    def inputs_at(self, group: slice, steps: np.ndarray, states: np.ndarray) -> dict[str, np.ndarray]:
        """Of the plant's programs at some steps, (samples, steps, ...), by name."""
        runner, plant = self.runner, self.plant
        inputs = {**plant.parts(states), "t": runner.dt * steps, "dt": np.array(runner.dt)}
        for name, x in zip(plant.held, runner.held, strict=True):
            rows = of_samples(x, group)[:, np.minimum(steps, self.steps - 1)]
            inputs[name] = rows.reshape(-1, len(steps), *plant.held[name])
        start, own = 0, of_samples(runner.constants, group)
        for name, shape in plant.constants.items():
            end = start + math.prod(shape)
            inputs[name] = own[:, start:end].reshape(-1, 1, *shape)
            start = end
        return inputs

    # -- what was given --------------------------------------------------------------------------------------------

    def _gradient(self, of_x: np.ndarray, of_held: list[np.ndarray], of_constants: np.ndarray) -> Gradient:
        plant, inputs = self.plant, self.setup.inputs
        parts = plant.parts(of_x)
        found = dict(zip(plant.held, of_held, strict=True))
        start = 0
        for name, shape in plant.constants.items():
            size = math.prod(shape)
            own = of_constants[:, start : start + size]
            found[name] = own if len(inputs.constants[name]) > 1 else own.sum(axis=0)
            start += size
        found = {name: array.reshape(inputs.given[name]) for name, array in found.items()}
        found.pop(CONTACTS, None)  # on or off
        q0, v0 = self._initial(parts)
        memory = {name.removeprefix(MEMORY): x for name, x in parts.items() if name.startswith(MEMORY)}
        if not self.setup.batched:
            q0, v0, memory = q0[0], v0[0], {name: x[0] for name, x in memory.items()}
        reference = found.pop(REFERENCE, None)
        kinds: dict[str, dict[str, Any]] = {"gain ": {}, "wrench ": {}, "": {}}
        torque, commands = found.pop("tau", None), found.pop("commands", None)
        if torque is not None and inputs.of_motors:
            torque = torque[..., of_motors(plant.model)]
        for name, array in found.items():
            kind = next(kind for kind in kinds if name.startswith(kind))
            kinds[kind][name.removeprefix(kind)] = array
        if "payload" in kinds[""]:
            kinds[""]["payload"] = {plant.payload: kinds[""]["payload"]}
        point = None
        if reference is not None and inputs.point:  # else it was a function, of which these are samples
            own = (reference[..., k, :] for k in range(len(inputs.point)))
            point = Point(
                *(_summed(x, axes).reshape(shape) for x, (shape, axes) in zip(own, inputs.point, strict=True))
            )
        return Gradient(q0, v0, torque, point, kinds["gain "], memory, kinds[""], kinds["wrench "], commands)

    def _initial(self, bars: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Along the tangent of q0, and by the independent velocities, which tell those of all joints; q0 tells where
        contacts stand, too."""
        model, of_q, of_v = self.plant.model, bars["q"], bars["v"]
        x0 = self.plant.parts(self.setup.x0)
        if self.plant.stands:
            of_q = of_q + interpret(vjp(places_program(model), ["q"], ["stand"]), [x0["q"], bars["stand"]])[0]
        if "q" in self.adjoint.tangents:
            of_q = np.einsum("skn,sk->sn", self.tangent(), of_q)
        if not model.constrained:
            return of_q, of_v
        more, of_v = self.adjoint.of_velocities(x0["q"], x0["v"][:, list(model.mobility.independent)], of_v)
        return of_q + more, of_v

    def tangent(self) -> np.ndarray:
        """Slopes of the initial positions by steps along their tangent, (samples, nq, independent velocities)."""
        model, q = self.plant.model, self.plant.parts(self.setup.x0)["q"]
        if (along := self.adjoint.tangents.get("q")) is None:
            return np.broadcast_to(np.eye(model.nq), (len(q), model.nq, model.nq))
        T = np.empty((len(q), *along.outputs[0].shape))
        backend(self.runner.backend).compile(along, "float64").call(q, out=(T,))
        return T


def _summed(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Over the axes along which one value served for many."""
    return array.sum(axis=tuple(k for k, n in enumerate(shape) if n != array.shape[k]), keepdims=True)
