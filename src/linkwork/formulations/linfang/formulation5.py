"""Formulation 5: first moments about the frame before (Kawasaki, Murata and Kanzaki)."""

from __future__ import annotations

from collections.abc import Mapping

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Inertia, Vector, Z
from .chain import Chain, Entries, complete, composite_bodies
from .formulation1 import support


def lin_fang_5(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return the complete inertia matrix D(q) (Lin & Fang 1999, Table V and appendix B; Kawasaki et al. 1996).

    K* = 1 - K = 1 for rotational joints; the first step inward is made with the first moments h of (B3):

      (B5)   k_i = K*_i J^_i u_i
      (B6)   D_ii = K*_i u_i.k_i + K_i m^_i
      (B7)   f_{i-1,i} = -K*_i (h_i - m^_i s_i) x u_i + K_i m^_i u_i
      (B8)   t_{i-1,i} = K*_i (R_i k_i - f_{i-1,i} x s_i) + K_i h_i x u_i
      (B9)   f_ji = R_{j+1} f_{j+1,i}
      (B10)  t_ji = R_{j+1} t_{j+1,i} + s_{j+1} x f_ji
      (B11)  D_ji = u_j.(K*_j t_ji + K_j f_ji)

    Print has K_i in (B11), and in Table V a -f x s for translational i too.
    The rotor inertia Ia is on the diagonal.
    """
    chain = Chain(model, q)
    body = composite_bodies(model, chain)
    return complete(model, formulation_5(chain, body, moments_before(chain, body)))


def formulation_5(chain: Chain, body: Mapping[int, Inertia], h: Mapping[int, Vector]) -> Entries:
    """Return D_ji from the composite bodies and their first moments h."""
    D: Entries = {}
    for i in range(1, chain.n + 1):
        m, J = body[i].mass, body[i].J
        k = Vector(J.xz, J.yz, J.zz)                                                           # (B5)
        D[i, i] = m if chain.prismatic[i] else k.z                                             # (B6)
        if i == 1:
            continue
        u = chain.outward(i, Z)
        if chain.prismatic[i]:
            f = u * m                                                                          # (B7)
            t = h[i].cross(u)                                                                  # (B8)
        else:
            s = chain.s(i)
            f = u.cross(h[i] - s * m)
            t = chain.outward(i, k) - f.cross(s)
        D |= support(chain, i, i - 1, f, t)                                                    # (B9) (B10) (B11)
    return D


def moments_before(chain: Chain, body: Mapping[int, Inertia]) -> dict[int, Vector]:
    """Return the first moments of composite bodies i > 1 about the origin of E_{i-1}, in E_{i-1}:

      (B3)  h_i = R_i c^_i + m^_i s_i
    """
    return {i: chain.outward(i, body[i].h) + chain.s(i) * body[i].mass for i in range(2, chain.n + 1)}  # (B3)
