"""Linear algebra of small matrices for functions of your own: on NumPy arrays with any leading batch axes, and on
traced ones.

It has what ``np.linalg`` does not have, or not as cheaply. Nothing searches for pivots, so it compiles into few
operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import ShapeError
from .program.traced_array import TracedArray
from .scalar import ldl as sparse_ldl
from .scalar import linear_algebra

__all__ = ["damped_pinv", "ldl", "singular_values", "solve_positive_definite"]


def __dir__() -> list[str]:
    return __all__


def ldl(A: Any) -> tuple[Any, Any]:
    """Return the factors of A = L diag(d) L^T.

    Args:
        A: Symmetric positive definite matrices (..., n, n). Only the lower triangle is used.

    Returns:
        L (..., n, n), lower triangular with ones on the diagonal, and d (..., n).

    Raises:
        ShapeError: The matrices are not square.

    Example:
        >>> L, d = linkwork.linalg.ldl([[4.0, 2.0], [2.0, 3.0]])
        >>> L.tolist(), d.tolist()
        ([[1.0, 0.0], [0.5, 1.0]], [4.0, 2.0])
    """
    L, d = linear_algebra.ldl_factors(_square("ldl", A))
    return _matrix(L), _matrix([d])[..., 0, :]


def solve_positive_definite(A: Any, b: Any) -> Any:
    """Return x with A x = b, by an LDL^T factorisation: a third of the operations of ``np.linalg.solve``.

    Zeros of A that follow from branches of a robot cost nothing, as those of inertia matrices.

    Args:
        A: Symmetric positive definite matrices (..., n, n). Only the lower triangle is used.
        b: Vectors (..., n), or matrices (..., n, k) with as many axes as A.

    Returns:
        x, in the shape of ``b``.

    Raises:
        ShapeError: The matrices are not square, or ``b`` does not fit them.

    Example:
        >>> linkwork.linalg.solve_positive_definite([[4.0, 2.0], [2.0, 3.0]], [8.0, 8.0]).tolist()
        [1.0, 2.0]
    """
    rows, vector = _square("solve_positive_definite", A), np.ndim(b) == np.ndim(A) - 1
    B = np.expand_dims(np.asanyarray(b), -1) if vector else np.asanyarray(b)
    if B.ndim != np.ndim(A) or B.shape[-2] != len(rows):
        raise ShapeError(
            "the right-hand side does not fit the matrices", where="solve_positive_definite", got=np.shape(b),
            expected=f"(..., {len(rows)}) or (..., {len(rows)}, k), for matrices of shape {np.shape(A)}",
        )  # fmt: skip
    L, inverse = sparse_ldl.factor(rows)
    columns = [sparse_ldl.solve(L, inverse, column) for column in linear_algebra.transposed(_rows(B))]
    x = _matrix(linear_algebra.transposed(columns))
    return x[..., 0] if vector else x


def damped_pinv(A: Any, damping: Any) -> Any:
    """Return the damped pseudo-inverse A^T (A A^T + damping^2 1)^-1, which stays bounded at singular matrices.

    x = damped_pinv(A, damping) @ b minimises |A x - b|^2 + damping^2 |x|^2: the damped least-squares step of inverse
    kinematics (Nakamura and Hanafusa 1986, Wampler 1986). Tall matrices take (A^T A + damping^2 1)^-1 A^T, which is the
    same matrix. No products of A with itself are formed, so badly conditioned matrices lose no digits by squaring.

    Args:
        A: Matrices (..., m, n).
        damping: A number, or one for each matrix (...), in the unit of A. With zero damping, A must have full rank; the
            result is its pseudo-inverse.

    Returns:
        The damped pseudo-inverses (..., n, m), with no singular value above 1 / (2 damping).

    Raises:
        ShapeError: ``A`` is not a matrix or a batch of matrices.

    Example:
        >>> J = robot.jacobian("panda_link8", np.zeros(7))  # the arm is stretched
        >>> step = linkwork.linalg.damped_pinv(J, 0.1) @ [0, 0, 0.01, 0, 0, 0]
        >>> bool(np.linalg.norm(step) <= 0.01 / (2 * 0.1))
        True
    """
    return _matrix(linear_algebra.pseudo_inverse(_rows(A, "damped_pinv"), _entries(damping)[()]))


def singular_values(A: Any) -> Any:
    """Return the singular values of matrices, the largest first, by a fixed number of Jacobi rotations.

    They are exact to about 1e-15 of the largest, for matrices with up to twelve rows or columns. The smallest one is
    the distance to the nearest singular matrix, in the 2-norm. Where two are equal, they have no derivative.

    Args:
        A: Matrices (..., m, n).

    Returns:
        Singular values (..., min(m, n)).

    Raises:
        ShapeError: ``A`` is not a matrix or a batch of matrices.

    Example:
        >>> linkwork.linalg.singular_values([[0.0, 2.0], [-3.0, 0.0]]).tolist()
        [3.0, 2.0]
    """
    return _matrix([linear_algebra.singular_values(_rows(A, "singular_values"))])[..., 0, :]


def _rows(A: Any, where: str = "") -> list[list[Any]]:
    """Return nested lists of entries: numbers or graph nodes of one matrix, arrays of many matrices."""
    entries = _entries(A)
    if entries.ndim < 2 or 0 in entries.shape[-2:]:
        raise ShapeError("not a matrix", where=where, got=entries.shape, expected="(..., rows, columns)")
    return [list(row) for row in np.moveaxis(entries, (-2, -1), (0, 1))]


def _square(where: str, A: Any) -> list[list[Any]]:
    rows = _rows(A, where)
    if len(rows) != len(rows[0]):
        raise ShapeError("the matrices are not square", where=where, got=np.shape(A), expected="(..., n, n)")
    return rows


def _entries(x: Any) -> Any:
    """Return a plain array, of graph nodes if x is traced, else of floats or complex numbers."""
    array = np.asanyarray(x) * 1.0
    return TracedArray(array).view(np.ndarray) if array.dtype == object else array


def _matrix(rows: list[list[Any]]) -> Any:
    """Return an array from nested lists of entries."""
    entries = np.broadcast_arrays(*[x for row in rows for x in row])
    array = np.stack(entries, axis=-1).reshape(*entries[0].shape, len(rows), len(rows[0])) * 1.0
    return TracedArray(array) if array.dtype == object else array
