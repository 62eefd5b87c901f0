"""The commands about methods and papers: compare, tables, cite; and what stands behind them."""

import json
from fractions import Fraction

import pytest
from typer.testing import CliRunner

import linkwork
from linkwork.cli import app
from linkwork.errors import LinkworkError, UnknownNameError
from linkwork.formulations import METHODS, executed_operations, methods
from linkwork.published import TABLES, growth
from linkwork.published.chains import generic_chain
from linkwork.published.table import Polynomial, fit


def run(*words: str) -> str:
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


class TestCompare:
    def test_all_methods_agree(self):
        report = json.loads(run("compare", "scara", "--json"))
        for quantity, rows in report["quantities"].items():
            assert {row["method"] for row in rows} == {m.name for m in methods(quantity)}
            for row in rows:
                if row["refusal"]:
                    assert row["method"] in ("khalil-parallel", "khalil-moving")
                    continue
                assert row["deviation"] < 1e-10 and row["batch_ns_per_state"] > 0
                assert row["operations"]["mul"] <= row["executed"]["mul"] or row["method"] in ("lin-fang-1-minimal",)

    def test_loops(self):
        report = json.loads(run("compare", "gough-stewart", "--json"))
        able = {quantity: [r for r in rows if not r["refusal"]] for quantity, rows in report["quantities"].items()}
        assert {row["method"] for row in able["forward_dynamics"]} == {"khalil-parallel", "crba-ldl"}
        assert {row["method"] for row in able["hybrid_dynamics"]} == {"blocks"}
        assert able["inverse_dynamics"][0]["method"] == "khalil-parallel"  # the fewest operations come first
        for row in (row for rows in able.values() for row in rows):
            assert row["deviation"] < 1e-9 and row["operations"]["mul"] <= row["executed"]["mul"]

    def test_mimic_joints(self, tmp_path):
        joint = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><axis xyz="1 0 0"/>
            <origin xyz="0 0 1"/><limit effort="1" velocity="1" lower="-1" upper="1"/>{3}</joint>"""
        mass = """<link name="{0}"><inertial><origin xyz="0 0 0.5"/><mass value="1"/>
            <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>"""
        joints = joint.format("a", "base", "x", ""), joint.format("b", "x", "y", '<mimic joint="a" multiplier="2"/>')
        links = mass.format("base"), mass.format("x"), mass.format("y")
        path = tmp_path / "coupled.urdf"
        path.write_text(f'<robot name="coupled">{"".join((*links, *joints))}</robot>')
        (row,) = json.loads(run("compare", str(path), "--quantity", "forward_dynamics", "--json"))["quantities"][
            "forward_dynamics"
        ][:1]
        assert row["method"] == "crba-ldl" and row["operations"]["mul"] <= row["executed"]["mul"]

    def test_table_and_refusals(self):
        text = run("compare", "quadruped", "--quantity", "inertia_matrix")
        assert "crba" in text and "it is for a fixed base, and the base floats" in text

    def test_unknown_quantity(self):
        with pytest.raises(UnknownNameError, match="did you mean 'inertia_matrix'"):
            CliRunner().invoke(app, ["compare", "scara", "--quantity", "inertia_matrx"], catch_exceptions=False)


class TestTables:
    def test_json_has_every_table(self):
        report = json.loads(run("tables", "--json"))
        assert [table["title"] for table in report] == [table.title for table in TABLES]
        rows = [row for table in report for row in table["rows"]]
        assert all(row["same"] or row["why"] for row in rows), "every difference is explained"
        assert sum(row["same"] for row in rows) >= 8

    @pytest.mark.parametrize("columns", [80, 120])
    def test_text_keeps_to_the_width(self, monkeypatch, columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = run("tables").splitlines()
        assert max(map(len, lines)) <= columns
        for line in (  # polynomials and rows of values are not broken
            "  mul  printed   32 1/2 n^4 + 86 5/12 n^3 + 171 1/4 n^2 + 53 1/3 n - 128",
            "       measured  32 1/2 n^4 + 129 1/3 n^3 + 235 1/2 n^2 + 74 2/3 n - 128",
            "  mul  same      10 1/2 n^2 + 38 1/2 n - 85",
            "  n                   2      3      4      5      6      7      8",
            "  mul  printed       23     92    215    399    651    978   1387",
        ):
            assert line in lines

    def test_markdown(self):
        markdown = run("tables", "--markdown")
        assert "| Lin 1991 | 10 1/2 n^2 + 38 1/2 n - 85 | 10 1/2 n^2 + 38 1/2 n - 85 |" in markdown

    def test_plot(self, tmp_path, monkeypatch):
        monkeypatch.setattr(growth, "JOINTS", range(2, 5))
        monkeypatch.setattr(growth, "QUARTIC", {"uicker-kahn": range(2, 4)})
        path = tmp_path / "growth.png"
        assert str(path.name) in run("tables", "--plot", str(path)).replace("\n", "")
        assert path.read_bytes().startswith(b"\x89PNG")
        with pytest.raises(LinkworkError, match="cannot be written"):
            CliRunner().invoke(app, ["tables", "--plot", str(tmp_path / "no" / "growth.png")], catch_exceptions=False)

    def test_slopes(self):
        by_name = {
            m.name: growth.slope(growth.measure(m)) for m in METHODS if m.name in ("rnea", "waters", "uicker-kahn")
        }
        assert by_name["rnea"] < 1.2 < 1.6 < by_name["waters"] < 2 < 3.5 < by_name["uicker-kahn"] < 4


class TestCite:
    @pytest.mark.parametrize("method", sorted({m.name for m in METHODS}))
    def test_every_method(self, method):
        assert run("cite", method).startswith("@")

    def test_unknown(self):
        with pytest.raises(UnknownNameError, match="did you mean 'crba'"):
            CliRunner().invoke(app, ["cite", "crb"], catch_exceptions=False)


def test_polynomials():
    p = Polynomial.of("21/2", "77/2", -85)
    assert str(p) == "10 1/2 n^2 + 38 1/2 n - 85" and p(6) == 524
    assert fit({n: int(p(n)) for n in range(2, 7)}, "test") == p
    assert str(p - Polynomial.of("21/2", 0, 0)) == "38 1/2 n - 85"
    assert str(Polynomial.of(-1, 0, "1/3")) == "-n^2 + 1/3" and str(Polynomial.of(0)) == "0"
    assert Polynomial.of(2, 1)(Fraction(1, 2)) == 2
    with pytest.raises(LinkworkError, match="not a polynomial"):
        fit({1: 1, 2: 2, 3: 4, 4: 9}, "test")


def test_executed_counts_follow_the_convention():
    (crba,) = (m for m in METHODS if m.name == "crba")
    assert executed_operations(crba, generic_chain(1)) == {
        "sin": 1,
        "cos": 1,
    }  # the inertia about one axis is a constant
    program = linkwork.compile(generic_chain(4), "inertia_matrix", method="crba").operations
    tally = executed_operations(crba, generic_chain(4))
    assert program.mul <= tally["mul"] and program.add <= tally["add"]


def test_chains_of_a_tree():
    quadruped = linkwork.load("quadruped", base="fixed")
    leg = quadruped.chain(quadruped.link_names[-1])
    assert leg.model.serial and leg.nv == 3 and set(leg.joint_names) < set(quadruped.joint_names)
    lin = leg.compile("inertia_matrix", method="lin-1991")
    assert abs(lin([0.1, 0.2, 0.3]) - leg.inertia_matrix([0.1, 0.2, 0.3])).max() < 1e-14
    with pytest.raises(linkwork.UnsupportedError, match="use one of: crba"):
        quadruped.compile("inertia_matrix", method="lin-1991")
    with pytest.raises(UnknownNameError):
        quadruped.chain("nose")


def test_fastest_is_one_of_the_candidates():
    function = linkwork.load("scara").compile("forward_dynamics", method="fastest")
    assert function.label.method in ("crba-ldl", "aba") or "+" in function.label.method
