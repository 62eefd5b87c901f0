"""Tables I and II of Hollerbach 1980: what running code counts, what print has, and exactly how they differ."""

import pytest

import linkwork
from linkwork.formulations import executed_operations, hollerbach
from linkwork.formulations.rnea import rnea
from linkwork.published import hollerbach1980_runs as runs
from linkwork.published.chains import generic_chain
from linkwork.published.hollerbach1980 import TABLE
from linkwork.published.table import Polynomial, fit
from linkwork.scalar import Tally
from support.evaluate import assert_close

ROWS = {row.label: row for row in TABLE.rows}
P = Polynomial.of
UICKER, WITHOUT = "Uicker/Kahn", "Uicker/Kahn, without the products of the inertial term"
PRINTED_3X3, CORRECTED_3X3 = (
    "Hollerbach (3x3), as printed, frames on the joints' axes",
    "Hollerbach (3x3), corrected, distal frames",
)

# label: measured multiplications and additions
MEASURED = {
    UICKER: (P("65/2", "388/3", "471/2", "224/3", -128), P(25, "298/3", 179, "176/3", -96)),
    WITHOUT: (P("65/2", "260/3", "343/2", "160/3", -128), P(25, "199/3", "259/2", "253/6", -96)),
    "Waters": (P("213/2", "1241/2", -512), P(82, 514, -384)),
    "Hollerbach (4x4)": (P(810, -592), P(675, -464)),
    PRINTED_3X3: (P(398, -270), P(320, -201)),
    CORRECTED_3X3: (P(395, -261), P(320, -192)),
    "Newton-Euler": (P(135, -48), P(131, -48)),
    "Horn, Raibert": (P(2, 1, 0, 0), P(1, 1, 2, 0)),
}


def less(a: Polynomial, b: Polynomial) -> str:
    return str(a - b)


@pytest.mark.parametrize("row", TABLE.rows, ids=lambda row: row.label)
def test_measured_polynomials(row):
    mul, add = row.measured()
    assert (str(mul), str(add)) == tuple(map(str, MEASURED[row.label]))


def test_differences_from_print_are_the_explained_ones():
    differences = {
        row.label: (less(row.mul, measured[0]), less(row.add, measured[1]))
        for row in TABLE.rows
        for measured in [MEASURED[row.label]]
    }
    assert differences == {
        UICKER: ("-42 11/12 n^3 - 64 1/4 n^2 - 21 1/3 n", "-33n^3 - 49 1/2 n^2 - 16 1/3 n"),
        WITHOUT: ("-1/4 n^3 - 1/4 n^2", "1/6 n"),
        "Waters": ("-1/4 n", "0"),
        "Hollerbach (4x4)": ("20n", "0"),
        PRINTED_3X3: ("14n - 7", "0"),
        CORRECTED_3X3: ("17n - 16", "-9"),
        "Newton-Euler": ("15n", "0"),
        "Horn, Raibert": ("0", "0"),
    }
    assert all(row.why for row in TABLE.rows if row.label != "Horn, Raibert")


def test_table_ii_against_table_i():
    """The printed values at n = 6 are those of the printed polynomials, but for two."""
    odd = {row.label for row in TABLE.rows if (row.mul(6), row.add(6)) != row.values[6]}
    assert odd == {UICKER, WITHOUT, "Waters"}
    assert [ROWS[UICKER].mul(6), ROWS["Waters"].mul(6)] == [67143, 7043.5]
    assert all(row.add(6) == row.values[6][1] for row in TABLE.rows)


@pytest.mark.parametrize("name", [UICKER, WITHOUT, "Waters"])
def test_printed_polynomials_that_are_no_counts(name):
    assert any(ROWS[name].mul(n).denominator > 1 for n in range(1, 8))


RUNS = [runs.waters, runs.recursive_4x4, runs.recursive_3x3, runs.recursive_3x3_as_printed, runs.uicker_kahn,
        runs.newton_euler, runs.horn_raibert]  # fmt: skip


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_what_is_counted_gives_the_right_torques(run, n):
    found = [x.value for x in run(n, Tally())]
    assert_close(found, rnea(generic_chain(n), *runs.state(n)))


@pytest.mark.parametrize("method", hollerbach.METHODS, ids=lambda m: m.name)
def test_compiled_counts_do_not_exceed_executed_ones(method):
    model = generic_chain(6)
    before = executed_operations(method, model)
    after = linkwork.compile(model, "inverse_dynamics", method=method.name, parameters="standard").operations
    assert after.mul <= before["mul"] and after.add <= before["add"]


def test_uicker_kahn_collapses_when_compiled():
    """Of 66,271 printed multiplications less than a tenth are left for six skew axes, a twentieth for a Puma."""
    generic = linkwork.compile(generic_chain(6), "inverse_dynamics", method="uicker-kahn").operations
    puma = linkwork.compile(linkwork.load("puma560"), "inverse_dynamics", method="uicker-kahn").operations
    assert generic.mul < 66271 / 10 and puma.mul < 66271 / 20


@pytest.mark.parametrize(
    "name, power", [("uicker-kahn", 4), ("waters", 2), ("hollerbach-4x4", 1), ("hollerbach-3x3", 1)]
)
def test_growth_of_the_formulations_as_written(name, power):
    (method,) = (m for m in hollerbach.METHODS if m.name == name)
    counts = {n: executed_operations(method, generic_chain(n))["mul"] for n in range(3, 3 + power + 3)}
    assert len(fit(counts, name).coefficients) == power + 1
