"""Tables of integrators: their orders in exact arithmetic, their stability, what is refused, and a new one in use."""

import inspect
import math
from collections import Counter
from dataclasses import fields
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.integrate import RK45

import linkwork
from linkwork.codegen.schemes import AdamsBashforth, Combination, OwnStep, Rosenbrock, RungeKutta
from linkwork.errors import LinkworkError, UnknownNameError
from linkwork.robot import Robot
from linkwork.sim import INTEGRATORS, Integrator, Options, add_integrator
from linkwork.sim.schemes.integrators import AB4, DORMAND_PRINCE_5, HEUN, RK4, RODAS, Adaptive, schemes

RALSTON = RungeKutta("0 | \n 1/2 | 1/2 \n 3/4 | 0 3/4 \n | 2/9 1/3 4/9")
KINDS = {
    kind: [x for x in INTEGRATORS.values() if isinstance(x.scheme, kind)]
    for kind in (RungeKutta, AdamsBashforth, Rosenbrock)
}


# -- orders --------------------------------------------------------------------------------------------------------


@cache
def trees(order):
    """Rooted trees with so many vertices: each the sorted tuple of what grows from its root."""
    if order == 1:
        return {()}
    grown = set()
    for tree in trees(order - 1):
        grown.add(tuple(sorted((*tree, ()))))  # a leaf on the root, or on one of its branches
        for k, branch in enumerate(tree):
            for taller in {t for t in trees(size(branch) + 1)}:
                grown.add(tuple(sorted((*tree[:k], taller, *tree[k + 1 :]))))
    return {tree for tree in grown if size(tree) == order}


def size(tree):
    return 1 + sum(map(size, tree))


def density(tree):
    """Butcher's gamma."""
    return size(tree) * math.prod(map(density, tree))


def weights(tree, A):
    """Of each stage: the product over the branches of sums over the stages before."""
    rows = [[sum(a * x for a, x in zip(row, weights(branch, A), strict=False)) for row in A] for branch in tree]
    return [math.prod((row[i] for row in rows), start=Fraction(1)) for i in range(len(A))]


def holds(scheme, tree):
    return sum(b * x for b, x in zip(scheme.weights, weights(tree, scheme.coefficients), strict=True)) == Fraction(
        1, density(tree)
    )


def test_trees():
    """As many as there are (Hairer, Norsett and Wanner, table II.2.1)."""
    assert [len(trees(n)) for n in range(1, 7)] == [1, 1, 2, 4, 9, 20]


@pytest.mark.parametrize("integrator", KINDS[RungeKutta], ids=lambda x: x.name)
def test_order_conditions(integrator):
    """All of them up to the order, and not all of the next."""
    scheme, order = integrator.scheme, integrator.order
    assert all(holds(scheme, tree) for n in range(1, order + 1) for tree in trees(n))
    assert not all(holds(scheme, tree) for tree in trees(order + 1))


@pytest.mark.parametrize("integrator", KINDS[AdamsBashforth], ids=lambda x: x.name)
def test_polynomials_of_the_order_are_integrated_exactly(integrator):
    own = [Fraction(word) for word in integrator.scheme.weights.split()]
    exact = [sum(b * Fraction(-age) ** n for age, b in enumerate(own)) == Fraction(1, n + 1) for n in range(6)]
    assert exact == [n < integrator.order for n in range(6)]
    start = integrator.scheme.start  # an order less would not be enough
    assert all(holds(start, tree) for n in range(1, integrator.order) for tree in trees(n))


def textbook(scheme):
    """alpha, beta = alpha + Gamma and b of equation IV.7.4 of Hairer and Wanner, from what a table has."""
    inverse = np.eye(len(scheme.m)) / scheme.g - scheme.C  # of Gamma
    alpha, gamma, b = scheme.A @ np.linalg.inv(inverse), np.linalg.inv(inverse), scheme.m @ np.linalg.inv(inverse)
    return alpha, alpha + gamma, b


def rosenbrock_weights(tree, alpha, beta):
    """Where a vertex has a single branch, the slope of f is taken with the stage itself: beta in place of alpha."""
    rows = [(beta if len(tree) == 1 else alpha) @ rosenbrock_weights(branch, alpha, beta) for branch in tree]
    return np.prod(rows, axis=0) if rows else np.ones(len(alpha))


@pytest.mark.parametrize("integrator", KINDS[Rosenbrock], ids=lambda x: x.name)
def test_order_conditions_of_rosenbrock_methods(integrator):
    """Hairer and Wanner, theorem IV.7.4: all of them up to the order, to the digits of the table."""
    alpha, beta, b = textbook(integrator.scheme)
    off = {
        n: max(abs(b @ rosenbrock_weights(tree, alpha, beta) - 1 / density(tree)) for tree in trees(n))
        for n in range(1, integrator.order + 2)
    }
    assert all(x < 3e-15 for n, x in off.items() if n <= integrator.order)
    assert off[integrator.order + 1] > 1e-4


def test_rodas_as_it_is_meant():
    """Stiffly accurate: the last stage is the step, and the one before it a step of third order."""
    alpha, beta, b = textbook(RODAS)
    np.testing.assert_allclose(beta[-1], b, atol=3e-15)
    np.testing.assert_allclose(alpha.sum(axis=1), RODAS.nodes, atol=3e-15)
    apart = lambda tree: abs(beta[-2] @ rosenbrock_weights(tree, alpha, beta) - 1 / density(tree))  # noqa: E731
    off = [max(map(apart, trees(n))) for n in (1, 2, 3, 4)]
    assert max(off[:3]) < 3e-15 and off[3] > 1e-4


def test_dormand_and_prince_as_scipy_has_it():
    for ours, theirs in zip(DORMAND_PRINCE_5.coefficients, RK45.A, strict=True):
        assert np.array_equal(np.array(ours, float), theirs[: len(ours)])
    assert np.array_equal(np.array(DORMAND_PRINCE_5.weights, float), RK45.B)
    assert np.array_equal(np.array(DORMAND_PRINCE_5.nodes, float), RK45.C)


# -- stability -----------------------------------------------------------------------------------------------------


def test_growth():
    """Polynomials of the literature, and the roots of Adams and Bashforth's."""
    z = np.array([-2.7, -0.3 + 0.2j, 1j, 2.8j, 0.5 - 1j])
    series = [sum(z**n / math.factorial(n) for n in range(k + 1)) for k in range(6)]
    expected = {HEUN: series[2], RALSTON: series[3], RK4: series[4], DORMAND_PRINCE_5: series[5] + z**6 / 600}
    for scheme, value in expected.items():
        np.testing.assert_allclose(scheme.growth(z), np.abs(value), rtol=1e-14)
    roots = [np.roots([1, -1 - 55 * x, 59 * x, -37 * x, 9 * x]) for x in z / 24]
    np.testing.assert_allclose(AB4.growth(z), [np.abs(x).max() for x in roots], rtol=1e-13)


def test_growth_of_rosenbrock_methods():
    """The rational function 1 + z b (1 - z B)^-1 e; A-stable, and nothing is left of what is infinitely fast."""
    _, beta, b = textbook(RODAS)
    z = np.array([-2.7, -0.3 + 0.2j, 1j, 2.8j, 0.5 - 1j, 40j, -1e4])
    expected = [abs(1 + x * b @ np.linalg.solve(np.eye(6) - x * beta, np.ones(6))) for x in z]
    np.testing.assert_allclose(RODAS.growth(z), expected, rtol=1e-11)
    assert RODAS.growth(1j * np.logspace(-3, 6, 2000)).max() <= 1 + 1e-14
    assert RODAS.growth(np.array([-1e9, 1e9j])).max() < 1e-7


def test_combinations_are_few_operations():
    """Common factors and equal weights are put together."""
    assert RK4.step == Combination(Fraction(1, 6), ((1, (0, 3)), (2, (1, 2))))
    assert AB4.step == Combination(Fraction(1, 24), ((55, (0,)), (-59, (1,)), (37, (2,)), (-9, (3,))))
    assert DORMAND_PRINCE_5.stages[1] == (0.3, Combination(Fraction(3, 40), ((1, (0,)), (3, (1,)))))
    assert Combination.of((Fraction(0), Fraction(0))).groups == ()


# -- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("", "0 lines"),
        ("0 |", "1 lines"),
        ("0 | \n 1 | 1", "no node, and one weight for each stage"),
        (
            "0 | \n 1/2 | 1/3 \n | 0 1",
            r"stage 2: .*\n  got: .* add up to 1/3\n  expected: their node, 1/2",
        ),
        ("1/2 | 1/2 \n | 1", "stage 1"),  # implicit
        ("0 | \n 1 | 1/2 1/2 \n | 1/2 1/2", "stage 2: .*\n  got: 2 coefficients"),
        ("0 | \n 1 | 1 \n | 1/2 1/3", "the weights: .*\n  got: a sum of 5/6"),
        ("0 | \n 1 | 1 \n | 1", "1 weights of 2 stages"),
        ("0 | \n | 1 \n | 1/2 1/2", "stage 2"),
        ("0 0 | \n 1 | 1 \n | 1/2 1/2", "before a bar"),
        ("0 \n 1 | 1 \n | 1/2 1/2", "before a bar"),
        ("0 | \n 1 | one \n | 1/2 1/2", "not a row of fractions"),
        ("0 | \n 1 | 1/0 \n | 1/2 1/2", "not a row of fractions"),
    ],
)
def test_bad_tables(table, told):
    with pytest.raises(LinkworkError, match=told):
        RungeKutta(table)


GOOD = ("1/2", "0 | \n 1 | 2 \n | 3 1", "-4")


@pytest.mark.parametrize(
    ("place", "table", "told"),
    [
        (0, "x", "not a row of fractions"),
        (1, "", "0 lines"),
        (1, "0 | \n 1 | 2 3 \n | 3 1", "stage 2: .*\n  got: 2 coefficients"),
        (1, "0 | \n 1 | 2 \n | 1", "1 weights of 2 stages"),
        (1, "0 | \n 3/4 | 2 \n | 3 1", "stage 2: .*\n  got: coefficients that lead to 1\n  expected: its node, 0.75"),
        (1, "0 | \n 1 | 2 \n | 2 1", "the weights: .*\n  got: a step of 0.5"),
        (2, "", r"the lines of c: .*\n  got: \[\] coefficients"),
        (2, "-4 1", "the lines of c"),
    ],
)
def test_bad_tables_of_rosenbrock_methods(place, table, told):
    given = [*GOOD]
    assert Rosenbrock(*given).passed.tolist() == [0.5, -0.5]
    given[place] = table
    with pytest.raises(LinkworkError, match=told):
        Rosenbrock(*given)


@pytest.mark.parametrize("given", ["1", "3/2 1/2", "", "3/2 x"])
def test_bad_weights(given):
    with pytest.raises(LinkworkError, match=r"not weights of|not a row of fractions"):
        AdamsBashforth(given, start=RK4)


def test_decimals_will_do():
    """Of a number that is no fraction, such as Gill's."""
    root = f"{math.sqrt(0.5):.17f}"
    scheme = RungeKutta(f"0 | \n {root} | {root} \n | {1 - 1 / (2 * float(root)):.17f} {1 / (2 * float(root)):.17f}")
    assert scheme.growth(np.array([0.1])) == pytest.approx(1.105, rel=1e-14)


# -- a new one -----------------------------------------------------------------------------------------------------


@pytest.fixture
def ralston():
    integrator = Integrator("ralston-3", 3, RALSTON)
    add_integrator(integrator)
    yield integrator
    del INTEGRATORS["ralston-3"]


def test_a_new_one_is_a_method_everywhere(ralston):
    arm = linkwork.load("planar2r")
    run = {"dt": 1e-2, "method": ralston.name}
    one = arm.simulate([0.3, 0.2], duration=0.2, **run)
    assert one.method == ralston.name
    many = arm.rollout([[0.3, 0.2]] * 3, [[0.0, 0.0]] * 3, steps=20, **run)
    assert np.array_equal(many.q[1], one.q)
    add_integrator(Integrator("ralston-3", 3, RALSTON))  # the same again, as when a cell is run twice
    with pytest.raises(LinkworkError, match="another integrator has the name 'ralston-3'"):
        add_integrator(Integrator("ralston-3", 2, HEUN))
    exact = arm.simulate([0.3, 0.2], duration=0.2, method="dormand-prince", tolerance=1e-13, dt=0.2).q[-1]
    errors = [
        np.abs(arm.simulate([0.3, 0.2], duration=0.2, dt=dt, method="ralston-3").q[-1] - exact).max()
        for dt in (4e-3, 2e-3)
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(3, abs=0.1)


def test_taken_away_again():
    with pytest.raises(UnknownNameError, match="ralston-3"):
        linkwork.load("planar2r").simulate(method="ralston-3")


def test_methods_with_a_fixed_step():
    assert Counter(type(x.scheme) for x in INTEGRATORS.values())[Adaptive] == 2
    assert set(INTEGRATORS) - set(schemes()) == {"dormand-prince", "implicit"}
    assert [name for name, scheme in schemes().items() if isinstance(scheme, OwnStep)] == ["semi-implicit-euler"]


# -- options -------------------------------------------------------------------------------------------------------


def test_options_are_the_keywords_of_the_public_functions():
    """Each option is one of ``simulate`` or ``rollout``, with the same default, but for what a batch chooses itself."""
    batch = {"method": "semi-implicit-euler", "outputs": ("q", "v")}
    ours = {field.name: field.default for field in fields(Options)}
    found = {}
    for function in (Robot.simulate, Robot.rollout):
        parameters = inspect.signature(function).parameters.values()
        own = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY or p.name == "torque"}
        assert set(own) <= set(ours)
        assert {name: x for name, x in own.items() if x != ours[name]} in ({}, batch)
        found |= own
    assert set(found) == set(ours)


def test_options_are_checked_and_frozen():
    with pytest.raises(LinkworkError, match="no backend 'fortran'"):
        linkwork.load("planar2r").simulate(backend="fortran")
    with pytest.raises(AttributeError):
        Options().every = 2
    assert type(Options(every=np.int64(3)).every) is int
