"""Tensors and points through a chain of elementary screws, for the composite-body methods of this family."""

from __future__ import annotations

from ...scalar import Scalar
from ...spatial import Symmetric, Transform, Vector
from ...spatial.vectors import turn_symmetric

Z = Vector(0, 0, 1)


def turned(X: Transform, J: Symmetric) -> Symmetric:
    """R J R^T: the components of a tensor from the inner to the outer frame."""
    for screw in reversed(X.screws):
        J = turn_symmetric(screw.axis, screw.c, screw.s, J)
    return J


def reached(X: Transform, s: Vector) -> Vector:
    """R^T (s + origin): the arm ``s`` to the outer frame's origin continued to the inner one's, in inner components."""
    for screw in X.screws:
        s = screw.turn_back(s + screw.along(screw.t))
    return s


def crosses(a: Vector, b: Vector) -> Symmetric:
    """-[a x][b x] - [b x][a x] = 2 (a.b) 1 - a b^T - b a^T, in 9 multiplications."""
    xx, yy, zz = a.x * (2 * b.x), a.y * (2 * b.y), a.z * (2 * b.z)
    return Symmetric(
        yy + zz, -(a.x * b.y + a.y * b.x), -(a.x * b.z + a.z * b.x),
        zz + xx, -(a.y * b.z + a.z * b.y),
        xx + yy,
    )  # fmt: skip


def steiner(mass: Scalar, r: Vector) -> Symmetric:
    """-m [r x]^2, in 9 multiplications"""
    m = r * mass
    xx, yy, zz = m.x * r.x, m.y * r.y, m.z * r.z
    return Symmetric(yy + zz, -(m.x * r.y), -(m.x * r.z), zz + xx, -(m.y * r.z), xx + yy)
