"""What a recording does not tell, in words, and which motion would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..logs.log import Log
from .unknowns import Unknowns

SHARE = 0.3  # of the largest entry: parameters and joints that are named
TRIED = 64  # states
ROUNDED = 1e-10  # of the largest entry of Y: less is rounding
MOST = 12  # directions, and names in one, that are told


def unseen_in_words(unknowns: Unknowns, logs: Sequence[Log], unseen: np.ndarray) -> tuple[list[str], list[str]]:
    """Of each direction (columns): the parameters in it, and the joints that would tell it if they moved more; and
    those that no motion of the robot tells, of a load say."""
    told, never = [], []
    for direction in _apart(unseen).T[:MOST]:
        size = np.abs(direction) / np.abs(direction).max()
        order = [k for k in np.argsort(-size) if size[k] > SHARE]
        names = [unknowns.names[k] for k in order[:MOST]] + ["..."] * (len(order) > MOST)
        together = "together, " if len(names) > 1 else ""
        if movers := _movers(unknowns, logs, direction):
            told.append(f"{', '.join(names)}: {together}would be told by motion of {', '.join(movers)}")
        else:
            never.append(f"{', '.join(names)}: {together}told by no motion of these joints")
    if unseen.shape[1] > MOST:
        (told or never).append(f"and {unseen.shape[1] - MOST} further combinations")
    return told, never


def _apart(unseen: np.ndarray) -> np.ndarray:
    """The same directions, each with an entry of one that the others have not: parameters that are untold by themselves
    stand alone."""
    found = unseen / np.abs(unseen).max(axis=0, initial=np.finfo(float).tiny)
    free = np.arange(found.shape[1])
    for k in free:
        row = int(np.argmax(np.abs(found[:, k])))
        found[:, k] /= found[row, k]
        others = free != k
        found[:, others] -= np.outer(found[:, k], found[row, others])
    return found


def _movers(unknowns: Unknowns, logs: Sequence[Log], direction: np.ndarray) -> list[str]:
    """Joints whose own motion, all else as it was measured, would make the forces depend on this direction."""
    robot, rng = unknowns.robot, np.random.default_rng(0)
    model = robot.model
    at = [(log, k) for log in logs for k in rng.integers(0, len(log), TRIED // len(logs) + 1)]
    q, v, a = (np.array([getattr(log, name)[k] for log, k in at]) for name in ("q", "v", "a"))
    names = model.coordinates.of_freedoms(model.mobility.independent).names
    found, size, before = np.zeros(len(names)), 0.0, unknowns.regressor(q, v, a) @ direction  # before: noise
    for k in range(len(names)):
        moved, speed, change = q.copy(), v.copy(), a.copy()
        place = model.coordinates.position_of(model.mobility.independent[k])
        if place is not None and not model.constrained:  # closed positions cannot be changed one by one
            moved[:, place] += rng.uniform(-1, 1, len(q))
        speed[:, k], change[:, k] = rng.uniform(-2, 2, (2, len(q)))
        Y = unknowns.regressor(moved, speed, change)
        found[k], size = np.sqrt(np.mean((Y @ direction - before) ** 2)), max(size, float(np.abs(Y).max(initial=0.0)))
    largest = found.max(initial=0.0)
    if largest <= ROUNDED * size * np.abs(direction).max():
        return []
    return [names[k] for k in np.argsort(-found) if found[k] > SHARE * largest]
