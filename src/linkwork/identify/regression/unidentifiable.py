"""Descriptions of the parameters that a recording does not identify, and of the motion that would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..logs.log import Log
from .unknowns import Unknowns

SHARE = 0.3  # parameters and joints above this share of the largest entry are named
TRIED = 64  # number of states
ROUNDED = 1e-10  # of the largest entry of Y: less is rounding
MOST = 12  # largest number of directions, and of names in one


def describe_unidentifiable(unknowns: Unknowns, logs: Sequence[Log], unseen: np.ndarray) -> tuple[list[str], list[str]]:
    """Describe directions (columns of ``unseen``) by their parameters and the joints that must move to identify them.

    Returns:
        Descriptions of the directions that some motion identifies, and of those that none does, as of a payload.
    """
    some, never = [], []
    for direction in _apart(unseen).T[:MOST]:
        size = np.abs(direction) / np.abs(direction).max()
        order = [k for k in np.argsort(-size) if size[k] > SHARE]
        names = [unknowns.names[k] for k in order[:MOST]] + ["..."] * (len(order) > MOST)
        together = "together, " if len(names) > 1 else ""
        if movers := _movers(unknowns, logs, direction):
            some.append(f"{', '.join(names)}: {together}would be identified by motion of {', '.join(movers)}")
        else:
            never.append(f"{', '.join(names)}: {together}identified by no motion of these joints")
    if unseen.shape[1] > MOST:
        (some or never).append(f"and {unseen.shape[1] - MOST} further combinations")
    return some, never


def _apart(unseen: np.ndarray) -> np.ndarray:
    """Return the same directions, each with a one where the others are zero, so that single parameters stand alone."""
    directions = unseen / np.abs(unseen).max(axis=0, initial=np.finfo(float).tiny)
    free = np.arange(directions.shape[1])
    for k in free:
        row = int(np.argmax(np.abs(directions[:, k])))
        directions[:, k] /= directions[row, k]
        others = free != k
        directions[:, others] -= np.outer(directions[:, k], directions[row, others])
    return directions


def _movers(unknowns: Unknowns, logs: Sequence[Log], direction: np.ndarray) -> list[str]:
    """Return joints whose motion, all else as measured, would make the forces depend on this direction."""
    robot, rng = unknowns.robot, np.random.default_rng(0)
    model = robot.model
    samples = [(log, k) for log in logs for k in rng.integers(0, len(log), TRIED // len(logs) + 1)]
    q, v, a = (np.array([getattr(log, name)[k] for log, k in samples]) for name in ("q", "v", "a"))
    names = model.coordinates.of_freedoms(model.mobility.independent).names
    effects, size, noise = np.zeros(len(names)), 0.0, unknowns.regressor(q, v, a) @ direction
    for k in range(len(names)):
        positions, velocities, accelerations = q.copy(), v.copy(), a.copy()
        place = model.coordinates.position_of(model.mobility.independent[k])
        if place is not None and not model.constrained:  # closed positions cannot be changed one by one
            positions[:, place] += rng.uniform(-1, 1, len(q))
        velocities[:, k], accelerations[:, k] = rng.uniform(-2, 2, (2, len(q)))
        Y = unknowns.regressor(positions, velocities, accelerations)
        effects[k], size = np.sqrt(np.mean((Y @ direction - noise) ** 2)), max(size, float(np.abs(Y).max(initial=0.0)))
    largest = effects.max(initial=0.0)
    if largest <= ROUNDED * size * np.abs(direction).max():
        return []
    return [names[k] for k in np.argsort(-effects) if effects[k] > SHARE * largest]
