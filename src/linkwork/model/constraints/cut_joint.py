"""The kinds of cut joint: which of the six motions of the frame ``second`` against the frame ``first`` each holds.

Turns are told by sines: a residual is zero, too, where an axis points exactly the wrong way, which ``aligned`` tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...scalar import Scalar
from ...spatial import AXES, Motion, Pose, Vector, X, Y, Z
from ..element import Mark
from .kind import ConstraintKind, End


class Turns:
    """How turns are held: not at all, unless a kind says more."""

    names: tuple[str, ...] = ()
    fixed: tuple[Vector, ...] | None = ()  # directions about which turns are held; None if they move

    def directions(self, end: Pose) -> Sequence[Vector]:
        return self.fixed or ()

    def residual(self, end: Pose) -> list[Scalar]:
        return []

    def aligned(self, end: Pose) -> Scalar:
        return 1

    def drift(self, end: Pose, w: Vector) -> list[Scalar]:
        """What held directions that move add to the second rate of the residual, at angular velocity ``w``."""
        return [0] * len(self.names)


class ParallelAxes(Turns):
    """Both z stay parallel."""

    names, fixed = ("rx", "ry"), (X, Y)

    def residual(self, end: Pose) -> list[Scalar]:
        z = end.rotation.columns[2]
        return [-z.y, z.x]

    def aligned(self, end: Pose) -> Scalar:
        return end.rotation.columns[2].z


class PerpendicularAxes(Turns):
    """z of the first and x of the second stay perpendicular: no turn about the normal to both, which moves."""

    names, fixed = ("r",), None

    def directions(self, end: Pose) -> Sequence[Vector]:
        return (end.rotation.columns[0].cross(Z),)

    def residual(self, end: Pose) -> list[Scalar]:
        return [end.rotation.columns[0].z]

    def drift(self, end: Pose, w: Vector) -> list[Scalar]:
        return [w.dot(w.cross(end.rotation.columns[0]).cross(Z))]  # w . d/dt (x cross z), z at rest


class NoTurns(Turns):
    """The axes of both frames stay parallel."""

    names, fixed = ("rx", "ry", "rz"), AXES

    def residual(self, end: Pose) -> list[Scalar]:
        x, y, z = end.rotation.columns
        return [0.5 * (y.z - z.y), 0.5 * (z.x - x.z), 0.5 * (x.y - y.x)]

    def aligned(self, end: Pose) -> Scalar:
        x, y, z = end.rotation.columns
        return x.x + y.y + z.z - 1


@dataclass(frozen=True)
class CutJoint(ConstraintKind):
    """A joint at which a loop was cut. ``shifts``: directions in which the origins stay together; ``turns``: how the
    axes are held."""

    section, first, second, closes_loop = "loops", End("first"), End("second"), True
    shifts: ClassVar[tuple[Vector, ...]] = AXES
    turns: ClassVar[Turns] = Turns()

    def __init_subclass__(cls, **own: Any):
        super().__init_subclass__(word="loop", **own)

    @property
    def mark(self) -> Mark:
        return Mark("ring")

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the equations, with r for turns."""
        return (*("xyz"[AXES.index(axis)] for axis in self.shifts), *self.turns.names)

    @property
    def turning(self) -> tuple[bool, ...]:
        return (False,) * len(self.shifts) + (True,) * len(self.turns.names)

    @property
    def holds_a_point(self) -> bool:
        return self.shifts == AXES

    def residual(self, end: Pose) -> list[Scalar]:
        return [*(direction.dot(end.origin) for direction in self.shifts), *self.turns.residual(end)]

    def aligned(self, end: Pose) -> Scalar:
        return self.turns.aligned(end)

    def held(self, end: Pose, moving: Motion) -> list[Scalar]:
        return [
            *(direction.dot(moving.linear) for direction in self.shifts),
            *(direction.dot(moving.angular) for direction in self.turns.directions(end)),
        ]

    def drift(self, end: Pose, moving: Motion, accelerating: Motion) -> list[Scalar]:
        rows, n = self.held(end, accelerating), len(self.shifts)
        return [*rows[:n], *(x + y for x, y in zip(rows[n:], self.turns.drift(end, moving.angular), strict=True))]


class RevoluteCut(CutJoint, name="revolute"):
    """z of both frames is one line, along which nothing slides; free is the turn about it."""

    turns = ParallelAxes()


class PrismaticCut(CutJoint, name="prismatic"):
    """Free is the shift along the common z; the axes x and y stay parallel."""

    shifts, turns = (X, Y), NoTurns()


class UniversalCut(CutJoint, name="universal"):
    """Origins coincide, z of the first stays perpendicular to x of the second; free are the turns about them."""

    turns = PerpendicularAxes()


class SphericalCut(CutJoint, name="spherical"):
    """Origins coincide; all turns are free."""


class Weld(CutJoint, name="weld"):
    """The frames coincide; nothing is free."""

    turns = NoTurns()


POINT, WELD = SphericalCut(), Weld()
CUT_JOINTS = {kind.name: kind for kind in (RevoluteCut(), PrismaticCut(), UniversalCut(), POINT, WELD)}
