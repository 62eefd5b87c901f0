"""Code of the user, run on traced numbers: errors name its line, and results that change from call to call raise."""

from __future__ import annotations

import inspect
import pickle
import random
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import LinkworkError, UnsupportedError
from ..program.graph import Node
from ..program.traced_array import TracedArray

AGAIN = 12  # further calls of a function that looks constant while random numbers are drawn
TRACED = (
    "the function runs once, on arrays without values: use NumPy's functions and operators, np.where(condition, a, b) "
    "instead of branches, np.stack instead of filling an array; what changes from call to call is an input"
)
NOISE = (
    "make what changes an input; in a simulation, compute beforehand what changes from step to step, and give it as "
    "arrays over time: wrenches={frame: (steps, 6)}, torque=(steps, n) instead of a controller, or "
    "reference=linkwork.control.Sampled(times, q + noise); what a controller remembers is integrated: "
    "linkwork.control.with_memory"
)


def traced_once(run: Callable[[], Any], where: str, function: Callable[..., Any], fix: str = TRACED) -> Any:
    """Return what ``run`` makes of traced numbers; what cannot be traced raises with the line of ``function``."""
    try:
        return unchanging(run, where)
    except (TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        if isinstance(error, LinkworkError):
            raise
        got = "\n       ".join([*_lines(error, function), str(error)])
        raise UnsupportedError("this function cannot be traced", where=where, got=got, fix=fix) from error


def _lines(error: Exception, function: Callable[..., Any]) -> list[str]:
    """The innermost line of the user's own file on the way to an error."""
    code = getattr(inspect.unwrap(function), "__code__", None) or getattr(type(function).__call__, "__code__", None)
    file = getattr(code, "co_filename", None)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return [f"line {frame.lineno}: {frame.line or '...'}" for frame in frames[-1:]]


def unchanging(run: Callable[[], Any], where: str) -> Any:
    """Return the result of ``run``, which is called twice: equal expressions are one node of the graph, so a function
    of its arguments alone gives the same nodes, and one of random numbers, clocks or counters does not."""
    before = _random_state()
    value = run()
    same = _listed(value) == _listed(run())
    if same and _random_state() != before:  # by it, or by another thread: few values may come out the same twice
        same = all(_listed(value) == _listed(run()) for _ in range(AGAIN))
    if same:
        return value
    raise UnsupportedError(
        "the result changes from call to call, and would be compiled in as a constant",
        where=where,
        got="random numbers, a clock, a counter or a memory of earlier calls",
        expected="a function of its arguments alone, which is traced once",
        fix=NOISE,
    )


def _random_state() -> tuple[Any, ...]:
    """The state of the random generators that all code shares."""
    return random.getstate(), pickle.dumps(np.random.get_state(legacy=False))


def _listed(value: Any) -> Any:
    """Nested lists that compare by identity of nodes."""
    if isinstance(value, Mapping):
        return [[key, _listed(each)] for key, each in value.items()]
    if isinstance(value, (tuple, list)):
        return [*map(_listed, value)]
    if isinstance(value, np.ndarray) and value.ndim:
        return [*map(_listed, value)]
    entry = value.nodes() if isinstance(value, TracedArray) else value
    return id(entry) if isinstance(entry, Node) else repr(entry)  # NaN is not equal to itself
