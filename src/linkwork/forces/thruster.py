"""Thrusters and rotors: forces by command, in directions that turn with the robot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..errors import ModelError
from ..scalar import Scalar, absolute
from ..spatial import Force, Motion, Pose, Vector
from .fields import direction, tidy


@dataclass(frozen=True)
class Thruster:
    """At the frame's origin: the force u along ``axis``, where u is its command, in newtons, of either sign.

    axis  in the frame, of any length but zero: only its direction counts
    """

    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)

    commands: ClassVar[dict[str, str]] = {"force": "N"}

    def __post_init__(self):
        tidy(self)
        direction(self, "axis")

    def __call__(self, pose: Pose, velocity: Motion, commands: Sequence[Scalar]) -> Force:
        return Force(Vector(*self.axis) * (commands[0] / math.hypot(*self.axis)))


@dataclass(frozen=True)
class Rotor:
    """A propeller that turns about z of its frame and pushes along it, with thrust T.

    The air holds against its turning, and the motor hands this drag torque on to the robot: -spin drag T about z. So a
    rotor that turns to the left (seen against z, spin = 1) turns the robot to the right. Without ``thrust`` the command
    is T itself, in newtons; with it, it is the speed u in rad/s, and T = thrust u |u|. The rotor's own inertia is that
    of the link it sits on; what its angular momentum does when the robot turns is left out.

    drag    m, torque per thrust
    spin    1: it turns to the left about z (counterclockwise seen from the tip of z); -1: to the right
    thrust  N s^2, per squared speed; 0: the command is the thrust
    """

    drag: float = 0.0
    spin: float = 1.0
    thrust: float = 0.0

    def __post_init__(self):
        tidy(self, signed=("spin",))
        if abs(self.spin) != 1:
            raise ModelError("out of range", where="Rotor.spin", got=self.spin, expected="1 or -1")

    @property
    def commands(self) -> dict[str, str]:
        return {"speed": "rad/s"} if self.thrust else {"thrust": "N"}

    def __call__(self, pose: Pose, velocity: Motion, commands: Sequence[Scalar]) -> Force:
        (u,) = commands
        T = self.thrust * u * absolute(u) if self.thrust else u
        return Force(Vector(0, 0, T), Vector(0, 0, (-self.spin * self.drag) * T))
