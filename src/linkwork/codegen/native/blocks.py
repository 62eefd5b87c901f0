"""Memory for the blocks of one call.

Small blocks are on the stack, others on the heap, so that even a very large program cannot overflow a thread's stack. A
function that only one thread at a time can enter may have permanent blocks.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from .emit import LINE, Function

STACK = 8 * 1024  # bytes
# Entries of @memory. The first two need no interpreter lock, the others take it to raise MemoryError.
PYTHON_FUNCTIONS = ("PyMem_RawMalloc", "PyMem_RawFree", "PyGILState_Ensure", "PyErr_NoMemory", "PyGILState_Release")
MALLOC, FREE, LOCK, NO_MEMORY, UNLOCK = range(len(PYTHON_FUNCTIONS))
SHORT = 1 << 33  # the bit of a word that reports a lack of memory


def on_stack(sizes: Mapping[str, int]) -> bool:
    return sum(sizes.values()) <= STACK


def emit_blocks(f: Function, sizes: Mapping[str, int], word: str = "null"):
    """Allocate ``%name`` with its size in bytes, for each name, at the beginning of a function that returns nothing.

    Without memory the function returns at once, with the bit SHORT in ``word`` or, if that is null, with a Python
    exception of this thread.
    """
    if on_stack(sizes):
        for name, size in sizes.items():
            f.do(f"%{name} = alloca [{size} x i8], align {LINE}")
        return
    rounded = {name: -(-size // LINE) * LINE for name, size in sizes.items()}
    f.do(f"%memory = call ptr {_entry(f, MALLOC)}(i64 {sum(rounded.values()) + LINE})")
    f.when(f.let("icmp eq ptr %memory, null"), "failed", "ready")
    if word != "null":
        f.unless(f.let(f"icmp eq ptr {word}, null"), "tell", "exception")
        f.let(f"atomicrmw or ptr {word}, i64 {SHORT} seq_cst")
        f.do("ret void")
        f.label("exception")
    lock = f.let(f"call i32 {_entry(f, LOCK)}()")
    f.do(f"call ptr {_entry(f, NO_MEMORY)}()")
    f.do(f"call void {_entry(f, UNLOCK)}(i32 {lock})")
    f.do("ret void")
    f.label("ready")
    past = f.let(f"and i64 {f.let('ptrtoint ptr %memory to i64')}, {LINE - 1}")
    place = f.at("%memory", f.let(f"sub i64 {LINE}, {past}"))
    for name, size in rounded.items():
        f.do(f"%{name} = getelementptr i8, ptr {place}, i64 0")
        place = f.at(place, size)


def emit_free(f: Function, sizes: Mapping[str, int]):
    """Free the blocks at the end of that function."""
    if not on_stack(sizes):
        f.do(f"call void {_entry(f, FREE)}(ptr %memory)")


def emit_own_blocks(f: Function, sizes: Mapping[str, int], owner: str):
    """Give the function ``owner`` permanent blocks that no other function uses."""
    for name, size in sizes.items():
        f.module.functions.append(f"@{owner}_{name} = internal global [{size} x i8] zeroinitializer, align {LINE}")
        f.do(f"%{name} = getelementptr i8, ptr @{owner}_{name}, i64 0")


def connect(engine: Any):
    """Fill ``@memory`` of loaded code that has one: addresses differ between processes, and code is cached."""
    if address := engine.get_global_value_address("memory"):
        entries = (ctypes.c_void_p * len(PYTHON_FUNCTIONS)).from_address(address)
        entries[:] = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in PYTHON_FUNCTIONS]


def _entry(f: Function, number: int) -> str:
    if f.module.once("memory"):
        f.module.functions.append(f"@memory = dso_local global [{len(PYTHON_FUNCTIONS)} x ptr] zeroinitializer")
    return f.word("@memory", number, "ptr")
