"""How far results are apart, how long calls take, and what is going on meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from statistics import median
from typing import Any

import numpy as np

Progress = Callable[[str], AbstractContextManager[Any]]  # told what begins; it ends when the context does


def deviation(result: Any, reference: Any) -> float:
    """Largest difference over a batch of states, relative to the largest reference value of the same state; of scalars,
    which may vanish at some state, relative to the largest of all. Of several results, the largest."""
    if isinstance(result, tuple):
        return max(deviation(*pair) for pair in zip(result, reference, strict=True))
    difference, size = np.abs(np.subtract(result, reference)), np.abs(reference)
    entries = tuple(range(1, size.ndim)) or None
    scale = np.max(size, axis=entries, keepdims=True, initial=0.0)
    return float(np.max(difference / np.where(scale, scale, 1.0), initial=0.0))


def seconds(call: Callable[[], Any], *, repeats: int = 9, least: float = 0.02) -> float:
    """Median time of one call, over ``repeats`` rounds of at least ``least`` seconds each."""
    call()
    calls = 1
    while (took := _time(call, calls)) < least:
        calls = max(2 * calls, int(1.2 * calls * least / max(took, 1e-9)))
    return median(_time(call, calls) for _ in range(repeats)) / calls


def _time(call: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return time.perf_counter() - start
