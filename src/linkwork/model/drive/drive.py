"""Drive: what a motor and its bearings take from the force of a joint, and Motor, one that a transmission joins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from ...errors import ModelError
from ...scalar import Scalar, beyond, is_zero
from .coulomb import Coulomb
from .law import FrictionLaw, Sliding, law_with
from .viscous import Viscous

Own = TypeVar("Own", bound="Drive")
BUILT_IN = (Viscous.name, Coulomb.name)


@dataclass(frozen=True, eq=False, kw_only=True)
class Drive:
    """A rotor, friction and a spring, at the position q of what it turns: Ia a + Fs sign(v) + Fv v + further laws
    + K (q - rest)."""

    fields: ClassVar[Mapping[str, str]] = {"IA": "rotor_inertia", "FS": "coulomb", "FV": "viscous", "K": "stiffness"}

    rotor_inertia: Any = 0.0  # of a joint: that of the rotor times gear ratio squared
    coulomb: Any = 0.0
    viscous: Any = 0.0
    friction: tuple[FrictionLaw, ...] = ()  # beside the two, each law once
    friction_width: Any = 0.0  # velocities within which friction is smooth; 0: as the robot says
    stiffness: Any = 0.0
    rest: Any = 0.0

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

    # -- parameters that forces are linear in

    @property
    def parameters(self) -> dict[str, Any]:
        """Values by the regressor's names."""
        values = {element: getattr(self, field) for element, field in self.fields.items()}
        return values | {element: value for law in self.friction for element, value in law.values.items()}

    def column(self, element: str, v: Scalar, a: Scalar, width: float = 0.0) -> Scalar:
        """Force per unit of a parameter, also of a law that the drive has not."""
        if element == "IA":
            return a
        own = next((law for law in self.laws if element in law.elements), None) or law_with(element)
        return own.columns(self.sliding(v, width))[element]

    def with_parameters(self: Own, values: Mapping[str, Any]) -> Own:
        """The same drive with other values of parameters it has."""
        changed: dict[str, Any] = {field: values[name] for name, field in self.fields.items() if name in values}
        changed["friction"] = tuple(
            law.with_values({name: values[name] for name in law.elements if name in values}) for law in self.friction
        )
        return replace(self, **changed)

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
    slack: Any = 0.0
    role: str = "active"

    @property
    def driven(self) -> bool:
        return self.role == "active"

    def stretch(self, position: Scalar) -> Scalar:
        """By how much its spring is stretched."""
        return beyond(position, self.rest, self.slack)
