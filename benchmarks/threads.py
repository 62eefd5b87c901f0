"""Threads that share a batch: what "auto" gains or loses against one thread, and how 1, 2 and 4 threads scale.

    python benchmarks/threads.py [seconds for each comparison]

Wall time, since several threads run; contenders by turns, so that what slows the machine slows all of them alike. The
ratios are of the tenth percentiles: on a shared machine the samples in which no other process had the processors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np
from robots import SOURCES

import linkwork

SIZES = (1, 10, 100, 1000, 2000, 4096, 10_000, 100_000, 1_000_000)
MANY, THREADS = 1_000_000, (1, 2, 4)


def functions() -> Iterator[tuple[str, linkwork.Function]]:
    yield "planar2r", linkwork.load("planar2r").inverse_dynamics
    yield "panda", SOURCES["panda"].load().inverse_dynamics
    yield "talos", SOURCES["talos"].load().inverse_dynamics


def compared(calls: list[Callable[[], object]], seconds: float) -> list[float]:
    """Seconds of each call."""
    samples: list[list[float]] = [[] for _ in calls]
    end = perf_counter() + seconds
    while perf_counter() < end or len(samples[0]) < 10:
        for call, own in zip(calls, samples, strict=True):
            start = perf_counter()
            call()
            own.append(perf_counter() - start)
    return [float(np.quantile(own[1:], 0.1)) for own in samples]


def measured(function: linkwork.Function, states: int, threads: tuple[int | str, ...], seconds: float) -> list[float]:
    """Nanoseconds per state with so many threads each; results agreed first."""
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1, 1, (states, *port.shape)) for port in function.program.inputs]
    expected = function(*arrays)
    out = np.empty_like(expected)
    for number in threads:
        function(*arrays, out=out, threads=number)
        assert np.array_equal(out, expected), "threads changed the result"
    calls = [lambda number=number: function(*arrays, out=out, threads=number) for number in threads]
    return [time / states * 1e9 for time in compared(calls, seconds)]


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    for name, function in functions():
        for states in SIZES:
            one, auto = measured(function, states, (1, "auto"), seconds)
            gain = f"{one / auto:5.2f} times"
            print(f"{name:9} {states:8} states: {one:9.2f} ns with 1 thread, {auto:9.2f} with auto: {gain}")
        times = measured(function, MANY, THREADS, seconds)
        for number, time in zip(THREADS, times, strict=True):
            print(f"{name:9} {MANY:8} states: {time:9.2f} ns with {number} threads: {times[0] / time:5.2f} times")


if __name__ == "__main__":
    main()
