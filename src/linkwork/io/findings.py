"""What a reader reports about a file, and names for what the file leaves unnamed."""

from __future__ import annotations

from ..model.description import Finding


class Findings:
    """Errors and warnings of one file. Equal warnings are reported once, with the first place and their number."""

    def __init__(self):
        self._places: dict[tuple[str, str, str, bool, bool], list[str]] = {}

    def add(
        self, level: str, where: str, message: str, fix: str = "", *, at_load: bool = False, unread: bool = False
    ) -> None:
        self._places.setdefault((level, message, fix, at_load, unread), []).append(where)

    def listed(self) -> list[Finding]:
        findings = []
        for (level, message, fix, *flags), places in self._places.items():
            if level == "warning" and len(places) > 1:
                message += f" (the first of {len(places)} places)"
                del places[1:]
            findings += [Finding(level, where, message, fix, *flags) for where in places]
        return findings


def unused_name(name: str, names: set[str]) -> str:
    """Return the name, with underscores appended until it is not in ``names``, and add it there."""
    while name in names:
        name += "_"
    names.add(name)
    return name
