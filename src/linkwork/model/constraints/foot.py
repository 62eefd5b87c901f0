"""Feet: where a robot may stand on the ground, which is the plane z = 0 of the world."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...scalar import Scalar
from ...spatial import Motion, Pose
from ..element import Fault, number, numbers
from .cut_joint import POINT, WELD, CutJoint
from .kind import ConstraintKind, End

if TYPE_CHECKING:
    from ..description import ConstraintDescription, Description

CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # of a sole, in halves of its size


@dataclass(frozen=True)
class Foot(ConstraintKind, name="foot"):
    """A constraint with a switch: while it is on, the frame ``second`` is held where it stands on the ground.

    A point, the frame's origin; or with a ``size``, length along x and width along y, a sole around it, whose z points
    up when it stands. ``friction``: coefficient of Coulomb's law. ``restitution``: the share of the velocity along the
    ground's normal with which it bounces, 0 to 1.
    """

    section, switched, shows_ground = "feet", True, True
    first = End(ground=True)
    second = End("frame", named=True, what="the link or frame that stands on the ground")
    size: tuple[float, ...] = numbers(  # type: ignore
        (),
        unit="m",
        least=0,
        open=True,
        counts=(2,),
        fix="give length and width of the sole in metres, or none: it is a point",
    )
    friction: float = number(math.inf, least=0, finite=False, fix="give a coefficient, zero or more")  # type: ignore
    restitution: float = number(0.0, least=0, most=1, fix="give a number from 0 to 1")  # type: ignore

    @property
    def always(self) -> CutJoint:
        return WELD if self.sole else POINT

    @property
    def rows(self) -> tuple[str, ...]:
        return self.always.rows

    @property
    def turning(self) -> tuple[bool, ...]:
        return self.always.turning

    @property
    def scales(self) -> list[float]:
        """Those of a sole are as if it stood on its four corners."""
        if not self.sole:
            return [1.0] * 3
        return [2.0] * 3 + [math.sqrt((self.size[0] ** 2 + self.size[1] ** 2) / 2)] * 3

    @property
    def points(self) -> list[tuple[float, float]]:
        return [(x * self.size[0] / 2, y * self.size[1] / 2) for x, y in CORNERS] if self.sole else [(0.0, 0.0)]

    def residual(self, end: Pose) -> list[Scalar]:
        return self.always.residual(end)

    def aligned(self, end: Pose) -> Scalar:
        return self.always.aligned(end)

    def held(self, end: Pose, moving: Motion) -> list[Scalar]:
        return self.always.held(end, moving)

    def drift(self, end: Pose, moving: Motion, accelerating: Motion) -> list[Scalar]:
        return self.always.drift(end, moving, accelerating)

    def check(self, description: Description, constraint: ConstraintDescription) -> Iterator[Fault]:
        if (link := description.link_of(constraint.second)) and not description.moves(link):
            message = f"its frame {constraint.second!r} is fixed to the ground"
            yield Fault(message, "give a frame that moves, or base: floating")
        yield from super().check(description, constraint)
