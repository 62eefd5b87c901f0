"""Actuators of a model compiled by MuJoCo: the joints they drive, their inertia, damping and force limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.drive import Motor, Transmission
from .findings import unused_name
from .mjcf_equalities import Equalities, tendon_length

if TYPE_CHECKING:
    from .mjcf_tree import TreeReader

UNLIMITED = np.array([-math.inf, math.inf])


@dataclass
class Actuators:
    """By joint: rotor inertia, damping, and the least and greatest force of all its actuators."""

    armature: dict[int, float] = field(default_factory=dict)
    damping: dict[int, float] = field(default_factory=dict)
    forces: dict[int, np.ndarray] = field(default_factory=dict)
    on_tendons: list[tuple[int, int, Motor]] = field(default_factory=list)  # actuators of fixed tendons, the tendons

    def add(self, joint: int, ratio: float, armature: float, damping: float) -> None:
        self.armature[joint] = self.armature.get(joint, 0.0) + armature * ratio**2
        self.damping[joint] = self.damping.get(joint, 0.0) + damping * ratio**2

    def add_force(self, joint: int, force: np.ndarray) -> None:
        self.forces[joint] = self.forces.get(joint, np.zeros(2)) + force


def read_actuators(reader: TreeReader) -> Actuators:
    """Read the actuators that drive single joints, and list those of fixed tendons."""
    model, mujoco, actuators = reader.model, reader.mujoco, Actuators()
    count = len(model.actuator_trntype)
    zeros = np.zeros(count)
    terms = [getattr(model, f"actuator_{name}", zeros) for name in ("armature", "damping", "dampingpoly")]
    for i in range(count):
        actuator, (armature, damping, polynomial) = model.actuator(i), (term[i] for term in terms)
        joint, gear = int(actuator.trnid[0]), float(actuator.gear[0])
        on_joint = int(actuator.trntype[0]) in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
        on_tendon = actuator.trntype[0] == mujoco.mjtTrn.mjTRN_TENDON and tendon_length(reader, joint) is not None
        reason = "" if on_joint or on_tendon else "its armature and damping do not act on one joint"
        if actuator.dyntype[0] != mujoco.mjtDyn.mjDYN_NONE:
            reader.report("warning", "actuator", actuator.name, "the dynamics of the actuator is left out")
        if reason:
            reader.report("warning", "actuator", actuator.name, "it drives no single joint, so it is left out")
        elif not on_tendon and reader.is_free(joint):
            reason = "its armature and damping act on a free body along one direction only"
            reader.report("warning", "actuator", actuator.name, "it pushes a free body, so it is left out")
        elif not on_tendon and reader.is_ball(joint):
            reason = "its armature and damping act on a ball joint about one axis only"
            message = "it drives a ball joint about one axis; linkwork drives all three axes, without force limits"
            reader.report("warning", "actuator", actuator.name, message)
            actuators.forces[joint] = UNLIMITED
        if np.any(polynomial) or (reason and (armature or damping)):
            message = reason or "its damping is not linear"
            reader.report("error", "actuator", actuator.name, message, "give the joint armature and damping instead")
        elif on_tendon:
            motor = Motor(actuator.name, rotor_inertia=float(armature), viscous=float(damping))
            actuators.on_tendons.append((i, joint, motor))
        elif not reason:
            actuators.add(joint, gear, float(armature), float(damping))
            actuators.add_force(joint, _force(mujoco, actuator, gear))
    return actuators


def read_tendon_actuators(reader: TreeReader, equalities: Equalities) -> None:
    """Read actuators of fixed tendons: they drive the only joint that changes the length, or are motors of several."""
    actuators = reader.actuators
    with_actuator = set(actuators.forces)  # joints with actuators of their own
    for i, tendon, motor in actuators.on_tendons:
        actuator, (length, _) = reader.model.actuator(i), equalities.reduced(tendon_length(reader, tendon) or {})
        ratios = {joint: float(actuator.gear[0]) * factor for joint, factor in length.items() if actuator.gear[0]}
        for joint, ratio in ratios.items():
            actuators.add_force(joint, _force(reader.mujoco, actuator, ratio))
            if len(ratios) == 1:
                actuators.add(joint, ratio, motor.rotor_inertia, motor.viscous)
        if len(ratios) > 1:
            if conflicts := [reader.names[joint] for joint in ratios if joint in with_actuator]:
                message = (
                    f"joint {conflicts[0]!r} has an actuator of its own, too, so `transmission` does not include it"
                )
                reader.report("warning", "actuator", actuator.name, message)
            name = unused_name(actuator.name or f"actuator{i + 1}", reader.joint_names)
            viscous = 0.0 if reader.disabled("DAMPER", "PASSIVE") else motor.viscous
            motor = replace(motor, name=name, viscous=viscous, role="passive" if conflicts else "active")
            joints = tuple(reader.names[joint] for joint in ratios)
            reader.transmissions.append(Transmission(name, joints, (motor,), (tuple(ratios.values()),)))


def _force(mujoco: Any, actuator: Any, gear: float) -> np.ndarray:
    """Return the least and greatest force of an actuator on its joint."""
    is_motor = actuator.gaintype[0] == mujoco.mjtGain.mjGAIN_FIXED
    is_motor &= actuator.biastype[0] == mujoco.mjtBias.mjBIAS_NONE
    if actuator.forcelimited[0]:
        return np.sort(gear * actuator.forcerange[:2])
    if is_motor and actuator.dyntype[0] == mujoco.mjtDyn.mjDYN_NONE and actuator.ctrllimited[0]:
        return np.sort(gear * actuator.gainprm[0] * actuator.ctrlrange)
    return UNLIMITED
