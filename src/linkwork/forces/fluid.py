"""Lift and drag of a plate, buoyancy: what a fluid does to bodies that are small against its currents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..scalar import sqrt
from ..spatial import Force, Motion, Pose, Vector
from .drag import TINY
from .fields import tidy


@dataclass(frozen=True)
class Plate:
    """A thin flat plate with its normal along z of the frame, whose origin is where the fluid's force acts.

    It moves through the fluid with velocity u = v - wind, at the angle of attack alpha between u and the plate,
    sin alpha = u_z / |u|. The force across it is -(density / 2) area lift |u| u_z along z, and against its motion acts
    -(density / 2) area drag |u| u. So in the usual terms, of lift across u and drag along it,

      C_L = lift sin(alpha) cos(alpha)        C_D = drag + lift sin(alpha)^2

    area     m^2
    density  kg/m^3, of the fluid: air if nothing is said
    lift     slope of the force across: 2 of a plate at any angle, 2 pi of a long thin wing at small ones
    drag     of the plate along its own plane, from friction
    wind     m/s, velocity of the fluid in the world
    """

    area: float
    density: float = 1.225
    lift: float = 2.0
    drag: float = 0.0
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self):
        tidy(self, positive=("area", "density"))

    def __call__(self, pose: Pose, velocity: Motion) -> Force:
        u = velocity.linear - pose.inward(Vector(*self.wind))
        pressure = (-0.5 * self.density * self.area) * sqrt(u.dot(u) + TINY)
        return Force(u * (self.drag * pressure) + Vector(0, 0, self.lift * pressure * u.z))


@dataclass(frozen=True)
class Buoyancy:
    """Of a body all of which is in a fluid: the weight of the fluid in its place, upward, -density volume g, where g is
    the robot's gravity. It acts at ``center``, the middle of the volume.

    volume   m^3
    density  kg/m^3, of the fluid: water if nothing is said
    center   m, in the frame
    """

    volume: float
    density: float = 1000.0
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    takes_gravity: ClassVar[bool] = True

    def __post_init__(self):
        tidy(self, positive=("volume", "density"))

    def __call__(self, pose: Pose, velocity: Motion, *, gravity: Vector) -> Force:
        push = pose.inward(gravity) * (-self.density * self.volume)
        return Force(push, Vector(*self.center).cross(push))
