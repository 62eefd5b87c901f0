"""XML read with distrust: no document types, no entities, bounds to all sizes, and every complaint says where.

Prefixes are stripped from tags and need not be declared, since robot files often use ``drake:`` or ``xacro:`` without
doing so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from ..errors import ModelError

MAXIMUM_DEPTH = 100
MAXIMUM_PARTS = 100_000  # elements and attributes: half a second of reading; large robots have some thousands
LONGEST_NAME = 100  # of a tag or an attribute
LONGEST_TEXT = 1000  # of an attribute that is read: a name, or a few numbers
BEFORE_DECLARATION = re.compile("\ufeff?[ \t\r\n]+\ufeff?(?=<[?]xml)")
# float() would also take "nan", "1_000" and digits of other alphabets.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
BLANK = "white space stands before <?xml ...?>, where XML allows none"
INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


@dataclass(eq=False)
class Element:
    """One element: its tag without prefix, its attributes, text and children, and where it stands."""

    tag: str
    prefix: str
    attributes: dict[str, str]
    line: int
    source: str
    parent: Element | None
    texts: list[str] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)

    @property
    def where(self) -> str:
        """E.g. ``arm.urdf: line 12: joint 'elbow' <limit>``."""
        owner = self
        while owner.parent and not (owner.attributes.get("name") and owner.parent.parent is None):
            owner = owner.parent
        name = owner.attributes.get("name")
        name = f"{owner.tag} {brief(name)}" if name else f"<{owner.tag}>"
        inside = "" if owner is self else f" <{self.tag}>"
        return f"{place(self.source, self.line)}: {name}{inside}"

    def all(self, *tags: str) -> list[Element]:
        return [child for child in self.children if child.tag in tags]

    def child(self, *tags: str) -> Element | None:
        return next((child for child in self.children if child.tag in tags), None)

    def required(self, tag: str, example: str) -> Element:
        child = self.child(tag)
        if child is None:
            raise ModelError(f"<{tag}> is missing", where=self.where, expected=example, fix=f"add {example}")
        return child

    def walk(self) -> Iterator[Element]:
        pending: list[Element] = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(element.children)

    def attribute(self, name: str) -> str:
        """A text that must be there."""
        text = self.attributes.get(name)
        if not text:
            raise ModelError(
                f"attribute {name!r} is missing or empty",
                where=self.where,
                got=f"attributes {', '.join(sorted(self.attributes)[:20]) or 'none'}",
                expected=f'<{self.tag} {name}="...">',
                fix=f"give <{self.tag}> its {name!r}",
            )
        if len(text) > LONGEST_TEXT:
            raise ModelError(
                f"attribute {name!r} is too long",
                where=self.where,
                got=brief(text),
                expected=f"at most {LONGEST_TEXT} characters",
                fix="check how the file was made",
            )
        return text

    def numbers(self, name: str, size: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """An attribute of ``size`` finite numbers parted by spaces. It must be there unless it has a default."""
        if default is not None and name not in self.attributes:
            return default
        words = self.attribute(name).split()
        if len(words) != size:
            raise ModelError(
                f"attribute {name!r} has {len(words)} numbers",
                where=self.where,
                got=brief(self.attributes[name]),
                expected=f"{size} numbers parted by spaces",
                fix="write decimal points, not commas, and every number" if size > 1 else "write one number",
            )
        return tuple(self.parsed(word, f"attribute {name!r}") for word in words)

    def number(self, name: str, default: float | None = None, *, infinite: bool = False) -> float:
        """An attribute of one number, which may be infinite only on request."""
        if infinite and INFINITY.fullmatch(self.attributes.get(name, "").strip()):
            return float(self.attributes[name])
        return self.numbers(name, 1, None if default is None else (default,))[0]

    def value(self) -> float:
        """A number given as ``<tag value="1"/>`` or as ``<tag>1</tag>``."""
        if "value" in self.attributes:
            return self.number("value")
        return self.parsed("".join(self.texts).strip(), "the text")

    def parsed(self, word: str, what: str) -> float:
        """A word as a finite number; ``what`` names it in messages."""
        number = float(word) if NUMBER.fullmatch(word) else math.nan
        if not math.isfinite(number):
            raise ModelError(
                f"{what} is not a finite number",
                where=self.where,
                got=brief(word),
                expected="a number such as -1.5 or 2e-3",
                fix="expand the file first: xacro FILE > OUT.urdf" if "${" in word else "write the number in full",
            )
        return number


def brief(text: str) -> str:
    """The text as it is quoted in messages, which stay short."""
    return repr(text) if len(text) <= 80 else f"{text[:60]!r}... ({len(text)} characters)"


def before_declaration(text: str | bytes) -> str:
    """White space before <?xml ...?>, which XML forbids and readers of robots overlook; empty where all is well."""
    head = text[:LONGEST_TEXT] if isinstance(text, str) else text[:LONGEST_TEXT].decode("utf-8", "replace")
    found = BEFORE_DECLARATION.match(head)
    return found.group() if found else ""


def parse_xml(text: str | bytes, source: str = "") -> Element:
    """The root element of a document. Refuses document types and entities before they can expand."""
    parser = expat.ParserCreate("utf-8" if isinstance(text, str) else None)
    parser.buffer_text = True
    top = Element("", "", {}, 0, source, None)
    stack = [top]
    parts, blank = 0, before_declaration(text)
    before = blank.count("\n")  # lines that the parser does not see

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal parts
        parts += 1 + len(attributes)
        too_much = (
            f"elements nest deeper than {MAXIMUM_DEPTH} levels"
            if len(stack) > MAXIMUM_DEPTH
            else f"there are more than {MAXIMUM_PARTS} elements and attributes"
            if parts > MAXIMUM_PARTS
            else f"a name is longer than {LONGEST_NAME} characters"
            if any(len(each) > LONGEST_NAME for each in (name, *attributes))
            else ""
        )
        if too_much:
            raise ModelError(
                too_much,
                where=place(source, parser.CurrentLineNumber + before),
                got=f"<{name[:LONGEST_NAME]}>",
                expected="a robot description, which needs far less",
                fix="check how the file was made",
            )
        prefix, _, tag = name.rpartition(":")
        parent = stack[-1] if len(stack) > 1 else None
        element = Element(tag, prefix, attributes, parser.CurrentLineNumber + before, source, parent)
        stack[-1].children.append(element)
        stack.append(element)

    def end(name: str) -> None:
        stack.pop()

    def characters(data: str) -> None:
        stack[-1].texts.append(data)

    def refuse(name: str, *_: object) -> None:
        raise ModelError(
            "document types and entities are refused: they can expand without bound or read other files",
            where=place(source, parser.CurrentLineNumber + before),
            got=f"<!DOCTYPE> or <!ENTITY> {brief(name)}",
            expected="plain XML elements",
            fix="remove the <!DOCTYPE ...> block and write its entities out",
        )

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        data = text.encode("utf-8") if isinstance(text, str) else text
        parser.Parse(data[len(blank.encode()) :], True)
    except expat.ExpatError as error:
        raise _syntax_error(error, text, source, before) from None
    except (LookupError, ValueError) as error:  # an encoding Python does not know, or lone surrogates
        raise ModelError(
            f"the text cannot be decoded: {error}", where=source, expected="UTF-8", fix="save the file as UTF-8"
        ) from None
    return top.children[0]


def place(source: str, line: int) -> str:
    return f"{source}: line {line}" if source else f"line {line}"


def _syntax_error(error: expat.ExpatError, text: str | bytes, source: str, before: int) -> ModelError:
    head = text[:80] if isinstance(text, str) else text[:80].decode("utf-8", "replace")
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
        }.get(expat.ErrorString(error.code), "correct the file at this place, and save it as UTF-8")
    return ModelError(
        f"this is not well-formed XML: {expat.ErrorString(error.code)} in column {error.offset + 1}",
        where=place(source, error.lineno + before),
        got=f"a text that begins with {head[:40]!r}",
        expected='XML such as <robot name="arm"> ... </robot>',
        fix=fix,
    )
