"""Integration schemes of the time loop as tables: where rates are evaluated in a step, and how they are combined.

Coefficients are fractions, written as papers print them, and checked when a table is made. Every back end computes a
combination in the same order, so the table determines the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import gcd, lcm
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from ..errors import LinkworkError

ROUNDING = 1e-12  # tolerance for numbers that are decimals in a table, not fractions

Row = tuple[Fraction, ...]


class Arithmetic(NamedTuple):
    """Arithmetic on the numbers of a back end."""

    constant: Callable[[float], Any]
    add: Callable[[Any, Any], Any]
    multiply: Callable[[Any, Any], Any]
    fma: Callable[[Any, Any, Any], Any]  # a b + c


@dataclass(frozen=True)
class Combination:
    """Sum of a state and weighted rates, x + dt (weighted rates), with integer weights times one ``share``.

    Rates of equal weight are added first.
    """

    share: Fraction
    groups: tuple[tuple[int, tuple[int, ...]], ...]  # weight, numbers of the rates with this weight

    @staticmethod
    def of(weights: Row) -> Combination:
        common = gcd(*(weight.numerator for weight in weights)) or 1
        share = Fraction(common, lcm(*(weight.denominator for weight in weights)))
        groups: dict[int, list[int]] = {}
        for k, weight in enumerate(weights):
            if weight:
                groups.setdefault(int(weight / share), []).append(k)
        return Combination(share, tuple((weight, tuple(which)) for weight, which in groups.items()))

    def __call__(self, x: Any, rates: Callable[[int], Any], share: Any, n: Arithmetic) -> Any:
        """Return the combination; ``share`` is the product of dt and the share of this combination."""
        slope = None
        for weight, which in self.groups:
            total = reduce(n.add, map(rates, which))
            if slope is not None:
                slope = n.fma(n.constant(weight), total, slope)
            else:
                slope = total if weight == 1 else n.multiply(n.constant(weight), total)
        return x if slope is None else n.fma(share, slope, x)


class _Tableau:
    """A method with a table of nodes, coefficients and weights."""

    kind: ClassVar[str]
    table: str

    @cached_property
    def _lines(self) -> list[tuple[Fraction | None, Row]]:
        """Node (or None) and row behind the bar, for each line of the table."""
        lines = []
        for text in filter(str.strip, self.table.splitlines()):
            node, bar, row = text.partition("|")
            if not bar or len(fractions(node)) > 1:
                self._refuse("the table", text.strip(), "one node, or none, before a bar: 1/2 | 1/2")
            lines.append((next(iter(fractions(node)), None), fractions(row)))
        if len(lines) < 2:
            self._refuse("the table", f"{len(lines)} lines", "a line for each stage, then a line of weights")
        *stages, (last, weights) = lines
        for k, (node, row) in enumerate(stages):
            if node is None or len(row) != k:
                expected = f"a node and {k} coefficients of earlier stages"
                self._refuse(f"stage {k + 1}", f"{len(row)} coefficients", expected)
        if last is not None or len(weights) != len(stages):
            got = f"{len(weights)} weights of {len(stages)} stages"
            self._refuse("the last line", got, "no node, and one weight for each stage")
        return lines

    def _refuse(self, where: str, got: str, expected: str) -> NoReturn:
        raise LinkworkError(f"this is not a table of {self.kind} method", where=where, got=got, expected=expected)


@dataclass(frozen=True)
class RungeKutta(_Tableau):
    """Explicit Runge-Kutta method by its Butcher tableau.

    Args:
        table: A line ``node | coefficients`` for each stage, then a line ``| weights``.

    Raises:
        LinkworkError: The table is not that of an explicit method, or its sums are wrong.

    Example:
        >>> heun = linkwork.RungeKutta('''
        ...     0 |
        ...     1 | 1
        ...       | 1/2  1/2''')
        >>> heun.evaluations
        2
    """

    table: str
    kind = "an explicit Runge-Kutta"
    history = 0

    def __post_init__(self):
        for k, (node, row) in enumerate(zip(self.nodes, self.coefficients, strict=True)):
            if abs(sum(row) - node) > ROUNDING:
                self._refuse(f"stage {k + 1}", f"coefficients that add up to {sum(row)}", f"their node, {node}")
        if abs(sum(self.weights) - 1) > ROUNDING:
            self._refuse("the weights", f"a sum of {sum(self.weights)}", "1")

    @property
    def nodes(self) -> Row:
        """Time of each stage as a share of dt."""
        return tuple(node for node, _ in self._lines if node is not None)

    @property
    def coefficients(self) -> tuple[Row, ...]:
        """Coefficients of each stage."""
        return tuple(row for _, row in self._lines[:-1])

    @property
    def weights(self) -> Row:
        """Weights of the rates in the step."""
        return self._lines[-1][1]

    @property
    def evaluations(self) -> int:
        """Evaluations of the rates in each step."""
        return len(self.nodes)

    @property
    def rates(self) -> int:
        """Number of rates that are stored at a time."""
        return len(self.nodes)

    @cached_property
    def stages(self) -> list[tuple[float, Combination]]:
        """Time, as a share of dt, and combination of rates of each stage except the first, which is at x."""
        return [(float(c), Combination.of(a)) for c, a in zip(self.nodes, self.coefficients, strict=True)][1:]

    @cached_property
    def step(self) -> Combination:
        """Combination of the rates in the step."""
        return Combination.of(self.weights)

    def growth(self, z: np.ndarray) -> np.ndarray:
        """Compute the growth factor of a step of x' = (z / dt) x: a polynomial with the coefficients b A^k 1.

        Args:
            z: Complex numbers, eigenvalue times dt.

        Returns:
            |x| after a step from 1, in the shape of ``z``.
        """
        A, left = _triangle(self.coefficients), np.array(self.weights, float)
        ones = np.ones(len(left))
        rising = [1.0]
        for _ in self.nodes:
            rising.append(float(left @ ones))
            left = left @ A
        return np.abs(np.polyval(rising[::-1], z))


@dataclass(frozen=True)
class AdamsBashforth:
    """Explicit linear multistep method of Adams and Bashforth.

    Args:
        weights: Weights of the rates at the beginning of the step, one step before, and so on.
        start: Method of the first steps, one less than there are weights.

    Raises:
        LinkworkError: There are fewer than two weights, or their sum is not 1.

    Example:
        >>> euler = linkwork.RungeKutta("0 | \\n | 1")
        >>> linkwork.AdamsBashforth("3/2 -1/2", start=euler).history
        1
    """

    weights: str
    start: RungeKutta
    evaluations = 1

    def __post_init__(self):
        if len(self._weights) < 2 or abs(sum(self._weights) - 1) > ROUNDING:
            raise LinkworkError(
                "these are not weights of an Adams-Bashforth method",
                got=f"{len(self._weights)} with a sum of {sum(self._weights)}",
                expected="two or more, with a sum of 1",
            )

    @cached_property
    def _weights(self) -> Row:
        return fractions(self.weights)

    @property
    def history(self) -> int:
        """Number of earlier steps whose rates are kept."""
        return len(self._weights) - 1

    @property
    def rates(self) -> int:
        """Number of rates that are stored at a time, besides the history."""
        return self.start.rates

    @cached_property
    def step(self) -> Combination:
        """Combination of the rates in the step."""
        return Combination.of(self._weights)

    def growth(self, z: np.ndarray) -> np.ndarray:
        """Compute the growth factor per step of x' = (z / dt) x.

        It is the largest root of r^m = r^(m-1) + z (b_0 r^(m-1) + b_1 r^(m-2) + ...).

        Args:
            z: Complex numbers (n,), eigenvalue times dt.

        Returns:
            Growth factors (n,).
        """
        rows = np.concatenate([np.ones((len(z), 1)), -np.multiply.outer(z, np.array(self._weights, float))], axis=1)
        rows[:, 1] -= 1.0
        return np.array([np.abs(np.roots(row)).max() for row in rows])


@dataclass(frozen=True)
class OwnStep:
    """Scheme without a table: the program of the time loop computes the whole step."""

    history = rates = 0
    evaluations = 1


@dataclass(frozen=True)
class Rosenbrock(_Tableau):
    """Rosenbrock method, linearly implicit, for x' = f(x) with J = df/dx.

    It has the form without products with J; Hairer & Wanner (1996), "Solving Ordinary Differential Equations II",
    equation IV.7.25:

      (1)  (1 / (gamma dt) - J) u_i = f(x + sum_j a_ij u_j) + sum_j c_ij u_j / dt
      (2)  x + sum_j m_j u_j after the step

    A time loop runs it as a program that computes the whole step (``OwnStep``).

    Args:
        gamma: The coefficient gamma.
        table: A line ``node | a`` for each stage, then a line ``| m``.
        further: A line ``c`` for each stage except the first.

    Raises:
        LinkworkError: The tables do not fit each other, or their sums are wrong.

    Example:
        >>> linkwork.Rosenbrock("1", "0 | \\n | 1", "").evaluations
        1
    """

    gamma: str
    table: str
    further: str
    kind = "a Rosenbrock"
    history = 0

    def __post_init__(self):
        if [len(row) for row in self._further] != list(range(1, len(self.nodes))):
            got = f"{[len(row) for row in self._further]} coefficients c"
            self._refuse("the lines of c", got, "one for the second stage, two for the third, and so on")
        for k, (node, passed) in enumerate(zip(self.nodes, self.A @ self.passed, strict=True)):
            if abs(passed - node) > ROUNDING:
                self._refuse(f"stage {k + 1}", f"coefficients that lead to {passed:.15g}", f"its node, {node:.15g}")
        if abs(self.m @ self.passed - 1) > ROUNDING:
            self._refuse("the weights", f"a step of {self.m @ self.passed:.15g}", "1")

    @cached_property
    def _further(self) -> list[Row]:
        return [fractions(line) for line in filter(str.strip, self.further.splitlines())]

    @cached_property
    def g(self) -> float:
        """The coefficient gamma."""
        (gamma,) = fractions(self.gamma)
        return float(gamma)

    @cached_property
    def A(self) -> np.ndarray:
        """Coefficients a_ij (stages, stages)."""
        return _triangle([row for _, row in self._lines[:-1]])

    @cached_property
    def C(self) -> np.ndarray:
        """Coefficients c_ij (stages, stages)."""
        return _triangle([(), *self._further])

    @cached_property
    def m(self) -> np.ndarray:
        """Coefficients m_j (stages,)."""
        return np.array(self._lines[-1][1], float)

    @cached_property
    def nodes(self) -> list[float]:
        """Time of each stage as a share of dt."""
        return [float(node) for node, _ in self._lines[:-1] if node is not None]

    @cached_property
    def passed(self) -> np.ndarray:
        """Solution u_i for a clock, t' = 1, as shares of dt: the row sums of Gamma, where C = 1 / gamma - Gamma^-1."""
        shares = np.linalg.solve(np.eye(len(self.C)) / self.g - self.C, np.ones(len(self.C)))
        return np.where(np.abs(shares) < ROUNDING, 0.0, shares)

    @property
    def evaluations(self) -> int:
        """Evaluations of the rates in each step; each step also takes one Jacobian and as many linear solves."""
        return len(self.nodes)

    def growth(self, z: np.ndarray) -> np.ndarray:
        """Compute the growth factor of a step of x' = (z / dt) x.

        Args:
            z: Complex numbers, eigenvalue times dt.

        Returns:
            |x| after a step from 1, in the shape of ``z``.
        """
        u = np.zeros((len(self.m), *z.shape), complex)
        for k, (a, c) in enumerate(zip(self.A, self.C, strict=True)):
            u[k] = (z * (1 + np.tensordot(a, u, 1)) + np.tensordot(c, u, 1)) / (1 / self.g - z)
        return np.abs(1 + np.tensordot(self.m, u, 1))


def _triangle(rows: Sequence[Row]) -> np.ndarray:
    """Return a square matrix whose rows are filled up with zeros."""
    n = len(rows)
    return np.array([[float(x) for x in (*row, *[0] * n)][:n] for row in rows])


LoopScheme = RungeKutta | AdamsBashforth | OwnStep  # schemes that a time loop runs
Scheme = LoopScheme | Rosenbrock


def fractions(text: str) -> Row:
    """Read integers, fractions and decimals, as in "1 -1/3 0.25"."""
    try:
        return tuple(Fraction(word) for word in text.split())
    except (ValueError, ZeroDivisionError) as error:
        raise LinkworkError(
            "this is not a row of fractions",
            where="table of an integrator",
            got=text.strip(),
            expected="numbers such as 1/2 -3 0.25",
        ) from error
