"""What a formulation may assume of a number: ``+ - * /`` and the functions here.

A scalar is a Python number, a NumPy array, a :class:`Counted` number or a node of an expression graph. Python's own
``0`` and ``1`` (and the floats ``0.0`` and ``1.0`` of a model's constants) are the exact structural zero and one: a
graph node or a counted number multiplied by them costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .counting import Counted, Tally

Scalar = Any  # no common base class spans float, complex, ndarray, Counted and graph nodes
Scalars = Sequence[Scalar]

__all__ = [
    "Counted",
    "Scalar",
    "Tally",
    "absolute",
    "atan2",
    "cos",
    "exp",
    "is_one",
    "is_zero",
    "log",
    "maximum",
    "minimum",
    "positive_part",
    "sign",
    "sin",
    "sqrt",
    "tanh",
]


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


def exp(x: Scalar) -> Scalar:
    """e to the power x; infinite where that is too large."""
    return x.exp() if hasattr(x, "exp") else _quietly(np.exp, x)


def log(x: Scalar) -> Scalar:
    """To the base e: of zero minus infinity, of what is less not a number."""
    return x.log() if hasattr(x, "log") else _quietly(np.log, x)


def tanh(x: Scalar) -> Scalar:
    """The hyperbolic tangent."""
    return x.tanh() if hasattr(x, "tanh") else _quietly(np.tanh, x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y), from -pi to pi, as C's: of signed zeros, too."""
    if hasattr(y, "arctan2"):
        return y.arctan2(x)
    return x.rarctan2(y) if hasattr(x, "rarctan2") else _quietly(_angle, y, x)


def absolute(x: Scalar) -> Scalar:
    """|x|. Of a complex number x or -x by the sign of its real part, as ``minimum`` and ``maximum`` choose, too."""
    return x * sign(x) if np.iscomplexobj(x) else abs(x)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller one; not a number if one of them is none."""
    if hasattr(a, "minimum"):
        return a.minimum(b)
    return b.minimum(a) if hasattr(b, "minimum") else _quietly(_smaller, a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger one; not a number if one of them is none."""
    if hasattr(a, "maximum"):
        return a.maximum(b)
    return b.maximum(a) if hasattr(b, "maximum") else _quietly(_larger, a, b)


def _quietly(function: Any, *x: Any) -> Any:
    """Python's numbers for Python's numbers."""
    with np.errstate(all="ignore"):
        made = function(*x)
    return made.item() if all(isinstance(each, (int, float, complex)) for each in x) else made


def _chosen(choose: Any, a: Any, b: Any) -> Any:
    if not (np.iscomplexobj(a) or np.iscomplexobj(b)):
        return choose(a, b)
    first = (choose(np.real(a), np.real(b)) != np.real(b)) & ~np.isnan(b)
    return np.where(first | np.isnan(a), a, b)[()]


_smaller, _larger = partial(_chosen, np.minimum), partial(_chosen, np.maximum)


def _angle(y: Any, x: Any) -> Any:
    y0, x0 = np.real(y), np.real(x)
    near = np.arctan2(y0, x0)
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return near
    return near + np.arctan((x0 * y - y0 * x) / (x0 * x + y0 * y))  # the rest of the way, of zero real part


def positive_part(x: Scalar) -> Scalar:
    """x where it is positive, else 0, exactly."""
    return 0.5 * (x + x * sign(x))


def beyond(x: Scalar, low: Scalar, width: Scalar) -> Scalar:
    """By how much x is above the interval from ``low`` to ``low + width`` (positive), or below it (negative)."""
    if is_zero(width):
        return x - low
    return positive_part(x - (low + width)) - positive_part(low - x)


def slope_of_root(root: Scalar) -> Scalar:
    """Of sqrt(x), from its value: 0 at 0, where there is none: so that of v |v|, which has one, is right at rest."""
    there = sign(root)
    return 0.5 * (there / (root + (1 - there)))


def is_one(x: Scalar) -> bool:
    """Is ``x`` a number known to be one before anything is evaluated?"""
    return isinstance(x, (int, float)) and x == 1


def is_zero(x: Scalar) -> bool:
    """Is ``x`` a number known to be zero before anything is evaluated?"""
    return isinstance(x, (int, float)) and x == 0
