"""Excitation above noise: which directions of the unknowns a recording shows clearly above its noise.

Noise of positions and velocities, with the effect of filters and derivatives, enters the regressor Y. A direction d of
the unknowns is excited where |Y d| is clearly more than |dY d|, with dY the change of Y by another realisation of the
same noise. Other directions would be fitted to noise: they count as not excited, and keep their prior values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...notes import Note
from ..logs.log import Log
from ..logs.log_noise import moved, noise_of, noise_sample
from ..logs.signals import motion_cutoff
from .stacked_regressor import STILL, Collector, Information, blocks, thinning
from .unknowns import Unknowns

CLEARLY = 3.0  # an excited direction is so many times above the noise
NEARLY = 2 * CLEARLY  # ... and a single unknown of which the others leave no more than noise
RANK = 1e-11  # a residual below this share of a column's length is rounding
NUMBERS, FEWEST, MOST = 4_000_000, 2_000, 20_000  # most numbers in dY; least and largest number of samples
PIECES = 8  # spans of long recordings
NOISY = 0.3  # noise of a predicted force, relative to its size, from which on there is a warning


@dataclass(frozen=True, eq=False)
class Unexcited:
    """Directions (unknowns, k) that are not excited; each has a one at its own of the ``places``, the others zero."""

    directions: np.ndarray
    places: list[int]

    @property
    def alone(self) -> Unexcited:
        """The directions of single unknowns."""
        single = np.count_nonzero(self.directions, axis=0) == 1
        return Unexcited(self.directions[:, single], [k for k, each in zip(self.places, single, strict=True) if each])

    def cleaned(self, information: Information, prior: np.ndarray, copies: int = 1) -> Information:
        """Return equations without these directions, which keep their prior values.

        The column of each place becomes what those of the other unknowns explain of it. The equations may hold several
        ``copies`` of the unknowns' columns.
        """
        if not self.places:
            return information
        p = len(prior)
        projection = np.eye(p)
        projection[:, self.places] -= self.directions
        change = np.eye(information.R.shape[-1])
        change[:-1, :-1] = np.kron(np.eye(copies), projection)
        change[-1 - p : -1, -1] = -self.directions @ prior[self.places]
        return replace(information, R=information.R @ change, projection=projection)


def noise_triangles(unknowns: Unknowns, logs: Sequence[Log]) -> np.ndarray | None:
    """Return R (forces, unknowns, unknowns) with R^T R the mean of dY^T dY over the samples; None without noise."""
    collector = Collector(len(unknowns.forces), len(unknowns))
    robot, rng, noisy = unknowns.robot, np.random.default_rng(0), False
    samples = max(FEWEST, min(MOST, NUMBERS // max(len(unknowns.forces) * len(unknowns), 1)))
    for log in logs:
        for span in _spans(log, samples // len(logs)):
            if (steps := noise_sample(span, robot, rng)) is not None:
                noisy = True
                q, v, a = moved(span, robot, steps[0]), span.v + steps[1], span.a + steps[2]
                pair = [span, replace(span, q=q, v=v, a=a)]
            else:
                pair = [span, span]
            for clean, other in zip(*(blocks(unknowns, [each]) for each in pair), strict=True):
                collector.add(other.Y - clean.Y, clean)
    if not noisy:
        return None
    information = collector.information(1.0)
    return information.by_force / np.sqrt(np.maximum(information.count.sum(axis=0), 1.0))[:, None, None]


def _spans(log: Log, samples: int) -> Iterator[Log]:
    """Yield parts of a long recording, spread over it, with the noise of the whole."""
    log = replace(log, noise=noise_of(log))
    every = log.band.decimate if log.band else 1
    length = samples * every // PIECES
    if len(log) <= PIECES * length:
        yield log
        return
    for start in np.linspace(0, len(log) - length, PIECES).astype(int).tolist():
        yield log[start : start + length]


def unexcited(information: Information, noise: np.ndarray | None) -> Unexcited:
    """Return the directions that are not excited above ``noise``, with forces weighted by their sizes."""
    p = information.R.shape[-1] - 1
    if noise is None:
        return Unexcited(np.zeros((p, 0)), [])
    weights, count = 1 / _sizes(information), information.count.sum(axis=0)
    A = information.triangle(weights)[:, :-1]
    return unexcited_columns(A, ((weights * np.sqrt(count))[:, None, None] * noise).reshape(-1, p))


def unexcited_columns(A: np.ndarray, N: np.ndarray) -> Unexcited:
    """Return directions d with |A d| not clearly more than |N d|.

    Columns are chosen one by one, each time the one that is farthest above its noise after those chosen before. From
    each column that is left, as few of the others are subtracted as make it noise.
    """
    p = A.shape[1]
    rest, noise, lengths = A.copy(), N.copy(), np.linalg.norm(A, axis=0)
    choice, remaining = [], list(range(p))
    while remaining:
        floor = np.hypot(CLEARLY * np.linalg.norm(noise[:, remaining], axis=0), RANK * lengths[remaining])
        sizes = np.linalg.norm(rest[:, remaining], axis=0)
        above = sizes / np.maximum(floor, np.finfo(float).tiny)
        best = int(np.argmax(above))
        if sizes[best] <= floor[best]:
            break
        k = remaining.pop(best)
        choice.append(k)
        shares = rest[:, k] @ rest[:, remaining] / sizes[best] ** 2
        rest[:, remaining] -= np.outer(rest[:, k], shares)
        noise[:, remaining] -= np.outer(noise[:, k], shares)
    directions = [_sparse(A, N, k, choice, RANK * lengths[k]) for k in remaining]
    return Unexcited(np.array(directions).reshape(len(remaining), p).T, remaining)


def _sparse(A: np.ndarray, N: np.ndarray, place: int, choice: Sequence[int], rounding: float) -> np.ndarray:
    """Return a direction with one at ``place`` that is noise, with few of the columns ``choice`` (matching pursuit)."""
    direction, columns = np.zeros(A.shape[1]), []
    direction[place] = 1.0
    for _ in choice:
        rest = A @ direction
        enough = CLEARLY if columns else NEARLY
        if np.linalg.norm(rest) <= np.hypot(enough * np.linalg.norm(N @ direction), rounding):
            break
        others = [k for k in choice if k not in columns]
        lengths = np.linalg.norm(A[:, others], axis=0)
        columns.append(others[int(np.argmax(np.abs(rest @ A[:, others]) / lengths))])
        direction[columns] = -np.linalg.lstsq(
            A[:, columns] / np.linalg.norm(A[:, columns], axis=0), A[:, place], rcond=None
        )[0]
        direction[columns] /= np.linalg.norm(A[:, columns], axis=0)
    return direction


def noise_warnings(
    unknowns: Unknowns, logs: Sequence[Log], information: Information, noise: np.ndarray | None, x: np.ndarray
) -> Iterator[Note]:
    """Warn of forces whose prediction with the unknowns ``x`` is mostly noise, and name a low pass that removes it."""
    if noise is None:
        return
    shares = np.linalg.norm(noise @ x, axis=-1) / _sizes(information)
    if (shares <= NOISY).all():
        return
    noisy = {unknowns.forces[k]: float(shares[k]) for k in np.flatnonzero(shares > NOISY)}
    shares_text = ", ".join(f"{name} {share:.2g}" for name, share in noisy.items())
    cutoff = f"{min(_cutoff(log) for log in logs):.3g}"
    text = (
        "noise of the recording, made larger by differentiation, is a large part of the forces that it predicts (of the"
        f" size of those measured: {shares_text}):"
    )
    fixes = f"use a low pass, log.smoothed({cutoff})", f"use a low pass, --cutoff {cutoff}"
    yield Note("noisy-prediction", text, *fixes, "warning", noisy)


def independent(logs: Sequence[Log]) -> float:
    """Return the share of the samples of the noise that are independent, after the filters."""
    bandwidths = [min(1.0, 2 * log.passed / log.rate) if log.passed else 1.0 for log in logs]
    return min(thinning(logs), *bandwidths)


def _cutoff(log: Log) -> float:
    """Return the cutoff (Hz) of a low pass that keeps the motion, and is narrower than the one applied before."""
    cutoff = motion_cutoff(log.q, log.rate, lowest=True)
    return cutoff if log.passed is None or cutoff < log.passed else log.passed / 2


def _sizes(information: Information) -> np.ndarray:
    """Return root mean squares of the forces; for one that is always zero, that of the largest."""
    power, count = information.power.sum(axis=0), information.count.sum(axis=0)
    largest = power.max(initial=0.0)
    return np.sqrt(np.where(power > STILL * largest, power, largest or 1.0) / np.maximum(count, 1.0))
