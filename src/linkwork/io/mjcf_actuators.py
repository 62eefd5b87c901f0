"""Actuators of a model compiled by MuJoCo: which joints they drive, and what they add to them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.drive import Motor, Transmission
from .mjcf_equalities import Equalities, tendon_length
from .mjcf_values import fresh

if TYPE_CHECKING:
    from .mjcf_tree import TreeReader

UNLIMITED = np.array([-math.inf, math.inf])


@dataclass
class Actuators:
    """By joint: rotor inertia, damping, and the least and greatest force of all its actuators."""

    armature: dict[int, float] = field(default_factory=dict)
    damping: dict[int, float] = field(default_factory=dict)
    forces: dict[int, np.ndarray] = field(default_factory=dict)
    pulling: list[tuple[int, int, Motor]] = field(default_factory=list)  # actuators of fixed tendons, the tendons

    def add(self, joint: int, ratio: float, armature: float, damping: float) -> None:
        self.armature[joint] = self.armature.get(joint, 0.0) + armature * ratio**2
        self.damping[joint] = self.damping.get(joint, 0.0) + damping * ratio**2

    def push(self, joint: int, force: np.ndarray) -> None:
        self.forces[joint] = self.forces.get(joint, np.zeros(2)) + force


def read_actuators(reader: TreeReader) -> Actuators:
    model, mujoco, found = reader.model, reader.mujoco, Actuators()
    count = len(model.actuator_trntype)
    zeros = np.zeros(count)
    terms = [getattr(model, f"actuator_{name}", zeros) for name in ("armature", "damping", "dampingpoly")]
    for i in range(count):
        actuator, (armature, damping, further) = model.actuator(i), (term[i] for term in terms)
        joint, gear = int(actuator.trnid[0]), float(actuator.gear[0])
        on_joint = int(actuator.trntype[0]) in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
        pulls = actuator.trntype[0] == mujoco.mjtTrn.mjTRN_TENDON and tendon_length(reader, joint) is not None
        only = "" if on_joint or pulls else "its armature and damping do not act on one joint"
        if actuator.dyntype[0] != mujoco.mjtDyn.mjDYN_NONE:
            reader.report("warning", "actuator", actuator.name, "its own dynamics is not part of the robot's")
        if only:
            reader.report("warning", "actuator", actuator.name, "it drives no single joint, so it is left out")
        elif not pulls and reader.is_free(joint):
            only = "its armature and damping act on a free body along one direction alone"
            reader.report("warning", "actuator", actuator.name, "it pushes a free body, so it is left out")
        elif not pulls and reader.is_ball(joint):
            only = "its armature and damping act on a ball joint about one axis alone"
            message = "it turns a ball joint about one axis: all three are taken as driven, without limits of force"
            reader.report("warning", "actuator", actuator.name, message)
            found.forces[joint] = UNLIMITED
        if np.any(further) or (only and (armature or damping)):
            message = only or "its damping is not linear"
            reader.report("error", "actuator", actuator.name, message, "give the joint armature and damping instead")
        elif pulls:
            found.pulling.append(
                (i, joint, Motor(actuator.name, rotor_inertia=float(armature), viscous=float(damping)))
            )
        elif not only:
            found.add(joint, gear, float(armature), float(damping))
            found.push(joint, _force(mujoco, actuator, gear))
    return found


def read_pulling(reader: TreeReader, coupled: Equalities) -> None:
    """Actuators of fixed tendons: they drive the one joint that the tendon's length is a matter of, or are motors of
    several."""
    found = reader.actuators
    alone = set(found.forces)  # joints with actuators of their own
    for i, tendon, motor in found.pulling:
        actuator, (own, _) = reader.model.actuator(i), coupled.reduced(tendon_length(reader, tendon) or {})
        ratios = {joint: float(actuator.gear[0]) * factor for joint, factor in own.items() if actuator.gear[0]}
        for joint, ratio in ratios.items():
            found.push(joint, _force(reader.mujoco, actuator, ratio))
            if len(ratios) == 1:
                found.add(joint, ratio, motor.rotor_inertia, motor.viscous)
        if len(ratios) > 1:
            if shared := [reader.names[joint] for joint in ratios if joint in alone]:
                message = f"joint {shared[0]!r} has an actuator of its own, too, so `transmission` does not show it"
                reader.report("warning", "actuator", actuator.name, message)
            name = fresh(actuator.name or f"actuator{i + 1}", reader.joint_names)
            viscous = 0.0 if reader.disabled("DAMPER", "PASSIVE") else motor.viscous
            motor = replace(motor, name=name, viscous=viscous, role="passive" if shared else "active")
            joints = tuple(reader.names[joint] for joint in ratios)
            reader.transmissions.append(Transmission(name, joints, (motor,), (tuple(ratios.values()),)))


def _force(mujoco: Any, actuator: Any, gear: float) -> np.ndarray:
    """Least and greatest force of an actuator on its joint."""
    is_motor = actuator.gaintype[0] == mujoco.mjtGain.mjGAIN_FIXED
    is_motor &= actuator.biastype[0] == mujoco.mjtBias.mjBIAS_NONE
    if actuator.forcelimited[0]:
        return np.sort(gear * actuator.forcerange[:2])
    if is_motor and actuator.dyntype[0] == mujoco.mjtDyn.mjDYN_NONE and actuator.ctrllimited[0]:
        return np.sort(gear * actuator.gainprm[0] * actuator.ctrlrange)
    return UNLIMITED
