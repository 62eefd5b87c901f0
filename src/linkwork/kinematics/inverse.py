"""Inverse kinematics in batches: one solution or all for each target, with restarts and nearest positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import LinkworkError, ShapeError, counted, memory_reported
from ..model.coordinates import real_numbers
from ..workspace import Workspace
from .problem import (
    WHERE, Problem, batch_of, flat_targets, problem_of, require_determined, tasks_of, valid_states,
)  # fmt: skip
from .tasks import Task

STAGES = 3  # calls of the steps that a guess gets, and a restart whose error is falling
FALLING = 0.1  # error from which on a restart is continued
RESTARTS = 100
NEAREST = 8  # starts of the search for the nearest positions
SEEDS, FEWEST, LEAST = 256, 24, 3  # of a search for all: starts; solved ones; times that each solution is to be found
SAME = 1e-4  # rad or m: closer solutions are one


@dataclass(frozen=True)
class Solutions:
    """Result of ``Robot.inverse_kinematics``, for each target.

    For a single target, all but ``q`` are NumPy scalars.

    Attributes:
        q: Positions (..., nq), or (..., solutions, nq) of all solutions. Where there is no solution: the nearest
            positions found, or NaN for targets that make no sense and for places that are left over.
        solved: Whether the error is at most the tolerance, (...) or (..., solutions).
        error: Norm of the weighted errors of the first priority, in m and rad.
        iterations: Number of Newton's steps from all starts.
        valid: Whether the target makes sense: finite numbers, matrices that are rotations.
        unseen: For all solutions: the estimated probability that one more start finds a solution that is not among
            them, by Good and Turing; 0 for closed forms.
        robot: Name of the robot, for messages.

    Example:
        >>> target = robot.pose("panda_link8", [0.1, -0.5, 0, -2, 0, 1.5, 0.8])
        >>> solution = robot.inverse_kinematics("panda_link8", target)
        >>> solution.q.shape, bool(solution.solved)
        ((7,), True)
    """

    q: np.ndarray
    solved: np.ndarray
    error: np.ndarray
    iterations: np.ndarray
    valid: np.ndarray
    unseen: np.ndarray | None = None
    robot: str = ""

    def require(self) -> np.ndarray:
        """Return ``q`` if every target was reached.

        Returns:
            Positions (..., nq).

        Raises:
            LinkworkError: Some targets were not reached; it has their number and the largest error.
        """
        solved = self.solved if self.unseen is None else self.solved.any(axis=-1)
        if np.all(solved):
            return self.q
        wrong, errors = int(np.sum(~self.valid)), self.error[~self.solved & np.isfinite(self.error)]
        worst = f", with errors up to {np.max(errors):.3g}" if errors.size else ""
        raise LinkworkError(
            f"{int(np.sum(~solved))} of {counted(np.size(solved), 'target')} have no solution",
            where=f"{WHERE}, robot {self.robot!r}",
            got=f"{int(np.sum(~solved)) - wrong} not reached{worst}; {wrong} without sense",
            fix="check .solved, .valid and .error; q has the nearest positions",
        )


def inverse_kinematics(
    robot: Workspace,
    tasks: str | Task | Sequence[Task],
    target: Any,
    guess: Any,
    *,
    solutions: str,
    posture: Any,
    limits: bool,
    tolerance: float,
    restarts: int,
) -> Solutions:
    """Solve for positions; see ``Robot.inverse_kinematics``."""
    plain = type(tasks) is str and type(target) is np.ndarray and type(guess) is np.ndarray
    if plain and target.shape == (4, 4) and guess.ndim == 1 and posture is None and solutions == "one":
        quick = robot.derived(_of_frames).get((tasks, limits))
        if quick is not None and guess.shape == quick.home.shape:
            q, solved, error, iterations = quick.steps(guess, target, np.asarray(tolerance))
            if solved:
                return Solutions(q, np.True_, error, np.int64(iterations), np.True_, None, robot.model.name)
    checked = tasks_of(tasks, target)
    _check_options(solutions, tolerance, restarts)
    nq = robot.model.nq
    where = f"{WHERE}, robot {robot.model.name!r}"
    posture = None if posture is None else _positions(posture, nq, f"{where}, posture")
    guess = None if guess is None else _positions(guess, nq, f"{where}, guess")
    problem = problem_of(robot, checked, limits, posture is not None)
    if type(tasks) is str:
        robot.derived(_of_frames)[tasks, limits] = problem
    with memory_reported("these targets", where=WHERE, fix="solve fewer at a time"), np.errstate(all="ignore"):
        search = Search(problem, checked, guess, posture, tolerance, restarts)
        return search.one() if solutions == "one" else search.all()


def _of_frames(_: Workspace) -> dict[tuple[Any, ...], Problem]:
    """Problems of one pose, by frame and limits, for a quick call."""
    return {}


class Search:
    """A search for the solutions of a batch of targets."""

    def __init__(
        self, problem: Problem, tasks: Sequence[Task], guess: Any, posture: Any, tolerance: float, restarts: int
    ):
        self.problem, self.tolerance, self.restarts = problem, np.array(float(tolerance)), restarts
        self.batch = batch_of(tasks, guess, posture)
        self.targets = flat_targets(tasks, self.batch)
        self.tasks, self.valid = tasks, np.ones(len(self.targets[0]), bool)
        nq = problem.robot.model.nq
        flat = lambda x: np.ascontiguousarray(np.broadcast_to(x, (*self.batch, nq))).reshape(-1, nq)  # noqa: E731
        self.guess = flat(problem.home if guess is None else guess)
        self.posture = None if posture is None else flat(posture)
        self.iterations = np.zeros(len(self.guess), int)

    def one(self) -> Solutions:
        """Return one solution for each target, or the nearest positions."""
        q, error = self._stages(np.arange(len(self.guess)), self.guess)
        todo = self._unsolved(error)
        best: list[tuple[np.ndarray, np.ndarray]] = [(q[todo], error[todo])] if todo.size else []
        for number in range(self.restarts):
            if not todo.size:
                break
            near, error_near = self._stages(todo, self.problem.restarted(self.guess[todo], number))
            better = error_near <= error[todo]
            q[todo[better]], error[todo[better]] = near[better], error_near[better]
            keep = ~(error[todo] <= self.tolerance)
            best = [(a[keep], b[keep]) for a, b in [*best, (near, error_near)][:NEAREST]]
            todo = todo[keep]
        for at, _ in best if todo.size else []:
            self._approach(todo, at, q, error)
        return self._result(q, error)

    def _unsolved(self, error: np.ndarray) -> np.ndarray:
        """Return the numbers of states whose targets make sense, but are not reached."""
        todo = np.flatnonzero(~(error <= self.tolerance))  # a target that was reached makes sense
        if todo.size:
            self.valid[todo] = valid_states(self.tasks, [x[todo] for x in self.targets])
        return todo[self.valid[todo]]

    def _stages(self, at: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and errors after steps from a start, for some states of the batch."""
        q, error = self._steps(at, start)
        for _ in range(STAGES - 1):
            more = np.flatnonzero(~(error <= self.tolerance) & (error <= FALLING))
            if not more.size:
                break
            q[more], error[more] = self._steps(at[more], q[more])
        return q, error

    def _steps(self, at: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and errors after one call of the steps; NaN counts as an infinite error."""
        whole = len(at) == len(self.guess)
        pick = (lambda x: x) if whole else (lambda x: x[at])
        more = [] if self.posture is None else [pick(self.posture)]
        q, _, error, iterations = self.problem.steps(start, *map(pick, self.targets), self.tolerance, *more)
        self.iterations[at] += iterations.astype(int)
        return q, np.where(np.isfinite(q).all(axis=-1), np.nan_to_num(error, nan=np.inf), np.inf)

    def _approach(self, at: np.ndarray, start: np.ndarray, q: np.ndarray, error: np.ndarray) -> None:
        """Replace positions by the nearest ones from a start, where these have a smaller error."""
        near, error_near = self.problem.nearest(start, *(x[at] for x in self.targets))
        better = (error_near < error[at]) & np.isfinite(near).all(axis=-1)
        q[at[better]], error[at[better]] = near[better], error_near[better]

    def _result(self, q: np.ndarray, error: np.ndarray, unseen: np.ndarray | None = None) -> Solutions:
        q, error = q.copy(), error.copy()
        q[~self.valid], error[~self.valid] = np.nan, np.nan
        parts = q, error <= self.tolerance, error, self.iterations, self.valid, unseen
        shaped = (None if x is None else x.reshape(self.batch + x.shape[1:])[()] for x in parts)
        return Solutions(*shaped, robot=self.problem.robot.model.name)

    # -- all solutions ---------------------------------------------------------------------------------------------

    def all(self) -> Solutions:
        """Return all solutions for each target, nearest to the guess first."""
        require_determined(self.problem)
        found, hits = self._found()
        distance = np.where(hits > 0, np.linalg.norm(found - self.guess[:, None], axis=-1), np.inf)
        order = np.argsort(distance, axis=-1, kind="stable")
        most = max(1, int((hits > 0).sum(axis=-1).max(initial=0)))
        q = np.take_along_axis(found, order[..., None], axis=1)[:, :most]
        solved = np.take_along_axis(hits, order, axis=1)[:, :most] > 0
        q[~solved] = np.nan
        error = np.full(solved.shape, np.nan)
        row, column = np.nonzero(solved)
        if row.size:
            q[row, column], error[row, column] = self._steps(row, q[row, column])
        unseen = (hits == 1).sum(axis=-1) / np.maximum(hits.sum(axis=-1), 1)
        self.iterations = np.broadcast_to(self.iterations[:, None], solved.shape)
        valid, self.valid = self.valid, np.broadcast_to(self.valid[:, None], solved.shape)
        result = self._result(q, error, unseen)
        return result if valid.all() else result

    def _found(self) -> tuple[np.ndarray, np.ndarray]:
        """Return solutions of each target (states, places, nq), and how often each was found."""
        n, nq = self.guess.shape
        found, hits = np.zeros((n, 0, nq)), np.zeros((n, 0), int)
        todo = self._unsolved(np.full(n, np.inf))
        for number in range(SEEDS):
            if not todo.size:
                break
            start = self.guess[todo] if number == 0 else self.problem.restarted(self.guess[todo], number)
            q, error = self._stages(todo, start)
            good = error <= self.tolerance
            q = self._near_guess(q, todo)
            same = (np.abs(found[todo] - q[:, None]).max(axis=-1, initial=0.0) < SAME) & (hits[todo] > 0)
            known, new = same.any(axis=-1) & good, ~same.any(axis=-1) & good
            if new.any():
                places = (hits > 0).sum(axis=-1)[todo]
                if places[new].max() == hits.shape[1]:
                    found = np.concatenate([found, np.zeros((n, 4, nq))], axis=1)
                    hits = np.concatenate([hits, np.zeros((n, 4), int)], axis=1)
                found[todo[new], places[new]] = q[new]
                hits[todo[new], places[new]] = 1
            hits[todo[known], same[known].argmax(axis=-1)] += 1
            often = np.where(hits[todo] > 0, hits[todo], LEAST).min(axis=-1, initial=LEAST) >= LEAST
            todo = todo[~(often & (hits[todo].sum(axis=-1) >= FEWEST))]
        return found, hits

    def _near_guess(self, q: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Turn joints by whole turns towards the guess, within their limits."""
        return whole_turns(self.problem, q, self.guess[at])


def whole_turns(problem: Problem, q: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return positions turned by whole turns towards others, as far as limits allow."""
    coordinates, (lower, upper) = problem.robot.model.coordinates, problem.bounds
    straight = [
        at
        for k in range(coordinates.nv)
        if (at := coordinates.position_of(k)) is not None and coordinates.velocities.units[k] == "rad/s"
    ]
    turns = np.round((near - q)[:, straight] / (2 * np.pi))
    low = np.ceil((lower[straight] - q[:, straight]) / (2 * np.pi))
    high = np.floor((upper[straight] - q[:, straight]) / (2 * np.pi))
    q = q.copy()
    q[:, straight] += 2 * np.pi * np.clip(turns, low, high)
    return q


def _check_options(solutions: str, tolerance: Any, restarts: Any) -> None:
    if solutions not in ("one", "all"):
        raise ShapeError("wrong number of solutions", where=WHERE, got=repr(solutions), expected='"one" or "all"')
    if not isinstance(tolerance, (int, float, np.floating)) or not 0 < tolerance < np.inf:
        raise ShapeError("wrong tolerance", where=WHERE, got=repr(tolerance), expected="a positive number")
    if isinstance(restarts, bool) or not isinstance(restarts, (int, np.integer)) or restarts < 0:
        raise ShapeError("wrong number of restarts", where=WHERE, got=repr(restarts), expected="0, 1, 2, ...")


def _positions(value: Any, nq: int, where: str) -> np.ndarray:
    q = real_numbers(value, where)
    if q.shape[-1:] != (nq,):
        raise ShapeError("wrong shape", where=where, got=q.shape, expected=f"(..., {nq}): positions of all joints")
    if not np.isfinite(q).all():
        raise ShapeError("the numbers must be finite", where=where, got="NaN or infinity")
    return q
