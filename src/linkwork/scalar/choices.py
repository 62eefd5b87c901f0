"""Choices without branches, by the sign alone: for traced numbers, plain ones, complex steps, and arrays of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import positive_part
from . import sign as sign_of


def sign(x: Any) -> Any:
    """-1, 0 or 1, entry by entry; NumPy's own compares, which a traced number cannot."""
    return np.sign(x) if _is_real(x) else _plain(_SIGN(x))


def absolute(x: Any) -> Any:
    """The size of x, entry by entry."""
    return np.multiply(x, sign(x))


def maximum(a: Any, b: Any) -> Any:
    """The larger of a and b, entry by entry. Of traced numbers, ``b`` exactly or ``a`` up to the rounding of a - b."""
    if _is_real(a) and _is_real(b):
        return np.maximum(a, b)
    return _plain(_MAXIMUM(a, b))


def minimum(a: Any, b: Any) -> Any:
    """The smaller of a and b, entry by entry; rounded as ``maximum``."""
    return -maximum(np.negative(a), np.negative(b))


def clip(x: Any, lower: Any, upper: Any) -> Any:
    """x, but no less than ``lower`` and no more than ``upper``, which are met exactly."""
    return minimum(maximum(x, lower), upper)


def _larger(a: Any, b: Any) -> Any:
    for x, other in ((a, b), (b, a)):
        if isinstance(x, float) and math.isinf(x):  # the formula would make a NaN of it
            return x if x > 0 else other
    return b + positive_part(a - b)


_SIGN = np.frompyfunc(sign_of, 1, 1)
_MAXIMUM = np.frompyfunc(_larger, 2, 1)


def _is_real(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "biuf"


def _plain(result: Any) -> Any:
    """An array of plain numbers as such, no longer one of objects."""
    return np.array(result.tolist()) if isinstance(result, np.ndarray) else result
