"""Stages: a program in two, what depends on parameters alone and the rest; and a program with known inputs.

Instructions stay as they are, or are left out where that is exact. So results have the bits of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .counts import depends_on_state
from .passes.dead import rebuild
from .program import ARITY, PARAMETER, REPEAT, STATE, Op, Port, Program

PREPARED = "prepared"  # the vector that the second stage takes from the first
Value = int | float  # the number of a value, or what it is


def split_stages(program: Program, tangents: Mapping[str, Program] = {}) -> tuple[Program, Program, dict[str, Program]]:
    """Return the program of what depends on parameters alone, whose output is the vector ``prepared``, and the program
    of the rest, which takes this vector in place of the parameters.

    So do the ``tangents``, programs of some of the same inputs.
    """
    on_line = depends_on_state(program)
    constants = range(program.n_inputs, program.first_instruction)
    parameters, states = (
        tuple(p for p in program.inputs if (p.stage == PARAMETER) == early) for early in (True, False)
    )
    used = {a for number, code in program.numbered() if on_line[number] for a in code[1:]} | {*program.results}
    of_tangents = {port for tangent in tangents.values() for port in tangent.inputs}
    used |= {*_numbers(program, [port for port in parameters if port in of_tangents])}
    handed = sorted(k for k in used if not on_line[k] and k not in constants)
    vector = Port(PREPARED, (len(handed),))
    later = (*states, replace(vector, stage=PARAMETER))
    early = tuple(replace(port, stage=STATE) for port in parameters)
    before = replace(program, name=f"{program.name}_preparation", inputs=early, outputs=(vector,))
    after = replace(program, name=f"{program.name}_{PREPARED}", inputs=later)
    given = [*_numbers(program, states), *handed]
    return (
        _stage(
            program, before, _numbers(program, parameters), [k for k, late in enumerate(on_line) if not late], handed
        ),
        _stage(program, after, given, [k for k, late in enumerate(on_line) if late], program.results),
        {name: _as_later(tangent, program, later, given) for name, tangent in tangents.items()},
    )


def _as_later(tangent: Program, program: Program, inputs: tuple[Port, ...], given: Sequence[int]) -> Program:
    """Return a program of some inputs of ``program`` as one of ``inputs``, which hold the values ``given`` of it."""
    own = dict(zip(_numbers(program, tangent.inputs), range(tangent.n_inputs), strict=True))
    places = [own.get(k, -1 - n) for n, k in enumerate(given)]  # negative: not one of the tangent
    part = replace(tangent, inputs=inputs)
    return _stage(tangent, part, places, range(tangent.n_values), tangent.results)


def _stage(
    program: Program, part: Program, given: Sequence[int], computed: Sequence[int], results: Sequence[int]
) -> Program:
    """Return ``part`` with those instructions of the program whose values are among ``computed``.

    ``given``: the numbers, in the program, of the values that the inputs of the part hold.
    """
    first, constants = program.first_instruction, range(program.n_inputs, program.first_instruction)
    kept = [k for k in computed if k >= first]
    new = {k: n for n, k in enumerate([*given, *constants])}
    for k in kept:
        new.setdefault(k, len(new))
    codes = (program.instructions[k - first] for k in kept)
    code = tuple((op, *(new[a] for a in args)) for op, *args in codes)
    part = replace(part, instructions=code, results=tuple(new[k] for k in results))
    return rebuild(part, part.numbered(), part.results)


def _numbers(program: Program, ports: Sequence[Port]) -> list[int]:
    """Return the numbers of the values that some inputs hold."""
    starts, start = {}, 0
    for port in program.inputs:
        starts[port.name] = start
        start += port.size
    return [k for port in ports for k in range(starts[port.name], starts[port.name] + port.size)]


def with_known(program: Program, known: Mapping[str, Sequence[float]]) -> Program:
    """Return the program without some inputs, whose numbers are known. Products with 0 and 1 and sums with 0 are left
    out, which is exact for finite numbers."""
    inputs = tuple(port for port in program.inputs if port.name not in known)
    n_inputs = sum(port.size for port in inputs)
    free = iter(range(n_inputs))
    at: list[Value] = []  # for each value of the program: its number in the new one, or the constant that it is
    for port in program.inputs:
        at += map(float, known[port.name]) if port.name in known else [next(free) for _ in range(port.size)]
    at += program.constants
    code: list[tuple[Value, ...]] = []
    for op, *args in program.instructions:
        values = [at[a] for a in args]
        made = (op, *values) if op >= REPEAT else _simplified(op, *values)
        if isinstance(made, tuple):
            code.append(made)
            made = n_inputs + len(code) - 1
        at.append(made)
    results = [at[k] for k in program.results]
    constants = list(dict.fromkeys(x for row in (*(args for _, *args in code), results) for x in row if _known(x)))
    places = {x: n_inputs + k for k, x in enumerate(constants)}

    def number(value: Any) -> int:
        return places[value] if _known(value) else value + len(constants) * (value >= n_inputs)

    bound = replace(
        program,
        inputs=inputs,
        constants=tuple(constants),
        instructions=tuple((int(op), *map(number, args)) for op, *args in code),
        results=tuple(map(number, results)),
    )
    return rebuild(bound, bound.numbered(), bound.results)


def _known(value: Value) -> bool:
    return isinstance(value, float)


def _is(value: Any, number: float) -> bool:
    return isinstance(value, float) and value == number


def _negative(value: Value) -> Any:
    return -value if _known(value) else (Op.NEG, value)


def _simplified(op: int, a: Value, b: Any = None, c: Any = None) -> Any:
    """Return an instruction, or the value that it is exactly."""
    if op in (Op.MUL, Op.FMA, Op.FMS, Op.FNMA) and (_is(b, 0.0) or _is(b, 1.0) or _is(b, -1.0)):
        a, b = b, a
    nothing, same, opposite = _is(a, 0.0), _is(a, 1.0), _is(a, -1.0)
    if op == Op.NEG and _known(a):
        return -a
    if op == Op.MUL and (nothing or same or opposite):
        return 0.0 if nothing else b if same else _negative(b)
    if op == Op.DIV and _is(b, 1.0):
        return a
    if op == Op.ADD and (nothing or _is(b, 0.0)):
        return b if nothing else a
    if op == Op.SUB and (nothing or _is(b, 0.0)):
        return a if _is(b, 0.0) else _negative(b)
    if op in (Op.FMA, Op.FNMA) and nothing:
        return c
    if op == Op.FMS and nothing:
        return _negative(c)
    if same and op in (Op.FMA, Op.FMS, Op.FNMA):
        return _simplified(*{Op.FMA: (Op.ADD, b, c), Op.FMS: (Op.SUB, b, c), Op.FNMA: (Op.SUB, c, b)}[Op(op)])
    if opposite and op in (Op.FMA, Op.FNMA):
        return _simplified(Op.SUB if op == Op.FMA else Op.ADD, c, b)
    if op in (Op.FMA, Op.FMS) and _is(c, 0.0):
        return _simplified(Op.MUL, a, b)
    return (op, a, b, c)[: ARITY[Op(op)] + 1]
