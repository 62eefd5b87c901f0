"""Every error linkwork raises on purpose: where it happened, what was got, what was expected, how to fix it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

LONGEST, LONGEST_PART = 2000, 400  # characters of all, and of each thing said beside the message
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class LinkworkError(Exception):
    """Base of all linkwork errors. ``str(error)`` is a message a user can act on.

    What comes from files may be of any length and hold anything, so it is cut and made printable here.
    """

    def __init__(self, message: str, *, where: str = "", got: object = None, expected: str = "", fix: str = ""):
        where = _short(where, LONGEST_PART)
        self.where, self.got, self.expected, self.fix = where, got, expected, fix
        told = {"got": got, "expected": expected or None, "fix": fix or None}
        parts = [f"{name}: {_short(value, LONGEST_PART)}" for name, value in told.items() if value is not None]
        message = _short(message, LONGEST - len(where) - sum(map(len, parts)))
        super().__init__("\n  ".join([f"{where}: {message}" if where else message, *parts]))

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
        near = get_close_matches(str(name)[:LONGEST_PART], known, n=1, cutoff=0.5)
        listed = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
        super().__init__(
            f"there is no {kind} {_short(repr(name), LONGEST_PART)}",
            where=where,
            expected=f"one of: {listed}" if known else f"there are no {kind}s here",
            fix=f"did you mean {near[0]!r}?" if near else "",
        )

    __str__ = Exception.__str__  # KeyError would print the repr of its message


def _restore(kind: type[LinkworkError], args: tuple[str], state: dict) -> LinkworkError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


def _short(value: object, longest: int) -> str:
    """As text that can be printed; of what is too long the beginning and the end."""
    text = UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], str(value))
    half = longest // 2 - 3
    return text if len(text) <= longest else f"{text[:half]} ... {text[-half:]}"
