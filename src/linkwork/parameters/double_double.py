"""Arrays of numbers with twice the digits of a double, about 31: each is the sum of two doubles.

Every operation is a fixed chain of rounded sums and products of doubles (Dekker 1971, "A floating-point technique for
extending the available precision"), element by element, so that results do not depend on the kernels of a library.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SPLIT = 2.0**27 + 1  # splits a double into two halves of its digits
HALVINGS, ORDER = 8, 9  # halvings of an angle before its series, and the order of the series
NUMBER = (int, float, np.ndarray)


class DoubleDouble:
    """``high + low``, the latter below the last digit of the former; a scalar for formulations."""

    __slots__ = ("_turn", "high", "low")
    __array_ufunc__ = None

    def __init__(self, high: Any, low: Any = None):
        self.high = np.asarray(high, float)
        self.low = np.zeros_like(self.high) if low is None else low
        self._turn: Any = None

    def __getitem__(self, key: Any) -> DoubleDouble:
        return DoubleDouble(self.high[key], self.low[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.high[key], self.low[key] = (value.high, value.low) if isinstance(value, DoubleDouble) else (value, 0.0)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, (DoubleDouble, *NUMBER)):
            return NotImplemented  # for example a vector, whose operator is used instead
        if _is(other, 0):
            return self
        if not isinstance(other, DoubleDouble):
            total, lost = _sum(self.high, other)
            return DoubleDouble(*_ordered(total, lost + self.low))
        total, lost = _sum(self.high, other.high)
        small, tiny = _sum(self.low, other.low)
        total, lost = _ordered(total, lost + small)
        return DoubleDouble(*_ordered(total, lost + tiny))

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.high, -self.low)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, (DoubleDouble, *NUMBER)):
            return NotImplemented
        if _is(other, 0):
            return 0
        if _is(other, 1):
            return self
        if not isinstance(other, DoubleDouble):
            product, lost = _product(self.high, other)
            return DoubleDouble(*_ordered(product, lost + self.low * other))
        product, lost = _product(self.high, other.high)
        return DoubleDouble(*_ordered(product, lost + (self.high * other.low + self.low * other.high)))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (1 / (other if isinstance(other, DoubleDouble) else DoubleDouble(other)))

    def __rtruediv__(self, number: float) -> Any:
        near = 1 / self.high
        better = (1 - self * near) * near + near  # Newton's step, and one more
        return ((1 - self * better) * near + better) * number

    def __float__(self) -> float:
        return float(self.high)

    def __abs__(self) -> float:
        return abs(float(self))

    def sqrt(self) -> DoubleDouble:
        near = np.sqrt(self.high)
        return (self - DoubleDouble(*_product(near, near))) * (0.5 / near) + near

    def sign(self) -> np.ndarray:
        return np.sign(self.high)

    def sin(self) -> Any:
        return self._cos_sin()[1]

    def cos(self) -> Any:
        return self._cos_sin()[0]

    def _cos_sin(self) -> tuple[Any, Any]:
        """Return cosine and sine by the series of a small part of the angle, which is doubled again and again."""
        if self._turn is None:
            part = self * 0.5**HALVINGS
            square, c, s = part * part, 1, 1
            for even, odd in SERIES:
                c, s = 1 - square * c * even, 1 - square * s * odd
            s = part * s
            for _ in range(HALVINGS):
                c, s = 1 - s * s * 2, s * c * 2
            self._turn = c, s
        return self._turn

    @property
    def T(self) -> DoubleDouble:
        return DoubleDouble(self.high.T, self.low.T)

    def total(self) -> DoubleDouble:
        """Return the sum over the first axis."""
        if len(self.high) < 2:
            return self[0] if len(self.high) else DoubleDouble(np.zeros(self.high.shape[1:]))
        half = len(self.high) // 2
        pairs = self[:half] + self[half : 2 * half]
        return pairs.total() + self[-1] if len(self.high) % 2 else pairs.total()


def _is(value: Any, number: int) -> bool:
    return isinstance(value, (int, float)) and value == number


def _sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return a + b, and its rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _ordered(a: Any, b: Any) -> tuple[Any, Any]:
    """Return a + b and its rounding error, where b is the smaller."""
    total = a + b
    return total, b - (total - a)


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """Return a b, and its rounding error."""
    product = a * b
    (a, a_low), (b, b_low) = _halves(a), _halves(b)
    return product, ((a * b - product) + a * b_low + a_low * b) + a_low * b_low


def _halves(a: Any) -> tuple[Any, Any]:
    far = SPLIT * a
    high = far - (far - a)
    return high, a - high


SERIES = tuple((1 / DoubleDouble(k * (k - 1)), 1 / DoubleDouble(k * (k + 1))) for k in range(2 * ORDER, 0, -2))
