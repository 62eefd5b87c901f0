"""Cut joints: which of the six motions of the frame ``second`` relative to ``first`` each kind constrains.

Residuals of rotations are sines, which are also zero where an axis points the opposite way; ``aligned`` detects that.
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
    """How rotations are constrained; the base class leaves them free."""

    names: tuple[str, ...] = ()
    fixed: tuple[Vector, ...] | None = ()  # constrained directions; None if they move

    def directions(self, end: Pose) -> Sequence[Vector]:
        """Return the axes about which rotations are constrained."""
        return self.fixed or ()

    def residual(self, end: Pose) -> list[Scalar]:
        return []

    def aligned(self, end: Pose) -> Scalar:
        return 1

    def drift(self, end: Pose, w: Vector) -> list[Scalar]:
        """Return what moving directions add to the second derivative of the residual, at angular velocity ``w``."""
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
    """z of the first and x of the second stay perpendicular: no rotation about the normal of both, which moves."""

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
    """A joint at which a loop was cut. ``shifts``: directions in which the origins stay together; ``turns``: how
    rotations are constrained."""

    section, first, second, closes_loop = "loops", End("first"), End("second"), True
    shifts: ClassVar[tuple[Vector, ...]] = AXES
    turns: ClassVar[Turns] = Turns()

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(word="loop", **options)

    @property
    def mark(self) -> Mark:
        return Mark("ring")

    @property
    def rows(self) -> tuple[str, ...]:
        return (*("xyz"[AXES.index(axis)] for axis in self.shifts), *self.turns.names)

    @property
    def turning(self) -> tuple[bool, ...]:
        return (False,) * len(self.shifts) + (True,) * len(self.turns.names)

    @property
    def holds_a_point(self) -> bool:
        """Whether the origins coincide."""
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
    """z of both frames is one line without sliding; the rotation about it is free."""

    turns = ParallelAxes()


class PrismaticCut(CutJoint, name="prismatic"):
    """The translation along the common z is free; the axes x and y stay parallel."""

    shifts, turns = (X, Y), NoTurns()


class UniversalCut(CutJoint, name="universal"):
    """Origins coincide, z of the first stays perpendicular to x of the second; rotations about both are free."""

    turns = PerpendicularAxes()


class SphericalCut(CutJoint, name="spherical"):
    """Origins coincide; all rotations are free."""


class Weld(CutJoint, name="weld"):
    """The frames coincide; nothing is free."""

    turns = NoTurns()


POINT, WELD = SphericalCut(), Weld()
CUT_JOINTS = {kind.name: kind for kind in (RevoluteCut(), PrismaticCut(), UniversalCut(), POINT, WELD)}
