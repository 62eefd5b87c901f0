"""Robots whose geometric constants (lengths and angles) are polynomials in named symbols."""

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
    """Return the robot with symbols for lengths and angles: gamma3, b3, alpha3, d3, theta3, r3.

    Zero lengths and multiples of a quarter turn stay numbers.
    """
    return NamedGeometry(**{each.name: getattr(model, each.name) for each in fields(Model)})


@dataclass(frozen=True, eq=False)
class NamedGeometry(Model):
    """A tree whose geometric constants are named symbols."""

    @cached_property
    def _screws(self) -> dict[int, tuple[Screw, ...]]:
        """Screws from each body's parent to the body, at joint position zero."""
        screws = {}
        for i, body in enumerate(self.bodies, 1):
            joint, chain = body.joint, []
            for fixed in joint.placement:
                prime = "'" * sum(screw.axis == fixed.axis for screw in chain)
                chain.append(_named(fixed.screw, *(f"{name}{i}{prime}" for name in SCREWS[fixed.axis])))
            at_joint = Transform(*joint.kind.transform(joint, joint.kind.neutral())).screws
            if joint.kind.axial:
                at_joint = (_named(at_joint[0], *(f"{name}{i}" for name in AT_JOINT)),)
            screws[i] = (*chain, *at_joint)
        return screws

    def transform(self, i: int, q: Sequence[Scalar]) -> Any:
        """Return the transform of body i at joint positions zero."""
        return Transform(*self._screws[i])


def _named(screw: Screw, angle: str, length: str) -> Screw:
    c, s = (screw.c, screw.s) if screw.c * screw.s == 0 else cosine_and_sine(angle, screw.c, screw.s)
    return Screw(screw.axis, c, s, screw.t and symbol(length, screw.t))
