"""The robot with symbols for numbers: inertia parameters and rotor inertias, and the constants of its geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from ..formulations.regressor import ELEMENTS, Parameter, parameter_values
from ..model import Model
from ..scalar import Scalar
from ..spatial import Inertia, Screw, Transform
from .symbols import cosine_and_sine, symbol

NAMES = {"x": ("alpha", "d"), "z": ("gamma", "b")}  # angle and length of the constant screws; theta and r of the last


def with_symbols(model: Model, asked: Sequence[Parameter], *, geometry: bool) -> Model:
    """The same robot, its parameters named as ``Parameter`` names them. With ``geometry`` lengths and angles are
    symbols, too, but for zero lengths and quarter turns: gamma3, b3, alpha3, d3, theta3, r3."""
    values = dict(zip(asked, parameter_values(model, asked), strict=True))
    named = {each: symbol(str(each), float(value), parameter=True) for each, value in values.items()}
    bodies = tuple(
        replace(
            body,
            inertia=Inertia.of(named[Parameter(i, element)] for element in ELEMENTS),
            joint=replace(body.joint, rotor_inertia=named.get(Parameter(i, "IA"), 0.0)),
        )
        for i, body in enumerate(model.bodies, 1)
    )
    if not geometry:
        return replace(model, bodies=bodies)
    values_of: dict[str, Any] = {each.name: getattr(model, each.name) for each in fields(Model)}
    values_of["bodies"] = bodies
    return SymbolicModel(**values_of)


@dataclass(frozen=True, eq=False)
class SymbolicModel(Model):
    """A tree whose constants have names."""

    @cached_property
    def _screws(self) -> dict[int, tuple[Screw, ...]]:
        found = {}
        for i, body in enumerate(self.bodies, 1):
            joint, chain = body.joint, []
            for fixed in joint.placement:
                prime = "'" * sum(screw.axis == fixed.axis for screw in chain)
                chain.append(_named(fixed.screw, *(f"{name}{i}{prime}" for name in NAMES[fixed.axis])))
            last = super().transform(i, [0.0] * 7 * (self.n_bodies + 1)).screws[-1] if not joint.floating else None
            found[i] = (*chain, _named(last, f"theta{i}", f"r{i}")) if last else ()
        return found

    def transform(self, i: int, q: Sequence[Scalar]) -> Any:
        """At joint positions zero."""
        return Transform(*self._screws[i])


def _named(screw: Screw, angle: str, length: str) -> Screw:
    c, s = (screw.c, screw.s) if screw.c * screw.s == 0 else cosine_and_sine(angle, screw.c, screw.s)
    return Screw(screw.axis, c, s, screw.t and symbol(length, screw.t))
