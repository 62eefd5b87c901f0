"""Polynomials in named symbols with values: scalars on which any formula gives a result that can be read.

Sine and cosine of an angle are two symbols with S^2 = 1 - C^2, so that equal expressions look alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

Number = (int, float)
LONGEST = 300  # largest number of terms; nobody can read a longer sum


@dataclass(frozen=True, eq=False)
class Symbol:
    """A named number.

    A sine or cosine has the name of its ``angle``, and a sine its ``cosine``. Sums are linear in a ``parameter``.
    """

    name: str
    value: float
    angle: str = ""
    cosine: Symbol | None = None
    parameter: bool = False


Powers = tuple[tuple[Symbol, int], ...]  # a product of symbols with powers, in the order of their names


def symbol(name: str, value: float, *, parameter: bool = False) -> Expression:
    return Expression({((Symbol(name, value, parameter=parameter), 1),): 1.0})


def cosine_and_sine(name: str, cosine: float, sine: float) -> tuple[Expression, Expression]:
    """Return the symbols of the cosine and the sine of an angle: Cname and Sname."""
    C = Symbol(f"C{name}", cosine, name)
    return Expression({((C, 1),): 1.0}), Expression({((Symbol(f"S{name}", sine, name, C), 1),): 1.0})


class _Differences:
    """Subtraction by addition."""

    __slots__ = ()

    def __sub__(self: Any, other: Any) -> Any:
        return self + -other

    def __rsub__(self: Any, other: Any) -> Any:
        return -self + other

    def __abs__(self: Any) -> float:
        return abs(float(self))


class Expression(_Differences):
    """A sum of products of symbols.

    Results that are numbers are returned as numbers, and results of more than ``LONGEST`` terms as ``Unwritten``.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Powers, float]):
        self.terms = dict(terms)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, (Expression, *Number)):
            return NotImplemented
        terms = dict(self.terms)
        for powers, factor in _terms(other).items():
            terms[powers] = terms.get(powers, 0.0) + factor
        return _collapsed(terms)

    def __neg__(self) -> Expression:
        return Expression({powers: -factor for powers, factor in self.terms.items()})

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, (Expression, *Number)):
            return NotImplemented
        terms: dict[Powers, float] = {}
        others = _terms(other)
        if len(self.terms) * len(others) > 10 * LONGEST:  # terms might cancel, but it would take long
            return Unwritten(float(self) * float(other))
        for one, factor in self.terms.items():
            for two, scale in others.items():
                for powers, sign in _product(one, two):
                    terms[powers] = terms.get(powers, 0.0) + factor * scale * sign
        return _collapsed(terms)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (1 / other)

    def __rtruediv__(self, number: float) -> Any:
        """Divide a number by this; a sum of several terms becomes one symbol."""
        if len(self.terms) > 1:
            return symbol(f"({self})", float(self)).__rtruediv__(number)
        ((powers, factor),) = self.terms.items()
        return Expression({tuple((each, -power) for each, power in powers): number / factor})

    def __float__(self) -> float:
        return sum(factor * _value(powers) for powers, factor in self.terms.items())

    def coefficients(self) -> dict[str, float]:
        """Return the coefficients of the parameters in which the expression is linear."""
        values: dict[str, float] = {}
        for powers, factor in self.terms.items():
            for each, _ in powers:
                if each.parameter:
                    rest = tuple(pair for pair in powers if pair[0] is not each)
                    values[each.name] = values.get(each.name, 0.0) + factor * _value(rest)
        return values

    def __str__(self) -> str:
        """Write the expression; parameters with the same factor share it: ``ZZ2 + d3^2 (M3 + M4)``."""
        groups: dict[tuple[Powers, float], list[tuple[str, float]]] = {}
        for powers, factor in sorted(_with_sines(self.terms).items(), key=_order):
            geometry = tuple(pair for pair in powers if not pair[0].parameter)
            parameters = " ".join(each.name for each, _ in powers if each.parameter)
            groups.setdefault((geometry, abs(factor)), []).append((parameters, factor))
        return "".join(_written(*key, entries) for key, entries in groups.items()).removeprefix(" + ").lstrip()


@dataclass(frozen=True)
class Unwritten(_Differences):
    """The value of a sum that has too many terms to be read."""

    value: float

    def __add__(self, other: Any) -> Any:
        return Unwritten(self.value + float(other)) if _is_scalar(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if not _is_scalar(other):
            return NotImplemented
        return 0 if isinstance(other, Number) and not other else Unwritten(self.value * float(other))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Unwritten:
        return Unwritten(-self.value)

    def __rtruediv__(self, number: Any) -> Any:
        return Unwritten(float(number) / self.value)

    def __float__(self) -> float:
        return self.value


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (Expression, Unwritten, *Number))


def _terms(value: Any) -> dict[Powers, float]:
    return value.terms if isinstance(value, Expression) else {(): float(value)} if value else {}


def _collapsed(terms: dict[Powers, float]) -> Any:
    """Return a sum as a number if it is one, or as Unwritten if it is too long."""
    nonzero = {powers: factor for powers, factor in terms.items() if factor}
    total = Expression(nonzero) if any(nonzero) else nonzero.get((), 0)
    return total if len(nonzero) <= LONGEST else Unwritten(float(total))


def _product(one: Powers, two: Powers) -> Iterable[tuple[Powers, float]]:
    """Yield the terms, with signs, of the product of two products of symbols, without squares of sines."""
    powers = dict(one)
    for each, power in two:
        powers[each] = powers.get(each, 0) + power
    terms = [(powers, 1.0)]
    for sine, cosine in [(each, each.cosine) for each in powers if each.cosine]:
        for _ in range(powers[sine] // 2):
            fewer = [({**p, sine: p[sine] - 2}, sign) for p, sign in terms]
            terms = fewer + [({**p, cosine: p.get(cosine, 0) + 2}, -sign) for p, sign in fewer]
    for p, sign in terms:
        yield _sorted((each, n) for each, n in p.items() if n), sign


def _with_sines(terms: Mapping[Powers, float]) -> dict[Powers, float]:
    """Return the terms with x - C^2 x replaced by S^2 x."""
    terms = dict(terms)
    for powers, factor in list(terms.items()):
        for each, power in powers:
            rest = tuple((s, n - 2 * (s is each)) for s, n in powers if s is not each or n > 2)
            if each.angle and not each.cosine and power >= 2 and terms.get(rest) == -factor and powers in terms:
                del terms[powers], terms[rest]
                terms[_sorted((*rest, (Symbol(f"S{each.angle}", (1 - each.value**2) ** 0.5), 2)))] = -factor
    return terms


def _sorted(powers: Iterable[tuple[Symbol, int]]) -> Powers:
    return tuple(sorted(powers, key=lambda pair: _natural(pair[0].name)))


def _value(powers: Powers) -> float:
    return prod((each.value**power for each, power in powers), start=1.0)


@cache
def _natural(name: str) -> list[Any]:
    """Return a key that sorts d10 after d9."""
    return [(part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", name)]


def _order(term: tuple[Powers, float]) -> Any:
    """Return a key that sorts by the body of the parameter, then short factors first."""
    powers = term[0]
    geometry = [(each.name, power) for each, power in powers if not each.parameter]
    bodies = [int(number[0]) for each, _ in powers if each.parameter and (number := re.findall(r"\d+$", each.name))]
    return bodies, len(geometry), geometry


def _written(geometry: Powers, size: float, entries: list[tuple[str, float]]) -> str:
    """Write a factor times parameters, with the sign in front."""
    first = entries[0][1]
    factors = [] if size == 1 and (geometry or entries[0][0]) else [f"{size:.6g}"]
    factors += [each.name if power == 1 else f"{each.name}^{power}" for each, power in geometry]
    names = entries[0][0] + "".join(f" {'+' if f * first > 0 else '-'} {name}" for name, f in entries[1:])
    if names:
        factors.append(f"({names})" if len(entries) > 1 and factors else names)
    if len(entries) > 1 and not geometry and size == 1:  # a plain sum
        return "".join(f" {'+' if f > 0 else '-'} {name}" for name, f in entries)
    return f" {'+' if first > 0 else '-'} " + " ".join(factors)
