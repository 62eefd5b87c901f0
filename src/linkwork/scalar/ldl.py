"""M = L^T D L from the last row up, which leaves the branches of a tree as sparse as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import Scalar, is_zero


def factor(M: Sequence[Sequence[Scalar]]) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Unit lower triangular L (its strict part) and the inverses of D.

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


def inward(L: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """x with L^T x = b."""
    x = list(b)
    for k in reversed(range(len(x))):
        for i in range(k):
            if not is_zero(L[k][i]):
                x[i] = x[i] - L[k][i] * x[k]
    return x


def columns_inward(L: Sequence[Sequence[Scalar]], columns: Sequence[Any]) -> list[Any]:
    """X with X L = C, by columns of any type that can be scaled and subtracted."""
    X = list(columns)
    for k in reversed(range(len(X))):
        for i in range(k):
            if not is_zero(L[k][i]):
                X[i] = X[i] - X[k] * L[k][i]
    return X


def outward(L: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """x with L x = b."""
    x = list(b)
    for k in range(len(x)):
        for i in range(k):
            if not is_zero(L[k][i]):
                x[k] = x[k] - L[k][i] * x[i]
    return x


def solve(L: Sequence[Sequence[Scalar]], inverse: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """x with L^T D L x = b."""
    return outward(L, [value * d for value, d in zip(inward(L, b), inverse, strict=True)])
