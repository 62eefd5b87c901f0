"""``linkwork map``: what it prints, its files and pictures, and what is wrong with a command."""

import json

import numpy as np
import pytest

import linkwork


def test_what_it_prints(run_linkwork):
    code, out, err = run_linkwork(
        "map", "panda", "--frame", "panda_link8", "--quantity", "payload", "--plane", "zx", "--at", "0.1",
        "--cells", "15", "--samples", "30000",
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = linkwork.load("panda").workspace("panda_link8", "payload", plane="zx", at=0.1, cells=15, samples=30_000)
    words = " ".join(out.split())
    assert "panda: largest payload held at rest of panda_link8, 30,000 samples" in words
    assert f"Workspace: area {result.volume():.4g} m^2, error at most {result.error:.2g} m^2" in words
    assert f"{100 * result.share:.3g} % of its bounding box" in words
    assert f"to {np.nanmax(result.values):.4g} kg at z" in words and "y 0.1 m" in words
    place = np.unravel_index(np.nanargmax(result.values), result.values.shape)
    assert f"panda_joint4 {result.q[place][3]:.6g}" in words


def test_json_files_and_pictures(run_linkwork, tmp_path):
    picture, file = tmp_path / "map.png", tmp_path / "map.npz"
    code, out, _ = run_linkwork(
        "map", "five-bar", "--frame", "tool", "--quantity", "conditioning", "--start", "home", "--cells", "20",
        "--length", "0", "--json", "--plot", str(picture), "-o", str(file),
    )  # fmt: skip
    robot = linkwork.load("five-bar")
    result, facts = robot.workspace("tool", "conditioning", start=robot.home, cells=20), json.loads(out)
    assert code == 0 and facts["samples"] == 0 and facts["cells"] == [*result.values.shape]
    assert facts["volume"] == pytest.approx(result.volume()) and facts["share"] == pytest.approx(result.share)
    assert facts["best"] == pytest.approx(np.nanmax(result.values)) and facts["place"]["z"] == 0
    tip = robot.pose("tool", facts["q"])[:2, 3]
    np.testing.assert_allclose(tip, [facts["place"]["x"], facts["place"]["y"]], atol=1e-8)
    with np.load(file) as arrays:
        np.testing.assert_array_equal(arrays["values"], result.values)
    assert picture.stat().st_size > 5000
    q = ",".join(map(str, robot.home))
    _, again, _ = run_linkwork(
        "map", "five-bar", "--frame", "tool", "--quantity", "conditioning", "--start", q, "--cells", "20", "--json"
    )
    assert json.loads(again) == facts


def test_reach_has_no_best_place(run_linkwork):
    code, out, _ = run_linkwork("map", "planar2r", "--frame", "tip", "--samples", "1000")
    assert code == 0 and "Values" not in out and "shoulder" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("map panda --frame hand", "no frame 'hand'"),
        ("map panda --frame panda_link8 --quantity lift", "no quantity 'lift'"),
        ("map panda --frame panda_link8 --plane xx", "unknown plane"),
        ("map panda --frame panda_link8 --plot map.txt", "unknown file format"),
        ("map panda --frame panda_link8 -o map.csv", "unknown file format"),
        ("map panda --frame panda_link8 --start 1,2", "wrong number of values"),
        ("map quadruped --frame trunk", "--base fixed"),
        ("map planar2r --frame tip --quantity payload", "no effort limits"),
    ],
)
def test_mistakes(run_linkwork, words, message):
    code, _, err = run_linkwork(*words.split())
    assert code == 1 and message in " ".join(err.split())


def test_joints_without_limits_are_named_once(run_linkwork, tmp_path):
    (tmp_path / "r.yaml").write_text(
        "{name: r, gravity: [0, -9.81, 0], joints: [{name: a, link: a}, {name: b, link: b, d: 1}],"
        " links: [{link: a, M: 1}, {link: b, M: 1, center: [1, 0, 0]}],"
        " drives: [{joint: a, effort: 40}], frames: [{name: tip, link: b, d: 1}]}"
    )
    code, _, err = run_linkwork(
        "map", str(tmp_path / "r.yaml"), "--frame", "tip", "--quantity", "payload", "--samples", "1000"
    )
    assert code == 0 and err.count("hold any load: b") == 1
