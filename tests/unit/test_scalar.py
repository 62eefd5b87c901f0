"""Functions of scalars, and the number that counts what is done with it."""

import math

import numpy as np
import pytest

from linkwork.program.graph import Graph
from linkwork.scalar import (
    Counted,
    Tally,
    absolute,
    atan2,
    cos,
    exp,
    is_zero,
    log,
    maximum,
    minimum,
    sign,
    sin,
    sqrt,
    tanh,
)
from linkwork.scalar.dual import Dual, slope_of, value_of

FUNCTIONS = {
    "sin": (sin, np.sin), "cos": (cos, np.cos), "sqrt": (sqrt, np.sqrt), "sign": (sign, np.sign), "exp": (exp, np.exp),
    "log": (log, np.log), "tanh": (tanh, np.tanh), "abs": (absolute, np.abs),
}  # fmt: skip
OF_TWO = {"atan2": (atan2, np.arctan2), "min": (minimum, np.minimum), "max": (maximum, np.maximum)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_on_every_kind_of_number(name: str):
    ours, numpy = FUNCTIONS[name]
    for value in (2, 0.7, np.float64(0.7), np.array([0.1, 0.7])):
        assert np.allclose(ours(value), numpy(value), rtol=1e-15, atol=0)
    assert ours(Counted(0.7, tally := Tally())).value == pytest.approx(float(numpy(0.7)), rel=1e-15)
    assert tally == {name: 1}
    assert repr(ours(Graph().input(0))) == f"<%1 = {name.upper()} %0>"


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_numbers(name: str):
    ours, numpy = OF_TWO[name]
    array = np.array([-0.1, 0.7])
    for pair in [(2, 0.7), (-0.3, np.float64(0.7)), (array, 0.2), (array, -array), (np.nan, 1.0), (1.0, np.nan)]:
        assert np.allclose(ours(*pair), numpy(*pair), rtol=1e-15, atol=0, equal_nan=True)
    for a, b in ((True, True), (True, False), (False, True)):
        x, y = (Counted(v, tally) if on_line else v for tally in [Tally()] for v, on_line in ((0.7, a), (1.25, b)))
        assert ours(x, y).value == pytest.approx(float(numpy(0.7, 1.25)), rel=1e-15)
        assert (x if a else y).tally == {name: 1}
    assert repr(ours(node := Graph().input(0), 1.25)) == f"<%1 = {name.upper()} %0 1.25>"
    assert repr(ours(1.25, node)) == ("<%2 = ATAN2 1.25 %0>" if name == "atan2" else f"<%1 = {name.upper()} %0 1.25>")


def test_beyond_their_domain():
    """Plain numbers go where those of arrays and of native code go."""
    assert (exp(1000.0), exp(-1000.0), log(0), tanh(400)) == (math.inf, 0.0, -math.inf, 1.0)
    assert math.isnan(log(-1.0)) and math.isnan(minimum(math.nan, 1.0))
    assert atan2(0.0, -1.0) == math.pi == -atan2(-0.0, -1.0) and math.copysign(1, atan2(-0.0, 0.0)) == -1


STEPS = {  # derivatives of functions of one number, at which a complex step goes through them
    "exp": (exp, np.exp), "log": (log, lambda x: 1 / x), "tanh": (tanh, lambda x: 1 / np.cosh(x) ** 2),
    "abs": (lambda x: absolute(x - 1), lambda x: np.sign(x - 1)),
    "min": (lambda x: minimum(x * x, x), lambda x: np.where(x < 1, 2 * x, 1)),
    "max": (lambda x: maximum(1.5, x * x), lambda x: 2 * x * (x * x > 1.5)),
    "atan2": (lambda x: atan2(x - 1, 3 - 2 * x), lambda x: 1 / ((x - 1) ** 2 + (3 - 2 * x) ** 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_complex_steps(name: str):
    function, derivative = STEPS[name]
    x = np.array([0.1, 0.7, 1.3, 2.9])
    made = function(x + 1e-30j)
    assert np.allclose(made.real, function(x), rtol=1e-15, atol=0)
    assert np.allclose(made.imag / 1e-30, derivative(x), rtol=1e-14, atol=0)
    assert function(0.7 + 1e-30j) == made[1] and np.isnan(function(complex(np.nan, 0)))


@pytest.mark.parametrize("name", STEPS)
def test_duals(name: str):
    function, derivative = STEPS[name]
    for x in (0.1, 0.7, 1.3, 2.9, np.array([0.1, 2.9])):
        made = function(Dual(x, {3: 2.0}))
        np.testing.assert_allclose(value_of(made), function(x), rtol=1e-15)
        np.testing.assert_allclose(slope_of(made, 3), 2 * derivative(x), rtol=1e-14, atol=1e-15)


def test_duals_of_two_numbers():
    a, b = Dual(0.7, {0: 1.0, 1: 3.0}), Dual(-1.3, {1: 2.0, 2: 1.0})
    size = 0.7**2 + 1.3**2
    by_a, by_b = -1.3 / size, -0.7 / size
    assert atan2(a, b).slopes == pytest.approx({0: by_a, 1: 3 * by_a + 2 * by_b, 2: by_b})
    assert minimum(a, b).slopes == b.slopes and maximum(b, a).slopes == a.slopes
    assert value_of(minimum(a, -0.7)) == -0.7 and slope_of(minimum(a, -0.7), 0) == 0
    assert maximum(1.0, Dual(1.0, {0: 1.0})).slopes == {0: 0.5}  # half of each where they are equal


def test_functions_of_complex_numbers():
    z = 0.7 + 0.2j
    assert (
        sin(z) == pytest.approx(np.sin(z)) and cos(z) == pytest.approx(np.cos(z)) and sqrt(z) == pytest.approx(z**0.5)
    )


def test_sign():
    assert [sign(x) for x in (-2.5, 0.0, 3, -1e-300 + 5j)] == [-1, 0, 1, -1]
    assert math.isnan(sign(math.nan))
    assert [Counted(x, Tally()).sign().value for x in (-2.0, 0.0, 2.0)] == [-1, 0, 1]


def test_structural_zero_and_one():
    assert is_zero(0) and is_zero(0.0) and is_zero(-0.0)
    unknown = (np.zeros(2), Graph().input(0), Counted(0.0, Tally()), 0j)
    assert not any(is_zero(x) for x in unknown)


X = 3.0
COUNTS = {  # what is done -> what it costs
    "x + y": {"add": 1},
    "x - y": {"add": 1},
    "x * y": {"mul": 1},
    "x / y": {"div": 1},
    "x + 2": {"add": 1},
    "2 + x": {"add": 1},
    "2 - x": {"add": 1},
    "x - 2": {"add": 1},
    "x * 2": {"mul": 1},
    "2 * x": {"mul": 1},
    "x / 2": {"mul": 1},
    "2 / x": {"div": 1},
    "-x": {"neg": 1},
    "x + 0": {},
    "0 + x": {},
    "x - 0.0": {},
    "0 - x": {"neg": 1},
    "x * 1": {},
    "1.0 * x": {},
    "x * 0": {},
    "x * -1": {"neg": 1},
    "x / 1": {},
    "x / -1": {"neg": 1},
    "0 / x": {},
}


@pytest.mark.parametrize("text", COUNTS)
def test_counted(text: str):
    tally = Tally()
    x, y = tally.wrap(X), tally.wrap(-1.25)
    result = eval(text, {"x": x, "y": y})
    assert dict(tally) == COUNTS[text]
    value = result.value if isinstance(result, Counted) else result
    assert value == eval(text, {"x": X, "y": -1.25})
    if value == 0:
        assert is_zero(result)
