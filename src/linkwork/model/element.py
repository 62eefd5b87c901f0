"""Element: a part of a robot whose fields say how it is read, checked and written, and which says what it looks like.

An element is a frozen dataclass. Each of its fields is declared by ``number``, ``numbers`` or ``ratios``, with its key
in files, unit, default and range; files, checks, tables and pictures follow from these and need not know its kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, NamedTuple

HUGE = 1e100  # beyond this, squares and products overflow


class Fault(NamedTuple):
    """What is wrong with an element, and how to mend it."""

    message: str
    fix: str
    level: str = "error"


@dataclass(frozen=True)
class Rule:
    """What a field may hold: ``form`` is "number", "numbers" or "ratios" (a number for each of some joints).

    Numbers are from ``least`` to ``most``, or above ``least`` if it is ``open``; infinite ones only if that is not
    ``finite``. ``counts``: how many numbers there may be.
    """

    form: str = "number"
    key: str = ""
    unit: str = ""
    least: float = -math.inf
    most: float = math.inf
    open: bool = False
    finite: bool = True
    counts: tuple[int, ...] = ()
    fix: str = ""
    what: str = "a number"  # what is missing, if it is required

    def allows(self, value: Any) -> bool:
        if self.form == "number":
            largest = HUGE if self.finite else math.inf
            above = value > self.least if self.open else value >= self.least
            return bool(above and value <= self.most and (abs(value) < largest or largest == value))
        if self.form == "numbers":
            return len(value) in self.counts and all(self.single.allows(x) for x in value)
        return all(ratio and abs(ratio) < HUGE for _, ratio in value)

    @property
    def single(self) -> Rule:
        """The rule of each number of several."""
        return Rule(least=self.least, most=self.most, open=self.open, finite=self.finite)


def number(default: Any = MISSING, **rule: Any) -> Any:
    """A field that holds one number; required without ``default``. ``rule``: see ``Rule``."""
    return field(default=default, metadata={"rule": Rule("number", **rule)})


def numbers(default: tuple[float, ...], **rule: Any) -> Any:
    """A field that holds several numbers."""
    return field(default=default, metadata={"rule": Rule("numbers", **rule)})


def ratios(**rule: Any) -> Any:
    """A required field that holds a number for each of some joints, as ((joint, ratio), ...)."""
    return field(metadata={"rule": Rule("ratios", **rule)})


class ElementField(NamedTuple):
    """A field of an element: its name in Python, its key in files, its default (MISSING: required) and its rule."""

    name: str
    key: str
    default: Any
    rule: Rule


class Element:
    """The base of elements: frozen dataclasses whose fields have rules."""

    @classmethod
    def declared(cls) -> dict[str, ElementField]:
        """The fields, by their keys in files."""
        listed = [(each, each.metadata["rule"]) for each in fields(cls)]  # type: ignore[arg-type]
        keyed = [ElementField(each.name, rule.key or each.name, each.default, rule) for each, rule in listed]
        return {each.key: each for each in keyed}

    def to_dict(self) -> dict[str, Any]:
        """The values as files write them, by key, without those that are at their defaults."""
        values = self.values()
        return {each.key: values[each.name] for each in self.declared().values() if not self._at_default(each)}

    def values(self) -> dict[str, Any]:
        """All values as plain data, by the names of their fields."""
        return {each.name: _plain(getattr(self, each.name), each.rule) for each in self.declared().values()}

    def _at_default(self, each: ElementField) -> bool:
        return getattr(self, each.name) == each.default

    def faults(self) -> Iterator[Fault]:
        """Values that are out of range."""
        for each in self.declared().values():
            value = getattr(self, each.name)
            if each.rule.form == "ratios":
                for joint, ratio in (pair for pair in value if not each.rule.allows([pair])):
                    yield Fault(f"the ratio of joint {joint!r} is {ratio:g}", each.rule.fix)
            elif not (each.rule.allows(value) or self._at_default(each)):
                yield Fault(f"its {each.name} is {_shown(value)}", each.rule.fix)


def _plain(value: Any, rule: Rule) -> Any:
    return dict(value) if rule.form == "ratios" else list(value) if rule.form == "numbers" else value


def _shown(value: Any) -> str:
    return ", ".join(f"{x:g}" for x in value) if isinstance(value, tuple) else f"{value:g}"
