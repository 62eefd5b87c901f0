"""Which equations of the loops count: a planar loop has six, three of them follow from the others.

Those are taken that stay well apart over the positions the robot can reach, not at home alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..model import Model
from ..spatial import Vector
from .equations import LoopEquations, Way, holding_positions
from .projection import closer, numbers, shortest

HEADINGS, STRIDES, STRIDE = 2, 45, 0.15  # walks from home both ways along the freedoms, about a turn; radians
NOTHING = 1e-9  # of slopes without units: less is rounding
ROUNDINGS = 64 * np.finfo(float).eps  # of the largest coordinate: what differences of positions may be off by
BETTER = 1.05  # how many times better a choice must be to be preferred to one found before


def independent_rows(model: Model, rank: int, closing: int) -> tuple[int, ...]:
    """As many rows of the loops' Jacobian as its ``rank``; of those that hold positions, ``closing``."""
    home = np.array(model.home)
    seen = [leading_jacobian(model, home)]
    some = _telling(seen)
    if len(some) == rank:
        return some
    seen += _around(model, home, rank)
    some = _telling(seen)
    best, worst = (), 0.0
    first = [row for row in some if holding_positions(model)[row]]
    for rows in dict.fromkeys(_well_apart(J, [*[first] * closing, *[some] * (rank - closing)]) for J in seen):
        if (least := min(_apart(other, rows) for other in seen)) > BETTER * worst:
            best, worst = rows, least
    return best


def _telling(seen: list[np.ndarray]) -> tuple[int, ...]:
    """Rows that are not zero everywhere."""
    sizes = np.max([np.abs(J).max(axis=1, initial=0.0) for J in seen], axis=0)
    return tuple(np.flatnonzero(sizes > NOTHING * sizes.max(initial=0.0)).tolist())


def _around(model: Model, home: np.ndarray, rank: int) -> list[np.ndarray]:
    """Jacobians at positions along walks from home."""
    ways, found = np.random.default_rng(0).normal(size=(HEADINGS, model.n_leading)), []
    every = np.eye(model.n_leading)
    for heading in (*ways, *-ways):
        q, J = home, leading_jacobian(model, home)
        units = velocity_units(model, home)
        for _ in range(STRIDES):
            free = np.linalg.svd(J)[2][rank:]
            if not len(free):
                return found
            step = (heading @ free.T) @ free
            heading = step  # as straight on as the loops allow
            q = np.array(model.moved(q.tolist(), (STRIDE * units * step / np.abs(step).max()).tolist()))
            for _ in range(3 if all(holding_positions(model)) else 1):
                q = np.array(closer(LoopEquations.closing(model, q.tolist()), q.tolist(), shortest(every)))
            if not np.abs(LoopEquations.closing(model, q.tolist()).residual).max(initial=0.0) < 1e-3:
                break  # the end of what can be reached this way
            found.append(J := leading_jacobian(model, q))
    return found


def _well_apart(J: np.ndarray, choices: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Row by row, of each of the ``choices``, the one with the most that the others do not say."""
    rest, chosen = J.copy(), []
    for rows in choices:
        sizes = [np.linalg.norm(rest[r]) if r not in chosen else 0.0 for r in rows]
        best = rows[int(np.argmax(np.round(np.array(sizes) / max(sizes), 6)))]  # the first of equals
        direction = rest[best] / np.linalg.norm(rest[best])
        rest = rest - np.outer(rest @ direction, direction)
        chosen.append(best)
    return tuple(sorted(chosen))


def _apart(J: np.ndarray, rows: tuple[int, ...]) -> float:
    """The least singular value of these rows beside the least one of all that is not zero."""
    own, whole = (np.linalg.svd(part, compute_uv=False) for part in (J[list(rows)], J))
    return float(own[len(rows) - 1] / max(whole[len(rows) - 1], 1e-300))


def leading_jacobian(model: Model, q: np.ndarray) -> np.ndarray:
    """Rates of the residual per velocity of each leading joint, at the user's q, for ranks and choices: without units,
    so that these are the same for a robot of any size, and without rounding, wherever it stands.

    Lengths count in a unit of the robot's size, in rows and in columns. Rows of gears are divided by their largest
    entry: a fine screw counts no more than a wheel. What is less than NOTHING, or than the rounding of the positions
    that arms are differences of, is zero.
    """
    equations = LoopEquations.at(model, q.tolist())
    unit, far = lengths(equations)
    J = numbers(equations.J, model.n_leading) * _velocity_units(model, unit)
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


def lengths(equations: LoopEquations) -> tuple[float, float]:
    """The unit in which those of a mechanism are measured: millimetre, metre, kilometre and so on, whichever is nearest
    to the longest arm, from a joint to where its loop was cut, or the largest wheel; a metre where there is none. And
    how far from the origin of a frame the numbers go that arms are differences of."""
    ways = [way for way in equations.ways() if isinstance(way, Way)]
    arms = [way.end.origin - step.at.origin for way in ways for step in way.steps]
    places = [place for way in ways for place in (way.begin, way.end.origin, *(step.at.origin for step in way.steps))]
    longest = max([_length(arm) for arm in arms] + [way.kind.reach for way in ways], default=0.0)
    far = max(map(_length, places), default=0.0)
    return (1000.0 ** round(math.log(longest, 1000)) if longest > ROUNDINGS * far else 1.0), far


def velocity_units(model: Model, q: np.ndarray) -> np.ndarray:
    """By how much a column of ``leading_jacobian`` moves its freedom, in radians or metres."""
    return _velocity_units(model, lengths(LoopEquations.at(model, q.tolist()))[0])


def _velocity_units(model: Model, unit: float) -> np.ndarray:
    return np.array([1.0 if turns else unit for joint in model.coordinates.joints for turns in joint.kind.turning])


def _length(x: Vector) -> float:
    return math.hypot(*map(float, x))


def closing_jacobian(model: Model, q: np.ndarray) -> np.ndarray:
    """The rows of it that hold positions."""
    return leading_jacobian(model, q)[list(holding_positions(model))]
