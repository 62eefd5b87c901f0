"""Programs and time loops in NumPy, without LLVM: slow, the same on every machine, and the reference of native code."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..program import Program, interpret
from .backend import Compiled
from .schemes import AdamsBashforth, Arithmetic, Combination, OwnStep, RungeKutta
from .timeloop import Run, TimeLoop, Turns

NUMBERS = Arithmetic(float, operator.add, operator.mul, lambda a, b, c: a * b + c)  # native code rounds a b + c once

Rates = Callable[[np.ndarray, np.ndarray], np.ndarray]


def compile(program: Program, dtype: str) -> Compiled:
    del dtype  # the arguments determine it
    return Compiled(partial(_evaluate, program), obstacle="the interpreter has no native code")


def _evaluate(program: Program, *arrays: np.ndarray, out: tuple[np.ndarray, ...]) -> None:
    for target, result in zip(out, interpret(program, arrays), strict=True):
        target[...] = result


def compile_loop(loop: TimeLoop, samples: int) -> Run:
    del samples  # all numbers of samples are treated alike
    return partial(partial, _run, loop)


def _run(
    loop: TimeLoop,
    turns: Turns,
    t0: float,
    dt: float,
    state: np.ndarray,
    held: Sequence[np.ndarray],
    constants: np.ndarray,
    records: np.ndarray,
) -> None:
    x, history, finite = state[:, : loop.x], state[:, loop.x : -1], state[:, -1]
    row = 0
    for k in range(turns.first, turns.first + turns.steps + turns.end):
        inputs = [*(array[:, min(k, turns.last_held)] for array in held), constants]

        def call(program: Program, t: np.ndarray, x: np.ndarray, inputs: list[np.ndarray] = inputs) -> np.ndarray:
            return _on_rows(program, x, t, dt, inputs)

        t = t0 + finite[:, None] * dt
        now = x.copy() if loop.samples else x
        for sample in loop.samples:
            if (now[:, sample.due] < 0.5).any():
                made = call(sample.program, t, now)
                now[:, sample.first : sample.first + made.shape[1]] = made
        if k % turns.every == 0:
            records[:, row] = call(loop.record, t, now)
            row += 1
        if k == turns.first + turns.steps:
            break
        x[:] = now
        after = _after(loop, partial(call, loop.advance), finite, t, dt, x, history)
        x[:] = after if loop.finish is None else call(loop.finish, t, after)
        with np.errstate(all="ignore"):
            finite += np.isfinite(x.sum(axis=1))


def _after(
    loop: TimeLoop, rates: Rates, steps: np.ndarray, t: np.ndarray, dt: float, x: np.ndarray, history: np.ndarray
) -> np.ndarray:
    """Return x after a step, and put its rates first in the history; ``steps`` counts each sample's earlier steps."""
    match loop.scheme:
        case OwnStep():
            return rates(t, x)
        case RungeKutta() as scheme:
            return _stages(scheme, rates, t, dt, x)[0]
        case AdamsBashforth() as scheme:
            early = steps[:, None] < scheme.history
            first, now = _stages(scheme.start, rates, t, dt, x) if early.any() else (x, rates(t, x))
            slopes = [now, *np.split(history, scheme.history, axis=1)]
            later = _combined(scheme.step, x, slopes, dt)
            history[:] = np.concatenate([now, history[:, : -loop.x]], axis=1)
            return np.where(early, first, later)


def _stages(scheme: RungeKutta, rates: Rates, t: np.ndarray, dt: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x after a step, and the rates at its beginning."""
    slopes = [rates(t, x)]
    for node, place in scheme.stages:
        slopes.append(rates(t + node * dt, _combined(place, x, slopes, dt)))
    return _combined(scheme.step, x, slopes, dt), slopes[0]


def _combined(combination: Combination, x: np.ndarray, slopes: Sequence[np.ndarray], dt: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        return combination(x, slopes.__getitem__, float(combination.share) * dt, NUMBERS)


def _on_rows(program: Program, x: np.ndarray, t: np.ndarray, dt: float, inputs: Sequence[np.ndarray]) -> np.ndarray:
    """Return the numbers of all outputs (samples, n), from the inputs that ``timeloop`` lists."""
    samples = len(x)
    parts: list[Any] = [x, t, np.full((samples, 1), dt, x.dtype), *inputs]
    block = np.concatenate([np.broadcast_to(part, (samples, part.shape[1])) for part in parts], axis=1)
    cuts = np.cumsum([port.size for port in program.inputs])[:-1]
    split = zip(np.split(block, cuts, axis=1), program.inputs, strict=True)
    results = interpret(program, [part.reshape(samples, *port.shape) for part, port in split])
    return np.concatenate([part.reshape(samples, -1) for part in results] or [x[:, :0]], axis=1)
