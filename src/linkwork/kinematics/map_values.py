"""Values of maps: for many positions q at once, how well a frame moves there and what it can carry.

``VALUES`` has a maker for each quantity of ``Robot.workspace``. It takes the robot, the name of the frame, the length
of a rad in m and some positions, and returns a function from q (n, nq) to values (n,).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UnsupportedError, at_door, warn_caller
from ..workspace import Workspace

WHERE = "workspace"
TINY = 1e-300
RANK = 1e-9  # singular values below this share of the largest count as zero

Value = Callable[[np.ndarray], np.ndarray]
Maker = Callable[[Workspace, str, float, np.ndarray], Value]


@dataclass(frozen=True)
class Quantity:
    """A quantity of maps: its meaning, its unit, and what makes its function of positions."""

    meaning: str
    unit: str
    make: Maker


def reach(*_: Any) -> Value:
    """Return a function that is 1 everywhere: the samples themselves are the map."""
    return lambda q: np.ones(len(q))


def conditioning(robot: Workspace, frame: str, length: float, some: np.ndarray) -> Value:
    """Return the inverse condition number of the Jacobian by the motors; 0 where it does not exist.

    The smallest singular value that counts is that of the rank at some positions: a planar arm is not singular for want
    of a third direction.
    """
    jacobian = _motor_jacobian(robot, frame)

    def sizes(q: np.ndarray) -> np.ndarray:
        J = jacobian(q)
        J = np.concatenate([J[:, :3], length * J[:, 3:]], axis=1) if length else J[:, :3]
        return np.linalg.svd(np.where(np.isfinite(J).all(axis=(1, 2), keepdims=True), J, 0.0), compute_uv=False)

    general = sizes(some)
    rank = int((general > RANK * general[:, :1]).sum(axis=1).max(initial=1))

    def value(q: np.ndarray) -> np.ndarray:
        each = sizes(q)
        return each[:, rank - 1] / np.maximum(each[:, 0], TINY)

    return value


def payload(robot: Workspace, frame: str, *_: Any) -> Value:
    """Return the largest mass at the origin of the frame that the motors hold at rest, in kg.

    The forces are h + m w: h holds the robot, w the weight of a unit mass. Each motor with the limit L allows masses up
    to (L - h) / w, or (L + h) / -w. The mass is 0 where the motors cannot hold the robot alone.
    """
    gravity = np.array([*robot.model.gravity], float)
    if not gravity.any():
        raise UnsupportedError(
            "without gravity there is no largest payload", where=f"{WHERE}, robot {robot.model.name!r}",
            fix=f"load it with {at_door('gravity=(0, 0, -9.81)', '--gravity 0,0,-9.81')}, or map the force",
        )  # fmt: skip
    jacobian, holding, limits = _motor_jacobian(robot, frame), _holding(robot), _effort_limits(robot)

    def value(q: np.ndarray) -> np.ndarray:
        return _largest(holding(q), -np.einsum("nij,i->nj", jacobian(q)[:, :3], gravity), limits)

    return value


def force(robot: Workspace, frame: str, *_: Any) -> Value:
    """Return the largest force at the origin of the frame that the motors withstand from every direction, in N.

    A force F of the frame takes J^T F. The largest that one motor gives in its worst direction is its limit, less what
    holds the robot, over the length of its column of J.
    """
    jacobian, holding, limits = _motor_jacobian(robot, frame), _holding(robot), _effort_limits(robot)
    return lambda q: _largest(np.abs(holding(q)), np.linalg.norm(jacobian(q)[:, :3], axis=1), limits)


VALUES = {
    "reach": Quantity("reach", "", reach),
    "dexterity": Quantity("share of the orientations that are reached", "", reach),
    "conditioning": Quantity("inverse condition number", "", conditioning),
    "payload": Quantity("largest payload held at rest", "kg", payload),
    "force": Quantity("largest force in every direction", "N", force),
}


def _largest(holding: np.ndarray, unit: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return the largest x >= 0 with |holding + x unit| <= limits, or 0."""
    with np.errstate(all="ignore"):
        room = np.where(unit > 0, limits - holding, limits + holding) / np.abs(unit)
    most = np.where(unit == 0, np.inf, room).min(axis=1)
    return np.where((np.abs(holding) <= limits).all(axis=1), most, 0.0)


def _motor_jacobian(robot: Workspace, frame: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function of q: the Jacobian (n, 6, motors) in world axes; in loops, by the velocities of the motors."""
    model, jacobian = robot.model, robot.compiled("jacobian", frame=frame)
    motors = list(model.mobility.motors)
    if motors and not model.constrained:
        return lambda q: jacobian(q)[..., motors]
    rates = robot.compiled("velocity_map")
    if len(motors) != len(model.mobility.independent):
        raise UnsupportedError(
            "the Jacobian by the motors needs a motor for each degree of freedom",
            where=f"{WHERE}, robot {model.name!r}",
            got=f"{len(motors)} motors, {len(model.mobility.independent)} degrees of freedom",
            fix="change the roles of joints, or map the reach",
        )

    def by_motors(q: np.ndarray) -> np.ndarray:
        J, A = jacobian(q), rates(q)[:, motors]
        singular = ~(np.abs(np.linalg.det(A)) > 0)
        A[singular] = np.eye(len(motors))
        solved = np.linalg.solve(A.swapaxes(1, 2), J.swapaxes(1, 2)).swapaxes(1, 2)
        solved[singular] = np.nan
        return solved

    return by_motors


def _holding(robot: Workspace) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function of q: the forces of the motors (n, motors) at rest."""
    model, dynamics = robot.model, robot.compiled("inverse_dynamics")
    rest = [np.zeros(len(model.mobility.independent))] * 2 + [np.zeros(model.commands.size)] * bool(model.commands.size)
    return lambda q: dynamics(q, *rest)


def _effort_limits(robot: Workspace) -> np.ndarray:
    """Return the limits of the motors (motors,); infinite where there are none."""
    model = robot.model
    if model.mobility.free:
        names = dict.fromkeys(model.coordinates.joint_of(k).name for k in model.mobility.free)
        raise UnsupportedError(
            "some joints have no motors that hold them", where=f"{WHERE}, robot {model.name!r}", got=", ".join(names),
            fix="lock them, or mark them active",
        )  # fmt: skip
    limits = np.array([model.coordinates.joint_of(k).effort_limit for k in model.mobility.forced])
    if not np.isfinite(limits).any():
        raise UnsupportedError(
            "the motors have no effort limits", where=f"{WHERE}, robot {model.name!r}",
            fix="write them in the file"
            + at_door(', or robot.with_drives({"joint": {"effort_limit": 100}})', " (effort: of the joint's limits)"),
        )  # fmt: skip
    if np.isinf(limits).any():
        names = [model.coordinates.joint_of(k).name for k in np.array(model.mobility.forced)[np.isinf(limits)]]
        warn_caller(f"{WHERE}: joints without an effort limit hold any load: {', '.join(names)}")
    return limits
