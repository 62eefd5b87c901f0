"""Lagrange's equations with angular velocities (Silver 1981), which lead to the recursion of Newton-Euler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Force, Matrix, Transform, Vector
from ..method import Wrenches
from ..rnea import acceleration_matrix, rate_of_spin


class LinkMotion(NamedTuple):
    """Motion of link i in the axes of its frame; vd is that of the frame's origin, a point r has vd + U r."""

    w: Vector
    wd: Vector
    vd: Vector
    U: Matrix


def silver(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces for joint accelerations ``a`` at state ``(q, v)``, O(n).

    Silver (1981), AIM-622: L = K - P with K = sum of m v^2/2 + w.I.w/2 over the links, put into Lagrange's equations,
    his (1.1), leaves the forces of Newton and Euler, projected on the partial velocities. z_j is the axis of joint j,
    and p_ji leads from it to link i:

      (3.11)  F_i = m_i vd_i,  N_i = I_i.wd_i + w_i x (I_i.w_i)
      (3.12)  tau_j = sum_i ( F_i . dv_i/dqd_j + N_i . dw_i/dqd_j )
      (3.13)  v_i = sum_j qd_j z_j x p_ji  (rotational j)  or  qd_j z_j  (translational j)
      (3.14)  w_i = sum_j qd_j z_j         (rotational j)  or  0
      (3.15)  dv_i/dqd_j = z_j x p_ji      (rotational j)  or  z_j
      (3.16)  dw_i/dqd_j = z_j             (rotational j)  or  0

    The joint's own pair (dv_j/dqd_j, dw_j/dqd_j) is ``model.subspace(j)``. Taken out of the sums (3.12) it leaves
    tau_j = z_j . sum (p_ji x F_i + N_i), or z_j . sum F_i, sums that are collected from the tip to the base.

    As Silver leaves open, v_i is the velocity of any point of link i: here of the origin of its frame, in its axes, so
    that first moments h = m c stand for centres of mass and links may have no mass. Then F_i = m vd_i + U_i h and N_i,
    about the origin, has h x vd_i besides. Gravity is the acceleration of the base: -g, g being that of a free fall
    (the memo says "equal to that due to gravity", which has the wrong sign); ``silver_potential`` has it in P.

    A force on link i is that of a further link fixed to it, whose motion needs that force: what the link exerts on its
    environment is added to F_i, so ``wrenches``, exerted by the environment, are subtracted. Friction is the same for
    every formulation, so the quantity adds it.
    """
    return generalized_forces(model, q, a, link_forces(model, link_motions(model, q, v, a, -model.gravity), wrenches))


def silver_potential(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces as ``silver`` does, with gravity in the potential energy P = -sum m_i g . r_i.

    r_i is the centre of mass of link i.

    As dr_i/dq_j = dv_i/dqd_j (A.1), dP/dq_j adds -m_i g to F_i of the centre of mass, so -h x g to N_i.
    """
    forces = link_forces(model, link_motions(model, q, v, a, Vector()), wrenches)
    g = model.gravity
    for i in range(1, model.n_bodies + 1):
        g = model.transform(i, q).inward(g)
        forces[i] = forces[i] - Force(model.inertia(i).mass * g, model.inertia(i).h.cross(g))
    return generalized_forces(model, q, a, forces)


def silver_sums(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces as ``silver`` does, with the sums (3.12) as printed and no recursion, O(n^2)."""
    forces = link_forces(model, link_motions(model, q, v, a, -model.gravity), wrenches)
    tau = [model.joint(j).rotor_inertia * a[j - 1] for j in range(1, model.n_bodies + 1)]
    partial = {}                                # j -> (dv_i/dqd_j, dw_i/dqd_j), carried on from link to link
    for i in range(1, model.n_bodies + 1):
        X = model.transform(i, q)
        partial = {j: X.motion_inward(column) for j, column in partial.items()}
        (partial[i],) = model.subspace(i, q)
        for j in partial:
            tau[j - 1] = tau[j - 1] + partial[j].dot(forces[i])                                          # (3.12)
    return tau


def link_motions(model: Model, q: Scalars, v: Scalars, a: Scalars, vd_0: Vector) -> dict[int, LinkMotion]:
    """Return the motions from the base, which accelerates with vd_0, to the tip: time derivatives of (3.13), (3.14)."""
    motion = {0: LinkMotion(Vector(), Vector(), vd_0, Matrix.zero())}
    for i in range(1, model.n_bodies + 1):
        X, before, qd, qdd = model.transform(i, q), motion[i - 1], v[i - 1], a[i - 1]
        (axis,) = model.subspace(i, q)
        dv = axis.linear                                                                                 # (3.15)
        dw = axis.angular                                                                                # (3.16)
        carried = X.inward(before.w)
        w = carried + qd * dw                                                                            # (3.14)
        wd = X.inward(before.wd) + carried.cross(qd * dw) + qdd * dw
        vd = X.inward(before.vd + before.U @ X.origin) + (2 * carried).cross(qd * dv) + qdd * dv         # (3.13)
        motion[i] = LinkMotion(w, wd, vd, acceleration_matrix(w, wd))
    return motion


def link_forces(model: Model, motion: Mapping[int, LinkMotion], wrenches: Wrenches = None) -> dict[int, Force]:
    """Return (F_i, N_i) of every link, about the origin of its frame."""
    applied, forces = wrenches or {}, {}
    for i in range(1, model.n_bodies + 1):
        (w, wd, vd, U), m, h, I = motion[i], model.inertia(i).mass, model.inertia(i).h, model.inertia(i).J
        F = m * vd + U @ h
        N = rate_of_spin(I, w, wd, U) + h.cross(vd)                                                      # (3.11)
        forces[i] = Force(F, N) - applied.get(i, Force())
    return forces


def generalized_forces(model: Model, q: Scalars, a: Scalars, forces: Mapping[int, Force]) -> list[Scalar]:
    """Return (3.12) from the tip to the base, with sums over i >= j collected; the rotors' Ia qdd is added."""
    n = model.n_bodies
    X = {j: model.transform(j, q) for j in range(1, n + 1)} | {n + 1: Transform()}
    tau: list[Scalar] = [0] * n
    total = Force()
    for j in range(n, 0, -1):
        total = forces[j] + X[j + 1].force_outward(total)
        (axis,) = model.subspace(j, q)
        tau[j - 1] = axis.dot(total) + model.joint(j).rotor_inertia * a[j - 1]                           # (3.12)
    return tau
