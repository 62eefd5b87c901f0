"""Newton's steps of inverse kinematics inside functions: tasks by priority, loops, joint limits and a posture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compose import TracedRobot
from ..constraints import ConstraintEquations
from ..constraints.assembly_loop import WRONG
from ..errors import LinkworkError, UnsupportedError
from ..iteration import looped, root_of
from ..model import Joint, Model
from ..program.traced_array import TracedArray, nested_nodes
from ..scalar import Scalar, Scalars, absolute, is_one, ldl, less, less_equal, maximum, minimum, where
from ..scalar.orthogonal import dot, minus_scaled
from .tasks import Task, listed, require_shape

WHERE = "solve"
DAMPING = 0.01  # per square of the error
FLOOR = 1e-13  # least damping, as a share of the squares of all slopes
LEAST = 1e-30  # damping where no joint has an influence
CLOSE = 1e-9  # rad or m: a joint that is closer to a limit stops there
STRIDE = 0.2  # longest step of a joint for tasks of lower priority and the posture, in rad or m
SLOWEST, FASTEST = 0.01, 100.0  # factors on these steps
SETTLED = 1e-9  # step below which tasks of lower priority and the posture are settled, in rad or m
PURE = 10  # steps of the first priority alone, at the end

Level = tuple[list[Scalar], list[list[Scalar]]]  # errors, and their slopes by the velocities of the joints


class Solution(NamedTuple):
    """Result of ``linkwork.kinematics.solve``.

    Attributes:
        q: Positions (nq,).
        solved: 1 where the error is at most the tolerance, else 0.
        error: Norm of the weighted errors of the first priority at ``q``, and of open loops.
        iterations: Number of Newton's steps.

    Example:
        >>> from linkwork.kinematics import Position, solve
        >>> f = robot.function(lambda robot, p, q: solve(robot, Position("panda_link8", p), q)._asdict(), p=(3,))
        >>> bool(f([0.5, 0.1, 0.4], [0, -0.5, 0, -2, 0, 1.5, 0.8]).solved)
        True
    """

    q: Any
    solved: Any
    error: Any
    iterations: Any


def solve(
    robot: TracedRobot,
    tasks: Task | Sequence[Task],
    guess: Any,
    *,
    posture: Any = None,
    limits: bool = True,
    tolerance: Any = 1e-9,
    iterations: int = 40,
) -> Solution:
    """Solve tasks inside a function of your own, by a loop of Newton's steps from a guess.

    Each step is the damped least-squares step of the tasks and of the loops of the robot. Joints that it would take
    over their limits stop there, and the others are solved for again. Derivatives are those of the solution, by the
    implicit function theorem; the guess has none. If tasks of the first priority leave joints free, derivatives belong
    to the shortest change of q, also with a posture.

    Args:
        robot: The robot inside the function.
        tasks: One task or several, with traced targets.
        guess: Positions (nq,) from which the steps start.
        posture: Positions (nq,) that joints approach as far as the tasks leave them free. Default: none.
        limits: Whether joints stay within their limits. Default: True.
        tolerance: Error at which a state is solved. Default: 1e-9.
        iterations: Largest number of steps. Default: 40.

    Returns:
        Solution ``(q, solved, error, iterations)``.

    Raises:
        ShapeError: There are no tasks, or shapes do not fit.
        UnsupportedError: ``iterations`` is not a whole number above zero.

    Example:
        >>> from linkwork.kinematics import Pose, solve
        >>> def reach(robot, target, q):
        ...     return solve(robot, Pose("panda_link8", target), q)._asdict()
        >>> f = robot.function(reach, target=(4, 4))
        >>> q = np.array([0, -0.5, 0, -2, 0, 1.5, 0.8])
        >>> result = f(robot.pose("panda_link8", q + 0.1), q)
        >>> bool(result.solved), bool(result.error < 1e-9)
        (True, True)
    """
    tasks, nq = listed(tasks, WHERE), robot.model.nq
    if isinstance(iterations, bool) or not isinstance(iterations, (int, np.integer)) or iterations < 1:
        raise UnsupportedError("wrong number of iterations", where=WHERE, got=repr(iterations), expected="1, 2, 3, ...")
    require_shape(guess, (nq,), f"{WHERE}, guess")
    if posture is not None:
        require_shape(posture, (nq,), f"{WHERE}, posture")
    for task in tasks:
        for name, shape in task.shapes.items():
            require_shape(getattr(task, name), shape, f"{WHERE}, {type(task).__name__} {name}")
    box = Box(robot.model, limits)
    start = box.inside(nested_nodes(TracedArray(guess)))
    several = posture is not None or len({task.priority for task in tasks}) > 1
    bound, steps = TracedArray(tolerance).nodes(), 0
    if several:
        rest = None if posture is None else nested_nodes(TracedArray(posture))
        start, steps = _settled(robot, tasks, box, rest, start, iterations, bound)
    first = [task for task in tasks if task.priority == min(each.priority for each in tasks)]

    def step(q: Scalars) -> tuple[list[Scalar], Scalar]:
        system = System(robot, first, q)
        x = box.held(q, lambda free, fixed: by_priority(system.levels, free, fixed, _damping)[1])
        return box.inside(robot.model.moved(q, x)), system.size

    q, *others = root_of(step, start, PURE if several else iterations, bound)
    solved, error, more = (TracedArray(x)[()] for x in others)
    return Solution(TracedArray(q), solved, error, more + steps)


def _settled(
    robot: TracedRobot, tasks: Sequence[Task], box: Box, posture: Scalars | None, start: Scalars, turns: int, bound: Any
) -> tuple[list[Scalar], Scalar]:
    """Return positions at which tasks of all priorities and the posture are settled, and the number of steps.

    The part of a step that is not of the first priority is scaled by what became of the last one, as in the gradient
    method of Barzilai and Borwein (1988): where tasks cannot be fulfilled, plain steps may overshoot or creep.
    """
    model = robot.model
    n, nv = model.nq, model.coordinates.nv

    def turn(values: Sequence[Scalar]) -> list[Scalar]:
        q, before, made, (count, _) = values[:n], values[n : n + nv], values[n + nv : -2], values[-2:]
        system = System(robot, tasks, q)
        wish = None if posture is None else system.away(posture)
        rest: list[Scalar] = []

        def solved(free: Scalars, fixed: Scalars) -> list[Scalar]:
            first, x = by_priority(system.levels, free, fixed, _damping, wish)
            rest[:] = (a - b for a, b in zip(x, first, strict=True))
            pace = _pace(before, made, rest)
            return [a + pace * b for a, b in zip(first, rest, strict=True)]

        x = box.held(q, solved)
        pace = _pace(before, made, rest)
        size = maximum(system.size, (bound / SETTLED) ** 2 * dot(rest, rest))
        return [*box.inside(model.moved(q, x)), *rest, *(pace * x for x in rest), count + 1, size]

    begin = [*start, *[0.0] * (2 * nv), 0.0, np.inf]
    roots = [(k, k) for k in range(n + 2 * nv)]  # q is a guess of what follows, so no turn needs derivatives
    *found, count, _ = looped(turn, lambda values: less(bound * bound, values[-1]), begin, turns, roots)
    return found[:n], count


def _pace(before: Scalars, made: Scalars, rest: Scalars) -> Scalar:
    """Return the factor on a step, from the last one and what that one made."""
    change, square = dot(made, before) - dot(made, rest), dot(made, made)
    falls = less(0, change)
    pace = where(falls, minimum(maximum(square / where(falls, change, 1), SLOWEST), FASTEST), 1)
    longest: Scalar = LEAST
    for value in rest:
        longest = maximum(longest, absolute(value))
    return minimum(pace, STRIDE / longest)


def _damping(_: int, rest: Scalars) -> Scalar:
    return DAMPING * dot(rest, rest)


class System:
    """The equations of tasks and loops at positions q: errors and slopes, the tasks by priority."""

    def __init__(self, robot: TracedRobot, tasks: Sequence[Task], q: Scalars):
        self.model, self.q = robot.model, q
        at, priorities = TracedArray([*q]), sorted({task.priority for task in tasks})
        each = [(task.priority, *task.linearised(robot, at)) for task in tasks]
        self.tasks = [_joined((nested_nodes(e), nested_nodes(J)) for n, e, J in each if n == k) for k in priorities]
        self.loops: Level = [], []
        self._wrong: Scalar = 0
        if self.model.constrained:
            equations = ConstraintEquations.closing(self.model, q)
            self.loops = [-x for x in equations.residual], equations.J
            for value in equations.aligned:
                self._wrong = self._wrong if is_one(value) else where(less(0, value), self._wrong, WRONG)

    @property
    def levels(self) -> list[Level]:
        """A level for each priority; the loops are part of the first."""
        return [_joined([self.tasks[0], self.loops]), *self.tasks[1:]]

    @property
    def size(self) -> Scalar:
        """Squared error of the first priority and of the loops."""
        return maximum(_square(self.tasks[0]) + _square(self.loops), self._wrong)

    def away(self, posture: Scalars) -> list[Scalar]:
        """Return the velocities that lead to a posture."""
        coordinates, goal = self.model.coordinates, [*posture]
        for at in coordinates.quaternions:  # of the two that are the same rotation, the nearer one
            side = where(less(dot(self.q[at], goal[at]), 0), -1, 1)
            goal[at] = [side * x for x in goal[at]]
        return coordinates.velocities_of(self.q, [a - b for a, b in zip(goal, self.q, strict=True)])


def by_priority(
    levels: Sequence[Level],
    free: Scalars,
    fixed: Scalars,
    damping: Callable[[int, Scalars], Scalar],
    wish: Scalars | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the step of all velocities for the first level, and for all.

    It is ``fixed`` where ``free`` is 0, and else the least squares of one level after another. A level uses what those
    before it leave free, and the ``wish`` what all leave. ``damping``: from the number of a level and what is left of
    its error.
    """
    first, x, above = [*fixed], [*fixed], []
    for number, (error, J) in enumerate(levels):
        if not error:
            continue
        rows = [[a * b for a, b in zip(row, free, strict=True)] for row in J]
        for inverse in above:
            rows = [inverse.without(row) for row in rows]
        floor = FLOOR * sum(dot(row, row) for row in J) if above else 0  # what is left of rows is perhaps rounding
        rest = [e - dot(row, x) for e, row in zip(error, J, strict=True)]
        x = [a + b for a, b in zip(x, LeastSquares(rows, damping(number, rest) + floor)(rest), strict=True)]
        if number == 0:
            first = x
        if number + 1 < len(levels) or wish:
            above.append(LeastSquares(rows, floor))
    if wish:
        more = [f * (a - b) for f, a, b in zip(free, wish, x, strict=True)]
        for inverse in above:
            more = inverse.without(more)
        x = [a + b for a, b in zip(x, more, strict=True)]
    return first, x


def _joined(levels: Iterable[Level]) -> Level:
    errors, slopes = zip(*levels, strict=True)
    return [x for error in errors for x in error], [row for J in slopes for row in J]


def _square(level: Level) -> Scalar:
    return dot(level[0], level[0])


class LeastSquares:
    """Solver of J x = b in the damped least-squares sense, by the smaller of J J^T and J^T J."""

    def __init__(self, rows: Sequence[Scalars], damping: Scalar = 0):
        n = len(rows[0])
        self.rows, self.tall = rows, len(rows) >= n
        self.columns = [[row[k] for row in rows] for k in range(n)]
        vectors = self.columns if self.tall else rows
        A = [[dot(a, b) for b in vectors[: i + 1]] for i, a in enumerate(vectors)]
        damping = damping + FLOOR * sum((row[-1] for row in A), start=0) + LEAST
        for row in A:
            row[-1] = row[-1] + damping
        self.factors = ldl.factor([[*row, *[0] * (len(A) - len(row))] for row in A])

    def __call__(self, b: Scalars) -> list[Scalar]:
        """Return x."""
        if self.tall:
            return ldl.solve(*self.factors, [dot(column, b) for column in self.columns])
        y = ldl.solve(*self.factors, b)
        return [dot(column, y) for column in self.columns]

    def without(self, x: Scalars) -> list[Scalar]:
        """Return the part of x that does not change J x."""
        return minus_scaled([*x], 1, self([dot(row, x) for row in self.rows]))


class Box:
    """The limits of the positions, and of those that mimic joints give them."""

    def __init__(self, model: Model, limits: bool = True):
        coordinates = model.coordinates
        self.places = [coordinates.position_of(k) for k in range(coordinates.nv)]
        self.lower, self.upper = position_limits(model) if limits else (np.full(model.nq, s * np.inf) for s in (-1, 1))
        bounded = np.isfinite(self.lower) | np.isfinite(self.upper)
        self.limited = [(k, at) for k, at in enumerate(self.places) if at is not None and bounded[at]]

    def inside(self, q: Scalars) -> list[Scalar]:
        """Return the positions of q within the limits."""
        sides = zip(q, self.lower.tolist(), self.upper.tolist(), strict=True)
        return [_clipped(x, low, high) for x, low, high in sides]

    def held(
        self, q: Scalars, solved: Callable[[Scalars, Scalars], list[Scalar]], free: Scalars | None = None
    ) -> list[Scalar]:
        """Return a step in which joints that it would take over their limits stop there, and the others go on.

        ``solved`` gives it from two vectors: 1 for joints that are free, and the steps of the others. ``free``: the
        joints that are free at first. Default: all.
        """
        free = [1] * len(self.places) if free is None else [*free]
        fixed: list[Scalar] = [0] * len(free)
        x = solved(free, fixed)
        for k, at in self.limited:
            ahead, low, high = q[at] + x[k], self.lower[at].item(), self.upper[at].item()
            below, above = less_equal(ahead, low + CLOSE), less_equal(high - CLOSE, ahead)
            fixed[k] = where(below, low - q[at], where(above, high - q[at], 0))
            free[k] = where(maximum(below, above), 0, free[k])
        return solved(free, fixed) if self.limited else x

    def free(self, q: Scalars, push: Scalars | None = None) -> list[Scalar]:
        """Return 1 for joints between their limits, or not at the limit to which they are pushed, and else 0."""
        free: list[Scalar] = [1] * len(self.places)
        for k, at in self.limited:
            rooms = less(self.lower[at].item(), q[at]), less(q[at], self.upper[at].item())
            free[k] = minimum(*rooms) if push is None else where(less(0, push[k]), rooms[1], rooms[0])
        return free


def position_limits(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest positions (nq,) at which no joint, mimic joints included, is over its limits."""
    lower, upper = model.coordinates.lower.copy(), model.coordinates.upper.copy()
    for joint in model.tree.joints:
        if joint.leader is not None and joint.kind.bounded and joint.multiplier:
            at = model.coordinates.positions.places[joint.leader]
            low, high = sorted((limit - joint.offset) / joint.multiplier for limit in (joint.lower, joint.upper))
            ends = _rounded_inward(joint, low, high), _rounded_inward(joint, high, low)
            lower[at], upper[at] = np.maximum(lower[at], ends[0]), np.minimum(upper[at], ends[1])
    if np.any(lower > upper):
        at = int(np.argmax(lower > upper))
        raise LinkworkError(
            "limits of mimic joints leave no positions for the joint that they follow",
            where=f"joint {model.coordinates.names[at]!r} of robot {model.name!r}",
            got=f"at least {lower[at]:.6g} and at most {upper[at]:.6g}",
            fix="change these limits, or solve with limits=False",
        )
    return lower, upper


def _rounded_inward(joint: Joint, x: float, inside: float) -> float:
    """Return the position next to x, on the side of another, at which a mimic joint is within its limits exactly."""
    while x != inside and not joint.lower <= joint.multiplier * x + joint.offset <= joint.upper:
        x = float(np.nextafter(x, inside))
    return x


def _clipped(x: Scalar, low: float, high: float) -> Scalar:
    x = x if low == -np.inf else maximum(x, low)
    return x if high == np.inf else minimum(x, high)
