"""Tasks: what inverse kinematics is asked for, such as the pose of a frame. A new task is a new class.

A task holds its targets: arrays with any leading batch axes, or traced arrays inside functions of your own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from ..compose import TracedRobot
from ..errors import ShapeError
from ..formulations.energy import center_of_mass
from ..model.coordinates import real_numbers
from ..program.traced_array import TracedArray, nested_nodes
from ..rotations import TINY, log
from ..scalar.dual import dual, slope_of

ROTATION = 1e-6  # largest entry of R^T R - 1 of a matrix that is taken for a rotation
LAST = np.array([0.0, 0.0, 0.0, 1.0])  # last row of a pose
HALF_TURN = 1e-9  # sine below which opposite directions have no axis of their own


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Base of all tasks.

    Args:
        weight: Factor on the error: a number, or one for each row of the error. Rows of weight 0 are free.
        priority: Tasks of a higher number move only what those of a lower number leave free. Default: 0, and only
            tasks of the lowest number count for ``solved``.

    Example:
        >>> from linkwork.kinematics import Pose
        >>> hand = Pose("panda_link8", np.eye(4), weight=(1, 1, 1, 0.1, 0.1, 0.1))
        >>> hand.priority
        0
    """

    weight: Any = 1.0
    priority: int = 0
    shapes: ClassVar[Mapping[str, tuple[int, ...]]] = {}  # of the targets
    rows: ClassVar[int] = 3  # of the error

    def __post_init__(self) -> None:
        """Check all but the targets, which belong to a robot or are traced."""
        self.weights()
        if isinstance(self.priority, bool) or not isinstance(self.priority, (int, np.integer)):
            raise ShapeError(
                "wrong priority", where=type(self).__name__, got=repr(self.priority), expected="a whole number"
            )
        for name in ("point", "axis"):
            vector = _numbers(getattr(self, name, (1, 1, 1)))
            if vector.shape != (3,) or not np.isfinite(vector).all() or (name == "axis" and not vector.any()):
                expected = "three finite numbers" + ", not all zero" * (name == "axis")
                got = repr(getattr(self, name))
                raise ShapeError(f"wrong {name}", where=type(self).__name__, got=got, expected=expected)

    @property
    def targets(self) -> dict[str, Any]:
        """The targets by name."""
        return {name: getattr(self, name) for name in self.shapes}

    @property
    def key(self) -> tuple[Any, ...]:
        """All but the targets: tasks with equal keys share a compiled function."""
        others = (each.name for each in fields(self) if each.name not in self.shapes)
        return type(self), *(_hashable(getattr(self, name)) for name in others)

    def valid(self) -> np.ndarray:
        """Return for each state of the batch whether the targets make sense.

        Returns:
            True or False (...).
        """
        finite: Any = True
        for name, shape in self.shapes.items():
            finite = finite & np.isfinite(getattr(self, name)).all(axis=tuple(range(-len(shape), 0)))
        return finite & self._makes_sense()

    def weights(self) -> np.ndarray:
        """Return the weight of each row of the error.

        Returns:
            Weights (rows,).

        Raises:
            ShapeError: They are not numbers, zero or more, one for all rows or one for each.
        """
        weights = _numbers(self.weight)
        if weights.shape not in ((), (self.rows,)) or not (np.isfinite(weights) & (weights >= 0)).all():
            expected = f"a finite number, zero or more, or {self.rows} of them"
            raise ShapeError("wrong weight", where=type(self).__name__, got=repr(self.weight), expected=expected)
        return np.broadcast_to(weights, (self.rows,))

    def linearised(self, robot: TracedRobot, q: Any) -> tuple[Any, Any]:
        """Return the weighted error, and its slopes by the velocities of all joints but mimic joints.

        Args:
            robot: The robot inside a function.
            q: Traced positions (nq,).

        Returns:
            Error (rows,) and slopes (rows, velocities), without rows of weight 0.
        """
        w = self.weights()
        keep = np.flatnonzero(w)
        error, J = self._error(robot, q)
        weighted = w[keep] * error[keep]
        if len(keep) < len(w):  # targets of free rows must make sense, too
            weighted = np.where(np.sum(np.abs(error)) < np.inf, weighted, np.nan)
        return weighted, w[keep, None] * J[keep]

    @abstractmethod
    def _error(self, robot: TracedRobot, q: Any) -> tuple[Any, Any]:
        """Return the motion to the target (rows,) in m and rad, and its slopes by the velocities of the joints."""

    def _makes_sense(self) -> Any:
        """Return for each state whether finite targets make sense."""
        return True


@dataclass(frozen=True)
class Pose(Task):
    """The pose of a frame.

    Args:
        frame: Name of a link or frame.
        target: Poses (..., 4, 4) in the world.
        weight: Factor on the error, a number or one for each row. Default: 1.
        priority: Tasks of a lower number come first. Default: 0.

    Example:
        >>> from linkwork.kinematics import Pose
        >>> target = robot.pose("panda_link8", [0.1, -0.5, 0, -2, 0, 1.5, 0.8])
        >>> bool(robot.inverse_kinematics(Pose("panda_link8", target)).solved)
        True
    """

    frame: str
    target: Any
    shapes: ClassVar[Mapping[str, tuple[int, ...]]] = {"target": (4, 4)}
    rows: ClassVar[int] = 6

    def _makes_sense(self) -> Any:
        """Return whether the target is a pose."""
        last = (self.target[..., 3, :] == LAST).all(axis=-1)
        return last & _is_rotation(self.target[..., :3, :3])

    def _error(self, robot: TracedRobot, q: Any) -> tuple[Any, Any]:
        """Return the translation, then the rotation, to the target."""
        T, J = robot.pose(self.frame, q), robot.tree_jacobian(self.frame, q)
        wrong = np.sum(np.abs(self.target[3] - LAST)) > 0  # no pose, but perhaps a transposed one
        shift = np.where(wrong, np.nan, self.target[:3, 3] - T[:3, 3])
        turn, slopes = _turn(self.target[:3, :3], T[:3, :3], J[3:], self.weights()[3:])
        return np.concatenate([shift, turn]), np.concatenate([J[:3], slopes])


@dataclass(frozen=True)
class Position(Task):
    """The position of a point of a frame.

    Args:
        frame: Name of a link or frame.
        target: Positions (..., 3) in the world, in m.
        point: The point in the axes of the frame. Default: its origin.
        weight: Factor on the error, a number or one for each row. Default: 1.
        priority: Tasks of a lower number come first. Default: 0.

    Example:
        >>> from linkwork.kinematics import Position
        >>> result = robot.inverse_kinematics(Position("panda_link8", [0.5, 0.1, 0.4], point=(0, 0, 0.1)))
        >>> bool(result.solved)
        True
    """

    frame: str
    target: Any
    point: Any = (0.0, 0.0, 0.0)
    shapes: ClassVar[Mapping[str, tuple[int, ...]]] = {"target": (3,)}

    def _error(self, robot: TracedRobot, q: Any) -> tuple[Any, Any]:
        """Return the translation to the target."""
        p, J = _point(robot, self.frame, self.point, q)
        return self.target - p, J


@dataclass(frozen=True)
class Orientation(Task):
    """The orientation of a frame.

    Args:
        frame: Name of a link or frame.
        target: Rotation matrices (..., 3, 3).
        weight: Factor on the error, a number or one for each row. Default: 1.
        priority: Tasks of a lower number come first. Default: 0.

    Example:
        >>> from linkwork.kinematics import Orientation
        >>> bool(robot.inverse_kinematics(Orientation("panda_link8", np.diag([1.0, -1, -1]))).solved)
        True
    """

    frame: str
    target: Any
    shapes: ClassVar[Mapping[str, tuple[int, ...]]] = {"target": (3, 3)}

    def _makes_sense(self) -> Any:
        """Return whether the target is a rotation."""
        return _is_rotation(self.target)

    def _error(self, robot: TracedRobot, q: Any) -> tuple[Any, Any]:
        """Return the rotation to the target."""
        T, J = robot.pose(self.frame, q), robot.tree_jacobian(self.frame, q)
        return _turn(self.target, T[:3, :3], J[3:], self.weights())


@dataclass(frozen=True)
class Direction(Task):
    """The direction of an axis of a frame; the rotation about this axis is free.

    Args:
        frame: Name of a link or frame.
        target: Directions (..., 3) in the world, of any length.
        axis: The axis in the frame. Default: z.
        weight: Factor on the error, a number or one for each row. Default: 1.
        priority: Tasks of a lower number come first. Default: 0.

    Example:
        >>> from linkwork.kinematics import Direction, Position
        >>> down = [Position("panda_link8", [0.5, 0, 0.4]), Direction("panda_link8", [0, 0, -1])]
        >>> bool(robot.inverse_kinematics(down).solved)
        True
    """

    frame: str
    target: Any
    axis: Any = (0.0, 0.0, 1.0)
    shapes: ClassVar[Mapping[str, tuple[int, ...]]] = {"target": (3,)}
    rows: ClassVar[int] = 2

    def _makes_sense(self) -> Any:
        """Return whether the target has a length."""
        return self.target.any(axis=-1)

    def _error(self, robot: TracedRobot, q: Any) -> tuple[Any, Any]:
        """Return the two parts across the axis of the shortest rotation to the target."""
        T, J = robot.pose(self.frame, q), robot.tree_jacobian(self.frame, q)
        axis, target = T[:3, :3] @ _unit(np.array(self.axis, float)), _unit(self.target)
        across, turn = _across(axis), np.cross(axis, target)
        sine, cosine = np.sqrt(turn @ turn + TINY), axis @ target
        parts = across @ turn * (np.arctan2(sine, cosine) / sine)
        opposite = (sine < HALF_TURN) & (cosine < 0)  # any axis across will do
        return np.where(opposite, np.array([np.pi, 0.0]), parts), across @ J[3:]


@dataclass(frozen=True)
class OnLine(Task):
    """A point of a frame on a line.

    Args:
        frame: Name of a link or frame.
        through: A point of the line (..., 3) in the world, in m.
        direction: Direction of the line (..., 3), of any length.
        point: The point in the axes of the frame. Default: its origin.
        weight: Factor on the error, a number or one for each row. Default: 1.
        priority: Tasks of a lower number come first. Default: 0.

    Example:
        >>> from linkwork.kinematics import OnLine
        >>> result = robot.inverse_kinematics(OnLine("panda_link8", [0.4, 0, 0.5], [0, 1, 0]))
        >>> robot.pose("panda_link8", result.q)[[0, 2], 3].round(6).tolist()
        [0.4, 0.5]
    """

    frame: str
    through: Any
    direction: Any
    point: Any = (0.0, 0.0, 0.0)
    shapes: ClassVar[Mapping[str, tuple[int, ...]]] = {"through": (3,), "direction": (3,)}
    rows: ClassVar[int] = 2

    def _makes_sense(self) -> Any:
        """Return whether the line has a direction."""
        return self.direction.any(axis=-1)

    def _error(self, robot: TracedRobot, q: Any) -> tuple[Any, Any]:
        """Return the two parts of the distance across the line."""
        p, J = _point(robot, self.frame, self.point, q)
        across = _across(_unit(self.direction))
        return across @ (self.through - p), across @ J


@dataclass(frozen=True)
class OnPlane(Task):
    """A point of a frame on a plane.

    Args:
        frame: Name of a link or frame.
        through: A point of the plane (..., 3) in the world, in m.
        normal: Normal of the plane (..., 3), of any length.
        point: The point in the axes of the frame. Default: its origin.
        weight: Factor on the error, a number or one for each row. Default: 1.
        priority: Tasks of a lower number come first. Default: 0.

    Example:
        >>> from linkwork.kinematics import OnPlane
        >>> result = robot.inverse_kinematics(OnPlane("panda_link8", [0, 0, 0.4], [0, 0, 1]))
        >>> round(float(robot.pose("panda_link8", result.q)[2, 3]), 6)
        0.4
    """

    frame: str
    through: Any
    normal: Any
    point: Any = (0.0, 0.0, 0.0)
    shapes: ClassVar[Mapping[str, tuple[int, ...]]] = {"through": (3,), "normal": (3,)}
    rows: ClassVar[int] = 1

    def _makes_sense(self) -> Any:
        """Return whether the plane has a normal."""
        return self.normal.any(axis=-1)

    def _error(self, robot: TracedRobot, q: Any) -> tuple[Any, Any]:
        """Return the distance along the normal."""
        p, J = _point(robot, self.frame, self.point, q)
        normal = _unit(self.normal)
        return np.stack([normal @ (self.through - p)]), np.stack([normal @ J])


@dataclass(frozen=True)
class CenterOfMass(Task):
    """The centre of mass of all moving bodies.

    Args:
        target: Positions (..., 3) in the world, in m.
        weight: Factor on the error, a number or one for each row. Default: 1.
        priority: Tasks of a lower number come first. Default: 0.

    Example:
        >>> from linkwork.kinematics import CenterOfMass
        >>> result = robot.inverse_kinematics(CenterOfMass(robot.center_of_mass(np.full(7, 0.3))))
        >>> bool(result.solved)
        True
    """

    target: Any
    shapes: ClassVar[Mapping[str, tuple[int, ...]]] = {"target": (3,)}

    def _error(self, robot: TracedRobot, q: Any) -> tuple[Any, Any]:
        """Return the translation to the target."""
        model, at = robot.model, nested_nodes(q)
        n = model.coordinates.nv
        rates = [model.coordinates.rates(at, [int(k == j) for j in range(n)]) for k in range(n)]
        moving = [dual(x, {k: rate[i] for k, rate in enumerate(rates)}) for i, x in enumerate(at)]
        centre = center_of_mass(model, model.expand(moving))
        J = TracedArray([[slope_of(x, k) for k in range(n)] for x in centre])
        return self.target - robot.center_of_mass(q), J


def listed(tasks: Any, where: str) -> list[Task]:
    """Return the tasks of a task or a list of tasks, or raise an error."""
    several = [tasks] if isinstance(tasks, Task) else [*tasks] if isinstance(tasks, (list, tuple)) else []
    if not several or not all(isinstance(task, Task) for task in several):
        expected = "one or several tasks of linkwork.kinematics, such as Pose(frame, target)"
        raise ShapeError("these are not tasks", where=where, got=repr(tasks)[:80], expected=expected)
    return several


def require_shape(value: Any, shape: tuple[int, ...], where: str, batch: bool = False) -> None:
    """Raise an error if an array has another shape; ``batch``: whether it may have further axes before."""
    got = np.shape(value)
    if (got[max(0, len(got) - len(shape)) :] if batch else got) != shape:
        expected = f"({'..., ' * batch}{', '.join(map(str, shape))}{',' * (len(shape) == 1 and not batch)})"
        raise ShapeError("wrong shape", where=where, got=got, expected=expected)


def _numbers(value: Any) -> np.ndarray:
    """Return an array of floats, and one without entries for anything else."""
    try:
        return real_numbers(value, "")
    except ShapeError:
        return np.zeros(0)


def _hashable(value: Any) -> Any:
    return tuple(np.ravel(value).tolist()) if isinstance(value, (list, tuple, np.ndarray)) else value


def _point(robot: TracedRobot, frame: str, point: Any, q: Any) -> tuple[Any, Any]:
    """Return the position of a point of a frame, and its slopes."""
    T, J = robot.pose(frame, q), robot.tree_jacobian(frame, q)
    arm = T[:3, :3] @ np.array(point, float)
    return T[:3, 3] + arm, J[:3] - np.cross(arm, J[3:].T).T


def _unit(x: Any) -> Any:
    return x / np.sqrt(x @ x)


def _across(n: Any) -> Any:
    """Return two unit vectors across a unit vector, as rows (Duff et al. 2017)."""
    x, y, z = n
    side = np.where(z < 0, -1.0, 1.0)
    a = -1.0 / (side + z)
    b = x * y * a
    rows = [[1 + side * x * x * a, side * b, -side * x], [b, side + y * y * a, -y]]
    return np.stack([np.stack(row) for row in rows])


def _turn(target: Any, R: Any, J: Any, weights: np.ndarray) -> tuple[Any, Any]:
    """Return the rotation vector from R to a target, NaN if that is no rotation, and its slopes.

    Equal weights take those of a short rotation, as the direction of steepest descent is the same.
    """
    turn = np.where(_is_rotation(target), log(target @ R.T), np.nan)
    if np.ptp(weights):
        half = np.sqrt(turn @ turn + TINY) / 2
        once = np.cross(turn, J.T)
        share = (1 - half * np.cos(half) / np.sin(half)) / (4 * half * half)
        J = J + (once / 2 + share * np.cross(turn, once)).T
    return turn, J


def _is_rotation(R: Any) -> Any:
    with np.errstate(all="ignore"):
        off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3))
        return (np.max(off, axis=(-2, -1)) <= ROTATION) * (np.linalg.det(R) > 0)
