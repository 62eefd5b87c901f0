"""Processing of a log: an even grid of times, low pass, derivatives, decimation, noise. Each step adds a note."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control import Point
from ...errors import LinkworkError, ShapeError, at_door, option_at_door
from .log_noise import noise_of
from .sample_times import ROUNDED, even_grid, in_gaps, interpolated, interpolation_nodes, spacing
from .signals import derivative, motion_cutoff, settling, zero_phase

if TYPE_CHECKING:
    from .log import Log

SHARE = 0.8  # of half the new rate: cutoff of the low pass before a decimation
SHARP = 8  # its order
SHARE_AT_REST, DURATION = 0.01, 0.1  # share of the highest velocity, and seconds: a joint that stands still
QUATERNION = ("qx", "qy", "qz", "qw")


@dataclass(frozen=True)
class Band:
    """A low pass that regressor and joint forces both go through, without delay, before they are decimated.

    Attributes:
        cutoff: Cutoff frequency in Hz.
        order: Order of the Butterworth filter, which is run forwards and backwards.
        decimate: Every ``decimate``-th sample is used. Default: 1.

    Example:
        >>> linkwork.identify.Band(cutoff=10.0, order=4, decimate=5)
        Band(cutoff=10.0, order=4, decimate=5)
    """

    cutoff: float
    order: int
    decimate: int = 1


def changed(log: Log, *notes: str, **changes: Any) -> Log:
    """Return the log with other values of its fields, and further notes."""
    return replace(log, **changes, notes=(*log.notes, *notes))


def mapped(log: Log, change: Callable[[np.ndarray], np.ndarray], note: str, **changes: Any) -> Log:
    """Return the log with the same ``change`` of all arrays of samples, and other values of other fields."""
    arrays: dict[str, Any] = {
        kind: change(x) for kind in ("q", "v", "a", "tau") if (x := getattr(log, kind)) is not None
    }
    if log.reference is not None:
        arrays["reference"] = Point(*(None if x is None else change(x) for x in log.reference))
    arrays["wrenches"] = {frame: change(x) for frame, x in log.wrenches.items()}
    return changed(log, note, **arrays, **changes)


# -- times ---------------------------------------------------------------------------------------------------------


def even(log: Log) -> Log:
    """Return the log, if its times are even up to rounding; else on an even grid."""
    steps = spacing(log.t)
    if steps.jitter <= ROUNDED:
        return log
    if not steps.even:
        return resampled(log, None)
    note = f"times leave an even grid by up to {steps.jitter:.2g} of a step, and are taken as even"
    return changed(log, note, t=np.linspace(log.t[0], log.t[-1], len(log)))


def resampled(log: Log, rate: float | None) -> Log:
    step, jitter = spacing(log.t)
    new = step if rate is None else 1 / _positive(rate, "rate")
    if jitter <= ROUNDED and abs(new / step - 1) < 1e-9:
        return log
    if new > 1.001 * step:  # a low pass avoids aliasing
        log = even(log)
        cutoff = SHARE / (2 * new)
        log = mapped(log, lambda x: zero_phase(x, 1 / step, cutoff, SHARP), _filtered_note("all", cutoff, SHARP))
    grid = even_grid(log.t, new)
    nodes = interpolation_nodes(log.t, step)
    dropped = len(nodes) - int(nodes.sum())
    t = log.t if not dropped else log.t[nodes]
    after = np.clip(np.searchsorted(log.t, grid), 1, len(log) - 1)
    nearest = after - (grid - log.t[after - 1] < log.t[after] - grid)
    gaps = in_gaps(log.t, grid, step)
    keep = None if log.keep is None and not gaps.any() else ~gaps & (True if log.keep is None else log.keep[nearest])
    note = f"resampled by cubic splines at {1 / new:.6g} Hz"
    note += f": times left an even grid by up to {jitter:.2g} of a step" if jitter > ROUNDED else ""
    note += f"; {dropped} samples left out, that follow others at once" if dropped else ""
    note += f"; {int(gaps.sum())} samples in gaps do not count" if gaps.any() else ""
    whole = continuous(log)
    band, noise = _thinned(log.band, new / step), _quieter(log, new / step)
    return unit(
        mapped(
            whole, lambda x: interpolated(t, x if not dropped else x[nodes], grid), note,
            t=grid, keep=keep, band=band, noise=noise,
        )
    )  # fmt: skip


def decimated(log: Log, count: int) -> Log:
    if not isinstance(count, (int, np.integer)) or not 1 <= count <= len(log) // 2:
        expected = f"a number from 1 to {len(log) // 2}"
        raise ShapeError("the decimation is out of range", where="decimated", got=count, expected=expected)
    if count == 1:
        return log
    log = continuous(even(log))
    cutoff = SHARE * log.rate / (2 * count)
    if log.band is not None and log.band.cutoff >= log.rate / (2 * count):
        got, fix = f"{log.band.cutoff:g} Hz", "decimate first, then banded(...)"
        raise LinkworkError("the band does not fit the new rate", where="decimated", got=got, fix=fix)
    note = f"every {count}-th sample taken, after a low pass at {cutoff:.4g} Hz"
    keep = None if log.keep is None else log.keep[::count]
    band, noise = _thinned(log.band, count), _quieter(log, count)
    return unit(
        mapped(
            log, lambda x: zero_phase(x, log.rate, cutoff, SHARP)[::count], note,
            t=log.t[::count], keep=keep, band=band, noise=noise,
        )
    )  # fmt: skip


def _thinned(band: Band | None, count: float) -> Band | None:
    """Return the band of a log with so many times fewer samples."""
    return band and replace(band, decimate=max(1, int(band.decimate / count)))


def _quieter(log: Log, count: float) -> dict[str, np.ndarray]:
    """Return the white noise of a log with so many times fewer samples: its density stays."""
    return {kind: sigma / max(count, 1.0) ** 0.5 for kind, sigma in log.noise.items()}


# -- filters -------------------------------------------------------------------------------------------------------


def smoothed(log: Log, cutoff: float | None, order: int, derivatives: str) -> Log:
    if derivatives not in ("central", "cubic"):
        raise ShapeError("unknown derivatives", where="derivatives", got=derivatives, expected="central or cubic")
    log = continuous(even(log))
    rate, (cutoff, origin) = log.rate, _cutoff(log, cutoff, option_at_door("cutoff"))
    window = cutoff if derivatives == "cubic" else None
    raw: dict[str, Any] = {kind: getattr(log, kind) for kind in ("q", "v", "a")}
    arrays: dict[str, Any] = {
        kind: None if x is None else zero_phase(x, rate, cutoff, order) for kind, x in raw.items()
    }
    columns = ", ".join(kind for kind, x in raw.items() if x is not None)
    notes, noise = [_filtered_note(columns, cutoff, order) + origin], noise_of(log)
    if arrays["a"] is None and (arrays["v"] is not None or not quaternions(log.joints)):
        first, number = ("q", 2) if arrays["v"] is None else ("v", 1)
        source = raw if window else arrays
        if arrays["v"] is None:
            arrays["v"] = derivative(source["q"], rate, 1, window)
        arrays["a"] = derivative(source[first], rate, number, window)
        how = "cubics fitted around each sample" if window else "central differences"
        notes.append(f"{'v and a are' if number == 2 else 'a is'} differentiated from {first} by {how}")
    elif arrays["v"] is None and not quaternions(log.joints):
        arrays["v"] = derivative((raw if window else arrays)["q"], rate, 1, window)
        notes.append("v is differentiated from q")
    computed = tuple(
        kind for kind in "va" if arrays[kind] is not None and (raw[kind] is None or kind in log.differentiated)
    )
    passed = min(cutoff, log.passed or cutoff)
    return unit(changed(log, *notes, **arrays, passed=passed, noise=noise, differentiated=computed))


def banded(log: Log, cutoff: float | None, order: int, decimate: int | None) -> Log:
    log = even(log)
    where = at_door("cutoff", "--band")
    cutoff, origin = _cutoff(log, cutoff, where)
    settling(log.rate, cutoff, order, where)
    every = max(1, int(SHARE * log.rate / (2 * cutoff))) if decimate is None else decimate
    if not isinstance(every, (int, np.integer)) or not 1 <= every <= len(log) // 2:
        expected = f"a number from 1 to {len(log) // 2}"
        raise ShapeError("the decimation is out of range", where="decimate", got=decimate, expected=expected)
    note = f"regressor and joint forces go through a low pass at {cutoff:.4g} Hz, order {order}, without delay{origin}"
    note += f"; every {every}-th sample of them is taken" if every > 1 else ""
    return changed(log, note, band=Band(float(cutoff), int(order), int(every)))


def _cutoff(log: Log, cutoff: float | None, where: str) -> tuple[float, str]:
    """Return the cutoff frequency in Hz, and how it was chosen, for the note."""
    if cutoff is not None:
        return _positive(cutoff, where), ""
    if log.passed is not None:  # the spectrum shows no noise any more
        return log.passed, ", as q before"
    return motion_cutoff(log.q, log.rate), " (chosen from the spectrum of q)"


def _filtered_note(what: str, cutoff: float, order: int) -> str:
    return f"{what} through a low pass at {cutoff:.4g} Hz, order {order}, without delay"


def _positive(value: Any, where: str) -> float:
    if not (isinstance(value, (int, float, np.number)) and 0 < float(value) < np.inf):
        raise ShapeError("this is not a frequency", where=where, got=value, expected="a positive number, in Hz")
    return float(value)


# -- quaternions: their signs are free, and their length is one --------------------------------------------------------


def quaternions(names: Sequence[str]) -> list[int]:
    """Return where in q the four entries of each unit quaternion begin, by the names of its columns."""
    ends = [name.rpartition(".")[2] for name in names]
    return [k for k in range(len(ends) - 3) if tuple(ends[k : k + 4]) == QUATERNION]


def continuous(log: Log) -> Log:
    """Return the log with the signs of quaternions chosen so that they do not jump."""
    q = without_flips(log.q, quaternions(log.joints))
    return log if q is log.q else changed(log, q=q)


def without_flips(q: np.ndarray, places: Sequence[int]) -> np.ndarray:
    """Return positions whose quaternions do not change sign; the array itself if they do not."""
    result = q
    for first in places:
        part = q[:, first : first + 4]
        flips = np.concatenate([[1.0], np.where(np.sum(part[1:] * part[:-1], axis=1) < 0, -1.0, 1.0)])
        if (flips < 0).any():
            result = q.copy() if result is q else result
            result[:, first : first + 4] = part * np.cumprod(flips)[:, None]
    return result


def unit(log: Log) -> Log:
    """Return the log with quaternions of length one again."""
    places = quaternions(log.joints)
    if not places:
        return log
    q = log.q.copy()
    for first in places:
        q[:, first : first + 4] /= np.linalg.norm(q[:, first : first + 4], axis=1, keepdims=True)
    return changed(log, q=q)


# -- which samples count, and noise ------------------------------------------------------------------------------------


def without_standstill(log: Log, share: float, duration: float) -> Log:
    if not (0 < share < 1 and duration >= 0):
        got, expected = f"share {share}, duration {duration}", "a share between 0 and 1, seconds"
        raise ShapeError("out of range", where="without_standstill", got=got, expected=expected)
    speed = np.abs(np.gradient(log.q, log.t, axis=0) if log.v is None else log.v)
    still = (speed <= share * speed.max(axis=0)).all(axis=1)
    rest = lasting(still, log.t, duration)
    keep = ~rest if log.keep is None else log.keep & ~rest
    count = int(rest.sum())
    if keep.sum() < 2:
        raise LinkworkError("the robot stands still all the time", where="log", got=f"{len(log)} samples")
    if not count:
        return changed(log, "no samples at standstill")
    return changed(log, f"{count} samples at standstill ({count / log.rate:.3g} s) do not count", keep=keep)


def lasting(still: np.ndarray, t: np.ndarray, duration: float) -> np.ndarray:
    """Return which of the samples that are ``still`` (N,) are so for at least a duration."""
    result = np.zeros(len(still), bool)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still.astype(np.int8), [0]])))
    for begin, end in edges.reshape(-1, 2):
        result[begin:end] = t[end - 1] - t[begin] >= duration
    return result


def noisy(log: Log, rng: np.random.Generator, deviations: Mapping[str, Any]) -> Log:
    notes, changes = [], {}
    for kind, deviation in deviations.items():
        size = np.asarray(deviation, float)
        if not size.any():
            continue
        if (values := getattr(log, kind)) is None:
            raise LinkworkError("there is nothing to add noise to", where=kind, fix="log.smoothed() gives v and a")
        if size.shape not in ((), values.shape[1:]) or not (size >= 0).all():
            expected = f"a number, or {values.shape[1]}, none below zero"
            raise ShapeError(
                "this is not a standard deviation", where=f"noisy, {kind}", got=deviation, expected=expected
            )
        changes[kind] = values + size * rng.standard_normal(values.shape)
        if kind in log.noise:
            changes["noise"] = changes.get("noise", log.noise) | {kind: np.hypot(log.noise[kind], size)}
        sizes = ", ".join(f"{x:.3g}" for x in np.atleast_1d(size))
        notes.append(f"normal noise added to {kind}, standard deviation {sizes}")
    return unit(changed(log, *notes, **changes))
