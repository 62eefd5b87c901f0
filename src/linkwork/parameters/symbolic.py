"""The robot with symbols for the constants of its geometry, and with scalars of any kind for its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from ..formulations.regressor import ELEMENTS, Parameter
from ..model import Model
from ..scalar import Scalar
from ..spatial import Inertia, Screw, Transform
from .symbols import cosine_and_sine, symbol

NAMES = {"x": ("alpha", "d"), "z": ("gamma", "b")}  # angle and length of the constant screws; theta and r of the last


def with_symbols(model: Model) -> SymbolicModel:
    """The same robot, lengths and angles as symbols but for zero lengths and quarter turns: gamma3, b3, alpha3, d3,
    theta3, r3."""
    return SymbolicModel(**{each.name: getattr(model, each.name) for each in fields(Model)})


def with_values(model: Model, values: Mapping[Parameter, Scalar]) -> Model:
    """The same robot with these inertia parameters and rotor inertias, scalars of any kind."""
    bodies = tuple(
        replace(
            body,
            inertia=Inertia.of(values[Parameter(i, element)] for element in ELEMENTS),
            joint=replace(body.joint, rotor_inertia=values.get(Parameter(i, "IA"), 0.0)),
        )
        for i, body in enumerate(model.bodies, 1)
    )
    return replace(model, bodies=bodies)


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
            own = Transform(*joint.kind.transform(joint, joint.kind.neutral())).screws
            found[i] = (*chain, *((_named(own[0], f"theta{i}", f"r{i}"),) if joint.kind.axial else own))
        return found

    def transform(self, i: int, q: Sequence[Scalar]) -> Any:
        """At joint positions zero."""
        return Transform(*self._screws[i])


def _named(screw: Screw, angle: str, length: str) -> Screw:
    c, s = (screw.c, screw.s) if screw.c * screw.s == 0 else cosine_and_sine(angle, screw.c, screw.s)
    return Screw(screw.axis, c, s, screw.t and symbol(length, screw.t))
