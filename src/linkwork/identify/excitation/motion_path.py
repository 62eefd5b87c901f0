"""Motion of the whole robot, given that of the joints of a series, and gradients back; also for closed loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import LOCK, LinkworkError, UnsupportedError, at_door
from ...model import Model

if TYPE_CHECKING:
    from ...robot import Robot

NONE = np.zeros((0, 0, 0))


@dataclass
class RobotMotion:
    """A motion at some times.

    Attributes:
        x, xd, xdd: Positions, velocities and accelerations of the series' joints, (N, n).
        q, v, a: Those of the robot.
        G: Velocities of all joints per independent one; empty if there are no loops.
    """

    x: np.ndarray
    xd: np.ndarray
    xdd: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    G: np.ndarray


@dataclass
class Slopes:
    """Derivatives of one number with respect to a ``RobotMotion``; those for q are along the independent velocities."""

    x: np.ndarray
    xd: np.ndarray
    xdd: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    @staticmethod
    def zeros(motion: RobotMotion) -> Slopes:
        return Slopes(*(np.zeros(like.shape) for like in 3 * (motion.x,) + 3 * (motion.v,)))


@dataclass(eq=False)
class Path:
    """A ``robot`` moved by the series of some joints.

    Their ``freedoms`` are indices among the velocities of all non-mimic joints; ``places`` are those in q, and
    ``middle`` their positions at home, or zero.
    """

    robot: Robot
    freedoms: tuple[int, ...] = field(init=False)

    def __post_init__(self):
        _refuse(self.robot)
        model = self.robot.model
        if model.n_configuration > model.nv:
            raise UnsupportedError(
                "a series of joint positions does not determine the position of a robot on wheels",
                where=f"robot {self.robot.name!r}",
                fix="drive it by a motion of your own, and identify it from that recording",
            )
        motors = model.mobility.motors
        self.freedoms = model.mobility.independent
        if model.constrained and len(motors) == model.nv and self._determined_by(motors):
            self.freedoms = motors

    @property
    def model(self) -> Model:
        return self.robot.model

    def _determined_by(self, motors: tuple[int, ...]) -> bool:
        """Return whether the motors determine all positions, and are not the independent joints themselves."""
        try:
            self.robot.assemble(np.array(self.model.home)[self.model.motor_places()], known=self.robot.motor_names)
        except LinkworkError:
            return False
        return motors != self.model.mobility.independent

    @cached_property
    def independent(self) -> bool:
        """Whether the series' joints are the independent ones."""
        return self.freedoms == self.model.mobility.independent

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self.model.coordinates.of_freedoms(self.freedoms).names

    @cached_property
    def places(self) -> list[int]:
        places = [self.model.coordinates.position_of(k) for k in self.freedoms]
        if None in places:
            joint = self.model.coordinates.joint_of(self.freedoms[places.index(None)])
            raise UnsupportedError(
                "a series can only move joints whose position is one number",
                where=f"robot {self.robot.name!r}, joint {joint.name!r}",
                got=f"a {joint.kind.name} joint",
                fix=f"lock it: {at_door(*LOCK)}; in a robot with loops, let as many motors as there are dofs determine "
                "its position",
            )
        return [place for place in places if place is not None]

    @cached_property
    def turning(self) -> list[bool]:
        """Which of these joints turn, not slide."""
        return [unit == "rad/s" for unit in self.model.coordinates.of_freedoms(self.freedoms).units]

    @cached_property
    def middle(self) -> np.ndarray:
        return np.array(self.model.home or self.model.coordinates.neutral())[self.places]

    def at(self, x: np.ndarray, xd: np.ndarray, xdd: np.ndarray) -> RobotMotion | None:
        """Return the motion of the robot, None if the loops cannot be closed in the assembly mode of home."""
        if not self.model.constrained:
            return RobotMotion(x, xd, xdd, x, xd, xdd, NONE)
        assembly = self.robot.assemble(x, known=None if self.independent else self.names)
        if not np.all(assembly.solved):
            return None
        q = assembly.q
        G = self.robot.velocity_map(q)
        if self.independent:
            return RobotMotion(x, xd, xdd, q, xd, xdd, G)
        J = G[:, list(self.freedoms)]
        v = np.linalg.solve(J, xd[..., None])[..., 0]
        drift = self.robot.joint_accelerations(q, v, np.zeros_like(v))[:, list(self.freedoms)]
        return RobotMotion(x, xd, xdd, q, v, np.linalg.solve(J, (xdd - drift)[..., None])[..., 0], G)

    def pulled(self, motion: RobotMotion, by: Slopes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pull derivatives with respect to the whole motion back to x, xd and xdd.

        Where the series' joints are dependent, J v = xd and J a + drift = xdd determine v and a, and thus the way back.
        """
        if self.independent:
            return by.x + by.q, by.xd + by.v, by.xdd + by.a
        J = np.swapaxes(motion.G[:, list(self.freedoms)], 1, 2)

        def back(bar: np.ndarray) -> np.ndarray:
            return np.linalg.solve(J, bar[..., None])[..., 0]

        xdd_bar = back(by.a)
        by_q, by_v = self._accelerations(motion.q, motion.v, motion.a, self.among_all(self.freedoms, xdd_bar))
        xd_bar = back(by.v - by_v)
        x_bar = back(by.q - by_q - self._velocities(motion.q, motion.v, self.among_all(self.freedoms, xd_bar)))
        return by.x + x_bar, by.xd + xd_bar, by.xdd + xdd_bar

    def among_all(self, freedoms: Sequence[int], values: np.ndarray) -> np.ndarray:
        """Return values of some velocities (N, m) among those of all non-mimic joints, the others zero."""
        all_values = np.zeros((len(values), self.model.coordinates.nv))
        all_values[:, list(freedoms)] = values
        return all_values

    @cached_property
    def _accelerations(self) -> Any:
        return self.robot.joint_accelerations.vjp(("q", "v"))

    @cached_property
    def _velocities(self) -> Any:
        return self.robot.joint_velocities.vjp("q")


def _refuse(robot: Robot) -> None:
    model = robot.model
    if model.moving_base:
        raise UnsupportedError(
            "a floating base moves as the joints push it, so its motion cannot be chosen",
            where=f"robot {robot.name!r}",
            fix="plan for the robot held at its base: " + at_door('linkwork.load(..., base="fixed")', "--base fixed"),
        )
    if model.mobility.free:
        loose = ", ".join(model.names_of(model.mobility.free)) or "a floating body"
        raise UnsupportedError(
            "the motion of joints without a motor cannot be chosen",
            where=f"robot {robot.name!r}",
            got=f"no motor moves {loose}",
            fix=f"plan for the robot with these joints held: {at_door(*LOCK)}",
        )
    if not model.nv:
        raise UnsupportedError("the robot has no joints to move", where=f"robot {robot.name!r}")
