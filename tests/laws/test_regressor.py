"""Joint forces are linear in the dynamic parameters: tau = Y theta, for every robot and every choice of parameters."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import linkwork
from linkwork.formulations.regressor import Parameter, parameter_values, regressor, standard_parameters
from linkwork.identify.regression.unknowns import with_standard
from linkwork.model import build
from linkwork.parameters import parameter_vector
from linkwork.parameters.rank import stacked
from linkwork.program import Port, count, interpret, optimize, trace
from linkwork.spatial import Inertia
from support.evaluate import assert_close, evaluate, gathered, scalars
from support.random_robots import RELATIONS, Recipe, describe, random_state, recipes

EXACT = tuple(relation for relation in RELATIONS if not relation.startswith("1e"))


def forces(model, vector, state) -> np.ndarray:
    """Y theta"""
    Y = gathered(regressor(model, *map(scalars, state), vector.columns, vector.in_links), state[0].shape[:-1])
    return Y @ vector.values


def state_of(model, seed: int = 0):
    """Random, but closed at home where there are loops."""
    q, v, a = random_state(model, seed)
    return (np.array(model.home) if model.permanent else q), v, a


@given(recipes(joints=5))
def test_standard_parameters_of_random_trees(recipe):
    model = build(describe(recipe))
    state = random_state(model, recipe.seed)
    tau = evaluate(model, "inverse_dynamics", *state)
    bodies = standard_parameters(model)
    in_bodies = gathered(regressor(model, *map(scalars, state), bodies)) @ parameter_values(model, bodies)
    scale = np.abs(tau).max()
    for found in (forces(model, parameter_vector(model), state), in_bodies):
        assert_close(found, tau, scale=scale)


@given(recipes(joints=5, mimic=False))
def test_minimal_parameters_of_random_trees(recipe):
    relations = tuple(relation if relation in EXACT else "parallel" for relation in recipe.relations)
    for gravity in (None, (0, 0, -9.81)):
        model = build(describe(replace(recipe, relations=relations)), gravity=gravity)
        state = random_state(model, recipe.seed)
        assert_close(
            forces(model, parameter_vector(model, "minimal"), state), evaluate(model, "inverse_dynamics", *state)
        )


@pytest.mark.parametrize("name", linkwork.bundled_robots())
def test_bundled_robots(name: str):
    robot = linkwork.load(name)
    model = replace(robot.model, forces=())
    state = state_of(model)
    tau = evaluate(model, "inverse_dynamics", *state)
    standard = parameter_vector(model)
    assert np.array_equal(standard.values[: 10 * model.n_bodies], np.ravel(robot.parameters))
    scale = np.abs(tau).max()
    if any(body.joint.kind.modes for body in model.bodies):  # forces are linear in them, and modes have forces besides
        tau = tau - evaluate(with_standard(model, dict.fromkeys(standard.names, 0.0)), "inverse_dynamics", *state)
    assert_close(forces(model, standard, state), tau, scale=scale)
    # loops are closed to 1e-12 or so, and reduced by numbers
    minimal = forces(model, parameter_vector(model, "minimal"), state)
    assert_close(minimal, tau, scale=scale, tolerance=1e-11 if model.permanent else 1e-12)


@pytest.mark.parametrize("name", ["four-bar", "delta", "3rrr", "parallelogram"])
def test_closed_mechanisms_away_from_home(name: str):
    robot = linkwork.load(name)
    model = robot.model
    q = np.array([model.home[k] for k in model.mobility.independent]) + 0.1
    q = robot.assemble(q).require()
    _, v, a = random_state(model, 3)
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    assert_close(forces(model, parameter_vector(model), (q, v, a)), tau)
    assert_close(forces(model, parameter_vector(model, "minimal"), (q, v, a)), tau, tolerance=1e-11)


def test_mimic_joints():
    model = build(describe(Recipe(seed=4, joints=4, extras=True, branches=True, mimic=True)))
    assert model.has_mimic
    state = random_state(model, 5)
    tau = evaluate(model, "inverse_dynamics", *state)
    assert_close(forces(model, parameter_vector(model, "minimal"), state), tau)


def test_a_column_is_the_force_of_that_parameter_alone():
    """The column of a body's parameter: inverse dynamics of a robot that has only this one."""
    model = linkwork.load("stanford", rotors=False).model
    state = random_state(model, 1)
    columns = standard_parameters(model)
    Y = gathered(regressor(model, *map(scalars, state), columns))
    for k in range(0, 60, 7):
        alone = model.with_inertias([Inertia.of(row) for row in np.eye(60)[k].reshape(6, 10).tolist()])
        assert_close(Y[:, k], evaluate(alone, "inverse_dynamics", *state), scale=1.0)


def test_what_a_joint_has_of_its_own():
    model = linkwork.load("puma560").model
    (q, v, a), asked = random_state(model, 2), [Parameter(3, element) for element in ("IA", "FS", "FV", "K")]
    Y = gathered(regressor(model, q.tolist(), v.tolist(), a.tolist(), asked))
    assert Y[2].tolist() == [a[2], np.sign(v[2]), v[2], q[2] - model.joint(3).rest]
    assert not np.delete(Y, 2, axis=0).any()


@pytest.mark.parametrize("parameters", ["standard", "minimal"])
def test_traced_as_a_straight_line(parameters: str):
    model = linkwork.load("stanford").model
    vector = parameter_vector(model, parameters)
    ports = [Port(name, (model.nv,)) for name in "qva"]
    run = lambda *state: {"Y": regressor(model, *state, vector.columns, vector.in_links)}  # noqa: E731
    program = optimize(trace("regressor", run, ports))
    state = random_state(model, 3)
    (Y,) = interpret(program, state)
    assert_close(Y @ vector.values, evaluate(model, "inverse_dynamics", *state))
    assert count(program).instructions < (700 if parameters == "minimal" else 1000)


def test_batches():
    model = linkwork.load("panda").model
    states = [np.stack(x) for x in zip(*(random_state(model, seed) for seed in range(3)))]
    vector = parameter_vector(model, "minimal")
    assert_close(forces(model, vector, states), evaluate(model, "inverse_dynamics", *states))
    assert stacked(model, vector.columns).shape[1] == len(vector.names)
