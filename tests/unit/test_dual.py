"""Dual numbers: values and slopes of all that a formulation may assume of a number."""

import operator

import numpy as np
import pytest

from linkwork import scalar
from linkwork.program import Port, interpret, trace
from linkwork.scalar import Counted, Tally, is_zero
from linkwork.scalar.dual import Dual, change_of, dual, slope_of, value_of
from linkwork.spatial import Vector
from support.evaluate import STEP

X, Y = 0.7, -1.3
ONE = {
    name: getattr(scalar, name) for name in ("sin", "cos", "sqrt", "exp", "log", "tanh", "absolute", "positive_part")
} | {"neg": operator.neg, "square": lambda x: x**2, "reciprocal": lambda x: x**-1, "root": lambda x: x**0.5}
TWO = {name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv")} | {
    name: getattr(scalar, name) for name in ("atan2", "minimum", "maximum")
}


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("x", [X, 2.5])
def test_functions_of_one(name: str, x: float):
    found = ONE[name](dual(x, {3: 2.0, 5: -1.0}))
    slope = ONE[name](x + STEP * 1j).imag / STEP
    assert value_of(found) == pytest.approx(ONE[name](x), rel=1e-15)
    assert found.slopes == pytest.approx({3: 2 * slope, 5: -slope}, rel=1e-14)


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("swapped", [False, True])
def test_functions_of_two(name: str, swapped: bool):
    """Of two dual numbers, and of one with a plain one on either side."""
    act = TWO[name]
    x, y = (Y, X) if swapped else (X, Y)
    by_x, by_y = act(x + STEP * 1j, y).imag / STEP, act(x, y + STEP * 1j).imag / STEP
    a, b = dual(x, {0: 1.0, 1: 1.0}), dual(y, {1: 1.0, 2: 1.0})
    for left, right, expected in ((a, b, (by_x, by_x + by_y, by_y)), (a, y, (by_x, by_x, 0)), (x, b, (0, by_y, by_y))):
        found = act(left, right)
        assert value_of(found) == pytest.approx(act(x, y), rel=1e-15)
        assert [slope_of(found, k) for k in range(3)] == pytest.approx(list(expected), rel=1e-14)


def test_where_there_is_no_slope():
    zero = dual(0.0, {0: 1.0})
    assert scalar.sign(zero) == 0 and slope_of(abs(zero), 0) == slope_of(scalar.sqrt(zero), 0) == 0
    assert slope_of(zero**0.5, 0) == 0 and not slope_of(scalar.sqrt(dual(np.zeros(2), {0: 1.0})), 0).any()
    for choose in (scalar.minimum, scalar.maximum):
        assert slope_of(choose(zero, dual(0.0, {1: 1.0})), 0) == slope_of(choose(0.0, zero), 0) == 0.5


def test_no_slope_is_a_plain_number():
    x = dual(X, {0: 1.0})
    assert dual(X, {0: 0, 1: 0.0}) is X or not isinstance(dual(X, {0: 0}), Dual)
    assert x - x == 0.0 and x * 0 == 0 and not isinstance(scalar.sign(x), Dual)
    assert not isinstance(x + -x, Dual)


def test_a_value_of_zero_with_a_slope_is_no_zero():
    x = dual(X, {0: 1.0})
    change = change_of(x)
    assert value_of(change) == 0 and slope_of(change, 0) == 1.0
    assert not is_zero(change) and not is_zero(dual(0, {0: 1}))


def test_arrays_are_one_scalar():
    batch = np.array([0.2, 0.5])
    x = dual(X, {0: 1.0})
    for found, slope in (
        (batch * x, batch),
        (x * batch, batch),
        (batch + x, 1.0),
        (batch - x, -1.0),
        (x - batch, 1.0),
        (batch / x, -batch / X**2),
        (x / batch, 1 / batch),
        (np.float64(0.5) * x, 0.5),
        (np.sin(x), np.cos(X)),
        (np.abs(x), 1.0),
        (np.square(x), 2 * X),
        (np.power(x, 3), 3 * X**2),
        (x ** np.int64(3), 3 * X**2),
        (np.reciprocal(x), -1 / X**2),
        (np.arctan2(x, batch), batch / (X**2 + batch**2)),
        (scalar.cos(dual(batch, {0: 2.0})), -2 * np.sin(batch)),
    ):
        assert isinstance(found, Dual)
        np.testing.assert_allclose(slope_of(found, 0), slope, rtol=1e-15)
    for refused in (lambda: np.hypot(x, x), lambda: np.power(2.0, x), lambda: np.float64(2.0) ** x):
        with pytest.raises(TypeError):
            refused()


def test_vectors_of_them():
    x = dual(X, {0: 1.0})
    for scaled in (Vector(1, 2.0, x) * x, x * Vector(1, 2.0, x)):
        assert [slope_of(entry, 0) for entry in scaled] == [1.0, 2.0, 2 * X]
    with pytest.raises(TypeError):
        x + Vector()
    with pytest.raises(TypeError):
        x / Vector()


def test_nodes_and_counted_numbers():
    """Over other scalars: what is traced has the slope, and a count has what it took."""

    def run(x: list) -> dict:
        y = scalar.sin(dual(x[0], {0: 1})) * dual(x[1], {1: 1}) - x[0] / dual(x[1], {1: 1})
        return {"y": value_of(y), "slopes": [slope_of(y, 0), slope_of(y, 1)]}

    y, slopes = interpret(trace("f", run, [Port("x", (2,))]), [np.array([X, Y])])
    assert y == pytest.approx(np.sin(X) * Y - X / Y)
    np.testing.assert_allclose(slopes, [np.cos(X) * Y, np.sin(X) + X / Y**2], rtol=1e-15)
    tally = Tally()
    counted = run([tally.wrap(X), tally.wrap(Y)])
    assert all(isinstance(value, Counted) for value in (counted["y"], *counted["slopes"]))
    assert tally["sin"] == tally["cos"] == 1
    assert (tally.wrap(X) - dual(tally.wrap(Y), {0: 1})).slopes == {0: -1}
    assert (tally.wrap(X) / dual(tally.wrap(Y), {0: 1})).value.value == X / Y


def test_it_says_what_it_is():
    assert repr(dual(1.0, {0: 2.0})) == "Dual(1.0, {0: 2.0})"
