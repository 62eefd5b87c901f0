"""Notes and warnings about a result, as data: a code, values, and a fix in Python or on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import at_door


@dataclass(frozen=True, eq=False, repr=False)
class Note(str):
    """A statement about a result. As a string it is the text and the fix, after "warning: " for warnings.

    Attributes:
        code: Kind of statement, such as "energy-balance", independent of its values.
        text: The statement with its values; it ends with ":" or ";" if a fix follows.
        fix: What to do in Python.
        command_fix: What to do on the command line, if that differs.
        severity: "note" or "warning"; empty for a note read from a file, which has the string alone.
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

    def __getnewargs__(self) -> tuple[Any, ...]:  # for copies, and between processes
        return self.code, self.text, self.fix, self.command_fix, self.severity

    @property
    def message(self) -> str:
        """The text and the fix, in Python or on the command line, whichever is used."""
        return _message(self.text, self.fix, self.command_fix)


def _message(text: str, fix: str, command_fix: str) -> str:
    fix_text = at_door(fix, command_fix or fix)
    return f"{text} {fix_text}" if fix_text else text
