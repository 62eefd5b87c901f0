"""The formulations of Hollerbach 1980, run as its Table I counts them.

The force equations of linkwork's formulations run here on counting numbers. Only parts that the table counts in another
way (sums that start from zero, given quantities of the first link) are written again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..formulations.distal_chain import DistalChain, inverse
from ..formulations.hollerbach.configuration_space import coefficients
from ..formulations.hollerbach.configuration_space import forces as polynomial_forces
from ..formulations.hollerbach.hollerbach_3x3 import accelerations
from ..formulations.hollerbach.hollerbach_3x3 import forces as recursive_forces_3
from ..formulations.hollerbach.hollerbach_4x4 import forces as recursive_forces_4
from ..formulations.hollerbach.matrices import Dense, Links3, Links4, column, identity, rotation, second_moments, zeros
from ..formulations.hollerbach.newton_euler_link import LuhLinks
from ..formulations.hollerbach.uicker_kahn import forces as lagrange_forces
from ..formulations.hollerbach.waters import forces as waters_forces
from ..scalar import Counted, Scalar, Tally
from ..spatial import Matrix, Pose, Screw, Transform, Vector
from .chains import generic_chain


def state(n: int) -> tuple[list[float], list[float], list[float]]:
    """Return the positions, velocities and accelerations at which every run is counted."""
    return [0.3 + 0.7 * k for k in range(n)], [0.9 - 0.4 * k for k in range(n)], [0.2 * k - 0.5 for k in range(n)]


# -- numbers ---------------------------------------------------------------------------------------------------------


class Absent(int):
    """An absent term: adding it is not counted."""

    def __add__(self, other: Any) -> Any:
        return other

    __radd__ = __add__


class FromZero(Counted):
    """Counts like Counted, and also the addition of the first term of a sum to its initial 0."""

    __slots__ = ()

    def _make(self, operation: str, value: float) -> FromZero:
        self.tally[operation] += 1
        return FromZero(value, self.tally)

    def __radd__(self, other: Any) -> Any:
        return self._make("add", other + self.value) if isinstance(other, (int, float)) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return Absent() if isinstance(other, int) and other == 0 else super().__mul__(other)

    __rmul__ = __mul__


class Numbers:
    """Converts floats to counting numbers, entry by entry: zeros and ones count like all other entries."""

    def __init__(self, tally: Tally):
        self.tally = tally

    def of(self, value: float) -> FromZero:
        return FromZero(value, self.tally)

    def all(self, values: Sequence[float]) -> list[FromZero]:
        return [self.of(x) for x in values]

    def dense(self, matrix: Dense) -> Dense:
        return Dense(self.all(row) for row in matrix.rows)

    def free_product(self, matrix: Dense, scale: Counted) -> Dense:
        """Return a product that is not counted."""
        return Dense([self.of(x.value * scale.value) for x in row] for row in matrix.rows)

    def count_A(self, links: Links3 | Links4) -> None:
        """Convert the A and their derivatives to counting numbers, except for A_n+1."""
        for i in range(1, links.n + 1):
            links.A[i], links.dA[i], links.d2A[i] = map(self.dense, (links.A[i], links.dA[i], links.d2A[i]))


class MassTimes:
    """m r, whose multiplication by m is executed and counted at each use."""

    def __init__(self, m: float, r: Dense):
        self.m, self.r = m, r

    def __rmatmul__(self, row: Dense) -> Dense:
        return row @ self.r * self.m

    def __add__(self, other: Dense) -> Dense:
        return self.r * self.m + other


class GenericTip(DistalChain):
    """A generic chain whose last link has a length, too: its frame is off the last axis."""

    def __init__(self, n: int):
        model = generic_chain(n)
        super().__init__(model)
        self._link[-1] = Transform(Screw("x", 0.8, 0.6, 0.37))
        self.inertia[n] = inverse(self._link[-1]).inertia_outward(model.inertia(n))


def links4(n: int, numbers: Numbers) -> Links4:
    links = Links4(GenericTip(n), state(n)[0])
    numbers.count_A(links)
    links.g = numbers.dense(links.g)
    for i, mr in links.mr.items():
        m = mr.rows[0][0]
        links.mr[i] = MassTimes(m, numbers.dense(mr * (1 / m)))  # type: ignore[assignment]
    return links


# -- the rows --------------------------------------------------------------------------------------------------------


def motion(links: Links3 | Links4, numbers: Numbers, v: list, a: list) -> tuple[dict[int, Dense], ...]:
    """Compute (8)-(10) with sums that start from a zero matrix; of the first link only sums, 2 qd and qd^2 count."""
    A, dA, d2A = links.A, links.dA, links.d2A
    still = zeros(links.size, links.size)
    W, Wd, Wdd = {0: numbers.dense(identity(links.size))}, {}, {}
    for j in range(1, links.n + 1):
        qd, qdd, twice, square = v[j - 1], a[j - 1], 2 * v[j - 1], v[j - 1] * v[j - 1]
        if j == 1:
            W[j] = A[j]
            Wd[j] = sum([numbers.free_product(dA[j], qd)], start=still)
            Wdd[j] = sum([numbers.free_product(d2A[j], square), numbers.free_product(dA[j], qdd)], start=still)
        else:
            W[j] = W[j - 1] @ A[j]
            Wd[j] = sum([Wd[j - 1] @ A[j], W[j - 1] @ dA[j] * qd], start=still)
            by_velocity = [Wd[j - 1] @ dA[j] * twice, W[j - 1] @ d2A[j] * square]
            Wdd[j] = sum([Wdd[j - 1] @ A[j], *by_velocity, W[j - 1] @ dA[j] * qdd], start=still)
    return W, Wd, Wdd


def waters(n: int, tally: Tally) -> list[Scalar]:
    numbers, (_, v, a) = Numbers(tally), state(n)
    links = links4(n, numbers)
    W, _, Wdd = motion(links, numbers, numbers.all(v), numbers.all(a))
    return waters_forces(links, W, Wdd)


def recursive_4x4(n: int, tally: Tally) -> list[Scalar]:
    numbers, (_, v, a) = Numbers(tally), state(n)
    links = links4(n, numbers)
    W, _, Wdd = motion(links, numbers, numbers.all(v), numbers.all(a))
    return recursive_forces_4(links, W, Wdd)


def recursive_3x3(n: int, tally: Tally) -> list[Scalar]:
    """Compute (15)-(18), corrected, in distal frames."""
    numbers, (q, v, a) = Numbers(tally), state(n)
    links = Links3(GenericTip(n), q)
    numbers.count_A(links)
    links.g = numbers.dense(links.g)
    v, a = numbers.all(v), numbers.all(a)
    W, Wd, Wdd = motion(links, numbers, v, a)
    pdd = accelerations(links, W, Wd, Wdd, v, a, base=numbers.dense(zeros(3, 1)))
    return recursive_forces_3(links, W, Wdd, pdd)


def recursive_3x3_as_printed(n: int, tally: Tally) -> list[Scalar]:
    """Compute (17), (18), (13) as printed, which is correct if frame i is on axis i: in the frames of a Model.

    Gravity is an acceleration of the base; the printed gravity terms run with g = 0.
    """
    numbers, (q, v, a) = Numbers(tally), state(n)
    model = generic_chain(n)
    links = Links3(DistalChain(model), q)
    p, g = {}, numbers.dense(zeros(3, 1))
    for i in range(1, n + 1):
        X, inertia = model.transform(i, q), model.inertia(i)
        x, y, z = rotation(X).T.rows
        links.A[i] = Dense([x, y, z]).T
        links.dA[i], links.d2A[i] = (
            Dense([y, [-k for k in x], [0.0] * 3]).T,
            Dense([[-k for k in x], [-k for k in y], [0.0] * 3]).T,
        )
        p[i], links.m[i], links.J[i] = column(X.origin), inertia.mass, second_moments(inertia)
        links.mr[i] = column(inertia.h)
    numbers.count_A(links)
    A, dA, m, mr, J = links.A, links.dA, links.m, links.mr, links.J
    W, _, Wdd = motion(links, numbers, numbers.all(v), numbers.all(a))
    Wdd[0], pdd = numbers.dense(zeros(3, 3)), {0: numbers.dense(column(-model.gravity))}
    for j in range(1, n + 1):
        pdd[j] = pdd[j - 1] + Wdd[j - 1] @ p[j]
    D, e, c, F = zeros(3, 3), zeros(1, 3), zeros(3, 1), []
    p[n + 1] = zeros(3, 1)
    for i in range(n, 0, -1):
        D = mr[i] @ pdd[i].T + J[i] @ Wdd[i].T + A[i + 1] @ D + p[i + 1] @ e
        e = m[i] * pdd[i].T + mr[i].T @ Wdd[i].T + e
        c = MassTimes(m[i], numbers.dense(mr[i] * (1 / m[i]))) + A[i + 1] @ c
        dW = W[i - 1] @ dA[i]
        F.append((dW @ D).trace() - (g.T @ dW @ c).trace())
    return F[::-1]


def uicker_kahn(n: int, tally: Tally, inertia_products: bool = True) -> list[Scalar]:
    """Compute (4)-(5).

    The kW_j, W_k-1 dA_k and dW_j/dq_k are stored; d2W_j/dq_k dq_l takes two products each, one for the first link.
    ``inertia_products=False`` does not count the products and traces of the inertial term.
    """
    numbers, (_, v, a) = Numbers(tally), state(n)
    links = links4(n, numbers)
    A, dA, d2A = links.A, links.dA, links.d2A
    W, dW, d2W = {(k, k): identity(4) for k in range(n + 1)}, {}, {}
    for k in range(n + 1):
        for j in range(k + 1, n + 1):
            W[k, j] = W[k, j - 1] @ A[j]
    for k in range(1, n + 1):
        turning = W[0, k - 1] @ dA[k]
        dW |= {(k, j): turning @ W[k, j] for j in range(k, n + 1)}
    full = {place: numbers.dense(matrix) if place[0] == place[1] else matrix for place, matrix in W.items()}
    for j in range(1, n + 1):
        for l in range(1, j + 1):
            first = W[0, 0] if j == 1 else full[0, l - 1]
            d2W[l, l, j] = first @ d2A[l] @ full[l, j]
            for k in range(1, l):
                d2W[k, l, j] = d2W[l, k, j] = dW[k, l - 1] @ dA[l] @ full[l, j]
    F = lagrange_forces(links, dW, d2W, numbers.all(v), numbers.all(a))
    if not inertia_products:
        before = tally.copy()
        for i in range(1, n + 1):
            for j in range(i, n + 1):
                for k in range(1, j + 1):
                    (dW[i, j] @ links.J[j] @ dW[k, j].T).trace()
        for key in ("mul", "add"):
            tally[key] = 2 * before[key] - tally[key]
    return F


def newton_euler(n: int, tally: Tally) -> list[Scalar]:
    """Compute inverse dynamics in link coordinates.

    Vector sums start from zero, z is a general vector, p* + r* is constant, w_1 and wd_1 are given, and f_n+1 and
    n_n+1 are neither rotated nor added.
    """
    numbers, (q, v, a) = Numbers(tally), state(n)
    links = LuhLinks(GenericTip(n), q)
    p, r, m, I = links.p, links.r, links.m, links.I
    Z, zero = Vector(*numbers.all([0, 0, 1])), Vector()
    A = {}
    for i in range(1, n + 1):
        A[i] = Pose(Matrix(*(Vector(*numbers.all(row)) for row in rotation(links.A[i]).rows)), zero)
    w, wd, pdd, F, N = zero, zero, Vector(*numbers.all([*links.base])), {}, {}
    for i in range(1, n + 1):
        z, qd, qdd = A[i].rotation.rows[2], numbers.of(v[i - 1]), numbers.of(a[i - 1])
        if i == 1:
            w, wd = (Vector(*(numbers.of(x.value * rate) for x in z)) for rate in (v[0], a[0]))
        else:
            turn = Z * qd
            wd = A[i].inward(sum([wd, Z * qdd, w.cross(turn)], start=zero))
            w = A[i].inward(sum([w, turn], start=zero))
        pdd = sum([wd.cross(p[i]), w.cross(w.cross(p[i])), A[i].inward(pdd)], start=zero)
        F[i] = m[i] * sum([w.cross(w.cross(r[i])), wd.cross(r[i]), pdd], start=zero)
        N[i] = sum([I[i] @ wd, w.cross(I[i] @ w)], start=zero)
    tau, f, torque = [], Vector(*numbers.all([0, 0, 0])), zero
    for i in range(n, 0, -1):
        forces, torques = [F[i]], [N[i], (p[i] + r[i]).cross(F[i])]
        if i < n:
            f = A[i + 1].outward(f)
            forces, torques = [*forces, f], [*torques, A[i + 1].outward(torque)]
        torque = sum([*torques, p[i].cross(f)], start=zero)
        f = sum(forces, start=zero)
        tau.append(A[i].rotation.rows[2].dot(torque))
    return tau[::-1]


def horn_raibert(n: int, tally: Tally) -> list[Scalar]:
    """Compute the sum only: the coefficients come from a table."""
    numbers, (q, v, a) = Numbers(tally), state(n)
    G, J, C = coefficients(generic_chain(n), q)
    C = [[numbers.all(row) for row in plane] for plane in C]
    return polynomial_forces(numbers.all(G), [numbers.all(row) for row in J], C, numbers.all(v), numbers.all(a))
