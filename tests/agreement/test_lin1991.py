"""The composite-body methods of Lin 1991, its bias and its bias coefficients, against linkwork's own and Pinocchio."""

from itertools import product

import numpy as np
import pytest

import linkwork
from linkwork.formulations.crba import crba
from linkwork.formulations.lin1991 import METHODS, bias_coefficients, inertia_and_bias
from linkwork.formulations.lin1991.composite import bias, inertia_matrix
from linkwork.formulations.rnea import rnea
from linkwork.program import Port, count, optimize, trace
from support.evaluate import assert_close, deviation, evaluate
from support.random_robots import PATTERNS, Recipe, describe, random_state, serial

INERTIA = [method for method in METHODS if method.quantity == "inertia_matrix"]
(BIAS,) = (method for method in METHODS if method.quantity == "bias")
TOLERANCE = 1e-13
ROBOTS = ("planar2r", "scara", "puma560", "stanford", "rx90", "ur5e", "panda")


def load(pattern: str, *how, **more) -> linkwork.Robot:
    return linkwork.load(serial(pattern, *how, **more))


@pytest.mark.parametrize("pattern", ["R", "P", "RPR", "PRRP", "RRRRRR"])
def test_joint_terms(pattern: str):
    model = load(pattern, 5, ("skew", "parallel"), extras=True).model
    q, v, _ = random_state(model)
    for method in INERTIA:
        assert_close(evaluate(model, "inertia_matrix", q, method=method.name), evaluate(model, "inertia_matrix", q))
    assert_close(evaluate(model, "bias", q, v, method="lin-1991"), evaluate(model, "bias", q, v))


@pytest.mark.parametrize("pattern", ["R", "P", "RR", "PRPR"])
def test_a_last_link_without_mass(pattern: str):
    model = load(pattern, 3, light=True).model
    q, v, _ = (x.tolist() for x in random_state(model))
    for method in INERTIA:
        assert_close(method.function(model, q), crba(model, q))
    b = rnea(model, q, v, [0] * model.nv)
    assert_close(BIAS.function(model, q, v), b, scale=1.0)


@pytest.mark.parametrize("seed", range(6))
def test_columns_by_newton_euler_on_trees(seed: int):
    model = linkwork.load(describe(Recipe(seed, joints=7, branches=True, floating=seed % 2 == 0, extras=True))).model
    q, *_ = random_state(model, seed)
    assert_close(
        evaluate(model, "inertia_matrix", q, method="unit-accelerations"), evaluate(model, "inertia_matrix", q)
    )


def test_serial_methods_refuse_trees_and_say_what_can():
    model = linkwork.load(describe(Recipe(1, joints=7, branches=True))).model
    with pytest.raises(linkwork.LinkworkError, match="serial chains, and the robot branches") as refused:
        linkwork.compile(model, "inertia_matrix", method="renaud")
    assert "unit-accelerations" in str(refused.value) and "crba" in str(refused.value)


@pytest.mark.parametrize("pattern", [*PATTERNS[:30], "RRPRR", "PPRRR"])
def test_coefficients_are_christoffel_symbols(pattern: str):
    """D_mkj = (dM_mk/dq_j + dM_mj/dq_k - dM_kj/dq_m) / 2, derivatives by complex steps."""
    model = load(pattern, 2).model
    q, v, _ = random_state(model)
    n = model.nv
    varied = q[:, None] + 1e-30j * np.eye(n)
    dM = np.stack([np.array(crba(model, list(column))).imag / 1e-30 for column in varied.T], axis=-1)  # [m, k, j]
    expected = (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1)) / 2
    D = np.array(bias_coefficients(model, q.tolist()), dtype=float)
    assert_close(D, expected, scale=1e-12)
    gravity = evaluate(model, "gravity", q)
    assert_close(np.einsum("mkj,k,j", D, v, v) + gravity, rnea(model, q.tolist(), v.tolist(), [0] * n))


@pytest.mark.parametrize("pattern", ["RRRR", "PRPR"])
def test_properties_of_the_coefficients(pattern: str):
    """(32) to (34) and what the too narrow range of (47) would leave out."""
    n = len(pattern)
    D = bias_coefficients(load(pattern).model, [0.3] * n)
    for m, k, j in product(range(n), repeat=3):
        assert D[m][j][k] == D[m][k][j]
        if j >= k:
            assert D[j][k][j] == 0
        if m >= k and j >= k:
            assert D[j][k][m] == -D[m][k][j]
    assert all(D[3][j][j] for j in range(3) if pattern[j] == "R")


@pytest.mark.parametrize("name", ROBOTS)
def test_bundled_robots(name: str, deviations):
    robot = linkwork.load(name)
    rng = np.random.default_rng(0)
    q, v, tau = (rng.uniform(-2, 2, (5, robot.nv)) for _ in range(3))
    M, b, a = robot.inertia_matrix(q), robot.bias(q, v), robot.forward_dynamics(q, v, tau)
    for method in INERTIA:
        off = deviation(robot.compile("inertia_matrix", method=method.name)(q), M)
        deviations(f"{method.name}, native", off)
        assert off <= TOLERANCE
        forward = robot.compile("forward_dynamics", method=f"{method.name}+lin-1991")
        assert_close(forward(q, v, tau), a, tolerance=1e-11)
    assert_close(robot.compile("bias", method="lin-1991")(q, v), b, tolerance=TOLERANCE)


@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_parameters_as_input(name: str):
    robot = linkwork.load(name)
    q = np.linspace(-1, 1, robot.nv)
    with pytest.raises(linkwork.LinkworkError, match="divides by"):
        robot.compile("inertia_matrix", method="walker-orin", inputs=["parameters"])
    for method in (method for method in INERTIA if method.grouped):
        compiled = robot.compile("inertia_matrix", method=method.name, inputs=["parameters"], backend="interpreter")
        found = compiled(q, np.array(robot.parameters) + 0.01)
        changed = robot.model.with_parameters([(np.array(row) + 0.01).tolist() for row in robot.parameters])
        assert_close(found, crba(changed, q.tolist()))


@pytest.mark.parametrize("pattern", ["RRRRRR", "RRPRRR"])
def test_inertia_and_bias_share_what_they_have_in_common(pattern: str):
    """Asked for apart in one program, they cost as much as together: less than one after the other."""
    model, n = load(pattern).model, len(pattern)

    def operations(run, *inputs: str) -> int:
        return count(optimize(trace("shared", run, [Port(name, (n,)) for name in inputs]))).instructions

    def array(values):
        return np.array(values, dtype=object)

    def together(q, v):
        H, b = inertia_and_bias(model, q, v)
        return {"H": array(H), "b": array(b)}

    both = operations(together, "q", "v")
    apart = operations(lambda q, v: {"H": array(inertia_matrix(model, q)), "b": array(bias(model, q, v))}, "q", "v")
    H = operations(lambda q: {"H": array(inertia_matrix(model, q))}, "q")
    b = operations(lambda q, v: {"b": array(bias(model, q, v))}, "q", "v")
    assert both == apart
    assert both < 0.8 * (H + b)
