"""``linkwork identify``: from files to a fit and its files; what is wrong with a command, told before anything is
written."""

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork.identify import Log
from linkwork.identify import identification as solver

RATE = 200
STATES = np.random.default_rng(0).normal(size=(3, 20, 2))  # of q, v, a


def recorded(robot, seconds=8.0, start=0.0):
    """A motion that begins and ends at rest, with noise, without accelerations."""
    t = np.arange(0, seconds, 1 / RATE)
    rng = np.random.default_rng(3)
    w = 2 * np.pi * np.array([0.15, 0.4, 0.9])
    A, phase = rng.uniform(0.2, 0.6, (2, robot.nv, 3))
    angle = w * t[:, None, None] + 6 * phase
    q, v, a = (A * np.sin(angle)).sum(-1), (A * w * np.cos(angle)).sum(-1), (-A * w**2 * np.sin(angle)).sum(-1)
    tau = robot.inverse_dynamics(q, v, a)
    log = Log(t=t + start, q=q, v=v, tau=tau, joints=robot.joint_names)
    return log.noisy(1, q=1e-5, v=1e-4, tau=0.01 * np.abs(tau).max(axis=0))


@pytest.fixture(scope="module")
def robot():
    return linkwork.load("planar2r")


@pytest.fixture(scope="module")
def log(robot):
    return recorded(robot)


@pytest.fixture
def run(run_linkwork, monkeypatch, tmp_path, log):
    """Runs ``linkwork identify`` in a folder that has log.csv; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "150")
    log.save("log.csv")
    return partial(run_linkwork, "identify")


def fitted(robot, log, method="consistent", **options):
    return robot.identify(log.smoothed().without_standstill(), method, **options)


def test_tables_and_files(run, robot, log):
    names = ("identified.yaml", "fit.html", "fit.svg")
    code, out, err = run("planar2r", "log.csv", "-o", names[0], "--report", names[1], "--plot", names[2])
    assert (code, err) == (0, "")
    fit = fitted(robot, log)
    for k, name in enumerate(fit.forces):
        numbers = re.search(rf"^{name} +(.*)$", out, re.MULTILINE)[1].split()
        shown = [fit.sigma[k], 100 * fit.errors["fitted"][k], 100 * fit.errors["held out"][k]]
        assert [float(x) for x in numbers] == pytest.approx(shown, rel=1e-2)
    for name, at in fit.unknowns.bodies:
        row = re.search(rf"^{name} +(.*)$", out, re.MULTILINE)[1].split()
        assert float(row[0]) == pytest.approx(fit.standard.values[at], rel=1e-3) and row[-1] == "yes"
    assert "a is differentiated from v" in out and "samples at standstill" in out  # by themselves, and said
    assert all(f"wrote {name}" in out for name in names)
    assert all(f"Note: {note}." in " ".join(out.split()) for note in fit.notes)
    again = linkwork.load("planar2r", with_parameters="identified.yaml")
    assert again.inverse_dynamics(*STATES) == pytest.approx(fit.robot.inverse_dynamics(*STATES), rel=1e-9)
    page = Path("fit.html").read_text()
    assert "<h2>Measured and predicted</h2>" in page and f"<dd>{fit.condition:.4g}</dd>" in page
    assert "<svg" in Path("fit.svg").read_text()


def test_json_and_a_robot(run, robot, log):
    code, out, _ = run("planar2r", "log.csv", "--method", "wls", "--friction", "viscous", "--json", "-o", "found.urdf")
    found, fit = json.loads(out), fitted(robot, log, "wls", friction=("viscous",))
    assert code == 0 and found["robot"] == "planar2r" and found["method"] == "wls" and found["gamma"] is None
    assert [row["name"] for row in found["base"]] == list(fit.base)
    assert [row["value"] for row in found["standard"]] == pytest.approx(fit.standard.values.tolist())
    assert [row["deviation"] for row in found["base"]] == pytest.approx(fit.base.deviations.tolist())
    assert found["errors"]["held out"] == pytest.approx(fit.errors["held out"].tolist())
    assert found["notes"] == [note.message for note in fit.notes]
    assert found["warnings"] == [] and found["unidentifiable"] == []
    assert found["physical"] == fit.physical and "found.urdf" in found["files"]
    side = [name for name in found["files"] if name.endswith(".yaml")]
    again = linkwork.load("found.urdf", structure=side[0] if side else None)
    assert again.inverse_dynamics(*STATES) == pytest.approx(fit.robot.inverse_dynamics(*STATES), rel=1e-9)


def test_columns_units_and_gains(run, robot, log):
    """The same recording as a controller may have written it."""
    gains = np.array([20.0, 4.0])
    other = recorded(robot, start=100.0)
    table = np.column_stack([other.t, np.rad2deg(other.q), other.v, other.tau / gains])
    np.savetxt("raw.csv", table, delimiter=";", header="stamp;p1;p2;w1;w2;i1;i2", comments="")
    Path("raw.csv").write_text(Path("raw.csv").read_text().replace(".", ","))
    words = ["--decimal", ","]
    words += ["--columns", "t=stamp", "--columns", "q=1:3", "--columns", "v=w", "--columns", "tau=5,6"]
    words += ["--units", "q=deg", "--gains", "20,4", "--between", "1:6"]
    code, out, _ = run("planar2r", "raw.csv", *words, "--json", "--width", "0")
    fit = fitted(robot, log.between(1, 6), width=0.0)
    assert code == 0
    assert [row["value"] for row in json.loads(out)["base"]] == pytest.approx(fit.base.values.tolist(), rel=1e-6)
    assert "q was in deg" in out and "times 20, 4" in out


def test_treatment_and_choices(run, robot, log, monkeypatch):
    asked = {}
    original = solver.identify

    def listening(robot, logs, method, options):
        asked.update(vars(options), logs=logs, method=method)
        return original(robot, logs, method, options)

    monkeypatch.setattr("linkwork.identify.identification.identify", listening)
    log.save("other.csv")
    words = ["--cutoff", 15, "--band", 10, "--keep-standstill", "--held-out", "other.csv", "--gamma", 3, "--width", 0.1]
    code, out, _ = run(
        "planar2r", "log.csv", "other.csv", *words, "--known", "rotors", "--friction", "stribeck=0.2,offset"
    )
    assert code == 0 and "weight of the prior 3" in out
    assert len(asked["logs"]) == 2 and len(asked["held_out"]) == 1 and asked["gamma"] == 3 and asked["width"] == 0.1
    assert asked["rotors"] is False and asked["inertias"] is True and asked["payload"] is None
    (stribeck, offset) = asked["friction"]
    assert (stribeck.name, stribeck.velocity, offset) == ("stribeck", 0.2, "offset")
    for each in asked["logs"]:
        assert each.band.cutoff == 10 and each.keep is None
        assert any("low pass at 15 Hz" in note for note in each.notes)


def test_payload(run, robot):
    frame = robot.frame_names[-1]
    recorded(robot.with_payload(frame, 50.0, (0.1, 0, 0))).save("loaded.csv")
    code, out, _ = run("planar2r", "loaded.csv", "--payload", frame, "--method", "wls", "--json")
    mass = json.loads(out)["standard"][0]
    assert code == 0 and mass["name"] == f"{frame}.M" and mass["before"] == 0
    assert abs(mass["value"] - 50) < 4 * mass["deviation"] < 5


def test_warnings(run, robot):
    """Forces of the wrong sign, and a joint that does not move."""
    t = np.arange(0, 4, 0.005)
    q = np.stack([np.sin(t), 0 * t], axis=1)
    v, a = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    Log(t=t, q=q, v=v, a=a, tau=-robot.inverse_dynamics(q, v, a)).save("wrong.csv")
    code, out, err = run("planar2r", "wrong.csv", "--method", "ols")
    words = " ".join(out.split())
    assert (code, err) == (0, "")
    assert "Warning: forces of shoulder have the other sign than expected" in words
    assert "Warning: the data do not identify all parameters" in words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("no-such-robot", "log.csv"), "no-such-robot"),
        (("planar2r",), "Missing argument 'LOG'"),
        (("planar2r", "missing.csv"), "missing.csv"),
        (("planar2r", "empty.csv"), "empty.csv"),
        (("puma560", "log.csv"), "robot 'puma560'"),
        (("planar2r", "log.csv", "--method", "magic"), "there is no method of identification 'magic'"),
        (("planar2r", "log.csv", "--friction", "honey"), "there is no friction law 'honey'"),
        (("planar2r", "log.csv", "--friction", "stribeck"), "stribeck takes one number"),
        (("planar2r", "log.csv", "--friction", "viscous=2"), "viscous takes no number"),
        (("planar2r", "log.csv", "--known", "masses"), "there is no kind of parameters 'masses'"),
        (("planar2r", "log.csv", "--known", "inertias,rotors", "--friction", "none"), "there is nothing to identify"),
        (("planar2r", "log.csv", "--payload", "nose"), "there is no frame 'nose'"),
        (("planar2r", "log.csv", "--columns", "q"), "is not of the form KIND=WHICH"),
        (("planar2r", "log.csv", "--columns", "x=1"), "there is no kind of column 'x'"),
        (("planar2r", "log.csv", "--columns", "q=70:72"), "no columns are chosen"),
        (("planar2r", "log.csv", "--columns", "tau=current"), "there is no column 'current'"),
        (("planar2r", "log.csv", "--units", "q=miles"), "there is no unit 'miles'"),
        (("planar2r", "log.csv", "--units", "deg"), "is not of the form KIND=UNIT"),
        (("planar2r", "log.csv", "--gains", "1,x"), "'x' is not a number"),
        (("planar2r", "log.csv", "--gains", "1,2,3"), "these gains do not fit"),
        (("planar2r", "log.csv", "--decimal", "x"), "this is not a decimal mark"),
        (("planar2r", "log.csv", "--between", "5"), "is not of the form START:END"),
        (("planar2r", "log.csv", "--between", "50:60"), "too few samples between these times"),
        (("planar2r", "log.csv", "--cutoff", "-1"), "this is not a frequency"),
        (("planar2r", "log.csv", "--between", "1:1.01"), "samples"),
        (("planar2r", "log.csv", "-o", "out.csv"), "--output out.csv: unknown file format"),
        (("planar2r", "log.csv", "--report", "fit.pdf"), "--report fit.pdf: unknown file format"),
        (("planar2r", "log.csv", "-o", "out.yaml", "--plot", "fit.xyz"), "--plot fit.xyz: unknown file format"),
        (("planar2r", "log.csv", "-o", "out.yaml", "--report", "nowhere/fit.html"), "there is no such folder"),
        (("planar2r", "log.csv", "-o", "folder.yaml"), "this is a folder"),
        (("arm.yaml", "log.csv", "-o", "arm.yaml"), "this would replace a file that is read"),
    ],
    ids=lambda x: " ".join(x[2:]) if isinstance(x, tuple) else "",
)
def test_bad_input(run, tmp_path, words, message):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "arm.yaml").write_text("kept: as it is\n")
    before = {path: path.read_bytes() if path.is_file() else b"" for path in tmp_path.iterdir()}
    outputs = () if any(word in words for word in ("-o", "--report", "--plot")) else ("-o", "found.yaml")
    code, out, err = run(*words, *outputs)
    assert code != 0 and out == ""
    assert message in " ".join(re.sub("[│╭╮╰╯─]", "", err).split()) and "Traceback" not in err
    assert before == {path: path.read_bytes() if path.is_file() else b"" for path in tmp_path.iterdir()}


def test_help(run):
    code, out, _ = run("--help")
    assert code == 0
    words = re.sub(r"[\s│]+", " ", out)
    assert all(method in words for method in solver.METHODS)
    assert "identified.yaml --report fit.html" in words
