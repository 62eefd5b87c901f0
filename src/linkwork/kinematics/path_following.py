"""Following a path: positions for one target after another, on one continuous branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LinkworkError, ShapeError, counted, memory_reported
from ..workspace import Workspace
from .inverse import Search, check_options, checked_positions
from .problem import batch_of, problem_of, tasks_of
from .steps import CLOSE
from .tasks import Task

WHERE = "follow"
CANDIDATES = 16  # starts that are followed if there is no guess


@dataclass(frozen=True)
class FollowedPath:
    """Result of ``Robot.follow``, for each point of each path.

    Attributes:
        q: Positions (..., points, nq); the nearest ones where a target was not reached.
        solved: Whether the target was reached, (..., points).
        error: Norm of the weighted errors of the first priority, in m and rad, (..., points).
        jumps: Whether the branch is not that of the point before, (..., points).
        at_limits: Which joints are at a limit, (..., points, nq).
        conditioning: Smallest over largest singular value of the tasks' slopes, (..., points): 0 at singular positions.
            Directions in which the tasks never move do not count.
        robot: Name of the robot, for messages.

    Example:
        >>> start = robot.pose("panda_link8", [0, -0.5, 0, -2, 0, 1.5, 0.8])
        >>> line = np.tile(start, (50, 1, 1))
        >>> line[:, 1, 3] += np.linspace(0, 0.3, 50)
        >>> path = robot.follow("panda_link8", line)
        >>> path.q.shape, bool(path.continuous)
        ((50, 7), True)
    """

    q: np.ndarray
    solved: np.ndarray
    error: np.ndarray
    jumps: np.ndarray
    at_limits: np.ndarray
    conditioning: np.ndarray
    robot: str = ""

    @property
    def continuous(self) -> np.ndarray:
        """Whether all points of a path are reached on one branch, (...)."""
        return np.all(self.solved & ~self.jumps, axis=-1)

    def require(self) -> np.ndarray:
        """Return ``q`` if all paths are continuous.

        Returns:
            Positions (..., points, nq).

        Raises:
            LinkworkError: Some path is not; it has the first such point.
        """
        if np.all(self.continuous):
            return self.q
        wrong = ~self.solved | self.jumps
        at = tuple(np.argwhere(wrong)[0].tolist())
        target = "an invalid target" if np.isnan(self.error[at]) else f"a target with an error of {self.error[at]:.3g}"
        raise LinkworkError(
            f"{int(np.sum(~self.continuous))} of {counted(np.size(self.continuous), 'path')} cannot be followed",
            where=f"{WHERE}, robot {self.robot!r}",
            got=f"{'a jump' if self.solved[at] else target} at point {at}",
            fix="check .solved, .jumps, .at_limits and .conditioning; give a guess on another branch, or more points",
        )


def follow(
    robot: Workspace,
    tasks: str | Task | Sequence[Task],
    path: Any,
    guess: Any,
    *,
    posture: Any,
    limits: bool,
    tolerance: float,
    restarts: int,
    largest_step: float,
) -> FollowedPath:
    """Solve for positions along paths; see ``Robot.follow``."""
    checked = tasks_of(tasks, path, WHERE)
    check_options("one", limits, tolerance, restarts, WHERE)
    if not isinstance(largest_step, (int, float, np.floating)) or not largest_step > 0:
        raise ShapeError("wrong largest step", where=WHERE, got=repr(largest_step), expected="a positive number")
    nq = robot.model.nq
    guess, posture = (
        None if x is None else checked_positions(x, nq, f"{WHERE}, {name}")[..., None, :]
        for x, name in ((guess, "guess"), (posture, "posture"))
    )
    batch = batch_of(checked, guess, posture)
    if not batch_of(checked) or not batch[-1]:
        expected = "an axis of points, then the axes of one target: poses (..., points, 4, 4)"
        raise ShapeError("these targets are no path", where=WHERE, got=f"batch axes {batch}", expected=expected)
    problem = problem_of(robot, checked, limits, posture is not None)
    with memory_reported("these paths", where=WHERE, fix="follow fewer at a time"), np.errstate(all="ignore"):
        search = Search(problem, checked, guess, posture, tolerance, restarts)
        points = _Points(search, batch, largest_step)
        if guess is None:
            return points.result(*points.best_of(CANDIDATES))
        return points.result(*points.followed(search.guess[points.first]))


class _Points:
    """The points of a batch of paths, each a state of a search."""

    def __init__(self, search: Search, batch: tuple[int, ...], largest_step: float):
        self.search, self.batch, self.largest_step = search, batch, largest_step
        self.number = batch[-1]
        self.first = np.arange(0, len(search.guess), self.number)  # states of the first points
        search.unsolved(np.full(len(search.guess), np.inf), np.arange(len(search.guess)))  # finds senseless targets

    def followed(self, q: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return positions, errors and jumps (paths, points, ...) from starts at the first points."""
        parts, begun = [], np.zeros(len(q), bool)
        for point in range(self.number):
            at, before = self.first + point, q
            valid = self.search.valid[at]
            q, error = self.search.stages(at, before)
            lost = np.flatnonzero(~(error <= self.search.tolerance) & valid)
            if lost.size:
                q[lost], error[lost] = self.search.globally(at[lost], before[lost])
            q, error = (
                np.where(valid[:, None], q, before),
                np.where(valid, error, 0.0),
            )  # senseless targets are left out
            step = np.abs(q - before)[:, self.search.problem.acting].max(axis=-1, initial=0.0)
            parts.append((q, error, begun & (step > self.largest_step)))
            begun |= valid
        return tuple(np.stack(each, axis=1) for each in zip(*parts, strict=True))

    def best_of(self, candidates: int) -> tuple[np.ndarray, ...]:
        """Return what ``followed`` does from the start that leads farthest, and then moves the joints least."""
        best: tuple[np.ndarray, ...] = ()
        for number in range(candidates):
            start = self.search.guess[self.first]
            if number:
                start = self.search.problem.restarted(start, number - 1)
            tried = self.followed(self.search.globally(self.first, start)[0])
            if best:
                better = _worth(best, self.search.tolerance) < _worth(tried, self.search.tolerance)
                for old, new in zip(best, tried, strict=True):
                    old[better] = new[better]
            else:
                best = tried
        return best

    def result(self, q: np.ndarray, error: np.ndarray, jumps: np.ndarray) -> FollowedPath:
        """Return positions, errors and jumps (paths, points, ...) with what else there is to know of each point."""
        problem, valid = self.search.problem, self.search.valid.reshape(error.shape)
        lower, upper = problem.bounds
        slopes = problem.slopes(q.reshape(valid.size, q.shape[-1]), *self.search.targets)
        slopes = np.where(np.isfinite(slopes), slopes, 0.0)[..., problem.moved]
        singular = np.linalg.svd(slopes, compute_uv=False)
        largest = singular.max(axis=-1, initial=np.finfo(float).tiny)
        smallest = singular[:, problem.rank - 1] if problem.rank else largest
        conditioning = smallest / largest
        q, error = np.where(valid[..., None], q, np.nan), np.where(valid, error, np.nan)
        parts = (
            q,
            error <= self.search.tolerance,
            error,
            jumps,
            (q - lower <= CLOSE) | (upper - q <= CLOSE),
            np.where(valid.ravel(), conditioning, np.nan),
        )
        shaped = (x.reshape(self.batch + q.shape[2:] * (x.ndim == 3)) for x in parts)
        return FollowedPath(*shaped, robot=problem.robot.model.name)


def _worth(followed: Sequence[np.ndarray], tolerance: Any) -> np.ndarray:
    """Return a number for each path that is larger if more points come before the first break, or joints move less."""
    q, error, jumps = followed
    good = (error <= tolerance) & ~jumps
    return good.cumprod(axis=-1).sum(axis=-1) + 1 / (1 + np.abs(np.diff(q, axis=1)).sum(axis=(-2, -1)))
