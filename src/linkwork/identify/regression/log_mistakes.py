"""Which mistake in a recording would explain it: columns that were exchanged, signs, degrees.

Each is undone on some samples, and plain least squares decide whether they explain these better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...model import Model
from ..logs.log import Log
from ..logs.log_noise import white_level
from .stacked_regressor import applied
from .unknowns import Unknowns

SAMPLES = 400  # that are tried
BETTER = 0.25  # of the squares that are left without it, at most
ENOUGH = 0.1  # of the squares of the forces: what leaves more explains nothing
STEP = 0.9  # of the squares that were left before: worth another exchange
ROUNDS = 3  # exchanges or signs, one after another
SMALL = 0.05  # of the largest force: smaller ones are weighted as if they had this size
UNLIKE = 0.5  # correlation with forces of the other sign that no fit finds
NOISE = 0.5  # of the squares of the forces: there is little else to explain
RIDGE = 1e-12  # added to squares of columns of length one
DEGREE = np.pi / 180


class Samples(NamedTuple):
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


class Place(NamedTuple):
    """Columns of a joint: where it stands in q, in v and a, and in tau; None where it has no column of its own."""

    name: str
    q: int | None
    v: int | None
    tau: int | None
    turns: bool


def mistake_in(unknowns: Unknowns, log: Log) -> str:
    """What to look at, in words; empty if no mistake that is tried explains the forces."""
    samples, wrenches = _samples(unknowns, log)
    model = unknowns.robot.model
    driven = driven_of(model)
    noise = (white_level(log.tau) * _weights(samples.tau))[driven]
    floor = float(np.mean(noise**2)) if driven else 1.0
    if floor > NOISE:
        return ""

    def left(each: Samples) -> float:
        return max(_left(unknowns, each, wrenches) / len(driven) - floor, 0.0)

    before = left(samples)
    best, text = min(BETTER * before, ENOUGH), ""
    for question, rounds, undo in _mistakes(_places(model)):
        undone, rest, names = samples, before, []
        for _ in range(rounds):
            tries = [(left(each), name, each) for name, each in undo(undone)]
            if not tries or (first := min(tries, key=lambda one: one[0]))[0] > STEP * rest:
                break
            rest, name, undone = first
            names.append(name)
        if names and rest < best:
            best, text = rest, question.format(", then ".join(names))
    return text


def _mistakes(places: Sequence[Place]) -> Iterator[tuple[str, int, Callable[[Samples], Iterator[tuple[str, Samples]]]]]:
    """A question for each kind of mistake, how often it may have been made, and all ways to undo one of them."""
    forced = [place for place in places if place.tau is not None]
    moving = [place for place in places if place.q is not None]
    whole = [place for place in forced if place.q is not None]
    kinds = {
        "tau": (forced, ("tau",)),
        "q, v and a": (moving, ("q", "v", "a")),
        "q, v, a and tau": (whole, Samples._fields),
    }
    for what, (chosen, arrays) in kinds.items():

        def exchanged(samples, chosen=chosen, arrays=arrays):
            for one, other in combinations(chosen, 2):
                yield f"{one.name} and {other.name}", _changed(samples, arrays, (one, other), (other, one))

        def reversed_(samples, chosen=chosen, arrays=arrays):
            for one in chosen:
                yield one.name, _changed(samples, arrays, (one,), (one,), -1.0)
            if len(chosen) > 1:
                yield "all joints", _changed(samples, arrays, chosen, chosen, -1.0)

        yield f"are the columns of {what} of {{}} exchanged?", ROUNDS, exchanged
        yield f"is the sign of {what} of {{}} wrong?", ROUNDS, reversed_
    turning = [place for place in moving if place.turns]
    for what, arrays in (("q", ("q",)), ("q, v and a", ("q", "v", "a"))):

        def in_radians(samples, arrays=arrays):
            yield "all joints", _changed(samples, arrays, turning, turning, DEGREE)

        yield f"is {what} of {{}} in degrees?", 1, in_radians


def _changed(
    samples: Samples, arrays: Sequence[str], to: Sequence[Place], of: Sequence[Place], factor: float = 1.0
) -> Samples:
    """Columns of some joints in the place of those of others, times a factor."""
    changes = {}
    for name in arrays:
        kind = "v" if name == "a" else name
        array = getattr(samples, name).copy()
        array[:, [getattr(x, kind) for x in to]] = factor * array[:, [getattr(x, kind) for x in of]]
        changes[name] = array
    return samples._replace(**changes)


def _places(model: Model) -> list[Place]:
    """Where loops are closed, positions cannot be changed one by one."""
    independent, forced = list(model.mobility.independent), list(model.mobility.forced)
    names = model.coordinates.of_freedoms(range(model.coordinates.nv)).names
    found = []
    for freedom, name in enumerate(names):
        moves = freedom in independent and not model.constrained
        q = model.coordinates.position_of(freedom) if moves else None
        tau = forced.index(freedom) if freedom in forced and freedom in model.mobility.motors else None
        turns = bool(model.coordinates.joint_of(freedom).revolute)
        found.append(Place(name, q, independent.index(freedom) if moves else None, tau, turns))
    return found


def _samples(unknowns: Unknowns, log: Log) -> tuple[Samples, list[np.ndarray]]:
    rows = np.arange(len(log)) if log.keep is None else np.flatnonzero(log.keep)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), SAMPLES)).astype(int)]
    wrenches = [each[rows] for each in applied(unknowns.frames, log, slice(None))]
    return Samples(*(np.asarray(x[rows]) for x in (log.q, log.v, log.a, log.tau))), wrenches


def _weights(tau: np.ndarray) -> np.ndarray:
    sizes = np.std(tau, axis=0)
    return 1 / np.maximum(sizes, max(SMALL * sizes.max(), np.finfo(float).tiny))


def _left(unknowns: Unknowns, samples: Samples, wrenches: Sequence[np.ndarray]) -> float:
    """Sum over the forces of the mean squares that the best parameters leave, weighted; at least their number, if these
    parameters make a force the opposite of what was thought before."""
    q, v, a, tau = samples
    Y, z, weights = unknowns.regressor(q, v, a), tau, _weights(tau)
    if unknowns.known is not None:
        z = z - unknowns.known(q, v, a, *wrenches)
    A, b = (Y * weights[:, None]).reshape(z.size, -1), (z * weights).ravel()
    scale = np.linalg.norm(A, axis=0)
    unit = A / np.where(scale > 0, scale, 1.0)
    fitted = unit @ np.linalg.solve(unit.T @ unit + RIDGE * np.eye(len(scale)), unit.T @ b)
    left = float(np.sum((fitted - b) ** 2)) / len(z)
    fitted, thought = fitted.reshape(z.shape), (A @ unknowns.base_prior).reshape(z.shape)
    alike = np.sum(fitted * thought, axis=0)
    opposed = alike < -UNLIKE * np.linalg.norm(fitted, axis=0) * np.linalg.norm(thought, axis=0)
    return max(left, float(z.shape[1])) if opposed.any() else left


def driven_of(model: Model) -> list[int]:
    """Places of the forces of motors."""
    return [k for k, freedom in enumerate(model.mobility.forced) if freedom in model.mobility.motors]
