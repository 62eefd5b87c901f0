"""Solve A x = b by elimination in a fixed order of the pivots: straight-line code, and zeros stay zeros."""

from __future__ import annotations

from collections.abc import Sequence

from . import Scalar, Scalars, is_zero


class Elimination:
    """A = L U with ones on the diagonal of L, rows and columns in the order ``order``.

    It is stable where the symmetric part of A is positive definite (an inertia matrix with damping and stiffness):
    then no pivot vanishes in any order; Golub & Van Loan (1979), "Unsymmetric positive definite linear systems". Where
    every parent is numbered before its children, the order from last to first keeps the sparsity of a tree's branches.

      (1)  L_ik = A_ik / A_kk
      (2)  A_ij -= L_ik A_kj      for all i, j after k
    """

    def __init__(self, A: Sequence[Scalars], order: Sequence[int]):
        self.order = list(order)
        self.A = [list(row) for row in A]
        self.inverse: list[Scalar] = [0] * len(self.A)
        for at, k in enumerate(self.order):
            pivot = self.A[k]
            self.inverse[k] = 1 / pivot[k]
            later = self.order[at + 1 :]
            columns = [j for j in later if not is_zero(pivot[j])]
            for row in (self.A[i] for i in later):
                if not is_zero(row[k]):
                    row[k] = row[k] * self.inverse[k]  # (1)
                    for j in columns:
                        row[j] = row[j] - row[k] * pivot[j]  # (2)

    def solve(self, b: Scalars) -> list[Scalar]:
        """Return x with A x = b."""
        x = list(b)
        for at, k in enumerate(self.order):
            for i in self.order[at + 1 :]:
                if not is_zero(self.A[i][k]):
                    x[i] = x[i] - self.A[i][k] * x[k]
        for at, k in reversed(list(enumerate(self.order))):
            for j in self.order[at + 1 :]:
                if not is_zero(self.A[k][j]):
                    x[k] = x[k] - self.A[k][j] * x[j]
            x[k] = x[k] * self.inverse[k]
        return x
