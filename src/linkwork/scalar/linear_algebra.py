"""Linear algebra of small matrices over any scalar: straight-line code, so only ``determinant`` searches for pivots.

Matrices are nested lists. ``solve``, ``inverse``, ``qr`` and ``pseudo_inverse`` orthogonalise columns (modified
Gram-Schmidt), which needs no pivots for any regular matrix; ``ldl`` and ``cholesky`` are for positive definite ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import Scalar, absolute, less, less_equal, maximum, minimum, sqrt, where
from .orthogonal import Orthogonal, dot, minus_scaled

Matrix = Sequence[Sequence[Scalar]]
SINGULAR = 1e-8  # share of a matrix below which its rows count as zero: the squares are lost by rounding
SWEEPS = 5  # of Jacobi's rotations: one more than six rows need, and enough for twelve


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
        rows = transposed(largest_first(transposed(rows), lambda column: sum(map(absolute, column))))
        (pivot, *others), *rows = largest_first(rows, lambda row: absolute(row[0]))
        product = product * pivot
        share = 1 / where(pivot, pivot, 1)
        rows = [[x - first * share * y for x, y in zip(rest, others, strict=True)] for first, *rest in rows]
    return product * _by_cofactors(rows)


def largest_first(vectors: Matrix, size: Callable[[Sequence[Scalar]], Scalar]) -> list[list[Scalar]]:
    """Bring the largest vector to the front; of two that change places, one changes its sign."""
    first, *others = map(list, vectors)
    largest, rest = size(first), []
    for vector in others:
        larger = less(largest, size(vector))
        rest.append([where(larger, -x, y) for x, y in zip(first, vector, strict=True)])
        first = [where(larger, y, x) for x, y in zip(first, vector, strict=True)]
        largest = where(larger, size(vector), largest)
    return [first, *rest]


def weighted_inverse(A: Matrix, weights: Sequence[Scalar]) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """Moore and Penrose's inverse X of A W A^T, and W A^T X, for a diagonal W of positive weights and any A.

    Rows of A are orthogonalised as they are, the longest first, so no digits are lost by squares. What is shorter than
    ``SINGULAR`` times the norm of A W^1/2 counts as zero. With T, the steps of the elimination, and rows Q_k of Q:

      (1)  T A = Q,   d_k = Q_k W Q_k^T
      (2)  on_k = 1 if d_k > SINGULAR^2 trace(A W A^T), else 0
      (3)  rows of T that are off span what A cannot reach; S_k = T_k without its parts along them
      (4)  X = sum of S_k^T S_k / d_k,   W A^T X = sum of W Q_k^T S_k / d_k      over the rows that are on
    """
    m, n = len(A), len(weights)

    def size(row: Sequence[Scalar]) -> Scalar:
        return dot(row[:n], weighted(row))

    def weighted(row: Sequence[Scalar]) -> list[Scalar]:
        return [x * w for x, w in zip(row[:n], weights, strict=True)]

    rows = [[*row, *(int(i == k) for i in range(m))] for k, row in enumerate(A)]  # those of Q, then of T
    least = SINGULAR**2 * sum(map(size, rows), start=0)
    reached, lost = [], []
    while rows:
        first, *rest = largest_first(rows, size)
        d = size(first)
        on = less(least, d)  # (2)
        share, along, steps = on / (d + (1 - on)), weighted(first), first[n:]
        rows = [minus_scaled(row, dot(along, row[:n]) * share, first) for row in rest]  # (1)
        reached.append((share, along, steps))
        for part, direction in lost:
            steps = minus_scaled(steps, dot(direction, steps) * part, direction)
        lost.append(((1 - on) / dot(steps, steps), steps))
    X: list[list[Scalar]] = [[0] * m for _ in range(m)]
    Y: list[list[Scalar]] = [[0] * m for _ in range(n)]
    for share, along, S in reached:
        for part, direction in lost:
            S = minus_scaled(S, dot(direction, S) * part, direction)  # (3)
        scaled = [x * share for x in S]
        X = [minus_scaled(row, -x, scaled) for row, x in zip(X, S, strict=True)]  # (4)
        Y = [minus_scaled(row, -x, scaled) for row, x in zip(Y, along, strict=True)]
    return [[X[max(i, j)][min(i, j)] for j in range(m)] for i in range(m)], Y


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


def volume(A: Matrix) -> Scalar:
    """The product of the singular values, by orthogonal rows, or columns if there are fewer; 0 if there are none."""
    vectors, square = _fewer(A), int(bool(A[0]))
    while vectors:
        first, *rest = vectors
        size = dot(first, first)
        square = square * size
        share = 1 / where(size, size, 1)
        vectors = [minus_scaled(each, dot(first, each) * share, first) for each in rest]
    return sqrt(square)


def singular_values(A: Matrix) -> list[Scalar]:
    """The singular values, the largest first, by one-sided Jacobi rotations of the triangular factor of A.

    Drmac and Veselic (2008), "New fast and accurate Jacobi SVD algorithm": with the longest rows first, the columns of
    the factor are nearly orthogonal already, so a fixed number of sweeps is enough.

      (1)  A = L Q with orthonormal rows of Q
      (2)  rotate two columns x, y of L until x . y = 0:   tan(2 angle) = 2 x . y / (y . y - x . x)
    """
    vectors = _factor(_fewer(A))  # (1)
    for _ in range(SWEEPS):
        for j in range(1, len(vectors)):
            for i in range(j):
                vectors[i], vectors[j] = _rotated(vectors[i], vectors[j])  # (2)
    return _descending([sqrt(dot(each, each)) for each in vectors])


def _fewer(A: Matrix) -> list[list[Scalar]]:
    """The rows, or the columns if there are fewer."""
    return [list(row) for row in A] if len(A) <= len(A[0]) else transposed(A)


def _factor(rows: list[list[Scalar]]) -> list[list[Scalar]]:
    """The columns of the lower triangular L with rows = L Q and orthonormal rows of Q, after the longest come first."""
    n, lower = max(map(len, rows), default=0), []  # behind its n entries, a row has its entries of L so far
    while rows:
        first, *rest = largest_first(rows, lambda row: dot(row[:n], row[:n]))
        length = sqrt(dot(first[:n], first[:n]))
        share = 1 / where(length, length, 1)
        lower.append([*first[n:], length])
        parts = [dot(first[:n], row[:n]) * share for row in rest]
        left = [minus_scaled(row[:n], part * share, first[:n]) for row, part in zip(rest, parts, strict=True)]
        rows = [[*each, *row[n:], part] for each, row, part in zip(left, rest, parts, strict=True)]
    return transposed([[*row, *[0] * (len(lower) - len(row))] for row in lower])


def _rotated(x: list[Scalar], y: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """x and y rotated in their plane, by at most 45 degrees, until they are orthogonal."""
    twice, difference = 2 * dot(x, y), dot(y, y) - dot(x, x)
    longer = absolute(difference) + sqrt(difference * difference + twice * twice)
    tangent = where(less_equal(0, difference), twice, -twice) / where(longer, longer, 1)
    cosine = 1 / sqrt(1 + tangent * tangent)
    sine = cosine * tangent
    pairs = list(zip(x, y, strict=True))
    return [cosine * a - sine * b for a, b in pairs], [sine * a + cosine * b for a, b in pairs]


def _descending(values: list[Scalar]) -> list[Scalar]:
    sorted_values: list[Scalar] = []
    for value in values:
        for k, other in enumerate(sorted_values):
            sorted_values[k], value = maximum(other, value), minimum(other, value)
        sorted_values.append(value)
    return sorted_values


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
