"""Linear algebra of small matrices over any scalar: straight-line code, so only ``determinant`` searches for pivots.

Matrices are nested lists. ``solve``, ``inverse``, ``qr`` and ``pseudo_inverse`` orthogonalise columns (modified
Gram-Schmidt), which needs no pivots for any regular matrix; ``ldl`` and ``cholesky`` are for positive definite ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import Scalar, absolute, less, sqrt, where
from .orthogonal import Orthogonal, dot

Matrix = Sequence[Sequence[Scalar]]


def transposed(A: Matrix) -> list[list[Scalar]]:
    return [list(column) for column in zip(*A, strict=True)]


def solve(A: Matrix, b: Sequence[Scalar]) -> list[Scalar]:
    """x with A x = b, or the one nearest to it if A has more rows than columns."""
    return Orthogonal(transposed(A)).solve(b)


def inverse(A: Matrix) -> list[list[Scalar]]:
    """The inverse; by cofactors up to 3 x 3, whose product of three entries must not overflow or underflow."""
    n = len(A)
    if n > 3:
        factors = Orthogonal(transposed(A))
        return transposed([factors.solve([int(i == k) for i in range(n)]) for k in range(n)])
    share = 1 / determinant(A)
    if n == 1:
        return [[share]]
    if n == 2:
        (a, b), (c, d) = A
        return [[d * share, -b * share], [-c * share, a * share]]
    x, y, z = A
    return [[value * share for value in row] for row in transposed([_cross(y, z), _cross(z, x), _cross(x, y)])]


def determinant(A: Matrix) -> Scalar:
    """The determinant, by elimination until four rows are left, and by their cofactors.

    A pivot is the largest entry of the column with the largest sum, so one of zero means that all entries are zero.
    Then the derivatives are right also for singular matrices.
    """
    rows, product = A, 1
    while len(rows) > 4:
        rows = transposed(_largest_first(transposed(rows), lambda column: sum(map(absolute, column))))
        (pivot, *others), *rows = _largest_first(rows, lambda row: absolute(row[0]))
        product = product * pivot
        share = 1 / where(pivot, pivot, 1)
        rows = [[x - first * share * y for x, y in zip(rest, others, strict=True)] for first, *rest in rows]
    return product * _by_cofactors(rows)


def _largest_first(vectors: Matrix, size: Callable[[Sequence[Scalar]], Scalar]) -> list[Sequence[Scalar]]:
    """Bring the largest vector to the front; of two that change places, one changes its sign."""
    first, *others = vectors
    largest, rest = size(first), []
    for vector in others:
        larger = less(largest, size(vector))
        rest.append([where(larger, -x, y) for x, y in zip(first, vector, strict=True)])
        first = [where(larger, y, x) for x, y in zip(first, vector, strict=True)]
        largest = where(larger, size(vector), largest)
    return [first, *rest]


def _by_cofactors(A: Matrix) -> Scalar:
    """The determinant by cofactors: n! products, for small matrices."""
    n = len(A)
    if n == 1:
        return A[0][0]
    if n == 2:
        return A[0][0] * A[1][1] - A[0][1] * A[1][0]
    if n == 3:
        return dot(A[0], _cross(A[1], A[2]))
    value: Scalar = 0
    for k, x in enumerate(A[0]):  # along the first row
        minor = [[*row[:k], *row[k + 1 :]] for row in A[1:]]
        value = value + (x if k % 2 == 0 else -x) * _by_cofactors(minor)
    return value


def pseudo_inverse(A: Matrix, damping: Scalar = 0) -> list[list[Scalar]]:
    """A^T (A A^T + damping^2 1)^-1, or the same from the other side if that is smaller; undamped, A has full rank.

    A x is nearest to b, with x not too long: (x, y) is the shortest solution of A x + damping y = b. Its columns are
    orthogonalised as they are, so no digits are lost by squares.
    """
    rows, columns = len(A), len(A[0])
    if rows > columns:
        return transposed(pseudo_inverse(transposed(A), damping))
    factors = Orthogonal([[*row, *(damping if i == k else 0 for i in range(rows))] for k, row in enumerate(A)])
    return transposed([factors.shortest([int(i == k) for i in range(rows)])[:columns] for k in range(rows)])


def qr(A: Matrix) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """A = Q R with orthonormal columns of Q and an upper triangular R with a positive diagonal."""
    columns, Q = transposed(A), []
    R: list[list[Scalar]] = [[0] * len(columns) for _ in columns]
    for k, column in enumerate(columns):
        for _ in range(2):  # twice: so Q is orthogonal to rounding also where the columns nearly depend on each other
            for j, unit in enumerate(Q):
                part = dot(unit, column)
                R[j][k] = R[j][k] + part
                column = [x - part * y for x, y in zip(column, unit, strict=True)]
        R[k][k] = sqrt(dot(column, column))
        share = 1 / R[k][k]
        Q.append([x * share for x in column])
    return transposed(Q), R


def ldl_factors(A: Matrix) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Unit lower triangular L and diagonal D with A = L D L^T, for a symmetric A whose pivots do not vanish."""
    n = len(A)
    L: list[list[Scalar]] = [[int(i == j) for j in range(n)] for i in range(n)]
    D: list[Scalar] = []
    for j in range(n):
        weighted = [L[j][k] * D[k] for k in range(j)]
        D.append(A[j][j] - dot(L[j][:j], weighted))
        share = 1 / D[j]
        for i in range(j + 1, n):
            L[i][j] = (A[i][j] - dot(L[i][:j], weighted)) * share
    return L, D


def cholesky(A: Matrix) -> list[list[Scalar]]:
    """Lower triangular L with A = L L^T, for a symmetric positive definite A."""
    L, D = ldl_factors(A)
    roots = [sqrt(d) for d in D]
    return [[x * root for x, root in zip(row, roots, strict=True)] for row in L]


def _cross(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
