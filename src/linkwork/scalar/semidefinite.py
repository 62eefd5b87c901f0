"""Symmetric systems whose rows may follow from each other, or be off: over any scalar, and without branches."""

from __future__ import annotations

from collections.abc import Sequence

from . import Scalar, ldl, positive_part, sign
from .orthogonal import dot

LEAST = 1e-11  # of a row's pivot before elimination: with less left, it follows from the rows before


class Semidefinite:
    """S x = b for S = J J^T of any rank, from the first row down.

    A row of which elimination leaves nothing follows from those before it, or is zero: it is left out, by numbers
    ``on`` that are 1 or 0. Equations are numbered here:

      (1)  d_k = S_kk - sum of d_j L_kj^2 over j < k
      (2)  on_k = 1 if d_k > LEAST S_kk, else 0;   1 / d_k where it is 1, else 0
      (3)  L_ik = (S_ik - sum of d_j L_ij L_kj over j < k) / d_k
      (4)  L y = b,   L^T x = y / d                  x is zero where rows are left out
      (5)  row k = C_k of the rows before it:   C_k L = L_k,   N_k = e_k - C_k      for each that is left out
      (6)  the shortest x with the same S x:   x - N^T (N N^T)^-1 N x
    """

    def __init__(self, S: Sequence[Sequence[Scalar]]):
        n = len(S)
        self.L: list[list[Scalar]] = [[0] * n for _ in range(n)]
        self.on: list[Scalar] = [0] * n
        self.inverse: list[Scalar] = [0] * n
        A = [list(row) for row in S]
        for k in range(n):
            d = A[k][k]  # (1)
            self.on[k] = positive_part(sign(d - LEAST * S[k][k]))  # (2)
            self.inverse[k] = self.on[k] / (d + (1 - self.on[k]))
            for i in range(k + 1, n):
                self.L[i][k] = A[i][k] * self.inverse[k]  # (3)
            for i in range(k + 1, n):
                for j in range(k + 1, i + 1):
                    A[i][j] = A[i][j] - self.L[i][k] * A[j][k]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """An x with S x = b, if there is one: with zeros where rows follow from others."""
        x = list(b)
        for k in range(len(x)):
            x[k] = x[k] - dot(self.L[k][:k], x[:k])  # (4)
        x = [value * inverse for value, inverse in zip(x, self.inverse, strict=True)]
        for k in reversed(range(len(x))):
            for j in range(k):
                x[j] = x[j] - self.L[k][j] * x[k]
        return [value * on for value, on in zip(x, self.on, strict=True)]

    def shortest(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Of all that do the same as ``x``, which ``solve`` gave."""
        N = [self._follows(k) for k in range(len(x))]
        gram = [[dot(a, b) for b in N] for a in N]
        for k, on in enumerate(self.on):
            gram[k][k] = gram[k][k] + on
        w = ldl.solve(*ldl.factor(gram), [dot(row, x) for row in N])
        return [value - dot(column, w) for value, column in zip(x, zip(*N, strict=True), strict=True)]  # (6)

    def _follows(self, k: int) -> list[Scalar]:
        """N_k, zero of a row that stays."""
        C = [x * on for x, on in zip(self.L[k][:k], self.on[:k], strict=True)]
        for i in reversed(range(k)):
            C[i] = C[i] * self.on[i]
            for j in range(i):
                C[j] = C[j] - C[i] * self.L[i][j]  # (5)
        return [*((self.on[k] - 1) * x for x in C), 1 - self.on[k], *[0] * (len(self.L) - k - 1)]
