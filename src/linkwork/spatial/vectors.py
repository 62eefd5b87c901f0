"""Three-dimensional algebra over any scalar: vectors, symmetric and general 3x3 matrices.

Plain attributes and products entry by entry keep exact zeros exact and cost nothing when traced.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import overload

from ..scalar import Scalar, is_zero


class Vector:
    """Three components, each a number, an array or a traced scalar.

    Vectors add, subtract and scale; ``v[k]`` and iteration give the components.

    Args:
        x, y, z: components; default 0.

    Example:
        >>> v = linkwork.spatial.Vector(1, 2, 3)
        >>> 2 * v + linkwork.spatial.X
        Vector(3, 4, 6)
    """

    __slots__ = ("x", "y", "z")
    __array_ufunc__ = None  # an array times a vector is a vector of arrays

    def __init__(self, x: Scalar = 0, y: Scalar = 0, z: Scalar = 0):
        self.x, self.y, self.z = x, y, z

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    def __getitem__(self, k: int) -> Scalar:
        return (self.x, self.y, self.z)[k]

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, scale: Scalar) -> Vector:
        return Vector(self.x * scale, self.y * scale, self.z * scale)

    __rmul__ = __mul__

    def dot(self, other: Vector) -> Scalar:
        """Return the scalar product.

        Args:
            other: the second factor.

        Returns:
            The sum of the products of the components.
        """
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector) -> Vector:
        """Return the cross product of this vector and another one, in this order.

        Args:
            other: the second factor.

        Returns:
            The vector that is orthogonal to both.
        """
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def __repr__(self) -> str:
        return f"Vector({self.x!r}, {self.y!r}, {self.z!r})"


X, Y, Z = AXES = Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1)


class Matrix:
    """General 3x3 matrix by rows. It adds, scales, and multiplies vectors and matrices with ``@``.

    Args:
        x, y, z: the three rows.

    Example:
        >>> linkwork.spatial.Matrix.identity() @ linkwork.spatial.Vector(1, 2, 3)
        Vector(1, 2, 3)
    """

    __slots__ = ("rows",)

    def __init__(self, x: Vector, y: Vector, z: Vector):
        self.rows = (x, y, z)

    @staticmethod
    def zero() -> Matrix:
        """Return the zero matrix.

        Returns:
            A matrix of structural zeros.
        """
        return Matrix(Vector(), Vector(), Vector())

    @staticmethod
    def identity() -> Matrix:
        """Return the unit matrix.

        Returns:
            A matrix of structural ones and zeros.
        """
        return Matrix(*AXES)

    @property
    def columns(self) -> tuple[Vector, Vector, Vector]:
        """The three columns."""
        x, y, z = self.rows
        return Vector(x.x, y.x, z.x), Vector(x.y, y.y, z.y), Vector(x.z, y.z, z.z)

    @property
    def T(self) -> Matrix:
        """The transpose."""
        return Matrix(*self.columns)

    @overload
    def __matmul__(self, other: Vector) -> Vector: ...

    @overload
    def __matmul__(self, other: Matrix) -> Matrix: ...

    def __matmul__(self, other: Vector | Matrix) -> Vector | Matrix:
        if isinstance(other, Matrix):
            return Matrix(*(self @ column for column in other.columns)).T
        return Vector(*(row.dot(other) for row in self.rows))

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix(*(a + b for a, b in zip(self.rows, other.rows, strict=True)))

    def __mul__(self, scale: Scalar) -> Matrix:
        return Matrix(*(row * scale for row in self.rows))

    def __repr__(self) -> str:
        return f"Matrix{self.rows!r}"


class Symmetric:
    """Symmetric 3x3 matrix by its six entries. It adds, subtracts, and multiplies vectors with ``@``.

    Args:
        xx, xy, xz, yy, yz, zz: the entries; default 0.

    Example:
        >>> linkwork.spatial.Symmetric(xx=1, yy=2, zz=3) @ linkwork.spatial.Vector(1, 1, 1)
        Vector(1, 2, 3)
    """

    __slots__ = ("xx", "xy", "xz", "yy", "yz", "zz")

    def __init__(self, xx: Scalar = 0, xy: Scalar = 0, xz: Scalar = 0, yy: Scalar = 0, yz: Scalar = 0, zz: Scalar = 0):
        self.xx, self.xy, self.xz, self.yy, self.yz, self.zz = xx, xy, xz, yy, yz, zz

    @staticmethod
    def from_matrix(matrix: Matrix) -> Symmetric:
        """Return the symmetric matrix that has the upper triangle of a general one.

        Args:
            matrix: a matrix that is symmetric up to rounding; its lower triangle is not read.

        Returns:
            The symmetric matrix.
        """
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = matrix.rows
        return Symmetric(xx, xy, xz, yy, yz, zz)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.xx, self.xy, self.xz, self.yy, self.yz, self.zz))

    @property
    def rows(self) -> tuple[Vector, Vector, Vector]:
        """The three rows."""
        return (
            Vector(self.xx, self.xy, self.xz),
            Vector(self.xy, self.yy, self.yz),
            Vector(self.xz, self.yz, self.zz),
        )

    def __matmul__(self, vector: Vector) -> Vector:
        return Vector(*(row.dot(vector) for row in self.rows))

    def __add__(self, other: Symmetric) -> Symmetric:
        return Symmetric(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: Symmetric) -> Symmetric:
        return Symmetric(*(a - b for a, b in zip(self, other, strict=True)))

    def __neg__(self) -> Symmetric:
        return Symmetric(*(-a for a in self))

    def __repr__(self) -> str:
        return f"Symmetric{tuple(self)!r}"


def outer(a: Vector, b: Vector) -> Matrix:
    """Return the outer product a b^T."""
    return Matrix(*(b * x for x in a))


def pseudo_inertia(J: Symmetric) -> Symmetric:
    """Return the second moments of mass tr(J)/2 1 - J (3 x 3), the integral of r r^T dm.

    Args:
        J: inertia about some point, kg m^2.

    Returns:
        The second moments about the same point, kg m^2.

    Example:
        >>> linkwork.spatial.pseudo_inertia(linkwork.spatial.Symmetric(xx=2.0, yy=2.0, zz=2.0))
        Symmetric(1.0, 0, 0, 1.0, 0, 1.0)
    """
    half = 0.5 * (J.xx + J.yy + J.zz)
    return Symmetric(half - J.xx, -J.xy, -J.xz, half - J.yy, -J.yz, half - J.zz)


def steiner(mass: Scalar, r: Vector) -> Symmetric:
    """Return the inertia -m [r x]^2 of a point mass about the origin, in 9 multiplications.

    Args:
        mass: the mass, kg.
        r: its position, m.

    Returns:
        The inertia, kg m^2.

    Example:
        >>> linkwork.spatial.steiner(2, linkwork.spatial.Vector(1, 0, 0))
        Symmetric(0, 0, 0, 2, 0, 2)
    """
    m = r * mass
    xx, yy, zz = m.x * r.x, m.y * r.y, m.z * r.z
    return Symmetric(yy + zz, -(m.x * r.y), -(m.x * r.z), zz + xx, -(m.y * r.z), xx + yy)


def crosses(a: Vector, b: Vector) -> Symmetric:
    """Return ``-[a x][b x] - [b x][a x] = 2 (a.b) 1 - a b^T - b a^T``, in 9 multiplications.

    Args:
        a, b: the two vectors.

    Returns:
        The symmetric matrix.

    Example:
        >>> linkwork.spatial.crosses(linkwork.spatial.X, linkwork.spatial.X)
        Symmetric(0, 0, 0, 2, 0, 2)
    """
    xx, yy, zz = a.x * (2 * b.x), a.y * (2 * b.y), a.z * (2 * b.z)
    return Symmetric(
        yy + zz, -(a.x * b.y + a.y * b.x), -(a.x * b.z + a.z * b.x),
        zz + xx, -(a.y * b.z + a.z * b.y),
        xx + yy,
    )  # fmt: skip


# Rotation about one coordinate axis, by cosine c and sine s. Formulas are for z. Those for x are the same with the axes
# renamed cyclically, (x, y, z) -> (z, x, y).


def turn(axis: str, c: Scalar, s: Scalar, v: Vector) -> Vector:
    """Return R v, R the rotation about ``axis``: outer components from those in the turned frame."""
    if axis == "x":
        return Vector(v.x, c * v.y - s * v.z, s * v.y + c * v.z)
    return Vector(c * v.x - s * v.y, s * v.x + c * v.y, v.z)


def turn_back(axis: str, c: Scalar, s: Scalar, v: Vector) -> Vector:
    """Return R^T v."""
    return turn(axis, c, -s, v)


def turn_symmetric(axis: str, c: Scalar, s: Scalar, J: Symmetric) -> Symmetric:
    """Return R J R^T in 8 multiplications: with u = (J11 - J22) s + 2 J12 c,

    J11' = J11 - s u,  J22' = J22 + s u,  J12' = c u - J12.
    """
    if axis == "x":
        turned = turn_symmetric("z", c, s, Symmetric(J.yy, J.yz, J.xy, J.zz, J.xz, J.xx))
        return Symmetric(turned.zz, turned.xz, turned.yz, turned.xx, turned.xy, turned.yy)
    xz, yz = c * J.xz - s * J.yz, s * J.xz + c * J.yz
    if is_zero(c):  # a quarter turn only exchanges entries
        return Symmetric(J.yy, -J.xy, xz, J.xx, yz, J.zz)
    if is_zero(s):
        return Symmetric(J.xx, J.xy, xz, J.yy, yz, J.zz)
    u = (J.xx - J.yy) * s + 2 * J.xy * c
    su = s * u
    return Symmetric(J.xx - su, c * u - J.xy, xz, J.yy + su, yz, J.zz)


def turn_matrix(axis: str, c: Scalar, s: Scalar, B: Matrix) -> Matrix:
    """Return R B R^T."""
    half = Matrix(*(turn(axis, c, s, column) for column in B.columns)).T
    return Matrix(*(turn(axis, c, s, row) for row in half.rows))
