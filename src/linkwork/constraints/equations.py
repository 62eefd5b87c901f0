"""Equations of constraints: what cut joints, wheels, gears and contacts ask of joints, over any scalar.

The loop is walked from the frame ``first`` of the cut joint, inward to the last body both branches share and outward
to the frame ``second``. Everything is told relative to ``first`` and in its axes, so a moving base does not enter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ..model import Constraint, ConstraintKind, Frame, Model
from ..scalar import Scalar, sign
from ..scalar.orthogonal import dot
from ..spatial import Matrix, Motion, Pose, Transform, Vector

Row = TypeVar("Row")


def row_names(model: Model) -> list[str]:
    """The equations: loop and direction, with r for turns."""
    return [f"{loop.name}.{row}" for loop in model.permanent for row in loop.kind.rows]


def holding_positions(model: Model) -> tuple[bool, ...]:
    """Of each equation: does it hold positions, or velocities alone?"""
    return tuple(holds for loop in model.permanent for holds in loop.kind.holonomic)


def closing_rows(model: Model) -> list[int] | None:
    """The numbers of those that hold positions; None if all do."""
    holds = holding_positions(model)
    return None if all(holds) else [k for k, each in enumerate(holds) if each]


def in_loops(model: Model) -> set[str]:
    """The leading joints that have a part in some loop."""
    around = {i for loop in model.permanent for i in _bodies(model, loop)}
    return {model.joint(i).leader or model.joint(i).name for i in around}


def _bodies(model: Model, loop: Constraint) -> set[int]:
    """Those whose joints have a part in it."""
    if loop.kind.coordinates:
        tied = {*map(model.tree.velocity_names.index, loop.kind.coordinates)}
        return {i for i, _ in model.outward() if tied & {*model.freedoms(i)}}
    return {*_branch(model, loop.first.body)} ^ {*_branch(model, loop.second.body)}


@dataclass(frozen=True)
class Step:
    """One joint on the way around: where its axis stands, and whether it is passed outward (1) or inward (-1)."""

    body: int
    side: int
    at: Pose


@dataclass(frozen=True)
class Way:
    """The joints from ``first`` to ``second``, and where ``second`` is, all seen from ``first``."""

    model: Model
    kind: ConstraintKind
    q: Sequence[Scalar]
    begin: Vector  # where ``first`` sees the body that it is on
    steps: list[Step]
    end: Pose

    @staticmethod
    def around(model: Model, loop: Constraint, q: Sequence[Scalar]) -> Way:
        inner, outer = (_branch(model, frame.body) for frame in (loop.first, loop.second))
        begin = at = loop.first.pose.inverse()
        steps = []
        for i in inner:
            if i not in outer:
                steps.append(Step(i, -1, at))
                at = _before(at, model.transform(i, q))
        for i in reversed(outer):
            if i not in inner:
                at = at.then(model.transform(i, q))
                steps.append(Step(i, 1, at))
        return Way(model, loop.kind, q, begin.origin, steps, at.then(loop.second.pose))

    @property
    def residual(self) -> list[Scalar]:
        return self.kind.residual(self.end)

    @property
    def aligned(self) -> Scalar:
        return self.kind.aligned(self.end)

    def slopes(self) -> Iterator[tuple[int, list[Scalar]]]:
        """What is held of a unit velocity of each freedom of the tree on the way."""
        for step in self.steps:
            for k, S in zip(self.model.freedoms(step.body), self.model.subspace(step.body, self.q), strict=True):
                angular = step.at.outward(S.angular) * step.side
                linear = step.at.outward(S.linear) * step.side + angular.cross(self.end.origin - step.at.origin)
                yield k, self.kind.held(self.end, Motion(linear, angular))

    def drift(self, v: Sequence[Scalar]) -> list[Scalar]:
        w, wd, velocity, acceleration, at = Vector(), Vector(), Vector(), Vector(), Vector()
        for step in self.steps:
            arm, at = step.at.origin - at, step.at.origin
            own = self.model.joint_motion(step.body, self.q, v)
            change = self.model.joint_drift(step.body, self.q, v)
            slide, turn = step.at.outward(own.linear) * step.side, step.at.outward(own.angular) * step.side
            velocity = velocity + w.cross(arm) + slide
            acceleration = acceleration + wd.cross(arm) + w.cross(w.cross(arm)) + (2 * w + turn).cross(slide)
            acceleration = acceleration + step.at.outward(change.linear) * step.side
            wd = wd + w.cross(turn) + step.at.outward(change.angular) * step.side
            w = w + turn
        arm = self.end.origin - at
        acceleration = acceleration + wd.cross(arm) + w.cross(w.cross(arm))
        return self.kind.drift(self.end, Motion(velocity + w.cross(arm), w), Motion(acceleration, wd))


@dataclass(frozen=True)
class Tie:
    """Coordinates that are tied together: there is no way to walk. ``freedoms`` are those of the tree."""

    kind: ConstraintKind
    freedoms: list[int]
    positions: list[Scalar]

    @staticmethod
    def between(model: Model, loop: Constraint, q: Sequence[Scalar]) -> Tie:
        freedoms = [model.tree.velocity_names.index(name) for name in loop.kind.coordinates]
        places = [place for k in freedoms if (place := model.tree.position_of(k)) is not None]  # check refuses others
        return Tie(loop.kind, freedoms, [q[place] for place in places])

    @property
    def residual(self) -> list[Scalar]:
        return self.kind.residual(self.positions)

    @property
    def aligned(self) -> Scalar:
        return 1

    def slopes(self) -> Iterator[tuple[int, list[Scalar]]]:
        for n, k in enumerate(self.freedoms):
            yield k, self.kind.held(self.positions, [int(m == n) for m in range(len(self.freedoms))])

    def drift(self, v: Sequence[Scalar]) -> list[Scalar]:
        return self.kind.drift(self.positions, [v[k] for k in self.freedoms], [0] * len(self.freedoms))


def _branch(model: Model, body: int) -> list[int]:
    return [body, *model.ancestors(body)] if body else []


def _before(inner: Pose, placed: Transform | Pose) -> Pose:
    """The outer frame in which ``placed`` puts the frame ``inner``."""
    rotation = Matrix(*(placed.outward(row) for row in inner.rotation.rows))
    return Pose(rotation, inner.origin - rotation @ placed.origin)


class LoopEquations:
    """The equations of ``loops``, or of all that are always on, at tree positions ``q``: a row each, in the order of
    ``row_names``; or some of them, by their numbers."""

    def __init__(
        self,
        model: Model,
        q: Sequence[Scalar],
        numbers: Sequence[int] | None = None,
        loops: Sequence[Constraint] | None = None,
    ):
        self.model, self.q, self.numbers = model, q, numbers
        self.loops = model.permanent if loops is None else loops
        self._walked: list[Way | Tie] = []

    @classmethod
    def at(cls, model: Model, q: Sequence[Scalar]) -> LoopEquations:
        """At the user's ``q``."""
        return cls(model, model.expand(q))

    @classmethod
    def closing(cls, model: Model, q: Sequence[Scalar]) -> LoopEquations:
        """Those that hold positions, at the user's ``q``: all, unless something rolls."""
        return cls(model, model.expand(q), closing_rows(model))

    @classmethod
    def independent(cls, model: Model, q: Sequence[Scalar]) -> LoopEquations:
        """Those that do not follow from others."""
        return cls(model, q, model.mobility.rows)

    def ways(self) -> Iterator[Way | Tie]:
        """One for each loop, walked when it is first asked for."""
        for k, loop in enumerate(self.loops):
            if k == len(self._walked):
                walk = Tie.between if loop.kind.coordinates else Way.around
                self._walked.append(walk(self.model, loop, self.q))
            yield self._walked[k]

    @property
    def holds(self) -> list[bool]:
        """Whether each holds positions, or velocities alone."""
        return self._asked([*holding_positions(self.model)])

    @cached_property
    def residual(self) -> list[Scalar]:
        """By how much every loop is open: metres and, for small ones, radians; zero where positions are not held."""
        return self._asked([row for way in self.ways() for row in way.residual])

    @cached_property
    def aligned(self) -> list[Scalar]:
        """For each loop a number that is positive if no axis, and no frame, is turned by more than a right angle."""
        return [way.aligned for way in self.ways()]

    @cached_property
    def J(self) -> list[list[Scalar]]:
        """Rate of the residual of closed loops per velocity of each leading joint; of rolling, how it would slip."""
        model, rows = self.model, []
        for way in self.ways():
            own: list[list[Scalar]] = [[0] * model.n_tree for _ in way.kind.rows]
            for k, held in way.slopes():
                for row, value in zip(own, held, strict=True):
                    row[k] = value
            rows += own
        return model.collect_rows(self._asked(rows))

    def columns(self, freedoms: Iterable[int]) -> list[list[Scalar]]:
        """Those of J that belong to some freedoms of the leading joints."""
        return [[row[k] for row in self.J] for k in freedoms]

    def drift(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Rate of J v when the joints do not accelerate, at tree velocities ``v``."""
        return self._asked([row for way in self.ways() for row in way.drift(v)])

    def rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        """J v: of the residual, or of slipping, at velocities ``v`` of the leading joints."""
        return [dot(row, v) for row in self.J]

    def _asked(self, rows: list[Row]) -> list[Row]:
        return rows if self.numbers is None else [rows[number] for number in self.numbers]


def place_sizes(model: Model) -> list[int]:
    """How many numbers say where each contact with a switch stands: its origin, and if it holds turns, the rows
    of its rotation."""
    return [12 if each.kind.holds_turns else 3 for each in model.switched]


class SwitchedEquations:
    """The independent equations of constraints that are always on, then of those with a switch, times their switches.

    A contact that is on is held where it stands: a point by three equations, a sole by six, in axes of the world. Each
    has a number, ``contacts``: 0 is off, and what is not 0 is on. Their forces may be more than the motion tells; then
    the sum of

        |f / c|^2  of points,   |f / c|^2 / 4 + 2 |m / c|^2 / (length^2 + width^2)  of soles

    is the least, as if a sole stood on its four corners. So among those that are on, numbers c other than 1 are
    weights: one with a larger number bears more. However small they are, the forces do what they must; where those of
    small weights are needed, they are the least to about 1e-15 over the square of the ratio of the weights.

    ``places``: where those in contact stand, as ``place_sizes`` has them; without them only their motion is held.
    """

    def __init__(
        self, model: Model, q: Sequence[Scalar], contacts: Sequence[Scalar], places: Sequence[Scalar] | None = None
    ):
        self.model, self.q, self.contacts = model, q, contacts
        self.permanent = LoopEquations.independent(model, q)
        self.switched = LoopEquations(model, q, loops=_held(model, places))
        self.scales = [c * x for c, contact in zip(contacts, model.switched, strict=True) for x in contact.kind.scales]

    @property
    def on(self) -> list[Scalar]:
        """1 for each equation of a contact that is on, whatever its weight, else 0."""
        return [sign(s) * sign(s) for s in self.scales]

    @property
    def holds(self) -> list[bool]:
        """Whether each equation holds positions, or velocities alone."""
        return [*self.permanent.holds, *(True for _ in self.scales)]

    @cached_property
    def residual(self) -> list[Scalar]:
        return [*self.permanent.residual, *self._scaled(self.switched.residual)]

    @cached_property
    def J(self) -> list[list[Scalar]]:
        return [*self.permanent.J, *([s * x for x in row] for s, row in zip(self.scales, self.switched.J, strict=True))]

    def drift(self, v: Sequence[Scalar]) -> list[Scalar]:
        return [*self.permanent.drift(v), *self._scaled(self.switched.drift(v))]

    def rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        return [dot(row, v) for row in self.J]

    def bouncing(self, v: Sequence[Scalar], restitution: Sequence[Scalar]) -> list[Scalar]:
        """By how much an impact changes the rates: all is lost, and along the normal a share comes back."""
        shares: list[Scalar] = [0] * len(self.permanent.J)
        for e, contact in zip(restitution, self.model.switched, strict=True):
            shares += [e if row == contact.kind.load else 0 for row in contact.kind.rows]
        return [(1 + e) * rate for e, rate in zip(shares, self.rates(v), strict=True)]

    def forces(self, multipliers: Sequence[Scalar]) -> list[list[Scalar]]:
        """Forces of the ground on what stands on it, a row each: force, and moment about the origin of the frame, in
        the world's axes; from lambda of all equations, or of those with a switch alone."""
        values = [-x for x in self._scaled(multipliers[len(multipliers) - len(self.scales) :])]
        rows, at = [], 0
        for contact in self.model.switched:
            n = len(contact.kind.rows)
            rows.append([*values[at : at + n], *[0] * (6 - n)])
            at += n
        return rows

    def _scaled(self, rows: Sequence[Scalar]) -> list[Scalar]:
        return [s * x for s, x in zip(self.scales, rows, strict=True)]


def _held(model: Model, places: Sequence[Scalar] | None) -> tuple[Constraint, ...]:
    """What stands on the ground, held to it. Its frame is turned so that both have the axes of the world."""
    loops, at = [], 0
    for contact, size in zip(model.switched, place_sizes(model), strict=True):
        ground, own = Pose.identity(), contact.second
        if places is not None:
            numbers = places[at : at + size]
            ground = Pose(ground.rotation, Vector(*numbers[:3]))
            if contact.kind.holds_turns:
                rotation = Matrix(*(Vector(*numbers[k : k + 3]) for k in (3, 6, 9)))
                own = Frame(own.name, own.body, Pose(own.pose.rotation @ rotation.T, own.pose.origin))
        at += size
        loops.append(Constraint(contact.name, contact.kind.always, Frame("ground", 0, ground), own))
    return tuple(loops)
