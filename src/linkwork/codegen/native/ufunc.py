"""Registration of a compiled loop as a NumPy generalised ufunc, through NumPy's C interface and ctypes.

NumPy's ufuncs have no ports of size zero, and limited numbers of arguments and axes. Other loops are called by ctypes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ...errors import LinkworkError, ShapeError
from ...program.program import Port, Program
from .lifetime import for_good
from .numpy_api import table

SLOT = 31  # of PyUFunc_FromFuncAndDataAndSignature in _UFUNC_API, the same in every NumPy since 1.3
OBJECT = object.__basicsize__ + 72  # byte offset of a ufunc's field for an object that must live as long


LIMIT = 32 if np.lib.NumpyVersion(np.__version__) < "2.0.0" else 64  # of NumPy, on arguments, and on axes
BATCH_AXES = 16  # axes, besides those of all results together, that a call of a ufunc may have


def make_ufunc(program: Program, dtype: str, loop: int, data: int | None = None) -> tuple[Any, list]:
    """Return the ufunc that calls the machine code at ``loop`` with ``data``, and buffers that must live as long."""
    ports = (*program.inputs, *program.outputs)
    axes = sum(len(port.shape) for port in program.outputs)
    if program.outputs and all(port.size for port in ports) and len(ports) <= LIMIT and axes <= LIMIT - BATCH_AXES:
        return _register(program, dtype, loop, data)
    return LoopCall(program, dtype, loop, data), []


def retain(ufunc: np.ufunc | LoopCall, owner: Any):
    """Keep ``owner`` for as long as the ufunc lives; for ever if the ufunc's field for it is not known."""
    if isinstance(ufunc, LoopCall):
        ufunc.owner = owner
        return
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
    ufunc = _constructor()(
        functions, pointers, types, 1, len(program.inputs), len(program.outputs), -1, *texts[:2], 0, texts[2]
    )  # fmt: skip
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


@dataclass
class LoopCall:
    """Replacement of a ufunc that NumPy does not accept; it broadcasts in the same way, and calls the loop itself."""

    program: Program
    dtype: str
    loop: int
    data: int | None
    owner: Any = None

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
        cast = (np.asarray(x).astype(self.dtype, casting="same_kind", copy=False) for x in inputs)
        arrays = [np.require(array, requirements="A") for array in cast]
        batches = []
        for array, port in zip(arrays, self.program.inputs, strict=True):
            split = array.ndim - len(port.shape)
            if split < 0 or array.shape[split:] != port.shape:
                raise ShapeError(f"{port.name} does not fit", where=self.__name__, got=array.shape,
                                 expected=f"(..., {', '.join(map(str, port.shape))})")  # fmt: skip
            batches.append(array.shape[:split])
        batch = np.broadcast_shapes(*batches)
        targets = out if isinstance(out, tuple) else (out,) * self.nout if out is None else (out,)
        shapes = [batch + port.shape for port in self.program.outputs]
        results: list[Any] = [
            target if self._suits(target, shape, arrays) else np.empty(shape, self.dtype)
            for target, shape in zip(targets, shapes, strict=True)
        ]
        ports = zip(arrays, self.program.inputs, strict=True)
        self._run([*(np.broadcast_to(array, batch + port.shape) for array, port in ports), *results], prod(batch))
        for k, target in enumerate(targets):
            if target is not None and target is not results[k]:
                target[...], results[k] = results[k], target
        return tuple(results) if self.nout != 1 else results[0]

    def _suits(self, target: Any, shape: tuple[int, ...], inputs: Sequence[np.ndarray]) -> bool:
        """Return whether the loop can write to an array of ``out``; else the result is copied there."""
        if target is None or target.shape != shape or target.dtype != self.dtype or not target.flags.carray:
            return False
        return not any(np.may_share_memory(target, each) for each in inputs)

    def _run(self, arrays: Sequence[np.ndarray], count: int) -> None:
        """Call the loop as NumPy does, with pointers, the step from state to state and the strides within a state."""
        ports = (*self.program.inputs, *self.program.outputs)
        flat = [array.reshape(count, *port.shape) for array, port in zip(arrays, ports, strict=True) if port.size]
        steps = [array.strides[0] for array in flat] + [step for array in flat for step in array.strides[1:]]
        pointers = (ctypes.c_void_p * len(flat))(*(array.ctypes.data for array in flat))
        run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(self.loop)
        run(pointers, (ctypes.c_ssize_t * 1)(count), (ctypes.c_ssize_t * len(steps))(*steps), self.data)
