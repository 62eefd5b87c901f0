"""Gears and racks: joints whose positions have a constant weighted sum.

(1)  sum of ratio * position = offset,   sum of ratio * velocity = 0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...errors import counted, nearest
from ...scalar import Scalar
from ..element import Fault, number, ratios
from .kind import ConstraintKind

if TYPE_CHECKING:
    from ..description import ConstraintDescription, Description


@dataclass(frozen=True)
class Gear(ConstraintKind, name="gear"):
    """A gear or rack: the sum of ratio * position over its joints is constant.

    Its frames are those of two of the links that these joints move.

    Args:
        ratios: ((joint, ratio), ...), with the names of velocities.
        offset: the constant sum, rad or m; default 0.

    Example:
        >>> linkwork.model.Gear(ratios=(("motor", 1.0), ("wheel", -10.0))).coordinates
        ('motor', 'wheel')
    """

    section = "gears"
    rows = ("sum",)  # type: ignore
    ratios: tuple[tuple[str, float], ...] = ratios(
        key="joints", what="{joint: ratio, ...}", fix="write a finite one, not zero"
    )
    offset: float = number(0.0, fix="write a finite number")

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.ratios)

    def locked(self, positions: Mapping[str, float]) -> Gear | None:
        moving = tuple((name, ratio) for name, ratio in self.ratios if name not in positions)
        rest = sum(ratio * positions[name] for name, ratio in self.ratios if name in positions)
        return replace(self, ratios=moving, offset=self.offset - rest) if moving else None

    def residual(self, end: Sequence[Scalar]) -> list[Scalar]:
        return [sum((ratio * x for (_, ratio), x in zip(self.ratios, end, strict=True)), start=-self.offset)]  # (1)

    def held(self, end: Sequence[Scalar], moving: Sequence[Scalar]) -> list[Scalar]:
        return [sum(ratio * v for (_, ratio), v in zip(self.ratios, moving, strict=True))]  # (1)

    def drift(self, end: Sequence[Scalar], moving: Sequence[Scalar], accelerating: Sequence[Scalar]) -> list[Scalar]:
        return self.held(end, accelerating)

    def gap(self, label: str, size: float) -> tuple[str, str]:
        fix = f"check its ratios and its offset, {self.offset:g}, and that no other loop contradicts it"
        return super().gap(label, size)[0], fix

    def check(self, description: Description, constraint: ConstraintDescription) -> Iterator[Fault]:
        parts = {part: joint for joint in description.joints for part in joint.freedoms}
        straight = [part for part, joint in parts.items() if joint.motion.straight]
        for name, _ in self.ratios:
            if name not in straight:
                what = "whose position is not one number" if name in parts else "which does not exist"
                yield Fault(f"it couples joint {name!r}, {what}", nearest(name, straight))
        yield from super().check(description, constraint)
        if len(self.ratios) < 2:
            yield Fault(f"it couples {counted(len(self.ratios), 'joint')}", "name at least two")
