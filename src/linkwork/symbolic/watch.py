"""Names of intermediate results: the symbols of a formulation, read from its Python variables while it runs.

``formulations.trace_names`` lists what is read. Python's trace function reads it, and each thread can have only one
trace function. If a debugger or a coverage tool uses it already, intermediate results get no symbols and a
SymbolsWarning is issued. The equations are the same otherwise.
"""

from __future__ import annotations

import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ..errors import SymbolsWarning
from ..formulations.trace_names import GROUPED, LETTERS, TAG, is_read
from ..model import ELEMENTS
from ..notation.robots import Visit
from ..program.graph import Node
from ..spatial import ArticulatedInertia, Force, Inertia, Matrix, Motion, Pose, Symmetric, Vector

SYMMETRIC = ("xx", "xy", "xz", "yy", "yz", "zz")


def components(value: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield each scalar in a value as (symbol, suffix, scalar).

    A symbol that is not empty replaces the name of the variable; the suffix follows the number of the body.
    """
    match value:
        case Node():
            yield "", "", value
        case Vector():
            yield from (("", part, x) for part, x in zip("xyz", value, strict=True))
        case Symmetric():
            yield from (("", part, x) for part, x in zip(SYMMETRIC, value, strict=True))
        case Matrix():
            for a, row in zip("xyz", value.rows, strict=True):
                yield from (("", a + b, x) for b, x in zip("xyz", row, strict=True))
        case Force():
            yield from (("", part, x) for part, x in zip(("x", "y", "z", "mx", "my", "mz"), value, strict=True))
        case Motion():
            yield from (("", part, x) for part, x in zip(("x", "y", "z", "wx", "wy", "wz"), value, strict=True))
        case Inertia():
            yield from (("", part, x) for part, x in zip(ELEMENTS, value, strict=True))
        case Pose():
            yield from (("R", part, x) for _, part, x in components(value.rotation))
            yield from (("P", part, x) for _, part, x in components(value.origin))
        case ArticulatedInertia():
            for letter, entries in (("", value.M), ("B", value.B), ("J", value.J)):
                yield from (("", letter + part, x) for _, part, x in components(entries))


class Watch:
    """Context in which ``named(node, name, tag)`` is called for the values of a formulation's variables.

    The previous trace function is always restored at the end.
    """

    def __init__(self, visit: Visit, named: Callable[[Node, str, str], None]):
        self.visit, self.named = visit, named
        self._seen: dict[tuple[int, str, Any], Any] = {}  # frame, variable and key -> last value
        self._line: dict[int, int] = {}  # frame -> last line

    def __enter__(self) -> Watch:
        self._before = sys.gettrace()
        if self._before is None:
            sys.settrace(self._called)
        if sys.gettrace() != self._called:
            _warn(f"{self._before!r} traces this thread")
        return self

    def __exit__(self, *_: Any) -> None:
        if self._before is not None:
            return
        after = sys.gettrace()
        if after == self._called:
            sys.settrace(None)
        else:
            _warn(f"{after!r} started to trace this thread meanwhile")

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._stepped if is_read(frame.f_code) else None

    def _stepped(self, frame: FrameType, event: str, argument: Any) -> Any:
        for variable, value in frame.f_locals.items():
            if isinstance(value, dict):
                for key, entry in value.items():
                    if isinstance(key, int):
                        self._look(frame, variable, key, entry)
            elif self.visit.body:
                self._look(frame, variable, self.visit.body, value)
        self._line[id(frame)] = frame.f_lineno
        return self._stepped

    def _look(self, frame: FrameType, variable: str, body: int, value: Any) -> None:
        place = (id(frame), variable, body)
        if self._seen.get(place) is value:
            return
        self._seen[place] = value
        line = linecache.getline(frame.f_code.co_filename, self._line.get(id(frame), 0))
        tag = TAG.search(line)
        for symbol, suffix, scalar in components(value):
            if isinstance(scalar, Node):
                symbol = symbol or LETTERS.get(variable) or variable.replace("_", "")
                name = f"{suffix}R{body}" if variable == GROUPED else f"{symbol}{body}{suffix}"
                self.named(scalar, name, tag[1] if tag else "")


def _warn(reason: str) -> None:
    warnings.warn(
        f"intermediate results lack the symbols of the paper: {reason}\n"
        "  fix: run it without a debugger or a coverage tool",
        SymbolsWarning,
        stacklevel=2,
    )
