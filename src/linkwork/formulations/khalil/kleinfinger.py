"""Newton-Euler organised for the fewest operations: Khalil & Kleinfinger's frames, parameters and matrix U."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Joint, Model
from ...scalar import Scalar, is_zero
from ...spatial import Force, Inertia, Matrix, Symmetric, Transform, Vector, Z, pseudo_inertia
from ..method import Wrenches


def khalil_kleinfinger(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Wrenches = None,
) -> list[Scalar]:
    """Joint forces that give joint accelerations ``a`` at state ``(q, v)``, O(n).

    Khalil & Kleinfinger (1987): modified Denavit-Hartenberg frames, the fewest inertia parameters, the matrix U of a
    body's accelerations, nothing computed that is known to be zero. Equations are numbered here, in the letters of
    Khalil (2010), z = (0, 0, 1):

      (1)   jw_i  = jR_i iw_i,   jw_j = jw_i + sigmabar_j qd_j z
      (2)   jw'_z = (jR_i iw'_i)_z + sigmabar_j qdd_j
      (3)   u     = jR_i (iU_i iz_j)                            u is the last column of jU_j
      (4)   w'_x  = w_y w_z - u_y,   w'_y = u_x - w_x w_z
      (5)   jw'_j = jR_i iw'_i + jw_i x sigmabar_j qd_j z + sigmabar_j qdd_j z
      (6)   jU_j  = hat(jw'_j) + hat(jw_j) hat(jw_j)
      (7)   jV'_j = jR_i (iV'_i + iU_i (iP_j - r_j iz_j)) + r_j u + sigma_j (2 jw_i x qd_j z + qdd_j z)
      (8)   jF_j  = M_j jV'_j + jU_j MS_j
      (9)   jM_j  = vect(jU_j E_j) + MS_j x jV'_j
      (10)  if_i += iR_j jf_j,   im_i += iR_j jm_j + iP_j x iR_j jf_j,   one elementary screw after the other
      (11)  Gamma_j = (sigma_j jf_j + sigmabar_j jm_j)^T z + Ia_j qdd_j

    Three steps go further than the paper. Points on the axis of a revolute joint belong to both its bodies, so U_i and
    U_j agree on z_j: where that axis is a coordinate axis of frame i (alpha = 0, +-90, 180 deg), (3) and (4) turn a
    column of U_i and need no w x qd z; elsewhere (5) stands for (2)-(4). The shift r_j takes the same column (7). And
    the moments are taken by the second moments of mass E = tr(J) / 2 - J with E_zz grouped away in place of J_yy.

    The inertia parameters are grouped here, whatever the caller did to them. A floating base is link 1 on a joint of
    six freedoms, to which (1), (5), (7) and (11) apply with its own velocity and acceleration.
    """
    applied = wrenches or {}
    parameters = minimum_parameters(model)
    X, w, wd, Vd, U, f = {}, {0: Vector()}, {0: Vector()}, {0: -model.gravity}, {0: Matrix.zero()}, {}
    for j, i in model.outward():
        X[j], fixed = model.transform(j, q), Transform(*(screw.screw for screw in model.joint(j).placement))
        jR_i, iz_j = X[j].inward, fixed.outward(Z)
        own_v, own_a = model.joint_motion(j, v), model.joint_motion(j, a)
        jw_i = jR_i(w[i])
        w[j] = jw_i + own_v.angular                                                                           # (1)
        wd[j] = jR_i(wd[i]) + own_a.angular                                                                   # (2)
        ww = dyad(w[j])
        if revolute(model.joint(j)) and sum(is_zero(x) for x in iz_j) == 2:
            u = jR_i(U[i] @ iz_j)                                                                             # (3)
            wd[j] = Vector(ww.yz - u.y, u.x - ww.xz, wd[j].z)                                                 # (4)
        else:
            wd[j] = wd[j] + jw_i.cross(own_v.angular)                                                         # (5)
            u = Vector(ww.xz + wd[j].y, ww.yz - wd[j].x, -(ww.xx + ww.yy))
        M, MS, E = parameters[j]
        U[j] = body_matrix(ww, wd[j], u, E)                                                                   # (6)
        planar = is_zero(U[i].rows[2].z)  # U_i has few entries, and takes all of P_j at the price of a part
        P, r = (X[j].origin, 0) if planar else (fixed.origin, X[j].screws[-1].t)
        own = (2 * jw_i + own_v.angular).cross(own_v.linear) + own_a.linear
        Vd[j] = jR_i(Vd[i] + U[i] @ P) + r * u + own                                                          # (7)
        F = M * Vd[j] + U[j] @ MS                                                                             # (8)
        N = vect(U[j], E, ww, wd[j]) + MS.cross(Vd[j])                                                        # (9)
        f[j] = Force(F, N) - applied.get(j, Force())

    Gamma: list[Scalar] = [0] * model.n_tree
    for j, i in model.inward():
        for k, S in zip(model.freedoms(j), model.subspace(j), strict=True):
            Gamma[k] = S.dot(f[j]) + model.joint(j).rotor_inertia * a[k]                                      # (11)
        if i > 0:
            f[i] = f[i] + X[j].force_outward(f[j])                                                            # (10)
    return Gamma


def revolute(joint: Joint) -> bool:
    return not (joint.prismatic or joint.floating)


def minimum_parameters(model: Model) -> dict[int, tuple[Scalar, Vector, Symmetric]]:
    """M, MS and E of every link, after what its joint cannot tell from the link before has been moved there.

    Behind a revolute joint M, MS_z and E_zz vanish, behind a prismatic joint E. Where the mass is spread alike in x and
    y, E_zz = -E_yy is better: then J_xx = J_yy = 0, and no moment depends on w'_x and w'_y.
    """
    inertia = {j: model.inertia(j) for j, _ in model.outward()} | {0: Inertia()}
    kept, anywhere = {}, [0] * (model.n_tree + 1)
    for j, i in model.inward():
        M, MS, J = inertia[j].mass, inertia[j].h, inertia[j].J
        E, moved = pseudo_inertia(J), Inertia()
        if model.joint(j).prismatic:
            E, moved = Symmetric(), Inertia(0, Vector(), J)
        elif revolute(model.joint(j)):
            zz = -E.yy if is_zero(E.xx - E.yy) else 0
            moved = Inertia(M, Vector(0, 0, MS.z), Symmetric(E.zz - zz, 0, 0, E.zz - zz, 0, 0))
            M, MS, E = 0, Vector(MS.x, MS.y, 0), Symmetric(E.xx, E.xy, E.xz, E.yy, E.yz, zz)
        kept[j] = M, MS, E
        if i > 0:
            inertia[i] = inertia[i] + model.transform(j, anywhere).inertia_outward(moved)
    return kept


def dyad(w: Vector) -> Symmetric:
    return Symmetric(w.x * w.x, w.x * w.y, w.x * w.z, w.y * w.y, w.y * w.z, w.z * w.z)


def body_matrix(ww: Symmetric, wd: Vector, u: Vector, E: Symmetric) -> Matrix:
    """U from its last column. Where E_xz asks for U_xx - U_zz = xx - zz, that gives U_xx too and saves a square."""
    Uxx = -(ww.yy + ww.zz) if is_zero(E.xz) else u.z + (ww.xx - ww.zz)
    return Matrix(
        Vector(Uxx, ww.xy - wd.z, u.x),
        Vector(ww.xy + wd.z, -(ww.xx + ww.zz), u.y),
        Vector(ww.xz - wd.y, ww.yz + wd.x, u.z),
    )


def vect(U: Matrix, E: Symmetric, ww: Symmetric, wd: Vector) -> Vector:
    """J w' + w x (J w) = (A_zy - A_yz, A_xz - A_zx, A_yx - A_xy) with A = U E."""
    (Uxx, Uxy, Uxz), (Uyx, Uyy, Uyz), (Uzx, Uzy, Uzz) = U.rows
    return Vector(
        twist(E.yy, Uzy, E.zz, Uyz, ww.yz, wd.x) + Uzx * E.xy - Uyx * E.xz + (Uzz - Uyy) * E.yz,
        twist(E.zz, Uxz, E.xx, Uzx, ww.xz, wd.y) + Uxy * E.yz - Uzy * E.xy + (Uxx - Uzz) * E.xz,
        twist(E.xx, Uyx, E.yy, Uxy, ww.xy, wd.z) + Uyz * E.xz - Uxz * E.yz + (Uyy - Uxx) * E.xy,
    )


def twist(A: Scalar, plus: Scalar, B: Scalar, minus: Scalar, ww: Scalar, wd: Scalar) -> Scalar:
    """A plus - B minus, where plus = ww + wd and minus = ww - wd."""
    return A * plus - B * minus if is_zero(A) or is_zero(B) else (A - B) * ww + (A + B) * wd
