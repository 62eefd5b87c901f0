"""Equations of constraints (cut joints, wheels, gears, contacts) in the joint coordinates, over any scalar.

The path leads from the frame ``first``, inward to the last body that both branches share, and outward to the frame
``second``. All vectors are relative to ``first`` and in its axes, so a moving base does not enter.
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
    """Return the names of the equations: constraint and direction, with r for rotations."""
    return [f"{loop.name}.{row}" for loop in model.permanent for row in loop.kind.rows]


def holding_positions(model: Model) -> tuple[bool, ...]:
    """Return for each equation whether it constrains positions, and not velocities alone."""
    return tuple(holds for loop in model.permanent for holds in loop.kind.holonomic)


def closing_rows(model: Model) -> list[int] | None:
    """Return the numbers of the equations that constrain positions; None if all do."""
    holonomic = holding_positions(model)
    return None if all(holonomic) else [k for k, each in enumerate(holonomic) if each]


def in_loops(model: Model) -> set[str]:
    """Return the non-mimic joints that are part of a loop."""
    around = {i for loop in model.permanent for i in _bodies(model, loop)}
    return {model.joint(i).leader or model.joint(i).name for i in around}


def _bodies(model: Model, loop: Constraint) -> set[int]:
    """Return the bodies whose joints are part of a loop."""
    if loop.kind.coordinates:
        coupled = {*map(model.tree.velocity_names.index, loop.kind.coordinates)}
        return {i for i, _ in model.outward() if coupled & {*model.freedoms(i)}}
    return {*_branch(model, loop.first.body)} ^ {*_branch(model, loop.second.body)}


@dataclass(frozen=True)
class Step:
    """One joint of the path: the pose of its body, and whether it is passed outward (1) or inward (-1)."""

    body: int
    side: int
    at: Pose


@dataclass(frozen=True)
class Way:
    """The path from ``first`` to ``second``: its joints, and the pose of ``second``, all relative to ``first``."""

    model: Model
    kind: ConstraintKind
    q: Sequence[Scalar]
    begin: Vector  # origin of the body of ``first``
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
        """Yield the constrained components of a unit velocity of each tree velocity on the path."""
        for step in self.steps:
            for k, S in zip(self.model.freedoms(step.body), self.model.subspace(step.body, self.q), strict=True):
                angular = step.at.outward(S.angular) * step.side
                linear = step.at.outward(S.linear) * step.side + angular.cross(self.end.origin - step.at.origin)
                yield k, self.kind.held(self.end, Motion(linear, angular))

    def drift(self, v: Sequence[Scalar]) -> list[Scalar]:
        w, wd, velocity, acceleration, at = Vector(), Vector(), Vector(), Vector(), Vector()
        for step in self.steps:
            arm, at = step.at.origin - at, step.at.origin
            motion = self.model.joint_motion(step.body, self.q, v)
            change = self.model.joint_drift(step.body, self.q, v)
            slide, turn = step.at.outward(motion.linear) * step.side, step.at.outward(motion.angular) * step.side
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
    """A coupling of coordinates, as of a gear, which has no path. ``freedoms``: indices of tree velocities."""

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


def _before(inner: Pose, placement: Transform | Pose) -> Pose:
    """Return the outer frame in which ``placement`` puts the frame ``inner``."""
    rotation = Matrix(*(placement.outward(row) for row in inner.rotation.rows))
    return Pose(rotation, inner.origin - rotation @ placement.origin)


class ConstraintEquations:
    """The equations of constraints at tree positions ``q``, a row each, in the order of ``row_names``.

    ``loops``: the constraints; default: all that are always on. ``numbers``: of the equations; default: all.
    """

    def __init__(
        self,
        model: Model,
        q: Sequence[Scalar],
        numbers: Sequence[int] | None = None,
        loops: Sequence[Constraint] | None = None,
    ):
        self.model, self.q, self.numbers = model, q, numbers
        self.loops = model.permanent if loops is None else loops
        self._paths: list[Way | Tie] = []

    @classmethod
    def at(cls, model: Model, q: Sequence[Scalar]) -> ConstraintEquations:
        """Return all equations at the user's ``q``."""
        return cls(model, model.expand(q))

    @classmethod
    def closing(cls, model: Model, q: Sequence[Scalar]) -> ConstraintEquations:
        """Return the equations that constrain positions, at the user's ``q``: all, unless something rolls."""
        return cls(model, model.expand(q), closing_rows(model))

    @classmethod
    def independent(cls, model: Model, q: Sequence[Scalar]) -> ConstraintEquations:
        """Return the independent equations."""
        return cls(model, q, model.mobility.rows)

    def ways(self) -> Iterator[Way | Tie]:
        """Yield the path of each constraint, computed at its first use."""
        for k, loop in enumerate(self.loops):
            if k == len(self._paths):
                path = Tie.between if loop.kind.coordinates else Way.around
                self._paths.append(path(self.model, loop, self.q))
            yield self._paths[k]

    @property
    def holds(self) -> list[bool]:
        """For each equation, whether it constrains positions, and not velocities alone."""
        return self._selected([*holding_positions(self.model)])

    @property
    def block_sizes(self) -> list[int]:
        """Number of equations of each constraint."""
        owners = self._selected([k for k, loop in enumerate(self.loops) for _ in loop.kind.rows])
        return [owners.count(k) for k in range(len(self.loops))]

    @cached_property
    def residual(self) -> list[Scalar]:
        """By how much each equation is violated: m or (small) rad; zero for equations of velocities alone."""
        return self._selected([row for way in self.ways() for row in way.residual])

    @cached_property
    def aligned(self) -> list[Scalar]:
        """For each constraint, a number that is positive if no axis is turned by more than a right angle."""
        return [way.aligned for way in self.ways()]

    @cached_property
    def J(self) -> list[list[Scalar]]:
        """Jacobian: rates of the residuals, or slip velocities, per velocity of each non-mimic joint."""
        model, rows = self.model, []
        for way in self.ways():
            block: list[list[Scalar]] = [[0] * model.n_tree for _ in way.kind.rows]
            for k, slopes in way.slopes():
                for row, value in zip(block, slopes, strict=True):
                    row[k] = value
            rows += block
        return model.collect_rows(self._selected(rows))

    def columns(self, freedoms: Iterable[int]) -> list[list[Scalar]]:
        """Return the columns of J of some velocities of the non-mimic joints."""
        return [[row[k] for row in self.J] for k in freedoms]

    def drift(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Return the rate of J v without joint accelerations, at tree velocities ``v``."""
        return self._selected([row for way in self.ways() for row in way.drift(v)])

    def rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        """Return J v, rates of the residuals or slip velocities, at velocities ``v`` of the non-mimic joints."""
        return [dot(row, v) for row in self.J]

    def _selected(self, rows: list[Row]) -> list[Row]:
        return rows if self.numbers is None else [rows[number] for number in self.numbers]


def place_sizes(model: Model) -> list[int]:
    """Return the number of values that give the place of each contact with a switch: its origin and, if it constrains
    rotations, the rows of its rotation matrix."""
    return [12 if each.kind.holds_turns else 3 for each in model.switched]


class SwitchedEquations:
    """The independent equations of constraints that are always on, then of those with a switch, times their switches.

    A contact that is on stays where it stands: a point by three equations, a sole by six, in the world's axes. Each has
    a number in ``contacts``: 0 is off, any other number is on. If the motion does not determine their forces, the
    sum of

        |f / c|^2  of points,   |f / c|^2 / 4 + 2 |m / c|^2 / (length^2 + width^2)  of soles

    is minimal, as if a sole stood on its four corners. So numbers c other than 1 are weights of the contacts that are
    on: one with a larger number carries more. Forces are correct for weights of any size; if contacts with small
    weights are needed, the sum is minimal up to about 1e-15 over the square of the ratio of the weights.

    ``places``: of the contacts, as in ``place_sizes``; without them only velocities are constrained.
    """

    def __init__(
        self, model: Model, q: Sequence[Scalar], contacts: Sequence[Scalar], places: Sequence[Scalar] | None = None
    ):
        self.model, self.q, self.contacts = model, q, contacts
        self.permanent = ConstraintEquations.independent(model, q)
        self.switched = ConstraintEquations(model, q, loops=_held(model, places))
        self.scales = [c * x for c, contact in zip(contacts, model.switched, strict=True) for x in contact.kind.scales]

    @property
    def on(self) -> list[Scalar]:
        """1 for each equation of a contact that is on, whatever its weight, else 0."""
        return [sign(s) * sign(s) for s in self.scales]

    @property
    def holds(self) -> list[bool]:
        """For each equation, whether it constrains positions, and not velocities alone."""
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
        """Return the change of the rates by an impact: they vanish, but for restitution along the normal."""
        shares: list[Scalar] = [0] * len(self.permanent.J)
        for e, contact in zip(restitution, self.model.switched, strict=True):
            shares += [e if row == contact.kind.load else 0 for row in contact.kind.rows]
        return [(1 + e) * rate for e, rate in zip(shares, self.rates(v), strict=True)]

    def forces(self, multipliers: Sequence[Scalar]) -> list[list[Scalar]]:
        """Return the contact forces of the ground, a row for each contact with a switch: force, and moment about the
        origin of the frame, in the world's axes; from lambda of all equations, or of those with a switch alone."""
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
    """Return the contacts as constraints with the ground, with frames in the axes of the world."""
    loops, at = [], 0
    for contact, size in zip(model.switched, place_sizes(model), strict=True):
        ground, frame = Pose.identity(), contact.second
        if places is not None:
            numbers = places[at : at + size]
            ground = Pose(ground.rotation, Vector(*numbers[:3]))
            if contact.kind.holds_turns:
                rotation = Matrix(*(Vector(*numbers[k : k + 3]) for k in (3, 6, 9)))
                frame = Frame(frame.name, frame.body, Pose(frame.pose.rotation @ rotation.T, frame.pose.origin))
        at += size
        loops.append(Constraint(contact.name, contact.kind.always, Frame("ground", 0, ground), frame))
    return tuple(loops)
