"""Written-out equations: what vanishes is gone, what is left is short, and it is the same by sympy and in numbers."""

import time

import numpy as np
import pytest
import sympy

import linkwork
from linkwork.symbolic.expressions import Call, Equation, Number, Product, Quotient, Sum, Symbol, add, multiply
from linkwork.symbolic.polynomials import length, shortened
from linkwork.symbolic.sympy_form import sympy_entries
from linkwork.symbolic.text import Printer

A, B, X, Y = map(Symbol, "abxy")
PAIRS = {"CA": ("cos", A), "SA": ("sin", A), "CB": ("cos", B), "SB": ("sin", B)}
SUMS = {"CAB": ("cos", Sum(((1, A), (1, B)))), "SAmB": ("sin", Sum(((1, A), (-1, B))))}
CA, SA, CB, SB, CAB, SAmB = map(Symbol, (*PAIRS, *SUMS))


def product(*factors):
    result = factors[0]
    for factor in factors[1:]:
        result = multiply(result, factor)
    return result


def total(*terms):
    """Each a sign and an expression."""
    result = Number(0.0)
    for sign, term in terms:
        result = add(sign, result, term)
    return result


def short(expression) -> str:
    turns = [Equation(name, Call(*turn)) for name, turn in (PAIRS | SUMS).items()]
    *_, result = shortened([*turns, Equation("out", expression)], ["out"], "ab", "xy")
    return Printer().write(result.expression)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (total((1, product(X, SA, SA)), (1, product(X, CA, CA)), (-1, X)), "0"),
        (total((1, product(CA, CB)), (-1, product(SA, SB)), (-1, CAB)), "0"),
        (total((1, product(SA, CB)), (-1, product(CA, SB)), (-1, SAmB)), "0"),
        (total((1, product(CA, SB)), (-1, product(SA, CB)), (1, SAmB)), "0"),
        (total((1, product(X, CA, CB)), (-1, product(X, SA, SB)), (1, Y)), "CAB*x + y"),
        (total((1, product(X, SA, CB)), (-1, product(X, CA, SB)), (1, Y)), "SAmB*x + y"),
        (total((1, product(X, CA, SB)), (-1, product(X, SA, CB)), (1, Y)), "-SAmB*x + y"),
        (product(total((1, X), (1, Y)), total((1, X), (-1, Y))), "(x + y)*(x - y)"),  # already the shortest
        (total((1, product(total((1, X), (1, Y)), total((1, X), (-1, Y)))), (1, product(Y, Y))), "x^2"),
        (total((1, product(Number(0.1), X)), (1, product(Number(0.2), X)), (-1, product(Number(0.1), X))), "0.2*x"),
        (total((1, Quotient(product(X, Y), A)), (-1, Quotient(product(Y, X), A))), "0"),
        (total((1, product(X, A, Y)), (1, product(X, B, Y))), "x*y*(a + b)"),
        (Call("sign", total((1, X), (1, Y), (-1, X))), "sign(y)"),
    ],
)
def test_what_vanishes_is_gone(expression, expected):
    assert short(expression) in (expected, expected.replace("x*y*(a + b)", "(a + b)*x*y"))


def test_needless_equations_are_left_out():
    turns = [Equation(name, Call(*turn)) for name, turn in PAIRS.items()]
    whole = total((1, product(SA, SA)), (1, product(CA, CA)), (1, CB))
    assert [e.name for e in shortened([*turns, Equation("out", whole)], ["out"], [], [])] == ["CB", "out"]


def test_long_expressions_stay_as_they_are():
    """(x1 + y1) (x2 + y2) ...: a product of few symbols, a sum of a million terms."""
    factors = tuple((Sum(((1, Symbol(f"x{k}")), (1, Symbol(f"y{k}")))), 1) for k in range(20))
    start = time.perf_counter()
    (equation,) = shortened([Equation("out", Product(factors))], ["out"], [], [])
    assert equation.expression == Product(factors) and time.perf_counter() - start < 5


def test_coriolis_matrix_of_a_planar_arm():
    model = linkwork.load("planar2r").symbolic("coriolis_matrix", expand=True)
    written = {e.name: Printer().write(e.expression) for e in model.equations}
    assert written == {
        "S2": "sin(q2)",
        "Cor11": "-d2*MX2*S2*qd2",
        "Cor12": "-d2*S2*MX2*(qd1 + qd2)",
        "Cor21": "d2*MX2*S2*qd1",
        "Cor22": "0",
    }
    assert "M2" not in model.values and (model.operations.mul, model.operations.sincos) == (6, 1)


CASES = [
    ("planar2r", "coriolis_matrix"),
    ("planar2r", "inverse_dynamics"),
    ("planar2r", "forward_dynamics"),
    ("scara", "coriolis_matrix"),
    ("scara", "inverse_dynamics"),
    ("puma560", "gravity"),
    ("puma560", "inertia_matrix"),
]


@pytest.mark.parametrize(("name", "quantity"), CASES)
def test_same_numbers_as_the_program(name, quantity):
    robot = linkwork.load(name)
    model = robot.symbolic(quantity, expand=True)
    held = {}
    exec(model.python(), held)
    function = robot.compile(quantity, backend="interpreter")
    states = np.random.default_rng(0).normal(size=(20, len(model.inputs), robot.nv))
    for state in states:
        expected, got = function(*state), _called(held, model, state)
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def _called(held, model, state):
    (function,) = (value for value in held.values() if callable(value) and value.__module__ is None)
    return function(*state, dict(model.values))


@pytest.mark.parametrize(("name", "quantity"), [case for case in CASES if case[0] != "puma560"][:4])
def test_same_as_the_steps_by_sympy(name, quantity):
    """Exactly: the difference of both forms vanishes when multiplied out."""
    robot = linkwork.load(name)
    short, long = (robot.symbolic(quantity, expand=w, method="auto").sympy() for w in (True, False))
    assert short.keys() == long.keys()
    for port, whole in short.items():
        assert all(map(_is_zero, whole - long[port])), port


def _is_zero(expression) -> bool:
    numerator, _ = sympy.fraction(sympy.together(sympy.expand_trig(expression)))
    numerator = sympy.expand(numerator)
    for sine in numerator.atoms(sympy.sin):
        numerator = sympy.expand(numerator).replace(
            lambda e, s=sine: e.is_Pow and e.base == s and e.exp.is_Integer and e.exp >= 2,
            lambda e: (1 - sympy.cos(e.base.args[0]) ** 2) ** (e.exp // 2) * e.base ** (e.exp % 2),
        )
    return sympy.expand(numerator) == 0


@pytest.mark.parametrize(
    ("name", "quantity", "entries"),
    [
        ("planar2r", "inverse_dynamics", ["tau1", "tau2"]),
        ("planar2r", "coriolis_matrix", ["Cor11", "Cor12"]),
        ("scara", "coriolis_matrix", ["Cor14", "Cor22"]),
        ("scara", "inertia_matrix", ["M14"]),
        ("puma560", "gravity", ["g4", "g5"]),
    ],
)
def test_no_longer_than_sympy_makes_it(name, quantity, entries):
    found = sympy_entries(linkwork.load(name).symbolic(quantity, expand=True))
    for entry in entries:
        assert found[entry].count_ops() <= sympy.simplify(found[entry]).count_ops()


def test_torques_of_a_planar_arm_as_textbooks_have_them():
    model = linkwork.load("planar2r").symbolic(expand=True)
    written = {e.name: Printer().write(e.expression) for e in model.equations}
    assert written["C12"] == "cos(q1 + q2)" and "S12" not in written
    assert written["tau2"] == "MX2*(d2*(C2*qdd1 + S2*qd1^2) - G2*C12) + ZZ2*(qdd1 + qdd2) + IA2*qdd2"


@pytest.mark.parametrize("name", ["panda", "puma560", "stanford"])
def test_large_robots_take_no_long_time(name):
    start = time.perf_counter()
    model = linkwork.load(name).symbolic("gravity", expand=True)
    assert time.perf_counter() - start < 30
    assert max(length(e.expression) for e in model.equations) < 400
