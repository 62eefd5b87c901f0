"""Transforms: they carry vectors, motions, forces and inertias between the frames of neighbouring bodies.

A transform places an inner (child) frame in an outer (parent) frame. Motions go outer to inner, forces and inertias
inner to outer.

It is a chain of elementary screws, each a turn about and a shift along the same x or z axis. In modified
Denavit-Hartenberg frames a joint is two of them, ``Rx(alpha) Tx(d)`` and ``Rz(theta) Tz(r)``. Applying them one
after another is what makes a rotated vector cost 8 multiplications and 4 additions (4 and 2 at a right angle).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..scalar import Scalar, Scalars
from .motions import ArticulatedInertia, Force, Inertia, Motion
from .vectors import Matrix, Symmetric, Vector, crosses, outer, turn, turn_back, turn_matrix, turn_symmetric


class RigidTransform:
    """Placement of an inner frame in an outer one: rotation R, and ``origin`` p, the inner origin in outer components.

    Subclasses define how it is stored, and so how many operations each method takes.
    """

    __slots__ = ()
    origin: Vector

    def outward(self, v: Vector) -> Vector:
        """Return R v, the outer components of a vector.

        Args:
            v: inner components.

        Returns:
            Outer components.
        """
        raise NotImplementedError

    def inward(self, v: Vector) -> Vector:
        """Return R^T v, the inner components of a vector.

        Args:
            v: outer components.

        Returns:
            Inner components.
        """
        raise NotImplementedError

    def tensor_outward(self, J: Symmetric) -> Symmetric:
        """Return R J R^T, the outer components of a symmetric tensor.

        Args:
            J: inner components.

        Returns:
            Outer components.
        """
        raise NotImplementedError

    def motion_inward(self, m: Motion) -> Motion:
        """Return the motion at the inner origin of a body that moves with the outer frame.

        Args:
            m: motion at the outer origin, outer components.

        Returns:
            Motion at the inner origin, inner components.
        """
        raise NotImplementedError

    def force_outward(self, f: Force) -> Force:
        """Return the same force with its moment about the outer origin.

        Args:
            f: force, and moment about the inner origin, inner components.

        Returns:
            Force, and moment about the outer origin, outer components.
        """
        raise NotImplementedError

    def force_inward(self, f: Force) -> Force:
        """Return the same force with its moment about the inner origin.

        Args:
            f: force, and moment about the outer origin, outer components.

        Returns:
            Force, and moment about the inner origin, inner components.
        """
        raise NotImplementedError

    def inertia_outward(self, inertia: Inertia) -> Inertia:
        """Return the inertia about the outer origin, by the parallel axis theorem.

        Args:
            inertia: inertia about the inner origin, inner components.

        Returns:
            Inertia about the outer origin, outer components.
        """
        raise NotImplementedError

    def momentum_outward(self, K: Matrix, p: Vector) -> tuple[Matrix, Vector]:
        """Return the moments of a velocity field u over a mass, about the outer origin.

        Args:
            K: integral of u r^T dm, about the inner origin, inner components, kg m^2/s.
            p: integral of u dm, inner components, kg m/s.

        Returns:
            K and p about the outer origin, outer components.
        """
        raise NotImplementedError

    def articulated_outward(self, A: ArticulatedInertia) -> ArticulatedInertia:
        """Return the articulated inertia about the outer origin.

        Args:
            A: articulated inertia about the inner origin, inner components.

        Returns:
            Articulated inertia about the outer origin, outer components.
        """
        raise NotImplementedError


class Screw(RigidTransform):
    """Turn about the x or z axis, and shift along the same axis.

    Args:
        axis: "x" or "z".
        c: cosine of the angle; default 1.
        s: sine of the angle; default 0.
        t: shift along the axis, m; default 0.

    Example:
        >>> quarter = linkwork.spatial.Screw("z", c=0, s=1, t=0.5)
        >>> quarter.outward(linkwork.spatial.X)
        Vector(0, 1, 0)
    """

    __slots__ = ("axis", "c", "s", "t")

    def __init__(self, axis: str, c: Scalar = 1, s: Scalar = 0, t: Scalar = 0):
        self.axis, self.c, self.s, self.t = axis, c, s, t

    def along(self, length: Scalar) -> Vector:
        """Return a vector along the axis.

        Args:
            length: its length, with sign.

        Returns:
            The vector.
        """
        return Vector(length, 0, 0) if self.axis == "x" else Vector(0, 0, length)

    def across(self, v: Vector) -> Vector:
        """Return the cross product of the unit vector of the axis and a vector.

        Args:
            v: the vector.

        Returns:
            The product.
        """
        return Vector(0, -v.z, v.y) if self.axis == "x" else Vector(-v.y, v.x, 0)

    @property
    def origin(self) -> Vector:
        """The inner origin in outer components, m."""
        return self.along(self.t)

    def outward(self, v: Vector) -> Vector:
        return turn(self.axis, self.c, self.s, v)

    def inward(self, v: Vector) -> Vector:
        return turn_back(self.axis, self.c, self.s, v)

    def columns_outward(self, columns: Sequence[Vector]) -> list[Vector]:
        """Return the columns of a matrix times this rotation: they mix as (a, b) -> (a c + b s, b c - a s).

        Args:
            columns: the three columns of the matrix.

        Returns:
            The columns of the product.
        """
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
        # with p = t e and u = h + m p / 2, J grows by 2 (p.u) 1 - p u^T - u p^T
        m, t = inertia.mass, self.t
        h, J = self.outward(inertia.h), self.tensor_outward(inertia.J)
        u = h + self.along(m * t * 0.5)
        if self.axis == "x":
            grow = 2 * t * u.x
            shift = Symmetric(0, -t * u.y, -t * u.z, grow, 0, grow)
        else:
            grow = 2 * t * u.z
            shift = Symmetric(grow, 0, -t * u.x, grow, -t * u.y, 0)
        return Inertia(m, h + self.along(m * t), J + shift)

    def momentum_outward(self, K: Matrix, p: Vector) -> tuple[Matrix, Vector]:
        p = self.outward(p)
        return turn_matrix(self.axis, self.c, self.s, K) + outer(p, self.origin), p

    def articulated_outward(self, A: ArticulatedInertia) -> ArticulatedInertia:
        # with P = [p x], p = t e:  B' = B - M P,  J' = J + (P B)^T + P B'
        M, B = self.tensor_outward(A.M), turn_matrix(self.axis, self.c, self.s, A.B)
        J, t = self.tensor_outward(A.J), self.t
        # row k of -M P is -(m_k^T P) = (P m_k)^T = t e x m_k
        shifted = Matrix(*(row + t * self.across(m) for row, m in zip(B.rows, M.rows, strict=True)))
        PB = Matrix(*(t * self.across(column) for column in B.columns)).T
        PS = Matrix(*(t * self.across(column) for column in shifted.columns)).T
        return ArticulatedInertia(M, shifted, J + Symmetric.from_matrix(PB.T + PS))


class Pose(RigidTransform):
    """Position and orientation of an inner frame in an outer one, by a rotation matrix and an origin.

    Args:
        rotation: R, which takes inner to outer components.
        origin: the inner origin in outer components, m.

    Example:
        >>> pose = linkwork.spatial.Pose.of_quaternion([0.1, 0, 0], [0, 0, 0, 1])
        >>> pose.origin
        Vector(0.1, 0, 0)
    """

    __slots__ = ("origin", "rotation")

    def __init__(self, rotation: Matrix, origin: Vector):
        self.rotation, self.origin = rotation, origin

    @staticmethod
    def identity() -> Pose:
        """Return the pose of a frame that coincides with the outer one.

        Returns:
            The pose, of structural ones and zeros.
        """
        return Pose(Matrix.identity(), Vector())

    @staticmethod
    def of_quaternion(origin: Scalars, quaternion: Scalars) -> Pose:
        """Return the pose that has this origin and orientation.

        Args:
            origin: the inner origin in outer components, m, (3,).
            quaternion: x, y, z, w, (4,), of any length but zero: the rotation is exact all the same.

        Returns:
            The pose.
        """
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
        """Return the columns of a matrix times this rotation.

        Args:
            columns: the three columns of the matrix.

        Returns:
            The columns of the product.
        """
        return list((Matrix(*columns).T @ self.rotation).columns)

    def tensor_outward(self, J: Symmetric) -> Symmetric:
        return Symmetric.from_matrix(self.rotation @ (self.rotation @ Matrix(*J.rows)).T)  # R (R J)^T = R J R^T

    def motion_inward(self, m: Motion) -> Motion:
        return Motion(self.inward(m.linear + m.angular.cross(self.origin)), self.inward(m.angular))

    def force_outward(self, f: Force) -> Force:
        force = self.outward(f.linear)
        return Force(force, self.outward(f.angular) + self.origin.cross(force))

    def force_inward(self, f: Force) -> Force:
        return Force(self.inward(f.linear), self.inward(f.angular - self.origin.cross(f.linear)))

    def inertia_outward(self, inertia: Inertia) -> Inertia:
        # with u = R h + m p / 2, J grows by 2 (p.u) 1 - p u^T - u p^T
        m, p, h = inertia.mass, self.origin, self.outward(inertia.h)
        J = self.tensor_outward(inertia.J) + crosses(p, h + p * (m * 0.5))
        return Inertia(m, h + p * m, J)

    def momentum_outward(self, K: Matrix, p: Vector) -> tuple[Matrix, Vector]:
        p = self.outward(p)
        return self.rotation @ (self.rotation @ K.T).T + outer(p, self.origin), p

    def articulated_outward(self, A: ArticulatedInertia) -> ArticulatedInertia:
        # with P = [p x]:  B' = B - M P,  J' = J + (P B)^T + P B'
        M, J, p = self.tensor_outward(A.M), self.tensor_outward(A.J), self.origin
        B = self.rotation @ (self.rotation @ A.B.T).T  # R (R B^T)^T = R B R^T
        shifted = Matrix(*(row + p.cross(m) for row, m in zip(B.rows, M.rows, strict=True)))
        PB = Matrix(*(p.cross(column) for column in B.columns)).T
        PS = Matrix(*(p.cross(column) for column in shifted.columns)).T
        return ArticulatedInertia(M, shifted, J + Symmetric.from_matrix(PB.T + PS))

    def inverse(self) -> Pose:
        """Return the pose of the outer frame in the inner one.

        Returns:
            The inverse.
        """
        return Pose(self.rotation.T, -self.inward(self.origin))

    def then(self, inner: Transform | Pose) -> Pose:
        """Return the pose in the outer frame of a frame that is placed in the inner one.

        Args:
            inner: placement of the further frame in the inner frame of this pose.

        Returns:
            Its pose in the outer frame.
        """
        origin = self.origin + self.outward(inner.origin)
        if isinstance(inner, Pose):
            return Pose(self.rotation @ inner.rotation, origin)
        columns = list(self.rotation.columns)
        for screw in inner.screws:
            columns = screw.columns_outward(columns)
        return Pose(Matrix(*columns).T, origin)


class Transform(RigidTransform):
    """Chain of screws from the outer to the inner frame, with poses where joints have more freedoms.

    Args:
        *screws: screws and poses, the outermost first.

    Example:
        >>> shift = linkwork.spatial.Screw("x", t=0.3)
        >>> linkwork.spatial.Transform(shift, shift).origin
        Vector(0.6, 0, 0)
    """

    __slots__ = ("screws",)

    def __init__(self, *screws: Screw | Pose):
        self.screws: tuple[Any, ...] = screws

    @property
    def origin(self) -> Vector:
        """The inner origin in outer components, m."""
        p = Vector()
        for screw in reversed(self.screws):
            p = screw.outward(p) + screw.origin
        return p

    def outward(self, v: Vector) -> Vector:
        for screw in reversed(self.screws):
            v = screw.outward(v)
        return v

    def inward(self, v: Vector) -> Vector:
        for screw in self.screws:
            v = screw.inward(v)
        return v

    def tensor_outward(self, J: Symmetric) -> Symmetric:
        for screw in reversed(self.screws):
            J = screw.tensor_outward(J)
        return J

    def arm_inward(self, s: Vector) -> Vector:
        """Return R^T (s + origin): the arm ``s`` to the outer origin, extended to the inner origin.

        Args:
            s: arm from some point to the outer origin, outer components, m.

        Returns:
            Arm from the same point to the inner origin, inner components, m.
        """
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
