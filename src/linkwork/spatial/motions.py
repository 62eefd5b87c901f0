"""Motions, forces and inertias.

Order of the components and signs are the same in the whole package:

- Motion(linear, angular): velocity of the frame's origin and angular velocity, components in the frame.
- Force(linear, angular): force and moment about the frame's origin, components in the frame.
- Inertia(mass, h, J): mass, first moments m c, inertia about the frame's origin.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..scalar import Scalar, is_zero
from .vectors import Matrix, Symmetric, Vector, steiner


class Motion:
    """Velocity or acceleration of a frame: linear, of its origin, and angular.

    Motions add and scale; iteration gives the six components, linear first.

    Args:
        linear: velocity of the origin, m/s, or its acceleration, m/s^2; default: zero.
        angular: angular velocity, rad/s, or acceleration, rad/s^2; default: zero.

    Example:
        >>> spin = linkwork.spatial.Motion(angular=linkwork.spatial.Z)
        >>> list(spin * 2)
        [0, 0, 0, 0, 0, 2]
    """

    __slots__ = ("angular", "linear")

    def __init__(self, linear: Vector | None = None, angular: Vector | None = None):
        self.linear, self.angular = linear or Vector(), angular or Vector()

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.linear + other.linear, self.angular + other.angular)

    def __iter__(self):
        return iter((*self.linear, *self.angular))

    def __mul__(self, scale: Scalar) -> Motion:
        return Motion(self.linear * scale, self.angular * scale)

    def cross(self, other: Motion) -> Motion:
        """Return the rate of the components of a motion that this motion carries along.

        Args:
            other: the motion that is carried along.

        Returns:
            The rate of its components.
        """
        return Motion(
            self.angular.cross(other.linear) + self.linear.cross(other.angular), self.angular.cross(other.angular)
        )

    def cross_force(self, f: Force) -> Force:
        """Return the rate of the components of a force that this motion carries along.

        Args:
            f: the force that is carried along.

        Returns:
            The rate of its components.
        """
        return Force(self.angular.cross(f.linear), self.angular.cross(f.angular) + self.linear.cross(f.linear))

    def dot(self, force: Force) -> Scalar:
        """Return the power of a force on this motion.

        Args:
            force: force and moment, in the same frame.

        Returns:
            The power, W.
        """
        return self.linear.dot(force.linear) + self.angular.dot(force.angular)


class Force:
    """Force, and moment about the frame's origin.

    Forces add, subtract and scale; iteration gives the six components, the force first.

    Args:
        linear: the force, N; default: zero.
        angular: the moment about the frame's origin, N m; default: zero.

    Example:
        >>> push = linkwork.spatial.Force(linkwork.spatial.Vector(0, 0, -9.81))
        >>> list(push)
        [0, 0, -9.81, 0, 0, 0]
    """

    __slots__ = ("angular", "linear")

    def __init__(self, linear: Vector | None = None, angular: Vector | None = None):
        self.linear, self.angular = linear or Vector(), angular or Vector()

    def __add__(self, other: Force) -> Force:
        return Force(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Force) -> Force:
        return Force(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> Force:
        return Force(-self.linear, -self.angular)

    def __iter__(self):
        return iter((*self.linear, *self.angular))

    def __mul__(self, scale: Scalar) -> Force:
        return Force(self.linear * scale, self.angular * scale)


class Inertia:
    """Inertia of a rigid body, or of several that move as one.

    Inertias add. ``inertia @ motion`` is the momentum for a velocity, the inertial force for an acceleration. Iteration
    gives the ten parameters: mass, h (3), J (xx, xy, xz, yy, yz, zz).

    Args:
        mass: the mass, kg; default 0.
        h: first moments m c about the frame's origin, kg m; default: zero.
        J: inertia about the frame's origin, kg m^2; default: zero.

    Example:
        >>> body = linkwork.spatial.Inertia(2.0)
        >>> (body @ linkwork.spatial.Motion(linkwork.spatial.Vector(3.0, 0.0, 0.0))).linear
        Vector(6.0, 0.0, 0.0)
    """

    __slots__ = ("J", "h", "mass")

    def __init__(self, mass: Scalar = 0, h: Vector | None = None, J: Symmetric | None = None):
        self.mass, self.h, self.J = mass, h or Vector(), J or Symmetric()

    def __iter__(self):
        return iter((self.mass, *self.h, *self.J))

    @staticmethod
    def of(parameters) -> Inertia:
        """Return the inertia that has these ten parameters.

        Args:
            parameters: mass, h (3), J (xx, xy, xz, yy, yz, zz), the order of iteration; kg, kg m, kg m^2.

        Returns:
            The inertia.
        """
        p = list(parameters)
        return Inertia(p[0], Vector(*p[1:4]), Symmetric(*p[4:]))

    @staticmethod
    def central_of(mass: Scalar, center: Vector, central: Symmetric) -> Inertia:
        """Return the inertia of a body from its centre of mass and the inertia about it.

        Args:
            mass: the mass, kg.
            center: the centre of mass, m.
            central: the inertia about the centre of mass, kg m^2.

        Returns:
            The inertia, about the frame's origin.
        """
        return Inertia(mass, center * mass, central + steiner(mass, center))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.h + other.h, self.J + other.J)

    def __matmul__(self, motion: Motion) -> Force:
        v, w = motion.linear, motion.angular
        return Force(self.mass * v + w.cross(self.h), self.J @ w + self.h.cross(v))

    def central(self) -> tuple[Scalar, Vector, Symmetric]:
        """Return mass, centre of mass and the inertia about it.

        Returns:
            Mass, kg, centre of mass, m (the origin for a body without mass), and inertia about it, kg m^2.
        """
        c = Vector() if is_zero(self.mass) else self.h * (1 / self.mass)
        return self.mass, c, self.J - steiner(self.mass, c)


class ArticulatedInertia:
    """Apparent inertia of a body whose subtree hangs on free joints: force = M v + B w, moment = B^T v + J w.

    Articulated inertias add. ``inertia @ motion`` is the force that gives this acceleration.

    Args:
        M: force per linear acceleration, kg.
        B: force per angular acceleration, kg m.
        J: moment per angular acceleration, kg m^2.

    Example:
        >>> body = linkwork.spatial.ArticulatedInertia.rigid(linkwork.spatial.Inertia(2.0))
        >>> body.M
        Symmetric(2.0, 0, 0, 2.0, 0, 2.0)
    """

    __slots__ = ("B", "J", "M")

    def __init__(self, M: Symmetric, B: Matrix, J: Symmetric):
        self.M, self.B, self.J = M, B, J

    @staticmethod
    def rigid(inertia: Inertia) -> ArticulatedInertia:
        """Return the articulated inertia of a rigid body.

        Args:
            inertia: the inertia of the body.

        Returns:
            The same inertia, as a symmetric 6x6 matrix.
        """
        m, h = inertia.mass, inertia.h
        skew = Matrix(Vector(0, h.z, -h.y), Vector(-h.z, 0, h.x), Vector(h.y, -h.x, 0))
        return ArticulatedInertia(Symmetric(m, 0, 0, m, 0, m), skew, inertia.J)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.M + other.M, self.B + other.B, self.J + other.J)

    def __matmul__(self, motion: Motion) -> Force:
        v, w = motion.linear, motion.angular
        return Force(self.M @ v + self.B @ w, self.B.T @ v + self.J @ w)

    def without(self, k: int) -> ArticulatedInertia:
        """Return the inertia with zeros in one row and column of the six.

        Args:
            k: index of the row and column, 0 to 5, linear ones first.

        Returns:
            The inertia that does not resist this component of the motion.
        """
        keep = [int(n != k % 3) for n in range(3)]
        if k < 3:
            return ArticulatedInertia(
                _masked(self.M, keep), Matrix(*(r * x for r, x in zip(self.B.rows, keep, strict=True))), self.J
            )
        B = Matrix(*(Vector(*(x * y for x, y in zip(row, keep, strict=True))) for row in self.B.rows))
        return ArticulatedInertia(self.M, B, _masked(self.J, keep))

    def minus_dyad(self, left: Sequence[Force], right: Sequence[Force]) -> ArticulatedInertia:
        """Subtract the sum of left_k right_k^T, which must be a symmetric matrix.

        Args:
            left: first factors.
            right: second factors, as many.

        Returns:
            The difference.
        """
        M, B, J = list(self.M), [list(row) for row in self.B.rows], list(self.J)
        for a, b in zip(left, right, strict=True):
            for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
                M[k] = M[k] - a.linear[i] * b.linear[j]
                J[k] = J[k] - a.angular[i] * b.angular[j]
            for i in range(3):
                for j in range(3):
                    B[i][j] = B[i][j] - a.linear[i] * b.angular[j]
        return ArticulatedInertia(Symmetric(*M), Matrix(*(Vector(*row) for row in B)), Symmetric(*J))


def _masked(J: Symmetric, keep: Sequence[int]) -> Symmetric:
    """Return J times ``keep`` (0 or 1) in each row and column."""
    x, y, z = keep
    return Symmetric(x * J.xx, x * y * J.xy, x * z * J.xz, y * J.yy, y * z * J.yz, z * J.zz)
