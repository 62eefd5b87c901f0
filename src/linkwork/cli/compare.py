"""How far results are apart, and how long calls take."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np


def deviation(result: Any, reference: Any) -> float:
    """Largest difference, relative to the largest reference value."""
    difference, size = np.abs(np.subtract(result, reference)), np.abs(reference)
    return float(np.max(difference, initial=0.0) / (np.max(size, initial=0.0) or 1.0))


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
