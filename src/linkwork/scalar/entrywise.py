"""Functions entry by entry: of traced numbers, plain ones, complex steps, and arrays of them.

NumPy's own ask the entries of an array of objects for methods, which plain numbers among traced ones have not, or
compare them, which traced numbers cannot be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import scalar


def sign(x: Any) -> Any:
    """-1, 0 or 1, entry by entry."""
    return _each(scalar.sign, x)


def absolute(x: Any) -> Any:
    """The size of x, entry by entry."""
    return _each(scalar.absolute, x)


def exp(x: Any) -> Any:
    """e to the power x, entry by entry."""
    return _each(scalar.exp, x)


def log(x: Any) -> Any:
    """The natural logarithm, entry by entry."""
    return _each(scalar.log, x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent, entry by entry."""
    return _each(scalar.tanh, x)


def atan2(y: Any, x: Any) -> Any:
    """The angles of the points (x, y), from -pi to pi, entry by entry."""
    return _each(scalar.atan2, y, x)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of a and b, entry by entry; not a number where one of them is none."""
    return _each(scalar.minimum, a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of a and b, entry by entry; not a number where one of them is none."""
    return _each(scalar.maximum, a, b)


def clip(x: Any, lower: Any, upper: Any) -> Any:
    """x, but no less than ``lower`` and no more than ``upper``."""
    return minimum(maximum(x, lower), upper)


def _each(function: Callable[..., Any], *operands: Any) -> Any:
    arrays = [np.asarray(x) for x in operands]
    if all(x.dtype.kind in "biufc" for x in arrays):
        return function(*arrays)
    made = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return np.array(made.tolist()) if isinstance(made, np.ndarray) else made  # plain numbers are objects no longer
