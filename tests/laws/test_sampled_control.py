"""Bundled controllers at sample times: stiffness of an impedance, standing still, error dynamics, anti-windup."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.control import PID, ComputedTorque, GravityCompensation, Impedance, PDGravity, Point, Quintic
from linkwork.errors import LinkworkError, UnsupportedError

PANDA = linkwork.load("panda")
START = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.8])
HAND = "panda_link8"
SLIDES = """
name: slides
gravity: [0, 0, -9.81]
joints:
  - {name: x, link: bridge, sigma: 1, alpha: pi/2}
  - {name: y, link: carriage, sigma: 1, alpha: pi/2}
links: [{link: bridge, M: 5}, {link: carriage, M: 2}]
"""


def test_an_impedance_has_its_stiffness():
    """At rest under a wrench the deflection is the wrench over the stiffness, along every axis at once."""
    stiffness = np.array([500.0, 800.0, 300.0, 40.0, 60.0, 30.0])
    law = Impedance(HAND, stiffness, 2 * 0.7 * np.sqrt(stiffness * [3, 3, 3, 0.1, 0.1, 0.1]), joint_damping=1.0)
    control = PANDA.function(law, target=(4, 4), period=1e-3)
    target = PANDA.pose(HAND, START)
    wrench = np.array([12.0, -7.0, 9.0, 0.6, -0.4, 0.5])
    options = {"torque": control, "gains": {"target": target}, "wrenches": {HAND: wrench}}
    motion = PANDA.rollout(
        START, np.zeros(7), dt=1e-3, steps=30_000, every=30_000, outputs=("q", "v", "memory"), **options
    )
    q = motion.q[-1]
    assert np.abs(motion.v[-1]).max() < 1e-12
    R = PANDA.pose(HAND, q)[:3, :3]
    in_world = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    assert np.abs(linkwork.pose_error(target, PANDA.pose(HAND, q)) + in_world / stiffness).max() < 1e-10
    assert np.abs(motion.impedance_error[-1] + in_world / stiffness).max() < 1e-10
    assert np.abs(in_world / stiffness).max() > 0.01


@pytest.mark.parametrize("name", ["puma560", "panda", "gough-stewart", "3rpr"])
def test_a_compensated_robot_stands_still(name):
    robot = linkwork.load(name)
    control = robot.function(GravityCompensation(), period=2e-3)
    q = np.array(robot.home) if robot.model.constrained else robot.coordinates.random(np.random.default_rng(1), 1)[0]
    motion = robot.simulate(q, duration=0.1, dt=1e-3, torque=control)
    assert np.abs(motion.tau).max() > 0.1 or name == "3rpr"
    assert np.abs(motion.q - q).max() < 1e-10 and np.abs(motion.v).max() < 1e-9


def test_friction_is_that_of_the_dynamics():
    """Against the bias with friction less that without it; a share leaves the rest."""
    robot, rigid = linkwork.load("puma560"), linkwork.load("puma560", friction=False)
    q, v = np.random.default_rng(2).normal(size=(2, 20, 6))
    model = replace(robot.model, friction_width=0.05)
    smooth = linkwork.compile(model, "bias")
    friction = smooth(q, v) - rigid.bias(q, v)
    assert np.abs(friction).max() > 1
    for share in (0.0, 0.9, np.array([1, 0, 0.5, 1, 0.2, 0.8])):
        tau = robot.function(GravityCompensation(share))(q, v)
        assert np.allclose(tau, robot.gravity(q) + share * friction, rtol=0, atol=1e-10)


def test_a_floating_robot_compensates_with_its_motors():
    robot = linkwork.load("quadruped")
    tau = robot.function(GravityCompensation())(robot.coordinates.neutral(), np.zeros(18))
    assert np.allclose(tau, robot.gravity(robot.coordinates.neutral())[6:], rtol=0, atol=1e-10)


def test_computed_torque_has_linear_error_dynamics():
    """At each sample time e'' + kd e' + kp e = 0, on a robot with friction; with constant inertia the whole motion."""
    kp, kd, period = 80.0, 15.0, 4e-3
    reference = Quintic(START, START + 0.4, 0.3)
    control = PANDA.function(ComputedTorque(kp, kd), period=period)
    motion = PANDA.simulate(START + 0.1, duration=0.2, dt=1e-3, torque=control, reference=reference)
    points = [reference(t) for t in motion.t]
    for k in range(0, len(points), 4):
        e, rate = points[k].q - motion.q[k], points[k].v - motion.v[k]
        assert np.allclose(motion.a[k], points[k].a + kp * e + kd * rate, rtol=0, atol=1e-9)
    slides = linkwork.load(text=SLIDES)
    at_rest = Point(np.array([0.3, -0.2]), np.zeros(2), np.zeros(2))
    control = slides.function(ComputedTorque(kp, kd), period=period)
    motion = slides.rollout(np.zeros(2), np.zeros(2), control, dt=period, steps=100, method="rk4", reference=at_rest)
    # a held acceleration: x+ = A x in the error x = (e, e')
    A = np.array([[1 - kp * period**2 / 2, period - kd * period**2 / 2], [-kp * period, 1 - kd * period]])
    x = np.array([at_rest.q, np.zeros(2)])
    for k in range(101):
        assert np.allclose(at_rest.q - motion.q[k], x[0], rtol=0, atol=1e-12)
        x = A @ x


def test_the_integral_of_pid_takes_a_load_and_does_not_wind_up():
    slides, period = linkwork.load(text=SLIDES), 5e-3
    goal = Point(np.array([0.1, 0.0]), np.zeros(2), np.zeros(2))
    law = PID(400.0, 800.0, 80.0, integral_limit=0.2)
    options = {"dt": period, "reference": goal, "method": "rk4", "outputs": ("q", "v", "tau", "memory")}
    control = slides.function(law, period=period)
    motion = slides.rollout(np.zeros(2), np.zeros(2), control, steps=6000, **options)
    assert np.abs(motion.q[-1] - goal.q).max() < 1e-8  # the second slide carries weight, by its integral alone
    assert np.allclose(motion.tau[-1], slides.gravity(goal.q), rtol=0, atol=1e-6)
    z = motion.pid_memory_integral
    assert np.allclose(z[1:] - z[:-1], period * (goal.q - motion.q[:-1]), rtol=0, atol=1e-14)
    # held back by a force: the integral stops at the limit, and shrinks at the first sample after the error turned
    pull = np.zeros((3000, 6))
    pull[:2000, :3] = -np.linalg.inv(slides.pose("carriage", np.zeros(2))[:3, :3]) @ [1, 1, 1] * 400
    motion = slides.rollout(np.zeros(2), np.zeros(2), control, steps=3000, wrenches={"carriage": pull}, **options)
    z, e = motion.pid_memory_integral, goal.q - motion.q
    assert np.abs(z).max() < 0.2 + period * np.abs(e).max() and np.abs(z).max() > 0.2
    stopped = (np.abs(z[:-1]) >= 0.2) & (z[:-1] * e[:-1] > 0)
    assert stopped.any() and (z[1:][stopped] == z[:-1][stopped]).all()
    shrinking = (np.abs(z[:-1]) >= 0.2) & (z[:-1] * e[:-1] < 0)
    assert shrinking.any() and (np.abs(z[1:]) < np.abs(z[:-1]))[shrinking].all()


def test_sampled_laws_are_the_continuous_ones_at_short_periods():
    """The difference of a held controller is proportional to its period."""
    reference = Quintic(START, START + 0.2, 0.1)
    for law in (PDGravity(60, 3), ComputedTorque(100, 20), PID(60, 20, 3)):
        exact = PANDA.rollout(START, np.zeros(7), law, dt=2.5e-4, steps=400, method="rk4", reference=reference).q[-1]
        errors = []
        for period in (1e-3, 5e-4):
            control = PANDA.function(law, period=period)
            run = PANDA.rollout(START, np.zeros(7), control, dt=2.5e-4, steps=400, method="rk4", reference=reference)
            errors.append(np.abs(run.q[-1] - exact).max())
        assert errors[0] > 1e-7 and errors[0] / errors[1] == pytest.approx(2, abs=0.2)


def test_functions_that_are_no_laws():
    for law in (Impedance(HAND, 1.0, 1.0), GravityCompensation()):
        with pytest.raises(LinkworkError, match=r"fix: torque=robot.function\(f, period=1e-3\)"):
            PANDA.simulate(START, duration=0.01, torque=law)
    with pytest.raises(UnsupportedError, match="no controller in continuous time"):
        linkwork.control.Law(PANDA.function(GravityCompensation(), period=1e-3), PANDA.model)
