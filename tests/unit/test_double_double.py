"""Numbers of 31 digits: every operation against mpmath, and their use as scalars."""

import mpmath
import numpy as np
import pytest

from linkwork.parameters.double_double import DoubleDouble
from linkwork.scalar import cos, sign, sin, sqrt
from linkwork.spatial import Vector

mpmath.mp.dps = 60
RNG = np.random.default_rng(0)


def random(size: int = 50) -> DoubleDouble:
    """Of both signs, of all digits, from 1e-4 to 1e4."""
    high = RNG.choice((-1, 1), size) * 10 ** RNG.uniform(-4, 4, size)
    return DoubleDouble(high) + DoubleDouble(high * RNG.uniform(-1, 1, size) * 1e-17)


def exactly(x) -> list:
    if not isinstance(x, DoubleDouble):
        return [mpmath.mpf(float(each)) for each in np.broadcast_to(x, 50)]
    parts = zip(np.broadcast_to(x.high, 50).tolist(), np.broadcast_to(x.low, 50).tolist(), strict=True)
    return [mpmath.mpf(high) + mpmath.mpf(low) for high, low in parts]


X, Y, DOUBLES = random(), random(), RNG.normal(size=50)


@pytest.mark.parametrize("other", [Y, DOUBLES, 0.1, 3, DoubleDouble(0.7)], ids=["own", "array", "float", "int", "one"])
@pytest.mark.parametrize(
    "operation",
    [lambda a, b: a + b, lambda a, b: b - a, lambda a, b: a - b, lambda a, b: b * a, lambda a, b: a / b],
    ids=["+", "r-", "-", "*", "/"],
)
def test_arithmetic(operation, other):
    for found, a, b in zip(exactly(operation(X, other)), exactly(X), exactly(other), strict=True):
        assert abs(found - operation(a, b)) <= 4e-32 * max(abs(operation(a, b)), abs(a), abs(b) if b else 0)


@pytest.mark.parametrize(
    ("function", "truth", "x", "tolerance"),
    [
        (sqrt, mpmath.sqrt, X * X, 1e-31),
        (lambda x: 1 / x, lambda x: 1 / x, X, 1e-31),
        (sin, mpmath.sin, DoubleDouble(np.linspace(-9, 9, 50)) + 1e-18, 1e-30),
        (cos, mpmath.cos, DoubleDouble(np.linspace(-9, 9, 50)) + 1e-18, 1e-30),
    ],
    ids=["sqrt", "1/x", "sin", "cos"],
)
def test_functions(function, truth, x, tolerance):
    for found, exact in zip(exactly(function(x)), map(truth, exactly(x)), strict=True):
        assert abs(found - exact) <= tolerance * max(1, abs(exact))


@pytest.mark.parametrize("count", [0, 1, 2, 7, 50])
def test_total(count: int):
    (total,) = {mpmath.mpf(float(each.high)) + mpmath.mpf(float(each.low)) for each in [X[:count].total()]}
    assert abs(total - mpmath.fsum(exactly(X)[:count])) < 1e-26


def test_a_scalar_of_formulations():
    assert X * 0 == 0 and X * 1 is X and X + 0 is X
    assert (sign(X) == np.sign(X.high)).all()
    turned = Vector(X, 0, 1).cross(Vector(0, Y, 0))
    assert exactly(turned.z) == exactly(X * Y) and exactly(turned.x) == exactly(-Y)
    with pytest.raises(TypeError):
        X + "1"
    with pytest.raises(TypeError):
        X * "1"
