"""Registration of a compiled loop as a NumPy generalised ufunc, through NumPy's C interface and ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ...errors import LinkworkError, ShapeError, UnsupportedError
from ...program.program import Port, Program
from .lifetime import for_good
from .numpy_api import table

SLOT = 31  # of PyUFunc_FromFuncAndDataAndSignature in _UFUNC_API, the same in every NumPy since 1.3
OBJECT = object.__basicsize__ + 72  # byte offset of a ufunc's field for an object that must live as long


def make_ufunc(program: Program, dtype: str, loop: int, data: int | None = None) -> tuple[Any, list]:
    """Return the ufunc that calls the machine code at ``loop`` with ``data``, and buffers that must live as long."""
    ports = (*program.inputs, *program.outputs)
    if program.outputs and all(port.size for port in ports):
        return _register(program, dtype, loop, data)
    inputs, outputs = (tuple(p for p in side if p.size) for side in (program.inputs, program.outputs))
    if not outputs:
        return PartlyEmpty(program, dtype, None), []
    # The loop has no arguments for empty ports.
    ufunc, buffers = _register(replace(program, inputs=inputs, outputs=outputs), dtype, loop, data)
    return PartlyEmpty(program, dtype, ufunc), buffers


def retain(ufunc: np.ufunc | PartlyEmpty | None, owner: Any):
    """Keep ``owner`` for as long as the ufunc lives; for ever if the ufunc's field for it is not known."""
    if isinstance(ufunc, PartlyEmpty):
        ufunc = ufunc.ufunc
    if ufunc is not None:
        for_good(owner)  # adds a reference, which the ufunc takes over
        if _place_is_known():
            ctypes.c_void_p.from_address(id(ufunc) + OBJECT).value = id(owner)


@cache
def _place_is_known() -> bool:
    """Return whether the field has the function in a ufunc of a Python function, and nothing in other ufuncs."""
    if np.ufunc.__basicsize__ < OBJECT + 8:
        return False
    fields = [ctypes.c_void_p.from_address(id(ufunc) + OBJECT).value for ufunc in (np.frompyfunc(len, 1, 1), np.add)]
    return fields == [id(len), None]


def signature(inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """Return the signature with fixed core dimensions: ``(7),(7),(7)->(7,7)``."""
    sides = (",".join("(" + ",".join(map(str, port.shape)) + ")" for port in ports) for ports in (inputs, outputs))
    return "->".join(sides)


def _register(program: Program, dtype: str, loop: int, data: int | None) -> tuple[np.ufunc, list]:
    ports = (*program.inputs, *program.outputs)
    core = signature(program.inputs, program.outputs)
    functions = (ctypes.c_void_p * 1)(loop)
    pointers = (ctypes.c_void_p * 1)(data)
    types = (ctypes.c_char * len(ports))(*[bytes([np.dtype(dtype).num])] * len(ports))
    describe = lambda side: ", ".join(f"{port.name} {port.shape}" for port in side)  # noqa: E731
    document = f"{describe(program.inputs)} -> {describe(program.outputs)}, compiled by linkwork for {dtype}."
    texts = [ctypes.c_char_p(text.encode()) for text in (program.name, document, core)]
    try:
        ufunc = _constructor()(
            functions, pointers, types, 1, len(program.inputs), len(program.outputs), -1, *texts[:2], 0, texts[2]
        )  # fmt: skip
    except ValueError as error:
        raise UnsupportedError(
            f"NumPy does not accept this function: {error}", where=program.name, got=f"{len(ports)} arguments",
            expected="at most 32 inputs and outputs together (NumPy 1) or 64 (NumPy 2)",
        ) from error  # fmt: skip
    expected = core if any(port.shape for port in ports) else None  # scalars only: an ordinary ufunc
    if not isinstance(ufunc, np.ufunc) or ufunc.signature != expected or ufunc.nin != len(program.inputs):
        raise LinkworkError("NumPy did not register the compiled function", where=f"NumPy {np.__version__}")
    return ufunc, [functions, pointers, types, texts]


def _constructor():
    address, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    arguments = (address, address, address, number, number, number, number, text, text, number, text)
    constructor = table("_UFUNC_API")[SLOT]
    assert constructor
    return ctypes.PYFUNCTYPE(ctypes.py_object, *arguments)(constructor)


@dataclass(frozen=True)
class PartlyEmpty:
    """Replacement of a ufunc with empty arguments, such as the joint positions of a robot without joints.

    NumPy does not accept a core dimension of size zero. ``ufunc`` computes the outputs that are not empty.
    """

    program: Program
    dtype: str
    ufunc: np.ufunc | None

    @property
    def __name__(self) -> str:
        return self.program.name

    @property
    def nin(self) -> int:
        return len(self.program.inputs)

    @property
    def nout(self) -> int:
        return len(self.program.outputs)

    @property
    def signature(self) -> str:
        return signature(self.program.inputs, self.program.outputs)

    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        if len(inputs) != self.nin:
            raise ShapeError("wrong number of inputs", where=self.__name__, got=len(inputs), expected=str(self.nin))
        arrays = [np.asarray(x).astype(self.dtype, casting="same_kind", copy=False) for x in inputs]
        batches = []
        for array, port in zip(arrays, self.program.inputs, strict=True):
            split = array.ndim - len(port.shape)
            if split < 0 or array.shape[split:] != port.shape:
                raise ShapeError(f"{port.name} does not fit", where=self.__name__, got=array.shape,
                                 expected=f"(..., {', '.join(map(str, port.shape))})")  # fmt: skip
            batches.append(array.shape[:split])
        batch = np.broadcast_shapes(*batches)
        filled = [array for array, port in zip(arrays, self.program.inputs, strict=True) if port.size]
        computed = self.ufunc(*filled) if self.ufunc else ()
        values = iter(computed if isinstance(computed, tuple) else (computed,))
        targets = out if isinstance(out, tuple) else (out,) * self.nout if out is None else (out,)
        results = []
        for port, result in zip(self.program.outputs, targets, strict=True):
            if result is None:
                result = np.empty(batch + port.shape, self.dtype)
            if port.size:
                result[...] = next(values)
            results.append(result)
        return tuple(results) if self.nout != 1 else results[0]
