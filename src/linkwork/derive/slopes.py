"""The slope of each operation by each of its arguments: all that derivatives know of arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..program import Op
from ..scalar import cos, sign, sin


def _of_quotient(a: Any, b: Any, y: Any) -> tuple[Any, Any]:
    once = 1 / b  # shared by both, and by all columns
    return once, -y * once


def _of_root(a: Any, y: Any) -> tuple[Any]:
    """0 at a = 0, where there is none: so that of v |v|, which has one, is right at rest."""
    there = sign(y)
    return (0.5 * there / (y + (1 - there)),)


# From the arguments and the result y. Plain numbers are structural: a slope 0 or 1 costs nothing.
SLOPES: dict[Op, Callable[..., tuple[Any, ...]]] = {
    Op.ADD: lambda a, b, y: (1, 1),
    Op.SUB: lambda a, b, y: (1, -1),
    Op.MUL: lambda a, b, y: (b, a),
    Op.DIV: _of_quotient,
    Op.NEG: lambda a, y: (-1,),
    Op.SQRT: _of_root,
    Op.SIN: lambda a, y: (cos(a),),
    Op.COS: lambda a, y: (-sin(a),),
    Op.SIGN: lambda a, y: (0,),  # also at the jump
    Op.FMA: lambda a, b, c, y: (b, a, 1),
    Op.FMS: lambda a, b, c, y: (b, a, -1),
    Op.FNMA: lambda a, b, c, y: (-b, -a, 1),
}


def slopes(op: int, arguments: Sequence[int], values: Sequence[Any], result: Any) -> list[tuple[int, Any]]:
    """Arguments, by number, and the slope by each."""
    return list(zip(arguments, SLOPES[Op(op)](*[values[k] for k in arguments], result), strict=True))
