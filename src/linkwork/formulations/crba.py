"""Composite-rigid-body algorithm: the joint-space inertia matrix."""

from __future__ import annotations

from ..model import Model
from ..scalar import Scalar, Scalars


def crba(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the inertia matrix M(q), complete and symmetric, O(n d) for a tree of depth d.

    Walker & Orin (1982), method 3, in body coordinates about the frames' origins (Featherstone 2008, table 6.2).
    Equations are numbered here:

      (1)  Ic_p += X_i^T Ic_i X_i     inertia of body i and all it carries, moving as one
      (2)  F = Ic_i S_i               force that accelerates that composite body by the joint's unit motion
      (3)  M_ij = S_j^T F             for the joint itself and every joint j that carries it, F moved to frame j

    The rotor inertia Ia is on the diagonal.
    """
    X = {i: model.transform(i, q) for i, _ in model.outward()}
    S = {i: model.subspace(i, q) for i, _ in model.outward()}
    Ic = {i: model.inertia(i) for i, _ in model.outward()}
    M: list[list[Scalar]] = [[0] * model.n_tree for _ in range(model.n_tree)]
    for i, p in model.inward():
        for k, screw in zip(model.freedoms(i), S[i], strict=True):
            F = Ic[i] @ screw                                                        # (2)
            for j in (i, *model.ancestors(i)):
                for m, other in zip(model.freedoms(j), S[j], strict=True):
                    M[k][m] = M[m][k] = other.dot(F)                                 # (3)
                if model.body(j).parent > 0:
                    F = X[j].force_outward(F)
            M[k][k] = M[k][k] + model.joint(i).rotor_inertia
        if p > 0:
            Ic[p] = Ic[p] + X[i].inertia_outward(Ic[i])                              # (1)
    return M
