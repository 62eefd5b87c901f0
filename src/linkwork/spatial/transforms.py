"""Transforms: what carries vectors, motions, forces and inertias between the frames of neighbouring bodies.

A transform places an inner (child) frame in an outer (parent) frame. Motions go outer to inner, forces and inertias
inner to outer.

It is a chain of elementary screws, each a turn about and a shift along the same x or z axis. In modified
Denavit-Hartenberg frames a joint is two of them, ``Rx(alpha) Tx(d)`` and ``Rz(theta) Tz(r)``. Applying them one
after another is what makes a rotated vector cost 8 multiplications and 4 additions (4 and 2 at a right angle).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..scalar import Scalar
from .motions import ArticulatedInertia, Force, Inertia, Motion
from .vectors import Matrix, Symmetric, Vector, crosses, outer, turn, turn_back, turn_matrix, turn_symmetric


class Screw:
    """Turn by the angle of cosine ``c`` and sine ``s`` about ``axis``, shift by ``t`` along it."""

    __slots__ = ("axis", "c", "s", "t")

    def __init__(self, axis: str, c: Scalar = 1, s: Scalar = 0, t: Scalar = 0):
        self.axis, self.c, self.s, self.t = axis, c, s, t

    def along(self, length: Scalar) -> Vector:
        return Vector(length, 0, 0) if self.axis == "x" else Vector(0, 0, length)

    def across(self, v: Vector) -> Vector:
        """(unit vector of the axis) x v"""
        return Vector(0, -v.z, v.y) if self.axis == "x" else Vector(-v.y, v.x, 0)

    @property
    def origin(self) -> Vector:
        return self.along(self.t)

    def outward(self, v: Vector) -> Vector:
        return turn(self.axis, self.c, self.s, v)

    def inward(self, v: Vector) -> Vector:
        return turn_back(self.axis, self.c, self.s, v)

    def columns_outward(self, columns: Sequence[Vector]) -> list[Vector]:
        """Columns of R times this rotation: they mix as (a, b) -> (a c + b s, b c - a s)."""
        i, j = (1, 2) if self.axis == "x" else (0, 1)
        turned = list(columns)
        turned[i] = columns[i] * self.c + columns[j] * self.s
        turned[j] = columns[j] * self.c - columns[i] * self.s
        return turned

    def tensor_outward(self, J: Symmetric) -> Symmetric:
        return turn_symmetric(self.axis, self.c, self.s, J)

    def motion_inward(self, m: Motion) -> Motion:
        shifted = m.linear - self.t * self.across(m.angular)  # w x (t e) = -t e x w
        return Motion(self.inward(shifted), self.inward(m.angular))

    def force_outward(self, f: Force) -> Force:
        force = self.outward(f.linear)
        return Force(force, self.outward(f.angular) + self.t * self.across(force))

    def force_inward(self, f: Force) -> Force:
        return Force(self.inward(f.linear), self.inward(f.angular - self.t * self.across(f.linear)))

    def inertia_outward(self, inertia: Inertia) -> Inertia:
        """Parallel axes: with p = t e and u = h + m p / 2, J grows by 2 (p.u) 1 - p u^T - u p^T."""
        m, t = inertia.mass, self.t
        h, J = self.outward(inertia.h), turn_symmetric(self.axis, self.c, self.s, inertia.J)
        u = h + self.along(m * t * 0.5)
        if self.axis == "x":
            grow = 2 * t * u.x
            shift = Symmetric(0, -t * u.y, -t * u.z, grow, 0, grow)
        else:
            grow = 2 * t * u.z
            shift = Symmetric(grow, 0, -t * u.x, grow, -t * u.y, 0)
        return Inertia(m, h + self.along(m * t), J + shift)

    def momentum_outward(self, K: Matrix, p: Vector) -> tuple[Matrix, Vector]:
        """Of a velocity field u over a mass: K = integral of u r^T, p = integral of u."""
        p = self.outward(p)
        return turn_matrix(self.axis, self.c, self.s, K) + outer(p, self.origin), p

    def articulated_outward(self, A: ArticulatedInertia) -> ArticulatedInertia:
        """With P = [p x], p = t e:  B' = B - M P,  J' = J + (P B)^T + P B'."""
        M = turn_symmetric(self.axis, self.c, self.s, A.M)
        B = turn_matrix(self.axis, self.c, self.s, A.B)
        J = turn_symmetric(self.axis, self.c, self.s, A.J)
        t = self.t
        # row k of -M P is -(m_k^T P) = (P m_k)^T = t e x m_k
        shifted = Matrix(*(row + t * self.across(m) for row, m in zip(B.rows, M.rows, strict=True)))
        PB = Matrix(*(t * self.across(column) for column in B.columns)).T
        PS = Matrix(*(t * self.across(column) for column in shifted.columns)).T
        total = PB.T + PS
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = total.rows
        return ArticulatedInertia(M, shifted, J + Symmetric(xx, xy, xz, yy, yz, zz))


class Pose:
    """Where a frame sits in an outer one, by a rotation matrix and an origin: ``rotation`` takes inner to outer
    components; ``origin`` is the inner origin in outer components."""

    __slots__ = ("origin", "rotation")

    def __init__(self, rotation: Matrix, origin: Vector):
        self.rotation, self.origin = rotation, origin

    @staticmethod
    def identity() -> Pose:
        return Pose(Matrix.identity(), Vector())

    @staticmethod
    def of_quaternion(origin: Sequence[Scalar], quaternion: Sequence[Scalar]) -> Pose:
        """From a quaternion (x, y, z, w) of any length but zero: dividing by its square makes the rotation exact."""
        x, y, z, w = quaternion
        scale = 2 / (x * x + y * y + z * z + w * w)
        X, Y, Z = scale * x, scale * y, scale * z
        xx, yy, zz, xy, xz, yz = x * X, y * Y, z * Z, x * Y, x * Z, y * Z
        wx, wy, wz = w * X, w * Y, w * Z
        return Pose(
            Matrix(
                Vector(1 - (yy + zz), xy - wz, xz + wy),
                Vector(xy + wz, 1 - (xx + zz), yz - wx),
                Vector(xz - wy, yz + wx, 1 - (xx + yy)),
            ),
            Vector(*origin),
        )

    def outward(self, v: Vector) -> Vector:
        return self.rotation @ v

    def inward(self, v: Vector) -> Vector:
        return self.rotation.T @ v

    def columns_outward(self, columns: Sequence[Vector]) -> list[Vector]:
        """Columns of R times this rotation."""
        return list((Matrix(*columns).T @ self.rotation).columns)

    def tensor_outward(self, J: Symmetric) -> Symmetric:
        turned = self.rotation @ (self.rotation @ Matrix(*J.rows)).T  # R (R J)^T = R J R^T
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = turned.rows
        return Symmetric(xx, xy, xz, yy, yz, zz)

    def motion_inward(self, m: Motion) -> Motion:
        return Motion(self.inward(m.linear + m.angular.cross(self.origin)), self.inward(m.angular))

    def force_outward(self, f: Force) -> Force:
        force = self.outward(f.linear)
        return Force(force, self.outward(f.angular) + self.origin.cross(force))

    def force_inward(self, f: Force) -> Force:
        return Force(self.inward(f.linear), self.inward(f.angular - self.origin.cross(f.linear)))

    def inertia_outward(self, inertia: Inertia) -> Inertia:
        """Parallel axes: with u = R h + m p / 2, J grows by 2 (p.u) 1 - p u^T - u p^T."""
        m, p, h = inertia.mass, self.origin, self.outward(inertia.h)
        J = self.tensor_outward(inertia.J) + crosses(p, h + p * (m * 0.5))
        return Inertia(m, h + p * m, J)

    def momentum_outward(self, K: Matrix, p: Vector) -> tuple[Matrix, Vector]:
        """Of a velocity field u over a mass: K = integral of u r^T, p = integral of u."""
        p = self.outward(p)
        return self.rotation @ (self.rotation @ K.T).T + outer(p, self.origin), p

    def articulated_outward(self, A: ArticulatedInertia) -> ArticulatedInertia:
        """With P = [p x]:  B' = B - M P,  J' = J + (P B)^T + P B'."""
        M, J, p = self.tensor_outward(A.M), self.tensor_outward(A.J), self.origin
        B = self.rotation @ (self.rotation @ A.B.T).T  # R (R B^T)^T = R B R^T
        shifted = Matrix(*(row + p.cross(m) for row, m in zip(B.rows, M.rows, strict=True)))
        PB = Matrix(*(p.cross(column) for column in B.columns)).T
        PS = Matrix(*(p.cross(column) for column in shifted.columns)).T
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = (PB.T + PS).rows
        return ArticulatedInertia(M, shifted, J + Symmetric(xx, xy, xz, yy, yz, zz))

    def inverse(self) -> Pose:
        return Pose(self.rotation.T, -self.inward(self.origin))

    def then(self, inner: Transform | Pose) -> Pose:
        """The pose of a frame placed by ``inner`` in this one."""
        origin = self.origin + self.outward(inner.origin)
        if isinstance(inner, Pose):
            return Pose(self.rotation @ inner.rotation, origin)
        columns = list(self.rotation.columns)
        for screw in inner.screws:
            columns = screw.columns_outward(columns)
        return Pose(Matrix(*columns).T, origin)


class Transform:
    """A chain of screws from the outer to the inner frame; poses stand in it where joints have more freedoms."""

    __slots__ = ("screws",)

    def __init__(self, *screws: Screw | Pose):
        self.screws: tuple[Any, ...] = screws

    @property
    def origin(self) -> Vector:
        """The inner frame's origin in outer components."""
        p = Vector()
        for screw in reversed(self.screws):
            p = screw.outward(p) + screw.origin
        return p

    def outward(self, v: Vector) -> Vector:
        """Turn a vector's components from the inner to the outer frame."""
        for screw in reversed(self.screws):
            v = screw.outward(v)
        return v

    def inward(self, v: Vector) -> Vector:
        for screw in self.screws:
            v = screw.inward(v)
        return v

    def tensor_outward(self, J: Symmetric) -> Symmetric:
        """R J R^T: turn a tensor's components from the inner to the outer frame."""
        for screw in reversed(self.screws):
            J = screw.tensor_outward(J)
        return J

    def arm_inward(self, s: Vector) -> Vector:
        """R^T (s + origin): the arm ``s`` to the outer origin continued to the inner one, in inner components."""
        for screw in self.screws:
            s = screw.inward(s + screw.origin)
        return s

    def motion_inward(self, m: Motion) -> Motion:
        for screw in self.screws:
            m = screw.motion_inward(m)
        return m

    def force_outward(self, f: Force) -> Force:
        for screw in reversed(self.screws):
            f = screw.force_outward(f)
        return f

    def force_inward(self, f: Force) -> Force:
        for screw in self.screws:
            f = screw.force_inward(f)
        return f

    def inertia_outward(self, inertia: Inertia) -> Inertia:
        for screw in reversed(self.screws):
            inertia = screw.inertia_outward(inertia)
        return inertia

    def momentum_outward(self, K: Matrix, p: Vector) -> tuple[Matrix, Vector]:
        for screw in reversed(self.screws):
            K, p = screw.momentum_outward(K, p)
        return K, p

    def articulated_outward(self, A: ArticulatedInertia) -> ArticulatedInertia:
        for screw in reversed(self.screws):
            A = screw.articulated_outward(A)
        return A
