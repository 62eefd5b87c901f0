"""Functions of scalars, and the number that counts what is done with it."""

import math

import numpy as np
import pytest

from linkwork.program.graph import Graph
from linkwork.scalar import Counted, Tally, cos, is_zero, sign, sin, sqrt

FUNCTIONS = {"sin": (sin, np.sin), "cos": (cos, np.cos), "sqrt": (sqrt, np.sqrt), "sign": (sign, np.sign)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_on_every_kind_of_number(name: str):
    ours, numpy = FUNCTIONS[name]
    for value in (2, 0.7, np.float64(0.7), np.array([0.1, 0.7])):
        assert np.allclose(ours(value), numpy(value), rtol=1e-15, atol=0)
    assert ours(Counted(0.7, tally := Tally())).value == pytest.approx(float(numpy(0.7)), rel=1e-15)
    assert tally == {name: 1}
    assert repr(ours(Graph().input(0))) == f"<%1 = {name.upper()} %0>"


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
