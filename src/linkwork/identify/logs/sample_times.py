"""Times of samples: how even they are, and an even grid for those that are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...errors import LinkworkError, at_door
from .signals import blocks

ROUNDED = 1e-4  # jitter in steps that is the rounding of numbers in a file
TINY = 0.01  # jitter in steps up to which times count as even, with a note
GAP = 5.0  # steps without samples from which on nothing is interpolated
BURST = 0.1  # steps between samples that follow each other so soon that their difference is all noise
MARGIN = 64  # samples that influence a spline: each has 2 - sqrt(3) of the weight of the one before
MOST = 20  # largest factor by which resampling may grow a log


class Spacing(NamedTuple):
    """Step between neighbouring samples in s, and the largest deviation of times from an even grid, in steps."""

    step: float
    jitter: float

    @property
    def even(self) -> bool:
        return self.jitter <= TINY


def require_increasing(t: np.ndarray, row: Callable[[int], str], where: str = "t") -> None:
    """Raise an error if times do not increase; ``row`` describes where a sample is."""
    for begin, end in blocks(len(t) - 1, 1):
        steps = np.diff(t[begin : end + 1])
        if (steps <= 0).any():
            k = begin + int(np.argmax(steps <= 0))
            same = t[k + 1] == t[k]
            raise LinkworkError(
                "two samples have the same time" if same else "the times are not in order",
                where=f"{where}, {row(k)} and {row(k + 1)}",
                got=f"{t[k]!s} and {t[k + 1]!s} ({int((steps <= 0).sum())} such steps)",
                expected="times that increase",
                fix="remove one of them" if same else "sort the rows by time, or take one recording at a time",
            )


def spacing(t: np.ndarray) -> Spacing:
    """Return the spacing of increasing times."""
    count = len(t)
    whole = float(t[-1] - t[0]) / (count - 1)
    jitter = max(
        float(np.abs(t[begin:end] - t[0] - whole * np.arange(begin, end)).max()) for begin, end in blocks(count, 4)
    )
    if jitter <= TINY * whole:
        return Spacing(whole, jitter / whole)
    steps = np.diff(t)
    usual = float(np.median(steps))
    return Spacing(float(steps[steps < GAP * usual].mean()), jitter / usual)


def even_grid(t: np.ndarray, step: float) -> np.ndarray:
    """Return times from the first to the last, ``step`` apart."""
    count = int(np.floor((t[-1] - t[0]) / step * (1 + 1e-12) + 1e-9)) + 1
    if count > MOST * len(t) + 1000:
        wide = int(np.argmax(np.diff(t)))
        raise LinkworkError(
            "an even grid would have far more samples than there are", where="t",
            got=f"{len(t)} samples, {count} steps of {step:g} s; the widest gap from {t[wide]:g} to {t[wide + 1]:g} s",
            fix="use a part without the gap: " + at_door("log.between(start, end)", "--between START:END"),
        )  # fmt: skip
    return t[0] + step * np.arange(count)


def in_gaps(t: np.ndarray, times: np.ndarray, step: float) -> np.ndarray:
    """Return which of ``times`` are between samples that are far apart."""
    after = np.clip(np.searchsorted(t, times, "right"), 1, len(t) - 1)
    inside = np.minimum(times - t[after - 1], t[after] - times) > ROUNDED * step
    return inside & (t[after] - t[after - 1] > GAP * step)


def interpolation_nodes(t: np.ndarray, step: float) -> np.ndarray:
    """Return which samples to interpolate from: not those that follow the one before at once."""
    return np.concatenate([[True], np.diff(t) >= BURST * step])


def interpolated(t: np.ndarray, x: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return x (N, ...), sampled at increasing t, at other increasing times within these, by cubic splines."""
    flat = np.reshape(x, (len(t), -1))
    result = np.empty((len(times), flat.shape[1]))
    for begin, end in blocks(len(times), flat.shape[1] * 8):
        low = max(0, int(np.searchsorted(t, times[begin])) - MARGIN)
        high = min(len(t), int(np.searchsorted(t, times[end - 1])) + MARGIN)
        result[begin:end] = _spline(t[low:high], np.asarray(flat[low:high]), times[begin:end])
    return result.reshape(len(times), *np.shape(x)[1:])


def _spline(t: np.ndarray, x: np.ndarray, times: np.ndarray) -> np.ndarray:
    steps = np.diff(t)[:, None]
    slopes = _node_slopes(t, x)
    k = np.clip(np.searchsorted(t, times, "right") - 1, 0, len(t) - 2)
    s, h = (times - t[k])[:, None] / steps[k], steps[k]
    r = 1 - s
    return r * r * (1 + 2 * s) * x[k] + s * s * (1 + 2 * r) * x[k + 1] + h * s * r * (r * slopes[k] - s * slopes[k + 1])


def _node_slopes(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return slopes of the spline at its nodes; at the ends those of a cubic through four of them.

    low m[k-1] + m[k] + high m[k+1] = right, with low + high = 1/2. Each round reaches neighbours twice as far away
    (cyclic reduction for all rows at once), and squares their remaining weight: after six rounds it is negligible.
    """
    steps, count = np.diff(t), len(t)
    inverse = 1 / steps
    rise = np.diff(x, axis=0) * inverse[:, None]
    right = np.empty_like(x)
    low, high = np.zeros(count), np.zeros(count)
    share = 2 * (inverse[:-1] + inverse[1:])
    low[1:-1], high[1:-1] = inverse[:-1] / share, inverse[1:] / share
    right[1:-1] = 3 * (low[1:-1, None] * rise[:-1] + high[1:-1, None] * rise[1:])
    ends = min(4, count)
    right[0] = _end_slope(t[:ends], x[:ends])
    right[-1] = _end_slope(t[-ends:][::-1], x[-ends:][::-1])
    for distance in (1 << k for k in range(6)):
        if distance >= count:
            break
        down, up = np.zeros(count), np.zeros(count)  # coefficients and right sides of the neighbours
        before, after = np.zeros_like(right), np.zeros_like(right)
        before[distance:], after[:-distance] = right[:-distance], right[distance:]
        shrink = np.ones(count)
        shrink[distance:] -= low[distance:] * high[:-distance]
        shrink[:-distance] -= high[:-distance] * low[distance:]
        down[distance:] = -low[distance:] * low[:-distance]
        up[:-distance] = -high[:-distance] * high[distance:]
        right = (right - low[:, None] * before - high[:, None] * after) / shrink[:, None]
        low, high = down / shrink, up / shrink
    return right


def _end_slope(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the slope at the first of a few nodes, of the polynomial through them."""
    scale = t[-1] - t[0]
    powers = np.vander((t - t[0]) / scale, increasing=True)
    return np.linalg.solve(powers, x)[1] / scale
