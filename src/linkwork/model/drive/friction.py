"""Friction laws: force over velocity, linear in their parameters. A new law is a class here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ...errors import ModelError, UnknownNameError, option_at_door
from ...scalar import Scalar, is_zero, positive_part, sign, sqrt
from ...scalar.dual import dual, slope_of
from ..element import Element, Rule, number, positive

FORCE, VISCOUS = ("N m", "N"), ("N m s", "N s/m")  # units of revolute and of prismatic joints


class Sliding:
    """The motion that friction acts against: a velocity, and the width within which friction is smooth.

    Args:
        v: velocity, rad/s or m/s.
        width: w, in the unit of ``v``; default 0: friction jumps at rest.

    Example:
        >>> linkwork.model.Sliding(-0.3).sense
        -1
    """

    def __init__(self, v: Scalar, width: Scalar = 0.0):
        self.v, self.width = v, width

    @cached_property
    def sense(self) -> Scalar:
        """The sign of v, or with a width w > 0 the smooth v / sqrt(v^2 + w^2)."""
        if is_zero(self.width):
            return sign(self.v)
        return self.v / sqrt(self.v * self.v + self.width * self.width)


class FrictionLaw(Element):
    """A term of the friction of a joint or a motor: a frozen dataclass whose fields are its numbers.

    The friction force is the sum of its parameters, each times its column, over any scalar. Fields that the force is
    linear in are declared with a ``parameter``; the others must be known before an identification. A subclass gives
    ``name`` (in files), ``formula`` (in words), ``jumps`` (does the force jump at rest if there is no width? default
    True) and ``brakes`` (must it take energy from every motion? default True).

    Example:
        >>> law = linkwork.model.Stribeck(excess=0.5, velocity=0.1)
        >>> law.force(linkwork.model.Sliding(0.1))
        0.25
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    jumps: ClassVar[bool]
    brakes: ClassVar[bool]
    known: ClassVar[dict[str, type[FrictionLaw]]] = {}  # all laws, by name

    def __init_subclass__(cls, *, name: str, formula: str, jumps: bool = True, brakes: bool = True):
        super().__init_subclass__()
        cls.name, cls.formula, cls.jumps, cls.brakes = name, formula, jumps, brakes
        FrictionLaw.known[name] = cls

    def __post_init__(self):
        for each in self.declared().values():  # parameters may be symbols, and are checked with the drive
            if not each.rule.parameter and isinstance(getattr(self, each.name), int | float):
                self.require(each)

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        """Return the force per unit of each parameter.

        Args:
            sliding: velocity and width.

        Returns:
            The columns by the names of the parameters.
        """
        raise NotImplementedError

    def slope(self, sliding: Sliding) -> Scalar:
        """Return the derivative of the force with respect to the velocity, without the jump at rest.

        Args:
            sliding: velocity and width.

        Returns:
            The slope, N m s/rad or N s/m.
        """
        return slope_of(self.force(Sliding(dual(sliding.v, {0: 1}), sliding.width)), 0)

    def damping(self, sliding: Sliding) -> Scalar:
        """Return the slope where it is not negative, which a semi-implicit step takes at its end.

        Args:
            sliding: velocity and width.

        Returns:
            The damping, N m s/rad or N s/m.
        """
        return self.slope(sliding)

    def force(self, sliding: Sliding) -> Scalar:
        """Return the friction force.

        Args:
            sliding: velocity and width.

        Returns:
            The force that the law takes from the joint's, N m or N.
        """
        values = self.parameters
        return sum((values[element] * column for element, column in self.columns(sliding).items()), start=0)

    @property
    def vanishes(self) -> bool:
        """Whether all its parameters are known to be zero."""
        return all(map(is_zero, self.parameters.values()))


BY_DIRECTION = "asymmetric, Fs+ sign(v) + Fv+ v forward and Fs- sign(v) + Fv- v backward"


@dataclass(frozen=True)
class Asymmetric(FrictionLaw, name="asymmetric", formula=BY_DIRECTION):
    """Friction that differs between the two directions: Fs+ sign(v) + Fv+ v forward, Fs- sign(v) + Fv- v backward.

    All four parameters are positive where friction brakes.

    Args:
        coulomb_forward: Fs+, N m or N.
        coulomb_backward: Fs-, N m or N.
        viscous_forward: Fv+, N m s/rad or N s/m.
        viscous_backward: Fv-, N m s/rad or N s/m.

    Example:
        >>> linkwork.model.Asymmetric(coulomb_forward=0.3, coulomb_backward=0.5).force(linkwork.model.Sliding(-1.0))
        -0.5
    """

    coulomb_forward: Any = number(0.0, unit=FORCE, parameter="FSP")
    coulomb_backward: Any = number(0.0, unit=FORCE, parameter="FSN")
    viscous_forward: Any = number(0.0, unit=VISCOUS, parameter="FVP")
    viscous_backward: Any = number(0.0, unit=VISCOUS, parameter="FVN")

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        way, sense, v = sign(sliding.v), sliding.sense, sliding.v
        forward = 0.5 * (way + way * way)  # one where v > 0, else zero
        ahead, swift = forward * sense, forward * v
        return {"FSP": ahead, "FSN": sense - ahead, "FVP": swift, "FVN": v - swift}


@dataclass(frozen=True)
class Coulomb(FrictionLaw, name="coulomb", formula="Coulomb, Fs sign(v)"):
    """Fs sign(v)."""

    coulomb: Any = number(unit=FORCE, parameter="FS")

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        return {"FS": sliding.sense}


@dataclass(frozen=True)
class Viscous(FrictionLaw, name="viscous", formula="viscous, Fv v", jumps=False):
    """Fv v."""

    viscous: Any = number(unit=VISCOUS, parameter="FV")

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        return {"FV": sliding.v}


@dataclass(frozen=True)
class Offset(FrictionLaw, name="offset", formula="offset, F0", jumps=False, brakes=False):
    """A constant force F0 in one direction, as from a cable or from an amplifier with an offset.

    Args:
        offset: F0, added to the force that the joint needs, N m or N.

    Example:
        >>> linkwork.model.Offset(offset=0.2).to_dict()
        {'offset': 0.2}
    """

    offset: Any = number(unit=FORCE, parameter="F0")

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        return {"F0": 1}


@dataclass(frozen=True)
class Stribeck(FrictionLaw, name="stribeck", formula="Stribeck, Fst sign(v) / (1 + (v / vs)^2)"):
    """Additional friction at slow motion, before a film of lubricant has built up: Fst sign(v) / (1 + (v / vs)^2).

    It adds to Coulomb friction Fs, so the static friction is Fs + Fst. Hess & Soom (1990), "Friction at a lubricated
    line contact operating at oscillating sliding velocities". Other authors write exp(-(v / vs)^2); both fit the same
    curves, and this form needs only arithmetic that every back end has, with one division.

    Args:
        excess: Fst, static less Coulomb friction, N m or N.
        velocity: vs, at which half of the excess is left, rad/s or m/s.

    Example:
        >>> linkwork.model.Stribeck(excess=0.4, velocity=0.1).force(linkwork.model.Sliding(0.1))
        0.2
    """

    excess: Any = number(unit=FORCE, parameter="FST")
    velocity: Any = positive(unit=("rad/s", "m/s"))

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        ratio = sliding.v * (1 / self.velocity)
        return {"FST": sliding.sense * (1 / (1 + ratio * ratio))}

    def damping(self, sliding: Sliding) -> Scalar:
        return positive_part(self.slope(sliding))


@dataclass(frozen=True, kw_only=True)
class Laws(Rule):
    """Friction laws, which files give by name. ``others``: those whose numbers have keys of their own."""

    others: tuple[str, ...]

    def plain(self, value: tuple[FrictionLaw, ...]) -> dict[str, dict[str, float]]:
        return {law.name: law.to_dict() for law in value}

    def read(self, reader: Any, node: Any) -> tuple[FrictionLaw, ...]:
        rows = reader.mapping(node, FrictionLaw.known)
        for name in rows:
            if name in self.others:
                expected = ", ".join(law for law in FrictionLaw.known if law not in self.others)
                reader.fail(rows[name], "Fs and Fv are keys of the row, not of `friction`", name, expected)
        return tuple(reader.element(each, FrictionLaw.known[name]) for name, each in rows.items())


def law_with(element: str) -> FrictionLaw:
    """Return the law that has this parameter, with all parameters zero."""
    for law in FrictionLaw.known.values():
        if element in law.elements:
            others = [each.name for each in law.declared().values() if not each.rule.parameter]
            if others:
                raise ModelError(
                    f"{element} depends on the {' and the '.join(others)} of the law {law.name!r}",
                    where=option_at_door("drives"),
                    fix=f"give the joints this law, if need be with {', '.join(law.elements.values())} of zero",
                )
            return law(**dict.fromkeys(law.elements.values(), 0.0))
    elements = [element for law in FrictionLaw.known.values() for element in law.elements]
    raise UnknownNameError("parameter of drives", element, ("IA", *elements, "K"), where=option_at_door("drives"))
