"""``linkwork simulate``: motions, controllers, files, pictures, and what is wrong with a command."""

import json
import re
from functools import partial

import numpy as np
import pytest

import linkwork
from linkwork import Trajectory
from linkwork.control import PID, ComputedTorque, Quintic
from linkwork.sim import INTEGRATORS


@pytest.fixture
def run(run_linkwork, monkeypatch, tmp_path):
    """Runs ``linkwork simulate`` in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    return partial(run_linkwork, "simulate")


def test_a_falling_arm(run):
    code, out, err = run("planar2r", "--duration", 0.1, "--q0", "0.3,-0.2", "--v0", "elbow=0.5")
    assert (code, err) == (0, "")
    motion = linkwork.load("planar2r").simulate([0.3, -0.2], [0.0, 0.5], 0.1)
    for k, name in enumerate(("shoulder", "elbow")):
        numbers = re.search(rf"^{name} +(.*)$", out, re.MULTILINE).group(1).split()
        q, v = motion.q[:, k], motion.v[:, k]
        shown = [q[0], q[-1], q.min(), q.max(), np.abs(v).max()]
        assert [float(x) for x in numbers[:5]] == pytest.approx(shown, rel=1e-3)
        assert float(numbers[5]) == 0
    assert "planar2r: 0.1 s of motion by adams-bashforth-4, rad" in out
    assert re.search(r"Energy balance off by at most \d\.\de-\d\d J", out)


def test_json(run):
    options = ("--duration", 0.05, "--dt", 0.005, "--method", "rk4", "--torque", "10,-20", "--json")
    code, out, _ = run("planar2r", *options)
    found = json.loads(out)
    motion = linkwork.load("planar2r").simulate(duration=0.05, dt=0.005, method="rk4", torque=[10.0, -20.0])
    assert code == 0 and found["robot"] == "planar2r" and found["method"] == "rk4" and found["dt"] == 0.005
    for name in ("t", "q", "v", "tau"):
        assert np.array_equal(found["end"][name], motion[name][-1])
    assert found["end"]["tau"] == [10.0, -20.0]
    assert found["drift"] == motion.drift and found["entries"]["q"] == ["shoulder", "elbow"]
    assert found["notes"] == []


@pytest.mark.parametrize("method", INTEGRATORS)
def test_methods(run, method):
    """Each that is listed, and no other."""
    code, out, _ = run("planar2r", "--duration", 0.01, "--method", method, "--json")
    assert code == 0 and json.loads(out)["method"] == method
    _, out, _ = run("--help")
    assert method in re.sub(r"[\s│]+", "", out)


@pytest.mark.parametrize("control", ["computed-torque", "pd", "pid", "pd-gravity"])
def test_goals(run, control):
    kp, kd = (100, 20) if control == "computed-torque" else (9000, 2000)
    reached = {"computed-torque": 1e-4, "pd": 0.15, "pid": 0.15, "pd-gravity": 0.05}[control]
    options = ("--goal", "0.4,-0.3", "--control", control, "--kp", kp, "--kd", kd, "--duration", 0.5, "--json")
    code, out, _ = run("planar2r", *options)
    end = json.loads(out)["end"]
    assert code == 0
    off = np.abs(np.array(end["q"]) - [0.4, -0.3]).max()
    assert off < reached
    assert any(f"misses its goal by {off:.2g};" in note for note in json.loads(out)["notes"]) == (off > 0.01)
    if control == "computed-torque":
        way = Quintic([0.0, 0.0], [0.4, -0.3], 0.5)
        same = linkwork.load("planar2r").simulate(duration=0.5, torque=ComputedTorque(100.0, 20.0), reference=way)
        assert np.array_equal(end["q"], same.q[-1])


def test_integral_action(run):
    options = ("--goal", "0.4,-0.3", "--kp", 9000, "--kd", 2000, "--duration", 0.5, "--json")
    ends = [
        json.loads(run("planar2r", *options, "--control", *law)[1])["end"]["q"]
        for law in [["pd"], ["pid"], ["pid", "--ki", 30000]]
    ]
    way = Quintic([0.0, 0.0], [0.4, -0.3], 0.5)
    robot = linkwork.load("planar2r")
    for end, ki in zip(ends[1:], (9000.0, 30000.0), strict=True):
        assert np.array_equal(end, robot.simulate(duration=0.5, torque=PID(9000.0, ki, 2000.0), reference=way).q[-1])
    errors = [np.abs(np.array(end) - [0.4, -0.3]).max() for end in ends]
    assert errors[0] > 1.2 * errors[1] > 1.2 * errors[2]


def test_a_sampled_controller(run):
    options = ("--goal", "0.4,-0.3", "--kp", 90, "--kd", 20, "--duration", 0.5, "--period", 0.004)
    code, out, _ = run("planar2r", *options, "--json")
    robot, way = linkwork.load("planar2r"), Quintic([0.0, 0.0], [0.4, -0.3], 0.5)
    control = robot.function(ComputedTorque(90.0, 20.0), period=0.004)
    same = robot.simulate(duration=0.5, torque=control, reference=way)
    assert code == 0 and np.array_equal(json.loads(out)["end"]["q"], same.q[-1])
    assert json.loads(out)["method"] == "rk4"
    code, _, err = run("planar2r", *options, "--dt", 0.0025)
    assert code == 1 and "not a whole number of steps" in err and "--dt 0.002, or --period 0.005" in err


@pytest.mark.parametrize("name", ["motion.npz", "motion.csv"])
def test_files(run, tmp_path, name):
    code, out, _ = run("planar2r", "--duration", 0.02, "--every", 5, "-o", name)
    assert code == 0 and f"wrote {name}" in out
    kept = Trajectory.load(tmp_path / name)
    motion = linkwork.load("planar2r").simulate(duration=0.02, every=5)
    assert len(kept.t) == 5
    for array in motion:
        assert np.allclose(kept[array], motion[array], rtol=1e-15, atol=0)


def test_picture(run, tmp_path):
    code, out, _ = run("planar2r", "--duration", 0.02, "--plot", "motion.svg")
    assert code == 0 and "wrote motion.svg" in out
    assert "<svg" in (tmp_path / "motion.svg").read_text()


def test_loops_floating_bases_and_notes(run):
    code, out, _ = run("four-bar", "--q0", "crank=0.5", "--method", "rk4", "--duration", 0.02)
    assert code == 0 and "loops open by at most" in out and "Coulomb friction is smooth" in out
    code, out, _ = run("space-arm", "--duration", 0.02)
    assert code == 0 and "quaternion off unit length by at most" in out and "base.qw" in out


def test_a_step_that_is_too_long_is_noted(run):
    code, out, err = run("planar2r", "--goal", "0.1,0.1", "--kd", 2000, "--duration", 0.01)
    assert (code, err) == (0, "") and "Note: dt = 0.001 s is too long for adams-bashforth-4" in " ".join(out.split())


def test_a_wheel_leans_until_it_lies_flat(run):
    """Told by a turn of its own axes; its height is found."""
    code, out, err = run("rolling-disc", "--q0", "base.rx=0.1")
    out = " ".join(out.split())
    assert (code, err) == (0, "") and "base.z 0.199 " in out and "base.rx" in out
    assert "Warning: wheel rim lies flat at t = 0.55" in out and "the energy balance" not in out
    code, out, err = run("rolling-disc", "--q0", f"base.qx={np.sin(0.05)}", "--duration", 0.01)
    assert (code, err) == (0, "") and "base.z 0.199 " in " ".join(out.split())
    code, _, err = run("rolling-disc", "--q0", "base.rx=0.1,base.qx=0.1")
    assert code == 1 and "a rotation is given twice" in err
    assert "these positions leave the loops open" in run("segway", "--q0", "base.rx=0.1")[2]


def test_notes_name_options(run, tmp_path):
    assert "Note: nothing moves: give --q0 or --v0." in run("rolling-disc", "--duration", 0.01)[1]
    weak = tmp_path / "weak.yaml"
    weak.write_text(
        "name: weak\njoints: [{name: hinge, link: arm}]\n"
        "links: [{link: arm, M: 1, central: [0.1, 0.1, 0.1]}]\ndrives: [{joint: hinge, effort: 2}]\n"
    )
    assert "effort limits of motors: hinge uses 5.773 of 2 N m" in run(weak, "--goal", "hinge=10")[1]


def test_limits(run):
    code, out, _ = run("panda", "--duration", 0.01, "--limits", 100)
    assert code == 0 and "joint limits are soft: 100 N m/rad (N/m), damping 2" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("no-such-robot",), "no-such-robot"),
        (("planar2r", "--method", "euler"), "there is no method of simulation 'euler'"),
        (("planar2r", "--control", "lqr"), "there is no controller 'lqr'"),
        (("planar2r", "--ki", "3"), "only pid has an integral"),
        (("planar2r", "--period", "0.01"), "a sample time needs a controller"),
        (("planar2r", "--torque", "1,2", "--goal", "1,2"), "give either --torque or --goal"),
        (("planar2r", "--q0", "1,2,3"), "q"),
        (("planar2r", "--q0", "hand=1"), "there is no joint 'hand'"),
        (("planar2r", "--goal", "1,2,3"), "--goal: wrong number of values"),
        (("planar2r", "--commands", "1"), "--commands: this robot takes no commands"),
        (("quadrotor", "--goal", "base.z=1"), "--goal: a goal needs motors, and this robot has none"),
        (("quadrotor-with-arm", "--goal", "base.z=1"), "expected: joints with motors: yaw, pitch, elbow"),
        (("quadrotor", "--q0", "base.qx=0.1,base.qw=0.1"), "fix: divide it by its norm"),
        (("planar2r", "--duration", "1e9", "--dt", "1e-9"), "the records do not fit into memory"),
        (("planar2r", "--dt", "0"), "dt: out of range"),
        (("planar2r", "--dt", "nan"), "dt: out of range"),
        (("planar2r", "--duration", "-1"), "duration: out of range"),
        (("planar2r", "--duration", "1", "--dt", "0.3"), "not a whole number of steps"),
        (("planar2r", "--limits", "-5"), "--limits: out of range"),
        (("planar2r", "--kp", "-5", "--goal", "1,2"), "--kp: out of range"),
        (("planar2r", "--duration", "0.01", "-o", "motion.xyz"), "unknown file format"),
        (("planar2r", "--duration", "0.01", "-o", "motion.npz", "--plot", "motion.xyz"), "unknown file format"),
        (("planar2r", "--duration", "0.01", "-o", "nowhere/motion.npz"), "nowhere"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_bad_input(run, tmp_path, words, message):
    code, out, err = run(*words)
    assert code != 0 and out == ""
    assert message in err and "Traceback" not in err
    assert not list(tmp_path.iterdir())


def test_recorded_quantities(run):
    """In addition to what a simulation records; in file, picture, text and JSON."""
    options = ("planar2r", "--duration", 0.05, "--goal", "0.3,-0.2", "--control", "pid", "--record", "pose:lower")
    robot = linkwork.load("planar2r")
    frame = list(robot.model.frames)[-1]
    options = (*options[:-1], f"pose:{frame}", "--record", "gravity", "--record", "memory")
    code, out, err = run(*options, "-o", "motion.npz", "--plot", "motion.svg")
    assert (code, err) == (0, "") and "gravity at the end:\n[" in out and "pose at the end:\n[[" in out
    motion = Trajectory.load("motion.npz")
    assert motion.pose.shape == (51, 4, 4) and {"a", "work", "integral"} < {*motion}
    assert np.abs(motion.pose - robot.pose(frame, motion.q)).max() < 1e-14
    code, out, _ = run(*options, "--json")
    assert np.array_equal(json.loads(out)["end"]["pose"], motion.pose[-1])
    code, _, err = run("planar2r", "--record", "poses:tool")
    assert code == 1 and "there is no quantity 'poses'" in err
    code, _, err = run("planar2r", "--record", "pose")
    assert code == 1 and "pose needs a frame" in err
