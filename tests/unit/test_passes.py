"""Passes keep inputs, outputs and values; each does what it is there for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.program import Op, Port, Program, count, interpret, optimize
from linkwork.program.passes import absorb_signs, fuse_multiply_add, order_for_registers, remove_dead_code
from linkwork.program.program import ARITY

PASSES = [absorb_signs, fuse_multiply_add, order_for_registers, remove_dead_code, optimize]
CONSTANTS = (0.5, -2.0, 3.0)
MILD = [op for op in Op if op not in (Op.DIV, Op.SQRT)]  # defined everywhere


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
