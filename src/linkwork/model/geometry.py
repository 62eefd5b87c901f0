"""Geometry: where the joints, frames and cut joints of a file are, kept so that other numbers can replace them.

A Model has its own frames: fixed joints are merged, axes are z. What leads from a link of the file to the frame of its
body is fixed to the link, so it is the same for every geometry. With A the link of the parent in its body, T the
placement of the file, and G from the link of the child to the frame where the joint's motion ends:

  (1)  a joint is at A T G, and the link of the child in its body as before
  (2)  a fixed joint has the child at A T, in the same body

The inertia of a link that moves in its body moves with it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scalar import Scalar
from ..spatial import Inertia, Matrix, Pose, Symmetric, Vector
from .conventions import XYZ_RPY
from .description import LinkInertia, Placement, Written
from .rotations import rpy_from_rotation

if TYPE_CHECKING:
    from .model import Constraint, Frame, Model

NOISE = 1e-15  # rounding errors of rotations


@dataclass(frozen=True, eq=False)
class FixedPose:
    """The constant placement of a joint by a pose of any scalars, in place of screws."""

    screw: Pose
    angle = float("nan")  # unlike zero: the joint's axis may have any direction


@dataclass(frozen=True, eq=False)
class Seat:
    """A joint of the file, in the frames of its links.

    Attributes:
        name: of the joint.
        parent: parent link.
        child: child link.
        origin: placement T of the child in the parent at position zero.
        body: name of the body that it moves; empty for a fixed joint.
        begin: G.
        movable: whether other numbers may place it; a flexible link has its length from its material.
    """

    name: str
    parent: str
    child: str
    origin: Placement
    body: str = ""
    begin: Placement = field(default_factory=Placement)
    movable: bool = True


@dataclass(frozen=True, eq=False)
class Geometry:
    """The placements of a file.

    Attributes:
        root: root link.
        seats: joints, parents before children.
        frames: frames in their links, by name.
        sides: frames of constraints in their links, by constraint and side.
        inertias: inertia of each link in its frame.
        poses: placements that replace those of the file, by the names of ``placements``.
    """

    root: str
    seats: tuple[Seat, ...]
    frames: Mapping[str, tuple[str, Placement]]
    sides: Mapping[tuple[str, str], tuple[str, Placement]]
    inertias: Mapping[str, LinkInertia | None]
    poses: Mapping[str, Pose] = field(default_factory=dict)

    @cached_property
    def placements(self) -> dict[str, Placement]:
        """What other numbers may place: joints, then frames, then the sides of constraints."""
        found = {seat.name: seat.origin for seat in self.seats if seat.movable}
        found |= {self._name_of(name): placement for name, (_, placement) in self.frames.items()}
        return found | {f"{name}.{side}": placement for (name, side), (_, placement) in self.sides.items()}

    def _name_of(self, frame: str) -> str:
        """The name of a frame, which may be that of a joint."""
        return f"{frame}.frame" if any(seat.name == frame for seat in self.seats) else frame

    def among(self, links: Container[str]) -> Geometry:
        """Return the geometry of some of the links."""
        seats = tuple(seat for seat in self.seats if seat.child in links and seat.parent in links)
        frames = {name: side for name, side in self.frames.items() if side[0] in links}
        return replace(self, seats=seats, frames=frames)

    def placed(self, model: Model, poses: Mapping[str, Pose]) -> Model:
        """Return the robot with other poses of some of ``placements``, of any scalars."""
        geometry = replace(self, poses={**self.poses, **poses})
        return _Placing(model, geometry, {*poses}).model()


class _Placing:
    """A robot with other placements: ``changed`` has the names of those that are new."""

    def __init__(self, before: Model, geometry: Geometry, changed: set[str]):
        self.before, self.geometry, self.changed = before, geometry, changed
        self.at = {name: frame.pose for name, frame in before.frames.items()}  # links in their bodies
        self.moved: set[str] = set()  # links that are elsewhere in their bodies
        self.joints: dict[str, Any] = {}
        for seat in geometry.seats:
            if seat.parent in self.moved or seat.name in changed:
                self._move(seat)

    def _move(self, seat: Seat) -> None:
        pose = self._in_body(seat.parent, seat.name, seat.origin)
        if seat.body:
            self.joints[seat.body] = FixedPose(pose.then(pose_of(seat.begin)))  # (1)
        else:
            self.at[seat.child] = pose  # (2)
            self.moved.add(seat.child)

    def _in_body(self, link: str, name: str, placement: Placement) -> Pose:
        """The pose, in the body of a link, of what is placed in the link; of a point of the ground in the ground."""
        pose = self.geometry.poses.get(name) or pose_of(placement)
        return self.at[link].then(pose) if link else pose

    def model(self) -> Model:
        frames = {name: self._frame(frame) for name, frame in self.before.frames.items()}
        constraints = tuple(self._constraint(each, frames) for each in self.before.constraints)
        frames |= {each.name: each.first for each in constraints if each.name in frames and each.kind.closes_loop}
        model = replace(
            self.before,
            bodies=tuple(
                replace(body, joint=replace(body.joint, placement=(pose,), angle=0.0, length=0.0))
                if (pose := self.joints.get(body.name))
                else body
                for body in self.before.bodies
            ),
            frames=frames,
            constraints=constraints,
            forces=tuple((frames[frame.name], law) for frame, law in self.before.forces),
            geometry=self.geometry,
        )
        return model.with_inertias(self._inertias())

    def _frame(self, frame: Frame) -> Frame:
        if frame.name in self.moved:
            return replace(frame, pose=self.at[frame.name])
        link, placement = self.geometry.frames.get(frame.name, ("", Placement()))
        name = self.geometry._name_of(frame.name)
        if link and (link in self.moved or name in self.changed):
            return replace(frame, pose=self._in_body(link, name, placement))
        return frame

    def _constraint(self, constraint: Constraint, frames: Mapping[str, Frame]) -> Constraint:
        def end(side: str, frame: Frame) -> Frame:
            if (constraint.name, side) not in self.geometry.sides:
                return frames.get(frame.name, frame)  # the frame of a foot
            link, placement = self.geometry.sides[constraint.name, side]
            name = f"{constraint.name}.{side}"
            new = link in self.moved or name in self.changed
            return replace(frame, pose=self._in_body(link, name, placement)) if new else frame

        return replace(constraint, first=end("first", constraint.first), second=end("second", constraint.second))

    def _inertias(self) -> list[Inertia]:
        inertias = [body.inertia for body in self.before.bodies]
        for link in self.moved:
            number, inertia = self.before.frames[link].body, self.geometry.inertias.get(link)
            if number and inertia is not None:
                own = _inertia(inertia)
                was = self.before.frames[link].pose.inertia_outward(own)
                now = self.at[link].inertia_outward(own)
                inertias[number - 1] = Inertia.of(
                    x + (y - z) for x, y, z in zip(inertias[number - 1], now, was, strict=True)
                )
        return inertias


def _inertia(inertia: LinkInertia) -> Inertia:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.about_origin.tolist()
    return Inertia(inertia.mass, Vector(*inertia.first_moment.tolist()), Symmetric(xx, xy, xz, yy, yz, zz))


def written(placement: Placement) -> Written:
    """Return how a file writes a placement; by position and angles if nothing is known."""
    if placement.written is not None:
        return placement.written
    return Written(XYZ_RPY, (*placement.translation.tolist(), *rpy_from_rotation(placement.rotation)))


def posed(placement: Placement, values: Sequence[Scalar]) -> Pose:
    """Return the pose that six values give where a file writes ``placement``."""
    way = written(placement)
    pose = way.convention.pose(values)
    return pose_of(way.before).then(pose).then(pose_of(way.after))


def pose_of(placement: Placement) -> Pose:
    """Return a placement as a pose, whose rounding errors are exact zeros."""
    R = np.where(np.abs(placement.rotation) < NOISE, 0.0, placement.rotation)
    rows = (Vector(*row) for row in R.tolist())
    return Pose(Matrix(*rows), Vector(*placement.translation.tolist()))
