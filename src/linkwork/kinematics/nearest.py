"""Positions nearest to targets that cannot be reached: least squares of the errors within the limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..compose import TracedRobot
from ..iteration import looped, root_of
from ..program.traced_array import TracedArray, nested_nodes
from ..scalar import Scalar, less, maximum, sqrt, where
from ..scalar.orthogonal import dot
from .steps import Box, System, by_priority
from .tasks import Task

TURNS = 400
START, GROWTH, DECAY = 1e-3, 8.0, 0.3  # of Marquardt's damping
SHRINK = 0.25  # a step that increases the error is shortened to this share
END = 1e-11  # step at which the search ends, in rad or m
OPEN = 1e3  # weight of open loops among the errors
CLOSING = 10  # steps that close loops at the end


def nearest(robot: TracedRobot, tasks: Sequence[Task], guess: Any, limits: bool) -> tuple[Any, Any]:
    """Return positions within the limits with the least sum of squared errors near a guess, and the root of this sum.

    Levenberg-Marquardt method. Each turn evaluates one trial: if it is better than the best so far, the next trial is a
    step from there with less damping; otherwise the trial moves towards the best. Loops of the robot have priority.
    """
    model, box = robot.model, Box(robot.model, limits)
    n, start = model.nq, box.inside(nested_nodes(TracedArray(guess)))

    def turn(values: Sequence[Scalar]) -> list[Scalar]:
        best, trial, least, damping, _ = values[:n], values[n : 2 * n], *values[2 * n :]
        system = System(robot, tasks, trial)
        wanted, loops = system.tasks[0], system.loops
        cost = dot(wanted[0], wanted[0]) + OPEN * dot(loops[0], loops[0])
        better = less(cost, least)
        damping = where(better, maximum(damping * DECAY, 1e-12), damping * GROWTH)
        x = box.held(trial, lambda free, fixed: by_priority([loops, wanted], free, fixed, lambda k, _: k and damping))
        ahead = box.inside(model.moved(trial, x))
        back = model.coordinates.normalised([b + SHRINK * (t - b) for b, t in zip(best, trial, strict=True)])
        following = [where(better, a, b) for a, b in zip(ahead, back, strict=True)]
        best = [where(better, t, b) for t, b in zip(trial, best, strict=True)]
        far = [a - b for a, b in zip(following, best, strict=True)]
        return [*best, *following, where(better, cost, least), damping, dot(far, far)]

    begin = [*start, *start, float("inf"), START, 1.0]
    *found, _, _, _ = looped(turn, lambda values: less(END * END, values[-1]), begin, TURNS)
    q = found[:n]
    if model.constrained:

        def close(q: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
            loops = System(robot, [], q).loops
            x = box.held(q, lambda free, fixed: by_priority([loops], free, fixed, lambda *_: 0))
            return box.inside(model.moved(q, x)), dot(loops[0], loops[0])

        q, *_ = root_of(close, q, CLOSING, 1e-12)
    return TracedArray(q), TracedArray(sqrt(System(robot, tasks, q).size))[()]
