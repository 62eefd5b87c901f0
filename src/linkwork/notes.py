"""What must be known to read a result, as data: a code, values, and what to do about it in Python or in a shell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import at_door


@dataclass(frozen=True, eq=False, repr=False)
class Note(str):
    """A statement about a result. As a string it is what is printed and kept in files: the text and what to do, after
    "warning: " where it casts doubt.

    Attributes:
        code: Which statement it is, such as "energy-balance", whatever its values are.
        text: The statement with its values; it ends with ":" or ";" where something can be done.
        fix: What to do in Python.
        command_fix: The same on the command line, where it differs.
        severity: "note" or "warning"; empty if the note is from a file, which keeps the string alone.
        values: The numbers in it, by name.
    """

    code: str
    text: str
    fix: str = ""
    command_fix: str = ""
    severity: str = "note"
    values: Mapping[str, Any] = field(default_factory=dict)

    def __new__(
        cls,
        code: str,
        text: str,
        fix: str = "",
        command_fix: str = "",
        severity: str = "note",
        values: Mapping[str, Any] | None = None,
    ) -> Note:
        return str.__new__(cls, ("warning: " if severity == "warning" else "") + _message(text, fix, command_fix))

    def __getnewargs__(self) -> tuple[Any, ...]:  # of copies, and between processes
        return self.code, self.text, self.fix, self.command_fix, self.severity

    @property
    def message(self) -> str:
        """The text and what to do, in Python or on the command line, whichever is used."""
        return _message(self.text, self.fix, self.command_fix)


def _message(text: str, fix: str, command_fix: str) -> str:
    chosen = at_door(fix, command_fix or fix)
    return f"{text} {chosen}" if chosen else text
