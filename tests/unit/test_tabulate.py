"""Tables of the configuration space: exact at the grid, second order between, refused past the limit."""

from itertools import pairwise

import numpy as np
import pytest

import linkwork
from linkwork.coefficient_tables import tabulate
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.model import build
from support.evaluate import assert_close
from support.mixed_trees import MixedRecipe, mixed
from support.random_robots import Recipe, describe, random_state

WRIST = {"wrist_roll": 0.1, "wrist_bend": 0.4, "flange_roll": 0.0}


def puma3():
    return linkwork.load("puma560", lock=WRIST)


def on_grid(tables, seed: int = 0, count: int = 50):
    """Random states whose positions are grid points."""
    rng = np.random.default_rng(seed)
    q = np.stack([rng.choice(np.linspace(x.lower, x.upper, x.points), count) for x in tables.axes], axis=1)
    v, a = rng.uniform(-2, 2, (2, count, tables.robot.nv))
    return q, v, a


@pytest.mark.parametrize("robot", [linkwork.load("planar2r"), linkwork.load("scara"), puma3()], ids=lambda r: r.name)
def test_exact_at_grid_points(robot):
    """Friction and rotor inertia included."""
    tables = tabulate(robot, 5)
    state = on_grid(tables)
    assert_close(tables.inverse_dynamics(*state), robot.inverse_dynamics(*state))


def test_springs_friction_and_rotors_are_those_of_the_robot():
    model = build(describe(Recipe(seed=4, joints=3, extras=True)))
    tables = tabulate(model, 4, limits=dict.fromkeys(model.joint_names, (-2.0, 2.5)))
    state = on_grid(tables)
    assert_close(tables.inverse_dynamics(*state), linkwork.Robot(model).inverse_dynamics(*state))
    q, v, a = random_state(model)
    q = np.clip(q, -1.9, 1.9)
    backwards = tables.inverse_dynamics(q, -v, a) - tables.inverse_dynamics(q, v, a)  # odd in v: friction alone
    exact = linkwork.Robot(model).inverse_dynamics
    assert_close(backwards, exact(q, -v, a) - exact(q, v, a))


@pytest.mark.parametrize("robot", [linkwork.load("planar2r"), linkwork.load("scara"), puma3()], ids=lambda r: r.name)
def test_error_falls_with_the_square_of_the_resolution(robot):
    reports = [tabulate(robot, resolution).report(samples=500) for resolution in (4, 8, 16)]
    for coarse, fine in pairwise(reports):
        assert fine.memory > coarse.memory
        assert fine.rms_error < coarse.rms_error / 2.5 and fine.max_error < coarse.max_error
    assert reports[-1].rms_error < 0.05
    assert "kB" in str(reports[-1]) and "ns per state" in str(reports[-1])


def test_coefficients_are_those_of_the_robot():
    robot = puma3()
    tables = tabulate(robot, 6)
    q, v, _ = on_grid(tables, count=7)
    G, J, C = tables.coefficients(q)
    assert (G.shape, J.shape, C.shape) == ((7, 3), (7, 3, 3), (7, 3, 3, 3))
    assert_close(G, robot.gravity(q))
    assert_close(J, robot.inertia_matrix(q))
    assert_close(np.einsum("zijk,zj,zk->zi", C, v, v), np.einsum("zij,zj->zi", robot.coriolis_matrix(q, v), v))


def test_a_coefficient_is_tabulated_over_its_own_joints_only():
    """The inertia of a planar arm depends on the elbow alone: 3 values; gravity on both joints: 2."""
    assert tabulate(linkwork.load("planar2r"), 10).memory == 8 * (3 * 10 + 2 * 10 * 10)
    # gravity along the axes: a SCARA's shoulder and lift do not matter
    assert (
        tabulate(linkwork.load("scara"), [2, 7, 2, 5]).memory == tabulate(linkwork.load("scara"), [9, 7, 9, 5]).memory
    )


def test_positions_of_a_joint_without_limits_are_taken_modulo_a_turn():
    tables = tabulate(linkwork.load("planar2r"), 8)
    rng = np.random.default_rng(3)
    q, v, a = rng.uniform(-3, 3, (3, 20, 2))
    assert_close(tables.inverse_dynamics(q + 2 * np.pi * np.array([3, -2]), v, a), tables.inverse_dynamics(q, v, a))


def test_batches_and_single_states():
    tables = tabulate(puma3(), 4)
    q, v, a = on_grid(tables, count=6)
    flat = tables.inverse_dynamics(q, v, a)
    assert flat.shape == (6, 3)
    assert (
        tables.inverse_dynamics(q.reshape(2, 3, 3), v.reshape(2, 3, 3), a.reshape(2, 3, 3)).reshape(6, 3) == flat
    ).all()
    assert (tables.inverse_dynamics(q[2], v[2], a[2]) == flat[2]).all()
    assert (tables.inverse_dynamics(q, v[0], a[0])[0] == flat[0]).all()
    many = np.resize(q, (10_000, 3))  # more than are interpolated at a time
    assert (tables.inverse_dynamics(many, v[0], a[0])[6:12] == tables.inverse_dynamics(q, v[0], a[0])).all()
    assert tables.inverse_dynamics(q[:0], v[:0], a[:0]).shape == (0, 3)


def test_joints_whose_forces_do_not_depend_on_position():
    robot = linkwork.load(describe(Recipe(seed=1, joints=1, kinds=("prismatic",))))
    tables = tabulate(robot, 3, limits={robot.joint_names[0]: (0, 1)})
    assert tables.memory == 0
    assert_close(tables.inverse_dynamics([0.3], [1.0], [2.0]), robot.inverse_dynamics([0.3], [1.0], [2.0]))


def test_progress_is_told_the_memory_before_it_is_taken():
    told = []
    tables = tabulate(puma3(), 40, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, tables.memory) and told[-1] == (tables.memory, tables.memory)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_terminal_shows_a_bar(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    tabulate(puma3(), 4)
    assert "tables of puma560, 1.25 kB" in capsys.readouterr().err


def test_too_much_memory_is_refused_with_the_resolution_that_fits():
    robot = linkwork.load("panda")
    with pytest.raises(LinkworkError, match=r"would take .* more than the limit of 1 MB") as refused:
        tabulate(robot, 50, memory_limit=1_000_000)
    fits = int(refused.value.expected.split()[1])
    assert refused.value.expected == f"resolution {fits} at most"
    assert tabulate(robot, fits, memory_limit=1_000_000).memory <= 1_000_000
    with pytest.raises(LinkworkError):
        tabulate(robot, fits + 1, memory_limit=1_000_000)
    with pytest.raises(LinkworkError, match="even resolution 2 is too much"):
        tabulate(robot, 2, memory_limit=100)


def test_default_limit_is_a_gibibyte():
    with pytest.raises(LinkworkError, match=r"limit of 1.07 GB"):
        tabulate(linkwork.load("panda"), 100)


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ((1,), ShapeError, "wrong resolution"),
        ((0.5,), ShapeError, "wrong resolution"),
        (([4, 4],), ShapeError, "or 4 of them"),
    ],
)
def test_bad_resolutions(arguments, error, words):
    with pytest.raises(error, match=words):
        tabulate(linkwork.load("scara"), *arguments)


def test_bad_limits_and_positions():
    robot = linkwork.load("scara")
    with pytest.raises(UnknownNameError, match="did you mean 'elbow'"):
        tabulate(robot, 4, limits={"elbo": (0, 1)})
    with pytest.raises(LinkworkError, match="no range to tabulate"):
        tabulate(robot, 4, limits={"elbow": (1, 1)})
    tables = tabulate(robot, 4)
    with pytest.raises(LinkworkError, match=r"joint 'elbow' is outside its table\n  got: 3.0"):
        tables.inverse_dynamics([0, 3, 0, 0], [0] * 4, [0] * 4)
    with pytest.raises(LinkworkError, match="joint 'roll' is outside its table"):
        tables.inverse_dynamics([0, 0, 0, np.nan], [0] * 4, [0] * 4)
    with pytest.raises(ShapeError, match="input 'v'"):
        tables.inverse_dynamics([0] * 4, [0] * 3, [0] * 4)


@pytest.mark.parametrize(
    "robot",
    [
        linkwork.load("quadruped"),
        linkwork.load("quadruped", base="fixed"),
        build(describe(Recipe(seed=2, joints=6, mimic=True))),
        build(mixed(MixedRecipe(kinds=("revolute", "universal")))),
        build(mixed(MixedRecipe(kinds=("revolute", "floating")))),
    ],
    ids=["floating", "tree", "mimic", "universal", "floating in the middle"],
)
def test_robots_that_cannot_be_tabulated(robot):
    with pytest.raises(UnsupportedError, match="cannot be tabulated"):
        tabulate(robot, 4)


def test_a_screw_has_no_turn_after_which_all_is_as_before():
    robot = linkwork.load(mixed(MixedRecipe(kinds=("revolute", "helical", "revolute"))))
    screw = robot.joint_names[1]
    with pytest.raises(LinkworkError, match=f"{screw!r} has no range"):
        tabulate(robot, 4)
    tables = tabulate(robot, 4, limits={screw: (-4.0, 9.0)})
    state = on_grid(tables)
    assert_close(tables.inverse_dynamics(*state), robot.inverse_dynamics(*state))
