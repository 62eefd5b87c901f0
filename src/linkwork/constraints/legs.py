"""Inverse kinematics of a parallel robot's legs in closed form, batched: joints of the legs from those of the platform.

A leg is recognised by its axes at zero positions. Its tip must turn about a pivot: a point where two neighbouring
revolute axes intersect, or, in a plane, one revolute axis. The remaining joint, before or after the pivot, determines
the distance of the tip from the pivot. That distance is an equation for its position alone, with two roots; then the
angles of the pivot follow, for two axes again with two solutions. UPS, PUS, RUS and URS legs are of this kind, the arm
and forearm of a delta robot, and the planar RPR, PRR and RRR. Joints may have offsets, and axes any directions.

The root is chosen whose slope has the same sign as at the guess, so a leg stays in its assembly mode at any distance:
between two modes the slope vanishes, and the leg is stretched or singular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ..model import Model
from ..scalar import cos, sin
from ..spatial import Pose, Vector
from .parallel import Leg, platform_and_legs

BLOCK = 8192  # states at a time: enough to keep NumPy busy, few enough for the cache
SAME = 1e-9  # metres and radians: axes this close intersect, or are parallel


@dataclass(frozen=True)
class Axis:
    """A joint's axis at zero positions: its direction, and a point on it."""

    prismatic: bool
    z: Vector
    o: Vector

    def moved(self, p: Vector, position: Any) -> Vector:
        """Return the point ``p`` moved by the joint."""
        if self.prismatic:
            return p + self.z * position
        return self.o + turned(self.z, p - self.o, position)

    def meets(self, other: Axis) -> Vector | None:
        """Return the common point of two revolute axes; None if there is none."""
        normal, arm = self.z.cross(other.z), other.o - self.o
        square = normal.dot(normal)
        if self.prismatic or other.prismatic or square < SAME or abs(arm.dot(normal)) > SAME * square**0.5:
            return None
        return self.o + self.z * (arm.cross(other.z).dot(normal) / square)

    def in_plane_of(self, normal: Vector) -> bool:
        """Return whether it moves points within the planes with this normal."""
        out = self.z.dot(normal) if self.prismatic else self.z.cross(normal).dot(self.z.cross(normal)) ** 0.5
        return abs(out) < SAME


def turned(z: Vector, p: Vector, angle: Any) -> Vector:
    """Return ``p`` rotated about the unit vector ``z``."""
    along = z * z.dot(p)
    return along + (p - along) * cos(angle) + z.cross(p) * sin(angle)


def angle_between(z: Vector, p: Vector, r: Vector) -> Any:
    """Return the angle about ``z`` that rotates ``p`` into the direction of ``r``."""
    return np.arctan2(z.cross(p).dot(r), p.dot(r) - z.dot(p) * z.dot(r))


def turn_with(A: Any, B: Any, C: Any, slope: Any) -> Any:
    """Return the angle with A cos + B sin = C whose slope has the sign of ``slope``; NaN if there is none."""
    return np.arctan2(B, A) - np.where(slope < 0, -1, 1) * np.arctan2(np.sqrt(A * A + B * B - C * C), C)


def distance_slope(axis: Axis, p: Vector, c: Vector, position: Any) -> Any:
    """Return a number with the sign of the rate of the distance from ``p`` to ``c`` (revolute: minus the rate)."""
    if axis.prismatic:
        return (p - c).dot(axis.z) + position
    return (c - axis.o).dot(axis.z.cross(turned(axis.z, p - axis.o, position)))


def distance_root(axis: Axis, p: Vector, c: Vector, arm: Vector, slope: Any) -> Any:
    """Return the position of ``axis`` that puts ``p`` at the distance |arm| from ``c``, with a ``distance_slope``."""
    square, z, o = arm.dot(arm), axis.z, axis.o
    if axis.prismatic:
        b = (p - c).dot(z)
        return np.where(slope < 0, -1, 1) * np.sqrt(b * b - (p - c).dot(p - c) + square) - b
    a, b = p - o, c - o
    along = z.dot(a) * z.dot(b)
    return turn_with(a.dot(b) - along, z.cross(a).dot(b), 0.5 * (a.dot(a) + b.dot(b) - square) - along, slope)


@dataclass(frozen=True)
class LegForm:
    """A leg with a closed form: its axes and its tip at zero positions, the pivot and the numbers of its one or two
    axes, the frame of the platform at the tip, and the places of its joints in q."""

    axes: tuple[Axis, ...]
    tip: Vector
    pivot: Vector
    turns: tuple[int, ...]
    hold: Pose
    places: list[int]

    @property
    def other(self) -> int:
        """The joint that determines the distance of the tip from the pivot."""
        (k,) = (k for k in range(len(self.axes)) if k not in self.turns)
        return k

    @property
    def before(self) -> bool:
        """Whether that joint is before the pivot."""
        return self.other < self.turns[0]

    def slopes(self, positions: Sequence[Any]) -> list[Any]:
        """Return numbers whose signs are the assembly mode: for the distance, and for two axes the second rotation."""
        k, axis = self.other, self.axes[self.other]
        if self.before:
            tip = self.tip
            for each, position in reversed([*zip(self.axes, positions, strict=True)]):
                tip = each.moved(tip, position)
            slopes, u = [distance_slope(axis, self.pivot, tip, positions[k])], self.tip - self.pivot
        else:
            slopes = [distance_slope(axis, self.tip, self.pivot, positions[k])]
            u = axis.moved(self.tip, positions[k]) - self.pivot
        first, *second = (self.axes[m].z for m in self.turns)
        return slopes + [first.dot(z.cross(turned(z, u, positions[self.turns[1]]))) for z in second]

    def solve(self, target: Vector, guess: Any) -> list[Any]:
        """Return the positions that bring the tip to ``target``, in the assembly mode of the guess."""
        k, other, (slope, *slopes) = self.other, self.axes[self.other], self.slopes(guess)
        if self.before:
            x = distance_root(other, self.pivot, target, self.tip - self.pivot, slope)
            u, y = self.tip - self.pivot, other.moved(target, -x) - self.pivot
        else:
            x = distance_root(other, self.tip, self.pivot, target - self.pivot, slope)
            u, y = other.moved(self.tip, x) - self.pivot, target - self.pivot
        first, *second = (self.axes[m].z for m in self.turns)
        angles = []
        for z, slope in zip(second, slopes, strict=True):
            # the component of y along the first axis depends on the second rotation alone
            along = first.dot(z) * z.dot(u)
            angles.append(turn_with(first.dot(u) - along, first.dot(z.cross(u)), first.dot(y) - along, slope))
            u = turned(z, u, angles[0])
        solution = dict(zip(self.turns, [angle_between(first, u, y), *angles], strict=True)) | {k: x}
        return [
            value if axis.prismatic else value + 2 * np.pi * np.round((near - value) / (2 * np.pi))
            for axis, near, value in zip(self.axes, guess, (solution[m] for m in sorted(solution)), strict=True)
        ]


def form_of(model: Model, leg: Leg) -> LegForm | None:
    """Return the closed form of a leg; None if it has none."""
    if not all(model.joint(i).revolute or model.joint(i).prismatic for i in leg.bodies):
        return None
    at, axes, zero = Pose.identity(), [], model.tree.neutral().tolist()
    for i in leg.bodies:
        at = at.then(model.transform(i, zero))
        axes.append(Axis(model.joint(i).prismatic, at.rotation.columns[2], at.origin))
    tip, places = at.then(leg.tip.pose).origin, [k for i in leg.bodies for k in model.positions(i)]
    if not leg.kind.holds_a_point:
        return None
    for turns in ((0, 1), (1, 2)) if len(axes) == 3 else ():
        pivot = axes[turns[0]].meets(axes[turns[1]])
        if pivot is not None:
            return LegForm(tuple(axes), tip, pivot, turns, leg.hold.pose, places)
    for k in range(2) if len(axes) == 2 else ():
        if not axes[k].prismatic and axes[1 - k].in_plane_of(axes[k].z):
            return LegForm(tuple(axes), tip, axes[k].o, (k,), leg.hold.pose, places)
    return None


class LegSolver:
    """Inverse kinematics of the legs: positions of their joints from those of the platform.

    ``LegSolver.of(model)`` is None if the robot is not a platform on legs, or if a leg has no closed form. A call takes
    q (B, nq) with the positions of the platform and a guess for the others, and returns it with the positions of the
    legs. If a leg cannot reach the platform, the guess is kept.
    """

    def __init__(self, model: Model, platform: Sequence[int], legs: Sequence[LegForm]):
        self.model, self.platform, self.legs = model, platform, legs

    @classmethod
    def of(cls, model: Model) -> LegSolver | None:
        """Return the solver of a robot; None if there is no closed form."""
        parts = platform_and_legs(model)
        if isinstance(parts, str):
            return None
        legs = [form_of(model, leg) for leg in parts.legs]
        return None if None in legs else cls(model, parts.platform, [leg for leg in legs if leg])

    def slopes(self, q: Sequence[Any]) -> list[Any]:
        """Return numbers whose signs are the assembly mode of the legs at q, over any scalar."""
        return [slope for leg in self.legs for slope in leg.slopes([q[k] for k in leg.places])]

    def differ(self, q: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return where the assembly modes of the legs differ at two positions, both (B, nq)."""
        pairs = zip(self.slopes(q.T), self.slopes(other.T), strict=True)
        return np.any([a * b < 0 for a, b in pairs], axis=0)

    def __call__(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([self._solve(block) for block in np.array_split(q, len(q) // BLOCK + 1)])

    def _solve(self, q: np.ndarray) -> np.ndarray:
        columns = q.T.astype(float, order="C", copy=True)
        with np.errstate(invalid="ignore", divide="ignore"):  # NaN for legs that cannot reach
            at = reduce(Pose.then, (self.model.transform(i, columns) for i in self.platform), Pose.identity())
            for leg in self.legs:
                guess = columns[leg.places]
                solution = np.array(leg.solve(at.then(leg.hold).origin, guess))
                columns[leg.places] = np.where(np.isfinite(solution).all(axis=0), solution, guess)
        return columns.T
