"""The method ``shared-axes``: Khalil & Kleinfinger's, with what two links share on an axis computed only once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..model import Joint, Model
from ..model.rotations import cos_sin
from ..scalar import Scalar, Scalars, cos, is_zero, sin
from ..spatial import AXES, Force, Inertia, Matrix, Motion, Screw, Symmetric, Transform, Vector, Z, pseudo_inertia
from ..spatial.vectors import turn_symmetric
from .method import Wrenches

Turn = Callable[[Vector], Vector]
XY = ([False, True, True], [True, False, True])  # where a vector along x or y is zero


def shared_axes(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the joint forces for joint accelerations ``a`` at state ``(q, v)``, O(n).

    The recursion of ``khalil_kleinfinger``, in its letters, and four steps of our own:

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

    A. ``Moving.column``: U_i and U_j agree on the axis they share, so a column of U_i gives one of U_j and w' (3), (4).
    B. ``Moving.origin``: the shift along the axis takes that column too (7).
    C. ``second_moments``: moments by E = tr(J) / 2 - J, E_zz grouped away in place of J_yy (9).
    D. ``Level``: behind a shoulder, links on parallel axes are described in axes that do not turn with them.

    Each step is exact. Each follows from geometry (a turn keeps its axis, rotations are orthogonal) that a program no
    longer contains, so no pass over programs can find it. Joints of other kinds than revolute and prismatic have their
    velocity and acceleration, drift included, in (1), (5), (7) and (11). Where they turn about z alone, A and C apply,
    too, and B where they are one screw.
    """
    applied, parameters = wrenches or {}, second_moments(model)
    S = {j: model.subspace(j, q) for j, _ in model.outward()}
    parallel = {j for j, _ in model.outward() if only_turns(S[j]) and not tilted(model.joint(j))}  # to the axis before
    at, level, X, f = {0: Moving(Vector(), Symmetric(), Vector(), -model.gravity, Matrix.zero())}, {}, {}, {}
    for j, i in model.outward():
        joint, accelerated = model.joint(j), model.joint_motion(j, q, a) + model.joint_drift(j, q, v)
        motion = JointMotion(S[j], model.joint_motion(j, q, v), accelerated)
        M, MS, E = parameters[j]
        if i in level and j in parallel:
            level[j] = level[i].next(joint, q[model.positions(j).start], motion)
        elif only_turns(S[j]) and across(joint, at[i].w):
            level[j] = Level.first(joint, q[model.positions(j).start], at[i], motion)
        else:
            X[j] = model.transform(j, q)
            at[j] = at[i].moved(placed(joint), X[j], motion, E)
            f[j] = wrench(at[j], M, MS, E) - applied.get(j, Force())
            continue
        turn, f[j] = level[j].turn, -applied.get(j, Force())
        goes_on = any(parent == j and k not in parallel for k, parent in model.outward())
        if goes_on:
            at[j] = level[j].at.turned(turn, E)
        if goes_on and i in level:
            f[j] = f[j] + wrench(at[j], M, MS, E)
        else:
            level[j].f = level[j].wrench(M, MS, E)

    Gamma: list[Scalar] = [0] * model.n_tree
    for j, i in model.inward():
        total = level[j].f + level[j].turn.force_outward(f[j]) if j in level else f[j]
        for k, S_k in zip(model.freedoms(j), S[j], strict=True):
            Gamma[k] = S_k.dot(total) + model.joint(j).rotor_inertia * a[k]                                   # (11)
        if i in level and j in level and j in parallel:
            level[i].f = level[i].f + level[j].force_outward(total)                                           # (10)
        elif i > 0:
            outward = level[j].force_outward if j in level else X[j].force_outward
            f[i] = f[i] + outward(total)                                                                      # (10)
    return Gamma


class JointMotion(NamedTuple):
    """Unit motions of a joint, and the velocity and acceleration that the joint itself adds."""

    S: Sequence[Motion]
    v: Motion
    a: Motion


def wrench(at: Moving, M: Scalar, MS: Vector, E: Symmetric) -> Force:
    """Return the wrench that moves a link so."""
    F = M * at.Vd + at.U @ MS                                                                                 # (8)
    N = vect(at.U, E, at.ww, at.wd) + MS.cross(at.Vd)                                                         # (9)
    return Force(F, N)


# -- A and B: what two links share on an axis ------------------------------------------------------------------------


class Moving:
    """Motion of a link in the axes and at the origin of some frame: w, w w^T, w', V' and U."""

    __slots__ = ("U", "Vd", "w", "wd", "ww")

    def __init__(self, w: Vector, ww: Symmetric, wd: Vector, Vd: Vector, U: Matrix):
        self.w, self.ww, self.wd, self.Vd, self.U = w, ww, wd, Vd, U

    def moved(self, fixed: Transform, X: Transform, motion: JointMotion, E: Symmetric) -> Moving:
        """Return the motion of link j, at the inner end of X, from that of link i; ``fixed``: constant part of X."""
        jR_i, iz_j = X.inward, fixed.outward(Z)
        jw_i = jR_i(self.w)
        w = jw_i + motion.v.angular                                                                           # (1)
        wd = jR_i(self.wd) + motion.a.angular                                                                 # (2)
        ww = dyad(w)
        if turns_about_z(motion.S) and entries(iz_j) == 1:
            u, wd = self.column(iz_j, jR_i, ww, wd.z)
        else:
            wd = wd + jw_i.cross(motion.v.angular)                                                            # (5)
            u = Vector(ww.xz + wd.y, ww.yz - wd.x, -(ww.xx + ww.yy))
        if only_slides(motion.S) and all(isinstance(screw, Screw) and is_zero(screw.c * screw.s) for screw in X.screws):
            U = Matrix(*map(jR_i, Matrix(*map(jR_i, self.U.rows)).columns)).T  # the same matrix with entries exchanged
        else:
            U = body_matrix(ww, wd, u, E)                                                                     # (6)
        both = entries(motion.v.linear) and not only_slides(motion.S)  # does it turn and slide?
        relative = (jw_i + w).cross(motion.v.linear) if both else jw_i.cross(2 * motion.v.linear)
        return Moving(w, ww, wd, self.origin(fixed, X, u) + (relative + motion.a.linear), U)                  # (7)

    def column(self, z: Vector, jR_i: Turn, ww: Symmetric, along: Scalar) -> tuple[Vector, Vector]:
        """Step A: return the last column of U_j, and w'_j, where joint j turns about ``z``, an axis of frame i.

        Directions along the joint's axis belong to both links, so U_i z = U_j z: with w_j = w_i + s z the terms of s
        cancel. That column of U_i, turned, replaces w x qd z (5) and one square.
        """
        u = jR_i(self.U @ z)                                                                                  # (3)
        return u, Vector(ww.yz - u.y, u.x - ww.xz, along)                                                     # (4)

    def origin(self, fixed: Transform, X: Transform, u: Vector) -> Vector:
        """Step B: return V' of the point of link i where O_j is. If the joint is one screw about z_j, its shift r gives
        r u by step A, and the rest of P_j is constant. Where that is no shorter, or U_i has few entries, P_j is used.
        """
        constant, whole = fixed.origin, X.origin
        one_screw = len(X.screws) == len(fixed.screws) + 1 and isinstance(X.screws[-1], Screw)
        sparse = is_zero(self.U.rows[2].z) and entries(constant)
        if not one_screw or sparse or entries(whole) <= entries(constant):
            return X.inward(self.Vd + self.U @ whole)
        return X.inward(self.Vd + self.U @ constant) + X.screws[-1].t * u

    def turned(self, screw: Screw, E: Symmetric) -> Moving:
        """Return the motion at the inner end of a screw about z, which keeps the last column (step A)."""
        w, u = screw.inward(self.w), screw.inward(self.U @ Z)
        ww = dyad(w)
        wd = Vector(ww.yz - u.y, u.x - ww.xz, self.wd.z)                                                      # (4)
        return Moving(w, ww, wd, screw.inward(self.Vd) + screw.t * u, body_matrix(ww, wd, u, E))


def dyad(w: Vector) -> Symmetric:
    """Return w w^T."""
    return Symmetric(w.x * w.x, w.x * w.y, w.x * w.z, w.y * w.y, w.y * w.z, w.z * w.z)


def body_matrix(ww: Symmetric, wd: Vector, u: Vector, E: Symmetric) -> Matrix:
    """Return U from its last column. Where E_xz needs U_xx - U_zz = xx - zz, this gives U_xx and saves a square."""
    Uxx = -(ww.yy + ww.zz) if is_zero(E.xz) else u.z + (ww.xx - ww.zz)
    return Matrix(
        Vector(Uxx, ww.xy - wd.z, u.x),
        Vector(ww.xy + wd.z, -(ww.xx + ww.zz), u.y),
        Vector(ww.xz - wd.y, ww.yz + wd.x, u.z),
    )


def placed(joint: Joint) -> Transform:
    """Return the constant part of a joint's transform."""
    return Transform(*(fixed.screw for fixed in joint.placement))


def entries(v: Vector) -> int:
    """Return how many components are not structural zeros."""
    return sum(not is_zero(x) for x in v)


def turns_about_z(S: Sequence[Motion]) -> bool:
    """Return whether a joint turns about z and no other axis."""
    return all(is_zero(e.angular.x) and is_zero(e.angular.y) for e in S) and not only_slides(S)


def only_turns(S: Sequence[Motion]) -> bool:
    """Return whether a joint is revolute."""
    return len(S) == 1 and all(map(is_zero, S[0].linear))


def only_slides(S: Sequence[Motion]) -> bool:
    """Return whether a joint does not turn."""
    return all(is_zero(x) for e in S for x in e.angular)


# -- C: second moments of mass ---------------------------------------------------------------------------------------


def second_moments(model: Model) -> dict[int, tuple[Scalar, Vector, Symmetric]]:
    """Step C: return M, MS and E of every link, with what its joint does not move counted to the link before.

    The kind of a joint defines what that is. For a body that turns about z alone it is any part (e, e, 0) of J; the
    papers choose e = J_yy, but E_zz = 0 saves a product in (9). Where the mass is spread alike in x and y, E_zz = -E_yy
    is better: then J_xx = J_yy = 0, and no moment depends on w'_x and w'_y.
    """
    inertia = {j: model.inertia(j) for j, _ in model.outward()} | {0: Inertia()}
    kept, anywhere = {}, model.tree.neutral().tolist()
    for j, i in model.inward():
        rest, moved = model.joint(j).kind.grouped(inertia[j])
        E = pseudo_inertia(rest.J)
        if turns_about_z(model.subspace(j, anywhere)):
            E = pseudo_inertia(inertia[j].J)
            zz = -E.yy if is_zero(E.xx - E.yy) else 0
            moved = Inertia(moved.mass, moved.h, Symmetric(E.zz - zz, 0, 0, E.zz - zz, 0, 0))
            E = Symmetric(E.xx, E.xy, E.xz, E.yy, E.yz, zz)
        kept[j] = rest.mass, rest.h, E
        if i > 0:
            inertia[i] = inertia[i] + model.transform(j, anywhere).inertia_outward(moved)
    return kept


def vect(U: Matrix, E: Symmetric, ww: Symmetric, wd: Vector) -> Vector:
    """Return J w' + w x (J w) = (A_zy - A_yz, A_xz - A_zx, A_yx - A_xy) with A = U E."""
    (Uxx, Uxy, Uxz), (Uyx, Uyy, Uyz), (Uzx, Uzy, Uzz) = U.rows
    return Vector(
        twist(E.yy, Uzy, E.zz, Uyz, ww.yz, wd.x) + Uzx * E.xy - Uyx * E.xz + (Uzz - Uyy) * E.yz,
        twist(E.zz, Uxz, E.xx, Uzx, ww.xz, wd.y) + Uxy * E.yz - Uzy * E.xy + (Uxx - Uzz) * E.xz,
        twist(E.xx, Uyx, E.yy, Uxy, ww.xy, wd.z) + Uyz * E.xz - Uxz * E.yz + (Uyy - Uxx) * E.xy,
    )


def twist(A: Scalar, plus: Scalar, B: Scalar, minus: Scalar, ww: Scalar, wd: Scalar) -> Scalar:
    """Return A plus - B minus, where plus = ww + wd and minus = ww - wd."""
    return A * plus - B * minus if is_zero(A) or is_zero(B) else (A - B) * ww + (A + B) * wd


# -- D: axes that do not turn ----------------------------------------------------------------------------------------


class Level:
    """Step D: a link in axes that do not turn with its joint, nor with preceding joints on parallel axes.

    Where link i turns about one coordinate axis only and z_j is another (the shoulder of most arms), w has two
    components in these axes. The constants E_j and MS_j are turned by the sum of the joint angles, and once what the
    next link needs. ``at`` is the link's motion there, ``f`` the wrench on it, ``turn`` the screw to the frame of the
    link, which includes the lengths r.
    """

    __slots__ = ("angle", "arm", "at", "f", "hinge", "turn")

    def __init__(self, hinge: Transform, arm: Vector, angle: Scalar, length: Scalar, at: Moving):
        self.hinge, self.arm, self.angle, self.at, self.f = hinge, arm, angle, at, Force()
        self.turn = Screw("z", cos(angle), sin(angle), length)

    @staticmethod
    def first(joint: Joint, value: Scalar, before: Moving, motion: JointMotion) -> Level:
        """Return the level of a joint behind a shoulder."""
        quarters, rest = split(joint.angle)
        hinge = Transform(*placed(joint).screws, quarters)
        at = before.moved(placed(joint), hinge, motion, Symmetric())
        return Level(hinge, Vector(), value + rest, joint.length, at)

    def next(self, joint: Joint, value: Scalar, motion: JointMotion) -> Level:
        """Return the level of the next joint, on a parallel axis."""
        quarters, rest = split(joint.angle)
        before, hinge, arm = self.at, Transform(quarters), self.turn.outward(placed(joint).origin)
        carried = Moving(before.w, before.ww, before.wd, before.Vd + before.U @ arm, before.U)
        at = carried.moved(Transform(), hinge, motion, Symmetric())
        return Level(hinge, arm, self.angle + (value + rest), self.turn.t + joint.length, at)

    def wrench(self, M: Scalar, MS: Vector, E: Symmetric) -> Force:
        """Return the wrench of the link, by turning its constants and not its motion."""
        turn = self.turn
        about_hinge = Symmetric(E.xx, E.xy, E.xz + turn.t * MS.x, E.yy, E.yz + turn.t * MS.y, E.zz)
        return wrench(self.at, M, turn.outward(MS), turn_symmetric("z", turn.c, turn.s, about_hinge))

    def force_outward(self, f: Force) -> Force:
        """Return a force on this link, about the origin of the link before."""
        f = self.hinge.force_outward(f)
        return Force(f.linear, f.angular + self.arm.cross(f.linear))


def tilted(joint: Joint) -> bool:
    """Return whether the axis of a joint has another direction than the axis before."""
    return any(fixed.angle != 0 for fixed in joint.placement)


def split(angle: float) -> tuple[Screw, float]:
    """Return an angle as whole quarter turns, which cost nothing, or else as it is."""
    c, s = cos_sin(angle)
    return (Screw("z", c, s), 0) if is_zero(c * s) else (Screw("z"), angle)


def across(joint: Joint, w: Vector) -> bool:
    """Return whether ``w`` of the link before is along one of its axes and along x or y of the joint."""
    directions = [axis for axis, x in zip(AXES, w, strict=True) if not is_zero(x)]
    return len(directions) == 1 and [is_zero(x) for x in placed(joint).inward(directions[0])] in XY
