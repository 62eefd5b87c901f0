"""Formulation 2: axes and arms of the carrying joints in the frame of the composite body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Inertia, Vector, Z
from .chain import Chain, Entries, complete, composite_bodies
from .minimal import minimal_combinations
from .moments import Moments, composite_moments

Vectors = Mapping[int, Vector]  # by joint


def lin_fang_2(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the inertia matrix D(q), complete and symmetric (Lin & Fang 1999, Table II).

    u_j is the axis of joint j, s its arm from the origin of E_j to that of E_i, all in E_i. K* = 1 - K = 1 for
    rotational joints:

      (20)  D_ji = K*_j K*_i u_j.(J^_13 - c^_x s_z, J^_23 - c^_y s_z, J^_33 + c^_x s_x + c^_y s_y)
                 + K_j K*_i u_j.(u_i x c^_i)
                 + K*_j K_i u_j.(m^_i s_y + c^_y, -m^_i s_x - c^_x, 0)
                 + K_j K_i m^_i (u_j)_z

    The rotor inertia Ia is on the diagonal.
    """
    chain = Chain(model, q)
    return complete(model, formulation_2(chain, composite_bodies(model, chain)))


def formulation_2(chain: Chain, body: Mapping[int, Inertia]) -> Entries:
    """Return D_ji from the composite bodies."""
    D: Entries = {}
    for i, u, s in axes_and_arms(chain):
        D |= column(chain, i, body[i], u, s)
    return D


def axes_and_arms(chain: Chain) -> Iterator[tuple[int, Vectors, Vectors]]:
    """Yield for every i: i, the axes u_j for j < i, and the arms s_j for rotational j < i, all in E_i.

    u_j^<k> = R_k^T u_j^<k-1> and s_j^<k> = R_k^T (s_j^<k-1> + b_k) + (0, 0, d_k), from (0, 0, 1) and 0 at k = j.
    """
    u, s = {}, {}
    for i in range(1, chain.n + 1):
        u = {j: chain.inward(i, u[j]) for j in u}
        s = {j: chain.reach(i, s[j]) for j in s}
        yield i, u, s
        u[i] = Z
        if not chain.prismatic[i]:
            s[i] = Vector()


def column(chain: Chain, i: int, body: Inertia, u: Vectors, s: Vectors) -> Entries:
    """Return D_ji for j <= i."""
    m, c, J = body.mass, body.h, body.J
    D: Entries = {(i, i): m if chain.prismatic[i] else J.zz}
    for j in u:
        if chain.prismatic[i]:
            D[j, i] = (
                m * u[j].z if chain.prismatic[j]                                               # (20)
                else u[j].x * (m * s[j].y + c.y) - u[j].y * (m * s[j].x + c.x)
            )
        elif chain.prismatic[j]:
            D[j, i] = u[j].y * c.x - u[j].x * c.y
        else:
            D[j, i] = u[j].dot(
                Vector(J.xz - c.x * s[j].z, J.yz - c.y * s[j].z, J.zz + c.x * s[j].x + c.y * s[j].y)
            )
    return D


def lin_fang_2_minimal(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the inertia matrix D(q) by Formulation 2, from minimal linear combinations of inertia parameters alone
    (Lin & Fang 1999, section 3 and Table VII).

    Joint r is the first rotational one, s the first not parallel to it. (20) holds from s on; before:

      (32)  D_ji = K*_j K*_i (u_j)_z {J^_33 + delta_i (c^_x s_x + c^_y s_y)}
                 + K_j K*_i delta_i u_j.(u_i x c^_i)
                 + K*_j K_i {u_j.(m^_i s_y, -m^_i s_x, 0) + (u_r^<j>)_z u_r.t_ii}
                 + K_j K_i m^_i (u_j)_z,   j <= i < s

    u_r.t_ii is (29), which :class:`Moments` has. delta_i = 0 where the first moments of body i have no effect.
    The rotor inertia Ia is on the diagonal.
    """
    chain = Chain(model, q)
    return complete(model, formulation_2_minimal(chain, composite_moments(chain, minimal_combinations(model))))


def formulation_2_minimal(chain: Chain, moments: Moments) -> Entries:
    """Return D_ji from the moments of the composite bodies."""
    classes = moments.classes
    D: Entries = {}
    for i, u, s in axes_and_arms(chain):
        if i >= classes.s:
            D |= column(chain, i, moments.body[i], u, s)
            continue
        m, c, J = moments.body[i].mass, moments.body[i].h * classes.delta.get(i, 0), moments.body[i].J
        D[i, i] = m if chain.prismatic[i] else J.zz
        for j in u:
            if chain.prismatic[i]:
                D[j, i] = (
                    m * u[j].z if chain.prismatic[j]                                           # (32)
                    else m * (u[j].x * s[j].y - u[j].y * s[j].x) + classes.u[j].z * moments.t[i]
                )
            elif chain.prismatic[j]:
                D[j, i] = u[j].y * c.x - u[j].x * c.y
            else:
                D[j, i] = classes.u[j].z * classes.u[i].z * (J.zz + c.x * s[j].x + c.y * s[j].y)
    return D
