"""The algorithms of Fig. 3 and Fig. A1 of Lin (1991), line by line as counted there, for rotational joints.

They are arranged by hand for the fewest operations: of the first link only the required quantities are computed, and a
tensor is rotated with the products in the rotation matrix. ``formulations.lin1991`` has these methods for all joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model import Model
from ..scalar import Counted, Scalar
from ..spatial import Symmetric, Vector, pseudo_inertia


class Rotation:
    """R = Rx(beta) Rz(theta) from frame i to i - 1, with the products of its entries (4M)."""

    def __init__(self, model: Model, i: int, q: Sequence[Scalar]):
        self.X = model.transform(i, q)
        x, z = self.X.screws
        self.b, self.d, self.cb, self.sb, self.ct, self.st = x.t, z.t, x.c, x.s, z.c, z.s
        self.row2 = Vector(x.c * z.s, x.c * z.c, -x.s)
        self.row3 = Vector(x.s * z.s, x.s * z.c, x.c)
        self.s = self.X.origin
        self.outward, self.inward = self.X.outward, self.X.inward  # 8M 4A

    def general(self, x: Scalar) -> Scalar:
        """Return a constant that the paper counts like a variable."""
        return Counted(x, self.ct.tally) if isinstance(self.ct, Counted) and not isinstance(x, Counted) else x

    def generals(self, v: Vector) -> Vector:
        return Vector(*(self.general(x) for x in v))

    def axis(self) -> Vector:
        """Return R^T (0, 0, 1), at no cost."""
        return self.generals(self.row3)

    def inward_planar(self, x: Scalar, y: Scalar) -> Vector:
        """Return R^T (x, y, 0): 5M 2A."""
        return Vector(self.ct * x + self.row2.x * y, self.row2.y * y - self.st * x, self.row2.z * y)

    def tensor(self, J: Symmetric) -> Symmetric:
        """Return R J R^T, 37M 19A: the entries of A = R J except A_13, which is not needed, then A R^T."""
        (xx, yx, zx), (xy, yy, zy) = self.outward(J.rows[0]), self.outward(J.rows[1])
        third = J.rows[2]
        turned = self.st * third.x + self.ct * third.y
        yz, zz = self.cb * turned - self.sb * third.z, self.sb * turned + self.cb * third.z
        S_xy, S_yy, S_yz = self.outward(Vector(yx, yy, yz))
        S_zz = self.row3.dot(Vector(zx, zy, zz))
        return Symmetric(self.ct * xx - self.st * xy, S_xy, self.ct * zx - self.st * zy, S_yy, S_yz, S_zz)

    def tensor_zz(self, J: Symmetric) -> Scalar:
        """Return (R J R^T)_33: 12M 8A."""
        return self.row3.dot(Vector(*(self.row3.dot(row) for row in J.rows)))


def rotations(model: Model, q: Sequence[Scalar]) -> dict[int, Rotation]:
    return {i: Rotation(model, i, q) for i in range(1, model.n_bodies + 1)}


def figure_3(
    model: Model, R: Mapping[int, Rotation], v: Sequence[Scalar] | None = None
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Return H and, with velocities, b (else empty), for two or more rotational joints; costs as in Fig. 3."""
    n, with_bias = model.n_bodies, v is not None
    m, c, I, m_hat = links(model)
    link = {i: -pseudo_inertia(I[i]) for i in I}

    s = {2: Vector(R[2].ct * R[2].b, -(R[2].st * R[2].b), R[2].general(R[2].d))}  # 2M
    for i in range(3, n + 1):
        s[i] = R[i].inward(s[i - 1] + R[i].s)  # 8M 7A
    p = {i: s[i] + c[i] for i in s}  # 3A
    u, s_hat = {}, {(i, i): Vector(-s[i].y, s[i].x, 0) for i in s}
    for j in range(1, n):
        u[j, j + 1] = R[j + 1].axis()
        if j > 1:
            s_hat[j, j + 1] = R[j + 1].inward_planar(s_hat[j, j].x, s_hat[j, j].y)  # 5M 2A
        for i in range(j + 2, n + 1):
            u[j, i] = R[i].inward(u[j, i - 1])  # 8M 4A
            if j > 1:
                s_hat[j, i] = R[i].inward(s_hat[j, i - 1])  # 8M 4A

    p_hat, Jbar = {n: p[n] * m[n]}, {}  # 3M
    Jbar[n] = link[n] - dyad(p_hat[n], p[n])  # 6M 6A
    for i in range(n - 1, 1, -1):
        mp = p[i] * m[i]
        p_hat[i] = mp + R[i + 1].outward(p_hat[i + 1])  # 11M 7A with m p
        Jbar[i] = link[i] - dyad(mp, p[i]) + R[i + 1].tensor(Jbar[i + 1])  # 43M 31A
    if with_bias:
        p_hat[1] = c[1] * m[1] + R[2].outward(p_hat[2])  # 8M 7A
    xx, xy, xz, yy, yz, zz = Jbar[2]
    J_hat = Symmetric(-(yy + zz), xy, xz, -(zz + xx), yz, -(xx + yy))  # 3A
    first = I[1].zz + m[1] * (c[1].x * c[1].x + c[1].y * c[1].y)

    H = [
        [first + R[2].tensor_zz(J_hat) if i == j == 1 else 0 for i in range(1, n + 1)] for j in range(1, n + 1)
    ]  # 12M 9A
    e, d = {}, {}
    for j in range(2, n + 1):
        J, P, S = Jbar[j], p_hat[j], s_hat[j, j]
        e[j] = Vector(-P.y - S.x * m_hat[j], P.x - S.y * m_hat[j], 0)  # 2M 2A
        A_xy, A_xz, A_yx, A_yz = S.x * P.y, S.x * P.z, S.y * P.x, S.y * P.z  # 4M
        a = Vector(J.xz + A_yz, J.yz - A_xz, (A_xy - A_yx) - (J.xx + J.yy))  # 5A
        H[j - 1][j - 1] = a.z - S.dot(e[j])  # 2M 2A
        for k in range(1, j):  # 3M 2A for k = 1, else 5M 4A
            entry = a.dot(u[k, j])
            H[k - 1][j - 1] = H[j - 1][k - 1] = entry - s_hat[k, j].dot(e[j]) if k > 1 else entry
        if with_bias:
            A_xx, A_yy = S.x * P.x, S.y * P.y  # 2M
            B = (
                Vector(-(J.xy + A_yy), J.xx + A_yx, 0),
                Vector(A_xy - J.yy, J.xy - A_xx, 0),
                Vector(A_xz - J.yz, J.xz + A_yz, -(A_xx + A_yy)),
            )  # 7A
            for k in range(1, j):  # 7M 4A for k = 1, else 11M 8A
                Bu = Vector(*(row.dot(u[k, j]) for row in B))
                d[k, j] = Bu + s_hat[k, j].cross(e[j]) if k > 1 else Bu
    return H, bias_3(model, R, p_hat[1], e, u, d, v) if v is not None else []


def bias_3(
    model: Model,
    R: Mapping[int, Rotation],
    p_hat: Vector,
    e: dict[int, Vector],
    u: Mapping[tuple[int, int], Vector],
    d: Mapping[tuple[int, int], Vector],
    v: Sequence[Scalar],
) -> list[Scalar]:
    """Return b by the second half of Fig. 3."""
    n, qd = model.n_bodies, dict(enumerate(v, 1))
    e = e | {1: Vector(-p_hat.y, p_hat.x, 0)}
    g, b = R[1].generals(model.gravity), {}
    for i in range(1, n + 1):
        g = R[i].inward(g)  # 8M 4A
        b[i] = -e[i].dot(g)  # 2M 1A
    zeta = u[1, 2] * (2 * qd[1]) + Vector(0, 0, qd[2])  # 4M 1A
    carried = {(2, 2): zeta * qd[2]}  # 3M
    for j in range(3, n + 1):
        zeta = R[j].inward(zeta + Vector(0, 0, qd[j - 1])) + Vector(0, 0, qd[j])  # 8M 6A
        carried[j, j] = zeta * qd[j]  # 3M
    square = qd[1] * qd[1]  # 1M
    carried |= {(1, k): u[1, k] * square for k in range(2, n + 1)}  # 3M
    for j in range(2, n):
        for k in range(j + 1, n + 1):
            carried[j, k] = R[k].inward(carried[j, k - 1])  # 8M 4A
    for j in range(2, n + 1):
        for k in range(1, j):
            b[j] = b[j] - carried[k, j].dot(d[k, j])  # 3M 3A
            b[k] = b[k] + carried[j, j].dot(d[k, j])  # 3M 3A
    return [b[i] for i in range(1, n + 1)]


def figure_a1(model: Model, R: Mapping[int, Rotation]) -> list[list[Scalar]]:
    """Return H by Renaud's formulation, for two or more rotational joints; costs as in Fig. A1."""
    n = model.n_bodies
    _, _, _, m_hat = links(model)
    c_bar, J_bar = {}, {}  # (A5) and (A6), off line
    for i in range(1, n):
        link, s = model.inertia(i), R[i + 1].s
        c_bar[i] = link.h + s * m_hat[i + 1]
        J_bar[i] = link.J + doubled(s, s * (m_hat[i + 1] / 2))

    u, s_hat = {}, {}
    for j in range(1, n):
        s = R[j + 1].s
        u[j, j + 1] = R[j + 1].axis()
        s_hat[j, j + 1] = R[j + 1].generals(R[j + 1].inward(Vector(-s.y, s.x, 0)))  # 4M 2A
        for i in range(j + 2, n + 1):
            u[j, i] = R[i].inward(u[j, i - 1])  # 8M 4A
            s_hat[j, i] = R[i].inward(s_hat[j, i - 1] + u[j, i - 1].cross(R[i].s))  # 14M 10A

    last, general = model.inertia(n), R[n].general
    c_hat, J_hat = {n: R[n].generals(last.h)}, {n: Symmetric(*(general(x) for x in last.J))}
    H: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for i in range(n - 1, 0, -1):
        s, c = R[i + 1].s, R[i + 1].outward(c_hat[i + 1])  # 8M 4A
        c_hat[i] = c_bar[i] + c  # 3A
        if i > 1:
            J_hat[i] = J_bar[i] + R[i + 1].tensor(J_hat[i + 1]) + doubled(s, c)  # 46M 40A
        else:
            turned = R[2].tensor_zz(J_hat[2])
            H[0][0] = J_bar[1].zz + turned + ((2 * s.x) * c.x + (2 * s.y) * c.y)  # 14M 11A
    for j in range(2, n + 1):
        c, J = c_hat[j], J_hat[j]
        H[j - 1][j - 1] = J.zz
        for m in range(1, j):
            entry = Vector(J.xz, J.yz, J.zz).dot(u[m, j]) + s_hat[m, j].dot(Vector(-c.y, c.x, 0))  # 5M 4A
            H[m - 1][j - 1] = H[j - 1][m - 1] = entry
    return H


def links(model: Model):
    """Return mass, centre of mass, central inertia and mass of the composite body by link, computed off line."""
    m, c, I, m_hat = {}, {}, {}, {model.n_bodies + 1: 0.0}
    for i in range(model.n_bodies, 0, -1):
        m[i], c[i], I[i] = model.inertia(i).central()
        m_hat[i] = m[i] + m_hat[i + 1]
    return m, c, I, m_hat


def dyad(a: Vector, b: Vector) -> Symmetric:
    """Return a b^T of parallel vectors: 6M."""
    return Symmetric(a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.y, a.y * b.z, a.z * b.z)


def doubled(s: Vector, c: Vector) -> Symmetric:
    """Return -[s x][c x] - [c x][s x], 9M 9A: twice a number is its sum with itself."""
    twice = lambda x: x + x  # noqa: E731
    xx, yy, zz = s.x * c.x, s.y * c.y, s.z * c.z
    xy, xz, yz = s.x * c.y + s.y * c.x, s.x * c.z + s.z * c.x, s.y * c.z + s.z * c.y
    return Symmetric(twice(yy + zz), -xy, -xz, twice(zz + xx), -yz, twice(xx + yy))
