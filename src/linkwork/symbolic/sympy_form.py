"""Equations as sympy expressions: each output in terms of the symbols of inputs and constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from .equations import NAMES
from .expressions import evaluate
from .symbolic_model import SymbolicModel

SYMPY = {"arctan2": "atan2", "abs": "Abs", "minimum": "Min", "maximum": "Max"}  # NumPy's names -> sympy's
EXACT = 4096  # numbers are written as fractions with denominators up to this: 0.5 is 1/2


def sympy_form(model: SymbolicModel, numbers: bool = False) -> dict[str, Any]:
    """Return each output: a scalar, a Matrix (a vector is a column), or an Array with more than two axes."""
    entries = sympy_entries(model, numbers)
    import sympy

    def whole(names: np.ndarray) -> Any:
        values = [entries[name] for name in names.flat]
        if names.ndim > 2:
            return sympy.Array(values, names.shape)
        return sympy.Matrix(*(*names.shape, 1)[:2], values) if names.ndim else values[0]

    return {name: whole(array) for name, array in model.outputs.items()}


def sympy_text(model: SymbolicModel) -> str:
    """Return a line ``name = expression`` for each entry of the outputs."""
    return "".join(f"{name} = {expression}\n" for name, expression in sympy_entries(model).items())


def sympy_entries(model: SymbolicModel, numbers: bool = False) -> dict[str, Any]:
    """Return each entry of each output, by name."""
    import sympy

    def number(value: float) -> Any:
        numerator, denominator = float(value).as_integer_ratio()
        return sympy.Rational(numerator, denominator) if denominator <= EXACT else sympy.Float(value)

    functions: dict[str, Any] = {name: getattr(sympy, SYMPY.get(name, name), None) for name in NAMES.values()}
    functions["less"] = lambda a, b: sympy.Piecewise((1, sympy.StrictLessThan(a, b)), (0, True))
    functions["less_equal"] = lambda a, b: sympy.Piecewise((1, sympy.LessThan(a, b)), (0, True))
    functions["where"] = lambda condition, a, b: sympy.Piecewise((a, sympy.Ne(condition, 0)), (b, True))
    terms: dict[str, Any] = {name: sympy.Symbol(name) for array in model.inputs.values() for name in array.flat}
    for name, value in model.values.items():
        terms[name] = sympy.Float(value) if numbers else sympy.Symbol(name)
    for equation in model.equations:
        terms[equation.name] = evaluate(equation.expression, terms, functions, number)
    return {name: terms[name] for array in model.outputs.values() for name in array.flat}
