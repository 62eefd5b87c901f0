"""FrictionLaw: force of friction over velocity, an object that answers for itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, ClassVar

from ...errors import ModelError, UnknownNameError
from ...scalar import Scalar, is_zero, sign, sqrt
from ...scalar.dual import dual, slope_of


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


class FrictionLaw:
    """A term of the friction of a joint or a motor: a frozen dataclass whose fields are its numbers.

    ``name``: in files. ``elements``: the parameters it is linear in, as the regressor names them -> their fields; other
    fields must be known beforehand. ``formula``: in words. ``jumps``: does it, at rest, if there is no width?

    What a law takes from the force of its joint is the sum of its parameters, each times its column; so ``columns``
    tell it all, over any scalar.
    """

    name: ClassVar[str]
    elements: ClassVar[Mapping[str, str]]
    formula: ClassVar[str]
    jumps: ClassVar[bool]
    known: ClassVar[dict[str, type[FrictionLaw]]] = {}  # all laws, by name

    def __init_subclass__(cls, *, name: str, elements: Mapping[str, str], formula: str, jumps: bool = True):
        cls.name, cls.elements, cls.formula, cls.jumps = name, elements, formula, jumps
        FrictionLaw.known[name] = cls

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
        values = self.values
        return sum((values[element] * column for element, column in self.columns(sliding).items()), start=0)

    @property
    def values(self) -> dict[str, Any]:
        """Of its parameters."""
        return {element: getattr(self, field) for element, field in self.elements.items()}

    @property
    def vanishes(self) -> bool:
        return all(map(is_zero, self.values.values()))

    def with_values(self, values: Mapping[str, Any]) -> FrictionLaw:
        changed: Any = {self.elements[element]: value for element, value in values.items()}
        return replace(self, **changed)  # type: ignore[type-var]


def law_with(element: str) -> FrictionLaw:
    """The law that has this parameter, with parameters of zero."""
    for law in FrictionLaw.known.values():
        if element in law.elements:
            others = [field.name for field in fields(law) if field.name not in law.elements.values()]  # type: ignore
            if others:
                raise ModelError(
                    f"{element} depends on the {' and the '.join(others)} of the law {law.name!r}",
                    where="drives",
                    fix=f"give the joints this law, if need be with {', '.join(law.elements.values())} of zero",
                )
            return law(**dict.fromkeys(law.elements.values(), 0.0))
    elements = [element for law in FrictionLaw.known.values() for element in law.elements]
    raise UnknownNameError("parameter of drives", element, ("IA", *elements, "K"), where="drives")
