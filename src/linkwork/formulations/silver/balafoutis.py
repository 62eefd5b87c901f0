"""Newton-Euler with the invariants of augmented links and Cartesian tensors (Balafoutis, Patel & Misra 1988)."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Force, Inertia, Matrix, Symmetric, Transform, Vector, pseudo_inertia
from ..method import Wrenches
from ..rnea import acceleration_matrix


def balafoutis(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces for joint accelerations ``a`` at state ``(q, v)``, O(n).

    Balafoutis, Patel & Misra (1988). Their article was not at hand: the recursion is derived here from what Lin (1991)
    says of it, that it is Newton-Euler in terms of the first moments and inertia tensors of augmented bodies; its
    operations grow with 93 n M, 81 n A, as theirs do. Equations are numbered here.

    The origin o_i of frame i is fixed in link i and, if joint i is rotational, in link i-1, too, so a mass at o_i may
    count as part of either. Moving all masses that way, from the tip to the base, leaves no mass on rotational joints;
    the moments of the links so augmented are constants. K = tr(I)/2 1 - I is the pseudo-inertia (Silver 1981, 2.11),
    s_i leads from o_{i-1} to o_i, R_i turns components of frame i into frame i-1:

      (1)  m_i^ = m_i + m_{i+1}^                           if joint i+1 is rotational, otherwise m_i
      (2)  u_i = m_i c_i + m_{i+1}^ s_{i+1}                likewise
      (3)  K_i = J_i + m_{i+1}^ s_{i+1} s_{i+1}^T          likewise, J_i the pseudo-inertia of the link
      (4)  w_i = R_i^T w_{i-1} + qd_i z                    z only if joint i is rotational
      (5)  wd_i = R_i^T wd_{i-1} + (R_i^T w_{i-1}) x qd_i z + qdd_i z
      (6)  W_i = [wd_i x] + [w_i x][w_i x]                 the angular acceleration tensor
      (7)  sdd_i = R_i^T (sdd_{i-1} + W_{i-1} s_i)         + 2 (R_i^T w_{i-1}) x qd_i z + qdd_i z if translational
      (8)  f_i = W_i u_i + R_{i+1} f_{i+1}                 + m_i^ sdd_i if joint i is translational
      (9)  n_i = dual(W_i K_i) + u_i x sdd_i + R_{i+1} n_{i+1} + s_{i+1} x R_{i+1} f_{i+1}
      (10) tau_i = z . n_i, or z . f_i if translational

    f_i lacks m_i^ sdd_i at a rotational joint, which has no moment about it. Masses go through rotational joints only:
    s_{i+1} of a translational joint varies, which early articles overlook (Lin 1991, appendix). Gravity is the
    acceleration -g of the base; ``wrenches`` are subtracted from (8) and (9), rotors added to (10).
    """
    applied, links, last = wrenches or {}, augmented_links(model), model.n_bodies
    w, wd, sdd, W = {0: Vector()}, {0: Vector()}, {0: -model.gravity}, {0: Matrix.zero()}
    X, F, N = {}, {}, {}
    for i in range(1, last + 1):
        X[i], (axis,), p = model.transform(i, q), model.subspace(i, q), i - 1
        turn, slide, carried = axis.angular, axis.linear, X[i].inward(w[p])
        w[i] = carried + v[p] * turn                                                                     # (4)
        wd[i] = X[i].inward(wd[p]) + (carried.cross(v[p] * turn) + a[p] * turn)                          # (5)
        W[i] = acceleration_matrix(w[i], wd[i])                                                          # (6)
        sdd[i] = X[i].inward(sdd[p] + W[p] @ X[i].origin)                                                # (7)
        sdd[i] = sdd[i] + carried.cross(v[p] * (2 * slide)) + a[p] * slide
        m, u, K = links[i].mass, links[i].h, pseudo_inertia(links[i].J)
        F[i] = W[i] @ u + m * sdd[i]
        N[i] = dual(W[i], K) + u.cross(sdd[i])

    X[last + 1], f, n = Transform(), Vector(), Vector()
    tau: list[Scalar] = [0] * last
    for i in range(last, 0, -1):
        f, n, s, load = X[i + 1].outward(f), X[i + 1].outward(n), X[i + 1].origin, applied.get(i, Force())
        n = N[i] + n + s.cross(f) - load.angular                                                         # (9)
        f = F[i] + f - load.linear                                                                       # (8)
        (axis,) = model.subspace(i, q)
        tau[i - 1] = axis.dot(Force(f, n)) + model.joint(i).rotor_inertia * a[i - 1]                     # (10)
    return tau


def augmented_links(model: Model) -> dict[int, Inertia]:
    """Return the constants of the augmented links.

    They are first moments u, inertia tensors about the origins (the pseudo-inertia K_i as tr(K_i) 1 - K_i), and the
    masses m_i^ that are left on translational joints, 0 on rotational ones.
    """
    links = {0: Inertia()} | {i: model.inertia(i) for i in range(1, model.n_bodies + 1)}
    for i in range(model.n_bodies, 0, -1):
        if not model.joint(i).prismatic:
            link, before = links[i], links[i - 1]
            moved = model.transform(i, [0] * model.n_bodies).inertia_outward(Inertia(link.mass))
            mass = before.mass + moved.mass                                                              # (1)
            u = before.h + moved.h                                                                       # (2)
            tensor = before.J + moved.J                                                                  # (3)
            links[i], links[i - 1] = Inertia(0, link.h, link.J), Inertia(mass, u, tensor)
    return links


def dual(W: Matrix, K: Symmetric) -> Vector:
    """Return the vector of W K - (W K)^T, I.wd + w x (I.w), in 15 multiplications, with I = tr(K) 1 - K."""
    (Wxx, Wxy, Wxz), (Wyx, Wyy, Wyz), (Wzx, Wzy, Wzz) = W.rows
    return Vector(
        Wzy * K.yy - Wyz * K.zz + Wzx * K.xy - Wyx * K.xz + (Wzz - Wyy) * K.yz,
        Wxz * K.zz - Wzx * K.xx + Wxy * K.yz - Wzy * K.xy + (Wxx - Wzz) * K.xz,
        Wyx * K.xx - Wxy * K.yy + Wyz * K.xz - Wxz * K.yz + (Wyy - Wxx) * K.xy,
    )
