"""``linkwork export``: the files it writes, what it says, and what it refuses."""

import json
import runpy
import shutil
import subprocess
from functools import partial

import casadi
import numpy as np
import pytest

import linkwork


@pytest.fixture
def run(run_linkwork, monkeypatch, tmp_path):
    """Runs ``linkwork export`` in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    return partial(run_linkwork, "export")


def listed(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_c_is_the_default(run, tmp_path):
    code, out, _ = run("panda")
    assert code == 0
    name = "panda_inverse_dynamics"
    files = [f"{name}/CMakeLists.txt", f"{name}/{name}.c", f"{name}/{name}.h", f"{name}/{name}_test.c"]
    assert listed(tmp_path) == files
    words = " ".join(out.split())
    assert "q(7), v(7), a(7) -> tau(7)" in words
    assert f"cmake -S {name} -B {name}/build" in words


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
@pytest.mark.parametrize(
    "options",
    [
        ("gough-stewart", "--quantity", "forward_dynamics"),
        ("planar2r", "--quantity", "inertia_matrix", "--inputs", "parameters", "--dtype", "float32"),
        ("ur5e", "--quantity", "jacobian", "--frame", "tool0", "--axes", "local", "--name", "tool"),
        (
            "scara",
            *["--inputs", "payload:flange", "--inputs", "parameters"],
            *["--wrenches", "flange", "--wrenches", "quill"],
        ),
    ],
    ids=lambda options: options[0],
)
def test_exported_c_passes_its_test(run, tmp_path, options):
    """Robots with loops are tested at states where these are closed."""
    code, out, _ = run(*options, "--output", tmp_path / "out", "--json")
    assert code == 0
    told = json.loads(out)
    assert [str(tmp_path / "out" / file) for file in listed(tmp_path / "out")] == sorted(told["files"])
    sources = [file for file in told["files"] if file.endswith(".c")]
    subprocess.run(["gcc", "-std=c99", *sources, "-o", tmp_path / "test", "-lm"], check=True)
    done = subprocess.run([tmp_path / "test"], capture_output=True, text=True)
    assert done.stdout == f"{told['function']}: 5 states, 0 wrong entries\n"
    assert done.returncode == 0


def test_numpy(run, tmp_path):
    code, out, _ = run("scara", "--quantity", "gravity", "--language", "numpy", "-o", "gravity.py")
    assert code == 0 and "from gravity import scara_gravity" in out
    exported = runpy.run_path(str(tmp_path / "gravity.py"))["scara_gravity"]
    q = np.random.default_rng(0).normal(size=(10, 4))
    np.testing.assert_allclose(exported(q), linkwork.load("scara").gravity(q), rtol=1e-13, atol=1e-13)


def test_method_and_load_options(run, tmp_path):
    words = ("--method", "rnea", "--no-friction", "--language", "numpy", "--json", "--output", tmp_path)
    code, out, _ = run("puma560", *words)
    told = json.loads(out)
    assert (code, told["method"]) == (0, "rnea")
    assert told["files"] == [str(tmp_path / "puma560_inverse_dynamics.py")]
    function = linkwork.load("puma560", friction=False).compile("inverse_dynamics", method="rnea")
    assert told["operations"]["mul"] == function.operations.mul
    exported = runpy.run_path(told["files"][0])["puma560_inverse_dynamics"]
    states = np.random.default_rng(0).normal(size=(3, 6))
    np.testing.assert_allclose(exported(*states), function(*states), rtol=1e-12, atol=1e-12)


def test_casadi(run, tmp_path):
    code, out, _ = run("panda", "--quantity", "pose", "--frame", "panda_link8", "--language", "casadi")
    assert code == 0 and "panda_pose_panda_link8.casadi" in out
    function = casadi.Function.load("panda_pose_panda_link8.casadi")
    q = np.linspace(-1, 1, 7)
    robot = linkwork.load("panda")
    np.testing.assert_allclose(np.array(function(q=q)["T"]), robot.pose("panda_link8", q), rtol=0, atol=1e-14)


def test_latex(run, tmp_path):
    code, out, _ = run("ur5e", "--quantity", "jacobian", "--frame", "tool0", "--axes", "local", "--language", "latex")
    assert code == 0 and "\\input{ur5e_jacobian_tool0.tex}" in out
    head, first, *_ = (tmp_path / "ur5e_jacobian_tool0.tex").read_text().splitlines()
    assert head == "% Jacobian of tool0 of ur5e, in the frame's own axes."
    assert first == r"\begin{align*}"


@pytest.mark.parametrize("language", ["c", "numpy", "casadi", "latex"])
def test_files_are_replaced_on_request_only(run, tmp_path, language):
    words = ("planar2r", "--quantity", "gravity", "--language", language)
    assert run(*words)[0] == 0
    file = next(path for path in tmp_path.rglob("planar2r_gravity.*") if path.is_file())
    before = file.read_bytes()
    file.write_bytes(b"mine")
    code, _, err = run(*words)
    assert code == 1 and "the file exists" in err and "--overwrite" in err
    assert file.read_bytes() == b"mine"
    assert run(*words, "--overwrite")[0] == 0
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("panda", "--language", "fortran"), "there is no language 'fortran'"),
        (("panda", "--quantity", "torque"), "torque"),
        (("panda", "--quantity", "pose"), "pose needs a frame"),
        (("panda", "--method", "rne"), "did you mean 'rnea'?"),
        (("panda", "--dtype", "float16"), "there is no dtype 'float16'"),
        (("panda", "--name", "two words"), "fix: --name two_words"),
        (("nobody",), "nobody"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_wrong_is_told_and_nothing_written(run, tmp_path, words, told):
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert told in err
    assert listed(tmp_path) == []
