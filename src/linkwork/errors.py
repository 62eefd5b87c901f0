"""Every error linkwork raises on purpose: where it happened, what was got, what was expected, how to fix it."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from .quoting import printable

COMMAND_LINE: ContextVar[bool] = ContextVar("COMMAND_LINE", default=False)  # whether messages are for its users
LONGEST, LONGEST_PART = 2000, 440  # characters of all, and of each part of a message
LOCK = "linkwork.load(..., lock={joint: position})", "--lock JOINT=POSITION"  # for ``at_door``


class LinkworkError(Exception):
    """Base of all linkwork errors. ``str(error)`` is a message a user can act on.

    What comes from files may be of any length and hold anything, so it is cut and made printable here.
    """

    def __init__(self, message: str, *, where: str = "", got: object = None, expected: str = "", fix: str = ""):
        where = short(where)
        self.where, self.got, self.expected, self.fix = where, got, expected, fix
        told = {"got": got, "expected": expected or None, "fix": fix or None}
        self.details = {name: short(value) for name, value in told.items() if value is not None}
        before, after = f"{where}: " if where else "", "".join(f"\n  {k}: {x}" for k, x in self.details.items())
        self.message = short(message, LONGEST - len(before) - len(after))
        super().__init__(before + self.message + after)

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


class SymbolsWarning(UserWarning):
    """Printed equations lack the letters of their intermediate results."""


class ModelWarning(UserWarning):
    """A robot file that is not taken as it stands: the dynamics differs from what it says, or its XML had mistakes.
    ``linkwork check`` says the same."""


class SimulationWarning(UserWarning):
    """A motion that is not to be trusted as it is; its trajectory's notes say the same."""


class IdentificationWarning(UserWarning):
    """A fit, or its data, that is not to be trusted as it is; the fit's notes say the same."""


class UnknownNameError(LinkworkError, KeyError):
    """A name (joint, frame, method, robot, ...) that does not exist; offers the nearest one of ``known``."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = ""):
        self.known = sorted(known)
        super().__init__(
            f"there is no {kind} {short(name)!r}",
            where=where,
            expected=one_of(str(name), self.known, kind, at_door("; `known` of this error has all", "")),
            fix=perhaps(str(name), self.known),
        )

    __str__ = Exception.__str__  # KeyError would print the repr of its message


def missing_package(
    package: str, command: str, feature: str, *, where: str = "", otherwise: str = ""
) -> UnsupportedError:
    """Return the error for a feature whose optional package is missing, with the command that installs it."""
    fix = f"{command}, or {otherwise}" if otherwise else command
    return UnsupportedError(f"{feature} needs {package}, which is not installed", where=where, fix=fix)


def import_optional(module: str, extra: str, feature: str, *, where: str = "", otherwise: str = "") -> Any:
    """Import the module of an optional package; ``extra``: the extra of linkwork that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        command, package = f"pip install 'linkwork[{extra}]'", module.partition(".")[0]
        raise missing_package(package, command, feature, where=where, otherwise=otherwise) from error


def names_of(value: Any, where: str) -> tuple[str, ...]:
    """A name, or several."""
    names = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    if not all(isinstance(name, str) for name in names):
        raise ShapeError("these are not names", where=where, got=repr(value)[:80], expected='"name", or several')
    return names


def require_mapping(value: Any, where: str, expected: str) -> None:
    if not isinstance(value, Mapping):
        raise ShapeError("this is not a dict by name", where=where, got=repr(value)[:80], expected=expected)


def require_memory(numbers: int) -> None:
    """Raise MemoryError if so many numbers of 8 bytes are more than the machine holds, before any is allocated."""
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else sys.maxsize
    if 8 * numbers > installed:
        raise MemoryError(f"{8e-9 * numbers:,.3g} GB at least, on a machine with {1e-9 * installed:,.3g} GB")


@contextmanager
def memory_reported(what: str, *, where: str = "", fix: str = "") -> Iterator[None]:
    """Turn a MemoryError into one that says what was too large."""
    try:
        yield
    except MemoryError as error:
        raise LinkworkError(f"{what} do not fit into memory", where=where, got=error, fix=fix) from error


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's code that called linkwork."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "linkwork":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def at_door(python: str, command: str) -> str:
    """What a user types: in ``python``, or as options of a ``command`` where the command line is used."""
    return command if COMMAND_LINE.get() else python


def method_at_door(name: str) -> str:
    return at_door(f"method={name!r}", f"--method {name}")


def one_of(name: str, known: Sequence[str], kind: str = "name", others: str = "") -> str:
    """The known names; if they are too many for a message, those most like ``name`` and where the ``others`` are."""
    listed = ", ".join(known[:100])
    if len(known) <= 100 and len(listed) <= LONGEST_PART - 20:
        return f"one of: {listed}" if known else f"there are no {kind}s here"
    close = _close(name, known, 10, 0.0) or known[:10]
    return f"one of {len(known)}, such as: {short(', '.join(close), 200)}{others}"


def perhaps(name: str, known: Sequence[str]) -> str:
    """A question about the name that may have been meant, if any is near."""
    near = _close(name, known, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else ""


def nearest(name: str, names: Iterable[str]) -> str:
    """A fix for a name that is unknown: the one that may have been meant, or all that are known."""
    known = list(names)
    return perhaps(name, known) or f"use {one_of(name, known)}"


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


def short(value: object, longest: int = LONGEST_PART) -> str:
    """As text that can be printed; of what is too long the beginning and the end."""
    text = printable(value, keep="\n\t")
    half = longest // 2 - 3
    return text if len(text) <= longest else f"{text[:half]} ... {text[-half:]}"
