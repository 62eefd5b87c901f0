"""Khalil's platform and legs: the inverse and direct dynamic models of parallel robots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from ...model import Model
from ...model.parallel import Leg, Parallel, platform_and_legs
from ...scalar import Scalar
from ...spatial import AXES, ArticulatedInertia, Force, Matrix, Motion, Pose, Screw, Symmetric, Transform, Vector
from .. import ldl
from ..crba import crba
from ..method import Wrenches
from ..orthogonal import Orthogonal, dot
from ..passive import passive_forces
from ..rnea import acceleration_matrix
from ..staircase import Staircase, exists
from .kleinfinger import khalil_kleinfinger, revolute

CLOSURES = ("spherical", "revolute", "weld")


def khalil_parallel(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Wrenches = None,
) -> list[Scalar]:
    """Forces of the motors for a motion of the platform: velocities ``v`` and accelerations ``a`` of its coordinates.

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
    held directions. J_p^-1 is not inverted but solved with; of more motors than freedoms the least weighted square.
    """
    robot = _Robot(model, q)
    H, rows = robot.bracket(v, a, wrenches), robot.inverse_jacobian()
    scale = [1 / math.sqrt(model.joint(j).weight) for _, j in robot.motors]
    columns = [[s * x for s, x in zip(scale, column, strict=True)] for column in zip(*rows, strict=True)]
    return [s * x for s, x in zip(scale, Orthogonal(columns).shortest(H), strict=True)]                          # (66)


def khalil_parallel_direct(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Wrenches = None,
) -> list[Scalar]:
    """Accelerations of the platform's coordinates under forces ``tau`` of the motors.

    The bracket of (66) is the dynamic model in the coordinates x of the platform, H_x its value at xdd = 0, A_i the
    inertia matrix of leg i and A_p that of the platform. Equations are numbered here, after (66):

      (66a)  A_x xdd + H_x = J_p^-T Gamma
      (66b)  A_x = A_p + sum of J_vi^T (J_i^-T A_i J_i^-1) J_vi

    What stands in the parentheses is the mass that the platform feels at the leg's tip. It is turned into the ground's
    axes, where J_vi has few entries; so is A_p. Where J_i has no inverse, a leg being stretched, the result is not a
    number.
    """
    robot = _Robot(model, q)
    H_x = robot.bracket(v, [0] * model.nv, wrenches)
    A_x = robot.inertia_matrix()                                                                                 # (66b)
    forces = [dot(column, tau) for column in zip(*robot.inverse_jacobian(), strict=True)]
    xdd = ldl.solve(*ldl.factor(A_x), [force - own for force, own in zip(forces, H_x, strict=True)])             # (66a)
    one = exists(leg.J for leg in robot.legs)
    return [one * x for x in robot.platform.coordinates(xdd)]


def fits(model: Model) -> str:
    """Why the two are not for this robot; empty if they are."""
    parts = platform_and_legs(model)
    if isinstance(parts, str):
        return parts
    if other := {leg.kind for leg in parts.legs} - {*CLOSURES}:
        return f"it is for legs whose tips are held by {', '.join(CLOSURES)} joints, not {', '.join(sorted(other))}"
    if model.mobility.free:
        return "it needs a motor for every freedom of the platform"
    if any(model.joint(j).role == "active" for j in parts.platform):
        return "it is for motors in the legs, and some move the platform itself"
    return ""


class _Robot:
    """Platform and legs at tree positions ``q``."""

    def __init__(self, model: Model, q: Sequence[Scalar]):
        parts = platform_and_legs(model)
        assert isinstance(parts, Parallel)  # see ``fits``
        self.model, self.q, self.platform = model, q, _Platform(model, q, parts)
        self.legs = [_Leg(model, q, leg, self.platform) for leg in parts.legs]
        joints = [(leg, j) for leg in self.legs for j in leg.bodies if model.joint(j).role == "active"]
        self.motors = sorted(joints, key=lambda pair: pair[1])

    def bracket(self, v: Sequence[Scalar], a: Sequence[Scalar], wrenches: Wrenches) -> list[Scalar]:
        """F_p + sum of J_vi^T J_i^-T Gamma_i."""
        qd: list[Scalar] = [0] * self.model.n_tree
        qdd = list(qd)
        _put(qd, self.platform.freedoms, v)
        _put(qdd, self.platform.freedoms, a)
        V_p, Vd_p = self.platform.motion(qd, qdd)
        for leg in self.legs:
            _put(qd, leg.freedoms, leg.rates(V_p))
            _put(qdd, leg.freedoms, leg.accelerations(qd, V_p, Vd_p))
        Gamma = khalil_kleinfinger(self.model, self.q, qd, qdd, wrenches)
        Gamma = [x + y for x, y in zip(Gamma, passive_forces(self.model, self.q, qd), strict=True)]
        total = self.platform.forces([Gamma[k] for k in self.platform.freedoms])
        for leg in self.legs:
            share = leg.at_platform([Gamma[k] for k in leg.freedoms])
            total = [x + y for x, y in zip(total, share, strict=True)]                                           # (66)
        return total

    def inverse_jacobian(self) -> list[list[Scalar]]:
        """J_p^-1."""
        return [leg.at_platform([int(m == j) for m in leg.bodies]) for leg, j in self.motors]                    # (62)

    def inertia_matrix(self) -> list[list[Scalar]]:
        """A_x."""
        A = crba(self.model, self.q)
        A_x = self.platform.inertia_matrix(A)
        for leg in self.legs:
            mass = leg.mass([[A[k][m] for m in leg.freedoms] for k in leg.freedoms])
            A_x = [[x + S.dot(f) for x, f in zip(row, [mass @ S for S in leg.J_v], strict=True)]                 # (66b)
                   for row, S in zip(A_x, leg.J_v, strict=True)]
        return A_x


class _Platform:
    """Its coordinates x are those of the model; or, if it moves freely, translation and rotation in the ground's axes.
    ``unit`` holds its unit motions, velocity of its origin and angular velocity."""

    def __init__(self, model: Model, q: Sequence[Scalar], parts: Parallel):
        self.model, self.q, self.bodies = model, q, parts.platform
        self.freedoms = [k for j in self.bodies for k in model.freedoms(j)]
        self.free = model.joint(self.bodies[-1]).floating
        self.at = [Pose.identity()]
        for j in self.bodies:
            self.at.append(self.at[-1].then(model.transform(j, q)))
        self.unit = [Motion(linear=e) for e in AXES] + [Motion(angular=e) for e in AXES]
        if not self.free:
            self.unit = [self._moved(at, S) for j, at in self._links() for S in model.subspace(j, q)]

    def _links(self) -> Iterator[tuple[int, Pose]]:
        return zip(self.bodies, self.at[1:], strict=True)

    def _moved(self, at: Pose, S: Motion) -> Motion:
        angular = at.outward(S.angular)
        return Motion(at.outward(S.linear) + angular.cross(self.at[-1].origin - at.origin), angular)

    def motion(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> tuple[Motion, Motion]:
        """V_p and V'_p, in the ground's axes, at tree velocities and accelerations."""
        V, w, Vd, wd, origin = Vector(), Vector(), Vector(), Vector(), Vector()
        for j, at in self._links():
            arm, origin = at.origin - origin, at.origin
            own_v, own_a = self.model.joint_motion(j, self.q, v), self.model.joint_motion(j, self.q, a)
            slide, turn = at.outward(own_v.linear), at.outward(own_v.angular)
            V = V + w.cross(arm) + slide
            Vd = Vd + wd.cross(arm) + w.cross(w.cross(arm)) + (2 * w + turn).cross(slide) + at.outward(own_a.linear)
            wd = wd + w.cross(turn) + at.outward(own_a.angular)
            w = w + turn
        return Motion(V, w), Motion(Vd, wd)

    def forces(self, F_p: list[Scalar]) -> list[Scalar]:
        """Of the coordinates x, from those of the model."""
        outward = self.at[-1].outward
        return [*outward(Vector(*F_p[:3])), *outward(Vector(*F_p[3:]))] if self.free else F_p

    def coordinates(self, xdd: list[Scalar]) -> list[Scalar]:
        """Of the model, from those of x."""
        inward = self.at[-1].inward
        return [*inward(Vector(*xdd[:3])), *inward(Vector(*xdd[3:]))] if self.free else xdd

    def inertia_matrix(self, A: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """A_p, from the inertia matrix of the whole tree."""
        if not self.free:
            return [[A[k][m] for m in self.freedoms] for k in self.freedoms]
        inertia = Pose(self.at[-1].rotation, Vector()).inertia_outward(self.model.inertia(self.bodies[-1]))
        forces = [inertia @ S for S in self.unit]
        return [[S.dot(f) for f in forces] for S in self.unit]


class _Leg:
    """J_i and J_vi, and what they carry between the leg and the platform."""

    def __init__(self, model: Model, q: Sequence[Scalar], leg: Leg, platform: _Platform):
        self.model, self.q, self.bodies = model, q, leg.bodies
        self.freedoms = [k for j in leg.bodies for k in model.freedoms(j)]
        self.X = [model.transform(j, q) for j in leg.bodies]
        self.tip, self.P = leg.tip.pose.origin, platform.at[-1].outward(leg.hold.pose.origin)
        self.turns = {"spherical": (), "weld": AXES}.get(leg.kind, leg.tip.pose.rotation.columns[:2])
        if revolute(model.joint(leg.bodies[-1])):
            self._align()
        self.axes = Transform(*(Screw(s.axis, s.c, s.s) for X in self.X for s in X.screws))  # no shifts
        self.J_v = [self._at_tip(S) for S in platform.unit]                                                      # (65)
        motions: list[Motion] = []
        for j, X in zip(leg.bodies, self.X, strict=True):
            motions = [X.motion_inward(S) for S in motions] + model.subspace(j, q)
        self.J = Staircase([self._held(S.linear + S.angular.cross(self.tip), S.angular) for S in motions])

    def _align(self) -> None:
        """Turn the axes of the last link about its joint until the tip lies in their plane x, z: zeros in J_i."""
        length = math.hypot(self.tip.x, self.tip.y)
        if length > 0:
            *placement, last = self.X[-1].screws
            c, s = self.tip.x / length, self.tip.y / length
            turned = Screw("z", last.c * c - last.s * s, last.s * c + last.c * s, last.t)
            self.X[-1], self.tip = Transform(*placement, turned), Vector(length, 0, self.tip.z)
            self.turns = tuple(Screw("z", c, s).inward(turn) for turn in self.turns)

    def _at_tip(self, motion: Motion) -> Motion:
        """Of the platform's point at the tip, in the ground's axes."""
        return Motion(motion.linear + motion.angular.cross(self.P), motion.angular)

    def _held(self, linear: Vector, angular: Vector) -> list[Scalar]:
        """What of a motion of the tip the cut joint holds, in the axes of the last link."""
        return [*linear, *(turn.dot(angular) for turn in self.turns)]

    def rates(self, V_p: Motion) -> list[Scalar]:
        v_i = self._at_tip(V_p)                                                                                  # (64)
        return self.J.solve(self._held(self.axes.inward(v_i.linear), self.axes.inward(v_i.angular)))             # (63)

    def accelerations(self, qd: Sequence[Scalar], V_p: Motion, Vd_p: Motion) -> list[Scalar]:
        """At tree velocities ``qd``."""
        w, wd, vd, U = Vector(), Vector(), Vector(), Matrix.zero()  # J_i' qd_i, in the axes of each link
        for j, X in zip(self.bodies, self.X, strict=True):
            own, carried = self.model.joint_motion(j, self.q, qd), X.inward(w)
            vd = X.inward(vd + U @ X.origin) + (2 * carried).cross(own.linear)
            wd = X.inward(wd) + carried.cross(own.angular)
            w = carried + own.angular
            U = acceleration_matrix(w, wd)
        moved, w_p = self._at_tip(Vd_p), V_p.angular
        linear = self.axes.inward(moved.linear + w_p.cross(w_p.cross(self.P))) - vd - U @ self.tip
        turning = wd + w.cross(self.axes.inward(w_p))  # the held directions turn with the leg
        return self.J.solve(self._held(linear, self.axes.inward(moved.angular) - turning))                       # (63')

    def at_platform(self, Gamma: Sequence[Scalar]) -> list[Scalar]:
        """J_vi^T J_i^-T Gamma."""
        held = self.J.shortest(Gamma)
        moment = _sum(x * turn for x, turn in zip(held[3:], self.turns, strict=True))
        force = Force(self.axes.outward(Vector(*held[:3])), self.axes.outward(moment))
        return [S.dot(force) for S in self.J_v]

    def mass(self, A: Sequence[Sequence[Scalar]]) -> ArticulatedInertia:
        """J_i^-T A J_i^-1 of the tip, in the ground's axes."""
        n = 3 + len(self.turns)
        columns = [self.J.solve([int(k == m) for m in range(n)]) for k in range(n)]
        AJ = [[dot(row, column) for row in A] for column in columns]
        K = [[dot(x, y) for y in AJ] for x in columns]
        M = Symmetric(*(K[i][j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))))
        by_turn = [_sum(x * turn for x, turn in zip(row[3:], self.turns, strict=True)) for row in K]
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = (
            _sum(turn[k] * row for turn, row in zip(self.turns, by_turn[3:], strict=True)) for k in range(3)
        )
        return self.axes.articulated_outward(
            ArticulatedInertia(M, Matrix(*by_turn[:3]), Symmetric(xx, xy, xz, yy, yz, zz))
        )


def _sum(vectors: Iterable[Vector]) -> Vector:
    return sum(vectors, start=Vector())


def _put(vector: list[Scalar], places: Sequence[int], values: Sequence[Scalar]) -> None:
    for k, value in zip(places, values, strict=True):
        vector[k] = value
