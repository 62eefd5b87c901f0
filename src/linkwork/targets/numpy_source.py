"""A program as a Python file that needs NumPy alone; its function takes batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, isnan
from textwrap import indent

import numpy as np

from ..program import Op, Program
from ..quoting import in_python
from .listing import (
    MADE,
    Exported,
    description,
    expression,
    nominal_rows,
    title,
    value_names,
    wrapped,
)
from .sampled_listing import FUNCTIONS, MEMORY, NEXT, Sampled, check_names, inputs_of, outputs_of, paragraphs_of

DTYPE = {"float64": "float", "float32": "np.float32"}
IMPORTED = {
    Op.ATAN2: "arctan2 as atan2", Op.COS: "cos", Op.EXP: "exp", Op.ABS: "fabs", Op.LOG: "log", Op.MAX: "maximum",
    Op.MIN: "minimum", Op.SIGN: "sign", Op.SIN: "sin", Op.SQRT: "sqrt", Op.TANH: "tanh",
}  # fmt: skip
DEFINED = {
    Op.LESS: "def less(a, b):\n    return np.where(a < b, 1.0, 0.0)",
    Op.LESS_EQUAL: "def less_equal(a, b):\n    return np.where(a <= b, 1.0, 0.0)",
    Op.SELECT: "def select(condition, if_true, if_false):\n    return np.where(condition != 0, if_true, if_false)",
}
BATCHES = "SI units. Arrays have any leading batch axes, (..., n), broadcast together."
ENTRIES = '''def _entries(name, x, *shape):
    """The entries of an array (..., *shape) one after another, each with the batch axes."""
    x = np.asanyarray(x)
    if isinstance(x, np.ma.MaskedArray) or x.dtype.kind not in "fiub":
        raise TypeError(f"{{name}}: got {{type(x).__name__}} of {{x.dtype}}, expected an array of real numbers")
    x = np.asarray(x, {dtype})
    batch = x.shape[: x.ndim - len(shape)]
    if x.shape != batch + shape:
        raise ValueError(f"{{name}}: got shape {{x.shape}}, expected (..., {{', '.join(map(str, shape))}})")
    return np.moveaxis(x.reshape(*batch, int(np.prod(shape))), -1, 0)'''


def numpy_source(function: Exported, name: str) -> str:
    """Return the text of a file with one function."""

    def paragraphs() -> Iterator[str]:
        yield from description(function)
        yield from nominal_rows(function)
        yield BATCHES

    inputs = ", ".join(port.name for port in function.program.inputs)
    return f"""{_head(function, [function.program])}def {name}({inputs}):
{_docstring([title(function), "", *paragraphs()])}
{_body(function)}
"""


def numpy_memory(sampled: Sampled, name: str) -> str:
    """Return the text of a file with the functions NAME_reset and NAME_step of a function with memory."""
    check_names(sampled)
    functions = sampled.initial, sampled.function
    inputs = [port.name for port in sampled.initial.program.inputs], [port.name for port in inputs_of(sampled)]
    outputs = [port.name for port in outputs_of(sampled)]
    states = [f"{before}{key}" for before in (MEMORY, NEXT) for key in sampled.memory]
    now, after = (f"{{{', '.join(f'{key!r}: {before}{key}' for key in sampled.memory)}}}" for before in (MEMORY, NEXT))
    known = [f'memory[{port.name.removeprefix(MEMORY)!r}]' if port.name in states else port.name
             for port in sampled.program.inputs]  # fmt: skip
    result = ", ".join(outputs) if len(outputs) == 1 else f"({', '.join(outputs)})"
    steps = (
        *paragraphs_of(sampled, name),
        "Memory is a dict. A step returns its outputs, and the next memory.",
        BATCHES,
    )
    texts = [
        f"def _{each}({', '.join(port.name for port in function.program.inputs)}):\n{_body(function)}"
        for each, function in zip(FUNCTIONS, functions, strict=True)
    ]
    texts += [
        f"def {name}_reset({', '.join(inputs[0])}):\n"
        f"{_docstring(['Initial values of the memory.'])}\n"
        f"    {', '.join(states[: len(sampled.memory)])} = _{FUNCTIONS[0]}({', '.join(inputs[0])})\n"
        f"    return {now}",
        f"def {name}_step({', '.join([*inputs[1], 'memory'])}):\n"
        f"{_docstring([title(sampled), '', *steps])}\n"
        f"    {', '.join([*outputs, *states[len(sampled.memory) :]])} = _{FUNCTIONS[1]}({', '.join(known)})\n"
        f"    return {result}, {after}",
    ]
    return _head(sampled, [function.program for function in functions]) + "\n\n\n".join(texts) + "\n"


def _head(function: Exported, programs: Sequence[Program]) -> str:
    """What comes before the functions of these programs."""
    used = {op for program in programs for op, *_ in program.instructions}
    names = [name for op, name in IMPORTED.items() if op in used]
    imports = f"from numpy import {', '.join(names)}\n" if names else ""
    defined = "".join(f"{text}\n\n\n" for op, text in DEFINED.items() if op in used)
    return f'''"""{wrapped([title(function)], "", in_python)}

{MADE}; needs NumPy alone.
"""

import numpy as np
{imports}

{defined}{ENTRIES.format(dtype=DTYPE[function.dtype])}


'''


def _docstring(paragraphs: Sequence[str]) -> str:
    first, *others = paragraphs
    more = f"\n{wrapped(others, '    ', in_python)}\n    " if others else ""
    return f'''    """{wrapped([first], "", in_python)}{more}"""'''


def _body(function: Exported) -> str:
    return indent("\n".join(_lines(function)), "    ")


def _lines(function: Exported) -> Iterator[str]:
    program = function.program
    names = value_names(program, _literal)
    for port in program.inputs:
        yield f"{port.name} = _entries({', '.join([repr(port.name), port.name, *map(str, port.shape)])})"
    for k, (op, *args) in program.numbered():
        yield f"{names[k]} = {expression(op, *(names[a] for a in args))}"
    yield f"batch = np.broadcast_shapes({', '.join(f'{port.name}.shape[1:]' for port in program.inputs)})"
    results = iter(program.results)
    for port in program.outputs:
        yield f"{port.name} = np.empty(batch + {port.shape!r}, {DTYPE[function.dtype]})"
        for place in np.ndindex(port.shape):
            yield f"{port.name}[{', '.join(['...', *map(str, place)])}] = {names[next(results)]}"
    yield "return " + ", ".join(port.name if port.shape else f"{port.name}[()]" for port in program.outputs)


def _literal(number: float) -> str:
    text = repr(float(number)) if isfinite(number) else f"np.{'nan' if isnan(number) else 'inf'}"
    return f"(-{text.removeprefix('-')})" if number < 0 else text
