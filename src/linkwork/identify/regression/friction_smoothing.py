"""The width of friction: velocities within which it goes smoothly through zero, chosen on held-out data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...formulations.drives import motor_rate
from ...model import Joint, Motor
from ..logs.log import Log
from .least_squares import ols, wls
from .noise_floor import noise_triangles, unexcited
from .stacked_regressor import HELD, Block, Collector, Information, blocks
from .unknowns import Unknowns, drives_with_shares

SPAN, SAMPLES = 20_000, 4_000  # samples of a recording that are considered, and how many of them are used
FEWEST, NUMBERS = 500, 2_000_000  # large robots use fewer samples, with so many numbers in Y, but at least so many
RATIO = 2.0
TRIED = tuple(0.0025 * RATIO**k for k in range(7))  # rad/s or m/s
GOLDEN, CLOSE = (math.sqrt(5) - 1) / 2, 0.1  # golden sections end when they are so close, relative to the width
SLOW = 0.05  # of the highest velocity of a joint: the width that decides whether its friction is excited
BETTER = 0.99  # of the error without a width, which a width must reach

Jumping = tuple[int, Joint | Motor, str, list[tuple[int, float]]]  # column, drive, element, the forces it acts on


def best_width(unknowns: Unknowns, logs: Sequence[Log]) -> float:
    """Return the width with the least error on spans held out, one for all joints.

    It is zero if no width is clearly better, or if a joint's friction acts on others through loops.
    """
    columns = _jumping(unknowns)
    if not columns:
        return 0.0
    numbers = len(unknowns.forces) * len(unknowns)
    spans = [_middle(log, max(FEWEST, min(SAMPLES, NUMBERS // numbers))) for log in logs]
    sharp_blocks = list(blocks(unknowns, spans))
    information = _collect(sharp_blocks)
    smooth_unknowns = widened(unknowns, spans)
    unexcited_alone = unexcited(
        _collect(list(blocks(smooth_unknowns, spans))), noise_triangles(smooth_unknowns, spans)
    ).alone
    information = unexcited_alone.cleaned(information, unknowns.base_prior)
    weights = 1 / wls(information, unknowns.base_prior).sigma

    def error(width: float) -> float:
        """Return the logarithm of the error on spans held out, averaged over the forces."""
        for block, smooth in zip(sharp_blocks, blocks(_smooth(unknowns, columns, width), spans), strict=True):
            block.Y[..., [k for k, *_ in columns]] = smooth.Y
        prior = unknowns.base_prior
        information = unexcited_alone.cleaned(_collect(sharp_blocks), prior)
        squares = sum(
            information.only(folds).squares(ols(information.without(folds), prior, weights).x) for folds in HELD
        )
        return 0.5 * float(np.mean(np.log(np.maximum(squares, np.finfo(float).tiny))))

    sharp, errors = error(0.0), [error(width) for width in TRIED]
    k = int(np.clip(np.argmin(errors), 1, len(TRIED) - 2))
    width = float(f"{_golden_section(error, TRIED[k - 1], TRIED[k + 1]):.2g}")
    return width if error(width) < sharp + math.log(BETTER) else 0.0


def _golden_section(error: Callable[[float], float], low: float, high: float) -> float:
    """Return the minimum by golden sections of the logarithm; errors may rise too steeply for a parabola."""
    low, high = math.log(low), math.log(high)
    inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [error(math.exp(x)) for x in inner]
    while high - low > CLOSE:
        if values[0] < values[1]:
            high, inner, values = inner[1], [inner[1] - GOLDEN * (inner[1] - low), inner[0]], [math.nan, values[0]]
        else:
            low, inner, values = inner[0], [inner[1], inner[0] + GOLDEN * (high - inner[0])], [values[1], math.nan]
        values = [error(math.exp(x)) if math.isnan(value) else value for x, value in zip(inner, values, strict=True)]
    return math.exp(inner[values.index(min(values))])


def _collect(parts: Sequence[Block]) -> Information:
    collector = Collector(parts[0].z.shape[1], parts[0].Y.shape[2] + 1)
    for block in parts:
        collector.add(block.equations, block)
    return collector.information(1.0)


def _middle(log: Log, samples: int) -> Log:
    start = max(0, (len(log) - SPAN) // 2)
    part = log[start : start + SPAN]
    every = part.band.decimate if part.band else 1
    step = every * max(1, len(part) // (every * samples))  # of those that the band leaves
    sampled = np.arange(len(part)) % step == 0
    return replace(part, keep=sampled if part.keep is None else sampled & part.keep)


def _smooth(unknowns: Unknowns, columns: Sequence[Jumping], width: float) -> Unknowns:
    """Return unknowns with only the columns of friction that jumps, smoothed in NumPy: a trial compiles nothing."""

    def regressor(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        del q, a
        Y = np.zeros((*v.shape, len(columns)))
        for place, column in enumerate(columns):
            _fill(Y, place, column, v, width * max(abs(ratio) for _, ratio in column[3]))
        return Y

    return replace(unknowns, regressor=regressor, known_forces=None)


def _fill(Y: np.ndarray, place: int, column: Jumping, v: np.ndarray, width: float) -> None:
    """Write a column of friction with this width into Y."""
    _, drive, element, shares = column
    values = drive.column(element, motor_rate(shares, v.T), 0.0, width)
    for row, ratio in shares:
        Y[:, row, place] = ratio * values


def widened(unknowns: Unknowns, logs: Sequence[Log]) -> Unknowns:
    """Return unknowns with smoothed friction, to judge what is excited: at rest, noise makes jumps like motion."""
    columns = _jumping(unknowns)
    if not columns or not logs:
        return unknowns
    widths = [SLOW * max(float(np.abs(motor_rate(each[3], log.v.T)).max()) for log in logs) for each in columns]

    def regressor(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        Y = np.array(unknowns.regressor(q, v, a))
        for column, width in zip(columns, widths, strict=True):
            _fill(Y, column[0], column, v, width)
        return Y

    return replace(unknowns, regressor=regressor)


def _jumping(unknowns: Unknowns) -> list[Jumping]:
    """Return columns of friction that jumps; none for robots whose friction is smooth."""
    model = unknowns.robot.model
    if model.friction_width:
        return []
    place = {parameter: k for k, parameter in enumerate(unknowns.columns)}
    return [
        (place[drive.name, element], drive, element, shares)
        for drive, shares in drives_with_shares(model)
        for law in drive.laws
        for element in law.elements
        if law.jumps and not drive.friction_width and (drive.name, element) in place
    ]
