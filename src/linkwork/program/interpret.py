"""Run a Program in pure Python and NumPy: the oracle for emitted code, and a fallback without LLVM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..scalar import absolute, atan2, cos, exp, less, less_equal, log, maximum, minimum, sign, sin, sqrt, tanh, where
from .program import Op, Program

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
    values.extend(dtype.type(c) for c in program.constants)
    with np.errstate(all="ignore"):
        for op, *args in program.instructions:
            values.append(_APPLY[Op(op)](*(values[a] for a in args)))
    outputs, start = [], 0
    for port in program.outputs:
        out = np.empty((*batch, port.size), dtype)
        for k in range(port.size):
            out[..., k] = values[program.results[start + k]]
        outputs.append(out.reshape((*batch, *port.shape)))
        start += port.size
    return outputs
