"""How long a call takes."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any


def least_seconds(call: Callable[[], Any], runs: int) -> float:
    """Return the time in s of the fastest of several calls, which other work on the machine disturbed least."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)
