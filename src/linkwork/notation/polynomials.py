"""Polynomials in named symbols that know their values: what a formula over any scalar becomes when it is to be read.

Sines and cosines of the same angle are two symbols with S^2 = 1 - C^2, so that equal expressions look alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

Number = (int, float)
LONGEST = 300  # terms that can be read


@dataclass(frozen=True, eq=False)
class Symbol:
    """Sine and cosine carry the name of their ``angle``, a sine its ``cosine``; sums are linear in a ``parameter``."""

    name: str
    value: float
    angle: str = ""
    cosine: Symbol | None = None
    parameter: bool = False


Powers = tuple[tuple[Symbol, int], ...]  # a product of symbols, in the order of their names


def symbol(name: str, value: float, *, parameter: bool = False) -> Expression:
    return Expression({((Symbol(name, value, parameter=parameter), 1),): 1.0})


def cosine_and_sine(name: str, cosine: float, sine: float) -> tuple[Expression, Expression]:
    """Cname and Sname."""
    C = Symbol(f"C{name}", cosine, name)
    return Expression({((C, 1),): 1.0}), Expression({((Symbol(f"S{name}", sine, name, C), 1),): 1.0})


class Expression:
    """A sum of products of symbols, by their powers. Sums and products that are numbers are given as numbers, and
    those of more than ``LONGEST`` terms are ``Unwritten``."""

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

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, (Expression, *Number)):
            return NotImplemented
        terms: dict[Powers, float] = {}
        others = _terms(other)
        if len(self.terms) * len(others) > 10 * LONGEST:  # they may cancel, but it would take long
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
        """A sum of several terms becomes one symbol."""
        if len(self.terms) > 1:
            return symbol(f"({self})", float(self)).__rtruediv__(number)
        ((powers, factor),) = self.terms.items()
        return Expression({tuple((each, -power) for each, power in powers): number / factor})

    def __float__(self) -> float:
        return sum(factor * _value(powers) for powers, factor in self.terms.items())

    def __abs__(self) -> float:
        return abs(float(self))

    def coefficients(self) -> dict[str, float]:
        """Of the parameters it is linear in."""
        found: dict[str, float] = {}
        for powers, factor in self.terms.items():
            for each, _ in powers:
                if each.parameter:
                    rest = tuple(pair for pair in powers if pair[0] is not each)
                    found[each.name] = found.get(each.name, 0.0) + factor * _value(rest)
        return found

    def __str__(self) -> str:
        """Parameters with the same factor share it: ``ZZ2 + d3^2 (M3 + M4)``."""
        shared: dict[tuple[Powers, float], list[tuple[str, float]]] = {}
        for powers, factor in sorted(_with_sines(self.terms).items(), key=_order):
            geometry = tuple(pair for pair in powers if not pair[0].parameter)
            own = " ".join(each.name for each, _ in powers if each.parameter)
            shared.setdefault((geometry, abs(factor)), []).append((own, factor))
        return "".join(_written(*key, entries) for key, entries in shared.items()).removeprefix(" + ").lstrip()


@dataclass(frozen=True)
class Unwritten:
    """What would be a sum of too many terms to be read: its value alone."""

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

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __rtruediv__(self, number: Any) -> Any:
        return Unwritten(float(number) / self.value)

    def __float__(self) -> float:
        return self.value

    def __abs__(self) -> float:
        return abs(self.value)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (Expression, Unwritten, *Number))


def _terms(value: Any) -> dict[Powers, float]:
    return value.terms if isinstance(value, Expression) else {(): float(value)} if value else {}


def _collapsed(terms: dict[Powers, float]) -> Any:
    left = {powers: factor for powers, factor in terms.items() if factor}
    found = Expression(left) if any(left) else left.get((), 0)
    return found if len(left) <= LONGEST else Unwritten(float(found))


def _product(one: Powers, two: Powers) -> Iterable[tuple[Powers, float]]:
    """Of two products of symbols, the square of a sine replaced."""
    powers = dict(one)
    for each, power in two:
        powers[each] = powers.get(each, 0) + power
    found = [(powers, 1.0)]
    for sine, cosine in [(each, each.cosine) for each in powers if each.cosine]:
        for _ in range(powers[sine] // 2):
            fewer = [({**p, sine: p[sine] - 2}, sign) for p, sign in found]
            found = fewer + [({**p, cosine: p.get(cosine, 0) + 2}, -sign) for p, sign in fewer]
    for p, sign in found:
        yield _sorted((each, n) for each, n in p.items() if n), sign


def _with_sines(terms: Mapping[Powers, float]) -> dict[Powers, float]:
    """x - C^2 x is S^2 x."""
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
    product = 1.0
    for each, power in powers:
        product *= each.value**power
    return product


@cache
def _natural(name: str) -> list[Any]:
    """Sorts d10 after d9."""
    return [(part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", name)]


def _order(term: tuple[Powers, float]) -> Any:
    """By the body of the parameter, then short factors first."""
    powers = term[0]
    geometry = [(each.name, power) for each, power in powers if not each.parameter]
    bodies = [int(found[0]) for each, _ in powers if each.parameter and (found := re.findall(r"\d+$", each.name))]
    return bodies, len(geometry), geometry


def _written(geometry: Powers, size: float, entries: list[tuple[str, float]]) -> str:
    first = entries[0][1]
    factors = [] if size == 1 and (geometry or entries[0][0]) else [f"{size:.6g}"]
    factors += [each.name if power == 1 else f"{each.name}^{power}" for each, power in geometry]
    names = entries[0][0] + "".join(f" {'+' if f * first > 0 else '-'} {name}" for name, f in entries[1:])
    if names:
        factors.append(f"({names})" if len(entries) > 1 and factors else names)
    if len(entries) > 1 and not geometry and size == 1:  # a plain sum
        return "".join(f" {'+' if f > 0 else '-'} {name}" for name, f in entries)
    return f" {'+' if first > 0 else '-'} " + " ".join(factors)
