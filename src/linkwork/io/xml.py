"""Reader of XML that is not trusted: no document types, no entities, limited sizes, and errors that name the place.

Prefixes are stripped from tags and need not be declared, since robot files often use undeclared ``drake:`` or
``xacro:``. Mistakes that other readers of robot files accept are repaired (see ``xml_repair``); the root lists them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from ..errors import ModelError, counted
from ..model.description import Finding
from .other_formats import OTHERS
from .xml_repair import AFTER, BEFORE_DECLARATION, BLANK, repaired

MAXIMUM_DEPTH = 100
MAXIMUM_PARTS = 100_000  # elements and attributes: half a second of reading; large robots have some thousands
LONGEST_NAME = 100  # characters of a tag or an attribute
LONGEST_TEXT = 1000  # characters of an attribute that is read: a name, or a few numbers
# float() would also take "nan", "1_000" and digits of other alphabets.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


@dataclass(eq=False)
class Element:
    """One element: its tag without prefix, its attributes, text and children, and its place in the file."""

    tag: str
    prefix: str
    attributes: dict[str, str]
    line: int
    source: str
    parent: Element | None
    texts: list[str] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)
    mistakes: list[tuple[str, str]] = field(default_factory=list)  # repaired in the XML of a root: place, message

    @property
    def where(self) -> str:
        """The place for messages, such as ``arm.urdf: line 12: joint 'elbow' <limit>``."""
        owner = self
        while owner.parent and not (owner.attributes.get("name") and owner.parent.parent is None):
            owner = owner.parent
        name = owner.attributes.get("name")
        name = f"{owner.tag} {brief(name)}" if name else f"<{owner.tag}>"
        inside = "" if owner is self else f" <{self.tag}>"
        return f"{place(self.source, self.line)}: {name}{inside}"

    def fail(self, message: str, got: object = None, expected: str = "", fix: str = "") -> NoReturn:
        raise ModelError(message, where=self.where, got=got, expected=expected, fix=fix)

    def all(self, *tags: str) -> list[Element]:
        return [child for child in self.children if child.tag in tags]

    def child(self, *tags: str) -> Element | None:
        return next((child for child in self.children if child.tag in tags), None)

    def required(self, tag: str, example: str) -> Element:
        child = self.child(tag)
        if child is None:
            self.fail(f"<{tag}> is missing", expected=example, fix=f"add {example}")
        return child

    def walk(self) -> Iterator[Element]:
        pending: list[Element] = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(element.children)

    def attribute(self, name: str) -> str:
        """Return the text of a required attribute."""
        text = self.attributes.get(name)
        if not text:
            got, fix = (
                f"attributes {', '.join(sorted(self.attributes)[:20]) or 'none'}",
                f"add {name!r} to <{self.tag}>",
            )
            self.fail(f"attribute {name!r} is missing or empty", got, f'<{self.tag} {name}="...">', fix)
        if len(text) > LONGEST_TEXT:
            expected, fix = f"at most {LONGEST_TEXT} characters", "check how the file was made"
            self.fail(f"attribute {name!r} is too long", brief(text), expected, fix)
        return text

    def numbers(self, name: str, size: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Return an attribute of ``size`` finite numbers separated by spaces; required without a default."""
        if default is not None and name not in self.attributes:
            return default
        words = self.attribute(name).split()
        if len(words) != size:
            message = f"attribute {name!r} has {counted(len(words), 'number')}"
            expected = f"{counted(size, 'number')} separated by spaces"
            fix = "write decimal points, not commas, and every number" if size > 1 else "write one number"
            self.fail(message, brief(self.attributes[name]), expected, fix)
        return tuple(self.parsed(word, f"attribute {name!r}") for word in words)

    def number(self, name: str, default: float | None = None, *, infinite: bool = False) -> float:
        """Return an attribute of one number, which may be infinite only if ``infinite``."""
        if infinite and INFINITY.fullmatch(self.attributes.get(name, "").strip()):
            return float(self.attributes[name])
        return self.numbers(name, 1, None if default is None else (default,))[0]

    def value(self) -> float:
        """Return the number in ``<tag value="1"/>`` or ``<tag>1</tag>``."""
        if "value" in self.attributes:
            return self.number("value")
        return self.parsed("".join(self.texts).strip(), "the text")

    def parsed(self, word: str, label: str) -> float:
        """Return a word as a finite number; ``label`` names it in messages."""
        number = float(word) if NUMBER.fullmatch(word) else math.nan
        if not math.isfinite(number):
            fix = OTHERS[".xacro"][1] if "${" in word else "write the number in full"
            self.fail(f"{label} is not a finite number", brief(word), "a number such as -1.5 or 2e-3", fix)
        return number


def brief(text: str) -> str:
    """Quote a text for a message, shortened if it is long."""
    return repr(text) if len(text) <= 80 else f"{text[:60]!r}... ({len(text)} characters)"


def parse_xml(text: str | bytes, source: str = "") -> Element:
    """Return the root element of a document. Refuses document types and entities before they can expand."""
    try:
        data = text.encode("utf-8") if isinstance(text, str) else text
        encoding = "utf-8" if isinstance(text, str) else None
        blank = BEFORE_DECLARATION.match(data[:LONGEST_TEXT].decode("utf-8", "replace"))
        before = blank.group() if blank else ""
        data, mistakes = data[len(before.encode()) :], [(1, BLANK)] if before else []
        parsing = _Parsing(source, before.count("\n"))
        try:
            parsing.run(data, encoding)
        except expat.ExpatError as error:
            if parsing.ended:
                mistakes.append((error.lineno + parsing.before, AFTER))
            else:
                parsing, repairs = _repaired(data, error, parsing)
                mistakes += repairs
    except (LookupError, ValueError) as error:  # an encoding unknown to Python, or lone surrogates
        raise ModelError(
            f"the text cannot be decoded: {error}", where=source, expected="UTF-8", fix="save the file as UTF-8"
        ) from None
    root = parsing.top.children[0]
    root.mistakes = [(place(source, line), mistake) for line, mistake in mistakes]
    return root


def _repaired(data: bytes, error: expat.ExpatError, first: _Parsing) -> tuple[_Parsing, list[tuple[int, str]]]:
    """Parse again without the mistakes that can be repaired, and list them with their lines."""
    try:
        text, mistakes = repaired(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _syntax_error(error, data, first, ", and save it as UTF-8") from None
    again = _Parsing(first.source, first.before)
    try:
        again.run(text.encode(), "utf-8")
    except expat.ExpatError as other:
        if not again.ended:
            raise _syntax_error(other, data, first) from None
        mistakes.append((other.lineno, AFTER))
    return again, [(line + first.before, mistake) for line, mistake in mistakes]


class _Parsing:
    """One pass over a document; ``before``: lines that are not passed to the parser."""

    def __init__(self, source: str, before: int):
        self.source, self.before, self.parts = source, before, 0
        self.top = Element("", "", {}, 0, source, None)
        self.stack = [self.top]

    @property
    def ended(self) -> bool:
        """Whether the root element is closed."""
        return bool(self.top.children) and len(self.stack) == 1

    def run(self, data: bytes, encoding: str | None) -> None:
        self.parser = parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self.start, lambda name: self.stack.pop()
        parser.CharacterDataHandler = lambda data: self.stack[-1].texts.append(data)
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self.refuse
        parser.Parse(data, True)

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber + self.before

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.parts += 1 + len(attributes)
        too_much = (
            f"elements nest deeper than {MAXIMUM_DEPTH} levels"
            if len(self.stack) > MAXIMUM_DEPTH
            else f"there are more than {MAXIMUM_PARTS} elements and attributes"
            if self.parts > MAXIMUM_PARTS
            else f"a name is longer than {LONGEST_NAME} characters"
            if any(len(each) > LONGEST_NAME for each in (name, *attributes))
            else ""
        )
        if too_much:
            got, expected = f"<{name[:LONGEST_NAME]}>", "a robot description, which needs far less"
            self.fail(too_much, got, expected, "check how the file was made")
        prefix, _, tag = name.rpartition(":")
        parent = self.stack[-1] if len(self.stack) > 1 else None
        element = Element(tag, prefix, attributes, self.line, self.source, parent)
        self.stack[-1].children.append(element)
        self.stack.append(element)

    def refuse(self, name: str, *_: object) -> None:
        message = "document types and entities are refused: they can expand without bound or read other files"
        fix = "remove the <!DOCTYPE ...> block, and write values in place of its entities"
        self.fail(message, f"<!DOCTYPE> or <!ENTITY> {brief(name)}", "plain XML elements", fix)

    def fail(self, message: str, got: str, expected: str, fix: str) -> NoReturn:
        raise ModelError(message, where=place(self.source, self.line), got=got, expected=expected, fix=fix)


def repair_warnings(mistakes: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """Yield a warning for each repaired mistake in the XML of a file."""
    fix = "correct the file: other programs refuse it"
    return (Finding("warning", where, each, fix, at_load=True, unread=each == AFTER) for where, each in mistakes)


def place(source: str, line: int) -> str:
    return f"{source}: line {line}" if source else f"line {line}"


def _syntax_error(error: expat.ExpatError, data: bytes, parsing: _Parsing, also: str = "") -> ModelError:
    head = data[:80].decode("utf-8", "replace")
    names = expat.errors
    if not head.strip():
        fix = "the file is empty: check that it was written or downloaded completely"
    elif "<" not in head:
        fix = "give an XML file; this one does not look like XML at all"
    else:
        fix = {
            names.XML_ERROR_NO_ELEMENTS: "the file ends too early: get it again, or close all elements",
            names.XML_ERROR_UNCLOSED_TOKEN: "the file ends too early: get it again, or close all elements",
            names.XML_ERROR_MISPLACED_XML_PI: "remove everything before <?xml ...?>",
            names.XML_ERROR_TAG_MISMATCH: "close every element with its own name",
            names.XML_ERROR_UNDEFINED_ENTITY: "write the character itself, or &amp; for a lone &",
        }.get(expat.ErrorString(error.code), f"correct the file at this place{also}")
    return ModelError(
        f"this is not well-formed XML: {expat.ErrorString(error.code)} in column {error.offset + 1}",
        where=place(parsing.source, error.lineno + parsing.before),
        got=f"a text that begins with {head[:40]!r}",
        expected='XML such as <robot name="arm"> ... </robot>',
        fix=fix,
    )
