"""Equations as sympy expressions: every output in the symbols of inputs and constants."""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedError
from .equations import NAMES
from .expressions import evaluate
from .symbolic_model import SymbolicModel

SYMPY = {"arctan2": "atan2", "abs": "Abs", "minimum": "Min", "maximum": "Max"}  # its own names
EXACT = 4096  # fractions with denominators up to this are kept as such: 0.5 is 1/2


def sympy_form(model: SymbolicModel, numbers: bool) -> dict[str, Any]:
    try:
        import sympy
    except ImportError:
        raise UnsupportedError("sympy is not installed", fix="pip install 'linkwork[sympy]'") from None

    def number(value: float) -> Any:
        numerator, denominator = float(value).as_integer_ratio()
        return sympy.Rational(numerator, denominator) if denominator <= EXACT else sympy.Float(value)

    functions = {name: getattr(sympy, SYMPY.get(name, name)) for name in NAMES.values()}
    known: dict[str, Any] = {name: sympy.Symbol(name) for array in model.inputs.values() for name in array.flat}
    for name, value in model.values.items():
        known[name] = sympy.Float(value) if numbers else sympy.Symbol(name)
    for equation in model.equations:
        known[equation.name] = evaluate(equation.expression, known, functions, number)
    return {name: known[name] for array in model.outputs.values() for name in array.flat}
