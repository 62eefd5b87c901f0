"""Derivatives from the command line: counted beside published forms, compared, evaluated, exported, written down."""

import csv
import io
import json
import shutil
import subprocess

import numpy as np
import pytest

import linkwork
from linkwork.inspection import random_states

FORMS = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")


@pytest.fixture
def run(run_linkwork, monkeypatch, tmp_path):
    """Runs the command line in a folder of its own; gives what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*words: object) -> str:
        code, out, err = run_linkwork(*words)
        assert (code, err) == (0, "")
        return out

    return call


class TestCount:
    def test_what_is_counted_is_what_functions_take(self, run):
        words = ("count", "panda", "--quantity", "forward_dynamics", "--derivatives", "--json")
        (table,) = json.loads(run(*words))["tables"]
        robot = linkwork.load("panda")
        function = robot.forward_dynamics
        made = [function, *map(function.derivative, ("q", "v", "tau")), function.derivative()]
        made += [function.vjp(), function.jvp(), function.hvp()]
        methods = ("singh-russell-wensing", "carpentier-mansard", "automatic")
        made += [robot.compile("forward_dynamics_derivatives", method=method) for method in methods]
        how = ("itself", *["derivative"] * 4, "vjp", "jvp", "hvp", *methods)
        assert table["method"] == function.label.method
        assert [row["how"] for row in table["derivatives"]] == list(how)
        for row, each in zip(table["derivatives"], made, strict=True):
            assert row["gives"] == [port.name for port in each.program.outputs]
            assert row["on_line"]["instructions"] == each.operations.instructions > 0

    def test_the_table(self, run):
        out = run("count", "planar2r", "--quantity", "inverse_dynamics", "--derivatives", "--method", "rnea")
        function = linkwork.load("planar2r").compile("inverse_dynamics", method="rnea")
        ratio = function.vjp().operations.instructions / function.operations.instructions
        assert "planar2r: inverse_dynamics by rnea and its derivatives" in out
        (line,) = (line for line in out.splitlines() if line.startswith("vjp"))
        assert "q_bar, v_bar, a_bar" in line and line.split()[-1] == f"{ratio:.2f}"
        assert "inverse_dynamics_derivatives, a quantity of its own" in out

    def test_nothing_named_the_dynamics(self, run):
        tables = json.loads(run("count", "planar2r", "--derivatives", "--json"))["tables"]
        assert [table["quantity"] for table in tables] == ["inverse_dynamics", "forward_dynamics", "inertia_matrix"]

    def test_of_one_input_there_is_one_row(self, run):
        words = ("count", "panda", "--quantity", "pose", "--frame", "panda_link4", "--derivatives")
        assert "pose of panda_link4 and its derivatives" in (out := run(*words))
        assert out.count("dT_dq") == 1 and "a quantity of its own" not in out

    def test_parameters_are_an_input_like_others(self, run):
        words = ("count", "planar2r", "--quantity", "gravity", "--inputs", "parameters", "--derivatives", "--json")
        (table,) = json.loads(run(*words))["tables"]
        assert [row["gives"] for row in table["derivatives"][1:3]] == [["dg_dq"], ["dg_dparameters"]]

    def test_one_table_at_a_time(self, run_linkwork):
        code, out, err = run_linkwork("count", "panda", "--passes", "--derivatives")
        assert (code, out) == (1, "") and "--passes and --derivatives" in err


@pytest.mark.parametrize("quantity", FORMS)
class TestForms:
    def test_methods_agree(self, run, quantity):
        rows = json.loads(run("compare", "planar2r", "--quantity", quantity, "--json"))["quantities"][quantity]
        assert {row["method"] for row in rows} == {"singh-russell-wensing", "carpentier-mansard", "automatic"}
        assert all(row["deviation"] < 1e-11 and row["operations"]["instructions"] for row in rows)

    @pytest.mark.parametrize("name", ["planar2r", "quadruped", "gough-stewart"])
    def test_one_state(self, run, quantity, name):
        """Every matrix is shown under its own name; rows and columns are named, columns of q like velocities."""
        told = json.loads(run("eval", name, quantity, "--json"))
        robot = linkwork.load(name)
        function = getattr(robot, quantity)
        results = function(**{port.name: told["inputs"][port.name] for port in function.program.inputs})
        for output, result in zip(function.program.outputs, results, strict=True):
            np.testing.assert_array_equal(told["output"][output.name], result)
            assert tuple(map(len, told["labels"][output.name])) == output.shape
        value, by_q, by_v, _ = told["labels"].values()
        independent = [robot.coordinates.velocity_names[k] for k in robot.model.mobility.independent]
        assert by_q == by_v == [*value, independent]

    def test_many_states(self, run, quantity, tmp_path):
        robot = linkwork.load("planar2r")
        function = getattr(robot, quantity)
        states = random_states(robot, 3)
        given = {port.name: states[port.name] for port in function.program.inputs}
        np.savez("states.npz", allow_pickle=False, **given)
        header, *rows = csv.reader(io.StringIO(run("eval", "planar2r", quantity, "--input", "states.npz")))
        second = function.program.outputs[1].name
        assert f"{second}:shoulder:elbow" in header
        expected = np.concatenate([np.reshape(x, (3, -1)) for x in function(**given)], axis=1)
        np.testing.assert_allclose(np.array(rows, float), expected, rtol=1e-14)

    @pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
    def test_exported_c_passes_its_test(self, run, quantity, tmp_path):
        told = json.loads(run("export", "panda", "--quantity", quantity, "--language", "c", "--json"))
        sources = [file for file in told["files"] if file.endswith(".c")]
        subprocess.run(["gcc", "-std=c99", *sources, "-o", tmp_path / "test", "-lm"], check=True)
        done = subprocess.run([tmp_path / "test"], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, f"panda_{quantity}: 5 states, 0 wrong entries\n")

    def test_equations(self, run, quantity):
        lines = run("equations", "planar2r", "--quantity", quantity).splitlines()
        robot = linkwork.load("planar2r")
        for output in getattr(robot, quantity).program.outputs:
            assert any(line.startswith(output.name) for line in lines), output.name


# -- export ------------------------------------------------------------------------------------------------------------


def test_export_of_derivatives(run_linkwork, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run_linkwork(
        "export", "planar2r", "--derivative", "vjp", "--wrt", "q,v", "--language", "numpy", "--name", "back"
    )
    assert code == 0 and "tau_bar(2) -> q_bar(2), v_bar(2)" in out
    space: dict = {}
    exec((tmp_path / "back.py").read_text(), space)
    q, v, a, weights = np.random.default_rng(0).normal(size=(4, 2))
    expected = linkwork.load("planar2r").inverse_dynamics.vjp(("q", "v"))(q, v, a, weights)
    assert np.allclose(space["back"](q, v, a, weights), expected, rtol=1e-12)
    assert "q_bar (2): gradient of the weighted sum with respect to q" in (tmp_path / "back.py").read_text()
    code, out, _ = run_linkwork("export", "quadruped", "--derivative", "derivative", "--wrt", "q", "--packed")
    assert code == 0 and "dtau_dq(" in out
    header = (
        tmp_path / "quadruped_inverse_dynamics_derivative" / "quadruped_inverse_dynamics_derivative.h"
    ).read_text()
    assert "derivative of tau with respect to q, along the independent velocities" in header


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--derivative", "gradient"), "there is no derivative 'gradient'"),
        (("--wrt", "q"), "--wrt needs --derivative"),
        (("--derivative", "vjp", "--wrt", "q,z"), "there is no input 'z'"),
        (("--derivative", "vjp", "--wrt", "q,q"), "each input is given once"),
    ],
)
def test_export_mistakes(run_linkwork, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    code, _, err = run_linkwork("export", "planar2r", *words)
    assert code != 0 and told in err and not [*tmp_path.iterdir()]
