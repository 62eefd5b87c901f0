"""Lin's composite bodies, all seen from one point of the base: inertia matrix, bias, and the bias coefficients."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Matrix, Symmetric, Transform, Vector, Z, pseudo_inertia
from ..method import Wrenches


class CompositeBodies:
    """Links j to n moving as one, for every joint j (Lin 1991). A pair [m, j] is joint m in components of frame j.

    R_j takes components from frame j to j - 1, s_j leads from the base point to the origin of frame j, hats mark the
    composite body. The base point is the origin of frame 1, so s_1 = 0:

      (24)  u_m^<j> = R_j^T u_m^<j-1>,   u_j^<j> = (0, 0, 1)
      (25)  s_j^<j> = R_j^T (s_{j-1}^<j-1> + origin of frame j in frame j - 1)
      (15)  s^_j = K*_j u_j x s_j,   K* = 1 for rotational joints, 0 for translational ones, which need none
      (27)  s^_m^<j> = R_j^T s^_m^<j-1>
      (28)  m^_j = m_j + m^_{j+1}
      (29)  p^_j = P + R_{j+1} p^_{j+1},   P = m_j s_j + h_j
      (30)  Jbar_j = J_j - tr(J_j) 1 / 2 - (s_j P^T + h_j s_j^T) + R_{j+1} Jbar_{j+1} R_{j+1}^T
      (62)  a_j = (Jbar_13, Jbar_23, -Jbar_11 - Jbar_22) + s^_j x p^_j
      (63)  e_j = u_j x p^_j - m^_j s^_j
      (64)  B_j = -Jbar_j [u_j x] + [s^_j x][p^_j x]
      (65)  H_mj = a_j.u_m - s^_m.e_j               both rotational; m <= j, all in frame j
                 = e_j.u_m                          m translational
                 = (u_m x p^_j)_z - m^_j (s^_m)_z   j translational
                 = m^_j (u_m)_z                     both translational
      (66)  d_mj = B_j u_m + s^_m x e_j             both rotational
                 = e_j x u_m                        m translational
                 = u_j x (u_m x p^_j - m^_j s^_m)   j translational
                 = m^_j u_j x u_m                   both translational

    (65) is (12) with the axis of joint j as z. Link inertias are about the frames' origins, so that no link needs mass
    of its own. About its centre of mass p_j, as in print, a link's share of (29) is m_j p_j and of (30) is
    I_j - tr(I_j) 1 / 2 - m_j p_j p_j^T, which is the same.
    """

    def __init__(self, model: Model, q: Scalars):
        n = self.n = model.n_bodies
        self.rotational = {j: not model.joint(j).prismatic for j in range(1, n + 1)}
        self.X = X = {j: model.transform(j, q) for j in range(1, n + 1)} | {n + 1: Transform()}
        self.u, self.s_hat, s = {(1, 1): Z}, {(1, 1): Vector()}, {1: Vector()}
        for j in range(2, n + 1):
            for m in range(1, j):
                self.u[m, j] = X[j].inward(self.u[m, j - 1])                                             # (24)
                self.s_hat[m, j] = X[j].inward(self.s_hat[m, j - 1])                                     # (27)
            s[j] = X[j].arm_inward(s[j - 1])                                                             # (25)
            self.u[j, j] = Z
            self.s_hat[j, j] = Vector(-s[j].y, s[j].x, 0) if self.rotational[j] else Vector()            # (15)

        self.m_hat, self.p_hat, self.Jbar = {n + 1: 0}, {n + 1: Vector()}, {n + 1: Symmetric()}
        for j in range(n, 0, -1):
            mass, h, J = model.inertia(j).mass, model.inertia(j).h, -pseudo_inertia(model.inertia(j).J)
            P = s[j] * mass + h
            self.m_hat[j] = mass + self.m_hat[j + 1]                                                     # (28)
            self.p_hat[j] = P + X[j + 1].outward(self.p_hat[j + 1])                                      # (29)
            self.Jbar[j] = J - arms(s[j], P, h) + X[j + 1].tensor_outward(self.Jbar[j + 1])              # (30)

    def a(self, j: int) -> Vector:
        J = self.Jbar[j]
        return Vector(J.xz, J.yz, -(J.xx + J.yy)) + self.s_hat[j, j].cross(self.p_hat[j])                # (62)

    def e(self, j: int) -> Vector:
        p = self.p_hat[j]
        return Vector(-p.y, p.x, 0) - self.s_hat[j, j] * self.m_hat[j]                                   # (63)

    def B(self, j: int) -> Matrix:
        J, s, p = self.Jbar[j], self.s_hat[j, j], self.p_hat[j]
        xx, xy, xz, yx, yy, yz = s.x * p.x, s.x * p.y, s.x * p.z, s.y * p.x, s.y * p.y, s.y * p.z
        return Matrix(                                                                                   # (64)
            Vector(-(J.xy + yy), J.xx + yx, 0),
            Vector(xy - J.yy, J.xy - xx, 0),
            Vector(xz - J.yz, J.xz + yz, -(xx + yy)),
        )

    def d(self, j: int) -> list[Vector]:
        """Return d_mj for m = 1 .. j - 1."""
        u, s_hat, p, mass = self.u, self.s_hat, self.p_hat[j], self.m_hat[j]
        if self.rotational[j]:
            B, e = self.B(j), self.e(j)
            return [                                                                                     # (66)
                B @ u[m, j] + s_hat[m, j].cross(e) if self.rotational[m] else e.cross(u[m, j])
                for m in range(1, j)
            ]
        return [
            Z.cross(u[m, j].cross(p) - s_hat[m, j] * mass if self.rotational[m] else u[m, j] * mass)
            for m in range(1, j)
        ]

    def H(self, j: int) -> list[Scalar]:
        """Return H_mj for m = 1 .. j."""
        u, s_hat, p, mass = self.u, self.s_hat, self.p_hat[j], self.m_hat[j]
        if self.rotational[j]:
            a, e = self.a(j), self.e(j)
            return [                                                                                     # (65)
                a.dot(u[m, j]) - s_hat[m, j].dot(e) if self.rotational[m] else e.dot(u[m, j])
                for m in range(1, j + 1)
            ]
        return [
            u[m, j].cross(p).z - s_hat[m, j].z * mass if self.rotational[m] else u[m, j].z * mass
            for m in range(1, j + 1)
        ]


def arms(s: Vector, P: Vector, h: Vector) -> Symmetric:
    """Return s P^T + h s^T, symmetric for P = h + m s."""
    return Symmetric(
        s.x * (P.x + h.x), s.x * P.y + h.x * s.y, s.x * P.z + h.x * s.z,
        s.y * (P.y + h.y), s.y * P.z + h.y * s.z,
        s.z * (P.z + h.z),
    )


def inertia_matrix(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the inertia matrix H(q), complete and symmetric: (65) of :class:`CompositeBodies` (Lin 1991).

    The rotor inertia Ia is on the diagonal.
    """
    return _inertia(model, CompositeBodies(model, q))


def bias(model: Model, q: Scalars, v: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces b(q, v) at zero acceleration (Lin 1991), with the letters of :class:`CompositeBodies`:

      (54)  b_m = eta_m - sum_{j<m} (zeta_j^<m> qd_j).d_jm + sum_{j>m} (zeta_j^<j> qd_j).d_mj
      (56)  zeta_j^<j> = R_j^T (zeta_{j-1} + K*_{j-1} u_{j-1} qd_{j-1}) + K*_j u_j qd_j
      (57)  zeta_j^<m> qd_j = R_m^T (zeta_j^<m-1> qd_j)
      (67)  eta_m = -e_m.g^<m>                      rotational
                  = -m^_m (g^<m>)_z                 translational; print has K_j for K_m

    K* = 1 for rotational, 0 for translational joints. zeta is zero before the first rotational joint.
    """
    return _bias(model, CompositeBodies(model, q), v)


def inertia_and_bias(model: Model, q: Scalars, v: Scalars) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Return H(q) and b(q, v) from the same composite bodies."""
    bodies = CompositeBodies(model, q)
    return _inertia(model, bodies), _bias(model, bodies, v)


def bias_coefficients(model: Model, q: Scalars) -> list[list[list[Scalar]]]:
    """Return all D_mkj in b_m = sum_kj D_mkj qd_k qd_j + gravity, as ``D[m][k][j]`` (Lin 1991):

      (32)  D_mjk = D_mkj
      (33)  D_jkj = D_jjk = 0          j >= k
      (45)  D_mkj = K*_k u_k^<j>.d_mj  m < j, k <= j
      (47)  D_mkj = -D_jkm             m > j >= k; print has j > k, which leaves out the D_mjj

    They are the Christoffel symbols of the first kind of the inertia matrix. Print has D_mij for D_mjj in (43).
    """
    bodies = CompositeBodies(model, q)
    joints = range(1, bodies.n + 1)
    D: dict[tuple[int, int, int], Scalar] = {}
    for j in joints:
        for m, d in enumerate(bodies.d(j), 1):
            for k in (k for k in range(1, j + 1) if bodies.rotational[k]):
                D[m, k, j] = bodies.u[k, j].dot(d)                                                       # (45)
                D[m, j, k] = D[m, k, j]                                                                  # (32)
                if k <= m:
                    D[j, k, m] = D[j, m, k] = -D[m, k, j]                                                # (47)
    return [[[D.get((m, k, j), 0) for j in joints] for k in joints] for m in joints]                     # (33)


def _inertia(model: Model, bodies: CompositeBodies) -> list[list[Scalar]]:
    H: list[list[Scalar]] = [[0] * bodies.n for _ in range(bodies.n)]
    for j in range(1, bodies.n + 1):
        for m, entry in enumerate(bodies.H(j), 1):
            H[m - 1][j - 1] = H[j - 1][m - 1] = entry
        H[j - 1][j - 1] = H[j - 1][j - 1] + model.joint(j).rotor_inertia
    return H


def _bias(model: Model, bodies: CompositeBodies, v: Scalars) -> list[Scalar]:
    b: list[Scalar] = [0] * bodies.n
    g, zeta, spin, carried = model.gravity, Vector(), Vector(), {}
    for j in range(1, bodies.n + 1):
        inward, rotational = bodies.X[j].inward, bodies.rotational[j]
        g = inward(g)
        b[j - 1] = -bodies.e(j).dot(g) if rotational else -(g.z * bodies.m_hat[j])                       # (67)
        zeta, spin = inward(zeta + spin), Z * v[j - 1] if rotational else Vector()
        zeta = zeta + spin                                                                               # (56)
        carried = {m: inward(zeta_m) for m, zeta_m in carried.items()}                                   # (57)
        carried[j] = zeta * v[j - 1]
        for m, d in enumerate(bodies.d(j), 1):
            b[m - 1] = b[m - 1] + carried[j].dot(d)                                                      # (54)
            b[j - 1] = b[j - 1] - carried[m].dot(d)
    return b
