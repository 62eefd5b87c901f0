"""A folder with a function in C, a test of it, and a CMake file that builds both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import LinkworkError, ShapeError, UnknownNameError
from ..program import Port, Program, interpret
from .c_source import REAL, c_source, literal, nominal_array
from .listing import WORDS_OF_C, Exported, check_names

STATES = 5
CANDIDATES = 200
PAYLOAD = (2.0, 0.02, -0.03, 0.05, 0.02, 0.001, -0.002, 0.015, 0.003, 0.01)  # physically possible
TOLERANCE = {"float64": 1e-9, "float32": 1e-3}  # of the test, relative to the largest entry of an output
# Of the tolerance, by which the results of a test state may change: with other rounding of the inputs, and computed in
# the number type, from these inputs and from those rounded otherwise
SHARES = 0.01, 0.1, 0.1
LEAST = {"float64": 1e-3, "float32": 0.1}  # smaller outputs count as that large after loops: residuals are but rounding


def c_project(function: Exported, name: str, states: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the texts of ``NAME.h``, ``NAME.c``, ``NAME_test.c`` and ``CMakeLists.txt``; ``states``: test inputs."""
    check_names(function, WORDS_OF_C.split())
    test = _test(function, name, _states(function, states or {}))
    return c_source(function, name) | {f"{name}_test.c": test, "CMakeLists.txt": cmake(name)}


def _states(function: Exported, given: Mapping[str, Any]) -> list[np.ndarray]:
    """Return given or random states at which rounding matters little, so that the test can be strict."""
    ports = {port.name: port for port in function.program.inputs}
    for name in given:
        if name not in ports:
            raise UnknownNameError("input", name, ports, where=f"states of {function.label.quantity}")
    rng = np.random.default_rng(0)
    number = max((len(np.atleast_1d(array)) for array in given.values()), default=CANDIDATES)
    arrays = [
        given_values(port, given[name], number) if name in given else made_values(function, port, number, rng)
        for name, port in ports.items()
    ]
    arrays = [array.astype(function.dtype).astype(float) for array in arrays]
    step = 4 * np.finfo(function.dtype).eps
    nearby = [array * (1 + step * rng.choice((-1, 1), array.shape)) for array in arrays]
    computed = [[array.astype(function.dtype) for array in each] for each in (arrays, nearby)]
    exact, *others = (_results(function.program, each, number) for each in (arrays, nearby, *computed))
    good = np.ones(number, bool)
    for share, results in zip(SHARES, others, strict=True):
        for here, there in zip(exact, results, strict=True):
            good &= agree(here, there, share * TOLERANCE[function.dtype], 1, least(function))
    if not good.any():
        raise LinkworkError(
            "no state was found for the test at which rounding does not spoil the result",
            where=f"{function.label.quantity} of {function.label.robot}",
            fix="give some: states={'q': ..., ...}, arrays with a row for each state",
        )
    return [array[good][:STATES] for array in arrays]


def agree(exact: np.ndarray, other: np.ndarray, tolerance: float, axes: int, least: float = 0.0) -> np.ndarray:
    """Return where, along the first ``axes``, all entries are finite and agree, relative to the largest of them."""
    with np.errstate(invalid="ignore"):
        both = exact, exact - other
    scale, change = (np.max(np.abs(x), tuple(range(axes, x.ndim)), initial=0) for x in both)
    return np.isfinite(scale) & (change <= tolerance * np.maximum(scale, least))


def _results(program: Program, inputs: Sequence[np.ndarray], number: int) -> list[np.ndarray]:
    """Return the outputs for this number of states, also of a function without inputs."""
    arrays = zip(program.outputs, interpret(program, inputs), strict=True)
    return [np.broadcast_to(array, (number, *port.shape)) for port, array in arrays]


def made_values(function: Exported, port: Port, number: int, rng: np.random.Generator) -> np.ndarray:
    if nominal := function.label.nominal.get(port.name):
        of_payload = nominal.name.startswith("payload:")
        return np.array([PAYLOAD if of_payload else nominal.array(port)] * number)
    return rng.uniform(-1, 1, (number, *port.shape))


def given_values(port: Port, array: Any, number: int) -> np.ndarray:
    where, expected = f"states, input {port.name!r}", f"{(number, *port.shape)}, a row for each state"
    try:
        array = np.asarray(array).astype(float, casting="same_kind")
    except (TypeError, ValueError) as error:
        raise ShapeError("this is not an array of numbers", where=where, got=error, expected=expected) from error
    if array.shape != (number, *port.shape):
        raise ShapeError("wrong shape", where=where, got=array.shape, expected=expected)
    return array


def _nominal_arrays(function: Exported, name: str, inputs: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Return the inputs that are the robot's own in all states -> the arrays of C that hold them."""
    arrays = {}
    for port in function.program.inputs:
        nominal = function.label.nominal.get(port.name)
        if nominal and port.size and (inputs[port.name] == nominal.array(port).astype(function.dtype)).all():
            arrays[port.name] = nominal_array(name, port)
    return arrays


def least(function: Exported) -> float:
    """Return the size below which an output counts as zero."""
    return LEAST[function.dtype] if function.program.loops else 0


def _test(function: Exported, name: str, states: list[np.ndarray]) -> str:
    """A program that compares results with those of linkwork's interpreter, in double precision."""
    program, real = function.program, REAL[function.dtype]
    inputs = [(port.name, x) for port, x in zip(program.inputs, states, strict=True) if port.size]
    count = len(states[0]) if states else 1
    results = _results(program, states, count)
    outputs = [(port.name, y) for port, y in zip(program.outputs, results, strict=True) if port.size]
    own = _nominal_arrays(function, name, dict(inputs))
    tables = [table(f"given_{label}", x, real) for label, x in inputs if label not in own] + [
        table(f"expected_{label}", y, real) for label, y in outputs
    ]
    places = [f"        {real} {label}[{y[0].size}];\n" for label, y in outputs]
    given = [own.get(label, f"given_{label}[row]") for label, _ in inputs]
    arguments = ", ".join([*given, *(label for label, _ in outputs)])
    checks = [
        f'        failures += check("{label}", {y[0].size}, {label}, expected_{label}[row]);\n' for label, y in outputs
    ]
    loop = f"""    for (int row = 0; row < {count}; row++) {{
{"".join(places)}        {name}({arguments});
{"".join(checks)}    }}
"""
    return test_program(name, function.dtype, "".join(tables), loop, f"{count} states", least(function))


def table(label: str, array: np.ndarray, real: str) -> str:
    """The definition in C of an array with a row for each state."""
    rows = (", ".join(literal(x, real) for x in row) for row in array.reshape(len(array), -1).tolist())
    body = ",\n".join(f"    {{{row}}}" for row in rows)
    return f"static const {real} {label}[{len(array)}][{array[0].size}] = {{\n{body}\n}};\n"


def test_program(name: str, dtype: str, tables: str, loop: str, count: str, least: float) -> str:
    """A program in C that counts wrong entries in ``loop``; ``least``: below it an entry is as good as zero."""
    real = REAL[dtype]
    return f"""/* Compares {name} with results of linkwork. */
#include "{name}.h"

#include <math.h>
#include <stdio.h>

#define TOLERANCE {TOLERANCE[dtype]:g} /* relative to the largest entry */

{tables}
{_check(real, least) if "check(" in loop else ""}int main(void)
{{
    int failures = 0;
{loop}    printf("{name}: {count}, %d wrong entries\\n", failures);
    return failures != 0;
}}
"""


def _check(real: str, least: float) -> str:
    return f"""static int check(const char *what, int size, const {real} *got, const {real} *expected)
{{
    double scale = {least:g};
    int failures = 0;
    for (int k = 0; k < size; k++)
        scale = fmax(scale, fabs((double)expected[k]));
    for (int k = 0; k < size; k++) {{
        if (!(fabs((double)got[k] - (double)expected[k]) <= TOLERANCE * scale)) {{
            printf("%s[%d] is %.17g, expected %.17g\\n", what, k, (double)got[k], (double)expected[k]);
            failures++;
        }}
    }}
    return failures;
}}

"""


def cmake(name: str) -> str:
    return f"""cmake_minimum_required(VERSION 3.10)
project({name} C)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library({name} {name}.c)
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
set_target_properties({name} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
if(UNIX)
  target_link_libraries({name} PUBLIC m)
endif()

enable_testing()
add_executable({name}_test {name}_test.c)
set_target_properties({name}_test PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
target_link_libraries({name}_test {name})
add_test(NAME {name} COMMAND {name}_test)
"""
