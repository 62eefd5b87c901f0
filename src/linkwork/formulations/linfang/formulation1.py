"""Formulation 1: forces of composite bodies, carried from frame to frame."""

from __future__ import annotations

from collections.abc import Mapping

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Inertia, Vector
from .chain import Chain, Entries, complete, composite_bodies
from .minimal import minimal_combinations
from .moments import Moments, composite_moments


def lin_fang_1(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the inertia matrix D(q), complete and symmetric (Lin & Fang 1999, Table I; Lilly & Orin 1991, method IV).

    Joint i alone accelerates by one and moves composite body i by the force f and the torque t; D_ji is the share of
    joint j that carries them. K* = 1 - K = 1 for rotational joints, u_i = (0, 0, 1) in E_i:

      (7)   f_ii = K*_i u_i x c^_i + K_i m^_i u_i
      (8)   t_ii = K*_i J^_i u_i + K_i c^_i x u_i
      (9)   f_ji = R_{j+1} f_{j+1,i}
      (10)  t_ji = R_{j+1} t_{j+1,i} + s_{j+1} x f_ji
      (11)  D_ji = u_j.(K*_j t_ji + K_j f_ji)

    (10) is done as R (t + d x f) + b x R f, which is (18). Joint 1 needs only one of f and t.
    The rotor inertia Ia is on the diagonal.
    """
    chain = Chain(model, q)
    return complete(model, formulation_1(chain, composite_bodies(model, chain)))


def formulation_1(chain: Chain, body: Mapping[int, Inertia], first: int = 1) -> Entries:
    """Return D_ji for i >= first from the composite bodies."""
    D: Entries = {}
    for i in range(first, chain.n + 1):
        m, c, J = body[i].mass, body[i].h, body[i].J
        if chain.prismatic[i]:
            f = Vector(0, 0, m)                                                                # (7)
            t = Vector(c.y, -c.x, 0)                                                           # (8)
        else:
            f = Vector(-c.y, c.x, 0)
            t = Vector(J.xz, J.yz, J.zz)
        D |= support(chain, i, i, f, t)
    return D


def support(chain: Chain, i: int, j: int, f: Vector, t: Vector) -> Entries:
    """Return D_ji, D_{j-1,i}, ..., D_1i from f_ji and t_ji."""
    D: Entries = {(j, i): (f if chain.prismatic[j] else t).z}                                  # (11)
    while j > 1:
        j -= 1
        if j > 1:
            f, t = chain.force_outward(j + 1, f, t)                                            # (9)
        elif chain.prismatic[1]:
            f = chain.outward(2, f)
        else:
            t = chain.outward(2, t + chain.s_2.cross(f))                                       # (10)
        D[j, i] = (f if chain.prismatic[j] else t).z
    return D


def lin_fang_1_minimal(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the inertia matrix D(q) by Formulation 1, from minimal linear combinations of inertia parameters alone
    (Lin & Fang 1999, section 3 and Table VII).

    Joint r is the first rotational one, s the first not parallel to it. From s on, Table I holds. A body before s is
    carried by joints parallel to u_r, so only the torque about u_r is needed, t = u_r.t_ji; before r, none:

      (29)  t_ii = u_r.t_ii, which :class:`Moments` has
      (30)  t_ji = t_{j+1,i} + u_r.(s_{j+1} x f_ji)
      (31)  D_ji = K*_j (u_r^<j>)_z t_ji + K_j u_j.f_ji

    (30) is missing from the scan; (31) has (u_r^<i>)_z in print. The rotor inertia Ia is on the diagonal.
    """
    chain = Chain(model, q)
    return complete(model, formulation_1_minimal(chain, composite_moments(chain, minimal_combinations(model))))


def formulation_1_minimal(chain: Chain, moments: Moments) -> Entries:
    """Return D_ji from the moments of the composite bodies."""
    r, s, u = moments.classes.r, moments.classes.s, moments.classes.u
    D = formulation_1(chain, moments.body, first=s)
    for i in range(1, s):
        m, c = moments.body[i].mass, moments.body[i].h
        f = Vector(0, 0, m) if chain.prismatic[i] else Vector(-c.y, c.x, 0)
        t = moments.t.get(i, 0)                                                                # (29)
        for j in range(i, 0, -1):
            if j < i:
                f = chain.outward(j + 1, f)
                t = t + u[j].cross(chain.s(j + 1)).dot(f) if j >= r else t                     # (30)
            D[j, i] = f.z if chain.prismatic[j] else u[j].z * t                                # (31)
    return D
