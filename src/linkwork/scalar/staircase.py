"""Linear equations solved one by one as far as structural zeros allow; the rest by least squares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from . import Scalar, Scalars, is_zero, sign, sqrt
from .orthogonal import Orthogonal, dot

SINGULAR = 1e-18  # share of the sum of all squares; a pivot's square below it is due to rounding


class Staircase:
    """A x = b, where an equation with one unknown left gives this unknown, then the next. Equations are numbered here:

      (1)  x_k = (b_r - sum of A_rj x_j) / A_rk              one step of the stairs: row r, column k, known x_j
      (2)  A^T y = c backwards:   y_r = (c_k - sum of A_ik y_i) / A_rk     y_i of later steps and of the rest

    What no step reaches is solved by ``Orthogonal``. All of it is, if the equations outnumber the unknowns, because the
    divisor of a step may then vanish although the unknown is determined. Else it vanishes only if A is singular.
    """

    def __init__(self, columns: Sequence[Scalars]):
        self.A = [list(row) for row in zip(*columns, strict=True)]
        self.steps: list[tuple[int, int, Scalar]] = []
        rows = [r for r, row in enumerate(self.A) if not all(is_zero(x) for x in row)]
        unknown = list(range(len(columns)))
        square = len(rows) == len(unknown)
        while square and (step := self._next(rows, unknown)):
            r, k = step
            self.steps.append((r, k, 1 / self.A[r][k]))
            rows.remove(r)
            unknown.remove(k)
        self.rows, self.unknown = rows, unknown
        self.rest = Orthogonal([[self.A[r][k] for r in rows] for k in unknown])

    def pivots(self) -> list[Scalar]:
        """Return the squares of the divisors, less what rounding leaves of A."""
        total = sum((dot(row, row) for row in self.A), start=0)
        squares = [*(self.A[r][k] * self.A[r][k] for r, k, _ in self.steps), *self.rest.d]
        return [square - SINGULAR * total for square in squares]

    def _next(self, rows: Sequence[int], unknown: Sequence[int]) -> tuple[int, int] | None:
        """Return row and column of an equation with one unknown left, if there is one."""
        for r in rows:
            left = [k for k in unknown if not is_zero(self.A[r][k])]
            if len(left) == 1:
                return r, left[0]
        return None

    def solve(self, b: Scalars) -> list[Scalar]:
        """Return x with A x = b, or nearest to it."""
        x: list[Scalar] = [0] * (len(self.steps) + len(self.unknown))
        for r, k, inverse in self.steps:
            x[k] = (b[r] - dot(self.A[r], x)) * inverse                                  # (1)
        rest = [b[r] - dot(self.A[r], x) for r in self.rows]
        for k, value in zip(self.unknown, self.rest.solve(rest), strict=True):
            x[k] = value
        return x

    def shortest(self, c: Scalars) -> list[Scalar]:
        """Return the shortest y with A^T y = c."""
        y: list[Scalar] = [0] * len(self.A)
        for r, value in zip(self.rows, self.rest.shortest([c[k] for k in self.unknown]), strict=True):
            y[r] = value
        for r, k, inverse in reversed(self.steps):
            y[r] = (c[k] - dot([row[k] for row in self.A], y)) * inverse                 # (2)
        return y


def unique_or_nan(solvers: Iterable[Staircase]) -> Scalar:
    """Return 1 where all systems have one solution, NaN where one has many, up to rounding."""
    pivots = [pivot for solver in solvers for pivot in solver.pivots()]
    return sqrt(2 * (sum(map(sign, pivots), start=0) - len(pivots)) + 1)
