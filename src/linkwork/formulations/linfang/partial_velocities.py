"""Lin (1988): the inertia matrix from partial velocities, O(n^3)."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from .chain import Chain, Entries, complete


def lin_1988(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the inertia matrix D(q), complete and symmetric, O(n^3).

    It follows from the partial derivatives of the links' velocities with respect to the joint velocities (Lin 1988, as
    Lin 1991 describes it). Equations are numbered here.

    v_k and w_k are the velocity of the origin of E_k and the angular velocity of link k, in E_k; link inertias are
    about that origin, h the first moments:

      (1)  [dv_k/dqd_i, dw_k/dqd_i] = [v, w]_ki,   (0, 0, 1) along or about the axis at k = i, and from there
           v_ki = R_k^T (v_{k-1,i} + w_{k-1,i} x s_k),   w_ki = R_k^T w_{k-1,i}
      (2)  D_ji = sum_{k >= i} v_kj.(m_k v_ki + w_ki x h_k) + w_kj.(J_k w_ki + h_k x v_ki),   j <= i

    The rotor inertia Ia is on the diagonal.
    """
    chain = Chain(model, q)
    D: Entries = {}
    partial = {}
    for k in range(1, chain.n + 1):
        partial = {i: chain.X[k].motion_inward(partial[i]) for i in partial}                   # (1)
        partial[k] = model.subspace(k, q)[0]
        for i in partial:
            momentum = model.inertia(k) @ partial[i]
            for j in range(1, i + 1):
                D[j, i] = D.get((j, i), 0) + partial[j].dot(momentum)                          # (2)
    return complete(model, D)
