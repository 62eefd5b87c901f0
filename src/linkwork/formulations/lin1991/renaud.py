"""Renaud's composite bodies about the frames of the joints, with constants computed off line."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Symmetric, Transform, Vector, Z, crosses, steiner


class AugmentedBodies:
    """Links j to n moving as one, about the origin of frame j (Renaud 1984, as in the appendix of Lin 1991).

    R_j takes components from frame j to j - 1, s_j is the origin of frame j in frame j - 1; K* = 1 - K = 1 for
    rotational joints. The sums with a bar do not depend on q:

      (A5)  cbar_j = h_j + K*_{j+1} m^_{j+1} s_{j+1}
      (A6)  Jbar_j = J_j - K*_{j+1} m^_{j+1} [s_{j+1} x][s_{j+1} x]
      (A7)  c^_j = cbar_j + R_{j+1} c^_{j+1} + K_{j+1} m^_{j+1} s_{j+1}
      (A8)  J^_j = Jbar_j + R_{j+1} J^_{j+1} R_{j+1}^T - [s x][c x] - [c x][s x] - K_{j+1} m^_{j+1} [s x][s x],
            s = s_{j+1},   c = R_{j+1} c^_{j+1}

    The terms with K* and with K are the same but for being constant or not; each is written once, as (A5) and (A6).
    """

    def __init__(self, model: Model, q: Scalars):
        n = self.n = model.n_bodies
        self.rotational = {j: not model.joint(j).prismatic for j in range(1, n + 1)}
        self.X = X = {j: model.transform(j, q) for j in range(1, n + 1)} | {n + 1: Transform()}
        self.s = {j: X[j].origin for j in X}
        self.m_hat, self.c_hat, self.J_hat = {n + 1: 0}, {n + 1: Vector()}, {n + 1: Symmetric()}
        for j in range(n, 0, -1):
            link, s, c = model.inertia(j), self.s[j + 1], X[j + 1].outward(self.c_hat[j + 1])
            m = self.m_hat[j + 1]
            c_bar = link.h + s * m                                                                 # (A5)
            J_bar = link.J + steiner(m, s)                                                         # (A6)
            self.m_hat[j] = link.mass + m
            self.c_hat[j] = c_bar + c                                                              # (A7)
            self.J_hat[j] = J_bar + X[j + 1].tensor_outward(self.J_hat[j + 1]) + crosses(c, s)     # (A8)


def inertia_matrix(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the inertia matrix H(q), complete and symmetric (Renaud 1984; Burdick 1986; appendix of Lin 1991):

      (A9)  s^_mj = R_j^T (s^_{m,j-1} + u_m^<j-1> x s_j),   s^_jj = 0
      (A1)  H_mj = u_m.(J^_j u_j) + s^_mj.(u_j x c^_j)      both rotational; m <= j, all in frame j
                 = u_m.(u_j x c^_j)                         m translational
                 = m^_j s^_mj.u_j - u_m.(u_j x c^_j)        j translational
                 = m^_j u_m.u_j                             both translational

    s^_mj is u_m x (from the origin of frame m to that of frame j), (A4). Print has (A9) for m <= j too; Fig. A1 takes
    e_j = u_j x c^_j from p^, and x components where (A1) has z.
    The rotor inertia Ia is on the diagonal.
    """
    bodies = AugmentedBodies(model, q)
    n, rotational = bodies.n, bodies.rotational
    H: list[list[Scalar]] = [[0] * n for _ in range(n)]
    u, s_hat = {}, {}
    for j in range(1, n + 1):
        inward, s = bodies.X[j].inward, bodies.s[j]
        s_hat = {m: inward(s_hat[m] + u[m].cross(s)) for m in u if rotational[m]} | {j: Vector()}  # (A9)
        u = {m: inward(u[m]) for m in u} | {j: Z}
        mass, c, J = bodies.m_hat[j], bodies.c_hat[j], bodies.J_hat[j]
        e, a = Vector(-c.y, c.x, 0), Vector(J.xz, J.yz, J.zz)
        for m in range(1, j + 1):
            if rotational[j]:
                entry = u[m].dot(a) + s_hat[m].dot(e) if rotational[m] else u[m].dot(e)            # (A1)
            else:
                entry = s_hat[m].z * mass - u[m].dot(e) if rotational[m] else u[m].z * mass
            H[m - 1][j - 1] = H[j - 1][m - 1] = entry
        H[j - 1][j - 1] = H[j - 1][j - 1] + model.joint(j).rotor_inertia
    return H
