"""Derivatives of inverse dynamics in closed form, by Singh, Russell and Wensing, in Khalil's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...model import Model
from ...scalar import Scalar, Scalars
from ...spatial import Force, Inertia, Matrix, Motion, Symmetric, Transform, Vector
from ..method import Wrenches
from ..parallel_axes import JointMotion, Moving, second_moments, vect
from ..rnea import acceleration_matrix
from .level import working_frames

Rows = list[list[Scalar]]


def singh_russell_wensing(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None
) -> tuple[list[Scalar], Rows, Rows, Rows]:
    """Return tau, dtau/dq, dtau/dv and M, O(n d) for a tree of depth d.

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

    I and K are computed from second moments E: K = v MS^T + hat(w) E of one link. (5) and (7) are computed from the
    other side, by I_i S_i and the transpose of B_i. Frames are those of ``level``, parameters those of ``shared_axes``.
    The freedoms of a joint move its body together, and (6) does not apply to two of the same joint; those of a
    ``successive`` one (universal) are separate joints, with links of no mass between them. Wrenches move with their
    bodies.
    """
    applied, parameters, level = wrenches or {}, second_moments(model), working_frames(model, q)
    at = {0: Moving(Vector(), Symmetric(), Vector(), -model.gravity, Matrix.zero())}
    V, S, link, f, I, K, p = {0: Vector()}, {}, {}, {}, {}, {}, {}
    for j, i in model.outward():
        X, motions = level[j].X, model.subspace(j, q)
        joint_a = model.joint_motion(j, q, a) + model.joint_drift(j, q, v)
        motion = JointMotion(motions, model.joint_motion(j, q, v), joint_a)
        M, MS, E = link[j] = level[j].constants(*parameters[j])
        at[j] = at[i].moved(level[j].fixed, X, motion, E)
        carried = X.inward(plus_cross(V[i], at[i].w, X.origin))
        V[j] = carried + motion.v.linear
        if len(motions) == 1:  # the motion of joint j does not change (1) and (2)
            S[j] = [Column.of(motions[0], at[j], V[j])]
        else:
            S[j] = list(columns(model, j, v, a, motions, at_joint(at[i], X), carried))
        f[j] = -level[j].from_link(applied.get(j, Force()))
        I[j] = Inertia(M, MS, Symmetric(E.yy + E.zz, -E.xy, -E.xz, E.xx + E.zz, -E.yz, E.xx + E.yy))
        K[j], p[j] = [Vector()] * 3, Vector()

    n = model.n_tree
    tau: list[Scalar] = [0] * n
    dq, dv, H = ([[0] * n for _ in range(n)] for _ in range(3))
    for i, parent in model.inward():
        M, MS, E = link[i]
        w2, v2 = 2 * at[i].w, 2 * V[i]
        K[i] = [plus_cross(k + v2 * h, w2, e) for k, h, e in zip(K[i], MS, E.rows, strict=True)]        # (3)
        p[i] = plus_cross(p[i] + v2 * M, w2, MS)
        force = plus_product(f[i].linear + at[i].Vd * M, at[i].U.rows, MS)
        f[i] = Force(force, plus_cross(f[i].angular, MS, at[i].Vd) + vect(at[i].U, E, at[i].ww, at[i].wd))
        X, Ia, B = level[i].X, model.joint(i).rotor_inertia, Coriolis(K[i], p[i])
        for k, s in zip(model.freedoms(i), S[i], strict=True):
            tau[k] = s.S.dot(f[i]) + Ia * a[k]
            of_a = I[i] @ s.S
            of_v = plus_momentum(B @ s.S, I[i], s.twice)                                                # (8)
            alone = plus_momentum(B @ s.Sd, I[i], s.Sdd)
            of_q = plus_momentum(s.S.cross_force(f[i]) + B @ s.Sd, I[i], s.Sdd)                         # (6)
            back = B.back(s.S)
            for m, other in zip(model.freedoms(i), S[i], strict=True):
                before = model.joint(i).kind.successive and m < k
                dq[m][k] = other.S.dot(of_q if before else alone)
                dv[m][k], H[m][k] = other.S.dot(of_v), other.S.dot(of_a)                                # (9)
            j = i
            while model.body(j).parent > 0:
                out, j = level[j].X, model.body(j).parent
                of_a, of_v, of_q = (out.force_outward(each) for each in (of_a, of_v, of_q))
                back = out.outward(back)
                for m, other in zip(model.freedoms(j), S[j], strict=True):
                    dq[m][k], dv[m][k] = other.S.dot(of_q), other.S.dot(of_v)
                    dq[k][m] = plus_power(other.Sd.angular.dot(back), other.Sdd, of_a)                  # (5)
                    dv[k][m] = plus_power(other.S.angular.dot(back), other.twice, of_a)                 # (7)
                    H[m][k] = H[k][m] = other.S.dot(of_a)
            H[k][k] = H[k][k] + Ia
        if parent > 0:
            f[parent] = f[parent] + X.force_outward(f[i])
            I[parent] = I[parent] + X.inertia_outward(I[i])
            rows, outer_p = X.momentum_outward(Matrix(*K[i]).T, p[i])
            K[parent] = [k + column for k, column in zip(K[parent], rows.columns, strict=True)]
            p[parent] = p[parent] + outer_p
    return tau, dq, dv, H


class Column(NamedTuple):
    """A unit motion, its rates, and ``twice``, Sd_j + V_j x S_j of (7) and (8)."""

    S: Motion
    Sd: Motion
    Sdd: Motion
    twice: Motion

    @staticmethod
    def of(S: Motion, before: Moving, v: Vector, after: Motion | None = None) -> Column:
        """Return the rates of S; ``after`` is the velocity of the moved link, where it makes a difference."""
        l, e, w = S.linear, S.angular, before.w
        Sd = Motion(w.cross(l) + v.cross(e), w.cross(e))                                                # (1)
        v2 = 2 * v
        Sdd = Motion(plus_cross(before.U @ l + before.Vd.cross(e), v2, Sd.angular), before.U @ e)       # (2)
        if after is not None:
            return Column(S, Sd, Sdd, Sd + after.cross(S))
        w2 = 2 * w
        return Column(S, Sd, Sdd, Motion(w2.cross(l) + v2.cross(e), w2.cross(e)))


def columns(
    model: Model, j: int, v: Scalars, a: Scalars, S: Sequence[Motion], before: Moving, carried: Vector
) -> Iterator[Column]:
    """Yield the columns of a joint with several freedoms, behind a link that moves so."""
    freedoms = model.freedoms(j)
    together = [[k] for k in range(len(S))] if model.joint(j).kind.successive else [range(len(S))]
    for group in together:
        own_v = sum((S[k] * v[freedoms[k]] for k in group), Motion())
        own_a = sum((S[k] * a[freedoms[k]] for k in group), Motion())
        after = Motion(carried, before.w) + own_v
        yield from (Column.of(S[k], before, carried, after) for k in group)
        before, carried = moved_by(before, own_v, own_a), after.linear


def at_joint(link: Moving, X: Transform) -> Moving:
    """Return the motion of a link where X places a joint, in the axes there."""
    w, wd = X.inward(link.w), X.inward(link.wd)
    return Moving(w, Symmetric(), wd, X.inward(link.Vd + link.U @ X.origin), acceleration_matrix(w, wd))


def moved_by(link: Moving, v: Motion, a: Motion) -> Moving:
    """Return the motion of a frame at the same place that moves relative to the link with v and a."""
    w, wd = link.w + v.angular, link.wd + link.w.cross(v.angular) + a.angular
    Vd = link.Vd + (link.w + w).cross(v.linear) + a.linear
    return Moving(w, Symmetric(), wd, Vd, acceleration_matrix(w, wd))


class Coriolis:
    """The operator 2 B, from the columns of 2 K and from 2 p."""

    def __init__(self, K: Sequence[Vector], p: Vector):
        self.K, self.p = Matrix(*K).T, p

    def __matmul__(self, S: Motion) -> Force:
        return Force(S.angular.cross(self.p), trace_less(self.K, S.angular))                            # (4)

    def back(self, S: Motion) -> Vector:
        """Return the transpose of 2 B times S, which has no linear part."""
        return plus_cross(trace_less(self.K.T, S.angular), self.p, S.linear)


def trace_less(K: Matrix, e: Vector) -> Vector:
    """Return (tr K) e - K e."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = K.rows
    return Vector(
        (yy + zz) * e.x - xy * e.y - xz * e.z,
        (xx + zz) * e.y - yx * e.x - yz * e.z,
        (xx + yy) * e.z - zx * e.x - zy * e.y,
    )


# -- sums of products in sequence: each product fuses with the sum so far --------------------------------------------


def plus_power(start: Scalar, S: Motion, f: Force) -> Scalar:
    """Return start + S . f."""
    for x, y in zip(S, f, strict=True):
        start = start + x * y
    return start


def plus_product(start: Vector, rows: Sequence[Vector], v: Vector) -> Vector:
    """Return start + A v."""
    return Vector(*(x + row.x * v.x + row.y * v.y + row.z * v.z for x, row in zip(start, rows, strict=True)))


def plus_cross(start: Vector, a: Vector, b: Vector) -> Vector:
    """Return start + a x b."""
    return Vector(
        start.x + a.y * b.z - a.z * b.y,
        start.y + a.z * b.x - a.x * b.z,
        start.z + a.x * b.y - a.y * b.x,
    )


def plus_momentum(start: Force, I: Inertia, S: Motion) -> Force:
    """Return start + I S."""
    linear = plus_cross(start.linear + S.linear * I.mass, S.angular, I.h)
    return Force(linear, plus_cross(plus_product(start.angular, I.J.rows, S.angular), I.h, S.linear))
