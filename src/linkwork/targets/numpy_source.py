"""A program as a Python file that needs NumPy alone; its function takes batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan
from textwrap import indent

import numpy as np

from ..program import Op, Program
from ..program.program import GIVEN, REPEAT, Loop
from ..quoting import in_python
from .listing import (
    MADE,
    WORDS_OF_NUMPY,
    Exported,
    check_names,
    description,
    expression,
    nominal_rows,
    numbered_loops,
    title,
    value_names,
    wrapped,
)
from .sampled_listing import FUNCTIONS, MEMORY, NEXT, Sampled, inputs_of, outputs_of, paragraphs_of

DTYPE = {"float64": "float", "float32": "np.float32"}
IMPORTED = {
    Op.ATAN2: "arctan2 as atan2", Op.COS: "cos", Op.EXP: "exp", Op.ABS: "fabs", Op.LOG: "log", Op.MAX: "maximum",
    Op.MIN: "minimum", Op.SIGN: "sign", Op.SIN: "sin", Op.SQRT: "sqrt", Op.TANH: "tanh",
}  # fmt: skip
DEFINED = {
    Op.LESS: "def _less(a, b):\n    return np.where(a < b, 1.0, 0.0)",
    Op.LESS_EQUAL: "def _less_equal(a, b):\n    return np.where(a <= b, 1.0, 0.0)",
    Op.SELECT: "def _select(condition, if_true, if_false):\n    return np.where(condition != 0, if_true, if_false)",
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
    check_names(function, WORDS_OF_NUMPY.split())

    def paragraphs() -> Iterator[str]:
        yield from description(function)
        yield from nominal_rows(function)
        yield BATCHES

    inputs = ", ".join(port.name for port in function.program.inputs)
    return f"""{_head(function, [function.program])}def {name}({inputs}):
{_docstring([title(function), "", *paragraphs()])}
{_body(function, [function.program])}
"""


def numpy_memory(sampled: Sampled, name: str) -> str:
    """Return the text of a file with the functions NAME_reset and NAME_step of a function with memory."""
    functions = sampled.initial, sampled.function
    for each in functions:
        check_names(each, [*WORDS_OF_NUMPY.split(), "memory"])
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
    programs = [function.program for function in functions]
    texts = [
        f"def _{each}({', '.join(port.name for port in function.program.inputs)}):\n{_body(function, programs)}"
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
    return _head(sampled, programs) + "\n\n\n".join(texts) + "\n"


def _head(function: Exported, programs: Sequence[Program]) -> str:
    """What comes before the functions of these programs."""
    used = {op for program in programs for op in program.operations}
    names = [name for op, name in IMPORTED.items() if op in used]
    imports = f"from numpy import {', '.join(names)}\n" if names else ""
    return f'''"""{wrapped([title(function)], "", in_python)}

{MADE}; needs NumPy alone.
"""

import numpy as np
{imports}

{_definitions(programs)}{ENTRIES.format(dtype=DTYPE[function.dtype])}


'''


def _definitions(programs: Sequence[Program]) -> str:
    """Functions that the code of these programs calls."""
    used = {op for program in programs for op in program.operations}
    texts = [text for op, text in DEFINED.items() if op in used]
    loops = numbered_loops(programs)
    for loop, k in loops.items():
        body, names = loop.body, value_names(loop.body, _literal)
        lines = [*_statements(body, names, loops), f"return [{', '.join(names[r] for r in body.results)}]"]
        texts += [f"def _body_{k}({GIVEN}):\n{indent(chr(10).join(lines), '    ')}", _loop(loop, k)]
    return "".join(f"{text}\n\n\n" for text in texts)


def _loop(loop: Loop, number: int) -> str:
    n = loop.carried
    if not loop.guarded:
        return f"""def _loop_{number}(x):
    for _ in range({loop.turns}):
        x = [*_body_{number}(x), *x[{n}:]]
    return x"""
    return f"""def _loop_{number}(x):
    for _ in range({loop.turns}):
        going = x[0] != 0
        if not np.any(going):
            break
        following = _body_{number}(x)
        x = [*(np.where(going, new, old) for new, old in zip(following, x)), *x[{n}:]]
    return x"""


def _body(function: Exported, programs: Sequence[Program]) -> str:
    """The statements of a function, in a file of these programs."""
    return indent("\n".join(_lines(function.program, function.dtype, numbered_loops(programs))), "    ")


def _docstring(paragraphs: Sequence[str]) -> str:
    first, *others = paragraphs
    more = f"\n{wrapped(others, '    ', in_python)}\n    " if others else ""
    return f'''    """{wrapped([first], "", in_python)}{more}"""'''


def _lines(program: Program, dtype: str, loops: Mapping[Loop, int]) -> Iterator[str]:
    names = value_names(program, _literal)
    for port in program.inputs:
        yield f"{port.name} = _entries({', '.join([repr(port.name), port.name, *map(str, port.shape)])})"
    yield from _statements(program, names, loops)
    yield f"batch = np.broadcast_shapes({', '.join(f'{port.name}.shape[1:]' for port in program.inputs)})"
    results = iter(program.results)
    for port in program.outputs:
        yield f"{port.name} = np.empty(batch + {port.shape!r}, {DTYPE[dtype]})"
        for place in np.ndindex(port.shape):
            yield f"{port.name}[{', '.join(['...', *map(str, place)])}] = {names[next(results)]}"
    yield "return " + ", ".join(port.name if port.shape else f"{port.name}[()]" for port in program.outputs)


def _statements(program: Program, names: Sequence[str], loops: Mapping[Loop, int]) -> Iterator[str]:
    for k, (op, *args) in program.numbered():
        if op < REPEAT:
            private = "_" if op in DEFINED else ""  # functions of the file
            yield f"{names[k]} = {private}{expression(op, *(names[a] for a in args))}"
            continue
        loop, place = program.final(op)
        first = min(program.runs[loop, tuple(args)].values())
        run = f"run_{names[first].removeprefix('t')}"
        if k == first:
            yield f"{run} = _loop_{loops[loop]}([{', '.join(names[a] for a in args)}])"
        yield f"{names[k]} = {run}[{place}]"


def _literal(number: float) -> str:
    text = repr(float(number)) if isfinite(number) else f"np.{'nan' if isnan(number) else 'inf'}"
    return f"(-{text.removeprefix('-')})" if number < 0 else text
