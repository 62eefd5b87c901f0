"""Uicker 1965 and Kahn 1969, as Hollerbach 1980 states them, equations (4)-(5): Lagrange's equations written out."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ..distal_chain import DistalChain
from ..method import Wrenches
from .matrices import Dense, Links4, identity, with_rotors

Pair = tuple[int, int]
Triple = tuple[int, int, int]


def uicker_kahn(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces by Lagrange's equations with 4x4 matrices, no recursion, O(n^4).

    Hollerbach (1980), kW_j = A_k+1 .. A_j places frame j in frame k, J_j is about the origin of frame j:

      (4)  F_i = sum_j>=i [ sum_k<=j tr(dW_j/dq_i J_j dW_j^T/dq_k) qdd_k
                          + sum_k,l<=j tr(dW_j/dq_i J_j d2W_j^T/dq_k dq_l) qd_k qd_l - m_j g^T dW_j/dq_i jr_j ]
      (5)  dW_j/dq_k = W_k-1 dA_k kW_j  for k <= j
           d2W_j/dq_k dq_l = W_k-1 dA_k kW_l-1 dA_l lW_j  for k < l <= j,  W_k-1 d2A_k kW_j  for k = l

    Print has lost the left superscripts in (5), and has k < j, l < j.
    """
    links = Links4(DistalChain(model), q)
    dW, d2W = derivatives(links)
    return with_rotors(model, forces(links, dW, d2W, v, a), a)


def derivatives(links: Links4) -> tuple[dict[Pair, Dense], dict[Triple, Dense]]:
    """Return dW[k, j] and d2W[k, l, j]. The kW_j are computed first and stored, as the paper does."""
    n, A, dA, d2A = links.n, links.A, links.dA, links.d2A
    W, dW, d2W = {}, {}, {}
    for k in range(n + 1):
        W[k, k] = identity(4)
        for j in range(k + 1, n + 1):
            W[k, j] = W[k, j - 1] @ A[j]
    for k in range(1, n + 1):
        turning = W[0, k - 1] @ dA[k]
        for j in range(k, n + 1):
            dW[k, j] = turning @ W[k, j]                                                               # (5)
    for j in range(1, n + 1):
        for l in range(1, j + 1):
            d2W[l, l, j] = W[0, l - 1] @ d2A[l] @ W[l, j]                                              # (5)
            for k in range(1, l):
                d2W[k, l, j] = d2W[l, k, j] = dW[k, l - 1] @ dA[l] @ W[l, j]                           # (5)
    return dW, d2W


def forces(links: Links4, dW: dict[Pair, Dense], d2W: dict[Triple, Dense], v: Scalars, a: Scalars) -> list[Scalar]:
    """Return F_1 .. F_n; inertial, Coriolis and gravity terms are summed separately."""
    n, J, mr, g = links.n, links.J, links.mr, links.g
    upto = [range(1, j + 1) for j in range(n + 1)]
    qd, qdd = (0, *v), (0, *a)
    F = []
    for i in range(1, n + 1):
        beyond = range(i, n + 1)
        inertial = sum((dW[i, j] @ J[j] @ dW[k, j].T).trace() * qdd[k] for j in beyond for k in upto[j])
        coriolis = sum((dW[i, j] @ J[j] @ d2W[k, l, j].T).trace() * (qd[k] * qd[l])
                       for j in beyond for k in upto[j] for l in upto[j])
        gravity = sum((g.T @ dW[i, j] @ mr[j]).trace() for j in beyond)
        F.append(inertial + coriolis - gravity)                                                        # (4)
    return F
