"""Where the time of a compiled function goes, with vectors of every width, and the least that the core allows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from lanes import targets
from peak import FUSED, PEAK_STATES, passing, peak_function, sine_instructions
from robots import STATES, Case
from timing import Contender, race, ratio

from linkwork import Function, Program
from linkwork.codegen.native import build
from linkwork.program import Operations, count

STAGES = ("in", "in and out", "sines", "whole")  # each does what the one before does, and one thing more
PARTS = ("pack", "unpack", "sines", "kernel", "Python")
ONE_CALL = ("Python, pack, unpack", "sines", "kernel")


def time_of_parts(case: Case, quantity: str, rounds: int, budget: float) -> dict[str, Any]:
    """Times of batches in one race: each stage for every width, the peak of the core, and the overhead of Python."""
    function, inputs = getattr(case.robot, quantity), case.inputs(quantity)
    wide, stages, expected = targets(), _stages(function.program), function(*inputs)
    none, one = [array[:0] for array in inputs], [array[0].copy() for array in inputs]
    contenders = [Contender("function", function, inputs, STATES), Contender("no state", function, none)]
    for stage in STAGES[1:]:
        contenders.append(Contender(_one(stage), Function(stages[stage], function.label), one))
    for lanes, target in wide.items():
        peak, start = peak_function(target)
        contenders.append(Contender(_name(lanes, "peak"), peak, (start,), PEAK_STATES))
        for stage, program in stages.items():
            native = build(program, target=target)
            if stage == "whole" and not np.array_equal(native(*inputs), expected):
                raise SystemExit(f"{case.source.name}, {quantity}: {lanes} lanes give other bits")
            out = native(*inputs)
            contenders.append(Contender(_name(lanes, stage), partial(native, out=out), inputs, STATES))
        contenders.append(Contender(_name(lanes, "no state"), native, none))
    times = race(contenders, rounds, budget)
    return {
        "robot": case.source.name, "quantity": quantity, "operations": asdict(function.operations),
        "sine_instructions": sine_instructions(),
        "one_call": dict(zip(ONE_CALL, _added(times[_one(stage)]["ns"] for stage in STAGES[1:]), strict=True)),
        "widths": [_width(function, lanes, times) for lanes in wide],
        "peak": _share(case, function, next(iter(wide)), times),
    }  # fmt: skip


def _added(times: Iterable[float]) -> list[float]:
    """What each stage adds to the one before."""
    return np.diff([0.0, *times]).tolist()


def _name(lanes: int, what: str) -> str:
    return f"{what}, {lanes} lanes"


def _one(stage: str) -> str:
    return f"{stage}, one state"


def _stages(program: Program) -> dict[str, Program]:
    layout = passing(program), passing(program, count(program).sincos)
    return dict(zip(STAGES, (passing(program, results=1), *layout, program), strict=True))


def _width(function: Function, lanes: int, times: dict[str, Any]) -> dict[str, Any]:
    """Nanoseconds per state of every part; they add up to the whole, because each is the time that it adds."""
    call, python = (times[name]["ns"] / STATES for name in (_name(lanes, "no state"), "no state"))
    packed, *others = _added(times[_name(lanes, stage)]["ns"] for stage in STAGES)
    native = packed - call, *others
    rate = FUSED / times[_name(lanes, "peak")]["ns"]  # arithmetic instructions per state and nanosecond, at most
    return {
        "lanes": lanes,
        "parts": dict(zip(PARTS, (*native, python), strict=True)),
        "ns": sum(native) + python,
        "limit": issued(function.operations) / rate,
        "limit_sines": function.operations.sincos * sum(sine_instructions()) / rate,
        "gflops_peak": 2 * rate,
    }


def issued(counted: Operations) -> int:
    """Arithmetic instructions per state; a fused multiply-add is one."""
    return counted.mul + counted.add - counted.fused + counted.div + counted.sqrt


def _share(case: Case, function: Function, lanes: int, times: dict[str, Any]) -> dict[str, Any]:
    """Shares of the peak of fused multiply-adds, as ratios within each round."""
    counted, whole = function.operations, times["function"]["ns"]
    peak = times[_name(lanes, "peak")]
    flops = counted.mul + counted.add
    fused, others = sine_instructions()
    of_pair = 2 * fused + others
    share = flops / (2 * FUSED) * ratio(peak, times["function"])
    return {
        "robot": case.source.name,
        "quantity": function.label.quantity,
        "lanes": lanes,
        "operations": asdict(counted),
        "sincos": counted.sincos,
        "sincos_operations": of_pair,
        "gflops_peak": 2 * FUSED / peak["ns"],
        "gflops": flops / whole,
        "share": share,
        "share_with_sines": share * (flops + counted.sincos * of_pair) / flops,
        "issue_share": share * 2 * issued(counted) / flops,
        "possible_share": flops / (2 * issued(counted)),
        "possible_ns": issued(counted) * peak["ns"] / FUSED,
        "ns": {"function": whole},
    }
