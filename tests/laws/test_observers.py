"""Observers with memory: closed forms, no false alarms, convergence of the estimates."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.control import MomentumObserver, VelocityObserver
from linkwork.formulations import sizes
from linkwork.sampled import compile_sampled

# two slides across each other and a turning joint through the centre of mass: constant inertia, no velocity terms
GANTRY = """
name: gantry
gravity: [0, 0, -9.81]
joints:
  - {name: x, link: bridge, sigma: 1, alpha: pi/2}
  - {name: y, link: carriage, sigma: 1, alpha: pi/2}
links:
  - {link: bridge, M: 5, central: [0.1, 0.1, 0.1]}
  - {link: carriage, M: 2, central: [0.1, 0.1, 0.1]}
"""


@pytest.mark.parametrize("gain, period", [(30.0, 1e-3), (500.0, 4e-3), ([10.0, 80.0], 1e-2)])
def test_a_constant_push_is_seen_as_by_a_filter_of_first_order(gain, period):
    """The closed form r = (1 - exp(-K t)) f, at any gain and period, where the trapezoidal rule is exact."""
    robot = linkwork.load(text=GANTRY)
    observer = robot.function(MomentumObserver(gain), period=period)
    tau, push = np.array([3.0, 25.0]), np.array([-4.0, 7.0])
    q0, v0 = np.array([0.2, 0.1]), np.array([0.5, -0.3])
    a = robot.forward_dynamics(q0, v0, tau + push)
    memory = observer.start(q0, v0)
    for k in range(100):
        t = k * period
        r, memory = observer(q0 + v0 * t + a * t**2 / 2, v0 + a * t, tau, memory)
        assert np.abs(r - (1 - np.exp(-np.array(gain) * t)) * push).max() < 1e-9


@pytest.mark.parametrize("name", ["panda", "puma560", "quadruped", "quadrotor-with-arm", "gough-stewart"])
def test_no_false_alarm(name):
    """Without contact the residual is the error of the trapezoidal rule: a quarter at half the period.

    In floating bases, loops, wheels and with friction, smooth as in the simulation.
    """
    robot = linkwork.load(name)
    rng = np.random.default_rng(1)
    q = np.array(robot.home) if robot.model.constrained else robot.coordinates.random(rng, 1)[0]
    v, tau = 0.3 * rng.normal(size=robot.nv), rng.normal(size=sizes(robot.model)["tau"])
    largest = []
    for period in (2e-3, 1e-3):
        every = round(period / 2.5e-4)
        motion = robot.rollout(q, v, tau, dt=2.5e-4, steps=40 * 8, every=every, method="rk4", friction_width=0.05)
        model = replace(robot.model, friction_width=0.05)
        observer = compile_sampled(model, MomentumObserver(20.0), period=period)
        memory = observer.start(motion.q[0], motion.v[0])
        residuals = []
        for k in range(len(motion.t)):
            r, memory = observer(motion.q[k], motion.v[k], tau, memory)
            residuals.append(np.abs(r).max())
        assert residuals[0] < 1e-10
        largest.append(max(residuals))
    assert largest[1] < 5e-3
    assert largest[0] / largest[1] == pytest.approx(4, abs=0.25)


@pytest.mark.parametrize("name", ["quadrotor", "quadrotor-with-arm"])
@pytest.mark.parametrize("push", [0.0, 2.0])
def test_thrusts_of_rotors_are_no_contact(name, push):
    """In flight the residual is the push alone, also where commands change from sample to sample."""
    robot = linkwork.load(name)
    rng = np.random.default_rng(3)
    q, v = robot.coordinates.random(rng, 1)[0], 0.3 * rng.normal(size=robot.nv)
    frame, tau = robot.frame_names[-1], np.zeros(sizes(robot.model)["tau"])
    tau[6:] = 0.1
    wrench = np.array([push, -push, 3 * push, 0.0, 0.05 * push, 0.0])
    errors = []
    for period in (2e-3, 1e-3):
        steps = round(0.16 / 2.5e-4)
        commands = 3 + np.sin(np.arange(steps) // round(4e-3 / 2.5e-4))[:, None] * [1, -0.5, 0.5, 1]
        observer = robot.function(MomentumObserver(200.0), period=period)
        assert observer.memory == {"momentum": (robot.nv,), "commands": (4,)}
        motion = robot.rollout(
            q, v, tau, commands=commands, wrenches={frame: wrench}, dt=2.5e-4, steps=steps, method="rk4",
            observers=observer, outputs=("q", "v", "momentum_observer_residual"),
        )  # fmt: skip
        every = round(period / 2.5e-4)
        memory, expected, worst = observer.start(q, v), np.zeros(robot.nv), 0.0
        for k in range(0, steps, every):
            r, memory = observer(motion.q[k], motion.v[k], tau, memory, commands=commands[k])
            assert np.allclose(r, motion.momentum_observer_residual[k], rtol=1e-9, atol=1e-8)
            worst = max(worst, np.abs(r - expected).max())
            generalised = robot.jacobian(frame, motion.q[k], axes="local").T @ wrench
            expected = expected + (1 - np.exp(-200.0 * period)) * (generalised - expected)
        errors.append(worst)
    assert errors[1] < 1e-4 + 5e-4 * push
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.25)


def test_a_contact_is_its_force_through_the_jacobian():
    """In steady state the residual is J^T F, seen at every joint before the contact and at none behind it."""
    robot = linkwork.load("panda")
    frame, force = "panda_link4", np.array([8.0, -3.0, 5.0, 0.2, 0.1, -0.4])
    q, v = np.array([0.1, -0.5, 0.3, -2.0, 0.2, 1.5, 0.8]), np.zeros(7)
    observer = robot.function(MomentumObserver(200.0), period=5e-4)
    law = lambda t, q, v, reference: linkwork.TracedRobot(robot).gravity(q) - 4 * v  # noqa: E731
    motion = robot.rollout(
        q, v, law, dt=5e-4, steps=400, method="rk4", wrenches={frame: force}, outputs=("q", "v", "tau")
    )
    memory = observer.start(q, v)
    for k in range(401):
        r, memory = observer(motion.q[k], motion.v[k], motion.tau[k], memory)
    expected = robot.jacobian(frame, motion.q[-1], axes="local").T @ force
    assert np.abs(r - expected).max() < 0.02 * np.abs(expected).max()  # tau is not quite constant between samples
    assert np.abs(r[4:]).max() < 1e-2


def test_velocities_converge_as_a_critically_damped_filter():
    """With an exact prediction (constant inertia, semi-implicit Euler) the errors have a double pole: closed form."""
    robot, period, bandwidth = linkwork.load(text=GANTRY), 2e-3, 60.0
    observer = robot.function(VelocityObserver(bandwidth), period=period)
    tau = np.array([3.0, 25.0])
    q0, v0 = np.array([0.2, 0.1]), np.array([0.5, -0.3])
    motion = robot.rollout(q0, v0, tau, dt=period, steps=300)
    memory, pole = observer.start(q0), np.exp(-bandwidth * period)
    for k in range(301):
        v, memory = observer(motion.q[k], tau, memory)
        expected = motion.v[k] - pole**k * (1 + k * (1 - pole)) * v0
        assert np.abs(v - expected).max() < 1e-12 * max(1, k)
    assert np.abs(v - motion.v[-1]).max() < 1e-12


def test_velocities_of_an_arm():
    """Without measuring velocities: the estimates reach those of the motion, to the error of the first prediction."""
    robot = linkwork.load("panda")
    q, v = np.array([0.1, -0.5, 0.3, -2.0, 0.2, 1.5, 0.8]), np.array([0.5, -0.4, 0.3, 0.6, -0.5, 0.4, 0.7])
    tau = robot.gravity(q)
    motion = robot.rollout(q, v, tau, dt=1e-3, steps=400)
    observer = robot.function(VelocityObserver(150.0), period=1e-3)
    memory = observer.start(q)
    errors = []
    for k in range(401):
        estimate, memory = observer(motion.q[k], tau, memory)
        errors.append(np.abs(estimate - motion.v[k]).max())
    assert errors[0] > 0.5 and errors[-1] < 1e-12
