"""Direct calls with one state, without NumPy's ufunc machinery, which takes several times longer than the equations.

``@direct`` is the C function of a CPython builtin. It passes plain arrays of one state to the kernel. All lanes of the
block hold that state, so the bits are the same as the ufunc's. The results are new arrays, or those of ``out``. All
other calls go to a Python callable, the builtin's ``__self__``: batches, lists, wrong arguments, and keywords except
``out`` and ``threads="auto"``, which has no effect on one state.

Unlike a ufunc it does not check the floating point flags, so there is no warning of a division by zero. It holds the
interpreter lock, as NumPy does for less than 500 states.

Assumptions about CPython and NumPy are declared below and checked before the first call (:func:`obstacle`): the places
of fields in objects and arrays, tried on sample arrays, and the functions that are called. If an assumption fails there
are no direct calls, every call goes through the ufunc, and ``Function.calls`` says so. If the reason is a field in an
unknown place, there is also a RuntimeWarning.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import sysconfig
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...program.program import Port, Program, result_type
from .blocks import emit_own_blocks
from .emit import Function, Module
from .kernel import Kernel
from .layout import Tile, tile_table, tile_width
from .numpy_api import table
from .ufunc import signature

LONGEST = 20_000  # instructions; longer programs hardly gain, and would hold the interpreter lock for long
MOST_BYTES = 2**20  # of the permanent blocks
UNROLLED = 16  # tiles of an output

# Assumed byte offsets of fields: every object begins with the fields of ``object``, the last of which is the type.
HEADER = object.__basicsize__
TYPE = HEADER - 8
DATA, RANK, SHAPE, STRIDES, DTYPE, FLAGS = (HEADER + offset for offset in (0, 8, 16, 24, 40, 48))  # ndarray
BYTE_ORDER, NUMBER = HEADER + 10, HEADER + 12  # dtype
LENGTH, ITEMS = HEADER, tuple.__basicsize__  # tuple

READABLE, WRITABLE = 0x101, 0x501  # flags: C-contiguous and aligned; and writable
WARNING = -(2**31)  # flag: NumPy warns when such an array is written
FASTCALL_WITH_KEYWORDS = 0x82  # METH_FASTCALL | METH_KEYWORDS

# Entries of @context. Addresses differ between processes, so they are not part of the code, which is cached.
ENTRIES = (
    "ndarray", "tuple", "result", "dtype", "threads", "auto", "out", "new_array", "new_scalar",
    "new_tuple", "set_item", "retain", "release", "call",
)  # fmt: skip
PYTHON_FUNCTIONS = (  # the last five
    "PyType_GenericAlloc", "PyTuple_SetItem", "Py_IncRef", "Py_DecRef", "PyObject_Vectorcall",
)  # fmt: skip
WORDS = tuple(map(sys.intern, ("threads", "auto", "out")))  # compared by address; other equal strings use the fallback
NDARRAY, NEW_SCALAR, NEW_ARRAY = 2, 60, 93  # slots of PyArray_Type, PyArray_Scalar and PyArray_New in _ARRAY_API


def suits(program: Program, kernel: Kernel) -> bool:
    """Return whether a direct call of ``program`` is worth its code."""
    return len(program.instructions) <= LONGEST and sum(kernel.blocks.values()) <= MOST_BYTES


# Emitting -------------------------------------------------------------------------------------------------------------


def emit_direct(module: Module, program: Program, kernel: Kernel):
    """Add ``@direct(self, arguments, how many, names of keywords)`` and its ``@context`` to a module with a loop."""
    m, ports = module, program.outputs
    m.functions.append(f"@context = dso_local global [{len(ENTRIES)} x ptr] zeroinitializer")
    _emit_fits(m)
    with Function(m, "define dso_local ptr @direct(ptr %self, ptr %arguments, i64 %count, ptr %names) nounwind") as f:
        emit_own_blocks(f, kernel.blocks, "direct")  # the interpreter lock keeps others out
        f.do("%given = alloca ptr")  # the argument ``out``
        f.do("%answer = alloca ptr")  # the object that is returned
        f.do(f"%places = alloca [{len(ports)} x ptr]")  # where the results of each port are written
        f.do(f"%scalars = alloca [{len(ports)} x {m.real}]")
        f.do("store ptr null, ptr %given")
        _require(f, f"icmp eq i64 %count, {len(program.inputs)}", "other")
        f.unless(f.let("icmp eq ptr %names, null"), "named", "plain")
        _read_keywords(f, len(program.inputs))
        f.start("plain")
        arrays = [f.load("ptr", "%arguments", 8 * k) for k in range(len(program.inputs))]
        for k, (array, port) in enumerate(zip(arrays, program.inputs, strict=True)):
            _require(f, _fits(array, port, _shape(f, f"in{k}", port), READABLE), "other")
        shapes = [_shape(f, f"out{k}", port) for k, port in enumerate(ports)]
        out = f.let("load ptr, ptr %given")
        fresh = f.let(f"icmp eq ptr {out}, null")
        f.unless(fresh, "reused", "fresh")
        _take_arrays(f, ports, shapes, out)
        f.do("br label %compute")
        f.label("fresh")
        # Creating the arrays may collect garbage and so call this function again: no block may be in use before.
        _make_arrays(f, ports, shapes)
        f.start("compute")  # all inputs are read before anything is written, so ``out`` may overlap them
        row = 0
        for array, port in zip(arrays, program.inputs, strict=True):
            _spread(f, array, port, row)
            row += port.size
        for name, finished in zip(kernel.functions, kernel.finished, strict=True):
            f.do(f"call void @{name}(ptr %in, ptr %out, ptr %scratch)")
            for k, tiles in finished.items():
                _collect(f, f.load("ptr", "%places", 8 * k), ports[k], tiles)
        f.do(f"br i1 {fresh}, label %finish, label %return")
        f.label("finish")
        _make_scalars(f, ports)
        f.start("return")
        f.do(f"ret ptr {f.let('load ptr, ptr %answer')}")
        _give_up(f, ports)
        f.label("other")
        call = _entry(f, "call")
        f.do(f"ret ptr {f.let(f'call ptr {call}(ptr %self, ptr %arguments, i64 %count, ptr %names)')}")


def _read_keywords(f: Function, positional: int):
    """Store ``out``; ignore ``threads="auto"``, which has no effect on one state; use the fallback for all others."""
    values = f.at("%arguments", 8 * positional)
    with f.counted("keyword", f.load("i64", "%names", LENGTH)) as k:
        offset = f.let(f"mul i64 {k}, 8")
        name, value = (f.let(f"load ptr, ptr {f.at(start, offset)}") for start in (f.at("%names", ITEMS), values))
        is_out, is_threads, is_auto = (
            f.let(f"icmp eq ptr {word}, {_entry(f, entry)}")
            for word, entry in ((name, "out"), (name, "threads"), (value, "auto"))
        )
        _require(f, f"or i1 {is_out}, {f.let(f'and i1 {is_threads}, {is_auto}')}", "other")
        out = f.let(f"select i1 {is_out}, ptr {value}, ptr {f.let('load ptr, ptr %given')}")
        f.do(f"store ptr {out}, ptr %given")


def _shape(f: Function, name: str, port: Port) -> str:
    """Add a table of the port's shape, and return its name."""
    sizes = ", ".join(f"i64 {size}" for size in port.shape)
    f.module.functions.append(f"@{name} = internal constant [{len(port.shape)} x i64] [{sizes}]")
    return f"@{name}"


def _spread(f: Function, array: str, port: Port, row: int):
    """Copy the scalars of one state to rows of the input block, in all lanes."""
    if port.size:
        m, data, rows = f.module, f.load("ptr", array, DATA), f.at("%in", row * f.module.row)
        with f.counted("spread", port.size) as k:
            scalar = f.let(f"load {m.real}, ptr {f.at(data, f.let(f'mul i64 {k}, {m.item}'))}")
            f.store_row(f.splat(scalar), f.at(rows, f.let(f"mul i64 {k}, {m.row}")), 0)


def _collect(f: Function, data: str, port: Port, tiles: Sequence[Tile]):
    """Copy the first lane of rows of the output block to the scalars of one state."""
    m, width = f.module, tile_width(f.module, port.size)

    def move(column: str | int, row: str | int):
        source, target = (f.at(base, offset) for base, offset in (("%out", row), (data, column)))
        for k in range(width):
            scalar = f.let(f"load {m.real}, ptr {f.at(source, k * m.row)}")
            f.do(f"store {m.real} {scalar}, ptr {f.at(target, k * m.item)}")

    if len(tiles) <= UNROLLED:
        for tile in tiles:
            move(tile.column * m.item, tile.row * m.row)
        return
    table = tile_table(m, tiles)
    with f.counted("collect", len(tiles)) as k:
        tile = f.at(table, f.let(f"mul i64 {k}, 16"))
        column, row = (f.load("i64", tile, 8 * j) for j in range(2))
        move(f.let(f"mul i64 {column}, {m.item}"), f.let(f"mul i64 {row}, {m.row}"))


def _fits(array: str, port: Port, shape: str, flags: int) -> str:
    return f"call i1 @fits(ptr {array}, i32 {len(port.shape)}, ptr {shape}, i32 {flags})"


def _emit_fits(m: Module):
    """Add ``@fits``, which checks that an object is an array (not a subclass) of this shape, dtype and flags."""
    with Function(m, "define internal i1 @fits(ptr %array, i32 %rank, ptr %shape, i32 %flags) noinline nounwind") as f:
        _require(f, f"icmp eq ptr {f.load('ptr', '%array', TYPE)}, {_entry(f, 'ndarray')}", "no")
        plain = f.let(f"and i32 {f.load('i32', '%array', FLAGS)}, {f.let(f'or i32 %flags, {WARNING}')}")
        dtype = f.load("ptr", "%array", DTYPE)
        order = f.let(f"zext i8 {f.load('i8', dtype, BYTE_ORDER)} to i32")
        is_and_should_be = (
            (f.load("i32", "%array", RANK), "%rank"),
            (plain, "%flags"),
            (f.load("i32", dtype, NUMBER), np.dtype(m.dtype).num),
            (order, ord("=")),
        )
        wrong = "0"  # one branch for all takes less time to compile
        for value, expected in is_and_should_be:
            wrong = f.let(f"or i32 {wrong}, {f.let(f'xor i32 {value}, {expected}')}")
        _require(f, f"icmp eq i32 {wrong}, 0", "no")
        shape = f.load("ptr", "%array", SHAPE)
        f.start("start")
        f.start("loop")
        f.do("%d = phi i32 [%rank, %start], [%next, %same]")
        f.unless(f.let("icmp eq i32 %d, 0"), "size", "yes")
        f.do("%next = sub i32 %d, 1")
        pair = [f.let(f"getelementptr i64, ptr {place}, i32 %next") for place in (shape, "%shape")]
        is_, should_be = (f.let(f"load i64, ptr {place}") for place in pair)
        f.when(f.let(f"icmp eq i64 {is_}, {should_be}"), "same", "no")
        f.do("br label %loop")
        f.label("yes")
        f.do("ret i1 true")
        f.label("no")
        f.do("ret i1 false")


def _take_arrays(f: Function, ports: Sequence[Port], shapes: Sequence[str], out: str):
    """Write the results into ``out``, an array or a tuple of arrays, if these fit and do not overlap."""
    arrays = [out]
    if len(ports) != 1:
        kind = f.load("ptr", out, TYPE)
        is_tuple, is_result = (f.let(f"icmp eq ptr {kind}, {_entry(f, name)}") for name in ("tuple", "result"))
        _require(f, f"or i1 {is_tuple}, {is_result}", "other")
        _require(f, f"icmp eq i64 {f.load('i64', out, LENGTH)}, {len(ports)}", "other")
        arrays = [f.load("ptr", out, ITEMS + 8 * k) for k in range(len(ports))]
    ranges: list[tuple[str, str]] = []
    for k, (array, port, shape) in enumerate(zip(arrays, ports, shapes, strict=True)):
        _require(f, _fits(array, port, shape, WRITABLE), "other")
        start = f.load("ptr", array, DATA)
        end = f.at(start, port.size * f.module.item)
        for other_start, other_end in ranges:
            before, after = f.let(f"icmp ule ptr {end}, {other_start}"), f.let(f"icmp ule ptr {other_end}, {start}")
            _require(f, f"or i1 {before}, {after}", "other")
        ranges.append((start, end))
        f.do(f"store ptr {start}, ptr {f.at('%places', 8 * k)}")
    if len(ports) == 1:
        f.do(f"call void {_entry(f, 'retain')}(ptr {out})")
        f.do(f"store ptr {out}, ptr %answer")
        return
    _make_tuple(f, ports)
    for k, array in enumerate(arrays):
        f.do(f"call void {_entry(f, 'retain')}(ptr {array})")
        _put(f, ports, k, array)


def _make_tuple(f: Function, ports: Sequence[Port]):
    """Make the answer a named tuple, whose items are set later."""
    answer = f.let(f"call ptr {_entry(f, 'new_tuple')}(ptr {_entry(f, 'result')}, i64 {len(ports)})")
    _require(f, f"icmp ne ptr {answer}, null", "failed")
    f.do(f"store ptr {answer}, ptr %answer")


def _make_arrays(f: Function, ports: Sequence[Port], shapes: Sequence[str]):
    """Create new arrays for the results; several are in a tuple."""
    if len(ports) != 1:
        _make_tuple(f, ports)
    for k, (port, shape) in enumerate(zip(ports, shapes, strict=True)):
        place = f.at("%scalars", k * f.module.item)
        if port.shape:
            kind = f"ptr {_entry(f, 'ndarray')}, i32 {len(port.shape)}, ptr {shape}"
            rest = f"i32 {np.dtype(f.module.dtype).num}, ptr null, ptr null, i32 0, i32 0, ptr null"
            array = f.let(f"call ptr {_entry(f, 'new_array')}({kind}, {rest})")
            _put(f, ports, k, array)
            place = f.load("ptr", array, DATA)
        f.do(f"store ptr {place}, ptr {f.at('%places', 8 * k)}")


def _make_scalars(f: Function, ports: Sequence[Port]):
    """Create results without axes at the end, as NumPy scalars, like those of a ufunc."""
    for k, port in enumerate(ports):
        if not port.shape:
            place, dtype = f.at("%scalars", k * f.module.item), _entry(f, "dtype")
            _put(f, ports, k, f.let(f"call ptr {_entry(f, 'new_scalar')}(ptr {place}, ptr {dtype}, ptr null)"))


def _put(f: Function, ports: Sequence[Port], k: int, value: str):
    """Make a new object the whole answer, or part ``k`` of it, which takes over the reference."""
    _require(f, f"icmp ne ptr {value}, null", "failed" if len(ports) == 1 else "undo")
    if len(ports) == 1:
        f.do(f"store ptr {value}, ptr %answer")
    else:
        f.do(f"call i32 {_entry(f, 'set_item')}(ptr {f.let('load ptr, ptr %answer')}, i64 {k}, ptr {value})")


def _give_up(f: Function, ports: Sequence[Port]):
    """Return null after a lack of memory; Python's exception is set."""
    if len(ports) != 1:
        f.label("undo")
        f.do(f"call void {_entry(f, 'release')}(ptr {f.let('load ptr, ptr %answer')})")
        f.do("br label %failed")
    f.label("failed")
    f.do("ret ptr null")


def _require(f: Function, condition: str, otherwise: str):
    """Continue if ``condition`` holds, else jump to the label ``otherwise``."""
    holds = f.let(condition)
    f.when(holds, f"after.{holds[1:]}", otherwise)


def _entry(f: Function, name: str) -> str:
    return f.load("ptr", "@context", 8 * ENTRIES.index(name))


# Making builtins ------------------------------------------------------------------------------------------------------


class Definition(ctypes.Structure):
    """CPython's PyMethodDef: it must live as long as its builtins, which read it when they are freed."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("document", ctypes.c_char_p))  # fmt: skip


def define(engine: Any, program: Program, dtype: str) -> Definition | None:
    """Prepare the loaded ``@direct`` for :func:`make_builtin`; None if there is none or it cannot work here."""
    address = engine.get_function_address("direct")
    if not address or obstacle():
        return None
    context = (ctypes.c_void_p * len(ENTRIES)).from_address(engine.get_global_value_address("context"))
    context[:] = _addresses(dtype, result_type(tuple(port.name for port in program.outputs)))
    kind = f"{signature(program.inputs, program.outputs)}, compiled by linkwork for {dtype}."
    document = f"{program.name}(*arguments, **options)\n--\n\n{kind}"  # Python takes the signature from the first line
    return Definition(program.name.encode(), address, FASTCALL_WITH_KEYWORDS, document.encode())


def make_builtin(definition: Definition, owner: Any, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Return a builtin that passes all calls except those of one state in plain arrays to ``otherwise``.

    In place of its module, which Python releases last, it keeps the ``owner`` of code and definition.
    """
    make = ctypes.pythonapi["PyCFunction_NewEx"]  # by index: a private prototype
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return make(ctypes.addressof(definition), otherwise, owner)


@cache
def obstacle() -> str:
    """Return why this interpreter has no direct calls; empty if it has."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python has no global interpreter lock"
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return "this Python is not a 64-bit one"
    if missing := [name for name in PYTHON_FUNCTIONS if not hasattr(ctypes.pythonapi, name)]:
        return f"this Python has no {missing[0]}"  # Python 3.10
    if not _layout_is_known() or _numpy_entries(NDARRAY)[0] != id(np.ndarray) or not all(_addresses("float64")):
        versions = f"{platform.python_implementation()} {platform.python_version()} with NumPy {np.__version__}"
        reason = f"{versions} keeps the fields of arrays in places unknown to this version of linkwork"
        warnings.warn(f"{reason}: calls of one state take a microsecond longer", RuntimeWarning, stacklevel=2)
        return reason
    return ""


def _addresses(dtype: str, result: type = tuple) -> tuple[int, ...]:
    """Return the entries of ``@context``."""
    functions = (ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in PYTHON_FUNCTIONS)
    array_type, *creators = _numpy_entries(NDARRAY, NEW_ARRAY, NEW_SCALAR)
    return (array_type, id(tuple), id(result), id(np.dtype(dtype)), *map(id, WORDS), *creators, *functions)


def _numpy_entries(*slots: int) -> list[int]:
    """Return entries of NumPy's table of functions for extensions; zeros for an unknown version."""
    entries = table("_ARRAY_API")
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(entries[0] or 0)() >> 24  # of the binary interface
    return [entries[slot] or 0 if version in (1, 2) else 0 for slot in slots]


def _layout_is_known() -> bool:
    """Return whether the offsets above are right for arrays of several kinds."""
    base = np.zeros((3, 4, 5))
    samples = (base, base[::-1, ::2, 1], base[0, 0, 0, ...], base.astype("f4").T, base.astype(">f8"), np.zeros((0, 2)))
    pointers = (ctypes.c_size_t * len(WORDS)).from_address(id(WORDS) + ITEMS)
    length = ctypes.c_ssize_t.from_address(id(WORDS) + LENGTH).value
    words = length == len(WORDS) and tuple(pointers) == (*map(id, WORDS),)
    return words and all(_reads_right(sample) for sample in samples)


def _reads_right(array: np.ndarray) -> bool:
    """Return whether the offsets are right for an array; the first checks make it safe to follow pointers later."""

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
        and array.flags.writeable == bool(array.flags.num & 0x400)
        and read(integer, id(dtype) + NUMBER) == dtype.num
        and read(ctypes.c_char, id(dtype) + BYTE_ORDER) == dtype.byteorder.encode()
        and (array.ndim == 0 or strides == shape + 8 * array.ndim)
        and tuple(read(number, shape + 8 * d) for d in range(array.ndim)) == array.shape
        and tuple(read(number, strides + 8 * d) for d in range(array.ndim)) == array.strides
    )
