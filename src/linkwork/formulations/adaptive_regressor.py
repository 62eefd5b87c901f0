"""The regressor with a reference velocity, for adaptive control."""

from __future__ import annotations

from ..errors import UnsupportedError
from ..model import ELEMENTS, Model
from ..scalar import Scalar, Scalars
from ..spatial import Inertia, Motion, Vector
from .coriolis import gyroscopic
from .regressor import Columns, standard_parameters


def adaptive_regressor(
    model: Model, q: Scalars, v: Scalars, v_ref: Scalars, a_ref: Scalars, *, columns: Columns | None = None
) -> list[list[Scalar]]:
    """Y with M a_ref + C v_ref + g = Y theta, where Mdot - 2 C is skew-symmetric.

    Slotine & Li (1987), "On the adaptive control of robot manipulators". Bodies outward, with the twist V_r and the
    acceleration A_r that the reference would give at the actual velocities, as in ``coriolis_matrix``:

      (1)  V_r = X V_rp + S v_ref
      (2)  A_r = X A_rp - vJ x X V_rp + S a_ref + Sd v_ref,   A_r0 = -g
      (3)  f = I A_r + B(w) V_r,  linear in the ten parameters of the body

    each column of which is carried inward:

      (4)  Y_ji = S_j . f
      (5)  Y_jj = a_ref of the rotor inertia IA
    """
    if model.constrained or any(joint.kind.modes for joint in model.coordinates.joints):
        message = "the regressor with a reference velocity is made for trees of rigid links"
        raise UnsupportedError(message, where=f"robot {model.name!r}", fix="regressor is made for every robot")
    parameters = standard_parameters(model, ("IA",)) if columns is None else columns.columns
    q, v, v_ref, a_ref = model.expand(q), model.expand_rates(v), model.expand_rates(v_ref), model.expand_rates(a_ref)
    X, w, V, A = {}, {0: Vector()}, {0: Motion()}, {0: Motion(-model.gravity)}
    for i, p in model.outward():
        X[i], joint = model.transform(i, q), model.joint_motion(i, q, v)
        w[i] = X[i].inward(w[p]) + joint.angular
        carried = X[i].motion_inward(V[p])
        V[i] = carried + model.joint_motion(i, q, v_ref)                                                   # (1)
        rates = zip(model.freedoms(i), model.subspace_rates(i, q, v), strict=True)
        drift = sum((S * v_ref[k] for k, S in rates), start=Motion())
        A[i] = X[i].motion_inward(A[p]) + joint.cross(carried) * -1 + model.joint_motion(i, q, a_ref) + drift  # (2)
    Y = []
    for i, element, _ in parameters:
        column: list[Scalar] = [0] * model.n_tree
        if element == "IA":
            for k in model.freedoms(i):
                column[k] = a_ref[k]                                                                       # (5)
        else:
            unit = Inertia.of([int(name == element) for name in ELEMENTS])
            pose = model.link_pose(i)
            inertia = pose.inertia_outward(unit)  # parameters are those of the user's links
            f = inertia @ A[i] + gyroscopic(inertia, w[i], V[i])                                           # (3)
            for j in (i, *model.ancestors(i)):
                for k, S in zip(model.freedoms(j), model.subspace(j, q), strict=True):
                    column[k] = S.dot(f)                                                                   # (4)
                if model.body(j).parent > 0:
                    f = X[j].force_outward(f)
        Y.append(model.collect(column))
    return [list(row) for row in zip(*Y, strict=True)]
