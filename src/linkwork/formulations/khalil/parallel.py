"""Khalil's platform and legs: the inverse and direct dynamic models of parallel robots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter

from ...constraints.parallel import Parallel, platform_and_legs
from ...model import CUT_JOINTS, Model
from ...scalar import Scalar, Scalars, ldl
from ...scalar.orthogonal import Orthogonal, dot
from ...scalar.staircase import unique_or_nan
from ...spatial import Motion
from ..crba import crba
from ..method import Wrenches
from ..parallel_axes import shared_axes
from ..passive_forces import passive_forces
from .platform import LegAt, PlatformAt


def khalil_parallel(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """Return the motor forces for velocities ``v`` and accelerations ``a`` of the platform's coordinates.

    Khalil (2010), section 5. J_i is the Jacobian of leg i to its tip, J_vi gives the tip's velocity v_i by that of the
    platform, V_p, both where the cut joint holds them together; Gamma_i is the inverse dynamic model of the leg, F_p
    that of the platform by (9). The dots of the joints' velocities and accelerations are the paper's:

      (64)  v_i = J_vi V_p
      (63)  qd_i = J_i^-1 v_i
      (63')  qdd_i = J_i^-1 (v'_i - J_i' qd_i),   v'_i = V' + w' x P_i + w x (w x P_i)
      (65)  J_vi = [1  -hat(P_i)]             of a spherical joint; P_i from the platform's origin to the tip
      (62)  row i of J_p^-1 = row of the motor in J_i^-1 J_vi
      (66)  Gamma = J_p^T [F_p + sum of J_vi^T J_i^-T Gamma_i]

    (63') is left out in the paper; (62) is printed with J_r for J_p. V_p, F_p, P_i and J_vi are in the axes of the
    ground here, v_i and J_i in those of the leg's last link, where J_i has few entries. A platform of fewer freedoms
    has as many columns in J_vi, and J_i^-1 is the least-squares inverse where a leg has fewer joints than its tip has
    constrained directions. J_p^-1 is not inverted, a system is solved. With more motors than freedoms, it is the
    solution of the least weighted square.
    """
    platform, legs = _platform_and_legs(model, q)
    bracket = _bracket(model, q, v, a, wrenches, platform, legs)
    J_p_inverse = _inverse_jacobian(model, legs)
    scale = [1 / math.sqrt(model.tree.joint_of(k).weight) for _, k in _motors(model, legs)]
    columns = [[s * x for s, x in zip(scale, column, strict=True)] for column in zip(*J_p_inverse, strict=True)]
    return [s * x for s, x in zip(scale, Orthogonal(columns).shortest(bracket), strict=True)]                    # (66)


def khalil_parallel_direct(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, wrenches: Wrenches = None
) -> list[Scalar]:
    """Return the accelerations of the platform's coordinates under forces ``tau`` of the motors.

    The bracket of (66) is the dynamic model in the coordinates x of the platform, H_x its value at xdd = 0, A_i the
    inertia matrix of leg i and A_p that of the platform. Equations are numbered here, after (66):

      (66a)  A_x xdd + H_x = J_p^-T Gamma
      (66b)  A_x = A_p + sum of J_vi^T (J_i^-T A_i J_i^-1) J_vi

    The parentheses hold the apparent mass of the leg at its tip. It is turned into the ground's axes, where J_vi has
    few entries; so is A_p. Where J_i has no inverse, because a leg is stretched, the result is NaN.
    """
    platform, legs = _platform_and_legs(model, q)
    H_x = _bracket(model, q, v, [0] * model.nv, wrenches, platform, legs)
    A = crba(model, q)
    A_x = platform.inertia_matrix(A)
    for leg in legs:
        mass = leg.mass([[A[k][m] for m in leg.freedoms] for k in leg.freedoms])
        A_x = [[x + S.dot(f) for x, f in zip(row, [mass @ S for S in leg.J_v], strict=True)]                     # (66b)
               for row, S in zip(A_x, leg.J_v, strict=True)]
    forces = [dot(column, tau) for column in zip(*_inverse_jacobian(model, legs), strict=True)]
    xdd = ldl.solve(*ldl.factor(A_x), [force - bias for force, bias in zip(forces, H_x, strict=True)])           # (66a)
    one = unique_or_nan(leg.J for leg in legs)
    return [one * x for x in platform.coordinates(xdd)]


def _bracket(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches, platform: PlatformAt, legs: Sequence[LegAt]
) -> list[Scalar]:
    """Return F_p + sum of J_vi^T J_i^-T Gamma_i: the dynamic model in the coordinates of the platform."""
    qd: list[Scalar] = [0] * model.n_tree
    qdd = list(qd)
    _put(qd, platform.freedoms, v)
    _put(qdd, platform.freedoms, a)
    V_p, Vd_p = platform.motion(qd, qdd)
    w = V_p.angular
    for leg in legs:
        v_i = leg.at_tip(V_p)                                                                              # (64), (65)
        _put(qd, leg.freedoms, leg.J.solve(leg.constrained(v_i)))                                                # (63)
        Jd_qd = leg.drift(qd)
        vd_i = leg.at_tip(Vd_p) + Motion(w.cross(w.cross(leg.P)))
        _put(qdd, leg.freedoms, leg.J.solve(leg.constrained_without(Jd_qd, vd_i, w)))                            # (63')
    Gamma = shared_axes(model, q, qd, qdd, wrenches)
    Gamma = [x + y for x, y in zip(Gamma, passive_forces(model, q, qd), strict=True)]
    bracket = platform.forces([Gamma[k] for k in platform.freedoms])
    for leg in legs:
        share = leg.at_platform([Gamma[k] for k in leg.freedoms])
        bracket = [x + y for x, y in zip(bracket, share, strict=True)]                                           # (66)
    return bracket


def _inverse_jacobian(model: Model, legs: Sequence[LegAt]) -> list[list[Scalar]]:
    """Return J_p^-1."""
    return [leg.at_platform([int(m == k) for m in leg.freedoms]) for leg, k in _motors(model, legs)]             # (62)


def _motors(model: Model, legs: Sequence[LegAt]) -> list[tuple[LegAt, int]]:
    """Return the driven freedoms and their legs, in the order of ``tau``."""
    return sorted(((leg, k) for leg in legs for k in leg.freedoms if model.tree.joint_of(k).driven), key=itemgetter(1))


def _platform_and_legs(model: Model, q: Scalars) -> tuple[PlatformAt, list[LegAt]]:
    """Return platform and legs at tree positions ``q``."""
    parts = platform_and_legs(model)
    assert isinstance(parts, Parallel)  # see ``fits``
    platform = PlatformAt(model, q, parts)
    return platform, [LegAt(model, q, leg, platform) for leg in parts.legs]


def _put(vector: list[Scalar], places: Sequence[int], values: Scalars) -> None:
    """Set the entries of a vector at some places."""
    for k, value in zip(places, values, strict=True):
        vector[k] = value


def fits(model: Model) -> str:
    """Return why these methods do not suit a robot; empty if they do."""
    parts = platform_and_legs(model)
    if isinstance(parts, str):
        return parts
    suited = [kind.name for kind in CUT_JOINTS.values() if kind.holds_a_point and kind.turns.fixed is not None]
    if other := {leg.kind.name for leg in parts.legs} - {*suited}:
        return f"it is for legs whose tips are held by {', '.join(suited)} joints, not {', '.join(sorted(other))}"
    if model.mobility.free:
        return "it needs a motor for every freedom of the platform"
    if any(model.joint(j).driven for j in parts.platform):
        return "it is for motors in the legs, and some move the platform itself"
    return ""
