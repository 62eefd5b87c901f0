"""Khalil & Kleinfinger's Newton-Euler for trees: the fewest inertia parameters, moments by entries of the matrix U."""

from __future__ import annotations

from ...model import Model, grouped
from ...scalar import Scalar, Scalars
from ...spatial import Force, Matrix, Vector, Z
from ..method import Wrenches
from ..rnea import acceleration_matrix, rate_of_spin
from .inverse import sigmas


def khalil_kleinfinger(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces for joint accelerations ``a`` at state ``(q, v)``, O(n).

    Khalil & Kleinfinger (1987): modified Denavit-Hartenberg frames, base inertial parameters, the matrix U of a body's
    accelerations, nothing computed that is known to be zero. Equations are numbered here, in the letters of Khalil's
    paper of 2010, z = (0, 0, 1), sigma_j = 0 and sigmabar_j = 1 for a revolute joint, 1 and 0 for a prismatic one:

      (1)  jw_i  = jR_i iw_i,   jw_j = jw_i + sigmabar_j qd_j z
      (2)  jw'_j = jR_i iw'_i + sigmabar_j (jw_i x qd_j z + qdd_j z)
      (3)  jV'_j = jR_i (iV'_i + iU_i iP_j) + sigma_j (2 jw_i x qd_j z + qdd_j z)
      (4)  jU_j  = hat(jw'_j) + hat(jw_j) hat(jw_j)
      (5)  jF_j  = M_j jV'_j + jU_j MS_j
      (6)  jM_j  = J_j jw'_j + jw_j x (J_j jw_j) + MS_j x jV'_j, products of inertia times entries of U
      (7)  if_i += iR_j jf_j,   im_i += iR_j jm_j + iP_j x iR_j jf_j,   one elementary screw after the other
      (8)  Gamma_j = (sigma_j jf_j + sigmabar_j jm_j)^T z + Ia_j qdd_j

    M, MS and J are grouped here, also if the caller did not: behind a revolute joint M, MS_z and J_yy vanish,
    behind a prismatic one J. ``shared_axes`` goes further.
    """
    model, applied = grouped(model), wrenches or {}
    iTj, f = {}, {}
    w, wd, Vd, U = {0: Vector()}, {0: Vector()}, {0: -model.gravity}, {0: Matrix.zero()}
    for j, i in model.outward():
        iTj[j] = model.transform(j, q)
        jR_i, iP_j = iTj[j].inward, iTj[j].origin
        sigma, sigmabar = sigmas(model, j)
        (k,) = model.freedoms(j)
        qd, qdd = v[k] * Z, a[k] * Z
        jw_i = jR_i(w[i])
        w[j] = jw_i + sigmabar * qd                                                                               # (1)
        wd[j] = jR_i(wd[i]) + sigmabar * (jw_i.cross(qd) + qdd)                                                   # (2)
        Vd[j] = jR_i(Vd[i] + U[i] @ iP_j) + sigma * (2 * jw_i.cross(qd) + qdd)                                    # (3)
        U[j] = acceleration_matrix(w[j], wd[j])                                                                   # (4)
        M, MS, J = model.inertia(j).mass, model.inertia(j).h, model.inertia(j).J
        F_j = M * Vd[j] + U[j] @ MS                                                                               # (5)
        M_j = rate_of_spin(J, w[j], wd[j], U[j]) + MS.cross(Vd[j])                                                # (6)
        f[j] = Force(F_j, M_j) - applied.get(j, Force())

    Gamma: list[Scalar] = [0] * model.n_tree
    for j, i in model.inward():
        sigma, sigmabar = sigmas(model, j)
        (k,) = model.freedoms(j)
        Gamma[k] = (sigma * f[j].linear + sigmabar * f[j].angular).dot(Z) + model.joint(j).rotor_inertia * a[k]   # (8)
        if i > 0:
            f[i] = f[i] + iTj[j].force_outward(f[j])                                                              # (7)
    return Gamma
