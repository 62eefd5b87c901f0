"""Every error linkwork raises on purpose: where it happened, what was got, what was expected, how to fix it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

LISTED = 40  # names, beyond which a message has the closest ones only


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
    """A robot description that cannot be trusted: bad file, bad tree, bad inertia. ``findings``: each of its mistakes,
    where there are several."""

    findings: tuple[Any, ...] = ()


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
    """A name (joint, frame, method, robot, ...) that does not exist; offers the nearest one of ``known``."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = ""):
        self.known = sorted(known)
        more = "; `known` of this error has all" if len(self.known) > LISTED else ""
        super().__init__(
            f"there is no {kind} {name!r}",
            where=where,
            expected=one_of(str(name), self.known) + more if self.known else f"there are no {kind}s here",
            fix=perhaps(str(name), self.known),
        )

    __str__ = Exception.__str__  # KeyError would print the repr of its message


def one_of(name: str, known: Sequence[str]) -> str:
    """The known names, or those most like ``name`` if they are many."""
    if len(known) <= LISTED:
        return f"one of: {', '.join(known)}"
    return f"one of {len(known)} names, such as: {', '.join(_close(name, known, 10, 0.0) or known[:10])}"


def perhaps(name: str, known: Sequence[str]) -> str:
    """A question about the name that may have been meant, if any is near."""
    near = _close(name, known, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else ""


def _close(name: str, known: Sequence[str], count: int, cutoff: float) -> list[str]:
    """Each is compared letter by letter, so long lists and long names are not compared at all."""
    if len(name) > 200 or len(known) > 2000:
        return []
    return get_close_matches(name, [each for each in known if len(each) <= 200], n=count, cutoff=cutoff)


def _restore(kind: type[LinkworkError], args: tuple[str], state: dict) -> LinkworkError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error
