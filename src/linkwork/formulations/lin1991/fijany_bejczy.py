"""Fijany and Bejczy's recursion for the inertia matrix, with all forces in the components of one frame."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Matrix, Vector, Z
from .renaud import AugmentedBodies


def inertia_matrix(model: Model, q: Scalars, frame: int | None = 2) -> list[list[Scalar]]:
    """Return the complete inertia matrix H(q) (Fijany & Bejczy 1989, 1990, as in the appendix of Lin 1991).

    With c^, J^, m^ of Renaud's composite bodies, in components of one ``frame`` k (0 the ground, None the last one; the
    last one too where the chain is shorter), the force f and moment t that unit acceleration of joint j takes:

      (A10)  f_jj = K_j m^_j u_j + K*_j u_j x c^_j
      (A11)  t_jj = K_j c^_j x u_j + K*_j J^_j u_j
      (A12)  H_jj = K_j m^_j + K*_j u_j.(J^_j u_j)
      (A13)  H_mj = K_m u_m.f_mj + K*_m u_m.t_mj          m < j, in frame k
      (A14)  f_mj = f_jj turned from frame j to k
      (A15)  t_mj = t_{m+1,j} + s_{m+1} x f_{m+1,j}       in frame k, t_jj turned as f_jj is

    K* = 1 - K = 1 for rotational joints. Print gives t_jj the sign opposite to that of f_jj.
    The rotor inertia Ia is on the diagonal.
    """
    bodies = AugmentedBodies(model, q)
    n, X, rotational = bodies.n, bodies.X, bodies.rotational
    k = n if frame is None else min(frame, n)
    R = {k: Matrix.identity()}  # from frame j to frame k
    for j in range(k + 1, n + 1):
        R[j] = Matrix(*(X[j].inward(row) for row in R[j - 1].rows))
    for j in range(k, 1, -1):
        R[j - 1] = Matrix(*(X[j].outward(row) for row in R[j].rows))
    u = {j: R[j].columns[2] for j in range(1, n + 1)}
    s = {j: R[j - 1] @ bodies.s[j] for j in range(2, n + 1)}

    H: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for j in range(1, n + 1):
        mass, c, J = bodies.m_hat[j], bodies.c_hat[j], bodies.J_hat[j]
        own_f = Vector(-c.y, c.x, 0) if rotational[j] else Z * mass                                # (A10)
        own_t = Vector(J.xz, J.yz, J.zz) if rotational[j] else Vector(c.y, -c.x, 0)                # (A11)
        H[j - 1][j - 1] = (J.zz if rotational[j] else mass) + model.joint(j).rotor_inertia         # (A12)
        f, t = R[j] @ own_f, R[j] @ own_t                                                          # (A14)
        for m in range(j - 1, 0, -1):
            t = t + s[m + 1].cross(f)                                                              # (A15)
            H[m - 1][j - 1] = H[j - 1][m - 1] = u[m].dot(t if rotational[m] else f)                # (A13)
    return H
