"""YAML read with care: plain values only, every value with its line, every mistake with its remedy."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NoReturn

import yaml

from ..errors import ModelError

_TOKEN = re.compile(r"\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z]+|.))")
_DEEPEST = 10  # levels; hostile files nest until the stack is gone
_LONGEST = 100  # characters of an expression


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


class _PlainLoader(yaml.SafeLoader):
    """Refuses what could run code, grow without bound or hide a value: tags, anchors, aliases, deep nesting."""

    def __init__(self, text: str, nodes: Nodes):
        super().__init__(text)
        self.nodes, self.depth = nodes, 0

    def compose_node(self, parent, index):
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            self.nodes.fail(event, "YAML anchors and aliases are not read", fix="write the values out")
        if tag := getattr(event, "tag", None):
            self.nodes.fail(event, "YAML tags are not read", got=tag, fix="remove the tag")
        self.depth += 1
        if self.depth > _DEEPEST:
            self.nodes.fail(event, "lists or mappings are nested too deep", expected=f"at most {_DEEPEST} levels")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class Nodes:
    """The nodes of one file, turned into values. ``label`` says whose values they are, for messages."""

    def __init__(self, source: str):
        self.source = source
        self.label = ""

    def fail(self, node, message: str, got: object = None, expected: str = "", fix: str = "") -> NoReturn:
        """Raise an error at the line of a node, event or mark (None: the file)."""
        mark = getattr(node, "start_mark", node)
        parts = (self.source, "" if mark is None else f"line {mark.line + 1}", self.label)
        raise ModelError(message, where=": ".join(filter(None, parts)), got=got, expected=expected, fix=fix)

    def root(self, text: str) -> yaml.Node:
        try:
            node = _PlainLoader(text, self).get_single_node()
        except yaml.YAMLError as error:
            problem = getattr(error, "problem", None) or str(error)
            mark = getattr(error, "problem_mark", None)
            self.fail(mark, f"not readable as YAML: {problem}", expected="one YAML document")
        if node is None:
            self.fail(None, "the file is empty", expected="a YAML document")
        return node

    def mapping(self, node: yaml.Node, known: Sequence[str] | None = None) -> dict[str, yaml.Node]:
        """Keys and their nodes; none twice, and only ``known`` ones where those are listed."""
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, "wrong type", got=_shown(node), expected="a mapping, {key: value, ...}")
        result: dict[str, yaml.Node] = {}
        for key_node, value in node.value:
            key = self.text(key_node)
            if key in result:
                self.fail(key_node, f"key {key!r} is given twice", fix="keep one of them")
            if known is not None:
                self._among(key_node, "key", key, known)
            result[key] = value
        return result

    def sequence(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, "wrong type", got=_shown(node), expected="a list")
        return node.value

    def text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            self.fail(node, "wrong type", got=_shown(node), expected="a text")
        return node.value.strip()

    def number(self, node: yaml.Node, finite: bool = True) -> float:
        try:
            value = number(node.value.replace(".inf", "inf")) if isinstance(node, yaml.ScalarNode) else math.nan
        except (ValueError, ZeroDivisionError):
            value = math.nan
        if math.isnan(value) or (finite and math.isinf(value)):
            expected = "a finite number, or an expression such as -pi/4 or 90 deg"
            self.fail(node, "not a number" if math.isnan(value) else "not finite", got=_shown(node), expected=expected)
        return value

    def numbers(self, node: yaml.Node, *sizes: int, finite: bool = True) -> list[float]:
        values = [self.number(item, finite) for item in self.sequence(node)]
        if len(values) not in sizes:
            expected = " or ".join(map(str, sizes)) + " numbers"
            self.fail(node, "wrong length", got=f"{len(values)} numbers", expected=expected)
        return values

    def name(self, node: yaml.Node, kind: str, names: Iterable[str]) -> str:
        """A name that must be one of ``names``."""
        name = self.text(node)
        self._among(node, kind, name, list(names))
        return name

    def _among(self, node: yaml.Node, kind: str, name: str, names: Sequence[str]) -> None:
        if name in names:
            return
        near = get_close_matches(name, names, n=1, cutoff=0.5)
        fix = f"did you mean {near[0]!r}?" if near else ""
        self.fail(node, f"there is no {kind} {name!r}", expected=f"one of: {', '.join(names)}", fix=fix)


def _shown(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return repr(node.value) if node.value else "nothing"
    return "a mapping" if isinstance(node, yaml.MappingNode) else "a list"
