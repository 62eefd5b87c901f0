"""Khalil's recursive direct dynamic model for trees of revolute and prismatic joints on a fixed base."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars, sign
from ...spatial import ArticulatedInertia, Force, Motion, Vector, Z
from ..method import Wrenches
from .inverse import sigmas


def khalil_direct(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Wrenches = None, *, friction: bool = False
) -> list[Scalar]:
    """Return the joint accelerations under joint forces ``tau`` (the paper's Gamma), O(n), without the inertia matrix.

    Khalil (2010), section 3.3.2. Six-vectors are [linear; angular]; V'_j holds the acceleration of the point O_j, not
    the rate of its components. jT_i (17) takes motions outward, its transpose takes forces inward, aa_j is the joint's
    screw (16), JJ_j the 6x6 inertia (11):

      (16)  aa_j = [0 0 sigma_j 0 0 sigmabar_j]^T
      (34)  gamma_j = [jR_i (iw_i x (iw_i x iP_j)) + 2 sigma_j jw_i x qd_j a_j;  sigmabar_j jw_i x qd_j a_j]
      (35)  beta_j  = -f_ej - [jw_j x (jw_j x MS_j);  jw_j x (J_j jw_j)]
      (36)  H_j     = aa_j^T JJ*_j aa_j + Ia_j
      (37)  K_j     = JJ*_j - JJ*_j aa_j H_j^-1 aa_j^T JJ*_j
      (38)  alpha_j = K_j gamma_j + JJ*_j aa_j H_j^-1 (tau_j + aa_j^T beta*_j) - beta*_j
      (39)  beta*_i = beta*_i - jT_i^T alpha_j              if i = a(j) is not the base
      (40)  JJ*_i   = JJ*_i + jT_i^T K_j jT_i               likewise
      (41)  qdd_j   = H_j^-1 (-aa_j^T JJ*_j (jT_i V'_i + gamma_j) + tau_j + aa_j^T beta*_j)
      (43)  V'_j    = jT_i V'_i + aa_j qdd_j + gamma_j
      (44)  tau_j   = Gamma_j - Fs_j sign(qd_j) - Fv_j qd_j

    The text at hand has iT_i^T for jT_i^T in (39) and (40), and a transpose too many at jT_i in (41) and (43). Gravity
    enters as V'_0 = -g. f_e is what a link exerts ON its environment, ``wrenches`` are applied TO the body. (44) is
    computed with ``friction=True``; in a Method the quantity subtracts friction. The joint wrenches (42) are not needed
    here.
    """
    applied = wrenches or {}
    iTj, aa, w, gamma, beta, JJ = {}, {}, {0: Vector()}, {}, {}, {}
    for j, i in model.outward():
        iTj[j] = model.transform(j, q)
        sigma, sigmabar = sigmas(model, j)
        (k,) = model.freedoms(j)
        aa[j] = Motion(Vector(0, 0, sigma), Vector(0, 0, sigmabar))                                              # (16)
        jw_i, P, slide = iTj[j].inward(w[i]), iTj[j].origin, v[k] * Z
        w[j] = jw_i + sigmabar * slide
        gamma[j] = Motion(
            iTj[j].inward(w[i].cross(w[i].cross(P))) + 2 * sigma * jw_i.cross(slide),
            sigmabar * jw_i.cross(slide),                                                                        # (34)
        )
        MS, J = model.inertia(j).h, model.inertia(j).J
        spin = Force(w[j].cross(w[j].cross(MS)), w[j].cross(J @ w[j]))
        beta[j] = applied.get(j, Force()) - spin                                                                 # (35)
        JJ[j] = ArticulatedInertia.rigid(model.inertia(j))

    tau_, H, JJaa = list(tau), {}, {}
    for j, i in model.inward():
        joint, (k,) = model.joint(j), model.freedoms(j)
        if friction:
            tau_[k] = tau[k] - joint.coulomb * sign(v[k]) - joint.viscous * v[k]                                 # (44)
        JJaa[j] = JJ[j] @ aa[j]
        H[j] = aa[j].dot(JJaa[j]) + joint.rotor_inertia                                                          # (36)
        tau_[k] = tau_[k] + aa[j].dot(beta[j])
        if i > 0:
            scaled = JJaa[j] * (1 / H[j])
            K = JJ[j].minus_dyad([JJaa[j]], [scaled])                                                            # (37)
            alpha = K @ gamma[j] + scaled * tau_[k] - beta[j]                                                    # (38)
            beta[i] = beta[i] - iTj[j].force_outward(alpha)                                                      # (39)
            JJ[i] = JJ[i] + iTj[j].articulated_outward(K)                                                        # (40)

    qdd: list[Scalar] = [0] * model.n_tree
    Vd = {0: Motion(linear=-model.gravity)}
    for j, i in model.outward():
        (k,) = model.freedoms(j)
        carried = iTj[j].motion_inward(Vd[i]) + gamma[j]
        qdd[k] = (tau_[k] - carried.dot(JJaa[j])) * (1 / H[j])                                                   # (41)
        Vd[j] = carried + aa[j] * qdd[k]                                                                         # (43)
    return qdd
