"""Actuators of a model compiled by MuJoCo: which joints they drive, and what they add to them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .mjcf_tree import TreeReader

UNLIMITED = np.array([-math.inf, math.inf])


@dataclass
class Actuators:
    """By joint: rotor inertia, damping, and the least and greatest force of all its actuators."""

    armature: dict[int, float] = field(default_factory=dict)
    damping: dict[int, float] = field(default_factory=dict)
    forces: dict[int, np.ndarray] = field(default_factory=dict)


def read_actuators(reader: TreeReader) -> Actuators:
    model, mujoco, found = reader.model, reader.mujoco, Actuators()
    count = len(model.actuator_trntype)
    zeros = np.zeros(count)
    terms = [getattr(model, f"actuator_{name}", zeros) for name in ("armature", "damping", "dampingpoly")]
    for i in range(count):
        actuator, (armature, damping, further) = model.actuator(i), (term[i] for term in terms)
        joint, gear = int(actuator.trnid[0]), float(actuator.gear[0])
        on_joint = int(actuator.trntype[0]) in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
        only = "" if on_joint else "its armature and damping do not act on one joint"
        if actuator.dyntype[0] != mujoco.mjtDyn.mjDYN_NONE:
            reader.tell("warning", "actuator", actuator.name, "its own dynamics is not part of the robot's")
        if not on_joint:
            reader.tell("warning", "actuator", actuator.name, "it drives no single joint, so it is left out")
        elif reader.is_free(joint):
            only = "its armature and damping act on a free body along one direction alone"
            reader.tell("warning", "actuator", actuator.name, "it pushes a free body, so it is left out")
        elif reader.is_ball(joint):
            only = "its armature and damping act on a ball joint about one axis alone"
            message = "it turns a ball joint about one axis: all three are taken as driven, without limits of force"
            reader.tell("warning", "actuator", actuator.name, message)
            found.forces[joint] = UNLIMITED
        if np.any(further) or (only and (armature or damping)):
            message = only or "its damping is not linear"
            reader.tell("error", "actuator", actuator.name, message, "give the joint armature and damping instead")
        elif not only:
            found.armature[joint] = found.armature.get(joint, 0.0) + float(armature) * gear**2
            found.damping[joint] = found.damping.get(joint, 0.0) + float(damping) * gear**2
            found.forces[joint] = found.forces.get(joint, np.zeros(2)) + _force(mujoco, actuator, gear)
    return found


def _force(mujoco: Any, actuator: Any, gear: float) -> np.ndarray:
    """Least and greatest force of an actuator on its joint."""
    is_motor = actuator.gaintype[0] == mujoco.mjtGain.mjGAIN_FIXED
    is_motor &= actuator.biastype[0] == mujoco.mjtBias.mjBIAS_NONE
    if actuator.forcelimited[0]:
        return np.sort(gear * actuator.forcerange[:2])
    if is_motor and actuator.dyntype[0] == mujoco.mjtDyn.mjDYN_NONE and actuator.ctrllimited[0]:
        return np.sort(gear * actuator.gainprm[0] * actuator.ctrlrange)
    return UNLIMITED
