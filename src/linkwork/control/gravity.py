"""Gravity compensation with friction: an ordinary function to compile with ``robot.function``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..compose import TracedRobot
from ..constraints import ClosedLoops
from ..formulations import passive_forces
from ..program.traced_array import nested_nodes


@dataclass(frozen=True, eq=False)
class GravityCompensation:
    """Compensation of gravity, springs and friction: tau = g(q) + springs(q) + share friction(v).

    The robot stands still where it is, and is easily guided by hand. Coulomb friction goes smoothly through zero, as in
    simulations. With a share below one, some friction is left to stop the robot. In a robot with a moving base or
    passive joints, tau is the motors' part, as if the other joints were held.

    Args:
        share: Share of the friction that is compensated, one number or one per velocity (nv,). Default: 0.9.
        width: Velocity in rad/s (m/s) below which Coulomb friction goes smoothly through zero.

    Example:
        >>> f = robot.function(linkwork.control.GravityCompensation())
        >>> f.signature
        'q(7), v(7) -> tau(7)'
    """

    share: Any = 0.9
    width: float = 0.05

    def __call__(self, robot: TracedRobot, q: Any, v: Any) -> dict[str, Any]:
        """Return the joint forces.

        Args:
            robot: The robot.
            q: Positions (nq,).
            v: Velocities (nv,).

        Returns:
            The output, one force per motor.
        """
        model = replace(robot.model, friction_width=robot.model.friction_width or self.width)
        tree_q = model.expand(nested_nodes(q))
        loops = ClosedLoops(model, tree_q)
        tree_v = loops.rates(nested_nodes(v))
        friction, all_passive = (
            np.array(loops.collect(passive_forces(model, tree_q, tree_v, springs))) for springs in (False, True)
        )
        forces = robot.gravity(q) + all_passive - friction + np.asanyarray(self.share) * friction
        forced, mobility = loops.to_motors(nested_nodes(forces)), model.mobility
        return {"tau": np.array([forced[mobility.forced.index(k)] for k in mobility.motors])}
