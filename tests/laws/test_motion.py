"""Forward dynamics undoes inverse dynamics; energy, momentum, poses and Jacobians change as the motion says."""

import numpy as np
import pytest
from hypothesis import given

from linkwork.formulations import methods
from linkwork.model import build
from support.evaluate import assert_close, cross_matrix, derivative, evaluate, is_refused, rates, rotation_of
from support.random_robots import Recipe, describe, random_state, recipes

FORWARD = [method.name for method in methods("forward_dynamics")]


def built(recipe: Recipe, **options):
    model = build(describe(recipe), **options)
    return model, *random_state(model, recipe.seed)


@pytest.mark.parametrize("method", FORWARD)
@given(recipe=recipes())
def test_forward_dynamics_undoes_inverse_dynamics(method: str, recipe: Recipe):
    model, q, v, a = built(recipe)
    wrenches = {"tool": a[:1] * np.ones(6), "link1": np.arange(6.0)}
    tau = evaluate(model, "inverse_dynamics", q, v, a, wrenches=wrenches)
    if is_refused(model, "forward_dynamics", method, wrenches=True):
        return
    found = evaluate(model, "forward_dynamics", q, v, tau, method=method, wrenches=wrenches)
    M = evaluate(model, "inertia_matrix", q)
    # A relative error of rounding in the forces is enlarged by the condition of M and no more.
    assert_close(found, a, tolerance=1e-14 * np.linalg.cond(M) + 1e-12)
    again = evaluate(model, "inverse_dynamics", q, v, found, wrenches=wrenches)
    assert_close(again, tau, scale=(np.abs(M) @ np.abs(a)).max())


@given(recipes())
def test_power_goes_into_energy_and_heat(recipe: Recipe):
    """tau . v = d/dt (T + V) + power of friction."""
    model, q, v, a = built(recipe)

    def energy(state):
        q, v = state[: model.nq], state[model.nq :]
        return evaluate(model, "kinetic_energy", q, v) + evaluate(model, "potential_energy", q)

    change = derivative(energy, np.concatenate([q, v]), np.concatenate([rates(model, q) @ v, a]))
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    rate = np.array(model.expand_rates(v.tolist()))
    joints = [model.joint(i) for i, _ in model.outward() for _ in model.freedoms(i)]
    heat = sum(j.viscous * u * u + j.coulomb * abs(u) for j, u in zip(joints, rate, strict=True))
    assert_close(change + heat, tau @ v, scale=np.abs(tau * v).sum())


@given(recipes())
def test_energy_of_a_free_robot_is_kept(recipe: Recipe):
    """The same for a motion that forward dynamics makes: without forces and friction nothing goes in or out."""
    model, q, v, _ = built(recipe, friction=False)
    a = evaluate(model, "forward_dynamics", q, v, np.zeros(model.nv))
    M, g = evaluate(model, "inertia_matrix", q), evaluate(model, "potential_energy", q)

    def energy(state):
        q, v = state[: model.nq], state[model.nq :]
        return evaluate(model, "kinetic_energy", q, v) + evaluate(model, "potential_energy", q)

    change = derivative(energy, np.concatenate([q, v]), np.concatenate([rates(model, q) @ v, a]))
    assert abs(change) <= 1e-12 * (np.abs(v) @ np.abs(M) @ np.abs(a) + abs(g))


@given(recipes(floating=True))
def test_momentum_changes_by_the_outer_wrench_only(recipe: Recipe):
    """Joint forces, friction and springs inside the robot move no momentum; gravity and a push do."""
    model, q, v, tau = built(recipe)
    tau[:6] = 0  # nothing acts on the base from outside
    wrench = np.arange(1.0, 7.0)
    a = evaluate(model, "forward_dynamics", q, v, tau, wrenches={"tool": wrench})
    state, direction = np.concatenate([q, v]), np.concatenate([rates(model, q) @ v, a])
    change = derivative(lambda s: evaluate(model, "momentum", s[: model.nq], s[model.nq :]), state, direction)

    mass = sum(body.inertia.mass for body in model.bodies)
    tool, center = evaluate(model, "pose", q, frame="tool"), evaluate(model, "center_of_mass", q)
    force, moment = tool[:3, :3] @ wrench[:3], tool[:3, :3] @ wrench[3:]
    net = [force + mass * np.array(list(model.gravity)), moment + np.cross(tool[:3, 3] - center, force)]
    M = evaluate(model, "inertia_matrix", q)
    assert_close(change, np.concatenate(net), scale=(np.abs(M) @ np.abs(a)).max())


@given(recipes(light=False))
def test_center_of_mass_moves_by_the_linear_momentum(recipe: Recipe):
    model, q, v, _ = built(recipe)
    mass = sum(body.inertia.mass for body in model.bodies)
    velocity = derivative(lambda q: evaluate(model, "center_of_mass", q), q, rates(model, q) @ v)
    assert_close(mass * velocity, evaluate(model, "momentum", q, v)[:3], scale=mass)


@given(recipes())
def test_jacobian_is_the_derivative_of_the_pose(recipe: Recipe):
    model, q, v, _ = built(recipe)
    for frame in ("tool", "link1", "base"):
        pose = evaluate(model, "pose", q, frame=frame)
        J = evaluate(model, "jacobian", q, frame=frame)
        change = derivative(lambda q, frame=frame: evaluate(model, "pose", q, frame=frame), q, rates(model, q) @ v)
        linear, angular = J[:3] @ v, J[3:] @ v
        assert_close(change[:3, 3], linear, scale=np.abs(v).max())
        assert_close(change[:3, :3], cross_matrix(angular) @ pose[:3, :3], scale=np.abs(v).max())
        local = evaluate(model, "jacobian", q, frame=frame, axes="local")
        turned = np.concatenate([pose[:3, :3].T @ J[:3], pose[:3, :3].T @ J[3:]])
        assert_close(local, turned, scale=1.0)


@pytest.mark.parametrize("axes", ["world", "local"])
@given(recipe=recipes())
def test_jacobian_drift_is_the_rate_of_the_jacobian_times_v(axes: str, recipe: Recipe):
    model, q, v, _ = built(recipe)
    for frame in ("tool", "link1", "base"):
        Jdot = derivative(
            lambda q, frame=frame: evaluate(model, "jacobian", q, frame=frame, axes=axes), q, rates(model, q) @ v
        )
        drift = evaluate(model, "jacobian_drift", q, v, frame=frame, axes=axes)
        assert_close(drift, Jdot @ v, scale=max(np.abs(Jdot).max(), 1.0))


@given(recipes(floating=True))
def test_quaternion_of_any_length_is_the_same_rotation(recipe: Recipe):
    model, q, v, a = built(recipe)
    unit = q.copy()
    unit[3:7] /= np.linalg.norm(q[3:7])
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    assert_close(evaluate(model, "inverse_dynamics", unit, v, a), tau)
    opposite = np.concatenate([q[:3], -q[3:7], q[7:]])
    assert_close(evaluate(model, "inverse_dynamics", opposite, v, a), tau)
    assert_close(evaluate(model, "pose", q, frame="base")[:3, :3], rotation_of(q[3:7]))
