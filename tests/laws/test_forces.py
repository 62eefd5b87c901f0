"""Inertia, gravity, Coriolis forces, friction, springs and wrenches, by the laws that bind them together.

Derivatives are complex steps through the formulations themselves, so nothing is lost to differences and the tolerance
is that of rounding.
"""

import numpy as np
from hypothesis import given

from linkwork.model import build
from support.evaluate import assert_close, derivative, evaluate, rates
from support.random_robots import Recipe, describe, random_state, recipes


def built(recipe: Recipe, **options):
    model = build(describe(recipe), **options)
    return model, *random_state(model, recipe.seed)


@given(recipes())
def test_inertia_matrix_is_the_derivative_of_force_by_acceleration(recipe: Recipe):
    model, q, v, a = built(recipe)
    M = evaluate(model, "inertia_matrix", q)
    slope = derivative(lambda a: evaluate(model, "inverse_dynamics", q, v, a), a, np.eye(model.nv))
    assert_close(slope, M)
    bias = evaluate(model, "bias", q, v)
    assert_close(evaluate(model, "inverse_dynamics", q, v, a), M @ a + bias, scale=np.abs(bias).max())


@given(recipes())
def test_inertia_matrix_is_symmetric_and_positive_definite(recipe: Recipe):
    model, q, v, _ = built(recipe)
    M = evaluate(model, "inertia_matrix", q)
    # G^T M G of mimic joints sums in another order above the diagonal than below
    assert_close(M, M.T, tolerance=1e-14 if model.has_mimic else 0)
    assert (np.linalg.eigvalsh(M) > 0).all()
    assert_close(evaluate(model, "kinetic_energy", q, v), v @ M @ v / 2)


@given(recipes())
def test_gravity_is_the_gradient_of_potential_energy(recipe: Recipe):
    model, q, *_ = built(recipe)
    gradient = derivative(lambda q: evaluate(model, "potential_energy", q), q, rates(model, q).T)
    springs = evaluate(build(describe(recipe), gravity=(0, 0, 0), friction=False), "bias", q, np.zeros(model.nv))
    gravity = evaluate(model, "gravity", q)
    assert_close(gravity + springs, gradient, scale=np.abs(gravity).max())


@given(recipes(extras=False))
def test_gravity_is_linear_in_the_gravity_vector(recipe: Recipe):
    model, q, *_ = built(recipe)
    parts = [evaluate(build(describe(recipe), gravity=axis), "gravity", q) for axis in np.eye(3)]
    expected = np.array(list(model.gravity)) @ parts
    assert_close(evaluate(model, "gravity", q), expected, scale=10 * np.abs(parts).max())


@given(recipes())
def test_coriolis_matrix(recipe: Recipe):
    """C v is the force of the velocities alone, and Mdot = C + C^T, which is Mdot - 2 C skew-symmetric."""
    model, q, v, _ = built(recipe, gravity=(0, 0, 0), friction=False)
    C = evaluate(model, "coriolis_matrix", q, v)
    springs = evaluate(model, "bias", q, 0 * v)
    scale = np.abs(evaluate(model, "inertia_matrix", q)).max() * np.abs(v).max()
    assert_close(C @ v + springs, evaluate(model, "bias", q, v), scale=scale)
    Mdot = derivative(lambda q: evaluate(model, "inertia_matrix", q), q, rates(model, q) @ v)
    assert_close(C + C.T, Mdot, scale=scale)


@given(recipes())
def test_bias_is_the_sum_of_its_parts(recipe: Recipe):
    description = describe(recipe)
    model, q, v, _ = built(recipe)
    tree_q, tree_v = model.expand(q.tolist()), model.expand_rates(v.tolist())
    own = np.zeros(model.n_tree)  # springs and friction, joint by joint from the description
    joints = {joint.name: joint for joint in description.joints}
    for i, _ in model.outward():
        if not model.joint(i).kind.free:
            joint, (k,), (at,) = joints[model.joint(i).name], model.freedoms(i), model.positions(i)
            own[k] = joint.viscous * tree_v[k] + joint.coulomb * np.sign(tree_v[k])
            own[k] += joint.stiffness * (tree_q[at] - joint.rest)
    parts = [evaluate(model, "coriolis_matrix", q, v) @ v, evaluate(model, "gravity", q), model.collect(own.tolist())]
    assert_close(evaluate(model, "bias", q, v), sum(map(np.array, parts)), scale=np.abs(np.concatenate(parts)).max())


@given(recipes(extras=True))
def test_friction_and_rotors_can_be_left_out(recipe: Recipe):
    model, q, v, a = built(recipe)
    G = np.array([model.expand_rates(e) for e in np.eye(model.nv)]).T  # from v to tree rates
    rate = G @ v
    one = [joint for i, _ in model.outward() for joint in [model.joint(i)] for _ in model.freedoms(i)]
    smooth = build(describe(recipe), friction=False)
    full = evaluate(model, "inverse_dynamics", q, v, a)
    friction = G.T @ [joint.viscous * u + joint.coulomb * np.sign(u) for joint, u in zip(one, rate, strict=True)]
    assert np.abs(friction).max() > 0.01
    assert_close(full - evaluate(smooth, "inverse_dynamics", q, v, a), friction, scale=np.abs(full).max())

    bare = build(describe(recipe), rotors=False)
    rotors = G.T @ np.diag([joint.rotor_inertia for joint in one]) @ G
    assert np.abs(rotors).max() > 0.01
    M = evaluate(model, "inertia_matrix", q)
    assert_close(M - evaluate(bare, "inertia_matrix", q), rotors, scale=np.abs(M).max())
    assert_close(full - evaluate(bare, "inverse_dynamics", q, v, a), rotors @ a, scale=np.abs(full).max())


@given(recipes())
def test_wrenches_act_through_the_jacobian(recipe: Recipe):
    model, q, v, a = built(recipe)
    rng = np.random.default_rng(recipe.seed)
    wrenches = {name: rng.uniform(-5, 5, 6) for name in ("tool", "link1", "base")}
    pushed = sum(evaluate(model, "jacobian", q, frame=name, axes="local").T @ w for name, w in wrenches.items())
    for quantity, inputs in (("inverse_dynamics", (q, v, a)), ("bias", (q, v))):
        free = evaluate(model, quantity, *inputs)
        loaded = evaluate(model, quantity, *inputs, wrenches=wrenches)
        assert_close(free - loaded, pushed, scale=np.abs(free).max())
