"""Equations as plain text: a line ``name = expression`` for each; comments start with #."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..quoting import printable
from .expressions import Equation, Printer
from .symbolic_model import SymbolicModel


def text(model: SymbolicModel) -> str:
    return "\n".join(_lines(model)) + "\n"


def _lines(model: SymbolicModel) -> Iterator[str]:
    outputs = {name for array in model.outputs.values() for name in array.flat}
    off_line = [e for e in model.equations if not e.on_line and e.name not in outputs]
    yield f"# {printable(model.title)}"
    yield from _section("from the constants alone", off_line)
    yield from _section("from the state", [e for e in model.equations if e.on_line or e.name in outputs])
    yield ""
    yield f"# on line, every term computed once: {model.operations}"


def _section(title: str, equations: Sequence[Equation]) -> Iterator[str]:
    lines = [f"{equation.name} = {Printer().write(equation.expression)}" for equation in equations]
    width = max((len(line) for line, equation in zip(lines, equations, strict=True) if equation.tag), default=0)
    if equations:
        yield from ("", f"# {title}")
    for line, equation in zip(lines, equations, strict=True):
        yield f"{line:<{width}}  # {equation.tag}" if equation.tag else line
