"""Khalil's recursive inverse model for trees with rigid and elastic joints on a fixed base."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Motion
from ..method import Wrenches
from .hybrid import Apparent, eliminated, joined, outward, velocity_terms


def khalil_elastic(
    model: Model, q: Scalars, v: Scalars, a: Scalars, tau: Scalars, known: Sequence[bool], wrenches: Wrenches = None
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the forces of the rigid joints, whose acceleration is ``known``, and accelerations of elastic ones, O(n).

    Khalil (2010), section 6.3, after Khalil & Gautier (2000). Letters as in ``khalil_direct``, tau_j what the spring of
    an elastic joint exerts on it, i = a(j). The first pass is that of the direct model, (34) and (35). Then, inward,

    if joint j is elastic:
      (72)  H_j     = aa_j^T JJ*_j aa_j + Ia_j
      (73)  K_j     = JJ*_j - JJ*_j aa_j H_j^-1 aa_j^T JJ*_j
      (74)  alpha_j = K_j gamma_j + JJ*_j aa_j H_j^-1 (tau_j + aa_j^T beta*_j) - beta*_j
    if joint j is rigid:
      (75)  K_j     = JJ*_j
      (76)  alpha_j = K_j gamma_j + JJ*_j aa_j qdd_j - beta*_j
    and for both, if i is not the base:
      (77)  beta*_i = beta*_i - jT_i^T alpha_j
      (78)  JJ*_i   = JJ*_i + jT_i^T K_j jT_i
    outward:
      (79)  f_j     = K_j jT_i V'_i + alpha_j
      (80)  qdd_j   = H_j^-1 (-aa_j^T JJ*_j (jT_i V'_i + gamma_j) + tau_j + aa_j^T beta*_j)      elastic
      (81)  V'_j    = jT_i V'_i + aa_j qdd_j + gamma_j                                           both
      (82)  Gamma_j = aa_j^T f_j + Ia_j qdd_j                                                    rigid

    The text at hand has jT_i^T for jT_i in (79)-(81), lists (81) for elastic joints only, and has no Ia in (72). tau_j
    is -K_j (q_j - q_0j), or 0 for a joint without a motor (remark in 6.2); the quantity computes it, with friction.
    """
    iTj, gamma, beta = velocity_terms(model, q, v, wrenches)
    aa = {j: model.subspace(j, q)[0] for j in gamma}
    JJ: dict[int, Apparent] = {j: model.inertia(j) for j in gamma}
    inverse, JJaa, K, alpha = {}, {}, {}, {}
    for j, i in model.inward():
        Ia, (k,) = model.joint(j).rotor_inertia, model.freedoms(j)
        JJaa[j] = JJ[j] @ aa[j]
        if known[k]:
            K[j] = JJ[j]                                                                                         # (75)
            alpha[j] = K[j] @ gamma[j] + JJaa[j] * a[k] - beta[j]                                                # (76)
        else:
            inverse[j] = 1 / (aa[j].dot(JJaa[j]) + Ia)                                                           # (72)
            scaled = JJaa[j] * inverse[j]
            K[j] = eliminated(JJ[j], [aa[j]], [JJaa[j]], [scaled], Ia)                                           # (73)
            alpha[j] = K[j] @ gamma[j] + scaled * (tau[k] + aa[j].dot(beta[j])) - beta[j]                        # (74)
        if i > 0:
            beta[i] = beta[i] - iTj[j].force_outward(alpha[j])                                                   # (77)
            JJ[i] = joined(JJ[i], outward(iTj[j], K[j]))                                                         # (78)

    Gamma, qdd = list(tau), list(a)
    Vd = {0: Motion(linear=-model.gravity)}
    for j, i in model.outward():
        Ia, (k,) = model.joint(j).rotor_inertia, model.freedoms(j)
        carried = iTj[j].motion_inward(Vd[i])
        f = K[j] @ carried + alpha[j]                                                                            # (79)
        if known[k]:
            Gamma[k] = aa[j].dot(f) + Ia * a[k]                                                                  # (82)
        else:
            qdd[k] = inverse[j] * (tau[k] + aa[j].dot(beta[j]) - (carried + gamma[j]).dot(JJaa[j]))              # (80)
        Vd[j] = carried + aa[j] * qdd[k] + gamma[j]                                                              # (81)
    return Gamma, qdd
