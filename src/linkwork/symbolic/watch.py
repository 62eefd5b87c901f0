"""Names for intermediate results: the letters of the formulation, read off its own variables while it runs.

A formulation knows nothing of this. While it is traced, every new value of a local variable gives its nodes the
variable's name, the number of the body and the component: ``w2x``, ``F3y``; and the tag of the line that made it.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from .. import formulations
from ..formulations.regressor import ELEMENTS
from ..program.graph import Node
from ..spatial import ArticulatedInertia, Force, Inertia, Matrix, Motion, Pose, Symmetric, Vector
from .symbols import Visit

FOLDER = str(Path(formulations.__file__).parent)
TAG = re.compile(r"#\s*(\([\w.', ]+\)(?:[ ,]*\([\w.', ]+\))*)\s*$")
LETTERS = {"jw_i": "wi", "if_j": "fi", "velocity": "V", "body": "Ic"}  # in place of some variables' names
SYMMETRIC = ("xx", "xy", "xz", "yy", "yz", "zz")


def components(value: Any) -> Iterator[tuple[str, str, Any]]:
    """The scalars in a value: letters that take the place of the variable's name, if any; what stands behind the
    body's number; the scalar."""
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
    """While it is entered, ``named(node, name, tag)`` is called for what formulations put into their variables."""

    def __init__(self, visit: Visit, named: Callable[[Node, str, str], None]):
        self.visit, self.named = visit, named
        self._seen: dict[tuple[int, str, Any], Any] = {}  # frame, variable and key -> its last value
        self._line: dict[int, int] = {}

    def __enter__(self) -> Watch:
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: Any) -> None:
        sys.settrace(self._before)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        wanted = code.co_filename.startswith(FOLDER) and code.co_varnames[:1] == ("model",)
        return self._stepped if wanted and not code.co_filename.endswith("quantities.py") else None

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
        for letters, part, scalar in components(value):
            if isinstance(scalar, Node):
                letters = letters or LETTERS.get(variable) or variable.replace("_", "")
                name = f"{part}R{body}" if variable == "inertia" else f"{letters}{body}{part}"
                self.named(scalar, name, tag[1] if tag else "")
