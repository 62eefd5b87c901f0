"""A function with memory as a folder in C: a struct of the memory, its reset, a step, and a test over several steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import LinkworkError, ShapeError, UnknownNameError
from ..program import Port, interpret
from .c_project import (
    CANDIDATES,
    SHARES,
    TOLERANCE,
    agree,
    cmake,
    given_values,
    least,
    made_values,
    table,
    test_program,
)
from .c_source import (
    FUSING,
    REAL,
    STORED,
    definitions,
    header,
    helpers,
    nominal_declarations,
    nominal_values,
    parameters,
)
from .listing import WORDS_OF_C, check_names, numbered_loops, title
from .sampled_listing import FUNCTIONS, MEMORY, NEXT, Sampled, inputs_of, outputs_of, paragraphs_of

RUNS, STEPS = 2, 4  # of the test

Arrays = dict[str, np.ndarray]


def c_memory(sampled: Sampled, name: str, states: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the texts of ``NAME.h``, ``NAME.c``, ``NAME_test.c`` and ``CMakeLists.txt``; ``states``: its steps."""
    words = WORDS_OF_C.split()
    members = [name for name in sampled.memory if name in words]
    for function, others in ((sampled.initial, []), (sampled, members)):
        check_names(function, [*words, *FUNCTIONS, "memory", "run"], others)
    test = _test(sampled, name, *_runs(sampled, states or {}))
    return {
        f"{name}.h": _header(sampled, name),
        f"{name}.c": _source(sampled, name),
        f"{name}_test.c": test,
        "CMakeLists.txt": cmake(name),
    }


# -- the source ------------------------------------------------------------------------------------------------------


def _prototypes(sampled: Sampled, name: str) -> tuple[str, str]:
    """Declarations of reset and step."""
    real, memory = REAL[sampled.dtype], f"{name}_memory *memory"
    outputs = [parameters([], outputs_of(sampled), real)]
    before = [parameters(ports, [], real) for ports in (sampled.initial.program.inputs, inputs_of(sampled))]
    reset, step = (
        ", ".join(filter(None, [given, memory, *more])) for given, more in zip(before, ([], outputs), strict=True)
    )
    return f"void {name}_reset({reset})", f"void {name}_step({step})"


def _header(sampled: Sampled, name: str) -> str:
    real = REAL[sampled.dtype]
    ports = [port for port in sampled.initial.program.outputs if port.size]
    members = "".join(f"    {real} {port.name.removeprefix(MEMORY)}[{port.size}];\n" for port in ports)
    declared = "".join(f"{each};\n" for each in _prototypes(sampled, name))
    text = [title(sampled), "", *paragraphs_of(sampled, name), STORED, FUSING]
    declared += nominal_declarations(sampled, name)
    return header(text, name, f"typedef struct {{\n{members}}} {name}_memory;\n\n{declared}")


def _source(sampled: Sampled, name: str) -> str:
    real, initial, step = REAL[sampled.dtype], sampled.initial.program, sampled.program
    programs, loops = (initial, step), numbered_loops((initial, step))
    parts = [f'#include "{name}.h"\n\n#include <math.h>', *nominal_values(sampled, name)]
    parts += helpers(programs, real)
    for program, prototype, function in zip(programs, _prototypes(sampled, name), FUNCTIONS, strict=True):
        declared = f"static void {function}({parameters(program.inputs, program.outputs, real)})"
        parts += definitions(program, declared, real, loops, f"{function}_part")
        ports = (*program.inputs, *program.outputs)
        given = ", ".join(_place(sampled, port.name) for port in ports if port.size)
        parts.append(f"{prototype}\n{{\n    {function}({given});\n}}")
    return "\n\n".join(parts) + "\n"


def _place(sampled: Sampled, name: str) -> str:
    """Where the values of a port are."""
    places = {before + each: f"memory->{each}" for each in sampled.memory for before in (MEMORY, NEXT)}
    return places.get(name, name)


# -- its test --------------------------------------------------------------------------------------------------------


def _runs(sampled: Sampled, states: Mapping[str, Any]) -> tuple[Arrays, Arrays, Arrays]:
    """Inputs of reset, inputs of steps, and results: arrays (runs, ...) and (runs, steps, ...), by name.

    Rounding matters little in them, so that the test can be strict.
    """
    ports = {port.name: port for port in inputs_of(sampled)}
    for name in states:
        if name not in ports:
            raise UnknownNameError("input", name, ports, where=f"states of {sampled.label.quantity}")
    lengths = {len(np.atleast_1d(array)) for array in states.values()} or {STEPS}
    if len(lengths) > 1 or 0 in lengths:
        got = ", ".join(map(str, sorted(lengths)))
        raise ShapeError("states are arrays with a row for each step", where=sampled.label.quantity, got=f"{got} rows")
    (steps,), runs, rng = lengths, 1 if states else CANDIDATES, np.random.default_rng(0)
    function = sampled.function

    def made(port: Port, number: int) -> np.ndarray:
        return made_values(function, port, number, rng).astype(sampled.dtype).astype(float)

    inputs = {}
    for name, port in ports.items():
        rows = given_values(port, states[name], steps) if name in states else made(port, runs * steps)
        inputs[name] = rows.astype(sampled.dtype).astype(float).reshape(runs, steps, *port.shape)
    start = {port.name: made(port, runs) for port in sampled.initial.program.inputs}
    exact = _results(sampled, start, inputs, lambda x: x)
    step = 4 * np.finfo(sampled.dtype).eps
    signs = lambda x: 1 + step * rng.choice((-1, 1), x.shape)  # noqa: E731
    others = (
        _results(sampled, start, inputs, rounded)
        for rounded in (
            lambda x: x * signs(x),
            lambda x: x.astype(sampled.dtype),
            lambda x: (x * signs(x)).astype(sampled.dtype),
        )
    )
    good = np.ones(runs, bool)
    for share, results in zip(SHARES, others, strict=True):
        for name, here in exact.items():
            good &= agree(here, results[name], share * TOLERANCE[sampled.dtype], 2).all(axis=1)
    if not good.any():
        raise LinkworkError(
            "no steps were found for the test at which rounding does not spoil the result",
            where=f"{sampled.label.quantity} of {sampled.label.robot}",
            fix="give some: states={'q': ..., ...}, arrays with a row for each step",
        )
    first, rows, results = ({key: x[good][:RUNS] for key, x in each.items()} for each in (start, inputs, exact))
    return first, rows, results


def _results(sampled: Sampled, start: Arrays, inputs: Arrays, rounded: Any) -> Arrays:
    """Outputs and memory after each step, (runs, steps, ...)."""
    runs, steps = next(iter(inputs.values())).shape[:2] if inputs else (CANDIDATES, STEPS)
    values = interpret(sampled.initial.program, [rounded(x) for x in start.values()])
    shapes = sampled.memory.items()
    memory = {
        MEMORY + name: np.broadcast_to(x, (runs, *shape)) for (name, shape), x in zip(shapes, values, strict=True)
    }
    rows = []
    for k in range(steps):
        known = {name: x[:, k] for name, x in inputs.items()} | memory
        results = interpret(sampled.program, [rounded(known[port.name]) for port in sampled.program.inputs])
        made = {port.name: np.broadcast_to(x, (runs, *port.shape))
                for port, x in zip(sampled.program.outputs, results, strict=True)}  # fmt: skip
        memory = {MEMORY + name: made[NEXT + name] for name in sampled.memory}
        rows.append(made)
    return {name: np.stack([row[name] for row in rows], axis=1) for name in rows[0]}


def _test(sampled: Sampled, name: str, start: Arrays, inputs: Arrays, results: Arrays) -> str:
    """A program that compares outputs and memory with those of linkwork's interpreter, in double precision."""
    real = REAL[sampled.dtype]
    runs, steps = next(iter(results.values())).shape[:2]
    flat = {key: x.reshape(runs * steps, *x.shape[2:]) for key, x in {**inputs, **results}.items()}
    rows = [(f"given_{key}", flat[key]) for key in inputs] + [(f"start_{key}", x) for key, x in start.items()]
    rows += [(f"expected_{key}", flat[key]) for key in results]
    tables = "".join(table(label, x, real) for label, x in rows if x[0].size)
    reset = "".join(f"start_{key}[run], " for key, x in start.items() if x[0].size)
    outputs = [port for port in outputs_of(sampled) if port.size]
    given: Sequence[str] = [f"given_{key}[row]" for key, x in inputs.items() if x[0, 0].size]
    arguments = ", ".join([*given, "&memory", *(port.name for port in outputs)])
    places = {port.name: port for port in outputs} | {
        NEXT + key: Port(key, shape) for key, shape in sampled.memory.items()
    }
    checks = "".join(
        f'            failures += check("{port.name}", {port.size}, {_place(sampled, key).replace("->", ".")},'
        f" expected_{key}[row]);\n"
        for key, port in places.items()
        if port.size
    )
    loop = f"""    for (int run = 0; run < {runs}; run++) {{
        {name}_memory memory;
        {name}_reset({reset}&memory);
        for (int row = {steps} * run; row < {steps} * (run + 1); row++) {{
{"".join(f"            {real} {port.name}[{port.size}];{chr(10)}" for port in outputs)}\
            {name}_step({arguments});
{checks}        }}
    }}
"""
    return test_program(name, sampled.dtype, tables, loop, f"{runs} runs of {steps} steps", least(sampled))
