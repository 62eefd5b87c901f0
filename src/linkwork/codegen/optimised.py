"""Optimised programs on disk: the passes take ten times longer than reading what they made."""

from __future__ import annotations

import hashlib
import pkgutil
from functools import cache as once

from .. import program as package
from ..program import Program, optimize
from . import cache

SMALL = 60  # instructions; below, the passes are as quick


def optimised(program: Program) -> Program:
    """``optimize(program)``, from the cache if it is there."""
    if len(program.instructions) < SMALL:
        return optimize(program)
    key = hashlib.sha256(f"{program.digest}\n{_passes()}".encode()).hexdigest()
    text = cache.get(key)
    if text is not None:
        return Program.from_json(text.decode())
    made = optimize(program)
    cache.put(key, made.to_json().encode())
    return made


@once
def _passes() -> str:
    """A hash of the sources that shape optimised programs, so that others never come out of the cache."""
    passes = (f"passes/{module.name}" for module in pkgutil.iter_modules(package.passes.__path__))
    names = ("counts", "graph", "program", "trace", "passes/__init__", *sorted(passes))
    sources = (pkgutil.get_data(package.__name__, f"{name}.py") or b"" for name in names)
    return hashlib.sha256(b"".join(sources)).hexdigest()
