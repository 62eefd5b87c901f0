"""Threads that share a batch: workers that sleep in machine code (:mod:`.sharing`) and wake without Python's lock.

A worker is started when it is first needed and lives as long as the process. It neither holds nor waits for anything of
Python, so it does not delay the end of the process. After a fork the child starts its own workers.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache as once
from typing import Any

from ...program.program import Program
from . import sharing
from .lifetime import for_good
from .machine_code import assemble, loaded
from .numpy_api import table
from .target import LOCK, host

GET_FLAGS = 28  # slot of PyUFunc_getfperr in _UFUNC_API, which also clears the flags
WORK = 20_000  # vector instructions of the smallest piece of a batch: about 7 us

running = 0  # workers


def share(program: Program, lanes: int, loop: int, threads: int) -> tuple[int, Any]:
    """Return the address of an inner loop that shares ``loop`` among threads, and its data, which must live as long."""
    ports = [port for port in (*program.inputs, *program.outputs) if port.size]
    each = program.work + sum(port.size for port in ports)  # instructions per block, with loads and stores
    blocks = -(-WORK // max(each, 1))
    words = {
        sharing.LOOP: loop,
        sharing.ARGUMENTS: len(ports),
        sharing.PIECE: blocks * lanes,
        sharing.HELPERS: threads - 1,
        sharing.LOOKS: sharing.WAIT * max(1, each // WORK),
        sharing.LONGER: 1,
    }
    data = (ctypes.c_int64 * sharing.DATA)(*(words.get(k, 0) for k in range(sharing.DATA)))
    return _engine().get_function_address("shared"), data


def start(threads: int):
    """Start workers until there are as many as ``threads`` threads need, the calling one included."""
    global running
    with LOCK:
        while running < min(threads - 1, sharing.WORKERS):
            _start(running)
            running += 1
            _started().value = running


def _start(number: int):
    engine, python = _engine(), ctypes.pythonapi
    allocate, acquire, run = (
        python[f"PyThread_{name}"] for name in ("allocate_lock", "acquire_lock", "start_new_thread")
    )
    allocate.restype, allocate.argtypes = ctypes.c_void_p, []
    acquire.restype, acquire.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_int]
    run.restype, run.argtypes = ctypes.c_ulong, [ctypes.c_void_p, ctypes.c_void_p]
    place = engine.get_global_value_address("workers") + number * sharing.WORKER
    words = (ctypes.c_int64 * 4).from_address(place)
    words[:] = (0, 0, allocate(), allocate())
    for lock in words[sharing.WAKE :]:
        acquire(lock, 1)
    run(engine.get_function_address("worker"), place)  # if the thread cannot start, offers to it are withdrawn


@once
def _engine() -> Any:
    """Return the loaded machine code."""
    target = host()
    engine = loaded(("sharing",), lambda: assemble(sharing.sharing_text(target), target), target)
    address = lambda function: ctypes.cast(function, ctypes.c_void_p).value  # noqa: E731
    locks = [address(ctypes.pythonapi[f"PyThread_{name}_lock"]) for name in ("acquire", "release")]
    context = (ctypes.c_void_p * sharing.CONTEXT).from_address(engine.get_global_value_address("context"))
    context[:] = [*locks, table("_UFUNC_API")[GET_FLAGS]]
    for_good(engine)  # workers run this code until the process ends
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget)  # the child has no threads of its parent
    return engine


def _started() -> ctypes.c_int64:
    """Return the number of workers as seen by the machine code."""
    return ctypes.c_int64.from_address(_engine().get_global_value_address("started"))


def _forget():
    global running
    running = _started().value = 0
