"""Newton-Euler organised for the fewest operations: Khalil & Kleinfinger's frames, parameters and matrix U."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...model import Joint, Model
from ...model.joints import REVOLUTE
from ...model.rotations import cos_sin
from ...scalar import Scalar, cos, is_zero, sin
from ...spatial import AXES, Force, Inertia, Matrix, Motion, Screw, Symmetric, Transform, Vector, Z, pseudo_inertia
from ...spatial.vectors import turn_symmetric
from ..method import Wrenches

XY = ([False, True, True], [True, False, True])  # where a vector along x or y is zero


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

    Four steps go further than the paper. Points on the axis of a revolute joint belong to both its bodies, so U_i and
    U_j agree on z_j: where that axis is a coordinate axis of frame i (alpha = 0, +-90, 180 deg), (3) and (4) turn a
    column of U_i and need no w x qd z; elsewhere (5) stands for (2)-(4). The shift r_j takes the same column (7). The
    moments are taken by the second moments of mass E = tr(J) / 2 - J with E_zz grouped away in place of J_yy. And where
    link i turns about one coordinate axis only and z_j is another (the shoulder of most arms), link j and those that
    follow on parallel axes are seen in axes that do not turn with them: w has two components there, and what turns by
    the sum of the joint angles is the constant E_j and MS_j, or once and for all what the next link needs.

    The inertia parameters are grouped here, whatever the caller did to them. A floating base is link 1 on a joint of
    six freedoms, to which (1), (5), (7) and (11) apply with its own velocity and acceleration.
    """
    applied = wrenches or {}
    parameters = minimum_parameters(model)
    at, level, X, f = {0: Moving(Vector(), Symmetric(), Vector(), -model.gravity, Matrix.zero())}, {}, {}, {}
    for j, i in model.outward():
        joint, own_v = model.joint(j), model.joint_motion(j, q, v)
        motion = own_v, model.joint_motion(j, q, a) + model.joint_drift(j, q, v)
        M, MS, E = parameters[j]
        if i in level and parallel(joint):
            level[j] = level[i].next(joint, q[model.positions(j).start], *motion)
        elif revolute(joint) and across(joint, at[i].w):
            level[j] = Level.first(joint, q[model.positions(j).start], at[i], *motion)
        else:
            X[j] = model.transform(j, q)
            at[j] = at[i].moved(joint, X[j], *motion, E)
            f[j] = wrench(at[j], M, MS, E) - applied.get(j, Force())
            continue
        turn, f[j] = level[j].turn, -applied.get(j, Force())
        goes_on = any(parent == j and not parallel(model.joint(k)) for k, parent in model.outward())
        if goes_on:
            at[j] = level[j].at.turned(turn, E)
        if goes_on and i in level:
            f[j] = f[j] + wrench(at[j], M, MS, E)
        else:  # turn the constants and not the motion
            about_hinge = Symmetric(E.xx, E.xy, E.xz + turn.t * MS.x, E.yy, E.yz + turn.t * MS.y, E.zz)
            level[j].f = wrench(level[j].at, M, turn.outward(MS), turn_symmetric("z", turn.c, turn.s, about_hinge))

    Gamma: list[Scalar] = [0] * model.n_tree
    for j, i in model.inward():
        total = level[j].f + level[j].turn.force_outward(f[j]) if j in level else f[j]
        for k, S in zip(model.freedoms(j), model.subspace(j, q), strict=True):
            Gamma[k] = S.dot(total) + model.joint(j).rotor_inertia * a[k]                                     # (11)
        if i in level and j in level and parallel(model.joint(j)):
            level[i].f = level[i].f + level[j].force_outward(total)                                           # (10)
        elif i > 0:
            outward = level[j].force_outward if j in level else X[j].force_outward
            f[i] = f[i] + outward(total)                                                                      # (10)
    return Gamma


def wrench(at: Moving, M: Scalar, MS: Vector, E: Symmetric) -> Force:
    """Of a link that moves so."""
    F = M * at.Vd + at.U @ MS                                                                                 # (8)
    N = vect(at.U, E, at.ww, at.wd) + MS.cross(at.Vd)                                                         # (9)
    return Force(F, N)


class Moving:
    """w, w w^T, w', V' and U of a link, in the axes and at the origin of some frame."""

    __slots__ = ("U", "Vd", "w", "wd", "ww")

    def __init__(self, w: Vector, ww: Symmetric, wd: Vector, Vd: Vector, U: Matrix):
        self.w, self.ww, self.wd, self.Vd, self.U = w, ww, wd, Vd, U

    def moved(self, joint: Joint, X: Any, own_v: Motion, own_a: Motion, E: Symmetric) -> Moving:
        """Of link j, at the inner end of X, if this is link i at the outer end."""
        fixed = placed(joint)
        jR_i, iz_j = X.inward, fixed.outward(Z)
        jw_i = jR_i(self.w)
        w = jw_i + own_v.angular                                                                              # (1)
        wd = jR_i(self.wd) + own_a.angular                                                                    # (2)
        ww = dyad(w)
        if revolute(joint) and sum(is_zero(x) for x in iz_j) == 2:
            u = jR_i(self.U @ iz_j)                                                                           # (3)
            wd = Vector(ww.yz - u.y, u.x - ww.xz, wd.z)                                                       # (4)
        else:
            wd = wd + jw_i.cross(own_v.angular)                                                               # (5)
            u = Vector(ww.xz + wd.y, ww.yz - wd.x, -(ww.xx + ww.yy))
        if joint.prismatic and all(is_zero(screw.c * screw.s) for screw in X.screws):
            U = Matrix(*map(jR_i, Matrix(*map(jR_i, self.U.rows)).columns)).T  # the same matrix, its entries exchanged
        else:
            U = body_matrix(ww, wd, u, E)                                                                     # (6)
        few = is_zero(self.U.rows[2].z) and not all(map(is_zero, fixed.origin))
        if few or not (joint.revolute or joint.prismatic):
            P, r = X.origin, 0  # a U_i of few entries takes all of P_j at the price of a part
        else:
            P, r = fixed.origin, X.screws[-1].t
        own = jw_i.cross(2 * own_v.linear) + own_v.angular.cross(own_v.linear) + own_a.linear
        return Moving(w, ww, wd, jR_i(self.Vd + self.U @ P) + r * u + own, U)                                 # (7)

    def turned(self, screw: Screw, E: Symmetric) -> Moving:
        """The same at the inner end of a screw about z."""
        w, u = screw.inward(self.w), screw.inward(self.U @ Z)
        ww = dyad(w)
        wd = Vector(ww.yz - u.y, u.x - ww.xz, self.wd.z)                                                      # (4)
        return Moving(w, ww, wd, screw.inward(self.Vd) + screw.t * u, body_matrix(ww, wd, u, E))


class Level:
    """A link in axes that do not turn with its joint, nor with those before it on parallel axes: ``at`` is its motion
    there, ``f`` the wrench on it, ``turn`` the screw to the link's own frame. The lengths r wait for that screw."""

    __slots__ = ("angle", "arm", "at", "f", "hinge", "turn")

    def __init__(self, hinge: Transform, arm: Vector, angle: Scalar, length: Scalar, at: Moving):
        self.hinge, self.arm, self.angle, self.at, self.f = hinge, arm, angle, at, Force()
        self.turn = Screw("z", cos(angle), sin(angle), length)

    @staticmethod
    def first(joint: Joint, value: Scalar, before: Moving, own_v: Motion, own_a: Motion) -> Level:
        quarters, rest = split(joint.angle)
        hinge = Transform(*placed(joint).screws, quarters)
        at = before.moved(joint, hinge, own_v, own_a, Symmetric())
        return Level(hinge, Vector(), value + rest, joint.length, at)

    def next(self, joint: Joint, value: Scalar, own_v: Motion, own_a: Motion) -> Level:
        """For the joint after this one, on a parallel axis."""
        quarters, rest = split(joint.angle)
        before, hinge, arm = self.at, Transform(quarters), self.turn.outward(placed(joint).origin)
        moved = Moving(before.w, before.ww, before.wd, before.Vd + before.U @ arm, before.U)
        at = moved.moved(Joint("", REVOLUTE), hinge, own_v, own_a, Symmetric())
        return Level(hinge, arm, self.angle + (value + rest), self.turn.t + joint.length, at)

    def force_outward(self, f: Force) -> Force:
        f = self.hinge.force_outward(f)
        return Force(f.linear, f.angular + self.arm.cross(f.linear))


def placed(joint: Joint) -> Transform:
    return Transform(*(fixed.screw for fixed in joint.placement))


def parallel(joint: Joint) -> bool:
    """To the axis before."""
    return revolute(joint) and all(fixed.angle == 0 for fixed in joint.placement)


def split(angle: float) -> tuple[Screw, float]:
    """Whole quarter turns, which cost nothing, or else the angle."""
    c, s = cos_sin(angle)
    return (Screw("z", c, s), 0) if is_zero(c * s) else (Screw("z"), angle)


def across(joint: Joint, w: Vector) -> bool:
    """Is ``w``, of the link before, along one of its axes and then along x or y of the joint?"""
    directions = [axis for axis, x in zip(AXES, w, strict=True) if not is_zero(x)]
    return len(directions) == 1 and [is_zero(x) for x in placed(joint).inward(directions[0])] in XY


def revolute(joint: Joint) -> bool:
    return joint.revolute


def minimum_parameters(model: Model) -> dict[int, tuple[Scalar, Vector, Symmetric]]:
    """M, MS and E of every link, after what its joint cannot tell from the link before has been moved there.

    Behind a revolute joint M, MS_z and E_zz vanish, behind a prismatic joint E. Where the mass is spread alike in x and
    y, E_zz = -E_yy is better: then J_xx = J_yy = 0, and no moment depends on w'_x and w'_y.
    """
    inertia = {j: model.inertia(j) for j, _ in model.outward()} | {0: Inertia()}
    kept, anywhere = {}, model.tree.neutral().tolist()
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
