"""What one core can do at most: programs that ask for it, and the operations that are counted against it."""

from __future__ import annotations

import re

import numpy as np

from linkwork import Program
from linkwork.codegen.native import build, ir_text
from linkwork.codegen.native.target import Target
from linkwork.program import Op, Port

CHAINS = 12  # independent multiply-adds: enough for two units of latency 4 to 5, few enough to stay in 16 registers
LENGTH = 400
PEAK_STATES = 512
FUSED = CHAINS * LENGTH  # multiply-adds per state of the peak program


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


def peak_function(target: Target):
    """The peak program for ``target`` and its input, after a look at what it computes."""
    start = np.random.default_rng(2).uniform(0.5, 1, (PEAK_STATES, CHAINS + 2))
    start[:, 0] = 1 - 1e-3  # the chains converge to shift / (1 - scale), far from denormal numbers
    peak = build(peak_program(), target=target)
    expected = start[:, 2:].copy()
    for _ in range(LENGTH):
        expected = expected * start[:, :1] + start[:, 1:2]
    if not np.allclose(peak(start), expected, rtol=1e-12, atol=0):
        raise SystemExit("the peak program computes something else")
    return peak, start


def passing(program: Program, angles: int = 0, results: int | None = None) -> Program:
    """The same arrays in and out as ``program``, next to no arithmetic: sums of the inputs, and sine and cosine of the
    first ``angles`` of them. With ``results``, so many numbers come out and no more."""
    sizes = [port.size for port in program.inputs]
    starts = np.cumsum([0, *sizes])[:-1].tolist()
    outputs = program.outputs if results is None else (Port("y", (results,)),)
    made, instructions = [], []

    def do(op: Op, *arguments: int) -> int:
        instructions.append((int(op), *arguments))
        return program.n_inputs + len(instructions) - 1

    for k in range(sum(port.size for port in outputs)):
        value, *others = (start + k % size for start, size in zip(starts, sizes))
        for other in others:
            value = do(Op.ADD, value, other)
        made.append(value)
    for k in range(angles):
        for op in (Op.SIN, Op.COS):
            made[k % len(made)] = do(Op.ADD, made[k % len(made)], do(op, k))
    return Program("passing", program.inputs, outputs, (), tuple(instructions), tuple(made)).check()


def sine_instructions() -> tuple[int, int]:
    """Arithmetic instructions of one pair of sine and cosine on the usual path, fused ones and others: what the
    emitted code of a program with one angle has more than that of a program without."""
    plain = Program("one", (Port("q", (1,)),), (Port("y", (1,)),), (), (), (0,))
    without, with_one = (_arithmetic(ir_text(passing(plain, angles))) for angles in (0, 1))
    fused, others = (b - a for a, b in zip(without, with_one))
    return fused, others - 2  # the sums that `passing` makes of the two


def _arithmetic(text: str) -> tuple[int, int]:
    """Fused and other floating-point instructions, without those of functions that hardly ever run."""
    functions = re.findall(r"^define ([^\n]*)\{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE)
    body = "".join(body for head, body in functions if " cold" not in head)
    return len(re.findall(r"call [^\n]*@llvm\.fma", body)), len(re.findall(r"= f(?:mul|add|sub) ", body))
