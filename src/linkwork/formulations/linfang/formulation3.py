"""Formulation 3: as Formulation 2, with the arms crossed by the axes (Renaud)."""

from __future__ import annotations

from collections.abc import Mapping

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Inertia, Vector, Z
from .chain import Chain, Entries, complete, composite_bodies


def lin_fang_3(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the complete inertia matrix D(q) (Lin & Fang 1999, Table III; Renaud 1984), all vectors in E_i:

      (21)  D_ji = K*_j K*_i {u_j.(J^_i u_i) + s^_j.(u_i x c^_i)} + K_j K*_i u_j.(u_i x c^_i)
                 + K*_j K_i {m^_i u_i.s^_j + u_j.(c^_i x u_i)} + K_j K_i m^_i u_j.u_i

    s^_j = u_j x (from the origin of E_j to that of E_i) obeys s^_j^<k> = R_k^T (s^_j^<k-1> + u_j^<k-1> x b_k)
    + u_j^<k> x (0, 0, d_k), from s^_j^<j> = 0. Table III has s for s^ there, the other sign before c^ for
    translational i, and a vector for the scalar s^_j.(u_i x c^_i). The rotor inertia Ia is on the diagonal.
    """
    chain = Chain(model, q)
    return complete(model, formulation_3(chain, composite_bodies(model, chain)))


def formulation_3(chain: Chain, body: Mapping[int, Inertia]) -> Entries:
    """Return D_ji from the composite bodies."""
    D: Entries = {}
    u, s_hat = {}, {}
    for i in range(1, chain.n + 1):
        b, d = chain.b(i), Z * chain.d(i)
        arm = {j: chain.inward(i, s_hat[j] + u[j].cross(b)) for j in s_hat}
        u = {j: chain.inward(i, u[j]) for j in u}
        s_hat = {j: arm[j] + u[j].cross(d) for j in arm}

        m, c, J = body[i].mass, body[i].h, body[i].J
        e, a = Vector(-c.y, c.x, 0), Vector(J.xz, J.yz, J.zz)
        D[i, i] = m if chain.prismatic[i] else J.zz
        for j in range(1, i):
            if chain.prismatic[i]:
                D[j, i] = m * u[j].z if chain.prismatic[j] else m * s_hat[j].z - u[j].dot(e)   # (21)
            else:
                D[j, i] = u[j].dot(e) if chain.prismatic[j] else u[j].dot(a) + s_hat[j].dot(e)
        u[i] = Z
        if not chain.prismatic[i]:
            s_hat[i] = Vector()
    return D
