"""Gradients through time: cost of the backward pass through a step and a rollout, relative to the forward pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from robots import Case
from rollouts import DT
from timing import Contender, race, ratio

from linkwork import Robot, Trajectory
from linkwork.codegen.optimised import optimised
from linkwork.pipeline import choose
from linkwork.sim.derivatives.adjoint import Adjoint
from linkwork.sim.derivatives.gradient import Gradient
from linkwork.sim.derivatives.transition import transition
from linkwork.sim.plant.plant import Plant
from linkwork.sim.schemes.integrators import INTEGRATORS

SAMPLES, STEPS = 4096, 200
CHECKED = 8  # samples held to differences
ROLLOUT, GRADIENT = "rollout", "rollout and pullback"
ROLLOUT_ALONE, GRADIENT_ALONE = "rollout, one trajectory", "rollout and pullback, one trajectory"
INTEGRATOR = "semi-implicit-euler"
TOLERANCE = 1e-7  # against central differences, relative


def step_back(case: Case) -> dict[str, Any]:
    """Instructions of a step, and of its product with weights from the left."""
    model, scheme = case.robot.model, INTEGRATORS[INTEGRATOR].scheme
    plant = Plant(model, choose(model, "forward_dynamics"), {"tau": (len(model.mobility.forced),)})
    step, back = optimised(transition(plant, scheme)), Adjoint(plant, scheme).later.advance
    counts = [len(program.instructions) for program in (step, back)]
    return {"robot": case.source.name, "step": counts[0], "back": counts[1], "factor": counts[1] / counts[0]}


def gradients(case: Case, rounds: int, budget: float) -> dict[str, Any]:
    """Gradient of a weighted sum of all recorded positions and velocities with respect to initial states and torques;
    compared with central differences first."""
    robot, random = case.robot, np.random.default_rng(2)
    q, v = case.q[:SAMPLES].copy(), 0.1 * case.v[:SAMPLES]
    torque = random.normal(size=(SAMPLES, STEPS, robot.nv))
    weights = {name: random.normal(size=(SAMPLES, STEPS + 1, n)) for name, n in (("q", robot.nq), ("v", robot.nv))}
    given = q, v, torque, weights["q"], weights["v"]
    few, one = ([array[chosen] for array in given] for chosen in (slice(CHECKED), 0))
    contenders = [
        Contender(ROLLOUT, _forward, (robot, *given[:3]), SAMPLES * STEPS),
        Contender(GRADIENT, _gradient, (robot, *given), SAMPLES * STEPS),
        Contender(ROLLOUT_ALONE, _forward, (robot, *one[:3]), STEPS),
        Contender(GRADIENT_ALONE, _gradient, (robot, *one), STEPS),
    ]
    error = _check(robot, *few)
    times = race(contenders, rounds, budget)
    return {
        "robot": case.source.name,
        "samples": SAMPLES,
        "steps": STEPS,
        "error": error,
        "speedup": ratio(times[ROLLOUT], times[GRADIENT]),
        "speedup_alone": ratio(times[ROLLOUT_ALONE], times[GRADIENT_ALONE]),
        "times": times,
    }


def _forward(robot: Robot, q: np.ndarray, v: np.ndarray, torque: np.ndarray, **options: Any) -> Trajectory:
    return robot.rollout(q, v, torque, DT, STEPS, method=INTEGRATOR, **options)


def _gradient(robot: Robot, q: np.ndarray, v: np.ndarray, torque: np.ndarray, of_q: Any, of_v: Any) -> Gradient:
    return _forward(robot, q, v, torque, checkpoint_every=1).pullback(q=of_q, v=of_v)


def _check(robot: Robot, q: np.ndarray, v: np.ndarray, torque: np.ndarray, of_q: Any, of_v: Any) -> float:
    """The slope of each sample in a random direction of the initial state and the torques; stop if it is wrong."""
    random, h = np.random.default_rng(3), 1e-5
    along_q, along_v, along_torque = (random.normal(size=shape) for shape in (v.shape, v.shape, torque.shape))

    def total(step: float) -> np.ndarray:
        moved = robot.coordinates.integrate(q, step * along_q)
        motion = _forward(robot, moved, v + step * along_v, torque + step * along_torque)
        return (motion.q * of_q).sum((1, 2)) + (motion.v * of_v).sum((1, 2))

    found = _gradient(robot, q, v, torque, of_q, of_v)
    slope = (found.q0 * along_q).sum(1) + (found.v0 * along_v).sum(1) + (found.torque * along_torque).sum((1, 2))
    error = float(np.max(np.abs((total(h) - total(-h)) / (2 * h) - slope)) / np.max(np.abs(slope)))
    if not error <= TOLERANCE:
        raise SystemExit(f"{robot.name}: gradients differ by {error:.1e} from differences; nothing was timed")
    return error
