"""A spring and damper along a line through places of the robot and of the world: a tendon, a strut, a tether."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ModelError, counted
from ..model.element import HUGE, Mark, Rule, declare, numbers
from ..scalar import Scalar, beyond, is_zero, sqrt
from ..spatial import Force, Motion, Pose, Vector
from .law import TINY, ForceLaw, nonnegative

Place = str | tuple[float, float, float]


class Places(Rule):
    """One or more places: names of frames and links, and points (x, y, z) of the world."""

    @property
    def expected(self) -> str:
        return "names of frames, and points (x, y, z) of the world"

    def convert(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str):  # a name, not a list of letters
            raise TypeError
        return tuple(each if isinstance(each, str) else tuple(map(float, each)) for each in value)

    def allows(self, value: tuple[Any, ...]) -> bool:
        return bool(value) and all(map(_is_place, value))

    def plain(self, value: tuple[Place, ...]) -> list[Any]:
        return [each if isinstance(each, str) else list(each) for each in value]

    def read(self, reader: Any, node: Any) -> tuple[Any, ...]:
        return tuple(map(reader.place, reader.sequence(node)))


@dataclass(frozen=True)
class Spring(ForceLaw, name="spring"):
    """A massless spring from the origin of its frame to the first place of ``to``, then to the next, and so on.

    It slides through all places between its ends without friction. Its length L is the sum of the segments, each times
    its share. It pulls along each segment with the tension k (L - rest) + c L', times the share, and pushes where that
    is negative. With ``slack``, k acts on the excess of L over rest + slack and on what L falls short of rest, and not
    in between. The energy of the spring is potential energy. A segment of length zero has no direction and gives no
    force there; with rest > 0 the force jumps as L passes zero.

    Args:
        to: places in order: names of frames and links, or points (x, y, z) of the world in m.
        stiffness: k, N/m.
        damping: c, N s/m.
        rest: length without force, m.
        slack: range of lengths without force, from ``rest`` on, m.
        shares: factor of each segment in the length, one for each place; default: all 1. 0 leaves a segment out;
            behind a pulley that carries the line in n parts each counts 1 / n.

    Example:
        >>> spring = linkwork.forces.Spring(to=("panda_link4", (0, 0, 1)), stiffness=200.0)
        >>> robot.with_forces({"panda_link8": spring}).nv
        7
    """

    to: tuple[Place, ...] = declare(Places(what="places", fix="write to=('elbow',), or several: ('elbow', (0, 0, 1))"))
    stiffness: float = nonnegative(0.0, "N/m")
    damping: float = nonnegative(0.0, "N s/m")
    rest: float = nonnegative(0.0, "m")
    slack: float = nonnegative(0.0, "m")
    shares: tuple[float, ...] = numbers((), least=0, nonzero=True)

    def __post_init__(self):
        super().__post_init__()
        if len(self.shares) not in (0, len(self.to)):
            expected = f"{counted(len(self.to), 'number')}, one for each place of `to`"
            raise ModelError("out of range", where="Spring.shares", got=self.shares, expected=expected)

    @property
    def mark(self) -> Mark:
        """A spring between its places."""
        return Mark("spring")

    def without_spring(self) -> Spring:
        """Return the law with its damping alone.

        Returns:
            The same spring with a stiffness of zero.
        """
        return replace(self, stiffness=0.0)

    def energy(self, poses: Sequence[Pose]) -> Scalar:
        """Return the potential energy of the spring.

        Args:
            poses: of all its places in the world, that of its frame first.

        Returns:
            The energy in J.
        """
        stretch = self._stretch(self._length(poses))
        return 0.5 * self.stiffness * (stretch * stretch)

    def __call__(self, poses: Sequence[Pose], velocities: Sequence[Motion]) -> list[Force]:
        rates = [pose.outward(velocity.linear) for pose, velocity in zip(poses, velocities, strict=True)]
        pulls, rate = [Vector() for _ in poses], 0
        for k, share, way in self._segments(poses):
            pull = way * (share / _norm(way))
            pulls[k], pulls[k + 1] = pulls[k] + pull, pulls[k + 1] - pull
            rate = rate + pull.dot(rates[k + 1] - rates[k])
        tension = self.stiffness * self._stretch(self._length(poses)) + self.damping * rate
        return [Force(pose.inward(pull) * tension) for pose, pull in zip(poses, pulls, strict=True)]

    def _segments(self, poses: Sequence[Pose]) -> list[tuple[int, float, Vector]]:
        """Return, for each segment, the number of its first place, its share, and the vector to the next place."""
        shares = self.shares or [1.0] * len(self.to)
        return [(k, x, poses[k + 1].origin - poses[k].origin) for k, x in enumerate(shares) if not is_zero(x)]

    def _length(self, poses: Sequence[Pose]) -> Scalar:
        return sum((share * _norm(way) for _, share, way in self._segments(poses)), start=0)

    def _stretch(self, length: Scalar) -> Scalar:
        return beyond(length, self.rest, self.slack)


def _is_place(place: Any) -> bool:
    return bool(place) if isinstance(place, str) else len(place) == 3 and all(abs(x) < HUGE for x in place)


def _norm(way: Vector) -> Scalar:
    return sqrt(way.dot(way) + TINY)
