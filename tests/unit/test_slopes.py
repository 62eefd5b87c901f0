"""The slope of each operation against a complex step of the interpreter through it."""

import numpy as np
import pytest

from linkwork.derive.slopes import SLOPES, slopes
from linkwork.program import Op, Port, Program, interpret
from linkwork.program.program import ARITY

STEP = 1e-30


@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_slopes(op):
    n = ARITY[op]
    program = Program("one", (Port("x", (n,)),), (Port("y", ()),), (), ((int(op), *range(n)),), (n,))
    x = np.random.default_rng(op).uniform(-2, 2, (50, n))
    if op in (Op.SQRT, Op.LOG):
        x = np.abs(x)
    (y,) = interpret(program, [x])
    found = dict(slopes(op, range(n), x.T, y))
    for k in range(n):
        (moved,) = interpret(program, [x + STEP * 1j * np.eye(n)[k]])
        np.testing.assert_allclose(np.broadcast_to(found[k], 50), moved.imag / STEP, rtol=1e-13, atol=1e-15)


def test_where_there_is_no_slope():
    assert SLOPES[Op.ABS](0.0, 0.0) == (0,) and SLOPES[Op.SIGN](0.0, 0.0) == (0,)
    assert SLOPES[Op.MIN](1.0, 1.0, 1.0) == SLOPES[Op.MAX](1.0, 1.0, 1.0) == (0.5, 0.5)
