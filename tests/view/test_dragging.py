"""The frame that a user drags: the robot follows without jumps, to the nearest place, and shows singular ones."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

import linkwork
from linkwork.rotations import exp, pose_error
from linkwork.view import State
from linkwork.view.dragging import KEPT, NEAR_SINGULAR, STEPS, TURNED, WANTED, Tip
from linkwork.view.state import MOTORS
from support.playground import playground

READY = [0.0, -0.5, 0.0, -2.0, 0.0, 1.8, 0.8]  # of the Panda


def tip_of(robot, frame=None, q=None):
    state = State(robot)
    state.frame = frame or state.frame
    state.q = state.q if q is None else np.array(q, float)
    return Tip(state)


def pulled(tip, shift, turn=(0.0, 0.0, 0.0), steps=1):
    """Pull the frame to where it is, shifted and turned; return its goal."""
    begin, goals = tip.pose, tip.goals(tip.pose)
    for part in np.linspace(0, 1, steps + 1)[1:]:
        target = begin.copy()
        target[:3, 3] += part * np.array(shift)
        target[:3, :3] = exp(part * np.array(turn)) @ begin[:3, :3]
        goals[0] = replace(goals[0], pose=target)
        tip.pull(goals)
    return goals[0]


def error(tip, goal):
    return np.abs(pose_error(goal.pose, tip.pose)).max()


ARMS = {
    "panda": "panda_link8",
    "ur5e": "tool0",
    "scara": "flange",
    "space-arm": "gripper",
    "panda-elastic": "panda_link8",
}
PLATFORMS = {  # frame, shift and turn that it can make
    "delta": ("tool", (0.1, -0.05, 0.05), (0.0, 0.0, 0.0)),
    "gough-stewart": ("platform", (0.1, 0.05, 0.1), (0.1, 0.1, -0.1)),
    "3rpr": ("platform", (0.05, 0.1, 0.0), (0.0, 0.0, 0.2)),
    "mobile-manipulator": ("panda_link8", (0.1, 0.0, -0.1), (0.1, 0.0, 0.0)),
}


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_reaches_a_pose(name):
    """From one place to another, within the limits, its base and springs as they are."""
    robot, rng = linkwork.load(name), np.random.default_rng(1)
    motors = [at.start for joint, at in robot.coordinates.positions.places.items() if robot.roles[joint] == "active"]
    lower, upper = (np.clip(x, -np.pi, np.pi) for x in (robot.coordinates.lower, robot.coordinates.upper))
    middle = (lower + upper) / 2
    for _ in range(5):
        q = tip_of(robot).state.q.copy()
        q[motors] = (middle + rng.uniform(-0.35, 0.35, robot.nq) * (upper - lower))[motors]
        tip = tip_of(robot, ARMS[name], q)
        q[motors] += rng.uniform(-0.1, 0.1, len(motors)) * (upper - lower)[motors] / np.pi
        target = robot.pose(ARMS[name], q)
        before, goals = tip.state.q, tip.goals(target)
        tip.search(goals)
        assert error(tip, goals[0]) < 1e-6 and not tip.report(goals[0], turned=True) and tip.missed is None
        assert (tip.state.q >= robot.coordinates.lower).all() and (tip.state.q <= robot.coordinates.upper).all()
        still = np.setdiff1d(np.arange(robot.nq), motors)
        np.testing.assert_allclose(tip.state.q[still], before[still], atol=1e-5)


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_platform_reaches_a_pose(name):
    """With loops closed, and joints within their limits."""
    robot = linkwork.load(name)
    frame, shift, turn = PLATFORMS[name]
    tip = tip_of(robot, frame)
    goal = pulled(tip, shift, turn)
    assert error(tip, goal) < 1e-7 and not tip.report(goal, turned=True) and tip.missed is None
    assert np.abs(robot.loop_residual(tip.state.q)).max() < 1e-9
    lower, upper = robot.coordinates.lower, robot.coordinates.upper
    assert (tip.state.q >= lower - 1e-7).all() and (tip.state.q <= upper + 1e-7).all()


def test_joints_in_loops_stop_at_their_limits():
    """Legs that others determine, pulled as far as they go."""
    robot = linkwork.load("3rpr")
    lower, upper = robot.coordinates.lower, robot.coordinates.upper
    tip = tip_of(robot, "platform")
    for shift in ((0.6, 0.0, 0.0), (-1.2, 0.3, 0.0), (0.3, 0.6, 0.0)):
        goal = pulled(tip, shift, steps=10)
        assert "Out of reach" in tip.report(goal, turned=False)
        assert (tip.state.q >= lower - 1e-6).all() and (tip.state.q <= upper + 1e-6).all()
        assert np.abs(robot.loop_residual(tip.state.q)).max() < 1e-9
        assert np.isclose(tip.state.q, lower, atol=1e-6).any() or np.isclose(tip.state.q, upper, atol=1e-6).any()


def test_every_kind_of_joint_is_dragged():
    robot = linkwork.load(playground())
    for frame in ("upper", "nut", "crate"):
        tip = tip_of(robot, frame)
        shift = (0.0, 0.0, 0.01) if frame == "nut" else (0.05, 0.02, 0.0)
        goal = pulled(tip, shift)
        assert np.linalg.norm(pose_error(goal.pose, tip.pose)[:3]) < 1e-3, frame


def test_out_of_reach_an_arm_points_to_the_target():
    robot = linkwork.load("planar2r")
    tip = tip_of(robot, q=[0.4, 1.0])
    goal = pulled(tip, (3.0, 2.0, 0.0), steps=30)
    p = goal.pose[:2, 3]
    lengths = np.linalg.norm(robot.pose("tip", [0.0, 0.0])[:2, 3])
    np.testing.assert_allclose(tip.pose[:2, 3], lengths * p / np.linalg.norm(p), atol=1e-3)
    assert "Out of reach" in tip.report(goal, turned=False)
    np.testing.assert_array_equal(tip.missed, goal.pose[:3, 3])
    tip.state.move([0.1, 0.2])
    assert tip.missed is None  # it was moved away from there


@pytest.mark.parametrize(
    ("shift", "stopped"),
    [((0.3, 0.5, 0.1), 0), ((-0.3, -0.3, 1.1), 0), ((0.3, 0.5, -1.1), 1), ((-0.2, 0.0, -0.3), 2)],
)
def test_the_nearest_place_within_the_limits(shift, stopped):
    """Against SciPy's bounded least squares of the same errors, from where it arrived."""
    robot = linkwork.load("panda")
    tip = tip_of(robot, "panda_link8", READY)
    goal = pulled(tip, shift, steps=20)
    weights = np.repeat([WANTED / tip.state.size, TURNED], 3)

    def wrong(q):
        return weights * pose_error(goal.pose, robot.pose("panda_link8", q))

    lower, upper = robot.coordinates.lower, robot.coordinates.upper
    assert (tip.state.q >= lower).all() and (tip.state.q <= upper).all()
    start = np.clip(tip.state.q, lower + 1e-9, upper - 1e-9)
    best = least_squares(wrong, start, bounds=(lower, upper), xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000)
    assert np.linalg.norm(wrong(tip.state.q)) == pytest.approx(np.linalg.norm(best.fun), rel=1e-7)
    assert np.sum((tip.state.q == lower) | (tip.state.q == upper)) == stopped


def test_it_moves_without_jumps():
    """Also where Newton's steps would leap to another branch: in and out of reach."""
    robot = linkwork.load("panda")
    tip, rng = tip_of(robot, "panda_link8", READY), np.random.default_rng(0)
    begin, goals, p = tip.pose, tip.goals(tip.pose), tip.pose[:3, 3]
    for way in rng.normal(size=(8, 3)):
        end = begin[:3, 3] + 0.6 * way / np.linalg.norm(way)
        for part in range(20):
            p = p + (end - p) / (20 - part)
            before, distance = tip.state.q, np.linalg.norm(p - tip.pose[:3, 3])
            target = begin.copy()
            target[:3, 3] = p
            goals[0] = replace(goals[0], pose=target)
            tip.pull(goals, STEPS)
            assert np.linalg.norm(p - tip.pose[:3, 3]) < distance + 1e-3
            assert np.abs(tip.state.q - before).max() < 2.0


def test_feet_stay_and_the_trunk_follows_the_hand():
    robot = linkwork.load("quadruped")
    feet = [name for name in robot.frame_names if name.endswith("_foot")]

    def places(tip):
        return {name: robot.pose(name, tip.state.q) for name in [*feet, "trunk"]}

    tip = tip_of(robot, "trunk")
    before = places(tip)
    goal = pulled(tip, (0.03, 0.02, -0.05), (0.1, 0.0, 0.1))
    assert error(tip, goal) < 1e-6
    for name in feet:
        np.testing.assert_allclose(places(tip)[name][:3, 3], before[name][:3, 3], atol=1e-7)

    tip = tip_of(robot, feet[0])
    before = places(tip)
    goal = pulled(tip, (0.03, 0.02, 0.05))
    after = places(tip)
    np.testing.assert_allclose(after[feet[0]][:3, 3], goal.pose[:3, 3], atol=1e-3 * tip.state.size)
    for name in feet[1:]:
        np.testing.assert_allclose(after[name][:3, 3], before[name][:3, 3], atol=1e-5)
    assert np.abs(pose_error(after["trunk"], before["trunk"])).max() < 1e-2
    tip.state.contacts[:] = 0
    assert [goal.frame for goal in tip.goals(tip.pose)] == [feet[0], "trunk"]
    assert [*tip.goals(tip.pose)[1].weights] == [KEPT] * 6


def test_soles_keep_their_orientation():
    robot = linkwork.load("biped")
    tip = tip_of(robot, "torso")
    before = robot.pose("left_sole", tip.state.q)
    goal = pulled(tip, (0.0, 0.02, -0.05))
    assert np.abs(pose_error(before, robot.pose("left_sole", tip.state.q))).max() < 1e-4
    assert not tip.report(goal, turned=False)


def test_wheels_roll_below_a_car_that_is_dragged():
    robot = linkwork.load("differential-drive")
    tip = tip_of(robot, robot.model.root)
    before = tip.state.q
    forward = robot.jacobian(robot.model.root, before)[:3]
    U, values, _ = np.linalg.svd(forward)
    goal = pulled(tip, 0.2 * U[:, 0], steps=10)
    assert not tip.report(goal, turned=False) and values[0] > 0
    wheels = [name for name in robot.joint_names if name in robot.motor_names]
    turned = robot.coordinates.positions.to_dict(tip.state.q - before)
    radius = next(c.kind.radius for c in robot.model.constraints if hasattr(c.kind, "radius"))
    for name in wheels:
        assert abs(float(np.squeeze(turned[name]))) == pytest.approx(0.2 / radius, rel=0.02)


# -- a pose that is typed ------------------------------------------------------------------------------------------


def test_a_typed_pose_is_found_elsewhere_if_the_way_is_blocked():
    """Half a turn of the first joint away, past its limits."""
    robot = linkwork.load("panda")
    tip = tip_of(robot, "panda_link8", [2.8, *READY[1:]])
    target = robot.pose("panda_link8", [-2.8, *READY[1:]])
    goals = tip.goals(target)
    tip.search(goals)
    assert error(tip, goals[0]) < 1e-7 and not tip.report(goals[0], turned=True)


def test_a_typed_orientation_that_cannot_be():
    tip = tip_of(linkwork.load("planar2r"), q=[0.4, 1.0])
    goal = pulled(tip, (0.0, 0.0, 0.0), (0.0, 0.0, 0.5))
    assert "28.6° are missing" in tip.report(goal, turned=True) and not tip.report(goal, turned=False)
    assert tip.missed is None


# -- singular positions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("elbow", [1.0, 0.3, -2.5, 1e-3, np.pi - 1e-3])
def test_conditioning_of_two_links(elbow):
    """Singular values in closed form."""
    tip = tip_of(linkwork.load("planar2r"), "tip", [0.4, elbow])
    c = np.cos(elbow)
    ratios = []
    for turns in (0.0, 1.0):  # of the position alone, and with the turn; links of length one, half the robot's size
        a, b, d = (2 + 2 * c) / 4 + turns, (1 + c) / 4 + turns, 1 / 4 + turns  # J^T J
        root = np.sqrt((a - d) ** 2 / 4 + b**2)
        ratios.append(np.sqrt(a * d - b**2) / ((a + d) / 2 + root))
    assert tip.state.size == 2.0 and tip.conditioning() == pytest.approx(min(ratios), rel=1e-6)
    assert (tip.conditioning() < NEAR_SINGULAR) == (abs(np.sin(elbow)) < 0.1)


def test_conditioning_of_an_arm():
    robot = linkwork.load("panda")
    tip = tip_of(robot, "panda_link8", READY)
    J = robot.jacobian("panda_link8", tip.state.q)
    J[:3] /= tip.state.size
    both = [np.linalg.svd(part, compute_uv=False) for part in (J, J[:3])]
    assert tip.conditioning() == pytest.approx(min(s[-1] / s[0] for s in both), rel=1e-9)
    tip.state.q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 0.0, 0.8])
    assert tip.conditioning() > NEAR_SINGULAR  # seven joints: the wrist alone makes none
    tip.state.q = np.array([0.0, 0.0, 0.0, -0.0698, 0.0, 0.0, 0.0])
    assert tip.conditioning() < NEAR_SINGULAR
    tip.frame = "panda_link0"
    assert tip.conditioning() == 1.0 and tip.directions().shape == (3, 0)


def test_conditioning_of_a_parallel_robot_is_that_of_its_motors():
    """By differences of assemblies at motor positions."""
    robot, h = linkwork.load("3rpr"), 1e-5
    tip = tip_of(robot, "platform")
    assert MOTORS in tip.state.ways_to_move
    pulled(tip, (0.05, 0.02, 0.0), (0.0, 0.0, 0.1))
    places = robot.coordinates.places(robot.motor_names)
    J = []
    for step in h * np.eye(3):
        ends = [
            robot.assemble(tip.state.q[places] + sign * step, guess=tip.state.q, known=robot.motor_names).q
            for sign in (1, -1)
        ]
        J.append(pose_error(*(robot.pose("platform", q) for q in ends)) / (2 * h))
    J = np.transpose(J)[[0, 1, 5]] / [[tip.state.size], [tip.state.size], [1]]
    both = [np.linalg.svd(part, compute_uv=False) for part in (J, J[:2])]
    assert tip.conditioning() == pytest.approx(min(s[-1] / s[0] for s in both), rel=1e-6)


def test_a_parallel_robot_is_singular_where_its_motors_lose_it():
    """Where the elbows of a five-bar meet, its tip can turn about them while the motors stand still."""
    tip = tip_of(linkwork.load("five-bar"), "tool")
    meeting = np.arctan2(np.sqrt(0.2**2 - 0.06**2), 0.06)
    for apart, singular in ((0.8, False), (0.3, False), (0.02, True)):
        assert tip.state.move([meeting + apart / 2, np.pi - meeting - apart / 2])
        assert (tip.conditioning() < NEAR_SINGULAR) == singular


def test_directions_are_those_of_the_plane_of_an_arm():
    directions = tip_of(linkwork.load("planar2r")).directions()
    np.testing.assert_allclose(directions @ directions.T, np.diag([1.0, 1, 0]), atol=1e-12)
    assert tip_of(linkwork.load("scara"), "flange").directions().shape == (3, 3)
