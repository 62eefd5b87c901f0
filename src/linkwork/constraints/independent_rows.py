"""Choose independent equations: a planar loop has six, and three of them follow from the others.

The choice is well conditioned over the positions that the robot can reach, and not at home alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..model import Model
from ..spatial import Vector
from .equations import ConstraintEquations, Way, holding_positions
from .projection import closer, numbers, shortest

HEADINGS, STRIDES, STRIDE = 2, 45, 0.15  # of walks from home in both directions, each about one turn; radians
NOTHING = 1e-9  # entries of Jacobians without units that are smaller are rounding errors
ROUNDINGS = 64 * np.finfo(float).eps  # rounding error of differences of positions, relative to the largest
BETTER = 1.05  # how many times better a choice must be to be preferred to one found before


def independent_rows(model: Model, rank: int, closing: int) -> tuple[int, ...]:
    """Return as many rows of the Jacobian as its ``rank``; ``closing`` of them constrain positions."""
    home = np.array(model.home)
    jacobians = [constraint_jacobian(model, home)]
    nonzero = _nonzero(jacobians)
    if len(nonzero) == rank:
        return nonzero
    jacobians += _around(model, home, rank)
    nonzero = _nonzero(jacobians)
    best, worst = (), 0.0
    first = [row for row in nonzero if holding_positions(model)[row]]
    choices = [*[first] * closing, *[nonzero] * (rank - closing)]
    for rows in dict.fromkeys(_well_conditioned(J, choices) for J in jacobians):
        if (least := min(_conditioning(other, rows) for other in jacobians)) > BETTER * worst:
            best, worst = rows, least
    return best


def _nonzero(jacobians: list[np.ndarray]) -> tuple[int, ...]:
    """Return the rows that are not zero in all Jacobians."""
    sizes = np.max([np.abs(J).max(axis=1, initial=0.0) for J in jacobians], axis=0)
    return tuple(np.flatnonzero(sizes > NOTHING * sizes.max(initial=0.0)).tolist())


def _around(model: Model, home: np.ndarray, rank: int) -> list[np.ndarray]:
    """Return Jacobians at positions along walks from home."""
    ways, jacobians = np.random.default_rng(0).normal(size=(HEADINGS, model.coordinates.nv)), []
    every = np.eye(model.coordinates.nv)
    for heading in (*ways, *-ways):
        q, J = home, constraint_jacobian(model, home)
        units = velocity_units(model, home)
        for _ in range(STRIDES):
            free = np.linalg.svd(J)[2][rank:]
            if not len(free):
                return jacobians
            step = (heading @ free.T) @ free
            heading = step  # as straight as the loops allow
            q = np.array(model.moved(q.tolist(), (STRIDE * units * step / np.abs(step).max()).tolist()))
            for _ in range(3 if all(holding_positions(model)) else 1):
                q = np.array(closer(ConstraintEquations.closing(model, q.tolist()), q.tolist(), shortest(every)))
            if not np.abs(ConstraintEquations.closing(model, q.tolist()).residual).max(initial=0.0) < 1e-3:
                break  # no position farther in this direction can be reached
            jacobians.append(J := constraint_jacobian(model, q))
    return jacobians


def _well_conditioned(J: np.ndarray, choices: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return one row from each of the ``choices``, that with the largest part orthogonal to those before."""
    rest, choice = J.copy(), []
    for rows in choices:
        sizes = [np.linalg.norm(rest[r]) if r not in choice else 0.0 for r in rows]
        best = rows[int(np.argmax(np.round(np.array(sizes) / max(sizes), 6)))]  # the first of equals
        direction = rest[best] / np.linalg.norm(rest[best])
        rest = rest - np.outer(rest @ direction, direction)
        choice.append(best)
    return tuple(sorted(choice))


def _conditioning(J: np.ndarray, rows: tuple[int, ...]) -> float:
    """Return the smallest singular value of these rows, relative to the smallest nonzero one of all rows."""
    choice, every = (np.linalg.svd(part, compute_uv=False) for part in (J[list(rows)], J))
    return float(choice[len(rows) - 1] / max(every[len(rows) - 1], 1e-300))


def constraint_jacobian(model: Model, q: np.ndarray) -> np.ndarray:
    """Return the Jacobian of the constraints for the velocities of the non-mimic joints, at the user's q, for ranks and
    choices. It has no units, so these do not depend on the size of the robot, and no rounding errors.

    Lengths in rows and columns are measured in a unit near the robot's size. Rows of gears are divided by their largest
    entry, so that a fine screw counts no more than a wheel. Entries below NOTHING, or below the rounding error of the
    positions whose differences are lever arms, are zero.
    """
    equations = ConstraintEquations.at(model, q.tolist())
    unit, far = lengths(equations)
    J = numbers(equations.J, model.coordinates.nv) * _velocity_units(model, unit)
    at = 0
    for loop in model.permanent:
        rows = J[at : at + len(loop.kind.rows)]
        at += len(rows)
        if loop.kind.coordinates:
            rows /= np.abs(rows).max(initial=1e-300)
            continue
        rows /= np.where(loop.kind.turning, 1.0, unit)[:, None]
        rows[np.abs(rows) <= max(NOTHING, ROUNDINGS * far / unit)] = 0.0
    return J


def lengths(equations: ConstraintEquations) -> tuple[float, float]:
    """Return the unit of length of a mechanism, and the largest distance of a point from the origin of its frame.

    The unit is a millimetre, metre, kilometre and so on, nearest to the longest lever arm from a joint to the cut of
    its loop, or to the largest wheel; a metre where there is none.
    """
    ways = [way for way in equations.ways() if isinstance(way, Way)]
    arms = [way.end.origin - step.at.origin for way in ways for step in way.steps]
    places = [place for way in ways for place in (way.begin, way.end.origin, *(step.at.origin for step in way.steps))]
    longest = max([_length(arm) for arm in arms] + [way.kind.reach for way in ways], default=0.0)
    far = max(map(_length, places), default=0.0)
    return (1000.0 ** round(math.log(longest, 1000)) if longest > ROUNDINGS * far else 1.0), far


def velocity_units(model: Model, q: np.ndarray) -> np.ndarray:
    """Return the velocity, in rad or m, that a column of ``constraint_jacobian`` stands for."""
    return _velocity_units(model, lengths(ConstraintEquations.at(model, q.tolist()))[0])


def _velocity_units(model: Model, unit: float) -> np.ndarray:
    return np.array([1.0 if turns else unit for joint in model.coordinates.joints for turns in joint.kind.turning])


def _length(x: Vector) -> float:
    return math.hypot(*map(float, x))


def closing_jacobian(model: Model, q: np.ndarray) -> np.ndarray:
    """Return the rows of ``constraint_jacobian`` that constrain positions."""
    return constraint_jacobian(model, q)[list(holding_positions(model))]
