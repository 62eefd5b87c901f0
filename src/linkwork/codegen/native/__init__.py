"""The native back end: program -> LLVM IR -> object code -> NumPy generalised ufunc."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ...program.collector import collector_at_rest
from ...program.program import Program
from ..backend import Compiled
from ..timeloop import Run, TimeLoop
from . import threads as workers
from .direct import HEADER, ITEMS, Definition, define, emit_direct, make_builtin, obstacle, suits
from .emit import Module
from .kernel import emit_kernel
from .lifetime import Recent, for_good, make_owner
from .loop import emit_loop
from .machine_code import assemble, loaded
from .target import ITEM_SIZE, LOCK, Target, host
from .ufunc import make_ufunc, retain


@dataclass(frozen=True)
class Loaded:
    """Machine code in this process: a ufunc and, where possible, the definition of builtins."""

    ufunc: Any
    direct: Definition | None
    address: int  # of the loop
    keep: list[Any]  # objects that must live as long: the engine, buffers
    owner: Any  # of these objects
    shared: dict[int, Any] = field(default_factory=dict)  # number of threads -> ufunc


_loaded: Recent[Loaded] = Recent()


def compile(program: Program, dtype: str) -> Compiled:
    """Return the ufunc of :func:`build` and, where possible, the builtin of :mod:`.direct`."""
    ready = _ready(program, dtype)
    shared, address = partial(_shared, program, dtype, ready), partial(_lasting_address, ready)
    if ready.direct is None:
        reason = obstacle() or "the program is so large that they would gain nothing"
        return Compiled(ready.ufunc, obstacle=reason, shared=shared, address=address)
    return Compiled(ready.ufunc, partial(make_builtin, ready.direct, ready.owner), shared=shared, address=address)


def _lasting_address(ready: Loaded) -> int:
    """Return the address of the loop, which is not freed from now on."""
    for_good(ready.owner)
    return ready.address


def _shared(program: Program, dtype: str, ready: Loaded, threads: int) -> Any:
    """Return a ufunc of the same loop that shares a batch among threads."""
    if threads > workers.running + 1:
        workers.start(threads)
    if threads not in ready.shared:
        with LOCK:
            loop, data = workers.share(program, host().lanes(dtype), ready.address, threads)
            ufunc, buffers = make_ufunc(program, dtype, loop, ctypes.addressof(data))
            ready.keep.append((data, buffers))
            retain(ufunc, ready.owner)
            ready.shared[threads] = ufunc
    return ready.shared[threads]


def compile_loop(loop: TimeLoop, samples: int) -> Run:
    from .time_loop import build_loop

    return build_loop(loop, samples)


def build(program: Program, dtype: Any = "float64", target: Target | None = None, segment: int = 0):
    """Return a NumPy generalised ufunc that runs ``program`` on arrays of ``dtype`` (float64 or float32).

    Its core dimensions are the shapes of the program's ports. A state gives the same bits at every place in a batch of
    any size and memory order. A program with ports of size zero, which NumPy's signatures cannot express, gives a
    function that broadcasts in the same way.
    """
    return _ready(program, dtype, target, segment).ufunc


def _ready(program: Program, dtype: Any, target: Target | None = None, segment: int = 0) -> Loaded:
    """Return the program's machine code, from this process, the cache or the compiler."""
    dtype = np.dtype(dtype).name
    if dtype not in ITEM_SIZE:
        raise UnsupportedError("native code supports float64 and float32 only", where=program.name, got=dtype)
    target = target or host()

    def load() -> Loaded:
        parts = (program.digest, dtype, str(segment), f"{HEADER}, {ITEMS}")
        engine = loaded(parts, lambda: object_code(program, dtype, target, segment), target)
        loop, direct = engine.get_function_address("loop"), define(engine, program, dtype)
        ufunc, buffers = make_ufunc(program, dtype, loop)
        keep = [engine, buffers, direct]
        owner = make_owner(keep)
        retain(ufunc, owner)
        return Loaded(ufunc, direct, loop, keep, owner)

    return _loaded.get((program.digest, dtype, target, segment), load)


@collector_at_rest()
def ir_text(program: Program, dtype: str = "float64", target: Target | None = None, segment: int = 0) -> str:
    """Return the LLVM IR that :func:`build` compiles."""
    module = Module(target or host(), dtype)
    kernel = emit_kernel(module, program, segment)
    emit_loop(module, program, kernel)
    if suits(program, kernel):
        emit_direct(module, program, kernel)
    return module.text()


def object_code(program: Program, dtype: str, target: Target, segment: int = 0) -> bytes:
    return assemble(ir_text(program, dtype, target, segment), target)
