"""Feet: frames that may stand on the ground, which is the plane z = 0 of the world."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..element import Fault, Mark, number, numbers
from .cut_joint import POINT, WELD, CutJoint
from .kind import ConstraintKind, End

if TYPE_CHECKING:
    from ..description import ConstraintDescription, Description

EDGE = 1e-9  # of a sole: a centre of pressure that is outside by less is on its edge
CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # of a sole, in halves of its size


@dataclass(frozen=True)
class Foot(ConstraintKind, name="foot", plural="feet"):
    """A foot: a constraint with a switch. While it is on, the frame ``second`` stays where it stands on the ground.

    Args:
        friction: coefficient of Coulomb friction; default: infinite.
        size: length along x and width along y of a sole around the frame's origin, m, whose z points up when it stands;
            default (): a point contact.
        restitution: coefficient of restitution along the ground's normal, 0 (default) to 1.

    Example:
        >>> linkwork.model.Foot(size=(0.2, 0.1)).rows
        ('x', 'y', 'z', 'rx', 'ry', 'rz')
    """

    section, switched, shows_ground = "feet", True, True
    touches, load = True, "z"
    first = End(ground=True)
    second = End("frame", named=True, what="the link or frame that stands on the ground")
    friction: float = number(math.inf, least=0, finite=False, built_in=True, fix="give a coefficient, zero or more")
    size: tuple[float, ...] = numbers(
        (),
        unit="m",
        least=0,
        open=True,
        counts=(2,),
        built_in=True,
        fix="give length and width of the sole in metres, or none: it is a point",
    )
    restitution: float = number(0.0, least=0, most=1, built_in=True, fix="give a number from 0 to 1")

    @property
    def always(self) -> CutJoint:
        return WELD if self.size else POINT

    @property
    def rows(self) -> tuple[str, ...]:
        return self.always.rows

    @property
    def turning(self) -> tuple[bool, ...]:
        return self.always.turning

    @property
    def scales(self) -> list[float]:
        """Factors of its equations; those of a sole are as if it stood on its four corners."""
        if not self.size:
            return super().scales
        return [2.0] * 3 + [math.sqrt((self.size[0] ** 2 + self.size[1] ** 2) / 2)] * 3

    @property
    def points(self) -> list[tuple[float, float]]:
        return [(x * self.size[0] / 2, y * self.size[1] / 2) for x, y in CORNERS] if self.size else super().points

    @property
    def slip_directions(self) -> dict[str, tuple[float, float]]:
        return {"x": (1.0, 0.0), "y": (0.0, 1.0)}

    @property
    def at_point(self) -> Foot:
        return replace(self, size=())

    def tips(self, centre: np.ndarray) -> np.ndarray:
        return (
            np.any(np.abs(centre) > np.array(self.size) / 2 * (1 + EDGE), axis=-1)
            if self.size
            else super().tips(centre)
        )

    @property
    def mark(self) -> Mark:
        return Mark("sole", self.size) if self.size else Mark("ball")

    def check(self, description: Description, constraint: ConstraintDescription) -> Iterator[Fault]:
        if (link := description.link_of(constraint.second)) and not description.moves(link):
            message = f"its frame {constraint.second!r} is fixed to the ground"
            yield Fault(message, "give a frame that moves, or base: floating")
        yield from super().check(description, constraint)
