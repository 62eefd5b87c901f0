"""Studies: their files, their random numbers, their rows, wherever and in whatever order they are computed."""

import dataclasses
import hashlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from multiprocessing import spawn
from pathlib import Path

import numpy as np
import pytest
import typer
from pyarrow import parquet
from typer.testing import CliRunner

import linkwork
from linkwork.cli.sweep import sweep
from linkwork.control import PID, Quintic
from linkwork.errors import LinkworkError, ShapeError, UnsupportedError
from linkwork.sweep import Summary, compute, read_study, run
from linkwork.sweep.folder import Folder, to_parquet
from linkwork.sweep.sampling import Change, Plan, Variable, Vector
from support.evaluate import assert_close

STUDY = """
name: two links
seed: 7
samples: 5
robot: planar2r
simulation: {dt: 0.01, duration: 0.2}
initial:
  q: {elbow: {uniform: [-1, 1]}}
  v: {normal: [0, 0.1]}
controller: {kind: PDGravity, kp: {grid: [100, 300]}, kd: [60, {log_uniform: [10, 40]}]}
reference: {kind: Quintic, goal: {shoulder: 0.5}, duration: 0.15}
vary:
  mass: {forearm: {times: {uniform: [0.8, 1.2]}}}
  payload: {frame: tip, mass: {choice: [1, 2, 5]}, center: [0.1, 0, 0]}
  viscous: {elbow: {grid: {from: 0, to: 4, count: 3}}}
  gravity: {y: {plus: {normal: [0, 0.5]}}}
outputs: [final.q, peak.tau, rms.error, final.energy, mean.v]
chunk: 4
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="study.yaml"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.fixture
def study(write):
    return read_study(write(STUDY))


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    ) as cluster:
        yield cluster


def table(folder):
    return parquet.read_table(folder / "rows").sort_by("row")


def assert_rows(found, study):
    """The rows of a folder are those computed here, case by case at once, to the last bit."""
    start = 0
    for end in study.ends:
        for name, column in compute(study, start, end).items():
            np.testing.assert_array_equal(found[name].to_numpy()[start:end], column, err_msg=name)
        start = end
    assert len(found) == study.rows


# -- random numbers ------------------------------------------------------------------------------------------------

KINDS = {"uniform": (-1.0, 3.0), "normal": (2.0, 0.5), "log_uniform": (0.1, 10.0), "choice": (1.0, 2.0, 4.0)}
MOMENTS = {  # mean and standard deviation
    "uniform": (1.0, 4 / np.sqrt(12)),
    "normal": (2.0, 0.5),
    "choice": (7 / 3, np.std([1, 2, 4])),
}


@pytest.mark.parametrize("kind", KINDS)
def test_random_numbers_belong_to_samples(kind):
    variable = Variable("q.elbow", kind, KINDS[kind])
    plan = Plan((variable,), samples=1000, seed=3)
    whole = plan.values(0, 1000)["q.elbow"]
    parts = [plan.values(a, b)["q.elbow"] for a, b in itertools.pairwise([0, 1, 10, 11, 500, 1000])]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    longer = Plan((variable,), samples=2000, seed=3).values(0, 1000)["q.elbow"]
    np.testing.assert_array_equal(longer, whole)
    assert not np.array_equal(Plan((variable,), 1000, seed=4).values(0, 1000)["q.elbow"], whole)


@pytest.mark.parametrize("kind", MOMENTS)
def test_distributions(kind):
    count, (mean, deviation) = 200_000, MOMENTS[kind]
    x = Variable("x", kind, KINDS[kind]).draw(0, np.arange(count))
    y = Variable("y", kind, KINDS[kind]).draw(0, np.arange(count))
    assert abs(x.mean() - mean) < 5 * deviation / np.sqrt(count)
    assert abs(x.std() - deviation) < 0.01 * deviation
    for other in (y, np.roll(x, 1)):  # neither variables nor neighbours hang together
        assert abs(np.corrcoef(x, other)[0, 1]) < 5 / np.sqrt(count)


def test_log_uniform_is_uniform_in_the_logarithm():
    x = Variable("x", "log_uniform", (0.1, 10.0)).draw(0, np.arange(100_000))
    assert x.min() >= 0.1 and x.max() <= 10
    shares = np.histogram(np.log10(x), bins=4, range=(-1, 1))[0] / len(x)
    np.testing.assert_allclose(shares, 0.25, atol=0.01)


def test_grid_is_the_product_of_its_axes():
    axes = [Variable("a", "grid", (1.0, 2.0)), Variable("b", "grid", (3.0, 4.0, 5.0))]
    plan = Plan((axes[0], Variable("x", "uniform", (0.0, 1.0)), axes[1]), samples=2, seed=0)
    values = plan.values(0, plan.rows)
    points = list(zip(values["a"], values["b"]))
    assert points == [point for point in itertools.product((1, 2), (3, 4, 5)) for _ in range(2)]
    assert list(values) == ["a", "x", "b"]
    np.testing.assert_array_equal(values["x"].reshape(6, 2), np.tile(values["x"][:2], (6, 1)))  # the same everywhere


def test_vectors():
    x, y = Variable("x", "grid", (2.0,)), Variable("y", "grid", (3.0,))
    vector = Vector(
        ("a", "b", "c"), (1.0, 5.0, 7.0), (Change((0,), x), Change((1,), y, "times"), Change((2,), x, "plus"))
    )
    np.testing.assert_array_equal(
        vector.rows({"x": np.array([2.0, 4]), "y": np.array([3.0, 1])}, 2), [[2, 15, 9], [4, 5, 11]]
    )


def test_sampling_is_fast():
    variables = tuple(Variable(f"x{k}", "normal", (0.0, 1.0)) for k in range(14))
    start = time.perf_counter()
    Plan(variables, 100_000, 1).values(0, 100_000)
    assert time.perf_counter() - start < 1


# -- rows ----------------------------------------------------------------------------------------------------------


def test_rows_are_motions(study):
    """Each row again, from its columns alone, by a loop in Python."""
    robot = linkwork.load("planar2r")
    columns = compute(study, 0, 30)
    assert study.rows == 30 and columns["row"].tolist() == list(range(30))
    assert set(columns["linkwork"]) == {linkwork.__version__} and set(columns["seed"]) == {7}
    numbers = ["parameters", "payload:tip"]
    dynamics = robot.compile("forward_dynamics", inputs=numbers)
    weight = robot.compile("inverse_dynamics", inputs=numbers)
    inertia = robot.compile("inertia_matrix", inputs=numbers)
    for i in range(0, 30, 7):
        row = {name: column[i] for name, column in columns.items()}
        parameters = np.array(robot.parameters)
        parameters[1] *= row["vary.mass.forearm.times"]
        load = [row["vary.payload.mass"], 0.1, 0, 0, *[0] * 6]
        kp, kd = row["controller.kp"], np.array([60, row["controller.kd.elbow"]])
        q = np.array([0, row["initial.q.elbow"]])
        v = np.array([row["initial.v.shoulder"], row["initial.v.elbow"]])
        viscous, up = np.array([0, row["vary.viscous.elbow"]]), row["vary.gravity.y.plus"]
        heavier = (9.81 - up) / 9.81
        errors, peaks, speeds = [], [], []
        for k in range(21):
            x = min(k * 0.01 / 0.15, 1)
            goal = np.array([0.5, 0]) * x**3 * (10 - 15 * x + 6 * x * x)
            speed = np.array([0.5, 0]) / 0.15 * 30 * (x * (1 - x)) ** 2
            tau = kp * (goal - q) + kd * (speed - v) + robot.gravity(q)
            errors.append(q - goal), peaks.append(abs(tau)), speeds.append(v)
            final = q
            extra = (heavier - 1) * weight(q, 0 * q, 0 * q, parameters, load)  # gravity acts linearly
            a = dynamics(q, v, tau - viscous * v - extra, parameters, load)
            M = inertia(q, parameters, load)
            v = v + 0.01 * np.linalg.solve(M + 0.01 * np.diag(viscous), M @ a)  # friction at the new velocity
            q = q + 0.01 * v
        for name, value in {
            "final.q": final,
            "peak.tau": np.max(peaks, axis=0),
            "rms.error": np.sqrt(np.mean(np.square(errors), axis=0)),
            "mean.v": np.mean(speeds, axis=0),
        }.items():
            found = [row[f"{name}.shoulder"], row[f"{name}.elbow"]]
            np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-12, err_msg=f"row {i}: {name}")
        assert row["diverged"] == -1


def test_integral_action(write):
    """Gains and the limit of the integral vary from row to row."""
    law = "controller: {kind: PID, kp: 300, ki: {grid: [100, 900]}, kd: 60, integral_limit: {grid: [0.001, 1]}}"
    text = re.sub("controller: .*", law, re.sub(r"vary:(.|\n)*outputs", "outputs", STUDY))
    study, robot = read_study(write(text)), linkwork.load("planar2r")
    columns = compute(study, 0, study.rows)
    for i in range(0, study.rows, 3):
        row = {name: column[i] for name, column in columns.items()}
        q, v = [0, row["initial.q.elbow"]], [row["initial.v.shoulder"], row["initial.v.elbow"]]
        torque = PID(300, row["controller.ki"], 60, integral_limit=row["controller.integral_limit"])
        way = Quintic([0.0, 0.0], [0.5, 0.0], 0.15)
        motion = robot.rollout(q, v, torque, 0.01, 20, reference=way)
        assert_close(motion.q[-1], [row["final.q.shoulder"], row["final.q.elbow"]])
    assert len({columns["final.q.shoulder"][k] for k in range(0, study.rows, study.rows // 4)}) == 4


def test_chunks_do_not_matter(study, write, monkeypatch):
    whole = compute(study, 0, 30)
    parts = [compute(study, a, b) for a, b in study.chunks()]
    assert len(parts) == 8
    for name, column in whole.items():
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), column)
    monkeypatch.setattr("linkwork.sweep.rows.MEMORY", 2000)  # a few rows at a time
    for name, column in compute(study, 0, 30).items():
        np.testing.assert_array_equal(column, whole[name])


def test_commands(write):
    """Each row flies with its own."""
    path = write(
        """
        seed: 1
        samples: 3
        robot: quadrotor
        simulation: {dt: 0.01, duration: 0.1}
        commands: {front_left: {uniform: [2, 3]}, back_right: 2.5}
        outputs: [final.v]
        """
    )
    columns, robot = compute(read_study(path), 0, 3), linkwork.load("quadrotor")
    thrusts = np.zeros((3, 4))
    thrusts[:, 0], thrusts[:, 2] = columns["commands.front_left"], 2.5
    start = np.tile(robot.coordinates.neutral(), (3, 1))
    run = robot.rollout(start, np.zeros(6), dt=0.01, steps=10, method="semi-implicit-euler", commands=thrusts)
    assert len(set(thrusts[:, 0])) == 3
    assert np.array_equal(columns["final.v.base.z"], run.v[:, -1, 2])


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (0, 0), (28, 31), (2, 1)])
def test_rows_that_are_not_there(study, start, stop):
    with pytest.raises(ShapeError, match="cases end at 30"):
        compute(study, start, stop)


def test_loops_floating_bases_and_robot_files(write, tmp_path):
    linkwork.load("planar2r").write(tmp_path / "arm.urdf")
    path = write(
        """
        seed: 1
        samples: 3
        robot: [four-bar, {load: space-arm, friction: false}, arm.urdf]
        simulation: {dt: 0.001, duration: 0.05, method: dormand-prince-5}
        initial: {v: {normal: [0, 0.1]}}
        vary: {mass: {times: {uniform: [0.9, 1.1]}}}
        outputs: [final.q, peak.loop_residual]
        """.replace(", peak.loop_residual", "")
    )
    study = read_study(path)
    assert study.rows == 9 and list(study.robots) == ["arm.urdf"]
    for start, names in ((0, ["crank", "coupler", "rocker"]), (3, ["base.qw", "elbow"]), (6, ["shoulder", "elbow"])):
        columns = compute(study, start, start + 3)
        assert (columns["diverged"] == -1).all()
        assert all(np.isfinite(columns[f"final.q.{name}"]).all() for name in names)
    loops = linkwork.load("four-bar")
    q = np.stack([compute(study, 0, 3)[f"final.q.{name}"] for name in loops.position_names], axis=1)
    assert abs(loops.loop_residual(q)).max() < 1e-9


def test_orientations_are_of_length_one(write):
    text = """
        seed: 1
        samples: 20
        robot: space-arm
        simulation: {dt: 0.01, duration: 0.01}
        initial: {q: {base.qx: {normal: [0, 1]}, base.qy: {normal: [0, 1]}, base.qz: {normal: [0, 1]},
                      base.qw: {normal: [0, 1]}}}
        outputs: [final.q]
    """
    columns = compute(read_study(write(text)), 0, 20)
    parts = np.stack([columns[f"final.q.base.{name}"] for name in ("qx", "qy", "qz", "qw")])
    np.testing.assert_allclose(np.linalg.norm(parts, axis=0), 1, rtol=1e-12)
    assert np.std(parts, axis=1).min() > 0.3


def test_diverged_rows_say_when(write):
    text = STUDY.replace("kd: [60, {log_uniform: [10, 40]}]", "kd: {choice: [30, 1e7]}").replace(
        "samples: 5", "samples: 20"
    )
    with pytest.warns(UserWarning, match="dt = 0.01 s is too long"):
        columns = compute(read_study(write(text)), 0, 40)
    bad = (columns["controller.kd.shoulder"] > 1e6) | (columns["controller.kd.elbow"] > 1e6)
    assert 0 < bad.sum() < 40
    assert (columns["diverged"][~bad] == -1).all() and not np.isfinite(
        columns["final.q.elbow"][columns["diverged"] >= 0]
    ).any()
    assert (np.isfinite(columns["final.q.elbow"]) == (columns["diverged"] == -1)).all()


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: two links", "nam: x", r"line 2.*no key 'nam'(.|\n)*did you mean 'name'"),
        ("robot: planar2r", "", "'robot' is missing"),
        ("robot: planar2r", "robot: planar3r", r"line 5: robot: this robot cannot be loaded(.|\n)*planar2r"),
        ("robot: planar2r", "robot: none.urdf", "cannot be read"),
        ("robot: planar2r", "robot: []", "list is empty"),
        ("robot: planar2r", "robot: !!python/object/apply:os.system [ls]", r"tags \(!\) are not allowed"),
        ("robot: planar2r", "robot: &x planar2r", "anchors"),
        ("seed: 7", "", "random values need a seed"),
        ("seed: 7", "seed: -1", r"line 3.*out of range"),
        ("seed: 7", "seed: 1.5", "not an integer"),
        ("samples: 5", "samples: 0", "out of range"),
        ("samples: 5", "samples: 900000000", "too many rows"),
        ("dt: 0.01", "dt: 0", "above zero"),
        ("dt: 0.01", "dt: 0.03", "a multiple of dt"),
        ("dt: 0.01", "dt: 1e-300", "a multiple of dt"),
        ("duration: 0.2}", "duration: 0.2, every: 3}", "divisor of 20"),
        ("duration: 0.2}", "duration: 0.2, method: rk5}", "did you mean 'rk4'"),
        ("duration: 0.2}", "duration: .inf}", "not finite"),
        ("q: {elbow:", "q: {elbo:", r"line 8: initial.q: there is no key 'elbo'(.|\n)*did you mean 'elbow'"),
        ("uniform: [-1, 1]", "uniform: [1, -1]", r"initial.q.elbow: wrong values of uniform(.|\n)*\[low, high\]"),
        ("uniform: [-1, 1]", "uniform: [1]", "wrong values of uniform"),
        ("uniform: [-1, 1]", "uniform: 1", "expected: a list"),
        ("uniform: [-1, 1]", "uniform: [-1, 1], normal: [0, 1]", "not one value"),
        ("normal: [0, 0.1]", "normal: [0, -1]", "mean, deviation"),
        ("normal: [0, 0.1]", "norml: [0, 1]", "no key 'norml'"),
        ("log_uniform: [10, 40]", "log_uniform: [0, 1]", "above zero"),
        ("grid: [100, 300]", "grid: []", "wrong values of grid"),
        ("grid: [100, 300]", "grid: [1, 1]", "different values"),
        ("count: 3", "count: 2e9", "not an integer"),
        ("times: {uniform: [0.8, 1.2]}", "times: {plus: {uniform: [0, 1]}}", "operations cannot be nested"),
        ("kind: PDGravity", "kind: PDD", "did you mean 'PD'"),
        (
            "kind: PDGravity",
            "kind: PID",
            "'ki' is missing(.|\n)*keys: kind, kp, ki, kd, limit, integral_limit",
        ),
        ("kd: [60,", "kd: [-60,", r"line 10: controller\.kd: out of range\n  got: -60"),
        ("kind: PDGravity", "kind: PD, ki: 3", "there is no key 'ki'(.|\n)*kp, kd, limit"),
        ("kind: PDGravity, ", "", "'kind' is missing"),
        ("kd: [60, {log_uniform: [10, 40]}]", "kd: {elbow: 3}", "none for shoulder"),
        ("kd: [60, {log_uniform: [10, 40]}]", "kd: {times: {uniform: [1, 2]}}", "none for shoulder, elbow"),
        ("kd: [60, {log_uniform: [10, 40]}]", "kd: [1, 2, 3]", "3 values(.|\n)*2: shoulder, elbow"),
        ("kd: [60,", "kd: [-60,", "zero or more; gains finite"),
        ("kind: Quintic", "kind: Septic", "no reference 'Septic'"),
        ("duration: 0.15", "durations: 0.15", "no key 'durations'"),
        ("duration: 0.15", "duration: -1", r"reference.*\n(.|\n)*above zero"),
        (", duration: 0.15", "", "do not define a reference"),
        ("goal: {shoulder: 0.5}", "goal: {shoulder: {uniform: [0, 1]}}", "the same in all rows"),
        ("reference:", "# reference:", "a controller needs a reference"),
        ("controller:", "# controller:", "a reference needs a controller"),
        ("frame: tip", "frame: top", "did you mean 'tip'"),
        ("frame: tip, ", "", "'frame' is missing"),
        ("outputs: [final.q,", "outputs: [last.q,", "no output 'last.q'"),
        ("outputs: [final.q, peak.tau, rms.error, final.energy, mean.v]", "outputs: []", "there are no outputs"),
        ("chunk: 4", "chunk: 4\ncommands: 1", "has no command inputs"),
        ("chunk: 4", "chunk: 0", "out of range"),
        ("chunk: 4", "chunk: 4\nchunk: 5", "given twice"),
    ],
)
def test_mistakes(write, old, new, message):
    assert old in STUDY
    with pytest.raises(LinkworkError, match=message):
        read_study(write(STUDY.replace(old, new)))


def test_samples_of_nothing_random(write):
    text = "samples: 3\nrobot: planar2r\nsimulation: {dt: 0.1, duration: 1}\noutputs: [final.q]\n"
    with pytest.raises(LinkworkError, match="no value is random"):
        read_study(write(text))
    assert read_study(write(text.replace("samples: 3\n", ""))).rows == 1


def test_files_that_are_no_studies(write, tmp_path):
    with pytest.raises(LinkworkError, match="cannot be read"):
        read_study(tmp_path / "none.yaml")
    with pytest.raises(LinkworkError, match="too long"):
        read_study(write("#" * 2**21))
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LinkworkError, match="UTF-8"):
        read_study(tmp_path / "binary.yaml")


# -- on Dask -----------------------------------------------------------------------------------------------------------


def test_stop_and_resume(study, write, tmp_path, cluster):
    address, folder = cluster.scheduler_address, tmp_path / "results"

    def interrupt(done, total):
        assert total == 30
        if done >= 8:
            raise KeyboardInterrupt

    stopped = run(study, folder, scheduler=address, progress=interrupt)
    assert stopped.stopped and 8 <= stopped.done < 12 and len(table(folder)) == stopped.done
    with pytest.raises(LinkworkError, match="resume=True"):
        run(study, folder, scheduler=address)
    with pytest.raises(LinkworkError, match="another study"):
        run(read_study(write(STUDY.replace("seed: 7", "seed: 8"))), folder, scheduler=address, resume=True)
    before = {path: path.stat().st_mtime_ns for path in (folder / "rows").iterdir()}
    summary = run(study, folder, scheduler=address, resume=True)
    assert (summary.existing, summary.done, summary.stopped) == (
        stopped.done,
        30 - stopped.done,
        False,
    ) and summary.workers == 2
    assert 0 < summary.overhead < 1
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())
    assert_rows(table(folder), study)
    again = run(study, folder, resume=True)  # nothing left, no processes
    assert again.done == 0 and again.existing == 30
    about = json.loads((folder / "study.json").read_text())
    assert about["linkwork"] == linkwork.__version__ and about["seed"] == 7
    assert (folder / "study.yaml").read_text() == STUDY


def test_killed_worker_loses_nothing(write, tmp_path, cluster):
    text = STUDY.replace("samples: 5", "samples: 20").replace(
        "robot: planar2r", "robot: [planar2r, {load: planar2r, rotors: false}]"
    )
    study, folder, killed = read_study(write(text)), tmp_path / "results", []
    pids = [worker.pid for worker in cluster.workers.values()]

    def kill(done, total):
        if not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    summary = run(study, folder, scheduler=cluster.scheduler_address, progress=kill)
    assert killed and summary.done == study.rows == 240 and set(table(folder)["case"].to_pylist()) == {0, 1}
    assert_rows(table(folder), study)
    assert pids[0] not in [worker.pid for worker in cluster.workers.values()]  # it did die


def test_a_sweep_without_workers_ends(write, tmp_path, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr("linkwork.sweep.cluster.PATIENCE", 1.0)
    study, folder = read_study(write(STUDY.replace("samples: 5", "samples: 40"))), tmp_path / "results"
    own = {"n_workers": 1, "processes": False, "protocol": "tcp", "host": "127.0.0.1", "silence_logs": 50}
    with LocalCluster(**own, dashboard_address="127.0.0.1:0") as cluster:

        def dismiss(done, total):
            if done == 4:
                cluster.scale(0)

        with pytest.raises(LinkworkError, match=r"no worker has been left(.|\n)*rows are in(.|\n)*resume=True") as told:
            run(study, folder, scheduler=cluster.scheduler_address, progress=dismiss)
    kept = len(table(folder))
    assert 4 <= kept < study.rows and f"{kept} of {study.rows} rows" in str(told.value)


def test_a_sweep_without_its_scheduler_ends(write, tmp_path):
    study, folder = read_study(write(STUDY.replace("samples: 5", "samples: 40"))), tmp_path / "results"
    command = [sys.executable, "-c", SCHEDULER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()

        def kill(done, total):
            if done == 4:
                process.kill()

        with pytest.raises(LinkworkError, match=r"the scheduler has ended(.|\n)*rows are in(.|\n)*resume=True"):
            run(study, folder, scheduler=address, progress=kill)
    assert 4 <= len(table(folder)) < study.rows


SCHEDULER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, host="127.0.0.1", protocol="tcp",
                      dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def test_all_listen_on_this_machine_only(study, tmp_path):
    import psutil

    found = []

    def look(done, total):
        for process in (psutil.Process(), *psutil.Process().children(recursive=True)) if not found else ():
            connections = getattr(process, "net_connections", None) or process.connections  # its name before psutil 6
            found.extend(each.laddr.ip for each in connections("inet") if each.status == psutil.CONN_LISTEN)

    run(study, tmp_path / "results", workers=1, progress=look)
    assert len(found) >= 3 and set(found) == {"127.0.0.1"}


def flipped(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def swapped(path):
    path.write_bytes((path.parent / "000000012-000000016.parquet").read_bytes())


def other_columns(path):
    parquet.write_table(parquet.read_table(path).drop_columns(["diverged"]), path)


@pytest.mark.parametrize(
    "harm",
    [cut, swapped, other_columns, lambda path: flipped(path, 60), lambda path: path.write_bytes(b"")],
    ids=["cut", "swapped", "columns", "flipped", "empty"],
)
def test_damaged_chunks_are_computed_anew(study, tmp_path, cluster, harm):
    folder = tmp_path / "results"
    run(study, folder, scheduler=cluster.scheduler_address)
    harm(folder / "rows" / "000000004-000000008.parquet")
    summary = run(study, folder, scheduler=cluster.scheduler_address, resume=True)
    assert (summary.existing, summary.done) == (26, 4)
    assert any("rows 4 to 7" in note and "damaged" in note for note in summary.notes)
    assert_rows(table(folder), study)


def test_any_flipped_bit_is_noticed(study, tmp_path):
    """Readers of Parquet stumble over some, and do not see others."""
    chunk, folder = (0, 4), Folder(study, tmp_path / "results", resume=False)
    folder.create()
    folder.write(chunk, to_parquet(study, compute(study, *chunk)))
    (file,) = (tmp_path / "results" / "rows").iterdir()

    def look():
        return Folder(study, tmp_path / "results", resume=True)

    whole, checksums = file.read_bytes(), tmp_path / "results" / "rows.sha256"
    assert look().damaged == [] and chunk not in look().missing
    for bit in range(7, 8 * len(whole), 997):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        file.write_bytes(data)
        assert look().damaged == [chunk] and chunk in look().missing
    file.write_bytes(whole)
    line = checksums.read_bytes()
    for spoilt in (b"", b"\xff" + line[1:], line[:40], line.replace(b"rows", b"cows"), b"\n\x00\n"):
        checksums.write_bytes(spoilt)
        assert look().damaged == [chunk]
    checksums.write_bytes(line[:30] + b"\n" + line)  # of a chunk that was being written as the power went
    assert look().damaged == []


def test_checksums_are_those_of_sha256sum(study, tmp_path, cluster):
    folder = tmp_path / "results"
    run(study, folder, scheduler=cluster.scheduler_address)
    lines = dict(line.split("  ")[::-1] for line in (folder / "rows.sha256").read_text().splitlines())
    assert lines == {f"rows/{p.name}": hashlib.sha256(p.read_bytes()).hexdigest() for p in (folder / "rows").iterdir()}


def test_workers_that_die_at_their_start(study, tmp_path, monkeypatch):
    dying = tmp_path / "python"
    dying.write_text("#!/bin/sh\nkill -9 $$\n")
    dying.chmod(0o755)
    monkeypatch.setattr(spawn, "_python_exe", str(dying))
    with pytest.raises(LinkworkError, match=r"the workers did not start(.|\n)*fix"):
        run(study, tmp_path / "results", workers=1)
    assert not (tmp_path / "results").exists()


def test_files_of_others_among_the_rows(study, tmp_path, cluster):
    folder = tmp_path / "results"
    run(study, folder, scheduler=cluster.scheduler_address)
    (folder / "rows" / "notes.parquet").write_bytes(b"mine")
    with pytest.raises(LinkworkError, match=r"notes\.parquet(.|\n)*move"):
        run(study, folder, scheduler=cluster.scheduler_address, resume=True)
    assert (folder / "rows" / "notes.parquet").read_bytes() == b"mine"


def test_another_study_is_told_by_what_differs(write, tmp_path, cluster):
    linkwork.load("planar2r").write(tmp_path / "arm.urdf")
    text = STUDY.replace("robot: planar2r", "robot: arm.urdf").replace("frame: tip", "frame: forearm")
    study, folder, address = read_study(write(text)), tmp_path / "results", cluster.scheduler_address
    run(study, folder, scheduler=address)
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def refused(other, message):
        with pytest.raises(LinkworkError, match=message):
            run(other, folder, scheduler=address, resume=True)

    refused(read_study(write(text.replace("seed: 7", "seed: 8"))), r"another study(.|\n)*study\.yaml")
    write((tmp_path / "arm.urdf").read_text().replace("</robot>", "<!-- --></robot>"), "arm.urdf")
    refused(read_study(write(text)), r"another study(.|\n)*the robot file arm\.urdf")
    about = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps({**about, "linkwork": "0.0.9"}))
    refused(study, rf"linkwork 0\.0\.9(.|\n)*{linkwork.__version__}(.|\n)*or use linkwork 0\.0\.9")
    (folder / "study.json").write_bytes(files.pop(folder / "study.json"))
    assert all(path.read_bytes() == data for path, data in files.items())


def test_workers_of_another_version(study, tmp_path, cluster, monkeypatch):
    monkeypatch.setattr("linkwork.sweep.cluster.__version__", "0.0.9")
    with pytest.raises(LinkworkError, match=rf"linkwork {linkwork.__version__}(.|\n)*0\.0\.9"):
        run(study, tmp_path / "results", scheduler=cluster.scheduler_address)


def test_rows_that_cannot_be_computed(write, tmp_path, cluster):
    text = """
        robot: space-arm
        simulation: {dt: 0.01, duration: 0.01}
        initial: {q: {base.qw: {grid: [1, 0]}}}
        outputs: [final.q]
        chunk: 1
    """
    study, folder = read_study(write(text)), tmp_path / "results"
    with pytest.raises(LinkworkError, match=r"rows 1 to 1: these rows(.|\n)*quaternion must not be zero"):
        run(study, folder, scheduler=cluster.scheduler_address)


def test_command_line(write, tmp_path, monkeypatch):
    """With processes of its own; the rows are those of the cluster."""
    app, path = typer.Typer(), write(STUDY)
    app.command()(sweep)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, [str(path), "--workers", "1"])
    assert result.exit_code == 0, result.output
    assert "two links: 30 of 30 rows" in result.output and "lost to Dask" in result.output
    assert_rows(table(tmp_path / "study-results"), read_study(path))
    again = CliRunner().invoke(app, [str(path), "--resume", "--json"])
    assert json.loads(again.output)["existing"] == 30
    monkeypatch.setattr("linkwork.cli.sweep.run", lambda *a, **k: dataclasses.replace(SUMMARY, folder=a[1]))
    stopped = CliRunner().invoke(app, [str(path), "-o", "my results", "--workers", "1"])
    assert stopped.exit_code == 130
    assert f"linkwork sweep {path} -o 'my results' --resume --workers 1" in stopped.output


SUMMARY = Summary(Path(), 30, existing=0, done=0, diverged=0, workers=1, seconds=1, computing=1, stopped=True, notes=())


def test_folders_and_addresses_that_cannot_be(study, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("precious")
    with pytest.raises(LinkworkError, match="neither an empty folder"):
        run(study, tmp_path / "full")
    with pytest.raises(LinkworkError, match="neither an empty folder"):
        run(study, tmp_path / "full" / "thesis.tex")
    with pytest.raises(LinkworkError, match="no scheduler"):
        run(study, tmp_path / "results", scheduler="nonsense://1")
    with pytest.raises(LinkworkError, match="1 or more"):
        run(study, tmp_path / "results", workers=0)
    assert not (tmp_path / "results").exists()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "study.json").write_text("[]")
    with pytest.raises(LinkworkError, match="does not describe a study"):
        run(study, tmp_path / "results", resume=True)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("module", ["distributed", "pyarrow"])
def test_missing_packages(study, tmp_path, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnsupportedError, match=r"pip install 'linkwork\[sweep\]'"):
        run(study, tmp_path / "results")
    assert not (tmp_path / "results").exists()
