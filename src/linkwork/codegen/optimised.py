"""Cache of optimised programs on disk: the passes take ten times longer than reading their result."""

from __future__ import annotations

import hashlib
import pkgutil
from functools import cache as once

from .. import program as package
from ..program import Program, optimize
from . import cache

SMALL = 60  # instructions; for smaller programs the passes are as fast as the cache


def optimised(program: Program) -> Program:
    """Return ``optimize(program)``, from the cache if possible."""
    if len(program.instructions) < SMALL and not program.loops:
        return optimize(program)
    key = hashlib.sha256(f"{program.digest}\n{_passes()}".encode()).hexdigest()
    text = cache.get(key)
    if text is not None:
        return Program.from_json(text.decode())
    result = optimize(program)
    cache.put(key, result.to_json().encode())
    return result


@once
def _passes() -> str:
    """Return a hash of the sources that determine optimised programs, so that a new version does not use old ones."""
    passes = (f"passes/{module.name}" for module in pkgutil.iter_modules(package.passes.__path__))
    names = ("counts", "graph", "program", "trace", "passes/__init__", *sorted(passes))
    sources = (pkgutil.get_data(package.__name__, f"{name}.py") or b"" for name in names)
    return hashlib.sha256(b"".join(sources)).hexdigest()
