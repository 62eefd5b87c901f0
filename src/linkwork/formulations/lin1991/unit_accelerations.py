"""The inertia matrix column by column, each by Newton-Euler with one joint accelerating."""

from __future__ import annotations

from dataclasses import replace

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Vector
from ..rnea import rnea


def inertia_matrix(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the complete inertia matrix M(q), O(n^2) (Walker & Orin 1982, method 1; Khalil 2010, section 3.3.1).
    Equations are numbered here:

      (1)  column k of M = the joint forces of Newton-Euler with a = e_k, v = 0, no gravity, no wrenches
      (2)  M_ik = M_ki

    Only the rows i >= k are taken from column k: the bodies before joint k rest, so they cost nothing.
    """
    n = model.n_tree
    weightless = replace(model, gravity=Vector())
    M: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for k in range(n):
        column = rnea(weightless, q, [0] * n, [int(i == k) for i in range(n)])                  # (1)
        for i in range(k, n):
            M[i][k] = M[k][i] = column[i]                                                          # (2)
    return M
