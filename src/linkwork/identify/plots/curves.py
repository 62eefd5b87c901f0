"""Curves of a fit: predicted and measured forces over time, and friction over velocity.

A recording is read in one pass, however long it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import IdentificationWarning
from ...formulations import drives_of
from ...formulations.drives import motors
from ...model import Model
from ..logs.log import Log
from ..regression.stacked_regressor import relative
from ..regression.unknowns import split

if TYPE_CHECKING:
    from ..fit import Fit

SPANS = 400  # spans of a recording of which the extremes are kept
GAP = 3.0  # a curve is interrupted where more spans have no samples
FAR, BINS = 4.0, 32  # largest deviation, and bins, of the histogram of residuals
CLASSES = 40  # classes of velocity for friction; zero is between two of them
FEWEST = 5  # least number of samples of a class that is shown


@dataclass(frozen=True)
class Curve:
    """Samples of one force, with all extremes; NaN stands for gaps."""

    t: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray

    @property
    def residual(self) -> np.ndarray:
        return self.measured - self.predicted


@dataclass(frozen=True, eq=False)
class Curves:
    """Curves of a recording.

    Attributes:
        curves: A curve of each force.
        errors: Relative errors, (forces,).
        count: Number of samples.
        histogram: Residuals in deviations, (forces, BINS); the outer bins hold what is beyond.
        classes: Number, sum of velocities and sum of residuals by classes of the force's velocity, (forces, CLASSES,
            3).
        motors: Highest velocities of the motors of transmissions.
    """

    curves: tuple[Curve, ...]
    errors: np.ndarray
    count: int
    histogram: np.ndarray
    classes: np.ndarray
    motors: np.ndarray


def curves_of(fit: Fit, log: Log) -> Curves:
    log_of_robot = log.for_robot(fit.robot)
    forces, places = len(fit.forces), _places(fit)
    rates = [places.get(freedom) for freedom in fit.robot.model.mobility.forced]
    start, length = float(log_of_robot.t[0]), log_of_robot.duration
    rows: list[list[np.ndarray]] = [[] for _ in range(forces)]
    squares, power, count = np.zeros(forces), np.zeros(forces), 0
    histogram, classes = np.zeros((forces, BINS)), np.zeros((forces, CLASSES, 3))
    motor_ratios = _motor_rates(fit)
    max_motor_velocities = np.zeros(len(motor_ratios))
    sigma = np.where(fit.sigma > 0, fit.sigma, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)  # the page of a fit shows them
        for t, measured, predicted in fit.predictions(log_of_robot):
            if not len(t):
                continue  # nothing in this block counts
            residual = measured - predicted
            squares, power, count = (
                squares + (residual**2).sum(axis=0),
                power + (measured**2).sum(axis=0),
                count + len(t),
            )
            span = np.minimum((SPANS * (t - start) / length).astype(int), SPANS - 1)
            edges = np.flatnonzero(np.diff(span, prepend=-1, append=SPANS))
            v = np.asarray(log_of_robot.v[np.searchsorted(log_of_robot.t, t)])
            max_motor_velocities = np.maximum(max_motor_velocities, np.abs(v @ motor_ratios.T).max(axis=0, initial=0.0))
            for k in range(forces):
                series = (measured[:, k], predicted[:, k], residual[:, k])
                indices = _extremes(series, edges)
                rows[k].append(np.array([t[indices], *(x[indices] for x in series[:2])]))
                deviations = np.clip(residual[:, k] / sigma[k], -FAR, FAR)
                histogram[k] += np.histogram(deviations, BINS, (-FAR, FAR))[0]
                if (rate := rates[k]) is not None:
                    classes[k] += _classes(v[:, rate], residual[:, k], float(fit.max_velocities[rate]))
    curves = tuple(_curve(np.concatenate(each, axis=1), GAP * length / SPANS) for each in rows)
    return Curves(curves, relative(squares, power), count, histogram, classes, max_motor_velocities)


def _places(fit: Fit) -> dict[int, int]:
    """Return places of the independent velocities by dof."""
    return {freedom: k for k, freedom in enumerate(fit.robot.model.mobility.independent)}


def _motor_rates(fit: Fit) -> np.ndarray:
    """Return velocities of the motors of transmissions per those of the joints."""
    model = fit.robot.model
    places = _places(fit)
    shares = [shares for _, shares in motors(model)]
    rows = np.zeros((len(shares), len(places)))
    for row, ratios in zip(rows, shares, strict=True):
        for freedom, ratio in ratios:
            if freedom in places:
                row[places[freedom]] = ratio
    return rows


def _extremes(series: tuple[np.ndarray, ...], edges: np.ndarray) -> np.ndarray:
    """Return places of the least and greatest of each series between edges."""
    indices = {0, len(series[0]) - 1}
    for first, last in pairwise(edges.tolist()):
        for values in series:
            part = values[first:last]
            indices |= {first + int(part.argmin()), first + int(part.argmax())}
    return np.array(sorted(indices))


def _curve(rows: np.ndarray, gap: float) -> Curve:
    after = np.flatnonzero(np.diff(rows[0]) > gap) + 1
    t = np.insert(rows[0], after, rows[0, after - 1])
    return Curve(t, *(np.insert(row, after, np.nan) for row in rows[1:]))


def _classes(v: np.ndarray, residual: np.ndarray, fastest: float) -> np.ndarray:
    if not fastest > 0:
        return np.zeros((CLASSES, 3))
    place = np.clip((CLASSES * (v / fastest + 1) / 2).astype(int), 0, CLASSES - 1)
    sums = [np.bincount(place, weights, CLASSES) for weights in (None, v, residual)]
    return np.stack(sums, axis=-1).astype(float)


BEYOND = 1.2  # friction is drawn up to this share of the measured velocities
POINTS = 121  # points to either side


@dataclass(frozen=True, eq=False)
class FrictionCurve:
    """Friction of a joint or motor over velocity ``v``.

    Attributes:
        name: Joint or motor.
        v: Velocities.
        force: Friction after the fit.
        before: Friction before the fit.
        fastest: Largest velocity in the data.
        seen_v, seen: Measured force less all other predicted forces, averaged in classes of velocity; empty for motors,
            whose friction acts on several joints.
    """

    name: str
    v: np.ndarray
    force: np.ndarray
    before: np.ndarray
    fastest: float
    seen_v: np.ndarray
    seen: np.ndarray


def friction_curves(fit: Fit, data: Sequence[Curves]) -> list[FrictionCurve]:
    """Return curves of the joints and motors whose friction was identified; none without data."""
    if not data:
        return []
    model = fit.robot.model
    prior = {drive.name: drive for drive in drives_of(fit.unknowns.robot_with(fit.standard.prior).model)}
    owners = {owner for owner, element in map(split, fit.standard) if element not in ("IA", "K")}
    motor_velocities = dict(zip((motor.name for each in model.transmissions for motor in each.motors),
                       np.max([each.motors for each in data], axis=0), strict=True))  # fmt: skip
    forces = _forces(fit)
    curves = []
    for drive in drives_of(model):
        if drive.name not in owners or not (drive.name in forces or drive.name in motor_velocities):
            continue
        classes = np.zeros((0, 3))
        fastest = motor_velocities.get(drive.name, 0.0)
        if drive.name in forces:
            k, rate = forces[drive.name]
            fastest, classes = float(fit.max_velocities[rate]), np.sum([each.classes[k] for each in data], axis=0)
            classes = classes[classes[:, 0] >= FEWEST]
        if not fastest > 0:
            continue
        half = np.linspace(0, BEYOND * fastest, POINTS)[1:]
        v = np.concatenate([-half[::-1], [-1e-9 * fastest, 1e-9 * fastest], half])  # either side of a jump at zero
        seen_v, friction = classes[:, 1] / classes[:, 0], classes[:, 2] / classes[:, 0]
        both = _force(drive, v, model), _force(prior[drive.name], v, model)
        curves.append(
            FrictionCurve(drive.name, v, *both, float(fastest), seen_v, friction + _force(drive, seen_v, model))
        )
    return curves


def _force(drive: Any, v: np.ndarray, model: Model) -> np.ndarray:
    return drive.friction_force(v, model.friction_width) + np.zeros(len(v))


def _forces(fit: Fit) -> dict[str, tuple[int, int]]:
    """Return places of force and velocity, by name, of joints that have one of each."""
    coordinates, mobility = fit.robot.coordinates, fit.robot.model.mobility
    places = _places(fit)
    return {
        coordinates.joint_of(freedom).name: (k, places[freedom])
        for k, freedom in enumerate(mobility.forced)
        if freedom in places and coordinates.position_of(freedom) is not None
    }
