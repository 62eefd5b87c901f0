"""Matrices of any size over any scalar, and the links of a robot as Hollerbach's 4x4 and 3x3 matrices."""

from __future__ import annotations

from collections.abc import Iterable

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import AXES, Inertia, Transform, Z, pseudo_inertia
from ..distal_chain import DistalChain


class Dense:
    """Matrix by rows. A product executes every multiplication and addition of its entries; nothing is skipped."""

    __slots__ = ("rows",)
    __array_ufunc__ = None  # an array times a matrix is a matrix of arrays

    def __init__(self, rows: Iterable[Scalars]):
        self.rows = [list(row) for row in rows]

    @property
    def T(self) -> Dense:
        """The transpose."""
        return Dense(zip(*self.rows, strict=True))

    def __matmul__(self, other: Dense) -> Dense:
        if not isinstance(other, Dense):
            return NotImplemented
        columns = list(zip(*other.rows, strict=True))
        return Dense([_dot(row, column) for column in columns] for row in self.rows)

    def __add__(self, other: Dense) -> Dense:
        return Dense([a + b for a, b in zip(x, y, strict=True)] for x, y in zip(self.rows, other.rows, strict=True))

    def __mul__(self, scale: Scalar) -> Dense:
        return Dense([a * scale for a in row] for row in self.rows)

    __rmul__ = __mul__

    def trace(self) -> Scalar:
        """Return the sum of the diagonal."""
        total = self.rows[0][0]
        for k in range(1, len(self.rows)):
            total = total + self.rows[k][k]
        return total


def _dot(a: Scalars, b: Scalars) -> Scalar:
    """Return the scalar product, with every product executed."""
    total = a[0] * b[0]
    for k in range(1, len(a)):
        total = total + a[k] * b[k]
    return total


def identity(size: int) -> Dense:
    """Return a unit matrix."""
    return Dense([int(i == j) for j in range(size)] for i in range(size))


def zeros(rows: int, columns: int) -> Dense:
    """Return a matrix of zeros."""
    return Dense([0] * columns for _ in range(rows))


def column(v: Iterable[Scalar]) -> Dense:
    """Return a matrix of one column."""
    return Dense([x] for x in v)


def rotation(transform: Transform) -> Dense:
    """Return the 3x3 rotation matrix that takes components of the inner frame to those of the outer one."""
    return Dense([*transform.outward(e)] for e in AXES).T


def second_moments(inertia: Inertia) -> Dense:
    """Return the integral of r r^T dm."""
    return Dense([*row] for row in pseudo_inertia(inertia.J).rows)


class Links4:
    """Links as 4x4 matrices at positions ``q``, homogeneous 1 first, as in (2): A_i places frame i in frame i - 1,
    dA_i and d2A_i are its derivatives with respect to q_i, J_i = [[m, m r^T], [m r, integral r r^T dm]] about the
    origin of frame i, mr_i = (m, m r), g = (0, g). A_n+1 = 1.
    """

    size = 4

    def __init__(self, chain: DistalChain, q: Scalars):
        self.n = chain.n
        self.A, self.dA, self.d2A, self.J, self.mr = {self.n + 1: identity(4)}, {}, {}, {}, {}
        self.g = column((0, *chain.gravity))
        for i in range(1, self.n + 1):
            A, inertia = chain.A(i, q), chain.inertia[i]
            turned = zip(A.origin, rotation(A).rows, strict=True)
            self.A[i] = Dense([[1, 0, 0, 0], *([p, *row] for p, row in turned)])
            Q = SLIDE if chain.prismatic(i) else TURN
            self.dA[i] = Q @ self.A[i]
            self.d2A[i] = Q @ self.dA[i]
            self.mr[i] = column((inertia.mass, *inertia.h))
            below = zip(inertia.h, second_moments(inertia).rows, strict=True)
            self.J[i] = Dense([[inertia.mass, *inertia.h], *([h, *row] for h, row in below)])


# dA/dq = Q A: joint i turns about, or slides along, z of frame i - 1
TURN = Dense([[0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
SLIDE = Dense([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]])


class Links3:
    """Links as 3x3 rotations A_i with derivatives dA_i, d2A_i (zero if prismatic).

    In frame i: p_i from origin i - 1 to origin i (the paper's ip_i*), the joint's axis z_i (unit vector z_i-1), first
    moments n_i = m_i r_i* and second moments J_i.
    ``slides`` are the prismatic joints. A_n+1 = 1.
    """

    size = 3

    def __init__(self, chain: DistalChain, q: Scalars):
        self.n = chain.n
        self.slides = frozenset(i for i in range(1, self.n + 1) if chain.prismatic(i))
        self.A, self.dA, self.d2A = {self.n + 1: identity(3)}, {}, {}
        self.p, self.z, self.m, self.mr, self.J = {}, {}, {}, {}, {}
        self.g = column(chain.gravity)
        for i in range(1, self.n + 1):
            A, inertia = chain.A(i, q), chain.inertia[i]
            self.A[i] = rotation(A)
            x, y, _ = self.A[i].rows
            turned, again = ([[-b for b in y], x, [0, 0, 0]], [[-a for a in x], [-b for b in y], [0, 0, 0]])
            self.dA[i] = zeros(3, 3) if i in self.slides else Dense(turned)
            self.d2A[i] = zeros(3, 3) if i in self.slides else Dense(again)
            self.p[i], self.z[i] = column(A.inward(A.origin)), column(A.inward(Z))
            self.m[i], self.mr[i], self.J[i] = inertia.mass, column(inertia.h), second_moments(inertia)


def with_rotors(model: Model, F: Scalars, a: Scalars) -> list[Scalar]:
    """Return the joint forces with the rotors' share Ia a_i, which the paper does not have."""
    return [force + model.joint(i).rotor_inertia * a[i - 1] for i, force in enumerate(F, 1)]
