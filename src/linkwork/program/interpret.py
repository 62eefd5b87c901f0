"""Run a Program in pure Python and NumPy: the oracle for emitted code, and a fallback without LLVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..scalar import absolute, atan2, cos, exp, less, less_equal, log, maximum, minimum, sign, sin, sqrt, tanh, where
from .program import REPEAT, Loop, Op, Program

ARITHMETIC = {  # on any numbers, or what stands for them
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
    Op.FMA: lambda a, b, c: a * b + c,  # rounded twice here, once in native code
    Op.FMS: lambda a, b, c: a * b - c,
    Op.FNMA: lambda a, b, c: c - a * b,
}
FUNCTIONS = {  # likewise
    Op.SQRT: sqrt,
    Op.SIN: sin,
    Op.COS: cos,
    Op.SIGN: sign,
    Op.EXP: exp,
    Op.LOG: log,
    Op.TANH: tanh,
    Op.ATAN2: atan2,
    Op.ABS: absolute,
    Op.MIN: minimum,
    Op.MAX: maximum,
    Op.LESS: less,
    Op.LESS_EQUAL: less_equal,
    Op.SELECT: where,
}
_APPLY = ARITHMETIC | FUNCTIONS | {Op.SQRT: np.sqrt, Op.SIN: np.sin, Op.COS: np.cos}  # NaN beyond their domain


def interpret(program: Program, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the outputs for ``arguments``: one array per input port, with leading batch axes that broadcast.

    Works in the arguments' own precision, complex numbers included.
    """
    arrays = [np.asarray(x) for x in arguments]
    dtype = np.result_type(np.float32, *arrays) if arrays else np.dtype(float)
    batch = np.broadcast_shapes(
        *(x.shape[: x.ndim - len(port.shape)] for x, port in zip(arrays, program.inputs, strict=True))
    )
    values: list = []
    for x, port in zip(arrays, program.inputs, strict=True):
        flat = np.broadcast_to(x, (*batch, *port.shape)).reshape(*batch, port.size).astype(dtype)
        values.extend(flat[..., k] for k in range(port.size))
    with np.errstate(all="ignore"):
        results = _results(program, values, dtype)
    outputs, start = [], 0
    for port in program.outputs:
        out = np.empty((*batch, port.size), dtype)
        for k in range(port.size):
            out[..., k] = results[start + k]
        outputs.append(out.reshape((*batch, *port.shape)))
        start += port.size
    return outputs


def _results(program: Program, inputs: Sequence[Any], dtype: np.dtype) -> list[Any]:
    """Return all output scalars, from all input scalars."""
    values = [*inputs, *(dtype.type(c) for c in program.constants)]
    runs: dict[tuple[Loop, tuple[int, ...]], list[Any]] = {}
    for op, *args in program.instructions:
        if op < REPEAT:
            values.append(_APPLY[Op(op)](*(values[a] for a in args)))
            continue
        loop, k = program.final(op)
        run = loop, tuple(args)
        if run not in runs:
            runs[run] = _final_values(loop, [values[a] for a in args], dtype)
        values.append(runs[run][k])
    return [values[r] for r in program.results]


def _final_values(loop: Loop, arguments: Sequence[Any], dtype: np.dtype) -> list[Any]:
    carried, others = arguments[: loop.carried], arguments[loop.carried :]
    for _ in range(loop.turns):
        going = carried[0] != 0
        if loop.guarded and not np.any(going):
            break
        following = _results(loop.body, [*carried, *others], dtype)
        if loop.guarded:
            following = [np.where(going, new, old) for new, old in zip(following, carried, strict=True)]
        carried = following
    return list(carried)


def final_values(loop: Loop, numbers: Sequence[Any]) -> list[Any]:
    """Return the final values of a loop, from its arguments as plain numbers."""
    array = np.array(numbers)
    dtype = np.result_type(np.float64, array)
    with np.errstate(all="ignore"):
        return [x.item() for x in map(np.asarray, _final_values(loop, list(array.astype(dtype)), dtype))]
