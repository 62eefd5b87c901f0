"""Rigid placements as modified Denavit-Hartenberg parameters, and as chains of elementary screws.

Any placement is ``Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)`` (Khalil & Kleinfinger 1986; the letters are those
of Khalil 2010, section 2.1): gamma and b lead to the common normal of the two z axes, alpha and d along it, theta
and r from it. For nearly parallel axes the common normal is far away, and digits are lost.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .conventions import MODIFIED
from .description import Placement, Written
from .model import FixedScrew
from .rotations import LAST_DIGIT, cos_sin, rotation

FAR = 10.0  # common normals farther away than this many distances cost digits
ANGLE_NOISE = 1e-12  # rounding errors of products of rotation matrices; far below any real angle
LENGTH_NOISE = 1e-14


class ModifiedParameters(NamedTuple):
    """The six parameters of one frame; theta or r is the value at joint position zero."""

    gamma: float = 0.0
    b: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    r: float = 0.0

    def placement(self) -> Placement:
        """Return the placement that the parameters give."""
        turn = rotation("z", self.gamma)
        tilt = turn @ rotation("x", self.alpha)
        return Placement(
            tilt @ rotation("z", self.theta) + 0.0,
            turn @ [self.d, 0.0, self.b] + tilt @ [0.0, 0.0, self.r] + 0.0,
            Written(MODIFIED, tuple(self)),
        )


def modified_parameters(placement: Placement, noise: float = LAST_DIGIT) -> ModifiedParameters | None:
    """Return the parameters of a placement; gamma and b are zero where possible. Axes at an angle below ``noise`` are
    parallel.

    Returns None if the two z axes are almost but not quite parallel, so that b and r would be large and cancel.
    """
    R, p = placement.rotation, placement.translation
    parallel = math.hypot(R[0, 2], R[1, 2]) <= noise
    # Both gamma and gamma + pi are possible; the one in (-pi/2, pi/2] gives serial chains gamma = 0.
    x, y = (p[0], p[1]) if parallel else (-R[1, 2], R[0, 2])
    gamma = math.atan2(y, x) if max(abs(x), abs(y)) > noise * noise else 0.0
    gamma -= math.pi * (gamma > math.pi / 2 + noise)
    gamma += math.pi * (gamma <= -math.pi / 2 + noise)
    c, s = cos_sin(gamma, noise)
    alpha = math.atan2(s * R[0, 2] - c * R[1, 2], R[2, 2])
    d = c * p[0] + s * p[1]
    if parallel:
        b, r = 0.0, p[2] * math.copysign(1.0, R[2, 2])
    else:
        c_alpha, s_alpha = cos_sin(alpha, noise)
        r = (s * p[0] - c * p[1]) / (s_alpha or math.sin(alpha))
        b = p[2] - r * c_alpha
        if max(abs(b), abs(r)) > FAR * float(np.linalg.norm(p)):
            return None
    untilted = (rotation("z", gamma, noise) @ rotation("x", alpha, noise)).T @ R  # = Rz(theta)
    theta = math.atan2(untilted[1, 0], untilted[0, 0])
    return ModifiedParameters(gamma, float(b), alpha, float(d), theta, float(r))


def screws(placement: Placement) -> tuple[FixedScrew, ...]:
    """Return a chain of z and x screws that gives ``placement``, without neutral ones: at most three, or five where the
    common normal is too far away. Rounding errors are removed, so that structural zeros are exact."""
    six = modified_parameters(placement, ANGLE_NOISE)
    if six is not None:
        if abs(math.sin(six.alpha)) < ANGLE_NOISE:  # the translation along parallel axes may be in b or r
            six = six._replace(b=six.r * round(math.cos(six.alpha)), r=0.0)
        return _chain(("z", six.gamma, six.b), ("x", six.alpha, six.d), ("z", six.theta, six.r))
    x, y, z = placement.translation
    turn = modified_parameters(Placement(placement.rotation), ANGLE_NOISE)
    assert turn is not None  # axes that intersect have a common normal of length zero
    toward = math.atan2(y, x)
    return _chain(
        ("z", toward, z), ("x", 0.0, math.hypot(x, y)), ("z", turn.gamma - toward, 0.0), ("x", turn.alpha, 0.0),
        ("z", turn.theta, 0.0),
    )  # fmt: skip


def _chain(*parts: tuple[str, float, float]) -> tuple[FixedScrew, ...]:
    return joined(tuple(FixedScrew(axis, snapped(angle), _clean(length)) for axis, angle, length in parts))


def joined(*chains: tuple[FixedScrew, ...]) -> tuple[FixedScrew, ...]:
    """Return chains one after another, with neighbouring screws about the same axis joined and neutral ones removed."""
    result: list[FixedScrew] = []
    for screw in (screw for chain in chains for screw in chain):
        if result and result[-1].axis == screw.axis:
            last = result.pop()
            screw = FixedScrew(screw.axis, snapped(last.angle + screw.angle), _clean(last.length + screw.length))
        if screw.angle or screw.length:
            result.append(screw)
    return tuple(result)


def placement_of(chain: tuple[FixedScrew, ...]) -> Placement:
    """Return the placement that a chain of screws gives."""
    total = Placement()
    for screw in chain:
        shift = np.zeros(3)
        shift["xyz".index(screw.axis)] = screw.length
        total = total @ Placement(rotation(screw.axis, screw.angle), shift)
    return total


def snapped(angle: float) -> float:
    """Return the angle in (-pi, pi], exactly a multiple of a right angle if it is one up to rounding."""
    angle = math.pi - (math.pi - angle) % (2 * math.pi)
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * (math.pi / 2)) < ANGLE_NOISE:
        return math.pi if abs(quarters) == 2 else quarters * (math.pi / 2)
    return angle


def _clean(length: float) -> float:
    return 0.0 if abs(length) < LENGTH_NOISE else float(length)
