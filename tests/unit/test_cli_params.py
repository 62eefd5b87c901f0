"""``linkwork params`` and ``linkwork mdh``: what they print, and that it is true."""

import json
import math
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import linkwork
from linkwork.cli import mdh, params
from linkwork.errors import UnknownNameError, UnsupportedError
from linkwork.inspection import frames
from linkwork.parameters import base_parameters
from support.evaluate import assert_close, evaluate
from support.random_robots import random_state

app = typer.Typer()
app.command("params")(params.params)
app.command("mdh")(mdh.mdh)
URDF = {
    path.name: path
    for file in files("example-robot-data") or ()
    if (path := Path(str(file.locate()))).suffix == ".urdf"
}

TILTED = """
name: tilted
joints: [{name: j1, link: a}, {name: j2, link: b, alpha: 1e-9, d: 1}, {name: j3, link: c, alpha: 1e-9, d: 1}]
links: [{link: a, M: 1}, {link: b, M: 1}, {link: c, M: 1}]
drives: [{joint: j3, mimic: {joint: j1, multiplier: 0.7}}]
"""


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "160"})
    if result.exception:
        raise result.exception
    return result.output


# -- params ------------------------------------------------------------------------------------------------------------


def test_params():
    text = run("params", "puma560")
    squeezed = [" ".join(line.split()) for line in text.splitlines()]
    assert "XXR2 -1.60186 XX2 - YY2 - d3^2 (M3 + M4 + M5 + M6)" in squeezed
    assert "52 base parameters of 78 standard ones. Rank of the regressor at random states: the same." in text
    assert "1 link1 waist FS1 FV1 ZZ1 IA1 M1 MX1 MY1 MZ1 XX1 XY1 XZ1 YY1 YZ1" in squeezed
    assert "XX2 - YY2 - 0.186451 (M3 + M4 + M5 + M6)" in run("params", "puma560", "--numbers")
    assert "36 base parameters of 60" in run("params", "puma560", "--no-rotors", "--no-friction")
    assert "k_2.x" in run("params", "puma560", "--kind", "lin")


def test_params_of_loops():
    text = run("params", "four-bar")
    assert "MX1 + 0.12 M2 - 0.307692 MX2" in text and "other combinations are possible" in text


def test_params_tell_what_is_assumed(tmp_path):
    path = tmp_path / "tilted.yaml"
    path.write_text(TILTED)
    told = (
        "8 of the base parameters add no more than 1e-15 to the effect of the others near home, which may be rounding"
    )
    assert f"Ambiguous: {told}: they are assumed to act." in " ".join(run("params", str(path)).split())
    assert told in json.loads(run("params", str(path), "--json"))["ambiguity"]
    assert json.loads(run("params", "four-bar", "--json"))["ambiguity"] == ""
    assert "Ambiguous" not in run("params", "four-bar")


def test_params_as_json():
    found = json.loads(run("params", "rx90", "--json"))
    base = base_parameters(linkwork.load("rx90").model)
    assert (found["count"], found["standard_count"], found["rank"]) == (52, 78, 52)
    assert [row["name"] for row in found["parameters"]] == list(base.names)
    values = {row["name"]: row["value"] for row in found["standard"]}
    for row in found["parameters"]:
        total = sum(factor * values[name] for name, factor in row["combination"].items())
        assert math.isclose(total, row["value"], rel_tol=1e-12, abs_tol=1e-15)
    assert found["standard"][0] == {"name": "M1", "value": values["M1"], "status": "no effect", "in": []}


def test_params_refuses():
    with pytest.raises(UnknownNameError, match="there is no kind of base parameters 'mlc'"):
        run("params", "panda", "--kind", "mlc")
    with pytest.raises(UnsupportedError, match="its base floats"):
        run("params", "quadruped", "--kind", "lin")


# -- mdh ---------------------------------------------------------------------------------------------------------------


def test_mdh():
    text = run("mdh", "panda")
    assert "4  panda_joint4  3       0      0      0  pi/2   0.0825   q             0" in text
    assert "7  panda_link7  0  0  0  0     0      -0.384206" in text
    assert "bend1 extends by the length of its link, 0.5 m" in run("mdh", "flexible-two-link")
    boom = next(line for line in run("mdh", "stanford").splitlines() if "boom" in line)
    assert " ".join(boom.split()) == "3 boom 2 1 0 0 pi/2 0 -pi/2 q"


def test_mdh_of_joints_that_turn_and_shift(tmp_path):
    """A screw shifts by its pitch times q; a cylindrical joint has two numbers."""
    (tmp_path / "two.yaml").write_text(
        "name: two\njoints:\n"
        "  - {name: screw, link: nut, kind: helical, pitch: 0.1, r: 0.6}\n"
        "  - {name: rod, link: tip, kind: cylindrical, d: 0.2, r: 0.3}\n"
        "links: [{link: nut, M: 1, central: [1, 1, 1]}, {link: tip, M: 1, central: [1, 1, 1]}]\n"
    )
    rows = frames.mdh(linkwork.load(tmp_path / "two.yaml"))["table"]
    assert [(row["theta"], row["r"]) for row in rows] == [("q", "0.1 q + 0.9"), ("turn", "shift")]
    printed = run("mdh", str(tmp_path / "two.yaml"))
    assert "else the kind" in printed and "else the kind" not in run("mdh", "rx90")
    assert r"$\mathrm{helical}$" in run("mdh", str(tmp_path / "two.yaml"), "--format", "latex")


def test_mdh_formats():
    markdown = run("mdh", "quadruped", "--format", "markdown")
    assert "| 5 | front_right_hip | 1 | 0 | pi/2 | 0 | pi/2 | -0.05 | q - pi/2 | 0.19 |\n" in markdown
    latex = run("mdh", "stanford", "--format", "latex")
    assert r"$3$ & boom & $2$ & $1$ & $0$ & $0$ & $\pi/2$ & $0$ & $-\pi/2$ & $q$ \\" in latex
    assert r"wrist\_roll" in latex and latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2
    with pytest.raises(UnknownNameError, match="there is no format 'html'"):
        run("mdh", "panda", "--format", "html")


@pytest.mark.parametrize(
    "source", ["panda", "quadruped", "stanford", "delta", "gough-stewart", "kinova.urdf", "so100.urdf", "anymal.urdf"]
)
def test_mdh_as_yaml_is_the_same_robot(source: str, tmp_path):
    """In its own frames, with the user's where they were: poses to 1e-12, and the same forces."""
    robot = linkwork.load(URDF.get(source, source))
    path = tmp_path / "robot.yaml"
    path.write_text(run("mdh", str(URDF.get(source, source)), "--format", "yaml"))
    again = linkwork.load(path)
    assert (again.joint_names, set(again.frame_names)) == (robot.joint_names, set(robot.frame_names))
    assert frames.table(again.model) == frames.table(robot.model)
    q, v, a = random_state(robot.model, 1)
    if robot.model.permanent:
        q = np.array(robot.home)
    for name in robot.frame_names:
        assert_close(*(evaluate(each.model, "pose", q, frame=name) for each in (again, robot)), scale=1.0)
    assert_close(*(evaluate(each.model, "inverse_dynamics", q, v, a) for each in (again, robot)), tolerance=1e-11)


def test_seats_and_table_place_every_frame():
    """Rows multiplied out, then back from the frame to its link: the pose of the link at zero."""
    model = linkwork.load(URDF["kinova.urdf"]).model
    rows = {int(row[0]): [number(text) for text in row[4:]] for row in frames.table(model)}
    at = {0: np.eye(4)}
    for i, body in enumerate(model.bodies, 1):
        gamma, b, alpha, d, theta, r = rows[i]
        at[i] = at[body.parent] @ screw("z", gamma, b) @ screw("x", alpha, d) @ screw("z", theta, r)
        x, y, z, roll, pitch, yaw = map(number, frames.seats(model)[i - 1][2:])
        seat = screw("z", yaw, 0) @ screw("y", pitch, 0) @ screw("x", roll, 0)
        seat[:3, 3] = x, y, z
        pose = evaluate(model, "pose", np.zeros(model.nq), frame=body.name)
        assert_close(at[i], pose @ seat, tolerance=1e-4)  # six digits are printed


def number(text: str) -> float:
    text = text.replace("q + ", "").replace("q - ", "-").replace("q", "0").replace("--", "")
    return eval(text.replace(" pi", "*pi"), {"pi": math.pi})


def screw(axis: str, angle: float, length: float) -> np.ndarray:
    k = "xyz".index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    T = np.eye(4)
    T[i, i] = T[j, j] = math.cos(angle)
    T[j, i], T[i, j] = math.sin(angle), -math.sin(angle)
    T[k, 3] = length
    return T
