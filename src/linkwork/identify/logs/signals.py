"""Signals: low pass without delay, derivatives, and where motion ends and noise begins.

All work on plain arrays along their first axis, block by block, so that long ones need little further memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial

import numpy as np

from ...errors import LinkworkError, ShapeError, counted, option_at_door

BLOCK = 2**20  # numbers in a block
QUIET = 1e-13  # amplitude at which an impulse response counts as over
LOWEST = 1e-5  # of the rate: a lower cutoff would need millions of samples
HIGHEST = 0.4  # of the rate: the highest default cutoff
SEGMENTS, SHORTEST, LONGEST = 8, 2**8, 2**14  # number of segments of a spectrum, and samples of each
ABOVE = 10.0  # power of motion, in units of the noise
ENOUGH, WIDER = 0.999, 4.0
CENTRAL = (2, 4)  # differences over five points: samples on each side, degree


def zero_phase(x: np.ndarray, rate: float, cutoff: float, order: int) -> np.ndarray:
    """Return x (N, ...) after a Butterworth low pass forwards and backwards: gain 1 at rest, 1/2 at ``cutoff`` (Hz).

    It is a product with the filter's |H|^2 in the frequency domain, where both ends are continued by odd reflection.
    """
    reach = settling(rate, cutoff, order)
    count = len(x)
    if count < 2:
        return np.array(x, float)
    flat = np.reshape(x, (count, -1))
    result = np.empty(flat.shape)
    for begin, end in blocks(count, flat.shape[1], 4 * reach):
        piece = _continued(flat, begin - reach, end + reach)
        size = _smooth_size(len(piece))
        spectrum = np.fft.rfft(piece, size, axis=0)
        spectrum *= _gain(np.fft.rfftfreq(size), cutoff / rate, order)[:, None]
        result[begin:end] = np.fft.irfft(spectrum, size, axis=0)[reach : reach + end - begin]
    return result.reshape(np.shape(x))


def settling(rate: float, cutoff: float, order: int, where: str = "") -> int:
    """Return the number of samples that ``zero_phase`` reaches to each side."""
    if not (isinstance(order, (int, np.integer)) and 1 <= order <= 12):
        raise ShapeError("unsupported order of the filter", where="order", got=order, expected="1 to 12")
    if not LOWEST * rate <= cutoff < rate / 2:
        raise LinkworkError(
            "the cutoff does not fit the sampling",
            where=where or option_at_door("cutoff"),
            got=f"{cutoff:g} Hz at {rate:g} samples per second",
            expected=f"{LOWEST * rate:g} Hz or more, and below half the rate, {rate / 2:g} Hz",
        )  # fmt: skip
    angles = np.pi * (2 * np.arange(order) + order + 1) / (2 * order)
    poles = np.tan(np.pi * cutoff / rate) * np.exp(1j * angles)
    slowest = np.abs((1 + poles) / (1 - poles)).max()
    return int(np.ceil(np.log(QUIET) / np.log(max(slowest, 0.1)))) + 2 * int(order)


def _gain(frequencies: np.ndarray, cutoff: float, order: int) -> np.ndarray:
    with np.errstate(over="ignore"):  # tan(pi/2) is large
        return 1 / (1 + (np.tan(np.pi * frequencies) / np.tan(np.pi * cutoff)) ** (2 * order))


def _continued(x: np.ndarray, begin: int, end: int) -> np.ndarray:
    """Return rows of x, with those before the first and behind the last: repeated point reflections at the ends."""
    last = len(x) - 1
    if begin >= 0 and end <= last + 1:
        return x[begin:end]
    turns, place = np.divmod(np.arange(begin, end), 2 * last)
    mirrored = place > last
    rows = x[np.where(mirrored, 2 * last - place, place)]
    rows[mirrored] = 2 * x[last] - rows[mirrored]
    rows += 2 * turns[:, None] * (x[last] - x[0])
    return rows


def _smooth_size(count: int) -> int:
    """Return the next number with small factors, whose Fourier transform is fast."""
    return min(odd << max(0, (-(-count // odd) - 1).bit_length()) for odd in (1, 3, 5, 9, 15))


def blocks(count: int, columns: int, least: int = 1) -> Iterator[tuple[int, int]]:
    """Yield begin and end of rows that are processed together."""
    step = max(least, BLOCK // max(columns, 1), 1)
    for begin in range(0, count, step):
        yield begin, min(begin + step, count)


def max_speeds(v: np.ndarray) -> np.ndarray:
    """Return the largest speeds, in either direction, without a copy, since recordings may be long."""
    axes = tuple(range(v.ndim - 1))
    return np.maximum(v.max(axis=axes, initial=0.0), -v.min(axis=axes, initial=0.0))


# -- derivatives ---------------------------------------------------------------------------------------------------


def derivative(x: np.ndarray, rate: float, number: int = 1, cutoff: float | None = None) -> np.ndarray:
    """Return the first or second derivative of evenly sampled x (N, ...).

    Without a cutoff: central differences over five points with an error of fourth order; at the ends those of the first
    and last five. With a ``cutoff``: derivatives of the cubic that fits best around each sample, over a window that
    passes frequencies below the cutoff (Savitzky and Golay); at the ends the cubics of the first and last window. Where
    x does not change at all, its derivative is exactly zero.
    """
    half, degree = CENTRAL if cutoff is None else (_half_width(rate, cutoff), 3)
    width = min(2 * half + 1, len(x))
    degree = min(degree, width - 1)
    if degree < number:
        raise LinkworkError(
            "too few samples for a derivative",
            where="log",
            got=counted(len(x), "sample"),
            expected=f"at least {number + 1}",
        )
    fits = _fits(width, degree, number) * rate**number
    before = (width - 1) // 2
    after = width - 1 - before
    result = np.empty(np.shape(x))
    for rows, weights, window in (
        (slice(0, before), fits[:before], x[:width]),
        (slice(len(x) - after, None), fits[before + 1 :], x[len(x) - width :]),
    ):
        result[rows] = np.where((window == window[0]).all(axis=0), 0.0, np.tensordot(weights, window, 1))
    middle = result[before : len(x) - after]
    for begin, end in blocks(len(middle), max(int(np.prod(np.shape(x)[1:])), 1) * 4):
        total = middle[begin:end]
        total[:] = 0
        constant = np.ones(total.shape, bool)
        for k, weight in enumerate(fits[before]):
            total += weight * x[begin + k : end + k]
            constant &= x[begin + k : end + k] == x[begin:end]
        total[constant] = 0
    return result


def _fits(width: int, degree: int, number: int) -> np.ndarray:
    """Return weights (place in the window, sample) of a derivative of the polynomial that fits the window."""
    rows = []
    for place in range(width):
        scale = max(width - 1, 1)  # powers of numbers below one are well conditioned
        powers = np.vander((np.arange(width) - place) / scale, degree + 1, increasing=True)
        rows.append(np.linalg.pinv(powers)[number] * factorial(number) / scale**number)
    return np.array(rows)


def _half_width(rate: float, cutoff: float) -> int:
    """Return half the window in samples in which the derivative of cubics loses 3 dB at the cutoff."""
    return max(2, round(1.25 * rate / (2 * cutoff) - 0.5))


# -- what is motion, and what is noise -----------------------------------------------------------------------------


def motion_cutoff(q: np.ndarray, rate: float, lowest: bool = False) -> float:
    """Return a cutoff in Hz that keeps the motion and little of the noise, from the spectra of the positions (N, n).

    The noise of a joint is the level of the upper half of the frequencies; its motion ends where its power first sinks
    below ten times that. The cutoff is the median of these ends over the joints that move, at least four times the
    frequency that holds all but a thousandth of any joint's kinetic energy, and at most 0.4 of the rate. With
    ``lowest`` it is that lower bound itself, for motions whose derivatives are drowned by noise.
    """
    power, frequencies = _spectrum(q, rate)
    noise = np.median(power[len(power) // 2 :], axis=0)
    peaks, rows = np.argmax(power, axis=0), np.arange(len(power))[:, None]
    moving = power.max(axis=0) > ABOVE**2 * noise
    if not moving.any():
        return HIGHEST * rate
    quiet = (power <= ABOVE * noise) & (rows >= peaks)
    ends = frequencies[np.where(quiet.any(axis=0), np.argmax(quiet, axis=0), len(power) - 1)]
    energy = np.cumsum(np.maximum(power - ABOVE * noise, 0) * frequencies[:, None] ** 2, axis=0)
    holding = frequencies[np.argmax(energy >= ENOUGH * energy[-1], axis=0)]
    least = WIDER * float(holding[moving].max())
    least = max(least, float(frequencies[1]))
    return float(np.clip(least if lowest else np.median(ends[moving]), least, HIGHEST * rate))


def _spectrum(x: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the power of each column, as the mean over half overlapping windows, and the frequencies."""
    size = min(len(x), max(SHORTEST, min(len(x) // SEGMENTS, LONGEST)))
    window = np.hanning(size + 2)[1:-1, None]
    line = np.linspace(-1.0, 1.0, size)[:, None]
    starts = np.unique(np.linspace(0, len(x) - size, max(1, 2 * len(x) // size - 1)).astype(int))
    total = np.zeros((size // 2 + 1, x.shape[1]))
    for start in starts:
        piece = np.array(x[start : start + size])
        piece -= piece.mean(axis=0)
        piece -= line * (line * piece).sum(axis=0) / (line**2).sum()
        total += np.abs(np.fft.rfft(piece * window, axis=0)) ** 2
    return total / len(starts), np.fft.rfftfreq(size, 1 / rate)
