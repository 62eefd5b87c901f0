"""Recursive Newton-Euler in body coordinates, with three-vectors and the acceleration matrix U."""

from __future__ import annotations

from ..model import Model
from ..scalar import Scalar, Scalars
from ..spatial import Force, Matrix, Symmetric, Vector
from .method import Wrenches


def rnea(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces for joint accelerations ``a`` at state ``(q, v)``, O(n).

    Luh, Walker & Paul (1980) in the form of Khalil (2010). R and p are the rotation and position of body i in its
    parent; the subscript p means the parent. (vJ, wJ) and (aJ, eJ) are the joint's own velocity and acceleration.
    J and h = m c are about the origin of the body's frame.
    Equations are numbered here:

      (1)  w_i  = R^T w_p + wJ
      (2)  wd_i = R^T wd_p + (R^T w_p) x wJ + eJ
      (3)  vd_i = R^T (vd_p + U_p p) + 2 (R^T w_p) x vJ + wJ x vJ + aJ
      (4)  U_i  = [wd_i x] + [w_i x][w_i x]
      (5)  F_i  = m vd_i + U_i h - force applied to the body
      (6)  N_i  = J wd_i + w_i x (J w_i) + h x vd_i - moment applied to the body
      (7)  f_p += R f_i,   n_p += R n_i + p x R f_i
      (8)  tau_i = the joint's share of (f_i, n_i) + Ia a_i

    (aJ, eJ) includes the rate of the joint's own subspace, where it changes (a universal joint). Gravity is
    the acceleration -g of the ground. No linear velocity is needed but that of the joint.
    """
    applied = wrenches or {}
    X, w, wd, vd, U, f = {}, {0: Vector()}, {0: Vector()}, {0: -model.gravity}, {0: Matrix.zero()}, {}
    for i, p in model.outward():
        X[i] = model.transform(i, q)
        joint_v = model.joint_motion(i, q, v)
        joint_a = model.joint_motion(i, q, a) + model.joint_drift(i, q, v)
        vJ, wJ = joint_v.linear, joint_v.angular
        carried = X[i].inward(w[p])
        w[i] = carried + wJ                                                                              # (1)
        wd[i] = X[i].inward(wd[p]) + carried.cross(wJ) + joint_a.angular                                 # (2)
        vd[i] = X[i].inward(vd[p] + U[p] @ X[i].origin) + (2 * carried + wJ).cross(vJ) + joint_a.linear  # (3)
        U[i] = acceleration_matrix(w[i], wd[i])                                                          # (4)
        m, h, J = model.inertia(i).mass, model.inertia(i).h, model.inertia(i).J
        F = m * vd[i] + U[i] @ h
        N = rate_of_spin(J, w[i], wd[i], U[i]) + h.cross(vd[i])
        f[i] = Force(F, N) - applied.get(i, Force())                                                     # (5) (6)

    tau: list[Scalar] = [0] * model.n_tree
    for i, p in model.inward():
        for k, S in zip(model.freedoms(i), model.subspace(i, q), strict=True):
            tau[k] = S.dot(f[i]) + model.joint(i).rotor_inertia * a[k]                                   # (8)
        if p > 0:
            f[p] = f[p] + X[i].force_outward(f[i])                                                       # (7)
    return tau


def acceleration_matrix(w: Vector, wd: Vector) -> Matrix:
    """Return U = [wd x] + [w x][w x]: the point r of the body has acceleration vd + U r."""
    xx, yy, zz, xy, xz, yz = w.x * w.x, w.y * w.y, w.z * w.z, w.x * w.y, w.x * w.z, w.y * w.z
    return Matrix(
        Vector(-(yy + zz), xy - wd.z, xz + wd.y),
        Vector(xy + wd.z, -(xx + zz), yz - wd.x),
        Vector(xz - wd.y, yz + wd.x, -(xx + yy)),
    )


def rate_of_spin(J: Symmetric, w: Vector, wd: Vector, U: Matrix) -> Vector:
    """Return J wd + w x (J w) in 15 multiplications; off-diagonal terms take entries of U (Khalil-Kleinfinger)."""
    (Uxx, Uxy, Uxz), (Uyx, Uyy, Uyz), (Uzx, Uzy, Uzz) = U.rows
    return Vector(
        J.xx * wd.x + (J.zz - J.yy) * (w.y * w.z) + J.xz * Uyx - J.xy * Uzx + J.yz * (Uyy - Uzz),
        J.yy * wd.y + (J.xx - J.zz) * (w.x * w.z) + J.xy * Uzy - J.yz * Uxy + J.xz * (Uzz - Uxx),
        J.zz * wd.z + (J.yy - J.xx) * (w.x * w.y) + J.yz * Uxz - J.xz * Uyz + J.xy * (Uxx - Uyy),
    )
