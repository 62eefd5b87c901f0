"""Fluid that bodies carry along: Kirchhoff's equations, in every quantity and by every method that takes it."""

from dataclasses import replace

import numpy as np
import pytest

from linkwork.errors import ModelError, UnsupportedError
from linkwork.forces import AddedMass
from linkwork.formulations import Problem, find_method, methods
from linkwork.model import build
from linkwork.spatial import Motion, Pose, Vector
from support.evaluate import assert_close, derivative, evaluate, rates
from support.random_robots import Recipe, describe, random_state

RECIPES = [Recipe(seed, 4, branches=True, floating=floating) for seed, floating in ((1, True), (2, False), (3, True))]


def wet(recipe: Recipe, **options):
    """A robot of which two links carry fluid, one of them twice."""
    rng = np.random.default_rng(recipe.seed)
    model = build(describe(recipe), friction=False, **options)
    names = [model.link_names[-1], model.link_names[-1], model.link_names[2]]
    laws = [AddedMass(*(tuple(part) for part in rng.uniform(0.1, 2, (3, 3)))) for _ in names]
    forces = tuple((model.frame(name), law) for name, law in zip(names, laws, strict=True))
    return replace(model, forces=forces), *random_state(model, recipe.seed)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.seed}")
def test_laws(recipe: Recipe):
    """Gravity does not know the fluid; the rest is Lagrange's equation of the kinetic energy."""
    model, q, v, a = wet(recipe)
    M, bias = evaluate(model, "inertia_matrix", q), evaluate(model, "bias", q, v)
    assert_close(evaluate(model, "kinetic_energy", q, v), v @ M @ v / 2)
    assert_close(evaluate(model, "inverse_dynamics", q, v, a), M @ a + bias, scale=np.abs(bias).max())
    assert_close(evaluate(model, "gravity", q), evaluate(replace(model, forces=()), "gravity", q))
    weightless = wet(recipe, gravity=(0, 0, 0))[0]
    C, scale = evaluate(weightless, "coriolis_matrix", q, v), np.abs(M).max() * np.abs(v).max()
    Mdot = derivative(lambda q: evaluate(model, "inertia_matrix", q), q, rates(model, q) @ v)
    assert_close(C + C.T, Mdot, scale=scale)
    assert_close(C @ v, evaluate(weightless, "bias", q, v), scale=scale)
    if not recipe.floating:
        slope = derivative(lambda q: evaluate(model, "kinetic_energy", q, v), q, np.eye(model.nv))
        assert_close(Mdot @ v - slope, C @ v, scale=scale)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.seed}")
def test_methods(recipe: Recipe):
    model, q, v, a = wet(recipe)
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    mobility = model.mobility
    seen = []
    for method in (*methods("inverse_dynamics"), *methods("forward_dynamics"), *methods("hybrid_dynamics")):
        if method.refusal(model):
            continue
        seen.append(method.name)
        problem = Problem(model, method.quantity, method)
        if method.quantity == "inverse_dynamics":
            assert_close(problem.evaluate(q, v, a)["tau"], tau)
        elif method.quantity == "forward_dynamics":
            assert_close(problem.evaluate(q, v, tau)["a"], a, tolerance=1e-10)
        else:
            driven, free = list(mobility.driven), list(mobility.free)
            found, rest = problem.evaluate(q, v, a[driven], tau[free]).values()
            assert_close(found, tau[list(mobility.motors)], tolerance=1e-10)
            if free:
                assert_close(rest, a[free], tolerance=1e-10)
    assert {"rnea", "shared-axes", "crba-ldl", "aba", "khalil", "blocks"} <= {*seen}
    with pytest.raises(UnsupportedError, match="carries fluid along"):
        find_method("forward_dynamics_derivatives", "singh-russell-wensing", model)


def test_munk():
    """A hull that glides askew is turned, by -v x p."""
    felt = AddedMass(mass=(1.0, 3.0, 5.0))(Pose.identity(), Motion(Vector(2.0, 0.5, 0.0)))
    assert list(felt.linear) == [0, 0, 0]
    assert list(felt.angular) == [0, 0, -(2.0 * 1.5 - 0.5 * 2.0)]


def test_strips():
    """Energy of a slender link as the integral over its sections."""
    law = AddedMass.slender(0.6, width=0.02, height=0.08, density=998.0)
    rng = np.random.default_rng(0)
    v, w = rng.normal(size=(2, 3))
    x, weights = np.polynomial.legendre.leggauss(4)
    x, weights = 0.3 * (1 + x), 0.3 * weights
    along_y, along_z = v[1] + w[2] * x, v[2] - w[1] * x
    circle = 998.0 * np.pi
    section = circle * (0.04**2 * along_y**2 + 0.01**2 * along_z**2 + (0.04**2 - 0.01**2) ** 2 / 8 * w[0] ** 2)
    V = Motion(Vector(*v), Vector(*w))
    assert_close(V.dot(law.added_inertia @ V), weights @ section)


@pytest.mark.parametrize("make", [lambda: AddedMass(mass=(-1.0, 0, 0)), lambda: AddedMass.slender(0, 1, 1)])
def test_refused(make):
    with pytest.raises(ModelError, match="out of range"):
        make()
