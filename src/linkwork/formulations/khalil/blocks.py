"""Hybrid dynamics by blocks of the inertia matrix, and Khalil's two ways to treat a moving base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...model import Model
from ...scalar import Scalar, Scalars, ldl
from ...spatial import Force, Matrix, Transform, Vector, Z
from ..method import Wrenches
from ..rnea import acceleration_matrix, rate_of_spin
from .inverse import sigmas
from .moving_inverse import point_acceleration


def khalil_blocks(
    model: Model, q: Scalars, v: Scalars, a: Scalars, tau: Scalars, known: Sequence[bool], wrenches: Wrenches = None
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the forces where accelerations are ``known``, and the accelerations of all other freedoms, O(n^3).

    Khalil (2010), 6.1 for elastic joints and 7.1 for a moving base, where qdd has the six of the base first: r are the
    freedoms with known accelerations, f the others.

      (67)  Gamma   = A qdd + H                                    also (7), (83)
      (71)  Gamma_f = A_fr qdd_r + A_ff qdd_f + H_f                solved for qdd_f; also (86), (88)
      (87)  Gamma_r = A_rr qdd_r + A_rf qdd_f + H_r

    By section 3.3.1, a column of A is Gamma at unit acceleration, at rest, without gravity and wrenches. H + A_r qdd_r
    is Gamma at qdd_f = 0, so columns are needed of the unknown freedoms only.
    """
    free = [k for k, is_known in enumerate(known) if not is_known]
    still, weightless = [0] * model.n_tree, replace(model, gravity=Vector())
    rest = newton_euler(model, q, v, [x if known[k] else 0 for k, x in enumerate(a)], wrenches)
    A = {f: newton_euler(weightless, q, still, [int(f == k) for k in range(model.n_tree)]) for f in free}        # (67)
    A_ff = [[A[f][e] for f in free] for e in free]
    qdd_f = ldl.solve(*ldl.factor(A_ff), [tau[f] - rest[f] for f in free])                                       # (71)

    Gamma, qdd = list(tau), list(a)
    for f, value in zip(free, qdd_f, strict=True):
        qdd[f] = value
    for r, is_known in enumerate(known):
        if is_known:
            Gamma[r] = rest[r] + sum((A[f][r] * qdd[f] for f in free), start=0)                                  # (87)
    return Gamma, qdd


def newton_euler(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None, *, virtual: bool = False
) -> list[Scalar]:
    """Return Gamma = A qdd + H by the inverse recursion of section 3.2 for a tree on a fixed or moving base.

    The base can be taken into account in two ways (7.1). Its motion gives the initial conditions (w_0, w'_0, V'_0), and
    the inward recursion goes on to the base itself, whose wrench is its six equations. Or, ``virtual=True``, a virtual
    link without inertia has the motion of the base and carries it by a fixed joint, sigma_1 = 2, and f_1 is the six.

      (18)  jw_i  = jR_i iw_i
      (19)  jw_j  = jw_i + sigmabar_j qd_j a_j
      (20)  jw'_j = jR_i iw'_i + sigmabar_j (qdd_j a_j + jw_i x qd_j a_j)
      (21)  jV'_j = jR_i (iV'_i + iU_i iP_j) + sigma_j (qdd_j a_j + 2 jw_i x qd_j a_j)
      (22)  jF_j  = M_j jV'_j + jU_j jMS_j
      (23)  jM_j  = jJ_j jw'_j + jw_j x (jJ_j jw_j) + jMS_j x jV'_j
      (26)  jf_j  = jF_j + jf_ej,   jm_j = jM_j + jm_ej                          also (27)
      (29)  if_ei = if_ei + if_j,   im_ei = im_ei + im_j + iP_j x if_j           also (28), (30)
      (31)  Gamma_j = (sigma_j jf_j + sigmabar_j jm_j)^T a_j + Ia_j qdd_j

    The text at hand has sigma_2 for sigma_1, and V'_0, w_0 for w'_0, V'_0. With sigma = 2 neither sigma nor sigmabar
    acts: sigmabar = 1 - sigma would be wrong. Gravity is the acceleration -g of the ground, turned into the base.
    """
    applied = wrenches or {}
    iTj, f, motion = {}, {}, {0: LinkMotion(Vector(), Vector(), -model.gravity)}
    for j, i in model.outward():
        iTj[j] = model.transform(j, q)
        if model.joint(j).kind.free:
            motion[j] = base_motion(model, j, q, iTj[j], v, a)
            if virtual:
                motion[j] = next_link(motion[j], Transform(), 0, 0, 0, 0)
        else:
            k = model.freedoms(j).start
            motion[j] = next_link(motion[i], iTj[j], *sigmas(model, j), v[k], a[k])
        (w, wd, Vd), U = motion[j], motion[j].U
        M, MS, J = model.inertia(j).mass, model.inertia(j).h, model.inertia(j).J
        F = M * Vd + U @ MS                                                                                      # (22)
        N = rate_of_spin(J, w, wd, U) + MS.cross(Vd)                                                             # (23)
        f[j] = Force(F, N) - applied.get(j, Force())                                                             # (26)

    Gamma: list[Scalar] = [0] * model.n_tree
    for j, i in model.inward():
        for k, aa in zip(model.freedoms(j), model.subspace(j, q), strict=True):
            Gamma[k] = aa.dot(f[j]) + model.joint(j).rotor_inertia * a[k]                                        # (31)
        if i > 0:
            f[i] = f[i] + iTj[j].force_outward(f[j])                                                             # (29)
    return Gamma


def only_on_the_ground(model: Model) -> str:
    """Return why Khalil's method of blocks does not support a model; empty if it does."""
    carried = [model.joint(j).name for j, i in model.outward() if i and model.joint(j).kind.free]
    return f"it is for bodies that float against the ground, and {carried[0]!r} is carried by a link" if carried else ""


class LinkMotion(NamedTuple):
    """Motion of a link: w, w', and the acceleration V' of its origin."""

    w: Vector
    wd: Vector
    Vd: Vector

    @property
    def U(self) -> Matrix:
        """hat(w') + hat(w) hat(w)."""
        return acceleration_matrix(self.w, self.wd)


def base_motion(model: Model, j: int, q: Scalars, wTj: Transform, v: Scalars, a: Scalars) -> LinkMotion:
    """Return the motion of a floating base at v and a in the convention of linkwork."""
    velocity = model.joint_motion(j, q, v)
    acceleration = point_acceleration(model.joint_motion(j, q, a), velocity)
    return LinkMotion(velocity.angular, acceleration.angular, acceleration.linear - wTj.inward(model.gravity))


def next_link(motion: LinkMotion, iTj: Transform, sigma: int, sigmabar: int, qd: Scalar, qdd: Scalar) -> LinkMotion:
    """Return the motion of link j from that of its antecedent i."""
    jR_i, (w, wd, Vd) = iTj.inward, motion
    jw_i = jR_i(w)                                                                                               # (18)
    return LinkMotion(
        jw_i + sigmabar * qd * Z,                                                                                # (19)
        jR_i(wd) + sigmabar * (qdd * Z + jw_i.cross(qd * Z)),                                                    # (20)
        jR_i(Vd + motion.U @ iTj.origin) + sigma * (qdd * Z + 2 * jw_i.cross(qd * Z)),                           # (21)
    )
