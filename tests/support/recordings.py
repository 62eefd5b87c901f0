"""For trials of identification: wide random states, robots that differ from their files, and recordings of these."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import linkwork
from linkwork.formulations import drives_of
from linkwork.identify import Log
from linkwork.model import ELEMENTS
from support.evaluate import evaluate

RATE = 100.0  # samples per second, as far as states that do not follow each other have one
WILD = 10.0  # times the usual force: nearer to singular positions no robot is moved
SURE = 0.02  # of the conditioning of loops
SPHERE = (0.2, 0.0, 0.0, 0.0, 1e-3, 0.0, 0.0, 1e-3, 0.0, 1e-3)  # what a body without mass is given


def states(robot: linkwork.Robot, count: int, seed: int = 0, reach: float = 3.0) -> tuple[np.ndarray, ...]:
    """q, v, a that do not follow each other; where there are loops closed, and up to ``reach`` away from home."""
    rng, model = np.random.default_rng(seed), robot.model
    q = _closed(robot, count, rng, reach) if model.permanent else rng.uniform(-reach, reach, (count, model.nq))
    return q, *rng.uniform(-3, 3, (2, len(q), robot.nv))


def _closed(robot: linkwork.Robot, count: int, rng: np.random.Generator, reach: float) -> np.ndarray:
    model, coordinates = robot.model, robot.coordinates
    located, rolls = list(model.mobility.configuration), model.n_configuration > model.nv
    places = coordinates.places(coordinates.whole(located).positions.joints)
    steps = np.zeros((3 * count, model.coordinates.nv))
    steps[:, located] = rng.uniform(-reach, reach, (len(steps), len(located)))
    moved = np.array([model.moved(robot.home, step) for step in steps.tolist()])
    found = robot.assemble(moved[:, places], guess=moved if rolls else None, tolerance=1e-13)
    good = found.solved & (found.conditioning > SURE)
    if rolls:
        good &= robot.conditioning(np.where(good[:, None], found.q, robot.home)) > SURE
    return found.q[good][:count]


def forces(robot: linkwork.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray, **more: Any) -> np.ndarray:
    """Of inverse dynamics, without regressors and without compiling."""
    return evaluate(robot.model, "inverse_dynamics", q, v, a, **more)


def recorded(truth: linkwork.Robot, count: int, seed: int = 0, reach: float = 3.0, **more: Any) -> Log:
    """Of random states, with the forces that this robot needs there; without those near singular positions."""
    q, v, a = states(truth, count, seed, reach)
    tau = forces(truth, q, v, a)
    size = np.abs(tau).max(axis=1)
    usual = size < WILD * np.median(size)
    return Log(np.arange(usual.sum()) / RATE, q[usual], tau[usual], v[usual], a[usual], **more)


def swung(truth: linkwork.Robot, duration: float, rate: float, seed: int = 0, size: float = 1.0) -> Log:
    """Of smooth motion, sums of sines, with the forces that this robot needs for it."""
    rng, t = np.random.default_rng(seed), np.arange(round(duration * rate) + 1) / rate
    q, v, a = np.zeros((3, len(t), truth.nv))
    for k in range(1, 6):
        w, phase, share = 2 * np.pi * 0.2 * k, rng.uniform(0, 2 * np.pi, truth.nv), rng.uniform(0.5, 1, truth.nv) * size
        turn = w * t[:, None] + phase
        q, v, a = q + share / k * np.sin(turn), v + share / k * w * np.cos(turn), a - share / k * w**2 * np.sin(turn)
    return Log(t, q, forces(truth, q, v, a), v, a)


def other(robot: linkwork.Robot, seed: int = 0, spread: float = 0.3, offsets: bool = True) -> linkwork.Robot:
    """A variant that can exist: each body stretched and sheared by up to ``spread``, heavier or lighter as much; with
    rotors and friction in all that is driven."""
    rng, values, friction = np.random.default_rng(seed), {}, {}
    for body, ten in zip(robot.model.bodies, robot.parameters, strict=True):
        A = np.eye(4)
        A[:3, :3] += spread / 4 * rng.uniform(-1, 1, (3, 3))
        P = (1 + spread * rng.uniform(-1, 1)) * A @ pseudo_inertia(ten if ten[0] > 0 else SPHERE) @ A.T
        values |= {f"{body.name}.{element}": x for element, x in zip(ELEMENTS, ten_of(P), strict=True)}
    for drive in drives_of(robot.model):
        if getattr(drive, "driven", True):
            values[f"{drive.name}.IA"] = rng.uniform(0.1, 1)
            friction[drive.name] = {"coulomb": rng.uniform(0.1, 1), "viscous": rng.uniform(0.1, 1)}
            friction[drive.name] |= {"offset": rng.uniform(-1, 1)} if offsets else {}
    return robot.with_parameters(values).with_friction(friction)


def pseudo_inertia(ten: Sequence[float] | np.ndarray) -> np.ndarray:
    """Second moments of mass, first moments, mass."""
    mass, mx, my, mz, xx, xy, xz, yy, yz, zz = ten
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    first = np.array([[mx, my, mz]])
    return np.block([[np.trace(J) / 2 * np.eye(3) - J, first.T], [first, np.array([[mass]])]])


def ten_of(P: np.ndarray) -> list[float]:
    S = P[:3, :3]
    J = np.trace(S) * np.eye(3) - S
    return [P[3, 3], *P[:3, 3], *J[np.triu_indices(3)]]
