"""Closed-form inverse kinematics: every solution gives the pose, none is missing, none comes twice."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.errors import ShapeError, UnknownNameError
from linkwork.kinematics.closed_forms import ClosedForm, closed_form
from linkwork.model import JointDescription, Link, LinkInertia, Mimic, Placement
from support.placed import placed, scaled
from support.six_joint_arms import angle_distance, random_arm, searched, structure

BUNDLED = {"puma560": "link6", "ur5e": "tool0", "stanford": "link6", "rx90": "link6"}
NUMBER = {"puma560": {8}, "ur5e": {2, 4, 6, 8}, "stanford": {8}, "rx90": {8}}  # solutions of poses that are reached
STRUCTURES = (
    "RRR skew", "RRR parallel 12", "RRR opposite 12", "RRR opposite 23", "RRR meeting 12", "RRR meeting 23",
    "RRR perpendicular 12", "RRP skew", "RRP parallel 12", "RRP meeting 12", "RRP opposite 23", "RPR skew",
    "RPR parallel 12", "RPR perpendicular 12", "RPR perpendicular 23", "RPP skew", "RPP parallel 12",
    "RPP perpendicular 12", "PRR skew", "PRR parallel 23", "PRR meeting 23", "PRP skew", "PRP perpendicular 12",
    "PRP perpendicular 23", "PRP parallel 13", "PPR skew", "PPR perpendicular 23", "PPP skew", "flipped RRR skew",
    "flipped RRR opposite 23", "flipped RRP skew", "parallel axes, right angles", "parallel axes, meeting",
    "parallel axes, skew", "flipped parallel axes, right angles", "flipped parallel axes, skew",
)  # fmt: skip
FIVE_DIGITS = 1e-5  # what a file with pi / 2 = 1.5708 is wrong by, and less


def solver(robot: linkwork.Robot, frame: str) -> ClosedForm:
    inverse = closed_form(robot, frame)
    assert inverse is not None
    return inverse


def turning(robot: linkwork.Robot) -> list[bool]:
    return [unit == "rad" for unit in robot.coordinates.positions.units]


def states(robot: linkwork.Robot, number: int, seed: int = 0) -> np.ndarray:
    rng, turns = np.random.default_rng(seed), turning(robot)
    return np.where(turns, rng.uniform(-np.pi, np.pi, (number, 6)), rng.uniform(-1, 1, (number, 6)))


def misses(robot: linkwork.Robot, q: np.ndarray, solutions: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """How far known positions are from the nearest solution."""
    distance = angle_distance(solutions, q[..., None, :], turning(robot))
    return np.where(valid, distance, np.inf).min(-1)


def assert_gives_poses(robot: linkwork.Robot, frame: str, poses, solutions, valid, tolerance=1e-12) -> None:
    """``tolerance``: relative to the size of the poses."""
    error = np.abs(robot.pose(frame, solutions) - poses[..., None, :, :]).max((-2, -1))
    assert error[valid].max(initial=0) <= tolerance * max(1, np.abs(poses).max())
    assert np.isnan(solutions[~valid]).all()
    turns = np.array(turning(robot))
    assert np.all((solutions[valid][:, turns] > -np.pi) & (solutions[valid][:, turns] <= np.pi))


def assert_distinct(robot: linkwork.Robot, solutions: np.ndarray, valid: np.ndarray) -> None:
    a, b = solutions[:, :, None], solutions[:, None]
    pairs = valid[:, :, None] & valid[:, None] & ~np.eye(valid.shape[1], dtype=bool)
    assert np.median(angle_distance(a, b, turning(robot))[pairs]) > 0.1
    assert angle_distance(a, b, turning(robot))[pairs].min() > 1e-6


def assert_same_set(robot: linkwork.Robot, frame: str, pose: np.ndarray, solutions, valid, starts: int) -> None:
    turns, around = turning(robot), states(robot, starts, seed=1)
    reach = 3 * np.abs(solutions[valid]).max(0)
    found = searched(robot, frame, pose, np.where(turns, around, reach * around), turns)
    assert len(found) == valid.sum()
    assert misses(robot, found, np.broadcast_to(solutions, (len(found), *solutions.shape)), valid).max() < 1e-6


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_robots(name: str):
    robot, frame = linkwork.load(name), BUNDLED[name]
    inverse = solver(robot, frame)
    assert inverse.structure == ("three parallel axes" if name == "ur5e" else "spherical wrist")
    assert inverse.branches == 8
    q = states(robot, 10_000)
    poses = robot.pose(frame, q)
    solutions, valid = inverse(poses)
    assert_gives_poses(robot, frame, poses, solutions, valid)
    assert_distinct(robot, solutions, valid)
    assert misses(robot, q, solutions, valid).max() < 1e-6
    assert set(valid.sum(-1)) == NUMBER[name]
    for k in range(8):
        assert_same_set(robot, frame, poses[k], solutions[k], valid[k], 300)


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("seed", (0, 1))
def test_every_structure(name: str, seed: int):
    robot = linkwork.load(random_arm(structure(name, seed), seed))
    inverse = solver(robot, "tool")
    assert inverse.structure == ("three parallel axes" if "axes" in name else "spherical wrist")
    q = states(robot, 3000)
    poses = robot.pose("tool", q)
    solutions, valid = inverse(poses)
    assert_gives_poses(robot, "tool", poses, solutions, valid)
    assert_distinct(robot, solutions, valid)
    assert misses(robot, q, solutions, valid).max() < 1e-5
    assert valid.sum(-1).max() <= inverse.branches
    assert_same_set(robot, "tool", poses[0], solutions[0], valid[0], 500)


# -- borders and singular positions ------------------------------------------------------------------------------------

ELBOWS = {"puma560": ("link2", "link4"), "ur5e": ("shoulder_link", "wrist_1_link"), "rx90": ("link2", "link4")}


def straight_elbow(robot: linkwork.Robot, name: str) -> float:
    """The position of joint 3 at which shoulder and wrist are farthest apart: distance^2 = a + b cos + c sin."""
    first, last = ELBOWS[name]
    q = np.zeros((3, 6))
    q[:, 2] = 0, np.pi / 2, np.pi
    squares = ((robot.pose(last, q) - robot.pose(first, q))[:, :3, 3] ** 2).sum(-1)
    middle = (squares[0] + squares[2]) / 2
    return float(np.arctan2(squares[1] - middle, squares[0] - middle))


def with_joint(q: np.ndarray, k: int, value: float) -> np.ndarray:
    q = q.copy()
    q[:, k - 1] = value
    return q


@pytest.mark.parametrize("name", ELBOWS)
@pytest.mark.parametrize("bend", (0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4))
def test_stretched_arm(name: str, bend: float):
    """Two solutions meet where the elbow is straight. Rounding of the pose, 1e-16, moves them by its square root."""
    robot, frame = linkwork.load(name), BUNDLED[name]
    q = with_joint(with_joint(states(robot, 1000), 3, straight_elbow(robot, name) + bend), 5, 1.0)
    poses = robot.pose(frame, q)
    solutions, valid = solver(robot, frame)(poses)
    assert_gives_poses(robot, frame, poses, solutions, valid)
    assert misses(robot, q, solutions, valid).max() < 1e-5


@pytest.mark.parametrize("beyond", (1e-10, 1e-6, 1e-3, 1.0, 1e3))
def test_out_of_reach(beyond: float):
    robot = linkwork.load("puma560")
    inverse = solver(robot, "link6")
    q = with_joint(states(robot, 500), 3, straight_elbow(robot, "puma560"))
    poses = robot.pose("link6", q)
    assert inverse(poses)[1].any(-1).all()
    arm = (robot.pose("link4", q) - robot.pose("link2", q))[:, :3, 3]
    poses[:, :3, 3] += beyond * arm / np.linalg.norm(arm, axis=-1, keepdims=True)
    solutions, valid = inverse(poses)
    assert not valid.any() and np.isnan(solutions).all()


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize("q5", (0, 1e-15, 1e-13, 1e-12, 1e-10, 1e-8, 1e-6))
def test_stretched_wrist(name: str, q5: float):
    """A singular pose has infinitely many solutions, and gets some of them. Poses next to it get all of theirs."""
    robot, frame = linkwork.load(name), BUNDLED[name]
    q = with_joint(with_joint(states(robot, 1000), 5, q5), 3, 1.0)
    poses = robot.pose(frame, q)
    solutions, valid = solver(robot, frame)(poses)
    assert_gives_poses(robot, frame, poses, solutions, valid)
    assert valid.any(-1).all()
    if name != "ur5e":
        assert valid.all()


@pytest.mark.parametrize("name", ("RRR opposite 23", "parallel axes, right angles"))
@pytest.mark.parametrize("q5", (0, 1e-12, 1e-9, 1e-6, 1e-3))
def test_stretched_wrist_of_any_arm(name: str, q5: float):
    """Nothing is parallel to an axis of the world, so all numbers are rounded."""
    axes = structure(name)
    if "axes" in name:
        axes[5] = (axes[1][0], axes[5][1], True)  # stretched at zero
        axes[4] = (np.cross(axes[1][0], [0.6, 0, 0.8]), axes[4][1], True)
        axes[4] = (axes[4][0] / np.linalg.norm(axes[4][0]), axes[5][1], True)
    robot = linkwork.load(random_arm(axes))
    q = with_joint(with_joint(states(robot, 1000), 5, q5), 3, 1.0)
    poses = robot.pose("tool", q)
    solutions, valid = solver(robot, "tool")(poses)
    assert_gives_poses(robot, "tool", poses, solutions, valid, tolerance=1e-13 if q5 else 1e-12)
    assert valid.any(-1).all()
    if q5 >= 1e-9:
        assert np.quantile(misses(robot, q, solutions, valid), 0.9) < 1e-14 / q5


@pytest.mark.parametrize("name", BUNDLED)
def test_quarter_turns(name: str):
    """Nearly all of these positions are singular in one way or several."""
    robot, frame = linkwork.load(name), BUNDLED[name]
    q = np.stack(np.meshgrid(*[np.arange(-1, 3) * np.pi / 2] * 6), axis=-1).reshape(-1, 6)
    poses = robot.pose(frame, q)
    solutions, valid = solver(robot, frame)(poses)
    assert valid.any(-1).all()
    assert_gives_poses(robot, frame, poses, solutions, valid)


@pytest.mark.parametrize("name", ("RRR skew", "RRR meeting 12", "RRP skew", "RPR skew", "parallel axes, skew"))
def test_borders_of_any_arm(name: str):
    """From a regular position to a singular one along joint 3, and just before it."""
    robot = linkwork.load(random_arm(structure(name)))
    inverse, q = solver(robot, "tool"), with_joint(states(robot, 40), 5, 1.0)

    def determinants(x: np.ndarray) -> np.ndarray:
        moved = np.repeat(q[:, None], x.shape[-1], axis=1)
        moved[..., 2] = x
        return np.linalg.det(robot.jacobian("tool", moved))

    grid = np.broadcast_to(np.linspace(-np.pi, np.pi, 100), (40, 100))
    signs = np.sign(determinants(grid))
    changes = signs[:, 1:] != signs[:, :-1]
    rows = np.flatnonzero(changes.any(-1))
    at = changes.argmax(-1)
    low, high = grid[np.arange(40), at], grid[np.arange(40), at + 1]
    for _ in range(60):
        middle = (low + high) / 2
        left = np.sign(determinants(middle[:, None]))[:, 0] == signs[np.arange(40), at]
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    assert len(rows) > 5
    for distance in (0, 1e-9, 1e-7, 1e-5):
        q[:, 2] = low + distance
        poses = robot.pose("tool", q)
        solutions, valid = inverse(poses)
        assert_gives_poses(robot, "tool", poses, solutions, valid)
        missed = misses(robot, q[rows], solutions[rows], valid[rows])
        assert np.median(missed) < 1e-6 and missed.max() < 1e-4  # the square root of rounding, over the curvature


# -- other places, sizes and files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("RRR skew", "RRP meeting 12", "parallel axes, right angles"))
def test_far_from_the_origin(name: str):
    far = Placement(np.eye(3), np.array([3e4, -2e4, 1e4]))
    robot = linkwork.load(placed(random_arm(structure(name)), far))
    q = states(robot, 1000)
    poses = robot.pose("tool", q)
    solutions, valid = solver(robot, "tool")(poses)
    assert_gives_poses(robot, "tool", poses, solutions, valid)
    assert misses(robot, q, solutions, valid).max() < 1e-6


@pytest.mark.parametrize("name", ("RRR skew", "RRR opposite 23", "parallel axes, skew"))
@pytest.mark.parametrize("by", (1e-4, 1e4))
def test_any_size(name: str, by: float):
    description = random_arm(structure(name))
    one, other = linkwork.load(description), linkwork.load(scaled(description, by))
    q = states(one, 500)
    (a, valid), (b, same) = (solver(each, "tool")(each.pose("tool", q)) for each in (one, other))
    assert np.array_equal(valid, same)
    assert np.nanmax(np.abs(np.remainder(a - b + np.pi, 2 * np.pi) - np.pi)) < 1e-6


@pytest.mark.parametrize("name", ("RRR opposite 23", "RRR meeting 12", "parallel axes, right angles"))
def test_rounded_numbers_of_a_file(name: str):
    """Axes are parallel or meet to five digits only, and still the poses are met to twelve."""
    rng = np.random.default_rng(0)
    axes = [
        ((w + FIVE_DIGITS / 6 * rng.uniform(-1, 1, 3)), p + FIVE_DIGITS / 6 * rng.uniform(-1, 1, 3), turns)
        for w, p, turns in structure(name)
    ]
    robot = linkwork.load(random_arm(axes))
    q = states(robot, 1000)
    poses = robot.pose("tool", q)
    solutions, valid = solver(robot, "tool")(poses)
    assert_gives_poses(robot, "tool", poses, solutions, valid)
    assert np.mean(misses(robot, q, solutions, valid) < 1e-6) > 0.99  # but for some that nearly meet another


def test_long_slides():
    """A gantry: lengths are not angles, however long."""
    axes = [(np.eye(3)[k], np.zeros(3), False) for k in range(3)] + structure("RRR skew")[3:]
    robot = linkwork.load(random_arm(axes))
    q = states(robot, 500)
    q[:, :3] *= 20
    poses = robot.pose("tool", q)
    solutions, valid = solver(robot, "tool")(poses)
    assert_gives_poses(robot, "tool", poses, solutions, valid)
    assert misses(robot, q, solutions, valid).max() < 1e-6


def test_other_joints():
    """A finger before the arm in q, another behind it: they keep their neutral positions."""
    axes = structure("parallel axes, right angles")
    arm = random_arm(axes)
    solid = LinkInertia(1.0, np.zeros(3), np.eye(3))
    fingers = [
        JointDescription(f"finger{k}", "prismatic", parent, f"tip{k}") for k, parent in enumerate(("base", "link6"))
    ]
    description = replace(
        arm, links=(*arm.links, Link("tip0", solid), Link("tip1", solid)), joints=(fingers[0], *arm.joints, fingers[1])
    )
    robot = linkwork.load(description)
    alone = linkwork.load(arm)
    q = states(alone, 100)
    poses = alone.pose("tool", q)
    solutions, valid = solver(robot, "tool")(poses)
    expected, same = solver(alone, "tool")(poses)
    places = robot.coordinates.places([f"joint{k}" for k in range(1, 7)])
    assert solutions.shape == (100, 8, 8)
    assert np.array_equal(valid, same)
    np.testing.assert_allclose(solutions[..., places], expected, rtol=0, atol=1e-9)
    rest = robot.coordinates.places(["finger0", "finger1"])
    assert np.all(solutions[valid][:, rest] == 0) and np.isnan(solutions[~valid]).all()


# -- what has no closed form -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", linkwork.bundled_robots())
def test_no_other_frames(name: str):
    """The Panda has one too: its sixth link, with a shoulder whose axes meet."""
    expected = {"puma560": ["link6", "link6_dh"], "rx90": ["link6", "flange"], "stanford": ["link6", "link6_dh"],
                "ur5e": ["wrist_3_link", "wrist_3_link_dh", "tool0"], "panda": ["panda_link6"]}  # fmt: skip
    robot = linkwork.load(name)
    assert [frame for frame in robot.model.frames if closed_form(robot, frame)] == expected.get(name, [])


def test_no_structure():
    rng = np.random.default_rng(0)
    axes = [(w / np.linalg.norm(w), p, True) for w, p in rng.normal(size=(6, 2, 3))]
    assert closed_form(linkwork.load(random_arm(axes)), "tool") is None


def test_too_few_directions():
    """A wrist on three parallel axes moves its centre in a plane; four parallel axes make one joint too many."""
    axes = structure("RRR parallel 12")
    axes[2] = (axes[0][0], *axes[2][1:])
    assert closed_form(linkwork.load(random_arm(axes)), "tool") is None
    axes = structure("parallel axes, meeting")
    axes[0] = (axes[1][0], *axes[0][1:])
    assert closed_form(linkwork.load(random_arm(axes)), "tool") is None


def test_mimic_joints():
    arm = random_arm(structure("RRR skew"))
    joints = (*arm.joints[:5], replace(arm.joints[5], mimic=Mimic("joint5")))
    assert closed_form(linkwork.load(replace(arm, joints=joints)), "tool") is None


def test_floating_base():
    arm = random_arm(structure("RRR skew"))
    assert closed_form(linkwork.load(replace(arm, floating=True)), "tool") is None


def test_unknown_frame():
    with pytest.raises(UnknownNameError, match="hand"):
        closed_form(linkwork.load("ur5e"), "hand")


# -- inputs ------------------------------------------------------------------------------------------------------------


def test_axes_of_batches():
    robot = linkwork.load("puma560")
    inverse = solver(robot, "link6")
    poses = robot.pose("link6", states(robot, 6))
    solutions, valid = inverse(poses)
    assert solutions.shape == (6, 8, 6) and valid.shape == (6, 8) and valid.dtype == bool
    for shape in ((2, 3), (6, 1), (0,)):
        some = poses[: int(np.prod(shape))].reshape(*shape, 4, 4)
        q, good = inverse(some)
        assert np.array_equal(q, solutions[: len(some.reshape(-1, 4, 4))].reshape(*shape, 8, 6))
        assert good.shape == (*shape, 8)
    q, good = inverse(poses[0].tolist())
    assert np.array_equal(q, solutions[0]) and good.all()


def test_poses_that_are_none():
    robot = linkwork.load("ur5e")
    inverse = solver(robot, "tool0")
    poses = np.repeat(robot.pose("tool0", np.full(6, 0.5))[None], 5, axis=0)
    poses[1, 0, 3] = np.nan
    poses[2, :3, :3] *= 1.1
    poses[3, :3, 0] *= -1
    poses[4, 1, 1] = np.inf
    with np.errstate(all="raise"):
        solutions, valid = inverse(poses)
    assert valid[0].any() and not valid[1:].any() and np.isnan(solutions[1:]).all()
    with pytest.raises(ShapeError, match="poses"):
        inverse(np.zeros((4, 3)))


def test_rounded_poses():
    """As if they were float32 or text: the nearest rotation is meant."""
    robot = linkwork.load("puma560")
    inverse, poses = solver(robot, "link6"), robot.pose("link6", states(robot, 100))
    exact, _ = inverse(poses)
    for rounded in (poses.astype("float32"), poses.round(5)):
        solutions, valid = inverse(rounded)
        assert valid.all()
        U, _, V = np.linalg.svd(rounded[:, :3, :3].astype(float))
        given = robot.pose("link6", solutions)
        np.testing.assert_allclose(given[..., :3, :3], np.broadcast_to((U @ V)[:, None], (100, 8, 3, 3)), atol=1e-12)
        np.testing.assert_allclose(given[..., :3, 3], np.repeat(rounded[:, None, :3, 3], 8, axis=1), atol=1e-12)
        assert np.median(angle_distance(solutions, exact, turning(robot))) < 1e-3
