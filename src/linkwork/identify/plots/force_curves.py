"""What a fit predicts of a recording beside what was measured, in one pass, however long the recording is."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...errors import IdentificationWarning
from ...formulations.drives import motors
from ..logs.log import Log
from ..regression.stacked_regressor import relative

if TYPE_CHECKING:
    from ..fit import Fit

SPANS = 400  # of a recording: extremes of each are kept
GAP = 3.0  # spans without samples from which on a curve is interrupted
FAR, BINS = 4.0, 32  # histogram of residuals: up to so many deviations
CLASSES = 40  # of velocities, for friction; zero is between two of them
FEWEST = 5  # samples of a class that is shown


@dataclass(frozen=True)
class Curve:
    """Samples of one force, with all extremes; values that are not numbers stand for gaps."""

    t: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray

    @property
    def residual(self) -> np.ndarray:
        return self.measured - self.predicted


@dataclass(frozen=True, eq=False)
class Curves:
    """Of a recording: a ``curve`` of each force; relative ``errors``; a ``histogram`` (forces, BINS) of residuals in
    deviations, what is beyond in the outer bins; ``classes`` (forces, CLASSES, 3): number, sum of velocities and sum of
    residuals by classes of the force's own velocity; highest velocities of the ``motors`` of transmissions."""

    curves: tuple[Curve, ...]
    errors: np.ndarray
    count: int
    histogram: np.ndarray
    classes: np.ndarray
    motors: np.ndarray


def curves_of(fit: Fit, log: Log) -> Curves:
    own = log.for_robot(fit.robot)
    forces, rates = len(fit.forces), _rates(fit)
    start, length = float(own.t[0]), own.duration
    rows: list[list[np.ndarray]] = [[] for _ in range(forces)]
    left, size, count = np.zeros(forces), np.zeros(forces), 0
    histogram, classes = np.zeros((forces, BINS)), np.zeros((forces, CLASSES, 3))
    turning = _motor_rates(fit)
    swiftest = np.zeros(len(turning))
    sigma = np.where(fit.sigma > 0, fit.sigma, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)  # a page of the data tells it otherwise
        for t, measured, predicted in fit.predictions(own):
            if not len(t):
                continue  # nothing in this block counts
            residual = measured - predicted
            left, size, count = left + (residual**2).sum(axis=0), size + (measured**2).sum(axis=0), count + len(t)
            span = np.minimum((SPANS * (t - start) / length).astype(int), SPANS - 1)
            edges = np.flatnonzero(np.diff(span, prepend=-1, append=SPANS))
            v = np.asarray(own.v[np.searchsorted(own.t, t)])
            swiftest = np.maximum(swiftest, np.abs(v @ turning.T).max(axis=0, initial=0.0))
            for k in range(forces):
                series = (measured[:, k], predicted[:, k], residual[:, k])
                chosen = _extremes(series, edges)
                rows[k].append(np.array([t[chosen], *(x[chosen] for x in series[:2])]))
                scaled = np.clip(residual[:, k] / sigma[k], -FAR, FAR)
                histogram[k] += np.histogram(scaled, BINS, (-FAR, FAR))[0]
                if (rate := rates[k]) is not None:
                    classes[k] += _classes(v[:, rate], residual[:, k], float(fit.fastest[rate]))
    curves = tuple(_curve(np.concatenate(each, axis=1), GAP * length / SPANS) for each in rows)
    return Curves(curves, relative(left, size), count, histogram, classes, swiftest)


def _rates(fit: Fit) -> list[int | None]:
    """Of each force: which of the velocities is its own."""
    mobility = fit.robot.model.mobility
    places = {freedom: k for k, freedom in enumerate(mobility.independent)}
    return [places.get(freedom) for freedom in mobility.forced]


def _motor_rates(fit: Fit) -> np.ndarray:
    """Velocities of the motors of transmissions per those of the joints."""
    model = fit.robot.model
    places = {freedom: k for k, freedom in enumerate(model.mobility.independent)}
    shares = [shares for _, shares in motors(model)]
    rows = np.zeros((len(shares), len(places)))
    for row, own in zip(rows, shares, strict=True):
        for freedom, ratio in own:
            if freedom in places:
                row[places[freedom]] = ratio
    return rows


def _extremes(series: tuple[np.ndarray, ...], edges: np.ndarray) -> np.ndarray:
    """Places of the least and greatest of each series between edges."""
    chosen = {0, len(series[0]) - 1}
    for first, last in pairwise(edges.tolist()):
        for values in series:
            part = values[first:last]
            chosen |= {first + int(part.argmin()), first + int(part.argmax())}
    return np.array(sorted(chosen))


def _curve(rows: np.ndarray, gap: float) -> Curve:
    after = np.flatnonzero(np.diff(rows[0]) > gap) + 1
    t = np.insert(rows[0], after, rows[0, after - 1])
    return Curve(t, *(np.insert(row, after, np.nan) for row in rows[1:]))


def _classes(v: np.ndarray, residual: np.ndarray, fastest: float) -> np.ndarray:
    if not fastest > 0:
        return np.zeros((CLASSES, 3))
    own = np.clip((CLASSES * (v / fastest + 1) / 2).astype(int), 0, CLASSES - 1)
    sums = [np.bincount(own, weights, CLASSES) for weights in (None, v, residual)]
    return np.stack(sums, axis=-1).astype(float)
