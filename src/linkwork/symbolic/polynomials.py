"""Expanded equations in their shortest form: as traced, or as a polynomial in which all possible terms cancel.

Numbers are exact fractions. The identity sin^2 + cos^2 = 1 is applied to every angle, and the sine and cosine of a sum
are expanded if its angles have symbols. So terms that vanish for all states vanish here. Then sines and cosines of sums
that have symbols are restored, and common factors are extracted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import gcd

from .equations import turn_name
from .expressions import (
    Call,
    Equation,
    Expression,
    Number,
    Product,
    Quotient,
    Sum,
    Symbol,
    add,
    multiply,
    negative,
    parts,
    symbols_of,
)

MOST = 400  # terms of a polynomial; a longer one stays as it was traced
WORK = 60_000  # products of terms in one multiplication
TURNS = COS, SIN = "cos", "sin"

Monomial = tuple[tuple[int, int], ...]  # numbers of generators, in order, with their powers
Polynomial = dict[Monomial, Fraction]
Angle = tuple[tuple[str, int], ...]  # symbols of a sum, with their signs


class TooLong(Exception):
    """A polynomial has too many terms to be read."""


def shortened(
    equations: Sequence[Equation], outputs: Iterable[str], constants: Iterable[str], states: Sequence[str]
) -> tuple[Equation, ...]:
    """Return the outputs in their shortest form, or as a copy of an earlier one (M21 = M12).

    Before them stand the equations that they need, with further sines and cosines of sums. The order within products
    is: ``constants``, equations of constants, sines and cosines, ``states``.
    """
    results = tuple(outputs)
    originals = {e.name: e.expression for e in equations if e.name in results}
    whole = {e.name: replace(e, expression=_substituted(e.expression, originals)) for e in equations}
    steps = [e for e in whole.values() if e.name not in results]
    steps += _further_turns(steps, states)
    order = [*constants, *(e.name for e in sorted(steps, key=lambda e: e.on_line)), *states]
    rings = [_Ring({e.name: turn for e in steps if (turn := _turn(e.expression))}, order, avoided) for avoided in TURNS]
    short: list[Equation] = []
    symbols: set[str] = set()
    for k, name in enumerate(results):
        if originals[name] in map(Symbol, results[:k]):
            short.append(replace(whole[name], expression=originals[name]))
            continue
        traced = whole[name].expression
        forms = [traced, *(form for ring in rings if (form := ring.shortest(traced)) is not None)]
        short.append(replace(whole[name], expression=min(forms, key=length)))
        symbols |= symbols_of(short[-1].expression)
    kept_steps: list[Equation] = []
    for step in reversed(steps):
        if step.name in symbols:
            symbols |= symbols_of(step.expression)
            kept_steps.append(step)
    return (*reversed(kept_steps), *short)


def _further_turns(equations: Sequence[Equation], states: Sequence[str]) -> Iterator[Equation]:
    """Yield sines and cosines of sums and differences of two joint angles (or sums of them) that occur."""
    names = {equation.name for equation in equations}
    turns = [turn for equation in equations if (turn := _turn(equation.expression))]
    angles = sorted({angle for _, angle in turns if all(re.fullmatch(r"q\d+", name) for name, _ in angle)})
    present = set(turns)
    for one, other in combinations(angles, 2):
        for way in (1, -1):
            angle = _sum(one, way, other)
            if angle[0][1] < 0:
                angle = tuple((name, -sign) for name, sign in angle)
            for kind in (COS, SIN):
                name = turn_name(kind[0].upper(), [(sign, symbol) for symbol, sign in angle], states)
                if all(abs(sign) == 1 for _, sign in angle) and (kind, angle) not in present and name not in names:
                    present.add((kind, angle))
                    names.add(name)
                    terms = sorted(angle, key=lambda term: -term[1])
                    yield Equation(name, Call(kind, Sum(tuple((sign, Symbol(symbol)) for symbol, sign in terms))))


def _sum(a: Angle, way: int, b: Angle) -> Angle:
    total = Counter(dict(a))
    for name, sign in b:
        total[name] += way * sign
    return tuple(sorted((name, sign) for name, sign in total.items() if sign))


def length(expression: Expression) -> int:
    """Return the number of symbols, numbers and powers in an expression."""
    leaves = sum(isinstance(part, (Symbol, Number)) for part in parts(expression))
    powers = sum(power > 1 for part in parts(expression) if isinstance(part, Product) for _, power in part.factors)
    return leaves + powers


def _substituted(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """Return the expression with expressions in place of symbols."""
    match expression:
        case Symbol(name) if name in values:
            return _substituted(values[name], values)
        case Sum(terms):
            return _total((sign, _substituted(term, values)) for sign, term in terms)
        case Product(factors):
            return reduce(multiply, (_substituted(factor, values) for factor, power in factors for _ in range(power)))
        case Quotient(numerator, denominator):
            return Quotient(_substituted(numerator, values), _substituted(denominator, values))
        case Call(function):
            return Call(function, *(_substituted(argument, values) for argument in expression.arguments))
    return expression


def _turn(expression: Expression) -> tuple[str, Angle] | None:
    """Return "sin" or "cos" and its angle, if the expression is the sine or cosine of a sum of symbols."""
    if not isinstance(expression, Call) or expression.function not in (SIN, COS):
        return None
    argument = expression.argument
    terms = argument.terms if isinstance(argument, Sum) else ((1, argument),)
    if not all(isinstance(term, Symbol) for _, term in terms):
        return None
    return expression.function, tuple(sorted((term.name, sign) for sign, term in terms))


class _Ring:
    """Polynomials in the symbols, without squares of sines (or of cosines), according to ``avoided``."""

    def __init__(self, turns: Mapping[str, tuple[str, Angle]], order: Iterable[str], avoided: str):
        self.number: dict[Expression, int] = {}
        self.generators: list[Expression] = []
        for name in order:
            self._generator(Symbol(name))
        self.turn: dict[int, tuple[str, Angle]] = {self._generator(Symbol(n)): turn for n, turn in turns.items()}
        self.place = {turn: k for k, turn in self.turn.items()}
        self.squares = {}  # generator whose square is replaced -> the cosine or sine of the same angle
        for (kind, angle), k in self.place.items():
            other = self.place.get((COS if kind == SIN else SIN, angle))
            if kind == avoided and other is not None:
                self.squares[k] = other
        self.expanded: dict[int, Polynomial] = {}
        for k, (kind, angle) in self.turn.items():
            single = [self._pair(term) for term in angle]
            if len(angle) > 1 and all(None not in pair for pair in single):
                self.expanded[k] = self._expanded(kind, angle)

    def _generator(self, expression: Expression) -> int:
        if expression not in self.number:
            self.number[expression] = len(self.generators)
            self.generators.append(expression)
        return self.number[expression]

    def _pair(self, term: tuple[str, int]) -> tuple[int | None, int | None]:
        """Return the generators of the cosine and the sine of a single symbol; None where there is none."""
        angle = ((term[0], 1),)
        return self.place.get((COS, angle)), self.place.get((SIN, angle))

    def _expanded(self, kind: str, angle: Angle) -> Polynomial:
        """Return the sine or cosine of a sum as a polynomial in sines and cosines of its terms."""
        cosine: Polynomial = {(): Fraction(1)}
        sine: Polynomial = {}
        for term in angle:
            c, s = ({((k, 1),): Fraction(1)} for k in self._pair(term) if k is not None)
            s = _scaled(s, Fraction(term[1]))
            cosine, sine = (
                _plus(self.times(cosine, c), _scaled(self.times(sine, s), Fraction(-1))),
                _plus(self.times(sine, c), self.times(cosine, s)),
            )
        return cosine if kind == COS else sine

    # -- arithmetic ------------------------------------------------------------------------------------------------

    def times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        if len(a) * len(b) > WORK:
            raise TooLong
        result: Polynomial = {}
        for one, x in a.items():
            for other, y in b.items():
                powers = Counter(dict(one))
                powers.update(dict(other))
                self._reduce(result, powers, x * y)
        if len(result) > MOST:
            raise TooLong
        return {m: x for m, x in result.items() if x}

    def _reduce(self, into: Polynomial, powers: Counter[int], value: Fraction) -> None:
        """Add a term, with s^2 replaced by 1 - c^2."""
        for k, other in self.squares.items():
            if powers[k] > 1:
                one, two = Counter(powers), Counter(powers)
                one[k] -= 2
                two[k] -= 2
                two[other] += 2
                self._reduce(into, one, value)
                self._reduce(into, two, -value)
                return
        monomial = _monomial(powers)
        into[monomial] = into.get(monomial, Fraction(0)) + value

    def polynomial(self, e: Expression) -> Polynomial:
        match e:
            case Number(value):
                return {(): Fraction(value)} if value else {}
            case Symbol():
                k = self._generator(e)
                return self.expanded.get(k) or {((k, 1),): Fraction(1)}
            case Sum(terms):
                total: Polynomial = {}
                for sign, term in terms:
                    total = _plus(total, _scaled(self.polynomial(term), Fraction(sign)))
                if len(total) > MOST:
                    raise TooLong
                return total
            case Product(factors):
                result: Polynomial = {(): Fraction(1)}
                for factor, power in factors:
                    part = self.polynomial(factor)
                    for _ in range(power):
                        result = self.times(result, part)
                return result
            case Quotient(numerator, denominator):
                inverse = Quotient(Number(1.0), self._best(denominator))
                return self.times(self.polynomial(numerator), {((self._generator(inverse), 1),): Fraction(1)})
        return {((self._generator(Call(e.function, *map(self._best, e.arguments))), 1),): Fraction(1)}

    # -- back to expressions ---------------------------------------------------------------------------------------

    def shortest(self, expression: Expression) -> Expression | None:
        try:
            return self._factored(self._gathered(self.polynomial(expression)), outermost=True)
        except TooLong:
            return None

    def _best(self, expression: Expression) -> Expression:
        return min((e for e in (expression, self.shortest(expression)) if e is not None), key=length)

    def _gathered(self, polynomial: Polynomial) -> Polynomial:
        """Restore sines and cosines of sums wherever two terms become one."""
        again = True
        while again:
            again = False
            for monomial in list(polynomial):
                if monomial in polynomial and (pair := self._sum_of_angles(polynomial, monomial)):
                    partner, joined, sign = pair
                    value = polynomial.pop(monomial)
                    del polynomial[partner]
                    polynomial = _plus(polynomial, {joined: sign * value})
                    again = True
        return polynomial

    def _sum_of_angles(self, polynomial: Polynomial, monomial: Monomial) -> tuple[Monomial, Monomial, int] | None:
        """Return another term, and the term that replaces both by an addition theorem, with its sign.

        The theorems are for x cos a cos b -+ x sin a sin b and x sin a cos b +- x cos a sin b.
        """
        turning = [k for k, _ in monomial if k in self.turn]
        for a, b in combinations(turning, 2):
            (kind, angle), (other, further) = self.turn[a], self.turn[b]
            both = [self.place.get((COS if k == SIN else SIN, x)) for k, x in ((kind, angle), (other, further))]
            swapped = [k for k in both if k is not None]
            if len(swapped) < 2:
                continue
            rest = Counter(dict(monomial))
            rest.subtract((a, b))
            partner = _monomial(rest + Counter(swapped))
            if partner == monomial or abs(polynomial.get(partner, 0)) != abs(polynomial[monomial]):
                continue
            equal = polynomial[partner] == polynomial[monomial]
            if kind == other:  # this term is cos cos or sin sin, and the other one sin sin or cos cos
                result, way = COS, -1 if equal else 1
                outer = 1 if kind == COS or equal else -1
            else:
                result, way, outer = SIN, 1 if equal else -1, 1
                if kind == COS:  # cos a sin b -+ sin a cos b = sin(b -+ a)
                    angle, further = further, angle
            sign, joined = self._joined(result, angle, way, further)
            if joined is not None:
                return partner, _monomial(rest + Counter([joined])), outer * sign
        return None

    def _joined(self, kind: str, a: Angle, way: int, b: Angle) -> tuple[int, int | None]:
        """Return sign and generator of the sine or cosine of a + way b; None if it has no symbol."""
        angle = _sum(a, way, b)
        if (kind, angle) in self.place:
            return 1, self.place[kind, angle]
        opposite = tuple((name, -sign) for name, sign in angle)
        return (1 if kind == COS else -1), self.place.get((kind, opposite))

    def _factored(self, polynomial: Polynomial, outermost: bool = False) -> Expression:
        """Extract the factors that all terms share, then the factor that most terms share, and so on.

        A sum inside a product begins with a positive term, so that equal sums are recognised.
        """
        if not polynomial:
            return Number(0.0)
        if len(polynomial) == 1:
            ((monomial, value),) = polynomial.items()
            return self._product(monomial, value)
        common = _shared(polynomial)
        scale = _scale(polynomial.values())
        if polynomial[min(polynomial)] < 0 and (common or scale != 1 or not outermost):
            scale = -scale
        if common or scale != 1:
            inner = {_without(m, common): x / scale for m, x in polynomial.items()}
            return multiply(self._product(common, scale), self._factored(inner))
        uses = Counter(k for monomial in polynomial for k, _ in monomial)
        k, times = min(uses.items(), key=lambda item: (-item[1], item[0]))
        if times == 1:
            return _total((1, self._product(monomial, polynomial[monomial])) for monomial in sorted(polynomial))
        sharing = {m: x for m, x in polynomial.items() if k in dict(m)}
        others = {m: x for m, x in polynomial.items() if m not in sharing}
        first, second = (self._factored(part, outermost=True) for part in sorted((sharing, others), key=min))
        return _collected(add(1, first, second))

    def _product(self, monomial: Monomial, value: Fraction) -> Expression:
        result: Expression = Number(float(abs(value)))
        for k, power in monomial:
            for _ in range(power):
                result = self.generators[k] if result == Number(1.0) else multiply(result, self.generators[k])
        return result if value > 0 else negative(result)


def _collected(total: Expression) -> Expression:
    """Combine the terms of a sum that have a sum as a common factor."""
    if not isinstance(total, Sum):
        return total
    by_factor: dict[Expression, list[tuple[int, Expression]]] = {}
    for sign, term in total.terms:
        for factor, power in term.factors if isinstance(term, Product) else ((term, 1),):
            if isinstance(factor, Sum) and power == 1:
                by_factor.setdefault(factor, []).append((sign, term))
    for factor, terms in by_factor.items():
        if len(terms) > 1:
            rests = (tuple(pair for pair in getattr(term, "factors", ()) if pair[0] != factor) for _, term in terms)
            inner = _total((sign, _of_factors(rest)) for (sign, _), rest in zip(terms, rests, strict=True))
            others = tuple(pair for pair in total.terms if pair not in terms)
            together = multiply(_collected(inner), factor)
            return _collected(add(1, Sum(others), together) if others else together)
    return total


def _total(terms: Iterable[tuple[int, Expression]]) -> Expression:
    """Return the sum of terms with signs."""
    return reduce(lambda total, term: add(term[0], total, term[1]), terms, Number(0.0))


def _of_factors(factors: tuple[tuple[Expression, int], ...]) -> Expression:
    if not factors:
        return Number(1.0)
    return factors[0][0] if len(factors) == 1 and factors[0][1] == 1 else Product(factors)


def _plus(a: Polynomial, b: Polynomial) -> Polynomial:
    total = dict(a)
    for monomial, value in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) + value
    return {m: x for m, x in total.items() if x}


def _scaled(a: Polynomial, factor: Fraction) -> Polynomial:
    return {m: factor * x for m, x in a.items()}


def _monomial(powers: Counter[int]) -> Monomial:
    return tuple(sorted((k, power) for k, power in powers.items() if power))


def _shared(polynomial: Polynomial) -> Monomial:
    first, *others = map(dict, polynomial)
    return tuple((k, least) for k in sorted(first) if (least := min([first[k], *(m.get(k, 0) for m in others)])))


def _without(monomial: Monomial, common: Monomial) -> Monomial:
    return _monomial(Counter(dict(monomial)) - Counter(dict(common)))


def _scale(values: Iterable[Fraction]) -> Fraction:
    """Return the common factor of numbers: their size if it is the same, the greatest divisor of integers, else 1."""
    sizes = {abs(x) for x in values}
    if len(sizes) == 1:
        return sizes.pop()
    return Fraction(gcd(*(x.numerator for x in sizes))) if all(x.denominator == 1 for x in sizes) else Fraction(1)
