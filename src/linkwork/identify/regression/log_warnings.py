"""What in a recording looks like a wrong unit, sign or order of columns, before anyone trusts a fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ...model import Model
from ..logs.column_agreement import disagreements, mostly_noise
from ..logs.log import Log
from ..logs.log_noise import white_level
from ..logs.signals import fastest_of
from .log_mistakes import driven_of, mistake_in
from .stacked_regressor import applied
from .unknowns import Unknowns

FACTORS = {1000.0: "N mm", 0.001: "kN m"}
ALIKE = 0.7  # correlation with the forces before the fit from which on they are compared
WITHIN = 4.0  # a factor is recognised within this factor
OTHER = 40.0  # factor between forces and what is thought of them that no robot file is wrong by
MOST = 4000  # samples whose forces are looked at
FAST = 40 * math.pi  # rad/s: no joint of a robot turns so fast
SLOW, RARE = 0.02, 11.0  # rad/s or m/s, and Hz: slower motion, sampled less often, nobody records
OFTEN = 50_000.0  # Hz: nobody records more often
TURNS = 4 * math.pi  # rad: joints that have limits do not turn so far
BEYOND, FAR = 4.0, 20.0  # times the span of the limits, of joints that turn and that slide
SHARE = 0.5  # of the squares of a force: a fit that explains less of it is no quiet result
LOOK = 0.9  # of them: from there on mistakes in the recording are looked for
SMALL = 0.05  # of the largest force, or of what is constant in it: less may be noise
CLEAR = 4.0  # times the power of the noise: what varies more is no noise
ACCELERATIONS = "accelerations are mostly noise; were q and v smoothed, log.smoothed()?"
STRANGE = "they are mostly noise, or not of this motion or not of this robot"


def suspicions(unknowns: Unknowns, logs: Sequence[Log], x: np.ndarray, bears_noise: bool = False) -> Iterator[str]:
    """Columns against each other, times and velocities against what robots do, forces against those that the robot has
    before the fit and against those of the fit, ``x``. ``bears_noise``: noise of accelerations does not spoil it."""
    robot, driven = unknowns.robot, driven_of(unknowns.robot.model)
    names = [unknowns.forces[k] for k in driven]
    for number, log in enumerate(logs, 1):
        where = f"recording {number}: " if len(logs) > 1 else ""
        texts = [*_times(log), *_motion(robot.model, log), *disagreements(robot, log)]
        step = -(-len(log) // MOST)
        q, v, a, tau = (np.asarray(array[::step]) for array in (log.q, log.v, log.a, log.tau))
        wrenches = applied(unknowns.frames, log, slice(None, None, step))
        thought = robot.compile("inverse_dynamics", wrenches=unknowns.frames)(q, v, a, *wrenches)
        texts += _forces(names, thought[:, driven], tau[:, driven], _rates(robot.model, v)[:, driven])
        if not texts and len(driven) == len(unknowns.forces):  # a free base leaves of large forces small differences
            texts += _units(names, thought, tau, _rates(robot.model, v))
        predicted = unknowns.regressor(q, v, a) @ x
        predicted += 0.0 if unknowns.known is None else unknowns.known(q, v, a, *wrenches)
        kept = slice(None) if log.keep is None else log.keep[::step]
        noise = white_level(log.tau)
        shares = explained(tau[kept][:, driven], predicted[kept][:, driven], noise[driven])
        yield from (where + text for text in (*texts, *_unexplained(unknowns, log, names, shares, texts, bears_noise)))


def _unexplained(
    unknowns: Unknowns, log: Log, names: Sequence[str], shares: np.ndarray, texts: Sequence[str], bears_noise: bool
) -> Iterator[str]:
    """What the fit leaves of the forces, and the likely cause; ``texts``: what is known to be wrong already."""
    if not (shares < LOOK).any():
        return
    mistake = "" if texts else mistake_in(unknowns, log)
    poor = ", ".join(
        f"{max(share, 0.0):.0%} of {name}" for name, share in zip(names, shares, strict=True) if share < SHARE
    )
    if not poor:
        yield from (mistake,) if mistake else ()
        return
    noisy = not texts and not mistake and mostly_noise(log)
    if not (noisy and bears_noise):
        likely = "see the other warnings" if texts else mistake or (ACCELERATIONS if noisy else STRANGE)
        yield f"the fit explains less than half of the squares of some forces ({poor}): {likely}"


def explained(measured: np.ndarray, predicted: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Share of each force that a fit explains: of its squares, and of those about the mean but for the white noise if
    there is more than that; the lesser of both. Squares of small forces may be noise alone, and do not count."""
    if not len(measured):
        return np.ones(measured.shape[1])
    left, power = np.mean((measured - predicted) ** 2, axis=0), np.mean(measured**2, axis=0)
    varying = np.var(measured, axis=0) - noise**2
    with np.errstate(divide="ignore", invalid="ignore"):
        whole, part = 1 - left / power, 1 - np.maximum(left - noise**2, 0) / varying
    large = power > SMALL**2 * power.max()
    moving = (varying > CLEAR * noise**2) & (varying > SMALL**2 * power)
    return np.minimum(np.where(large, whole, 1.0), np.where(moving, part, 1.0))


def _rates(model: Model, v: np.ndarray) -> np.ndarray:
    """Velocities of the joints of the forces, zero where they are not among the independent ones."""
    independent = list(model.mobility.independent)
    columns = [v[:, independent.index(k)] if k in independent else 0 * v[:, 0] for k in model.mobility.forced]
    return np.stack(columns, axis=1)


def _forces(names: Sequence[str], thought: np.ndarray, measured: np.ndarray, rates: np.ndarray) -> Iterator[str]:
    for k, name in enumerate(names):
        if thought[:, k].any() and not measured[:, k].any():
            yield f"forces of {name} are always zero: were they recorded?"
        elif all(x < -ALIKE and 1 / OTHER < r < OTHER for x, r in _both(thought[:, k], measured[:, k], rates[:, k])):
            yield f"forces of {name} have the other sign than expected: is their sign wrong, or that of q?"


def _units(names: Sequence[str], thought: np.ndarray, measured: np.ndarray, rates: np.ndarray) -> Iterator[str]:
    for k, name in enumerate(names):
        pairs = _both(thought[:, k], measured[:, k], rates[:, k])
        if all(alike > ALIKE and not 1 / OTHER < ratio < OTHER for alike, ratio in pairs):
            ratio = pairs[0][1]
            unit = next((unit for factor, unit in FACTORS.items() if 1 / WITHIN < ratio / factor < WITHIN), "")
            question = f"are they in {unit}?" if unit else "are they currents, or in another unit?"
            yield f"forces of {name} are {ratio:.3g} times those expected: {question}"


def _both(expected: np.ndarray, force: np.ndarray, rate: np.ndarray) -> list[tuple[float, float]]:
    """Correlation and ratio of forces as they are, and of what in them is not friction: robot files may be wrong about
    that, and about rotors."""
    return [_compared(expected, force), _compared(*_beside_friction(expected, force, rate))]


def _compared(expected: np.ndarray, force: np.ndarray) -> tuple[float, float]:
    """Correlation about zero, and how many times larger the force is."""
    sizes = [max(float(np.linalg.norm(x)), np.finfo(float).tiny) for x in (expected, force)]
    return float(expected / sizes[0] @ (force / sizes[1])), sizes[1] / sizes[0]


def _beside_friction(expected: np.ndarray, force: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both without friction, and without what is constant unless little else is expected."""
    laws = np.stack([np.ones(len(rate)), rate, np.sign(rate)], axis=1)
    both = np.stack([expected, force], axis=1)
    shares = np.linalg.lstsq(laws, both, rcond=None)[0]
    rest = both - laws @ shares
    if np.linalg.norm(rest[:, 0]) < SMALL * abs(shares[0, 0]) * len(rate) ** 0.5:
        rest += shares[0]
    return rest[:, 0], rest[:, 1]


def _times(log: Log) -> Iterator[str]:
    """Samples as rare, or as frequent, as nobody takes them."""
    fastest = float(max(fastest_of(log.v), default=0.0))
    if log.rate < RARE and 0 < fastest < SLOW:
        motion = f"no joint is faster than {fastest:.2g} rad/s (m/s)"
        yield f"there are {log.rate:.3g} samples per second, and {motion}: are the times in milliseconds?"
    if log.rate > OFTEN:
        yield f"there are {log.rate:.3g} samples per second: are the times in seconds, and were they taken as ms?"


def _motion(model: Model, log: Log) -> Iterator[str]:
    """Joints that are faster, or go further, than they can."""
    for freedom, fastest in zip(model.mobility.independent, fastest_of(log.v), strict=True):
        joint = model.coordinates.joint_of(freedom)
        place = model.coordinates.position_of(freedom)
        limit = (
            max(TURNS, BEYOND * (joint.upper - joint.lower)) if joint.revolute else FAR * (joint.upper - joint.lower)
        )
        if joint.revolute and fastest > FAST:
            yield f"{joint.name} turns at {fastest:.3g} rad/s: is it in degrees?"
        elif place is not None and (moved := float(np.ptp(log.q[:, place]))) > limit:
            unit, limits = "degrees" if joint.revolute else "mm", f"{joint.lower:.3g} and {joint.upper:.3g}"
            yield f"{joint.name} moves by {moved:.3g}, and its limits are {limits}: is it in {unit}?"
