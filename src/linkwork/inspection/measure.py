"""Deviation of results, and time of calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from statistics import median
from typing import Any

import numpy as np

Progress = Callable[[str], AbstractContextManager[Any]]  # gets a text, and shows it while the context lasts


def deviation(result: Any, reference: Any) -> float:
    """Return the largest difference over a batch, relative to the largest reference value of the same state.

    For scalars, which may be zero at a state, it is relative to the largest of all states. For tuples it is the largest
    over their entries.
    """
    if isinstance(result, tuple):
        return max(deviation(*pair) for pair in zip(result, reference, strict=True))
    difference, size = np.abs(np.subtract(result, reference)), np.abs(reference)
    entries = tuple(range(1, size.ndim)) or None
    scale = np.max(size, axis=entries, keepdims=True, initial=0.0)
    return float(np.max(difference / np.where(scale, scale, 1.0), initial=0.0))


def seconds(call: Callable[[], Any], *, repeats: int = 9, least: float = 0.02) -> float:
    """Return the median time of one call, over ``repeats`` rounds of at least ``least`` seconds each."""
    call()
    calls = 1
    while (elapsed := _time(call, calls)) < least:
        calls = max(2 * calls, int(1.2 * calls * least / max(elapsed, 1e-9)))
    return median(_time(call, calls) for _ in range(repeats)) / calls


def _time(call: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return time.perf_counter() - start
