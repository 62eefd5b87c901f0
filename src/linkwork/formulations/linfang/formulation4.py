"""Formulation 4: as Formulation 1, with all vectors in the last frame (Fijany and Bejczy)."""

from __future__ import annotations

from collections.abc import Mapping

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Inertia, Matrix, Vector, Z
from .chain import Chain, Entries, complete, composite_bodies


def lin_fang_4(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the complete inertia matrix D(q) (Lin & Fang 1999, Table IV; Fijany & Bejczy 1990), vectors in E_n.

    With A_i from E_i to E_n, A_n = 1 and A_i = A_{i+1} R_{i+1}^T, the axes are u_i = A_i (0, 0, 1) and the arms
    s_{i+1} = A_i b_{i+1} + A_{i+1} (0, 0, d_{i+1}). The force of a composite body needs turning only once:

      (7)   f_ii = A_i (K*_i u_i x c^_i + K_i m^_i u_i) = f_ji for all j
      (8)   t_ii = A_i (K*_i J^_i u_i + K_i c^_i x u_i)
      (10)  t_ji = t_{j+1,i} + s_{j+1} x f_ii
      (11)  D_ji = u_j.(K*_j t_ji + K_j f_ii)

    The rotor inertia Ia is on the diagonal.
    """
    chain = Chain(model, q)
    return complete(model, formulation_4(chain, composite_bodies(model, chain)))


def formulation_4(chain: Chain, body: Mapping[int, Inertia]) -> Entries:
    """Return D_ji from the composite bodies."""
    n = chain.n
    A, s = {n: Matrix.identity()}, {}
    for i in range(n - 1, 0, -1):
        A[i] = Matrix(*(chain.outward(i + 1, row) for row in A[i + 1].rows))
        if i + 1 == n:
            s[n] = chain.reach(n, Vector())
        else:
            s[i + 1] = chain.turned(A[i], chain.b(i + 1)) + chain.turned(A[i + 1], Z * chain.d(i + 1))
    u = {i: A[i] @ Z for i in A}

    D: Entries = {}
    for i in range(1, n + 1):
        m, c, J = body[i].mass, body[i].h, body[i].J
        D[i, i] = m if chain.prismatic[i] else J.zz
        if i == 1:
            continue
        if chain.prismatic[i]:
            f, t = Vector(0, 0, m), Vector(c.y, -c.x, 0)
        else:
            f, t = Vector(-c.y, c.x, 0), Vector(J.xz, J.yz, J.zz)
        f = chain.turned(A[i], f)                                                              # (7)
        t = chain.turned(A[i], t)                                                              # (8)
        for j in range(i - 1, 0, -1):
            t = t + s[j + 1].cross(f)                                                          # (10)
            D[j, i] = u[j].dot(f if chain.prismatic[j] else t)                                 # (11)
    return D
