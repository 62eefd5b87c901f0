"""Noise of positions and velocities: its size, estimated from a recording, and the effect of filters and
derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .signals import derivative, zero_phase

if TYPE_CHECKING:
    from ...robot import Robot
    from .log import Log

DIFFERENCES, GAIN = 6, 924**0.5  # order of differences that leave noise alone, and their gain for white noise
MEDIAN = 0.6745  # median of the absolute value of a standard normal variable
REPEATED = 0.2  # if more samples equal the one before, the smallest step is that of an encoder
ROUNDING = 8 * np.finfo(float).eps  # rounding error of filters and differences, relative to the largest position
ALIKE = 0.5  # least correlation of v with dq/dt of one joint, where samples follow each other in time
LOOKED_AT, PIECES = 100_000, 10  # samples that are used, and the pieces of longer recordings that they come from
ORDER = 4  # order of the low pass that positions went through


def noise_of(log: Log) -> dict[str, np.ndarray]:
    """Return standard deviations of the white noise of q and v as they were recorded, by column.

    They are those of the log, and estimates for the others if its samples follow each other in time.
    """
    if not _in_time(log):
        return dict(log.noise)
    measured = [kind for kind in ("q", "v") if getattr(log, kind) is not None and kind not in log.differentiated]
    return {kind: white_level(getattr(log, kind)) for kind in measured if kind not in log.noise} | dict(log.noise)


def white_level(x: np.ndarray) -> np.ndarray:
    """Return the standard deviation of white noise in each column of x (N, n), or of the rounding to steps of an
    encoder.

    Differences of sixth order leave little of a motion that is sampled well; their median ignores its corners.
    """
    size = max(LOOKED_AT // PIECES, DIFFERENCES + 2)
    starts = np.linspace(0, len(x) - size, PIECES).astype(int) if len(x) > LOOKED_AT else [0]
    pieces = [np.asarray(x[k : k + size if len(x) > LOOKED_AT else None]) for k in starts]
    if len(pieces[0]) < DIFFERENCES + 2:
        return np.zeros(x.shape[1])
    quick = np.concatenate([np.abs(np.diff(piece, DIFFERENCES, axis=0)) for piece in pieces])
    steps = np.concatenate([np.abs(np.diff(piece, axis=0)) for piece in pieces])
    encoder = np.where(steps > 0, steps, np.inf).min(axis=0)
    stepping = ((steps == 0).mean(axis=0) > REPEATED) & np.isfinite(encoder)
    return np.maximum(np.median(quick, axis=0) / (MEDIAN * GAIN), np.where(stepping, encoder / 12**0.5, 0.0))


def _in_time(log: Log) -> bool:
    """Return whether samples follow each other: where something was differentiated, and where v is the rate of q."""
    if log.v is None or log.a is None or log.differentiated:
        return True
    if log.q.shape != log.v.shape or len(log) < DIFFERENCES + 2:
        return False
    part = slice(0, LOOKED_AT)
    v, rates = np.asarray(log.v[part]), np.gradient(np.asarray(log.q[part]), np.asarray(log.t[part]), axis=0)
    sizes = np.linalg.norm(v, axis=0) * np.linalg.norm(rates, axis=0)
    return bool((np.einsum("ij,ij->j", v, rates) > ALIKE * sizes).any())


def noise_sample(log: Log, robot: Robot, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return one realisation of the noise of a log in the robot's order; None without noise.

    It consists of steps (N, nv) of the independent coordinates, and what is added to v and a, after the same low pass
    and differences as the motion.
    """
    sigma, shape = noise_of(log), log.v.shape
    white = {"q": _of_coordinates(robot, sigma["q"])} if "q" in sigma else {}
    white |= {kind: sigma[kind] for kind in "va" if kind in sigma}
    rounding = ROUNDING * _of_coordinates(robot, np.abs(log.q).max(axis=0)) * ("v" in log.differentiated)
    if not (rounding.any() or any(each.any() for each in white.values())):
        return None

    def passed(kind: str) -> np.ndarray:
        x = rng.standard_normal(shape) * white.get(kind, 0.0)
        return x if log.passed is None else zero_phase(x, log.rate, log.passed, ORDER)

    q = passed("q") + rounding * rng.standard_normal(shape)
    v = derivative(q, log.rate) if "v" in log.differentiated else passed("v")
    if "a" not in log.differentiated:
        return q, v, passed("a")
    return q, v, derivative(q, log.rate, 2) if "v" in log.differentiated else derivative(v, log.rate)


def moved(log: Log, robot: Robot, steps: np.ndarray) -> np.ndarray:
    """Return positions after these steps of the independent coordinates; loops stay closed to first order."""
    coordinates = robot.coordinates
    if robot.nv < coordinates.nv:
        steps = np.einsum("kij,kj->ki", robot.velocity_map(log.q), steps)
    return np.asarray(coordinates.integrate(np.asarray(log.q), steps))


def _of_coordinates(robot: Robot, sizes: np.ndarray) -> np.ndarray:
    """Return sizes of steps of the independent coordinates, from those of the entries of q.

    A rotation is twice what it changes in a quaternion.
    """
    coordinates = robot.coordinates
    unit = [k for each in coordinates.quaternions for k in range(each.start, each.stop)]
    steps = []
    for freedom in robot.model.mobility.independent:
        if (place := coordinates.position_of(freedom)) is not None:
            steps.append(sizes[place])
            continue
        joint = coordinates.joint_of(freedom)
        part = coordinates.velocity_ranges[coordinates.joints.index(joint)].index(freedom)
        entries = coordinates.position_ranges[coordinates.joints.index(joint)]
        entries = [k for k in entries if (k in unit) == joint.kind.turning[part]] or entries
        steps.append(max((2 if k in unit else 1) * sizes[k] for k in entries))
    return np.array(steps)
