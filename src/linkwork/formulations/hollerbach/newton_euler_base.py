"""Luh's recursive Newton-Euler as Hollerbach 1980 presents it first: every vector in base coordinates."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Pose, Vector, Z
from ..distal_chain import DistalChain
from ..method import Wrenches
from .matrices import with_rotors


def newton_euler_base(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces by Newton-Euler, all vectors in base coordinates, O(n).

    Hollerbach (1980) after Luh, Walker & Paul; the paper does not number these equations. p_i* leads from origin i - 1
    to origin i, r_i* from origin i to the centre of mass, I_i is about it and turns with the link. In brackets what a
    prismatic joint has instead:

      (1)  w_i   = w_i-1 + z_i-1 qd_i                                [w_i-1]
      (2)  wd_i  = wd_i-1 + z_i-1 qdd_i + w_i-1 x z_i-1 qd_i         [wd_i-1]
      (3)  pdd_i = wd_i x p_i* + w_i x (w_i x p_i*) + pdd_i-1        [the same + z_i-1 qdd_i + 2 w_i x z_i-1 qd_i]
      (4)  rdd_i = w_i x (w_i x r_i*) + wd_i x r_i* + pdd_i
      (5)  F_i = m_i rdd_i,  N_i = I_i wd_i + w_i x (I_i w_i)
      (6)  f_i = F_i + f_i+1
      (7)  n_i = n_i+1 + N_i + (p_i* + r_i*) x F_i + p_i* x f_i+1
      (8)  tau_i = z_i-1 . n_i                                       [z_i-1 . f_i]

    Gravity enters as the base's acceleration -g. Print has rotary joints without gravity.
    """
    chain = DistalChain(model)
    W, w, wd, pdd = Pose.identity(), Vector(), Vector(), -chain.gravity
    p, r, F, N, axis = {}, {}, {}, {}, {}
    for i in range(1, chain.n + 1):
        qd, qdd, A = v[i - 1], a[i - 1], chain.A(i, q)
        m, r_i, I = chain.inertia[i].central()
        z = axis[i] = W.outward(Z)
        p[i], W = W.outward(A.origin), W.then(A)
        r[i] = W.outward(r_i)
        turn, slide = (0, 1) if chain.prismatic(i) else (1, 0)
        wd = wd + turn * (z * qdd + w.cross(z * qd))                                            # (2)
        w = w + turn * (z * qd)                                                                 # (1)
        pdd = wd.cross(p[i]) + w.cross(w.cross(p[i])) + pdd                                     # (3)
        pdd = pdd + slide * (z * qdd + 2 * w.cross(z * qd))                                     # (3)
        rdd = w.cross(w.cross(r[i])) + wd.cross(r[i]) + pdd                                     # (4)
        F[i] = m * rdd                                                                          # (5)
        N[i] = W.outward(I @ W.inward(wd)) + w.cross(W.outward(I @ W.inward(w)))                # (5)

    f, n, tau = Vector(), Vector(), []
    for i in range(chain.n, 0, -1):
        n = n + N[i] + (p[i] + r[i]).cross(F[i]) + p[i].cross(f)                                # (7)
        f = F[i] + f                                                                            # (6)
        tau.append(axis[i].dot(f if chain.prismatic(i) else n))                                 # (8)
    return with_rotors(model, tau[::-1], a)
