"""Contacts with a plane: wheels that roll without slipping, blades and omniwheels that slip one way, glides.

The frame ``first`` is the plane's, z its normal n; z of ``second`` is the axle a, at the wheel's centre. Of a blade
and a glide, whose radius is zero, the origin is the point that touches. With c = |a - (a.n) n|:

  (1)  s = (a - (a.n) n) / c,   t = s x n           across: the axle seen from above; along: where it rolls
  (2)  rho = radius ((a.n) s - c n)                 from the centre to the point that touches, the lowest one
  (3)  normal: n.r - radius c = 0                   the only one that holds positions
  (4)  n.u = 0,  t.u = 0,  s.u = 0,  u = v + w x rho   what the wheel's material does there

The point that touches is not one of the wheel: it stays below the centre while the wheel turns, and moves as the axle
does, with a' = w x a:

  (5)  s' = h t,  t' = -h s,  h = t.a' / c          the heading turns at the rate h
  (6)  rho' = radius ((a'.n) s + (a.n) s' - (s.a') n)
  (7)  drift of e.u: e.(v' + w' x rho + w x rho') + e'.u
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..scalar import Scalar, sqrt
from ..spatial import Motion, Pose, Vector, Z
from .loop_kind import LoopKind

CONTACTS = {
    "wheel": ("normal", "along", "across"),
    "omni": ("normal", "along"),  # rollers around it let it slide along its axle
    "blade": ("normal", "across"),  # a skate, or a castor or a pair of wheels that are too light to matter
    "glide": ("normal",),  # a ball or a pad without friction
}
ROUND = ("wheel", "omni")  # those that have a radius


class Directions(NamedTuple):
    along: Vector
    across: Vector
    normal: Vector
    c: Scalar
    to_touch: Vector  # rho


@dataclass(frozen=True)
class Contact(LoopKind):
    """``friction``: the coefficient; forces along the plane beyond its cone would make it slip."""

    name: str
    radius: float = 0.0
    friction: float = float("inf")

    @property
    def rows(self) -> tuple[str, ...]:
        return CONTACTS[self.name]

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return tuple(row == "normal" for row in self.rows)

    def told(self) -> dict[str, Any]:
        return {"radius": self.radius, "friction": self.friction}

    def residual(self, end: Pose) -> list[Scalar]:
        height = end.origin.z - self.radius * _slope(end.rotation.columns[2]) if self.radius else end.origin.z  # (3)
        return [height if row == "normal" else 0 for row in self.rows]

    def held(self, end: Pose, moving: Motion) -> list[Scalar]:
        at = self._directions(end)
        u = moving.linear + moving.angular.cross(at.to_touch)
        return [getattr(at, row).dot(u) for row in self.rows]  # (4)

    def drift(self, end: Pose, moving: Motion, accelerating: Motion) -> list[Scalar]:
        at, a, w = self._directions(end), end.rotation.columns[2], moving.angular
        turning = w.cross(a)
        h = at.along.dot(turning) / at.c
        changes = {"along": at.across * -h, "across": at.along * h, "normal": Vector()}  # (5)
        leaning = at.across * turning.z + changes["across"] * a.z - Z * at.across.dot(turning)
        u = moving.linear + w.cross(at.to_touch)
        rate = accelerating.linear + accelerating.angular.cross(at.to_touch) + w.cross(leaning * self.radius)  # (6)
        return [getattr(at, row).dot(rate) + changes[row].dot(u) for row in self.rows]  # (7)

    def _directions(self, end: Pose) -> Directions:
        a = end.rotation.columns[2]
        c = _slope(a)
        s = Vector(a.x / c, a.y / c, 0)  # (1)
        return Directions(s.cross(Z), s, Z, c, (s * a.z - Z * c) * self.radius)  # (2)


class Glide(Contact):
    """It has no directions of its own."""

    def held(self, end: Pose, moving: Motion) -> list[Scalar]:
        return [moving.linear.z]

    def drift(self, end: Pose, moving: Motion, accelerating: Motion) -> list[Scalar]:
        return [accelerating.linear.z]


def contact(name: str, radius: float, friction: float) -> Contact:
    return (Glide if name == "glide" else Contact)(name, radius, friction)


def _slope(a: Vector) -> Scalar:
    """c: one for an upright wheel, zero for one that lies flat."""
    return sqrt(a.x * a.x + a.y * a.y)
