"""Every error linkwork raises on purpose: where it happened, what was got, what was expected, how to fix it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

MANY = 40  # names; of more, the nearest are told


class LinkworkError(Exception):
    """Base of all linkwork errors. ``str(error)`` is a message a user can act on."""

    def __init__(self, message: str, *, where: str = "", got: object = None, expected: str = "", fix: str = ""):
        self.where, self.got, self.expected, self.fix = where, got, expected, fix
        parts = [f"{where}: {message}" if where else message]
        if got is not None:
            parts.append(f"got: {got}")
        if expected:
            parts.append(f"expected: {expected}")
        if fix:
            parts.append(f"fix: {fix}")
        super().__init__("\n  ".join(parts))

    def __reduce__(self):  # errors travel between processes
        return _restore, (type(self), self.args, self.__dict__)


class ModelError(LinkworkError):
    """A robot description that cannot be trusted: bad file, bad tree, bad inertia."""


class ShapeError(LinkworkError, ValueError):
    """An argument whose shape or type does not fit the function."""


class UnsupportedError(LinkworkError):
    """A thing linkwork, or the chosen method, does not do; says what does."""


class DivergedError(LinkworkError):
    """A simulated motion that left the numbers: ``step``, ``time``, ``sample`` (of a batch) and the last state there
    is, ``q`` and ``v``."""

    def __init__(self, message: str, *, where: str, got: str, fix: str, **state: Any):
        super().__init__(message, where=where, got=got, fix=fix)
        self.sample, self.step, self.time = state["sample"], state["step"], state["time"]
        self.q, self.v = state["q"], state["v"]


class UnknownNameError(LinkworkError, KeyError):
    """A name (joint, frame, method, robot, ...) that does not exist; offers the nearest one."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = ""):
        known = sorted(known)
        near = get_close_matches(str(name), known, n=1, cutoff=0.5)
        listed = f"one of: {', '.join(known)}"
        if len(known) > MANY:
            listed = (
                f"one of {len(known)}, the nearest: {', '.join(get_close_matches(str(name), known, n=10, cutoff=0))}"
            )
        super().__init__(
            f"there is no {kind} {name!r}",
            where=where,
            expected=listed if known else f"there are no {kind}s here",
            fix=f"did you mean {near[0]!r}?" if near else "",
        )

    __str__ = Exception.__str__  # KeyError would print the repr of its message


def _restore(kind: type[LinkworkError], args: tuple[str], state: dict) -> LinkworkError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error
