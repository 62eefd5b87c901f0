"""Consistency of the columns of a recording, without a model of the dynamics.

Velocities are compared with the derivatives of positions, and accelerations with those of velocities: scale, sign,
order and delay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import LinkworkError
from ...notes import Note
from .filters import continuous, even
from .joint_order import along
from .signals import derivative, motion_cutoff, zero_phase

if TYPE_CHECKING:
    from ...robot import Robot
    from .log import Log

FEWEST, MOST = 50, 50_000  # least and largest number of samples that are compared
ORDER = 4  # order of the low pass that leaves the motion
ALIKE = 0.9  # correlation from which on two signals are the same, up to their scale
UNLIKE = 0.5  # correlation below which they are unrelated
SCALE = 1.25  # a larger factor between them is more than an error of a sensor
MOVING = 0.02  # joints slower than this share of the fastest are left out
SLOWEST = 1e-3  # rad/s or m/s (and /s): less is noise
NOISE = 0.1  # share of the power that may be noise
ROUGH = 3.0  # factor by which differences of five points attenuate noise in the upper frequencies
NOISY = 2.0  # times the power of the motion: more than half of a signal is noise, or chatter
DELAY = 0.02  # loss of correlation from which on a delay is looked for
SHARPER = 10.0  # factor by which a delay must reduce this loss
HINTS = {  # ratio of measured to differentiated -> question
    180 / np.pi: "is {kind} in degrees?",
    np.pi / 180: "is {source} in degrees?",
    30 / np.pi: "is {kind} in rpm?",
    np.pi / 30: "is {source} in rpm or revolutions?",
    1 / (2 * np.pi): "is {source} or {kind} in revolutions?",
    2 * np.pi: "is {source} or {kind} in revolutions?",
    1000.0: "is {kind} in mm?",
    0.001: "is {source} in mm?",
}
TIMES = {1000.0: "milliseconds", 1e6: "microseconds", 1e9: "nanoseconds", 60.0: "minutes", 0.001: "seconds, not ms"}
NEAR = 1.1  # a factor is recognised within this factor


class Compared(NamedTuple):
    """Signals (N, n) of the same joints after the same low pass: measured, and differentiated."""

    kind: str  # the measured column: "v" or "a"
    source: str  # the column that was differentiated
    names: Sequence[str]
    measured: np.ndarray
    rates: np.ndarray
    usable: np.ndarray  # (n,) joints that move, with little noise
    calm: np.ndarray  # (n,) joints with motion above half of the power


def warning(code: str, text: str, fix: str = "", command_fix: str = "", **more: Any) -> Note:
    """Return a note of severity "warning"."""
    return Note(code, text, fix, command_fix, "warning", **more)


def disagreements(robot: Robot, log: Log) -> Iterator[Note]:
    """Yield warnings of columns that do not belong together. The log has v and a, and is in the robot's order."""
    part = _middle(log)
    if part is None:
        return
    rate, cutoff = part.rate, motion_cutoff(part.q, part.rate)
    coordinates, independent = robot.coordinates, list(robot.model.mobility.independent)
    names = coordinates.of_freedoms(independent).names
    D = along(coordinates, np.asarray(part.q), rate)[:, independent]
    signals = {"v": part.v, "a": part.a, "dq": D, "ddq": derivative(D, rate), "dv": derivative(part.v, rate)}
    filtered = {key: zero_phase(x, rate, cutoff, ORDER) for key, x in signals.items()}
    edge = min(int(rate / cutoff), len(part) // 8)  # filters are one-sided there
    inner = slice(edge, len(part) - edge)
    slope = {"v": 0, "a": 0, "dq": 1, "ddq": 2, "dv": 1}  # noise grows with this power of the frequency
    clean = {key: _clean(signals[key][inner], x[inner], 2 * cutoff / rate, slope[key]) for key, x in filtered.items()}
    filtered = {key: x[inner] for key, x in filtered.items()}
    calm = {key: np.var(signals[key][inner], axis=0) < NOISY * np.mean(x**2, axis=0) for key, x in filtered.items()}

    def compared(kind: str, source: str, rates: str) -> Compared:
        usable = clean[kind] & clean[rates] & _moving(filtered[kind], filtered[rates])
        return Compared(kind, source, names, filtered[kind], filtered[rates], usable, calm[kind] & calm[rates])

    first, second = compared("v", "q", "dq"), compared("a", "v", "dv")
    crossed = compared("v", "q", "ddq"), compared("a", "q", "dq")
    swapped = all(each.usable.any() and (_likeness(each)[each.usable] > ALIKE).all() for each in crossed)
    if swapped and not (_likeness(first)[first.usable] > ALIKE).any():
        text = "v is the second derivative of q, and a the first:"
        yield warning("swapped-columns", text, "are the columns of v and a swapped?")
        return
    notes = [*_differences(first, rate)]
    yield from notes
    if "a" not in log.differentiated:
        yield from _differences(second if not notes else compared("a", "q", "ddq"), rate)


def mostly_noise(log: Log) -> bool:
    """Return whether accelerations of a joint that moves are more noise than motion."""
    part = _middle(log)
    if part is None:
        return False
    a = zero_phase(part.a, part.rate, motion_cutoff(part.q, part.rate), ORDER)
    return bool((np.var(part.a, axis=0) > NOISY * np.mean(a**2, axis=0))[_moving(a, a)].any())


def _middle(log: Log) -> Log | None:
    """Return samples in the middle, on an even grid; None if they are too few, or too far apart for one."""
    begin = max(len(log) - MOST, 0) // 2
    try:
        return continuous(even(log[begin : begin + MOST])) if len(log) >= FEWEST else None
    except LinkworkError:
        return None


def _clean(raw: np.ndarray, passed: np.ndarray, share: float, slope: int) -> np.ndarray:
    """Return which columns have little noise below the cutoff, judged by what is above it.

    ``share`` is the cutoff over half the rate; the density of noise grows with the frequency to twice ``slope``.
    """
    above = np.mean((raw - passed) ** 2, axis=0)
    power = share ** (2 * slope + 1)
    return (ROUGH if slope else 1.0) * above * power / (1 - power) <= NOISE * np.mean(passed**2, axis=0)


def _moving(measured: np.ndarray, rates: np.ndarray) -> np.ndarray:
    sizes = np.sqrt([np.mean(measured**2, axis=0), np.mean(rates**2, axis=0)])
    return ((sizes > MOVING * sizes.max(axis=1, keepdims=True)) & (sizes > SLOWEST)).any(axis=0)


def _correlation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return correlations about zero of all columns of x with all of y."""
    sizes = np.outer(np.linalg.norm(x, axis=0), np.linalg.norm(y, axis=0))
    return x.T @ y / np.maximum(sizes, np.finfo(float).tiny)


def _likeness(pair: Compared) -> np.ndarray:
    return np.diag(_correlation(pair.measured, pair.rates))


def _differences(pair: Compared, rate: float) -> Iterator[Note]:
    """Yield warnings of units, signs, order and delays in which two signals differ."""
    correlations = _correlation(pair.measured, pair.rates)
    likeness, usable = np.diag(correlations), [int(k) for k in np.flatnonzero(pair.usable)]
    second = pair.source == "q" and pair.kind == "a"
    derivative_name = f"the {'second ' if second else ''}derivative of {pair.source}"
    similar = [k for k in usable if abs(likeness[k]) > ALIKE]
    sizes = np.linalg.norm(pair.measured, axis=0), np.linalg.norm(pair.rates, axis=0)
    ratios = {k: float(np.sign(likeness[k]) * sizes[0][k] / sizes[1][k]) for k in similar}
    wrong = {k: x for k, x in ratios.items() if not 1 / SCALE < x < SCALE}
    ratio = float(np.median(list(wrong.values()) or [1.0]))
    same = len(wrong) == len(similar) > 0 and all(1 / NEAR < x / ratio < NEAR for x in wrong.values())
    if same and (unit := _near(ratio, TIMES if pair.kind == "v" else {x * x: unit for x, unit in TIMES.items()})):
        text = f"{pair.kind} is {ratio:.3g} times {derivative_name}:"
        yield warning("wrong-times", text, f"are the times in {unit}?", values={"ratio": ratio})
        wrong = {}
    while wrong:
        x = next(iter(wrong.values()))
        joints = [k for k, y in wrong.items() if 1 / NEAR < y / x < NEAR]
        hint = (_near(abs(x), HINTS) or "are their units the same?").format(kind=pair.kind, source=pair.source)
        hint = "is its sign wrong?" if 1 / SCALE < -x < SCALE else hint
        names = ", ".join(pair.names[k] for k in joints)
        code = "wrong-sign" if "sign" in hint else "wrong-unit"
        yield warning(code, f"{pair.kind} of {names} is {x:.3g} times {derivative_name}:", hint, values={"ratio": x})
        wrong = {k: y for k, y in wrong.items() if k not in joints}
    others = [k for k in usable if k not in ratios]
    best = {k: int(np.argmax(np.abs(correlations[k]))) for k in others}
    exchanged = {k: j for k, j in best.items() if abs(correlations[k, j]) > ALIKE}
    if exchanged:
        pairs = ", ".join(f"{pair.names[k]} is that of {pair.names[j]}" for k, j in exchanged.items())
        columns = f"the columns of {pair.source} or {pair.kind}"
        text = f"{pair.kind} is {derivative_name} of another joint: {pairs};"
        yield warning("column-order", text, f"are {columns} in another order?")
    late: dict[int, list[str]] = {}
    for k in (k for k in usable if k not in exchanged):
        if likeness[k] > 0 and (delay := _delay(pair.measured[:, k], pair.rates[:, k], float(likeness[k]))):
            late.setdefault(delay, []).append(pair.names[k])
        elif pair.calm[k] and abs(likeness[k]) < UNLIKE:
            text = f"{pair.kind} of {pair.names[k]} is not {derivative_name} (correlation {likeness[k]:.2g}):"
            yield warning("unrelated-column", text, "is it of the same motion?")
    for delay, names in late.items():
        behind = f"{delay / rate:.3g} s ({delay} samples) behind {derivative_name}"
        text, values = f"{pair.kind} of {', '.join(names)} comes {behind}:", {"delay": delay / rate}
        yield warning("delayed-column", text, "is it delayed?", values=values)


def _near(ratio: float, known: dict[float, str]) -> str:
    return next((text for x, text in known.items() if 1 / NEAR < ratio / x < NEAR), "")


def _delay(measured: np.ndarray, rates: np.ndarray, likeness: float) -> int:
    """Return the delay of the measured signal in samples (negative: sooner); 0 if a delay does not explain it."""
    if 1 - likeness < DELAY:
        return 0
    reach = len(rates) // 4
    size = 2 * len(rates)
    spectrum = np.fft.rfft(measured, size) * np.conj(np.fft.rfft(rates, size))
    lags = np.fft.irfft(spectrum, size)
    places = np.r_[0 : reach + 1, -reach:0]
    x, y = (np.r_[0.0, np.cumsum(each**2)] for each in (measured, rates))
    late, k = places >= 0, np.abs(places)
    overlap = np.where(late, (x[-1] - x[k]) * y[-1 - k], x[-1 - k] * (y[-1] - y[k]))  # larger lags have less of it
    lag = int(places[np.argmax(lags[places] / np.sqrt(np.maximum(overlap, np.finfo(float).tiny)))])
    if lag == 0:
        return 0
    x, y = (measured[lag:], rates[: len(rates) - lag]) if lag > 0 else (measured[:lag], rates[-lag:])
    return lag if SHARPER * (1 - float(_correlation(x[:, None], y[:, None])[0, 0])) < 1 - likeness else 0
