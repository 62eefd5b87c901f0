"""Expression trees as a reader sees them: sums of signed terms, products of powers; and how any printer writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

Expression = Any  # Number, Symbol, Sum, Product, Quotient or Call

SUM, NEGATIVE, PRODUCT, ATOM = range(4)  # how tightly what was printed holds together


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Symbol:
    name: str


@dataclass(frozen=True)
class Sum:
    """Terms with their signs, +1 or -1; a single one is a term with its sign."""

    terms: tuple[tuple[int, Expression], ...]


@dataclass(frozen=True)
class Product:
    """Factors with their powers."""

    factors: tuple[tuple[Expression, int], ...]


@dataclass(frozen=True)
class Quotient:
    numerator: Expression
    denominator: Expression


@dataclass(frozen=True)
class Call:
    """``function``: by NumPy's name. arctan2, minimum, maximum and comparisons have two arguments, where has three."""

    function: str
    argument: Expression
    second: Expression = None
    third: Expression = None

    @property
    def arguments(self) -> tuple[Expression, ...]:
        return tuple(x for x in (self.argument, self.second, self.third) if x is not None)


@dataclass(frozen=True)
class Equation:
    """``name = expression``. ``on_line``: does it depend on the state? ``tag``: its number in the formulation."""

    name: str
    expression: Expression
    on_line: bool = True
    tag: str = ""


def add(sign: int, a: Expression, b: Expression) -> Expression:
    """a + b or a - b, as one flat sum in which opposite terms cancel and numbers are one, at the end."""
    terms, number = [], 0.0
    for own, term in (*_terms(a), *((sign * own, term) for own, term in _terms(b))):
        if isinstance(term, Number):
            number += own * term.value
        elif (-own, term) in terms:
            terms.remove((-own, term))
        else:
            terms.append((own, term))
    return Sum((*terms, *_terms(Number(number)))) if number or terms else Number(0.0)


def negative(a: Expression) -> Expression:
    return Sum(tuple((-own, term) for own, term in _terms(a)))


def multiply(a: Expression, b: Expression) -> Expression:
    """a * b as one flat product: sign outside, number first, equal factors as powers; a times 1 / b is a / b."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Quotient) and one.numerator == Number(1.0):
            return Quotient(other, one.denominator)
    sign, powers, number = 1, {}, 1.0
    for operand in (a, b):
        if isinstance(operand, Sum) and len(operand.terms) == 1:
            ((own, operand),) = operand.terms
            sign *= own
        for factor, power in operand.factors if isinstance(operand, Product) else ((operand, 1),):
            if isinstance(factor, Number):
                number *= factor.value**power
            else:
                powers[factor] = powers.get(factor, 0) + power
    if number != 1:
        powers = {Number(number): 1, **powers}
    return Product(tuple(powers.items())) if sign > 0 else Sum(((-1, Product(tuple(powers.items()))),))


def distribute(a: Expression, b: Expression) -> Expression:
    """a * b, multiplied out where a number stands before a term of a sum, which then often vanishes."""
    for one, many in ((a, b), (b, a)):
        if isinstance(many, Sum) and len(many.terms) > 1 and any(_is_scaled(term) for _, term in many.terms):
            parts = [(sign, distribute(one, term)) for sign, term in many.terms]
            return Sum(tuple((sign * own, term) for sign, part in parts for own, term in _terms(part)))
    return multiply(a, b)


def _is_scaled(term: Expression) -> bool:
    return isinstance(term, Product) and isinstance(term.factors[0][0], Number)


def _terms(a: Expression) -> tuple[tuple[int, Expression], ...]:
    if isinstance(a, Number):
        return ((-1 if a.value < 0 else 1, Number(abs(a.value))),) if a.value else ()
    return a.terms if isinstance(a, Sum) else ((1, a),)


def parts(expression: Expression) -> Iterator[Expression]:
    """The expression and all it is made of."""
    yield expression
    match expression:
        case Sum(terms):
            inner = [term for _, term in terms]
        case Product(factors):
            inner = [factor for factor, _ in factors]
        case Quotient(numerator, denominator):
            inner = [numerator, denominator]
        case Call():
            inner = expression.arguments
        case _:
            inner = []
    for part in inner:
        yield from parts(part)


def symbols_of(expression: Expression) -> set[str]:
    """The names in an expression."""
    return {part.name for part in parts(expression) if isinstance(part, Symbol)}


def functions_of(expression: Expression) -> set[str]:
    """The functions called in an expression."""
    return {part.function for part in parts(expression) if isinstance(part, Call)}


def evaluate(expression: Expression, names: Mapping[str, Any], functions: Mapping[str, Callable], number: Any) -> Any:
    """The value over any numbers: ``names`` gives those of the symbols, ``number`` makes one of a float."""

    def of(e: Expression) -> Any:
        match e:
            case Number(value):
                return number(value)
            case Symbol(name):
                return names[name]
            case Sum(terms):
                return sum((of(term) if sign > 0 else -of(term) for sign, term in terms), start=number(0.0))
            case Product(factors):
                return prod((of(factor) ** power for factor, power in factors), start=number(1.0))
            case Quotient(numerator, denominator):
                return of(numerator) / of(denominator)
        return functions[e.function](*map(of, e.arguments))

    return of(expression)


class Printer:
    """Writes expressions as text; subclasses say how symbols, numbers, powers, quotients and calls look."""

    times = "*"

    def symbol(self, name: str) -> str:
        return name

    def number(self, value: float) -> str:
        """As it is, but 0.02 where rounding made it 0.01999999999999999."""
        if value == int(value) and abs(value) < 1e9:
            return str(int(value))
        exact, meant = repr(value), f"{value:.14g}"
        return meant if len(meant) < len(exact) / 2 else exact

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{exponent}"

    def quotient(self, expression: Quotient) -> tuple[str, int]:
        return f"{self.write(expression.numerator, PRODUCT)}/{self.write(expression.denominator, ATOM)}", PRODUCT

    def call(self, call: Call) -> str:
        return f"{call.function}({', '.join(map(self.write, call.arguments))})"

    def brackets(self, text: str) -> str:
        return f"({text})"

    def write(self, expression: Expression, inside: int = SUM) -> str:
        """The expression, in brackets if it holds together less tightly than its place asks for."""
        text, tightness = self._written(expression)
        return text if tightness >= inside else self.brackets(text)

    def _written(self, e: Expression) -> tuple[str, int]:
        match e:
            case Number(value):
                return self.number(value), ATOM if value >= 0 else NEGATIVE
            case Symbol(name):
                return self.symbol(name), ATOM
            case Sum(terms):
                text = ""
                for sign, term in terms:
                    text += (" + " if sign > 0 else " - ") if text else ("" if sign > 0 else "-")
                    text += self.write(term, NEGATIVE if sign > 0 and not text else PRODUCT)
                return text, SUM if len(terms) > 1 else NEGATIVE
            case Product(factors):
                shown = [(self.write(f, PRODUCT if power == 1 else ATOM), power) for f, power in factors]
                text = self.times.join(text if power == 1 else self.power(text, power) for text, power in shown)
                return text, PRODUCT
            case Quotient():
                return self.quotient(e)
        return self.call(e), ATOM
