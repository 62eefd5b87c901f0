"""IR -> object code -> code that can be called."""

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
    """IR -> object code, without optimisation passes: programs arrive folded, shared and in a good order."""
    from llvmlite import binding

    with LOCK:
        return target.machine().emit_object(binding.parse_assembly(text, binding.create_context()))


@once
def emitter() -> str:
    """A hash of the sources that shape object code, so that other code never comes out of the cache."""
    package, own = __name__.split(".native.")[0], pkgutil.iter_modules([str(Path(__file__).parent)])
    names = ("schemes", "timeloop", *sorted(f"native/{module.name}" for module in own))
    sources = (pkgutil.get_data(package, f"{name}.py") or b"" for name in names)
    return hashlib.sha256(b"".join(sources)).hexdigest()


def loaded(parts: Sequence[str], make: Callable[[], bytes], target: Target) -> Any:
    """The engine of what ``make`` compiles, or compiled before: equal ``parts`` mean equal code."""
    key = hashlib.sha256("\n".join((*parts, target.identity, emitter())).encode()).hexdigest()
    with LOCK:
        code = cache.get(key)
        if code is None:
            code = make()
            cache.put(key, code)
        return load(code, target)


def load(code: bytes, target: Target) -> Any:
    """Make object code callable: the engine that owns it."""
    from llvmlite import binding

    with LOCK:
        empty = binding.parse_assembly(f'target triple = "{target.triple}"', binding.create_context())
        # llvmlite's memory manager keeps code and tables of an object within reach of each other.
        engine = binding.create_mcjit_compiler(empty, target.machine(), use_lmm=True)
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
    connect(engine)
    return engine
