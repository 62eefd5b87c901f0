"""From the joints that a series moves to the whole robot, and gradients the way back; along closed loops, too."""

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
class Moved:
    """At some times: positions ``x``, velocities and accelerations of the series' joints, (N, n); ``q``, ``v``, ``a``
    of the robot. ``G``: velocities of all joints per independent one; empty if there are no loops."""

    x: np.ndarray
    xd: np.ndarray
    xdd: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    G: np.ndarray


@dataclass
class Slopes:
    """Of one number by what a ``Moved`` has; those by q are along the independent velocities."""

    x: np.ndarray
    xd: np.ndarray
    xdd: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray

    @staticmethod
    def zeros(moved: Moved) -> Slopes:
        return Slopes(*(np.zeros(like.shape) for like in 3 * (moved.x,) + 3 * (moved.v,)))


@dataclass(eq=False)
class Path:
    """``robot`` moved by the series of some joints: ``names``, ``freedoms`` among the velocities of all leading joints,
    and ``places`` in q. ``middle``: where these joints are at home, or zero."""

    robot: Robot
    freedoms: tuple[int, ...] = field(init=False)

    def __post_init__(self):
        _refuse(self.robot)
        model = self.robot.model
        if model.n_configuration > model.nv:
            raise UnsupportedError(
                "a series of positions does not tell where a robot that rolls gets to",
                where=f"robot {self.robot.name!r}",
                fix="drive it by a motion of your own, and identify it from what is measured then",
            )
        motors = model.mobility.motors
        self.freedoms = model.mobility.independent
        if model.constrained and len(motors) == model.nv and self._told_by(motors):
            self.freedoms = motors

    @property
    def model(self) -> Model:
        return self.robot.model

    def _told_by(self, motors: tuple[int, ...]) -> bool:
        try:
            self.robot.assemble(np.array(self.model.home)[self.model.motor_places()], known=self.robot.motor_names)
        except LinkworkError:
            return False
        return motors != self.model.mobility.independent

    @cached_property
    def own(self) -> bool:
        """Are the series' joints the independent ones?"""
        return self.freedoms == self.model.mobility.independent

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self.model.coordinates.of_freedoms(self.freedoms).names

    @cached_property
    def places(self) -> list[int]:
        found = [self.model.coordinates.position_of(k) for k in self.freedoms]
        if None in found:
            joint = self.model.coordinates.joint_of(self.freedoms[found.index(None)])
            raise UnsupportedError(
                "a series moves joints whose position is one number",
                where=f"robot {self.robot.name!r}, joint {joint.name!r}",
                got=f"a {joint.kind.name} joint",
                fix=f"lock it: {at_door(*LOCK)}; of a robot with loops, let as many motors as there are freedoms "
                "determine its position",
            )
        return [place for place in found if place is not None]

    @cached_property
    def turning(self) -> list[bool]:
        """Which of these joints turn, and do not shift?"""
        return [unit == "rad/s" for unit in self.model.coordinates.of_freedoms(self.freedoms).units]

    @cached_property
    def middle(self) -> np.ndarray:
        return np.array(self.model.home or self.model.coordinates.neutral())[self.places]

    def at(self, x: np.ndarray, xd: np.ndarray, xdd: np.ndarray) -> Moved | None:
        """None if the loops cannot be closed at some of the positions, in the way they are at home."""
        if not self.model.constrained:
            return Moved(x, xd, xdd, x, xd, xdd, NONE)
        found = self.robot.assemble(x, known=None if self.own else self.names)
        if not np.all(found.solved):
            return None
        q = found.q
        G = self.robot.velocity_map(q)
        if self.own:
            return Moved(x, xd, xdd, q, xd, xdd, G)
        J = G[:, list(self.freedoms)]
        v = np.linalg.solve(J, xd[..., None])[..., 0]
        drift = self.robot.joint_accelerations(q, v, np.zeros_like(v))[:, list(self.freedoms)]
        return Moved(x, xd, xdd, q, v, np.linalg.solve(J, (xdd - drift)[..., None])[..., 0], G)

    def pulled(self, moved: Moved, by: Slopes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Slopes by x, xd and xdd, from all. Where the series' joints are dependent, J v = xd and J a + drift = xdd
        tell v and a, and by their slopes the way back."""
        if self.own:
            return by.x + by.q, by.xd + by.v, by.xdd + by.a
        J = np.swapaxes(moved.G[:, list(self.freedoms)], 1, 2)

        def back(bar: np.ndarray) -> np.ndarray:
            return np.linalg.solve(J, bar[..., None])[..., 0]

        xdd_bar = back(by.a)
        by_q, by_v = self._accelerations(moved.q, moved.v, moved.a, self.among_all(self.freedoms, xdd_bar))
        xd_bar = back(by.v - by_v)
        x_bar = back(by.q - by_q - self._velocities(moved.q, moved.v, self.among_all(self.freedoms, xd_bar)))
        return by.x + x_bar, by.xd + xd_bar, by.xdd + xdd_bar

    def among_all(self, freedoms: Sequence[int], values: np.ndarray) -> np.ndarray:
        """Values of some velocities (N, m) among those of all leading joints, the others zero."""
        found = np.zeros((len(values), self.model.coordinates.nv))
        found[:, list(freedoms)] = values
        return found

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
            "a floating base moves as the joints push it, so it cannot be told a motion",
            where=f"robot {robot.name!r}",
            fix="plan for the robot held at its base: " + at_door('linkwork.load(..., base="fixed")', "--base fixed"),
        )
    if model.mobility.free:
        loose = ", ".join(model.names_of(model.mobility.free)) or "a floating body"
        raise UnsupportedError(
            "joints without a motor move as they must, so they cannot be told a motion",
            where=f"robot {robot.name!r}",
            got=f"no motor moves {loose}",
            fix=f"plan for the robot with these joints held: {at_door(*LOCK)}",
        )
    if not model.nv:
        raise UnsupportedError("the robot has no joints to move", where=f"robot {robot.name!r}")
