"""Thrusters and rotors: forces by command, in directions that turn with the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..model.element import Mark, number
from ..scalar import Scalar, absolute, is_zero
from ..spatial import Force, Motion, Pose, Vector
from .law import ForceLaw, direction, length_of, nonnegative


@dataclass(frozen=True)
class Thruster(ForceLaw, name="thruster"):
    """A thruster at the frame's origin: the force u along ``axis``, where u is its command in N, of either sign.

    Args:
        axis: in the frame, of any length except zero: only its direction counts.

    Example:
        >>> linkwork.forces.Thruster(axis=(1, 0, 0)).axis
        (1.0, 0.0, 0.0)
    """

    axis: tuple[float, float, float] = direction()

    commands: ClassVar[dict[str, str]] = {"force": "N"}

    @property
    def mark(self) -> Mark:
        """A nozzle along its axis."""
        return Mark("nozzle", self.axis)

    def __call__(self, pose: Pose, velocity: Motion, commands: Sequence[Scalar]) -> Force:
        return Force(Vector(*self.axis) * (commands[0] / length_of(self.axis)))


@dataclass(frozen=True)
class Rotor(ForceLaw, name="rotor"):
    """A propeller that turns about z of its frame and pushes along z with thrust T.

    The drag of the air on the propeller acts on the robot as the torque -spin drag T about z: a rotor that turns
    counterclockwise (spin = 1) turns the robot clockwise. Without ``thrust`` the command is T itself, in N; with it the
    command is the speed u in rad/s, and T = thrust u |u|. The rotor's inertia is that of the link it sits on; the
    gyroscopic moment of the turning propeller is left out.

    Args:
        drag: torque per thrust, m.
        spin: 1 if it turns counterclockwise seen from the tip of z, -1 if clockwise.
        thrust: thrust per squared speed, N s^2; default 0: the command is the thrust.

    Example:
        >>> linkwork.forces.Rotor(drag=0.02, thrust=1e-5).commands
        {'speed': 'rad/s'}
    """

    drag: float = nonnegative(0.0, "m")
    spin: float = number(1.0, among=(1.0, -1.0))
    thrust: float = nonnegative(0.0, "N s^2", switch=True)

    @property
    def commands(self) -> dict[str, str]:
        """Its command and the unit: speed in rad/s, or thrust in N."""
        return {"speed": "rad/s"} if not is_zero(self.thrust) else {"thrust": "N"}

    @property
    def mark(self) -> Mark:
        """A propeller."""
        return Mark("propeller")

    def __call__(self, pose: Pose, velocity: Motion, commands: Sequence[Scalar]) -> Force:
        (u,) = commands
        T = self.thrust * u * absolute(u) if not is_zero(self.thrust) else u
        return Force(Vector(0, 0, T), Vector(0, 0, (-self.spin * self.drag) * T))
