"""Least squares by orthogonal columns, without square roots: for few unknowns, also with redundant equations."""

from __future__ import annotations

from collections.abc import Sequence

from . import Scalar, Scalars, is_zero, sqrt

Column = list[Scalar]


def dot(a: Scalars, b: Scalars) -> Scalar:
    """Return the scalar product; products with structural zeros are left out."""
    return sum((x * y for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y))), start=0)


class Orthogonal:
    """A = Q R with orthogonal columns of Q, and ones on the diagonal of R, by the modified Gram-Schmidt method.

    Bjorck (1967), "Solving linear least squares problems by Gram-Schmidt orthogonalization": taking the columns of Q
    out of the right-hand side one after another loses no more digits than the problem itself does. There are no
    pivots to choose, so it is straight-line code. Columns with few entries come first, so that independent blocks of
    equations stay separate and the columns that join them are left to the end.

      (1)  Q_k = A_k - sum over j < k of R_jk Q_j,   d_k = Q_k . Q_k
      (2)  R_kj = Q_k . A_j / d_k,   A_j -= R_kj Q_k      for all j > k
      (3)  A x = b in the least-squares sense:   y_k = Q_k . b / d_k,   b -= y_k Q_k,   R x = y
      (4)  A^T x = c, shortest x:                R^T y = c,   x = sum of Q_k y_k / d_k
    """

    def __init__(self, columns: Sequence[Scalars], rows: int = 0):
        """Orthogonalise the columns; ``rows``, the number of rows of A, is needed only if there may be no columns."""
        n = len(columns)
        self.rows = len(columns[0]) if columns else rows
        entries = [sum(not is_zero(x) for x in column) for column in columns]
        self.order = sorted(range(n), key=lambda k: entries[k])  # Q_k is made of column order[k] of A
        self.Q: list[Column] = [list(columns[k]) for k in self.order]
        self.size = [dot(column, column) for column in self.Q]
        self.R: list[list[Scalar]] = [[0] * n for _ in range(n)]
        self.d: list[Scalar] = [0] * n
        self.inverse: list[Scalar] = [0] * n
        for k in range(n):
            self.d[k] = dot(self.Q[k], self.Q[k])                                       # (1)
            self.inverse[k] = 1 / self.d[k]
            for j in range(k + 1, n):
                self.R[k][j] = dot(self.Q[k], self.Q[j]) * self.inverse[k]              # (2)
                self.Q[j] = minus_scaled(self.Q[j], self.R[k][j], self.Q[k])

    def solve(self, b: Scalars) -> list[Scalar]:
        """Return x for which A x is nearest to b."""
        rest, x = list(b), []
        for q, inverse in zip(self.Q, self.inverse, strict=True):
            x.append(dot(q, rest) * inverse)                                            # (3)
            rest = minus_scaled(rest, x[-1], q)
        for k in reversed(range(len(x))):
            for j in range(k + 1, len(x)):
                x[k] = x[k] - self.R[k][j] * x[j]
        by_column = dict(zip(self.order, x, strict=True))
        return [by_column[k] for k in range(len(x))]

    def conditioning(self) -> Scalar:
        """Return n / (||A|| ||A^-1||): at most 1, and 0 where the columns depend on each other."""
        if not self.size:
            return 1
        inverse: Scalar = 0
        for k in range(len(self.Q)):  # A^-1 is R^-1 D^-1 Q^T, with orthogonal columns of Q
            for x, d in zip(self.inverse_row(k), self.inverse, strict=True):
                inverse = inverse + x * x * d
        return len(self.Q) / sqrt(sum(self.size, start=0) * inverse)

    def inverse_row(self, k: int) -> list[Scalar]:
        """Return row k of R^-1."""
        row: list[Scalar] = [int(j == k) for j in range(len(self.Q))]
        for j in range(k + 1, len(row)):
            row[j] = -dot(row[:j], [self.R[i][j] for i in range(j)])
        return row

    def shortest(self, c: Scalars) -> list[Scalar]:
        """Return the shortest x with A^T x = c."""
        y = [c[k] for k in self.order]
        for k in range(len(y)):
            for j in range(k):
                y[k] = y[k] - self.R[j][k] * y[j]
        x: list[Scalar] = [0] * self.rows
        for q, inverse, value in zip(self.Q, self.inverse, y, strict=True):
            x = minus_scaled(x, -(value * inverse), q)                                          # (4)
        return x

    def projector(self) -> list[list[Scalar]]:
        """Return 1 - Q Q^T, which projects a vector on what is orthogonal to all columns."""
        rows: list[list[Scalar]] = [[1 if i == j else 0 for j in range(self.rows)] for i in range(self.rows)]
        for q, inverse in zip(self.Q, self.inverse, strict=True):
            rows = [minus_scaled(row, entry * inverse, q) for row, entry in zip(rows, q, strict=True)]
        return rows


def minus_scaled(a: Column, scale: Scalar, b: Scalars) -> Column:
    """Return a - scale b."""
    if is_zero(scale):
        return a
    return [x if is_zero(y) else x - scale * y for x, y in zip(a, b, strict=True)]
