"""Hollerbach 1980, equations (11)-(14): Lagrange's equations in O(n) with 4x4 matrices."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ..distal_chain import DistalChain
from ..method import Wrenches
from .matrices import Dense, Links4, with_rotors, zeros
from .waters import motion


def hollerbach_4x4(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces by the recursive Lagrangian formulation with 4x4 matrices, O(n).

    Hollerbach (1980). W, Wd, Wdd by Waters' recursion (8)-(10). Because dW_j/dq_i = dW_i/dq_i iW_j, the sums (6) over
    the links j >= i become (11), and D and c come by recursion from the last link to the first:

      (11)  F_i = tr(dW_i/dq_i sum_j>=i iW_j J_j Wdd_j^T) - g^T dW_i/dq_i sum_j>=i m_j iW_j jr_j
      (12)  D_i = J_i Wdd_i^T + A_i+1 D_i+1
      (13)  c_i = m_i ir_i + A_i+1 c_i+1
      (14)  F_i = tr(dW_i/dq_i D_i) - g^T dW_i/dq_i c_i
    """
    links = Links4(DistalChain(model), q)
    W, _, Wdd = motion(links, v, a)
    return with_rotors(model, forces(links, W, Wdd), a)


def forces(links: Links4, W: dict[int, Dense], Wdd: dict[int, Dense]) -> list[Scalar]:
    """Return F_1 .. F_n."""
    A, dA, J, mr, g = links.A, links.dA, links.J, links.mr, links.g
    D, c, F = zeros(4, 4), zeros(4, 1), []
    for i in range(links.n, 0, -1):
        D = J[i] @ Wdd[i].T + A[i + 1] @ D                                   # (12)
        c = mr[i] + A[i + 1] @ c                                             # (13)
        dW = W[i - 1] @ dA[i]                                                # (11)
        F.append((dW @ D).trace() - (g.T @ dW @ c).trace())                  # (14)
    return F[::-1]
