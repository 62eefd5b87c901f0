"""Inverse kinematics in batches: one solution or all for each target, with restarts and nearest positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ..errors import LinkworkError, ShapeError, memory_reported
from ..model.coordinates import real_numbers
from ..workspace import Workspace
from .nearest import END
from .problem import (
    ITERATIONS,
    WHERE,
    Problem,
    batch_of,
    flat_targets,
    problem_of,
    require_determined,
    tasks_of,
    valid_states,
)  # fmt: skip
from .tasks import Task, require_shape

STAGES = 3  # calls of the steps that a guess gets, and a restart whose error is falling
SETTLING = 20  # the same with a posture or several priorities
FALLING = 0.1  # error from which on a restart is continued
RESTARTS = 100
ROUNDS = 8  # calls of the search for the nearest positions
NEAREST = 20  # starts of the search for the nearest positions
SEEDS, QUIET = 2000, 100  # of a search for all: starts; solved starts without a new solution at which it ends
SURE = 3.0  # -log(0.05)
TURN = 2 * np.pi
ROUNDING = 1e-9  # rad or m: closed forms may be this far over a limit, and are then put on it
PLACES = 8  # for solutions, at first and whenever more are needed
SAME = 1e-4  # rad or m: closer solutions are one


@dataclass(frozen=True)
class Solutions:
    """Result of ``Robot.inverse_kinematics``, for each target.

    For a single target, all but ``q`` are NumPy scalars.

    Attributes:
        q: Positions (..., nq), or (..., solutions, nq) of all solutions. Where there is no solution: the nearest
            positions found (of all solutions, in the first place), or NaN for targets that make no sense and for
            places that are left over.
        solved: Whether the error is at most the tolerance, (...) or (..., solutions).
        error: Norm of the weighted errors of the first priority, in m and rad; infinite where no loops were closed.
        iterations: Number of Newton's steps from all starts.
        valid: Whether the target makes sense: finite numbers, matrices that are rotations.
        unseen: For all solutions: the share of starts that lead to solutions that are not among them is smaller, with
            95 % confidence. 0 for closed forms, or 1 where these give no solution.
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
            f"{int(np.sum(~solved))} of {np.size(solved)} targets have no solution",
            where=f"{WHERE}, robot {self.robot!r}",
            got=f"{int(np.sum(~solved)) - wrong} not reached{worst}; {wrong} invalid",
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
    check_options(solutions, limits, tolerance, restarts)
    plain = type(tasks) is str and type(target) is np.ndarray and type(guess) is np.ndarray
    plain = plain and target.dtype == guess.dtype == float and posture is None and solutions == "one"
    if plain and target.shape == (4, 4) and guess.ndim == 1:
        quick = robot.derived(_of_frames).get((tasks, limits))
        if quick is not None and guess.shape == quick.home.shape:
            q, solved, error, iterations = quick.steps(guess, target, np.asarray(tolerance))
            if solved:
                values: Any = q, np.True_, error, np.int64(iterations), np.True_
                return Solutions(*values, robot=robot.model.name)
    checked = tasks_of(tasks, target)
    nq = robot.model.nq
    where = f"{WHERE}, robot {robot.model.name!r}"
    posture = None if posture is None else checked_positions(posture, nq, f"{where}, posture")
    guess = None if guess is None else checked_positions(guess, nq, f"{where}, guess")
    problem = problem_of(robot, checked, limits, posture is not None)
    if type(tasks) is str and posture is None:
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
        self.tasks, self.valid = tasks, np.ones(prod(self.batch), bool)
        shape = len(self.valid), problem.robot.model.nq
        flat = lambda x: np.ascontiguousarray(np.broadcast_to(x, self.batch + shape[1:])).reshape(shape)  # noqa: E731
        self.guess = flat(problem.home if guess is None else guess)
        self.posture = None if posture is None else flat(posture)
        self.iterations = np.zeros(len(self.guess), int)

    def one(self) -> Solutions:
        """Return one solution for each target, or the nearest positions."""
        return self._result(*self.globally(np.arange(len(self.guess)), self.guess))

    def globally(self, at: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and errors of some states: solutions from a start, else from others, else the nearest."""
        q, error = self.stages(at, start)
        todo = restarted = self.unsolved(error, at)
        exact = self.problem.closed_form is not None
        if exact and todo.size:
            every, present = self._in_closed_form(at[todo], start[todo])
            first = _by_distance(every, present, start[todo])[:, :1, None]
            self._improve(todo, q, error, *self._steps(at[todo], np.take_along_axis(every, first, axis=1)[:, 0]))
            todo = todo[~(error[todo] <= self.tolerance)]
        tried = [q[todo]]
        for number in range(min(self.restarts, NEAREST) if exact else self.restarts):  # closed forms miss few
            if not todo.size:
                break
            near = self.problem.restarted(start[todo], number)
            self._improve(todo, q, error, *self.stages(at[todo], near))
            keep = ~(error[todo] <= self.tolerance)
            tried = [x[keep] for x in [*tried, near][:NEAREST]]
            todo = todo[keep]
        error[todo] = np.inf  # steps that did not arrive leave loops open
        for near in tried if todo.size else []:
            self._improve(todo, q, error, *self.nearest(at[todo], near))
        if restarted.size:
            near = start if self.posture is None else self.posture[at]
            q[restarted] = whole_turns(self.problem, q[restarted], near[restarted])
        return q, error

    def nearest(self, at: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest positions from a start, and their errors, for some states of the batch."""
        q, error = q.copy(), np.empty(len(q))
        more = np.arange(len(q))
        for _ in range(ROUNDS):
            q[more], error[more], step = self.problem.nearest(q[more], *(x[at[more]] for x in self.targets))
            more = more[step > END]
            if not more.size:
                break
        return q, error

    def _improve(self, todo: np.ndarray, q: np.ndarray, error: np.ndarray, near: np.ndarray, less: np.ndarray) -> None:
        """Replace positions and errors by others that are better."""
        better = (less < error[todo]) & np.isfinite(near).all(axis=-1)
        q[todo[better]], error[todo[better]] = near[better], less[better]

    def unsolved(self, error: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return the places in ``at`` of states whose targets make sense, but are not reached."""
        todo = np.flatnonzero(~(error <= self.tolerance))  # a target that was reached makes sense
        if todo.size:
            self.valid[at[todo]] = valid_states(self.tasks, [x[at[todo]] for x in self.targets])
        return todo[self.valid[at[todo]]]

    def stages(self, at: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and errors after steps from a start, for some states of the batch."""
        before = self.iterations[at]
        q, error = self._steps(at, start)
        for _ in range((SETTLING if self.problem.several else STAGES) - 1):
            more = np.flatnonzero((error <= FALLING) & (self.iterations[at] - before >= ITERATIONS))
            if not more.size:
                break
            before = self.iterations[at]
            q[more], error[more] = self._steps(at[more], q[more])
        return q, error

    def _steps(self, at: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and errors after one call of the steps; NaN counts as an infinite error."""
        pick = (lambda x: x) if np.array_equal(at, np.arange(len(self.guess))) else (lambda x: x[at])
        more = [] if self.posture is None else [pick(self.posture)]
        q, _, error, iterations = self.problem.steps(start, *map(pick, self.targets), self.tolerance, *more)
        np.add.at(self.iterations, at, iterations.astype(int))  # a state has several places for solutions
        return q, np.where(np.isfinite(q).all(axis=-1), np.where(np.isnan(error), np.inf, error), np.inf)

    def _result(self, q: np.ndarray, error: np.ndarray, unseen: np.ndarray | None = None) -> Solutions:
        if not self.valid.all():
            q[~self.valid], error[~self.valid] = np.nan, np.nan
        shaped = lambda x: x.reshape(self.batch + x.shape[1:])[()]  # noqa: E731
        return Solutions(
            *map(shaped, (q, error <= self.tolerance, error, self.iterations, self.valid)),
            unseen=None if unseen is None else shaped(unseen),
            robot=self.problem.robot.model.name,
        )

    # -- all solutions ---------------------------------------------------------------------------------------------

    def all(self) -> Solutions:
        """Return all solutions for each target, nearest to the guess first."""
        require_determined(self.problem)
        q, present, unseen = self._searched() if self.problem.closed_form is None else self._exact()
        order = _by_distance(q, present, self.guess)[:, : max(1, present.sum(axis=-1).max(initial=0))]
        q, present = np.take_along_axis(q, order[..., None], axis=1), np.take_along_axis(present, order, axis=1)
        q[~present], error = np.nan, np.full(present.shape, np.nan)
        state, place = np.nonzero(present)
        if state.size:
            q[state, place], error[state, place] = self._steps(state, q[state, place])
        none = np.flatnonzero(self.valid & ~present.any(axis=-1))  # out of reach, or missed next to a singular position
        if none.size:
            q[none, 0], error[none, 0] = self.globally(none, self.guess[none])
            unseen[none] = 1.0
        return self._result(q, error, unseen)

    def _exact(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what ``_searched`` does, by the closed form."""
        every = np.arange(len(self.guess))
        self.unsolved(np.full(len(every), np.inf), every)  # finds targets that make no sense
        q, present = self._in_closed_form(every, self.guess)
        for place in range(1, q.shape[1]):  # of solutions that coincide, the first
            same = _same(self.problem, np.where(present[:, :place, None], q[:, :place], np.nan), q[:, place])
            present[:, place] &= ~same
        return q, present & self.valid[:, None], np.zeros(len(every))

    def _in_closed_form(self, at: np.ndarray, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all solutions of some states (states, places, nq), turned towards positions, and which exist."""
        solver = self.problem.closed_form
        assert solver is not None
        lower, upper = self.problem.bounds
        q, present = solver(self.targets[0][at])
        q = np.where(self.problem.acting, q, np.clip(near, lower, upper)[:, None])
        q = whole_turns(self.problem, q, near[:, None])
        present &= ((q >= lower - ROUNDING) & (q <= upper + ROUNDING)).all(axis=-1)
        return np.clip(q, lower, upper), present

    def _searched(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return solutions of each target (states, places, nq), which places hold one, and the share that is unseen.

        A search ends when many solved starts in a row gave no new solution.
        """
        n, nq = len(self.guess), self.problem.robot.model.nq
        found, count, quiet = np.full((n, PLACES, nq), np.nan), np.zeros(n, int), np.zeros(n, int)
        todo = self.unsolved(np.full(n, np.inf), np.arange(n))
        for number in range(SEEDS if self.problem.seeded[0] else 1):
            todo = todo[quiet[todo] < QUIET]
            if not todo.size:
                break
            start = self.problem.restarted(self.guess[todo], number) if number else self.guess[todo]
            q, error = self.stages(todo, start)
            at, q = todo[error <= self.tolerance], q[error <= self.tolerance]
            q = whole_turns(self.problem, q, self.guess[at])
            new = ~_same(self.problem, found[at], q) | (count[at] == 0)
            quiet[at] += 1
            at, q = at[new], q[new]
            if at.size and count[at].max() == found.shape[1]:
                found = np.concatenate([found, np.full((n, PLACES, nq), np.nan)], axis=1)
            found[at, count[at]] = q
            count[at] += 1
            quiet[at] = 0
        return found, np.arange(found.shape[1]) < count[:, None], np.minimum(1.0, SURE / np.maximum(quiet, 1))


def whole_turns(problem: Problem, q: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return positions turned by whole turns towards others, as far as limits allow, with the nearer quaternions."""
    at, (lower, upper) = problem.periodic, problem.bounds
    low = np.ceil((lower[at] - ROUNDING - q[..., at]) / TURN)
    high = np.floor((upper[at] + ROUNDING - q[..., at]) / TURN)
    q = q.copy()
    q[..., at] += TURN * np.clip(np.round((near - q)[..., at] / TURN), low, high)
    for quaternion in problem.robot.model.coordinates.quaternions:
        a, b = q[..., quaternion], near[..., quaternion]
        q[..., quaternion] = np.where((a * b).sum(axis=-1, keepdims=True) < 0, -a, a)
    return q


def _by_distance(q: np.ndarray, present: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the order (states, places) of positions by their distance from others; those that are missing are last."""
    distance = np.where(present, np.linalg.norm(q - near[:, None], axis=-1), np.inf)
    return np.argsort(distance, axis=-1, kind="stable")


def _same(problem: Problem, found: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return whether each of q (states, nq) is among those found (states, places, nq), up to whole turns."""
    apart = found - whole_turns(problem, np.broadcast_to(q[:, None], found.shape), found)
    return (np.abs(apart).max(axis=-1, initial=0.0) < SAME).any(axis=-1)


def check_options(solutions: Any, limits: Any, tolerance: Any, restarts: Any, where: str = WHERE) -> None:
    """Raise an error for wrong options."""
    if solutions not in ("one", "all"):
        raise ShapeError("wrong number of solutions", where=where, got=repr(solutions), expected='"one" or "all"')
    if not isinstance(limits, (bool, np.bool_)):
        raise ShapeError("wrong limits", where=where, got=repr(limits), expected="True or False")
    number = isinstance(tolerance, (int, float, np.floating)) and not isinstance(tolerance, bool)
    if not number or not 0 < tolerance < np.inf:
        raise ShapeError("wrong tolerance", where=where, got=repr(tolerance), expected="a positive number")
    if isinstance(restarts, bool) or not isinstance(restarts, (int, np.integer)) or restarts < 0:
        raise ShapeError("wrong number of restarts", where=where, got=repr(restarts), expected="0, 1, 2, ...")


def checked_positions(value: Any, nq: int, where: str) -> np.ndarray:
    """Return finite positions of all joints, or raise an error."""
    q = real_numbers(value, where)
    require_shape(q, (nq,), where, batch=True)
    if not np.isfinite(q).all():
        raise ShapeError("the numbers must be finite", where=where, got="NaN or infinity")
    return q
