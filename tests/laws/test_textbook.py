"""Random robots against Lagrange's equations on energies summed link by link (see ``support.textbook``)."""

import pytest
from hypothesis import given

from linkwork.formulations import methods
from linkwork.model import build
from support import textbook
from support.evaluate import assert_close, evaluate, is_refused
from support.random_robots import Recipe, describe, random_state, recipes

ROBOTS = recipes(joints=5, floating=False)


def expected_mass(description, model, q):
    G, o = textbook.coupling(description, model.joint_names)
    return (G.T @ textbook.inertia_matrix(description, G @ q + o) @ G).real


@pytest.mark.parametrize("method", [method.name for method in methods("inverse_dynamics")])
@given(recipe=ROBOTS)
def test_inverse_dynamics_is_lagranges(method: str, recipe: Recipe):
    description = describe(recipe)
    model = build(description)
    if is_refused(model, "inverse_dynamics", method):
        return
    q, v, a = random_state(model, recipe.seed)
    expected = textbook.inverse_dynamics(description, model.joint_names, q, v, a)
    # The two ways cancel different terms, so the inertial forces set the scale of their rounding.
    assert_close(evaluate(model, "inverse_dynamics", q, v, a, method=method), expected, scale=10.0)


@pytest.mark.parametrize("method", [method.name for method in methods("inertia_matrix")])
@given(recipe=ROBOTS)
def test_inertia_matrix_is_the_sum_over_jacobians(method: str, recipe: Recipe):
    description = describe(recipe)
    model = build(description)
    if is_refused(model, "inertia_matrix", method):
        return
    q, *_ = random_state(model, recipe.seed)
    assert_close(evaluate(model, "inertia_matrix", q, method=method), expected_mass(description, model, q))


@given(ROBOTS)
def test_potential_energy(recipe: Recipe):
    description = describe(recipe)
    model = build(description)
    G, o = textbook.coupling(description, model.joint_names)
    q, *_ = random_state(model, recipe.seed)
    # A fixed base has a constant potential energy, which linkwork leaves out.
    difference = [textbook.potential_energy(description, G @ x + o).real for x in (q, 0 * q)]
    actual = [evaluate(model, "potential_energy", x) for x in (q, 0 * q)]
    assert_close(actual[0] - actual[1], difference[0] - difference[1], scale=10.0)


@given(ROBOTS)
def test_poses_and_jacobians(recipe: Recipe):
    description = describe(recipe)
    model = build(description)
    G, o = textbook.coupling(description, model.joint_names)
    q, *_ = random_state(model, recipe.seed)
    for name, (_, R, p, J) in textbook.bodies(description, G @ q + o).items():
        pose = evaluate(model, "pose", q, frame=name)
        assert_close(pose[:3, :3], R.real)
        assert_close(pose[:3, 3], p.real, scale=1.0)
        assert pose[3].tolist() == [0, 0, 0, 1]
        assert_close(evaluate(model, "jacobian", q, frame=name), J.real @ G, scale=1.0)


@pytest.mark.parametrize("angle", ["1e-3", "1e-6", "1e-9", "parallel", "antiparallel", "coaxial"])
def test_long_chains_of_nearly_parallel_axes(angle: str):
    """The common normal of nearly parallel axes is far away; nothing may be lost to it."""
    description = describe(Recipe(seed=5, joints=12, relations=(angle,), kinds=("revolute",)))
    model = build(description)
    q, v, a = random_state(model)
    assert_close(evaluate(model, "inertia_matrix", q), expected_mass(description, model, q))
    expected = textbook.inverse_dynamics(description, model.joint_names, q, v, a)
    assert_close(evaluate(model, "inverse_dynamics", q, v, a), expected)
