"""``linkwork time-path``: table, files, options, and what is wrong with a command."""

import json
from functools import partial

import numpy as np
import pytest

import linkwork
from linkwork import Trajectory

POINTS = np.array([[0.0, -1.5, 1.0, 0, 0.5, 0], [0.8, -1.0, 0.5, 0.2, 0.5, 0], [1.0, -1.2, 1.2, 0.4, -0.5, 0.3]])


@pytest.fixture
def run(run_linkwork, monkeypatch, tmp_path):
    """Runs ``linkwork time-path`` in a folder with a path; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    names = linkwork.load("ur5e").joint_names
    header = ",".join(f"q:{name}" for name in names)
    np.savetxt("path.csv", POINTS, delimiter=",", header=header, comments="")
    np.savez("path.npz", q=POINTS)
    np.savez("several.npz", q=[POINTS])
    return partial(run_linkwork, "time-path")


def test_table_and_files(run, tmp_path):
    code, out, err = run("ur5e", "path.csv", "-o", "motion.npz", "--plot", "m.png", "--acceleration", 20, "--dt", 0.01)
    assert (code, err) == (0, "")
    timed = linkwork.load("ur5e").time_path(POINTS, acceleration=20)
    assert f"{timed.duration:.4g} s" in out and "wrote motion.npz" in out
    motion, expected = Trajectory.load(tmp_path / "motion.npz"), timed.trajectory(0.01)
    assert np.array_equal(motion.tau, expected.tau) and np.array_equal(motion.t, expected.t)
    assert (tmp_path / "m.png").read_bytes()[:4] == b"\x89PNG"


def test_json_and_options(run):
    load = "payload:tool0=3,0,0,0.05,0,0,0,0,0,0"
    limits = ("--velocity", "1,1,1,2,2,2", "--torque", "elbow_joint=40", "--acceleration", "wrist_1_joint=5")
    code, out, err = run("ur5e", "path.npz", *limits, "--inputs", load, "--degree", 5, "--gridpoints", 60, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    timed = linkwork.load("ur5e").time_path(
        POINTS, velocity=[1, 1, 1, 2, 2, 2], torque={"elbow_joint": 40}, acceleration={"wrist_1_joint": 5}, degree=5,
        gridpoints=60, inputs={"payload:tool0": [3, 0, 0, 0.05, 0, 0, 0, 0, 0, 0]},
    )  # fmt: skip
    assert found["duration"] == timed.duration and sum(found["limiting"].values()) == pytest.approx(1)
    assert found["shares"]["velocity"]["elbow_joint"] == timed.shares[:, 0, 2].max()
    first = timed.limiting[0]
    assert found["limiting"][first] >= timed.t[1] / timed.duration - 1e-12


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("ur5e", "nothing.csv"), "does not exist"),
        (("ur5e", "several.npz"), "this is not one path"),
        (("ur5e", "path.csv", "--torque", "elbow_joint=5"), "the path has no motion"),
        (("ur5e", "path.csv", "--torque", "a=b"), "is not a number"),
        (("ur5e", "path.csv", "--inputs", "gravity"), "is not of the form NAME=VALUES"),
        (("ur5e", "path.csv", "-o", "motion.txt"), "unknown file format"),
        (("ur5e", "path.csv", "--dt", -1), "out of range"),
        (("four-bar", "path.csv"), "there is no joint"),
    ],
)
def test_mistakes(run, arguments, text):
    code, _, err = run(*arguments)
    assert code and text in " ".join(err.replace("│", " ").split())
