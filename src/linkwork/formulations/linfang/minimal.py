"""Minimal linear combinations of inertia parameters of a serial robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ...model import Model
from ...scalar import Scalar
from ...spatial import Inertia, Screw, Symmetric, Transform, Vector, Z
from ..kinematics import body_poses

PARALLEL = 1e-12  # sine of the angle below which axes are parallel; treating parallel axes as skew does no harm


@dataclass(frozen=True)
class JointClasses:
    """Classes of joints: ``r`` is the first rotational one, ``s`` the first not parallel to it; n + 1 if there is none.

    ``u[i]`` is u_r in E_i for r <= i < s, a constant; (0, 0, 1) or (0, 0, -1) at rotational joints. ``delta[i]`` for
    rotational r <= i < s is 0 if the first moments of composite body i have no effect, 1 otherwise.
    """

    r: int
    s: int
    u: Mapping[int, Vector]
    delta: Mapping[int, int]


def joint_classes(model: Model) -> JointClasses:
    """Return what Theorem 1 of Lin & Fang (1999) needs of the geometry and of gravity.

    delta_i = 0 if u_r, gravity and u_k are parallel for all k < i, and the origins of E_m and E_i are on one parallel
    to u_r for all rotational m, r <= m < i. A joint in the opposite direction is parallel, too. q = 0 is enough: before
    s all turns are about u_r, so what is parallel at q = 0 is parallel everywhere.
    """
    n = model.n_bodies
    rotational = [i for i in range(1, n + 1) if not model.joint(i).prismatic]
    pose = body_poses(model, [0] * n)
    axis = {i: pose[i].outward(Z) for i in range(1, n + 1)}
    r = min(rotational, default=n + 1)
    s = min((i for i in rotational if not _parallel(axis[r], axis[i])), default=n + 1)
    u, delta = {}, {}
    for i in range(r, s):
        u[i] = _without_noise(pose[i].inward(axis[r]))
        if i in rotational:
            before = [pose[i].origin - pose[m].origin for m in rotational if m < i]
            fixed = all(isinstance(x, (int, float)) for x in model.gravity)  # as an input it may have any direction
            others = (model.gravity, *(axis[k] for k in range(1, i)), *before)
            idle = fixed and all(_parallel(axis[r], v) for v in others)
            delta[i] = 0 if idle else 1
    return JointClasses(r, s, u, delta)


def _parallel(axis: Vector, v: Vector) -> bool:
    """Return whether a vector is parallel to a unit vector, or zero."""
    return math.hypot(*axis.cross(v)) <= PARALLEL * max(1.0, math.hypot(*v))


def _without_noise(u: Vector) -> Vector:
    """Return a unit vector with exact zeros in place of components that are zero up to rounding."""
    if _parallel(Z, u):
        return Z * math.copysign(1.0, u.z)
    return Vector(*(0.0 if abs(x) < 1e-15 else x for x in u))


@dataclass(frozen=True)
class Minimal:
    """The combinations of Theorem 1 by joint; zero where a joint has none, so that no other parameter can be used.

    ``m``: m^_i of translational joints. ``k``: x and y of rotational joints (before s only if delta_i = 1), all of
    translational joints after s. ``U``: 33 of rotational joints, from s on also 12, 13, 23, and 11 - 22 in place of 11.
    ``kappa``: kappa_1 and kappa_2 of translational joints between r and s.
    """

    classes: JointClasses
    m: Mapping[int, Scalar]
    k: Mapping[int, Vector]
    U: Mapping[int, Symmetric]
    kappa: Mapping[int, tuple[Scalar, Scalar]]

    def values(self) -> list[Scalar]:
        """Return all combinations as a list; no kappa (sigma_i = 0) where a translational joint is parallel to u_r."""
        s, u = self.classes.s, self.classes.u
        values = []
        for i in self.k:
            k, U = self.k[i], self.U[i]
            if i in self.m:
                sigma = i in self.kappa and (u[i].x or u[i].y)
                values += [self.m[i], *(k if i > s else ()), *(self.kappa[i] if sigma else ())]
            elif i >= s:
                values += [U.xx, U.xy, U.xz, U.yz, U.zz, k.x, k.y]
            else:
                values += [U.zz, *((k.x, k.y) if self.classes.delta[i] else ())]
        return values


def minimal_combinations(model: Model) -> Minimal:
    """Return the minimal linear combinations of the inertia parameters (Lin & Fang 1999, Theorem 1 and appendix C).

    They are among the constant parts k_i, U_i of the first moments and inertias of composite bodies:

      (C1)  k_i = h_i + K*_{i+1} (m^ s + R (0, 0, k_z)) + K_{i+1} (m^ b + R k)
      (C2)  U_i = J_i - m^ [s x][s x] + R diag(U_22, U_22, 0) R^T - [s x][R (0, 0, k_z) x] - [R (0, 0, k_z) x][s x]
      (C3)  U_i = J_i - m^ [b x][b x] + R U R^T - [b x][R k x] - [R k x][b x]
      (27)  kappa_1 = -u_y k_x + u_x k_y,   u = u_r in E_i
      (28)  kappa_2 = -u_z (u_x k_x + u_y k_y) + (1 - u_z^2) k_z

    (C2) is for rotational, (C3) for translational joint i + 1; m^, k, U, R, s, b on the right are those of i + 1. What
    they take from body i + 1 is a mass distribution that joint i + 1 does not turn, or does not move away from E_i.
    """
    classes, n = joint_classes(model), model.n_bodies
    r, s = classes.r, classes.s
    fixed, m, k, U, kappa = Inertia(), {}, {}, {}, {}
    for i in range(n, 0, -1):
        body = model.inertia(i) + fixed
        turn = model.transform(i, [0] * n).screws
        if model.joint(i).prismatic:
            still = Transform(*turn[:-1], Screw("z", turn[-1].c, turn[-1].s))
            fixed = still.inertia_outward(body)                                                # (C1) (C3)
            m[i], k[i], U[i] = body.mass, body.h if i > s else Vector(), Symmetric()
            if r < i < s:
                u, c = classes.u[i], body.h
                kappa[i] = (
                    u.x * c.y - u.y * c.x,                                                     # (27)
                    (1 - u.z * u.z) * c.z - u.z * (u.x * c.x + u.y * c.y),                     # (28)
                )
        else:
            yy = body.J.yy
            symmetric = Inertia(body.mass, Vector(0, 0, body.h.z), Symmetric(yy, 0, 0, yy, 0, 0))
            fixed = Transform(*turn).inertia_outward(symmetric)                                # (C2)
            J, seen = body.J, classes.delta.get(i, 1)
            k[i] = Vector(body.h.x, body.h.y, 0) * seen
            U[i] = Symmetric(J.xx - yy, J.xy, J.xz, 0, J.yz, J.zz) if i >= s else Symmetric(zz=J.zz)
    return Minimal(classes, m, k, U, kappa)
