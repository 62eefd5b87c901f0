"""Kinds of joints and the layout of joint vectors are known where they are at home, and nowhere else."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import linkwork
from linkwork.model import JOINT_KINDS

SRC = Path(linkwork.__file__).parent
NAMES = set(JOINT_KINDS) - {"fixed", "floating"}  # a base is called so, too
WORDS = {  # where names of kinds may stand, and why
    "model/joints": "at home",
    "io": "words of files",
    "formulations/method.py": "kinds that papers know",
    "published/chains.py": "robots of papers",
    "library.py": "robots by formula",
    "model/constraints/cut_joint.py": "cuts have kinds of their own",
}
OTHERS = {
    "io/mjcf_equalities.py": "MuJoCo's numbers of an equality",
    "sim/trajectory/diagnostics.py": "six names of a list",
}


def kinds(tree: ast.AST) -> Iterator[int]:
    """Lines that name a kind of joint, but for texts for people."""
    return (node.lineno for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in NAMES)


def layouts(tree: ast.AST) -> Iterator[int]:
    """Lines that take six or seven numbers out of a vector, or count them where something floats."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Slice):
            ends = (node.lower, node.upper)
            yield from (end.lineno for end in ends if isinstance(end, ast.Constant) and end.value in (6, 7))
        elif isinstance(node, ast.IfExp) and isinstance(node.body, ast.Constant) and node.body.value in (6, 7):
            yield node.lineno


@cache
def lines(search) -> dict[str, list[int]]:
    """By file."""
    paths = sorted(SRC.rglob("*.py"))
    return {path.relative_to(SRC).as_posix(): [*search(ast.parse(path.read_text(encoding="utf-8")))] for path in paths}


def found(search, allowed) -> list[str]:
    return [
        f"{name}:{line}"
        for name, places in lines(search).items()
        for line in places
        if not any(name == each or name.startswith(f"{each}/") for each in allowed)
    ]


def test_nobody_asks_for_a_kind_by_name():
    assert not found(kinds, WORDS)


def test_nobody_else_knows_the_layout_of_a_floating_body():
    assert not found(layouts, {"model/joints": "at home", **OTHERS})


@pytest.mark.parametrize("allowed", [WORDS, OTHERS])
def test_exceptions_are_needed(allowed):
    search = kinds if allowed is WORDS else layouts
    for each in allowed:
        assert found(search, allowed.keys() - {each}), each


@pytest.mark.parametrize(
    ("search", "line"),
    [
        (kinds, "if joint.kind == 'spherical': pass"),
        (kinds, "width = {'prismatic': 1.0}[name]"),
        (layouts, "base, rest = q[:7], q[7:]"),
        (layouts, "q[..., 3:7] = 0"),
        (layouts, "first = 6 if floating else 0"),
    ],
)
def test_it_is_noticed(search, line):
    assert list(search(ast.parse(line)))
