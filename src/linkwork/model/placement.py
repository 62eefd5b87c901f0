"""Rigid placements as chains of z and x screws: the modified Denavit-Hartenberg parameters of a pair of axes.

Any placement is ``Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)`` (Khalil & Kleinfinger). For nearly parallel axes
the common normal runs away (b, r ~ 1 / sin alpha), so those are written with five screws and no division.
"""

from __future__ import annotations

import math

import numpy as np

from .description import Placement
from .model import FixedScrew, cos_sin

ANGLE_NOISE = 1e-12  # rounding left by products of rotation matrices; far below any angle that is meant
LENGTH_NOISE = 1e-14
WELL_CONDITIONED = 0.05  # least sine of the angle between two axes for which their common normal is used


def screws(placement: Placement) -> tuple[FixedScrew, ...]:
    """The shortest chain that gives ``placement``; its last screw is about z. Neutral screws are left out, so the
    chain may be empty. Its first screw is about z only where two axes' common normal is not along x."""
    R, p = placement.rotation, placement.translation
    sine = math.hypot(R[0, 2], R[1, 2])
    if sine < ANGLE_NOISE:
        return _parallel(R, p)
    # a second solution has gamma + pi, -alpha, theta + pi: take the smaller turn gamma
    gamma = math.atan2(R[0, 2], -R[1, 2])
    sign = 1.0
    if abs(_wrapped(gamma)) > math.pi / 2 + 1e-9:
        gamma, sign = _wrapped(gamma + math.pi), -1.0
    alpha = math.atan2(sign * sine, R[2, 2])
    c, s = cos_sin(_snapped(gamma))
    # from the first row of Rz(-gamma) R, as R[2, 0] and R[2, 1] vanish with the angle between the axes
    theta = math.atan2(-(c * R[0, 1] + s * R[1, 1]), c * R[0, 0] + s * R[1, 0])
    if sine < WELL_CONDITIONED:
        distance = math.hypot(p[0], p[1])
        toward = math.atan2(p[1], p[0]) if distance > LENGTH_NOISE else 0.0
        return _chain(
            ("z", toward, p[2]), ("x", 0.0, distance), ("z", gamma - toward, 0.0), ("x", alpha, 0.0), ("z", theta, 0.0)
        )
    d = p[0] * c + p[1] * s
    r = -(p[1] * c - p[0] * s) / (sign * sine)
    return _chain(("z", gamma, p[2] - r * R[2, 2]), ("x", alpha, d), ("z", theta, r))


def _parallel(R: np.ndarray, p: np.ndarray) -> tuple[FixedScrew, ...]:
    alpha = 0.0 if R[2, 2] > 0 else math.pi
    total = math.atan2(R[1, 0], R[0, 0])  # gamma + theta, or gamma - theta when antiparallel
    distance = math.hypot(p[0], p[1])
    if distance < LENGTH_NOISE:
        return _chain(("x", alpha, 0.0), ("z", total if alpha == 0 else -total, p[2] if alpha == 0 else -p[2]))
    gamma = math.atan2(p[1], p[0])
    if abs(gamma) > math.pi / 2 + 1e-9:  # a negative d spares a half turn
        gamma, distance = _wrapped(gamma + math.pi), -distance
    theta = total - gamma if alpha == 0 else gamma - total
    return _chain(("z", gamma, p[2]), ("x", alpha, distance), ("z", theta, 0.0))


def _chain(*parts: tuple[str, float, float]) -> tuple[FixedScrew, ...]:
    chain = (FixedScrew(axis, _snapped(angle), _clean(length)) for axis, angle, length in parts)
    return tuple(screw for screw in chain if screw.angle or screw.length)


def joined(*chains: tuple[FixedScrew, ...]) -> tuple[FixedScrew, ...]:
    """Chains one after another; neighbouring screws about the same axis become one, neutral ones vanish."""
    result: list[FixedScrew] = []
    for screw in (screw for chain in chains for screw in chain):
        if result and result[-1].axis == screw.axis:
            last = result.pop()
            screw = FixedScrew(screw.axis, _snapped(last.angle + screw.angle), _clean(last.length + screw.length))
        if screw.angle or screw.length:
            result.append(screw)
    return tuple(result)


def placement_of(chain: tuple[FixedScrew, ...]) -> Placement:
    """The placement a chain of screws makes."""
    total = Placement()
    for fixed in chain:
        c, s = cos_sin(fixed.angle)
        if fixed.axis == "x":
            step = Placement(np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), np.array([fixed.length, 0.0, 0.0]))
        else:
            step = Placement(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.array([0.0, 0.0, fixed.length]))
        total = total @ step
    return total


def _wrapped(angle: float) -> float:
    """In (-pi, pi]."""
    return math.pi - (math.pi - angle) % (2 * math.pi)


def _snapped(angle: float) -> float:
    """Wrapped, and exactly a multiple of a right angle where it is one but for rounding."""
    angle = _wrapped(angle)
    nearest = round(angle / (math.pi / 2)) * (math.pi / 2)
    return _wrapped(nearest) if abs(angle - nearest) < ANGLE_NOISE else angle


def _clean(length: float) -> float:
    return 0.0 if abs(length) < LENGTH_NOISE else float(length)
