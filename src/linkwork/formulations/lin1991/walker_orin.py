"""Walker and Orin's composite bodies about their centres of mass."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars, is_zero
from ...spatial import Symmetric, Transform, Vector, Z, steiner


def inertia_matrix(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the inertia matrix H(q), complete and symmetric (Walker & Orin 1982, method 3), in the links' own frames.

    c_j and I_j are a link's centre of mass and its inertia about it, m^_j, r_j, J_j those of links j to n as one body.
    R_j takes components from frame j to j - 1, s_j is the origin of frame j in frame j - 1.
    Equations are numbered here:

      (1)  m^_j = m_j + m^_{j+1}
      (2)  r_j  = (m_j c_j + m^_{j+1} r') / m^_j,   r' = s_{j+1} + R_{j+1} r_{j+1}
      (3)  J_j  = I_j - m_j [(c_j - r_j) x]^2 + R_{j+1} J_{j+1} R_{j+1}^T - m^_{j+1} [(r' - r_j) x]^2
      (4)  F_j  = m^_j u_j x r_j,   N_j = J_j u_j     joint j rotational
                = m^_j u_j,             = 0           translational
      (5)  f_j  = F_j,   n_j = N_j + r_j x F_j        when joint j alone moves; then, for m < j:
      (6)  f_m  = R_{m+1} f_{m+1},   n_m = R_{m+1} n_{m+1} + s_{m+1} x f_m
      (7)  H_mj = u_m.n_m rotational, u_m.f_m translational

    The rotor inertia Ia is on the diagonal. A composite body without mass has its centre at the frame's origin.
    """
    n = model.n_bodies
    rotational = {j: not model.joint(j).prismatic for j in range(1, n + 1)}
    X = {j: model.transform(j, q) for j in range(1, n + 1)} | {n + 1: Transform()}
    H: list[list[Scalar]] = [[0] * n for _ in range(n)]
    m_hat, r, J = {n + 1: 0}, {n + 1: Vector()}, {n + 1: Symmetric()}
    for j in range(n, 0, -1):
        mass, c, I = model.inertia(j).central()
        outer = X[j + 1].origin + X[j + 1].outward(r[j + 1])
        m_hat[j] = mass + m_hat[j + 1]                                                             # (1)
        r[j] = c * part(mass, m_hat[j]) + outer * part(m_hat[j + 1], m_hat[j])                     # (2)
        J[j] = (
            I + steiner(mass, c - r[j])
            + X[j + 1].tensor_outward(J[j + 1]) + steiner(m_hat[j + 1], outer - r[j])              # (3)
        )
        F = Vector(-r[j].y, r[j].x, 0) * m_hat[j] if rotational[j] else Z * m_hat[j]               # (4)
        N = Vector(J[j].xz, J[j].yz, J[j].zz) if rotational[j] else Vector()
        f, moment = F, N + r[j].cross(F)                                                           # (5)
        H[j - 1][j - 1] = (moment if rotational[j] else f).z + model.joint(j).rotor_inertia
        for m in range(j - 1, 0, -1):
            f = X[m + 1].outward(f)                                                                # (6)
            moment = X[m + 1].outward(moment) + X[m + 1].origin.cross(f)
            H[m - 1][j - 1] = H[j - 1][m - 1] = (moment if rotational[m] else f).z                 # (7)
    return H


def part(mass: Scalar, of: Scalar) -> Scalar:
    """Return the share of a mass in a total; 0 if the total is a structural zero."""
    return 0 if is_zero(of) else mass / of
