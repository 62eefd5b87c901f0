"""The option ``--inputs`` of commands."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import linkwork
from linkwork.cli import app

LOAD = "payload:forearm=1,0.1,0,0,0.2,0,0,0.2,0,0.2"


def run(*words: str):
    return CliRunner().invoke(app, [*words])


def data(*words: str):
    done = run(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def test_eval():
    robot = linkwork.load("planar2r")
    found = data("eval", "planar2r", "gravity", "--q", "0.1,0.2", "--inputs", "gravity=0,-1.62,0", "--inputs", LOAD)
    f = robot.compile("gravity", inputs=["gravity", "payload:forearm"])
    expected = f([0.1, 0.2], [0, -1.62, 0], [1, 0.1, 0, 0, 0.2, 0, 0, 0.2, 0, 0.2])
    assert found["signature"] == f.signature and found["inputs"]["gravity"] == [0, -1.62, 0]
    assert np.allclose(found["output"]["g"], expected, rtol=1e-14)


def test_count():
    rows = data("count", "planar2r", "--quantity", "bias", "--inputs", "payload:forearm", "--inputs", "gravity")[
        "counts"
    ]
    f = linkwork.load("planar2r").compile("bias", method=rows[0]["method"], inputs=["payload:forearm", "gravity"])
    assert rows[0]["off_line"]["mul"] == f.off_line_operations.mul > 0
    several = data("count", "planar2r", "--quantity", "bias", "--quantity", "gravity", "--inputs", "geometry")["counts"]
    assert [row["quantity"] for row in several] == ["bias", "gravity", "sum", "together"]
    assert several[3]["off_line"]["sincos"] <= several[2]["off_line"]["sincos"]
    methods = {
        row["method"]
        for row in data("count", "planar2r", "--quantity", "inertia_matrix", "--inputs", "geometry")["counts"]
    }
    assert "crba" in methods and "lin-fang-1-minimal" not in methods


def test_export(tmp_path):
    done = run("export", "planar2r", "--inputs", "friction", "--inputs", "gravity", "-o", str(tmp_path / "arm"))
    assert done.exit_code == 0
    assert (
        "planar2r_inverse_dynamics_nominal_friction[4]"
        in (tmp_path / "arm" / "planar2r_inverse_dynamics.h").read_text()
    )


def test_bench():
    (row,) = data("bench", "planar2r", "--quantity", "gravity", "--batch", "8", "--inputs", "gravity")["functions"]
    assert row["one_call_us"] > 0


@pytest.mark.parametrize(
    "words, message",
    [
        (("eval", "planar2r", "gravity", "--inputs", "gravity"), "not of the form NAME=VALUES"),
        (("eval", "planar2r", "gravity", "--inputs", "gravity=1,2"), "wrong number of values"),
        (("eval", "planar2r", "gravity", "--inputs", "gravity=1,2,x"), "'x' is not a number"),
        (("eval", "planar2r", "gravity", "--inputs", "gravity=nan,0,0"), "not finite got: [nan, 0.0, 0.0]"),
        (("eval", "planar2r", "gravity", "--inputs", "weight=1"), "there is no input 'weight'"),
        (("count", "planar2r", "--quantity", "gravity", "--inputs", "weight"), "there is no input 'weight'"),
        (("export", "planar2r", "--inputs", "friction", "--inputs", "coulomb"), "two inputs set the same numbers"),
        (("bench", "planar2r", "--inputs", "weight"), "there is no input 'weight'"),
    ],
)
def test_refused(words, message):
    done = run(*words)
    assert done.exit_code and message in " ".join(f"{done.output}{done.exception}".split())
