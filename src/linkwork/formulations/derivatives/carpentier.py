"""Derivatives of inverse dynamics by the chain rule along the recursion, by Carpentier and Mansard."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Force, Motion
from ..method import Wrenches

Rows = list[list[Scalar]]


def carpentier_mansard(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None
) -> tuple[list[Scalar], Rows, Rows, Rows]:
    """Return tau, dtau/dq, dtau/dv and M, O(n d) for a tree of depth d.

    Carpentier & Mansard (2018), on spatial vectors in the bodies' frames: u is any entry of q, qd or qdd. Equations are
    numbered here; S_i qd is the velocity that joint i adds, and a joint of several freedoms has a column S_k for each.

      (1)  v_i = X_i v_p + S_i qd,   a_i = X_i a_p + S_i qdd + v_i x S_i qd,   a_0 = -g
      (2)  f_i = I_i a_i + v_i x* I_i v_i - applied wrench
      (3)  dv_i/du = X_i dv_p/du,   and  (X_i v_p) x S_k  for q_k,  S_k  for qd_k  of joint i itself
      (4)  da_i/du = X_i da_p/du + dv_i/du x S_i qd,
           and  (X_i a_p) x S_k  for q_k,  v_i x S_k  for qd_k,  S_k  for qdd_k  of joint i itself
      (5)  df_i/du = I_i da_i/du + dv_i/du x* I_i v_i + v_i x* I_i dv_i/du
      (6)  tau_i = S_i . f_i,   dtau_i/du = S_i . df_i/du
      (7)  f_p += X_i^T f_i,   df_p/du += X_i^T (df_i/du + S_k x* f_i  for q_k of joint i itself)

    The derivative along q_k moves the body by S_k, in its own frame. The rotor inertia Ia is added to (6). M is
    dtau/dqdd.
    """
    applied, n = wrenches or {}, model.n_tree
    X, S, f, df = {}, {}, {}, {}
    vel, acc = {0: Motion()}, {0: Motion(linear=-model.gravity)}
    dvel: dict[int, dict[int, Motion]] = {0: {}}  # by entry u: those of q first, then those of qd, then those of qdd
    dacc: dict[int, dict[int, Motion]] = {0: {}}
    for i, p in model.outward():
        X[i], S[i], I = model.transform(i, q), model.subspace(i, q), model.inertia(i)
        joint_v = model.joint_motion(i, q, v)
        carried_v, carried_a = X[i].motion_inward(vel[p]), X[i].motion_inward(acc[p])
        vel[i] = carried_v + joint_v                                                              # (1)
        acc[i] = carried_a + model.joint_motion(i, q, a) + vel[i].cross(joint_v)
        momentum = I @ vel[i]
        f[i] = I @ acc[i] + vel[i].cross_force(momentum) - applied.get(i, Force())                # (2)
        dvel[i] = {u: X[i].motion_inward(x) for u, x in dvel[p].items()}                          # (3)
        dacc[i] = {u: X[i].motion_inward(x) for u, x in dacc[p].items()}                          # (4)
        for k, s in zip(model.freedoms(i), S[i], strict=True):
            dvel[i] |= {k: carried_v.cross(s), n + k: s}
            dacc[i] |= {k: carried_a.cross(s), n + k: vel[i].cross(s), 2 * n + k: s}
        for u, x in dvel[i].items():
            dacc[i][u] = dacc[i][u] + x.cross(joint_v)
        df[i] = {u: I @ x for u, x in dacc[i].items()}                                            # (5)
        for u, x in dvel[i].items():
            df[i][u] = df[i][u] + x.cross_force(momentum) + vel[i].cross_force(I @ x)

    tau: list[Scalar] = [0] * n
    slopes: Rows = [[0] * (3 * n) for _ in range(n)]
    for i, p in model.inward():
        for k, s in zip(model.freedoms(i), S[i], strict=True):
            tau[k] = s.dot(f[i]) + model.joint(i).rotor_inertia * a[k]                            # (6)
            for u, x in df[i].items():
                slopes[k][u] = s.dot(x)
            slopes[k][2 * n + k] = slopes[k][2 * n + k] + model.joint(i).rotor_inertia
        if p > 0:
            for k, s in zip(model.freedoms(i), S[i], strict=True):
                df[i][k] = df[i][k] + s.cross_force(f[i])                                         # (7)
            f[p] = f[p] + X[i].force_outward(f[i])
            for u, x in df[i].items():
                df[p][u] = df[p].get(u, Force()) + X[i].force_outward(x)
    dq, dv, M = ([row[k * n : (k + 1) * n] for row in slopes] for k in range(3))
    return tau, dq, dv, M
