"""Denavit-Hartenberg geometry: placements from parameters, parameters from placements, standard tables to modified.

Modified parameters are those of Khalil and Kleinfinger (1986) for trees, in the letters of Khalil (2010), section 2.1:

    frame j in frame a(j) = Rot(z, gamma) Trans(z, b) Rot(x, alpha) Trans(x, d) Rot(z, theta) Trans(z, r)

Frame j sits on the axis of joint j, so its z is the axis. The standard (distal) convention puts frame i at the far end
of link i, on the axis of joint i + 1:

    frame i in frame i-1 = Rot(z, theta) Trans(z, d) Trans(x, a) Rot(x, alpha)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..model.description import LinkInertia, Placement

SNAP = 1e-15  # an angle this close to a multiple of pi/2 is meant to be one
FAR = 10.0  # common normals farther away than this many distances cost digits


class ModifiedParameters(NamedTuple):
    """The six parameters of one frame; theta or r is the value at joint position zero."""

    gamma: float = 0.0
    b: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    r: float = 0.0

    def placement(self) -> Placement:
        turn = rotation_z(self.gamma)
        tilt = turn @ rotation_x(self.alpha)
        # + 0.0 turns -0.0 into 0.0
        return Placement(
            tilt @ rotation_z(self.theta) + 0.0,
            turn @ [self.d, 0.0, self.b] + tilt @ [0.0, 0.0, self.r] + 0.0,
        )


def cosine_sine(angle: float) -> tuple[float, float]:
    """Cosine and sine, exactly 0 and +-1 at the multiples of pi/2."""
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * (math.pi / 2)) <= SNAP * max(1, abs(quarters)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return math.cos(angle), math.sin(angle)


def rotation_x(angle: float) -> np.ndarray:
    c, s = cosine_sine(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: float) -> np.ndarray:
    c, s = cosine_sine(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: float) -> np.ndarray:
    c, s = cosine_sine(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """As in URDF, but only an angle that is a quarter turn to the last digit is taken for one: what was written with
    all digits is read back."""
    return rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll) + 0.0


def modified_parameters(placement: Placement) -> ModifiedParameters | None:
    """Parameters that give this placement; gamma and b vanish where they can.

    None where the two z axes are almost but not quite parallel: their common normal is then so far away that b and r
    would be large and cancel, and digits would be lost.
    """
    R, p = placement.rotation, placement.translation
    parallel = math.hypot(R[0, 2], R[1, 2]) <= SNAP
    # Of gamma and gamma + pi take the one in (-pi/2, pi/2], so that serial chains get gamma = 0.
    x, y = (p[0], p[1]) if parallel else (-R[1, 2], R[0, 2])
    gamma = math.atan2(y, x)
    gamma -= math.pi * (gamma > math.pi / 2)
    gamma += math.pi * (gamma <= -math.pi / 2)
    c, s = cosine_sine(gamma)
    alpha = math.atan2(s * R[0, 2] - c * R[1, 2], R[2, 2])
    d = c * p[0] + s * p[1]
    if parallel:
        b, r = 0.0, p[2] * math.copysign(1.0, R[2, 2])
    else:
        c_alpha, s_alpha = cosine_sine(alpha)
        r = (s * p[0] - c * p[1]) / s_alpha
        b = p[2] - r * c_alpha
        if max(abs(b), abs(r)) > FAR * float(np.linalg.norm(p)):
            return None
    untilted = (rotation_z(gamma) @ rotation_x(alpha)).T @ R  # = Rot(z, theta)
    theta = math.atan2(untilted[1, 0], untilted[0, 0])
    return ModifiedParameters(gamma, float(b), alpha, float(d), theta, float(r))


def from_standard_dh(
    theta: Sequence[float],
    d: Sequence[float],
    a: Sequence[float],
    alpha: Sequence[float],
    parent: Sequence[int] | None = None,
) -> tuple[list[ModifiedParameters], list[Placement]]:
    """A standard (distal) table as modified parameters, and each distal frame placed in its modified frame.

    ``theta`` or ``d`` of a moving joint is its value at position zero. ``parent[i]`` is the row before row ``i``, -1
    for the base; a serial chain by default. Modified frame i stands where theta_i and d_i have taken frame i-1, so

        alpha_i' = alpha_{i-1},  d_i' = a_{i-1},  theta_i' = theta_i,  r_i' = d_i

    and the distal frame is left at Trans(x, a_i) Rot(x, alpha_i): it carries distal inertias and poses over.
    """
    before = range(-1, len(theta) - 1) if parent is None else parent
    rows = [
        ModifiedParameters(alpha=alpha[k] if k >= 0 else 0.0, d=a[k] if k >= 0 else 0.0, theta=theta[i], r=d[i])
        for i, k in enumerate(before)
    ]
    return rows, [ModifiedParameters(alpha=alpha[i], d=a[i]).placement() for i in range(len(rows))]


def carried(inertia: LinkInertia, placement: Placement) -> LinkInertia:
    """The same body seen from the outer frame of ``placement``."""
    R = placement.rotation
    return LinkInertia(inertia.mass, R @ inertia.center + placement.translation, R @ inertia.central @ R.T)
