"""Subproblems of inverse kinematics with all their real solutions, for traced numbers.

A turn is a pair (cosine, sine), NaN where a problem has no solution. Every square root is taken of a product of
factors, not of a difference of squares, so few digits are lost where two solutions meet. Lengths are in units of the
robot's size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..iteration import repeat

Turn = tuple[Any, Any]
NONE = 1e-56  # square of the product of two lengths without a direction
TOUCH = 1e-5  # relative: a square of -TOUCH counts as zero, so that no double root is lost to rounding
SHORT = 1e-13  # the radius of a circle that is a point to rounding: every turn solves its problem
NO_LINE = 1e-14  # the smallest quadratic part of a conic: without one, a line would be infinitely far away
BISECTIONS, NEWTON_STEPS = 54, 3


def rotated(w: np.ndarray, turn: Turn, x: Any) -> Any:
    """Return a vector turned about the unit vector ``w``."""
    along = w * (w @ x)
    return along + turn[0] * (x - along) + turn[1] * np.cross(w, x)


def backward(turn: Turn) -> Turn:
    """Return the opposite turn."""
    return turn[0], -turn[1]


def across(w: np.ndarray, x: Any) -> Any:
    """Return the part of a vector that is perpendicular to the unit vector ``w``."""
    return x - w * (w @ x)


def length(x: Any) -> Any:
    """Return the length of a vector."""
    return np.sqrt(x @ x)


def root(square: Any, scale: Any) -> Any:
    """Return the square root, zero where the square is hardly below zero in comparison with ``scale``, else NaN."""
    return np.where(square >= -(TOUCH * scale + SHORT**2), np.sqrt(np.maximum(square, 0)), np.nan)


def turn_of(x: Any, y: Any) -> Turn:
    """Return the direction of (x, y), or no turn where both are zero to rounding."""
    square = x * x + y * y
    none = square < NONE
    share = 1 / np.sqrt(np.where(none, 1.0, square))
    return np.where(none, 1.0, x * share), np.where(none, 0.0, y * share)


def turn_between(w: np.ndarray, a: Any, b: Any) -> Turn:
    """Return the turn about ``w`` from the direction of ``a`` to that of ``b`` (Paden-Kahan's first subproblem).

    Both lose their parts along ``w`` first: next to an axis, rounding of these would be larger than the rest.
    """
    a, b = across(w, a), across(w, b)
    return turn_of(a @ b, w @ np.cross(a, b))


def turns_on_line(form: Any, nearest: bool = False) -> list[Turn]:
    """Return the turns with k0 + k1 c + k2 s = 0: where a line cuts the unit circle (the third subproblem).

    ``nearest``: if there is none, the turn that comes nearest, instead of NaN.
    """
    r = np.sqrt(form[1] * form[1] + form[2] * form[2])
    c, s = turn_of(form[1], form[2])
    share = -form[0] / np.where(r > SHORT, r, 1.0)
    t = np.clip(share, -1, 1)
    h = root((1 - t) * (1 + t) if nearest else (1 - share) * (1 + share), 1.0)
    return [(t * c - h * s, t * s + h * c), (t * c + h * s, t * s - h * c)]


def two_turns(first: np.ndarray, second: np.ndarray, u: Any, n: Any) -> list[tuple[Turn, Turn]]:
    """Return the turns about two unit vectors, the second one first, that take ``u`` to ``n`` (the second subproblem).

    The vector between them is z = alpha first + beta second + gamma first x second. The lengths of its parts across
    both axes are known: gamma follows from the shorter one.
    """
    normal, c = np.cross(first, second), first @ second
    sine = length(normal)
    a, b = first @ n, second @ u
    alpha, beta = (a - c * b) / sine**2, (b - c * a) / sine**2
    target, start = length(across(first, n)), length(across(second, u))
    near = target < start
    radius, part = np.where(near, target, start), sine * np.abs(np.where(near, beta, alpha))
    height = root((radius - part) * (radius + part), n @ n) / sine
    middles = [alpha * first + beta * second + sign * height * normal for sign in (1, -1)]
    return [(turn_between(first, z, n), turn_between(second, u, z)) for z in middles]


def two_links(w: np.ndarray, a: Any, b: Any, target: Any) -> list[tuple[Turn, Turn]]:
    """Return the turns of a planar arm: about ``w``, a + (b turned by the second) is turned to ``target`` by the first.

    The vectors are perpendicular to ``w``. Heron's product is positive where the three lengths make a triangle.
    """
    p, q, r = length(a), length(b), length(target)
    heron = (r - (p - q)) * (r + (p - q)) * (p + q - r) * (p + q + r)
    height, along = root(heron, (p * q) ** 2), r * r - p * p - q * q
    solutions = []
    for sign in (1, -1):
        c, s = turn_of(along, sign * height)
        moved = (q / p) * (c * a + s * np.cross(w, a))
        solutions.append((turn_between(w, a + moved, target), turn_between(w, b, moved)))
    return solutions


def turns_on_conic(Q: Any) -> list[Turn]:
    """Return the four turns with (1, c, s) Q (1, c, s)^T = 0: where a conic cuts the unit circle (Pieper's quartic).

    In principal axes the equation is k (u^2 - v^2) + 2 d u + 2 e v + f = 0. Adding l (u^2 + v^2 - 1) makes it a pair
    of lines for the roots l of a cubic. One of them lies in [-k, k], where the lines are real, and bisection finds it.
    Where two of the four turns meet, either the lines cross the circle well, or the root is well conditioned.
    """
    half, mean = (Q[1, 1] - Q[2, 2]) / 2, (Q[1, 1] + Q[2, 2]) / 2
    k, angle = np.sqrt(half * half + Q[1, 2] * Q[1, 2]), np.arctan2(Q[1, 2], half) / 2
    axes = np.cos(angle), np.sin(angle)
    d, e = axes[0] * Q[0, 1] + axes[1] * Q[0, 2], axes[0] * Q[0, 2] - axes[1] * Q[0, 1]
    share = 1 / (k + np.abs(d) + np.abs(e) + 1e-300)
    d, e, f = d * share, e * share, (Q[0, 0] + mean) * share
    k = np.maximum(k * share, NO_LINE)

    def halved(ends: Any) -> Any:
        low, high = ends
        l = (low + high) / 2
        left = (l + k) * (l - k) * (f - l) - d * d * (l - k) - e * e * (l + k) > 0
        return np.where(left, l, low), np.where(left, high, l)

    low, high = repeat(halved, (-k, k), BISECTIONS)
    l = (low + high) / 2
    a, b = np.sqrt(np.maximum(k + l, 0)), np.sqrt(np.maximum(k - l, 0))
    first = a > b  # of x = d / a and y = e / b, the better one gives the other: x^2 - y^2 = f - l
    x, y = d / np.where(first, a, 1.0), e / np.where(first, 1.0, b)
    x, y = (
        np.where(first, x, np.where(d < 0, -1, 1) * np.sqrt(np.maximum(y * y + f - l, 0))),
        np.where(first, np.where(e < 0, -1, 1) * np.sqrt(np.maximum(x * x - f + l, 0)), y),
    )
    alike = x * y >= 0
    larger = np.where(alike, x + y, x - y)
    other = (f - l) / np.where(larger == 0, 1.0, larger)  # without cancellation
    roots = []
    for k0, k2 in ((np.where(alike, larger, other), -b), (np.where(alike, other, larger), b)):
        for u, v in turns_on_line(np.stack([k0, a, k2])):
            for _ in range(NEWTON_STEPS):
                value = k * (u - v) * (u + v) + 2 * (d * u + e * v) + f
                slope = -4 * k * u * v + 2 * (e * u - d * v)
                step = -value * slope / (slope * slope + np.abs(value) + 1e-300)  # damped at double roots
                u, v = turn_of(u - step * v, v + step * u)
            roots.append((axes[0] * u - axes[1] * v, axes[1] * u + axes[0] * v))
    return roots
