"""Assembling robots with loops: batches, modes, what cannot be reached, what is singular, and bad input."""

import warnings
from dataclasses import fields, replace

import numpy as np
import pytest

import linkwork
from linkwork.assembly import Assembler, Assembly
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.model import CUT_JOINTS, ConstraintDescription, Description, Gear, JointDescription, Link, Placement
from support.parallel_robots import with_joints_for_balls
from support.random_loops import LoopRecipe, four_bar, mechanism, spin
from support.random_robots import inertia

GROUND, CRANK, COUPLER, ROCKER = 0.504, 0.12, 0.39, 0.306
PARALLELOGRAM = {"ground": 0.4, "crank": 0.2, "coupler": 0.4, "rocker": 0.2}


@pytest.fixture(scope="module")
def bar():
    return linkwork.load(four_bar())


@pytest.fixture(scope="module")
def parallelogram():
    return linkwork.load(four_bar(**PARALLELOGRAM))


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def in_closed_form(crank: np.ndarray, elbow: int) -> np.ndarray:
    """Positions of the four-bar from the triangle of coupler, rocker and the way between their outer pivots."""
    pin = CRANK * np.stack([np.cos(crank), np.sin(crank)])
    way = np.array([GROUND, 0.0])[:, None] - pin
    distance = np.hypot(*way)
    angle = np.arccos((distance**2 + COUPLER**2 - ROCKER**2) / (2 * distance * COUPLER))
    toward = np.arctan2(way[1], way[0]) + elbow * angle
    tip = pin + COUPLER * np.stack([np.cos(toward), np.sin(toward)])
    return np.stack([crank, toward - crank, np.arctan2(tip[1], tip[0] - GROUND)], axis=-1)


def assert_same_angles(actual, expected):
    np.testing.assert_allclose(np.exp(1j * np.asarray(actual)), np.exp(1j * np.asarray(expected)), atol=1e-11)


def test_a_turn_in_closed_form(bar):
    crank = np.linspace(-np.pi, np.pi, 41)
    found = bar.assemble(crank[:, None])
    assert found.solved.all() and found.residual.max() <= 1e-12 and found.conditioning.min() > 0.1
    assert_same_angles(found.q, in_closed_form(crank, 1))
    np.testing.assert_array_equal(found.require(), found.q)
    np.testing.assert_array_equal(found.q, found.nearest)


def test_the_guess_decides_between_the_modes(bar):
    crank = np.linspace(-3, 3, 13)
    for elbow in (1, -1):
        guess = in_closed_form(crank, elbow) + 0.1
        assert_same_angles(bar.assemble(crank[:, None], guess=guess).require(), in_closed_form(crank, elbow))


def test_one_position_from_several_guesses(bar):
    """Batch axes of positions and guess are broadcast against each other."""
    modes = np.concatenate([in_closed_form(np.array([1.0]), elbow) for elbow in (1, -1)])
    found = bar.assemble([1.0], guess=modes + 0.05)
    assert found.q.shape == (2, 3) and found.solved.all()
    assert_same_angles(found.q, modes)
    assert bar.assemble(np.ones((4, 1, 1)), guess=modes).q.shape == (4, 2, 3)


def test_followed_over_many_turns(bar):
    """Without a guess the mode of home is kept, and the other joints turn on with the crank."""
    crank = np.linspace(-20, 20, 101)
    q = bar.assemble(crank[:, None]).require()
    assert_same_angles(q, in_closed_form(crank, 1))
    assert np.abs(np.diff(q, axis=0)).max() < 1


@pytest.mark.parametrize("shape", ((), (1,), (5,), (2, 3), (0,), (2, 0)))
def test_shapes(bar, shape):
    for guess in (None, bar.home):
        found = bar.assemble(np.full((*shape, 1), 0.7), guess=guess)
        assert found.q.shape == found.nearest.shape == (*shape, 3)
        for each in (found.solved, found.residual, found.conditioning, found.iterations, found.singular):
            assert np.shape(each) == shape
        assert np.all(found.solved) and found.require().shape == (*shape, 3)


def test_each_state_is_alone(bar):
    """The same bits in a batch and by itself."""
    crank = np.linspace(1, 2, 7)[:, None]
    together = bar.assemble(crank, guess=bar.home)
    for k in range(7):
        np.testing.assert_array_equal(bar.assemble(crank[k], guess=bar.home).q, together.q[k])


def test_by_name(bar):
    expected = bar.assemble([[0.1], [0.2]]).q
    np.testing.assert_array_equal(bar.assemble({"crank": [0.1, 0.2]}).q, expected)
    five = linkwork.load("five-bar")
    a = five.assemble({"right": 0.8, "left": [2.2, 2.3]}).require()
    np.testing.assert_array_equal(a, five.assemble([[2.2, 0.8], [2.3, 0.8]]).require())


def test_other_joints_may_be_known(bar):
    q = bar.assemble([[1.2], [1.5]]).require()
    found = bar.assemble(q[:, 2:], known=["rocker"])
    np.testing.assert_allclose(found.require(), q, atol=1e-10)
    table = linkwork.load("3rpr")  # its platform's pose is independent; here from the lengths of the legs
    lengths = np.array(table.home)[[table.position_names.index(name) for name in table.motor_names]]
    q = table.assemble(np.add(lengths, [0.01, 0.02, 0.0]), known=table.motor_names).require()
    np.testing.assert_allclose(table.assemble(q[:3]).require(), q, atol=1e-10)  # and back


def test_a_platform_by_its_pose():
    """Seven numbers of a floating joint: origin, and a quaternion of any length and sign."""
    stewart = linkwork.load("gough-stewart")
    pose = np.add(stewart.home[:7], [0.01, 0.02, -0.03, 0.05, 0, -0.02, 0])
    q = stewart.assemble(pose).require()
    np.testing.assert_array_equal(q[:3], pose[:3])
    np.testing.assert_allclose(q[3:7] / np.linalg.norm(q[3:7]), pose[3:] / np.linalg.norm(pose[3:]), atol=1e-15)
    assert np.abs(stewart.loop_residual(q)).max() < 1e-12
    for scale in (2.0, -1.0):
        again = np.append(pose[:3], scale * pose[3:])
        np.testing.assert_allclose(stewart.assemble(again).require()[7:], q[7:], atol=1e-9)
    np.testing.assert_array_equal(stewart.assemble({stewart.model.joint(1).name: pose}).q, q)


def test_out_of_reach(bar):
    """The rocker swings between 1.8 and 2.8 radians."""
    low, high = np.min(in_closed_form(np.linspace(-np.pi, np.pi, 400), 1), axis=0)[2], 2.9
    assert low > 1.5
    for guess in (None, bar.home):
        found = bar.assemble([[2.0], [0.0], [high]], guess=guess, known=["rocker"])
        assert found.solved.tolist() == [True, False, False]
        assert not found.singular.any()
        assert np.isnan(found.q[1:]).all() and np.isfinite(found.nearest).all()
        assert (found.residual[1:] > 1e-3).all()
        np.testing.assert_array_equal(found.nearest[1:, 2], [0.0, high])
        with pytest.raises(
            LinkworkError, match=r"2 of 3 positions cannot be assembled(.|\n)*got: 2 out of reach"
        ) as error:
            found.require()
        assert "check .solved" in str(error.value)


@pytest.mark.parametrize("guess", (None, "exact", "near"))
@pytest.mark.parametrize("flat", (0.0, np.pi))
def test_singular_positions_are_told(parallelogram, guess, flat):
    """Where the parallelogram is flat the crank does not tell where the others go."""
    start = {None: None, "exact": [flat, -flat, flat], "near": [flat, 0.01 - flat, flat + 0.02]}[guess]
    found = parallelogram.assemble([flat], guess=start)
    assert not found.solved and found.singular and np.isnan(found.q).all()
    assert found.conditioning < 1e-5
    with pytest.raises(LinkworkError, match=r"0 out of reach(.|\n)*1 singular"):
        found.require()


def test_conditioning_near_a_singular_position(parallelogram):
    """It is measured where the joints are, not where the steps began, and shrinks like the distance."""
    crank = np.array([0.1, 0.01, 0.001])
    exact = np.stack([crank, -crank, crank], axis=-1)
    found, near = (parallelogram.assemble(crank[:, None], guess=guess) for guess in (exact, exact + 1e-5))
    assert found.solved.all() and near.solved.all()
    np.testing.assert_allclose(near.conditioning, found.conditioning, rtol=1e-6)
    np.testing.assert_allclose(found.conditioning / crank, found.conditioning[-1] / crank[-1], rtol=0.01)
    assert 0.01 < found.conditioning[0] < 0.1


def gimbal(order=((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))) -> Description:
    """Four hinges through one point; the last body is welded to the ground."""
    rng, parent, links, joints = np.random.default_rng(0), "base", [Link("base")], []
    for k, axis in enumerate(order):
        role = "active" if k == 0 else "passive"
        joints.append(JointDescription(f"j{k}", "revolute", parent, f"l{k}", axis=np.array(axis, float), role=role))
        links.append(Link(f"l{k}", inertia(rng)))
        parent = f"l{k}"
    weld = ConstraintDescription("weld", CUT_JOINTS["weld"], ("base", Placement()), ("l3", Placement()))
    return Description("gimbal", tuple(links), tuple(joints), constraints=(weld,))


@pytest.mark.parametrize("kind", ("weld", "prismatic"))
def test_half_a_turn_wrong_is_not_closed(kind):
    """The sines in the residual vanish there, too."""
    bare = gimbal()
    robot = linkwork.load(replace(bare, constraints=(replace(bare.constraints[0], kind=CUT_JOINTS[kind]),)))
    for axis in ((1, 0, 0), (1, 1, 0), (1, 2, 3), (-3, 1, 2)):
        unit = np.array(axis) / np.linalg.norm(axis)
        turned = spin(unit, np.pi)
        y = np.arcsin(np.clip(turned[0, 2], -1, 1))  # turned = Rx Ry Rz
        x, z = np.arctan2(-turned[1, 2], turned[2, 2]), np.arctan2(-turned[0, 1], turned[0, 0])
        found = robot.assemble([x], guess=[x, y, z, 0.0])
        if found.solved:
            R = robot.pose("l3", found.q)[:3, :3]
            np.testing.assert_allclose(R, np.eye(3), atol=1e-9)


def test_planar_loops_anywhere_in_space():
    """Eleven equations of rank five, in a plane that is not a coordinate plane."""
    robot = linkwork.load(mechanism(LoopRecipe(seed=5, closures=("revolute", "weld"), freedoms=2, planar=True)))
    start = np.array(robot.home)[list(robot.model.mobility.independent)]
    found = robot.assemble(start + np.random.default_rng(1).uniform(-0.1, 0.1, (50, 2)))
    assert found.solved.all() and found.iterations.max() < 10


def test_equations_that_are_rounded_differently_on_two_branches():
    """An axis that is off by 1e-13, as rounded angles make it, does not open a planar loop."""
    bar = four_bar()
    crank, coupler, rocker = bar.joints
    tilt = Placement(spin(np.array([1.0, 0.0, 0.0]), 1e-13), rocker.origin.translation)
    robot = linkwork.load(replace(bar, joints=(crank, coupler, replace(rocker, origin=tilt))))
    assert robot.nv == 1 and robot.assemble([[0.3], [1.0]]).solved.all()


def test_locked_loop_has_nothing_to_solve():
    arm = linkwork.load("parallelogram")
    held = dict(zip(arm.position_names, arm.home, strict=True))
    robot = linkwork.load("parallelogram", lock={name: held[name] for name in ("shoulder", "elbow", "lever", "rod")})
    found = robot.assemble([[0.1, 0.2]])
    assert found.solved.all() and not found.singular.any() and (found.conditioning <= 1).all()


def test_bad_input(bar):
    with pytest.raises(ShapeError, match=r"wrong number of known positions(.|\n)*expected: \(\.\.\., 1\): crank"):
        bar.assemble([1.0, 2.0])
    with pytest.raises(ShapeError, match="wrong number of known positions"):
        bar.assemble(1.0)
    with pytest.raises(ShapeError, match="must be finite"):
        bar.assemble([np.nan])
    with pytest.raises(ShapeError, match=r"got: rocker(.|\n)*expected: crank"):
        bar.assemble({"rocker": 1.0})
    with pytest.raises(LinkworkError, match=r"crank, rocker \(2 dofs\)(.|\n)*1 dofs, such as crank"):
        bar.assemble([1.0, 2.0], known=["crank", "rocker"])
    with pytest.raises(UnknownNameError, match="did you mean 'crank'"):
        bar.assemble([1.0], known=["cranck"])
    with pytest.raises(UnsupportedError, match=r"no loops\n  fix: q has no dependent"):
        linkwork.load("panda").assemble(np.zeros(7))


def test_bad_numbers(bar):
    with pytest.raises(ShapeError, match="real numbers"):
        bar.assemble(["a"])
    with pytest.raises(ShapeError, match="real numbers"):
        bar.assemble([1j])


@pytest.mark.parametrize("guess", (np.zeros(2), np.zeros((3, 3)), 1.0), ids=("short", "other batch", "a number"))
def test_a_guess_that_does_not_fit(bar, guess):
    with pytest.raises(ShapeError, match="guess"):
        bar.assemble([[1.0], [2.0]], guess=guess)


def test_a_guess_that_is_not_finite(bar):
    with pytest.raises(ShapeError, match=r"guess(.|\n)*finite"):
        bar.assemble([1.0], guess=[1.0, np.nan, 0.0])


def test_loops_that_close_only_so_well():
    """An axis off by 1e-11 leaves a residual everywhere; it is allowed for, and nothing worse is."""
    bar = four_bar()
    crank, coupler, rocker = bar.joints
    tilt = Placement(spin(np.array([1.0, 0.0, 0.0]), 1e-11), rocker.origin.translation)
    robot = linkwork.load(replace(bar, joints=(crank, coupler, replace(rocker, origin=tilt))))
    assert robot.assemble([[0.3], [1.0], [-2.0]]).solved.all()
    assert not robot.assemble([[0.3]], tolerance=1e-12).solved.any()


def test_a_single_known_joint_by_its_name(bar):
    crank = bar.assemble([1.0]).require()
    np.testing.assert_allclose(bar.assemble([crank[2]], guess=crank, known="rocker").require(), crank, atol=1e-9)


def test_alone_or_among_others_the_same_bits(bar):
    crank = np.linspace(-3, 3, 40)[:, None]
    found = bar.assemble(crank).q
    np.testing.assert_array_equal(found, [bar.assemble(position).q for position in crank])


# -- one position at a time ------------------------------------------------------------------------------------------

ALONE = (
    "four-bar",
    "slider-crank",
    "five-bar",
    "parallelogram",
    "3rrr",
    "3rpr",
    "delta",
    "gough-stewart",
    "hybrid-3rpr",
)


@pytest.mark.parametrize("name", ALONE)
def test_one_position_takes_a_short_way_to_the_same_bits(name, monkeypatch):
    robot = linkwork.load(name)
    rng, places = np.random.default_rng(0), Assembler(robot.model).places
    known = np.array(robot.home)[places] + rng.uniform(-0.02, 0.02, (5, len(places)))
    expected = robot.assemble(known)
    near = expected.require() + rng.uniform(-0.003, 0.003, (5, robot.nq))
    guesses = (np.tile(robot.home, (5, 1)), expected.q, near)
    followed = [expected, *(robot.assemble(known, guess=guess) for guess in guesses)]
    monkeypatch.delattr(Assembler, "_follow")
    monkeypatch.delattr(Assembler, "_solve")
    for k, position in enumerate(known):
        for batch, guess in zip(followed, (None, *(guess[k] for guess in guesses)), strict=True):
            for given in (position, position.tolist(), tuple(position)):
                found = robot.assemble(given, guess)
                for field in fields(Assembly):
                    of_batch = getattr(batch, field.name)
                    alone, together = getattr(found, field.name), of_batch if field.name == "robot" else of_batch[k]
                    np.testing.assert_array_equal(alone, together)
                    assert type(alone) is type(together), field.name
            assert found.require() is found.q and not np.shares_memory(found.q, found.nearest)


def test_what_one_position_refuses(bar):
    arm = linkwork.load("parallelogram")  # the waist is in no loop
    for robot, known in ((bar, [0.6]), (arm, np.array(arm.home)[Assembler(arm.model).places])):
        for place in range(robot.nq):
            for value in (np.nan, np.inf):
                guess = np.array(robot.home)
                guess[place] = value
                with pytest.raises(ShapeError, match=r"guess(.|\n)*finite"):
                    robot.assemble(known, guess)
        for place in range(len(known)):
            wrong = np.array(known, float)
            wrong[place] = np.inf
            with pytest.raises(ShapeError, match="must be finite"):
                robot.assemble(wrong)
        for guess in (np.zeros(robot.nq + 1), [0.0], "home", [1j] * robot.nq):
            with pytest.raises(ShapeError, match="guess"):
                robot.assemble(known, guess)
        for other in ([*known, 0.0], [str(x) for x in known], [None for _ in known]):
            with pytest.raises(ShapeError):
                robot.assemble(other)
    platform = linkwork.load("gough-stewart")
    with pytest.raises(ShapeError, match="a quaternion is zero"):
        platform.assemble([0.0] * 7)


def test_one_position_by_other_numbers(bar):
    expected = bar.assemble([1]).q
    for known in (
        np.array([1]),
        np.array([1], ">f8"),
        np.array([1], "f4"),
        [np.float32(1)],
        [True],
        {"crank": 1},
        ([1],)[0],
    ):
        np.testing.assert_array_equal(bar.assemble(known).q, expected)
    assert not bar.assemble([1.0], tolerance=0.0).solved


# -- the way of assembly ----------------------------------------------------------------------------------------------


def test_the_way_of_home_is_followed():
    """The forearm stays parallel to the lever; where arm and lever have been in line on the way, nobody can tell."""
    robot = linkwork.load("parallelogram")
    limits = [(joint.lower, joint.upper) for joint in robot.model.coordinates.joints if joint.role == "active"]
    lower, upper = np.transpose(limits)
    asked = np.random.default_rng(0).uniform(lower, upper, (1500, 4))
    waist, shoulder, wrist, lever = asked.T
    found = robot.assemble(asked)
    beyond = shoulder - lever > np.pi
    np.testing.assert_array_equal(found.lost, beyond)
    np.testing.assert_array_equal(found.solved, ~beyond)
    parallel = np.stack([waist, shoulder, lever - shoulder, wrist, lever, shoulder - lever], axis=-1)
    np.testing.assert_allclose(found.q[~beyond], parallel[~beyond], atol=1e-10)
    assert 0 < beyond.sum() < 100 and np.isnan(found.q[beyond]).all()
    np.testing.assert_array_equal(
        robot.assemble([0, np.pi / 2, 0, -0.5]).q[[2, 5]], [-0.5 - np.pi / 2, 0.5 + np.pi / 2]
    )


def integrated(robot, goal, steps=300):
    """Positions on the straight ways from home, by Runge and Kutta's steps along the velocities of the closed loops;
    and the largest of these on each way."""
    q = np.tile(robot.home, (len(goal), 1))
    way, fastest = (goal - q[:, list(robot.model.mobility.independent)]) / steps, np.zeros(len(goal))
    rates = lambda q: (robot.velocity_map(q) @ way[:, :, None])[..., 0]  # noqa: E731
    for _ in range(steps):
        k1 = rates(q)
        k2 = rates(q + k1 / 2)
        k3 = rates(q + k2 / 2)
        q = q + (k1 + 2 * k2 + 2 * k3 + rates(q + k3)) / 6
        fastest = np.maximum(fastest, np.abs(k1).max(axis=-1) / np.abs(way).max(axis=-1))
    return q, fastest


@pytest.mark.parametrize(
    ("name", "far"), (("five-bar", 2.5), ("hybrid-3rpr", 0.35), ("parallelogram", 0.8), ("spatial-7r", 9.0))
)
def test_followed_as_velocities_lead(name, far):
    """One in 50 of these used to end in another way of assembly."""
    robot = linkwork.load(name)
    known = list(robot.model.mobility.independent)
    goal = np.array(robot.home)[known] + np.random.default_rng(3).uniform(-far, far, (200, len(known)))
    expected, fastest = integrated(robot, goal)
    sure = fastest < 20  # where singular positions are far
    assert sure.sum() > 150
    np.testing.assert_allclose(robot.assemble(goal[sure]).require(), expected[sure], atol=1e-3)


def test_beyond_a_singular_position(parallelogram):
    """Crossed or not, it could go on either way from where it is flat; a closed guess beyond says which."""
    found = parallelogram.assemble([[1.0], [-1.0]])
    assert found.solved.tolist() == [True, False] and found.lost.tolist() == [False, True]
    assert not found.singular.any() and np.isnan(found.q[1]).all()
    assert found.residual[1] < 1e-12 and np.abs(parallelogram.loop_residual(found.nearest[1])).max() < 1e-12
    with pytest.raises(LinkworkError, match=r"0 out of reach(.|\n)*0 singular, 1 beyond a singular position"):
        found.require()
    np.testing.assert_allclose(parallelogram.assemble([-1.0], guess=[-2.0, 2.0, -2.0]).require(), [-1.0, 1.0, -1.0])


def test_a_closed_guess_is_followed(parallelogram):
    """Whatever way it is in, and half around; also if it is closed as well as a simulation keeps it."""
    for guess in ([0.1, -0.1, 0.1], np.array([0.1, -0.1, 0.1 + 1e-7])):
        q = parallelogram.assemble([3.0], guess=guess).require()
        np.testing.assert_allclose(q, [3.0, -3.0, 3.0], atol=1e-10)
    crossed = parallelogram.assemble([1.0], guess=[1.0, -2.3, -1.6]).require()
    assert abs(crossed[2] - 1.0) > 0.5
    again = parallelogram.assemble(np.linspace(1.0, 2.8, 9)[:, None], guess=crossed).require()
    for q in again:  # one step at a time comes to the same
        crossed = parallelogram.assemble(q[:1], guess=crossed).require()
        np.testing.assert_allclose(crossed, q, atol=1e-9)
    assert parallelogram.assemble([-1.0], guess=crossed).lost


def test_legs_stay_in_their_way():
    """A leg of 3rpr that is pulled together almost to its pivot: Newton's steps may come out on the other side."""
    robot = linkwork.load("3rpr")
    near = robot.assemble([-0.41625968, -0.17694631, 0.42755881]).require()
    goal = [-0.48508632, -0.07700217, 0.5071257]
    found = robot.assemble(goal, guess=near).require()
    slides = [robot.position_names.index(name) for name in robot.motor_names]
    assert (found[slides] > 0).all() and (near[slides] > 0).all()
    np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * robot.assemble(goal).require()), atol=1e-9)


def test_a_platform_without_closed_form_is_followed():
    """Its pose in strides, quaternion and all: as small steps from one guess to the next lead."""
    robot = linkwork.load(with_joints_for_balls(linkwork.io.read("gough-stewart"), 1))
    home, way = np.array(robot.home), np.array([0.1, -0.2, 0.1, 0.2, -0.3, 0.2, 0.0])
    pose = home[:7] + np.linspace(0, 1, 11)[:, None] * way
    q = home
    for each in pose[1:]:
        q = robot.assemble(each, guess=q).require()
    for sign in (1, -1):
        found = robot.assemble(pose[-1] * [1, 1, 1, *4 * [sign]])
        np.testing.assert_allclose(found.require()[7:], q[7:], atol=1e-9)
        np.testing.assert_allclose(found.q[3:7], sign * q[3:7], atol=1e-12)


def test_a_moving_base_may_be_anywhere():
    """It does not enter the loops, so far away is no longer a way."""
    robot = linkwork.load(four_bar(floating=True))
    base = [100.0, -50.0, 3.0, 0.5, -0.5, 0.5, 0.5]
    found = robot.assemble([*base, 1.0])
    assert found.iterations <= 8
    assert_same_angles(found.require()[7:], in_closed_form(np.array([1.0]), 1)[0])


def test_a_whole_turn_of_a_plate_is_no_way():
    """Of a planar joint, which goes the shorter way around: the leg ends where it does at the angle less the turn."""
    links = [Link(name, inertia(np.random.default_rng(0))) for name in ("plate", "upper", "lower", "hand")]
    joints = [JointDescription("base", "planar", "ground", "plate")]
    for name, parent, child in (("a", "ground", "upper"), ("b", "upper", "lower"), ("c", "lower", "hand")):
        at = Placement(translation=np.array([0.0 if parent == "ground" else 0.4, 0.0, 0.0]))
        joints.append(JointDescription(name, "continuous", parent, child, at))
    tip, rim = (Placement(translation=np.array([x, 0.0, 0.0])) for x in (0.2, 0.1))
    loop = ConstraintDescription("pin", CUT_JOINTS["revolute"], ("hand", tip), ("plate", rim))
    home = {"base": (0.4, 0.3, 0.0), "a": 0.2, "b": 0.8, "c": 0.5}
    bodies = (Link("ground", None), *links)
    plate = Description("plate", bodies, tuple(joints), constraints=(loop,), home=home, independent=("base", "a"))
    robot = linkwork.load(replace(plate, redundant=True))
    near, far = (robot.assemble([0.35, 0.35, angle, 0.3]).require() for angle in (-0.2, -0.2 + 2 * np.pi))
    np.testing.assert_allclose(far - near, [0, 0, 2 * np.pi, 0, 0, 0], atol=1e-11)


def test_far_along_gears():
    """A fine screw after many turns: one stride, since it bends nothing; within the last bits of such numbers."""
    joints = tuple(
        JointDescription(name, kind, "base" if k == 0 else "link0", f"link{k}", role=role)
        for k, (name, kind, role) in enumerate([("motor", "revolute", "active"), ("slide", "prismatic", "passive")])
    )
    links = (Link("base"), *(Link(f"link{k}", inertia=inertia(np.random.default_rng(k))) for k in range(2)))
    gear = ConstraintDescription(
        "screw", Gear((("motor", 1), ("slide", -6e5))), ("link0", Placement()), ("link1", Placement())
    )
    found = linkwork.load(Description("screw", links, joints, constraints=(gear,))).assemble([3e5])
    assert np.allclose(found.require(), [3e5, 0.5], rtol=1e-15) and found.iterations == 4
