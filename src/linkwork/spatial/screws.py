"""Motions, forces, inertias, and the transforms that carry them between the frames of neighbouring bodies.

Order and signs, once for the whole package:

- Motion(linear, angular): velocity of the frame's origin and angular velocity, components in the frame.
- Force(linear, angular): force and moment about the frame's origin, components in the frame.
- Inertia(mass, h, J): mass, first moments m c, inertia about the frame's origin.
- A transform places an inner (child) frame in an outer (parent) frame. Motions go outer to inner, forces and
  inertias inner to outer.

A transform is a chain of elementary screws, each a turn about and a shift along the same x or z axis. In modified
Denavit-Hartenberg frames a joint is two of them, ``Rx(alpha) Tx(d)`` and ``Rz(theta) Tz(r)``. Applying them one
after another is what makes a rotated vector cost 8 multiplications and 4 additions (4 and 2 at a right angle).
"""

from __future__ import annotations

from ..scalar import Scalar, is_zero
from .vectors import Matrix, Symmetric, Vector, steiner, turn, turn_back, turn_matrix, turn_symmetric


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

    def minus_dyad(self, left: list[Force], right: list[Force]) -> ArticulatedInertia:
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

    def turn(self, v: Vector) -> Vector:
        return turn(self.axis, self.c, self.s, v)

    def turn_back(self, v: Vector) -> Vector:
        return turn_back(self.axis, self.c, self.s, v)

    def motion_inward(self, m: Motion) -> Motion:
        shifted = m.linear - self.t * self.across(m.angular)  # w x (t e) = -t e x w
        return Motion(self.turn_back(shifted), self.turn_back(m.angular))

    def force_outward(self, f: Force) -> Force:
        force = self.turn(f.linear)
        return Force(force, self.turn(f.angular) + self.t * self.across(force))

    def inertia_outward(self, inertia: Inertia) -> Inertia:
        """Parallel axes: with p = t e and u = h + m p / 2, J grows by 2 (p.u) 1 - p u^T - u p^T."""
        m, t = inertia.mass, self.t
        h, J = self.turn(inertia.h), turn_symmetric(self.axis, self.c, self.s, inertia.J)
        u = h + self.along(m * t * 0.5)
        if self.axis == "x":
            grow = 2 * t * u.x
            shift = Symmetric(0, -t * u.y, -t * u.z, grow, 0, grow)
        else:
            grow = 2 * t * u.z
            shift = Symmetric(grow, 0, -t * u.x, grow, -t * u.y, 0)
        return Inertia(m, h + self.along(m * t), J + shift)

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


class Transform:
    """A chain of screws from the outer to the inner frame."""

    __slots__ = ("screws",)

    def __init__(self, *screws: Screw):
        self.screws = screws

    @property
    def origin(self) -> Vector:
        """The inner frame's origin in outer components."""
        p = Vector()
        for screw in reversed(self.screws):
            p = screw.turn(p) + screw.along(screw.t)
        return p

    def outward(self, v: Vector) -> Vector:
        """Turn a vector's components from the inner to the outer frame."""
        for screw in reversed(self.screws):
            v = screw.turn(v)
        return v

    def inward(self, v: Vector) -> Vector:
        for screw in self.screws:
            v = screw.turn_back(v)
        return v

    def tensor_outward(self, J: Symmetric) -> Symmetric:
        """R J R^T: turn a tensor's components from the inner to the outer frame."""
        for screw in reversed(self.screws):
            J = turn_symmetric(screw.axis, screw.c, screw.s, J)
        return J

    def arm_inward(self, s: Vector) -> Vector:
        """R^T (s + origin): the arm ``s`` to the outer origin continued to the inner one, in inner components."""
        for screw in self.screws:
            s = screw.turn_back(s + screw.along(screw.t))
        return s

    def motion_inward(self, m: Motion) -> Motion:
        for screw in self.screws:
            m = screw.motion_inward(m)
        return m

    def force_outward(self, f: Force) -> Force:
        for screw in reversed(self.screws):
            f = screw.force_outward(f)
        return f

    def inertia_outward(self, inertia: Inertia) -> Inertia:
        for screw in reversed(self.screws):
            inertia = screw.inertia_outward(inertia)
        return inertia

    def articulated_outward(self, A: ArticulatedInertia) -> ArticulatedInertia:
        for screw in reversed(self.screws):
            A = screw.articulated_outward(A)
        return A
