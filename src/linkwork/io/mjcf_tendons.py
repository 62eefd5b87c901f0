"""Tendons: springs, damping, friction and armature between joints, and springs between places.

Terms of a fixed tendon are the joint's own if its length is a matter of one joint: because it has no other, or because
its others follow that one or are held. Of a tendon that cannot change its length they do nothing. Else they are those
of a passive motor that stands at the tendon's length. A tendon that runs straight through sites is a Spring of the
surroundings, whose segments behind a pulley count by its divisor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..forces import Spring
from ..model.drive import Motor, Transmission
from .mjcf_equalities import Equalities, tendon_length
from .mjcf_values import fresh

if TYPE_CHECKING:
    from .mjcf_tree import TreeReader

LINEAR = ("stiffness", "damping", "frictionloss", "armature")
FURTHER = ("stiffnesspoly", "springyield", "dampingpoly")
THEM = "spring, damping, friction or armature"


class Line(NamedTuple):
    """A tendon through sites: their numbers, the share of each segment, and what acts along it."""

    sites: list[int]
    shares: tuple[float, ...]
    stiffness: float
    damping: float
    low: float
    high: float

    def spring(self, names: Mapping[int, str]) -> tuple[str, Spring]:
        """The law with its frame, by the names of the sites' frames."""
        first, *others = (names[site] for site in self.sites)
        shares = () if set(self.shares) == {1.0} else self.shares
        return first, Spring(tuple(others), self.stiffness, self.damping, self.low, self.high - self.low, shares)


def read_tendons(reader: TreeReader, found: Equalities) -> None:
    """Add to the joints what tendons do to them, and note the lines of the others."""
    model, zeros = reader.model, np.zeros(reader.model.ntendon)
    for t in range(model.ntendon):
        name = model.tendon(t).name
        stiffness, damping, friction, armature = (float(getattr(model, f"tendon_{term}", zeros)[t]) for term in LINEAR)
        curved = any(np.any(getattr(model, f"tendon_{term}", zeros)[t]) for term in FURTHER)
        if model.tendon_limited[t]:
            message = "its range is left out: only joints have limits"
            reader.report("warning", "tendon", name, message, "give its joints a range")
        if curved:
            reader.report("error", "tendon", name, "its spring or damping is not linear", "give one coefficient")
        elif not any((stiffness, damping, friction, armature)):
            continue
        elif (total := tendon_length(reader, t)) is None:
            if friction or armature:
                message = "friction and armature of a tendon through space are not read"
                reader.report("error", "tendon", name, message, "remove them, or give them to the joints")
            _read_line(reader, t, found)
        else:
            own, constant = found.reduced(total)
            if own != total:
                message = f"its {THEM} is read as it acts while joints are coupled, not for mimic=False"
                reader.report("warning", "tendon", name, message)
            low, high = map(float, model.tendon_lengthspring[t])
            if len(own) > 1 or (own and stiffness and low != high):
                motor = Motor(
                    fresh(name or f"tendon{t + 1}", reader.joint_names),
                    rotor_inertia=armature,
                    coulomb=0.0 if reader.disabled("FRICTIONLOSS", "CONSTRAINT") else friction,
                    viscous=0.0 if reader.disabled("DAMPER", "PASSIVE") else damping,
                    stiffness=0.0 if reader.disabled("SPRING", "PASSIVE") else stiffness,
                    rest=low - constant if stiffness else 0.0,
                    slack=high - low if stiffness else 0.0,
                    role="passive",
                )
                joints = tuple(reader.names[joint] for joint in own)
                reader.transmissions.append(Transmission(motor.name, joints, (motor,), (tuple(own.values()),)))
                continue
            for joint, factor in own.items():
                spring = stiffness * factor**2
                terms = [spring, spring * (low - constant) / factor, damping * factor**2, friction * abs(factor)]
                reader.tendons[joint] = np.array([*terms, armature * factor**2]) + reader.tendons.get(joint, 0.0)


def _read_line(reader: TreeReader, t: int, found: Equalities) -> None:
    model, wraps = reader.model, reader.mujoco.mjtWrap
    sites, shares, divisor, apart = [], [], 1.0, False
    for part in range(model.tendon_adr[t], model.tendon_adr[t] + model.tendon_num[t]):
        kind, thing = model.wrap_type[part], int(model.wrap_objid[part])
        if kind == wraps.mjWRAP_PULLEY:
            divisor, apart = float(model.wrap_prm[part]), True
        elif kind == wraps.mjWRAP_SITE:
            if sites:
                shares.append(0.0 if apart else 1 / divisor)
            sites.append(thing)
            apart = False
        else:
            message = f"it is wrapped around geom {model.geom(thing).name!r}, and only straight lines are read"
            fix = "lead it through sites instead, or remove its stiffness and damping"
            reader.report("error", "tendon", model.tendon(t).name, message, fix)
            return
    low, high = map(float, model.tendon_lengthspring[t])
    given = {"stiffness": float(model.tendon_stiffness[t]), "damping": float(model.tendon_damping[t])}
    for what, value in (given | {"springlength": low, "upper springlength": high}).items():
        if not 0 <= value < math.inf:
            message = f"its {what} is {value:g}"
            reader.report("error", "tendon", model.tendon(t).name, message, "write a finite number, zero or more")
            return
    carriers = {reader.carriers[model.site_bodyid[site]] for site in sites}
    if len(carriers) > 1:
        stiffness = 0.0 if reader.disabled("SPRING", "PASSIVE") else given["stiffness"]
        damping = 0.0 if reader.disabled("DAMPER", "PASSIVE") else given["damping"]
        reader.lines.append(Line(sites, tuple(shares), stiffness, damping, low, high))
        found.grounded |= 0 in carriers
