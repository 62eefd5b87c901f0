"""A program as a CasADi Function of SX expressions, instruction by instruction."""

from __future__ import annotations

import tempfile
from math import prod
from pathlib import Path
from typing import Any

from ..program import ARITHMETIC, Op, Port
from .listing import Exported, check_names

NAMES = {
    Op.SQRT: "sqrt", Op.SIN: "sin", Op.COS: "cos", Op.SIGN: "sign", Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh",
    Op.ATAN2: "atan2", Op.ABS: "fabs", Op.MIN: "fmin", Op.MAX: "fmax", Op.LESS: "lt", Op.LESS_EQUAL: "le",
    Op.SELECT: "if_else",
}  # fmt: skip


def casadi_function(function: Exported, name: str) -> Any:
    """A ``casadi.Function`` with the same inputs and outputs by name; vectors are columns. CasADi differentiates it."""
    import casadi

    check_names(function, ())
    others = {op: getattr(casadi, name) for op, name in NAMES.items()}
    apply = ARITHMETIC | others
    program = function.program
    inputs = [casadi.SX.sym(port.name, *_shape(port)) for port in program.inputs]
    values = [entry for matrix in inputs for entry in casadi.vertsplit(casadi.vec(matrix.T))]
    values += map(casadi.SX, program.constants)
    for op, *args in program.instructions:
        values.append(apply[Op(op)](*(values[k] for k in args)))
    outputs, start = [], 0
    for port in program.outputs:
        rows, columns = _shape(port)
        scalars = casadi.vertcat(*(values[k] for k in program.results[start : start + port.size]))
        outputs.append(casadi.reshape(scalars, columns, rows).T)  # CasADi counts column by column
        start += port.size
    given, made = ([port.name for port in ports] for ports in (program.inputs, program.outputs))
    return casadi.Function(name, inputs, outputs, given, made)


def casadi_file(function: Exported, name: str) -> bytes:
    """Return the content of a file that ``casadi.Function.load`` reads."""
    with tempfile.TemporaryDirectory() as folder:
        casadi_function(function, name).save(f"{folder}/function")
        return Path(folder, "function").read_bytes()


def _shape(port: Port) -> tuple[int, int]:
    return (port.shape[0], prod(port.shape[1:])) if port.shape else (1, 1)
