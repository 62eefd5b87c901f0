"""What a free-floating robot keeps, whatever its joints do: momentum, and the parabola of its centre of mass."""

import numpy as np
import pytest

from linkwork.formulations.khalil.hybrid import khalil_hybrid
from linkwork.formulations.khalil.moving_direct import khalil_moving_direct
from linkwork.formulations.khalil.moving_inverse import khalil_moving_inverse
from linkwork.model import build
from support.evaluate import assert_close, evaluate, rates
from support.random_robots import Recipe, describe, random_state

DURATION = 0.4
WAYS = ("inverse", "direct", "mixed")


def robot(gravity):
    return build(describe(Recipe(seed=8, joints=4, branches=True, floating=True)), gravity=gravity, friction=False)


def start(model):
    q, v, _ = random_state(model, 1)
    q[3:7] /= np.linalg.norm(q[3:7])
    return q, 0.5 * v


def accelerations(model, way: str, t: float, q, v) -> np.ndarray:
    """Joints shaken on a schedule: of accelerations, of forces, or half of them of each. Nothing holds the base."""
    schedule = [0.0] * 6 + [3 * np.sin(5 * t + k) for k in range(model.nv - 6)]
    q, v = q.tolist(), v.tolist()
    if way == "direct":
        return np.array(khalil_moving_direct(model, q, v, schedule))
    method = khalil_moving_inverse if way == "inverse" else khalil_hybrid
    known = [k >= 6 and (way == "inverse" or k % 2 == 0) for k in range(model.nv)]
    return np.array(method(model, q, v, schedule, schedule, known)[1])


def motion(model, way: str, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Runge and Kutta's fourth order over DURATION."""

    def rate(t, state):
        q, v = state[: model.nq], state[model.nq :]
        return np.concatenate([rates(model, q) @ v, accelerations(model, way, t, q, v)])

    state, h = np.concatenate(start(model)), DURATION / steps
    for t in np.arange(steps) * h:
        k1 = rate(t, state)
        k2 = rate(t + h / 2, state + h / 2 * k1)
        k3 = rate(t + h / 2, state + h / 2 * k2)
        k4 = rate(t + h, state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state[: model.nq], state[model.nq :]


@pytest.mark.parametrize("way", WAYS)
def test_momentum_is_kept_without_gravity(way: str):
    model = robot(gravity=(0, 0, 0))
    q, v = start(model)
    before = evaluate(model, "momentum", q, v)
    lost = {n: np.abs(evaluate(model, "momentum", *motion(model, way, n)) - before).max() for n in (20, 40)}
    assert lost[20] > 10 * lost[40]  # what is lost is the integrator's, of fourth order
    assert lost[40] < 2e-5 * np.abs(before).max()
    moved = motion(model, way, 40)[0]
    assert np.abs(moved - q)[7:].max() > 0.1


@pytest.mark.parametrize("way", WAYS)
def test_centre_of_mass_falls_on_a_parabola(way: str):
    gravity = np.array([0.5, -1.0, -9.81])
    model = robot(gravity)
    q, v = start(model)
    mass = sum(body.inertia.mass for body in model.bodies)
    c, momentum = evaluate(model, "center_of_mass", q), evaluate(model, "momentum", q, v)
    expected = c + momentum[:3] / mass * DURATION + 0.5 * gravity * DURATION**2
    after = motion(model, way, 40)
    assert_close(evaluate(model, "center_of_mass", after[0]), expected, tolerance=2e-6)
    spin = evaluate(model, "momentum", *after)[3:]  # about the centre of mass: gravity does not turn the robot
    assert_close(spin, momentum[3:], tolerance=2e-5)


@pytest.mark.parametrize("way", WAYS)
def test_rates_of_momentum_are_exact(way: str):
    """The same without an integrator: the derivative of the momentum along the motion."""
    gravity = np.array([0.5, -1.0, -9.81])
    model = robot(gravity)
    q, v, _ = random_state(model, 5)
    a = accelerations(model, way, 0.3, q, v)
    step = 1e-30j
    change = evaluate(model, "momentum", q + step * (rates(model, q) @ v), v + step * a).imag / 1e-30
    mass = sum(body.inertia.mass for body in model.bodies)
    scale = np.abs(evaluate(model, "inertia_matrix", q) @ a).max()
    assert_close(change, [*(mass * gravity), 0, 0, 0], scale=scale, tolerance=1e-13)
