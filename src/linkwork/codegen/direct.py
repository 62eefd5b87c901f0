"""One state per call without NumPy's ufunc machinery, which costs several times what a robot's equations do.

``@direct`` is the C function of a CPython builtin. Plain arrays of one state go straight through the kernel, all lanes
of the block holding that state, so the bits are the ufunc's; every other call (batches, lists, keywords, mistakes)
goes to a Python callable, the builtin's ``__self__``.

Unlike a ufunc it leaves the processor's floating point flags alone, so nothing is said about a division by zero. It
holds the interpreter lock, as NumPy does for less than 500 states.

Where objects and arrays keep their fields is checked on samples before anything is called. Where that fails, or the
interpreter has no such builtins, there is no direct call.
"""

from __future__ import annotations

import ctypes
import sysconfig
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..program.program import Port, Program
from .emit import Function, Module
from .kernel import Kernel

LONGEST = 20_000  # instructions; beyond, NumPy's microsecond hardly shows and others may want the lock

# Byte offsets of fields. Every object begins with what ``object`` has, the type last.
HEADER = object.__basicsize__
TYPE = HEADER - 8
DATA, RANK, SHAPE, STRIDES, DTYPE, FLAGS = (HEADER + offset for offset in (0, 8, 16, 24, 40, 48))  # ndarray
BYTE_ORDER, NUMBER = HEADER + 10, HEADER + 12  # dtype

PLAIN = 0x101  # flags: C-contiguous and aligned
FASTCALL_WITH_KEYWORDS = 0x82  # METH_FASTCALL | METH_KEYWORDS

# Entries of @context. Addresses differ from process to process, so they are no part of the code, which is cached.
ENTRIES = ("ndarray", "dtype", "new_array", "new_scalar", "new_tuple", "set_item", "release", "call")


def suits(program: Program) -> bool:
    """Whether a direct call of ``program`` is worth its code."""
    return len(program.instructions) <= LONGEST


# Emitting -------------------------------------------------------------------------------------------------------------


def emit_direct(module: Module, program: Program, kernel: Kernel):
    """Add ``@direct(self, arguments, how many, names of keywords)`` and the ``@context`` it needs to ``module``."""
    m = module
    m.functions.append(f"@context = dso_local global [{len(ENTRIES)} x ptr] zeroinitializer")
    for k, port in enumerate(program.outputs):
        sizes = ", ".join(f"i64 {size}" for size in port.shape)
        m.functions.append(f"@shape{k} = internal constant [{len(port.shape)} x i64] [{sizes}]")
    _emit_copy(m, "spread", m.item, m.row)
    _emit_copy(m, "gather", m.row, m.item)
    with Function(m, "define dso_local ptr @direct(ptr %self, ptr %arguments, i64 %count, ptr %names) nounwind") as f:
        rows = {"in": program.n_inputs, "out": len(program.results), "scratch": kernel.scratch_rows}
        for name, count in rows.items():
            f.do(f"%{name} = alloca [{count} x {m.vector}], align 64")
        _require(f, f"icmp eq i64 %count, {len(program.inputs)}")
        _require(f, "icmp eq ptr %names, null")
        arrays = [f.let(f"load ptr, ptr {f.at('%arguments', 8 * k)}") for k in range(len(program.inputs))]
        for array, port in zip(arrays, program.inputs, strict=True):
            _check(f, array, port)
        _copy(f, "spread", program.inputs, [_field(f, "ptr", array, DATA) for array in arrays], "%in")
        for name in kernel.functions:
            f.do(f"call void @{name}(ptr %in, ptr %out, ptr %scratch)")
        _answer(f, program.outputs)
        f.label("otherwise")
        call = _entry(f, "call")
        f.do(f"ret ptr {f.let(f'call ptr {call}(ptr %self, ptr %arguments, i64 %count, ptr %names)')}")
        f.label("failed")
        f.do("ret ptr null")


def _emit_copy(m: Module, name: str, from_step: int, to_step: int):
    """Add ``@spread``, from numbers side by side to rows of a block, all lanes alike, or ``@gather``, lane 0 back."""
    with Function(m, f"define internal void @{name}(ptr %from, ptr %to, i64 %count) noinline nounwind") as f:
        f.do("br label %body")
        f.label("body")
        f.do("%k = phi i64 [0, %0], [%next, %body]")
        source, target = (f.at(place, f.let(f"mul i64 %k, {step}"))
                          for place, step in (("%from", from_step), ("%to", to_step)))  # fmt: skip
        number = f.let(f"load {m.real}, ptr {source}, align {m.item}")
        if name == "spread":
            vector = f.let(f"insertelement {m.vector} poison, {m.real} {number}, i32 0")
            f.store_row(f.shuffle(vector, "poison", [0] * m.lanes), target, 0)
        else:
            f.do(f"store {m.real} {number}, ptr {target}, align {m.item}")
        f.do("%next = add i64 %k, 1")
        f.do(f"br i1 {f.let('icmp ult i64 %next, %count')}, label %body, label %end")
        f.label("end")
        f.do("ret void")


def _copy(f: Function, name: str, ports: tuple[Port, ...], data: list[str], block: str, row: int = 0):
    for port, place in zip(ports, data, strict=True):
        if port.size:
            rows = f.at(block, row * f.module.row)
            source, target = (place, rows) if name == "spread" else (rows, place)
            f.do(f"call void @{name}(ptr {source}, ptr {target}, i64 {port.size})")
        row += port.size


def _require(f: Function, condition: str):
    """Go on if ``condition`` holds, otherwise leave the call to the callable."""
    holds = f.let(condition)
    label = f"after{holds[1:]}"
    f.do(f"br i1 {holds}, label %{label}, label %otherwise")
    f.label(label)


def _check(f: Function, array: str, port: Port):
    """Require an array (of no subclass) of the port's shape and the module's dtype, in plain memory."""
    number = np.dtype(f.module.dtype).num
    _require(f, f"icmp eq ptr {_field(f, 'ptr', array, TYPE)}, {_entry(f, 'ndarray')}")
    _require(f, f"icmp eq i32 {_field(f, 'i32', array, RANK)}, {len(port.shape)}")
    if port.shape:
        shape = _field(f, "ptr", array, SHAPE)
        for d, size in enumerate(port.shape):
            _require(f, f"icmp eq i64 {_field(f, 'i64', shape, 8 * d)}, {size}")
    plain = f.let(f"and i32 {_field(f, 'i32', array, FLAGS)}, {PLAIN}")
    _require(f, f"icmp eq i32 {plain}, {PLAIN}")
    dtype = _field(f, "ptr", array, DTYPE)
    _require(f, f"icmp eq i32 {_field(f, 'i32', dtype, NUMBER)}, {number}")
    _require(f, f"icmp eq i8 {_field(f, 'i8', dtype, BYTE_ORDER)}, {ord('=')}")


def _answer(f: Function, ports: tuple[Port, ...]):
    """Return the new array, or the tuple of them; null, with NumPy's exception set, if memory is short."""
    if len(ports) == 1:
        array = _new(f, 0, ports[0], 0, "failed")
        f.do(f"ret ptr {array}")
        return
    answer = f.let(f"call ptr {_entry(f, 'new_tuple')}(i64 {len(ports)})")
    _unless_null(f, answer, "failed")
    row = 0
    for k, port in enumerate(ports):
        array = _new(f, k, port, row, "undo")
        f.do(f"call i32 {_entry(f, 'set_item')}(ptr {answer}, i64 {k}, ptr {array})")  # takes over the reference
        row += port.size
    f.do(f"ret ptr {answer}")
    f.label("undo")
    f.do(f"call void {_entry(f, 'release')}(ptr {answer})")
    f.do("br label %failed")


def _new(f: Function, k: int, port: Port, row: int, failed: str) -> str:
    """The object that holds output number ``k``, from ``row`` of the output block on. Scalars are NumPy scalars."""
    block = f.at("%out", row * f.module.row)
    if not port.shape:
        scalar = f.let(f"call ptr {_entry(f, 'new_scalar')}(ptr {block}, ptr {_entry(f, 'dtype')}, ptr null)")
        _unless_null(f, scalar, failed)
        return scalar
    number = np.dtype(f.module.dtype).num
    what = f"ptr {_entry(f, 'ndarray')}, i32 {len(port.shape)}, ptr @shape{k}, i32 {number}"
    array = f.let(f"call ptr {_entry(f, 'new_array')}({what}, ptr null, ptr null, i32 0, i32 0, ptr null)")
    _unless_null(f, array, failed)
    _copy(f, "gather", (port,), [_field(f, "ptr", array, DATA)], block)
    return array


def _unless_null(f: Function, pointer: str, label: str):
    null = f.let(f"icmp eq ptr {pointer}, null")
    after = f"after{null[1:]}"
    f.do(f"br i1 {null}, label %{label}, label %{after}")
    f.label(after)


def _field(f: Function, kind: str, place: str, offset: int) -> str:
    return f.let(f"load {kind}, ptr {f.at(place, offset)}")


def _entry(f: Function, name: str) -> str:
    return _field(f, "ptr", "@context", 8 * ENTRIES.index(name))


# Making builtins ------------------------------------------------------------------------------------------------------


class Definition(ctypes.Structure):
    """CPython's PyMethodDef: it must live as long as the builtins made from it."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("document", ctypes.c_char_p))  # fmt: skip


def define(engine: Any, program: Program, dtype: str) -> Definition | None:
    """Make the loaded ``@direct`` ready for :func:`make_builtin`, if there is one and it can work here."""
    addresses = _addresses(dtype) if suits(program) else None
    if addresses is None:
        return None
    context = (ctypes.c_void_p * len(ENTRIES)).from_address(engine.get_global_value_address("context"))
    context[:] = [addresses[name] for name in ENTRIES]
    # The first line gives Python the signature.
    document = f"{program.name}(*arguments, **options)\n--\n\nOne state at a time, compiled by linkwork for {dtype}."
    address = engine.get_function_address("direct")
    return Definition(program.name.encode(), address, FASTCALL_WITH_KEYWORDS, document.encode())


def make_builtin(definition: Definition, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The builtin that leaves every call but those of one state in plain arrays to ``otherwise``."""
    make = ctypes.pythonapi["PyCFunction_NewEx"]  # by index: a prototype of its own
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(definition), otherwise, None)


@cache
def _addresses(dtype: str) -> dict[str, int] | None:
    """What ``@context`` holds, or None if this interpreter or this NumPy is not as expected."""
    if sysconfig.get_config_var("Py_GIL_DISABLED") or ctypes.sizeof(ctypes.c_void_p) != 8 or not _layout_is_known():
        return None
    table = _numpy_functions()
    try:
        python = {name: ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p).value or 0
                  for name, function in (("new_tuple", "PyTuple_New"), ("set_item", "PyTuple_SetItem"),
                                         ("release", "Py_DecRef"), ("call", "PyObject_Vectorcall"))}  # fmt: skip
    except AttributeError:  # Python 3.10 has no PyObject_Vectorcall
        return None
    numpy = {"ndarray": id(np.ndarray), "dtype": id(np.dtype(dtype))}
    return table and python | numpy | table


def _numpy_functions() -> dict[str, int] | None:
    """PyArray_New and PyArray_Scalar, from the table that NumPy keeps for other extensions."""
    try:
        from numpy._core import _multiarray_umath as umath  # type: ignore
    except ImportError:  # NumPy 1
        from numpy.core import _multiarray_umath as umath  # type: ignore
    pointer = ctypes.pythonapi["PyCapsule_GetPointer"]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(table[0] or 0)() >> 24  # of the binary interface
    if version not in (1, 2) or table[2] != id(np.ndarray):
        return None
    return {"new_array": table[93] or 0, "new_scalar": table[60] or 0}


def _layout_is_known() -> bool:
    """Whether the offsets above give what Python says, for arrays of several kinds."""
    base = np.zeros((3, 4, 5))
    samples = (base, base[::-1, ::2, 1], base[0, 0, 0, ...], base.astype("f4").T, base.astype(">f8"), np.zeros((0, 2)))
    return all(_reads_right(sample) for sample in samples)


def _reads_right(array: np.ndarray) -> bool:
    """The offsets, tried on one array. What is checked first makes it safe to follow the pointers that come after."""

    def read(kind: Any, address: int) -> Any:
        return kind.from_address(address).value

    integer, number, word = ctypes.c_int, ctypes.c_int64, ctypes.c_size_t
    here, dtype = id(array), array.dtype
    if np.ndarray.__basicsize__ < FLAGS + 4 or np.dtype.__basicsize__ < NUMBER + 4:
        return False
    shape, strides = read(word, here + SHAPE), read(word, here + STRIDES)
    return (
        read(word, here + TYPE) == id(np.ndarray)
        and read(word, here + DATA) == array.__array_interface__["data"][0]
        and read(integer, here + RANK) == array.ndim
        and read(word, here + DTYPE) == id(dtype)
        and read(integer, here + FLAGS) == array.flags.num
        and array.flags.c_contiguous == bool(array.flags.num & 1)
        and array.flags.aligned == bool(array.flags.num & 0x100)
        and read(integer, id(dtype) + NUMBER) == dtype.num
        and read(ctypes.c_char, id(dtype) + BYTE_ORDER) == dtype.byteorder.encode()
        and (array.ndim == 0 or strides == shape + 8 * array.ndim)
        and tuple(read(number, shape + 8 * d) for d in range(array.ndim)) == array.shape
        and tuple(read(number, strides + 8 * d) for d in range(array.ndim)) == array.strides
    )
