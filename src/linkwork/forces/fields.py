"""Fields of a law: numbers and directions, tidied and judged when the law is made."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import fields
from typing import Any

from ..errors import ModelError


def tidy(law: Any, *, positive: Collection[str] = (), signed: Collection[str] = ()) -> None:
    """Make every number of a frozen law a float and every triple a tuple of floats; lists are the law's own business.

    Numbers are finite and not below zero; ``positive`` ones are above zero, ``signed`` ones may be below.
    """
    for each in fields(law):
        name, value = each.name, getattr(law, each.name)
        where = f"{type(law).__name__}.{name}"
        if "reads" in each.metadata:
            continue
        if isinstance(each.default, tuple):
            numbers = floats(value)
            if len(numbers) != 3:
                raise ModelError("not a vector", where=where, got=value, expected="three finite numbers (x, y, z)")
            object.__setattr__(law, name, numbers)
            continue
        numbers = floats((value,))
        if not numbers or (numbers[0] < 0 and name not in signed) or (numbers[0] == 0 and name in positive):
            wanted = "" if name in signed else " above zero" if name in positive else ", zero or more"
            raise ModelError("out of range", where=where, got=value, expected=f"a finite number{wanted}")
        object.__setattr__(law, name, numbers[0])


def direction(law: Any, name: str) -> None:
    """Refuse a vector without one."""
    if not any(value := getattr(law, name)):
        where = f"{type(law).__name__}.{name}"
        raise ModelError("out of range", where=where, got=value, expected="a direction, such as (0, 0, 1)")


def floats(values: Any) -> tuple[float, ...]:
    """The values as finite floats; none of them if one is not."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        return ()
    return numbers if all(map(math.isfinite, numbers)) else ()
