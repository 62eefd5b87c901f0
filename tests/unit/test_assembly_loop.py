"""``assemble`` as a compiled quantity: against Robot.assemble and the constraint Jacobian, exported, and refused."""

import json
import re
from functools import partial

import numpy as np
import pytest
from typer.testing import CliRunner

import linkwork
from linkwork.cli import app
from linkwork.constraints import ConstraintEquations
from linkwork.errors import LinkworkError, UnsupportedError
from linkwork.function import Function
from linkwork.targets.c_source import c_source

ROBOTS = {
    "four-bar": None,
    "five-bar": None,
    "slider-crank": None,
    "parallelogram": None,
    "spatial-7r": None,  # redundant equations, an axis that could point the wrong way
    "3rpr": None,
    "delta": None,
    "gough-stewart": None,
    "hybrid-3rpr": None,
    "car": None,  # a moving base, wheels
    "gough-stewart from the platform": ("platform_joint",),
    "delta from the platform": ("x", "y", "z"),
    "five-bar from one side": ("left", "left_elbow"),
}


def made(case, **options):
    robot = linkwork.load(case.split(" from")[0])
    return robot, robot.compile("assemble", known=ROBOTS[case], **options)


def states(robot, function, count=20):
    """Known positions near home, and home as the guess."""
    layout = function.label.layouts["positions"]
    places = robot.model.coordinates.places(layout.joints)
    home = np.array(robot.model.home)
    q = np.tile(home, (count, 1))
    shift = np.random.default_rng(2).uniform(-0.03, 0.03, (count, robot.model.coordinates.nv))
    moved = np.array([robot.model.moved(one.tolist(), step.tolist()) for one, step in zip(q, shift)])
    return moved[:, places], home, places


@pytest.mark.parametrize("case", ROBOTS)
def test_it_closes_the_loops_as_assemble_does(case):
    robot, function = made(case)
    positions, home, places = states(robot, function)
    found = function(positions, home)
    known = function.label.layouts["positions"].joints
    expected = robot.assemble(positions, known=None if case == "car" else known)  # the joints of its base have no names
    both = (found.solved == 1) & expected.solved
    assert both.sum() >= 18
    np.testing.assert_allclose(found.q[both], expected.q[both], rtol=0, atol=1e-10)
    assert np.array_equal(found.q[:, places], positions)
    r = np.linalg.norm(robot.loop_residual(found.q[both]), axis=-1) if not robot.model.switched else 0
    if case not in ("car",):  # whose residual has rolling rows, too
        np.testing.assert_allclose(r, found.residual[both], rtol=0, atol=1e-14)
    assert (found.residual[both] <= 1e-12).all() or case == "spatial-7r"
    again = function(positions[both], found.q[both])  # from the result: no step
    assert (again.turns == 0).all()
    np.testing.assert_allclose(again.q, found.q[both], rtol=0, atol=1e-15)  # quaternions are normalised


@pytest.mark.parametrize("case", [case for case in ROBOTS if case != "car"])
def test_derivatives_are_those_of_the_closed_loops(case):
    robot, function = made(case)
    positions, home, places = states(robot, function, 5)
    found = function(positions, home)
    slopes = function.derivative("positions")(positions, home)
    model, layout = robot.model, function.label.layouts["positions"]
    known = [k for name in layout.joints for k in model.joint_freedoms(name)]
    free = [k for k in range(model.coordinates.nv) if k not in known]
    for k in np.flatnonzero(found.solved == 1):
        J = np.array(ConstraintEquations.closing(model, found.q[k].tolist()).J, float)
        for column in range(len(known)):
            v = np.zeros(model.coordinates.nv)
            v[known[column]] = 1
            v[free] = -np.linalg.lstsq(J[:, free], J[:, known[column]], rcond=None)[0]
            rate = robot.coordinates.rates(found.q[k], v)
            along = rate[places]
            got = slopes.dq_dpositions[k] @ along
            np.testing.assert_allclose(got, rate, rtol=0, atol=1e-9 * (1 + np.abs(rate).max()))
    assert np.abs(slopes.dresidual_dpositions).max() == 0 and np.abs(slopes.dsolved_dpositions).max() == 0
    assert not np.any(function.derivative("guess")(positions, home).dq_dguess)


def test_second_derivatives():
    """The second derivatives of the four-bar are differences of the first ones."""
    _, function = made("four-bar")
    home, h = np.array(linkwork.load("four-bar").model.home), 1e-5
    second = function.hessian("positions", of="q")([home[0] + 0.1], home)
    first = function.derivative("positions", of="q")
    difference = (first([home[0] + 0.1 + h], home) - first([home[0] + 0.1 - h], home)) / (2 * h)
    np.testing.assert_allclose(second[..., 0], difference, rtol=0, atol=1e-8)


def test_warm_started_along_a_path():
    """The platform's legs move in a circle; each state starts from the one before, in the same assembly mode."""
    robot, function = made("gough-stewart")
    q, (positions, _, places) = np.array(robot.model.home), states(robot, function, 1)
    for t in np.linspace(0, 2 * np.pi, 200):
        positions = np.array(robot.model.home)[places] + 0.05 * np.sin(t + np.arange(6))
        found = function(positions, q)
        assert found.solved and found.residual < 1e-12 and found.turns <= 4
        q = found.q
    expected = robot.assemble(positions, known=robot.motor_names).require()
    np.testing.assert_allclose(q, expected, rtol=0, atol=1e-11)


def test_out_of_reach():
    robot, function = made("3rpr")
    positions, home, _ = states(robot, function, 3)
    positions[1] += 50
    positions[2, 0] = np.nan
    found = function(positions, home)
    assert found.solved.tolist() == [1, 0, 0]
    assert found.turns[1] == 30 and found.residual[1] > 1 and np.isnan(found.residual[2])


def test_float32_and_interpreter():
    robot, function = made("delta")
    positions, home, _ = states(robot, function)
    expected = function(positions, home)
    slow = made("delta", backend="interpreter")[1](positions, home)
    single = made("delta", dtype="float32")[1](positions.astype("f4"), home.astype("f4"))
    np.testing.assert_allclose(slow.q, expected.q, rtol=0, atol=1e-11)
    assert np.array_equal(slow.turns, expected.turns)
    assert single.q.dtype == np.float32 and single.solved.all()
    np.testing.assert_allclose(single.q, expected.q, rtol=0, atol=1e-4)


def test_in_a_function_of_ones_own():
    """Where the platform is, from the lengths of the legs; and on plain numbers."""
    robot, function = made("gough-stewart")
    frame = robot.frame_names[-1]

    def forward(robot, lengths, guess):
        q = robot.assemble(lengths, guess, known=linkwork.load("gough-stewart").motor_names).q
        return {"T": robot.pose(frame, q), "q": q}

    f = robot.function(forward, lengths=6)  # the guess has the robot's shape
    positions, home, _ = states(robot, function, 4)
    found = f(positions, home)
    np.testing.assert_allclose(found.T, robot.pose(frame, function(positions, home).q), rtol=0, atol=1e-14)
    plain = forward(linkwork.TracedRobot(robot), positions[0], home)
    np.testing.assert_allclose(plain["q"], found.q[0], rtol=0, atol=1e-12)


def test_options_in_a_function_of_ones_own():
    """Two steps from a guess are not three; what numbers are inputs, and the number type, hold inside, too."""
    robot, function = made("four-bar", inputs=["geometry:coupler"])
    guess, other = np.array(robot.home), 1.01 * np.array(function.label.nominal["geometry_coupler"].values)

    def after(robot, positions, guess, *, turns=30):
        return robot.assemble(positions, guess, turns=turns)._asdict()

    two, three, single, longer = (
        robot.function(partial(after, turns=2))(guess[:1] + 0.4, guess),
        robot.function(partial(after, turns=3))(guess[:1] + 0.4, guess),
        robot.function(after, dtype="float32")(guess[:1] + 0.4, guess),
        robot.function(after, inputs=["geometry:coupler"])(guess[:1] + 0.4, guess, other),
    )
    assert (two.turns, two.solved, three.turns) == (2, 0, 3) and three.residual < 0.1 * two.residual
    assert single.solved == 1 and single.residual < 1e-5
    alone = function(guess[:1] + 0.4, guess, other)
    assert longer.solved and np.abs(longer.q - three.q).max() > 1e-3
    np.testing.assert_allclose(longer.q, alone.q, rtol=0, atol=1e-15)


@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_with_other_quantities(backend):
    """Its inputs are its own: ``q`` is that of the other quantities."""
    robot, function = made("gough-stewart")
    frame = robot.frame_names[-1]
    positions, home, _ = states(robot, function, 5)
    f = robot.compile(["assemble", f"pose:{frame}", "bias"], inputs=["gravity"], backend=backend)
    assert f.signature.startswith("positions(6), guess(25), q(25), v(6), gravity(3) -> assemble_q(25), ")
    expected = function(positions, home)
    found = f(positions, home, expected.q, np.ones(6))
    np.testing.assert_allclose(found.assemble_q, expected.q, rtol=0, atol=1e-12)
    assert found.assemble_solved.all() and np.array_equal(found.assemble_turns, expected.turns)
    np.testing.assert_allclose(found.pose, robot.pose(frame, expected.q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.bias, robot.bias(expected.q, np.ones(6)), rtol=1e-12)
    places = robot.model.coordinates.places(("platform_joint",))
    g = robot.compile({"A": "assemble", "T": f"pose:{frame}"}, known=["platform_joint"], backend=backend)
    by_name = dict(zip(g.label.layouts["positions"].names, home[places], strict=True))
    assert g(by_name, dict(zip(robot.coordinates.names, home)), home).A_turns == 0


def test_named_positions_save_and_load(tmp_path):
    robot, function = made("four-bar")
    home = robot.model.home
    by_name = function({"crank": home[0] + 0.1}, dict(zip(robot.coordinates.positions.joints, home)))
    q = function([home[0] + 0.1], home).q
    assert [*by_name.q] == [*robot.coordinates.positions.joints] and [*by_name.q.values()] == q.tolist()
    function.save(tmp_path / "f.json")
    assert np.array_equal(Function.load(tmp_path / "f.json")([home[0] + 0.1], home).q, q)


def test_the_source_is_short():
    _, function = made("gough-stewart")
    assert len(c_source(function, "name")["name.c"]) < 60_000


def command(*words):
    return CliRunner().invoke(app, words)


def test_commands(tmp_path):
    counted = command("count", "four-bar", "--quantity", "assemble").output
    assert "a turn, of at most 31" in counted
    table = command("count", "four-bar", "--quantity", "assemble", "--derivatives").output
    assert "dq_dpositions" in table
    words = ("export", "four-bar", "--quantity", "assemble", "--output", str(tmp_path / "folder"))
    assert command(*words).exit_code == 0
    assert len(list((tmp_path / "folder").iterdir())) == 4
    timed = command("bench", "four-bar", "--quantity", "assemble", "--quantity", "bias", "--batch", "8")
    assert "together" in timed.output and "assemble" in command("inspect", "four-bar").output
    for refused in (["count", "panda", "--quantity", "assemble"], ["eval", "panda", "assemble"],
                    ["equations", "four-bar", "--quantity", "assemble"],
                    ["count", "four-bar", "--quantity", "assemble", "--passes"]):  # fmt: skip
        result = command(*refused)
        assert result.exit_code == 1 and isinstance(result.exception, LinkworkError) and "fix:" in str(result.exception)


def test_known_joints_of_an_export(tmp_path):
    """The states of its test have the known joints near closed states, so that the loops close."""
    words = ("export", "five-bar", "--quantity", "assemble", "--known", "left", "--known", "left_elbow")
    assert "positions(2), guess(4)" in command(*words, "--output", str(tmp_path / "c")).output
    (test,) = (tmp_path / "c").glob("*_test.c")
    _, _, solved = test.read_text().partition("expected_solved")
    assert set(re.findall(r"\{([\d.]+)\}", solved.partition(";")[0])) == {"1.0"}
    refused = command("export", "five-bar", "--quantity", "bias", "--known", "left", "--output", str(tmp_path / "x"))
    assert "has no known joints" in str(refused.exception) and not (tmp_path / "x").exists()


def test_evaluated(tmp_path):
    """At one state, with other numbers, and at the states of a file."""
    robot, function = made("five-bar")
    words = ("eval", "five-bar", "assemble", "--positions", "left=2,right=1.1")
    told = json.loads(command(*words, "--json").output)
    expected = function([2.0, 1.1], robot.home)
    assert told["output"]["q"] == expected.q.tolist() and told["output"]["solved"] == 1
    text = command("eval", "five-bar", "assemble").output
    assert "Not given, so at home: positions, guess." in text.replace("\n", " ")
    entries = robot.compile("assemble", inputs=["geometry:left_elbow"])
    numbers = np.array(entries.label.nominal["geometry_left_elbow"].values) * 1.01
    given = "geometry:left_elbow=" + ",".join(f"{x:.17g}" for x in numbers)
    told = json.loads(command(*words, "--inputs", given, "--json").output)
    assert told["output"]["q"] == entries([2.0, 1.1], robot.home, numbers).q.tolist()
    positions = np.array([[2.0, 1.1], [2.1, 1.0]])
    np.savez(tmp_path / "states.npz", positions=positions)
    words = ("eval", "five-bar", "assemble", "--guess", ",".join(map(repr, robot.home)))
    command(*words, "--input", str(tmp_path / "states.npz"), "--output", str(tmp_path / "out.npz"))
    with np.load(tmp_path / "out.npz") as found:
        assert np.array_equal(found["q"], function(positions, robot.home).q)


FIVE_BAR = linkwork.load("five-bar")
REFUSED = {
    "no loops": (lambda: linkwork.load("panda").compile("assemble"), UnsupportedError, "no loops"),
    "too few": (lambda: FIVE_BAR.compile("assemble", known=["left"]), LinkworkError, "do not determine"),
    "unknown": (lambda: FIVE_BAR.compile("assemble", known=["middle"]), LinkworkError, "middle"),
    "no loops, with others": (lambda: linkwork.load("panda").compile(["bias", "assemble"]), UnsupportedError, "loops"),
    "not names": (lambda: FIVE_BAR.compile("assemble", known=[1]), LinkworkError, "not names"),
    "a frame": (lambda: FIVE_BAR.compile("assemble", frame="base"), LinkworkError, "no frame"),
    "a method": (lambda: FIVE_BAR.compile("assemble", method="rnea"), LinkworkError, "no method"),
    "wrenches": (lambda: FIVE_BAR.compile("assemble", wrenches=["a"]), LinkworkError, "no wrenches"),
    "known of others": (lambda: FIVE_BAR.compile("bias", known=["left"]), UnsupportedError, "known"),
    "known of several": (lambda: FIVE_BAR.compile(["bias", "gravity"], known=["left"]), LinkworkError, "known"),
    "equations": (lambda: FIVE_BAR.symbolic("assemble"), UnsupportedError, "loops has no list of equations"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    function, error, message = REFUSED[what]
    with pytest.raises(error, match=message):
        function()
