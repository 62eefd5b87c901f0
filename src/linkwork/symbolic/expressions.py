"""Expression trees for reading: sums of signed terms and products of powers, and a printer for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

Expression = Any  # Number, Symbol, Sum, Product, Quotient or Call

SUM, NEGATIVE, PRODUCT, ATOM = range(4)  # precedence of printed text, loosest first


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Symbol:
    name: str


@dataclass(frozen=True)
class Sum:
    """Terms with their signs, +1 or -1; a negative expression is a sum with one term."""

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
    """Call of a function by its NumPy name; ``second`` and ``third`` are further arguments, if it has more than one."""

    function: str
    argument: Expression
    second: Expression = None
    third: Expression = None

    @property
    def arguments(self) -> tuple[Expression, ...]:
        return tuple(x for x in (self.argument, self.second, self.third) if x is not None)


@dataclass(frozen=True)
class Equation:
    """``name = expression``; ``on_line`` if it depends on the state; ``tag`` is its number in the formulation."""

    name: str
    expression: Expression
    on_line: bool = True
    tag: str = ""


def add(sign: int, a: Expression, b: Expression) -> Expression:
    """Return a + sign b as one flat sum without opposite terms; numbers are added up and stand at the end."""
    terms, number = [], 0.0
    for s, term in (*_terms(a), *((sign * s, term) for s, term in _terms(b))):
        if isinstance(term, Number):
            number += s * term.value
        elif (-s, term) in terms:
            terms.remove((-s, term))
        else:
            terms.append((s, term))
    return Sum((*terms, *_terms(Number(number)))) if number or terms else Number(0.0)


def negative(a: Expression) -> Expression:
    return Sum(tuple((-sign, term) for sign, term in _terms(a)))


def multiply(a: Expression, b: Expression) -> Expression:
    """Return a b as one flat product: sign outside, number first, equal factors as powers; a times 1 / b is a / b."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Quotient) and one.numerator == Number(1.0):
            return Quotient(other, one.denominator)
    sign, powers, number = 1, {}, 1.0
    for operand in (a, b):
        if isinstance(operand, Sum) and len(operand.terms) == 1:
            ((operand_sign, operand),) = operand.terms
            sign *= operand_sign
        for factor, power in operand.factors if isinstance(operand, Product) else ((operand, 1),):
            if isinstance(factor, Number):
                number *= factor.value**power
            else:
                powers[factor] = powers.get(factor, 0) + power
    if number != 1:
        powers = {Number(number): 1, **powers}
    return Product(tuple(powers.items())) if sign > 0 else Sum(((-1, Product(tuple(powers.items()))),))


def distribute(a: Expression, b: Expression) -> Expression:
    """Return a b, expanded if a term of a sum has a numerical factor, which often cancels then."""
    for one, many in ((a, b), (b, a)):
        if isinstance(many, Sum) and len(many.terms) > 1 and any(_is_scaled(term) for _, term in many.terms):
            parts = [(sign, distribute(one, term)) for sign, term in many.terms]
            return Sum(tuple((sign * s, term) for sign, part in parts for s, term in _terms(part)))
    return multiply(a, b)


def _is_scaled(term: Expression) -> bool:
    return isinstance(term, Product) and isinstance(term.factors[0][0], Number)


def _terms(a: Expression) -> tuple[tuple[int, Expression], ...]:
    if isinstance(a, Number):
        return ((-1 if a.value < 0 else 1, Number(abs(a.value))),) if a.value else ()
    return a.terms if isinstance(a, Sum) else ((1, a),)


def parts(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and all its subexpressions."""
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
    """Return the names in an expression."""
    return {part.name for part in parts(expression) if isinstance(part, Symbol)}


def functions_of(expression: Expression) -> set[str]:
    """Return the functions called in an expression."""
    return {part.function for part in parts(expression) if isinstance(part, Call)}


def evaluate(expression: Expression, names: Mapping[str, Any], functions: Mapping[str, Callable], number: Any) -> Any:
    """Evaluate with any type of number: ``names`` has the values of the symbols, ``number`` converts a float."""

    def value_of(e: Expression) -> Any:
        match e:
            case Number(value):
                return number(value)
            case Symbol(name):
                return names[name]
            case Sum(terms):
                return sum((value_of(term) if s > 0 else -value_of(term) for s, term in terms), start=number(0.0))
            case Product(factors):
                return prod((value_of(factor) ** power for factor, power in factors), start=number(1.0))
            case Quotient(numerator, denominator):
                return value_of(numerator) / value_of(denominator)
        return functions[e.function](*map(value_of, e.arguments))

    return value_of(expression)


class Printer:
    """Writes expressions as text; subclasses override how symbols, numbers, powers, quotients and calls look."""

    times = "*"

    def symbol(self, name: str) -> str:
        return name

    def number(self, value: float) -> str:
        """Write a number exactly, but without a rounding error: 0.01999999999999999 is 0.02."""
        if value == int(value) and abs(value) < 1e9:
            return str(int(value))
        exact, rounded = repr(value), f"{value:.14g}"
        return rounded if len(rounded) < len(exact) / 2 else exact

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{exponent}"

    def quotient(self, expression: Quotient) -> tuple[str, int]:
        return f"{self.write(expression.numerator, PRODUCT)}/{self.write(expression.denominator, ATOM)}", PRODUCT

    def call(self, call: Call) -> str:
        return f"{call.function}({', '.join(map(self.write, call.arguments))})"

    def brackets(self, text: str) -> str:
        return f"({text})"

    def write(self, expression: Expression, inside: int = SUM) -> str:
        """Write the expression, in brackets if its precedence is lower than ``inside``."""
        text, precedence = self._text(expression)
        return text if precedence >= inside else self.brackets(text)

    def _text(self, e: Expression) -> tuple[str, int]:
        """Return the text without brackets, and its precedence."""
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
                texts = [(self.write(f, PRODUCT if power == 1 else ATOM), power) for f, power in factors]
                text = self.times.join(text if power == 1 else self.power(text, power) for text, power in texts)
                return text, PRODUCT
            case Quotient():
                return self.quotient(e)
        return self.call(e), ATOM
