"""Khalil's recursive Newton-Euler for trees of revolute and prismatic joints on a fixed base."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars, sign
from ...spatial import Matrix, Vector, Z
from ..method import Wrenches


def khalil(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None, *, friction: bool = False
) -> list[Scalar]:
    """Return the joint forces for joint accelerations ``a`` at state ``(q, v)``, O(n).

    Khalil (2010), section 3.2, for j = 1..n outward and j = n..1 inward, i = a(j) the antecedent of link j, a_j the
    unit vector of its axis, sigma_j = 0 and sigmabar_j = 1 for a revolute joint, 1 and 0 for a prismatic one. M_j, MS_j
    and J_j are mass, first moments and inertia about the origin O_j; qd and qdd are the paper's q' and q'':

      (18)  jw_i  = jR_i iw_i
      (19)  jw_j  = jw_i + sigmabar_j qd_j a_j
      (20)  jw'_j = jR_i iw'_i + sigmabar_j (qdd_j a_j + jw_i x qd_j a_j)
      (21)  jV'_j = jR_i (iV'_i + iU_i iP_j) + sigma_j (qdd_j a_j + 2 jw_i x qd_j a_j)
            jU_j  = hat(jw'_j) + hat(jw_j) hat(jw_j)
      (22)  jF_j  = M_j jV'_j + jU_j jMS_j
      (23)  jM_j  = jJ_j jw'_j + jw_j x (jJ_j jw_j) + jMS_j x jV'_j
      (24)  hat(w) v = w x v
      (26)  jf_j  = jF_j + jf_ej
      (27)  jm_j  = jM_j + jm_ej
      (28)  if_j  = iR_j jf_j
      (29)  if_ei = if_ei + if_j
      (30)  im_ei = im_ei + iR_j jm_j + iP_j x if_j
      (31)  Gamma_j = (sigma_j jf_j + sigmabar_j jm_j)^T a_j + Ia_j qdd_j + Fs_j sign(qd_j) + Fv_j qd_j

    The text at hand has jw_j for jw_i in (18), w'_j for w_j in (19) and hat(w) for hat(w') in U_j. Gravity enters as
    V'_0 = -g. f_e and m_e are what a link exerts ON its environment; ``wrenches`` are applied TO the body, so they
    start with the other sign. (31) is complete with ``friction=True``; in a Method the quantity adds friction.
    """
    f_e = {j: -force.linear for j, force in (wrenches or {}).items()}
    m_e = {j: -force.angular for j, force in (wrenches or {}).items()}
    a_j, zero = Z, Vector()
    iTj, F, M = {}, {}, {}
    w, wd, Vd, U = {0: zero}, {0: zero}, {0: -model.gravity}, {0: Matrix.zero()}
    for j, i in model.outward():
        iTj[j] = model.transform(j, q)
        jR_i, iP_j = iTj[j].inward, iTj[j].origin
        sigma, sigmabar = sigmas(model, j)
        (k,) = model.freedoms(j)
        qd, qdd = v[k], a[k]
        jw_i = jR_i(w[i])                                                                                        # (18)
        w[j] = jw_i + sigmabar * qd * a_j                                                                        # (19)
        wd[j] = jR_i(wd[i]) + sigmabar * (qdd * a_j + jw_i.cross(qd * a_j))                                      # (20)
        Vd[j] = jR_i(Vd[i] + U[i] @ iP_j) + sigma * (qdd * a_j + 2 * jw_i.cross(qd * a_j))                       # (21)
        U[j] = hat(wd[j]) + hat(w[j]) @ hat(w[j])
        M_j, MS, J = model.inertia(j).mass, model.inertia(j).h, model.inertia(j).J
        F[j] = M_j * Vd[j] + U[j] @ MS                                                                           # (22)
        M[j] = J @ wd[j] + w[j].cross(J @ w[j]) + MS.cross(Vd[j])                                                # (23)

    Gamma: list[Scalar] = [0] * model.n_tree
    for j, i in model.inward():
        joint, (sigma, sigmabar) = model.joint(j), sigmas(model, j)
        (k,) = model.freedoms(j)
        f = F[j] + f_e.get(j, zero)                                                                              # (26)
        m = M[j] + m_e.get(j, zero)                                                                              # (27)
        if_j = iTj[j].outward(f)                                                                                 # (28)
        f_e[i] = f_e.get(i, zero) + if_j                                                                         # (29)
        m_e[i] = m_e.get(i, zero) + iTj[j].outward(m) + iTj[j].origin.cross(if_j)                                # (30)
        Gamma[k] = (sigma * f + sigmabar * m).dot(a_j) + joint.rotor_inertia * a[k]                              # (31)
        if friction:
            Gamma[k] = Gamma[k] + joint.coulomb * sign(v[k]) + joint.viscous * v[k]
    return Gamma


def sigmas(model: Model, j: int) -> tuple[int, int]:
    """Return sigma_j and sigmabar_j."""
    return (1, 0) if model.joint(j).prismatic else (0, 1)


def hat(w: Vector) -> Matrix:
    """Return the matrix of w x."""
    return Matrix(Vector(0, -w.z, w.y), Vector(w.z, 0, -w.x), Vector(-w.y, w.x, 0))                              # (24)
