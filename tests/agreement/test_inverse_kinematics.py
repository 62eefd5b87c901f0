"""Inverse kinematics against Pinocchio's poses, SciPy's optimisers, assembly and differences of solutions."""

import shutil
import subprocess
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize

import linkwork
from linkwork.kinematics import CenterOfMass, Direction, OnLine, OnPlane, Orientation, Pose, Position, solve
from linkwork.model import Placement
from linkwork.rotations import exp, log
from support.evaluate import evaluate
from support.mixed_trees import TREES, MixedRecipe, joint_order, mixed
from support.pinocchio_tree import PinocchioTree
from support.random_loops import LoopRecipe, mechanism
from support.random_robots import Recipe, describe, serial

HAND = "panda_link8"
START = np.array([0, -0.5, 0, -2, 0, 1.5, 0.8])
TOLERANCE = 1e-9  # at which inverse kinematics calls a target reached
WORLD = np.array([[0.0, 0.0, 0.0, 1.0]])


@cache
def robot_of(name):
    return linkwork.load(name)


def panda():
    return robot_of("panda")


def inside(robot, q):
    return ((q >= robot.coordinates.lower) & (q <= robot.coordinates.upper)).all()


def sampled(robot, count, seed=0):
    """Positions within the limits."""
    q = robot.coordinates.random(np.random.default_rng(seed), count)
    return np.clip(q, robot.coordinates.lower, robot.coordinates.upper)


def pose_errors(robot, frame, q, target):
    """Translations and rotations from poses at q to targets."""
    T = robot.pose(frame, q)
    turns = [log(a @ b.T) for a, b in zip(target[..., :3, :3].reshape(-1, 3, 3), T[..., :3, :3].reshape(-1, 3, 3))]
    return np.concatenate([target[..., :3, 3] - T[..., :3, 3], np.reshape(turns, (*T.shape[:-2], 3))], axis=-1)


def free_of(J):
    """The projector on what does not change J x."""
    return np.eye(J.shape[1]) - np.linalg.pinv(J, rcond=1e-10) @ J


# -- back into the pose ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", ["prismatic", "helical", "spherical", "planar", "coordinate axes", "floating base"])
def test_joints_of_every_kind_reach_the_pose_in_pinocchio(tree):
    description = mixed(replace(TREES[tree], extras=True))
    robot = linkwork.load(description)
    peer = PinocchioTree(description, joint_order(robot.coordinates.names))
    q = sampled(robot, 30)
    target = np.array([peer.pose(x, "tool") for x in q])
    guess = robot.coordinates.integrate(q, 0.2 * np.random.default_rng(1).normal(size=(30, robot.nv)))
    for at in robot.coordinates.quaternions:
        guess[:, at] *= -1.7  # the same rotation
    for start in (None, np.clip(guess, robot.coordinates.lower, robot.coordinates.upper)):
        solution = robot.inverse_kinematics("tool", target, guess=start)
        assert solution.solved.all() and inside(robot, solution.q)
        reached = np.array([peer.pose(x, "tool") for x in solution.q])
        assert np.abs(reached - target).max() <= 1.01 * TOLERANCE
        assert (
            np.abs(np.linalg.norm(pose_errors(robot, "tool", solution.q, target), axis=-1) - solution.error).max()
            < 1e-14
        )


def test_followers_stay_within_their_limits_exactly():
    described = describe(Recipe(seed=0, joints=6, mimic=True))
    limits = {"lower": -0.7, "upper": 0.9}
    joints = [
        replace(joint, **(limits if joint.mimic else {"lower": -2.0, "upper": 2.0})) for joint in described.joints
    ]
    described = replace(described, joints=tuple(joints))
    robot = linkwork.load(described)
    free = replace(described, joints=tuple(replace(joint, mimic=None) for joint in described.joints))
    peer = PinocchioTree(free, joint_order(linkwork.load(free).coordinates.names))
    leaders = dict(zip(robot.coordinates.names, range(robot.nq)))
    values = {joint.name: joint.mimic for joint in described.joints if joint.kind != "fixed"}
    assert any(values.values())

    def expanded(q):
        """Positions of all joints, followers included."""
        return np.array([
            q[leaders[name]] if mimic is None else mimic.multiplier * q[leaders[mimic.joint]] + mimic.offset
            for name, mimic in ((name, values[name]) for name in joint_order(linkwork.load(free).coordinates.names))
        ])  # fmt: skip

    q = np.random.default_rng(0).uniform(-2, 2, (60, robot.nq))
    target = robot.pose("tool", q)
    solution = robot.inverse_kinematics("tool", target)
    assert 0 < solution.solved.mean() < 1 and inside(robot, solution.q)
    at = joint_order(linkwork.load(free).coordinates.names).index(next(name for name in values if values[name]))
    followers = np.array([expanded(x)[at] for x in solution.q])
    assert (followers >= -0.7).all() and (followers <= 0.9).all() and (np.isin(followers, [-0.7, 0.9])).any()
    reached = np.array([peer.pose(expanded(x), "tool") for x in solution.q[solution.solved]])
    assert np.abs(reached - target[solution.solved]).max() <= 1.01 * TOLERANCE


def test_feet_trunk_and_centre_of_mass_of_a_quadruped():
    robot = robot_of("quadruped")
    stand = robot.standing_position()
    feet = [name for name in robot.frame_names if name.endswith("_foot")]
    rng = np.random.default_rng(0)
    moved = robot.coordinates.integrate(stand, 0.1 * rng.normal(size=(40, robot.nv)))
    moved = np.clip(moved, robot.coordinates.lower, robot.coordinates.upper)
    tasks = [Position(foot, robot.pose(foot, moved)[:, :3, 3]) for foot in feet]
    trunk = robot.link_names[0]
    tasks += [Orientation(trunk, robot.pose(trunk, moved)[:, :3, :3]), CenterOfMass(robot.center_of_mass(moved))]
    solution = robot.inverse_kinematics(tasks, guess=stand)
    assert solution.solved.all() and inside(robot, solution.q)
    for foot in feet:
        assert np.allclose(robot.pose(foot, solution.q)[:, :3, 3], robot.pose(foot, moved)[:, :3, 3], atol=2e-9)
    assert np.allclose(robot.center_of_mass(solution.q), robot.center_of_mass(moved), atol=2e-9)
    opposite = np.array(stand)
    opposite[robot.coordinates.quaternions[0]] *= -1
    again = robot.inverse_kinematics(tasks, guess=opposite)
    assert again.solved.all() and np.allclose(np.abs(again.q), np.abs(solution.q), atol=1e-12)


@pytest.mark.parametrize("offset", [1e2, 1e4])
def test_a_robot_far_from_the_origin(offset):
    """At 1e4 m positions have roundings of 2e-12 m, far below the tolerance."""
    described = serial("RRPRRR", seed=3)
    first = described.joints[0]
    shifted = Placement(first.origin.rotation, first.origin.translation + offset * np.array([1, -1, 1]))
    robot = linkwork.load(replace(described, joints=(replace(first, origin=shifted), *described.joints[1:])))
    q = np.random.default_rng(0).uniform(-1, 1, (100, 6))
    target = robot.pose("tool", q)
    solution = robot.inverse_kinematics("tool", target, guess=q + 0.1)
    assert solution.solved.all()
    assert np.abs(robot.pose("tool", solution.q) - target).max() <= 1.01 * TOLERANCE


@pytest.mark.parametrize("unit", [1e3, 1e-3])
def test_other_units_of_length(unit):
    described = serial("RRRRRR", seed=3)
    larger = lambda place: Placement(place.rotation, unit * place.translation)  # noqa: E731
    joints = tuple(replace(joint, origin=larger(joint.origin)) for joint in described.joints)
    frames = {name: (link, larger(place)) for name, (link, place) in described.frames.items()}
    robot = linkwork.load(replace(described, joints=joints, frames=frames))
    q = np.random.default_rng(0).uniform(-3, 3, (100, 6))
    solution = robot.inverse_kinematics("tool", robot.pose("tool", q))
    assert solution.solved.all()


# -- hard targets ------------------------------------------------------------------------------------------------------


def test_random_targets_within_limits():
    robot = panda()
    rng = np.random.default_rng(1)
    lower, upper = robot.coordinates.lower, robot.coordinates.upper
    q, guess = rng.uniform(lower, upper, (2, 1000, 7))
    target = robot.pose(HAND, q)
    solution = robot.inverse_kinematics(HAND, target, guess)
    assert solution.solved.mean() >= 0.999 and inside(robot, solution.q)
    errors = np.linalg.norm(pose_errors(robot, HAND, solution.q, target), axis=-1)
    assert np.abs(errors - solution.error).max() < 1e-14


def test_singular_poses_and_half_turns():
    robot = robot_of("ur5e")
    rng = np.random.default_rng(0)
    q = rng.uniform(-3, 3, (60, 6))
    q[:20, 2], q[20:40, 4] = 0, 0  # stretched elbow: the border of reach; axes 4 and 6 parallel
    q[40:, 1:] = 0
    target = robot.pose("tool0", q)
    solution = robot.inverse_kinematics("tool0", target)
    assert solution.solved.all()
    far = robot.inverse_kinematics("tool0", target, guess=q + 0.3)
    assert far.solved.all()
    half = target.copy()
    half[:, :3, :3] = target[:, :3, :3] @ np.diag([1.0, -1, -1])  # opposite orientation
    from_there = robot.inverse_kinematics("tool0", half, guess=q)
    expected = robot.inverse_kinematics("tool0", half)
    assert np.array_equal(from_there.solved, expected.solved) and expected.solved.mean() > 0.5


def test_the_border_of_reach():
    robot = robot_of("planar2r")
    reach = np.linalg.norm(robot.pose("tip", [0, 0])[:3, 3])
    angle = np.linspace(-3, 3, 50)
    at = robot.pose("tip", np.stack([angle, 0 * angle], axis=-1))[:, :3, 3]
    solution = robot.inverse_kinematics(Position("tip", at))
    assert solution.solved.all()
    solution = robot.inverse_kinematics(Position("tip", at * (1 + 1e-3)))
    assert not solution.solved.any()
    assert np.allclose(solution.error, 1e-3 * reach, rtol=1e-9, atol=0)


def test_directions_that_are_opposite():
    robot = panda()
    z = robot.pose(HAND, START)[:3, 2]
    solution = robot.inverse_kinematics(Direction(HAND, -z), guess=START)
    assert solution.solved and np.allclose(robot.pose(HAND, solution.q)[:3, 2], -z)


# -- targets out of reach ----------------------------------------------------------------------------------------------


def least(errors, starts, lower, upper):
    """The least sum of squares that SciPy finds."""
    exact = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
    gap = 1e-9 * np.isfinite(lower)
    each = (least_squares(errors, np.clip(x, lower + gap, upper - gap), bounds=(lower, upper), **exact) for x in starts)
    return min(2 * found.cost for found in each)


@pytest.mark.parametrize("name, frame", [("panda", HAND), ("puma560", "link6_dh"), ("scara", "flange")])
@pytest.mark.parametrize("limits", [True, False])
def test_nearest_positions_of_arms(name, frame, limits):
    robot = robot_of(name)
    q = sampled(robot, 4)
    target = robot.pose(frame, q)
    target[:, :3, 3] *= np.linspace(1.7, 2.5, 4)[:, None]
    solution = robot.inverse_kinematics(frame, target, limits=limits)
    assert solution.solved.sum() < 2 and solution.valid.all()
    bounds = robot.coordinates.lower, robot.coordinates.upper
    if limits:
        assert inside(robot, solution.q)
    else:
        bounds = (np.full(robot.nq, -np.inf), np.full(robot.nq, np.inf))
    for k in np.flatnonzero(~solution.solved):
        errors = lambda x, k=k: pose_errors(robot, frame, x, target[k])  # noqa: E731
        assert np.isclose(errors(solution.q[k]) @ errors(solution.q[k]), solution.error[k] ** 2, rtol=1e-12)
        best = least(errors, [solution.q[k], *sampled(robot, 2, seed=k)], *bounds)
        assert solution.error[k] ** 2 <= best * (1 + 1e-9)


def test_nearest_positions_with_loops():
    """SciPy moves the motors of a five-bar, and assembly gives the tip."""
    robot = robot_of("five-bar")
    home = np.array(robot.home)
    motors = [robot.coordinates.names.index(name) for name in robot.motor_names]
    target = robot.pose("tip", home)[:3, 3] * [1, 1, 1] + [0.02, 0.6, 0]
    solution = robot.inverse_kinematics(Position("tip", target), limits=False)
    closed = robot.assemble(solution.q[motors], guess=solution.q, known=robot.motor_names)
    assert not solution.solved and closed.solved and np.allclose(closed.q, solution.q, atol=1e-9)

    def errors(x):
        return target - robot.pose("tip", robot.assemble(x, guess=solution.q, known=robot.motor_names).q)[:3, 3]

    around = np.array(
        [errors(solution.q[motors] + step) for step in 1e-3 * np.random.default_rng(0).normal(size=(40, 2))]
    )
    around = around[np.isfinite(around).all(axis=-1)]
    assert (np.sum(around**2, axis=-1) >= solution.error**2 * (1 - 1e-9)).all()


@pytest.mark.parametrize("seed", [1, 4])
def test_nearest_positions_of_mechanisms(seed):
    """Loops are closed first: steps towards a target out of reach would open them."""
    robot = linkwork.load(mechanism(LoopRecipe(seed=seed)))
    frame, home = robot.frame_names[-1], np.array(robot.home)
    target = robot.pose(frame, home)[:3, 3] + np.random.default_rng(seed).normal(size=(3, 3))
    solution = robot.inverse_kinematics(Position(frame, target), guess=home, limits=False)
    opening = lambda x: np.ravel(evaluate(robot.model, "loop_residual", x))  # noqa: E731
    for k in np.flatnonzero(~solution.solved):
        cost = lambda x, k=k: np.sum((robot.pose(frame, x)[:3, 3] - target[k]) ** 2)  # noqa: E731
        q = solution.q[k]
        assert np.abs(opening(q)).max() < 1e-11 and np.isclose(cost(q), solution.error[k] ** 2, rtol=1e-9)
        best = minimize(cost, q, constraints={"type": "eq", "fun": opening}, method="SLSQP", options={"ftol": 1e-14})
        assert np.abs(opening(best.x)).max() > 1e-9 or cost(q) <= best.fun * (1 + 1e-8)
    assert not solution.solved.all()


def test_nearest_positions_with_unequal_weights():
    robot = panda()
    lower, upper = robot.coordinates.lower, robot.coordinates.upper
    weights = np.array([1, 2, 0, 0.5, 0.1, 0.3])
    target = robot.pose(HAND, sampled(robot, 3, seed=5))
    target[:, :3, 3] *= 1.6
    solution = robot.inverse_kinematics(Pose(HAND, target, weight=weights))
    for k in np.flatnonzero(~solution.solved):
        errors = lambda x, k=k: weights * pose_errors(robot, HAND, x, target[k])  # noqa: E731
        best = least(errors, [solution.q[k], *sampled(robot, 2, seed=k)], lower, upper)
        assert solution.error[k] ** 2 <= best * (1 + 1e-9)
    assert not solution.solved.all()


# -- loops -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, frame, task", [
    ("gough-stewart", "platform", Pose), ("delta", "tool", Position), ("five-bar", "tip", Position),
    ("3rrr", "tool", Pose), ("3rpr", "platform", Pose), ("parallelogram", "gripper", Pose),
])  # fmt: skip
def test_parallel_robots_as_assembled(name, frame, task):
    robot = robot_of(name)
    home = np.array(robot.home)
    names = robot.motor_names
    motors = [robot.coordinates.names.index(each) for each in names]
    moved = home[motors] + 0.03 * np.random.default_rng(0).normal(size=(10, len(motors)))
    assembled = robot.assemble(moved, guess=home, known=names)
    within = (assembled.q >= robot.coordinates.lower) & (assembled.q <= robot.coordinates.upper)
    keep = assembled.solved & within.all(axis=-1)
    assert keep.sum() > 3
    q = assembled.q[keep]
    T = robot.pose(frame, q)
    solution = robot.inverse_kinematics(task(frame, T if task is Pose else T[:, :3, 3]), guess=home)
    assert solution.solved.all() and inside(robot, solution.q)
    assert np.abs(solution.q - q)[:, motors].max() < 1e-7  # errors of 1e-9, over the smallest singular value
    closed = robot.assemble(solution.q[:, motors], guess=solution.q, known=names)
    assert closed.solved.all() and np.abs(closed.q - solution.q).max() < 1e-7


# -- tasks, weights, priorities, posture -------------------------------------------------------------------------------


def test_each_task_fixes_what_it_says():
    robot = panda()
    rng = np.random.default_rng(3)
    point, p, d = rng.normal(size=(3, 3))
    p = robot.pose(HAND, START)[:3, 3]
    R = exp(np.array([2.8, 0.4, 0.3]))
    at = lambda q: robot.pose(HAND, q)[:3, 3] + robot.pose(HAND, q)[:3, :3] @ (0.1 * point)  # noqa: E731
    q = robot.inverse_kinematics(Position(HAND, p, point=0.1 * point), guess=START).require()
    assert np.allclose(at(q), p, atol=2e-9)
    q = robot.inverse_kinematics(OnLine(HAND, p, d, point=0.1 * point), guess=START).require()
    assert np.allclose(np.cross(at(q) - p, d), 0, atol=5e-9)
    q = robot.inverse_kinematics(OnPlane(HAND, p, d, point=0.1 * point), guess=START).require()
    assert abs((at(q) - p) @ d) < 5e-9
    q = robot.inverse_kinematics(Orientation(HAND, R), guess=START).require()
    assert np.allclose(robot.pose(HAND, q)[:3, :3], R, atol=2e-9)
    q = robot.inverse_kinematics(Direction(HAND, d, axis=point), guess=START).require()
    assert np.allclose(robot.pose(HAND, q)[:3, :3] @ point / np.linalg.norm(point), d / np.linalg.norm(d), atol=2e-9)


def test_rows_of_weight_zero_are_free():
    robot = panda()
    target = robot.pose(HAND, sampled(robot, 50, seed=2))
    solution = robot.inverse_kinematics(Pose(HAND, target, weight=(1, 1, 0, 0, 0, 1)))
    errors = pose_errors(robot, HAND, solution.q, target)
    assert solution.solved.all()
    assert np.abs(errors[:, [0, 1, 5]]).max() <= 1.01 * TOLERANCE and np.abs(errors[:, 2:5]).max() > 0.1


def test_a_weighted_compromise():
    """Two points that one frame cannot have at the same time."""
    robot = panda()
    targets = np.array([[0.5, 0.2, 0.4], [0.4, -0.1, 0.5]])
    weights = np.array([1.0, 3.0])
    tasks = [Position(HAND, p, weight=w) for p, w in zip(targets, weights, strict=True)]
    solution = robot.inverse_kinematics(tasks, guess=START)
    expected = np.average(targets, axis=0, weights=weights**2)
    assert not solution.solved and np.allclose(robot.pose(HAND, solution.q)[:3, 3], expected, atol=1e-8)


@pytest.mark.parametrize("limits", [True, False])
def test_tasks_of_lower_priority_are_as_good_as_the_first_allows(limits):
    robot = panda()
    q = np.clip(
        START + np.random.default_rng(0).uniform(-0.8, 0.8, (20, 7)), robot.coordinates.lower, robot.coordinates.upper
    )
    p = robot.pose(HAND, q)[:, :3, 3]
    elbow = np.array([0.1, 0.4, 0.5])
    tasks = [Position(HAND, p), Position("panda_link4", elbow, priority=1)]
    solution = robot.inverse_kinematics(tasks, guess=START, limits=limits)
    assert solution.solved.all() and np.abs(robot.pose(HAND, solution.q)[:, :3, 3] - p).max() <= 1.01 * TOLERANCE
    lower, upper = robot.coordinates.lower, robot.coordinates.upper
    slopes = []
    for x in solution.q:
        between = (x > lower + 1e-8) & (x < upper - 1e-8) if limits else np.full(7, True)
        first, second = (robot.jacobian(frame, x)[:3, between] for frame in (HAND, "panda_link4"))
        slopes.append(np.abs(free_of(first) @ second.T @ (elbow - robot.pose("panda_link4", x)[:3, 3])).max())
    assert np.median(slopes) < 1e-8 and np.mean(np.array(slopes) < 1e-6) >= 0.9  # others creep, or wait at a limit
    if limits:
        cost = lambda x: np.sum((elbow - robot.pose("panda_link4", x)[:3, 3]) ** 2)  # noqa: E731
        for k in range(3):
            constraint = {"type": "eq", "fun": lambda x, k=k: robot.pose(HAND, x)[:3, 3] - p[k]}
            best = minimize(cost, solution.q[k], bounds=list(zip(lower, upper)), constraints=constraint, method="SLSQP")
            assert cost(solution.q[k]) <= best.fun + 1e-6


@pytest.mark.parametrize("task", [Pose, Position])
def test_the_posture_is_as_near_as_tasks_allow(task):
    robot = panda()
    lower, upper = robot.coordinates.lower, robot.coordinates.upper
    target = robot.pose(HAND, np.clip(START + np.random.default_rng(0).uniform(-0.8, 0.8, (50, 7)), lower, upper))
    rows = slice(0, 6 if task is Pose else 3)
    wanted = target if task is Pose else target[:, :3, 3]
    for guess in (START, None):
        solution = robot.inverse_kinematics(task(HAND, wanted), guess=guess, posture=START)
        assert solution.solved.all() and inside(robot, solution.q)
        for x in solution.q:
            between = (x > lower + 1e-8) & (x < upper - 1e-8)
            away = free_of(robot.jacobian(HAND, x)[rows][:, between]) @ (START - x)[between]
            assert np.abs(away).max() < 1e-7


def test_the_posture_of_a_floating_base_and_of_loops():
    robot = robot_of("quadruped")
    stand = robot.standing_position()
    foot = next(name for name in robot.frame_names if name.endswith("_foot"))
    for side in (1, -1):
        posture = np.array(stand)
        posture[robot.coordinates.quaternions[0]] *= side  # the same rotation
        p = robot.pose(foot, stand)[:3, 3] + [0.05, 0, 0.03]
        solution = robot.inverse_kinematics(Position(foot, p), guess=stand, posture=posture)
        away = robot.coordinates.difference(solution.q, stand)
        assert solution.solved and np.abs(free_of(robot.jacobian(foot, solution.q)[:3]) @ away).max() < 1e-4
        assert np.abs(away).max() < 0.1
    robot = robot_of("3rrr")
    home = np.array(robot.home)
    p = robot.pose("tool", home)[:3, 3] + [0.02, 0.01, 0]
    solution = robot.inverse_kinematics(Position("tool", p), guess=home, posture=home)
    assert solution.solved
    nearby = robot.inverse_kinematics(Pose("tool", turned(robot.pose("tool", solution.q), np.linspace(-0.1, 0.1, 5))))
    apart = np.linalg.norm(nearby.q - home, axis=-1)
    assert nearby.solved.all() and apart.argmin() == 2  # no other orientation of the platform is nearer


def turned(T, angles):
    T = np.tile(T, (len(angles), 1, 1))
    T[:, :3, :3] = [exp(np.array([0, 0, angle])) @ R for angle, R in zip(angles, T[:, :3, :3], strict=True)]
    return T


# -- derivatives, back ends, exports -----------------------------------------------------------------------------------


def differences(function, p, guess, step=1e-6):
    """Central differences of solutions that are solved again."""
    steps = step * np.eye(len(p))
    return (function(p + steps, guess) - function(p - steps, guess)).T / (2 * step)


def test_derivatives_of_solutions():
    robot = panda()
    down = np.array([0.0, 0, -1])
    f = robot.function(lambda robot, p, q: solve(robot, [Position(HAND, p), Direction(HAND, down)], q).q, p=(3,))
    p = np.array([0.5, 0.1, 0.4])
    at = f(p, START)
    expected = differences(f, p, at)
    for guess in (at, START):  # they belong to the solution, not to the steps
        assert np.abs(f.derivative("p")(p, guess) - expected).max() < 1e-8


def test_derivatives_with_rotation_rows_that_are_free():
    """Slopes of a rotation vector that is far from zero."""
    robot = panda()
    R = robot.pose(HAND, START)[:3, :3]
    weight = (1, 1, 1, 0, 0, 1)

    def reach(robot, p, q):
        T = np.concatenate([np.concatenate([R, p[:, None]], axis=1), WORLD])
        return solve(robot, Pose(HAND, T, weight=weight), q).q

    f = robot.function(reach, p=(3,))
    p = robot.pose(HAND, START)[:3, 3] + [0.15, 0.3, -0.2]
    at = f(p, START)
    assert np.abs(log(R @ robot.pose(HAND, at)[:3, :3].T)).max() > 0.1
    assert np.abs(f.derivative("p")(p, at) - differences(f, p, at)).max() < 1e-8


def test_derivatives_with_loops():
    robot = robot_of("five-bar")
    f = robot.function(lambda robot, p, q: solve(robot, Position("tip", p), q).q, p=(3,))
    home = np.array(robot.home)
    p = robot.pose("tip", home)[:3, 3] + [0.01, 0.02, 0]
    at = f(p, home)
    plane = np.eye(3)[:, :2]
    slopes = f.derivative("p")(p, at) @ plane
    expected = np.stack([(f(p + 1e-6 * x, at) - f(p - 1e-6 * x, at)) / 2e-6 for x in plane.T], axis=1)
    assert np.abs(slopes - expected).max() < 1e-7


def test_joints_at_a_limit_have_no_derivative():
    robot = panda()
    f = robot.function(lambda robot, p, q: solve(robot, Position(HAND, p), q).q, p=(3,))
    q = np.array(START)
    q[3] = robot.coordinates.upper[3]
    p = robot.pose(HAND, q)[:3, 3]
    slopes = f.derivative("p")(p, q)
    assert (slopes[3] == 0).all()
    others = np.arange(7) != 3
    J = robot.jacobian(HAND, q)[:3, others]
    assert np.allclose(slopes[others], np.linalg.pinv(J), atol=1e-9)


def test_derivatives_with_lower_priorities_and_a_posture():
    """They are those of the first priority, by the shortest change of q; the guess has none."""
    robot = panda()

    def reach(robot, p, q):
        return solve(
            robot, [Position(HAND, p), Direction(HAND, np.array([0.0, 0, -1]), priority=1)], q, posture=START
        ).q

    f = robot.function(reach, p=(3,))
    p = np.array([0.5, 0.1, 0.4])
    J = robot.jacobian(HAND, f(p, START))[:3]
    assert np.allclose(f.derivative("p")(p, START), np.linalg.pinv(J), atol=1e-9)
    assert not f.derivative("q")(p, START).any()


def test_back_ends_and_exports(tmp_path):
    robot = panda()

    def reach(robot, p, guess):
        tasks = [Position(HAND, p), Direction(HAND, np.array([0.0, 0, -1]), priority=1)]
        return solve(robot, tasks, guess, posture=START, iterations=20)._asdict()

    native, slow = (robot.function(reach, p=(3,), guess=(7,), backend=backend) for backend in ("native", "interpreter"))
    names: dict = {}
    exec(native.to_numpy(), names)
    written = names[f"panda_{native.label.quantity}"]
    rng = np.random.default_rng(0)
    p, q = np.array([0.5, 0, 0.4]) + 0.1 * rng.normal(size=(5, 3)), START + 0.1 * rng.normal(size=(5, 7))
    expected = native(p, q)
    assert expected.solved.all()
    for k in range(5):
        for found in (slow(p[k], q[k]), dict(zip(expected._fields, written(p[k], q[k]), strict=True))):
            found = found if isinstance(found, dict) else found._asdict()
            assert np.abs(found["q"] - expected.q[k]).max() < 1e-12 and found["solved"] == 1
    if shutil.which("gcc"):  # the exported test compares with values from Python
        sources = [path for path in native.to_c(tmp_path) if path.suffix == ".c"]
        subprocess.run(["gcc", *sources, "-o", tmp_path / "test", "-lm"], check=True)
        assert "0 wrong" in subprocess.run([tmp_path / "test"], check=True, capture_output=True, text=True).stdout


def test_single_precision():
    robot = panda()
    f = robot.function(
        lambda robot, p, q: solve(robot, Position(HAND, p), q, tolerance=1e-5)._asdict(), p=(3,), dtype="float32"
    )
    p = np.array([0.5, 0.1, 0.4], "float32")
    result = f(p, START.astype("float32"))
    assert result.q.dtype == np.float32 and result.solved == 1
    assert np.abs(robot.pose(HAND, result.q)[:3, 3] - p).max() < 2e-5


# -- all solutions -----------------------------------------------------------------------------------------------------


def distinct(q):
    """Whether solutions differ by more than whole turns."""
    apart = q[:, None] - q[None]
    apart -= 2 * np.pi * np.round(apart / (2 * np.pi))
    return (np.abs(apart).max(axis=-1) + np.eye(len(q)) > 1e-3).all()


@pytest.mark.parametrize("name, frame, number", [
    ("ur5e", "tool0", 8), ("puma560", "link6_dh", 8), ("scara", "flange", 2), ("delta", "tool", 64),
    ("3rrr", "tool", 8),
])  # fmt: skip
def test_known_numbers_of_solutions(name, frame, number):
    """The delta has two elbows per leg, and two ways for both angles of each of its forearms."""
    robot = robot_of(name)
    arms = {"ur5e": [0.3, -1.2, 1.4, -0.4, 1.1, 0.2], "puma560": [0.3, -1.2, 0.4, 0.4, 1.1, 0.2]}
    q = np.array(arms.get(name, robot.home if robot.model.constrained else [0.4, 0.7, 0.1, -0.3]))
    target = robot.pose(frame, q)
    solution = robot.inverse_kinematics(frame, target, solutions="all", limits=False)
    assert solution.solved.sum() == number and distinct(solution.q[solution.solved])
    errors = pose_errors(robot, frame, solution.q[solution.solved], np.tile(target, (number, 1, 1)))
    assert np.linalg.norm(errors, axis=-1).max() <= 1.01 * TOLERANCE
    assert 0 <= solution.unseen <= 0.03
    first = robot.inverse_kinematics(frame, target, guess=q, solutions="all", limits=False).q[0]
    assert np.allclose(first, q, atol=1e-6)  # the nearest one


def test_quaternions_are_listed_once():
    robot = linkwork.load(mixed(MixedRecipe(5, ("revolute", "prismatic", "revolute", "spherical"))))
    q = robot.coordinates.random(np.random.default_rng(0), 3)
    solution = robot.inverse_kinematics("tool", robot.pose("tool", q), solutions="all")
    assert solution.solved.any(axis=-1).all()
    for found in (x[ok] for x, ok in zip(solution.q, solution.solved, strict=True)):
        quaternions = found[:, robot.coordinates.quaternions[0]]
        same = np.abs(quaternions @ quaternions.T) > 1 - 1e-8
        arms = np.abs(found[:, None, :3] - found[None, :, :3]).max(axis=-1) < 1e-4
        assert (same & arms).sum() == len(found)


def test_a_search_that_cannot_restart_says_so():
    robot = linkwork.load(mixed(MixedRecipe(6, ("floating",))))
    target = robot.pose("tool", robot.coordinates.random(np.random.default_rng(0)))
    solution = robot.inverse_kinematics("tool", target, solutions="all")
    assert solution.solved.sum() == 1 and solution.unseen == 1


def test_screws_are_not_turned_by_whole_turns():
    description = mixed(MixedRecipe(8, ("helical", "helical", "prismatic", "universal", "revolute")))
    robot = linkwork.load(description)
    target = robot.pose("tool", robot.coordinates.random(np.random.default_rng(1)))
    solution = robot.inverse_kinematics("tool", target, solutions="all")
    found = solution.q[solution.solved]
    peer = PinocchioTree(description, joint_order(robot.coordinates.names))
    assert len(found) and max(np.abs(peer.pose(q, "tool") - target).max() for q in found) < 2 * TOLERANCE
    assert (np.abs(found[:, None, :2] - found[None, :, :2]).max(axis=(1, 2)) > 2 * np.pi).any()


# -- along paths -------------------------------------------------------------------------------------------------------


def test_paths_are_continuous():
    robot = robot_of("ur5e")
    q = np.tile([3.0, -1.2, 1.4, -0.4, 0.5, 0.2], (101, 1))
    q[:, 0] += np.linspace(0, 2, 101)  # over half a turn
    q[:, 4] = np.linspace(0.5, -0.5, 101)  # through a singular pose
    target = robot.pose("tool0", q)
    path = robot.follow("tool0", target, guess=q[0])
    assert path.continuous and path.conditioning[50] < 1e-6
    assert np.abs(path.q - q)[np.abs(q[:, 4]) > 0.02].max() < 1e-8 and np.abs(path.q - q).max() < 0.01
    singular = [np.linalg.svd(robot.jacobian("tool0", x), compute_uv=False) for x in path.q]
    assert np.allclose(path.conditioning, [s[-1] / s[0] for s in singular], atol=1e-12)


def test_paths_out_of_reach_and_at_limits():
    robot = panda()
    target = np.tile(robot.pose(HAND, START), (50, 1, 1))
    target[:, 0, 3] += 0.9 * np.exp(-(((np.arange(50) - 25) / 6) ** 2))
    path = robot.follow(HAND, target, guess=START)
    wrong = np.linalg.norm(pose_errors(robot, HAND, path.q, target), axis=-1) > TOLERANCE
    assert np.array_equal(wrong, ~path.solved) and wrong[20:30].all() and not wrong[[0, -1]].any()
    assert not path.continuous
    lower, upper = robot.coordinates.lower, robot.coordinates.upper
    assert np.array_equal(path.at_limits, (path.q - lower < 1e-9) | (upper - path.q < 1e-9))
    with pytest.raises(linkwork.LinkworkError, match="1 of 1 path cannot be followed"):
        path.require()
    coarse = robot.follow(HAND, robot.pose(HAND, START + np.array([[0.0], [0.2]])), guess=START, largest_step=0.05)
    assert coarse.solved.all() and coarse.jumps.tolist() == [False, True]


def test_a_point_without_sense_in_a_path():
    robot = panda()
    line = np.tile(robot.pose(HAND, START), (20, 1, 1))
    line[:, 1, 3] += np.linspace(0, 0.1, 20)
    damaged = np.stack([line, line, line[::-1]])
    damaged[1, 7] = np.nan
    damaged[1, 12, :3, :3] *= 1.1
    for guess in (START, None):
        whole, path = robot.follow(HAND, line, guess=guess), robot.follow(HAND, damaged, guess=guess)
        assert np.array_equal(path.q[0], whole.q) and path.continuous.tolist() == [True, False, True]
        assert np.flatnonzero(~path.solved[1]).tolist() == [7, 12] and not path.jumps.any()
        assert np.isnan(path.q[1, [7, 12]]).all() and np.isnan(path.error[1, [7, 12]]).all()
    first = line.copy()
    first[0] = np.nan
    assert not robot.follow(HAND, first).jumps.any()
    with pytest.raises(linkwork.LinkworkError, match="invalid target"):
        robot.follow(HAND, first).require()
