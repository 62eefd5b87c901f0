"""What one core can do at most, and which part of the time of a compiled function goes where."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import numpy as np
from robots import STATES, Case
from timing import Contender, race, ratio

from linkwork import Function, Program
from linkwork.codegen.native import build, ir_text
from linkwork.codegen.native.target import host
from linkwork.program import Op, Port

CHAINS = 12  # independent multiply-adds: enough for two units of latency 4 to 5, few enough to stay in 16 registers
LENGTH = 400
PEAK_STATES = 512


def peak_program() -> Program:
    """``x_k <- x_k * s + t``, ``LENGTH`` times in ``CHAINS`` independent chains. All operands stay in registers, and
    no step can be left out, because rounding makes each depend on the one before."""
    scale, shift, *chain = range(CHAINS + 2)
    instructions = []
    for _ in range(LENGTH):
        for k in range(CHAINS):
            instructions.append((int(Op.FMA), chain[k], scale, shift))
            chain[k] = CHAINS + 1 + len(instructions)
    return Program(
        "peak", (Port("x", (CHAINS + 2,)),), (Port("y", (CHAINS,)),), (), tuple(instructions), tuple(chain)
    ).check()


def sines_program(angles: int) -> Program:
    """Sine and cosine of ``angles`` inputs, summed so that little is written."""
    instructions = [(int(op), k) for k in range(angles) for op in (Op.SIN, Op.COS)]
    made = range(angles, angles + len(instructions))
    instructions += [(int(Op.ADD), s, c) for s, c in zip(made[::2], made[1::2], strict=True)]
    results = tuple(range(made[-1] + 1, made[-1] + 1 + angles))
    return Program("sines", (Port("q", (angles,)),), (Port("y", (angles,)),), (), tuple(instructions), results).check()


def sincos_operations() -> int:
    """Floating-point operations of one pair of sine and cosine, counted in the emitted code (the usual path)."""
    code = re.findall(r"^define [^\n]*@sincos\d+\(.*?^}", ir_text(sines_program(1)), re.DOTALL | re.MULTILINE)[0]
    return 2 * code.count("@llvm.fma") + len(re.findall(r"= f(?:mul|add|sub) ", code))


def layout_program(function: Function) -> Program:
    """The same arrays in and out, next to no arithmetic: sums of the inputs."""
    program = function.program
    starts = np.cumsum([0, *(port.size for port in program.inputs)])[:-1].tolist()
    sizes = [port.size for port in program.inputs]
    instructions, results, next_value = [], [], program.n_inputs
    for k in range(sum(port.size for port in program.outputs)):
        value, *others = (start + k % size for start, size in zip(starts, sizes, strict=True))
        for other in others:
            instructions.append((int(Op.ADD), value, other))
            value, next_value = next_value, next_value + 1
        results.append(value)
    return Program("layout", program.inputs, program.outputs, (), tuple(instructions), tuple(results)).check()


def measure_peak(case: Case, rounds: int, budget: float) -> dict[str, Any]:
    """Double-precision FMA peak of one core, and the share of it that inverse dynamics of ``case`` reaches."""
    function = case.robot.inverse_dynamics
    operations = function.operations
    start = np.random.default_rng(2).uniform(0.5, 1, (PEAK_STATES, CHAINS + 2))
    start[:, 0] = 1 - 1e-3  # the chains converge to shift / (1 - scale), far from denormal numbers
    peak = build(peak_program())
    expected = start[:, 2:].copy()
    for _ in range(LENGTH):
        expected = expected * start[:, :1] + start[:, 1:2]
    if not np.allclose(peak(start), expected, rtol=1e-12, atol=0):
        raise SystemExit("the peak program computes something else")
    times = race(
        [
            Contender("peak", peak, (start,), PEAK_STATES),
            Contender("function", function, case.inputs("inverse_dynamics"), STATES),
            Contender(
                "sines", build(sines_program(operations.sincos)), (case.q[:, : operations.sincos].copy(),), STATES
            ),
            Contender("layout", build(layout_program(function)), case.inputs("inverse_dynamics"), STATES),
        ],
        rounds,
        budget,
    )
    nanoseconds = {name: result["ns"] for name, result in times.items()}
    flops = operations.mul + operations.add
    of_pair = sincos_operations()
    issued = operations.mul + operations.add - operations.fused
    gflops_peak = 2 * CHAINS * LENGTH / nanoseconds["peak"]
    share = flops / (2 * CHAINS * LENGTH) * ratio(times["peak"], times["function"])  # within each round
    return {
        "robot": case.source.name,
        "gflops_peak": gflops_peak,
        "gflops": flops / nanoseconds["function"],
        "share": share,
        "share_with_sines": share * (flops + operations.sincos * of_pair) / flops,
        "issue_share": share * 2 * issued / flops,
        "possible_share": flops / (2 * issued),
        "possible_ns": 2 * issued / gflops_peak,
        "sincos": operations.sincos,
        "sincos_operations": of_pair,
        "ns": nanoseconds,
        "operations": asdict(operations),
        "lanes": host().lanes("float64"),
        "times": times,
    }
