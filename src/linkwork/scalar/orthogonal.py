"""Least squares by orthogonal columns, without square roots: for few unknowns, and sound for redundant equations."""

from __future__ import annotations

from collections.abc import Sequence

from . import Scalar, is_zero, sqrt

Column = list[Scalar]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y))), start=0)


class Orthogonal:
    """A = Q R with orthogonal columns of Q, and ones on the diagonal of R, by the modified Gram-Schmidt method.

    Bjorck (1967), "Solving linear least squares problems by Gram-Schmidt orthogonalization": taking the columns of Q
    out of the right-hand side one after another loses no more digits than the problem itself does. There are no
    pivots to choose, so it is straight-line code. Columns with few entries come first: so blocks of equations with
    unknowns of their own stay apart, and those that join them are left to the end.

      (1)  Q_k = A_k - sum over j < k of R_jk Q_j,   d_k = Q_k . Q_k
      (2)  R_kj = Q_k . A_j / d_k,   A_j -= R_kj Q_k      for all j > k
      (3)  A x = b in the least-squares sense:   y_k = Q_k . b / d_k,   b -= y_k Q_k,   R x = y
      (4)  A^T x = c, shortest x:                R^T y = c,   x = sum of Q_k y_k / d_k
    """

    def __init__(self, columns: Sequence[Sequence[Scalar]], rows: int = 0):
        """``rows``: of A, where it may have no columns to tell."""
        n = len(columns)
        self.rows = len(columns[0]) if columns else rows
        entries = [sum(not is_zero(x) for x in column) for column in columns]
        self.order = sorted(range(n), key=lambda k: entries[k])  # of the columns of Q among those of A
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
                self.Q[j] = less(self.Q[j], self.R[k][j], self.Q[k])

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x for which A x is nearest to b."""
        rest, x = list(b), []
        for q, inverse in zip(self.Q, self.inverse, strict=True):
            x.append(dot(q, rest) * inverse)                                            # (3)
            rest = less(rest, x[-1], q)
        for k in reversed(range(len(x))):
            for j in range(k + 1, len(x)):
                x[k] = x[k] - self.R[k][j] * x[j]
        placed = dict(zip(self.order, x, strict=True))
        return [placed[k] for k in range(len(x))]

    def conditioning(self) -> Scalar:
        """n / (||A|| ||A^-1||), at most 1, and 0 where the columns depend on each other."""
        if not self.size:
            return 1
        inverse: Scalar = 0
        for k in range(len(self.Q)):  # A^-1 is R^-1 D^-1 Q^T, with orthogonal columns of Q
            for x, d in zip(self.inverse_row(k), self.inverse, strict=True):
                inverse = inverse + x * x * d
        return len(self.Q) / sqrt(sum(self.size, start=0) * inverse)

    def inverse_row(self, k: int) -> list[Scalar]:
        """Row k of R^-1."""
        row: list[Scalar] = [int(j == k) for j in range(len(self.Q))]
        for j in range(k + 1, len(row)):
            row[j] = -dot(row[:j], [self.R[i][j] for i in range(j)])
        return row

    def shortest(self, c: Sequence[Scalar]) -> list[Scalar]:
        """The shortest x with A^T x = c."""
        y = [c[k] for k in self.order]
        for k in range(len(y)):
            for j in range(k):
                y[k] = y[k] - self.R[j][k] * y[j]
        x: list[Scalar] = [0] * self.rows
        for q, inverse, value in zip(self.Q, self.inverse, y, strict=True):
            x = less(x, -(value * inverse), q)                                          # (4)
        return x

    def projector(self) -> list[list[Scalar]]:
        """1 - Q Q^T: what of a vector is orthogonal to all columns."""
        rows: list[list[Scalar]] = [[1 if i == j else 0 for j in range(self.rows)] for i in range(self.rows)]
        for q, inverse in zip(self.Q, self.inverse, strict=True):
            rows = [less(row, entry * inverse, q) for row, entry in zip(rows, q, strict=True)]
        return rows


def less(a: Column, scale: Scalar, b: Sequence[Scalar]) -> Column:
    """a - scale b"""
    if is_zero(scale):
        return a
    return [x if is_zero(y) else x - scale * y for x, y in zip(a, b, strict=True)]
