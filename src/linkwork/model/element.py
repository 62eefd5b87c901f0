"""Element: a part of a robot whose fields declare how they are read, checked and written.

An element is a dataclass. Each of its fields is declared with a rule (``number``, ``numbers``, ``choice`` ...): its key
in files, unit, default and range. Readers, checks, writers and tables follow from the rules and need not know the kind.
Constraints, drives, friction laws, force laws and materials of links are elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ..errors import ModelError, at_door, nearest

E = TypeVar("E", bound="Element")
HUGE = 1e100  # beyond this, squares and products overflow


class Fault(NamedTuple):
    """What is wrong with an element, and how to fix it."""

    message: str
    fix: str
    level: str = "error"


class Mark(NamedTuple):
    """How an element is drawn; an empty ``shape`` is not drawn.

    Shapes of constraints: "ring" where a loop is cut, "rim" of a wheel, "pair" of small wheels, "point", "ball" and
    "sole" in x and y of its frame. Shapes of force laws: "rim" of a tyre, "propeller", "nozzle" and "spring".
    ``size``: the radius of a rim, the length and width of a sole, in m; the direction of a nozzle's force.
    """

    shape: str = ""
    size: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a field may hold. Subclasses are the types of values.

    key        in files; default: the field's name
    words      name in messages and tables; default: the field's name
    unit       one unit, or two: for revolute and for prismatic joints
    what       what to write when a required value is missing
    fix        how to fix a value that is out of range; default: write what is expected
    because    why a value below the range is wrong
    level      of a finding about a number out of range; a value that is not a number is always an error
    parameter  its name in the regressor, if forces are linear in it
    written    whether files give it under its key
    switch     whether zero selects another law, so that zero cannot be replaced by other numbers later
    built_in   whether it is never an input: it selects equations, or no equation has it
    """

    key: str = ""
    words: str = ""
    unit: str | tuple[str, str] = ""
    what: str = "a number"
    fix: str = ""
    because: str = ""
    level: str = "error"
    parameter: str = ""
    written: bool = True
    switch: bool = False
    built_in: bool = False

    @property
    def expected(self) -> str:
        """The allowed values in words."""
        raise NotImplementedError

    def allows(self, value: Any) -> bool:
        """Whether a converted value is in range."""
        del value
        return True

    def convert(self, value: Any) -> Any:
        """Return the value in this rule's type; raises TypeError or ValueError if that is impossible."""
        return value

    def plain(self, value: Any) -> Any:
        """Return the value as files write it."""
        return value

    def read(self, reader: Any, node: Any) -> Any:
        """Return the value of a node of a file."""
        raise NotImplementedError

    def parts(self, value: Any) -> dict[str, Any]:
        """Return those numbers of a value that may be others, by name; the name of a single number is empty."""
        del value
        return {}

    def joined(self, value: Any, numbers: Sequence[Any]) -> Any:
        """Return ``value`` with other numbers in place of its ``parts``."""
        raise NotImplementedError

    def faults(self, label: str, value: Any) -> Iterator[Fault]:
        """Yield what is wrong with a value; ``label`` is its name in messages."""
        if not self.allows(value):
            yield Fault(f"{label} is {_shown(value)}", self.fix or f"write {self.expected}")


@dataclass(frozen=True, kw_only=True)
class Number(Rule):
    """A number from ``least`` to ``most``, or above ``least`` if ``open``; infinite only if not ``finite``.

    It may be an array with one number for each sample. ``among``: the only values allowed.
    """

    least: float = -math.inf
    most: float = math.inf
    open: bool = False
    finite: bool = True
    among: tuple[float, ...] = ()

    @property
    def expected(self) -> str:
        if self.among:
            return " or ".join(f"{x:g}" for x in self.among)
        return f"a {'finite ' * self.finite}number{self.range}"

    @property
    def range(self) -> str:
        """The range in words, to follow "number" or "numbers"."""
        least = f"{self.least:g}" if self.least else "zero"
        if self.most < math.inf:
            return f" {'above' if self.open else 'from'} {least} {'and at most' if self.open else 'to'} {self.most:g}"
        return "" if self.least == -math.inf else f" above {least}" if self.open else f", {least} or more"

    def each(self) -> Number:
        """Return the rule of one of its numbers."""
        return Number(**{each.name: getattr(self, each.name) for each in fields(Number)})

    def parts(self, value: Any) -> dict[str, Any]:
        return {} if self.among else {"": value}

    def joined(self, value: Any, numbers: Sequence[Any]) -> Any:
        (number,) = numbers
        return number

    def is_number(self, value: Any) -> bool:
        """Whether a value is a number at all, in range or not."""
        return bool(np.all(abs(value) < HUGE if self.finite else value == value))

    def allows(self, value: Any) -> bool:
        above = value > self.least if self.open else value >= self.least
        among = not self.among or value in self.among
        return self.is_number(value) and among and bool(np.all(above & (value <= self.most)))

    def convert(self, value: Any) -> float:
        if isinstance(value, str):
            raise TypeError
        return float(value)

    def plain(self, value: Any) -> Any:
        return float(value)

    def read(self, reader: Any, node: Any) -> Any:
        return reader.number(node, self.finite)

    def faults(self, label: str, value: Any) -> Iterator[Fault]:
        if self.allows(value):
            return
        fix = self.fix or f"write {self.expected}"
        if not self.is_number(value):
            wrong = next(x for x in np.ravel(value) if not self.is_number(x))
            yield Fault(f"{label} is not {'finite' if self.finite else 'a number'}: {wrong:g}", fix)
            return
        below, unit = np.min(value) < self.least, f" {self.unit}" if isinstance(self.unit, str) and self.unit else ""
        negative = "negative: " if below and not self.least else ""
        because = f"; {self.because}" if below and self.because else ""
        wrong = np.min(value) if below or self.open else np.max(value)
        yield Fault(f"{label} is {negative}{wrong:g}{unit}{because}", fix, self.level)


class Whole(Number):
    """A whole number in a range."""

    @property
    def expected(self) -> str:
        return f"a whole number{self.range}"

    def parts(self, value: Any) -> dict[str, Any]:
        return {}

    def allows(self, value: Any) -> bool:
        return super().allows(value) and value == int(value)

    def convert(self, value: Any) -> Any:
        return int(value) if float(value).is_integer() else float(value)

    def plain(self, value: Any) -> int:
        return int(value)


@dataclass(frozen=True, kw_only=True)
class Numbers(Number):
    """Several numbers, each in the range. ``counts``: how many there may be, any number if empty. ``nonzero``: not all
    of them are zero, as in a direction."""

    counts: tuple[int, ...] = ()
    nonzero: bool = False

    @property
    def expected(self) -> str:
        counts = f"{' or '.join(map(str, self.counts))} " if self.counts else ""
        return f"{counts}finite numbers{self.range}{', not all zero' * self.nonzero}"

    def parts(self, value: Any) -> dict[str, Any]:
        return dict(zip("xyz" if len(value) == 3 else map(str, range(len(value))), value, strict=True))

    def joined(self, value: Any, numbers: Sequence[Any]) -> Any:
        return tuple(numbers)

    def allows(self, value: Any) -> bool:
        fits = not self.counts or len(value) in self.counts
        return fits and all(super(Numbers, self).allows(x) for x in value) and (not self.nonzero or any(value))

    def convert(self, value: Any) -> Any:
        return tuple(map(float, value))

    def plain(self, value: Any) -> list[float]:
        return list(value)

    def read(self, reader: Any, node: Any) -> tuple[float, ...]:
        if not self.counts:
            return tuple(reader.number(each, self.finite) for each in reader.sequence(node))
        return tuple(reader.numbers(node, *self.counts, finite=self.finite))

    faults = Rule.faults


class Ratio(Number):
    """A number other than zero."""

    def allows(self, value: Any) -> bool:
        return super().allows(value) and bool(np.all(value != 0))

    def faults(self, label: str, value: Any) -> Iterator[Fault]:
        for x in np.ravel(value):
            if not self.allows(x):
                yield Fault(f"{label} is {x:g}", self.fix or "write a finite one, not zero")


class Ratios(Rule):
    """A number for each of some joints, as ((joint, ratio), ...)."""

    def each(self) -> Number:
        """Return the rule of one of its numbers."""
        return Ratio(fix=self.fix)

    def parts(self, value: Any) -> dict[str, Any]:
        return dict(value)

    def joined(self, value: Any, numbers: Sequence[Any]) -> Any:
        return tuple(zip(dict(value), numbers, strict=True))

    def plain(self, value: Any) -> dict[str, float]:
        return dict(value)

    def read(self, reader: Any, node: Any) -> tuple[tuple[str, float], ...]:
        return reader.ratios(node)

    def faults(self, label: str, value: Any) -> Iterator[Fault]:
        for joint, ratio in value:
            yield from self.each().faults(f"the ratio of joint {joint!r}", ratio)


@dataclass(frozen=True, kw_only=True)
class Choice(Rule):
    """One of some names."""

    names: tuple[str, ...]

    def read(self, reader: Any, node: Any) -> str:
        return reader.name(node, self.words, self.names)

    def faults(self, label: str, value: Any) -> Iterator[Fault]:
        if value not in self.names:
            yield Fault(f"there is no {self.words} {value!r}", nearest(str(value), self.names))


def declare(rule: Rule, default: Any = MISSING) -> Any:
    """Declare a field with a rule; required without ``default``."""
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata={"rule": rule})
    return field(default=default, metadata={"rule": rule})


def number(default: Any = MISSING, **rule: Any) -> Any:
    """Declare a field that holds one number. ``rule``: see ``Rule`` and ``Number``."""
    return declare(Number(**rule), default)


def positive(default: Any = MISSING, **rule: Any) -> Any:
    """Declare a field that holds one number above zero."""
    return declare(Number(least=0, open=True, **rule), default)


def whole(default: Any = MISSING, **rule: Any) -> Any:
    """Declare a field that holds a whole number."""
    return declare(Whole(**rule), default)


def numbers(default: Any = MISSING, **rule: Any) -> Any:
    """Declare a field that holds several numbers."""
    return declare(Numbers(**rule), default)


def ratios(**rule: Any) -> Any:
    """Declare a required field that holds a number for each of some joints, as ((joint, ratio), ...)."""
    return declare(Ratios(**rule))


def choice(default: str, names: tuple[str, ...], **rule: Any) -> Any:
    """Declare a field that holds one of some names."""
    return declare(Choice(names=names, **rule), default)


class ElementField(NamedTuple):
    """A field of an element: its name in Python, its key in files, its default (MISSING: required) and its rule."""

    name: str
    key: str
    words: str
    default: Any
    rule: Rule


class Entry(NamedTuple):
    """A number of an element: its name, value and rule."""

    name: str
    value: Any
    rule: Number


class Element:
    """The base of elements: dataclasses whose fields have rules.

    ``elements``: the parameters that forces are linear in, as the regressor names them -> their fields.
    ``option``: the option of the command line that gives its values, if there is one.
    """

    elements: ClassVar[Mapping[str, str]] = {}
    option: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        rules = {name: each.metadata.get("rule") for name, each in vars(cls).items() if isinstance(each, Field)}
        cls.elements = {
            **cls.elements,
            **{rule.parameter: name for name, rule in rules.items() if rule is not None and rule.parameter},
        }

    @classmethod
    @cache
    def declared(cls) -> dict[str, ElementField]:
        """Return the fields that have rules.

        Returns:
            key in files -> field.
        """
        result = {}
        for each in fields(cls):  # type: ignore[arg-type]
            if rule := each.metadata.get("rule"):
                key, words = rule.key or each.name, rule.words or each.name.replace("_", " ")
                default = each.default if each.default_factory is MISSING else each.default_factory()
                result[key] = ElementField(each.name, key, words, default, rule)
        return result

    @classmethod
    def keys(cls) -> list[str]:
        """Return the keys under which files give its values.

        Returns:
            The keys.
        """
        return [key for key, each in cls.declared().items() if each.rule.written]

    @property
    def mark(self) -> Mark:
        """How it is drawn; default: not at all."""
        return Mark()

    def to_dict(self) -> dict[str, Any]:
        """Return the values as files write them, without those that are at their defaults.

        Returns:
            key -> value.
        """
        values = self.values()
        written = (each for each in self.declared().values() if each.rule.written and not self._at_default(each))
        return {each.key: values[each.name] for each in written}

    def values(self) -> dict[str, Any]:
        """Return all values as plain data.

        Returns:
            name of the field -> value.
        """
        return {each.name: each.rule.plain(getattr(self, each.name)) for each in self.declared().values()}

    def number_fields(self) -> Iterator[ElementField]:
        """Iterate over the fields that may hold other numbers, also traced ones, without a change of structure.

        Returns:
            The fields.
        """
        for each in self.declared().values():
            rule, value = each.rule, getattr(self, each.name)
            if rule.written and not rule.built_in and rule.parts(value) and (not rule.switch or value):
                yield each

    def entries(self) -> list[Entry]:
        """Return the numbers of ``number_fields``.

        Returns:
            The numbers, in the order in which ``with_entries`` takes others.
        """
        return [
            Entry(".".join(filter(None, (each.key, part))), x, each.rule.each())  # type: ignore[attr-defined]
            for each in self.number_fields()
            for part, x in each.rule.parts(getattr(self, each.name)).items()
        ]

    def with_entries(self: E, numbers: Iterator[Any]) -> E:
        """Return the same element with other numbers, of any scalar, without checks.

        Args:
            numbers: in the order of ``entries``; as many as these are taken.

        Returns:
            The element.
        """
        values = {}
        for each in self.number_fields():
            value = getattr(self, each.name)
            values[each.name] = each.rule.joined(value, [next(numbers) for _ in each.rule.parts(value)])
        return self.with_numbers(values)

    def with_numbers(self: E, values: Mapping[str, Any]) -> E:
        """Return the same element with other numbers, of any scalar, without checks.

        Args:
            values: by field.

        Returns:
            The element.
        """
        new = object.__new__(type(self))
        new.__dict__.update({each.name: getattr(self, each.name) for each in fields(self)})  # type: ignore[arg-type]
        new.__dict__.update(values)
        return new

    def _at_default(self, each: ElementField) -> bool:
        value = getattr(self, each.name)
        return not isinstance(value, np.ndarray) and value == each.default

    def faults(self, label: str = "its") -> Iterator[Fault]:
        """Iterate over what is wrong with its values.

        Args:
            label: what stands before the name of a value in messages.

        Returns:
            The faults.
        """
        for each in self.declared().values():
            value = getattr(self, each.name)
            for fault in each.rule.faults(f"{label} {each.words}", value):
                if not self._at_default(each):
                    yield fault

    def convert(self) -> None:
        """Convert all values to the types of their rules.

        Raises:
            ModelError: for the first value that is out of range.
        """
        for each in self.declared().values():
            self.require(each)

    def require(self, each: ElementField) -> None:
        """Convert one value to the type of its rule.

        Args:
            each: the field.

        Raises:
            ModelError: if the value is out of range.
        """
        value = getattr(self, each.name)
        try:
            converted = each.rule.convert(value)
            fits = self._at_default(each) or each.rule.allows(converted)
        except (TypeError, ValueError):
            converted, fits = value, False
        if not fits:
            field_name = f"{type(self).__name__}.{each.name}"
            where = at_door(field_name, self.option or field_name)
            got = repr(value) if isinstance(value, str) else value
            raise ModelError("out of range", where=where, got=got, expected=each.rule.expected, fix=each.rule.fix)
        object.__setattr__(self, each.name, converted)

    @property
    def parameters(self) -> dict[str, Any]:
        """Values by the regressor's names."""
        return {parameter: getattr(self, name) for parameter, name in self.elements.items()}

    def with_parameters(self: E, values: Mapping[str, Any]) -> E:
        """Return the same element with other values of parameters.

        Args:
            values: by the regressor's names; those that it does not have are left out.

        Returns:
            The element.
        """
        changes: Any = {self.elements[parameter]: x for parameter, x in values.items() if parameter in self.elements}
        return replace(self, **changes)  # type: ignore[type-var]


def _shown(value: Any) -> str:
    return ", ".join(f"{x:g}" for x in value) if isinstance(value, tuple) else f"{value:g}"
