"""The composite-body methods of Lin 1991, its bias and its bias coefficients, against linkwork's own and Pinocchio."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import linkwork
from linkwork.formulations.crba import crba
from linkwork.formulations.lin1991 import METHODS, bias_coefficients, inertia_and_bias
from linkwork.formulations.lin1991.composite import bias, inertia_matrix
from linkwork.formulations.rnea import rnea
from linkwork.model import grouped
from linkwork.program import Port, count, optimize, trace
from support.evaluate import assert_close, deviation, evaluate, gathered, scalars
from support.pinocchio_robot import PinocchioRobot
from support.random_robots import RELATIONS, Recipe, describe, random_state

INERTIA = [method for method in METHODS if method.quantity == "inertia_matrix"]
(BIAS,) = (method for method in METHODS if method.quantity == "bias")
TOLERANCE = 1e-13
ROBOTS = ("planar2r", "scara", "puma560", "stanford", "rx90", "ur5e", "panda")


def patterns() -> list[str]:
    """Every sequence of revolute and prismatic joints up to four, random ones up to eight."""
    rng = np.random.default_rng(1)
    short = ["".join(kinds) for n in range(1, 5) for kinds in product("RP", repeat=n)]
    return short + ["".join(rng.choice(["R", "P"], n)) for n in (5, 6, 7, 8) for _ in range(4)] + ["R" * 8, "PPPPPR"]


def chain(pattern: str, seed: int = 0, relations: tuple[str, ...] = ("skew",), **more):
    described = describe(Recipe(seed=seed, joints=len(pattern), relations=relations, **more))
    kinds = {f"to_link{k}": "prismatic" if kind == "P" else "revolute" for k, kind in enumerate(pattern, 1)}
    joints = tuple(replace(joint, kind=kinds.get(joint.name, joint.kind)) for joint in described.joints)
    return linkwork.load(replace(described, joints=joints))


def forms(model, method):
    """The robot as the method may see it."""
    return (model, grouped(model)) if method.grouped else (model,)


@pytest.mark.parametrize("pattern", patterns())
def test_every_pattern(pattern: str, tmp_path, deviations):
    for seed, relations in enumerate((("skew",), ("parallel", "coaxial", "right angle"), RELATIONS)):
        robot = chain(pattern, seed, relations, fixed=seed == 1)
        robot.write(tmp_path / "chain.urdf")
        model = robot.model
        q, v, _ = (x.tolist() for x in random_state(model, seed))
        M, b = crba(model, q), rnea(model, q, v, [0] * model.nv)
        peer = PinocchioRobot((tmp_path / "chain.urdf").read_text(), model)
        assert_close(peer.inertia_matrix(np.array(q)), M)
        assert_close(peer.bias(np.array(q), np.array(v)), b)
        for method in INERTIA:
            for seen in forms(model, method):
                off = deviation(method.function(seen, q), M)
                deviations(method.name, off)
                assert off <= TOLERANCE, method.name
        for seen in forms(model, BIAS):
            off = deviation(BIAS.function(seen, q, v, {}), b)
            deviations("lin-1991, bias", off)
            assert off <= TOLERANCE


@pytest.mark.parametrize("pattern", ["R", "P", "RPR", "PRRP", "RRRRRR"])
def test_joint_terms(pattern: str):
    model = chain(pattern, 5, ("skew", "parallel"), extras=True).model
    q, v, _ = random_state(model)
    for method in INERTIA:
        assert_close(evaluate(model, "inertia_matrix", q, method=method.name), evaluate(model, "inertia_matrix", q))
    assert_close(evaluate(model, "bias", q, v, method="lin-1991"), evaluate(model, "bias", q, v))


@pytest.mark.parametrize("pattern", ["R", "P", "RR", "PRPR"])
def test_a_last_link_without_mass(pattern: str):
    model = chain(pattern, 3, light=True).model
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


@pytest.mark.parametrize("pattern", [*patterns()[:30], "RRPRR", "PPRRR"])
def test_coefficients_are_christoffel_symbols(pattern: str):
    """D_mkj = (dM_mk/dq_j + dM_mj/dq_k - dM_kj/dq_m) / 2, derivatives by complex steps."""
    model = chain(pattern, 2).model
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
    D = bias_coefficients(chain(pattern).model, [0.3] * n)
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
        robot.compile("inertia_matrix", method="walker-orin", parameters="input")
    for method in (method for method in INERTIA if method.grouped):
        compiled = robot.compile("inertia_matrix", method=method.name, parameters="input", backend="interpreter")
        found = compiled(q, np.array(robot.parameters) + 0.01)
        changed = robot.model.with_parameters([(np.array(row) + 0.01).tolist() for row in robot.parameters])
        assert_close(found, crba(changed, q.tolist()))


def test_batches_and_complex_numbers():
    model = chain("RPRR").model
    q, v = np.random.default_rng(0).normal(size=(2, 3, 4))
    for method in INERTIA:
        found = gathered(method.function(model, scalars(q)), (3,))
        assert_close(found, [crba(model, row.tolist()) for row in q])
        step = np.array(method.function(model, list(q[0] + 1e-30j * v[0]))).imag
        assert_close(step, np.array(crba(model, list(q[0] + 1e-30j * v[0]))).imag)
    assert_close(gathered(bias(model, scalars(q), scalars(v)), (3,)), [bias(model, *x) for x in zip(q, v)])


@pytest.mark.parametrize("pattern", ["RRRRRR", "RRPRRR"])
def test_inertia_and_bias_share_what_they_have_in_common(pattern: str):
    """Asked for apart in one program, they cost as much as together: less than one after the other."""
    model, n = chain(pattern).model, len(pattern)

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
