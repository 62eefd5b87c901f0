"""Hollerbach's seven formulations with all that joints may have, and identities of the paper; see test_methods.py."""

import numpy as np
import pytest

import linkwork
from linkwork.errors import UnsupportedError
from linkwork.formulations import hollerbach
from linkwork.formulations.distal_chain import DistalChain
from linkwork.formulations.hollerbach.configuration_space import coefficients
from linkwork.formulations.hollerbach.hollerbach_3x3 import accelerations
from linkwork.formulations.hollerbach.matrices import Links3, Links4, zeros
from linkwork.formulations.hollerbach.waters import motion
from linkwork.model import build
from support.evaluate import STEP, assert_close, evaluate
from support.random_robots import RELATIONS, Recipe, describe, random_state, serial

METHODS = [method.name for method in hollerbach.METHODS]


@pytest.mark.parametrize("seed", range(12))
def test_rotors_friction_mimic_and_massless_links(seed: int):
    recipe = Recipe(
        seed=seed, joints=1 + seed % 6, relations=(RELATIONS[seed % 9], "skew"), extras=True, fixed=seed % 2 == 0,
        mimic=seed % 3 == 0, light=seed % 4 == 0,
    )  # fmt: skip
    model = build(describe(recipe))
    state = random_state(model, seed)
    expected = evaluate(model, "inverse_dynamics", *state, method="rnea")
    for method in METHODS:
        assert_close(evaluate(model, "inverse_dynamics", *state, method=method), expected)


def test_a_tree_is_refused():
    with pytest.raises(UnsupportedError, match="serial chains"):
        linkwork.compile(linkwork.load("quadruped", base="fixed"), "inverse_dynamics", method="waters")


def numbers(matrix) -> np.ndarray:
    return np.array(matrix.rows, dtype=complex)


# -- identities ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["R", "P", "RR", "PR", "RRR", "RPR", "RRPR", "PRRPR", "RRRRRR"])
def test_coefficients_of_configuration_space(pattern: str):
    model = build(serial(pattern, relations=("skew", "parallel"), extras=True), friction=False)
    n = range(len(pattern))
    q = random_state(model)[0]
    G, J, C = (np.array(part, dtype=float) for part in coefficients(model, q.tolist()))
    assert_close(G, evaluate(model, "gravity", q))
    assert_close(J, evaluate(model, "inertia_matrix", q))
    assert (C.transpose(0, 2, 1) == C).all()
    assert all(C[i, i, j] == 0 for i in n for j in range(i + 1))
    assert all(C[i, j, k] == -C[k, j, i] for i in n for k in n for j in range(min(i, k) + 1))
    # Christoffel symbols of J
    dJ = np.array(
        [
            np.imag(np.array(coefficients(model, (q + 1j * STEP * e).tolist())[1], complex)) / STEP
            for e in np.eye(len(q))
        ]
    )
    christoffel = 0.5 * (np.einsum("kij->ijk", dJ) + np.einsum("jik->ijk", dJ) - np.einsum("ijk->ijk", dJ))
    assert_close(C, christoffel, scale=float(np.abs(J).max()))


@pytest.mark.parametrize("pattern", ["R", "P", "PR", "RRR", "RPRR", "RRRRRR"])
def test_sum_over_links_with_3x3_matrices(pattern: str):
    """(15) with dW_j/dq_i and dp_j/dq_i by complex steps, gravity corrected."""
    model = build(serial(pattern))
    q, v, a = (x.tolist() for x in random_state(model))
    links = Links3(DistalChain(model), q)
    W, Wd, Wdd = motion(links, v, a)
    pdd = accelerations(links, W, Wd, Wdd, v, a, base=zeros(3, 1))
    F = []
    for i in range(len(q)):
        moved = Links3(DistalChain(model), [x + 1j * STEP * (k == i) for k, x in enumerate(q)])
        turned, p, total = motion(moved, [0] * len(q), [0] * len(q))[0], np.zeros((3, 1), complex), 0.0
        for j in range(1, links.n + 1):
            p = p + numbers(turned[j] @ moved.p[j])
            dW, dp = numbers(turned[j]).imag / STEP, p.imag / STEP
            m, n, J = links.m[j], numbers(links.mr[j]).real, numbers(links.J[j]).real
            acc, Acc = numbers(pdd[j]).real, numbers(Wdd[j]).real
            total += np.trace(m * dp @ acc.T + dp @ n.T @ Acc.T + dW @ n @ acc.T + dW @ J @ Acc.T)
            total -= (numbers(links.g).real.T @ (m * dp + dW @ n)).item()
        F.append(total)
    assert_close(F, evaluate(model, "inverse_dynamics", np.array(q), np.array(v), np.array(a), method="rnea"))


@pytest.mark.parametrize("pattern", ["R", "PR", "RRR", "RPRR", "RRRRRR"])
def test_kinetic_energy(pattern: str):
    """(A5): K = 1/2 sum tr(m pd pd^T + 2 Wd n pd^T + Wd J Wd^T), and with 4x4 matrices 1/2 sum tr(Wd J Wd^T)."""
    model = build(serial(pattern))
    q, v, a = (x.tolist() for x in random_state(model))
    four, three = Links4(DistalChain(model), q), Links3(DistalChain(model), q)
    Wd4, (W3, Wd3, _) = motion(four, v, a)[1], motion(three, v, a)
    pd, K3, K4 = np.zeros((3, 1)), 0.0, 0.0
    for j in range(1, four.n + 1):
        pd = pd + numbers(Wd3[j] @ three.p[j])
        if j in three.slides:
            pd = pd + numbers(W3[j] @ three.z[j]) * v[j - 1]
        Wd, n, J = numbers(Wd3[j]), numbers(three.mr[j]), numbers(three.J[j])
        K3 += 0.5 * np.trace(three.m[j] * pd @ pd.T + 2 * Wd @ n @ pd.T + Wd @ J @ Wd.T)
        K4 += 0.5 * np.trace(numbers(Wd4[j] @ four.J[j] @ Wd4[j].T))
    expected = evaluate(model, "kinetic_energy", np.array(q), np.array(v))
    assert_close(K3, expected)
    assert_close(K4, expected)
