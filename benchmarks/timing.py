"""Timing on a shared machine: one core, contenders interleaved round by round, medians, with their spread.

What runs on one thread is timed by the processor time of that thread: the same as wall time on a quiet machine, and
without the pauses that other processes cause on a busy one, which hit long calls more than short ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from time import perf_counter, thread_time
from typing import Any

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def use_cores(number: int):
    """Bind this thread, and those it starts, to the last ``number`` cores (where the system can)."""
    if CORES:
        os.sched_setaffinity(0, CORES[-number:])


@contextmanager
def cores(number: int) -> Iterator[None]:
    use_cores(number)
    try:
        yield
    finally:
        use_cores(1)


@dataclass
class Contender:
    """A call to time: ``function(*args)`` evaluates ``states`` states."""

    name: str
    function: Callable[..., Any]
    args: Sequence[Any]
    states: int = 1
    threads: int = 1
    wall: bool = False  # time by wall time although one thread runs
    rounds: list[float] = field(default_factory=list)  # nanoseconds per state, one figure per round
    calls: int = 1  # per sample

    def seconds(self) -> float:
        """One sample: seconds per call."""
        function, args = self.function, self.args
        clock = perf_counter if self.wall or self.threads > 1 or not CORES else thread_time
        start = clock()
        for _ in range(self.calls):
            function(*args)
        return (clock() - start) / self.calls

    def calibrate(self, sample: float = 2e-4):
        """Warm up, and choose the calls of a sample so that it lasts long against the clock."""
        self.seconds()
        self.calls = max(1, min(10_000, round(sample / max(self.seconds(), 1e-8))))

    def round(self, budget: float):
        """Samples for ``budget`` seconds, at least one; their median is the round's figure."""
        samples, end = [], perf_counter() + budget
        while not samples or perf_counter() < end:
            samples.append(self.seconds())
        self.rounds.append(median(samples) / self.states * 1e9)

    def result(self) -> dict[str, Any]:
        """Nanoseconds per state: median of the rounds, their quartiles, and the spread (quartile distance / median)."""
        low, middle, high = quantiles(self.rounds, n=4) if len(self.rounds) > 1 else self.rounds * 3
        return {
            "name": self.name, "ns": middle, "low": low, "high": high, "spread": (high - low) / middle,
            "rounds": self.rounds,
        }  # fmt: skip


def race(contenders: Sequence[Contender], rounds: int, budget: float) -> dict[str, dict[str, Any]]:
    """Time every contender once per round, so that what slows the machine for a while slows all of them alike."""
    for contender in contenders:
        with cores(contender.threads):
            contender.calibrate()
    for _ in range(rounds):
        for contender in contenders:
            with cores(contender.threads):
                contender.round(budget)
    return {contender.name: contender.result() for contender in contenders}


def ratio(slow: dict[str, Any], fast: dict[str, Any]) -> float:
    """How many times ``fast`` is faster: the median of the ratios within each round."""
    return median(s / f for s, f in zip(slow["rounds"], fast["rounds"], strict=True))
