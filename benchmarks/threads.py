"""Batches of all sizes with one, two, four and as many threads as linkwork takes by itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from robots import STATES, Case
from timing import CORES, Contender, cores, race, ratio

SIZES = (1, 64, 512, STATES, 65_536, 1_000_000)
THREADS = (1, 2, 4, "auto")


def threads(case: Case, quantity: str, rounds: int, budget: float) -> Iterator[dict[str, Any]]:
    """Row after row: a batch of so many states, results to an array made before, by wall time on all cores."""
    function = getattr(case.robot, quantity)
    for states in SIZES:
        inputs = [np.resize(array, (states, *array.shape[1:])) for array in case.inputs(quantity)]
        out, contenders = function(*inputs), []
        for number in THREADS:
            call = partial(function, out=np.empty_like(out), threads=number)
            with cores(len(CORES) or 1):
                if not np.array_equal(call(*inputs), out):
                    raise SystemExit(f"{case.source.name}, {quantity}: {number} threads give other bits than one")
            contenders.append(Contender(str(number), call, inputs, states, threads=len(CORES) or 1, wall=True))
        times = race(contenders, rounds, budget)
        gains = {str(number): ratio(times["1"], times[str(number)]) for number in THREADS[1:]}
        yield {"robot": case.source.name, "quantity": quantity, "states": states, "times": times, "gains": gains}
