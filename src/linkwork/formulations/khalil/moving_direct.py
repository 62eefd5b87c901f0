"""Khalil's recursive direct model for trees on a moving base."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ..method import Wrenches
from .hybrid import Apparent, eliminated, joined, outward, velocity_terms
from .moving_inverse import base_acceleration, component_rates, true_acceleration


def khalil_moving_direct(model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the accelerations of a floating base and of the joints it carries, under joint forces ``tau``, O(n).

    Khalil (2010), section 7.3. Link 0, the base, is the first body of the model, tau_0 the wrench on it, its
    entries of ``tau``. Letters as in ``khalil_direct``, i = a(j), sums over the links j that link i carries:

      (101)  gamma_j = [jR_i (iw_i x (iw_i x iP_j)) + 2 sigma_j jw_i x qd_j a_j;  sigmabar_j jw_i x qd_j a_j]
      (102)  beta_j  = -f_ej - [jw_j x (jw_j x MS_j);  jw_j x (J_j jw_j)]
      (103)  H_j     = aa_j^T JJ*_j aa_j + Ia_j
      (104)  K_j     = JJ*_j - JJ*_j aa_j H_j^-1 aa_j^T JJ*_j
      (105)  JJ*_i   = JJ_i + sum jT_i^T K_j jT_i
      (107)  alpha_j = K_j gamma_j + JJ*_j aa_j H_j^-1 (tau_j + aa_j^T beta*_j) - beta*_j
      (108)  beta*_i = beta_i - sum jT_i^T alpha_j
      (109)  V'_0    = JJ*_0^-1 (beta*_0 + tau_0)
      (110)  qdd_j   = H_j^-1 (-aa_j^T JJ*_j (jT_i V'_i + gamma_j) + tau_j + aa_j^T beta*_j)
      (112)  V'_j    = jT_i V'_i + aa_j qdd_j + gamma_j

    The text at hand has i-components of w_i in the second row of (101), no sums in (105) and (108), and V'_{j-1} for
    jT_i V'_i in (110) and (112). With gravity as acceleration, (109) gives V'_0 - g. Friction, (106), is subtracted
    by the quantity; the joint wrenches (111) are not needed here.
    """
    iTj, gamma, beta = velocity_terms(model, q, v, wrenches)                                               # (101) (102)
    JJ: dict[int, Apparent] = {j: model.inertia(j) for j in gamma}
    inverse, JJaa, tau_ = {}, {}, {}
    for j, i in model.inward():
        if i > 0:
            (k,), (aa,), Ia = model.freedoms(j), model.subspace(j, q), model.joint(j).rotor_inertia
            JJaa[j] = JJ[j] @ aa
            inverse[j] = 1 / (aa.dot(JJaa[j]) + Ia)                                                              # (103)
            scaled = JJaa[j] * inverse[j]
            K = eliminated(JJ[j], [aa], [JJaa[j]], [scaled], Ia)                                                 # (104)
            JJ[i] = joined(JJ[i], outward(iTj[j], K))                                                            # (105)
            tau_[j] = tau[k] + aa.dot(beta[j])
            alpha = K @ gamma[j] + scaled * tau_[j] - beta[j]                                                    # (107)
            beta[i] = beta[i] - iTj[j].force_outward(alpha)                                                      # (108)

    qdd, base = list(tau), model.freedoms(1)
    Vd = {1: base_acceleration(model, JJ[1], beta[1], tau)}                                                      # (109)
    qdd[base.start : base.stop] = component_rates(true_acceleration(model, Vd[1], iTj[1]), model.joint_motion(1, q, v))
    for j, i in model.outward():
        if i > 0:
            (k,) = model.freedoms(j)
            carried = iTj[j].motion_inward(Vd[i]) + gamma[j]
            qdd[k] = (tau_[j] - carried.dot(JJaa[j])) * inverse[j]                                               # (110)
            Vd[j] = carried + model.joint_motion(j, q, qdd)                                                      # (112)
    return qdd
