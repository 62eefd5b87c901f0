"""Luh's recursive Newton-Euler as Hollerbach 1980 refers it to link coordinates, for fewer operations."""

from __future__ import annotations

from typing import Any

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Transform, Vector, Z
from ..distal_chain import DistalChain
from ..method import Wrenches
from .matrices import with_rotors


def newton_euler_link(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces by Newton-Euler, the vectors of each link in its own frame, O(n).

    Hollerbach (1980) after Luh, Walker & Paul; the paper shows three of these equations and numbers none. A_i turns
    frame i to frame i - 1, z is its axis z_i-1; p_i* and r_i* lead from origin i - 1 to origin i and from there to the
    centre of mass, constant in frame i for a rotary joint, as I_i is. In brackets what a prismatic joint has instead:

      (1)  w_i   = A_i^T (w_i-1 + z qd_i)                             [A_i^T w_i-1]
      (2)  wd_i  = A_i^T (wd_i-1 + z qdd_i + w_i-1 x z qd_i)          [A_i^T wd_i-1]
      (3)  pdd_i = wd_i x p_i* + w_i x (w_i x p_i*) + A_i^T pdd_i-1   [the same + A_i^T z qdd_i + 2 w_i x A_i^T z qd_i]
      (4)  rdd_i = w_i x (w_i x r_i*) + wd_i x r_i* + pdd_i
      (5)  F_i = m_i rdd_i,  N_i = I_i wd_i + w_i x (I_i w_i)
      (6)  f_i = F_i + A_i+1 f_i+1
      (7)  n_i = A_i+1 n_i+1 + N_i + (p_i* + r_i*) x F_i + p_i* x A_i+1 f_i+1
      (8)  tau_i = A_i^T z . n_i                                      [A_i^T z . f_i]

    Gravity enters as the base's acceleration -g. Print has iF_i on the left of (6), and rotary joints without gravity.
    """
    return with_rotors(model, forces(LuhLinks(DistalChain(model), q), v, a), a)


class LuhLinks:
    """Constants and transforms of the links that (1)-(8) need, in frame i. A_n+1 = 1."""

    def __init__(self, chain: DistalChain, q: Scalars):
        self.n = chain.n
        self.slides = frozenset(i for i in range(1, self.n + 1) if chain.prismatic(i))
        self.A: dict[int, Any] = {i: chain.A(i, q) for i in range(1, self.n + 1)} | {self.n + 1: Transform()}
        self.p = {i: self.A[i].inward(self.A[i].origin) for i in range(1, self.n + 1)}
        self.m, self.r, self.I = {}, {}, {}
        for i in range(1, self.n + 1):
            self.m[i], self.r[i], self.I[i] = chain.inertia[i].central()
        self.base: Vector = -chain.gravity


def forces(links: LuhLinks, v: Scalars, a: Scalars) -> list[Scalar]:
    """Return F_1 .. F_n."""
    A, p, r, m, I = links.A, links.p, links.r, links.m, links.I
    w, wd, pdd, F, N = Vector(), Vector(), links.base, {}, {}
    for i in range(1, links.n + 1):
        qd, qdd = v[i - 1], a[i - 1]
        turn, slide = (0, 1) if i in links.slides else (1, 0)
        wd = A[i].inward(wd + turn * (Z * qdd + w.cross(Z * qd)))                               # (2)
        w = A[i].inward(w + turn * (Z * qd))                                                    # (1)
        pdd = wd.cross(p[i]) + w.cross(w.cross(p[i])) + A[i].inward(pdd + slide * (Z * qdd))    # (3)
        pdd = pdd + slide * (2 * w.cross(A[i].inward(Z * qd)))                                  # (3)
        rdd = w.cross(w.cross(r[i])) + wd.cross(r[i]) + pdd                                     # (4)
        F[i] = m[i] * rdd                                                                       # (5)
        N[i] = I[i] @ wd + w.cross(I[i] @ w)                                                    # (5)

    f, n, tau = Vector(), Vector(), []
    for i in range(links.n, 0, -1):
        f, n = A[i + 1].outward(f), A[i + 1].outward(n)
        n = n + N[i] + (p[i] + r[i]).cross(F[i]) + p[i].cross(f)                                # (7)
        f = F[i] + f                                                                            # (6)
        tau.append(A[i].inward(Z).dot(f if i in links.slides else n))                           # (8)
    return tau[::-1]
