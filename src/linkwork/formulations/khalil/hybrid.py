"""Khalil's recursion for any tree with any mix of known and unknown accelerations, on a fixed or moving base."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...model import Model
from ...scalar import Scalar, Scalars, is_one, is_zero, ldl
from ...spatial import ArticulatedInertia, Force, Inertia, Matrix, Motion, Transform, Vector
from ..kinematics import body_velocities
from ..link_modes import ModalTerms
from ..method import Wrenches
from ..rnea import acceleration_matrix, rate_of_spin
from ..total_inertia import fluids

Apparent = Inertia | ArticulatedInertia  # JJ: the inertia of a rigid body if all accelerations beyond it are known


def khalil_hybrid(
    model: Model, q: Scalars, v: Scalars, a: Scalars, tau: Scalars, known: Sequence[bool], wrenches: Wrenches = None
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the forces where accelerations are ``known``, and the accelerations of all other freedoms, O(n).

    Khalil (2010) has a recursion for elastic joints on a fixed base (section 6.3), one for a moving base with rigid
    joints (section 7.2) and one for a moving base with given forces (section 7.3). They are one: zeta_j holds what is
    known of a joint's acceleration, aa_j its freedoms that are not known, and tau_j their forces. Numbers are those of
    the equations that each line combines, letters as in ``khalil_direct``, i = a(j), sums over the links j on link i:

      (89)  zeta_j  = gamma_j + sum of the known qdd_j with their screws
      (72)  H_j     = aa_j^T JJ*_j aa_j + Ia_j                                also (36), (103)
      (73)  K_j     = JJ*_j - JJ*_j aa_j H_j^-1 aa_j^T JJ*_j                  JJ*_j if all is known (75)
      (74)  alpha_j = K_j zeta_j + JJ*_j aa_j H_j^-1 (tau_j + aa_j^T beta*_j) - beta*_j        also (76), (107)
      (77)  beta*_i = beta_i - sum jT_i^T alpha_j                             also (96), (108)
      (78)  JJ*_i   = JJ_i + sum jT_i^T K_j jT_i                              also (95), (105)
      (80)  qdd_j   = H_j^-1 (tau_j + aa_j^T beta*_j - aa_j^T JJ*_j (jT_i V'_i + zeta_j))      also (97), (109), (110)
      (81)  V'_j    = jT_i V'_i + zeta_j + aa_j qdd_j                         also (98), (112)
      (79)  f_j     = JJ*_j V'_j - beta*_j                                    also (99)
      (82)  Gamma_j = f_j^T (the known screws) + Ia_j qdd_j                   also (100)

    A moving base is a link on a joint of six freedoms: H_j is 6x6, and gamma_j = [w x V; 0] turns its rates into the
    acceleration of a point (see ``moving_inverse``), so that its six may be known or not, each by itself. Gravity
    enters as V'_0 = -g of the ground. Added mass A of a link, which the paper does not have, is inertia without
    weight that acts on rates of components: JJ_j gets A, beta_j gets -A [g - w x V; 0].

    Links with modes, after Boyer & Khalil (1998): the freedoms of joint j are modes of link i. With P_j, m_j and Q_j
    as in ``link_modes``, H_j gets m_j, JJ*_j aa_j gets P_j in (73), (74) and (80), and tau_j loses Q_j - P_j^T zeta_j,
    because P_j acts on jT_i V'_i alone. Accelerations of modes are never known.
    """
    modes = ModalTerms(model, q, v, wrenches, spatial=False)
    model = modes.model
    iTj, gamma, beta = velocity_terms(model, q, v, modes.wrenches)
    JJ: dict[int, Apparent] = {j: model.inertia(j) for j in gamma}
    for j, (A, g) in fluids(model, q).items():
        V = body_velocities(model, q, v)[j]
        JJ[j], beta[j] = joined(JJ[j], A), beta[j] - A @ Motion(g.linear - V.angular.cross(V.linear))
    free, aa, zeta, JJaa, factors, tau_ = {}, {}, {}, {}, {}, {}
    for j, i in model.inward():
        screws = dict(zip(model.freedoms(j), model.subspace(j, q), strict=True))
        zeta[j] = gamma[j] + total(screw * a[k] for k, screw in screws.items() if known[k])                      # (89)
        free[j] = [k for k in reversed(screws) if not known[k]]  # for a base, shifts are eliminated before turns
        aa[j] = [screws[k] for k in free[j]]
        JJaa[j] = [JJ[j] @ screw for screw in aa[j]]
        H = [[screw.dot(force) for force in JJaa[j]] for screw in aa[j]]
        for n, k in enumerate(free[j]):
            H[n] = [x + modes.mass(k, m) for x, m in zip(H[n], free[j], strict=True)]
            H[n][n] = H[n][n] + model.joint(j).rotor_inertia                                                     # (72)
        factors[j] = ldl.factor(H)
        JJaa[j] = [force + modes.P[k] for k, force in zip(free[j], JJaa[j], strict=True)]
        tau_[j] = [tau[k] + screw.dot(beta[j]) for k, screw in zip(free[j], aa[j], strict=True)]
        tau_[j] = [x - (modes.Q[k] - zeta[j].dot(modes.P[k])) for k, x in zip(free[j], tau_[j], strict=True)]
        if i > 0:
            K, alpha = JJ[j], -beta[j]
            if free[j]:
                L, inverse = factors[j]
                dyads = ldl.columns_inward(L, JJaa[j])  # JJ* aa L^-1: JJ* aa H^-1 aa^T JJ* is a sum of dyads
                push = [force * d for force, d in zip(dyads, inverse, strict=True)]
                resists = sum((modes.mass(k, k) for k in free[j]), start=model.joint(j).rotor_inertia)
                K = eliminated(JJ[j], aa[j], dyads, push, resists)                                               # (73)
                for force, x in zip(push, ldl.inward(L, tau_[j]), strict=True):
                    alpha = alpha + force * x
            alpha = K @ zeta[j] + alpha                                                                          # (74)
            beta[i] = beta[i] - iTj[j].force_outward(alpha)                                                      # (77)
            JJ[i] = joined(JJ[i], outward(iTj[j], K))                                                            # (78)

    Gamma, qdd = list(tau), list(a)
    Vd = {0: Motion(linear=-model.gravity)}
    for j, i in model.outward():
        carried = iTj[j].motion_inward(Vd[i]) + zeta[j]
        load = [x - carried.dot(force) for x, force in zip(tau_[j], JJaa[j], strict=True)]
        L, inverse = factors[j]
        qdd_j = ldl.solve(L, inverse, load)                                                                      # (80)
        Vd[j] = carried + total(screw * x for screw, x in zip(aa[j], qdd_j, strict=True))                        # (81)
        f = JJ[j] @ Vd[j] - beta[j]                                                                              # (79)
        for k, x in zip(free[j], qdd_j, strict=True):
            qdd[k] = x
        for k, screw in zip(model.freedoms(j), model.subspace(j, q), strict=True):
            if known[k]:
                Gamma[k] = screw.dot(f) + model.joint(j).rotor_inertia * a[k]                                    # (82)
    return Gamma, qdd


def velocity_terms(
    model: Model, q: Scalars, v: Scalars, wrenches: Wrenches = None
) -> tuple[dict, dict[int, Motion], dict[int, Force]]:
    """Return iT_j, gamma_j and beta_j of every link, which do not depend on accelerations.

    With hat(w) hat(w) r for w x (w x r), the joint's own velocity [vJ; wJ] (qd_j a_j in one half, for a base both):

      (18)  jw_i    = jR_i iw_i,   jw_j = jw_i + wJ
      (34)  gamma_j = [jR_i hat(w_i) hat(w_i) iP_j + (2 jw_i + wJ) x vJ;  jw_i x wJ]             also (101)
      (35)  beta_j  = -f_ej - [hat(w_j) hat(w_j) MS_j;  jw_j x (J_j jw_j)]                       also (90), (102)
    """
    applied = wrenches or {}
    iTj, w, hats, gamma, beta = {}, {0: Vector()}, {0: Matrix.zero()}, {}, {}
    for j, i in model.outward():
        iTj[j], joint_v = model.transform(j, q), model.joint_motion(j, q, v)
        vJ, wJ = joint_v.linear, joint_v.angular
        jw_i = iTj[j].inward(w[i])
        w[j] = jw_i + wJ                                                                                         # (18)
        hats[j] = acceleration_matrix(w[j], Vector())
        centrifugal = iTj[j].inward(hats[i] @ iTj[j].origin)
        gamma[j] = Motion(centrifugal + (2 * jw_i + wJ).cross(vJ), jw_i.cross(wJ)) + model.joint_drift(j, q, v)  # (34)
        MS, J = model.inertia(j).h, model.inertia(j).J
        spin = Force(hats[j] @ MS, rate_of_spin(J, w[j], Vector(), hats[j]))
        beta[j] = applied.get(j, Force()) - spin                                                                 # (35)
    return iTj, gamma, beta


def eliminated(
    JJ: Apparent, aa: Sequence[Motion], dyads: Sequence[Force], scaled: Sequence[Force], Ia: Scalar
) -> ArticulatedInertia:
    """Return K_j (73), with H_j = L^T D L, ``dyads`` = JJ*_j aa_j L^-1 and ``scaled`` = these times D^-1.

    Without a rotor (or modes) only JJ*_j resists the motion: K_j aa_j = 0, and where aa_j is along an axis of the
    frame, these entries are set to structural zeros.
    """
    K = articulated(JJ).minus_dyad(dyads, scaled)
    if not is_zero(Ia):
        return K
    for screw in aa:
        gone = [is_one(x) and all(is_zero(y) for n, y in enumerate(screw) if n != k) for k, x in enumerate(screw)]
        if any(gone):
            K = K.without(gone.index(True))
    return K


def articulated(JJ: Apparent) -> ArticulatedInertia:
    """Return an inertia as articulated inertia."""
    return ArticulatedInertia.rigid(JJ) if isinstance(JJ, Inertia) else JJ


def joined(one: Apparent, other: Apparent) -> Apparent:
    """Return the sum, which is that of a rigid body if both are."""
    if isinstance(one, Inertia) and isinstance(other, Inertia):
        return one + other
    return articulated(one) + articulated(other)


def outward(iTj: Transform, JJ: Apparent) -> Apparent:
    """Return jT_i^T JJ_j jT_i."""
    return iTj.inertia_outward(JJ) if isinstance(JJ, Inertia) else iTj.articulated_outward(JJ)


def total(motions: Iterable[Motion]) -> Motion:
    """Return the sum of motions."""
    return sum(motions, Motion())
