"""Mistakes in a recording that would explain its forces: exchanged columns, wrong signs, degrees.

Each is undone on some samples, and plain least squares decide whether the samples are explained better.
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

SAMPLES = 400  # number of samples that are used
BETTER = 0.25  # a mistake must reduce the squared residual to this share
ENOUGH = 0.1  # ... and to this share of the squared forces
STEP = 0.9  # another exchange must reduce the squared residual to this share
ROUNDS = 3  # largest number of exchanges or signs
SMALL = 0.05  # of the largest force: smaller ones are weighted as if they had this size
UNLIKE = 0.5  # correlation with the negative of the prior's forces from which on a fit is rejected
NOISE = 0.5  # share of noise in the squared forces from which on nothing is tried
RIDGE = 1e-12  # regularisation, added to squares of columns of length one
DEGREE = np.pi / 180


class Samples(NamedTuple):
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


class Place(NamedTuple):
    """Columns of a joint in q, in v and a, and in tau; None where it has no column of its own."""

    name: str
    q: int | None
    v: int | None
    tau: int | None
    turns: bool


def mistake_in(unknowns: Unknowns, log: Log) -> str:
    """Return a question about the most likely mistake; empty if no mistake explains the forces."""
    samples, wrenches = _samples(unknowns, log)
    model = unknowns.robot.model
    motors = driven_of(model)
    noise = (white_level(log.tau) * _weights(samples.tau))[motors]
    floor = float(np.mean(noise**2)) if motors else 1.0
    if floor > NOISE:
        return ""

    def left(each: Samples) -> float:
        return max(_squared_residual(unknowns, each, wrenches) / len(motors) - floor, 0.0)

    before = left(samples)
    best, answer = min(BETTER * before, ENOUGH), ""
    for question, rounds, corrections in _mistakes(_places(model)):
        corrected, residual, names = samples, before, []
        for _ in range(rounds):
            trials = [(left(each), name, each) for name, each in corrections(corrected)]
            if not trials or (lowest := min(trials, key=lambda one: one[0]))[0] > STEP * residual:
                break
            residual, name, corrected = lowest
            names.append(name)
        if names and residual < best:
            best, answer = residual, question.format(", then ".join(names))
    return answer


def _mistakes(places: Sequence[Place]) -> Iterator[tuple[str, int, Callable[[Samples], Iterator[tuple[str, Samples]]]]]:
    """Yield a question for each kind of mistake, how often it may have been made, and all ways to undo one of them."""
    force_places = [place for place in places if place.tau is not None]
    moving = [place for place in places if place.q is not None]
    both = [place for place in force_places if place.q is not None]
    kinds = {
        "tau": (force_places, ("tau",)),
        "q, v and a": (moving, ("q", "v", "a")),
        "q, v, a and tau": (both, Samples._fields),
    }
    for label, (places_of_kind, arrays) in kinds.items():

        def exchanged(samples, places_of_kind=places_of_kind, arrays=arrays):
            for one, other in combinations(places_of_kind, 2):
                yield f"{one.name} and {other.name}", _changed(samples, arrays, (one, other), (other, one))

        def reversed_(samples, places_of_kind=places_of_kind, arrays=arrays):
            for one in places_of_kind:
                yield one.name, _changed(samples, arrays, (one,), (one,), -1.0)
            if len(places_of_kind) > 1:
                yield "all joints", _changed(samples, arrays, places_of_kind, places_of_kind, -1.0)

        yield f"are the columns of {label} of {{}} exchanged?", ROUNDS, exchanged
        yield f"is the sign of {label} of {{}} wrong?", ROUNDS, reversed_
    turning = [place for place in moving if place.turns]
    for label, arrays in (("q", ("q",)), ("q, v and a", ("q", "v", "a"))):

        def in_radians(samples, arrays=arrays):
            yield "all joints", _changed(samples, arrays, turning, turning, DEGREE)

        yield f"is {label} of {{}} in degrees?", 1, in_radians


def _changed(
    samples: Samples, arrays: Sequence[str], to: Sequence[Place], of: Sequence[Place], factor: float = 1.0
) -> Samples:
    """Return samples in which columns of some joints, times a factor, replace those of others."""
    changes = {}
    for name in arrays:
        kind = "v" if name == "a" else name
        array = getattr(samples, name).copy()
        array[:, [getattr(x, kind) for x in to]] = factor * array[:, [getattr(x, kind) for x in of]]
        changes[name] = array
    return samples._replace(**changes)


def _places(model: Model) -> list[Place]:
    """Return the columns of each joint; positions of closed loops cannot be changed one by one."""
    independent, motors = list(model.mobility.independent), list(model.mobility.forced)
    names = model.coordinates.of_freedoms(range(model.coordinates.nv)).names
    places = []
    for freedom, name in enumerate(names):
        moves = freedom in independent and not model.constrained
        q = model.coordinates.position_of(freedom) if moves else None
        tau = motors.index(freedom) if freedom in motors and freedom in model.mobility.motors else None
        turns = bool(model.coordinates.joint_of(freedom).revolute)
        places.append(Place(name, q, independent.index(freedom) if moves else None, tau, turns))
    return places


def _samples(unknowns: Unknowns, log: Log) -> tuple[Samples, list[np.ndarray]]:
    rows = np.arange(len(log)) if log.keep is None else np.flatnonzero(log.keep)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), SAMPLES)).astype(int)]
    wrenches = [each[rows] for each in applied(unknowns.frames, log, slice(None))]
    return Samples(*(np.asarray(x[rows]) for x in (log.q, log.v, log.a, log.tau))), wrenches


def _weights(tau: np.ndarray) -> np.ndarray:
    sizes = np.std(tau, axis=0)
    return 1 / np.maximum(sizes, max(SMALL * sizes.max(), np.finfo(float).tiny))


def _squared_residual(unknowns: Unknowns, samples: Samples, wrenches: Sequence[np.ndarray]) -> float:
    """Return the sum over forces of the weighted mean squared residual of the best parameters.

    It is at least the number of forces if these parameters make a force the opposite of the prior's.
    """
    q, v, a, tau = samples
    Y, z, weights = unknowns.regressor(q, v, a), tau, _weights(tau)
    if unknowns.known_forces is not None:
        z = z - unknowns.known_forces(q, v, a, *wrenches)
    A, b = (Y * weights[:, None]).reshape(z.size, -1), (z * weights).ravel()
    scale = np.linalg.norm(A, axis=0)
    unit = A / np.where(scale > 0, scale, 1.0)
    fitted = unit @ np.linalg.solve(unit.T @ unit + RIDGE * np.eye(len(scale)), unit.T @ b)
    residual = float(np.sum((fitted - b) ** 2)) / len(z)
    fitted, expected = fitted.reshape(z.shape), (A @ unknowns.base_prior).reshape(z.shape)
    products = np.sum(fitted * expected, axis=0)
    opposed = products < -UNLIKE * np.linalg.norm(fitted, axis=0) * np.linalg.norm(expected, axis=0)
    return max(residual, float(z.shape[1])) if opposed.any() else residual


def driven_of(model: Model) -> list[int]:
    """Return the places of motor forces."""
    return [k for k, freedom in enumerate(model.mobility.forced) if freedom in model.mobility.motors]
