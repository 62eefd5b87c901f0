"""Drive: rotor, friction and spring of a joint or motor; Motor, for transmissions; JointValues, for joints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ...errors import ModelError
from ...scalar import Scalar, beyond, is_zero
from ..element import Element, Fault, choice, declare, number, positive
from .friction import FORCE, VISCOUS, Coulomb, FrictionLaw, Laws, Sliding, Viscous, law_with

D = TypeVar("D", bound="Drive")
BUILT_IN = (Viscous.name, Coulomb.name)
ROLES = ("active", "passive", "elastic")
FEEDS_ENERGY = "it would feed energy in"
LIMIT: dict[str, Any] = {"least": 0, "finite": False, "level": "warning"}
PLACE, SPEED = ("rad", "m"), ("rad/s", "m/s")  # units of revolute and of prismatic joints
VELOCITIES = (-1.0, -1e-3, 1e-3, 1.0)  # test velocities at which friction must oppose the motion


@dataclass(frozen=True, eq=False, kw_only=True)
class Drive(Element):
    """Rotor, friction and spring at the position q of what the drive turns.

    Its force is Ia a + Fs sign(v) + Fv v + further laws + K (q - rest). The rotor inertia of a joint is that of the
    rotor times the gear ratio squared. A friction width of zero means that of the robot.
    """

    rotor_inertia: Any = number(0.0, key="Ia", unit=("kg m^2", "kg"), least=0, parameter="IA")
    coulomb: Any = number(
        0.0, key="Fs", words="Coulomb friction", unit=FORCE, least=0, because=FEEDS_ENERGY, parameter="FS"
    )
    viscous: Any = number(
        0.0, key="Fv", words="viscous friction", unit=VISCOUS, least=0, because=FEEDS_ENERGY, parameter="FV"
    )
    friction_width: Any = number(0.0, key="width", unit=SPEED, least=0, switch=True)  # within which friction is smooth
    stiffness: Any = number(
        0.0, key="K", unit=("N m", "N/m"), least=0, because="the spring would push away from rest", parameter="K"
    )
    rest: Any = number(0.0, unit=PLACE)
    friction: tuple[FrictionLaw, ...] = declare(Laws(others=BUILT_IN), ())  # added to the two above, each law once

    def __post_init__(self):
        names = [getattr(law, "name", None) for law in self.friction]
        if not all(isinstance(law, FrictionLaw) for law in self.friction) or len({*names, *BUILT_IN}) < len(names) + 2:
            raise ModelError(
                "friction is a list of laws other than coulomb and viscous, each at most once",
                where=getattr(self, "name", "drive"),
                got=repr(self.friction),
                expected=", ".join(law.__name__ for law in FrictionLaw.known.values() if law.name not in BUILT_IN),
            )

    @property
    def laws(self) -> tuple[FrictionLaw, ...]:
        """All friction laws."""
        return (Viscous(self.viscous), Coulomb(self.coulomb), *self.friction)

    @property
    def acting(self) -> tuple[FrictionLaw, ...]:
        """The friction laws that are not known to be zero."""
        return tuple(law for law in self.laws if not law.vanishes)

    def sliding(self, v: Scalar, width: float) -> Sliding:
        """Return the motion that friction acts against.

        Args:
            v: velocity, rad/s or m/s.
            width: of the robot, used if the drive has none.

        Returns:
            Velocity and width.
        """
        return Sliding(v, width if is_zero(self.friction_width) else self.friction_width)

    def friction_force(self, v: Scalar, width: float = 0.0) -> Scalar:
        """Return the friction force.

        Args:
            v: velocity, rad/s or m/s.
            width: of the robot, used if the drive has none.

        Returns:
            The force, N m or N.
        """
        return self._sum(v, width, lambda law, sliding: law.force(sliding))

    def friction_damping(self, v: Scalar, width: float = 0.0) -> Scalar:
        """Return the slope of the friction force, summed over the laws where it is not negative.

        Args:
            v: velocity, rad/s or m/s.
            width: of the robot, used if the drive has none.

        Returns:
            The damping, N m s/rad or N s/m.
        """
        return self._sum(v, width, lambda law, sliding: law.damping(sliding))

    def _sum(self, v: Scalar, width: float, part: Callable[[FrictionLaw, Sliding], Scalar]) -> Scalar:
        sliding = self.sliding(v, width)
        return sum((part(law, sliding) for law in self.acting), start=0)

    def faults(self, label: str = "its") -> Iterator[Fault]:
        faults = [*super().faults(label)]
        faults += [fault for law in self.friction for fault in law.faults(f"{label} {law.name}")]
        yield from faults
        laws = [law for law in self.laws if law.brakes]
        errors = [fault for fault in faults if fault.level == "error"]
        if not errors and any(np.any(sum(law.force(Sliding(v)) for law in laws) * v < 0) for v in VELOCITIES):
            message = f"{label} friction would feed energy in: {', '.join(map(repr, self.friction))}"
            yield Fault(message, "write friction as positive numbers, also for backward motion")

    # -- parameters that forces are linear in

    @property
    def parameters(self) -> dict[str, Any]:
        return super().parameters | {name: value for law in self.friction for name, value in law.parameters.items()}

    def column(self, element: str, v: Scalar, a: Scalar, width: float = 0.0) -> Scalar:
        """Return the force per unit of a parameter, also for a law that the drive does not have.

        Args:
            element: the parameter, as the regressor names it.
            v: velocity, rad/s or m/s.
            a: acceleration, rad/s^2 or m/s^2.
            width: of the robot, used if the drive has none.

        Returns:
            The column of the regressor.
        """
        if element == "IA":
            return a
        law = next((law for law in self.laws if element in law.elements), None) or law_with(element)
        return law.columns(self.sliding(v, width))[element]

    def with_parameters(self: D, values: Mapping[str, Any]) -> D:
        laws = tuple(law.with_parameters(values) for law in self.friction)
        return replace(super().with_parameters(values), friction=laws)

    # -- the same drive without some of its parts

    def without_friction(self: D) -> D:
        """Return the same drive without friction.

        Returns:
            The drive.
        """
        return replace(self, coulomb=0.0, viscous=0.0, friction=())

    def without_rotor(self: D) -> D:
        """Return the same drive without rotor inertia.

        Returns:
            The drive.
        """
        return replace(self, rotor_inertia=0.0)

    def without_spring(self: D) -> D:
        """Return the same drive without its spring.

        Returns:
            The drive.
        """
        return replace(self, stiffness=0.0)


@dataclass(frozen=True, eq=False)
class Motor(Drive):
    """A motor of a transmission. Its position is the sum of ratio times position over its joints.

    Rotor inertia, friction and spring are those of the motor itself, before the gears.

    Args:
        name: of the motor.
        slack: the spring has no force at positions from ``rest`` to ``rest + slack``, rad or m.
        role: "active" (default), or "passive" for what couples joints and is not driven: a tendon, a belt, an anti-roll
            bar.
        rotor_inertia: Ia, kg m^2 or kg.
        coulomb: Coulomb friction Fs, N m or N.
        viscous: viscous friction Fv, N m s/rad or N s/m.
        friction_width: velocities within which Coulomb friction is smooth; default 0: that of the robot.
        stiffness: of the spring, K, N m/rad or N/m.
        rest: position of the spring without force, rad or m.
        friction: further friction laws, such as ``Stribeck``.

    Example:
        >>> linkwork.model.Motor("m1", rotor_inertia=1e-4, coulomb=0.02).to_dict()
        {'Ia': 0.0001, 'Fs': 0.02}
    """

    name: str
    slack: Any = number(0.0, unit=PLACE, least=0)
    role: str = choice("active", ("active", "passive"), words="role")

    @property
    def driven(self) -> bool:
        """Whether it is a motor, and not a passive coupling."""
        return self.role == "active"

    def stretch(self, position: Scalar) -> Scalar:
        """Return by how much its spring is stretched.

        Args:
            position: of the motor, rad or m.

        Returns:
            The stretch, rad or m; negative if the spring is compressed.
        """
        return beyond(position, self.rest, self.slack)


@dataclass(frozen=True, eq=False, kw_only=True)
class JointValues(Drive):
    """Limits, drive, friction and spring of a joint: the fields that described and built joints share.

    ``role``: "active" if a motor drives it, "passive" if nothing does, "elastic" if only its spring does. ``weight``:
    where motors share the work, the sum of weight * force^2 is minimal.
    """

    lower: float = number(-math.inf, unit=PLACE, finite=False, written=False)
    upper: float = number(math.inf, unit=PLACE, finite=False, written=False)
    velocity_limit: float = number(math.inf, key="velocity", unit=SPEED, **LIMIT)
    effort_limit: float = number(math.inf, key="effort", unit=FORCE, **LIMIT)
    role: str = choice("active", ROLES, words="role")
    weight: float = positive(1.0)

    def joint_values(self) -> dict[str, Any]:
        """Return the values by the names of their fields, to make another joint with.

        Returns:
            field -> value.
        """
        return {each.name: getattr(self, each.name) for each in JointValues.declared().values()}
