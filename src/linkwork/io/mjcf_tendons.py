"""Tendons of a model compiled by MuJoCo: springs, damping, friction and armature.

If the length of a fixed tendon depends on one joint, because it has no other, or because its others follow that one or
are held, its terms are added to those of the joint. If the length cannot change, they have no effect. Otherwise they
are those of a passive motor whose position is the length. A tendon that runs straight through sites is a force law,
Spring, whose segments behind a pulley are divided by its divisor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..forces import Spring
from ..model.drive import Motor, Transmission
from .findings import unused_name
from .mjcf_equalities import Equalities, tendon_length

if TYPE_CHECKING:
    from .mjcf_tree import TreeReader

LINEAR = ("stiffness", "damping", "frictionloss", "armature")
NONLINEAR = ("stiffnesspoly", "springyield", "dampingpoly")


class Line(NamedTuple):
    """A tendon through sites: their numbers, the share of each segment, and its spring and damping."""

    sites: list[int]
    shares: tuple[float, ...]
    stiffness: float
    damping: float
    low: float
    high: float

    def spring(self, names: Mapping[int, str]) -> tuple[str, Spring]:
        """Return the frame and the force law. ``names``: of the frames of sites."""
        first, *others = (names[site] for site in self.sites)
        shares = () if set(self.shares) == {1.0} else self.shares
        return first, Spring(tuple(others), self.stiffness, self.damping, self.low, self.high - self.low, shares)


def read_tendons(reader: TreeReader, equalities: Equalities) -> None:
    """Add the terms of fixed tendons to joints or transmissions, and list the lines of other tendons."""
    model, zeros = reader.model, np.zeros(reader.model.ntendon)
    for t in range(model.ntendon):
        name = model.tendon(t).name
        stiffness, damping, friction, armature = (float(getattr(model, f"tendon_{term}", zeros)[t]) for term in LINEAR)
        nonlinear = any(np.any(getattr(model, f"tendon_{term}", zeros)[t]) for term in NONLINEAR)
        if model.tendon_limited[t]:
            message = "its range is left out: only joints have limits"
            reader.report("warning", "tendon", name, message, "give its joints a range")
        if nonlinear:
            reader.report("error", "tendon", name, "its spring or damping is not linear", "give one coefficient")
        elif not any((stiffness, damping, friction, armature)):
            continue
        elif (total := tendon_length(reader, t)) is None:
            if friction or armature:
                message = "friction and armature of a tendon through sites are not supported"
                reader.report("error", "tendon", name, message, "remove them, or give them to the joints")
            _read_line(reader, t, equalities)
        else:
            factors, constant = equalities.reduced(total)
            if factors != total:
                message = "its spring, damping, friction or armature holds for coupled joints only, not for mimic=False"
                reader.report("warning", "tendon", name, message)
            low, high = map(float, model.tendon_lengthspring[t])
            if len(factors) > 1 or (factors and stiffness and low != high):
                motor = Motor(
                    unused_name(name or f"tendon{t + 1}", reader.joint_names),
                    rotor_inertia=armature,
                    coulomb=0.0 if reader.disabled("FRICTIONLOSS", "CONSTRAINT") else friction,
                    viscous=0.0 if reader.disabled("DAMPER", "PASSIVE") else damping,
                    stiffness=0.0 if reader.disabled("SPRING", "PASSIVE") else stiffness,
                    rest=low - constant if stiffness else 0.0,
                    slack=high - low if stiffness else 0.0,
                    role="passive",
                )
                joints = tuple(reader.names[joint] for joint in factors)
                reader.transmissions.append(Transmission(motor.name, joints, (motor,), (tuple(factors.values()),)))
                continue
            for joint, factor in factors.items():
                spring = stiffness * factor**2
                terms = [spring, spring * (low - constant) / factor, damping * factor**2, friction * abs(factor)]
                reader.tendons[joint] = np.array([*terms, armature * factor**2]) + reader.tendons.get(joint, 0.0)


def _read_line(reader: TreeReader, t: int, equalities: Equalities) -> None:
    """List the line of a tendon through sites."""
    model, wraps = reader.model, reader.mujoco.mjtWrap
    sites, shares, divisor, interrupted = [], [], 1.0, False
    for part in range(model.tendon_adr[t], model.tendon_adr[t] + model.tendon_num[t]):
        kind, number = model.wrap_type[part], int(model.wrap_objid[part])
        if kind == wraps.mjWRAP_PULLEY:
            divisor, interrupted = float(model.wrap_prm[part]), True
        elif kind == wraps.mjWRAP_SITE:
            if sites:
                shares.append(0.0 if interrupted else 1 / divisor)
            sites.append(number)
            interrupted = False
        else:
            message = f"it is wrapped around geom {model.geom(number).name!r}; only straight lines are supported"
            fix = "route it through sites instead, or remove its stiffness and damping"
            reader.report("error", "tendon", model.tendon(t).name, message, fix)
            return
    low, high = map(float, model.tendon_lengthspring[t])
    terms = {"stiffness": float(model.tendon_stiffness[t]), "damping": float(model.tendon_damping[t])}
    for term, value in (terms | {"springlength": low, "upper springlength": high}).items():
        if not 0 <= value < math.inf:
            message = f"its {term} is {value:g}"
            reader.report("error", "tendon", model.tendon(t).name, message, "write a finite number, zero or more")
            return
    carriers = {reader.carriers[model.site_bodyid[site]] for site in sites}
    if len(carriers) > 1:
        stiffness = 0.0 if reader.disabled("SPRING", "PASSIVE") else terms["stiffness"]
        damping = 0.0 if reader.disabled("DAMPER", "PASSIVE") else terms["damping"]
        reader.lines.append(Line(sites, tuple(shares), stiffness, damping, low, high))
        equalities.grounded |= 0 in carriers
