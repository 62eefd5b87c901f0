"""Arms of six joints whose inverse kinematics has a closed form: their axes, and the positions for a displacement.

A structure is given by its axes while all joints are at zero. A displacement G takes the last link from there to where
it is wanted: G = E1 E2 E3 E4 E5 E6, each E a turn about an axis or a shift along it (product of exponentials). The
values of turning joints are pairs (cosine, sine), those of sliding joints lengths. Lengths are in units of the robot's
size. The inverse of G is the displacement of the same arm seen from its last link: base and wrist change places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .subproblems import (
    SHORT,
    Turn,
    across,
    backward,
    length,
    root,
    rotated,
    turn_between,
    turn_of,
    turns_on_conic,
    turns_on_line,
    two_links,
    two_turns,
)

SAME = 1e-5  # largest sine and distance, in sizes of the robot, at which axes count as parallel or as meeting
ONE = np.array([1.0, 0.0, 0.0])
FROM_LINE = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 0.5], [0.5, -0.5, 0.0]])  # (1, d, d^2) (1 + c) / 2 with d = tan(x/2)


@dataclass(frozen=True, eq=False)
class Axis:
    """The axis of a joint at zero: unit vector ``w``, a point ``p``; ``turns``, or else slides."""

    w: np.ndarray
    p: np.ndarray
    turns: bool

    def reversed(self) -> Axis:
        """Return the axis for the opposite motion."""
        return Axis(-self.w, self.p, self.turns)

    def moved(self, value: Any, x: Any) -> Any:
        """Return a point carried by the joint."""
        return self.p + rotated(self.w, value, x - self.p) if self.turns else x + value * self.w

    def back(self, value: Any, x: Any) -> Any:
        """Return the point that the joint carries to ``x``."""
        return self.moved(backward(value) if self.turns else -value, x)

    def turned_back(self, value: Any, x: Any) -> Any:
        """Return the vector that the joint turns into ``x``."""
        return rotated(self.w, backward(value), x) if self.turns else x


Displacement = tuple[Any, Any]  # rotation matrix, translation
Values = list[Any]


def parallel(a: Axis, b: Axis) -> bool:
    """Whether two axes have one direction."""
    return bool(length(np.cross(a.w, b.w)) < SAME)


def nearest(a: Axis, b: Axis) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of two axes that are closest; of parallel axes, one pair of them."""
    between, c = b.p - a.p, a.w @ b.w
    if parallel(a, b):
        return a.p, b.p - a.w * (a.w @ between)
    along = np.linalg.solve([[1, -c], [-c, 1]], [a.w @ between, -b.w @ between])
    return a.p + along[0] * a.w, b.p + along[1] * b.w


def meeting_point(axes: Sequence[Axis]) -> np.ndarray | None:
    """Return the point that all axes share, or None."""
    rows = np.concatenate([np.eye(3) - np.outer(axis.w, axis.w) for axis in axes])
    point = np.linalg.lstsq(rows, np.concatenate([across(axis.w, axis.p) for axis in axes]), rcond=SAME)[0]
    return point if all(length(across(axis.w, point - axis.p)) < SAME for axis in axes) else None


def normal_to(w: np.ndarray) -> np.ndarray:
    """Return a unit vector perpendicular to ``w``."""
    u = across(w, np.eye(3)[np.argmin(np.abs(w))])
    return u / length(u)


# -- three joints and a point: E1 E2 E3 start = end --------------------------------------------------------------------


def hardness(axes: Sequence[Axis]) -> int | None:
    """Return the kind of equation that ``from_base`` solves: 0 without a quartic, 1 with one, None: no equation."""
    first, second, third = axes
    if not first.turns:
        return 0 if not third.turns and (not second.turns or abs(first.w @ second.w) > SAME) else None
    if not second.turns:
        return 0 if abs(first.w @ second.w) < SAME or not third.turns else 1
    a, b = nearest(first, second)
    return 0 if parallel(first, second) or length(b - a) < SAME else 1


def three_joints(axes: Sequence[Axis], start: Any, end: Any) -> list[Values]:
    """Return the values of three joints that carry the point ``start`` to ``end``."""
    flipped = [axis.reversed() for axis in reversed(axes)]
    forth, back = hardness(axes), hardness(flipped)
    if forth is None or (back is not None and back < forth):
        return [values[::-1] for values in from_base(flipped, end, start)]
    return from_base(axes, start, end)


def from_base(axes: Sequence[Axis], start: Any, end: Any) -> list[Values]:
    """Return the values of three joints, found from what the motion of the first one keeps."""
    first, second, _ = axes
    if not first.turns:
        return turn_between_slides(axes, start, end) if second.turns else three_slides(axes, start, end)
    return two_turning(axes, start, end) if second.turns else second_slides(axes, start, end)


def forms(third: Axis, start: Any, origin: np.ndarray) -> Any:
    """Return g = E3 start - origin as rows k0, k1, k2: g = k0 + k1 c + k2 s, or k0 + k1 d + k2 d^2 (k2 is zero)."""
    if third.turns:
        x = across(third.w, start - third.p)
        return np.stack([start - x - origin, x, np.cross(third.w, x)])
    return np.stack([start - origin, third.w + 0 * start, 0 * start])


def squared(third: Axis, g: Any) -> Any:
    """Return the form of g @ g."""
    if third.turns:
        return np.stack([g[0] @ g[0] + g[1] @ g[1], 2 * g[0] @ g[1], 2 * g[0] @ g[2]])
    return np.stack([g[0] @ g[0], 2 * g[0] @ g[1], g[1] @ g[1]])


def on_circle(third: Axis, form: Any) -> Any:
    """Return a form in (1, c, s) with the same roots: a length is the tangent of half an angle."""
    return form if third.turns else form @ FROM_LINE


def value_of(third: Axis, turn: Turn) -> Any:
    """Return the value of a joint from a root on the circle."""
    c, s = turn
    if third.turns:
        return turn
    return np.where(c > 0, s, 1 - c) / np.where(c > 0, 1 + c, np.where(np.abs(s) < 1e-30, 1e-30, s))


def values_on_line(third: Axis, form: Any) -> list[Any]:
    """Return the values of the third joint at which a form is zero."""
    return [value_of(third, turn) for turn in turns_on_line(on_circle(third, form))]


def values_on_conic(third: Axis, squares: Sequence[tuple[float, Any, Any]]) -> list[Any]:
    """Return the values of the third joint at which the sum of factor * form * form is zero."""
    pairs = [(factor, on_circle(third, a), on_circle(third, b)) for factor, a, b in squares]
    Q = sum(factor / 2 * (np.outer(a, b) + np.outer(b, a)) for factor, a, b in pairs)
    return [value_of(third, turn) for turn in turns_on_conic(Q)]


def two_turning(axes: Sequence[Axis], start: Any, end: Any) -> list[Values]:
    """Two turning joints, then any: the first one keeps its height and distance to the end (Pieper 1968)."""
    first, second, third = axes
    p1, p2 = nearest(first, second)
    a, c = length(p2 - p1), first.w @ second.w
    g = forms(third, start, p2)
    height = (first.w @ (end - p2)) * ONE - c * (g @ second.w)
    distance = ((end - p1) @ (end - p1) - a * a) / 2 * ONE - squared(third, g) / 2
    if parallel(first, second):
        sign, target = np.sign(c), across(first.w, end - p1)
        values = values_on_line(third, height) if third.turns else [-height[0] / height[1]]
        return [
            [q1, (c2, sign * s2), q3]
            for q3 in values
            for q1, (c2, s2) in two_links(
                first.w, p2 - p1, across(first.w, third.moved(q3, start) - p2), target
            )
        ]  # fmt: skip
    if a < SAME:
        return [
            [q1, q2, q3]
            for q3 in values_on_line(third, distance)
            for q1, q2 in two_turns(first.w, second.w, third.moved(q3, start) - p2, end - p1)
        ]
    sine = length(np.cross(first.w, second.w))
    squares = [
        (a * a, height, height), (sine**2, distance, distance), (a * a * sine**2, g @ second.w, g @ second.w),
        (-a * a * sine**2, squared(third, g), ONE),
    ]  # fmt: skip
    solutions = []
    for q3 in values_on_conic(third, squares):
        start3 = third.moved(q3, start)
        x = start3 - p2
        up, near = first.w @ (end - p2) - c * (second.w @ x), ((end - p1) @ (end - p1) - a * a - x @ x) / 2
        y = up / sine**2 * across(second.w, first.w) + near / a**2 * (p2 - p1)
        q2 = turn_between(second.w, x, y)
        q1 = turn_between(first.w, second.moved(q2, start3) - p1, end - p1)
        solutions.append([q1, q2, q3])
    return solutions


def second_slides(axes: Sequence[Axis], start: Any, end: Any) -> list[Values]:
    """A turning and a sliding joint, then any: the first one keeps its height and the distance to its axis."""
    first, second, third = axes
    w, c, p = first.w, first.w @ second.w, first.p
    g, target, radius = forms(third, start, p), end - p, length(across(w, end - p))
    height = (w @ target) * ONE - g @ w
    pairs: list[tuple[Any, Any]] = []  # values of the second and the third
    if abs(c) < SAME:
        for q3 in values_on_line(third, height) if third.turns else [-height[0] / height[1]]:
            pairs += [(d, q3) for d in line_to_circle(third.moved(q3, start) - p, second.w, w, radius)]
    elif third.turns:  # what the second joint adds follows from the height
        u, v = normal_to(w), np.cross(w, normal_to(w))
        x, y = (g @ e + height * (second.w @ e) / c for e in (u, v))
        for q3 in values_on_conic(third, [(1, x, x), (1, y, y), (-1, radius * ONE, radius * ONE)]):
            pairs.append((w @ (end - third.moved(q3, start)) / c, q3))
    else:
        rate = (w @ third.w) / c  # the second joint keeps the height while the third one moves
        at = w @ (end - start) / c
        for d in line_to_circle(start - p + at * second.w, third.w - rate * second.w, w, radius):
            pairs.append((at - rate * d, d))
    solutions = []
    for q2, q3 in pairs:
        x = second.moved(q2, third.moved(q3, start))
        solutions.append([turn_between(w, x - p, target), q2, q3])
    return solutions


def line_to_circle(x: Any, direction: np.ndarray, w: np.ndarray, radius: Any) -> list[Any]:
    """Return the lengths d at which x + d ``direction`` is at a distance from the axis ``w`` through the origin."""
    b = across(w, direction)
    rate = length(b)
    offset = (w @ np.cross(b, x)) / rate
    height = root((radius - offset) * (radius + offset), x @ x + radius * radius)
    return [(sign * height - (b @ x) / rate) / rate for sign in (1, -1)]


def turn_between_slides(axes: Sequence[Axis], start: Any, end: Any) -> list[Values]:
    """A turning joint between two that slide: the heights along its axis, then the distances from it."""
    first, second, third = axes
    w, c = second.w, first.w @ second.w
    at, rate = w @ (end - start) / c, (w @ third.w) / c  # the first value is at - rate d
    x, y = across(w, start - second.p), across(w, end - second.p - at * first.w)
    b, e = across(w, third.w), across(w, rate * first.w)  # |x + d b| = |y + d e|
    form = np.stack([x @ x - y @ y, 2 * (x @ b - y @ e), b @ b - e @ e + 0 * at])
    same = abs(b @ b - e @ e) < SAME
    solutions = []
    for q3 in [-form[0] / form[1]] if same else values_on_line(third, form):
        q1 = at - rate * q3
        solutions.append([q1, turn_between(w, x + q3 * b, y + q3 * e), q3])
    return solutions


def three_slides(axes: Sequence[Axis], start: Any, end: Any) -> list[Values]:
    """Three sliding joints: a linear equation."""
    return [list(np.linalg.inv(np.stack([axis.w for axis in axes], axis=1)) @ (end - start))]


# -- structures --------------------------------------------------------------------------------------------------------


def has_spherical_wrist(axes: Sequence[Axis]) -> bool:
    """Whether the last three axes meet in a point."""
    wrist = axes[3:]
    skew = not any(parallel(a, b) for a, b in pairwise(wrist))
    return all(axis.turns for axis in wrist) and skew and meeting_point(wrist) is not None


def spherical_wrist(axes: Sequence[Axis], G: Displacement) -> list[Values]:
    """Return the values of an arm with a spherical wrist: the first three joints place its centre (Pieper 1968)."""
    center = meeting_point(axes[3:])
    w4, w5, w6 = (axis.w for axis in axes[3:])
    u = normal_to(w6)
    solutions = []
    for arm in three_joints(axes[:3], center, G[0] @ center + G[1]):
        n, m = G[0] @ w6, G[0] @ u
        for axis, value in zip(axes[:3], arm, strict=True):
            n, m = axis.turned_back(value, n), axis.turned_back(value, m)
        for q4, q5 in two_turns(w4, w5, w6, n):
            target = rotated(w5, backward(q5), rotated(w4, backward(q4), m))
            solutions.append([*arm, q4, q5, turn_between(w6, u, target)])
    return solutions


def has_parallel_axes(axes: Sequence[Axis]) -> bool:
    """Whether the axes 2, 3 and 4 are parallel."""
    skew = not any(parallel(axes[k], axes[k + 1]) for k in (0, 3, 4))
    return all(axis.turns for axis in axes) and skew and all(parallel(a, b) for a, b in pairwise(axes[1:4]))


def parallel_axes(axes: Sequence[Axis], G: Displacement) -> list[Values]:
    """Return the values of an arm whose axes 2, 3 and 4 are parallel: they keep heights along their direction w.

    So the heights of a point and of the direction of axis 6 give two equations in joints 1 and 5. Usually axes 5 and 6
    meet, and one equation has joint 1 alone; else both give a quartic. Where axis 6 is parallel to w too, joint 6 is
    free. It then brings the elbow as near to a right angle as it can, so that joint 3 exists.
    """
    first, fifth, sixth = axes[0], axes[4], axes[5]
    w, R = axes[1].w, G[0]
    p2, (p5, p6) = axes[1].p, nearest(fifth, sixth)
    p3, p4 = (axis.p - w * (w @ (axis.p - p2)) for axis in axes[2:4])
    end, axis = R @ p6 + G[1], R @ sixth.w
    x, v = across(first.w, end - first.p), across(first.w, axis)  # what joint 1 turns back
    left = np.stack([np.stack([w @ (each - e), w @ e, -w @ np.cross(first.w, e)]) for each, e in ((end, x), (axis, v))])
    y, z = across(fifth.w, p6 - p5), across(fifth.w, sixth.w)
    K = np.array([[w @ y, w @ np.cross(fifth.w, y)], [w @ z, w @ np.cross(fifth.w, z)]])
    left = left - np.outer([w @ (p6 - y), w @ (sixth.w - z)], ONE)  # = K (c5, s5)
    directions, singular, _ = np.linalg.svd(K)
    elbow = (p3 - p2) @ (p3 - p2) + (p4 - p3) @ (p4 - p3)  # square of the distance from 2 to 4 with a right angle at 3
    pairs: list[tuple[Turn, Turn, Turn]] = []
    if singular[1] > SAME:
        c5, s5 = np.linalg.inv(K) @ left
        for q1 in turns_on_conic(np.outer(c5, c5) + np.outer(s5, s5) - np.outer(ONE, ONE)):
            at = np.stack([1.0 + 0 * q1[0], *q1])
            q5 = turn_of(c5 @ at, s5 @ at)
            n = R.T @ rotated(first.w, q1, w)
            pairs.append((q1, q5, turn_between(sixth.w, n, rotated(fifth.w, backward(q5), w))))
    else:
        for q1 in turns_on_line(directions[:, 1] @ left):
            n = R.T @ rotated(first.w, q1, w)  # joint 6 turns it to w turned back by joint 5
            stretched = length(across(sixth.w, n)) < SHORT
            for k, turns in enumerate(two_turns(sixth.w, fifth.w, w, n)):
                q6, q5 = map(backward, turns)
                x = fifth.back(q5, p4) - p6
                u, v = across(sixth.w, x), -np.cross(sixth.w, x)
                m, u, v = (rotated(first.w, backward(q1), R @ e) for e in (x - u, u, v))
                m = across(w, m + first.back(q1, end) - p2)
                u, v = across(w, u), across(w, v)
                bent = np.stack([m @ m + u @ u - elbow, 2 * m @ u, 2 * m @ v])
                free = turns_on_line(bent, nearest=True)[k]
                pairs.append((q1, q5, (np.where(stretched, free[0], q6[0]), np.where(stretched, free[1], q6[1]))))
    signs, u = [float(np.sign(axis.w @ w)) for axis in axes[1:4]], normal_to(w)
    solutions = []
    for q1, q5, q6 in pairs:
        target = sixth.back(q6, fifth.back(q5, p4))
        target = across(w, first.back(q1, R @ target + G[1]) - p2)
        whole = rotated(first.w, backward(q1), R @ rotated(sixth.w, backward(q6), rotated(fifth.w, backward(q5), u)))
        for q2, q3 in two_links(w, p3 - p2, p4 - p3, target):
            q4 = turn_between(w, rotated(w, q2, rotated(w, q3, u)), whole)
            turns = [(c, sign * s) for sign, (c, s) in zip(signs, (q2, q3, q4), strict=True)]
            solutions.append([q1, *turns, q5, q6])
    return solutions
