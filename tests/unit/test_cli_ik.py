"""``linkwork ik``: a pose from the command line, with what is printed and the exit code."""

import json
import re
from functools import partial

import numpy as np
import pytest

import linkwork
from linkwork.rotations import log

AT = ("--xyz", "0.4,0.1,0.5")
DOWN = ("--rpy", f"{np.pi},0,0")


@pytest.fixture
def run(run_linkwork):
    return partial(run_linkwork, "ik")


@pytest.fixture
def values(run):
    """Runs the command with --json; returns exit code and results."""

    def call(*words):
        code, out, err = run(*words, "--json")
        assert not err
        return code, json.loads(out)

    return call


def test_a_pose(values):
    robot = linkwork.load("panda")
    code, found = values("panda", "--frame", "panda_link8", *AT, "--rpy", "0.3,-0.2,1.1")
    cr, sr, cp, sp, cy, sy = (f(x) for x in (0.3, -0.2, 1.1) for f in (np.cos, np.sin))
    R = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]]) @ [[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]]
    R = R @ [[1, 0, 0], [0, cr, -sr], [0, sr, cr]]
    T = robot.pose("panda_link8", found["q"])
    assert code == 0 and found["solved"] is True and found["labels"] == list(robot.coordinates.names)
    assert np.allclose(T[:3, 3], [0.4, 0.1, 0.5], atol=2e-9) and np.abs(log(R @ T[:3, :3].T)).max() < 2e-9
    assert np.allclose(found["target"], T, atol=2e-9)
    assert found["error"] <= 1e-9 and found["iterations"] > 0 and found["unseen"] is None


def test_a_position_or_an_orientation_alone(values):
    robot = linkwork.load("quadruped")
    foot = next(name for name in robot.frame_names if name.endswith("_foot"))
    code, found = values("quadruped", "--frame", foot, "--xyz", "0.2,0.1,-0.3")
    assert code == 0 and np.allclose(robot.pose(foot, found["q"])[:3, 3], [0.2, 0.1, -0.3], atol=2e-9)
    code, found = values("ur5e", "--frame", "tool0", *DOWN, "--no-limits")
    R = linkwork.load("ur5e").pose("tool0", found["q"])[:3, :3]
    assert code == 0 and np.allclose(R, np.diag([1, -1, -1]), atol=2e-9)


def test_all_solutions(run, values):
    code, found = values("ur5e", "--frame", "tool0", *AT, *DOWN, "--all")
    assert code == 0 and np.shape(found["q"]) == (8, 6) and found["solved"] == [True] * 8
    code, out, _ = run("ur5e", "--frame", "tool0", *AT, *DOWN, "--all")
    row = next(line for line in out.splitlines() if line.startswith("shoulder_pan_joint"))
    assert code == 0 and np.allclose([float(x) for x in row.split()[1:]], np.array(found["q"])[:, 0], rtol=1e-5)


def test_the_guess_and_the_limits(values):
    _, found = values("ur5e", "--frame", "tool0", *AT, *DOWN, "--guess", "3,-1.5,1.5,0,-1.5,-1.6")
    _, every = values("ur5e", "--frame", "tool0", *AT, *DOWN, "--all", "--guess", "3,-1.5,1.5,0,-1.5,-1.6")
    assert np.allclose(found["q"], every["q"][0], atol=1e-6)
    robot = linkwork.load("panda")
    far = ("panda", "--frame", "panda_link8", "--xyz", "0.05,0,0.3", "--rpy", "0,0,0")
    _, within = values(*far)
    _, free = values(*far, "--no-limits")
    assert free["solved"] and not within["solved"]
    assert (np.array(within["q"]) >= robot.coordinates.lower).all()


@pytest.mark.parametrize("words", [(), ("--all",)])
def test_out_of_reach(run, values, words):
    far = ("ur5e", "--frame", "tool0", "--xyz", "2,0.1,0.5", *DOWN, *words)
    code, found = values(*far)
    q, error = np.atleast_2d(found["q"]), np.atleast_1d(found["error"])
    assert code == 1 and not np.any(found["solved"]) and len(q) == 1 and np.isfinite(q).all()
    T = linkwork.load("ur5e").pose("tool0", q[0])
    rest = np.concatenate([[2, 0.1, 0.5] - T[:3, 3], log(np.diag([1.0, -1, -1]) @ T[:3, :3].T)])
    assert np.isclose(np.linalg.norm(rest), error[0], rtol=1e-12)
    code, out, _ = run(*far)
    assert re.search(rf"Out of reach: .* with an error of {error[0]:.3g} \(m, rad\)\.", out)
    assert code == 1 and "nan" not in out


@pytest.mark.parametrize("words, message", [
    (("--frame", "tool0"), "there is no target"),
    (AT, "--frame"),
    (("--frame", "nope", *AT), "there is no frame 'nope'"),
    (("--frame", "tool0", "--xyz", "1,2"), "three finite numbers"),
    (("--frame", "tool0", "--xyz", "1,2,nan"), "three finite numbers"),
    (("--frame", "tool0", "--rpy", "1,2,x"), "is not a number"),
    (("--frame", "tool0", *AT, "--guess", "1,2"), "wrong number of values"),
    (("--frame", "tool0", *AT, "--all"), "infinitely many solutions"),
])  # fmt: skip
def test_wrong_words(run, words, message):
    code, out, err = run("ur5e", *words)
    assert code in (1, 2) and message in out + err and "Traceback" not in out + err
