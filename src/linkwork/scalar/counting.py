"""Numbers that count the operations done with them, while an algorithm executes and before any simplification.

Convention: an operation whose operands are all constants (plain numbers) is done off line and is free. So are
operations with a structural 0 or +-1, and sign changes (counted separately as ``neg``). A product with any other number
is one multiplication, a sum or difference one addition. Sine, cosine and other functions are counted as calls.
"""

from __future__ import annotations

import math
from collections import Counter


class Tally(Counter[str]):
    """Counter of executed operations.

    Its keys: ``mul add div sqrt sin cos sign neg exp log tanh atan2 abs min max compare select``.

    Args:
        iterable: counts to begin with; default: none.
        **kwds: counts to begin with, by key.

    Example:
        >>> tally = linkwork.scalar.Tally()
        >>> x = tally.wrap(2.0)
        >>> y = x * x + 1.0
        >>> dict(tally)
        {'mul': 1, 'add': 1}
    """

    def wrap(self, value: float) -> Counted:
        """Return an on-line number whose operations this tally counts.

        Args:
            value: the value of the number.

        Returns:
            The counting number.
        """
        return Counted(value, self)


class Counted:
    """On-line number that enters its operations into a tally."""

    __slots__ = ("tally", "value")
    __array_ufunc__ = None

    def __init__(self, value: float, tally: Tally):
        self.value, self.tally = value, tally

    def _make(self, operation: str, value: float) -> Counted:
        self.tally[operation] += 1
        return Counted(value, self.tally)

    def __add__(self, other):
        if isinstance(other, Counted):
            return self._make("add", self.value + other.value)
        if not isinstance(other, (int, float)):
            return NotImplemented  # a vector, say, whose own operator takes over
        return self if other == 0 else self._make("add", self.value + other)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, Counted):
            return self._make("add", self.value - other.value)
        if not isinstance(other, (int, float)):
            return NotImplemented
        return self if other == 0 else self._make("add", self.value - other)

    def __rsub__(self, other):
        return -self if other == 0 else self._make("add", other - self.value)

    def __mul__(self, other):
        if isinstance(other, Counted):
            return self._make("mul", self.value * other.value)
        if not isinstance(other, (int, float)):
            return NotImplemented
        if other == 0:
            return 0
        if other == 1:
            return self
        return -self if other == -1 else self._make("mul", self.value * other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, Counted):
            return self._make("div", self.value / other.value)
        return self * (1 / other) if isinstance(other, (int, float)) else NotImplemented

    def __rtruediv__(self, other):
        return 0 if other == 0 else self._make("div", other / self.value)

    def __neg__(self):
        return self._make("neg", -self.value)

    def sin(self):
        return self._make("sin", math.sin(self.value))

    def cos(self):
        return self._make("cos", math.cos(self.value))

    def sqrt(self):
        return self._make("sqrt", math.sqrt(self.value))

    def sign(self):
        return self._make("sign", math.copysign(1.0, self.value) if self.value else 0.0)

    def exp(self):
        return self._make("exp", math.exp(self.value))

    def log(self):
        return self._make("log", math.log(self.value))

    def tanh(self):
        return self._make("tanh", math.tanh(self.value))

    def arctan2(self, other):
        return self._make("atan2", math.atan2(self.value, _value(other)))

    def rarctan2(self, other):
        return self._make("atan2", math.atan2(other, self.value))

    def __abs__(self):
        return self._make("abs", abs(self.value))

    def minimum(self, other):
        return self._make("min", min(self.value, _value(other)))

    def maximum(self, other):
        return self._make("max", max(self.value, _value(other)))

    def __lt__(self, other):
        return self._make("compare", float(self.value < _value(other)))

    def __gt__(self, other):
        return self._make("compare", float(self.value > _value(other)))

    def __le__(self, other):
        return self._make("compare", float(self.value <= _value(other)))

    def __ge__(self, other):
        return self._make("compare", float(self.value >= _value(other)))

    def select(self, if_true, if_false):
        counted = isinstance(if_true, Counted) or isinstance(if_false, Counted)
        same = if_true is if_false if counted else if_true == if_false
        return if_true if same else self._make("select", _value(if_true if self.value else if_false))


def _value(x: Counted | float) -> float:
    return x.value if isinstance(x, Counted) else x
