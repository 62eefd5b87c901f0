"""Waters 1979, as Hollerbach 1980 simplifies it, equations (6), (8)-(10): velocities by recursion, forces by sums."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ..distal_chain import DistalChain
from ..method import Wrenches
from .matrices import Dense, Links3, Links4, identity, with_rotors, zeros


def waters(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces by Lagrange's equations with backward recursion, 4x4 matrices, O(n^2).

    Hollerbach (1980), after Waters (1979). W_j places frame j in the base, J_j holds the moments of mass of link j
    about the origin of frame j:

      (6)   F_i   = sum_j>=i tr(dW_j/dq_i J_j Wdd_j^T) - m_j g^T dW_j/dq_i jr_j
      (8)   W_j   = W_j-1 A_j
      (9)   Wd_j  = Wd_j-1 A_j + W_j-1 dA_j qd_j
      (10)  Wdd_j = Wdd_j-1 A_j + 2 Wd_j-1 dA_j qd_j + W_j-1 d2A_j qd_j^2 + W_j-1 dA_j qdd_j

    Print says J_j is about the proximal joint; it is about the origin of frame j, at the distal end.
    """
    links = Links4(DistalChain(model), q)
    W, _, Wdd = motion(links, v, a)
    return with_rotors(model, forces(links, W, Wdd), a)


def motion(links: Links3 | Links4, v: Scalars, a: Scalars) -> tuple[dict[int, Dense], ...]:
    """Return W, Wd and Wdd of all links; the same recursion for 4x4 and 3x3 matrices."""
    A, dA, d2A = links.A, links.dA, links.d2A
    W, Wd, Wdd = {0: identity(links.size)}, {0: zeros(links.size, links.size)}, {0: zeros(links.size, links.size)}
    for j in range(1, links.n + 1):
        qd, qdd = v[j - 1], a[j - 1]
        W[j] = W[j - 1] @ A[j]                                                                         # (8)
        Wd[j] = Wd[j - 1] @ A[j] + W[j - 1] @ dA[j] * qd                                               # (9)
        Wdd[j] = (Wdd[j - 1] @ A[j] + Wd[j - 1] @ dA[j] * (2 * qd)
                  + W[j - 1] @ d2A[j] * (qd * qd) + W[j - 1] @ dA[j] * qdd)                            # (10)
    return W, Wd, Wdd


def forces(links: Links4, W: dict[int, Dense], Wdd: dict[int, Dense]) -> list[Scalar]:
    """Return F_1 .. F_n; dW_j/dq_i follows dW_j-1/dq_i as W_j follows W_j-1."""
    n, A, dA, J, mr, g = links.n, links.A, links.dA, links.J, links.mr, links.g
    F = []
    for i in range(1, n + 1):
        dW = {i: W[i - 1] @ dA[i]}
        for j in range(i + 1, n + 1):
            dW[j] = dW[j - 1] @ A[j]
        F.append(sum((dW[j] @ J[j] @ Wdd[j].T).trace() - (g.T @ dW[j] @ mr[j]).trace() for j in dW))   # (6)
    return F
