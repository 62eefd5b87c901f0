"""The benchmarks' own code: results of every kind of processor are kept, targets can be missed, counts are right."""

import copy
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork.codegen.native import build, sincos
from linkwork.program import count

FOLDER = Path(linkwork.__file__).parents[2] / "benchmarks"
pytest.importorskip("pinocchio")  # there is none for Windows


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.fixture(scope="module")
def runs() -> list[dict]:
    return [json.loads(path.read_text()) for path in FOLDER.glob("results/*.json")]


def test_the_page_is_made_of_the_results():
    from kinds import kept
    from report import markdown

    runs = kept(FOLDER / "results")
    assert (FOLDER / "RESULTS.md").read_text() == markdown(runs), "run `python benchmarks/run.py --report`"
    assert {run["machine"]["lanes"] for run in runs} >= {4, 8}


def test_a_run_replaces_its_own_kind_and_no_other(runs, tmp_path):
    from kinds import keep, kept, kind
    from plot import draw
    from report import markdown

    for run in runs:
        keep(run, tmp_path)
    newest = copy.deepcopy(max(runs, key=lambda run: run["date"])) | {"date": "2999-01-01T12:00"}
    keep(newest, tmp_path)
    assert kept(tmp_path)[0] == newest and len(kept(tmp_path)) == len(runs)
    newest["date"] = "2999-01-01T12:01"
    newest["machine"]["llvm_name"] = "apple-m4"
    newest["machine"]["lanes"] = 2
    keep(newest, tmp_path)
    assert kind(kept(tmp_path)[0]) == "apple-m4, 2 lanes" and len(kept(tmp_path)) == len(runs) + 1
    sections = [line[3:] for line in markdown(kept(tmp_path)).splitlines() if line.startswith("## ")]
    assert sections == ["All processors", *map(kind, kept(tmp_path))]
    draw(newest, tmp_path)  # a kind without targets of its own
    assert {path.name for path in tmp_path.glob("*.png")} == {"speed.png", "growth.png", "lanes.png"}


def test_a_run_that_is_slow_misses_its_targets(runs):
    """What is measured is what is judged."""
    from targets import judge

    newest = max(runs, key=lambda run: run["date"])
    assert judge(newest) == newest["targets"], "the targets have changed since: run `make bench`"
    counted = "operations", "instructions", "eel, forward"
    of_speed = [row for row in judge(slowed(newest)) if not row["what"].startswith(counted)]
    assert len(of_speed) > 40 and not [row["what"] for row in of_speed if row["met"]]


def slowed(results, faster: bool = False):
    """Everything takes a hundred times as long: all below ``faster`` are ratios, which shrink."""
    if isinstance(results, list):
        return [slowed(value, faster) for value in results]
    if isinstance(results, dict):
        names = ("speedup", "gains", "ratios", "share")
        ratios = {key: slowed(value, faster or key.startswith(names)) for key, value in results.items()}
        return ratios | {
            key: 100 * results[key] for key in ("ns", "seconds", "total") if isinstance(results.get(key), float)
        }
    return results / 100 if faster else results


def test_sines_are_counted_as_they_are_declared():
    """The multiple of pi/2, its parts, one instruction for each coefficient but the first two, and the last step of the
    sine are fused; the rest: the multiple as a number, square and cube."""
    from peak import sine_instructions

    parts, coefficients = sincos.FUSED_PARTS["double"], sincos.SINE["double"] + (1.0, -0.5) + sincos.COSINE["double"]
    assert sine_instructions() == (1 + len(parts) + len(coefficients) - 2 + 1, 3)


def test_stages_do_what_they_say():
    from peak import passing

    program = linkwork.load("planar2r").inverse_dynamics.program
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 2))
    np.testing.assert_allclose(build(passing(program))(q, v, a), q + v + a, rtol=1e-15)
    np.testing.assert_allclose(build(passing(program, results=1))(q, v, a), (q + v + a)[:, :1], rtol=1e-15)
    turned = passing(program, angles=2)
    np.testing.assert_allclose(build(turned)(q, v, a), q + v + a + np.sin(q) + np.cos(q), rtol=1e-14)
    assert count(turned).sincos == 2


def test_narrower_vectors_give_the_same_bits():
    from lanes import targets

    function = linkwork.load("planar2r").inverse_dynamics
    states = np.random.default_rng(0).normal(size=(3, 11, 2))
    expected, (own, *narrower) = function(*states), targets().items()
    assert own[1].vector_bytes // 8 == own[0]
    for lanes, target in narrower:
        assert "+avx512" not in target.features and target.lanes("float64") == lanes
        assert np.array_equal(build(function.program, target=target)(*states), expected)


@pytest.mark.skipif(not shutil.which("llvm-mca"), reason="no llvm-mca: apt-get install llvm")
def test_no_kernel_beats_the_ports():
    from ports import PROCESSORS, ports

    program = linkwork.load("planar2r").compile("inverse_dynamics").program
    for processor, target in PROCESSORS.items():
        found = ports(program, processor)
        assert found["lanes"] == target.lanes("float64")
        assert max(found["busy"].values()) <= 1 and len(program.instructions) < found["instructions"]
        assert found["cycles_per_state"] * found["lanes"] == found["cycles"] <= found["cycles_alone"]
