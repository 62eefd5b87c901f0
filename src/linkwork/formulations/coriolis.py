"""The Coriolis matrix C(q, v) for which Mdot - 2 C is skew-symmetric."""

from __future__ import annotations

from ..model import Model
from ..scalar import Scalar, Scalars
from ..spatial import Force, Inertia, Motion, Vector, pseudo_inertia
from .kinematics import body_velocities
from .link_modes import add_modal_coriolis, deformed, link_modes
from .total_inertia import added_masses


def coriolis_matrix(model: Model, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """Return C with C v = Coriolis and centrifugal forces and Mdot = C + C^T.

    Sum over the bodies of J^T (I Jd + B J), with J the body's Jacobian in its own frame. Writing the velocity of the
    point r as A(r) V, A = [1, -[r x]], the body's part of the inertial force is the integral of A^T (A Vd + [w x] A V).
    Equations are numbered here:

      (1)  J_ik  = X_i J_pk,  J_ii = S_i
      (2)  Jd_ik = X_i Jd_pk - vJ_i x J_ik,  Jd_ii = Sd_i
      (3)  B = integral of A^T [w x] A dm, a skew matrix
      (4)  C_kl += J_ik . (I Jd_il + B J_il)
      (5)  B = -[0 p x; p x L x] of added mass A, (p, L) = A V, in place of I and B

    Where a link has modes, I is that of the deformed link, and ``link_modes`` adds their part.
    """
    modes = {link.body: link for link in link_modes(model, q)}
    model = deformed(model, q)
    fluid = added_masses(model)
    velocity = body_velocities(model, q, v) if fluid else {}
    C: list[list[Scalar]] = [[0] * model.n_tree for _ in range(model.n_tree)]
    w, J, Jd = {0: Vector()}, {0: {}}, {0: {}}
    for i, p in model.outward():
        X, joint_v = model.transform(i, q), model.joint_motion(i, q, v)
        w[i] = X.inward(w[p]) + joint_v.angular
        J[i] = {k: X.motion_inward(column) for k, column in J[p].items()}                             # (1)
        Jd[i] = {k: X.motion_inward(Jd[p][k]) + joint_v.cross(J[i][k]) * -1 for k in J[p]}            # (2)
        if i in modes:
            add_modal_coriolis(C, modes[i], w[p], J[p], Jd[p], v)
        J[i] |= zip(model.freedoms(i), model.subspace(i, q), strict=True)
        Jd[i] |= zip(model.freedoms(i), model.subspace_rates(i, q, v), strict=True)
        inertia = model.inertia(i)
        for m, column in J[i].items():
            force = inertia @ Jd[i][m] + gyroscopic(inertia, w[i], column)
            if i in fluid:
                momentum = fluid[i] @ velocity[i]
                force = force + fluid[i] @ Jd[i][m] + column.cross_force(momentum)                    # (5)
            for k, row in J[i].items():
                C[k][m] = C[k][m] + row.dot(force)                                                    # (4)
    return C


def gyroscopic(inertia: Inertia, w: Vector, motion: Motion) -> Force:
    """Return (3) applied to a motion: m w x v - w x (h x u),  h x (w x v) + (Sigma w) x u  for motion (v, u).

    Sigma = tr(J)/2 - J is the second moment of mass, since the integral of -[r x][w x][r x] is [Sigma w x].
    """
    m, h, sigma = inertia.mass, inertia.h, pseudo_inertia(inertia.J)
    v, u = motion.linear, motion.angular
    return Force(m * w.cross(v) - w.cross(h.cross(u)), h.cross(w.cross(v)) + (sigma @ w).cross(u))
