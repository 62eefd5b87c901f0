"""A program as C99: straight-line code on the stack, without allocation, with sine and cosine of its own.

Every input is read before the first output is written, so an output may share the memory of an input. A program of
more than ``PART`` instructions is cut into several functions, because compilers take more than twice as long for twice
as many statements; values that outlive their part are kept in an array ``workspace``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite, isnan, pi
from typing import NamedTuple

import numpy as np

from ..codegen.native.sincos import COSINE, SINE, SPLIT_PARTS
from ..program import Op, Port, Program
from ..program.program import REPEAT, Loop
from ..quoting import in_c_comment
from .listing import (
    LOCAL,
    MADE,
    Exported,
    description,
    expression,
    nominal_tables,
    numbered_loops,
    title,
    value_names,
    wrapped,
)

PART = 8000  # instructions
REAL = {"float64": "double", "float32": "float"}
# pi/2 in three parts; n times the first two is exact for |x| <= LIMIT, fused or not
PARTS = {"double": SPLIT_PARTS, "float": ("0x1.92p+0", "0x1.fb4p-12", "0x1.4442d2p-24")}
LIMIT = {"double": 1e5, "float": 8e3}
LIBRARY = (Op.SQRT, Op.EXP, Op.LOG, Op.TANH, Op.ATAN2, Op.ABS)  # functions of math.h, by the same names
STORED = "SI units. Matrices are stored row by row. An output may share the memory of an input."
FUSING = (
    "A C compiler may fuse a product and a sum where it likes, so the last digits differ from those of native code of"
    " linkwork. Do not compile with -ffast-math, which spoils sine and cosine."
)


def c_source(function: Exported, name: str) -> dict[str, str]:
    """The header and the source, by file name."""
    program, real = function.program, REAL[function.dtype]
    prototype = f"void {name}({parameters(program.inputs, program.outputs, real)})"
    parts = [f'#include "{name}.h"\n\n#include <math.h>', *nominal_values(function, name)]
    parts += _code(program, prototype, real)
    return {f"{name}.h": _header(function, name, prototype), f"{name}.c": "\n\n".join(parts) + "\n"}


def nominal_array(name: str, port: Port) -> str:
    """The name of the array that holds the robot's own values of an input."""
    return f"{name}_nominal" if port.name == "parameters" else f"{name}_nominal_{port.name}"


def nominal_declarations(function: Exported, name: str) -> str:
    """Declarations of the arrays that hold the robot's own values of inputs."""
    real = REAL[function.dtype]
    tables = nominal_tables(function)
    arrays = [f"extern const {real} {nominal_array(name, port)}[{port.size}];\n" for port, _ in tables]
    return "".join(["\n/* The robot's own parameters; give them, or a changed copy. */\n", *arrays]) if arrays else ""


def nominal_values(function: Exported, name: str) -> Iterator[str]:
    """Definitions of these arrays."""
    real = REAL[function.dtype]
    for port, rows in nominal_tables(function):
        numbers = ((row, ", ".join(literal(x, real) for x in values)) for row, values in rows)
        lines = (f"    {values}, /* {in_c_comment(row)} */\n" for row, values in numbers)
        yield f"const {real} {nominal_array(name, port)}[{port.size}] = {{\n{''.join(lines)}}};"


def literal(number: float, real: str) -> str:
    """Return a number with as many digits as it takes to read the same number back."""
    value = float(np.float32(number)) if real == "float" else float(number)
    if not isfinite(value):
        return "NAN" if isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
    text = f"{np.float32(value)!s}f" if real == "float" else repr(value)
    return f"({text})" if value < 0 else text


def parameters(inputs: Sequence[Port], outputs: Sequence[Port], real: str) -> str:
    """C has no empty arrays: what has no entries is left out."""
    given = [f"const {real} {port.name}[{port.size}]" for port in inputs if port.size]
    return ", ".join(given + [f"{real} {port.name}[{port.size}]" for port in outputs if port.size])


def _header(function: Exported, name: str, prototype: str) -> str:
    def paragraphs() -> Iterator[str]:
        yield title(function)
        yield ""
        yield from description(function)
        yield ""
        yield STORED
        yield FUSING

    return header(paragraphs(), name, f"{prototype};\n{nominal_declarations(function, name)}")


def header(paragraphs: Iterable[str], name: str, declarations: str) -> str:
    """The text of a header with these paragraphs as its comment."""
    guard = f"{name.upper()}_H"
    return f"""/*
{wrapped(paragraphs, " * ", in_c_comment)}
 *
 * {MADE}.
 */
#ifndef {guard}
#define {guard}

#ifdef __cplusplus
extern "C" {{
#endif

{declarations}
#ifdef __cplusplus
}}
#endif

#endif
"""


def _code(program: Program, prototype: str, real: str) -> Iterator[str]:
    """Helpers, parts, and the function itself."""
    yield from helpers([program], real)
    yield from definitions(program, prototype, real, numbered_loops([program]))


def helpers(programs: Sequence[Program], real: str) -> Iterator[str]:
    """Functions that the code of these programs calls."""
    used = {op for program in programs for op in program.operations}
    if Op.SIGN in used:
        yield _sign(real)
    for op, name, relation in ((Op.MIN, "minimum", "<"), (Op.MAX, "maximum", ">")):
        if op in used:
            yield _choice(real, name, relation)
    for op, name, relation in ((Op.LESS, "less", "<"), (Op.LESS_EQUAL, "less_equal", "<=")):
        if op in used:
            yield _comparison(real, name, relation)
    if Op.SELECT in used:
        yield _selection(real)
    if used & {Op.SIN, Op.COS}:
        yield _sine_cosine(real)
    loops = numbered_loops(programs)
    for loop, k in loops.items():
        turn = f"static void body_{k}({parameters(loop.body.inputs, loop.body.outputs, real)})"
        yield from definitions(loop.body, turn, real, loops, f"body_{k}_part", in_place=True)
        yield _loop(loop, k, real)


def definitions(
    program: Program,
    prototype: str,
    real: str,
    loops: Mapping[Loop, int],
    part: str = "part",
    in_place: bool = False,
) -> Iterator[str]:
    """The function of a program after its parts, if it is long; ``part`` begins their names."""
    names = value_names(program, lambda number: literal(number, real))
    statements = list(_statements(program, names, real, loops))
    ending = list(_ending(program, names, in_place))
    if len(statements) <= PART:
        yield _definition(prototype, [*statements, *ending], {}, real, program.inputs)
        return
    parts = [statements[k : k + PART] for k in range(0, len(statements), PART)]
    kept = _kept([*parts, ending])
    workspace = Port("workspace", (len(kept),))
    for k, lines in enumerate(parts):
        signature = f"static void {part}{k}({parameters(program.inputs, [workspace], real)})"
        yield _definition(signature, lines, kept, real, [*program.inputs, workspace])
    given = ", ".join([*(port.name for port in program.inputs if port.size), "workspace"])
    calls = [Statement((), f"{part}{k}({given})") for k in range(len(parts))]
    yield _definition(prototype, [Statement((), f"{real} workspace[{len(kept)}]"), *calls, *ending], kept, real, ())


class Statement(NamedTuple):
    """A statement: the local variables that it defines (two for sine and cosine), and the expression.

    A run of a loop has a list of arguments as its expression, the number of the loop, and where in the array of these
    arguments the local variables are afterwards.
    """

    names: tuple[str, ...]
    text: str
    loop: int = -1
    places: tuple[int, ...] = ()


def _statements(program: Program, names: Sequence[str], real: str, loops: Mapping[Loop, int]) -> Iterator[Statement]:
    """Yield the statements: all angles, then their sines and cosines, which can overlap, then the rest."""
    early: set[int] = set()
    for k, (op, *args) in reversed([*program.numbered()]):
        if op in (Op.SIN, Op.COS) or k in early:
            early |= {k, *args}
    angles, runs = set(), dict(program.runs)
    for k, (op, *args) in sorted(program.numbered(), key=lambda numbered: numbered[0] not in early):
        if op >= REPEAT:
            run = program.final(op)[0], tuple(args)
            if final := runs.pop(run, None):
                given = ", ".join(names[a] for a in args)
                yield Statement(tuple(names[n] for n in final.values()), given, loops[run[0]], tuple(final))
        elif op not in (Op.SIN, Op.COS):
            text = expression(op, *(names[a] for a in args))
            of_float = real == "float" and op in LIBRARY
            yield Statement((names[k],), text.replace("(", "f(", 1) if of_float else text)
        elif args[0] not in angles:
            angles.add(args[0])
            yield Statement((f"sin_{names[k][4:]}", f"cos_{names[k][4:]}"), names[args[0]])


def _ending(program: Program, names: Sequence[str], in_place: bool) -> Iterator[Statement]:
    """The outputs are written last; an input that is a result is read before, unless it is sure to be there still: with
    ``in_place`` the only output is written over the only input from its first entry on."""
    places = [f"{port.name}[{k}]" for port in program.outputs for k in range(port.size)]
    inputs = [(k, r) for k, r in enumerate(program.results) if r < program.n_inputs]
    copies = {r: f"copy{r}" for k, r in inputs if not in_place or r < k}
    yield from (Statement((copy,), names[r]) for r, copy in copies.items())
    for place, r in zip(places, program.results, strict=True):
        yield Statement((), f"{place} = {copies.get(r, names[r])}")


def _kept(parts: Sequence[Sequence[Statement]]) -> dict[str, str]:
    """Locals that outlive the part they are made in -> their places in the workspace."""
    made = {name: k for k, part in enumerate(parts) for each in part for name in each.names}
    used = {name: k for k, part in enumerate(parts) for each in part for name in LOCAL.findall(each.text)}  # last one
    return {name: f"workspace[{n}]" for n, name in enumerate(name for name, k in used.items() if k > made[name])}


def _definition(
    prototype: str, statements: Sequence[Statement], kept: Mapping[str, str], real: str, arguments: Sequence[Port]
) -> str:
    lines = [line for statement in statements for line in _lines(statement, kept, real)]
    text = "\n".join(lines)
    unused = [port.name for port in arguments if port.size and not re.search(rf"\b{port.name}\[", text)]
    body = "".join(f"    {line};\n" for line in [*(f"(void){name}" for name in unused), *lines])
    return f"{prototype}\n{{\n{body}}}"


def _lines(statement: Statement, kept: Mapping[str, str], real: str) -> Iterator[str]:
    names, text, loop, places = statement
    text = LOCAL.sub(lambda match: kept.get(match[0], match[0]), text)
    if loop >= 0:
        run = f"run_{names[0].removeprefix('t')}"
        yield f"{real} {run}[] = {{{text}}}"
        yield f"loop_{loop}({run})"
        for name, place in zip(names, places, strict=True):
            yield f"{kept.get(name, f'const {real} {name}')} = {run}[{place}]"
        return
    own = [name for name in names if name not in kept]
    if len(names) < 2:
        yield f"const {real} {own[0]} = {text}" if own else f"{kept[names[0]]} = {text}" if names else text
        return
    if own:
        yield f"{real} {', '.join(own)}"
    yield f"sine_cosine({text}, {', '.join(f'&{kept.get(name, name)}' for name in names)})"


def _loop(loop: Loop, number: int, real: str) -> str:
    going = f" && x[0] != {literal(0, real)}" if loop.guarded else ""
    return f"""static void loop_{number}({real} x[{loop.body.n_inputs}])
{{
    for (long k = 0; k < {loop.turns}{going}; k++) {{
        body_{number}(x, x);
    }}
}}"""


# -- helpers -----------------------------------------------------------------------------------------------------


def _sign(real: str) -> str:
    one = literal(1, real)
    return f"""/* -1, 0 or 1; not a number stays so */
static {real} sign({real} x)
{{
    return x > 0 ? {one} : x < 0 ? -{one} : x;
}}"""


def _choice(real: str, name: str, relation: str) -> str:
    return f"""/* not a number if one of them is none */
static {real} {name}({real} a, {real} b)
{{
    return a {relation} b || isnan(a) ? a : b;
}}"""


def _comparison(real: str, name: str, relation: str) -> str:
    return f"""/* 1 or 0; 0 if one of them is not a number */
static {real} {name}({real} a, {real} b)
{{
    return a {relation} b ? {literal(1, real)} : {literal(0, real)};
}}"""


def _selection(real: str) -> str:
    return f"""static {real} select({real} condition, {real} if_true, {real} if_false)
{{
    return condition != {literal(0, real)} ? if_true : if_false;
}}"""


def _sine_cosine(real: str) -> str:
    """x = n pi/2 + r with |r| <= pi/4: two polynomials of r; the last two bits of n select polynomial and signs."""
    number = lambda x: literal(x, real)  # noqa: E731
    f, epsilon = ("f", "FLT_EPSILON") if real == "float" else ("", "DBL_EPSILON")
    parts = [number(float.fromhex(part)) for part in PARTS[real]]
    half, one = number(0.5), number(1)

    def polynomial(coefficients: Sequence[float]) -> str:
        """In pairs of coefficients: a shorter chain of dependent operations than one by one."""
        rows = [*map(number, coefficients)]
        pairs = [f"({' + r2 * '.join(rows[k : k + 2])})" for k in range(0, len(rows), 2)]
        value = pairs[-1]
        for pair in pairs[-2::-1]:
            value = f"({pair} + r4 * {value})"
        return value

    return f"""/* Errors below {epsilon}; by the library beyond {LIMIT[real]:g} and for what is not a number. */
static void sine_cosine({real} x, {real} *sine, {real} *cosine)
{{
    if (!(x >= -{number(LIMIT[real])} && x <= {number(LIMIT[real])})) {{
        *sine = sin{f}(x);
        *cosine = cos{f}(x);
        return;
    }}
    const int n = (int)(x * {number(2 / pi)} + (x < 0 ? -{half} : {half}));
    const {real} r = x - n * {parts[0]} - n * {parts[1]} - n * {parts[2]};
    const {real} r2 = r * r, r4 = r2 * r2;
    const {real} both[2] = {{
        r + r * r2 * {polynomial(SINE[real])},
        {one} - {half} * r2 + r4 * {polynomial(COSINE[real])}
    }};
    *sine = both[n & 1] * ({real})(1 - (n & 2));
    *cosine = both[(n + 1) & 1] * ({real})(1 - ((n + 1) & 2));
}}"""
