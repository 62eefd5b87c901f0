"""Equations as a Python function: plain arithmetic on floats, or on arrays with one entry for each state."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import LinkworkError
from ..quoting import identifier, in_python
from .expressions import Call, Printer, functions_of
from .symbolic_model import SymbolicModel

CONSTANTS = "CONSTANTS"


def python(model: SymbolicModel) -> str:
    return "\n".join(_lines(model)) + "\n"


def _lines(model: SymbolicModel) -> Iterator[str]:
    constants = f", constants={CONSTANTS}" if model.values else ""
    functions = sorted({name for e in model.equations for name in functions_of(e.expression)})
    entries = [name for names in model.inputs.values() if names.shape for name in names.flat]
    own = {
        *functions,
        *entries,
        *model.values,
        *(equation.name for equation in model.equations),
        CONSTANTS,
        "constants",
    }
    if taken := sorted(own.intersection(model.inputs)):
        raise LinkworkError(
            "an input of this name cannot be exported", where=model.label.quantity, got=taken[0],
            expected="another name than those of functions and symbols in the equations", fix="rename the argument",
        )  # fmt: skip
    yield f'"""{in_python(model.title)}. Written by linkwork; on line: {model.operations}."""'
    if functions:
        yield ""
        yield f"from numpy import {', '.join(functions)}"
    if model.values:
        yield ""
        yield f"{CONSTANTS} = {{"
        yield from (f'    "{name}": {value!r},' for name, value in model.values.items())
        yield "}"
    yield ""
    yield ""
    yield f"def {identifier(model.label.quantity)}({', '.join(model.inputs)}{constants}):"
    results = ", ".join(model.outputs)
    yield f'    """{results} as nested lists; each entry of an input may be a number or an array over many states."""'
    for port, names in model.inputs.items():
        if names.size:
            yield f"    {_nested(names.tolist())} = {port}"
    for name in model.values:
        yield f'    {name} = constants["{name}"]'
    for equation in model.equations:
        comment = f"  # {equation.tag}" if equation.tag else ""
        yield f"    {equation.name} = {PythonPrinter().write(equation.expression)}{comment}"
    yield f"    return {', '.join(_nested(array.tolist()) for array in model.outputs.values())}"


def _nested(names: list | str) -> str:
    return names if isinstance(names, str) else "[" + ", ".join(map(_nested, names)) + "]"


class PythonPrinter(Printer):
    def number(self, value: float) -> str:
        return repr(float(value))

    def power(self, base: str, exponent: int) -> str:
        return f"{base}**{exponent}"

    def call(self, call: Call) -> str:
        text = super().call(call)
        return f"(1.0*{text})" if call.function in ("less", "less_equal") else text  # NumPy's give no numbers
