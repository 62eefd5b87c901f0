"""Articulated-body algorithm: forward dynamics without forming the inertia matrix."""

from __future__ import annotations

from ..model import Model
from ..scalar import Scalar, Scalars, ldl
from ..spatial import ArticulatedInertia, Force, Motion
from .link_modes import ModalTerms
from .method import Wrenches
from .total_inertia import fluids


def aba(model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint accelerations under joint forces ``tau``, O(n).

    Featherstone (2008), table 7.1, with the rotor inertia added to D, the joint's own apparent inertia. In (2) Ia is
    the rotor inertia, in (3) and (4) it is Featherstone's apparent inertia I^a of the link.
    Equations are numbered here:

      (1)  v_i = X_i v_p + S_i qd,   c_i = v_i x S_i qd + Sd_i qd,   pA_i = v_i x* I_i v_i - applied wrench
      (2)  U = IA_i S_i,   D = S_i^T U + Ia,   u = tau_i - S_i^T pA_i
      (3)  Ia = IA_i - U D^-1 U^T,   pa = pA_i + Ia c_i + U D^-1 u
      (4)  IA_p += X_i^T Ia X_i,   pA_p += X_i^T pa
      (5)  a' = X_i a_p + c_i,   qdd = D^-1 (u - U^T a'),   a_i = a' + S_i qdd

    Added mass A of a body is inertia without weight: IA_i gets A, pA_i gets A g. With the m, P and Q
    of modes (``ModalTerms``), D gets m, U gets P, and u loses Q - P . c: P acts on the deformed link, X_i a_p = a' - c.
    """
    modes = ModalTerms(model, q, v, wrenches, spatial=True)
    model, applied = modes.model, modes.wrenches
    X, S, vel, c, IA, pA = {}, {}, {0: Motion()}, {}, {}, {}
    for i, p in model.outward():
        X[i], S[i] = model.transform(i, q), model.subspace(i, q)
        joint_v = model.joint_motion(i, q, v)
        vel[i] = X[i].motion_inward(vel[p]) + joint_v                                      # (1)
        c[i] = vel[i].cross(joint_v) + model.joint_drift(i, q, v)
        pA[i] = vel[i].cross_force(model.inertia(i) @ vel[i]) - applied.get(i, Force())
        IA[i] = ArticulatedInertia.rigid(model.inertia(i))
    for i, (A, g) in fluids(model, q).items():
        IA[i], pA[i] = IA[i] + A, pA[i] + A @ g

    U, factors, u = {}, {}, {}
    for i, p in model.inward():
        screws = dict(zip(model.freedoms(i), S[i], strict=True))
        forces = {k: IA[i] @ s for k, s in screws.items()}                                 # (2)
        D = [[s.dot(force) + modes.mass(k, m) for m, force in forces.items()] for k, s in screws.items()]
        for k in range(len(D)):
            D[k][k] = D[k][k] + model.joint(i).rotor_inertia
        factors[i] = ldl.factor(D)
        U[i] = [force + modes.P[k] for k, force in forces.items()]
        u[i] = [tau[k] - s.dot(pA[i]) - (modes.Q[k] - c[i].dot(modes.P[k])) for k, s in screws.items()]
        if p > 0:
            left = ldl.columns_inward(factors[i][0], U[i])  # U L^-1, so that U D^-1 U^T is a sum of dyads
            scaled = [force * inverse for force, inverse in zip(left, factors[i][1], strict=True)]
            reduced = IA[i].minus_dyad(left, scaled)                                       # (3)
            pa = pA[i] + reduced @ c[i]
            for force, value in zip(scaled, ldl.inward(factors[i][0], u[i]), strict=True):
                pa = pa + force * value
            IA[p] = IA[p] + X[i].articulated_outward(reduced)                              # (4)
            pA[p] = pA[p] + X[i].force_outward(pa)

    qdd: list[Scalar] = [0] * model.n_tree
    acc = {0: Motion(linear=-model.gravity)}
    for i, p in model.outward():
        carried = X[i].motion_inward(acc[p]) + c[i]                                        # (5)
        L, inverse = factors[i]
        net = [value - carried.dot(force) for value, force in zip(u[i], U[i], strict=True)]
        for k, value in zip(model.freedoms(i), ldl.solve(L, inverse, net), strict=True):
            qdd[k] = value
        acc[i] = carried + model.joint_motion(i, q, qdd)
    return qdd
