"""Motions, forces and inertias.

Order and signs, once for the whole package:

- Motion(linear, angular): velocity of the frame's origin and angular velocity, components in the frame.
- Force(linear, angular): force and moment about the frame's origin, components in the frame.
- Inertia(mass, h, J): mass, first moments m c, inertia about the frame's origin.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..scalar import Scalar, is_zero
from .vectors import Matrix, Symmetric, Vector, steiner


class Motion:
    """Velocity or acceleration: linear, of the frame's origin, and angular."""

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
        """Rate of the components of ``other`` when it is carried along by this motion."""
        return Motion(
            self.angular.cross(other.linear) + self.linear.cross(other.angular), self.angular.cross(other.angular)
        )

    def cross_force(self, f: Force) -> Force:
        """Rate of the components of force ``f`` when it is carried along by this motion."""
        return Force(self.angular.cross(f.linear), self.angular.cross(f.angular) + self.linear.cross(f.linear))

    def dot(self, force: Force) -> Scalar:
        """Power of ``force`` on this motion."""
        return self.linear.dot(force.linear) + self.angular.dot(force.angular)


class Force:
    """A force, and the moment about the frame's origin."""

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
    """Of a rigid body, or of several moving as one."""

    __slots__ = ("J", "h", "mass")

    def __init__(self, mass: Scalar = 0, h: Vector | None = None, J: Symmetric | None = None):
        self.mass, self.h, self.J = mass, h or Vector(), J or Symmetric()

    def __iter__(self):
        """The ten parameters: mass, h (3), J (xx, xy, xz, yy, yz, zz)."""
        return iter((self.mass, *self.h, *self.J))

    @staticmethod
    def of(parameters) -> Inertia:
        """From the ten parameters in the order of ``__iter__``."""
        p = list(parameters)
        return Inertia(p[0], Vector(*p[1:4]), Symmetric(*p[4:]))

    @staticmethod
    def central_of(mass: Scalar, center: Vector, central: Symmetric) -> Inertia:
        """From mass, centre of mass and inertia about it."""
        return Inertia(mass, center * mass, central + steiner(mass, center))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.h + other.h, self.J + other.J)

    def __matmul__(self, motion: Motion) -> Force:
        """Momentum of a velocity, or inertial force of an acceleration."""
        v, w = motion.linear, motion.angular
        return Force(self.mass * v + w.cross(self.h), self.J @ w + self.h.cross(v))

    def central(self) -> tuple[Scalar, Vector, Symmetric]:
        """Mass, centre of mass and inertia about it. Without mass the centre is at the origin."""
        c = Vector() if is_zero(self.mass) else self.h * (1 / self.mass)
        return self.mass, c, self.J - steiner(self.mass, c)


class ArticulatedInertia:
    """Apparent inertia of a body with its subtree hanging on free joints: force = M v + B w, moment = B^T v + J w."""

    __slots__ = ("B", "J", "M")

    def __init__(self, M: Symmetric, B: Matrix, J: Symmetric):
        self.M, self.B, self.J = M, B, J

    @staticmethod
    def rigid(inertia: Inertia) -> ArticulatedInertia:
        m, h = inertia.mass, inertia.h
        skew = Matrix(Vector(0, h.z, -h.y), Vector(-h.z, 0, h.x), Vector(h.y, -h.x, 0))
        return ArticulatedInertia(Symmetric(m, 0, 0, m, 0, m), skew, inertia.J)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.M + other.M, self.B + other.B, self.J + other.J)

    def __matmul__(self, motion: Motion) -> Force:
        v, w = motion.linear, motion.angular
        return Force(self.M @ v + self.B @ w, self.B.T @ v + self.J @ w)

    def without(self, k: int) -> ArticulatedInertia:
        """With zeros in row and column ``k`` of the six."""
        keep = [int(n != k % 3) for n in range(3)]
        if k < 3:
            return ArticulatedInertia(
                _kept(self.M, keep), Matrix(*(r * x for r, x in zip(self.B.rows, keep, strict=True))), self.J
            )
        flat = Matrix(*(Vector(*(x * y for x, y in zip(row, keep, strict=True))) for row in self.B.rows))
        return ArticulatedInertia(self.M, flat, _kept(self.J, keep))

    def minus_dyad(self, left: Sequence[Force], right: Sequence[Force]) -> ArticulatedInertia:
        """Subtract the symmetric matrix sum_k left_k right_k^T."""
        M, B, J = list(self.M), [list(row) for row in self.B.rows], list(self.J)
        for a, b in zip(left, right, strict=True):
            for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
                M[k] = M[k] - a.linear[i] * b.linear[j]
                J[k] = J[k] - a.angular[i] * b.angular[j]
            for i in range(3):
                for j in range(3):
                    B[i][j] = B[i][j] - a.linear[i] * b.angular[j]
        return ArticulatedInertia(Symmetric(*M), Matrix(*(Vector(*row) for row in B)), Symmetric(*J))


def _kept(J: Symmetric, keep: Sequence[int]) -> Symmetric:
    x, y, z = keep
    return Symmetric(x * J.xx, x * y * J.xy, x * z * J.xz, y * J.yy, y * z * J.yz, z * J.zz)
