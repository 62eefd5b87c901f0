"""Simulated motions obey the laws: orders of the methods, energy and momentum, closed loops, controllers, stops."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

import linkwork
from linkwork import SoftLimits
from linkwork.control import PD, ComputedTorque, PDGravity, Point, Quintic
from linkwork.forces import Contact, Drag
from linkwork.model import Description, JointDescription, Link, LinkInertia
from linkwork.sim.schemes.integrators import INTEGRATORS, schemes
from support.random_loops import LoopRecipe, four_bar, mechanism
from support.random_robots import Recipe, describe, random_state

ORDERS = {name: INTEGRATORS[name].order for name in schemes()}
STEPS = {  # the longest of each
    "semi-implicit-euler": 4e-3,
    "rk4": 8e-3,
    "adams-bashforth-4": 4e-3,
    "heun": 4e-3,
    "dormand-prince-5": 3.2e-2,
    "rosenbrock": 8e-3,
}
CANCELLED = {"heun": 1}  # orders by which the drift of energy may be better than the motion
DURATION = 0.128
ROBOTS = {
    "tree": describe(Recipe(seed=1, joints=3, relations=("skew", "right angle"), branches=True)),
    "sliding": describe(Recipe(seed=2, joints=2, kinds=("prismatic", "revolute"), fixed=True)),
    "friction and springs": describe(Recipe(seed=3, joints=2, extras=True)),
    "floating": describe(Recipe(seed=5, joints=2, branches=True, floating=True, extras=True)),
    "loop": four_bar(),
    "floating loop": mechanism(LoopRecipe(seed=4, closures=("spherical",), planar=True, floating=True)),
}


def start(robot, seed=1):
    """A state from which nothing wild happens."""
    q, v, _ = random_state(robot.model, seed)
    q, v = 0.2 * q, 0.5 * v
    if robot.model.permanent:
        q = np.array(robot.home)
    elif robot.model.coordinates.joints[0].kind.free:
        q[3:7] /= np.linalg.norm(q[3:7])
    return q, v


def order(errors):
    """From errors at steps that are halved."""
    return np.log2(np.array(errors[:-1]) / errors[1:])


@pytest.mark.filterwarnings("ignore:the energy balance")  # of the longest steps of first order
@pytest.mark.parametrize("name", ROBOTS)
def test_orders(name, deviations):
    """Errors and the drift of energy shrink as the methods promise; all meet in the same motion."""
    robot = linkwork.load(ROBOTS[name])
    q, v = start(robot)
    wide = {"friction_width": 1.0}
    exact = robot.simulate(q, v, DURATION, DURATION / 4, method="dormand-prince", tolerance=1e-13, **wide)
    assert exact.drift["energy"] < 1e-12 * (1 + np.abs(exact.energy).max())
    for method, expected in ORDERS.items():
        errors, drifts = [], []
        for dt in STEPS[method] / np.array([1, 2, 4]):
            motion = robot.simulate(q, v, DURATION, dt, method=method, **wide)
            at = slice(None, None, round(DURATION / 4 / dt))
            errors.append(max(np.abs(motion.q[at] - exact.q).max(), np.abs(motion.v[at] - exact.v).max()))
            drifts.append(motion.drift["energy"])
            assert motion.drift.get("quaternion", 0) < 1e-14
            assert motion.drift.get("loop_residual", 0) < 1e-12
        assert order(errors)[-1] == pytest.approx(expected, abs=0.3), (method, errors)
        assert -0.4 < order(drifts)[-1] - expected < CANCELLED.get(method, 0) + 0.4, (method, drifts)
        deviations(f"motion by {method}, dt = {dt:g}", errors[-1])


@pytest.mark.parametrize("name", ["friction and springs", "floating", "loop"])
def test_implicit_method_finds_the_same_motion(name):
    robot = linkwork.load(ROBOTS[name])
    q, v = start(robot)
    one, other = (
        robot.simulate(q, v, DURATION, DURATION / 4, method=method, tolerance=1e-11, friction_width=1.0)
        for method in ("dormand-prince", "implicit")
    )
    for array in ("q", "v", "a", "kinetic_energy", "work", "momentum"):
        assert np.abs(one[array] - other[array]).max() < 1e-8 * (1 + np.abs(one[array]).max())


def test_platform_of_six_legs():
    """Drift of energy falls with the fourth order; unit quaternion and closed legs all along."""
    robot = linkwork.load("gough-stewart", friction=False)
    drifts = []
    for dt in (8e-3, 4e-3):
        motion = robot.simulate(None, 0.3 * np.ones(6), 0.064, dt, method="rk4")
        drifts.append(motion.drift["energy"])
        assert motion.drift["quaternion"] < 1e-14
        assert motion.drift["loop_residual"] < 1e-12
    assert order(drifts) == pytest.approx(4, abs=0.4)


# -- a reference of many digits ------------------------------------------------------------------------------------


def double_pendulum(y):
    """Rates of the bundled planar2r: moments about the joints with rotors, first moments, length of the upper arm."""
    a, b, u, w = y
    first, second, pull, length = mpmath.mpf(27.51) + 100, mpmath.mpf(22.5), mpmath.mpf(25), 1
    g, mass, upper = mpmath.mpf(9.81), 50, mpmath.mpf(30)
    s, c = mpmath.sin(b), mpmath.cos(b)
    M11 = first + second + mass * length**2 + 2 * length * pull * c
    M12, M22 = second + length * pull * c, second + 100
    low = g * pull * mpmath.cos(a + b)
    f1 = length * pull * s * (2 * u * w + w * w) - g * (upper + mass * length) * mpmath.cos(a) - low
    f2 = -length * pull * s * u * u - low
    determinant = M11 * M22 - M12 * M12
    return [u, w, (M22 * f1 - M12 * f2) / determinant, (M11 * f2 - M12 * f1) / determinant]


def extrapolated(rates, y, H, columns=10):
    """A step by Gragg's, Bulirsch's and Stoer's method of order 20."""
    table = []
    for j in range(1, columns + 1):
        h = H / (2 * j)
        before, now = y, [a + h * b for a, b in zip(y, rates(y), strict=True)]
        for _ in range(1, 2 * j):
            before, now = now, [a + 2 * h * b for a, b in zip(before, rates(now), strict=True)]
        row = [[(a + b + h * c) / 2 for a, b, c in zip(before, now, rates(now), strict=True)]]
        for k in range(1, j):
            share = mpmath.mpf(j) ** 2 / (j - k) ** 2 - 1
            row.append([a + (a - b) / share for a, b in zip(row[k - 1], table[-1][k - 1], strict=True)])
        table.append(row)
    return table[-1][-1]


@pytest.fixture(scope="module")
def pendulum_reference():
    with mpmath.workdps(30):
        y = [mpmath.mpf(x) for x in (0.5, -0.75, 1.0, 2.0)]
        for _ in range(25):
            y = extrapolated(double_pendulum, y, mpmath.mpf(1) / 25)
        return np.array([float(x) for x in y])


@pytest.mark.parametrize(
    ("method", "dt"), [("rk4", 5e-4), ("adams-bashforth-4", 2e-4), ("dormand-prince", 0.1), ("implicit", 0.1)]
)
def test_double_pendulum(method, dt, pendulum_reference, deviations):
    robot = linkwork.load("planar2r")
    motion = robot.simulate([0.5, -0.75], [1.0, 2.0], 1.0, dt, method=method, tolerance=1e-13)
    error = np.abs(np.concatenate([motion.q[-1], motion.v[-1]]) - pendulum_reference).max()
    deviations(f"double pendulum after 1 s by {method}", error)
    assert error < 1e-11


# -- what is kept --------------------------------------------------------------------------------------------------


def test_momentum_of_a_free_robot():
    """Without gravity, torques within the robot change neither its linear nor its angular momentum."""
    robot = linkwork.load(ROBOTS["floating"], gravity=(0, 0, 0), friction=False)
    q, v = start(robot)
    inner = np.array([0, 0, 0, 0, 0, 0, 2.0, -3.0])
    changes = []
    for dt in (16e-3, 8e-3, 4e-3):
        motion = robot.simulate(q, v, 0.512, dt, method="rk4", torque=inner)
        changes.append(motion.drift["momentum_change"])
    assert np.abs(motion.v[-1] - motion.v[0]).max() > 1  # it does move
    assert order(changes)[-1] == pytest.approx(4, abs=0.5)
    precise = robot.simulate(q, v, 0.512, 0.032, method="dormand-prince", tolerance=1e-13, torque=inner)
    assert precise.drift["momentum_change"] < 1e-11


def test_momentum_of_a_falling_robot():
    """Gravity adds its impulse to the linear momentum and nothing to the angular one about the centre of mass."""
    robot = linkwork.load(ROBOTS["floating"], friction=False)
    q, v = start(robot)
    motion = robot.simulate(q, v, 0.5, 1e-3, method="rk4")
    mass = sum(body.inertia.mass for body in robot.model.bodies)
    change = motion.momentum - motion.momentum[0]
    impulse = mass * np.outer(motion.t, list(robot.model.gravity))
    assert np.abs(change[:, :3] - impulse).max() < 1e-9 * np.abs(impulse).max()
    assert np.abs(change[:, 3:]).max() < 1e-9 * np.abs(impulse).max()


@pytest.mark.filterwarnings("ignore:the energy balance")  # of the longest steps of first order
def test_energy_balance_of_all_that_acts():
    """Friction, springs, drag, a wrench over time, a controller: what they do on the robot is its change of energy."""
    law = Drag(length=0.4, c_normal=2.0, k_normal=3.0, k_axial=0.5)
    robot = linkwork.load(ROBOTS["friction and springs"]).with_forces({"tool": law})
    q, v = start(robot)
    options = {
        "torque": PD(30.0, 3.0),
        "reference": Quintic(q, q + 0.5, 0.2),
        "wrenches": {"tool": lambda t: [5 * np.sin(9 * t), 1, 2 * t, 0, 0.5, -t]},
        "friction_width": 1.0,
    }
    for method, expected in ORDERS.items():
        drifts = []
        for dt in STEPS[method] / np.array([2, 4, 8]):
            motion = robot.simulate(q, v, DURATION, dt, method=method, **options)
            drifts.append(motion.drift["energy"])
        assert np.abs(motion.work).max() > 0.1
        assert -0.4 < order(drifts)[-1] - expected < CANCELLED.get(method, 0) + 0.4, (method, drifts)


def test_energy_balance_of_drag():
    robot = linkwork.load("eel")
    v = np.zeros(robot.nv)
    v[6:] = 2 * np.cos(np.arange(robot.nv - 6))
    drifts = [robot.simulate(None, v, 0.064, dt, method="rk4").drift["energy"] for dt in (4e-3, 2e-3)]
    assert order(drifts) == pytest.approx(4, abs=0.5)
    assert drifts[-1] < 1e-6


def test_energy_balance_of_contact_and_stops():
    """Their forces jump or bend at the touch, so the order is lost there; the balance still closes."""
    ball = Description(
        "ball",
        (Link("world"), Link("ball", LinkInertia(2.0, np.zeros(3), 0.1 * np.eye(3)))),
        (JointDescription("rise", "prismatic", "world", "ball", upper=1.05),),
        gravity=(0.0, 0.0, -9.81),
    )
    robot = linkwork.load(ball).with_forces({"ball": Contact(stiffness=4000.0, damping=20.0)})
    drifts = []
    for dt in (2e-3, 5e-4, 1.25e-4):
        motion = robot.simulate([1.0], [2.0], 1.0, dt, method="rk4", limits=SoftLimits(3000.0, 5.0))
        drifts.append(motion.drift["energy"])
    assert motion.q.max() > 1.05 and motion.q.min() < 0  # it met both
    assert motion.energy[-1] < motion.energy[0] - 1
    assert drifts[0] > 4 * drifts[1] > 16 * drifts[2]
    assert drifts[-1] < 1e-3


# -- controllers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tree", "friction and springs", "loop", "floating"])
def test_computed_torque_errors_decay_as_theory_says(name, deviations):
    """e'' + kd e' + kp e = 0: critically damped in one joint, oscillating in the other if there is one."""
    robot = linkwork.load(ROBOTS[name])
    q, v = start(robot)
    motors = robot.motor_names
    base = robot.nv - len(robot.joint_names)
    at = [robot.nq - len(robot.position_names) + robot.position_names.index(name) for name in motors]
    speeds = [base + robot.joint_names.index(name) for name in motors]
    kp = np.array([100.0, 400.0, 100.0][: len(motors)])
    kd = np.array([20.0, 8.0, 20.0][: len(motors)])
    goal = Quintic(q[at] + 0.1, q[at] - 0.2, 0.4)
    motion = robot.simulate(q, v, 0.4, 1e-3, method="rk4", torque=ComputedTorque(kp, kd), reference=goal)
    wanted = goal.sample(motion.t)
    error = wanted.q - motion.q[:, at]
    e, rate = error[0], wanted.v[0] - v[speeds]
    roots = np.sqrt((kd * kd / 4 - kp).astype(complex)) + 1e-9  # beside a double root the formula below is 0 / 0
    fast, slow = -kd / 2 - roots, -kd / 2 + roots
    t = motion.t[:, None]
    theory = (((rate - fast * e) * np.exp(slow * t) - (rate - slow * e) * np.exp(fast * t)) / (slow - fast)).real
    deviation = np.abs(error - theory).max()
    deviations(f"decay of errors under computed torque, {name}", deviation)
    assert np.abs(e).max() > 0.09
    assert deviation < 1e-6


def test_pd_with_gravity_compensation_settles_at_the_goal():
    robot = linkwork.load(ROBOTS["tree"], friction=False)
    goal = np.array([0.4, -0.3, 0.2])
    still = {"reference": lambda t: Point(goal, 0 * goal, 0 * goal)}
    motion = robot.simulate(np.zeros(3), None, 8.0, 1e-3, torque=PDGravity(60.0, 15.0), every=100, **still)
    assert np.abs(motion.q[-1] - goal).max() < 1e-6
    sagging = robot.simulate(np.zeros(3), None, 8.0, 1e-3, torque=PD(60.0, 15.0), every=100, **still)
    assert np.abs(sagging.v[-1]).max() < 1e-3
    rest = robot.gravity(sagging.q[-1])  # PD alone rests where its push is the weight
    assert np.abs(60 * (goal - sagging.q[-1]) - rest).max() < 1e-2 * np.abs(rest).max()


# -- friction and stops --------------------------------------------------------------------------------------------


def flywheel(kind="revolute", **more):
    """One body of moment or mass 0.5 between stops at -0.5 and 0.3."""
    inertia = LinkInertia(0.5, np.zeros(3), 0.5 * np.eye(3))
    joint = JointDescription("joint", kind, "base", "wheel", lower=-0.5, upper=0.3, **more)
    return linkwork.load(Description("wheel", (Link("base"), Link("wheel", inertia)), (joint,), gravity=(0, 0, 0)))


def test_friction_brings_a_robot_to_rest():
    """I v' = -Fs - Fv v: at rest after I / Fv log(1 + Fv v / Fs), up to what the smooth law adds near the end."""
    robot = flywheel(coulomb=0.4, viscous=0.1)
    motion = robot.simulate([0.0], [2.0], 4.0, 1e-3, method="rk4", friction_width=5e-3)
    when = 0.5 / 0.1 * np.log(1 + 0.1 * 2 / 0.4)
    v = motion.v[:, 0]
    before = motion.t < when - 0.05
    assert np.abs(v - ((2 + 4) * np.exp(-motion.t / 5) - 4))[before].max() < 0.01
    assert (np.abs(v[motion.t > when + 0.1]) < 1e-3).all()
    assert (np.diff(motion.work) <= 0).all()
    assert motion.work[-1] == pytest.approx(-0.5 * 0.5 * 2**2, rel=1e-6)
    assert any("friction is smooth" in note for note in motion.notes)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("speed", [2.0, -1.0])
def test_stops_give_way_as_far_as_the_energy_goes(kind, speed):
    """I v^2 = k d^2 without damping, and the speed comes back; with damping less of both, as the solution says."""
    robot, k, moment = flywheel(kind), 800.0, 0.5
    stop = 0.3 if speed > 0 else -0.5
    depth = abs(speed) * np.sqrt(moment / k)
    there = (stop - 0.0) / speed
    duration = np.ceil((there + 2 * np.pi * np.sqrt(moment / k)) * 10) / 10
    bounced = robot.simulate([0.0], [speed], duration, 1e-4, method="rk4", limits=SoftLimits(k))
    farthest = np.abs(bounced.q).max() if speed > 0 else -bounced.q.min()
    assert farthest - abs(stop) == pytest.approx(depth, rel=1e-4)
    assert bounced.v[-1, 0] == pytest.approx(-speed, rel=1e-4)
    c = 10.0
    rate, wave = c / (2 * moment), np.sqrt(k / moment - (c / (2 * moment)) ** 2)
    turn = np.arctan(wave / rate) / wave  # when the speed is zero
    depth = abs(speed) / wave * np.exp(-rate * turn) * np.sin(wave * turn)
    damped = robot.simulate([0.0], [speed], duration, 1e-4, method="rk4", limits=SoftLimits(k, c))
    farthest = np.abs(damped.q).max() if speed > 0 else -damped.q.min()
    assert farthest - abs(stop) == pytest.approx(depth, rel=2e-3)
    assert abs(damped.v[-1, 0]) < 0.8 * abs(speed)
    assert np.sign(damped.v[-1, 0]) == -np.sign(speed)


def test_without_stops_it_passes():
    robot = flywheel()
    assert robot.simulate([0.0], [2.0], 1.0, 1e-2).q[-1, 0] == pytest.approx(2.0)
    far = replace(robot.model, soft_limits=SoftLimits(800.0))  # they act on the model they are given to alone
    assert robot.model.soft_limits is None and far.soft_limits is not None
