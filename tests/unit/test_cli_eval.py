"""``linkwork eval``: one state from the command line, many from files, and files that are wrong."""

import csv
import io
import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import linkwork

JUGGLER = str(Path(__file__).parents[2] / "examples" / "juggler.yaml")
JOINTS = ("shoulder", "elbow")
HEADER = "time,q:shoulder,q:elbow,v.shoulder,v.elbow,a:elbow,a:shoulder"
ROWS = ["0,0.1,0.2,1,2,3,4", "1,0.3,-0.4,0,0,0,-1", "2,1e-3,5,-1,.5,2,0"]

REFUSED = {
    **{(name, "platform_jacobian"): "motors do not determine" for name in ("quadruped", "flexible-arm")},
    **{(name, "coriolis_matrix"): "no Coriolis matrix for robots with loops" for name in ("four-bar", "gough-stewart")},
    **{
        (name, "christoffel_symbols"): "velocities are the rates of the positions"
        for name in ("quadruped", "four-bar", "gough-stewart")
    },
    **{(name, "adaptive_regressor"): "trees of rigid links" for name in ("four-bar", "gough-stewart")},
    **{(name, "assemble"): "the robot has no loops" for name in ("planar2r", "quadruped", "flexible-arm")},
}
OF_TREES = {"coriolis_matrix", "christoffel_symbols", "adaptive_regressor"}


@pytest.fixture
def run(run_linkwork, monkeypatch, tmp_path):
    """Runs ``linkwork eval`` in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    return partial(run_linkwork, "eval")


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

    def test_a_quaternion_given_in_part(self, run):
        """Its other entries are zero, whatever home says, and w completes it; what is not named at all is at home."""
        juggler = linkwork.load(JUGGLER)
        hand, q = juggler.coordinates.positions.places["wrist"], np.array(juggler.home)
        code, out, err = run(JUGGLER, "gravity")
        assert (code, err) == (0, "") and "Not given, so at home: q." in out
        for given, turn in (("wrist.qx=0.6,wrist.qw=0.8", [0.6, 0, 0, 0.8]), ("wrist.qz=0.6", [0, 0, 0.6, 0.8])):
            q[hand] = turn
            told = json.loads(run(JUGGLER, "gravity", "--q", given, "--json")[1])
            assert told["inputs"]["q"] == q.tolist() and told["output"]["g"] == juggler.gravity(q).tolist()
        np.savez("states.npz", q=0 * q)
        for words, where in (("--q", "wrist.qx=0,wrist.qw=0"), "--q"), (("--input", "states.npz"), "states.npz"):
            code, out, err = run(JUGGLER, "gravity", *words)
            assert (code, out) == (1, "") and f"{where}: a quaternion is zero" in err
        assert "expected: some of: wrist.qx, wrist.qy" in run(JUGGLER, "gravity", "--q", "wrist=1")[2]

    @pytest.mark.parametrize("quantity", sorted(linkwork.formulations.QUANTITIES))
    @pytest.mark.parametrize("name", ["planar2r", "quadruped", "four-bar", "gough-stewart", "flexible-arm"])
    def test_every_quantity(self, run, name, quantity):
        frame = linkwork.load(name).frame_names[-1]
        words = [name, quantity] + (["--frame", frame] if linkwork.formulations.QUANTITIES[quantity].of_frame else [])
        code, out, err = run(*words, "--json")
        if (name, quantity) in REFUSED:
            assert (code, out) == (1, "") and REFUSED[name, quantity] in err
            return
        assert (code, err) == (0, "")
        told = json.loads(out)
        assert tuple(told["output"]) == tuple(
            output.name for output in linkwork.formulations.QUANTITIES[quantity].outputs
        )
        for output, result in told["output"].items():
            shape = tuple(len(labels) for labels in told["labels"][output])
            assert np.shape(result) == shape[: 1 + shape.index(0) if 0 in shape else None]
            assert np.isfinite(np.array(result, float)).all()
        code, out, err = run(*words, "--output", "out.csv")
        assert (code, err) == (0, "")
        header, values = read(Path("out.csv").read_text())
        assert len(set(header)) == len(header)
        results = [np.ravel(np.array(result, float)) for result in told["output"].values()]
        np.testing.assert_array_equal(values.ravel(), np.concatenate(results))
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
            ("q.npz", {"q": np.zeros(5)}, "array 'q': wrong shape or type"),
            ("q.npy", b"", "not a NumPy file of numbers"),
            ("q.npz", b"PK\x03\x04 not really", "not a NumPy file of numbers"),
            ("q.txt", b"", "q.txt: unknown file format"),
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


class TestLoops:
    def test_one_independent_joint_is_enough(self, run):
        bar = linkwork.load("four-bar")
        q = bar.assemble({"crank": 0.5}).require()
        expected = bar.inverse_dynamics(q, [1], [0]).tolist()
        for given in ("crank=0.5", "0.5", ",".join(map(repr, q.tolist()))):
            code, out, err = run("four-bar", "inverse_dynamics", "--q", given, "--v", "1", "--json")
            assert (code, err) == (0, "")
            told = json.loads(out)
            assert told["output"]["tau"] == expected and told["labels"]["tau"] == [["crank"]]
            assert told["inputs"]["q"] == q.tolist()

    def test_text_tells_what_was_at_home(self, run):
        code, out, err = run("four-bar", "inverse_dynamics", "--q", "crank=0.5", "--v", "1")
        assert (code, err) == (0, "")
        assert "crank" in out and "coupler" not in out and "Not given, so zero: a." in out and "home" not in out
        code, out, err = run("four-bar", "inverse_dynamics")
        assert (code, err) == (0, "")
        assert "Not given, so at home: q. Not given, so zero: v, a." in out
        home = linkwork.load("four-bar").home
        told = json.loads(run("four-bar", "potential_energy", "--json")[1])
        assert told["inputs"]["q"] == list(home)

    @pytest.mark.parametrize("given", ["0.5,0,0", "crank=0.5,coupler=0,rocker=0", "rocker=0.1"])
    def test_open_loops_are_refused(self, run, given):
        code, out, err = run("four-bar", "inverse_dynamics", "--q", given)
        assert (code, out) == (1, "")
        assert "--q: these positions leave the loops open" in err and "give the independent joints alone" in err
        assert re.search(r"got: by up to \d", err)

    def test_out_of_reach(self, run):
        code, out, err = run("delta", "gravity", "--q", "z=-9")
        assert (code, out) == (1, "")
        assert "1 of 1 positions cannot be assembled" in err and "1 out of reach" in err

    def test_the_way_of_assembly_of_home(self, run):
        """The forearm hangs as the parallelogram says, not as the crossed one would; what lies beyond is refused."""
        told = json.loads(run("parallelogram", "gravity", "--q", "0,1.5707963,0,-0.5", "--json")[1])
        robot = linkwork.load("parallelogram")
        expected = robot.gravity([0, 1.5707963, -0.5 - 1.5707963, 0, -0.5, 0.5 + 1.5707963])
        np.testing.assert_allclose(told["output"]["g"], expected, rtol=1e-9, atol=1e-12)
        code, _, err = run("parallelogram", "gravity", "--q", "0,2.4,0,-0.9")
        assert code == 1 and "1 beyond a singular position" in err

    def test_too_many_or_too_few(self, run):
        code, out, err = run("four-bar", "gravity", "--q", "1,2")
        assert (code, out) == (1, "")
        assert "expected: 3 numbers: crank, coupler, rocker (or 1: crank)" in err
        code, out, err = run("four-bar", "bias", "--v", "rocker=1")
        assert (code, out) == (1, "") and "there is no joint 'rocker'" in err

    def test_platform(self, run):
        stage = linkwork.load("gough-stewart")
        code, out, err = run("gough-stewart", "gravity", "--q", "platform_joint.z=1.05", "--json")
        assert (code, err) == (0, "")
        told = json.loads(out)
        moved = [*stage.home[:2], 1.05, *stage.home[3:7]]
        q = stage.assemble(moved).require()
        assert told["output"]["g"] == stage.gravity(q).tolist()
        assert told["labels"]["g"] == [[f"platform_joint.{x}" for x in ("x", "y", "z", "rx", "ry", "rz")]]
        code, out, err = run("gough-stewart", "inverse_dynamics", "--json")
        told = json.loads(out)
        assert told["labels"]["tau"] == [list(stage.motor_names)] and len(stage.motor_names) == 6
        assert told["output"]["tau"] == stage.inverse_dynamics(stage.home, [0] * 6, [0] * 6).tolist()

    def test_residual_is_named(self, run):
        told = json.loads(run("four-bar", "loop_residual", "--json")[1])
        assert all(name.startswith("cut") for name in told["labels"]["r"][0])
        assert np.abs(told["output"]["r"]).max() < 1e-12


class TestLoopFiles:
    CRANK = (0.3, 1.0, 2.5)

    def expected(self):
        bar = linkwork.load("four-bar")
        q = bar.assemble(np.array(self.CRANK)[:, None]).require()
        return bar, q, bar.inverse_dynamics(q, [[1.0], [2.0], [3.0]], [[0.5]])

    def test_csv_with_the_independent_columns(self, run):
        bar, q, tau = self.expected()
        rows = [f"{crank},{k},0.5" for k, crank in enumerate(self.CRANK, 1)]
        Path("few.csv").write_text("\n".join(["q:crank,v:crank,a:crank", *rows]))
        code, out, err = run("four-bar", "inverse_dynamics", "--input", "few.csv")
        assert (code, err) == (0, "")
        header, values = read(out)
        assert header == ["tau:crank"]
        np.testing.assert_array_equal(values, tau)
        names = [f"q:{name}" for name in bar.position_names]
        rows = [",".join(map(repr, [*x.tolist(), k, 0.5])) for k, x in enumerate(q, 1)]
        Path("all.csv").write_text("\n".join([",".join([*names, "v:crank", "a:crank"]), *rows]))
        code, out, err = run("four-bar", "inverse_dynamics", "--input", "all.csv")
        assert (code, err) == (0, "")
        np.testing.assert_array_equal(read(out)[1], tau)

    def test_numpy_with_the_independent_positions(self, run):
        _, q, tau = self.expected()
        others = {"v": [[1.0], [2.0], [3.0]], "a": np.full((3, 1), 0.5)}
        for name, positions in (("few", np.array(self.CRANK)[:, None]), ("all", q)):
            np.savez(f"{name}.npz", q=positions, **others)
            words = ("four-bar", "inverse_dynamics", "--input", f"{name}.npz", "--output", "tau.npy")
            assert run(*words)[::2] == (0, "")
            np.testing.assert_array_equal(np.load("tau.npy"), tau)
        np.save("all.npy", np.hstack([q, others["v"], others["a"]]))
        assert run("four-bar", "inverse_dynamics", "--input", "all.npy", "--output", "tau.npy")[::2] == (0, "")
        np.testing.assert_array_equal(np.load("tau.npy"), tau)

    def test_some_columns_are_missing(self, run):
        Path("bad.csv").write_text("q:crank,q:rocker\n0.3,0.1\n")
        code, out, err = run("four-bar", "gravity", "--input", "bad.csv")
        assert (code, out) == (1, "") and "expected: also q:coupler" in err

    def test_open_loops_in_a_file(self, run):
        Path("open.csv").write_text("q:crank,q:coupler,q:rocker\n0.3,0.1,0\n")
        code, out, err = run("four-bar", "gravity", "--input", "open.csv")
        assert (code, out) == (1, "") and "open.csv: these positions leave the loops open" in err


class TestTwoOutputs:
    """hybrid_dynamics, of a robot with motors and springs."""

    WORDS = ("flexible-arm", "hybrid_dynamics")

    def expected(self):
        robot = linkwork.load("flexible-arm")
        q, v = np.linspace(-0.1, 0.2, robot.nq), np.zeros(robot.nv)
        return robot, q, robot.hybrid_dynamics(q, v, [1.0, -2.0])

    def test_one_state(self, run):
        robot, q, expected = self.expected()
        words = (*self.WORDS, "--q", ",".join(map(repr, q.tolist())), "--a-known", "1,-2")
        code, out, err = run(*words, "--json")
        assert (code, err) == (0, "")
        told = json.loads(out)
        assert told["output"] == {"tau": expected.tau.tolist(), "a": expected.a.tolist()}
        springs = [name for name, role in robot.roles.items() if role == "elastic"]
        assert told["labels"] == {"tau": [list(robot.motor_names)], "a": [springs]}
        code, out, err = run(*words)
        assert (code, err) == (0, "")
        assert all(name in out for name in (*robot.motor_names, *springs, "a_known", "tau_known"))
        assert "Not given, so zero: v, tau_known." in out

    def test_files(self, run):
        _, q, expected = self.expected()
        words = (*self.WORDS, "--q", ",".join(map(repr, q.tolist())), "--a-known", "1,-2")
        for name in ("out.csv", "out.npz", "out.npy"):
            assert run(*words, "--output", name) == (0, f"wrote {name}: tau, a at 1 state\n", "")
        header, values = read(Path("out.csv").read_text())
        assert [column.split(":")[0] for column in header] == ["tau", "tau", "a", "a"]
        together = np.concatenate(expected)
        np.testing.assert_array_equal(values, together[None])
        np.testing.assert_array_equal(np.load("out.npy"), together)
        stored = np.load("out.npz")
        assert stored.files == ["tau", "a"]
        np.testing.assert_array_equal(stored["tau"], expected.tau)
        np.testing.assert_array_equal(stored["a"], expected.a)

    def test_many_states(self, run):
        robot, *_ = self.expected()
        rng = np.random.default_rng(0)
        q, v, a, tau = (rng.normal(size=(7, size)) for size in (4, 4, 2, 2))
        np.savez("states.npz", q=q, v=v, a_known=a, tau_known=tau)
        code, out, err = run(*self.WORDS, "--input", "states.npz", "--threads", "2")
        assert (code, err) == (0, "")
        expected = robot.hybrid_dynamics(q, v, a, tau)
        np.testing.assert_array_equal(read(out)[1], np.hstack(expected))

    def test_nothing_is_free(self, run):
        code, out, err = run("four-bar", "hybrid_dynamics")
        assert (code, err) == (0, "") and "hybrid_dynamics by blocks, a: empty" in out.replace("\n", " ")

    def test_what_it_does_not_depend_on(self, run):
        code, out, err = run("flexible-arm", "inverse_dynamics", "--a-known", "1,2")
        assert (code, out) == (1, "") and "got: --a-known" in err


@pytest.mark.parametrize("quantity", sorted(set(linkwork.formulations.QUANTITIES) - OF_TREES))
def test_every_quantity_has_units(run, quantity):
    frame = ("--frame", "tip") if linkwork.formulations.QUANTITIES[quantity].of_frame else ()
    code, out, err = run("five-bar", quantity, *frame)
    assert (code, err) == (0, "") and f"five-bar: {quantity}" in out


def test_velocities_of_all_joints(run):
    robot = linkwork.load("five-bar")
    q = np.array(robot.home)
    v = robot.joint_velocities(q, [0.5, -0.2])
    text = ",".join(f"{x:.17g}" for x in v)
    code, out, err = run("five-bar", "constrained_dynamics", "--v-joints", text, "--tau", "1,2", "--json")
    a, forces = robot.constrained_dynamics(q, v, [1.0, 2.0])
    found = json.loads(out)["output"]
    assert (code, err) == (0, "")
    np.testing.assert_allclose(found["a_joints"], a, rtol=1e-12)
    np.testing.assert_allclose(found["forces"], forces, rtol=1e-12)
