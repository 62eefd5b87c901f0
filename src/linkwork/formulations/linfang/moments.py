"""First moments and inertias of composite bodies from minimal linear combinations of inertia parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...scalar import Scalar
from ...spatial import Inertia, Symmetric, Transform, Vector, Z, crosses
from .chain import Chain
from .minimal import JointClasses, Minimal


@dataclass(frozen=True)
class Moments:
    """Moments ``body[i]`` of composite bodies for Formulations 1 and 2; ``t[i]`` = u_r.t_ii for r <= i < s."""

    classes: JointClasses
    body: Mapping[int, Inertia]
    t: Mapping[int, Scalar]


def composite_moments(chain: Chain, minimal: Minimal) -> Moments:
    """Return the moments of the composite bodies, by the recursion of Table VII of Lin & Fang (1999).

    l_i and V_i are the varying parts of c^_i and J^_i, l_n = 0, V_n = 0:

      (22)  c^_i = k_i + l_i
      (23)  J^_i = U_i + V_i
      (24)  l_i = K*_{i+1} R (c^_x, c^_y, l_z) + K_{i+1} R (l + (0, 0, m^ d))
      (34)  V_i = R X R^T - [b x][l_i x] - [l_i x][b x]
            X = V + (U with U_11 - U_22 for U_11, 0 for U_22) - [d x][(c^_x, c^_y, l_z) x] - [(c^_x, c^_y, l_z) x][d x]
      (35)  X = V - m^ [d x][d x] - [d x][c^ x] - [c^ x][d x]     translational i + 1

    All on the right is of joint and body i + 1. Before s, u_r^T V_i u_r takes the place of V_i:

      (39)  u_r^<s> = R_s^T u_r^<s-1>
      (55)  Y_33 = u_x (u_x X_11 + 2 u_y X_12) + u_y^2 X_22 + 2 u_z (u_x X_13 + u_y X_23) + u_z^2 X_33,   u = u_r^<s>
      (40)  V_33 = Y_33 + 2 {b - (b.u) u}.l_i,   u = u_r^<i>
            Y_33 = J^_33 rotational, V_33 + d {2 kappa_2 + w_z m^ d + 2 w.l} translational; w = (0, 0, 1) - u_z u
      (29)  t_ii = K*_i u_z J^_33 + K_i (kappa_1 - u_y l_x + u_x l_y)

    In print, l_x and l_y lack the factor 2 in (40), l_y has the other sign, and V_13 has Y_12 for Y_13 in Table VII.
    """
    n, r, s, u_r = chain.n, minimal.classes.r, minimal.classes.s, minimal.classes.u
    body = {i: Inertia(minimal.m[i]) for i in minimal.m}
    t = {}
    l, V, V33 = Vector(), Symmetric(), 0
    for i in range(n, s - 1, -1):
        k, d, b = minimal.k[i], chain.d(i), chain.b(i)
        if chain.prismatic[i]:
            m, md = minimal.m[i], minimal.m[i] * d
            c = k + l
            body[i] = Inertia(m, c)
            grow = d * (md + 2 * c.z)
            X = V + Symmetric(grow, 0, -d * c.x, grow, -d * c.y, 0)                            # (35)
            l = chain.outward(i, l + Z * md)
        else:
            c = Vector(k.x + l.x, k.y + l.y, 0)                                                # (22)
            J = V + minimal.U[i]                                                               # (23)
            body[i] = Inertia(0, c, J)
            grow = 2 * d * l.z
            X = J + Symmetric(grow, 0, -d * c.x, grow, -d * c.y, 0)
            l = chain.outward(i, Vector(c.x, c.y, l.z))                                        # (24)
        if i > s:
            V = similar(chain.X[i], X) + crosses(l, b)                                         # (34)
        else:
            u = chain.inward(s, u_r[s - 1])                                                    # (39)
            Y33 = (
                u.x * (u.x * X.xx + 2 * u.y * X.xy) + u.y * u.y * X.yy                         # (55)
                + 2 * u.z * (u.x * X.xz + u.y * X.yz) + u.z * u.z * X.zz
            )
            V33 = Y33 + _twice_across(b, u_r[s - 1]).dot(l)

    for i in range(s - 1, r - 1, -1):
        k, u = minimal.k[i], u_r[i]
        if chain.prismatic[i]:
            t[i] = minimal.kappa[i][0] + (u.x * l.y - u.y * l.x)                               # (29)
        else:
            c, J33 = Vector(k.x + l.x, k.y + l.y, 0), V33 + minimal.U[i].zz
            body[i] = Inertia(0, c, Symmetric(zz=J33))
            t[i] = u.z * J33
        if i == r:
            break
        d, b = chain.d(i), chain.b(i)
        if chain.prismatic[i]:
            md, w = minimal.m[i] * d, Z - u * u.z
            Y33 = V33 + d * (2 * minimal.kappa[i][1] + w.z * md + (w * 2).dot(l))
            l = chain.outward(i, l + Z * md)
        else:
            Y33 = J33
            l = chain.outward(i, Vector(c.x, c.y, l.z))
        V33 = Y33 + _twice_across(b, u_r[i - 1]).dot(l)                                        # (40)
    return Moments(minimal.classes, body, t)


def similar(X: Transform, J: Symmetric) -> Symmetric:
    """Return R J R^T in 18 multiplications and 14 additions (Lin & Fang 1999), a turn about z, then one about x:

      (47)  A_1 = C (J_11 - J_22) - 2 S J_12      (52) about x: the axes renamed, C and S of the other angle
      (48)  A_2 = C A_1                           (53)
      (41)  Y_11 = A_2 + J_22                     (42)
      (49)  Y_22 = J_11 - A_2                     (43)
      (50)  Y_12 = S A_1 + J_12                   (46)
      (54)  Y_13 = C J_13 - S J_23                (44)
      (51)  Y_23 = S J_13 + C J_23                (45)
    """
    for screw in reversed(X.screws):
        C, S = screw.c, screw.s
        if screw.axis == "x":
            J = Symmetric(J.yy, J.yz, J.xy, J.zz, J.xz, J.xx)
        A1 = C * (J.xx - J.yy) - 2 * (S * J.xy)                                                # (47)
        A2 = C * A1                                                                            # (48)
        J = Symmetric(
            A2 + J.yy,                                                                         # (41)
            S * A1 + J.xy,                                                                     # (50)
            C * J.xz - S * J.yz,                                                               # (54)
            J.xx - A2,                                                                         # (49)
            S * J.xz + C * J.yz,                                                               # (51)
            J.zz,
        )
        if screw.axis == "x":
            J = Symmetric(J.zz, J.xz, J.yz, J.xx, J.xy, J.yy)
    return J


def _twice_across(b: Vector, u: Vector) -> Vector:
    """Return twice the part of b that is orthogonal to the unit vector u."""
    return (b - u * b.dot(u)) * 2
