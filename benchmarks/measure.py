"""What is measured, robot by robot: each function returns plain data for the report."""

from __future__ import annotations

from typing import Any

import numpy as np
from lanes import targets
from peers import (
    agree,
    casadi_contenders,
    mujoco_call,
    pinocchio_batch,
    pinocchio_call,
    pinocchio_inertia_loop,
)
from robots import STATES, Case
from timing import CORES, Contender, cores, race, ratio

from linkwork.codegen.native import build

LINKWORK, ONE_STATE, FLOAT32 = "linkwork", "linkwork, one state per call", "linkwork, float32"
TWO_THREADS = "linkwork, 2 threads"
LARGE = 16 * STATES
LARGE_ONE, LARGE_TWO = f"linkwork, {LARGE} states, 1 thread", f"linkwork, {LARGE} states, 2 threads"


def with_lanes(lanes: int | str) -> str:
    return f"linkwork, {lanes} lanes"


def dynamics(case: Case, quantity: str, rounds: int, budget: float) -> dict[str, Any]:
    """Inverse or forward dynamics: linkwork and every peer, agreed first, then timed in turn."""
    function, inputs = getattr(case.robot, quantity), case.inputs(quantity)
    parallel, expected = pinocchio_batch(case, quantity)
    error = agree(f"{case.source.name}, {quantity}", expected, function(*inputs))
    state = [array[0].copy() for array in inputs]
    agree(f"{case.source.name}, {quantity}, {ONE_STATE}", expected[:1], function(*state)[None])
    call = pinocchio_call(case, quantity)
    single = case.robot.compile(quantity, dtype="float32")
    widest, *narrower = targets()
    narrow = {lanes: build(function.program, target=targets()[lanes]) for lanes in narrower}
    for lanes, native in narrow.items():
        if not np.array_equal(native(*inputs), function(*inputs)):
            raise SystemExit(f"{case.source.name}, {quantity}: {lanes} lanes give other bits than {widest}")
    rough = [array.astype(np.float32) for array in inputs]
    contenders = [
        Contender(LINKWORK, function, inputs, STATES),
        parallel,
        Contender(ONE_STATE, function, state),
        call,
        Contender(FLOAT32, single, rough, STATES),
        *(Contender(with_lanes(lanes), native, inputs, STATES) for lanes, native in narrow.items()),
        *casadi_contenders(case, quantity, function, expected),
        mujoco_call(case, quantity, expected),
    ]
    if len(CORES) > 1:
        halves = lambda *arrays: function(*arrays, threads=2)  # noqa: E731
        with cores(2):
            if not np.array_equal(halves(*inputs), function(*inputs)):
                raise SystemExit(f"{case.source.name}, {quantity}: two threads give other bits than one")
        contenders.append(Contender(TWO_THREADS, halves, inputs, STATES, threads=2))
        large = [np.tile(array, (LARGE // STATES, 1)) for array in inputs]
        contenders.append(Contender(LARGE_ONE, function, large, LARGE, wall=True))
        contenders.append(Contender(LARGE_TWO, halves, large, LARGE, threads=2))
        with cores(2):  # its helper thread keeps to the cores it is made on
            contenders.append(pinocchio_batch(case, quantity, threads=2)[0])
    times = race(contenders, rounds, budget)
    return {
        "robot": case.source.name,
        "quantity": quantity,
        "method": function.label.method,
        "error": error,
        "error_float32": float(np.median(np.max(np.abs(single(*rough) - expected), 1) / np.max(np.abs(expected), 1))),
        "speedup": ratio(times[parallel.name], times[LINKWORK]),
        "speedup_narrower": {str(lanes): ratio(times[parallel.name], times[with_lanes(lanes)]) for lanes in narrow},
        "speedup_one_state": ratio(times[call.name], times[ONE_STATE]),
        "speedup_float32": ratio(times[LINKWORK], times[FLOAT32]),
        "reference": parallel.name,
        "times": times,
    }


def inertia_matrix(case: Case, rounds: int, budget: float) -> dict[str, Any]:
    """Inertia matrices of the whole batch against a loop of Pinocchio calls."""
    function, inputs = case.robot.inertia_matrix, case.inputs("inertia_matrix")
    loop, expected = pinocchio_inertia_loop(case)
    error = agree(f"{case.source.name}, inertia_matrix", expected, function(*inputs)[: len(expected)])
    times = race([Contender(LINKWORK, function, inputs, STATES), loop], rounds, budget)
    return {
        "robot": case.source.name,
        "quantity": "inertia_matrix",
        "error": error,
        "speedup": ratio(times[loop.name], times[LINKWORK]),
        "reference": loop.name,
        "times": times,
    }
