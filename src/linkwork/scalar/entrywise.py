"""Functions entry by entry, for traced numbers, plain ones, complex steps, and arrays of them.

NumPy's own functions ask the entries of an object array for methods that plain numbers do not have, or compare them,
which traced numbers do not allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import scalar


def sign(x: Any) -> Any:
    """Return the sign, -1, 0 or 1, entry by entry.

    Args:
        x: scalar or array of scalars.

    Returns:
        The signs, with the shape of x.

    Example:
        >>> linkwork.control.sign(np.array([-2.0, 0.0, 3.0]))
        array([-1.,  0.,  1.])
    """
    return _each(scalar.sign, x)


def absolute(x: Any) -> Any:
    """Return the absolute value, entry by entry.

    Args:
        x: scalar or array of scalars.

    Returns:
        The absolute values, with the shape of x.

    Example:
        >>> linkwork.control.absolute(np.array([-2.0, 3.0]))
        array([2., 3.])
    """
    return _each(scalar.absolute, x)


def exp(x: Any) -> Any:
    """Return e to the power x, entry by entry.

    Args:
        x: scalar or array of scalars.

    Returns:
        The powers, with the shape of x.

    Example:
        >>> linkwork.control.exp(np.array([0.0, 0.0]))
        array([1., 1.])
    """
    return _each(scalar.exp, x)


def log(x: Any) -> Any:
    """Return the natural logarithm, entry by entry.

    Args:
        x: scalar or array of scalars.

    Returns:
        The logarithms, with the shape of x.

    Example:
        >>> linkwork.control.log(np.array([1.0, 1.0]))
        array([0., 0.])
    """
    return _each(scalar.log, x)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent, entry by entry.

    Args:
        x: scalar or array of scalars.

    Returns:
        The hyperbolic tangents, with the shape of x.

    Example:
        >>> linkwork.control.tanh(np.array([0.0, 0.0]))
        array([0., 0.])
    """
    return _each(scalar.tanh, x)


def atan2(y: Any, x: Any) -> Any:
    """Return the angles of the points (x, y), entry by entry.

    Args:
        y, x: coordinates, scalars or arrays of scalars.

    Returns:
        The angles from -pi to pi, rad.

    Example:
        >>> linkwork.control.atan2(np.zeros(2), np.ones(2))
        array([0., 0.])
    """
    return _each(scalar.atan2, y, x)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of a and b, entry by entry.

    Args:
        a, b: scalars or arrays of scalars.

    Returns:
        The smaller entries; NaN where one of the two is NaN.

    Example:
        >>> linkwork.control.minimum(np.array([1.0, 0.0]), np.array([2.0, 1.0]))
        array([1., 0.])
    """
    return _each(scalar.minimum, a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of a and b, entry by entry.

    Args:
        a, b: scalars or arrays of scalars.

    Returns:
        The larger entries; NaN where one of the two is NaN.

    Example:
        >>> linkwork.control.maximum(np.array([1.0, 0.0]), np.array([2.0, 1.0]))
        array([2., 1.])
    """
    return _each(scalar.maximum, a, b)


def clip(x: Any, lower: Any, upper: Any) -> Any:
    """Limit x to the interval from ``lower`` to ``upper``, entry by entry.

    Args:
        x: scalar or array of scalars.
        lower: the smallest value.
        upper: the largest value.

    Returns:
        x, or the limit that it exceeds.

    Example:
        >>> linkwork.control.clip(np.array([-2.0, 0.5]), -1.0, 1.0)
        array([-1. ,  0.5])
    """
    return minimum(maximum(x, lower), upper)


def _each(function: Callable[..., Any], *operands: Any) -> Any:
    """Apply a function of scalars to the entries of arrays."""
    arrays = [np.asarray(x) for x in operands]
    if all(x.dtype.kind in "biufc" for x in arrays):
        return function(*arrays)
    result = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return np.array(result.tolist()) if isinstance(result, np.ndarray) else result  # plain numbers: no object array
