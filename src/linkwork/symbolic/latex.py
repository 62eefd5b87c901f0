"""Equations as LaTeX: one ``align*`` environment; names get dots, Greek letters and indices."""

from __future__ import annotations

import re

from .expressions import ATOM, Call, Expression, Printer, Quotient
from .symbolic_model import SymbolicModel

GREEK = {name: rf"\{name}" for name in ("alpha", "gamma", "theta", "tau")} | {"Gamma": r"\Gamma"}
STEMS = GREEK | {
    "qd": r"\dot{q}", "qdd": r"\ddot{q}", "w": r"\omega", "wd": r"\dot{\omega}", "wi": r"\bar{\omega}",
    "Vd": r"\dot{V}", "vd": r"\dot{v}",
}  # fmt: skip
AROUND = {  # what stands around the arguments; a comparison is 1 or 0, in Iverson's brackets
    "sqrt": r"\sqrt{{{}}}",
    "abs": r"\left|{}\right|",
    "less": r"\left[{} < {}\right]",
    "less_equal": r"\left[{} \le {}\right]",
    "where": r"\begin{{cases}} {1} & {0} \ne 0 \\ {2} & \text{{otherwise}} \end{{cases}}",
}
FUNCTIONS = {
    "sign": r"\operatorname{sign}", "arctan2": r"\operatorname{atan2}", "minimum": r"\min", "maximum": r"\max",
}  # fmt: skip
NAME = re.compile(r"([A-Za-z]+?)(\d[\w]*)?$")
WORDS = re.compile(r"(\w*[A-Za-z]_[A-Za-z]\w*?)(\d[\d_]*)?$")  # such as dtau_dq12


def latex(model: SymbolicModel) -> str:
    printer = LatexPrinter()
    lines = [f"{printer.symbol(e.name)} &= {printer.whole(e.expression)}" for e in model.equations]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"


class LatexPrinter(Printer):
    times = r"\,"

    def symbol(self, name: str) -> str:
        """Write letters, then digits and what follows them as an index: wd2x is \\dot{\\omega}_{2x}."""
        match = WORDS.match(name) or NAME.match(name)
        stem, index = match.groups() if match else (name, None)
        text = STEMS.get(stem) or (stem if len(stem) == 1 else r"\mathit{" + stem.replace("_", r"\_") + "}")
        if index is None:
            return text
        return f"{text}_{{{index.replace('_', ',')}}}"

    def number(self, value: float) -> str:
        text = super().number(value)
        mantissa, e, exponent = text.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else text

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{{{exponent}}}"

    def quotient(self, expression: Quotient) -> tuple[str, int]:
        return rf"\frac{{{self.write(expression.numerator)}}}{{{self.write(expression.denominator)}}}", ATOM

    def call(self, call: Call) -> str:
        arguments = ", ".join(map(self.write, call.arguments))
        if call.function in AROUND:
            return AROUND[call.function].format(*map(self.write, call.arguments))
        return self._function(call.function) + self.brackets(arguments)

    def whole(self, expression: Expression) -> str:
        """Write a right-hand side; nothing follows it, so the argument of a function needs no brackets."""
        if isinstance(expression, Call) and expression.function not in AROUND:
            text = ", ".join(map(self.write, expression.arguments))
            if " " not in text:
                return f"{self._function(expression.function)} {text}"
        return self.write(expression)

    def _function(self, name: str) -> str:
        return FUNCTIONS.get(name, rf"\{name}")

    def brackets(self, text: str) -> str:
        return rf"\left({text}\right)"
