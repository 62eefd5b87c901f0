"""What rolls, slides and is geared: against Pinocchio's tree and least squares, textbooks, and laws of motion."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork
from linkwork.constraints import ConstraintEquations
from linkwork.io.mdh import read_mdh
from linkwork.model import ConstraintKind, Mecanum
from linkwork.spatial import Matrix, Motion, Pose, Vector
from support.evaluate import assert_close, derivative, evaluate
from support.random_loops import closed_model
from support.random_robots import random_rotation
from support.rolling import Rolling, rolling_mechanism

MECHANISMS = [
    (("revolute", "spherical"), ("wheel",), False),
    (("universal", "revolute", "revolute"), ("blade", "wheel"), False),
    (("planar", "revolute", "prismatic", "helical"), ("omni", "blade"), True),
    (("floating", "revolute", "revolute"), ("wheel", "wheel", "glide"), False),
    (("revolute", "prismatic", "revolute", "cylindrical"), ("wheel", "blade", "omni"), True),
    (("floating", "revolute", "revolute"), ("mecanum", "wheel", "mecanum"), False),
]


@pytest.mark.parametrize("kinds, contacts, geared", MECHANISMS)
def test_against_pinocchio(kinds, contacts, geared):
    """Leaning wheels on planes that other links carry: equations and their drift, accelerations, forces, motors."""
    description = rolling_mechanism(len(kinds) + len(contacts), kinds, contacts, geared)
    model, reference = closed_model(description), Rolling(description)
    rng = np.random.default_rng(1)
    q, mobility = np.array(model.home), model.mobility
    anyhow = rng.uniform(-1, 1, model.coordinates.nv)  # that slips
    equations = ConstraintEquations.at(model, q.tolist())
    values, J, drift = reference.rows(q, anyhow)
    assert_close(np.array(equations.residual, float), values, scale=1)
    assert_close(np.array(equations.J, float), J, scale=1)
    found = np.array(equations.drift(anyhow.tolist()), float)
    assert_close(found, drift, scale=1 + np.abs(drift).max())
    v, a, tau = (rng.uniform(-1, 1, n) for n in (model.nv, model.nv, len(mobility.forced)))
    rates = evaluate(model, "joint_velocities", q, v)
    assert_close(J @ rates, 0 * drift, scale=np.abs(rates).max())
    forces = np.zeros(model.coordinates.nv)
    forces[list(mobility.forced)] = tau
    expected, _ = reference.solve(q, rates, accelerations={}, forces=forces, unknown=[])
    found, held = evaluate(model, "constrained_dynamics", q, rates, tau)
    scale = 1 + np.abs(expected).max()
    assert_close(found, expected, tolerance=1e-11, scale=scale)  # a linear system in between
    left = reference.inertia_matrix(q) @ expected + reference.nonlinear(q, rates) - forces
    assert_close(J.T @ held, left, tolerance=1e-11, scale=1 + np.abs(left).max())
    found = evaluate(model, "forward_dynamics", q, v, tau)
    assert_close(found, expected[list(mobility.independent)], tolerance=1e-11, scale=scale)
    motion = dict(zip(mobility.independent, a.tolist(), strict=True))
    weights = [model.coordinates.joint_of(k).weight for k in mobility.forced]
    _, motors = reference.solve(
        q, rates, accelerations=motion, forces=0 * forces, unknown=mobility.forced, weights=weights
    )
    motors = motors[list(mobility.forced)]
    tree = evaluate(model, "velocity_map", q)[list(mobility.forced)]
    wanted = evaluate(model, "inertia_matrix", q) @ a + evaluate(model, "bias", q, v)
    assert_close(tree.T @ motors, wanted, tolerance=1e-11, scale=1 + np.abs(wanted).max())


def test_disc_against_its_textbook_equations():
    """A leaning disc in Euler's angles (Neimark and Fufaev, Dynamics of Nonholonomic Systems, chapter II): theta
    between axle and vertical, Omega the rate of the heading, n the whole spin about the axle."""
    robot = linkwork.load("rolling-disc")
    m, A, C, r, g = 1.2, 0.012, 0.024, 0.2, 9.81

    def rates(_, x):
        theta, turn, Omega, n = x
        s, c = np.sin(theta), np.cos(theta)
        bend = (A * Omega**2 * s * c - (C + m * r * r) * n * Omega * s - m * g * r * c) / (A + m * r * r)
        return [
            turn,
            bend,
            turn * (C * n - 2 * A * Omega * c) / (A * s),
            m * r * r * turn * Omega * s / (C + m * r * r),
        ]

    def started(theta, turn, Omega, n):
        """q and v with the axle leaning in the plane x = 0, y of the disc being the axle."""
        half = (np.pi / 2 - theta) / 2  # about x
        q = np.array([0, 0, r * np.sin(theta), np.sin(half), 0, 0, np.cos(half)])
        v = [-turn, n, Omega * np.sin(theta)]
        return q, v

    x0 = [1.2, 0.3, 0.8, 9.0]
    exact = solve_ivp(rates, (0, 2), x0, method="DOP853", rtol=1e-12, atol=1e-12)
    motion = robot.simulate(*started(*x0), duration=2.0, dt=5e-4, method="rk4")
    axle = robot.pose("disc", motion.q[-1])[:3, 1]
    assert abs(np.arccos(axle[2]) - exact.y[0, -1]) < 1e-9
    assert abs(motion.v[-1, 1] - exact.y[3, -1]) < 1e-9
    assert motion.drift["energy"] < 1e-10 * motion.energy[0]
    # steady precession: the relation between lean, heading and spin makes it roll on a circle
    theta, Omega = 1.0, 2.5
    n = (A * Omega * np.cos(theta) - m * g * r * np.cos(theta) / (Omega * np.sin(theta))) / (C + m * r * r)
    motion = robot.simulate(*started(theta, 0.0, Omega, n), duration=2.0, dt=1e-3, method="rk4")
    assert_close(motion.q[:, 2], np.full(len(motion.t), r * np.sin(theta)), tolerance=1e-9)
    assert np.ptp(motion.q[:, 0]) > 0.05


SLEIGH = """
name: sleigh
gravity: [0, 0, 0]
joints: [{name: body, kind: planar}]
links: [{link: link1, M: 2, center: [0.3, 0, 0], central: [0.1, 0.1, 0.15]}]
drives: [{joint: body, role: passive}]
rolling: [{kind: blade, wheel: {link: link1, alpha: -pi/2}}]
"""


def test_chaplygin_sleigh_against_its_closed_solution():
    robot = linkwork.load(read_mdh(SLEIGH))
    m, d, whole, speed, start = 2.0, 0.3, 0.15 + 2 * 0.09, 1.5, -1.0
    k, w = d * m / whole, np.sqrt(m / whole)
    t = start + np.linspace(0, 2, 401)
    forward, turn = speed * np.tanh(k * speed * t), speed * w / np.cosh(k * speed * t)
    heading = 2 * w / k * np.arctan(np.tanh(k * speed * t / 2))
    assert robot.joint_names == ("body",)
    q0 = [0, 0, heading[0]]
    motion = robot.simulate(q0, [forward[0], 0, turn[0]], duration=2.0, dt=5e-3, method="dormand-prince-5")
    rates = robot.joint_velocities(motion.q, motion.v)
    assert_close(rates[:, [0, 2]], np.stack([forward, turn], axis=-1), tolerance=1e-9)
    assert_close(motion.q[:, 2], heading, tolerance=1e-9)


DRIVE = """
name: drive
base: {kind: floating, link: body, M: 9, center: [0.06, 0, 0.05], central: [0.11, 0.15, 0.19]}
joints:
  - {name: left, link: left_wheel, parent: body, xyz: [0, 0.2, 0], rpy: [-pi/2, 0, 0]}
  - {name: right, link: right_wheel, parent: body, xyz: [0, -0.2, 0], rpy: [-pi/2, 0, 0]}
links:
  - {link: left_wheel, M: 0.8, central: [0.0022, 0.0022, 0.004]}
  - {link: right_wheel, M: 0.8, central: [0.0022, 0.0022, 0.004]}
rolling:
  - {name: l, wheel: {link: left_wheel}, radius: 0.1, friction: 0.8}
  - {name: r, wheel: {link: right_wheel}, radius: 0.1, friction: 0.8}
  - {name: ball, kind: glide, wheel: {link: body, xyz: [0.25, 0, -0.1]}}
"""


def test_differential_drive_against_its_textbook_equations():
    """Siciliano et al., Robotics, chapter 11, with wheels of their own inertia; and its contact forces."""
    robot = linkwork.load(read_mdh(DRIVE))
    mc, mw, d, b, R, Ic, Iy, Im = 9, 0.8, 0.06, 0.2, 0.1, 0.19, 0.004, 0.0022
    rng = np.random.default_rng(0)
    for _ in range(5):
        (left, right), (tl, tr), pose = rng.normal(size=2), rng.normal(size=2), rng.normal(size=3)
        q = np.array(robot.home)
        q[[0, 1, 5, 6]] = *pose[:2], np.sin(pose[2]), np.cos(pose[2])
        v, w = R * (left + right) / 2, R * (right - left) / (2 * b)
        ahead = ((tl + tr) / R + mc * d * w**2) / (mc + 2 * mw + 2 * Iy / R**2)
        turn = ((tr - tl) * b / R - mc * d * w * v) / (Ic + mc * d**2 + 2 * mw * b**2 + 2 * Im + 2 * Iy * b**2 / R**2)
        a = np.array([ahead - b * turn, ahead + b * turn]) / R
        assert_close(robot.forward_dynamics(q, [left, right], [tl, tr]), a)
        assert_close(robot.inverse_dynamics(q, [left, right], a), np.array([tl, tr]))
    still = robot.contact_forces(robot.home, [0, 0], [0, 0])
    ball = mc * 9.81 * d / 0.25
    assert_close(still.normal, [((mc + 2 * mw) * 9.81 - ball) / 2] * 2 + [ball])
    push = 12.0 / R / (mc + 2 * mw + 2 * Iy / R**2)  # it rears up before the wheels slip
    hard = robot.contact_forces(robot.home, [0, 0], [6.0, 6.0])
    assert_close(hard.along[:2], [(mc + 2 * mw) * push / 2] * 2)
    assert_close(hard.normal.sum(), (mc + 2 * mw) * 9.81)
    assert hard.lifts.tolist() == [False, False, True] and "ball: load" in str(hard) and "lifts off" in str(hard)
    back = robot.contact_forces(robot.home, [0, 0], [-4.0, -4.0])
    assert_close(back.needed, np.hypot(back.along, back.across) / back.normal)
    assert back.slips.tolist() == [True, True, False]
    with pytest.warns(
        linkwork.SimulationWarning, match=r"l, r would slip: [lr] needs friction 1.9 and has 0.8, from t = 0 s"
    ):
        robot.simulate(torque=[-4.0, -4.0], duration=0.01, method="rk4")


def test_no_slip_and_energy_over_1e5_steps():
    """A disc that wobbles for a hundred seconds: no slip, no gap, energy kept; by Euler's step what is recorded."""
    robot = linkwork.load("rolling-disc")
    outputs = ("q", "v", "loop_rates", "loop_residual", "kinetic_energy", "potential_energy")
    v0 = np.array([0.3, 8.0, 0.5])
    motion = robot.rollout(np.array(robot.home), v0, dt=1e-3, steps=100_000, every=10, method="rk4", outputs=outputs)
    drift = motion.drift
    assert drift["loop_rates"] < 1e-12 and drift["loop_residual"] < 1e-12
    energy = motion.energy
    assert np.ptp(energy) < 1e-9 * energy[0]
    short = robot.rollout(np.array(robot.home), v0, dt=1e-3, steps=1000, outputs=outputs)
    assert short.drift["loop_rates"] < 1e-12
    assert np.abs(short.v[-1] - motion.v[100]).max() < 0.2  # of first order


def test_no_slip_in_long_steps():
    """A segway that falls, and turns round below its axle: positions are corrected by much, and nothing slips yet."""
    robot = linkwork.load("segway")
    run = {"dt": 4e-3, "steps": 750, "method": "rk4", "outputs": ("loop_rates", "loop_residual")}
    drift = robot.rollout(np.array(robot.home), [0.01, -0.01, 0.06], **run).drift
    assert drift["loop_rates"] < 1e-13 and drift["loop_residual"] < 1e-13


def test_a_gear_is_a_mimic_joint():
    rows = """
name: train
joints: [{name: a, alpha: 0.4}, {name: b, d: 0.3, alpha: 0.7}, {name: c, sigma: 1, alpha: 1.1, d: 0.2}]
links:
  - {link: link1, M: 2, center: [0.1, 0.2, 0.3], central: [0.2, 0.3, 0.25]}
  - {link: link2, M: 1, center: [0.2, -0.1, 0.1], central: [0.1, 0.15, 0.12]}
  - {link: link3, M: 1.5, center: [0.1, 0.1, -0.2], central: [0.2, 0.1, 0.15]}
"""
    geared = linkwork.load(read_mdh(rows + """
drives: [{joint: b, role: passive, Ia: 0.1}, {joint: c, role: passive, Ia: 0.3}]
gears: [{joints: {a: 2, b: -1}, offset: 0.3}, {name: rack, joints: {c: 1, a: -0.2}}]
"""))  # fmt: skip
    mimic = linkwork.load(read_mdh(rows + """
drives:
  - {joint: b, Ia: 0.1, mimic: {joint: a, multiplier: 2, offset: -0.3}}
  - {joint: c, Ia: 0.3, mimic: {joint: a, multiplier: 0.2}}
"""))  # fmt: skip
    q = geared.assemble([0.7]).require()
    assert_close(q, [0.7, 1.1, 0.14])
    assert_close(geared.inverse_dynamics(q, [1.3], [0.4]), mimic.inverse_dynamics([0.7], [1.3], [0.4]))
    assert_close(geared.forward_dynamics(q, [1.3], [0.4]), mimic.forward_dynamics([0.7], [1.3], [0.4]))
    three = rows + "gears: [{joints: {a: 2, b: -1, c: 0.5}, offset: 0.3}]\nactuation: redundant"
    locked = linkwork.load(read_mdh(three), lock={"a": 0.2})
    assert_close(locked.assemble({"b": 0.4}, known="b").require(), [0.4, 0.6])


def test_slopes_along_all_directions_of_positions():
    """By complex steps."""
    robot = linkwork.load("rolling-disc")
    model, rng = robot.model, np.random.default_rng(3)
    step = robot.position_map(robot.home) @ (0.2 * rng.normal(size=model.n_configuration))
    q = robot.coordinates.integrate(np.array(robot.home), step)
    q = robot.assemble([], guess=q).require()
    v, tau = rng.normal(size=model.nv), rng.normal(size=len(model.mobility.forced))
    along = np.array([robot.coordinates.rates(q, column) for column in robot.position_map(q).T])
    _, da_dq, *_ = robot.forward_dynamics_derivatives(q, v, tau)
    exact = derivative(lambda x: evaluate(model, "forward_dynamics", x, v, tau), q, along).T
    assert da_dq.shape == (3, 5)
    assert_close(da_dq, exact, tolerance=1e-10, scale=1 + np.abs(exact).max())


def test_linear_system_of_what_rolls():
    """Of the sleigh, as a short step in time has it, to the order of that; x is longer than twice v."""
    robot, dt = linkwork.load(read_mdh(SLEIGH)), 1e-5
    q, v = [0.1, 0.2, 0.3], [0.4, 0.9]
    A, B = robot.linearise(q, v, [0, 0])
    stepped = robot.linearise(q, v, [0, 0], dt, "rk4")
    assert A.shape == (5, 5) and B.shape == (5, 2)
    assert np.abs((stepped.A - np.eye(5)) / dt - A).max() < 10 * dt


def test_the_mobile_manipulator_is_a_panda_while_it_stands():
    panda, mobile = linkwork.load("panda").model, linkwork.load("mobile-manipulator").model
    q, v, a = np.random.default_rng(0).normal(size=(3, 7))
    whole = np.concatenate([mobile.home[:9], q])
    tau = evaluate(mobile, "inverse_dynamics", whole, np.append([0, 0], v), np.append([0, 0], a))
    assert_close(tau[2:], evaluate(panda, "inverse_dynamics", q, v, a))


def platform(**wheels: float) -> linkwork.Robot:
    """A platform on four mecanum wheels, x ahead, y to the left, with the angles of their rollers by name."""
    places = {
        "front_left": (0.25, 0.2),
        "front_right": (0.25, -0.2),
        "rear_left": (-0.25, 0.2),
        "rear_right": (-0.25, -0.2),
    }
    wheel = {"M": 0.6, "central": [5e-4, 5e-4, 9e-4]}
    return linkwork.load(
        {
            "name": "platform",
            "base": {"kind": "floating", "link": "body", "M": 12, "central": [0.2, 0.3, 0.4]},
            "joints": [
                {
                    "name": name,
                    "link": f"{name}_wheel",
                    "parent": "body",
                    "xyz": [*at, 0],
                    "rpy": ["-pi/2", 0, 0],
                    **wheel,
                }
                for name, at in places.items()
            ],
            "rolling": [
                {
                    "kind": "mecanum",
                    "wheel": {"link": f"{name}_wheel"},
                    "radius": 0.05,
                    "friction": 0.7,
                    "roller_angle": g,
                }
                for name, g in wheels.items()
            ],
            "independent": ["base.x", "base.y", "base.rz"],
            "actuation": "redundant",
        }
    )


def test_mecanum_platform_against_its_textbook_kinematics():
    """Muir and Neuman, Kinematic modeling for feedback control of an omnidirectional wheeled mobile robot (1987):
    R times the rates of the wheels is vx -+ vy -+ (l + w) wz. And the forces: at rest, along the rollers' axes."""
    g = np.pi / 4
    robot = platform(front_left=-g, front_right=g, rear_left=g, rear_right=-g)
    R, arm = 0.05, 0.25 + 0.2
    expected = np.array([[1, -1, -arm], [1, 1, arm], [1, 1, -arm], [1, -1, arm]]) / R
    q = np.array(robot.home)
    for heading in (0.0, 0.7, -2.1):
        q[[0, 1, 5, 6]] = 0.3, -0.8, np.sin(heading / 2), np.cos(heading / 2)
        assert_close(robot.velocity_map(q)[6:], expected, tolerance=1e-12)
        v = np.array([0.4, -0.3, 0.9])
        assert_close(robot.joint_velocities(q, v)[6:], expected @ v, tolerance=1e-12)
    tau = np.array([0.1, 0.1, 0.1, 0.1])
    loads = robot.contact_forces(robot.home, [0, 0, 0], tau)
    shift = tau.sum() / (4 * 0.25)  # the motors' torques press on the rear wheels
    assert_close(loads.normal, (12 + 4 * 0.6) * 9.81 / 4 + shift * np.array([-1, -1, 1, 1]))
    assert_close(loads.across, loads.along * [-1, 1, 1, -1])
    ahead = robot.forward_dynamics(robot.home, [0, 0, 0], tau)
    assert_close(loads.along.sum(), (12 + 4 * 0.6) * ahead[0])
    motion = robot.simulate(v0=[0.4, -0.3, 0.9], torque=[0.2, 0.1, 0.0, 0.1], duration=1.0, method="rk4")
    assert motion.drift["loop_rates"] < 1e-12


@pytest.mark.parametrize("angle, limit, row", [(np.pi / 2, "omni", 1), (0.0, "wheel", 2)])
def test_limits_of_a_mecanum_wheel(angle, limit, row):
    """Rollers at a right angle to the axle make an omniwheel; parallel to it, they hold what a wheel holds across."""
    rng = np.random.default_rng(4)
    end = Pose(Matrix(*(Vector(*x) for x in random_rotation(rng))), Vector(*rng.normal(size=3)))
    moving, accelerating = (Motion(Vector(*rng.normal(size=3)), Vector(*rng.normal(size=3))) for _ in range(2))
    mecanum, other = Mecanum(0.3, roller_angle=angle), ConstraintKind.known[limit](0.3)
    for found, wanted in (
        (mecanum.held(end, moving), other.held(end, moving)),
        (mecanum.drift(end, moving, accelerating), other.drift(end, moving, accelerating)),
    ):
        assert_close(np.array(found, float), np.array([wanted[0], wanted[row]], float), tolerance=1e-15)


def trolley(*feet, rpy=(0, 0, 0)):
    """A floating body on two driven wheels, with props in front of them that may stand on the ground."""
    wheel = {"M": 0.8, "central": [3e-3, 3e-3, 4e-3]}
    inertia = {"M": 10, "center": [0.1, 0.03, 0.05], "central": [0.4, 0.5, 0.6]}
    sides = {"left": 0.25, "right": -0.25}
    return linkwork.load(
        {
            "name": "trolley",
            "base": {"kind": "floating", "link": "body"} | inertia,
            "joints": [
                {"name": name, "link": f"{name}_wheel", "parent": "body", "xyz": [-0.2, y, 0], "rpy": ["-pi/2", 0, 0]}
                | wheel
                for name, y in sides.items()
            ],
            "frames": [{"name": "prop", "link": "body", "xyz": [0.4, 0.05, -0.1], "rpy": list(rpy)}],
            "rolling": [{"name": name, "wheel": {"link": f"{name}_wheel"}, "radius": 0.1} for name in sides],
            "feet": [{"frame": "prop", "friction": 0.5, **foot} for foot in feet],
            "home": {"base": [0, 0, 0.1, 0, 0, 0, 1]},
        }
    )  # fmt: skip


@pytest.mark.parametrize("foot", [{}, {"size": [0.12, 0.08]}], ids=["point", "sole"])
def test_wheels_and_a_foot_bear_a_weight_together(foot):
    robot, torques, g = trolley(foot), np.array([0.7, -0.4]), 9.81
    still = np.zeros(robot.nv)
    loads = robot.contact_forces(robot.home, still, [0, *torques])
    assert loads.names == ("left", "right", "prop")
    # forces and moments about the middle of the axle, by hand
    centre = np.array([0.4, 0.05]) + (np.nan_to_num(loads.centre[2]) if foot else 0)
    xy = np.array([[-0.2, 0.25], [-0.2, -0.25], centre])
    weights, at = np.array([0.8, 0.8, 10]) * g, np.array([[-0.2, 0.25], [-0.2, -0.25], [0.1, 0.03]])
    assert_close(loads.normal.sum(), weights.sum())
    assert_close(loads.normal @ xy, weights @ at)
    if not foot:  # three points: statics alone tells the loads
        assert_close(loads.normal, np.linalg.solve(np.vstack([np.ones(3), xy.T]), [weights.sum(), *(weights @ at)]))
    assert_close(loads.along[:2], torques / 0.1)  # what a wheel that stands still is turned by
    assert_close(loads.along[2], -loads.along[:2].sum())  # nothing moves
    assert_close(loads.across.sum(), 0, scale=weights.sum())

    known = robot.contact_dynamics(robot.home, still, [0, *torques], [1.0]).forces
    assert robot.contact_forces(robot.home, forces=known).names == ("prop",)
    again = robot.contact_forces(robot.home, still, [0, *torques], forces=known)
    assert_close(again.normal, loads.normal)
    batch = robot.contact_forces(np.tile(robot.home, (2, 1)), still, [[0, *torques], [0, 0, 0]])
    assert batch.normal.shape == (2, 3)
    assert_close(batch.along[0], loads.along)


def test_axes_of_a_foot_do_not_matter():
    """A point foot bears the same load in whichever axes its frame is given."""
    still, tau = np.zeros(3), np.array([0, 0.7, -0.4])
    robots = trolley({}), trolley({}, rpy=(0.3, -0.2, 0.7))
    straight, turned = (robot.contact_forces(robot.home, still, tau) for robot in robots)
    assert_close(turned.normal, straight.normal)
    assert_close(turned.along[:2], straight.along[:2])


def test_wheels_bear_what_a_foot_leaves_to_them():
    """Off the ground it bears nothing; in a motion by events and in one by a schedule, both have the same forces."""
    robot, bare = trolley({}), trolley()
    v, tau = np.array([0.1, 2.0, 1.5]), np.array([0, 0.7, -0.4])
    loads = robot.contact_forces(robot.home, v, tau, contacts=[0])
    assert loads.normal[2] == 0
    assert_close(loads.normal[:2], bare.contact_forces(robot.home, v, tau).normal)
    run = {"q0": robot.home, "duration": 0.02, "dt": 1e-3, "method": "rk4", "torque": [0.1, -0.1]}
    outputs = ["q", "contacts", "contact_forces", "constraint_forces"]
    motions = [robot.simulate(contacts=contacts, outputs=outputs, **run) for contacts in ([1], "events")]
    for motion in motions:
        assert_close(motion.constraint_forces[:, [0, 3]].sum(axis=1) + motion.contact_forces[:, 2], [11.6 * 9.81] * 21)
    assert_close(motions[1].constraint_forces, motions[0].constraint_forces)
