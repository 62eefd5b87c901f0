"""Springs, damping, friction and armature of fixed tendons, as the joints have them.

They act on one joint if the tendon's length is a matter of one: because it has no other, or because its others follow
that one or are held. Of a tendon that cannot change its length they do nothing. Over several joints, what has no spring
is the rotor and the friction of a motor that turns as the tendon gets longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..model.drive import Motor, Transmission
from .mjcf_equalities import Equalities, tendon_length
from .mjcf_values import fresh

if TYPE_CHECKING:
    from .mjcf_tree import TreeReader

LINEAR = ("stiffness", "damping", "frictionloss", "armature")
FURTHER = ("stiffnesspoly", "springyield", "dampingpoly")
THEM = "spring, damping, friction or armature"


def read_tendons(reader: TreeReader, found: Equalities) -> None:
    """Add to the joints what tendons do to them."""
    model, zeros = reader.model, np.zeros(reader.model.ntendon)
    for t in range(model.ntendon):
        name, total = model.tendon(t).name, tendon_length(reader, t)
        stiffness, damping, friction, armature = (float(getattr(model, f"tendon_{term}", zeros)[t]) for term in LINEAR)
        curved = any(np.any(getattr(model, f"tendon_{term}", zeros)[t]) for term in FURTHER)
        own, constant = found.reduced(total or {})
        coupling = len(own) > 1 and not (stiffness or curved)
        low, high = map(float, model.tendon_lengthspring[t])
        if not any((stiffness, damping, friction, armature, curved)):
            reader.tell("warning", "tendon", name, "limits and actuators of tendons are not read")
        elif not coupling and (total is None or len(own) > 1):
            acts = "in space" if total is None else f"across {len(own)} joints"
            message = f"its {THEM} acts {acts}, not on one joint"
            reader.tell("error", "tendon", name, message, "give the joints these terms")
        elif curved or (stiffness and low != high):
            fix = "give one coefficient and one springlength"
            reader.tell("error", "tendon", name, "its spring or damping is not linear", fix)
        elif own != total:
            message = f"its {THEM} is read as it acts while joints are coupled, not for mimic=False"
            reader.tell("warning", "tendon", name, message)
        if coupling and (damping or friction or armature):
            motor = Motor(
                fresh(name or f"tendon{t + 1}", reader.joint_names),
                rotor_inertia=armature,
                coulomb=0.0 if reader.disabled("FRICTIONLOSS", "CONSTRAINT") else friction,
                viscous=0.0 if reader.disabled("DAMPER", "PASSIVE") else damping,
            )
            joints = tuple(reader.names[joint] for joint in own)
            reader.transmissions.append(Transmission(motor.name, joints, (motor,), (tuple(own.values()),)))
            continue
        for joint, factor in own.items():
            spring = stiffness * factor**2
            terms = [spring, spring * (low - constant) / factor, damping * factor**2, friction * abs(factor)]
            reader.tendons[joint] = np.array([*terms, armature * factor**2]) + reader.tendons.get(joint, 0.0)
