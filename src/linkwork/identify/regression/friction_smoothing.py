"""The width of friction: velocities within which its sign goes smoothly through zero, found on held-out data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...formulations.drives import motor_rate, motors
from ...model import Joint, Motor
from ..logs.log import Log
from .least_squares import ols, wls
from .noise_floor import noise_triangles, unexcited
from .stacked_regressor import HELD, Block, Collector, Information, blocks
from .unknowns import Unknowns

SPAN, SAMPLES = 20_000, 4_000  # of a recording: how much of it is looked at, and how many of these
FEWEST, NUMBERS = 500, 2_000_000  # samples of large robots: of so many numbers of Y, but not fewer
RATIO = 2.0
TRIED = tuple(0.0025 * RATIO**k for k in range(7))  # rad/s or m/s
GOLDEN, CLOSE = (math.sqrt(5) - 1) / 2, 0.1  # how close sections come to the best width, of its size
SLOW = 0.05  # of the highest velocity of a joint: the width by which it is judged whether its friction is excited
BETTER = 0.99  # of the error without a width: what a width must reach

Jumping = tuple[int, Joint | Motor, str, list[tuple[int, float]]]  # column, drive, element, the forces it acts on


def width_of(unknowns: Unknowns, logs: Sequence[Log]) -> float:
    """The width with the least error of spans held out, one for all joints; zero if none is clearly better, or if a
    joint's friction acts on others through loops."""
    columns = _jumping(unknowns)
    if not columns:
        return 0.0
    numbers = len(unknowns.forces) * len(unknowns)
    spans = [_middle(log, max(FEWEST, min(SAMPLES, NUMBERS // numbers))) for log in logs]
    found = list(blocks(unknowns, spans))
    information = _collected(found)
    wide = widened(unknowns, spans)
    hidden = unexcited(_collected(list(blocks(wide, spans))), noise_triangles(wide, spans)).alone
    information = hidden.cleaned(information, unknowns.base_prior)
    weights = 1 / wls(information, unknowns.base_prior).sigma

    def error(width: float) -> float:
        """Logarithm of the error of spans held out, averaged over the forces."""
        for block, smooth in zip(found, blocks(_smooth(unknowns, columns, width), spans), strict=True):
            block.Y[..., [k for k, *_ in columns]] = smooth.Y
        prior = unknowns.base_prior
        information = hidden.cleaned(_collected(found), prior)
        left = sum(information.only(folds).squares(ols(information.without(folds), prior, weights).x) for folds in HELD)
        return 0.5 * float(np.mean(np.log(np.maximum(left, np.finfo(float).tiny))))

    sharp, tried = error(0.0), [error(width) for width in TRIED]
    k = int(np.clip(np.argmin(tried), 1, len(TRIED) - 2))
    width = float(f"{_least(error, TRIED[k - 1], TRIED[k + 1]):.2g}")
    return width if error(width) < sharp + math.log(BETTER) else 0.0


def _least(error: Callable[[float], float], low: float, high: float) -> float:
    """By golden sections of the logarithm: where noise is small, errors rise too steeply for a parabola."""
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


def _collected(found: Sequence[Block]) -> Information:
    collector = Collector(found[0].z.shape[1], found[0].Y.shape[2] + 1)
    for block in found:
        collector.add(block.equations, block)
    return collector.information(1.0)


def _middle(log: Log, samples: int) -> Log:
    start = max(0, (len(log) - SPAN) // 2)
    part = log[start : start + SPAN]
    every = part.band.decimate if part.band else 1
    step = every * max(1, len(part) // (every * samples))  # of those that the band leaves
    counted = np.arange(len(part)) % step == 0
    return replace(part, keep=counted if part.keep is None else counted & part.keep)


def _smooth(unknowns: Unknowns, columns: Sequence[Jumping], width: float) -> Unknowns:
    """The columns of friction that jumps alone, made smooth, in NumPy: nothing is compiled for a try."""

    def regressor(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        del q, a
        Y = np.zeros((*v.shape, len(columns)))
        for place, column in enumerate(columns):
            _fill(Y, place, column, v, width * max(abs(ratio) for _, ratio in column[3]))
        return Y

    return replace(unknowns, regressor=regressor, known=None)


def _fill(Y: np.ndarray, place: int, column: Jumping, v: np.ndarray, width: float) -> None:
    """Write a column of friction with this width into Y."""
    _, drive, element, shares = column
    own = drive.column(element, motor_rate(shares, v.T), 0.0, width)
    for row, ratio in shares:
        Y[:, row, place] = ratio * own


def widened(unknowns: Unknowns, logs: Sequence[Log]) -> Unknowns:
    """The same, with a width of each joint in place of jumps, to judge what is excited: at rest, noise makes a jump as
    large as motion does."""
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
    """Columns of laws that jump; none of robots whose joints share forces in other ways than by transmissions."""
    model = unknowns.robot.model
    if model.constrained or model.has_mimic or model.friction_width:
        return []
    drives: list[tuple[Joint | Motor, list[tuple[int, float]]]] = [
        (model.joint(i), [(k, 1.0)]) for i, _ in model.outward() for k in model.freedoms(i)
    ]
    drives += list(motors(model))
    place = {parameter: k for k, parameter in enumerate(unknowns.columns)}
    found = []
    for drive, shares in drives:
        for law in drive.laws:
            for element in law.elements if law.jumps and not drive.friction_width else ():
                if (drive.name, element) in place:
                    found.append((place[drive.name, element], drive, element, shares))
    return found
