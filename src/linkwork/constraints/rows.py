"""Which equations of the loops count: a planar loop has six, three of them follow from the others.

Those are taken that stay well apart over the positions the robot can reach, not at home alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model import Model
from .closing import closer, numbers, shortest
from .equations import LoopEquations, holding_positions

HEADINGS, STRIDES, STRIDE = 2, 45, 0.15  # walks from home both ways along the freedoms, about a turn; radians or metres
NOTHING = 1e-9  # of the largest row: one that is never larger tells nothing
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
        for _ in range(STRIDES):
            free = np.linalg.svd(J)[2][rank:]
            if not len(free):
                return found
            step = (heading @ free.T) @ free
            heading = step  # as straight on as the loops allow
            q = np.array(model.moved(q.tolist(), (STRIDE * step / np.abs(step).max()).tolist()))
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
    """Rates of the residual per velocity of each leading joint, at the user's q; of gears per largest ratio, so that a
    fine screw counts no more than a wheel where ranks are told."""
    sizes = [max((abs(x) for _, x in loop.kind.ratios), default=1.0) for loop in model.loops for _ in loop.kind.rows]
    return numbers(LoopEquations.at(model, q.tolist()).J, model.n_leading) / np.array(sizes)[:, None]


def closing_jacobian(model: Model, q: np.ndarray) -> np.ndarray:
    """The rows of it that hold positions."""
    return leading_jacobian(model, q)[list(holding_positions(model))]
