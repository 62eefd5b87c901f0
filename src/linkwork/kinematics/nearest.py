"""Positions nearest to targets that cannot be reached: least squares of the errors within the limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..compose import TracedRobot
from ..constraints.assembly_loop import closing_tolerance
from ..iteration import looped, root_of
from ..program.traced_array import TracedArray, nested_nodes
from ..scalar import Scalar, Scalars, less, less_equal, maximum, sqrt, where
from ..scalar.orthogonal import dot
from .steps import Box, LeastSquares, Level, System, by_priority
from .tasks import Task

TURNS = 100  # in one call
START, GROWTH, DECAY = 1e-3, 8.0, 0.3  # of Marquardt's damping
END = 1e-11  # step at which the search ends, in rad or m
OPEN = 1e3  # weight of open loops among the errors
CLOSING = 10  # steps that close loops at the end
CLOSED = 1e-9  # residual of closed loops, in m and rad


def nearest(robot: TracedRobot, tasks: Sequence[Task], guess: Any, limits: bool) -> tuple[Any, Any, Any]:
    """Return positions within the limits with the least sum of squared errors near a guess, and the root of this sum.

    Levenberg-Marquardt method; loops of the robot have priority. A joint at a limit stays there as long as the errors
    push it over this limit. The third result is the last step, at most END if the search has ended. The error is
    infinite if loops do not close.
    """
    model, box = robot.model, Box(robot.model, limits)
    start = box.inside(nested_nodes(TracedArray(guess)))

    def turn(values: Sequence[Scalar]) -> list[Scalar]:
        *q, damping, _ = values
        system = System(robot, tasks, q)
        levels = [system.loops, system.tasks[0]]
        free = _free(box, q, *levels)
        x = box.held(q, lambda free, fixed: by_priority(levels, free, fixed, lambda k, _: k and damping)[1], free)
        trial = box.inside(model.moved(q, x))
        better = less(_cost(System(robot, tasks, trial)), _cost(system))
        following = [where(better, t, at) for t, at in zip(trial, q, strict=True)]
        damping = where(better, maximum(damping * DECAY, 1e-12), damping * GROWTH)
        return [*following, damping, sqrt(dot(x, x))]

    *q, _, step = looped(turn, lambda values: less(END, values[-1]), [*start, START, 1.0], TURNS)
    if model.constrained:

        def close(q: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
            loops = System(robot, [], q).loops
            x = box.held(q, lambda free, fixed: by_priority([loops], free, fixed, lambda *_: 0)[1])
            return box.inside(model.moved(q, x)), dot(loops[0], loops[0])

        q, *_ = root_of(close, q, CLOSING, 1e-12)
    system = System(robot, tasks, q)
    error = sqrt(system.size)
    if model.constrained:
        closed = less_equal(dot(system.loops[0], system.loops[0]), max(CLOSED, closing_tolerance(model)) ** 2)
        error = where(closed, error, float("inf"))
    return TracedArray(q), TracedArray(error)[()], TracedArray(step)[()]


def _cost(system: System) -> Scalar:
    (wanted, _), (loops, _) = system.tasks[0], system.loops
    return dot(wanted, wanted) + OPEN * dot(loops, loops)


def _free(box: Box, q: Scalars, loops: Level, wanted: Level) -> list[Scalar]:
    """Return 1 for each joint but those at limits over which the errors push them, against the forces of the loops."""
    push = [dot(column, wanted[0]) for column in zip(*wanted[1], strict=True)]
    if loops[1]:
        between = box.free(q)
        columns = [*zip(*loops[1], strict=True)]
        forces = LeastSquares([[k * x for x in column] for k, column in zip(between, columns, strict=True)])(
            [k * x for k, x in zip(between, push, strict=True)]
        )
        push = [x - dot(column, forces) for x, column in zip(push, columns, strict=True)]
    return box.free(q, push)
