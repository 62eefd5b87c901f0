"""What a constraint between two frames, or between joints, answers for itself: its equations, over any scalar.

Everything is seen from the frame ``first`` and in its axes; ``end`` is where ``second`` is, and motions are those of
``second``. An equation holds velocities; most come from one that holds positions, and those that do not (a wheel
that does not slip) have no residual.
"""

from __future__ import annotations

from typing import Any

from ..scalar import Scalar
from ..spatial import Motion, Pose


class LoopKind:
    """``cut``: is it a joint at which a loop was cut? ``rows``: names of the equations, with r for turns.
    ``radius``: of a wheel. ``friction``: the coefficient of a contact, beyond which it would slip. ``offset``: of the
    sum of positions that ``ratios`` tie."""

    name: str
    cut: bool = False
    radius: float = 0.0
    friction: float = float("inf")
    offset: float = 0.0

    @property
    def rows(self) -> tuple[str, ...]:
        raise NotImplementedError

    @property
    def holonomic(self) -> tuple[bool, ...]:
        """Which equations hold positions."""
        return (True,) * len(self.rows)

    @property
    def turning(self) -> tuple[bool, ...]:
        """Which equations hold turns, in radians; the others hold shifts."""
        return (False,) * len(self.rows)

    @property
    def ratios(self) -> tuple[tuple[str, float], ...]:
        """Of joints that it ties together by numbers alone, by their entries in velocities."""
        return ()

    def residual(self, end: Pose) -> list[Scalar]:
        """By how much it is open: metres and, for small ones, radians; zero of equations that hold no positions."""
        raise NotImplementedError

    def aligned(self, end: Pose) -> Scalar:
        """A number that is positive if no axis, and no frame, is turned by more than a right angle."""
        del end
        return 1

    def held(self, end: Pose, moving: Motion) -> list[Scalar]:
        """The components of a motion that it does not allow."""
        raise NotImplementedError

    def drift(self, end: Pose, moving: Motion, accelerating: Motion) -> list[Scalar]:
        """Rates of what is held: those of an acceleration, and of directions and points that move with ``moving``."""
        raise NotImplementedError

    def told(self) -> dict[str, Any]:
        """What a LoopDescription says of it beside its kind and frames."""
        return {}
