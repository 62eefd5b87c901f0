"""What a formulation may assume of a number: ``+ - * /`` and the functions here.

A scalar is a Python number, a NumPy array, a :class:`Counted` number or a node of an expression graph. Python's own
``0`` and ``1`` (and the floats ``0.0`` and ``1.0`` of a model's constants) are the exact structural zero and one: a
graph node or a counted number multiplied by them costs nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .counting import Counted, Tally

Scalar = Any  # no common base class spans float, complex, ndarray, Counted and graph nodes

__all__ = ["Counted", "Scalar", "Tally", "cos", "is_one", "is_zero", "positive_part", "sign", "sin", "sqrt"]


def __dir__() -> list[str]:
    return __all__


def sin(x: Scalar) -> Scalar:
    """Of an angle in radians."""
    if isinstance(x, (int, float)):
        return math.sin(x)
    return x.sin() if hasattr(x, "sin") else np.sin(x)


def cos(x: Scalar) -> Scalar:
    """Of an angle in radians."""
    if isinstance(x, (int, float)):
        return math.cos(x)
    return x.cos() if hasattr(x, "cos") else np.cos(x)


def sqrt(x: Scalar) -> Scalar:
    """The root that is not negative."""
    if isinstance(x, (int, float)):
        return math.sqrt(x)
    return x.sqrt() if hasattr(x, "sqrt") else np.sqrt(x)


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1. Of a complex number the sign of its real part, so that complex steps differentiate through it."""
    if isinstance(x, (int, float)):
        return math.nan if x != x else int(x > 0) - int(x < 0)
    return x.sign() if hasattr(x, "sign") else np.sign(np.real(x))


def positive_part(x: Scalar) -> Scalar:
    """x where it is positive, else 0, exactly."""
    return 0.5 * (x + x * sign(x))


def is_one(x: Scalar) -> bool:
    """Is ``x`` a number known to be one before anything is evaluated?"""
    return isinstance(x, (int, float)) and x == 1


def is_zero(x: Scalar) -> bool:
    """Is ``x`` a number known to be zero before anything is evaluated?"""
    return isinstance(x, (int, float)) and x == 0
