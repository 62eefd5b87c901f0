"""The command line: every command in text and JSON, and what it says when something is wrong."""

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork import inspection
from linkwork.cli import COMMANDS, _loaded, common, printing
from linkwork.cli.demo import showing
from linkwork.formulations import VARIABLES
from linkwork.inspection.measure import seconds
from linkwork.renamed import OPTIONS
from linkwork.symbolic import symbolic

BROKEN = '<robot name="r"><link name="a"/>'
SUSPICIOUS = """<robot name="r"><link name="base"/><link name="arm"/>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
FINE = """<robot name="fine"><link name="base"><visual/></link>
  <link name="arm"><inertial><origin xyz="0.1 0 0.2" rpy="0 0.1 0"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="tool"/>
  <joint name="j" type="revolute"><origin xyz="0 0 1" rpy="0.3 0 0"/><parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="2" effort="3"/><dynamics damping="0.1"/></joint>
  <joint name="t" type="fixed"><origin xyz="0.2 0 0"/><parent link="arm"/><child link="tool"/></joint></robot>"""

STRUCTURES = {
    "panda": "chain",
    "quadruped": "tree, floating base",
    "four-bar": "1 loop",
    "delta": "3 loops",
    "gough-stewart": "6 loops, platform",
    "panda-elastic": "chain, elastic",
    "eel": "chain, floating base",
    "flexible-beam": "chain, bends",
    "quadrotor": "body, floating base",
}
BODIES = "M: 2, center: [0.1, 0.2, -0.1], central: [0.3, 0.01, 0.02, 0.4, 0.03, 0.5]"
MIXED = f"""name: mixed
joints:
  - {{name: screw, link: nut, kind: helical, pitch: 0.01, alpha: 0.3, d: 0.2}}
  - {{name: rod, link: piston, kind: cylindrical, alpha: -pi/2, r: 0.1}}
  - {{name: cross, link: shaft, kind: universal, d: 0.3, theta: 0.4}}
  - {{name: ball, link: hand, kind: spherical, xyz: [0.1, 0.2, 0.3]}}
  - {{name: box, link: box, kind: floating, parent: base, xyz: [1, 0, 0]}}
  - {{name: tray, link: tray, kind: planar, d: 0.2, alpha: 1}}
links: [{", ".join(f"{{link: {name}, {BODIES}}}" for name in ("nut", "piston", "shaft", "hand", "box", "tray"))}]
drives: [{{joint: ball, role: passive, Fv: 0.2}}, {{joint: box, Fv: 0.1}}, {{joint: cross, Ia: 0.1, Fs: 0.3}}]
home: {{ball: [0, 0, 1, 0], tray: [0.1, 0.2, 90 deg]}}
"""
OBJECTS = f"""name: objects
joints:
  - {{name: slab, link: slab, kind: planar, alpha: 0.2, d: 0.1}}
  - {{name: arm, link: arm, d: 0.3}}
  - {{name: box, link: box, kind: floating, parent: base, xyz: [0.5, 0.2, 0.1], rpy: [0, 0, 0.3]}}
  - {{name: lid, link: lid, kind: floating, origin: {{r: 0.2}}, rpy: [0, 0.1, 0]}}
links: [{", ".join(f"{{link: {name}, {BODIES}}}" for name in ("slab", "arm", "box", "lid"))}]
"""
FAR_APART = """name: far
joints: [{name: a, link: arm}, {name: b, link: bar, parent: base, d: 5}]
links: [{link: arm, M: 1, XX: 1, YY: 1, ZZ: 1}, {link: bar, M: 1, XX: 1, YY: 1, ZZ: 1}]
drives: [{joint: b, role: passive}]
loops: [{name: cut, kind: spherical, first: {link: arm, d: 1}, second: {link: bar, d: 1}}]
home: {a: 0.3, b: 2.5}
"""


@pytest.fixture
def run(run_linkwork, monkeypatch):
    """Runs the command line in a terminal of 100 columns; gives exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return run_linkwork


@pytest.fixture
def data(run):
    """Runs a command with --json; gives the data."""

    def call(*words: object):
        code, out, err = run(*words, "--json")
        assert (code, err) == (0, "")
        return json.loads(out, parse_constant=pytest.fail)

    return call


@pytest.fixture
def file(tmp_path):
    def write(name: str, text: str):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


class TestCommandLine:
    def test_version(self, run):
        assert run("--version") == (0, f"linkwork {linkwork.__version__}\n", "")

    @pytest.mark.parametrize("command", COMMANDS)
    def test_help_has_an_example(self, run, command):
        code, out, _ = run(command, "--help")
        assert code == 0
        assert f"linkwork {command}" in out.replace("Usage: linkwork", "")

    @pytest.mark.parametrize(
        "words",
        [
            ["fly"],
            ["inspect"],
            ["inspect", "panda", "--nonsense"],
            ["inspect", "panda", "--gravity", "0,0,down"],
            ["inspect", "panda", "--lock", "panda_joint1"],
            ["eval", "panda", "gravity", "--q", "0,x"],
            ["eval", "panda", "gravity", "--threads", "0"],
            ["eval", "panda", "gravity", "--threads", "many"],
        ],
    )
    def test_bad_usage(self, run, words):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert err

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["inspect", "pandda"], "did you mean 'panda'?"),
            (["inspect", "absent.urdf"], "absent.urdf: the file cannot be read"),
            (["inspect", "panda", "--base", "flying"], "one of: fixed, floating"),
            (["inspect", "panda", "--lock", "panda_joint=1"], "did you mean 'panda_joint"),
            (["count", "panda", "--quantity", "gravitty"], "did you mean 'gravity'?"),
            (["count", "panda", "--method", "abba"], "did you mean 'aba'?"),
            (["count", "panda", "--quantity", "bias", "--method", "aba"], "there is no method of bias 'aba'"),
            (["count", "panda", "--parameters", "standart"], "did you mean 'standard'?"),
            (["count", "panda", "--parameters", "input"], "use --inputs parameters"),
            (["count", "panda", "--frame", "panda_link88"], "did you mean 'panda_link8'?"),
            (["eval", "panda", "gravitty"], "did you mean 'gravity'?"),
            (["eval", "panda", "gravity", "--q", "panda_joint11=1"], "did you mean 'panda_joint1'?"),
            (["eval", "panda", "gravity", "--q", "1,2"], "expected: 7 numbers: panda_joint1"),
            (["eval", "panda", "gravity", "--v", "0,0,0,0,0,0,0"], "gravity does not depend on this"),
            (["eval", "scara", "pose"], "pose needs a frame"),
            (["eval", "scara", "pose"], "fix: give --frame, e.g. --frame "),
            (["eval", "quadruped", "jacobian"], "expected: one of: "),
            (["eval", "panda", "pose", "--frame", "hand"], "there is no frame 'hand'"),
            (["eval", "panda", "gravity", "--dtype", "float16"], "there is no dtype 'float16'"),
            (["eval", "panda", "gravity", "--output", "x.txt"], "--output x.txt: unknown file format"),
            (["convert", "panda", "panda.json"], "linkwork does not write this format"),
            (["bench", "panda", "--pinocchio"], "fix: linkwork convert panda panda.urdf"),
        ],
    )
    def test_mistakes(self, run, words, said):
        code, out, err = run(*words)
        assert (code, out) == (1, "")
        assert err.startswith("error: ")
        assert said in err
        assert "Traceback" not in err

    def test_interrupt(self, run, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(common, "load", interrupted)
        assert run("inspect", "panda")[0] == 130

    @pytest.mark.skipif(os.name != "posix", reason="signals and named pipes")
    def test_interrupt_of_a_process(self, tmp_path):
        os.mkfifo(tmp_path / "states.csv")  # nobody writes, so the process waits
        words = ("eval", "planar2r", "gravity", "--input", tmp_path / "states.csv")
        process = subprocess.Popen(
            [sys.executable, "-m", "linkwork.cli", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # background jobs are born deaf to it
        )
        while process.poll() is None:
            try:
                pipe = os.open(tmp_path / "states.csv", os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:  # it does not read yet
                time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        os.close(pipe)
        assert (process.returncode, err) == (130, b"")

    def test_broken_pipe(self):
        process = subprocess.Popen(
            [sys.executable, "-m", "linkwork.cli", "robots", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.wait(20)
        process.stderr.close()
        assert err == b""


class TestRobots:
    def test_json(self, data):
        rows = {row["robot"]: row for row in data("robots")}
        assert set(rows) == set(linkwork.bundled_robots())
        assert rows["panda"]["joints"] == 7
        assert rows["quadruped"]["base"] == "floating"
        assert {name: rows[name]["structure"] for name in STRUCTURES} == STRUCTURES
        assert (rows["gough-stewart"]["base"], rows["gough-stewart"]["freedoms"]) == ("fixed", 6)
        assert (rows["four-bar"]["joints"], rows["four-bar"]["freedoms"]) == (3, 1)
        assert "Gaz" in rows["panda"]["sources"]["gaz"]

    def test_text(self, run):
        code, out, err = run("robots")
        assert (code, err) == (0, "")
        assert all(name in out for name in linkwork.bundled_robots())
        assert "structure" in out.splitlines()[0]
        assert re.search(r"^gough-stewart +18 +6 +6 loops, platform ", out, re.M)


class TestInspect:
    def test_json(self, data):
        facts = data("inspect", "puma560", "--gravity", "0,0,-1.6", "--no-rotors")
        robot = linkwork.load("puma560")
        assert (facts["nq"], facts["nv"], facts["gravity"]) == (6, 6, [0, 0, -1.6])
        assert [joint["name"] for joint in facts["joints"]] == list(robot.joint_names)
        assert [body["parameters"] for body in facts["bodies"]] == robot.parameters
        assert facts["total_mass"] == pytest.approx(sum(row[0] for row in robot.parameters))
        assert all(joint["rotor_inertia"] == 0 for joint in facts["joints"])
        assert any(joint["coulomb"] for joint in facts["joints"])
        assert facts["joints"][0]["velocity_limit"] is None  # infinite
        assert {"quantity", "method", "summary", "refusal"} == set(facts["methods"][0])

    def test_text(self, run):
        code, out, err = run("inspect", "scara", "--no-friction")
        assert (code, err) == (0, "")
        assert all(word in out for word in ("inner_arm", "nq = 4", "prismatic", "rotor inertia", "alpha", "Methods"))
        assert "Coulomb" not in out

    def test_floating_and_locked(self, data):
        facts = data("inspect", "panda", "--base", "floating", "--lock", "panda_joint2=0.5", "--lock", "panda_joint3=0")
        assert (facts["base"], facts["nq"], facts["nv"]) == ("floating", 12, 11)

    def test_a_ball_is_locked(self, run, data):
        juggler = str(Path(__file__).parents[2] / "examples" / "juggler.yaml")
        facts = data("inspect", juggler, "--lock", "wrist=0,0.6,0,0.8", "--lock", "lift=1")
        assert (facts["nq"], facts["nv"]) == (22 - 5, 19 - 4)
        for given in ("1", "0,0,1"):
            code, out, err = run("inspect", juggler, "--lock", f"wrist={given}")
            assert (code, out) == (1, "") and "expected: 4 numbers: qx, qy, qz, qw" in err

    def test_loops_in_json(self, data):
        facts, stage = data("inspect", "gough-stewart"), linkwork.load("gough-stewart")
        assert (facts["base"], facts["structure"]) == ("fixed", "6 loops, platform")
        assert (facts["nq"], facts["nv"]) == (25, 6)
        assert facts["loops"] == [
            {"name": f"leg{k}", "kind": "spherical", "first": f"leg{k}_rod", "second": "platform"} for k in range(1, 7)
        ]
        assert facts["home"] == list(stage.home)
        vectors = facts["vectors"]
        assert len(vectors["q"]) == 25 and vectors["q"][:3] == [f"platform_joint.{x}" for x in "xyz"]
        assert vectors["v"] == [f"platform_joint.{x}" for x in ("x", "y", "z", "rx", "ry", "rz")]
        assert vectors["tau"] == list(stage.motor_names) and vectors["tau_known"] == []
        roles = {joint["name"]: joint["role"] for joint in facts["joints"]}
        assert roles == stage.roles and sum(role == "active" for role in roles.values()) == 6
        refusals = {(m["quantity"], m["method"]): m["refusal"] for m in facts["methods"]}
        assert refusals["forward_dynamics", "khalil-parallel"] == ""
        assert refusals["forward_dynamics", "aba"] == "it is for trees, and the robot has loops"
        told = "it is for revolute and prismatic joints, and 'platform_joint' is floating"
        assert refusals["inverse_dynamics", "khalil"] == told

    def test_loops_in_text(self, run):
        code, out, err = run("inspect", "gough-stewart")
        assert (code, err) == (0, "")
        assert all(word in out for word in ("Loops: cut joints", "spherical", "Vectors", "Home", "platform_joint.qw"))
        assert "fixed base, 18 joints, nq = 25, nv = 6" in out
        assert "Home" not in run("inspect", "flexible-arm")[1]  # springs, but no loops
        assert "tau_known" in run("inspect", "flexible-arm")[1]
        assert "Vectors" in run("inspect", "quadruped")[1]

    def test_what_it_has_not_is_not_told(self, run):
        out = run("inspect", "quadrotor")[1]
        assert not any(word in out for word in ("\nJoints", "No joint has", "Placements", "loop_residual", "impact"))
        assert re.search(r"commands +4 ", out) and "base.rx" in out
        out = run("inspect", "biped")[1]
        assert "\nHome\n" in out and re.search(r"contacts +2 ", out) and "impact" in out and "e-21" not in out
        assert "No joint but the links that bend has" in run("inspect", "flexible-two-link")[1]

    def test_forces_in_json(self, data):
        forces = data("inspect", "eel")["forces"]
        assert len(forces) == 12 and "drag" in forces[0]["law"].lower()
        assert data("inspect", "panda")["forces"] == data("inspect", "panda")["loops"] == []

    @pytest.mark.parametrize("name", linkwork.bundled_robots())
    def test_placements_are_complete(self, run, data, name):
        assert run("inspect", name)[0] == 0
        facts = data("inspect", name)
        bending = {joint["name"] for joint in facts["joints"] if joint["kind"] == "flexible"}
        placed = [body for body in facts["bodies"] if body["placement"] and body["joint"] not in bending]
        assert {body["placement"][-1]["moves"] for body in placed} <= {"angle", "length"}


class TestCheck:
    def test_clean(self, run, file):
        code, out, err = run("check", file("fine.urdf", FINE))
        assert (code, err) == (0, "")
        assert "is clean" in out.replace("\n", " ")

    def test_warnings_only(self, run, file):
        code, out, _ = run("check", file("suspicious.urdf", SUSPICIOUS))
        assert code == 0
        assert "no errors, 1 warning" in out

    def test_errors(self, run, file):
        code, out, err = run("check", file("bad.urdf", FINE.replace('value="2"', 'value="-2"')))
        assert (code, err) == (1, "")
        assert "1 error" in out

    @pytest.mark.parametrize(("name", "text"), [("broken.urdf", BROKEN), ("broken.yaml", "name: [")])
    def test_broken_file_is_a_finding(self, run, file, name, text):
        path = file(name, text)
        code, out, err = run("check", path, "--json")
        assert (code, err) == (1, "")
        told = json.loads(out)
        assert (told["errors"], told["warnings"], told["findings"][0]["level"]) == (1, 0, "error")
        assert name in told["findings"][0]["where"]
        assert run("check", path)[0] == 1

    @pytest.mark.parametrize("name", ["four-bar", "gough-stewart", "panda-elastic", "eel"])
    def test_structures_are_clean(self, run, name):
        assert run("check", name) == (0, f"{name} is clean: no errors, no warnings.\n", "")

    def test_loops_that_cannot_close(self, run, file):
        path = file("far.yaml", FAR_APART)
        code, out, err = run("check", path, "--json")
        assert (code, err) == (1, "")
        (finding,) = json.loads(out)["findings"]
        assert finding["level"] == "error" and "`home`" in finding["fix"]
        assert finding["message"].startswith("the loops cannot be closed; got: loop 'cut' stays open by 3 at best")
        code, out, err = run("check", path)
        assert (code, err) == (1, "") and "1 error, no warnings: it does not load." in out
        code, out, err = run("inspect", path)
        assert (code, out) == (1, "") and err.startswith("error: robot 'far': the loops cannot be closed")


class TestConvert:
    def test_there_and_back(self, run, data, file, tmp_path):
        told = data("convert", file("fine.urdf", FINE), tmp_path / "fine.yaml")
        assert told["deviation"] <= 1e-9
        assert any("1 <visual>" in what for what in told["dropped"])
        assert any("tool" in what for what in told["dropped"])
        code, out, _ = run("convert", tmp_path / "fine.yaml", tmp_path / "again.urdf")
        assert code == 0
        assert "torques and poses agree" in out.replace("\n", " ")
        q, v, a = [0.4], [1.0], [-2.0]
        first, last = (linkwork.load(tmp_path / name) for name in ("fine.urdf", "again.urdf"))
        np.testing.assert_allclose(first.inverse_dynamics(q, v, a), last.inverse_dynamics(q, v, a), rtol=1e-13)

    def test_options_are_used(self, run, tmp_path):
        out = tmp_path / "locked.urdf"
        assert (
            run("convert", "quadruped", out, "--base", "fixed", "--lock", "rear_left_knee=1", "--no-friction")[0] == 0
        )
        robot = linkwork.load(out, structure=out.with_suffix(".loops.yaml"))
        assert (robot.nq, robot.model.moving_base) == (11, False)
        assert not any(joint.viscous for joint in robot.model.coordinates.joints)

    def test_loops_go_into_a_file_of_their_own(self, run, data, tmp_path):
        urdf, side = tmp_path / "bar.urdf", tmp_path / "bar.loops.yaml"
        code, out, err = run("convert", "four-bar", urdf)
        assert (code, err) == (0, "")
        assert "bar.urdf and " in out.replace("\n", " ") and "bar.loops.yaml: 3 joints" in out.replace("\n", " ")
        assert "torques and poses agree" in out.replace("\n", " ") and urdf.exists() and side.exists()
        bar, again = linkwork.load("four-bar"), linkwork.load(urdf, structure=side)
        q = bar.assemble([0.7]).require()
        expected = bar.inverse_dynamics(q, [1.0], [2.0])
        np.testing.assert_allclose(again.inverse_dynamics(q, [1.0], [2.0]), expected, rtol=1e-12)
        words = ("eval", urdf, "gravity", "--q", "crank=0.7", "--structure", side)
        assert data(*words)["output"]["g"] == pytest.approx(bar.gravity(q).tolist(), rel=1e-12)
        with pytest.warns(linkwork.ModelWarning, match="was not read"):
            assert linkwork.load(urdf).nv == 3  # a URDF alone has no loops
        code, out, err = run("convert", urdf, tmp_path / "open.yaml", "--json")
        assert code == 0 and "warning: " in err
        assert any(
            "there is a side file bar.loops.yaml, which was not read" in what for what in json.loads(out)["dropped"]
        )
        told = data("convert", urdf, tmp_path / "closed.yaml", "--structure", side)
        assert told["deviation"] <= 1e-9 and not any("not read" in what for what in told["dropped"])
        assert linkwork.load(tmp_path / "closed.yaml").nv == 1
        (finding,) = data("check", urdf)["findings"]
        assert finding["level"] == "warning" and "was not read" in finding["message"]
        assert run("check", urdf, "--structure", side)[0] == 0

    def test_neither_file_is_replaced_unless_told(self, run, file, tmp_path):
        side = file("bar.loops.yaml", "precious")
        code, _, err = run("convert", "four-bar", tmp_path / "bar.urdf")
        assert code == 1 and "bar.loops.yaml: the file exists" in err and "--overwrite" in err
        assert side.read_text() == "precious" and not (tmp_path / "bar.urdf").exists()
        assert run("convert", "four-bar", tmp_path / "bar.urdf", "--overwrite")[0] == 0
        assert linkwork.load(tmp_path / "bar.urdf", structure=side).nv == 1

    @pytest.mark.parametrize(
        "name", ["gough-stewart", "delta", "parallelogram", "panda-elastic", "eel", "space-arm", "ur5e"]
    )
    def test_every_structure(self, data, tmp_path, name):
        told = data("convert", name, tmp_path / "robot.urdf")
        assert told["deviation"] <= 1e-9
        side = tmp_path / "robot.loops.yaml"
        assert side.exists() == (name != "ur5e")
        how = ["--structure", side] if side.exists() else []
        assert data("convert", tmp_path / "robot.urdf", tmp_path / "robot.yaml", *how)["deviation"] <= 1e-9

    def test_every_kind_of_joint(self, run, data, file, tmp_path):
        given = file("mixed.yaml", MIXED)
        told = data("convert", given, tmp_path / "again.yaml")
        assert told["deviation"] <= 1e-12 and told["dropped"] == []
        assert told["joints"] == ["screw", "rod", "cross", "ball", "box", "tray"]
        robot, back = linkwork.load(given), linkwork.load(tmp_path / "again.yaml")
        assert back.model.home == pytest.approx(robot.model.home, abs=1e-15)
        code, _, err = run("convert", given, tmp_path / "robot.urdf")
        assert code == 1 and "joint 'screw': URDF has no helical joints" in err and "fix: write YAML" in err
        assert not (tmp_path / "robot.urdf").exists()

    def test_bodies_that_float_go_into_urdf(self, data, file, tmp_path):
        """Where they stand at home is in the side file."""
        told = data("convert", file("objects.yaml", OBJECTS), tmp_path / "objects.urdf")
        assert told["deviation"] <= 1e-12 and told["joints"] == ["slab", "arm", "box", "lid"]
        side = tmp_path / "objects.loops.yaml"
        again = data("convert", tmp_path / "objects.urdf", tmp_path / "again.yaml", "--structure", side)
        assert again["deviation"] <= 1e-12
        homes = [linkwork.load(tmp_path / name).model.home for name in ("objects.yaml", "again.yaml")]
        assert homes[0] == pytest.approx(homes[1], abs=1e-15) and homes[0][4:7] == (0.5, 0.2, 0.1)

    def test_does_not_replace_unless_told(self, run, file):
        path = file("mine.urdf", "precious")
        code, _, err = run("convert", "planar2r", path)
        assert code == 1
        assert "--overwrite" in err
        assert path.read_text() == "precious"
        assert run("convert", "planar2r", path, "--overwrite")[0] == 0
        assert linkwork.load(path).nq == 2

    def test_unwritable(self, run, tmp_path):
        code, _, err = run("convert", "panda", tmp_path / "absent" / "panda.urdf")
        assert code == 1
        assert "cannot be written" in err
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_written_if_the_file_would_differ(self, run, tmp_path, monkeypatch):
        monkeypatch.setattr("linkwork.inspection.files.AGREEMENT", -1.0)
        code, _, err = run("convert", "panda", tmp_path / "panda.urdf")
        assert code == 1
        assert "was not written" in err
        assert list(tmp_path.iterdir()) == []


class TestCount:
    def test_all(self, run, data):
        report = data("count", "panda")
        counts = report["counts"]
        of_others = {"assemble", "loop_residual", "contact_dynamics", "impact"}  # among others
        counted = {row["quantity"] for row in counts}
        assert counted < set(linkwork.formulations.QUANTITIES) and not counted & of_others and not report["refused"]
        assert counted | {row["quantity"] for row in data("count", "four-bar")["counts"]} >= {"assemble", "regressor"}
        function = linkwork.load("panda").compile("forward_dynamics", method="aba")
        (aba,) = [row for row in counts if row["method"] == "aba"]
        assert aba["on_line"]["mul"] == function.operations.mul
        code, out, err = run("count", "panda")
        assert (code, err) == (0, "")
        assert "fused multiply-add is one mul and one add" in out.replace("\n", " ")

    def test_loops(self, run, data):
        report = data("count", "delta")
        of_trees = {"coriolis_matrix", "christoffel_symbols", "adaptive_regressor"}
        assert {row["quantity"] for row in report["counts"]} == set(linkwork.formulations.QUANTITIES) - of_trees
        assert any("no Coriolis matrix for robots with loops" in reason for reason in report["refused"])
        assert len(report["refused"]) == len(of_trees)
        by_legs = next(row for row in report["counts"] if row["method"] == "khalil-parallel")["on_line"]
        by_tree = next(row for row in report["counts"] if row["method"] == "rnea")["on_line"]
        assert by_legs["instructions"] < by_tree["instructions"]
        code, out, err = run("count", "delta")
        assert (code, err) == (0, "") and "khalil-parallel" in out

    def test_parameters_as_inputs(self, run, data):
        words = ("count", "ur5e", "--quantity", "inertia_matrix", "--method", "crba", "--inputs", "parameters")
        (row,) = data(*words)["counts"]
        assert row["off_line"]["add"] > 0
        assert "off line, per set of parameters" in run(*words)[1]

    def test_method_alone(self, data):
        rows = data("count", "planar2r", "--method", "rnea")["counts"]
        assert {row["quantity"] for row in rows} == {"inverse_dynamics"}


class TestBench:
    def test_json_and_text(self, run, data, monkeypatch):
        def once(call, **_):
            call()
            return 1e-6

        monkeypatch.setattr("linkwork.inspection.speed.seconds", once)
        report = data("bench", "planar2r", "--batch", "16")
        assert [row["quantity"] for row in report["functions"]] == [
            "inverse_dynamics", "forward_dynamics", "inertia_matrix",
        ]  # fmt: skip
        assert report["host"]["lanes"] >= 2
        assert all(row["states_per_second"] == pytest.approx(16e6) for row in report["functions"])
        code, out, err = run("bench", "planar2r", "--batch", "16")
        assert (code, err) == (0, "")
        assert "float64 lanes" in out

    @pytest.mark.parametrize("name", ["scara", "quadruped"])
    def test_beside_pinocchio(self, data, tmp_path, monkeypatch, name):
        monkeypatch.setattr("linkwork.inspection.speed.seconds", lambda call, **_: 1e-6)
        monkeypatch.setattr("linkwork.inspection.peers.seconds", lambda call, **_: call() is None or 1e-6)
        linkwork.load(name).write(tmp_path / "robot.urdf")
        (tmp_path / "robot.loops.yaml").unlink(missing_ok=True)  # its feet
        report = data("bench", tmp_path / "robot.urdf", "--batch", "8", "--pinocchio")
        assert all(row["deviation"] < 1e-10 for row in report["pinocchio"])

    def test_beside_pinocchio_refused(self, run, file, tmp_path):
        linkwork.load("scara").write(tmp_path / "scara.urdf")
        assert "a single joint" in run("bench", file("fine.urdf", FINE), "--pinocchio")[2]
        assert "leave --lock out" in run("bench", tmp_path / "scara.urdf", "--pinocchio", "--lock", "lift=0")[2]


class TestDemo:
    @pytest.fixture(autouse=True)
    def brief(self, monkeypatch):
        """Times are taken, but none of them is looked at."""
        monkeypatch.setattr("linkwork.inspection.speed.seconds", partial(seconds, least=1e-4))

    @pytest.mark.parametrize("name", ["scara", "quadruped", "four-bar", "gough-stewart", "flexible-arm", "eel"])
    def test_json(self, data, name):
        report = data("demo", name)
        assert all(check["agrees"] for check in report["checks"])
        assert len(report["checks"]) >= 14
        methods = next(c["check"] for c in report["checks"] if c["check"].startswith("inverse dynamics"))
        assert re.search(r"\d+ methods agree", methods)
        assert len(report["speed"]) == 3

    def test_many_joints(self, data, monkeypatch):
        """All but inverse dynamics, of which the oldest method takes n^4 operations, and 14 joints a quarter minute."""
        monkeypatch.setattr("linkwork.inspection.agreement.COMPARED", ("inertia_matrix", "bias", "hybrid_dynamics"))
        checks = data("demo", "panda-elastic")["checks"]
        assert all(check["agrees"] for check in checks)
        assert any(check["check"] == "hybrid dynamics: 4 methods agree" for check in checks)

    def test_text_of_the_default_robot(self, run):
        code, out, err = run("demo")
        assert (code, err) == (0, "")
        assert all(word in out for word in ("panda: 7 joints", "All agree", "linkwork count panda"))

    @pytest.mark.parametrize(
        ("name", "options"),
        {
            "panda": "",
            "quadruped": " --contacts events --control pd --kp 1000 --goal front_left_hip=0",
            "rolling-disc": " --v0 base.rx=1,base.ry=1,base.rz=1",
            "quadrotor": " --commands 2.698,2.698,2.698,2.698",
            "space-arm": " --commands jet1=1",
            "flexible-two-link": " --goal shoulder=1,elbow=0.5",
        }.items(),
    )
    def test_a_motion_that_shows_what_it_does(self, name, options):
        assert showing(linkwork.load(name))[0] == options

    def test_a_robot_that_does_not_move(self, run, file):
        path = file("still.urdf", '<robot name="still"><link name="a"/></robot>')
        assert "does not move" in run("demo", path)[2]
        assert run("inspect", path)[0] == 0
        assert run("eval", path, "gravity")[0] == 0

    def test_disagreement_is_told(self, run, monkeypatch):
        monkeypatch.setattr("linkwork.inspection.agreement.deviation", lambda *_: 1.0)
        code, out, _ = run("demo", "planar2r")
        assert code == 1
        assert "FAILS" in out


ABOUT = {
    "robots": ((), inspection.robots),
    "inspect": (("four-bar",), inspection.inspect),
    "count": (("planar2r",), inspection.count),
    "count --passes": (("planar2r",), inspection.passes),
    "count --derivatives": (("planar2r",), inspection.derivatives),
    "params": (("four-bar",), inspection.params),
    "check": (("panda",), inspection.check),
    "tables": ((), inspection.complexity_tables),
    "cite": (("rnea",), inspection.cite),
}


@pytest.mark.parametrize("command", ABOUT)
def test_what_a_command_prints_is_had_from_python(data, command):
    names, function = ABOUT[command]
    word, *options = command.split()
    robots = [name if word in ("check", "cite") else linkwork.load(name) for name in names]
    assert data(word, *names, *options) == json.loads(json.dumps(printing.plain(function(*robots))))


# -- names of options --------------------------------------------------------------------------------------------------

PYTHON = {  # command -> functions whose arguments its options set
    "bench": [linkwork.inspection.bench],
    "check": [linkwork.inspection.check],
    "compare": [linkwork.inspection.compare],
    "convert": [linkwork.inspection.convert],
    "count": [linkwork.inspection.count],
    "demo": [],
    "equations": [symbolic],
    "eval": [linkwork.compile, linkwork.Function.__call__],
    "excite": [linkwork.identify.excite],
    "export": [linkwork.compile, linkwork.Function.export, linkwork.Function.derivative],
    "identify": [linkwork.Robot.identify, linkwork.identify.Log.read, linkwork.identify.Log.smoothed],
    "inspect": [],
    "mdh": [],
    "params": [linkwork.inspection.params, linkwork.parameters.BaseParameters.as_table],
    "report": [linkwork.report.write],
    "simulate": [linkwork.Robot.simulate, linkwork.Robot.function, linkwork.control.PID],
    "sweep": [linkwork.sweep.run],
    "tables": [],
    "view": [linkwork.view.show],
}
FILES = {"output", "input", "plot", "report", "json", "markdown", "format", "help"}  # what is printed and written
OTHERS = {  # options without an argument of the same name -> what they set
    "count": {"passes", "derivatives"},  # linkwork.inspection.passes and derivatives
    "equations": {"numbers", "expand", "overwrite"},  # geometry, inertias, friction and gravity at once; the file
    "export": {"language", "derivative", "packed"},  # methods of Function
    "identify": {"known", "columns", "from_drives", "between", "band", "keep_standstill"},  # methods of Log; booleans
    "simulate": {"goal", "control", "record"},  # a controller and its reference; outputs, since --output is a file
    "view": {"no_open"},
}


@pytest.mark.parametrize("command", PYTHON)
def test_options_have_the_names_of_python_arguments(command):
    names = {name for function in PYTHON[command] for name in inspect.signature(function).parameters}
    names |= {*inspect.signature(linkwork.load).parameters, *VARIABLES, *FILES, *OTHERS.get(command, ())}
    for parameter in _loaded(command).params:
        if parameter.param_type_name == "option":
            name = max(parameter.opts, key=len).removeprefix("--").replace("-", "_")
            assert name in names or name.removeprefix("no_") in names, name


@pytest.mark.parametrize(
    ("command", "old", "new"), [(command, *pair) for command, pairs in OPTIONS.items() for pair in pairs.items()]
)
def test_an_old_option_is_answered_with_the_new_one(run, command, old, new):
    words = (command, "panda") if command else ("convert", "panda", "out.urdf")
    code, _, err = run(*words, old, "0")
    assert code == 2 and f"use {new}" in " ".join(err.replace("│", " ").split())
    assert "was renamed" not in run("mdh", "panda", "--trajectory", "0")[2]


def test_an_old_argument_is_answered_with_the_new_one():
    with pytest.raises(TypeError, match="'parameters'; it was renamed: use 'with_parameters'"):
        linkwork.load("panda", parameters={})  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'outside'; it was renamed: use 'allow_external_files'"):
        linkwork.inspection.check("panda", outside=True)  # type: ignore[call-arg]


class TestSeveralQuantities:
    def test_count(self, data):
        facts = data("count", "panda", "--quantity", "inertia_matrix", "--quantity", "bias")
        rows = {row["quantity"]: row["on_line"] for row in facts["counts"]}
        assert list(rows) == ["inertia_matrix", "bias", "sum", "together"]
        assert rows["together"]["sincos"] == 6 < rows["sum"]["sincos"] == 12
        assert rows["together"]["instructions"] < rows["sum"]["instructions"]

    def test_eval(self, data):
        facts = data("eval", "panda", "inertia_matrix", "bias", "pose:panda_link8", "--q", "0.1,0,0,-1,0,1,0")
        robot, q = linkwork.load("panda"), [0.1, 0, 0, -1, 0, 1, 0]
        assert np.allclose(facts["output"]["inertia_matrix"], robot.inertia_matrix(q), rtol=1e-12)
        assert np.allclose(facts["output"]["bias"], robot.bias(q, np.zeros(7)), rtol=1e-12)
        assert np.allclose(facts["output"]["pose"], robot.pose("panda_link8", q), rtol=1e-12)
