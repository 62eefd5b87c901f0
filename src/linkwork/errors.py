"""Errors and warnings of linkwork. A message says what is wrong, where, what was given and expected, and the fix."""

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

COMMAND_LINE: ContextVar[bool] = ContextVar("COMMAND_LINE", default=False)  # whether a command is running
LONGEST, LONGEST_PART = 2000, 440  # characters of a message, and of each of its parts
LOCK = "linkwork.load(..., lock={joint: position})", "--lock JOINT=POSITION"  # in Python, as a command


class LinkworkError(Exception):
    """Base of all linkwork errors; ``str(error)`` says what is wrong, where, and how to fix it.

    Texts from files may be long or contain control characters, so they are cut and made printable here.

    Args:
        message: What is wrong.
        where: File, joint, argument or option.
        got: The value that was found.
        expected: What is allowed.
        fix: What to do.

    Example:
        >>> try:
        ...     linkwork.load("pandas")
        ... except linkwork.LinkworkError as error:
        ...     print(error.fix)
        did you mean 'panda'?
    """

    def __init__(self, message: str, *, where: str = "", got: object = None, expected: str = "", fix: str = ""):
        where = short(where)
        self.where, self.got, self.expected, self.fix = where, got, expected, fix
        parts = {"got": got, "expected": expected or None, "fix": fix or None}
        self.details = {name: short(value) for name, value in parts.items() if value is not None}
        before, after = f"{where}: " if where else "", "".join(f"\n  {k}: {x}" for k, x in self.details.items())
        self.message = short(message, LONGEST - len(before) - len(after))
        super().__init__(before + self.message + after)

    def __reduce__(self):  # errors are sent between processes
        return _restore, (type(self), self.args, self.__dict__)


class ModelError(LinkworkError):
    """A robot description that cannot be used: a bad file, tree or inertia.

    Attributes:
        findings: Each of its mistakes, if there are several.
    """

    findings: tuple[Any, ...] = ()


class ShapeError(LinkworkError, ValueError):
    """An argument whose shape or type does not fit the function."""


class UnsupportedError(LinkworkError):
    """Something that linkwork, or the chosen method, does not support; the message says what does."""


class DivergedError(LinkworkError):
    """A simulated motion that diverged: a value became NaN or infinite.

    Attributes:
        step, time: Step and time in s at which it diverged.
        sample: Index of the sample in a batch.
        q, v: The last finite state.
    """

    def __init__(self, message: str, *, where: str, got: str, fix: str, **state: Any):
        super().__init__(message, where=where, got=got, fix=fix)
        self.sample, self.step, self.time = state["sample"], state["step"], state["time"]
        self.q, self.v = state["q"], state["v"]


class SymbolsWarning(UserWarning):
    """Printed equations have generic symbols for their intermediate results, not those of the paper."""


class ModelWarning(UserWarning):
    """A robot file is not used exactly as written: the dynamics differs from it, or its XML has mistakes.

    ``linkwork check`` reports the same.
    """


class SimulationWarning(UserWarning):
    """A simulated motion that may be wrong; the notes of its trajectory have the same text."""


class IdentificationWarning(UserWarning):
    """A fit, or its data, that may be wrong; the notes of the fit have the same text."""


class UnknownNameError(LinkworkError, KeyError):
    """A name (joint, frame, method, robot, ...) that does not exist; the message suggests the nearest one.

    Attributes:
        known: All names that exist, sorted.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = ""):
        self.known = sorted(known)
        super().__init__(
            f"there is no {kind} {short(name)!r}",
            where=where,
            expected=one_of(str(name), self.known, kind, at_door("; `known` of this error lists all", "")),
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
    """Return one name, or several, as a tuple; raise an error for anything else."""
    names = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    if not all(isinstance(name, str) for name in names):
        raise ShapeError("these are not names", where=where, got=repr(value)[:80], expected='"name", or a list of them')
    return names


def require_mapping(value: Any, where: str, expected: str) -> None:
    """Raise an error unless the value is a dict."""
    if not isinstance(value, Mapping):
        raise ShapeError("this is not a dict", where=where, got=repr(value)[:80], expected=expected)


def require_memory(numbers: int) -> None:
    """Raise MemoryError if this many numbers of 8 bytes do not fit into memory, before any is allocated."""
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else sys.maxsize
    if 8 * numbers > installed:
        raise MemoryError(f"{8e-9 * numbers:,.3g} GB at least, on a machine with {1e-9 * installed:,.3g} GB")


@contextmanager
def memory_reported(what: str, *, where: str = "", fix: str = "") -> Iterator[None]:
    """Turn a MemoryError into an error that names what was too large."""
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


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 joint", "2 joints"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def at_door(python: str, command: str) -> str:
    """Return advice as the user types it: ``python``, or ``command`` if the command line is running."""
    return command if COMMAND_LINE.get() else python


def option_at_door(name: str) -> str:
    """Return an option as the user names it: ``name`` in Python, ``--name`` on the command line."""
    return at_door(name, f"--{name.replace('_', '-')}")


def method_at_door(name: str) -> str:
    """Return how a user chooses a method, in Python or on the command line."""
    return at_door(f"method={name!r}", f"--method {name}")


def one_of(name: str, known: Sequence[str], kind: str = "name", others: str = "") -> str:
    """Return a list of the known names; if they are too many, those most like ``name``, and ``others``."""
    names = ", ".join(known[:100])
    if len(known) <= 100 and len(names) <= LONGEST_PART - 20:
        return f"one of: {names}" if known else f"there are no {kind}s here"
    close = _close(name, known, 10, 0.0) or known[:10]
    return f"one of {len(known)}, such as: {short(', '.join(close), 200)}{others}"


def perhaps(name: str, known: Sequence[str]) -> str:
    """Return a question with the name that may have been meant, or nothing if none is near."""
    near = _close(name, known, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else ""


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a fix for an unknown name: the nearest known name, or all of them."""
    known = list(names)
    return perhaps(name, known) or f"use {one_of(name, known)}"


def _close(name: str, known: Sequence[str], count: int, cutoff: float) -> list[str]:
    """Return the nearest names. The comparison is slow, so long lists and long names are skipped."""
    if len(name) > 200 or len(known) > 2000:
        return []
    return get_close_matches(name, [each for each in known if len(each) <= 200], n=count, cutoff=cutoff)


def _restore(kind: type[LinkworkError], args: tuple[str], state: dict) -> LinkworkError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


def short(value: object, longest: int = LONGEST_PART) -> str:
    """Return a printable text; of a long one the beginning and the end."""
    text = printable(value, keep="\n\t")
    half = longest // 2 - 3
    return text if len(text) <= longest else f"{text[:half]} ... {text[-half:]}"
