"""Lin and Fang 1999: Tables VI, VII and VIII from running code, Theorem 1, and the identities of the derivation."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import linkwork
from linkwork.formulations.crba import crba
from linkwork.formulations.linfang import joint_classes, minimal_combinations
from linkwork.formulations.linfang.chain import Chain, composite_bodies
from linkwork.formulations.linfang.formulation5 import moments_before
from linkwork.formulations.linfang.moments import similar
from linkwork.formulations.rnea import rnea
from linkwork.model import build
from linkwork.published.chains import generic_chain
from linkwork.published.linfang1999 import TABLES, TYPE_1, TYPE_2, configuration, run_formulation, run_minimal
from linkwork.published.table import Polynomial
from linkwork.scalar import Tally
from linkwork.spatial import Inertia, Symmetric, Vector
from support.evaluate import assert_close, cross_matrix, gathered, scalars
from support.random_robots import Recipe, describe

VI, VII, VIII = TABLES
ROWS = {f"{table.title.partition(':')[0]}, {row.label}": row for table in TABLES for row in table.rows}
every_row = pytest.mark.parametrize("label", ROWS)


# -- printed and measured -----------------------------------------------------------------------------------------


def test_every_printed_entry_but_one_is_its_polynomial():
    wrong = [
        (label, n, printed, (row.mul(n), row.add(n)))
        for label, row in ROWS.items()
        for n, printed in row.values.items()
        if printed != (row.mul(n), row.add(n))
    ]
    assert wrong == [("Table VI, Formulation 5, Type 1", 11, (1016, 662), (1026, 662))]


# measured minus printed, multiplications and additions; all other rows are exact
DIFFERENCES = {
    "Table VI, Formulation 1, Type 2": ((0, -4), (0, -4)),
    "Table VI, Formulation 2, Type 1": ((2, -2), (0, 0)),
    "Table VI, Formulation 2, Type 2": ((2, -7), (0, -3)),
    "Table VI, Formulation 4, Type 1": ((-8, 20), (-4, 8)),
    "Table VI, Formulation 4, Type 2": ((-8, 20), (-4, 8)),
    "Table VI, Formulation 5, Type 1": ((0, 2), (0, 0)),
    "Table VI, Formulation 5, Type 2": ((0, -4), (0, -6)),
    "Table VIII, Formulation 1, Type 2": ((0, -4), (0, -4)),
    "Table VIII, Formulation 2, Type 1": ((2, -2), (0, 0)),
    "Table VIII, Formulation 2, Type 2": ((2, -7), (0, -3)),
}


@every_row
def test_measured_is_printed_but_for_what_is_explained(label: str):
    row = ROWS[label]
    mul, add = row.measured()
    expected = DIFFERENCES.get(label, ((0, 0), (0, 0)))
    for measured, printed, (slope, constant) in zip((mul, add), (row.mul, row.add), expected):
        assert not (measured - printed) - Polynomial.of(slope, constant)
    assert bool(row.why) == (label in DIFFERENCES)


def test_formulation_4_with_the_line_that_is_free():
    """Its additions are then as printed, and its multiplications 4 more."""
    for row in VI.rows[6:8]:
        mul, add = row.measured()
        assert not add - row.add - Polynomial.of(-4, 8)
        assert not mul - row.mul - Polynomial.of(-8, 16) - Polynomial.of(4)


def test_shortest_chains_of_table_vii():
    """Below the n from which the polynomials hold."""
    short = [(row.count(n)["mul"], row.count(n)["add"]) for row, n in zip(VII.rows, (2, 3))]
    assert short == [(15, 10), (45, 36)]


@pytest.mark.parametrize("prismatic", [TYPE_1, TYPE_2])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_what_is_counted_is_the_inertia_matrix(n: int, prismatic):
    model = generic_chain(n, prismatic)
    M = np.array(crba(model, configuration(model)))
    for run, number in [*((run_formulation, k) for k in range(1, 6)), (run_minimal, 1), (run_minimal, 2)]:
        D = run(number, model, Tally())
        assert sorted(D) == [(j, i) for j in range(1, n + 1) for i in range(j, n + 1)]
        found = [
            getattr(D[min(j, i), max(j, i)], "value", D[min(j, i), max(j, i)])
            for j, i in np.ndindex(n + 1, n + 1)
            if j and i
        ]
        assert_close(np.reshape(found, (n, n)), M)


def test_the_best_formulation_by_the_printed_polynomials():
    """Of multiplications and additions together, as section 2 has it."""
    for kind, ranges in ((0, {2: range(3, 5), 1: range(5, 12)}), (1, {2: range(4, 9), 1: range(9, 12)})):
        totals = [[row.mul(n) + row.add(n) for n in range(12)] for row in VI.rows[kind::2]]
        for best, ns in ranges.items():
            for n in ns:
                assert min(total[n] for total in totals) == totals[best - 1][n], (kind, n)


# -- Theorem 1 ----------------------------------------------------------------------------------------------------


def basis(model, parameter: int):
    """The robot with one inertia parameter one, all others zero."""
    rows = np.eye(10 * model.n_bodies)[parameter].reshape(-1, 10).tolist()
    return model.with_inertias([Inertia.of(row) for row in rows])


def regressor(model, samples: int = 24) -> np.ndarray:
    rng = np.random.default_rng(4)
    q, v, a = (scalars(rng.uniform(-2, 2, (samples, model.nv))) for _ in range(3))
    columns = [gathered(rnea(basis(model, k), q, v, a), (samples,)).ravel() for k in range(10 * model.n_bodies)]
    return np.stack(columns, axis=1)


def combinations(model) -> np.ndarray:
    """Rows: each minimal combination as a linear function of all inertia parameters."""
    return np.array([minimal_combinations(basis(model, k)).values() for k in range(10 * model.n_bodies)], float).T


def rank(matrix: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(matrix / np.abs(matrix).max(), tol=1e-9)) if matrix.size else 0


def assert_minimal(model) -> None:
    """As many as the regressor's rank, independent, and all that the forces depend on."""
    W, K = regressor(model), combinations(model)
    assert len(K) == rank(K) == rank(W) == rank(np.vstack([W / np.abs(W).max(), K / np.abs(K).max()]))


@pytest.mark.parametrize("pattern", ["".join(kinds) for n in (1, 2, 3, 4) for kinds in product("RP", repeat=n)])
def test_theorem_1_random(pattern: str):
    for seed, relations in enumerate(
        (("skew",), ("coaxial",), ("parallel", "antiparallel"), ("coaxial", "parallel", "skew"))
    ):
        described = describe(Recipe(seed=seed, joints=len(pattern), relations=relations))
        kinds = ["prismatic" if kind == "P" else "revolute" for kind in pattern]
        joints = tuple(replace(joint, kind=kind) for joint, kind in zip(described.joints, kinds))
        for gravity in (described.gravity, (0.0, 0.0, -9.81)):
            assert_minimal(build(replace(described, joints=joints, gravity=gravity)))


@pytest.mark.parametrize(("name", "numbers"), [("puma560", (36, 38)), ("stanford", (33, 35))])
def test_theorem_1_arms(name: str, numbers: tuple[int, int]):
    """The number of combinations with gravity along the first axis, and across it."""
    model = linkwork.load(name, rotors=False).model
    for gravity, number in zip((Vector(0, 0, -9.81), Vector(2, 1, -9.81)), numbers):
        seen = replace(model, gravity=gravity)
        assert len(minimal_combinations(seen).values()) == number
        assert_minimal(seen)


def test_joint_classes():
    model = generic_chain(4, prismatic=(2,), parallel=(3,))
    classes = joint_classes(model)
    assert (classes.r, classes.s) == (1, 3)
    assert (joint_classes(generic_chain(3, (1, 2, 3))).r, joint_classes(generic_chain(3, (1, 2, 3))).s) == (4, 4)
    assert (joint_classes(generic_chain(3, (), (2, 3))).r, joint_classes(generic_chain(3, (), (2, 3))).s) == (1, 4)
    assert joint_classes(generic_chain(3, (), (2, 3))).delta == {1: 1, 2: 1, 3: 1}


# -- identities ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=["RRRR", "RPRP", "PRPR"])
def composite(request):
    prismatic = [i for i, kind in enumerate(request.param, 1) if kind == "P"]
    model = generic_chain(4, prismatic)
    chain = Chain(model, configuration(model))
    return model, chain, composite_bodies(model, chain)


def array(v) -> np.ndarray:
    return np.array([*v], float)


def matrix(J: Symmetric) -> np.ndarray:
    return np.array([array(row) for row in J.rows])


def rotation(chain: Chain, i: int) -> np.ndarray:
    return np.array([array(chain.outward(i, Vector(*e))) for e in np.eye(3)]).T


def test_frames(composite):
    """(1), (2), (18): the arm in both frames, and its cross product with a force split into two cheaper ones."""
    _, chain, _ = composite
    rng = np.random.default_rng(0)
    for i in range(2, 5):
        R, b, d, s = rotation(chain, i), array(chain.b(i)), np.array([0, 0, chain.d(i)]), array(chain.s(i))
        assert_close(b + R @ d, s)
        assert_close(array(chain.reach(i, Vector())), R.T @ s)
        f = rng.normal(size=3)
        assert_close(np.cross(s, R @ f), R @ np.cross(d, f) + np.cross(b, R @ f))


def test_composite_bodies_are_the_printed_sums(composite):
    """(3), (4), (5)."""
    model, chain, body = composite
    for i in range(1, 5):
        mass, c, J, R, s = 0.0, np.zeros(3), np.zeros((3, 3)), np.eye(3), np.zeros(3)
        for j in range(i, 5):
            if j > i:
                s, R = s + R @ array(chain.s(j)), R @ rotation(chain, j)
            link = model.inertia(j)
            center = array(link.h) / link.mass
            central = matrix(link.J) + link.mass * cross_matrix(center) @ cross_matrix(center)
            r = cross_matrix(s + R @ center)
            mass, c = mass + link.mass, c + link.mass * (s + R @ center)
            J = J + R @ central @ R.T - link.mass * r @ r
        assert_close(body[i].mass, mass)
        assert_close(array(body[i].h), c)
        assert_close(matrix(body[i].J), J)


def test_moments_of_kawasaki(composite):
    """(B3) against (B1), and (B12): the force of a translational joint i on joint i - 1."""
    _, chain, body = composite
    h = moments_before(chain, body)
    for i in range(2, 5):
        R, s, u = rotation(chain, i), array(chain.s(i)), rotation(chain, i)[:, 2]
        assert_close(array(h[i]), R @ array(body[i].h) + body[i].mass * s)
        f, t = body[i].mass * u, np.cross(R @ array(body[i].h), u)
        assert_close(np.cross(array(h[i]), u), t + np.cross(s, f))


def test_similarity_transformation(composite):
    """(41) to (54)."""
    _, chain, body = composite
    for i in range(1, 5):
        R = rotation(chain, i)
        assert_close(matrix(similar(chain.X[i], body[i].J)), R @ matrix(body[i].J) @ R.T)
