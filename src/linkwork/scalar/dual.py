"""Dual numbers, forward-mode differentiation over any scalar: a number with its derivatives along some directions.

A formulation that is run on dual numbers gives its derivatives, too. Derivatives are called slopes here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import (
    Scalar,
    absolute,
    atan2,
    cos,
    exp,
    is_zero,
    less,
    less_equal,
    log,
    maximum,
    minimum,
    sign,
    sin,
    slope_of_root,
    sqrt,
    tanh,
    where,
)

Slopes = Mapping[int, Scalar]  # by direction; along a missing direction the slope is zero


def dual(value: Scalar, slopes: Slopes) -> Scalar:
    """Return a dual number without slopes that are structural zeros; the plain value if no slope is left."""
    kept = {k: slope for k, slope in slopes.items() if not is_zero(slope)}
    return Dual(value, kept) if kept else value


def value_of(x: Scalar) -> Scalar:
    """Return the value of a dual or plain number."""
    return x.value if isinstance(x, Dual) else x


def slope_of(x: Scalar, direction: int) -> Scalar:
    """Return the slope along a direction; 0 for a plain number."""
    return x.slopes.get(direction, 0) if isinstance(x, Dual) else 0


class Dual:
    """A value and its slopes, scalars of one kind. It is no structural zero even where its value is one.

    Where a function is not differentiable, slopes follow the convention of ``derive``: 0 for ``sign`` everywhere, 0 for
    |x| and the square root at zero, and the mean of both for the minimum or maximum of two equal numbers.
    """

    __slots__ = ("slopes", "value")

    def __init__(self, value: Scalar, slopes: Slopes):
        self.value, self.slopes = value, slopes

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
        """Treat an array, or a NumPy number, as one scalar."""
        act = _NUMPY.get(ufunc.__name__)
        return act(*operands) if act and method == "__call__" and not options else NotImplemented

    def _mapped(self, value: Scalar, slope: Scalar) -> Scalar:
        """Return a function of this number from its value and slope here."""
        return dual(value, {k: x * slope for k, x in self.slopes.items()})

    def _with(self, other: Any, value: Scalar, slope: Scalar, other_slope: Scalar) -> Scalar:
        """Return a function of this number and another one from its value and both partial slopes."""
        mapped = self._mapped(value, slope)
        return mapped + change_of(other) * other_slope if isinstance(other, Dual) else mapped

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            both = self.slopes.keys() & other.slopes.keys()
            return dual(
                self.value + other.value,
                {**self.slopes, **other.slopes, **{k: self.slopes[k] + other.slopes[k] for k in both}},
            )
        return Dual(self.value + other, self.slopes) if _is_scalar(other) else NotImplemented

    __radd__ = __add__

    def __neg__(self) -> Any:
        return Dual(-self.value, {k: -x for k, x in self.slopes.items()})

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            both = self.slopes.keys() & other.slopes.keys()
            return dual(
                self.value - other.value,
                {
                    **self.slopes,
                    **{k: -x for k, x in other.slopes.items()},
                    **{k: self.slopes[k] - other.slopes[k] for k in both},
                },
            )
        return Dual(self.value - other, self.slopes) if _is_scalar(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        if not _is_scalar(other):
            return NotImplemented
        return Dual(other - self.value, {k: -x for k, x in self.slopes.items()})

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            value, slopes = self.value * other.value, {k: x * other.value for k, x in self.slopes.items()}
            for k, x in other.slopes.items():
                slopes[k] = slopes[k] + x * self.value if k in slopes else x * self.value
            return dual(value, slopes)
        return self._mapped(self.value * other, other) if _is_scalar(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            value, inverse = self.value / other.value, 1 / other.value
            slopes = {k: x * inverse for k, x in self.slopes.items()}
            for k, x in other.slopes.items():
                slopes[k] = slopes.get(k, 0) - x * (value * inverse)
            return dual(value, slopes)
        return self._mapped(self.value / other, 1 / other) if _is_scalar(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if not _is_scalar(other):
            return NotImplemented
        value = other / self.value
        return self._mapped(value, -(value * (1 / self.value)))

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, (int, float, np.integer)):
            return NotImplemented
        if exponent == 0.5:
            return self.sqrt()
        return self._mapped(self.value**exponent, exponent * self.value ** (exponent - 1))

    def __abs__(self) -> Any:
        return self._mapped(absolute(self.value), sign(self.value))

    def sin(self) -> Any:
        return self._mapped(sin(self.value), cos(self.value))

    def cos(self) -> Any:
        return self._mapped(cos(self.value), -sin(self.value))

    def sqrt(self) -> Any:
        root = sqrt(self.value)
        return self._mapped(root, slope_of_root(root))

    def sign(self) -> Any:
        return sign(self.value)

    def exp(self) -> Any:
        power = exp(self.value)
        return self._mapped(power, power)

    def log(self) -> Any:
        return self._mapped(log(self.value), 1 / self.value)

    def tanh(self) -> Any:
        value = tanh(self.value)
        return self._mapped(value, 1 - value * value)

    def arctan2(self, other: Any) -> Any:
        """Return the angle of the point (other, self)."""
        y, x = self.value, value_of(other)
        inverse = 1 / (y * y + x * x)
        return self._with(other, atan2(y, x), x * inverse, -y * inverse)

    def rarctan2(self, other: Any) -> Any:
        """Return the angle of the point (self, other), other being a plain number."""
        return self._mapped(atan2(other, self.value), -other / (other * other + self.value * self.value))

    def minimum(self, other: Any) -> Any:
        half = 0.5 * sign(value_of(other) - self.value)
        return self._with(other, minimum(self.value, value_of(other)), 0.5 + half, 0.5 - half)

    def maximum(self, other: Any) -> Any:
        half = 0.5 * sign(self.value - value_of(other))
        return self._with(other, maximum(self.value, value_of(other)), 0.5 + half, 0.5 - half)

    def __lt__(self, other: Any) -> Any:
        return less(self.value, value_of(other))

    def __gt__(self, other: Any) -> Any:
        return less(value_of(other), self.value)

    def __le__(self, other: Any) -> Any:
        return less_equal(self.value, value_of(other))

    def __ge__(self, other: Any) -> Any:
        return less_equal(value_of(other), self.value)

    @staticmethod
    def select_dual(condition: Any, if_true: Any, if_false: Any) -> Any:
        """The value and the slopes of the one that is taken."""
        condition = value_of(condition)
        slopes = [x.slopes if isinstance(x, Dual) else {} for x in (if_true, if_false)]
        chosen = {k: where(condition, *(each.get(k, 0) for each in slopes)) for k in {**slopes[0], **slopes[1]}}
        return dual(where(condition, value_of(if_true), value_of(if_false)), chosen)

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.slopes!r})"


def change_of(x: Scalar) -> Scalar:
    """Return a number of value zero with the slopes of x."""
    return x - value_of(x)


def _is_scalar(x: Any) -> bool:
    """Return whether x is one scalar, and not a vector, whose own operator takes over."""
    return isinstance(x, (int, float, np.ndarray)) or not hasattr(x, "__iter__")


_NUMPY: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b if isinstance(a, Dual) else b + a,
    "subtract": lambda a, b: a - b if isinstance(a, Dual) else b.__rsub__(a),
    "multiply": lambda a, b: a * b if isinstance(a, Dual) else b * a,
    "divide": lambda a, b: a / b if isinstance(a, Dual) else b.__rtruediv__(a),
    "negative": lambda a: -a,
    "square": lambda a: a * a,
    "power": lambda a, b: a.__pow__(b) if isinstance(a, Dual) else NotImplemented,
    "reciprocal": lambda a: 1 / a,
    "absolute": abs,
    "sin": sin,
    "cos": cos,
    "sqrt": sqrt,
    "sign": sign,
    "exp": exp,
    "log": log,
    "tanh": tanh,
    "arctan2": atan2,
    "minimum": minimum,
    "maximum": maximum,
}
