"""The torque of a motion in parts, each from the same recursion with all else left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..formulations import drives_of
from ..model import Model, changed_drives
from ..robot import Robot
from .motion import Motion


def torque_parts(robot: Robot, motion: Motion) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Joint forces along a motion (T, n), and what they are made of: inertia, Coriolis and centrifugal, gravity, and
    friction, springs and surroundings where the robot has them."""
    model = _forced(robot.model)
    q, v, a = motion.q, motion.v, motion.a
    none = np.zeros_like(v)
    bare = _without(model, friction=False, springs=False, forces=())
    run = bare.inverse_dynamics
    still, moving = run(q, none, none), run(q, v, none)
    parts = {"inertia": run(q, none, a) - still, "Coriolis and centrifugal": moving - still, "gravity": still}
    if model.has_modes or any(drive.acting for drive in drives_of(model)):
        parts["friction"] = _without(model, springs=False, forces=()).inverse_dynamics(q, v, none) - moving
    if model.has_modes or any(drive.stiffness for drive in drives_of(model)):
        parts["springs"] = _without(model, friction=False, forces=()).inverse_dynamics(q, none, none) - still
    if model.forces:
        parts["surroundings"] = _without(model, friction=False, springs=False).inverse_dynamics(q, v, none) - moving
    return Robot(model).inverse_dynamics(q, v, a), parts


def _forced(model: Model) -> Model:
    """Inverse dynamics also of passive joints that are free, where it gives zero along a motion they make by
    themselves: as joints held by springs, of no stiffness."""
    free = {model.coordinates.joint_of(k).name for k in model.mobility.free}
    bodies = (
        replace(b, joint=replace(b.joint, role="elastic")) if b.joint.role == "passive" and b.joint.name in free else b
        for b in model.bodies
    )
    return replace(model, bodies=tuple(bodies))


def _without(model: Model, friction: bool = True, springs: bool = True, **others: tuple) -> Robot:
    def changed(drive: Any) -> Any:
        drive = drive if friction else drive.without_friction()
        return drive if springs else drive.without_spring()

    return Robot(replace(changed_drives(model, changed), **others))  # type: ignore[arg-type]
