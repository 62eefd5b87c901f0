"""Forces of a fluid: drag and added mass of slender links, lift and drag of plates, buoyancy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NoReturn

import numpy as np

from ..errors import ModelError
from ..model.element import positive, whole
from ..renamed import refuse
from ..scalar import is_zero, sign, sqrt
from ..spatial import ArticulatedInertia, Force, Matrix, Motion, Pose, Symmetric, Vector
from .law import TINY, ForceLaw, nonnegative, vector

NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Drag(ForceLaw, name="drag"):
    """Drag on a slender link along x of its frame, from the origin to x = ``length``, by resistive theory.

    The section at x moves through the fluid with velocity u(x) = v + w x (x, 0, 0) - current. Per metre the drag is
    -(c_axial + k_axial |u_x|) u_x along the link and -(c_normal + k_normal |u_n|) u_n across it, u_n = (u_y, u_z).
    Force and moment are their integrals. Rotation about the link's axis has no drag.

    Args:
        length: of the link, m.
        c_axial: linear coefficient along the link, per metre of it, N s/m^2.
        c_normal: linear coefficient across the link, per metre, N s/m^2.
        k_axial: quadratic coefficient along the link, N s^2/m^3: density / 2 * coefficient * circumference.
        k_normal: quadratic coefficient across the link, N s^2/m^3: density / 2 * coefficient * thickness.
        current: velocity of the fluid in the world, m/s.
        points: of the Gauss-Legendre rule, 2 to 16. Force and moment are exact without k_normal, and where the flow
            across comes from one side along the whole link. Where it changes sides, the part of k_normal is off by at
            most 1 per cent (of flow from one side) with 3 points, 1e-4 with 16.

    Example:
        >>> wet = robot.with_forces({"panda_link4": linkwork.forces.Drag(length=0.3, k_normal=50.0)})
        >>> wet.inverse_dynamics(robot.home, np.ones(7), np.zeros(7)).shape
        (7,)
    """

    length: float = positive(unit="m")
    c_axial: float = nonnegative(0.0, "N s/m^2")
    c_normal: float = nonnegative(0.0, "N s/m^2")
    k_axial: float = nonnegative(0.0, "N s^2/m^3")
    k_normal: float = nonnegative(0.0, "N s^2/m^3")
    current: tuple[float, float, float] = vector(NONE, "m/s")
    points: int = whole(3, least=2, most=16)

    def __call__(self, pose: Pose, velocity: Motion) -> Force:
        v, w = velocity.linear - pose.inward(Vector(*self.current)), velocity.angular
        axial = -self.length * (self.c_axial + self.k_axial * (v.x * sign(v.x))) * v.x
        force, moment = Vector(axial), Vector()
        for at, weight in _rule(2 if is_zero(self.k_normal) else self.points):
            x = at * self.length
            y, z = v.y + w.z * x, v.z - w.y * x
            speed = sqrt(y * y + z * z + TINY)
            density = -(weight * self.length) * (self.c_normal + self.k_normal * speed)
            y, z = density * y, density * z
            force += Vector(0, y, z)
            moment += Vector(0, -x * z, x * y)
        return Force(force, moment)


@cache
def _rule(points: int) -> list[tuple[float, float]]:
    """Return the points and weights of the Gauss-Legendre rule between 0 and 1."""
    at, weights = np.polynomial.legendre.leggauss(points)
    return list(zip(((1 + at) / 2).tolist(), (weights / 2).tolist(), strict=True))


@dataclass(frozen=True)
class AddedMass(ForceLaw, name="added_mass"):
    """Added mass: the fluid at rest that a body with three planes of symmetry accelerates with itself.

    The planes are those of the frame through ``center``. The fluid has the kinetic energy 1/2 V^T A V of the frame's
    velocity V = (v, w), and by Kirchhoff's equations it takes the force A V' + V x* A V, where V' are the rates of the
    components of V. It has inertia but no weight, and its inertia differs between the axes: a body that does not move
    along one of them feels Munk's moment v x p. As a force law this is -V x* A V alone; A V' is inertia and part of M.

    Args:
        mass: along x, y and z, kg.
        inertia: about axes through the centre, kg m^2.
        center: in the frame, m.

    Example:
        >>> linkwork.forces.AddedMass(mass=(0, 2, 2), center=(0.1, 0, 0)).mass
        (0.0, 2.0, 2.0)
    """

    mass: tuple[float, float, float] = vector(NONE, "kg", least=0)
    inertia: tuple[float, float, float] = vector(NONE, "kg m^2", least=0)
    center: tuple[float, float, float] = vector(NONE, "m")

    @staticmethod
    def slender(length: float, width: float, height: float, density: float = 1000.0) -> AddedMass:
        """Return the added mass of a slender link along x of its frame, with elliptic sections, by strip theory.

        A section that moves along y carries density pi (height / 2)^2 per metre (kg/m): the circle over its extent
        across that motion. Along z likewise; along x nothing.

        Args:
            length: of the link, from the origin to x = ``length``, m.
            width: of the sections, along y, m.
            height: of the sections, along z, m.
            density: of the fluid, kg/m^3; default: water.

        Returns:
            The added mass, with its centre in the middle of the link.

        Raises:
            ModelError: if an argument is not positive and finite.

        Example:
            >>> linkwork.forces.AddedMass.slender(1.0, 0.1, 0.1).center
            (0.5, 0.0, 0.0)
        """
        for name, value in (("length", length), ("width", width), ("height", height), ("density", density)):
            if not 0 < value < math.inf:
                raise ModelError("out of range", where=f"AddedMass.slender, {name}", got=value, expected="above zero")
        y, z = (density * math.pi * across**2 / 4 * length for across in (height, width))
        roll = density * math.pi * (width**2 - height**2) ** 2 / 128 * length
        return AddedMass((0.0, y, z), (roll, z * length**2 / 12, y * length**2 / 12), (length / 2, 0.0, 0.0))

    def __getattr__(self, name: str) -> NoReturn:
        refuse("AddedMass", name)

    @property
    def added_inertia(self) -> ArticulatedInertia:
        """The matrix A at the frame's origin."""
        (x, y, z), (a, b, c) = self.mass, self.inertia
        central = ArticulatedInertia(Symmetric(x, 0, 0, y, 0, z), Matrix.zero(), Symmetric(a, 0, 0, b, 0, c))
        return Pose(Matrix.identity(), Vector(*self.center)).articulated_outward(central)

    def __call__(self, pose: Pose, velocity: Motion) -> Force:
        return -velocity.cross_force(self.added_inertia @ velocity)


@dataclass(frozen=True)
class Plate(ForceLaw, name="plate"):
    """Lift and drag of a thin flat plate with its normal along z of the frame; the force acts at the frame's origin.

    The plate moves through the fluid with velocity u = v - wind, at the angle of attack alpha between u and the plate:
    sin alpha = u_z / |u|. The force along z is -(density / 2) area lift |u| u_z, and against the motion acts
    -(density / 2) area drag |u| u. In the usual coefficients, of lift across u and drag along it,

      C_L = lift sin(alpha) cos(alpha)        C_D = drag + lift sin(alpha)^2

    Args:
        area: of the plate, m^2.
        density: of the fluid, kg/m^3; default: air.
        lift: slope of the normal force: 2 for a plate at any angle, 2 pi for a long thin wing at small angles.
        drag: coefficient along the plate, from friction.
        wind: velocity of the fluid in the world, m/s.

    Example:
        >>> linkwork.forces.Plate(area=0.02).density
        1.225
    """

    area: float = positive(unit="m^2")
    density: float = positive(1.225, unit="kg/m^3")
    lift: float = nonnegative(2.0)
    drag: float = nonnegative(0.0)
    wind: tuple[float, float, float] = vector(NONE, "m/s")

    def __call__(self, pose: Pose, velocity: Motion) -> Force:
        u = velocity.linear - pose.inward(Vector(*self.wind))
        pressure = (-0.5 * self.density * self.area) * sqrt(u.dot(u) + TINY)
        return Force(u * (self.drag * pressure) + Vector(0, 0, self.lift * pressure * u.z))


@dataclass(frozen=True)
class Buoyancy(ForceLaw, name="buoyancy"):
    """Buoyancy of a submerged body: the force -density volume g at ``center``, where g is the robot's gravity.

    Args:
        volume: of the body, m^3.
        density: of the fluid, kg/m^3; default: water.
        center: centre of the volume in the frame, m.

    Example:
        >>> linkwork.forces.Buoyancy(volume=1e-3).density
        1000.0
    """

    volume: float = positive(unit="m^3")
    density: float = positive(1000.0, unit="kg/m^3")
    center: tuple[float, float, float] = vector(NONE, "m")

    takes_gravity: ClassVar[bool] = True

    def __call__(self, pose: Pose, velocity: Motion, *, gravity: Vector) -> Force:
        push = pose.inward(gravity) * (-self.density * self.volume)
        return Force(push, Vector(*self.center).cross(push))
