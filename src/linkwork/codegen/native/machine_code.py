"""Compilation of IR to object code, and loading of object code."""

from __future__ import annotations

import hashlib
import pkgutil
from collections.abc import Callable, Sequence
from functools import cache as once
from pathlib import Path
from typing import Any

from .. import cache
from .blocks import connect
from .target import LOCK, Target


def assemble(text: str, target: Target) -> bytes:
    """Compile IR to object code, without LLVM's optimisation passes: programs are already optimised."""
    from llvmlite import binding

    with LOCK:
        return target.machine().emit_object(binding.parse_assembly(text, binding.create_context()))


@once
def emitter() -> str:
    """Return a hash of the sources that determine object code, so that a new version does not use old code."""
    package, modules = __name__.split(".native.")[0], pkgutil.iter_modules([str(Path(__file__).parent)])
    names = ("schemes", "timeloop", *sorted(f"native/{module.name}" for module in modules))
    sources = (pkgutil.get_data(package, f"{name}.py") or b"" for name in names)
    return hashlib.sha256(b"".join(sources)).hexdigest()


def loaded(parts: Sequence[str], make: Callable[[], bytes], target: Target) -> Any:
    """Return the engine of the code that ``make`` compiles, from the cache if possible; equal ``parts`` share code."""
    key = hashlib.sha256("\n".join((*parts, target.identity, emitter())).encode()).hexdigest()
    with LOCK:
        code = cache.get(key)
        if code is None:
            code = make()
            cache.put(key, code)
        return load(code, target)


def load(code: bytes, target: Target) -> Any:
    """Load object code, and return the engine that owns it."""
    from llvmlite import binding

    with LOCK:
        empty = binding.parse_assembly(f'target triple = "{target.triple}"', binding.create_context())
        # llvmlite's memory manager keeps the code and the tables of an object close together.
        engine = binding.create_mcjit_compiler(empty, target.machine(), use_lmm=True)
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
    connect(engine)
    return engine
