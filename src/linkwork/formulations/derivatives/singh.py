"""Slopes of inverse dynamics in closed form: Singh, Russell and Wensing's, in Khalil's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...model import Model
from ...scalar import Scalar
from ...spatial import Force, Inertia, Matrix, Motion, Symmetric, Transform, Vector
from ...spatial.vectors import outer
from ..method import Wrenches
from ..rnea import acceleration_matrix
from ..shared_axes import Moving, Own, second_moments, wrench
from .level import working_frames

Rows = list[list[Scalar]]


def singh_russell_wensing(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Wrenches = None,
) -> tuple[list[Scalar], Rows, Rows, Rows]:
    """tau, dtau/dq, dtau/dv and M, O(n d) for a tree of depth d.

    Singh, Russell & Wensing (2022). Joint j has the unit motions S_j = (l, e), linear and angular part. Their rates of
    first and second order, if the links before j move and j does not, are

      (1)  Sd_j  = V x S_j                    = (w x l + v x e, w x e)
      (2)  Sdd_j = V' x S_j + V x (V x S_j)   = (U l + V' x e + 2 v x (w x e), U e)

    with velocity v, w, acceleration V' (and -g of the ground) and the matrix U = hat(w') + hat(w) hat(w) of the link
    before, at the joint. A composite body, of link i and all it carries, has the inertia I_i and the wrench f_i that
    moves it; of its velocity field u only

      (3)  K_i = integral of u r^T dm,   p_i = integral of u dm

    matters: with the operator B_i, which gives the wrench of the field e x u,

      (4)  B_i S = (e x p_i, (tr K_i) e - K_i e)
      (5)  dtau_i/dq_j = S_i . (I_i Sdd_j + 2 B_i Sd_j)                  for all j that carry i, and i itself
      (6)  dtau_j/dq_i = S_j . (I_i Sdd_i + 2 B_i Sd_i + S_i x* f_i)     for all j that carry i
      (7)  dtau_i/dv_j = S_i . (I_i (Sd_j + V_j x S_j) + 2 B_i S_j)
      (8)  dtau_j/dv_i = S_j . (I_i (Sd_i + V_i x S_i) + 2 B_i S_i)
      (9)  M_ij = S_i . I_i S_j

    I by second moments E, which K shares: K = v MS^T + hat(w) E of one link. (5) and (7) are computed from the other
    side, by I_i S_i and the transpose of B_i. Frames are those of ``level``, parameters those of ``shared_axes``. The
    freedoms of a joint move its body together, and then (6) is not for two of the same joint; those of a ``successive``
    one (universal) are joints of their own, with links of no mass between them. Wrenches keep to their bodies.
    """
    applied, parameters, level = wrenches or {}, second_moments(model), working_frames(model, q)
    at = {0: Moving(Vector(), Symmetric(), Vector(), -model.gravity, Matrix.zero())}
    velocity, f, I, K, p, S = {0: Vector()}, {}, {}, {}, {}, {}
    for j, i in model.outward():
        X, motions = level[j].X, model.subspace(j, q)
        own = Own(motions, model.joint_motion(j, q, v), model.joint_motion(j, q, a) + model.joint_drift(j, q, v))
        M, MS, E = level[j].constants(*parameters[j])
        at[j] = at[i].moved(level[j].fixed, X, own, E)
        carried = X.inward(velocity[i] + at[i].w.cross(X.origin))
        velocity[j] = carried + own.v.linear
        if len(motions) == 1:  # its own motion changes nothing in (1) and (2)
            S[j] = [Column.of(motions[0], at[j], velocity[j])]
        else:
            S[j] = list(columns(model, j, v, a, motions, at_joint(at[i], X), carried))
        given = applied.get(j, Force())
        f[j] = wrench(at[j], M, MS, E) - (level[j].own.force_outward(given) if level[j].own else given)
        I[j] = Inertia(M, MS, Symmetric(E.yy + E.zz, -E.xy, -E.xz, E.xx + E.zz, -E.yz, E.xx + E.yy))
        w2, v2 = 2 * at[j].w, 2 * velocity[j]  # twice K and p: so all of them are needed
        K[j] = outer(v2, MS) + Matrix(*(w2.cross(row) for row in E.rows)).T                             # (3)
        p[j] = M * v2 + w2.cross(MS)

    n = model.n_tree
    tau: list[Scalar] = [0] * n
    dq, dv, H = zeros(n), zeros(n), zeros(n)
    for i, parent in model.inward():
        successive = model.joint(i).kind.successive
        for k, s in zip(model.freedoms(i), S[i], strict=True):
            tau[k] = s.S.dot(f[i]) + model.joint(i).rotor_inertia * a[k]
            inertial = I[i] @ s.S
            of_v = I[i] @ s.twice + coriolis(K[i], p[i], s.S.angular)                                   # (8)
            alone = I[i] @ s.Sdd + coriolis(K[i], p[i], s.Sd.angular)
            of_q = alone + s.S.cross_force(f[i])                                                        # (6)
            transposed = p[i].cross(s.S.linear) + trace_less(K[i].T, s.S.angular)
            for m, other in zip(model.freedoms(i), S[i], strict=True):
                dq[m][k] = other.S.dot(of_q if successive and m < k else alone)
                dv[m][k] = other.S.dot(of_v)
                H[m][k] = other.S.dot(inertial)                                                         # (9)
            j = i
            while (j_next := model.body(j).parent) > 0:
                out = level[j].X.force_outward
                inertial, of_v, of_q = out(inertial), out(of_v), out(of_q)
                transposed, j = level[j].X.outward(transposed), j_next
                for m, other in zip(model.freedoms(j), S[j], strict=True):
                    dq[m][k], dv[m][k] = other.S.dot(of_q), other.S.dot(of_v)
                    dq[k][m] = other.Sdd.dot(inertial) + other.Sd.angular.dot(transposed)               # (5)
                    dv[k][m] = other.twice.dot(inertial) + other.S.angular.dot(transposed)              # (7)
                    H[m][k] = H[k][m] = other.S.dot(inertial)
            H[k][k] = H[k][k] + model.joint(i).rotor_inertia
        if parent > 0:
            f[parent] = f[parent] + level[i].X.force_outward(f[i])
            I[parent] = I[parent] + level[i].X.inertia_outward(I[i])
            outer_K, outer_p = level[i].X.momentum_outward(K[i], p[i])
            K[parent], p[parent] = K[parent] + outer_K, p[parent] + outer_p
    return tau, dq, dv, H


class Column(NamedTuple):
    """A unit motion, its rates, and ``twice``, that of (7) and (8): half of it is Sd, half moves with the link."""

    S: Motion
    Sd: Motion
    Sdd: Motion
    twice: Motion

    @staticmethod
    def of(S: Motion, before: Moving, v: Vector, after: Motion | None = None) -> Column:
        """``after``: the link's own velocity, if that makes a difference."""
        l, e, w = S.linear, S.angular, before.w
        Sd = Motion(w.cross(l) + v.cross(e), w.cross(e))                                                # (1)
        v2 = 2 * v
        Sdd = Motion(before.U @ l + before.Vd.cross(e) + v2.cross(Sd.angular), before.U @ e)            # (2)
        if after is not None:
            return Column(S, Sd, Sdd, Sd + after.cross(S))
        w2 = 2 * w
        return Column(S, Sd, Sdd, Motion(w2.cross(l) + v2.cross(e), w2.cross(e)))


def columns(
    model: Model, j: int, v: Sequence[Scalar], a: Sequence[Scalar], S: Sequence[Motion], before: Moving, carried: Vector
) -> Iterator[Column]:
    """Of a joint with several freedoms, behind a link that moves so."""
    freedoms = model.freedoms(j)
    together = [[k] for k in range(len(S))] if model.joint(j).kind.successive else [range(len(S))]
    for group in together:
        own_v = sum((S[k] * v[freedoms[k]] for k in group), Motion())
        own_a = sum((S[k] * a[freedoms[k]] for k in group), Motion())
        after = Motion(carried, before.w) + own_v
        yield from (Column.of(S[k], before, carried, after) for k in group)
        before, carried = moved_by(before, own_v, own_a), after.linear


def at_joint(link: Moving, X: Transform) -> Moving:
    """The motion of a link where X places a joint, in the axes there."""
    w, wd = X.inward(link.w), X.inward(link.wd)
    return Moving(w, Symmetric(), wd, X.inward(link.Vd + link.U @ X.origin), acceleration_matrix(w, wd))


def moved_by(link: Moving, v: Motion, a: Motion) -> Moving:
    """That of what moves against it with v and a, in place."""
    w, wd = link.w + v.angular, link.wd + link.w.cross(v.angular) + a.angular
    Vd = link.Vd + (link.w + w).cross(v.linear) + a.linear
    return Moving(w, Symmetric(), wd, Vd, acceleration_matrix(w, wd))


def coriolis(K: Matrix, p: Vector, e: Vector) -> Force:
    return Force(e.cross(p), trace_less(K, e))                                                          # (4)


def trace_less(K: Matrix, e: Vector) -> Vector:
    """(tr K) e - K e"""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = K.rows
    return Vector(
        (yy + zz) * e.x - xy * e.y - xz * e.z,
        (xx + zz) * e.y - yx * e.x - yz * e.z,
        (xx + yy) * e.z - zx * e.x - zy * e.y,
    )


def zeros(n: int) -> Rows:
    return [[0] * n for _ in range(n)]
