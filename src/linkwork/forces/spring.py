"""A spring and damper along a line through places of the robot and of the world: a tendon, a strut, a tether."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import ModelError
from ..scalar import Scalar, beyond, sqrt
from ..spatial import Force, Motion, Pose, Vector
from .drag import TINY
from .fields import floats, tidy

Place = str | tuple[float, float, float]


@dataclass(frozen=True)
class Spring:
    """From the origin of its frame straight to the first place of ``to``, from there to the next, and so on, sliding
    through all but the ends without friction. It has no mass.

    Its length L is the sum of the segments, each times its share. It pulls along all of them with the tension
    k (L - rest) + c L', times the share, and pushes where that is negative. With ``slack``, k acts on what L is longer
    than rest + slack, or shorter than rest, and not between. The energy of the spring is potential energy.
    A segment of no length has no direction, and gives no force there; with rest > 0 the force jumps as L passes zero.

    to         places in order: names of frames and links, or points (x, y, z) of the world, in m
    stiffness  k, N/m
    damping    c, N s/m
    rest       m, the length without force
    slack      m
    shares     of each segment in the length, as many as places; all 1 if none are given. 0 leaves a segment out, and
               behind a pulley that carries the line in n parts each counts 1 / n
    """

    to: tuple[Place, ...] = field(metadata={"reads": "places"})
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    slack: float = 0.0
    shares: tuple[float, ...] = field(default=(), metadata={"reads": "numbers"})

    def __post_init__(self):
        tidy(self)
        places = [place if isinstance(place, str) else floats(place) for place in _listed(self.to)]
        if not places:
            self._refuse("to", "a tuple of places", "write to=('elbow',), or several: ('elbow', (0, 0, 1))")
        if not all(place if isinstance(place, str) else len(place) == 3 for place in places):
            self._refuse("to", "names of frames, and points (x, y, z) of the world")
        shares = floats(self.shares)
        if (not shares and self.shares != ()) or min(shares, default=1.0) < 0 or (shares and not any(shares)):
            self._refuse("shares", "finite numbers, zero or more, not all zero")
        if len(shares) not in (0, len(places)):
            self._refuse("shares", f"{len(places)} numbers, one for each place of `to`")
        object.__setattr__(self, "to", tuple(places))
        object.__setattr__(self, "shares", shares)

    def _refuse(self, name: str, expected: str, fix: str = "") -> None:
        raise ModelError("out of range", where=f"Spring.{name}", got=getattr(self, name), expected=expected, fix=fix)

    def without_spring(self) -> Spring:
        """With its damping alone."""
        return replace(self, stiffness=0.0)

    def energy(self, poses: Sequence[Pose]) -> Scalar:
        """Potential energy of the spring, with all its places in the world."""
        stretch = self._stretch(self._length(poses))
        return 0.5 * self.stiffness * (stretch * stretch)

    def __call__(self, poses: Sequence[Pose], velocities: Sequence[Motion]) -> list[Force]:
        """At each place, its frame's own first."""
        rates = [pose.outward(velocity.linear) for pose, velocity in zip(poses, velocities, strict=True)]
        pulls, rate = [Vector() for _ in poses], 0
        for k, share, way in self._segments(poses):
            pull = way * (share / _norm(way))
            pulls[k], pulls[k + 1] = pulls[k] + pull, pulls[k + 1] - pull
            rate = rate + pull.dot(rates[k + 1] - rates[k])
        tension = self.stiffness * self._stretch(self._length(poses)) + self.damping * rate
        return [Force(pose.inward(pull) * tension) for pose, pull in zip(poses, pulls, strict=True)]

    def _segments(self, poses: Sequence[Pose]) -> list[tuple[int, float, Vector]]:
        """Number of the place where each begins, its share, and the way to the next place."""
        shares = self.shares or [1.0] * len(self.to)
        return [(k, x, poses[k + 1].origin - poses[k].origin) for k, x in enumerate(shares) if x]

    def _length(self, poses: Sequence[Pose]) -> Scalar:
        return sum((share * _norm(way) for _, share, way in self._segments(poses)), start=0)

    def _stretch(self, length: Scalar) -> Scalar:
        return beyond(length, self.rest, self.slack)


def _norm(way: Vector) -> Scalar:
    return sqrt(way.dot(way) + TINY)


def _listed(places: Any) -> list[Any]:
    """None of what is no list; a text is a name, not a list of letters."""
    return list(places) if isinstance(places, Iterable) and not isinstance(places, str) else []
