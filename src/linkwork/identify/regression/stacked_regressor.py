"""Equations Y theta = z of recordings, stacked block by block and kept as triangles.

However long a recording is, the memory is that of a block. [Y z] of each force, and of each of some spans of time
(folds), goes through QR as it comes. Any weights of forces and any choice of spans can then be used without going
through the data again (Golub 1965, "Numerical methods for solving linear least squares problems").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import LinkworkError, at_door
from ..logs.log import Log
from ..logs.signals import settling, zero_phase
from .unknowns import Unknowns

BLOCK = 4_000_000  # numbers in a block of Y
FOLDS = 10  # spans of each recording that are kept separately
HELD = tuple((k, k + 1) for k in range(0, FOLDS, 2))  # folds that are held out together
STILL = 1e-12  # squared forces below this share of the largest are zero

Progress = Callable[[int, int], Any] | None  # function of (samples done, all samples)


@dataclass(frozen=True)
class Block:
    """Equations of some samples of a recording.

    Attributes:
        Y: Regressor, (rows, forces, unknowns).
        z: Forces less the known ones, (rows, forces).
        tau: Measured forces, (rows, forces).
        t: Times, (rows,).
        part: Share of the recording that is before each row, (rows,).
        fold: Fold of each row, (rows,).
        log: Number of the recording.
    """

    Y: np.ndarray
    z: np.ndarray
    tau: np.ndarray
    t: np.ndarray
    part: np.ndarray
    fold: np.ndarray
    log: int

    @property
    def equations(self) -> np.ndarray:
        """[Y z]"""
        return np.concatenate([self.Y, self.z[..., None]], axis=-1)

    def power(self, rows: Any = slice(None)) -> np.ndarray:
        """Return the squared forces, or those of z if they are more, as with measured wrenches and no motor."""
        tau, z = self.tau[rows], self.z[rows]
        return np.maximum(np.einsum("ij,ij->j", tau, tau), np.einsum("ij,ij->j", z, z))


def blocks(unknowns: Unknowns, logs: Sequence[Log], progress: Progress = None) -> Iterator[Block]:
    """Yield equations of recordings in the robot's order. Samples that do not count are left out after filtering."""
    total, count = sum(map(len, logs)), 0
    for number, log in enumerate(logs):
        width = len(unknowns.forces) * (len(unknowns) + 1)
        size = max(BLOCK // max(width, 1), 64)
        reach = settling(log.rate, log.band.cutoff, log.band.order) if log.band else 0
        size = max(size, 2 * reach)
        for start in range(0, len(log), size):
            stop = min(start + size, len(log))
            yield _block(unknowns, log, number, start, stop, reach)
            count += stop - start
            if progress:
                progress(count, total)


def _block(unknowns: Unknowns, log: Log, number: int, start: int, stop: int, reach: int) -> Block:
    first, last = max(start - reach, 0), min(stop + reach, len(log))
    q, v, a, tau = (np.asarray(x[first:last]) for x in (log.q, log.v, log.a, log.tau))
    Y = unknowns.regressor(q, v, a)
    z = np.array(tau, float)
    wrenches = applied(unknowns.frames, log, slice(first, last))
    if unknowns.known_forces is not None:
        z -= unknowns.known_forces(q, v, a, *wrenches)
    step = 1
    if log.band:
        Y, z, tau = (zero_phase(x, log.rate, log.band.cutoff, log.band.order) for x in (Y, z, tau))
        step = log.band.decimate
    index = np.arange(start, stop)
    index = index[index % step == 0]
    if log.keep is not None:
        index = index[log.keep[index]]
    rows = index - first
    fold = np.minimum(index * FOLDS // max(len(log), 1), FOLDS - 1)
    return Block(Y[rows], z[rows], tau[rows], np.asarray(log.t)[index], index / max(len(log), 1), fold, number)


def frames_of(logs: Sequence[Log]) -> tuple[str, ...]:
    """Return all frames with measured wrenches."""
    return tuple(dict.fromkeys(frame for log in logs for frame in log.wrenches))


def applied(frames: Sequence[str], log: Log, rows: slice) -> list[np.ndarray]:
    """Return the input ``wrenches`` of functions that take them on these frames: zero where a recording has none."""
    if other := set(log.wrenches) - set(frames):
        raise LinkworkError(
            "wrenches on other frames than in the fit",
            where="log.wrenches",
            got=", ".join(sorted(other)),
            expected=", ".join(frames) or "none",
            fix="pass all recordings to identify, or leave these out",
        )
    zeros = np.zeros((len(range(*rows.indices(len(log)))), 6))
    wrenches = [np.asarray(log.wrenches[frame][rows]) if frame in log.wrenches else zeros for frame in frames]
    return [np.stack(wrenches, axis=1)] if wrenches else []


@dataclass(frozen=True, eq=False)
class Information:
    """Triangles of the equations.

    Attributes:
        R: Triangles (folds, forces, k, k) with R^T R = [Y z]^T [Y z].
        count: Number of equations, (folds, forces).
        power: Sum of squares of the measured forces, (folds, forces).
        thin: Share of the equations that are independent after a filter.
        projection: Projection (unknowns, unknowns) onto the excited unknowns; None where everything is excited.
    """

    R: np.ndarray
    count: np.ndarray
    power: np.ndarray
    thin: float = 1.0
    projection: np.ndarray | None = None

    def without(self, folds: Sequence[int]) -> Information:
        return self.only(tuple(k for k in range(len(self.R)) if k not in folds))

    def only(self, folds: Sequence[int]) -> Information:
        selection = tuple(folds)
        if selection not in self._parts:
            k = list(selection)
            self._parts[selection] = replace(self, R=self.R[k], count=self.count[k], power=self.power[k])
        return self._parts[selection]

    @cached_property
    def _parts(self) -> dict[tuple[int, ...], Information]:
        return {}

    @cached_property
    def by_force(self) -> np.ndarray:
        """Triangles (forces, k, k) of all folds."""
        forces, columns = self.R.shape[1], self.R.shape[-1]
        return triangle(self.R.transpose(1, 0, 2, 3).reshape(forces, -1, columns))

    def triangle(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return the triangle of all folds and forces, with each force's equations times its weight."""
        weights = np.ones(len(self.by_force)) if weights is None else weights
        return triangle((weights[:, None, None] * self.by_force).reshape(-1, self.R.shape[-1]))

    def squares(self, x: np.ndarray) -> np.ndarray:
        """Return sums of squares of Y x - z by force."""
        residuals = self.by_force @ np.append(x, -1.0)
        return np.einsum("jk,jk->j", residuals, residuals)

    def error(self, x: np.ndarray) -> np.ndarray:
        """Return |Y x - z| / |tau| by force; NaN if there are no equations."""
        return relative(self.squares(x), self.power.sum(axis=0))


def relative(squares: np.ndarray, power: np.ndarray) -> np.ndarray:
    """Return relative errors from sums of squares; a force that is always zero is compared with the largest."""
    size = np.where(power > STILL * power.max(initial=0.0), power, power.max(initial=0.0))
    return np.sqrt(squares / np.where(size > 0, size, np.nan))


def triangle(A: np.ndarray) -> np.ndarray:
    """Return the square R of A = Q R."""
    R: Any = np.linalg.qr(A, mode="r")
    missing = A.shape[-1] - R.shape[-2]
    return np.concatenate([R, np.zeros((*R.shape[:-2], missing, R.shape[-1]))], axis=-2) if missing > 0 else R


class Collector:
    """Triangles that equations are added to."""

    def __init__(self, forces: int, columns: int):
        self.R = np.zeros((FOLDS, forces, columns, columns))
        self.count, self.power = np.zeros((FOLDS, forces)), np.zeros((FOLDS, forces))

    def add(self, columns: np.ndarray, block: Block, weights: np.ndarray | None = None) -> None:
        """Add equations with ``columns`` (rows, forces, k) and ``weights`` (rows, forces)."""
        if weights is not None:
            columns = columns * weights[..., None]
        for fold in np.unique(block.fold):
            mask = block.fold == fold
            rows = columns[mask].transpose(1, 0, 2)
            self.R[fold] = triangle(np.concatenate([self.R[fold], rows], axis=1))
            self.count[fold] += mask.sum() if weights is None else (weights[mask] > 0).sum(axis=0)
            self.power[fold] += block.power(mask)

    def information(self, thin: float) -> Information:
        return Information(self.R, self.count, self.power, thin)


def thinning(logs: Sequence[Log]) -> float:
    """Return the share of the samples that are independent after white noise has passed the band."""
    shares = [min(1.0, 2 * log.band.cutoff / log.rate * log.band.decimate) if log.band else 1.0 for log in logs]
    if not logs:
        return 1.0
    return float(np.average(shares, weights=[len(log) / (log.band.decimate if log.band else 1) for log in logs]))


def collect(unknowns: Unknowns, logs: Sequence[Log], progress: Progress = None) -> Information:
    """Return the triangles of recordings, in one pass over the data."""
    collector = Collector(len(unknowns.forces), len(unknowns) + 1)
    for block in blocks(unknowns, logs, progress):
        collector.add(block.equations, block)
    return collector.information(thinning(logs))


def require_enough(information: Information, unknowns: int, where: str) -> None:
    count = int(information.count.sum())
    if count < unknowns:
        forces = information.R.shape[1]
        raise LinkworkError(
            "too few samples",
            where=where,
            got=f"{count // max(forces, 1)} of {forces} forces, {count} equations, after cutting and decimation",
            expected=f"more than {unknowns} equations, one for each unknown, better a hundred times as many",
            fix="record longer, decimate less, or identify fewer parameters",
        )
    if not information.power.any():
        fix = "were they recorded? " + at_door("Log.read(path, tau=columns)", "--columns tau=COLUMNS")
        raise LinkworkError("all forces are zero", where=where, fix=fix)
