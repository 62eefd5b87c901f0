"""Lin 1991: the counts of Tables I and II from running code, and the identities of its derivation."""

import numpy as np
import pytest

from linkwork.formulations import find_method
from linkwork.formulations.crba import crba
from linkwork.formulations.lin1991.composite import CompositeBodies
from linkwork.formulations.rnea import rnea
from linkwork.published.chains import generic_chain
from linkwork.published.lin1991 import TABLE_I, TABLE_II, TABLES, TOGETHER
from linkwork.published.lin1991_figures import Rotation, figure_3, figure_a1, rotations
from linkwork.published.table import Polynomial
from linkwork.scalar import Tally
from linkwork.spatial import Symmetric, Vector
from support.evaluate import assert_close, cross_matrix

ROWS = {(table.title, row.label): row for table in TABLES for row in table.rows}
every_row = pytest.mark.parametrize("row", ROWS.values(), ids=[" / ".join(key) for key in ROWS])


def named(table, label: str):
    return next(row for row in table.rows if row.label == label)


# -- printed and measured -----------------------------------------------------------------------------------------


@every_row
def test_every_printed_entry_is_its_polynomial(row):
    for n, (mul, add) in row.values.items():
        assert (row.mul(n), row.add(n)) == (mul, add)


@every_row
def test_differences_from_print_are_explained(row):
    mul, add = row.measured()
    assert bool(row.why) == (bool(mul - row.mul) or bool(add - row.add))


@pytest.mark.parametrize("label", ["Lin 1991", "Renaud"])
def test_inertia_matrix_is_counted_exactly_as_printed(label: str):
    row = named(TABLE_I, label)
    assert row.measured() == (row.mul, row.add)
    for n, printed in row.values.items():
        counted = row.count(n)
        assert (counted["mul"], counted["add"]) == printed


def test_bias_is_two_multiplications_and_three_additions_below_print():
    for row in (named(TABLE_II, "Lin 1991"), *TOGETHER.rows):
        mul, add = row.measured()
        assert row.mul - mul == Polynomial.of(0, 0, 2)
        assert row.add - add == Polynomial.of(0, 0, 3)


def test_quadratic_terms_of_the_others():
    """Walker and Orin: 22M per pair of joints, and 14A with R v at 4A. Fijany and Bejczy: 9M 8A per pair."""
    mul, add = named(TABLE_I, "Walker and Orin").measured()
    assert (mul.coefficients[2], add.coefficients[2]) == (11, 7)
    mul, add = named(TABLE_I, "Fijany and Bejczy, frame 2").measured()
    assert (2 * mul.coefficients[2], add.coefficients[2]) == (9, 4)


def test_the_comparison_of_the_paper():
    """Fewest operations of all five for the inertia matrix from n = 5 on, by the printed polynomials."""
    totals = {row.label: row.mul(5) + row.add(5) for row in TABLE_I.rows}
    assert min(totals, key=totals.__getitem__) == "Lin 1991"
    for n in range(5, 13):
        assert min(row.mul(n) for row in TABLE_I.rows if "Fijany" not in row.label) == named(TABLE_I, "Lin 1991").mul(n)


# -- what is counted computes the right thing -----------------------------------------------------------------------


@pytest.mark.parametrize("n", range(2, 9))
def test_counted_algorithms_are_right(n: int):
    model = generic_chain(n)
    q, v, _ = np.random.default_rng(n).uniform(-2, 2, (3, n)).tolist()
    R = rotations(model, q)
    H, b = figure_3(model, R, v)
    assert_close(H, crba(model, q))
    assert_close(figure_3(model, R)[0], H)
    assert_close(figure_a1(model, R), H)
    assert_close(b, rnea(model, q, v, [0] * n))


def counted(run) -> tuple[int, int]:
    """Multiplications and additions of ``run(R, number)`` with a rotation on hand."""
    tally = Tally()
    R = Rotation(generic_chain(2), 2, [tally.wrap(0.3), tally.wrap(0.4)])
    assert tally["mul"] == 4
    tally.clear()
    run(R, lambda: tally.wrap(0.7))
    return tally["mul"], tally["add"]


def test_costs_of_turning():
    def vector(number):
        return Vector(*(number() for _ in range(3)))

    def tensor(number):
        return Symmetric(*(number() for _ in range(6)))

    assert counted(lambda R, number: R.outward(vector(number))) == (8, 4)
    assert counted(lambda R, number: R.inward(vector(number))) == (8, 4)
    assert counted(lambda R, number: R.inward_planar(number(), number())) == (5, 2)
    assert counted(lambda R, number: R.tensor(tensor(number))) == (37, 19)
    assert counted(lambda R, number: R.tensor_zz(tensor(number))) == (12, 8)
    assert counted(lambda R, number: R.axis()) == (0, 0)


def test_turning_is_right():
    R = Rotation(generic_chain(2), 2, [0.3, 0.4])
    full = np.array([list(R.outward(Vector(*e))) for e in np.eye(3)]).T
    J = Symmetric(1.0, 0.2, -0.3, 2.0, 0.4, 2.5)
    expected = full @ np.array([list(row) for row in J.rows]) @ full.T
    assert_close([list(row) for row in R.tensor(J).rows], expected)
    assert_close(R.tensor_zz(J), expected[2, 2])
    assert_close(list(R.inward_planar(0.3, 0.5)), full.T @ [0.3, 0.5, 0])
    assert_close(list(R.axis()), full[2])


@pytest.mark.parametrize("name", ["renaud", "lin-1991", "walker-orin", "fijany-bejczy"])
def test_as_written_they_take_no_more_than_print(name: str):
    """Without the hand-made savings for the first link, but with tensors turned by two elementary rotations."""
    row = next(row for row in TABLE_I.rows if row.method.startswith(name))
    for n in range(5, 9):
        tally, model = Tally(), generic_chain(n)
        find_method("inertia_matrix", name, model).function(model, [tally.wrap(0.3 + k) for k in range(n)])
        assert tally["mul"] + tally["add"] <= row.mul(n) + row.add(n)


# -- identities -----------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
E = np.eye(3)


def random_tensor() -> np.ndarray:
    A = RNG.normal(size=(3, 3))
    return A @ A.T


def test_identities_of_tensors_and_cross_products():
    a, b, u_m, u_j, u_k, r = RNG.normal(size=(6, 3))
    I = random_tensor()
    tilde = I - np.trace(I) / 2 * E
    assert_close(tilde - np.trace(tilde) * E, I)  # (20)
    ab = cross_matrix(a) @ cross_matrix(b)
    assert_close(ab, np.outer(b, a) - np.trace(np.outer(b, a)) * E)  # (21)
    assert_close(ab - np.trace(ab) / 2 * E, np.outer(b, a))  # (53)
    x = np.cross
    assert_close(x(u_k, x(u_j, r)) + x(u_j, x(u_k, r)) + x(x(u_k, u_j), r), 2 * x(u_k, x(u_j, r)))  # (48)
    assert_close(I @ x(u_k, u_j) + x(u_k, I @ u_j) + x(u_j, I @ u_k), 2 * x(u_j, tilde @ u_k))  # (49)
    assert_close(x(x(u_m, r), x(u_j, r)), -np.outer(r, r) @ x(u_j, u_m))  # (50)
    assert_close(x(u_j, tilde @ u_j), x(u_j, I @ u_j))  # (52)


def test_tensors_about_the_base_point_and_about_the_centre_of_mass():
    """(51), with the sign it must have: J - tr(J) 1 / 2 = Jbar + m r r^T."""
    bodies = CompositeBodies(generic_chain(4), [0.3, -0.4, 0.5, 0.6])
    for j in range(1, 5):
        mass, p = bodies.m_hat[j], np.array(list(bodies.p_hat[j]))
        Jbar = np.array([list(row) for row in bodies.Jbar[j].rows])
        about_base = Jbar - np.trace(Jbar) * E  # (23)
        r = p / mass
        J = about_base + mass * cross_matrix(r) @ cross_matrix(r)
        assert_close(J - np.trace(J) / 2 * E, Jbar + mass * np.outer(r, r))
        assert np.linalg.eigvalsh(J).min() > 0


def test_a_link_about_its_centre_of_mass_is_the_same():
    """The share of one link in (29) and (30) as the paper writes it, with p_j = s_j + c_j."""
    model = generic_chain(1)
    s, (mass, c, I) = RNG.normal(size=3), model.inertia(1).central()
    p, I = s + np.array(list(c)), np.array([list(row) for row in I.rows])
    h, J = np.array(list(model.inertia(1).h)), np.array([list(row) for row in model.inertia(1).J.rows])
    P = mass * s + h
    assert_close(P, mass * p)
    expected = I - np.trace(I) / 2 * E - mass * np.outer(p, p)
    assert_close(J - np.trace(J) / 2 * E - np.outer(s, P) - np.outer(h, s), expected)
