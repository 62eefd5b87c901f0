"""Hollerbach 1980, equations (15)-(18), corrected: Lagrange's equations in O(n) with 3x3 matrices."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ..distal_chain import DistalChain
from ..method import Wrenches
from .matrices import Dense, Links3, with_rotors, zeros
from .waters import motion


def hollerbach_3x3(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces by the recursive Lagrangian formulation with 3x3 matrices, O(n).

    Hollerbach (1980). W_j now turns vectors from frame j to the base and follows (8)-(10); p_j leads from the base to
    origin j, ip_i* from origin i - 1 to origin i, n_i = m_i r_i* and J_i are first and second moments about origin i,
    M_i = sum_j>=i m_j, z the unit vector z_i-1 of the joint's axis in frame i:

      (15)  F_i = sum_j>=i tr(m_j dp_j/dq_i pdd_j^T + dp_j/dq_i n_j^T Wdd_j^T + dW_j/dq_i n_j pdd_j^T
                              + dW_j/dq_i J_j Wdd_j^T) - g^T (m_j dp_j/dq_i + dW_j/dq_i n_j)
      (16)  pdd_j = pdd_j-1 + Wdd_j jp_j*  [+ 2 qd_j Wd_j z + qdd_j W_j z  if prismatic]
      (17)  F_i = tr(dW_i/dq_i D_i) - g^T dW_i/dq_i c_i,  (e_i - M_i g^T) W_i z  if prismatic
      (18)  e_i = e_i+1 + m_i pdd_i^T + n_i^T Wdd_i^T
            D_i = A_i+1 D_i+1 + ip_i* e_i + n_i pdd_i^T + J_i Wdd_i^T
            c_i = n_i + M_i ip_i* + A_i+1 c_i+1

    Joint i turns about z_i-1 through origin i - 1, so dp_j/dq_i = dW_i/dq_i i(p_j - p_i-1), and D_i, c_i are about
    origin i - 1. Print has n_i = r_i*/m_i; minus in (16); ip_i+1 e_i+1 in D_i, as if frame i stood on axis i; c_i as
    in (13), without M_i ip_i*; dW_j/dq_i r_j alone in the gravity of (15); and rotary joints only.
    """
    links = Links3(DistalChain(model), q)
    W, Wd, Wdd = motion(links, v, a)
    pdd = accelerations(links, W, Wd, Wdd, v, a, zeros(3, 1))
    return with_rotors(model, forces(links, W, Wdd, pdd), a)


def accelerations(
    links: Links3, W: dict[int, Dense], Wd: dict[int, Dense], Wdd: dict[int, Dense], v: Scalars, a: Scalars, base: Dense
) -> dict[int, Dense]:
    """Return pdd_j of all frame origins; ``base`` is pdd_0."""
    p, z, pdd = links.p, links.z, {0: base}
    for j in range(1, links.n + 1):
        pdd[j] = pdd[j - 1] + Wdd[j] @ p[j]                                                            # (16)
        if j in links.slides:
            pdd[j] = pdd[j] + Wd[j] @ z[j] * (2 * v[j - 1]) + W[j] @ z[j] * a[j - 1]                   # (16)
    return pdd


def forces(links: Links3, W: dict[int, Dense], Wdd: dict[int, Dense], pdd: dict[int, Dense]) -> list[Scalar]:
    """Return F_1 .. F_n."""
    A, dA, J, p, z, n, g = links.A, links.dA, links.J, links.p, links.z, links.mr, links.g
    D, e, c, M, F = zeros(3, 3), zeros(1, 3), zeros(3, 1), 0, []
    for i in range(links.n, 0, -1):
        M = M + links.m[i]
        e = links.m[i] * pdd[i].T + n[i].T @ Wdd[i].T + e                                              # (18)
        D = p[i] @ e + n[i] @ pdd[i].T + J[i] @ Wdd[i].T + A[i + 1] @ D                                # (18)
        c = n[i] + M * p[i] + A[i + 1] @ c                                                             # (18)
        dW = W[i - 1] @ dA[i]                                                                          # (15)
        if i in links.slides:
            axis = W[i] @ z[i]
            F.append((e @ axis).trace() - M * (g.T @ axis).trace())                                    # (17)
        else:
            F.append((dW @ D).trace() - (g.T @ dW @ c).trace())                                        # (17)
    return F[::-1]
