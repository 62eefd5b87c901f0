"""The parts of the torque of a motion, each by inverse dynamics without the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..formulations import drives_of
from ..model import Model, changed_drives
from ..robot import Robot
from .motion import Motion


def torque_parts(robot: Robot, motion: Motion) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Split the joint forces along a motion into their parts.

    The parts are inertia, Coriolis and centrifugal, gravity, and friction, springs and surroundings if the robot has
    them.

    Args:
        robot: The robot.
        motion: The Motion, such as that of ``sample_motion``.

    Returns:
        The joint forces (T, n), and {part: joint forces (T, n)}.

    Example:
        >>> arm = linkwork.load("planar2r")
        >>> list(linkwork.report.torque_parts(arm, linkwork.report.sample_motion(arm))[1])[:3]
        ['inertia', 'Coriolis and centrifugal', 'gravity']
    """
    model = _forced(robot.model)
    q, v, a = motion.q, motion.v, motion.a
    zero = np.zeros_like(v)
    bare = _without(model, friction=False, springs=False, forces=())
    inverse_dynamics = bare.inverse_dynamics
    still, moving = inverse_dynamics(q, zero, zero), inverse_dynamics(q, v, zero)
    parts = {
        "inertia": inverse_dynamics(q, zero, a) - still,
        "Coriolis and centrifugal": moving - still,
        "gravity": still,
    }
    if model.has_modes or any(drive.acting for drive in drives_of(model)):
        parts["friction"] = _without(model, springs=False, forces=()).inverse_dynamics(q, v, zero) - moving
    if model.has_modes or any(drive.stiffness for drive in drives_of(model)):
        parts["springs"] = _without(model, friction=False, forces=()).inverse_dynamics(q, zero, zero) - still
    if model.forces:
        parts["surroundings"] = _without(model, friction=False, springs=False).inverse_dynamics(q, v, zero) - moving
    return Robot(model).inverse_dynamics(q, v, a), parts


def _forced(model: Model) -> Model:
    """Return the model with free passive joints as elastic joints of zero stiffness, so that inverse dynamics has their
    forces, too; they are zero along a motion of the free robot."""
    free = {model.coordinates.joint_of(k).name for k in model.mobility.free}
    bodies = (
        replace(b, joint=replace(b.joint, role="elastic")) if b.joint.role == "passive" and b.joint.name in free else b
        for b in model.bodies
    )
    return replace(model, bodies=tuple(bodies))


def _without(model: Model, friction: bool = True, springs: bool = True, **others: tuple) -> Robot:
    """Return the robot without friction, without springs, or with other fields of its model."""

    def changed(drive: Any) -> Any:
        drive = drive if friction else drive.without_friction()
        return drive if springs else drive.without_spring()

    return Robot(replace(changed_drives(model, changed), **others))  # type: ignore[arg-type]
