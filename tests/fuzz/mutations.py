"""Hostile files out of good ones: bytes changed blindly, or the tree of a JSON, YAML or XML file changed and written.

A tree is made of lists (also the children of an Element), Pairs (a mapping that may have a key twice) and scalars.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import yaml


class Pairs(list):
    """[key, value] of each entry."""


class Element(list):
    """Tag, attributes (Pairs), children (elements and texts)."""


class Inner(list):
    """A JSON text within a JSON text: its tree."""


class Raw(str):
    """Written as it is, without quotes."""


NUMBERS = [
    *("nan", ".nan", "NaN", "inf", "-.inf", "-Infinity", "1e308", "-1e308", "1e-320", "5e-324", "1e999", "-0", "0"),
    *("-1", "1e9", "9007199254740993", "9" * 400, "1" * 5000, "1_000", "0x10", "0o17", "1:30", "2024-01-01", "1e", "+"),
    *("pi/0", "inf-inf", "90 deg", "-pi/4", "true", "null", "~", "yes"),
]
TEXTS = [
    *("", " ", "\0", "\n", "\t", "\ufeff", "\u202eurdf", "é" * 20, "𝔸", "\u0085", "\u2028", "a\0b", "-", "=", "<<"),
    *("__class__", "__proto__", "__init__", "base", "ground", "world", "self", "../../etc/passwd", "/dev/zero", "%s"),
    *("!!python/object/apply:os.system [id]", "&a [*a]", "*a", "${x}", "{{x}}", "a" * 10**5, "a b", "a.b", "a/b", ","),
]  # fmt: skip
BYTES = [
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x80", b"\x1b[31m", b"\r", b"\n\n", b"\t", b"'", b'"'),
    *(b"[" * 3000, b"{" * 3000, b"{a: " * 3000, b"- " * 3000, b"<a>" * 3000, b"(" * 3000, b"? " * 500, b"1" * 5000),
    *(b"!!python/object/apply:os.system [id] ", b"!!binary ", b"!!set ", b"&a ", b"*a ", b"<<: ", b"--- ", b"...\n"),
    *(b"%YAML 9.9\n---\n", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"<!--", b"<![CDATA[", b"]]>", b"<?xml?>"),
    *(b"NaN", b"Infinity", b"-1", b"1e999", b"null", b"\\u0000", b"\\ud800", b"a" * 10**5, b"&#0;", b"#"),
    b"a: &a [1, 1]\nb: &b [*a, *a]\n",
]  # fmt: skip


# -- bytes ---------------------------------------------------------------------------------------------------------


def mutated_bytes(random: Random, data: bytes, others: list[bytes]) -> bytes:
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        at, to = sorted(random.randrange(len(data) + 1) for _ in range(2))
        near = min(to, at + random.choice((1, 4, 30)))
        how = random.randrange(7)
        if how == 0 and data:
            k = min(at, len(data) - 1)
            data = data[:k] + bytes([data[k] ^ (1 << random.randrange(8))]) + data[k + 1 :]
        elif how == 1:
            data = data[:at] + data[near:]
        elif how == 2:
            data = data[:at] if random.random() < 0.5 else data[:at] + data[to:]
        elif how == 3:
            data = data[:at] + data[at:near] * random.choice((2, 10, 1000)) + data[near:]
        elif how == 4:
            data = data[:at] + random.choice(BYTES) + data[at:]
        elif how == 5:
            data = data[:at] + random.choice((*NUMBERS, *TEXTS)).encode() + data[near:]
        else:
            other = random.choice(others)
            cut = random.randrange(len(other) + 1)
            data = data[:at] + other[cut : cut + random.choice((10, 200, len(other)))] + data[to:]
    return data


LARGEST = 10_000  # values of a tree

# -- trees ---------------------------------------------------------------------------------------------------------


def parsed(name: str, text: str) -> Any:
    """The tree of a file; its name tells the language."""
    if name.endswith((".urdf", ".xml")):
        return _element(ElementTree.fromstring(text))
    return _tree(json.loads(text) if name.endswith(".json") else yaml.load(text, yaml.BaseLoader))


def _element(node: ElementTree.Element) -> Element:
    texts = [node.text] if node.text and node.text.strip() else []
    return Element([node.tag, Pairs([k, v] for k, v in node.items()), [*texts, *map(_element, node)]])


def _tree(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs([key, _tree(inner)] for key, inner in value.items())
    if isinstance(value, str) and value.startswith('{"'):
        return Inner([_tree(json.loads(value))])
    return [_tree(inner) for inner in value] if isinstance(value, list) else value


def written(tree: Any) -> str:
    if isinstance(tree, Element):
        tag, attributes, children = (*tree, "", "", "")[:3]
        pairs = [pair for pair in attributes if isinstance(pair, list) and len(pair) == 2]
        listed = "".join(f" {_plain(key)}={quoteattr(_plain(value))}" for key, value in pairs)
        inside = "".join(_plain(child) for child in children) if isinstance(children, list) else _plain(children)
        return f"<{_plain(tag)}{listed}>{inside}</{_plain(tag)}>\n"
    if isinstance(tree, Pairs):
        pairs = [": ".join(map(written, pair)) if type(pair) is list else written(pair) for pair in tree]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(tree, Inner):
        return json.dumps("".join(map(written, tree)))
    if isinstance(tree, list):
        return "[" + ", ".join(map(written, tree)) + "]"
    return tree if isinstance(tree, Raw) else json.dumps(tree, ensure_ascii=False)


def _plain(value: Any) -> str:
    return written(value) if isinstance(value, list) else str(value)


def mutated_tree(random: Random, tree: Any) -> Any:
    """Changes the tree in place, and gives it back."""
    top = [tree]
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        holders = list(_holders(top))
        holder = random.choice(holders)
        if not holder:
            continue
        k = random.randrange(len(holder))
        other = random.choice(holders)
        rigid = isinstance(holder, Element) or (len(holder) == 2 and not isinstance(holder, Pairs))
        how = random.randrange(3, 8) if rigid or holder is top else random.randrange(8)
        if how == 0:
            del holder[k]
        elif how == 1:
            holder.insert(random.randrange(len(holder) + 1), holder[k])
        elif how == 2:
            holder[k : k + 1] = [holder[k]] * min(random.choice((3, 30, 1000)), LARGEST // _size(holder[k], {}) + 1)
        elif how == 3 and other:
            holder[k] = deepcopy(random.choice(other))  # may put a row where a number was
        elif how == 4:
            holder[k] = random.choice((_strange(random), [holder[k]], Pairs([[holder[k], holder[k]]]), [], Pairs()))
        elif how == 5:
            _replace_a_scalar(random, holder, k)
        elif how == 6:
            depth = random.choice((5, 12, 200, 3000))
            opened, closed = random.choice((("[", "]"), ('{"a": ', "}"), ("<a>", "</a>")))
            holder[k] = Raw(opened * depth + "1" + closed * depth)
        else:
            at = random.randrange(len(holder))
            holder[k], holder[at] = holder[at], holder[k]
        if _size(top, {}) > LARGEST:
            break
    return top[0]


def _size(tree: Any, known: dict[int, int]) -> int:
    """How many values are written; what stands in many places counts as often."""
    if isinstance(tree, list) and id(tree) not in known:
        known[id(tree)] = 1 + sum(_size(inner, known) for inner in tree)
    return known.get(id(tree), 1)


def _replace_a_scalar(random: Random, holder: list, k: int) -> None:
    scalars = [(each, i) for each in _holders(holder[k : k + 1]) for i, x in enumerate(each) if not isinstance(x, list)]
    if scalars and isinstance(holder[k], list):
        holder, k = random.choice(scalars)
    holder[k] = _strange(random)


def _strange(random: Random) -> Any:
    return Raw(random.choice(NUMBERS)) if random.random() < 0.6 else random.choice(TEXTS)


def _holders(tree: list) -> Iterator[list]:
    """All lists of a tree, itself first; those that stand in several places once."""
    pending, seen = [tree], set()
    while pending:
        holder = pending.pop()
        if id(holder) not in seen:
            seen.add(id(holder))
            yield holder
            pending.extend(inner for inner in holder if isinstance(inner, list))
