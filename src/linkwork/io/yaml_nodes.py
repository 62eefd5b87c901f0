"""YAML, or the same as Python data, read with care: plain values only, every value with its line or its place in the
data, every mistake with its remedy."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import yaml
from yaml.composer import Composer

from ..errors import ModelError, one_of, perhaps, short
from ..model.description import Finding
from ..model.validate import raise_errors

LIMITS: Any = {"longest": 2**23, "kind": ModelError}  # of files of any kind that are read

_TOKEN = re.compile(r"\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z]+|.))")
_DEEPEST = 10  # levels; hostile files nest until the stack is gone
_MOST = 500_000  # values of a file
_LONGEST = 100  # characters of an expression
_MISTAKES = 50  # after which a file is not read on


def number(text: str) -> float:
    """The value of an expression of numbers, pi, inf, + - * / and deg, such as ``-pi/4`` or ``90 deg``.

    Raises ValueError or ZeroDivisionError.
    """
    if len(text) > _LONGEST:
        raise ValueError("too long")
    tokens = [*_TOKEN.findall(text.strip()), ("", "")]  # (number, symbol) each; the last is the end

    def take(*symbols: str) -> str:
        return tokens.pop(0)[1] if tokens[0][1] in symbols else ""

    def factor() -> float:
        if sign := take("+", "-"):
            return factor() if sign == "+" else -factor()
        constant = take("pi", "inf")
        value = {"pi": math.pi, "inf": math.inf}[constant] if constant else float(tokens.pop(0)[0])
        return math.radians(value) if take("deg") else value

    def term() -> float:
        value = factor()
        while operator := take("*", "/"):
            value = value * factor() if operator == "*" else value / factor()
        return value

    value = term()
    while operator := take("+", "-"):
        value = value + term() if operator == "+" else value - term()
    if len(tokens) > 1:
        raise ValueError("not understood to the end")
    return value


# LibYAML, where it is there, is several times as fast; but only the composer in Python can be asked at every node.
_LOADER: tuple[Any, ...] = (Composer, yaml.CBaseLoader) if yaml.__with_libyaml__ else (yaml.BaseLoader,)


class _PlainLoader(*_LOADER):
    """Refuses what could run code, grow without bound or hide a value: tags, anchors, aliases, deep nesting."""

    def __init__(self, text: str, nodes: Nodes):
        _LOADER[-1].__init__(self, text)
        self.nodes, self.depth, self.count = nodes, 0, 0

    def compose_node(self, parent, index):
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            self.nodes.fail(event, "YAML anchors and aliases are not read", fix="write the values out")
        if tag := getattr(event, "tag", None):
            self.nodes.fail(event, "YAML tags are not read", got=tag, fix="remove the tag")
        self.depth += 1
        self.count += 1
        self.nodes.bound(event, self.depth, self.count)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class Nodes:
    """The nodes of one file, turned into values. ``label`` says whose values they are, for messages.

    A mistake raises a ModelError, unless mistakes are collected: then something that may stand for the value is given,
    and all mistakes are raised together.
    """

    def __init__(self, source: str):
        self.source = source
        self.label = ""
        self.count = 0  # values of Python data that have been read
        self.mistakes: list[ModelError] | None = None

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """At the end, all mistakes made inside are raised as one error."""
        self.mistakes = mistakes = []
        try:
            yield
        except ModelError as error:
            mistakes.append(error)
        finally:
            self.mistakes = None
        if len(mistakes) == 1:
            raise mistakes[0]
        raise_errors(map(Finding.of, mistakes), self.source)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """A mistake inside leaves out the rest of it, such as of a row, but not what follows."""
        label = self.label
        try:
            yield
        except ModelError as error:
            self.note(error)
            self.label = label

    def note(self, error: ModelError) -> None:
        """A mistake with which one can read on."""
        if self.mistakes is None or len(self.mistakes) >= _MISTAKES - 1:
            raise error
        self.mistakes.append(error)

    def mistake(self, node, message: str, got: object = None, expected: str = "", fix: str = "") -> ModelError:
        """At the line of a node, event or mark (None: the file), or at its place in Python data."""
        mark = getattr(node, "start_mark", node)
        place = mark if isinstance(mark, str) else "" if mark is None else f"line {mark.line + 1}"
        parts = (self.source, place, self.label)
        return ModelError(message, where=": ".join(filter(None, parts)), got=got, expected=expected, fix=fix)

    def fail(self, node, message: str, got: object = None, expected: str = "", fix: str = "") -> NoReturn:
        raise self.mistake(node, message, got, expected, fix)

    def give_up(self, node, message: str, got: object = None, expected: str = "", fix: str = "") -> NoReturn:
        """A mistake after which nothing more is read."""
        self.mistakes = None
        self.fail(node, message, got, expected, fix)

    def bound(self, node, depth: int, count: int) -> None:
        """Refuse what is too deep or too large."""
        if depth > _DEEPEST:
            self.fail(node, "lists or mappings are nested too deep", expected=f"at most {_DEEPEST} levels")
        if count > _MOST:
            self.fail(node, "too many values", expected=f"at most {_MOST:,}")

    def root(self, content: str | Mapping[str, Any]) -> yaml.Node:
        """The node of a YAML text, or of Python data that holds what the text would."""
        return self._parsed(content) if isinstance(content, str) else self._node(content, "", 1)

    def _node(self, value: Any, place: Any, depth: int) -> yaml.Node:
        self.count += 1
        self.bound(place, depth, self.count)
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()
        if isinstance(value, Mapping):
            inner = {key: f"{place}.{key}" if place else str(key) for key in value}
            items = [(_scalar(str(key), at), self._node(value[key], at, depth + 1)) for key, at in inner.items()]
            return yaml.MappingNode("", items, start_mark=place)
        if isinstance(value, (list, tuple)):
            items = [self._node(item, f"{place}[{k}]", depth + 1) for k, item in enumerate(value)]
            return yaml.SequenceNode("", items, start_mark=place)
        if isinstance(value, bool) or value is None:
            return _scalar({True: "true", False: "false", None: ""}[value], place)
        if isinstance(value, Real):
            return _scalar(str(value) if isinstance(value, Integral) else repr(float(value)), place)
        if not isinstance(value, str):
            got, expected = f"{type(value).__name__}: {short(repr(value))}", "a number, a text, a list or a dict"
            self.fail(place, "wrong type", got=got, expected=expected)
        return _scalar(value, place)

    def _parsed(self, text: str) -> yaml.Node:
        try:
            node = _PlainLoader(text, self).get_single_node()
        except (yaml.YAMLError, UnicodeEncodeError) as error:  # the latter: half of a pair of surrogates
            problem = getattr(error, "problem", None) or str(error)
            mark: Any = getattr(error, "problem_mark", None)
            if mark is not None:  # the end of the file is on its last line
                mark = SimpleNamespace(line=min(mark.line, len(text.splitlines()) - 1))
            self.fail(mark, f"not readable as YAML: {problem}", expected="one YAML document")
        if node is None:
            self.fail(None, "the file is empty", expected="a YAML document")
        return node

    def mapping(self, node: yaml.Node, known: Collection[str] | None = None) -> dict[str, yaml.Node]:
        """Keys and their nodes; none twice, and only ``known`` ones where those are listed."""
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, "wrong type", got=_shown(node), expected="a mapping, {key: value, ...}")
        result: dict[str, yaml.Node] = {}
        for key_node, value in node.value:
            with self.going_on():
                key = self.text(key_node)
                if key in result:
                    self.fail(key_node, f"key {key!r} is given twice", fix="keep one of them")
                if known is not None and key not in known:
                    raise self.unknown(key_node, "key", key, known)
                result[key] = value
        return result

    def sequence(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, "wrong type", got=_shown(node), expected="a list")
        return node.value

    def text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            self.fail(node, "wrong type", got=_shown(node), expected="a text")
        return node.value.strip() if node.style in ("|", ">") else node.value  # blocks end in a line break

    def number(self, node: yaml.Node, finite: bool = True) -> float:
        try:
            value = number(node.value.replace(".inf", "inf")) if isinstance(node, yaml.ScalarNode) else math.nan
        except (ValueError, ZeroDivisionError):
            value = math.nan
        if math.isnan(value) or (finite and math.isinf(value)):
            expected = "a finite number, or an expression such as -pi/4 or 90 deg"
            message = "not a number" if math.isnan(value) else "not finite"
            self.note(self.mistake(node, message, got=_shown(node), expected=expected))
            return 1.0
        return value

    def numbers(self, node: yaml.Node, *sizes: int, finite: bool = True) -> list[float]:
        with self.going_on():
            values = [self.number(item, finite) for item in self.sequence(node)]
            if len(values) in sizes:
                return values
            expected = " or ".join(map(str, sizes)) + " numbers"
            self.fail(node, "wrong length", got=f"{len(values)} numbers", expected=expected)
        return [1.0] * sizes[0]

    def name(self, node: yaml.Node, kind: str, names: Collection[str]) -> str:
        """A name that must be one of ``names``."""
        name = self.text(node)
        if name not in names:
            error = self.unknown(node, kind, name, names)
            if not names:
                raise error
            self.note(error)
            return next(iter(names))
        return name

    def unknown(self, node: yaml.Node, kind: str, name: str, names: Iterable[str]) -> ModelError:
        known = list(names)
        message, expected = f"there is no {kind} {short(name)!r}", one_of(name, known, kind)
        return self.mistake(node, message, expected=expected, fix=perhaps(name, known))


def _scalar(text: str, place: Any) -> yaml.ScalarNode:
    return yaml.ScalarNode("", text, start_mark=place)


def _shown(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return repr(node.value) if node.value else "nothing"
    return "a mapping" if isinstance(node, yaml.MappingNode) else "a list"
