"""The scalars that formulations work on: numbers with ``+ - * /`` and the functions here.

A scalar is a Python number, a NumPy array, a counting number of a :class:`Tally` or a node of an expression graph.
Python's own ``0`` and ``1`` (and the floats ``0.0`` and ``1.0`` of a model's constants) are the exact structural zero
and one: a graph node or a counting number multiplied by them costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .counting import Counted as Counted
from .counting import Tally

Scalar = Any  # no common base class spans float, complex, ndarray, Counted and graph nodes
Scalars = Sequence[Scalar]

__all__ = [
    "Scalar",
    "Tally",
    "absolute",
    "atan2",
    "cos",
    "exp",
    "is_one",
    "is_zero",
    "less",
    "less_equal",
    "log",
    "maximum",
    "minimum",
    "positive_part",
    "sign",
    "sin",
    "sqrt",
    "tanh",
    "where",
]


def __dir__() -> list[str]:
    return __all__


def sin(x: Scalar) -> Scalar:
    """Return the sine of an angle.

    Args:
        x: the angle, rad.

    Returns:
        The sine.

    Example:
        >>> linkwork.scalar.sin(0.0)
        0.0
    """
    if isinstance(x, (int, float)):
        return math.sin(x)
    return x.sin() if hasattr(x, "sin") else np.sin(x)


def cos(x: Scalar) -> Scalar:
    """Return the cosine of an angle.

    Args:
        x: the angle, rad.

    Returns:
        The cosine.

    Example:
        >>> linkwork.scalar.cos(0.0)
        1.0
    """
    if isinstance(x, (int, float)):
        return math.cos(x)
    return x.cos() if hasattr(x, "cos") else np.cos(x)


def sqrt(x: Scalar) -> Scalar:
    """Return the square root that is not negative.

    Args:
        x: a scalar that is not negative.

    Returns:
        The root.

    Example:
        >>> linkwork.scalar.sqrt(9.0)
        3.0
    """
    if isinstance(x, (int, float)):
        return math.sqrt(x)
    return x.sqrt() if hasattr(x, "sqrt") else np.sqrt(x)


def sign(x: Scalar) -> Scalar:
    """Return -1, 0 or 1, the sign of a scalar.

    Args:
        x: a scalar. The sign of a complex number is that of its real part, so that complex steps can be taken.

    Returns:
        The sign; NaN for NaN.

    Example:
        >>> linkwork.scalar.sign(-2.5)
        -1
    """
    if isinstance(x, (int, float)):
        return math.nan if x != x else int(x > 0) - int(x < 0)
    return x.sign() if hasattr(x, "sign") else np.sign(np.real(x))


def exp(x: Scalar) -> Scalar:
    """Return the exponential function, e to the power x.

    Args:
        x: the exponent.

    Returns:
        The power; infinite where it is too large.

    Example:
        >>> linkwork.scalar.exp(0.0)
        1.0
    """
    return x.exp() if hasattr(x, "exp") else _quietly(np.exp, x)


def log(x: Scalar) -> Scalar:
    """Return the natural logarithm.

    Args:
        x: a positive scalar.

    Returns:
        The logarithm; minus infinity for zero, NaN for a negative number.

    Example:
        >>> linkwork.scalar.log(1.0)
        0.0
    """
    return x.log() if hasattr(x, "log") else _quietly(np.log, x)


def tanh(x: Scalar) -> Scalar:
    """Return the hyperbolic tangent.

    Args:
        x: a scalar.

    Returns:
        The hyperbolic tangent, between -1 and 1.

    Example:
        >>> linkwork.scalar.tanh(0.0)
        0.0
    """
    return x.tanh() if hasattr(x, "tanh") else _quietly(np.tanh, x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y), with the conventions of C, also for signed zeros.

    Args:
        y, x: coordinates of the point.

    Returns:
        The angle from -pi to pi, rad.

    Example:
        >>> linkwork.scalar.atan2(0.0, 1.0)
        0.0
    """
    if hasattr(y, "arctan2"):
        return y.arctan2(x)
    return x.rarctan2(y) if hasattr(x, "rarctan2") else _quietly(_angle, y, x)


def absolute(x: Scalar) -> Scalar:
    """Return the absolute value of a scalar.

    Args:
        x: a scalar. A complex number changes its sign where its real part is negative.

    Returns:
        x or -x.

    Example:
        >>> linkwork.scalar.absolute(-2.5)
        2.5
    """
    return x * sign(x) if np.iscomplexobj(x) else abs(x)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """Return the smaller of two scalars.

    Args:
        a, b: the scalars; complex numbers are compared by their real parts.

    Returns:
        The smaller one; NaN if one of them is NaN.

    Example:
        >>> linkwork.scalar.minimum(1.0, 2.0)
        1.0
    """
    if hasattr(a, "minimum"):
        return a.minimum(b)
    return b.minimum(a) if hasattr(b, "minimum") else _quietly(_smaller, a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """Return the larger of two scalars.

    Args:
        a, b: the scalars; complex numbers are compared by their real parts.

    Returns:
        The larger one; NaN if one of them is NaN.

    Example:
        >>> linkwork.scalar.maximum(1.0, 2.0)
        2.0
    """
    if hasattr(a, "maximum"):
        return a.maximum(b)
    return b.maximum(a) if hasattr(b, "maximum") else _quietly(_larger, a, b)


def less(a: Scalar, b: Scalar) -> Scalar:
    """Return 1 where a < b, else 0.

    Args:
        a: A scalar of any kind, or an array. Complex numbers are compared by their real parts.
        b: Another one.

    Returns:
        1 or 0 as a scalar of the same kind; 0 where one of them is not a number.

    Example:
        >>> float(linkwork.scalar.less(1.0, 2.0))
        1.0
    """
    return a < b if _compares(a, b) else _quietly(_mask, np.less, a, b)


def less_equal(a: Scalar, b: Scalar) -> Scalar:
    """Return 1 where a <= b, else 0.

    Args:
        a: A scalar of any kind, or an array. Complex numbers are compared by their real parts.
        b: Another one.

    Returns:
        1 or 0 as a scalar of the same kind; 0 where one of them is not a number.

    Example:
        >>> float(linkwork.scalar.less_equal(1.0, 2.0))
        1.0
    """
    return a <= b if _compares(a, b) else _quietly(_mask, np.less_equal, a, b)


def where(condition: Scalar, if_true: Scalar, if_false: Scalar) -> Scalar:
    """Return one of two values by a condition.

    Args:
        condition: A scalar of any kind, or an array; anything but zero is true.
        if_true: Value where the condition is not zero.
        if_false: Value where it is zero.

    Returns:
        A scalar of the same kind.

    Example:
        >>> linkwork.scalar.where(linkwork.scalar.less(1.0, 2.0), 3.0, 4.0)
        3.0
    """
    for x in (condition, if_true, if_false):
        if hasattr(x, "select_dual"):
            return x.select_dual(condition, if_true, if_false)
    if hasattr(condition, "select"):
        return condition.select(if_true, if_false)
    if np.ndim(condition) == 0:
        return if_true if condition != 0 else if_false
    return np.where(np.not_equal(condition, 0), if_true, if_false)


def _compares(a: Scalar, b: Scalar) -> bool:
    return any(hasattr(x, "select") or hasattr(x, "select_dual") for x in (a, b))


def _mask(relation: Any, a: Any, b: Any) -> Any:
    return np.multiply(relation(np.real(a), np.real(b)), 1.0)


def _quietly(function: Any, *x: Any) -> Any:
    """Call a NumPy function without warnings; return a Python number for Python numbers."""
    with np.errstate(all="ignore"):
        result = function(*x)
    return result.item() if all(isinstance(each, (int, float, complex)) for each in x) else result


def _chosen(choose: Any, a: Any, b: Any) -> Any:
    """Return a or b, whichever ``choose`` selects by the real parts."""
    if not (np.iscomplexobj(a) or np.iscomplexobj(b)):
        return choose(a, b)
    first = (choose(np.real(a), np.real(b)) != np.real(b)) & ~np.isnan(b)
    return np.where(first | np.isnan(a), a, b)[()]


_smaller, _larger = partial(_chosen, np.minimum), partial(_chosen, np.maximum)


def _angle(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y), also for complex steps."""
    y0, x0 = np.real(y), np.real(x)
    near = np.arctan2(y0, x0)
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return near
    return near + np.arctan((x0 * y - y0 * x) / (x0 * x + y0 * y))  # the rest of the way, of zero real part


def positive_part(x: Scalar) -> Scalar:
    """Return x where it is positive, else exactly 0.

    Args:
        x: a scalar.

    Returns:
        x or 0.

    Example:
        >>> linkwork.scalar.positive_part(2.0)
        2.0
    """
    return 0.5 * (x + x * sign(x))


def beyond(x: Scalar, low: Scalar, width: Scalar) -> Scalar:
    """Return how far x is above the interval from ``low`` to ``low + width`` (positive), or below it (negative)."""
    if is_zero(width):
        return x - low
    return positive_part(x - (low + width)) - positive_part(low - x)


def slope_of_root(root: Scalar) -> Scalar:
    """Return the derivative of sqrt(x) from its value ``root``.

    It is 0 at 0, where there is none, so that v |v| has the right derivative at rest.
    """
    positive = sign(root)
    return 0.5 * (positive / (root + (1 - positive)))


def is_one(x: Scalar) -> bool:
    """Return whether ``x`` is a structural one: a number that equals 1 before anything is evaluated.

    Args:
        x: a scalar.

    Returns:
        True for the numbers 1 and 1.0; False for traced scalars and arrays.

    Example:
        >>> linkwork.scalar.is_one(1.0)
        True
    """
    return isinstance(x, (int, float)) and x == 1


def is_zero(x: Scalar) -> bool:
    """Return whether ``x`` is a structural zero: a number that equals 0 before anything is evaluated.

    Args:
        x: a scalar.

    Returns:
        True for the numbers 0 and 0.0; False for traced scalars and arrays.

    Example:
        >>> linkwork.scalar.is_zero(0)
        True
    """
    return isinstance(x, (int, float)) and x == 0
