"""Passes keep inputs, outputs and values; each does what it is there for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.program import PARAMETER, Op, Port, Program, count, interpret, optimize, trace
from linkwork.program.passes import (
    CUSTOMISING,
    absorb_signs,
    angle_sums,
    collect_terms,
    customise,
    factor,
    fuse_multiply_add,
    order_for_registers,
    rescale,
    share_products,
    share_sums,
    squares_of_sine_and_cosine,
)
from linkwork.program.passes.dead import rebuild
from linkwork.program.passes.flat import work
from linkwork.program.program import ARITY
from linkwork.scalar import cos, sign, sin, sqrt


def remove_dead_code(program: Program) -> Program:
    """What every pass ends with."""
    return rebuild(program, program.numbered(), program.results)


PASSES = [absorb_signs, fuse_multiply_add, order_for_registers, remove_dead_code]
CONSTANTS = (0.5, -2.0, 3.0)
MILD = [op for op in Op if op not in (Op.DIV, Op.SQRT, Op.EXP, Op.LOG)]  # finite everywhere


@st.composite
def programs(draw) -> Program:
    """Straight-line programs of any shape, dead code and repeated results among them."""
    first = 3 + len(CONSTANTS)
    instructions = []
    for k in range(draw(st.integers(0, 25))):
        op = draw(st.sampled_from(MILD))
        near = st.integers(0, first + k - 1)
        instructions.append((int(op), *(draw(near) for _ in range(ARITY[op]))))
    values = st.integers(0, first + len(instructions) - 1)
    results = tuple(draw(st.lists(values, min_size=1, max_size=4)))
    ports = (Port("x", (3,)),), (Port("y", (len(results),)),)
    return Program("random", *ports, CONSTANTS, tuple(instructions), results).check()


@pytest.mark.parametrize("transform", PASSES, ids=lambda f: f.__name__)
@given(program=programs())
def test_a_pass_keeps_values(transform, program: Program):
    x = np.array([[0.3, -1.2, 0.8], [1.1, 0.4, -0.9]])
    made = transform(program).check()
    assert (made.inputs, made.outputs) == (program.inputs, program.outputs)
    (before,), (after,) = interpret(program, [x]), interpret(made, [x])
    assert np.allclose(after, before, rtol=1e-12, atol=1e-12 * np.abs(before).max(where=np.isfinite(before), initial=1))
    assert count(made).instructions <= count(program).instructions


TAMED = (Op.SIN, Op.COS, Op.EXP, Op.ATAN2, Op.LESS, Op.LESS_EQUAL, Op.SELECT)  # taken of inputs only
PLAIN = [Op.ADD, Op.SUB, Op.MUL] * 4 + [Op.DIV, Op.NEG, Op.SIN, Op.COS] * 2
PLAIN += [Op.TANH, Op.EXP, Op.ATAN2, Op.ABS, Op.MIN, Op.MAX, Op.LESS, Op.LESS_EQUAL, Op.SELECT]


@st.composite
def plain_programs(draw) -> Program:
    """Sums, products, quotients and waves of a few values, so that much is common; nothing fused."""
    numbers = (0.5, 2.0, 3.0, 1.0, 0.25)
    first = 3 + len(numbers)
    instructions = []
    for k in range(draw(st.integers(1, 30))):
        op = draw(st.sampled_from(PLAIN))
        near = st.integers(max(0, k - 8) if draw(st.booleans()) else 0, first + k - 1)
        arguments = [draw(near) for _ in range(ARITY[op])]
        if op == Op.DIV:  # by an input, which is not zero
            arguments[1] = draw(st.integers(0, 2))
        if op in TAMED:
            arguments = [draw(st.integers(0, 2)) for _ in arguments]
        instructions.append((int(op), *arguments))
    values = st.integers(first, first + len(instructions) - 1)
    results = tuple(draw(st.lists(values, min_size=1, max_size=4)))
    ports = (Port("x", (3,)),), (Port("y", (len(results),)),)
    return Program("plain", *ports, numbers, tuple(instructions), results).check()


def one_instruction(op: int) -> Program:
    ports = [Port(name, ()) for name in "abc"[: ARITY[Op(op)]]]
    return Program("one", tuple(ports), (Port("y", ()),), (), ((op, *range(len(ports))),), (len(ports),))


def with_error_bounds(program: Program, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Results, and how far rounding can have carried each of them off, to first order."""
    unit = np.finfo(float).eps
    values = [(float(c), 0.0) for c in (*x, *program.constants)]
    for op, *args in program.instructions:
        (a, da), (b, db) = (values[k] for k in (args * 2)[:2])
        if op in (Op.ADD, Op.SUB):
            made, error = a + b if op == Op.ADD else a - b, da + db + unit * (abs(a) + abs(b))
        elif op == Op.MUL:
            made, error = a * b, abs(a) * db + abs(b) * da
        elif op == Op.DIV:
            made, error = a / b, da / abs(b) + abs(a / b / b) * db
        else:  # none of which changes faster than its arguments, where these are not exact
            numbers = [values[k][0] for k in args]
            made, error = float(interpret(one_instruction(op), numbers)[0]), max(values[k][1] for k in args)
        values.append((made, error + 2 * unit * abs(made)))
    found = [values[r] for r in program.results]
    return np.array([y for y, _ in found]), np.array([error for _, error in found])


@pytest.mark.parametrize("transform", [*CUSTOMISING, customise, optimize], ids=lambda f: f.__name__)
@given(program=plain_programs())
def test_fewer_operations_and_values_within_rounding(transform, program: Program):
    made = transform(program).check()
    assert (made.inputs, made.outputs) == (program.inputs, program.outputs)
    before, after = count(program), count(made)
    assert made is program or transform is optimize or work(after) < work(before)
    assert after.instructions <= before.instructions
    assert transform(program).to_json() == made.to_json()  # the same every time
    for x in np.array([[0.7, -1.2, 0.8], [1.1, 0.4, -0.9]]):
        (y, bound), (z, _) = with_error_bounds(program, x), (interpret(made, [x])[0], 0)
        assert np.all((np.abs(z - y) <= 8 * bound) | ~(bound < 1e300))


def programmed(text: str, parameters: int = 0) -> Program:
    """The program of expressions in a, b, c, d (and, if asked for, a parameter p)."""
    names = {"sin": sin, "cos": cos, "sqrt": sqrt, "sign": sign}
    function = eval(f"lambda x, *p: {{'y': (lambda a, b, c, d, p: [{text}])(*x, p[0][0] if p else 0)}}", names)
    ports = [Port("x", (4,)), *([Port("p", (parameters,), PARAMETER)] if parameters else [])]
    return trace("toy", function, ports)


LOWERED = [  # a pass, expressions, (mul, add, sincos) before and after
    (factor, "a * b + a * c", (2, 1, 0), (1, 1, 0)),
    (factor, "a * b - c * b + b * d", (3, 2, 0), (1, 2, 0)),
    (factor, "2 * a + 3 * a", (2, 1, 0), (1, 0, 0)),
    (factor, "a + 3 * a", (1, 1, 0), (1, 0, 0)),
    (factor, "3 * a + 3 * b", (2, 1, 0), (1, 1, 0)),
    (factor, "a * b * c + a * b * d", (3, 1, 0), (2, 1, 0)),
    (factor, "a * (b + 2) + a * 3", (2, 2, 0), (1, 2, 0)),
    (customise, "a * (b + 2) + a * 3", (2, 2, 0), (1, 1, 0)),
    (collect_terms, "(a + 2) + 3", (0, 2, 0), (0, 1, 0)),
    (collect_terms, "(2 - a) * b, (3 + a) * c, (2 - a) + (3 + a)", (2, 3, 0), (2, 2, 0)),
    (collect_terms, "(a + b) * c, (a + b) + d - b", (1, 3, 0), (1, 2, 0)),
    (share_sums, "a + b + c, d - b - a", (0, 4, 0), (0, 3, 0)),
    (share_sums, "a + c - b, b + d - a", (0, 4, 0), (0, 3, 0)),
    (share_sums, "a + c + b, a + d + b, c + d", (0, 5, 0), (0, 4, 0)),
    (share_products, "a * b * c, a * d * b", (4, 0, 0), (3, 0, 0)),
    (share_products, "a * a * a * a", (3, 0, 0), (3, 0, 0)),
    (share_products, "a * b + (a * b - c), a * d + (a * d - b)", (2, 4, 0), (3, 2, 0)),
    (rescale, "2 * (3 * (a * b) + 5 * (c * d))", (5, 1, 0), (4, 1, 0)),
    (rescale, "7 * ((3 * a) * b)", (3, 0, 0), (2, 0, 0)),
    (rescale, "(2 * a) / b", (1, 0, 0), (1, 0, 0)),
    (squares_of_sine_and_cosine, "sin(a) * sin(a) + cos(a) * cos(a) + b", (2, 2, 1), (0, 1, 0)),
    (squares_of_sine_and_cosine, "(b * sin(a)) * (b * sin(a)) + (b * cos(a)) * (b * cos(a)), b * b, b * sin(a)",
     (5, 1, 1), (2, 0, 1)),
    (squares_of_sine_and_cosine, "1 - sin(a) * sin(a), cos(a) * cos(a)", (2, 1, 1), (1, 0, 1)),
    (angle_sums, "sin(a) * cos(b) + cos(a) * sin(b)", (2, 1, 2), (0, 1, 1)),
    (angle_sums, "c * (cos(a) * cos(b)) + c * (sin(a) * sin(b))", (4, 1, 2), (1, 1, 1)),
    (angle_sums, "sin(a), cos(a), sin(b), cos(b), sin(a + b), cos(a + b)", (0, 1, 3), (4, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("lower, text, before, after", LOWERED, ids=lambda x: getattr(x, "__name__", str(x)))
def test_what_each_pass_is_for(lower, text: str, before, after):
    program = programmed(text)
    made = lower(program)
    for one, expected in ((program, before), (made, after)):
        done = count(one)
        assert (done.mul, done.add, done.sincos) == expected
    x = np.array([[0.3, -1.2, 0.8, 1.7]])
    assert np.allclose(interpret(made, [x])[0], interpret(program, [x])[0], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("lower", CUSTOMISING, ids=lambda f: f.__name__)
def test_what_is_fused_is_left_alone(lower):
    program = fuse_multiply_add(programmed("a * b + a * c + 2 * (3 * a * b)"))
    assert lower(program) is program


def test_no_unit_that_leaves_the_range_of_floats():
    program = programmed("1e30 * (1e-30 * a * b + c)")
    assert all(1e-31 < abs(c) < 1e31 for c in rescale(program).constants)


def test_units_that_add_up_beyond_the_range_of_floats_are_not_taken():
    """Two thousand factors of 1.5 each."""

    def product(x):
        y = x[0]
        for k in range(2000):
            y = (1.5 + k / 4096) * (y * x[k % 4])
        return {"y": y}

    program = trace("far", product, [Port("x", (4,))])
    assert rescale(program) is program


def test_units_that_depend_on_each_other_a_thousand_deep():
    """Each sum settles the unit of a value by that of the value before it."""

    def pairs(x):
        values = [(1 + k / 1024) * sin((1 + k) * x[k % 4]) for k in range(1200)]
        return {"y": [(b + a) * x[0] for a, b in zip(values[-2::-1], values[:0:-1], strict=True)]}

    program = trace("deep", pairs, [Port("x", (4,))])
    made, x = rescale(program), np.array([0.3, -1.2, 0.8, 1.7])
    assert np.allclose(interpret(made, [x])[0], interpret(program, [x])[0], rtol=1e-13, atol=1e-13)


def test_work_off_line_is_not_put_on_line():
    program = programmed("(p * 2) * a + (p * 2) * b, (p + 1) + a + b, (p + 1) * b", parameters=1)
    made = customise(program)
    x, p = np.array([0.3, -1.2, 0.8, 1.7]), np.array([0.6])
    assert count(made).instructions < count(program).instructions
    assert count(made, off_line=True).instructions <= count(program, off_line=True).instructions
    assert np.allclose(interpret(made, [x, p])[0], interpret(program, [x, p])[0], rtol=1e-14)


def toy(*instructions, results: tuple[int, ...], inputs: int = 4) -> Program:
    return Program("toy", (Port("x", (inputs,)),), (Port("y", (len(results),)),), (), instructions, results).check()


def names(program: Program) -> list[str]:
    return [Op(op).name for op, *_ in program.instructions]


def test_dead_code_and_dead_constants_go():
    program = replace(toy((Op.ADD, 0, 1), (Op.MUL, 0, 1), results=(4,)), constants=(), name="toy")
    assert names(remove_dead_code(program)) == ["ADD"]
    unused = Program("toy", (Port("x", (1,)),), (Port("y", (1,)),), (5.0, 7.0), ((Op.ADD, 0, 2),), (3,))
    assert remove_dead_code(unused).constants == (7.0,)


@pytest.mark.parametrize(
    "instructions, result, expected",
    [
        (((Op.MUL, 0, 1), (Op.ADD, 4, 2)), 5, ["FMA"]),
        (((Op.MUL, 0, 1), (Op.ADD, 2, 4)), 5, ["FMA"]),
        (((Op.MUL, 0, 1), (Op.SUB, 4, 2)), 5, ["FMS"]),
        (((Op.MUL, 0, 1), (Op.SUB, 2, 4)), 5, ["FNMA"]),
        (((Op.MUL, 0, 1), (Op.MUL, 2, 3), (Op.ADD, 4, 5)), 6, ["MUL", "FMA"]),
        (((Op.MUL, 0, 1), (Op.ADD, 4, 4)), 5, ["MUL", "ADD"]),
    ],
)
def test_fused(instructions, result, expected):
    program = toy(*instructions, results=(result,))
    assert names(fuse_multiply_add(program)) == expected
    before, after = count(program), count(fuse_multiply_add(program))
    assert (before.mul, before.add) == (after.mul, after.add)


def test_a_product_that_is_a_result_is_not_fused():
    program = toy((Op.MUL, 0, 1), (Op.ADD, 4, 2), results=(4, 5))
    assert names(fuse_multiply_add(program)) == ["MUL", "ADD"]


def test_signs_are_absorbed_by_differences_of_one_use():
    program = toy((Op.SUB, 0, 1), (Op.NEG, 4), results=(5,))
    assert absorb_signs(program).instructions == ((Op.SUB, 1, 0),)
    shared = toy((Op.SUB, 0, 1), (Op.NEG, 4), results=(4, 5))
    assert names(absorb_signs(shared)) == ["SUB", "NEG"]


def test_order_keeps_few_values_alive():
    """Sums of products, all products first: ordered, each product is used before the next is made."""
    pairs = [(Op.MUL, k, k + 1) for k in range(8)]
    sums = [(Op.ADD, 9 + 8 + k - 1 if k else 9, 9 + k + 1) for k in range(7)]
    program = toy(*pairs, *sums, results=(9 + 8 + 6,), inputs=9)
    assert _most_alive(order_for_registers(program)) < _most_alive(program)


def _most_alive(program: Program) -> int:
    last = {a: n for n, (_, *args) in program.numbered() for a in args} | {r: program.n_values for r in program.results}
    made = [n for n, _ in program.numbered()]
    return max(sum(m <= n < last[m] for m in made) for n in made)
