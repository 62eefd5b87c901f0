"""Feet on the ground: equations that are on or off, by numbers, beside those of loops; and what holds them.

A foot in contact is held where it stands: a point by three equations, a sole by six, in axes of the world. Each has a
number, ``contacts``: 0 is off, and what is not 0 is on. Their forces may be more than the motion tells; then the sum of

    |f / c|^2  of points,   |f / c|^2 / 4 + 2 |m / c|^2 / (length^2 + width^2)  of soles

is the least, as if a sole stood on its four corners. So among feet that are on, numbers c other than 1 are weights: one
with a larger number bears more. However small they are, the forces do what they must; where those of small weights are
needed, they are the least to about 1e-15 over the square of the ratio of the weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from ..model import POINT, WELD, Foot, Frame, Loop, Model
from ..scalar import Scalar, sign
from ..scalar.orthogonal import dot
from ..spatial import Matrix, Pose, Vector
from .equations import LoopEquations

Scalars = Sequence[Scalar]

NORMAL = 2  # the row of a foot along the normal of the ground, z


def numbers_of(model: Model) -> list[int]:
    """How many numbers tell where each foot stands: its origin, and of a sole the rows of its rotation."""
    return [12 if foot.sole else 3 for foot in model.feet]


class Standing:
    """The independent equations of the loops, then those of the feet, times their contacts, at tree positions ``q``.

    ``places``: where feet in contact stand, as ``numbers_of`` has them; without them only their motion is held.
    """

    def __init__(self, model: Model, q: Scalars, contacts: Scalars, places: Scalars | None = None):
        self.model, self.q, self.contacts = model, q, contacts
        self.loops = LoopEquations.independent(model, q)
        self.feet = LoopEquations(replace(model, loops=_as_loops(model, places)), q)
        self.scales = [c * x for c, foot in zip(contacts, model.feet, strict=True) for x in _scales(foot)]

    @property
    def on(self) -> list[Scalar]:
        """1 for each equation of a foot in contact, whatever its weight, else 0."""
        return [sign(s) * sign(s) for s in self.scales]

    @property
    def holds(self) -> list[bool]:
        """Whether each equation holds positions, or velocities alone."""
        return [*self.loops.holds, *(True for _ in self.scales)]

    @cached_property
    def residual(self) -> list[Scalar]:
        return [*self.loops.residual, *self._scaled(self.feet.residual)]

    @cached_property
    def J(self) -> list[list[Scalar]]:
        return [*self.loops.J, *([s * x for x in row] for s, row in zip(self.scales, self.feet.J, strict=True))]

    def drift(self, v: Scalars) -> list[Scalar]:
        return [*self.loops.drift(v), *self._scaled(self.feet.drift(v))]

    def rates(self, v: Scalars) -> list[Scalar]:
        return [dot(row, v) for row in self.J]

    def bouncing(self, v: Scalars, restitution: Scalars) -> list[Scalar]:
        """By how much an impact changes the rates: all is lost, and along the normal a share comes back."""
        shares: list[Scalar] = [0] * len(self.loops.J)
        for e, foot in zip(restitution, self.model.feet, strict=True):
            shares += [e if k == NORMAL else 0 for k in range(len(_scales(foot)))]
        return [(1 + e) * rate for e, rate in zip(shares, self.rates(v), strict=True)]

    def forces(self, multipliers: Scalars) -> list[list[Scalar]]:
        """Of the ground on the feet, a row each: force, and moment about the origin of the frame, in the world's axes;
        from lambda of all equations, or of the feet's alone."""
        values = [-x for x in self._scaled(multipliers[len(multipliers) - len(self.scales) :])]
        rows, at = [], 0
        for foot in self.model.feet:
            n = len(_scales(foot))
            rows.append([*values[at : at + n], *[0] * (6 - n)])
            at += n
        return rows

    def _scaled(self, rows: Scalars) -> list[Scalar]:
        return [s * x for s, x in zip(self.scales, rows, strict=True)]


def _scales(foot: Foot) -> list[float]:
    """By which the equations of a foot are multiplied, so that the shortest multipliers are the least forces."""
    if not foot.sole:
        return [1.0] * 3
    return [2.0] * 3 + [math.sqrt((foot.size[0] ** 2 + foot.size[1] ** 2) / 2)] * 3


def _as_loops(model: Model, places: Scalars | None) -> tuple[Loop, ...]:
    """Each foot held to the ground. The frame on the foot is turned so that both have the axes of the world."""
    loops, at = [], 0
    for foot, size in zip(model.feet, numbers_of(model), strict=True):
        ground, own = Pose.identity(), model.frame(foot.frame)
        if places is not None:
            numbers = places[at : at + size]
            ground = Pose(ground.rotation, Vector(*numbers[:3]))
            if foot.sole:
                rotation = Matrix(*(Vector(*numbers[k : k + 3]) for k in (3, 6, 9)))
                own = Frame(own.name, own.body, Pose(own.pose.rotation @ rotation.T, own.pose.origin))
        at += size
        kind = WELD if foot.sole else POINT
        loops.append(Loop(foot.name, kind, Frame("ground", 0, ground), own))
    return tuple(loops)
