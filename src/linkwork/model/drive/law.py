"""FrictionLaw: force of friction over velocity, an object that answers for itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ...errors import ModelError, UnknownNameError
from ...scalar import Scalar, is_zero, sign, sqrt
from ...scalar.dual import dual, slope_of
from ..element import Element, Rule


class Sliding:
    """A freedom that moves: its velocity ``v``, and its ``sense``, which is sign(v), or with a width w > 0
    v / sqrt(v^2 + w^2), smooth through zero."""

    def __init__(self, v: Scalar, width: Scalar = 0.0):
        self.v, self.width = v, width

    @cached_property
    def sense(self) -> Scalar:
        if is_zero(self.width):
            return sign(self.v)
        return self.v / sqrt(self.v * self.v + self.width * self.width)


class FrictionLaw(Element):
    """A term of the friction of a joint or a motor: a frozen dataclass whose fields are its numbers. Those that the
    force is linear in have a ``parameter``; the others must be known beforehand.

    ``name``: in files. ``formula``: in words. ``jumps``: does it, at rest, if there is no width? ``brakes``: must it
    take energy from every motion?

    What a law takes from the force of its joint is the sum of its parameters, each times its column, over any scalar.
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
        for each in self.declared().values():  # parameters may be symbols, and are judged with the drive
            if not each.rule.parameter and isinstance(getattr(self, each.name), int | float):
                self.require(each)

    def columns(self, sliding: Sliding) -> dict[str, Scalar]:
        """Force per unit of each parameter."""
        raise NotImplementedError

    def slope(self, sliding: Sliding) -> Scalar:
        """By how much the force grows with velocity, beside the jump if there is no width."""
        return slope_of(self.force(Sliding(dual(sliding.v, {0: 1}), sliding.width)), 0)

    def damping(self, sliding: Sliding) -> Scalar:
        """The slope where it is not negative, which a semi-implicit step takes at its end."""
        return self.slope(sliding)

    def force(self, sliding: Sliding) -> Scalar:
        values = self.parameters
        return sum((values[element] * column for element, column in self.columns(sliding).items()), start=0)

    @property
    def vanishes(self) -> bool:
        return all(map(is_zero, self.parameters.values()))


@dataclass(frozen=True, kw_only=True)
class Laws(Rule):
    """Laws of friction, which files give by name. ``others``: those whose numbers have keys of their own."""

    others: tuple[str, ...]

    def plain(self, value: tuple[FrictionLaw, ...]) -> dict[str, dict[str, float]]:
        return {law.name: law.to_dict() for law in value}

    def read(self, reader: Any, node: Any) -> tuple[FrictionLaw, ...]:
        rows = reader.mapping(node, FrictionLaw.known)
        for name in rows:
            if name in self.others:
                expected = ", ".join(law for law in FrictionLaw.known if law not in self.others)
                reader.fail(rows[name], "Fs and Fv stand beside `friction`, not in it", name, expected)
        return tuple(reader.element(given, FrictionLaw.known[name]) for name, given in rows.items())


def law_with(element: str) -> FrictionLaw:
    """The law that has this parameter, with parameters of zero."""
    for law in FrictionLaw.known.values():
        if element in law.elements:
            others = [each.name for each in law.declared().values() if not each.rule.parameter]
            if others:
                raise ModelError(
                    f"{element} depends on the {' and the '.join(others)} of the law {law.name!r}",
                    where="drives",
                    fix=f"give the joints this law, if need be with {', '.join(law.elements.values())} of zero",
                )
            return law(**dict.fromkeys(law.elements.values(), 0.0))
    elements = [element for law in FrictionLaw.known.values() for element in law.elements]
    raise UnknownNameError("parameter of drives", element, ("IA", *elements, "K"), where="drives")
