"""Horn & Raibert 1978, as Hollerbach 1980 states it: forces from coefficients G, J, C that depend on position alone."""

from __future__ import annotations

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Vector
from ..coriolis import gyroscopic
from ..method import Wrenches

Row = list[Scalar]
Grid = list[Row]
Cube = list[Grid]


def configuration_space(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces as polynomials of the rates, with coefficients by Horn & Raibert's configuration space.

    Hollerbach (1980); the paper does not number the equation:

      (1)  F_i = G_i(q) + sum_j J_ij(q) qdd_j + sum_j sum_k C_ijk(q) qd_j qd_k
    """
    return forces(*coefficients(model, q), v, a)


def forces(G: Row, J: Grid, C: Cube, v: Scalars, a: Scalars) -> list[Scalar]:
    """Return (1), by 2 n^3 + n^2 multiplications, from the coefficients."""
    n = range(len(G))
    inertial = [sum(J[i][j] * a[j] for j in n) for i in n]
    coriolis = [sum(C[i][j][k] * (v[j] * v[k]) for j in n for k in n) for i in n]
    return [G[i] + inertial[i] + coriolis[i] for i in n]                             # (1)


def coefficients(model: Model, q: Scalars) -> tuple[Row, Grid, Cube]:
    """Return G_i, J_ij and C_ijk = C_ikj of a serial chain at ``q``, rotor inertia on the diagonal of J, O(n^3).

    The paper leaves open where they come from. Here: Sj is the unit motion of joint j seen from body l, Ic_l the
    inertia of body l and all it carries. A point r of body l moves with vj + wj x r per unit of qd_j, and joint j turns
    what joint l moves at the rate wj x (vl + wl x r). So for all i, j <= l, with B(w) as in ``coriolis``:

      (2)  J_il = Si . Ic_l Sl
      (3)  C_ijl = Si . B_l(wj) Sl
      (4)  C_ljk = -C_kjl   for j <= k < l, because C_ijk = -C_kji for j <= min(i, k); and C_llj = 0
      (5)  G_l = -Sl . (Ic_l g)

    J_il and C_ijl do not depend on the joints up to the first of i, j, l.
    """
    n = range(model.n_bodies)
    G, J = [0 for _ in n], [[0 for _ in n] for _ in n]
    C = [[[0 for _ in n] for _ in n] for _ in n]
    X = {i: model.transform(i, q) for i, _ in model.outward()}
    Ic = {i: model.inertia(i) for i, _ in model.outward()}
    for l, p in model.inward():
        if p > 0:
            Ic[p] = Ic[p] + X[l].inertia_outward(Ic[l])

    S: list = []                                     # of joints 1 .. l in the frame of body l
    g: Vector = model.gravity
    for l, _ in model.outward():
        S, g = [X[l].motion_inward(s) for s in S] + model.subspace(l, q), X[l].inward(g)
        inertia, screw, to = Ic[l], S[-1], l - 1
        momentum = inertia @ screw
        for i, s in enumerate(S):
            J[i][to] = J[to][i] = s.dot(momentum)                                    # (2)
        J[to][to] = J[to][to] + model.joint(l).rotor_inertia
        for j, s in enumerate(S):
            force = gyroscopic(inertia, s.angular, screw)
            for i in range(to):
                C[i][j][to] = C[i][to][j] = S[i].dot(force)                          # (3)
        for k in range(to):
            for j in range(k + 1):
                C[to][j][k] = C[to][k][j] = -C[k][j][to]                             # (4)
        G[to] = -(screw.linear.dot(g * inertia.mass) + screw.angular.dot(inertia.h.cross(g)))  # (5)
    return G, J, C
