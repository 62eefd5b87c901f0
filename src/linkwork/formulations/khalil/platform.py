"""Platform and legs of a parallel robot at some positions: the Jacobians that ``parallel`` needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...constraints.parallel import Leg, Parallel
from ...model import Model
from ...scalar import Scalar, Scalars
from ...scalar.orthogonal import dot
from ...scalar.staircase import Staircase
from ...spatial import AXES, ArticulatedInertia, Force, Matrix, Motion, Pose, Screw, Symmetric, Transform, Vector
from ..rnea import acceleration_matrix


class PlatformAt:
    """The platform at tree positions q.

    Its coordinates x are those of the model or, if it moves freely, translation and rotation in the ground's axes.
    ``unit`` holds its unit motions, velocity of its origin and angular velocity, in the ground's axes.
    """

    def __init__(self, model: Model, q: Scalars, parts: Parallel):
        self.model, self.q, self.bodies = model, q, parts.platform
        self.freedoms = [k for j in self.bodies for k in model.freedoms(j)]
        self.free = len(self.bodies) == 1 and model.joint(self.bodies[0]).kind.free
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

    def motion(self, qd: Scalars, qdd: Scalars) -> tuple[Motion, Motion]:
        """Return V_p and V'_p at tree velocities and accelerations."""
        V, w, Vd, wd, origin = Vector(), Vector(), Vector(), Vector(), Vector()
        for j, at in self._links():
            arm, origin = at.origin - origin, at.origin
            own_v, own_a = self.model.joint_motion(j, self.q, qd), self.model.joint_motion(j, self.q, qdd)
            slide, turn = at.outward(own_v.linear), at.outward(own_v.angular)
            V = V + w.cross(arm) + slide
            own_a = own_a + self.model.joint_drift(j, self.q, qd)
            Vd = Vd + wd.cross(arm) + w.cross(w.cross(arm)) + (2 * w + turn).cross(slide) + at.outward(own_a.linear)
            wd = wd + w.cross(turn) + at.outward(own_a.angular)
            w = w + turn
        return Motion(V, w), Motion(Vd, wd)

    def forces(self, F_p: list[Scalar]) -> list[Scalar]:
        """Return the forces of the coordinates x from those of the model."""
        outward = self.at[-1].outward
        return [*outward(Vector(*F_p[:3])), *outward(Vector(*F_p[3:]))] if self.free else F_p

    def coordinates(self, xdd: list[Scalar]) -> list[Scalar]:
        """Return the accelerations of the model's coordinates from those of x."""
        inward = self.at[-1].inward
        return [*inward(Vector(*xdd[:3])), *inward(Vector(*xdd[3:]))] if self.free else xdd

    def inertia_matrix(self, A: Sequence[Scalars]) -> list[list[Scalar]]:
        """Return A_p, from the inertia matrix of the whole tree."""
        if not self.free:
            return [[A[k][m] for m in self.freedoms] for k in self.freedoms]
        inertia = Pose(self.at[-1].rotation, Vector()).inertia_outward(self.model.inertia(self.bodies[-1]))
        forces = [inertia @ S for S in self.unit]
        return [[S.dot(f) for f in forces] for S in self.unit]


class Drift(NamedTuple):
    """J_i' qd_i of the last link of a leg in its axes: angular velocity and acceleration, acceleration of the origin,
    and the matrix U for the accelerations of its points."""

    w: Vector
    wd: Vector
    vd: Vector
    U: Matrix


class LegAt:
    """A leg at tree positions q.

    ``J`` is J_i, from the joints to those components of the tip's motion that the cut joint constrains, in the axes of
    the last link. ``J_v`` is J_vi, the tip's motion by each unit motion of the platform, in the ground's axes. ``P`` is
    P_i.
    """

    def __init__(self, model: Model, q: Scalars, leg: Leg, platform: PlatformAt):
        self.model, self.q, self.bodies = model, q, leg.bodies
        self.freedoms = [k for j in leg.bodies for k in model.freedoms(j)]
        self.X = [model.transform(j, q) for j in leg.bodies]
        self.tip, self.P = leg.tip.pose.origin, platform.at[-1].outward(leg.hold.pose.origin)
        self.turns = _locked_axes(leg)
        if model.joint(leg.bodies[-1]).revolute:
            self._align()
        self.axes = Transform(*(_turn(part) for X in self.X for part in X.screws))
        self.J_v = [self.at_tip(S) for S in platform.unit]                                       # (65)
        motions: list[Motion] = []
        for j, X in zip(leg.bodies, self.X, strict=True):
            motions = [X.motion_inward(S) for S in motions] + model.subspace(j, q)
        self.J = Staircase([self._constrained(S.linear + S.angular.cross(self.tip), S.angular) for S in motions])

    def _align(self) -> None:
        """Turn the axes of the last link about its joint so that the tip is in their plane x, z: zeros in J_i. Where
        geometry is an input, the direction of the tip is not known."""
        known = isinstance(self.tip.x, (int, float)) and isinstance(self.tip.y, (int, float))
        length = math.hypot(self.tip.x, self.tip.y) if known else 0.0
        if length > 0:
            *placement, last = self.X[-1].screws
            c, s = self.tip.x / length, self.tip.y / length
            turned = Screw("z", last.c * c - last.s * s, last.s * c + last.c * s, last.t)
            self.X[-1], self.tip = Transform(*placement, turned), Vector(length, 0, self.tip.z)
            self.turns = tuple(Screw("z", c, s).inward(turn) for turn in self.turns)

    def at_tip(self, V: Motion) -> Motion:
        """Return [1  -hat(P_i); 0  1] V, the motion of the platform's point at the tip."""
        return Motion(V.linear + V.angular.cross(self.P), V.angular)

    def _constrained(self, linear: Vector, angular: Vector) -> list[Scalar]:
        """Return the components of the tip's motion that the cut joint constrains, in the axes of the last link."""
        return [*linear, *(turn.dot(angular) for turn in self.turns)]

    def constrained(self, v_i: Motion) -> list[Scalar]:
        """Return the constrained components of the tip's motion ``v_i``, which is in the ground's axes."""
        return self._constrained(self.axes.inward(v_i.linear), self.axes.inward(v_i.angular))

    def drift(self, qd: Scalars) -> Drift:
        """Return J_i' qd_i."""
        w, wd, vd, U = Vector(), Vector(), Vector(), Matrix.zero()
        for j, X in zip(self.bodies, self.X, strict=True):
            joint_v, carried = self.model.joint_motion(j, self.q, qd), X.inward(w)
            change = self.model.joint_drift(j, self.q, qd)
            vd = X.inward(vd + U @ X.origin) + (2 * carried + joint_v.angular).cross(joint_v.linear) + change.linear
            wd = X.inward(wd) + carried.cross(joint_v.angular) + change.angular
            w = carried + joint_v.angular
            U = acceleration_matrix(w, wd)
        return Drift(w, wd, vd, U)

    def constrained_without(self, drift: Drift, vd_i: Motion, w_p: Vector) -> list[Scalar]:
        """Return the constrained components of v'_i - J_i' qd_i; their directions turn with the leg."""
        linear = self.axes.inward(vd_i.linear) - drift.vd - drift.U @ self.tip
        turning = drift.wd + drift.w.cross(self.axes.inward(w_p))
        return self._constrained(linear, self.axes.inward(vd_i.angular) - turning)

    def at_platform(self, Gamma_i: Scalars) -> list[Scalar]:
        """Return J_vi^T J_i^-T Gamma_i."""
        reaction = self.J.shortest(Gamma_i)
        moment = _sum(x * turn for x, turn in zip(reaction[3:], self.turns, strict=True))
        force = Force(self.axes.outward(Vector(*reaction[:3])), self.axes.outward(moment))
        return [S.dot(force) for S in self.J_v]

    def mass(self, A_i: Sequence[Scalars]) -> ArticulatedInertia:
        """Return J_i^-T A_i J_i^-1, in the ground's axes."""
        n = 3 + len(self.turns)
        columns = [self.J.solve([int(k == m) for m in range(n)]) for k in range(n)]
        AJ = [[dot(row, column) for row in A_i] for column in columns]
        K = [[dot(x, y) for y in AJ] for x in columns]
        M = Symmetric(*(K[i][j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))))
        by_turn = [_sum(x * turn for x, turn in zip(row[3:], self.turns, strict=True)) for row in K]
        J = (_sum(turn[k] * row for turn, row in zip(self.turns, by_turn[3:], strict=True)) for k in range(3))
        return self.axes.articulated_outward(
            ArticulatedInertia(M, Matrix(*by_turn[:3]), Symmetric.from_matrix(Matrix(*J)))
        )


def _turn(part: Screw | Pose) -> Screw | Pose:
    """Return the rotation of a screw or pose, without its shift."""
    return Screw(part.axis, part.c, part.s) if isinstance(part, Screw) else Pose(part.rotation, Vector())


def _locked_axes(leg: Leg) -> tuple[Vector, ...]:
    """Return the axes about which the cut joint locks the tip, in the axes of the last link; any three, if all are."""
    locked = leg.kind.turns.fixed or ()
    return AXES if len(locked) == 3 else tuple(map(leg.tip.pose.outward, locked))


def _sum(vectors: Iterable[Vector]) -> Vector:
    """Return the sum of vectors."""
    return sum(vectors, start=Vector())
