"""Warnings about recordings: what looks like a wrong unit, sign or order of columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...model import Model
from ...notes import Note
from ..logs.column_agreement import disagreements, mostly_noise, warning
from ..logs.log import Log
from ..logs.log_noise import white_level
from ..logs.signals import max_speeds
from .log_mistakes import driven_of, mistake_in
from .stacked_regressor import applied
from .unknowns import Unknowns

FACTORS = {1000.0: "N mm", 0.001: "kN m"}
ALIKE = 0.7  # correlation with the forces before the fit from which on they are compared
WITHIN = 4.0  # a factor is recognised within this factor
OTHER = 40.0  # factor between measured and expected forces that is larger than any error of a robot file
MOST = 4000  # largest number of samples whose forces are compared
FAST = 40 * math.pi  # rad/s: faster than any joint
SLOW, RARE = 0.02, 11.0  # rad/s or m/s, and Hz: slower motion, sampled less often, is unlikely
OFTEN = 50_000.0  # Hz: more than any recording
TURNS = 4 * math.pi  # rad: more than any joint with limits turns
BEYOND, FAR = 4.0, 20.0  # times the span of the limits, for joints that turn and that slide
SHARE = 0.5  # a fit that explains less than this share of a squared force is reported
LOOK = 0.9  # below this share, mistakes in the recording are looked for
SMALL = 0.05  # of the largest force, or of its constant part: less may be noise
CLEAR = 4.0  # variance in units of the noise power from which on a force varies clearly
NOISY = "accelerations are mostly noise; smooth q and v"
UNRELATED = "they are mostly noise, or not of this motion or not of this robot"


def log_warnings(unknowns: Unknowns, logs: Sequence[Log], x: np.ndarray, tolerant: bool = False) -> Iterator[Note]:
    """Yield warnings about recordings.

    Columns are compared with each other, times and velocities with what robots do, and forces with those of the robot
    before the fit and of the fit, ``x``. A ``tolerant`` method is not spoiled by noisy accelerations.
    """
    robot, motors = unknowns.robot, driven_of(unknowns.robot.model)
    names = [unknowns.forces[k] for k in motors]
    for number, log in enumerate(logs, 1):
        where = f"recording {number}: " if len(logs) > 1 else ""
        notes = [*_times(log), *_motion(robot.model, log), *disagreements(robot, log)]
        step = -(-len(log) // MOST)
        q, v, a, tau = (np.asarray(array[::step]) for array in (log.q, log.v, log.a, log.tau))
        wrenches = applied(unknowns.frames, log, slice(None, None, step))
        expected = robot.compile("inverse_dynamics", wrenches=unknowns.frames)(q, v, a, *wrenches)
        notes += _forces(names, expected[:, motors], tau[:, motors], _rates(robot.model, v)[:, motors])
        if not notes and len(motors) == len(unknowns.forces):  # forces on a free base are small differences
            notes += _units(names, expected, tau, _rates(robot.model, v))
        predicted = unknowns.regressor(q, v, a) @ x
        predicted += 0.0 if unknowns.known_forces is None else unknowns.known_forces(q, v, a, *wrenches)
        rows = slice(None) if log.keep is None else log.keep[::step]
        noise = white_level(log.tau)
        shares = explained(tau[rows][:, motors], predicted[rows][:, motors], noise[motors])
        notes += _unexplained(unknowns, log, dict(zip(names, shares, strict=True)), bool(notes), tolerant)
        yield from (replace(note, text=where + note.text) for note in notes)


def _unexplained(
    unknowns: Unknowns, log: Log, shares: Mapping[str, float], warned: bool, tolerant: bool
) -> Iterator[Note]:
    """Yield a warning if the fit explains too little of the forces, with the likely cause unless there are others."""
    if not any(share < LOOK for share in shares.values()):
        return
    mistake = "" if warned else mistake_in(unknowns, log)
    poor = {name: max(float(share), 0.0) for name, share in shares.items() if share < SHARE}
    if not poor:
        if mistake:
            yield warning("likely-mistake", mistake)
        return
    noisy = not warned and not mistake and mostly_noise(log)
    if not (noisy and tolerant):
        shares_text = ", ".join(f"{share:.0%} of {name}" for name, share in poor.items())
        text = f"the fit explains less than half of the squares of some forces ({shares_text}):"
        fixes = (f"{NOISY}, log.smoothed()", f"{NOISY}, --cutoff") if noisy else (mistake or UNRELATED,)
        yield warning("poor-fit", text, *(("see the other warnings",) if warned else fixes), values=poor)


def explained(measured: np.ndarray, predicted: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the share of each force that a fit explains.

    It is the lesser of two: the share of its squares, and that of its variance less the white noise where there is more
    than noise. Small forces may be noise alone and do not count.
    """
    if not len(measured):
        return np.ones(measured.shape[1])
    residual, power = np.mean((measured - predicted) ** 2, axis=0), np.mean(measured**2, axis=0)
    varying = np.var(measured, axis=0) - noise**2
    with np.errstate(divide="ignore", invalid="ignore"):
        of_squares, of_variance = 1 - residual / power, 1 - np.maximum(residual - noise**2, 0) / varying
    large = power > SMALL**2 * power.max()
    moving = (varying > CLEAR * noise**2) & (varying > SMALL**2 * power)
    return np.minimum(np.where(large, of_squares, 1.0), np.where(moving, of_variance, 1.0))


def _rates(model: Model, v: np.ndarray) -> np.ndarray:
    """Return velocities of the joints of the forces, zero where they are not among the independent ones."""
    independent = list(model.mobility.independent)
    columns = [v[:, independent.index(k)] if k in independent else 0 * v[:, 0] for k in model.mobility.forced]
    return np.stack(columns, axis=1)


def _forces(names: Sequence[str], expected: np.ndarray, measured: np.ndarray, rates: np.ndarray) -> Iterator[Note]:
    for k, name in enumerate(names):
        pairs = _both(expected[:, k], measured[:, k], rates[:, k])
        if expected[:, k].any() and not measured[:, k].any():
            yield warning("zero-forces", f"forces of {name} are always zero:", "were they recorded?")
        elif all(x < -ALIKE and 1 / OTHER < r < OTHER for x, r in pairs):
            text = f"forces of {name} have the other sign than expected:"
            yield warning("wrong-sign", text, "is their sign wrong, or that of q?")


def _units(names: Sequence[str], expected: np.ndarray, measured: np.ndarray, rates: np.ndarray) -> Iterator[Note]:
    for k, name in enumerate(names):
        pairs = _both(expected[:, k], measured[:, k], rates[:, k])
        if all(alike > ALIKE and not 1 / OTHER < ratio < OTHER for alike, ratio in pairs):
            ratio = pairs[0][1]
            unit = next((unit for factor, unit in FACTORS.items() if 1 / WITHIN < ratio / factor < WITHIN), "")
            question = f"are they in {unit}?" if unit else "are they currents, or in another unit?"
            text = f"forces of {name} are {ratio:.3g} times those expected:"
            yield warning("wrong-unit", text, question, values={"ratio": ratio})


def _both(expected: np.ndarray, force: np.ndarray, rate: np.ndarray) -> list[tuple[float, float]]:
    """Return correlation and ratio of two forces, and of their parts without friction, which robot files may lack."""
    return [_compared(expected, force), _compared(*_without_friction(expected, force, rate))]


def _compared(expected: np.ndarray, force: np.ndarray) -> tuple[float, float]:
    """Return the correlation about zero, and how many times larger the force is."""
    sizes = [max(float(np.linalg.norm(x)), np.finfo(float).tiny) for x in (expected, force)]
    return float(expected / sizes[0] @ (force / sizes[1])), sizes[1] / sizes[0]


def _without_friction(expected: np.ndarray, force: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both forces without friction, and without their constant part unless little else is expected."""
    laws = np.stack([np.ones(len(rate)), rate, np.sign(rate)], axis=1)
    both = np.stack([expected, force], axis=1)
    shares = np.linalg.lstsq(laws, both, rcond=None)[0]
    rest = both - laws @ shares
    if np.linalg.norm(rest[:, 0]) < SMALL * abs(shares[0, 0]) * len(rate) ** 0.5:
        rest += shares[0]
    return rest[:, 0], rest[:, 1]


def _times(log: Log) -> Iterator[Note]:
    """Warn of sampling rates that are too low or too high to be true."""
    fastest, values = float(max(max_speeds(log.v), default=0.0)), {"rate": log.rate}
    if log.rate < RARE and 0 < fastest < SLOW:
        text = f"there are {log.rate:.3g} samples per second, and no joint is faster than {fastest:.2g} rad/s (m/s):"
        yield warning("wrong-times", text, "are the times in milliseconds?", values=values)
    if log.rate > OFTEN:
        text = f"there are {log.rate:.3g} samples per second:"
        yield warning("wrong-times", text, "are the times in seconds, and were they taken as ms?", values=values)


def _motion(model: Model, log: Log) -> Iterator[Note]:
    """Warn of joints that are faster, or go further, than they can."""
    for freedom, fastest in zip(model.mobility.independent, max_speeds(log.v), strict=True):
        joint = model.coordinates.joint_of(freedom)
        place = model.coordinates.position_of(freedom)
        span = joint.upper - joint.lower
        limit = max(TURNS, BEYOND * span) if joint.revolute else FAR * span
        if joint.revolute and fastest > FAST:
            yield warning("wrong-unit", f"{joint.name} turns at {fastest:.3g} rad/s:", "is it in degrees?")
        elif place is not None and (change := float(np.ptp(log.q[:, place]))) > limit:
            unit, limits = "degrees" if joint.revolute else "mm", f"{joint.lower:.3g} and {joint.upper:.3g}"
            text = f"{joint.name} moves by {change:.3g}, and its limits are {limits}:"
            yield warning("wrong-unit", text, f"is it in {unit}?")
