"""``linkwork excite``: tables, files, pictures, options, and what is wrong with a command."""

import json
import re
from functools import partial

import numpy as np
import pytest

import linkwork
from linkwork import Trajectory
from linkwork.identify.excitation.excite import excite

QUICK = ("--harmonics", 2, "--starts", 1)


@pytest.fixture
def run(run_linkwork, monkeypatch, tmp_path):
    """Runs ``linkwork excite`` in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    return partial(run_linkwork, "excite")


def test_tables_and_files(run, tmp_path):
    code, out, err = run("planar2r", *QUICK, "-o", "motion.csv", "--plot", "e.png", "--rate", 50)
    assert (code, err) == (0, "")
    expected = excite(linkwork.load("planar2r"), harmonics=2, starts=1, rate=50)
    reached, best, median = map(float, re.search(r"^condition number +(.*)$", out, re.MULTILINE).group(1).split())
    shown = (expected.condition, *expected.random["condition"].values())
    assert (reached, best, median) == pytest.approx(shown, rel=1e-3) and reached < best < median
    numbers = re.search(r"^elbow +(.*)$", out, re.MULTILINE).group(1).split()
    margin = expected.margin("position", "elbow")
    assert [float(x) for x in numbers[:3]] == pytest.approx([margin.least, margin.most, margin.left], rel=1e-3)
    assert "no limit of velocity is known of any joint" in out and "wrote motion.csv" in out
    assert np.array_equal(Trajectory.load(tmp_path / "motion.csv").q, expected.q)
    assert (tmp_path / "e.png").read_bytes()[:4] == b"\x89PNG"


def test_json_and_options(run):
    options = (
        "--objective",
        "logdet",
        "--velocity",
        "shoulder=1,elbow=2",
        "--acceleration",
        3,
        "--torque",
        "elbow=500",
    )
    places = ("--position", "shoulder=-1:0.5", "--share", 0.5, "--period", 5, "--periods", 2, "--ramp", 1)
    code, out, err = run("planar2r", *QUICK, *options, *places, "--seed", 4, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "") and found["duration"] == 12 and found["objective"] == "logdet"
    limits = {(each["quantity"], each["name"]): (each["lower"], each["upper"]) for each in found["margins"]}
    assert limits["position", "shoulder"] == pytest.approx((-0.625, 0.125))
    assert limits["velocity", "shoulder"] == (-0.5, 0.5) and limits["velocity", "elbow"] == (-1, 1)
    assert limits["acceleration", "elbow"] == (-1.5, 1.5) and limits["torque", "elbow"] == (-250, 250)
    assert limits["torque", "shoulder"] == (None, None)
    assert found["coefficients"]["periods"] == 2 and np.shape(found["coefficients"]["sines"]) == (2, 2)
    assert found["log_determinant"] > found["random"]["log_determinant"]["best"]


def test_room_and_still(run):
    code, out, _ = run(
        "scara", *QUICK, "--still", "roll=0.3", "--frames", "quill", "--height", -5, "--box", "5,5,5,6,6,6"
    )
    assert code == 0 and re.search(r"^height +quill", out, re.MULTILINE) and re.search(r"^clearance", out, re.MULTILINE)
    assert "act in no motion" in out


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("planar2r", "-o", "motion.txt"), 1, "--output motion.txt: unknown file format"),
        (("planar2r", "--plot", "e.doc"), 1, "--plot e.doc: unknown file format"),
        (("planar2r", "--velocity", "fast"), 2, "not a number"),
        (("planar2r", "--velocity", "elbow=1,2"), 2, "JOINT=NUMBER"),
        (("planar2r", "--still", "elbow", "--still", "shoulder=1"), 2, "for all joints or for none"),
        (("planar2r", "--frames", "tip", "--box", "1,2"), 1, "not a box"),
        (("planar2r", "--objective", "speed"), 1, "objective"),
        (("quadruped",), 1, "floating base"),
    ],
)
def test_mistakes(run, tmp_path, words, code, told):
    got, _, err = run(*words, "-o", "motion.csv") if "-o" not in words else run(*words)
    assert got == code and told in re.sub(r"[\s│]+", " ", err)
    assert not any(tmp_path.iterdir())
