"""Khalil's recursive inverse model for trees on a moving base, and the two conventions for its acceleration."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import UnsupportedError
from ...model import Model
from ...model.joints import FLOATING
from ...scalar import Scalar, Scalars, ldl
from ...spatial import Force, Motion, Pose
from ..method import Wrenches
from .hybrid import Apparent, total, velocity_terms


def khalil_moving_inverse(
    model: Model, q: Scalars, v: Scalars, a: Scalars, tau: Scalars, known: Sequence[bool], wrenches: Wrenches = None
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the joint forces and the acceleration of the base when the joints accelerate with ``a``, O(n).

    Khalil (2010), section 7.2. Link 0, the base, is the first body of the model, tau_0 the wrench on it, its entries of
    ``tau``, zero unless something drives it. JJc_j and betac_j are those of the composite link j, which is link j with
    all it carries. Letters as in ``khalil_direct``, sums over the links k that link j carries:

      (89)   zeta_j  = gamma_j + qdd_j aa_j
      (90)   beta_j  = -f_ej - [jw_j x (jw_j x MS_j);  jw_j x (J_j jw_j)]
      (95)   JJc_j   = JJ_j + sum kT_j^T JJc_k kT_j
      (96)   betac_j = beta_j + sum kT_j^T (betac_k - JJc_k zeta_k)
      (97)   V'_0    = JJc_0^-1 (betac_0 + tau_0)
      (98)   V'_j    = jT_i V'_i + zeta_j
      (99)   f_j     = JJc_j V'_j - betac_j
      (100)  Gamma_j = f_j^T aa_j + Ia_j qdd_j

    The text at hand has jT_j for jT_i in (98) and a minus before the sum in (96), which is wrong for any sign of beta;
    beta_0 of the base itself starts (96). With gravity as acceleration, (97) gives V'_0 - g. The composite links are
    rigid, which makes this far cheaper than the direct model. The quantity adds the friction of (100).
    """
    base = model.freedoms(1)
    if not model.moving_base or any(is_known == (k in base) for k, is_known in enumerate(known)):
        raise UnsupportedError(
            "khalil_moving_inverse is for a moving base and joints that all have known accelerations",
            where=f"robot {model.name!r}",
            fix="khalil_hybrid takes any mix",
        )
    iTj, gamma, beta = velocity_terms(model, q, v, wrenches)                                                     # (90)
    JJc, zeta = {j: model.inertia(j) for j in gamma}, {}
    for j, i in model.inward():
        if i > 0:
            zeta[j] = gamma[j] + model.joint_motion(j, q, a)                                                     # (89)
            JJc[i] = JJc[i] + iTj[j].inertia_outward(JJc[j])                                                     # (95)
            beta[i] = beta[i] + iTj[j].force_outward(beta[j] - JJc[j] @ zeta[j])                                 # (96)

    Gamma, qdd = list(tau), list(a)
    Vd = {1: base_acceleration(model, JJc[1], beta[1], tau)}                                                     # (97)
    qdd[base.start : base.stop] = component_rates(true_acceleration(model, Vd[1], iTj[1]), model.joint_motion(1, q, v))
    for j, i in model.outward():
        if i > 0:
            (k,), (aa,) = model.freedoms(j), model.subspace(j, q)
            Vd[j] = iTj[j].motion_inward(Vd[i]) + zeta[j]                                                        # (98)
            f = JJc[j] @ Vd[j] - beta[j]                                                                         # (99)
            Gamma[k] = aa.dot(f) + model.joint(j).rotor_inertia * a[k]                                           # (100)
    return Gamma, qdd


def only_moving(model: Model) -> str:
    """Return why a method for a moving base does not suit a model; empty if it does."""
    return "" if model.moving_base else "it is for a moving base, and the base is fixed"


def only_moving_with_motors(model: Model) -> str:
    """Return why the inverse model does not suit a model; empty if it does."""
    rigid = all(joint.role == "active" for joint in model.joints_on_base)
    return only_moving(model) or ("" if rigid else "it is for joints with motors, and some are elastic or passive")


def base_acceleration(model: Model, JJ: Apparent, beta: Force, tau: Scalars) -> Motion:
    """Return V' with JJ V' = beta + the wrench tau on the base. Shifts are eliminated first, easy for a rigid body."""
    screws = dict(reversed([*enumerate(FLOATING.subspace(model.joint(1), ()))]))
    matrix = [[one.dot(JJ @ other) for other in screws.values()] for one in screws.values()]
    values = ldl.solve(*ldl.factor(matrix), [screw.dot(beta) + tau[k] for k, screw in screws.items()])
    return total(screw * value for screw, value in zip(screws.values(), values, strict=True))


def true_acceleration(model: Model, Vd: Motion, wT0: Pose) -> Motion:
    """Return V'_0 from V'_0 - g."""
    return Motion(Vd.linear + wT0.inward(model.gravity), Vd.angular)


def point_acceleration(rates: Motion, velocity: Motion) -> Motion:
    """Return Khalil's V' (acceleration of the frame's origin, in the frame's axes) from linkwork's acceleration (rates
    of the components of the velocity): V' = a + w x V. The angular part is the same in both."""
    return Motion(rates.linear + velocity.angular.cross(velocity.linear), rates.angular)


def component_rates(point: Motion, velocity: Motion) -> Motion:
    """Return linkwork's acceleration (rates of the components of the velocity) from Khalil's V' (acceleration of the
    frame's origin, in the frame's axes): a = V' - w x V. The angular part is the same in both."""
    return Motion(point.linear - velocity.angular.cross(velocity.linear), point.angular)
