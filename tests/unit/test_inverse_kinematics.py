"""Inverse kinematics: shapes, options, messages, and targets that make no sense."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import linkwork
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.kinematics import CenterOfMass, Direction, OnLine, OnPlane, Orientation, Pose, Position, solve
from linkwork.kinematics.inverse import Search, whole_turns
from linkwork.kinematics.problem import problem_of
from linkwork.kinematics.tasks import Task
from linkwork.model import Description, JointDescription, Link, LinkInertia, Mimic, Placement, describe
from linkwork.rotations import exp
from support.random_robots import serial

PANDA = linkwork.load("panda")
HAND = "panda_link8"
START = np.array([0, -0.5, 0, -2, 0, 1.5, 0.8])
TARGET = PANDA.pose(HAND, START)
LOWER, UPPER = PANDA.coordinates.lower, PANDA.coordinates.upper


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


# -- shapes ------------------------------------------------------------------------------------------------------------


def test_one_target():
    solution = PANDA.inverse_kinematics(HAND, TARGET, START)
    assert solution.q.shape == (7,) and solution.solved is np.True_ and solution.valid is np.True_
    assert solution.error.shape == solution.iterations.shape == () and solution.unseen is None
    assert solution.robot == "panda" and same(solution.require(), solution.q)


@pytest.mark.parametrize("targets, guess, batch", [
    ((3,), (), (3,)), ((), (4,), (4,)), ((2, 1), (3,), (2, 3)), ((0,), (), (0,)), ((), (0,), (0,)),
    ((3, 0), (), (3, 0)),
])  # fmt: skip
def test_batch_axes(targets, guess, batch):
    T, q = np.tile(TARGET, (*targets, 1, 1)), np.tile(START, (*guess, 1))
    solution = PANDA.inverse_kinematics(HAND, T, q)
    assert solution.q.shape == (*batch, 7)
    assert solution.solved.shape == solution.error.shape == solution.iterations.shape == solution.valid.shape == batch
    assert solution.solved.all()


def test_guesses_and_targets_of_any_array():
    expected = PANDA.inverse_kinematics(HAND, TARGET, START)
    for target, guess in ((TARGET.tolist(), START.tolist()), (np.asfortranarray(TARGET), START[::-1].copy()[::-1])):
        assert same(PANDA.inverse_kinematics(HAND, target, guess).q, expected.q)
    assert PANDA.inverse_kinematics(HAND, TARGET.astype("float32"), START).solved  # a rotation but for 1e-7


def test_no_solutions_of_no_targets():
    arm = linkwork.load("scara")
    solution = arm.inverse_kinematics("flange", np.zeros((0, 4, 4)), solutions="all")
    assert solution.q.shape[0] == 0 and solution.q.shape[2] == 4 and solution.unseen.shape == (0,)


def test_the_home_is_the_first_start():
    home = np.clip(PANDA.home, LOWER, UPPER)
    assert same(PANDA.inverse_kinematics(HAND, TARGET).q, PANDA.inverse_kinematics(HAND, TARGET, home).q)


def test_results_can_be_pickled():
    path = np.tile(TARGET, (3, 1, 1))
    for result in (PANDA.inverse_kinematics(HAND, path), PANDA.follow(HAND, path)):
        again = pickle.loads(pickle.dumps(result))
        assert same(again.q, result.q) and same(again.error, result.error) and again.robot == "panda"


def test_threads():
    robot = linkwork.load("panda")
    q = np.random.default_rng(0).uniform(LOWER, UPPER, (8, 50, 7))
    targets = robot.pose(HAND, q)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda T: robot.inverse_kinematics(HAND, T).q, targets))
    assert all(same(a, PANDA.inverse_kinematics(HAND, T).q) for a, T in zip(together, targets, strict=True))


# -- the same bits for every batch -------------------------------------------------------------------------------------


def test_the_same_bits_in_every_batch():
    q = np.random.default_rng(0).uniform(LOWER, UPPER, (60, 7))
    targets = PANDA.pose(HAND, q)
    targets[::10, :3, 3] *= 2  # out of reach
    whole = PANDA.inverse_kinematics(HAND, targets)
    for first, count in ((0, 1), (10, 1), (5, 13), (33, 8), (59, 1)):
        part = PANDA.inverse_kinematics(HAND, targets[first : first + count])
        for name in ("q", "error", "iterations", "solved"):
            assert same(getattr(part, name), getattr(whole, name)[first : first + count])
    assert same(PANDA.inverse_kinematics(HAND, targets[10]).q, whole.q[10])
    assert same(PANDA.inverse_kinematics(HAND, targets[11], np.clip(PANDA.home, LOWER, UPPER)).q, whole.q[11])


def damaged(kind):
    T = TARGET.copy()
    match kind:
        case "nan":
            T[0, 0] = np.nan
        case "inf":
            T[2, 3] = np.inf
        case "scaled":
            T[:3, :3] *= 1 + 1e-5
        case "mirrored":
            T[:3, :3] *= -1
        case "transposed":
            T = T.T
        case "zero":
            T[:] = 0
        case "last row":
            T[3, 3] = 2
    return T


KINDS = ("nan", "inf", "scaled", "mirrored", "transposed", "zero", "last row")


def test_targets_without_sense_leave_others_as_they_are():
    q = np.clip(START + np.random.default_rng(0).uniform(-0.5, 0.5, (20, 7)), LOWER, UPPER)
    targets = PANDA.pose(HAND, q)
    whole = PANDA.inverse_kinematics(HAND, targets)
    wrong = targets.copy()
    wrong[1 : 2 * len(KINDS) : 2] = [damaged(kind) for kind in KINDS]
    good = np.ones(20, bool)
    good[1 : 2 * len(KINDS) : 2] = False
    for solution in (PANDA.inverse_kinematics(HAND, wrong), PANDA.inverse_kinematics(HAND, wrong, posture=START)):
        assert same(solution.valid, good) and same(solution.solved, good)
        assert np.isnan(solution.q[~good]).all() and np.isnan(solution.error[~good]).all()
    assert same(PANDA.inverse_kinematics(HAND, wrong).q[good], whole.q[good])
    with pytest.raises(LinkworkError, match=r"7 of 20 targets have no solution\n.*0 not reached; 7 invalid"):
        solution.require()


@pytest.mark.parametrize("kind", KINDS)
def test_one_target_without_sense(kind):
    for guess in (START, None):
        solution = PANDA.inverse_kinematics(HAND, damaged(kind), guess)
        assert not solution.valid and not solution.solved and np.isnan(solution.q).all()


@pytest.mark.parametrize("task", [
    Direction(HAND, [0.0, 0, 0]), OnLine(HAND, [0.5, 0, 0.5], [0.0, 0, 0]), OnPlane(HAND, [0.5, 0, 0.5], [0.0, 0, 0]),
    OnPlane(HAND, [np.nan, 0, 0.5], [0.0, 0, 1]), CenterOfMass([0, np.inf, 0]), Orientation(HAND, np.zeros((3, 3))),
])  # fmt: skip
def test_other_tasks_without_sense(task):
    solution = PANDA.inverse_kinematics(task)
    assert not solution.valid and not solution.solved and np.isnan(solution.q).all()


def test_targets_out_of_reach():
    far = np.stack([TARGET, TARGET])
    far[1, 0, 3] += 2
    solution = PANDA.inverse_kinematics(HAND, far, START)
    assert solution.solved.tolist() == [True, False] and solution.valid.all()
    with pytest.raises(LinkworkError, match=r"1 of 2 targets .*\n.*1 not reached, with errors up to 1\.\d+; 0 invalid"):
        solution.require()
    endless = PANDA.inverse_kinematics(Position(HAND, [1e300, 0, 0]))
    assert endless.valid and not endless.solved and np.isfinite(endless.q).all()


# -- limits ------------------------------------------------------------------------------------------------------------


def test_limits():
    q = np.array(START)
    q[3] = UPPER[3] + 0.3
    target = PANDA.pose(HAND, q)
    position = PANDA.inverse_kinematics(Position(HAND, target[:3, 3]), guess=q)
    assert position.solved and (position.q >= LOWER).all() and (position.q <= UPPER).all()
    free = PANDA.inverse_kinematics(HAND, target, q, limits=False)
    assert free.solved and free.q[3] > UPPER[3]
    outside = PANDA.inverse_kinematics(HAND, TARGET, START + 100)
    assert outside.solved and (outside.q >= LOWER).all() and (outside.q <= UPPER).all()


def test_a_home_outside_the_limits():
    described = serial("RRRRRR", seed=3)
    joints = tuple(replace(joint, lower=0.2, upper=1.5) for joint in described.joints)
    robot = linkwork.load(replace(described, joints=joints))
    q = np.random.default_rng(0).uniform(0.2, 1.5, (20, 6))
    solution = robot.inverse_kinematics("tool", robot.pose("tool", q))
    assert (solution.q >= 0.2).all() and (solution.q <= 1.5).all() and solution.solved.mean() > 0.9


def test_followers_that_leave_no_positions():
    described = serial("RRR", seed=3)
    first, *others = described.joints
    first = replace(first, lower=0.0, upper=1.0)
    second = replace(others[0], lower=-1.0, upper=-0.5, mimic=Mimic(first.name, 1.0, 0.0))
    robot = linkwork.load(replace(described, joints=(first, second, *others[1:])))
    with pytest.raises(
        LinkworkError, match=f"{first.name}.* limits of mimic joints leave no positions(.|\n)*at most -0.5"
    ):
        robot.inverse_kinematics(Position("tool", [0, 0, 0]))
    assert robot.inverse_kinematics(Position("tool", [0, 0, 0]), limits=False).valid


# -- robots without joints, frames that do not move --------------------------------------------------------------------


def test_a_robot_without_joints():
    at = Placement(np.eye(3), np.array([1.0, 2, 3]))
    joint = JointDescription("fix", "fixed", "base", "stone", at, np.array([0, 0, 1.0]))
    robot = linkwork.load(Description("rock", (Link("base", None), Link("stone", None)), (joint,)))
    target = robot.pose("stone", [])
    assert robot.inverse_kinematics("stone", target).solved
    assert robot.inverse_kinematics("stone", np.tile(np.eye(4), (3, 1, 1))).error == pytest.approx(14**0.5)
    every = robot.inverse_kinematics("stone", target, solutions="all")
    assert every.q.shape == (1, 0) and every.solved.tolist() == [True] and every.unseen == 1
    assert robot.follow("stone", np.tile(target, (3, 1, 1))).continuous


def test_a_frame_that_does_not_move():
    base = PANDA.link_names[0]
    assert PANDA.inverse_kinematics(base, np.eye(4)).solved
    far = PANDA.inverse_kinematics(base, PANDA.pose("panda_link1", START))
    assert not far.solved and far.error == pytest.approx(0.333)
    assert PANDA.follow(base, np.tile(np.eye(4), (3, 1, 1))).continuous
    tasks = [Position(base, [0, 0, 0]), Position(HAND, [0.5, 0, 0.4], priority=1)]
    solution = PANDA.inverse_kinematics(tasks, guess=START)
    assert solution.solved and np.allclose(PANDA.pose(HAND, solution.q)[:3, 3], [0.5, 0, 0.4], atol=1e-8)


@pytest.mark.parametrize("name, frame", [("snake", "link5"), ("spatial-7r", "cut")])
def test_wheels_and_loops_out_of_reach(name, frame):
    robot = linkwork.load(name)
    target = robot.pose(frame, np.array(robot.home))
    assert robot.inverse_kinematics(frame, target).solved
    target[2, 3] += 0.3
    solution = robot.inverse_kinematics(frame, target, restarts=2)
    assert solution.valid and not solution.solved and 0 < solution.error <= 0.3 + 1e-9


def test_a_platform_out_of_reach():
    """The equations are too long for one loop of all turns."""
    robot = linkwork.load("gough-stewart")
    target = robot.pose("platform", np.array(robot.home))
    target[2, 3] += 3
    solution = robot.inverse_kinematics("platform", target, restarts=1)
    assert not solution.solved and 1 < solution.error < 3
    motors = [robot.coordinates.names.index(name) for name in robot.motor_names]
    assert np.allclose(solution.q[motors], robot.coordinates.upper[motors], atol=0.02)


# -- wrong input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, message", [
    *(({"tolerance": value}, "wrong tolerance") for value in (0, np.nan, np.inf, "x", [1e-9], True, None)),
    *(({"restarts": value}, "wrong number of restarts") for value in (-1, 1.5, True, "x")),
    *(({"limits": value}, "wrong limits") for value in ("no", [1], 1, None)),
    *(({"solutions": value}, "wrong number of solutions") for value in ("two", None, ["all"])),
    ({"posture": START[:6]}, r"posture: wrong shape(.|\n)*\(6,\)(.|\n)*\(\.\.\., 7\)"),
    ({"posture": START * np.nan}, "must be finite"), ({"posture": "START"}, "these are not real numbers"),
])  # fmt: skip
def test_wrong_options(options, message):
    PANDA.inverse_kinematics(HAND, TARGET, START)  # the quick call is there
    for guess in (START, None):
        with pytest.raises(ShapeError, match=message):
            PANDA.inverse_kinematics(HAND, TARGET, guess, **options)


@pytest.mark.parametrize("arguments, message", [
    ((HAND,), "there is no pose"), ((HAND, TARGET[:3]), r"Pose target: wrong shape(.|\n)*\(3, 4\)"),
    *(((HAND, x), "these are not real numbers") for x in (TARGET.astype(complex), TARGET.astype(object), "pose")),
    ((HAND, [[1, 2], [3]]), "not a rectangular array"), ((HAND, [0.4, 0, 0.5]), r"Position\('panda_link8', p\)"),
    ((HAND, TARGET[:3, :3]), "Orientation"), ((HAND, TARGET, {"panda_joint1": 1}), "dict"),
    ((HAND, TARGET, START[:6]), r"guess: wrong shape(.|\n)*\(6,\)"), ((HAND, TARGET, START * np.nan), "must be finite"),
    ((HAND, TARGET, START.astype(complex)), "these are not real numbers"),
    ((HAND, np.tile(TARGET, (3, 1, 1)), np.tile(START, (2, 1))), "batch axes of guess and targets do not fit"),
    (([],), "these are not tasks"), (([HAND, HAND],), "these are not tasks"), ((3,), "these are not tasks"),
    ((Pose(HAND, TARGET), TARGET), "a pose belongs to the name of a frame"),
])  # fmt: skip
def test_wrong_arguments(arguments, message):
    PANDA.inverse_kinematics(HAND, TARGET, START)
    with pytest.raises(ShapeError, match=message):
        PANDA.inverse_kinematics(*arguments)


@pytest.mark.parametrize("frame", ["", "nope", 3])
def test_wrong_frames(frame):
    with pytest.raises(UnknownNameError, match="there is no frame"):
        PANDA.inverse_kinematics(Pose(frame, TARGET))
    with pytest.raises(UnknownNameError, match="did you mean 'panda_link8'"):
        PANDA.inverse_kinematics("panda_link", TARGET)


@pytest.mark.parametrize("make, message", [
    *((lambda w=w: Pose(HAND, TARGET, weight=w), "wrong weight(.|\n)*or 6 of them")
      for w in (-1, np.nan, np.inf, None, "x", 1j, (1,) * 5, [[1] * 6])),
    *((lambda p=p: Position(HAND, [0, 0, 0], priority=p), "wrong priority") for p in (1.5, True, "x", None)),
    *((lambda p=p: Position(HAND, [0, 0, 0], point=p), "wrong point")
      for p in ((0, 0), (np.nan, 0, 0), "x", None, 1.0)),
    *((lambda a=a: Direction(HAND, [0, 0, 1], axis=a), "wrong axis(.|\n)*not all zero")
      for a in ((0, 0), (0, 0, 0), "z")),
])  # fmt: skip
def test_wrong_tasks(make, message):
    with pytest.raises(ShapeError, match=message):
        make()


def test_infinitely_many_solutions():
    for task in (Pose(HAND, TARGET), Position(HAND, TARGET[:3, 3])):
        with pytest.raises(UnsupportedError, match="there are infinitely many solutions"):
            PANDA.inverse_kinematics(task, solutions="all")


@pytest.mark.parametrize("options, message", [
    ({"largest_step": 0}, "wrong largest step"), ({"largest_step": np.nan}, "wrong largest step"),
    ({"largest_step": "x"}, "wrong largest step"), ({"tolerance": -1}, "follow: wrong tolerance"),
    ({"restarts": None}, "follow: wrong number of restarts"), ({"limits": 1}, "follow: wrong limits"),
    ({"guess": START[:5]}, "follow, guess: wrong shape"), ({"posture": START[:5]}, "follow, posture: wrong shape"),
    ({"path": TARGET}, "these targets are no path"), ({"path": TARGET, "guess": START}, "these targets are no path"),
    ({"path": np.zeros((0, 4, 4))}, "these targets are no path"),
    ({"path": None}, "there is no pose"),
])  # fmt: skip
def test_wrong_paths(options, message):
    with pytest.raises(ShapeError, match=message):
        PANDA.follow(HAND, **{"path": np.tile(TARGET, (3, 1, 1)), **options})


def test_shapes_of_paths():
    path = np.tile(TARGET, (2, 3, 1, 1))
    followed = PANDA.follow(HAND, path, guess=START)
    assert followed.q.shape == followed.at_limits.shape == (2, 3, 7) and followed.continuous.shape == (2,)
    assert (
        followed.solved.shape == followed.jumps.shape == followed.conditioning.shape == followed.error.shape == (2, 3)
    )
    assert PANDA.follow(HAND, path[0, :1]).continuous
    assert PANDA.follow(HAND, np.zeros((0, 3, 4, 4))).q.shape == (0, 3, 7)
    each = PANDA.follow(HAND, path, guess=np.stack([START, START + 0.1]))
    assert same(each.q[0], followed.q[0]) and each.continuous.all()


# -- inside functions --------------------------------------------------------------------------------------------------


def reaching(task, **options):
    return PANDA.function(lambda robot, p, guess: solve(robot, task(p), guess, **options)._asdict(), p=(3,), guess=(7,))


@pytest.mark.parametrize("task, options, error, message", [
    *((lambda p, x=x: x, {}, ShapeError, "these are not tasks") for x in (HAND, [], None, [Pose(HAND, TARGET), 3])),
    (lambda p: Position("nope", p), {}, UnknownNameError, "there is no frame 'nope'"),
    (lambda p: Position(HAND, p[:2]), {}, ShapeError, "solve, Position target: wrong shape"),
    (lambda p: Pose(HAND, p), {}, ShapeError, "solve, Pose target: wrong shape"),
    *((lambda p: Position(HAND, p), {"iterations": n}, UnsupportedError, "wrong number of iterations")
      for n in (0, 2.5, True, "x")),
    (lambda p: Position(HAND, p), {"posture": [0, 0]}, ShapeError, "solve, posture: wrong shape"),
])  # fmt: skip
def test_wrong_input_of_solve(task, options, error, message):
    with pytest.raises(error, match=message):
        reaching(task, **options)


def test_wrong_guesses_of_solve():
    with pytest.raises(ShapeError, match="solve, guess: wrong shape"):
        PANDA.function(lambda robot, p, q: solve(robot, Position(HAND, p), q[:5]).q, p=(3,))


def test_solve_stops_where_numbers_end():
    f = reaching(lambda p: Position(HAND, p))
    for p, guess in (([0.5, np.nan, 0.4], START), ([0.5, 0, 0.4], START * np.nan)):
        result = f(p, guess)
        assert result.solved == 0 and np.isnan(result.error) and result.iterations == 0
    alone, among = f([0.5, 0, 0.4], START), f([[0.5, np.nan, 0.4], [0.5, 0, 0.4]], START)
    assert same(among.q[1], alone.q) and among.solved.tolist() == [0, 1]


def test_poses_with_constant_rotations_in_solve():
    rest = np.array([[0.0, 0, 0, 1]])

    def reach(robot, p, q):
        T = np.concatenate([np.concatenate([TARGET[:3, :3], p[:, None]], axis=1), rest])
        return solve(robot, Pose(HAND, T), q).q

    p = TARGET[:3, 3] + [0.1, 0, 0]
    q = PANDA.function(reach, p=(3,))(p, START)
    assert np.allclose(PANDA.pose(HAND, q)[:3, 3], p, atol=2e-9)


def test_directions_that_an_arm_never_has_do_not_count_as_singular():
    """A planar arm of two joints, whose position has three rows; stretched it is singular."""
    arm = linkwork.load("planar2r")
    path = arm.pose("tip", [[0.3, 1.2], [0.3, 0.8], [0.3, 0.4], [0.3, 0.0]])[:, :3, 3]
    followed = arm.follow(Position("tip", path), guess=[0.3, 1.2], tolerance=1e-7)
    J = arm.jacobian("tip", [0.3, 1.2])[:2]
    values = np.linalg.svd(J, compute_uv=False)
    assert np.isclose(followed.conditioning[0], values[1] / values[0], rtol=1e-6)
    assert followed.conditioning[-1] < 1e-3


def test_all_solutions_belong_to_their_targets_whatever_their_number():
    """As many solutions as targets, all of the first target."""
    arm = linkwork.load("ur5e")
    targets = np.tile(arm.pose("tool0", [0.3, -1.2, 1.4, -0.4, 1.1, 0.2]), (8, 1, 1))
    targets[1:, 0, 3] += 3
    every = arm.inverse_kinematics("tool0", targets, solutions="all")
    assert every.solved.sum(axis=-1).tolist() == [8, *[0] * 7]
    assert np.allclose(arm.pose("tool0", every.q[0]), targets[0], rtol=0, atol=1e-9)


def test_a_posture_of_one_call_does_not_stay_for_the_next():
    robot, guess = linkwork.load("panda"), np.array([0, -0.5, 0, -2, 0, 1.5, 0.8])
    target = robot.pose("panda_link8", guess + 0.1)
    fresh = robot.inverse_kinematics("panda_link8", target, guess).q
    robot = linkwork.load("panda")
    for posture in (guess, None, guess + 0.1, None):
        q = robot.inverse_kinematics("panda_link8", target, guess, posture=posture).q
        assert (posture is None) == np.array_equal(q, fresh)


# -- tasks, options and robots of other kinds --------------------------------------------------------------------------


def test_weights_that_change_after_a_call_do_not_change_later_results():
    """The search for the nearest positions is compiled when a target is out of reach for the first time."""
    far, weight = TARGET.copy(), np.ones(6)
    far[0, 3] = 2.0
    expected = PANDA.inverse_kinematics(HAND, far, START, restarts=1).error
    robot = linkwork.load("panda")
    robot.inverse_kinematics(Pose(HAND, TARGET, weight=weight), guess=START)
    weight[3:] = 1e-3
    assert robot.inverse_kinematics(Pose(HAND, far, weight=np.ones(6)), guess=START, restarts=1).error == expected


@dataclass(frozen=True)
class Bent(Task):
    """The fourth joint at 2 rad, without a target."""

    rows: ClassVar[int] = 1

    def _error(self, robot, q):
        return np.stack([-2 - q[3]]), np.eye(robot.model.nv)[3:4]


def test_tasks_without_targets():
    assert np.isclose(PANDA.inverse_kinematics(Bent()).q[3], -2)
    points = np.stack([TARGET[:3, 3], [9.0, 0, 0]])
    both = PANDA.inverse_kinematics([Position(HAND, points), Bent(priority=1)], guess=START, restarts=1)
    assert both.solved.tolist() == [True, False] and np.isclose(both.q[0, 3], -2)


def test_joints_whose_influence_is_rounding_leave_no_freedom():
    """The last joint of a pan-tilt camera turns about the direction that is asked for."""
    joints, links = [], [Link("base")]
    for name, rpy in (("pan", (0, 0, 0.3)), ("tilt", (1.1, 0.2, 0)), ("roll", (0, 0.7, 0.4))):
        at, axis = Placement(exp(np.array(rpy)), np.zeros(3)), np.array([0, 0, 1.0])
        joints.append(JointDescription(name, "revolute", links[-1].name, f"{name}_link", at, axis))
        links.append(Link(f"{name}_link", LinkInertia(1.0, np.zeros(3), np.eye(3))))
    camera = linkwork.load(Description("camera", tuple(links), tuple(joints)))
    target = camera.pose("roll_link", [0.3, 0.5, 0.2])[:3, 2]
    every = camera.inverse_kinematics(Direction("roll_link", target), guess=[0, 0, 0.2], solutions="all")
    assert every.solved.all() and len(every.q) == 2 and np.allclose(every.q[:, 2], 0.2)


GEARED = """
name: geared
joints:
  - {name: a, link: la}
  - {name: b, link: lb, parent: la, xyz: [1, 0, 0]}
  - {name: wheel, link: lw, parent: la, xyz: [0.5, 0, 0]}
links:
  - {link: la, M: 1, central: [0.1, 0.1, 0.1]}
  - {link: lb, M: 1, central: [0.1, 0.1, 0.1]}
  - {link: lw, M: 1, central: [0.1, 0.1, 0.1]}
frames: [{name: tool, link: lb, xyz: [0.7, 0, 0]}]
drives: [{joint: wheel, role: passive}]
gears: [{name: gear, joints: {wheel: 1, b: -2.5}}]
"""


def test_whole_turns_do_not_break_gears(tmp_path):
    (tmp_path / "geared.yaml").write_text(GEARED)
    robot = linkwork.load(tmp_path / "geared.yaml")
    target = robot.pose("tool", [0.3, 0.5, 1.25])[:3, 3]
    problem = problem_of(robot, [Position("tool", target)], True, False)
    turned = whole_turns(problem, np.array([0.3, 0.5, 1.25]), np.array([20.0, 20, 20]))
    assert np.allclose(turned, [0.3 + 6 * np.pi, 0.5, 1.25])


def test_a_gripper_outside_its_limits_costs_no_solutions():
    arm = linkwork.load("ur5e")
    described, at = describe(arm.model), Placement(np.eye(3), np.zeros(3))
    slide = JointDescription(
        "slide", "prismatic", "wrist_3_link", "finger", at, np.array([0, 1.0, 0]), lower=0, upper=1
    )
    finger = Link("finger", LinkInertia(0.1, np.zeros(3), np.eye(3)))
    robot = linkwork.load(replace(described, links=(*described.links, finger), joints=(*described.joints, slide)))
    q = np.array([0.3, -1.2, 1.4, -0.4, 1.1, 0.2])
    target = arm.pose("tool0", q)
    every = robot.inverse_kinematics("tool0", target, [*q, 3.0], solutions="all")
    alone = arm.inverse_kinematics("tool0", target, q, solutions="all")
    assert np.allclose(every.q[:, :6], alone.q, atol=1e-12) and np.all(every.q[:, 6] == 1) and every.unseen == 0


def test_iterations_of_all_solutions_of_a_target_are_added():
    arm = linkwork.load("ur5e")
    target = arm.pose("tool0", [0.3, -1.2, 1.4, -0.4, 1.1, 0.2])
    every = arm.inverse_kinematics("tool0", target, solutions="all", tolerance=1e-300)
    assert every.iterations == 8 * 16


@dataclass(frozen=True)
class Turned(Task):
    """The fifth joint at an angle, whole turns included."""

    value: Any = None
    shapes: ClassVar = {"value": (1,)}
    rows: ClassVar[int] = 1

    def _error(self, robot, q):
        return self.value - q[4:5], np.eye(robot.model.nv)[4:5]


def test_whole_turns_do_not_change_what_tasks_ask_of_joints():
    arm, rng = linkwork.load("ur5e"), np.random.default_rng(1)
    q, guess = rng.uniform(-6, 6, (2, 100, 6))
    T = arm.pose("tool0", q)
    tasks = [Position("tool0", T[:, :3, 3]), Direction("tool0", T[:, :3, 2]), Turned(q[:, 4:5])]
    solution = arm.inverse_kinematics(tasks, guess=guess)
    assert solution.solved.all() and np.allclose(solution.q[:, 4], q[:, 4], rtol=0, atol=1e-8)


def test_positions_of_a_restart_are_turned_towards_the_posture():
    arm, rng = linkwork.load("ur5e"), np.random.default_rng(1)
    q, guess = rng.uniform(-6, 6, (2, 100, 6))
    problem = problem_of(arm, [Position("tool0", np.zeros(3))], True, True)
    posture = guess[::-1]
    search = Search(problem, [Position("tool0", arm.pose("tool0", q)[:, :3, 3])], guess, posture, 1e-9, 5)
    restarted = search.stages(np.arange(100), guess)[1] > 1e-9
    solution = search.one()
    nearest = whole_turns(problem, solution.q, posture)
    assert (
        restarted.any() and solution.solved.all() and np.allclose(solution.q[restarted], nearest[restarted], atol=1e-12)
    )


def test_tasks_without_any_weight_are_fulfilled_everywhere():
    free = Pose(HAND, np.stack([TARGET, TARGET]), weight=0)
    followed, every = PANDA.follow(free), PANDA.inverse_kinematics(free, guess=START, solutions="all")
    assert followed.solved.all() and np.all(followed.conditioning == 1) and same(every.q, [[START]] * 2)
