"""Impedance control of a frame: an ordinary function to compile with ``robot.function``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compose import TracedRobot
from ..rotations import pose_error


@dataclass(frozen=True, eq=False)
class Impedance:
    """Impedance controller (Hogan 1985): a frame yields to forces like a spring and a damper at a target pose.

    The forces of all joints are tau = bias(q, v) + J^T (stiffness e - damping J v) - joint_damping v, where e is the
    error of the pose in world axes (``linkwork.pose_error``). Gravity, friction and velocity terms are compensated, the
    inertia stays that of the robot.

    Args:
        frame: Name of the frame.
        stiffness: Of translations in N/m and rotations in N m/rad, one number or (6,), in world axes.
        damping: In N s/m and N m s/rad, in the same form.
        joint_damping: Of all joints in N m s/rad (N s/m), for motions of a redundant robot that the frame does not see.

    Example:
        >>> law = linkwork.control.Impedance("panda_link8", 400.0, 40.0, joint_damping=0.5)
        >>> robot.function(law, target=(4, 4)).signature
        'q(7), v(7), target(4,4) -> tau(7), error(6)'
    """

    frame: str
    stiffness: Any
    damping: Any
    joint_damping: Any = 0.0

    def __call__(self, robot: TracedRobot, q: Any, v: Any, target: Any) -> dict[str, Any]:
        """Return the joint forces and the error of the pose.

        Args:
            robot: The robot.
            q: Positions (nq,).
            v: Velocities (nv,).
            target: Target pose (4, 4).

        Returns:
            The outputs.
        """
        J = robot.jacobian(self.frame, q)
        error = pose_error(target, robot.pose(self.frame, q))
        wrench = np.asanyarray(self.stiffness) * error - np.asanyarray(self.damping) * (J @ v)
        return {"tau": robot.bias(q, v) + J.T @ wrench - np.asanyarray(self.joint_damping) * v, "error": error}
