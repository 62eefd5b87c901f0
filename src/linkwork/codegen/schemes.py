"""Schemes of the time loop: what is evaluated in a step and how rates combine, as tables.

Coefficients are fractions, written as papers print them, and checked when a table is made. Every back end computes a
combination in the same order, so that a table alone tells all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import gcd, lcm
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..errors import LinkworkError

ROUNDING = 1e-12  # of decimals in a table, where a number is no fraction

Row = tuple[Fraction, ...]


class Arithmetic(NamedTuple):
    """Of the numbers of a back end."""

    constant: Callable[[float], Any]
    add: Callable[[Any, Any], Any]
    multiply: Callable[[Any, Any], Any]
    fma: Callable[[Any, Any, Any], Any]  # a b + c


@dataclass(frozen=True)
class Combination:
    """x + dt * (weighted rates), as it is computed: whole weights times one ``share``, rates of equal weight added
    first."""

    share: Fraction
    groups: tuple[tuple[int, tuple[int, ...]], ...]  # weight, numbers of the rates that have it

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
        """``share``: that of dt."""
        slope = None
        for weight, which in self.groups:
            total = reduce(n.add, map(rates, which))
            if slope is not None:
                slope = n.fma(n.constant(weight), total, slope)
            else:
                slope = total if weight == 1 else n.multiply(n.constant(weight), total)
        return x if slope is None else n.fma(share, slope, x)


@dataclass(frozen=True)
class RungeKutta:
    """Explicit, by Butcher's table: a line ``node | coefficients`` for each stage, then ``| weights``.

    0   |
    1   | 1
        | 1/2  1/2
    """

    table: str
    history = 0

    def __post_init__(self):
        for k, (node, row) in enumerate(zip(self.nodes, self.coefficients, strict=True)):
            if abs(sum(row) - node) > ROUNDING:
                self._refuse(f"stage {k + 1}", f"coefficients that add up to {sum(row)}", f"their node, {node}")
        if abs(sum(self.weights) - 1) > ROUNDING:
            self._refuse("the weights", f"a sum of {sum(self.weights)}", "1")

    @cached_property
    def _lines(self) -> list[tuple[Fraction | None, Row]]:
        return _lines(self.table, self._refuse)

    @staticmethod
    def _refuse(where: str, got: str, expected: str) -> NoReturn:
        raise LinkworkError(
            "this is no table of an explicit Runge-Kutta method", where=where, got=got, expected=expected
        )

    @property
    def nodes(self) -> Row:
        return tuple(node for node, _ in self._lines if node is not None)

    @property
    def coefficients(self) -> tuple[Row, ...]:
        return tuple(row for _, row in self._lines[:-1])

    @property
    def weights(self) -> Row:
        return self._lines[-1][1]

    @property
    def evaluations(self) -> int:
        """Of the rates, in each step."""
        return len(self.nodes)

    @property
    def rates(self) -> int:
        """How many are there at a time."""
        return len(self.nodes)

    @cached_property
    def stages(self) -> list[tuple[float, Combination]]:
        """Of all stages but the first, which is at x: the share of dt that has passed, and where rates are taken."""
        return [(float(c), Combination.of(a)) for c, a in zip(self.nodes, self.coefficients, strict=True)][1:]

    @cached_property
    def step(self) -> Combination:
        return Combination.of(self.weights)

    def growth(self, z: np.ndarray) -> np.ndarray:
        """|x| after a step of x' = (z / dt) x from 1: a polynomial whose coefficients are b A^k 1."""
        n = self.evaluations
        A = np.array([[float(x) for x in (*row, *[0] * (n - len(row)))] for row in self.coefficients])
        left, ones = np.array(self.weights, float), np.ones(n)
        rising = [1.0]
        for _ in range(n):
            rising.append(float(left @ ones))
            left = left @ A
        return np.abs(np.polyval(rising[::-1], z))


@dataclass(frozen=True)
class AdamsBashforth:
    """Explicit, of several steps: weights of the rates at the step's beginning, one step before, and so on.

    ``start``: makes the first steps, one less than there are weights.
    """

    weights: str
    start: RungeKutta
    evaluations = 1

    def __post_init__(self):
        if len(self._weights) < 2 or abs(sum(self._weights) - 1) > ROUNDING:
            raise LinkworkError(
                "these are no weights of an Adams-Bashforth method",
                got=f"{len(self._weights)} with a sum of {sum(self._weights)}",
                expected="two or more, with a sum of 1",
            )

    @cached_property
    def _weights(self) -> Row:
        return fractions(self.weights)

    @property
    def history(self) -> int:
        """Rates of earlier steps that are kept."""
        return len(self._weights) - 1

    @property
    def rates(self) -> int:
        """How many are there at a time, beside the history."""
        return self.start.rates

    @cached_property
    def step(self) -> Combination:
        return Combination.of(self._weights)

    def growth(self, z: np.ndarray) -> np.ndarray:
        """Of x' = (z / dt) x per step: the largest root of r^m = r^(m-1) + z (b_0 r^(m-1) + b_1 r^(m-2) + ...)."""
        own = np.array(self._weights, float)
        rows = np.concatenate([np.ones((len(z), 1)), -np.multiply.outer(z, own)], axis=1)
        rows[:, 1] -= 1.0
        return np.array([np.abs(np.roots(row)).max() for row in rows])


@dataclass(frozen=True)
class OwnStep:
    """No table: the loop's program makes a step by itself."""

    history = rates = 0
    evaluations = 1


@dataclass(frozen=True)
class Rosenbrock:
    """Linearly implicit, for x' = f(x) with J = df/dx: a line ``node | a`` for each stage, then ``| m``; and a line
    ``c`` for each stage but the first.

    In the form that needs no product with J; Hairer & Wanner (1996), "Solving Ordinary Differential Equations II",
    equation IV.7.25:

      (1)  (1 / (gamma dt) - J) u_i = f(x + sum_j a_ij u_j) + sum_j c_ij u_j / dt
      (2)  x + sum_j m_j u_j after the step

    A time loop runs it as a program that makes the whole step (``OwnStep``).
    """

    gamma: str
    table: str
    further: str
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
    def _lines(self) -> list[tuple[Fraction | None, Row]]:
        return _lines(self.table, self._refuse)

    @cached_property
    def _further(self) -> list[Row]:
        return [fractions(line) for line in filter(str.strip, self.further.splitlines())]

    @staticmethod
    def _refuse(where: str, got: str, expected: str) -> NoReturn:
        raise LinkworkError("this is no table of a Rosenbrock method", where=where, got=got, expected=expected)

    @cached_property
    def g(self) -> float:
        """gamma"""
        (gamma,) = fractions(self.gamma)
        return float(gamma)

    @cached_property
    def A(self) -> np.ndarray:
        return _triangle([row for _, row in self._lines[:-1]])

    @cached_property
    def C(self) -> np.ndarray:
        return _triangle([(), *self._further])

    @cached_property
    def m(self) -> np.ndarray:
        return np.array(self._lines[-1][1], float)

    @cached_property
    def nodes(self) -> list[float]:
        """Of each stage: the share of dt that has passed."""
        return [float(node) for node, _ in self._lines[:-1] if node is not None]

    @cached_property
    def passed(self) -> np.ndarray:
        """u_i of the clock, t' = 1, as shares of dt: the row sums of Gamma, where C = 1 / gamma - Gamma^-1."""
        found = np.linalg.solve(np.eye(len(self.C)) / self.g - self.C, np.ones(len(self.C)))
        return np.where(np.abs(found) < ROUNDING, 0.0, found)

    @property
    def evaluations(self) -> int:
        """Of the rates, in each step, beside their slopes and as many linear systems."""
        return len(self.nodes)

    def growth(self, z: np.ndarray) -> np.ndarray:
        """|x| after a step of x' = (z / dt) x from 1."""
        u = np.zeros((len(self.m), *z.shape), complex)
        for k, (a, c) in enumerate(zip(self.A, self.C, strict=True)):
            u[k] = (z * (1 + np.tensordot(a, u, 1)) + np.tensordot(c, u, 1)) / (1 / self.g - z)
        return np.abs(1 + np.tensordot(self.m, u, 1))


def _lines(table: str, refuse: Callable[[str, str, str], NoReturn]) -> list[tuple[Fraction | None, Row]]:
    """Of a table: the node, if there is one, and what stands behind the bar."""
    lines = []
    for text in filter(str.strip, table.splitlines()):
        node, bar, row = text.partition("|")
        if not bar or len(fractions(node)) > 1:
            refuse("the table", text.strip(), "a node, or none, before a bar: 1/2 | 1/2")
        lines.append((next(iter(fractions(node)), None), fractions(row)))
    if len(lines) < 2:
        refuse("the table", f"{len(lines)} lines", "a line for each stage, then that of the weights")
    *stages, (last, weights) = lines
    for k, (node, row) in enumerate(stages):
        if node is None or len(row) != k:
            refuse(f"stage {k + 1}", f"{len(row)} coefficients", f"a node, and {k} of the stages before it")
    if last is not None or len(weights) != len(stages):
        got = f"{len(weights)} weights of {len(stages)} stages"
        refuse("the last line", got, "no node, and one weight for each stage")
    return lines


def _triangle(rows: Sequence[Row]) -> np.ndarray:
    n = len(rows)
    return np.array([[float(x) for x in (*row, *[0] * n)][:n] for row in rows])


LoopScheme = RungeKutta | AdamsBashforth | OwnStep  # what a time loop is written around
Scheme = LoopScheme | Rosenbrock


def fractions(text: str) -> Row:
    """Of whole numbers, fractions and decimals, as in "1 -1/3 0.25"."""
    try:
        return tuple(Fraction(word) for word in text.split())
    except (ValueError, ZeroDivisionError) as error:
        raise LinkworkError(
            "this is no row of fractions",
            where="table of an integrator",
            got=text.strip(),
            expected="such as 1/2 -3 0.25",
        ) from error
