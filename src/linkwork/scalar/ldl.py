"""Factorisation M = L^T D L from the last row up, which keeps the sparsity of branches of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import Scalar, Scalars, is_zero


def factor(M: Sequence[Scalars]) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Return the strict part of the unit lower triangular L, and the inverses of D.

    Featherstone (2005), "Efficient factorization of the joint-space inertia matrix for branched kinematic trees": when
    every parent is numbered before its children, eliminating from the last joint to the first creates no new
    nonzero entry. Entries that are structurally zero are skipped.

      (1)  L_ki = M_ki / D_k
      (2)  M_ij -= L_ki M_kj     for all j <= i < k
    """
    n = len(M)
    A = [list(row) for row in M]
    L: list[list[Scalar]] = [[0] * n for _ in range(n)]
    inverse: list[Scalar] = [0] * n
    for k in reversed(range(n)):
        inverse[k] = 1 / A[k][k]
        support = [i for i in range(k) if not is_zero(A[k][i])]
        for at, i in enumerate(support):
            L[k][i] = A[k][i] * inverse[k]                           # (1)
            for j in support[: at + 1]:
                A[i][j] = A[i][j] - L[k][i] * A[k][j]                # (2)
    return L, inverse


def inward(L: Sequence[Scalars], b: Scalars) -> list[Scalar]:
    """Return x with L^T x = b."""
    x = list(b)
    for k in reversed(range(len(x))):
        for i in range(k):
            if not is_zero(L[k][i]):
                x[i] = x[i] - L[k][i] * x[k]
    return x


def columns_inward(L: Sequence[Scalars], columns: Sequence[Any]) -> list[Any]:
    """Return the columns of X with X L = C. Columns may have any type that can be scaled and subtracted."""
    X = list(columns)
    for k in reversed(range(len(X))):
        for i in range(k):
            if not is_zero(L[k][i]):
                X[i] = X[i] - X[k] * L[k][i]
    return X


def outward(L: Sequence[Scalars], b: Scalars) -> list[Scalar]:
    """Return x with L x = b."""
    x = list(b)
    for k in range(len(x)):
        for i in range(k):
            if not is_zero(L[k][i]):
                x[k] = x[k] - L[k][i] * x[i]
    return x


def solve(L: Sequence[Scalars], inverse: Scalars, b: Scalars) -> list[Scalar]:
    """Return x with L^T D L x = b."""
    return outward(L, [value * d for value, d in zip(inward(L, b), inverse, strict=True)])
