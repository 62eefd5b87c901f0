"""PID: against the exponential of a matrix, SciPy, and a loop in Python that branches."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import linkwork
from linkwork import TracedRobot
from linkwork.control import PD, PID, Law, Point, Quintic
from linkwork.model import Description, JointDescription, Link, LinkInertia
from support.evaluate import assert_close
from support.random_loops import four_bar
from support.random_robots import Recipe, describe

MASS, DT = 2.0, 2e-3
ROBOTS = {
    "arm": linkwork.load(describe(Recipe(seed=3, joints=2, relations=("skew", "right angle"), extras=True))),
    "loop": linkwork.load(four_bar()),
}


@pytest.fixture(scope="module")
def slider():
    links = Link("ground"), Link("slide", LinkInertia(MASS, np.zeros(3), np.eye(3)))
    return linkwork.load(
        Description("slider", links, (JointDescription("x", "prismatic", "ground", "slide"),), gravity=(0, 0, 0))
    )


def start(robot):
    rng = np.random.default_rng(0)
    q = robot.assemble(robot.home[:1]).q if robot.model.permanent else robot.coordinates.random(rng)
    return q, 0.3 * rng.normal(size=robot.nv)


@pytest.mark.parametrize("method", ["rk4", "adams-bashforth-4", "dormand-prince-5", "dormand-prince", "implicit"])
def test_pid_is_a_linear_system(slider, method):
    """m q'' = kp e + ki z + kd e', z' = e of a mass on a rail, by the exponential of its matrix."""
    kp, ki, kd, goal, z0 = 40.0, 60.0, 12.0, 0.7, 0.05
    how = {"reference": Point([goal], [0.0], [0.0]), "memory": {"integral": [z0]}, "tolerance": 1e-12}
    motion = slider.simulate([0.1], [-0.3], 0.25, 1e-3, torque=PID(kp, ki, kd), method=method, **how)
    A = np.array([[0, 1, 0], [-kp / MASS, -kd / MASS, ki / MASS], [-1, 0, 0]])
    once, exact = expm(A * 1e-3), [np.array([0.1 - goal, -0.3, z0])]
    for _ in motion.t[1:]:
        exact.append(once @ exact[-1])
    exact = np.array(exact) + np.array([goal, 0, 0])
    assert_close(motion.q[:, 0], exact[:, 0], scale=1.0, tolerance=1e-9)
    assert_close(motion.v[:, 0], exact[:, 1], scale=1.0, tolerance=1e-9)
    assert_close(motion.integral[:, 0], exact[:, 2], scale=1.0, tolerance=1e-9)
    assert_close(motion.tau[:, 0], kp * (goal - motion.q[:, 0]) - kd * motion.v[:, 0] + ki * motion.integral[:, 0])
    assert motion.entries["integral"] == ("0",) and motion.drift["energy"] < 1e-7


@pytest.mark.parametrize("name", ["arm", "loop"])
def test_pid_beside_the_same_system_by_scipy(name):
    robot = ROBOTS[name]
    kp, ki, kd = 30.0, 200.0, 5.0
    q0, v0 = start(robot)
    smooth = linkwork.Robot(replace(robot.model, friction_width=0.5))
    at, n = list(robot.model.mobility.motors), robot.nq
    way = Quintic(q0[at], q0[at] + 0.3, 0.2)

    def slope(t, x):
        q, v, z = np.split(x, [n, n + robot.nv])
        e, rate = way(t).q - q[at], way(t).v - robot.joint_velocities(q, v)[at]
        a = smooth.forward_dynamics(q, v, kp * e + ki * z + kd * rate)
        return np.concatenate([robot.joint_velocities(q, v), a, e])

    exact = solve_ivp(slope, (0, 0.3), np.concatenate([q0, v0, np.zeros(len(at))]), "DOP853", rtol=1e-12, atol=1e-12)
    how = {"torque": PID(kp, ki, kd), "reference": way, "method": "dormand-prince-5", "friction_width": 0.5}
    motion = robot.simulate(q0, v0, 0.3, 5e-4, **how)
    found = np.concatenate([motion.q[-1], motion.v[-1], motion.integral[-1]])
    assert_close(found, exact.y[:, -1], scale=1.0, tolerance=1e-9)
    assert np.abs(motion.integral[-1]).max() > 1e-3


def test_integral_action_leaves_no_error():
    """PD sags under the weight, PID holds the arm where it should be."""
    robot = linkwork.load("planar2r")
    goal = Point([0.6, -0.4], [0.0, 0.0], [0.0, 0.0])
    ends = [
        robot.rollout([0.0, 0.0], [0.0, 0.0], law, 1e-3, 8000, reference=goal, every=8000).q[-1]
        for law in (PD(9000, 3000), PID(9000, 9000, 3000))
    ]
    assert np.abs(ends[0] - goal.q).max() > 0.05 and np.abs(ends[1] - goal.q).max() < 1e-5


def test_a_limited_integral(slider):
    """Beside a loop in Python that branches: it stops at its limit and comes back at once when the error turns."""
    kp, ki, kd, most, limit, dt = 20.0, 80.0, 3.0, 0.04, 14.0, 1e-3
    law = PID(kp, ki, kd, limit=limit, integral_limit=most)
    run = slider.rollout(
        [0.0], [0.0], law, dt, 3000, reference=Point([1.0], [0.0], [0.0]), outputs=("q", "integral", "tau")
    )
    q = v = z = 0.0
    stopped = 0
    for k in range(3001):
        e = 1.0 - q
        tau = min(max(kp * e + ki * min(max(z, -most), most) - kd * v, -limit), limit)
        assert_close(np.array([q, z, tau]), [run.q[k, 0], run.integral[k, 0], run.tau[k, 0]], scale=1.0)
        v += dt * tau / MASS
        q += dt * v
        blocked = abs(z) >= most and z * e >= 0
        z, stopped = (z, stopped + 1) if blocked else (z + dt * e, stopped)
    assert 100 < stopped < 2900 and np.abs(run.integral).max() <= most + dt
    free = slider.rollout([0.0], [0.0], PID(kp, ki, kd), dt, 3000, reference=Point([1.0], [0.0], [0.0])).q
    assert run.q.max() < free.max() - 0.1  # less of it


def test_gains_of_each_sample(slider):
    gains = {"kp": [30.0, 40.0, 50.0], "ki": [0.0, 20.0, 90.0], "kd": [5.0, 4.0, 3.0]}
    gains |= {"limit": [9.0, 20.0, 30.0], "integral_limit": [1.0, 0.01, 0.02]}
    goal, options = Point([1.0], [0.0], [0.0]), {"outputs": ("q", "v", "memory"), "method": "rk4"}
    varied = {name: np.array(values)[:, None] for name, values in gains.items()}
    run = slider.rollout(
        np.zeros((3, 1)), np.zeros((3, 1)), PID(1, 1, 1), DT, 400, reference=goal, gains=varied, **options
    )
    for k in range(3):
        law = PID(*(gains[name][k] for name in ("kp", "ki", "kd", "limit", "integral_limit")))
        alone = slider.rollout([0.0], [0.0], law, DT, 400, reference=goal, **options)
        for name in run:
            assert_close(run[k][name], alone[name], scale=1.0)
    assert np.abs(run.q[0] - run.q[1]).max() > 0.01


@pytest.mark.parametrize("name", ["quadruped", "gough-stewart", "panda-elastic"])
def test_pid_without_an_integral_is_pd(name):
    robot = linkwork.load(name)
    q, v = np.array(linkwork.sim.rest(robot.model)), np.full(robot.nv, 0.1)
    n = len(robot.motor_names)
    point = Point(np.linspace(0.1, 0.4, n), np.full(n, 0.2), np.zeros(n))
    law, alone = Law(PID(7, 3, 5), robot.model), Law(PD(7, 5), robot.model)(0.0, q, v, point)
    tau, _, rates = law.evaluate(0.0, q, v, point)
    assert law.memory["integral"].shape == (n,) and np.array_equal(tau, alone)
    assert_close(rates["integral"], point.q - TracedRobot(robot).motor_positions(q))
    z = np.arange(n) + 1.0
    driven = [robot.model.mobility.forced.index(k) for k in robot.model.mobility.motors]
    assert_close((np.array(law(0.0, q, v, point, memory={"integral": z})) - alone)[driven], 3 * z, scale=10.0)
