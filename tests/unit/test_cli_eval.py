"""``linkwork eval``: one state from the command line, many from files, and files that are wrong."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork import cli

JOINTS = ("shoulder", "elbow")
HEADER = "time,q:shoulder,q:elbow,v.shoulder,v.elbow,a:elbow,a:shoulder"
ROWS = ["0,0.1,0.2,1,2,3,4", "1,0.3,-0.4,0,0,0,-1", "2,1e-3,5,-1,.5,2,0"]


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Runs ``linkwork eval`` in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["linkwork", "eval", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else 0
        return code, *capsys.readouterr()

    return call


@pytest.fixture(scope="module")
def robot():
    return linkwork.load("planar2r")


@pytest.fixture
def states(tmp_path):
    """The states of ROWS, and a CSV file that holds them."""
    (tmp_path / "states.csv").write_text("\n".join([HEADER, *ROWS]) + "\n")
    table = np.array([row.split(",") for row in ROWS], float)
    return {"q": table[:, 1:3], "v": table[:, 3:5], "a": table[:, [6, 5]]}


def read(text: str) -> tuple[list[str], np.ndarray]:
    header, *rows = csv.reader(io.StringIO(text))
    return header, np.array(rows, float)


def test_joints_are_those_of_the_tests(robot):
    assert robot.joint_names == JOINTS


class TestOneState:
    def test_by_position_and_by_name(self, run, robot):
        expected = robot.inverse_dynamics([0.1, -0.2], [0, 3], [0, 0])
        for q in ("0.1,-0.2", "shoulder=0.1,elbow=-0.2", "elbow=-0.2, shoulder = 0.1"):
            code, out, err = run("planar2r", "inverse_dynamics", "--q", q, "--v", "elbow=3", "--json")
            assert (code, err) == (0, "")
            assert json.loads(out)["output"]["tau"] == expected.tolist()

    def test_text_tells_what_was_zero(self, run):
        code, out, err = run("planar2r", "inverse_dynamics", "--q", "-1,0.5")
        assert (code, err) == (0, "")
        assert "Not given, so zero: v, a." in out
        assert "elbow" in out
        assert "N m" in out

    @pytest.mark.parametrize("quantity", sorted(linkwork.formulations.QUANTITIES))
    @pytest.mark.parametrize("name", ["planar2r", "quadruped"])
    def test_every_quantity(self, run, name, quantity):
        frame = linkwork.load(name).frame_names[-1]
        words = [name, quantity] + (["--frame", frame] if linkwork.formulations.QUANTITIES[quantity].of_frame else [])
        code, out, err = run(*words, "--json")
        assert (code, err) == (0, "")
        told = json.loads(out)
        (result,) = told["output"].values()
        assert np.shape(result) == tuple(len(labels) for labels in told["labels"])
        assert np.isfinite(np.array(result, float)).all()
        code, out, err = run(*words, "--output", "out.csv")
        assert (code, err) == (0, "")
        header, values = read(Path("out.csv").read_text())
        assert len(set(header)) == len(header)
        np.testing.assert_array_equal(values.ravel(), np.ravel(result))
        assert run(*words)[0] == 0

    def test_options(self, run, robot):
        words = ("planar2r", "jacobian", "--frame", robot.frame_names[-1], "--axes", "local", "--q", "0.3,0.4")
        J = json.loads(run(*words, "--json")[1])["output"]["J"]
        np.testing.assert_array_equal(J, robot.jacobian(robot.frame_names[-1], [0.3, 0.4], axes="local"))
        words = ("planar2r", "forward_dynamics", "--tau", "1,2", "--method", "aba", "--dtype", "float32", "--json")
        told = json.loads(run(*words)[1])
        single = robot.compile("forward_dynamics", method="aba", dtype="float32")
        assert told["method"] == "aba"
        assert told["output"]["a"] == single([0, 0], [0, 0], [1, 2]).tolist()

    def test_help_tells_what_the_quantities_are(self, run, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        out = run("--help")[1]
        for name, quantity in linkwork.formulations.QUANTITIES.items():
            assert re.search(rf"{name} +{re.escape(quantity.summary)}", out), name

    def test_what_is_not_finite_is_null(self, run):
        out = run("planar2r", "gravity", "--q", "nan,0", "--json")[1]
        assert json.loads(out, parse_constant=pytest.fail)["output"]["g"] == [None, None]


class TestFiles:
    def test_csv_to_csv(self, run, robot, states):
        code, out, err = run("planar2r", "inverse_dynamics", "--input", "states.csv", "--output", "tau.csv")
        assert (code, out, err) == (0, "wrote tau.csv: tau at 3 states\n", "")
        header, values = read(Path("tau.csv").read_text())
        assert header == ["tau:shoulder", "tau:elbow"]
        np.testing.assert_array_equal(values, robot.inverse_dynamics(**states))

    def test_csv_to_stdout(self, run, robot, states):
        code, out, _ = run("planar2r", "inertia_matrix", "--input", "states.csv")
        header, values = read(out)
        assert code == 0
        assert header == [f"M:{row}:{column}" for row in JOINTS for column in JOINTS]
        np.testing.assert_array_equal(values.reshape(3, 2, 2), robot.inertia_matrix(states["q"]))

    def test_results_are_states(self, run, states):
        assert run("planar2r", "inverse_dynamics", "--input", "states.csv", "--output", "tau.csv")[0] == 0
        lines = (Path(name).read_text().split() for name in ("states.csv", "tau.csv"))
        Path("both.csv").write_text("\n".join(map(",".join, zip(*lines, strict=True))))
        assert run("planar2r", "forward_dynamics", "--input", "both.csv", "--output", "a.npy")[0] == 0
        np.testing.assert_allclose(np.load("a.npy"), states["a"], atol=1e-12)

    def test_numpy(self, run, robot, states):
        np.savez("states.npz", **states)
        np.save("states.npy", np.hstack([states["q"], states["v"], states["a"]]).reshape(1, 3, 6))
        expected = robot.inverse_dynamics(**states)
        assert (
            run("planar2r", "inverse_dynamics", "--input", "states.npz", "--output", "tau.npz", "--threads", "2")[0]
            == 0
        )
        np.testing.assert_array_equal(np.load("tau.npz")["tau"], expected)
        assert run("planar2r", "inverse_dynamics", "--input", "states.npy", "--output", "tau.npy")[0] == 0
        np.testing.assert_array_equal(np.load("tau.npy"), expected[None])

    def test_a_vector_for_all_rows(self, run, robot, states):
        words = ("planar2r", "inverse_dynamics", "--input", "states.csv", "--a", "1,0", "--json")
        tau = json.loads(run(*words)[1])["output"]["tau"]
        np.testing.assert_array_equal(tau, robot.inverse_dynamics(states["q"], states["v"], [1, 0]))

    def test_spreadsheets_mark_and_blank_lines(self, run, robot, states, tmp_path):
        text = "\ufeff" + "\r\n".join([HEADER, ROWS[0], "", *ROWS[1:], ""])
        (tmp_path / "states.csv").write_bytes(text.encode())
        code, out, _ = run("planar2r", "gravity", "--input", "states.csv")
        assert code == 0
        np.testing.assert_array_equal(read(out)[1], robot.gravity(states["q"]))

    def test_floating_base(self, run):
        robot = linkwork.load("quadruped")
        rng = np.random.default_rng(0)
        q = rng.standard_normal((2, robot.nq))
        base = ["x", "y", "z", "qx", "qy", "qz", "qw"]
        names = [f"q:base.{name}" for name in base] + [f"q:{name}" for name in robot.joint_names]
        np.savetxt("q.csv", q, fmt="%.17g", delimiter=",", header=",".join(names), comments="")
        code, out, _ = run("quadruped", "gravity", "--input", "q.csv")
        assert code == 0
        header, values = read(out)
        assert header[:6] == [f"g:base.{name}" for name in ("x", "y", "z", "rx", "ry", "rz")]
        np.testing.assert_array_equal(values, robot.gravity(q))


class TestBadFiles:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "columns are missing"),
            (HEADER + "\n", "there are no rows"),
            (HEADER.replace("v.elbow", "w") + "\n" + ROWS[0], "expected: also v:elbow"),
            (HEADER.replace("v.elbow", "v.ellbow") + "\n" + ROWS[0], "column 'v.ellbow': there is no joint 'ellbow'"),
            (HEADER.replace("time", "q.elbow") + "\n" + ROWS[0], "column 'q:elbow': this joint has two columns"),
            ("\n".join([HEADER, *ROWS[:2], "2,1,x,0,0,0,0"]), "row 3 (line 4), column 'q:elbow': not a number"),
            ("\n".join([HEADER, *ROWS[:2], "2,,1,0,0,0,0"]), "row 3 (line 4), column 'q:shoulder': not a number"),
            ("\n".join([HEADER, ROWS[0], "1,2,3"]), "row 2 (line 3): wrong number of columns"),
            ("\x00\xff", "bad.csv"),
        ],
    )
    def test_csv(self, run, tmp_path, text, said):
        (tmp_path / "bad.csv").write_bytes(text.encode("latin-1"))
        code, out, err = run("planar2r", "inverse_dynamics", "--input", "bad.csv", "--output", "out.csv")
        assert (code, out) == (1, "")
        assert said in err
        assert "bad.csv" in err
        assert not (tmp_path / "out.csv").exists()

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("q.npy", np.zeros((4, 3)), "expected: real numbers of shape (..., 2): q"),
            ("q.npy", np.zeros((4, 2), complex), "complex128"),
            ("q.npy", np.array({"q": 1}), "not a NumPy file of numbers"),
            ("q.npz", {"x": np.zeros((4, 2))}, "there is no array 'q'"),
            ("q.npz", {"q": np.zeros(5)}, "array 'q': this does not fit"),
            ("q.npy", b"", "not a NumPy file of numbers"),
            ("q.npz", b"PK\x03\x04 not really", "not a NumPy file of numbers"),
            ("q.txt", b"", "q.txt: this kind of file is not known"),
        ],
    )
    def test_numpy(self, run, tmp_path, name, content, said):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, dict):
            np.savez(path, **content)
        else:
            np.save(path, content)
        code, out, err = run("planar2r", "gravity", "--input", name, "--output", "out.npy")
        assert (code, out) == (1, "")
        assert said in err
        assert not (tmp_path / "out.npy").exists()

    def test_missing_and_unwritable(self, run, states, tmp_path):
        err = run("planar2r", "gravity", "--input", "absent.csv")[2]
        assert "absent.csv: the file cannot be read" in err and "fix: give --input a file" in err
        code, _, err = run("planar2r", "gravity", "--input", "states.csv", "--output", "absent/g.csv")
        assert code == 1
        assert "cannot be written" in err
        assert [path.name for path in tmp_path.iterdir()] == ["states.csv"]

    def test_states_are_not_replaced(self, run, states, tmp_path):
        before = (tmp_path / "states.csv").read_text()
        code, _, err = run("planar2r", "gravity", "--input", "states.csv", "--output", "./states.csv")
        assert code == 1
        assert "would replace the states" in err
        assert (tmp_path / "states.csv").read_text() == before

    def test_batches_that_do_not_fit(self, run, states):
        np.savez("states.npz", q=states["q"], v=states["v"][:2], a=states["a"])
        code, _, err = run("planar2r", "inverse_dynamics", "--input", "states.npz")
        assert code == 1
        assert "the batch axes do not fit together" in err


def test_nothing_left_to_read(run, states):
    code, out, err = run("planar2r", "gravity", "--q", "0.1,0.2", "--input", "states.csv")
    assert (code, out) == (1, "") and "nothing is left to read from states.csv" in err


@pytest.mark.parametrize("quantity", ["inertia_matrix", "coriolis_matrix", "jacobian"])
def test_matrices_of_a_robot_without_joints(run, tmp_path, quantity):
    (tmp_path / "still.urdf").write_text('<robot name="still"><link name="only"/></robot>')
    code, out, err = run("still.urdf", quantity, *(["--frame", "only"] if quantity == "jacobian" else []))
    assert (code, err) == (0, "") and "empty, " in out
