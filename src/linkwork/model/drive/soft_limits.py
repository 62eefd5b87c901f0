"""Stops at the limits of joints, soft enough to be integrated."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...scalar import Scalar, positive_part, sign
from ..element import Element, number, positive


@dataclass(frozen=True)
class SoftLimits(Element):
    """Soft stops at the position limits of all joints that have them.

    At depth d > 0 beyond a limit, the stop pushes back with max(0, k d + c d').

    Args:
        stiffness: k, N m/rad, or N/m for prismatic joints.
        damping: c, N m s/rad, or N s/m for prismatic joints. It acts at full strength from the first touch on.

    Raises:
        ModelError: if a value is negative or not finite, or the stiffness is zero.

    Example:
        >>> motion = robot.simulate(duration=0.01, limits=linkwork.SoftLimits(stiffness=1e4, damping=100))
        >>> motion.q.shape[-1]
        7
    """

    option = "--limits"
    stiffness: float = positive()
    damping: float = number(0.0, least=0)

    def __post_init__(self):
        self.convert()

    def force(self, lower: float, upper: float, q: Scalar, v: Scalar) -> Scalar:
        """Return the force of one joint that balances its stops.

        Args:
            lower: limit of the position, rad or m; -inf without one.
            upper: limit of the position, rad or m; inf without one.
            q: position, rad or m.
            v: velocity, rad/s or m/s.

        Returns:
            The force, N m or N: positive beyond the upper limit.
        """
        above = self._push(q - upper, v) if math.isfinite(upper) else 0
        below = self._push(lower - q, -v) if math.isfinite(lower) else 0
        return above - below

    def _push(self, depth: Scalar, rate: Scalar) -> Scalar:
        return positive_part(sign(depth)) * positive_part(self.stiffness * depth + self.damping * rate)
