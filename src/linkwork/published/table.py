"""Printed and measured operation counts.

A paper's module lists its tables. Each row has the printed polynomials in n, and a function that runs the formulation
for n joints on counting scalars, by the paper's convention. The measured polynomial is computed from exact differences
of the counts for consecutive n, and agrees with more of them than it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, zip_longest
from math import factorial

from ..errors import LinkworkError


@dataclass(frozen=True)
class Polynomial:
    """A polynomial in n with exact coefficients, constant term first."""

    coefficients: tuple[Fraction, ...]

    @staticmethod
    def of(*highest_first: int | str | Fraction) -> Polynomial:
        """Return a polynomial: ``Polynomial.of("21/2", "77/2", -85)`` is 10 1/2 n^2 + 38 1/2 n - 85."""
        return Polynomial(tuple(Fraction(c) for c in reversed(highest_first)))

    def __call__(self, n: int) -> Fraction:
        return sum((c * n**k for k, c in enumerate(self.coefficients)), start=Fraction(0))

    def __sub__(self, other: Polynomial) -> Polynomial:
        pairs = zip_longest(self.coefficients, other.coefficients, fillvalue=Fraction(0))
        return Polynomial(tuple(a - b for a, b in pairs))

    def __bool__(self) -> bool:
        return any(self.coefficients)

    def __str__(self) -> str:
        text = ""
        for k, c in reversed(list(enumerate(self.coefficients))):
            if c:
                size = abs(c)
                whole, part = divmod(size, 1)
                number = f"{whole}" if not part else f"{whole} {part}" if whole else f"{part}"
                power = "" if k == 0 else "n" if k == 1 else f"n^{k}"
                number = "" if power and size == 1 else number + (" " if power and part else "")
                text += (" - " if c < 0 else " + ") + number + power
        return text.removeprefix(" + ").replace(" - ", "-", 1) if text.startswith(" - ") else text[3:] or "0"


Count = Mapping[str, int]  # at least "mul" and "add"


def fit(values: Mapping[int, int], where: str) -> Polynomial:
    """Return the polynomial of lowest degree through ``values`` at consecutive n, which must be more than it needs."""
    start, row = min(values), [Fraction(values[n]) for n in sorted(values)]
    differences = []
    while any(row):
        differences.append(row[0])
        row = [b - a for a, b in pairwise(row)]
        if not row:
            raise LinkworkError("these counts are not a polynomial in n", where=where, got=dict(values))
    total = [Fraction(0)] * max(len(differences), 1)
    for k, difference in enumerate(differences):  # Newton: difference * binomial(n - start, k)
        factor = [Fraction(1)]
        for j in range(k):
            factor = [
                (factor[i - 1] if i else 0) - (start + j) * (factor[i] if i < len(factor) else 0)
                for i in range(len(factor) + 1)
            ]
        for power, c in enumerate(factor):
            total[power] += difference * c / factorial(k)
    return Polynomial(tuple(total))


@dataclass(frozen=True)
class Row:
    """One algorithm in a table.

    ``count(n)`` runs it; the measured polynomial holds from ``n_from`` on. ``why`` explains every difference from the
    printed counts, if there is one. ``values`` are printed numbers, n -> (mul, add).
    """

    label: str
    method: str
    mul: Polynomial
    add: Polynomial
    count: Callable[[int], Count]
    n_from: int = 2
    n_to: int = 9
    why: str = ""
    values: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def measured(self) -> tuple[Polynomial, Polynomial]:
        counts = {n: self.count(n) for n in range(self.n_from, self.n_to + 1)}
        return tuple(fit({n: c[key] for n, c in counts.items()}, f"{self.label}, {key}") for key in ("mul", "add"))  # type: ignore[return-value]


@dataclass(frozen=True)
class Table:
    """A table of a paper.

    ``reference`` is a key of references.bib, and ``convention`` describes what is counted. ``quantity`` is set if the
    rows count a whole quantity of the catalogue, from joint positions on.
    """

    title: str
    reference: str
    convention: str
    rows: tuple[Row, ...]
    quantity: str = ""
