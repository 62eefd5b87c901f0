"""Drive: what a motor and its bearings take from the force of a joint, and Motor, one that a transmission joins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ...errors import ModelError
from ...scalar import Scalar, beyond, is_zero
from ..element import Element, Fault, choice, declare, number
from .coulomb import Coulomb
from .law import FrictionLaw, Laws, Sliding, law_with
from .viscous import Viscous

Own = TypeVar("Own", bound="Drive")
BUILT_IN = (Viscous.name, Coulomb.name)
BRAKES = "it would feed energy in"
VELOCITIES = (-1.0, -1e-3, 1e-3, 1.0)  # at which friction must brake


@dataclass(frozen=True, eq=False, kw_only=True)
class Drive(Element):
    """A rotor, friction and a spring, at the position q of what it turns: Ia a + Fs sign(v) + Fv v + further laws
    + K (q - rest). Rotor inertia of a joint is that of the rotor times gear ratio squared; a width of zero is that of
    the robot."""

    rotor_inertia: Any = number(0.0, key="Ia", unit=("kg m^2", "kg"), least=0, parameter="IA")
    coulomb: Any = number(
        0.0, key="Fs", words="Coulomb friction", unit=("N m", "N"), least=0, because=BRAKES, parameter="FS"
    )
    viscous: Any = number(
        0.0, key="Fv", words="viscous friction", unit=("N m s", "N s/m"), least=0, because=BRAKES, parameter="FV"
    )
    friction_width: Any = number(0.0, key="width", unit=("rad/s", "m/s"), least=0)  # within which friction is smooth
    stiffness: Any = number(
        0.0, key="K", unit=("N m", "N/m"), least=0, because="the spring would push away from rest", parameter="K"
    )
    rest: Any = number(0.0, unit=("rad", "m"))
    friction: tuple[FrictionLaw, ...] = declare(Laws(others=BUILT_IN), ())  # beside the two, each law once

    def __post_init__(self):
        names = [getattr(law, "name", None) for law in self.friction]
        if not all(isinstance(law, FrictionLaw) for law in self.friction) or len({*names, *BUILT_IN}) < len(names) + 2:
            raise ModelError(
                "friction is a list of laws, each once, beside coulomb and viscous",
                where=getattr(self, "name", "drive"),
                got=repr(self.friction),
                expected=", ".join(law.__name__ for law in FrictionLaw.known.values() if law.name not in BUILT_IN),
            )

    @property
    def laws(self) -> tuple[FrictionLaw, ...]:
        return (Viscous(self.viscous), Coulomb(self.coulomb), *self.friction)

    @property
    def acting(self) -> tuple[FrictionLaw, ...]:
        """The laws that are not known to be zero."""
        return tuple(law for law in self.laws if not law.vanishes)

    def sliding(self, v: Scalar, width: float) -> Sliding:
        """``width``: of the robot, where the drive has none of its own."""
        return Sliding(v, width if is_zero(self.friction_width) else self.friction_width)

    def friction_force(self, v: Scalar, width: float = 0.0) -> Scalar:
        return self._sum(v, width, lambda law, sliding: law.force(sliding))

    def friction_damping(self, v: Scalar, width: float = 0.0) -> Scalar:
        """Its slope, of each law where it is not negative."""
        return self._sum(v, width, lambda law, sliding: law.damping(sliding))

    def _sum(self, v: Scalar, width: float, part: Callable[[FrictionLaw, Sliding], Scalar]) -> Scalar:
        sliding = self.sliding(v, width)
        return sum((part(law, sliding) for law in self.acting), start=0)

    def faults(self, called: str = "its") -> Iterator[Fault]:
        faults = [*super().faults(called)]
        faults += [fault for law in self.friction for fault in law.faults(f"{called} {law.name}")]
        yield from faults
        laws = [law for law in self.laws if law.brakes]
        errors = [fault for fault in faults if fault.level == "error"]
        if not errors and any(np.any(sum(law.force(Sliding(v)) for law in laws) * v < 0) for v in VELOCITIES):
            message = f"{called} friction would feed energy in: {', '.join(map(repr, self.friction))}"
            yield Fault(message, "write friction as positive numbers, also of backward motion")

    # -- parameters that forces are linear in

    @property
    def parameters(self) -> dict[str, Any]:
        return super().parameters | {name: value for law in self.friction for name, value in law.parameters.items()}

    def column(self, element: str, v: Scalar, a: Scalar, width: float = 0.0) -> Scalar:
        """Force per unit of a parameter, also of a law that the drive has not."""
        if element == "IA":
            return a
        own = next((law for law in self.laws if element in law.elements), None) or law_with(element)
        return own.columns(self.sliding(v, width))[element]

    def with_parameters(self: Own, values: Mapping[str, Any]) -> Own:
        laws = tuple(law.with_parameters(values) for law in self.friction)
        return replace(super().with_parameters(values), friction=laws)

    # -- what is left out

    def without_friction(self: Own) -> Own:
        return replace(self, coulomb=0.0, viscous=0.0, friction=())

    def without_rotor(self: Own) -> Own:
        return replace(self, rotor_inertia=0.0)

    def without_spring(self: Own) -> Own:
        return replace(self, stiffness=0.0)


@dataclass(frozen=True, eq=False)
class Motor(Drive):
    """A motor of a transmission, at the sum of ratio times position over its joints. Rotor inertia, friction and spring
    are those of the motor itself, before the gears.

    ``slack``: the spring has no force at positions from ``rest`` to ``rest + slack``. ``role``: "active", or "passive"
    for what couples joints and is not driven: a tendon, a belt, an anti-roll bar.
    """

    name: str
    slack: Any = number(0.0, unit=("rad", "m"), least=0)
    role: str = choice("active", ("active", "passive"), words="role")

    @property
    def driven(self) -> bool:
        return self.role == "active"

    def stretch(self, position: Scalar) -> Scalar:
        """By how much its spring is stretched."""
        return beyond(position, self.rest, self.slack)
