"""Reader of YAML, or of the same content as Python data. Input is not trusted: only plain values are accepted.

Every value keeps its line in the file or its place in the data, so that error messages can name it.
"""

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

from ..errors import ModelError, counted, one_of, perhaps, short
from ..model.description import Finding
from ..model.validate import raise_errors

LIMITS: Any = {"longest": 2**23, "kind": ModelError}  # for ``read_text`` and ``read_bytes`` of robot files

_TOKEN = re.compile(r"\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z]+|.))")
_DEEPEST = 10  # nesting levels; hostile files nest until the stack overflows
_MOST = 500_000  # values of a file
_LONGEST = 100  # characters of an expression
_MOST_ERRORS = 50  # after which reading stops


def number(text: str) -> float:
    """Evaluate an expression of numbers, pi, inf, + - * / and deg, such as ``-pi/4`` or ``90 deg``.

    Raises:
        ValueError: The text is no such expression.
        ZeroDivisionError: The expression divides by zero.
    """
    if len(text) > _LONGEST:
        raise ValueError("too long")
    tokens = [*_TOKEN.findall(text.strip()), ("", "")]  # pairs (number, symbol); the last pair marks the end

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
        raise ValueError("text after the end of the expression")
    return value


# LibYAML is several times as fast where it is installed. Only the Python composer can check every node.
_LOADER: tuple[Any, ...] = (Composer, yaml.CBaseLoader) if yaml.__with_libyaml__ else (yaml.BaseLoader,)


class _PlainLoader(*_LOADER):
    """Loader that refuses tags, anchors, aliases and deep nesting, which could run code, grow or hide a value."""

    def __init__(self, text: str, nodes: Nodes):
        _LOADER[-1].__init__(self, text)
        self.nodes, self.depth, self.count = nodes, 0, 0

    def compose_node(self, parent, index):
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            self.nodes.fail(event, "YAML anchors (&) and aliases (*) are not allowed", fix="write the values out")
        if tag := getattr(event, "tag", None):
            self.nodes.fail(event, "YAML tags (!) are not allowed", got=tag, fix="remove the tag")
        self.depth += 1
        self.count += 1
        self.nodes.check_size(event, self.depth, self.count)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class Nodes:
    """Converts the nodes of one file to values. ``label`` names the current table, row or joint in messages.

    An error raises a ModelError, unless errors are collected. Then a placeholder replaces the value, and all errors
    are raised together at the end.
    """

    def __init__(self, source: str):
        self.source = source
        self.label = ""
        self.count = 0  # values of Python data that have been read
        self.errors: list[ModelError] | None = None

    @contextmanager
    def collecting_errors(self) -> Iterator[None]:
        """Collect the errors of the body, and raise them as one error at its end."""
        self.errors = errors = []
        try:
            yield
        except ModelError as error:
            errors.append(error)
        finally:
            self.errors = None
        if len(errors) == 1:
            raise errors[0]
        raise_errors(map(Finding.of, errors), self.source)

    @contextmanager
    def keep_reading(self) -> Iterator[None]:
        """Skip the rest of the body, such as of a row, after an error, and read on behind it."""
        label = self.label
        try:
            yield
        except ModelError as error:
            self.note_error(error)
            self.label = label

    def note_error(self, error: ModelError) -> None:
        """Collect an error, or raise it if errors are not collected."""
        if self.errors is None or len(self.errors) >= _MOST_ERRORS - 1:
            raise error
        self.errors.append(error)

    def error_at(self, node, message: str, got: object = None, expected: str = "", fix: str = "") -> ModelError:
        """Return an error at the line of a node, event or mark (None: the file), or at its place in Python data."""
        mark = getattr(node, "start_mark", node)
        place = mark if isinstance(mark, str) else "" if mark is None else f"line {mark.line + 1}"
        parts = (self.source, place if place != self.label else "", self.label)
        return ModelError(message, where=": ".join(filter(None, parts)), got=got, expected=expected, fix=fix)

    def fail(self, node, message: str, got: object = None, expected: str = "", fix: str = "") -> NoReturn:
        raise self.error_at(node, message, got, expected, fix)

    def stop_reading(self, node, message: str, got: object = None, expected: str = "", fix: str = "") -> NoReturn:
        """Raise an error after which nothing more is read."""
        self.errors = None
        self.fail(node, message, got, expected, fix)

    def check_size(self, node, depth: int, count: int) -> None:
        """Refuse a document that is nested too deep or has too many values."""
        if depth > _DEEPEST:
            self.fail(node, "lists or mappings are nested too deep", expected=f"at most {_DEEPEST} levels")
        if count > _MOST:
            self.fail(node, "too many values", expected=f"at most {_MOST:,}")

    def root(self, content: str | Mapping[str, Any]) -> yaml.Node:
        """Return the root node of a YAML text, or of Python data with the same content."""
        return self._parsed(content) if isinstance(content, str) else self._node(content, "", 1)

    def _node(self, value: Any, place: Any, depth: int) -> yaml.Node:
        self.count += 1
        self.check_size(place, depth, self.count)
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
        except (yaml.YAMLError, UnicodeEncodeError) as error:  # the latter: a lone surrogate
            problem = getattr(error, "problem", None) or str(error)
            mark: Any = getattr(error, "problem_mark", None)
            if mark is not None:  # the end of the file is on its last line
                mark = SimpleNamespace(line=min(mark.line, len(text.splitlines()) - 1))
            self.fail(mark, f"not readable as YAML: {problem}", expected="one YAML document")
        if node is None:
            self.fail(None, "the file is empty", expected="a YAML document")
        return node

    def mapping(self, node: yaml.Node, keys: Collection[str] | None = None) -> dict[str, yaml.Node]:
        """Return the nodes by key. Refuses repeated keys, and keys that are not among ``keys``, if these are given."""
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, "wrong type", got=_shown(node), expected="a mapping, {key: value, ...}")
        result: dict[str, yaml.Node] = {}
        for key_node, value in node.value:
            with self.keep_reading():
                key = self.text(key_node)
                if key in result:
                    self.fail(key_node, f"key {key!r} is given twice", fix="keep one of them")
                if keys is not None and key not in keys:
                    raise self.unknown(key_node, "key", key, keys)
                result[key] = value
        return result

    def sequence(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, "wrong type", got=_shown(node), expected="a list")
        return node.value

    def require(self, node: yaml.Node | None, row: Mapping[str, Any], key: str, expected: str) -> None:
        """Refuse a row without a required key."""
        if key not in row:
            self.fail(node, f"{key!r} is missing", expected=f"{key}: {expected}")

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
            self.note_error(self.error_at(node, message, got=_shown(node), expected=expected))
            return 1.0
        return value

    def numbers(self, node: yaml.Node, *sizes: int, finite: bool = True) -> list[float]:
        with self.keep_reading():
            values = [self.number(item, finite) for item in self.sequence(node)]
            if len(values) in sizes:
                return values
            expected = " or ".join([*map(str, sizes[:-1]), counted(sizes[-1], "number")])
            self.fail(node, "wrong length", got=counted(len(values), "number"), expected=expected)
        return [1.0] * sizes[0]

    def nested(self, node: yaml.Node) -> Any:
        """Return a number, or nested tuples of numbers."""
        return tuple(map(self.nested, node.value)) if isinstance(node, yaml.SequenceNode) else self.number(node)

    def boolean(self, node: yaml.Node) -> bool:
        return self.name(node, "value", ("true", "false")) == "true"

    def name(self, node: yaml.Node, kind: str, names: Collection[str]) -> str:
        """Return a name that must be one of ``names``; ``kind`` is what messages call it."""
        name = self.text(node)
        if name not in names:
            error = self.unknown(node, kind, name, names)
            if not names:
                raise error
            self.note_error(error)
            return next(iter(names))
        return name

    def unknown(self, node: yaml.Node, kind: str, name: str, names: Iterable[str]) -> ModelError:
        choices = list(names)
        message, expected = f"there is no {kind} {short(name)!r}", one_of(name, choices, kind)
        return self.error_at(node, message, expected=expected, fix=perhaps(name, choices))


def _scalar(text: str, place: Any) -> yaml.ScalarNode:
    return yaml.ScalarNode("", text, start_mark=place)


def _shown(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return repr(node.value) if node.value else "nothing"
    return "a mapping" if isinstance(node, yaml.MappingNode) else "a list"
