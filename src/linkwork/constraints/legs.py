"""Inverse kinematics of a parallel robot's legs in closed form, batched: joints of the legs from those of the platform.

A leg is recognised by its axes at zero positions. Its tip must turn about a pivot: a point where two neighbouring
revolute axes meet, or, in a plane, one revolute axis. The one joint left, before the pivot or after it, decides how far
the tip is from the pivot. That distance is an equation for its position alone, with two roots; then the angles of the
pivot follow, for two axes again in two ways. UPS, PUS, RUS and URS legs are of this kind, the arm and forearm of a
delta robot, and the planar RPR, PRR and RRR. Any joint may have an offset, and the axes any directions.

Of the two roots, that one is taken whose slope has the sign that it has at the guess: so a leg stays in its way of
assembly however far it goes, since between the two ways the slope vanishes and the leg is stretched or singular.
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
SAME = 1e-9  # metres and radians: axes this close meet, or are parallel


@dataclass(frozen=True)
class Axis:
    """A joint's axis at zero positions: its direction, and a point on it."""

    prismatic: bool
    z: Vector
    o: Vector

    def moved(self, p: Vector, position: Any) -> Vector:
        """Where the joint takes the point ``p``."""
        if self.prismatic:
            return p + self.z * position
        return self.o + turned(self.z, p - self.o, position)

    def meets(self, other: Axis) -> Vector | None:
        """The point common to two revolute axes."""
        normal, arm = self.z.cross(other.z), other.o - self.o
        square = normal.dot(normal)
        if self.prismatic or other.prismatic or square < SAME or abs(arm.dot(normal)) > SAME * square**0.5:
            return None
        return self.o + self.z * (arm.cross(other.z).dot(normal) / square)

    def in_plane_of(self, normal: Vector) -> bool:
        """Does it move points in the planes with this normal?"""
        out = self.z.dot(normal) if self.prismatic else self.z.cross(normal).dot(self.z.cross(normal)) ** 0.5
        return abs(out) < SAME


def turned(z: Vector, p: Vector, angle: Any) -> Vector:
    """``p`` turned about the unit vector ``z``."""
    along = z * z.dot(p)
    return along + (p - along) * cos(angle) + z.cross(p) * sin(angle)


def angle_between(z: Vector, p: Vector, r: Vector) -> Any:
    """By how much ``p`` is to be turned about ``z`` to point as ``r`` does."""
    return np.arctan2(z.cross(p).dot(r), p.dot(r) - z.dot(p) * z.dot(r))


def turn_with(A: Any, B: Any, C: Any, slope: Any) -> Any:
    """The angle with A cos + B sin = C where that rises or falls as ``slope`` says; NaN if there is none."""
    return np.arctan2(B, A) - np.where(slope < 0, -1, 1) * np.arctan2(np.sqrt(A * A + B * B - C * C), C)


def distance_slope(axis: Axis, p: Vector, c: Vector, position: Any) -> Any:
    """Whether ``axis`` at ``position`` takes ``p`` away from ``c`` (revolute: towards it), by the sign."""
    if axis.prismatic:
        return (p - c).dot(axis.z) + position
    return (c - axis.o).dot(axis.z.cross(turned(axis.z, p - axis.o, position)))


def distance_root(axis: Axis, p: Vector, c: Vector, arm: Vector, slope: Any) -> Any:
    """Position at which ``axis`` brings ``p`` as far from ``c`` as ``arm`` is long, with this ``distance_slope``."""
    square, z, o = arm.dot(arm), axis.z, axis.o
    if axis.prismatic:
        b = (p - c).dot(z)
        return np.where(slope < 0, -1, 1) * np.sqrt(b * b - (p - c).dot(p - c) + square) - b
    a, b = p - o, c - o
    along = z.dot(a) * z.dot(b)
    return turn_with(a.dot(b) - along, z.cross(a).dot(b), 0.5 * (a.dot(a) + b.dot(b) - square) - along, slope)


@dataclass(frozen=True)
class LegForm:
    """A leg that can be solved: its axes and its tip at zero positions, the pivot and the numbers of its one or two
    axes, where the platform holds the tip, and where the joints stand in q."""

    axes: tuple[Axis, ...]
    tip: Vector
    pivot: Vector
    turns: tuple[int, ...]
    hold: Pose
    places: list[int]

    @property
    def other(self) -> int:
        """The joint that decides how far the tip is from the pivot."""
        (k,) = (k for k in range(len(self.axes)) if k not in self.turns)
        return k

    @property
    def before(self) -> bool:
        return self.other < self.turns[0]

    def slopes(self, positions: Sequence[Any]) -> list[Any]:
        """Their signs tell the way of assembly: of the distance from the pivot, and for two axes of the second turn."""
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
        """Positions that bring the tip to ``target``, in the way of the guess."""
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
            # the component of y along the first axis is a matter of the second turn alone
            along = first.dot(z) * z.dot(u)
            angles.append(turn_with(first.dot(u) - along, first.dot(z.cross(u)), first.dot(y) - along, slope))
            u = turned(z, u, angles[0])
        found = dict(zip(self.turns, [angle_between(first, u, y), *angles], strict=True)) | {k: x}
        return [
            value if axis.prismatic else value + 2 * np.pi * np.round((near - value) / (2 * np.pi))
            for axis, near, value in zip(self.axes, guess, (found[m] for m in sorted(found)), strict=True)
        ]


def form_of(model: Model, leg: Leg) -> LegForm | None:
    """How the leg can be solved, if it can."""
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
    """Positions of the legs' joints from those of the platform.

    ``LegSolver.of(model)`` is None if the robot is no platform on legs, or some leg has no closed form. A call takes q,
    (B, nq), with the platform's entries as wanted and a guess for the others, and returns it with those of the legs;
    the guess is left where a leg does not reach the platform.
    """

    def __init__(self, model: Model, platform: Sequence[int], legs: Sequence[LegForm]):
        self.model, self.platform, self.legs = model, platform, legs

    @classmethod
    def of(cls, model: Model) -> LegSolver | None:
        parts = platform_and_legs(model)
        if isinstance(parts, str):
            return None
        legs = [form_of(model, leg) for leg in parts.legs]
        return None if None in legs else cls(model, parts.platform, [leg for leg in legs if leg])

    def slopes(self, q: Sequence[Any]) -> list[Any]:
        """Their signs are the way in which the legs are put together at q, over any scalar."""
        return [slope for leg in self.legs for slope in leg.slopes([q[k] for k in leg.places])]

    def differ(self, q: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Where the legs are put together in different ways at two positions, both (B, nq)."""
        pairs = zip(self.slopes(q.T), self.slopes(other.T), strict=True)
        return np.any([a * b < 0 for a, b in pairs], axis=0)

    def __call__(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([self._solve(block) for block in np.array_split(q, len(q) // BLOCK + 1)])

    def _solve(self, q: np.ndarray) -> np.ndarray:
        columns = q.T.astype(float, order="C", copy=True)
        with np.errstate(invalid="ignore", divide="ignore"):  # of legs that do not reach
            at = reduce(Pose.then, (self.model.transform(i, columns) for i in self.platform), Pose.identity())
            for leg in self.legs:
                guess = columns[leg.places]
                found = np.array(leg.solve(at.then(leg.hold).origin, guess))
                columns[leg.places] = np.where(np.isfinite(found).all(axis=0), found, guess)
        return columns.T
