"""Mecanum wheels: rollers around the rim, at an angle g to the axle, touch the plane one after another.

A roller turns freely, so only the slip along its axis e is constrained. With the directions of ``wheel``,

  (1)  e = sin(g) t + cos(g) s,   e.u = 0           t along, s across
  (2)  drift of e.u = sin(g) drift of t.u + cos(g) drift of s.u

g is constant, so both are sums of a wheel's rows. At a right angle it is an omniwheel; at zero the rollers are parallel
to the axle, and turning the wheel moves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...scalar import Scalar, cos, sin
from ...spatial import Motion, Pose
from ..element import Fault, number
from .wheel import Wheel

if TYPE_CHECKING:
    from ..description import ConstraintDescription, Description


@dataclass(frozen=True)
class Mecanum(Wheel, name="mecanum"):
    """A mecanum wheel: it slips freely across the axes of its rollers, but not along them.

    Args:
        radius: of the wheel, m.
        friction: coefficient; default: infinite.
        roller_angle: from the axle, z of its frame, to the axis of the roller in contact, towards the direction in
            which the wheel rolls at positive spin, rad; default pi/4.

    Example:
        >>> linkwork.model.Mecanum(radius=0.1).rows
        ('normal', 'roller')
    """

    default = False
    rows = ("normal", "roller")
    roller_angle: float = number(
        math.pi / 4,
        unit="rad",
        least=-math.pi / 2,
        most=math.pi / 2,
        fix="write an angle from -pi/2 to pi/2, in radians, or as 45 deg",
    )

    @property
    def slip_directions(self) -> dict[str, tuple[float, float]]:
        return {"roller": (sin(self.roller_angle), cos(self.roller_angle))}  # (1)

    def held(self, end: Pose, moving: Motion) -> list[Scalar]:
        return self._by_rollers(*Wheel(self.radius).held(end, moving))

    def drift(self, end: Pose, moving: Motion, accelerating: Motion) -> list[Scalar]:
        return self._by_rollers(*Wheel(self.radius).drift(end, moving, accelerating))

    def check(self, description: Description, constraint: ConstraintDescription) -> Iterator[Fault]:
        yield from super().check(description, constraint)
        if self.roller_angle == 0:
            message = "its rollers are parallel to its axle, so that turning it moves nothing"
            yield Fault(message, "write the angle from its axle to the axes of its rollers, as 45 deg", "warning")

    def _by_rollers(self, normal: Scalar, along: Scalar, across: Scalar) -> list[Scalar]:
        parts = self.slip_directions["roller"]
        return [normal, parts[0] * along + parts[1] * across]  # (2)
