"""Partial derivatives (slopes) of each operation with respect to its arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..program import Op
from ..scalar import cos, sign, sin, slope_of_root, where


def _of_quotient(a: Any, b: Any, y: Any) -> tuple[Any, Any]:
    # shared by both, and by all columns; a quotient by zero is infinite, and may stand where nobody takes it
    once = math.inf if isinstance(b, (int, float)) and b == 0 else 1 / b
    return once, -y * once


def _of_angle(a: Any, b: Any, y: Any) -> tuple[Any, Any]:
    once = 1 / (a * a + b * b)
    return b * once, -a * once


def _of_choice(first: Any) -> tuple[Any, Any]:
    """Return the slopes of a choice: 1 for the value taken, 0 for the other, a half each where they are equal.
    ``first`` is positive where the first value is taken."""
    half = 0.5 * sign(first)
    return 0.5 + half, 0.5 - half


class _Part:
    """The slope of a choice by one of its two values: times x it is x where that value was taken, else exactly 0, also
    where x is infinite or not a number."""

    def __init__(self, condition: Any, first: bool):
        self.condition, self.first = condition, first

    def __mul__(self, x: Any) -> Any:
        return where(self.condition, x, 0) if self.first else where(self.condition, 0, x)


# From the arguments and the result y. Plain numbers are structural: a slope 0 or 1 costs nothing.
SLOPES: dict[Op, Callable[..., tuple[Any, ...]]] = {
    Op.ADD: lambda a, b, y: (1, 1),
    Op.SUB: lambda a, b, y: (1, -1),
    Op.MUL: lambda a, b, y: (b, a),
    Op.DIV: _of_quotient,
    Op.NEG: lambda a, y: (-1,),
    Op.SQRT: lambda a, y: (slope_of_root(y),),
    Op.SIN: lambda a, y: (cos(a),),
    Op.COS: lambda a, y: (-sin(a),),
    Op.SIGN: lambda a, y: (0,),  # also at the jump
    Op.FMA: lambda a, b, c, y: (b, a, 1),
    Op.FMS: lambda a, b, c, y: (b, a, -1),
    Op.FNMA: lambda a, b, c, y: (-b, -a, 1),
    Op.EXP: lambda a, y: (y,),
    Op.LOG: lambda a, y: (1 / a,),
    Op.TANH: lambda a, y: (1 - y * y,),
    Op.ATAN2: _of_angle,
    Op.ABS: lambda a, y: (sign(a),),  # 0 at the kink
    Op.MIN: lambda a, b, y: _of_choice(b - a),
    Op.MAX: lambda a, b, y: _of_choice(a - b),
    Op.LESS: lambda a, b, y: (0, 0),  # also at the jump
    Op.LESS_EQUAL: lambda a, b, y: (0, 0),
    Op.SELECT: lambda a, b, c, y: (0, _Part(a, True), _Part(a, False)),
}


def slopes(op: int, arguments: Sequence[int], values: Sequence[Any], result: Any) -> list[tuple[int, Any]]:
    """Return the numbers of the arguments of an operation, each with the slope with respect to it."""
    return list(zip(arguments, SLOPES[Op(op)](*[values[k] for k in arguments], result), strict=True))
