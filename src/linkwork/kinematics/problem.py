"""Problem: the compiled functions of tasks of one robot, and what they determine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from ..compose import TracedRobot
from ..compose.compile_function import compile_function
from ..errors import LOCK, ShapeError, UnsupportedError, at_door
from ..function import Function
from ..model.coordinates import real_numbers
from ..program.traced_array import TracedArray, nested_nodes
from ..workspace import Cache, Workspace
from .closed_forms import ClosedForm, closed_form
from .nearest import nearest
from .steps import System, position_limits, solve
from .tasks import Pose, Task, listed, require_shape

ITERATIONS = 16  # steps in one call
RANK = 1e-9  # singular values below this share of the largest count as zero
SAME = 1e-9  # difference of errors, in m and rad, that is rounding
WHERE = "inverse_kinematics"


class Problem:
    """Tasks of one robot, whose targets are inputs of compiled functions.

    Args:
        robot: The robot.
        tasks: The tasks; their targets are not used.
        limits: Whether joints stay within their limits.
        posture: Whether there is a posture.
    """

    def __init__(self, robot: Workspace, tasks: Sequence[Task], limits: bool, posture: bool):
        self.robot, self.limits, self.posture = robot, limits, posture
        # functions are compiled later, when a caller may have changed arrays of weights
        self.tasks = [deepcopy(replace(task, **dict.fromkeys(task.shapes))) for task in tasks]
        self.several = posture or len({task.priority for task in tasks}) > 1
        self.shapes = {f"{name}_{k}": shape for k, task in enumerate(tasks) for name, shape in task.shapes.items()}

    # -- compiled functions ----------------------------------------------------------------------------------------

    @cached_property
    def steps(self) -> Function:
        """Newton's steps: from q, the targets, the tolerance and perhaps a posture, to a Solution."""

        def steps(robot: TracedRobot, q: Any, **values: Any) -> dict[str, Any]:
            options = {name: values.pop(name) for name in ("posture", "tolerance") if name in values}
            result = solve(robot, self._with(values), q, limits=self.limits, iterations=ITERATIONS, **options)
            return result._asdict()

        more = {"posture": (self.robot.model.nq,)} if self.posture else {}
        return self._compiled(steps, {"tolerance": (), **more})

    @cached_property
    def nearest(self) -> Function:
        """Positions with the least error near q."""

        def nearest_positions(robot: TracedRobot, q: Any, **values: Any) -> dict[str, Any]:
            at, error, step = nearest(robot, self.first(self._with(values)), q, self.limits)
            return {"q": at, "error": error, "step": step}

        return self._compiled(nearest_positions)

    @cached_property
    def slopes(self) -> Function:
        """Weighted slopes of the tasks of the first priority, and of the loops."""

        def slopes(robot: TracedRobot, q: Any, **values: Any) -> Any:
            _, rows = System(robot, self.first(self._with(values)), nested_nodes(q)).levels[0]
            return np.reshape(TracedArray(rows), (len(rows), robot.model.coordinates.nv))

        return self._compiled(slopes)

    @cached_property
    def errors(self) -> Function:
        """Weighted errors of the tasks of all priorities, and of the loops."""

        def errors(robot: TracedRobot, q: Any, **values: Any) -> Any:
            system = System(robot, self._with(values), nested_nodes(q))
            return TracedArray([x for error, _ in (*system.tasks, system.loops) for x in error])

        return self._compiled(errors)

    @cached_property
    def closed_form(self) -> ClosedForm | None:
        """The closed form, if the task is the pose of a frame of an arm that has one."""
        task, *others = self.tasks
        if others or not isinstance(task, Pose) or not task.weights().all():
            return None
        return closed_form(self.robot.model, task.frame)

    def _compiled(self, function: Callable[..., Any], more: dict[str, tuple[int, ...]] | None = None) -> Function:
        shapes: dict[str, Any] = {**self.shapes, **(more or {})}
        parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("robot", "q", *shapes)]
        function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return compile_function(self.robot.model, function, **shapes)

    def _with(self, values: dict[str, Any]) -> list[Task]:
        """Return the tasks with other targets."""
        return [
            replace(task, **{name: values[f"{name}_{k}"] for name in task.shapes}) for k, task in enumerate(self.tasks)
        ]

    @staticmethod
    def first(tasks: Sequence[Task]) -> list[Task]:
        """Return the tasks of the first priority."""
        least = min(task.priority for task in tasks)
        return [task for task in tasks if task.priority == least]

    # -- what the tasks determine ----------------------------------------------------------------------------------

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Limits of the positions, or infinity."""
        nq = self.robot.model.nq
        return position_limits(self.robot.model) if self.limits else (np.full(nq, -np.inf), np.full(nq, np.inf))

    @cached_property
    def _anywhere(self) -> list[np.ndarray]:
        """Positions like any other, and targets."""
        coordinates = self.robot.model.coordinates
        rng = np.random.default_rng(1)
        q = coordinates.integrate(
            np.array(self.robot.model.home or coordinates.neutral()), rng.normal(size=coordinates.nv)
        )
        targets = [np.eye(4)[: shape[0], : shape[-1]] if len(shape) == 2 else rng.normal(size=shape)
                   for shape in self.shapes.values()]  # fmt: skip
        return [q, *targets]

    @cached_property
    def _sample(self) -> np.ndarray:
        """Slopes at positions like any other."""
        return self.slopes(*self._anywhere)

    @cached_property
    def moved(self) -> np.ndarray:
        """For each velocity of a joint, whether it has an influence on the tasks."""
        return np.linalg.norm(self._sample, axis=0) > RANK * np.linalg.norm(self._sample)

    @cached_property
    def acting(self) -> np.ndarray:
        """For each entry of q, whether it has an influence on the tasks."""
        coordinates, moved = self.robot.model.coordinates, self.moved
        ranges = zip(coordinates.position_ranges, coordinates.velocity_ranges, strict=True)
        return np.array([moved[[*v]].any() for q, v in ranges for _ in q], bool)

    @cached_property
    def rank(self) -> int:
        """Number of independent equations at positions like any other."""
        columns = self._sample[:, self.moved]
        return int(np.linalg.matrix_rank(columns, tol=RANK * np.linalg.norm(columns)))

    @property
    def determined(self) -> bool:
        """Whether the tasks leave no joint free that has an influence on them."""
        return self.rank == np.count_nonzero(self.moved)

    # -- where to start --------------------------------------------------------------------------------------------

    @cached_property
    def home(self) -> np.ndarray:
        """Home of the robot within the limits."""
        coordinates = self.robot.model.coordinates
        return np.clip(np.array(self.robot.model.home or coordinates.neutral(), float), *self.bounds)

    def restarted(self, q: np.ndarray, number: int) -> np.ndarray:
        """Return positions with other values for those joints that a restart sets: low-discrepancy points.

        These are the joints that have an influence on the tasks, but for rotations of three axes and unlimited shifts.
        """
        places, low, span = self.seeded
        q = q.copy()
        q[:, places] = low + sequence(len(places), number) * span
        return q

    @cached_property
    def turning(self) -> list[int]:
        """Indices of the positions that are angles."""
        return [k for k, unit in enumerate(self.robot.model.coordinates.positions.units) if unit == "rad"]

    @cached_property
    def periodic(self) -> list[int]:
        """Indices of the positions at which whole turns change nothing.

        These are angles without a pitch, deflection or mimic, on which tasks and loops (gears) depend only as angles.
        """
        model, places, others = self.robot.model, self.robot.model.coordinates.positions.places, set()
        for joint in model.tree.joints:
            follows = joint.leader is not None and (joint.multiplier % 1 or not all(joint.kind.turning))
            if follows or joint.kind.pitched or joint.kind.name == "flexible":
                others |= {*np.arange(model.nq)[places[joint.leader or joint.name]].tolist()}
        q, *targets = self._anywhere
        turned = self.errors(q + 2 * np.pi * np.eye(model.nq)[self.turning], *targets)
        same = np.isclose(turned, self.errors(q, *targets), rtol=SAME, atol=SAME).all(axis=-1)
        return [k for k, each in zip(self.turning, same, strict=True) if each and k not in others]

    @cached_property
    def seeded(self) -> tuple[list[int], np.ndarray, np.ndarray]:
        """Indices of the positions that restarts set, where their ranges begin, and their lengths."""
        coordinates, (lower, upper) = self.robot.model.coordinates, self.bounds
        places, ranges = [], []
        for k in range(coordinates.nv):
            at = coordinates.position_of(k)
            if at is None or not self.acting[at]:
                continue
            a, b = float(lower[at]), float(upper[at])
            if at in self.turning:
                if b - a > 2 * np.pi:  # a whole turn, as near to zero as the limits are
                    a = min(max(-np.pi, a), b - 2 * np.pi)
                    b = a + 2 * np.pi
            elif not np.isfinite(b - a):
                continue
            places.append(at)
            ranges.append((a, b - a))
        low, span = np.array(ranges).reshape(-1, 2).T
        return places, low, span


def sequence(size: int, number: Any) -> np.ndarray:
    """Return points (..., size) of a low-discrepancy sequence in the unit cube (Roberts 2018), by their numbers.

    They are multiples of powers of a root.
    """
    root = 2.0
    for _ in range(50):
        root = (1 + root) ** (1 / (size + 1))
    return (0.5 + np.multiply.outer(number, root ** -np.arange(1.0, size + 1))) % 1


def problem_of(robot: Workspace, tasks: Sequence[Task], limits: bool, posture: bool) -> Problem:
    """Return the problem of these tasks from the robot's cache."""
    problems = robot.derived(_problems)
    key = tuple(task.key for task in tasks), limits, posture
    if key not in problems:
        for task in tasks:
            if frame := getattr(task, "frame", None):
                robot.model.frame(frame)
        problems[key] = Problem(robot, tasks, limits, posture)
    return problems[key]


def _problems(_: Workspace) -> Cache[Any, Problem]:
    return Cache()


def tasks_of(tasks: Any, target: Any, where: str = WHERE) -> list[Task]:
    """Return checked tasks with arrays of numbers as targets, from tasks or from a frame and its poses."""
    if isinstance(tasks, str):
        if target is None:
            fix = f'{where}("frame", poses), or tasks of linkwork.kinematics'
            raise ShapeError("there is no pose", where=where, expected="poses (..., 4, 4)", fix=fix)
        target = real_numbers(target, f"{where}, Pose target")
        if target.shape[-1:] == (3,):
            fix = f"for the position alone: linkwork.kinematics.Position({tasks!r}, p); for a rotation: Orientation"
            raise ShapeError("this is no pose", where=where, got=target.shape, expected="(..., 4, 4)", fix=fix)
        tasks = Pose(tasks, target)
    elif target is not None:
        raise ShapeError("a pose belongs to the name of a frame", where=where, fix="tasks have their targets in them")
    return [_checked(task, where) for task in listed(tasks, where)]


def _checked(task: Task, where: str) -> Task:
    arrays = {}
    for name, shape in task.shapes.items():
        at = f"{where}, {type(task).__name__} {name}"
        array = real_numbers(getattr(task, name), at)
        require_shape(array, shape, at, batch=True)
        arrays[name] = array
    return replace(task, **arrays)


def require_determined(problem: Problem) -> None:
    """Raise an error if tasks leave joints free."""
    if not problem.determined:
        raise UnsupportedError(
            "there are infinitely many solutions: the tasks leave joints free",
            where=f"{WHERE}, solutions",
            got=f"'all' for {int(problem.acting.sum())} positions",
            fix=f"add tasks, lock joints ({at_door(*LOCK)}), or ask for one solution",
        )


def batch_of(tasks: Sequence[Task], *others: Any) -> tuple[int, ...]:
    """Return the batch axes of targets and of further vectors, broadcast."""
    shapes = [np.shape(x)[:-1] for x in others if x is not None]
    for task in tasks:
        shapes += [np.shape(x)[: -len(task.shapes[name])] for name, x in task.targets.items()]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        got = ", ".join(map(str, shapes))
        raise ShapeError("batch axes of guess and targets do not fit together", where=WHERE, got=got) from None


def flat_targets(tasks: Sequence[Task], batch: tuple[int, ...]) -> list[np.ndarray]:
    """Return all targets with one batch axis."""
    flat = []
    for task in tasks:
        for name, x in task.targets.items():
            shape = task.shapes[name]
            flat.append(np.ascontiguousarray(np.broadcast_to(x, batch + shape)).reshape(-1, *shape))
    return flat


def valid_states(tasks: Sequence[Task], targets: Sequence[np.ndarray]) -> np.ndarray:
    """Return for each state of flat targets whether all make sense."""
    rest, valid = iter(targets), []
    for task in tasks:
        valid.append(replace(task, **{name: next(rest) for name in task.shapes}).valid())
    return np.logical_and.reduce(np.broadcast_arrays(*valid))
