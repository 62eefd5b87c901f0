"""Contacts with a plane: wheels that roll without slipping, blades and omniwheels that slip in one direction, glides.

The frame ``first`` is the plane's, with the normal n along z; z of ``second`` is the axle a, at the wheel's centre. For
blades and glides, whose radius is zero, the origin is the contact point. With c = |a - (a.n) n|:

  (1)  s = (a - (a.n) n) / c,   t = s x n           across: the axle seen from above; along: where it rolls
  (2)  rho = radius ((a.n) s - c n)                 from the centre to the contact point, the lowest one
  (3)  normal: n.r - radius c = 0                   the only equation of positions
  (4)  n.u = 0,  t.u = 0,  s.u = 0,  u = v + w x rho   velocity of the wheel's material there

The contact point is not fixed in the wheel: it stays below the centre while the wheel turns, and moves with the axle,
a' = w x a:

  (5)  s' = h t,  t' = -h s,  h = t.a' / c          the heading turns at the rate h
  (6)  rho' = radius ((a'.n) s + (a.n) s' - (s.a') n)
  (7)  drift of e.u: e.(v' + w' x rho + w x rho') + e'.u
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ...scalar import Scalar, is_zero, sqrt
from ...spatial import Motion, Pose, Vector, Z
from ..element import Fault, Mark, number, positive
from .kind import ConstraintKind, End

if TYPE_CHECKING:
    from ..description import ConstraintDescription, Description

SAME = 1e-9  # metres and radians: an axle this close to a joint's axis is on it
ALONG_AND_ACROSS = {"along": (1.0, 0.0), "across": (0.0, 1.0)}


class Directions(NamedTuple):
    """The directions of a contact, the slope c of its axle, and the vector from the centre to the contact point."""

    along: Vector
    across: Vector
    normal: Vector
    c: Scalar
    to_contact: Vector  # rho


@dataclass(frozen=True)
class Rolling(ConstraintKind):
    """A contact with a plane, with two directions: along and across the direction in which it rolls."""

    section, first, second = "rolling", End("plane", ground=True), End("wheel")
    touches, shows_ground = True, True
    load = "normal"
    rows: ClassVar[tuple[str, ...]] = ()
    radius = 0.0

    @property
    def mark(self) -> Mark:
        return Mark("point")

    @property
    def reach(self) -> float:
        return self.radius

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return tuple(row == "normal" for row in self.rows)

    def residual(self, end: Pose) -> list[Scalar]:
        height = end.origin.z  # (3)
        if not is_zero(self.radius):
            height = height - self.radius * _slope(end.rotation.columns[2])
        return [height if row == "normal" else 0 for row in self.rows]

    def held(self, end: Pose, moving: Motion) -> list[Scalar]:
        at = self._directions(end)
        u = moving.linear + moving.angular.cross(at.to_contact)
        return [getattr(at, row).dot(u) for row in self.rows]  # (4)

    def drift(self, end: Pose, moving: Motion, accelerating: Motion) -> list[Scalar]:
        at, a, w = self._directions(end), end.rotation.columns[2], moving.angular
        turning = w.cross(a)
        h = at.along.dot(turning) / at.c
        changes = {"along": at.across * -h, "across": at.along * h, "normal": Vector()}  # (5)
        leaning = at.across * turning.z + changes["across"] * a.z - Z * at.across.dot(turning)
        u = moving.linear + w.cross(at.to_contact)
        rate = accelerating.linear + accelerating.angular.cross(at.to_contact) + w.cross(leaning * self.radius)  # (6)
        return [getattr(at, row).dot(rate) + changes[row].dot(u) for row in self.rows]  # (7)

    @property
    def slip_directions(self) -> dict[str, tuple[float, float]]:
        return {row: parts for row, parts in ALONG_AND_ACROSS.items() if row in self.rows}

    def lean(self, end: Pose) -> tuple[Scalar, Scalar] | None:
        axle = end.rotation.columns[2]
        return axle.x, axle.y

    def gap(self, label: str, size: float) -> tuple[str, str]:
        fix = "check its radius, where it sits, and the frame of its plane (z is the normal)"
        return f"{label} is off its plane by {size:.2g} m at best", fix

    def _directions(self, end: Pose) -> Directions:
        a = end.rotation.columns[2]
        c = _slope(a)
        s = Vector(a.x / c, a.y / c, 0)  # (1)
        return Directions(s.cross(Z), s, Z, c, (s * a.z - Z * c) * self.radius)  # (2)


def _friction():
    return number(float("inf"), least=0, finite=False, built_in=True, fix="write a coefficient of zero or more")


@dataclass(frozen=True)
class Wheel(Rolling, name="wheel"):
    """A wheel that rolls on a plane without slipping; its axle is z of its frame.

    Args:
        radius: of the wheel, m.
        friction: coefficient; a force along the plane beyond its cone would make it slip. Default: infinite.

    Example:
        >>> linkwork.model.Wheel(radius=0.1).rows
        ('normal', 'along', 'across')
    """

    default = True
    rows = ("normal", "along", "across")
    radius: float = positive(unit="m", what="in metres", fix="write a positive number, in metres")
    friction: float = _friction()

    @property
    def mark(self) -> Mark:
        return Mark("rim", (self.radius,))

    def check(self, description: Description, constraint: ConstraintDescription) -> Iterator[Fault]:
        yield from super().check(description, constraint)
        link, placement = constraint.second
        carrier = next((joint for joint in description.joints if joint.child == link), None)
        if carrier is not None and carrier.motion.axial and carrier.motion.turning == (True,):
            axis = carrier.axis / np.linalg.norm(carrier.axis)
            if not np.abs(np.cross(axis, [placement.rotation[:, 2], placement.translation])).max() < SAME:
                message = f"its axle, z of its frame, is not the axis of joint {carrier.name!r}, so it wobbles"
                yield Fault(message, "place its frame on the axis, with z along it", "warning")


class Omni(Wheel, name="omni"):
    """An omniwheel: it does not slip along its rolling direction; its rollers let it slip across.

    Args:
        radius: of the wheel, m.
        friction: coefficient; default: infinite.

    Example:
        >>> linkwork.model.Omni(radius=0.1).rows
        ('normal', 'along')
    """

    default = False
    rows = ("normal", "along")


TOUCHES = "remove it, and place the frame where it touches; or write kind: wheel"


@dataclass(frozen=True)
class Blade(Rolling, name="blade"):
    """A contact that slips along but not across: a skate, a castor, or a pair of wheels without inertia.

    Args:
        friction: coefficient; default: infinite.

    Example:
        >>> linkwork.model.Blade().rows
        ('normal', 'across')
    """

    shows_ground = False  # its plane may be that of any link
    rows = ("normal", "across")
    lacks: ClassVar[dict[str, str]] = {"radius": TOUCHES}
    friction: float = _friction()

    @property
    def mark(self) -> Mark:
        return Mark("pair")


class Glide(Rolling, name="glide"):
    """A ball or a pad without friction, which slips in all directions.

    Example:
        >>> linkwork.model.Glide().rows
        ('normal',)
    """

    rows = ("normal",)
    lacks: ClassVar[dict[str, str]] = {
        "radius": TOUCHES,
        "friction": "it slips in all directions without friction: remove it; for drag there, put a law in `forces`",
    }

    def held(self, end: Pose, moving: Motion) -> list[Scalar]:
        return [moving.linear.z]

    def drift(self, end: Pose, moving: Motion, accelerating: Motion) -> list[Scalar]:
        return [accelerating.linear.z]

    def lean(self, end: Pose) -> None:
        del end


def _slope(a: Vector) -> Scalar:
    """Return c: one for an upright wheel, zero for one that lies flat."""
    return sqrt(a.x * a.x + a.y * a.y)
