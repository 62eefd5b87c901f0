"""The robot with polynomials for the constants of its geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from ..model import Model
from ..scalar import Scalar
from ..spatial import Screw, Transform
from .names import AT_JOINT, SCREWS
from .polynomials import cosine_and_sine, symbol


def with_named_geometry(model: Model) -> NamedGeometry:
    """The same robot, lengths and angles as symbols but for zero lengths and quarter turns: gamma3, b3, alpha3, d3,
    theta3, r3."""
    return NamedGeometry(**{each.name: getattr(model, each.name) for each in fields(Model)})


@dataclass(frozen=True, eq=False)
class NamedGeometry(Model):
    """A tree whose constants have names."""

    @cached_property
    def _screws(self) -> dict[int, tuple[Screw, ...]]:
        found = {}
        for i, body in enumerate(self.bodies, 1):
            joint, chain = body.joint, []
            for fixed in joint.placement:
                prime = "'" * sum(screw.axis == fixed.axis for screw in chain)
                chain.append(_named(fixed.screw, *(f"{name}{i}{prime}" for name in SCREWS[fixed.axis])))
            own = Transform(*joint.kind.transform(joint, joint.kind.neutral())).screws
            found[i] = (*chain, *((_named(own[0], *(f"{name}{i}" for name in AT_JOINT)),) if joint.kind.axial else own))
        return found

    def transform(self, i: int, q: Sequence[Scalar]) -> Any:
        """At joint positions zero."""
        return Transform(*self._screws[i])


def _named(screw: Screw, angle: str, length: str) -> Screw:
    c, s = (screw.c, screw.s) if screw.c * screw.s == 0 else cosine_and_sine(angle, screw.c, screw.s)
    return Screw(screw.axis, c, s, screw.t and symbol(length, screw.t))
