"""``shared-axes`` on trees that mix every kind of joint: the forces of Newton-Euler, by no more operations."""

import numpy as np
import pytest
from hypothesis import given

import linkwork
from linkwork.formulations.parallel_axes import shared_axes
from linkwork.formulations.rnea import rnea
from linkwork.model import build, grouped
from linkwork.spatial import Force, Vector
from support.evaluate import assert_close
from support.mixed_trees import TREES, MixedRecipe, Places, joint_order, mixed, mixed_recipes, shuffled


@given(mixed_recipes(joints=8))
def test_every_kind_of_joint(recipe: MixedRecipe):
    model, rng = build(mixed(recipe)), np.random.default_rng(recipe.seed)
    places = Places(mixed(recipe), joint_order(model.coordinates.names))
    state = [vector.tolist() for vector in places.state(recipe.seed)]
    wrenches = {j: Force(Vector(*rng.normal(size=3)), Vector(*rng.normal(size=3))) for j, _ in model.outward()}
    expected = rnea(model, *state, wrenches)
    for seen in (model, grouped(model)):
        assert_close(shared_axes(seen, *state, wrenches), expected, tolerance=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_no_more_operations(name: str):
    assert_fewest(TREES[name])


@pytest.mark.parametrize("seed", range(6))
def test_no_more_operations_with_right_angles(seed: int):
    assert_fewest(MixedRecipe(seed, shuffled(seed), reach=1 + seed % 3, coordinate=True))


def assert_fewest(recipe: MixedRecipe) -> None:
    robot = linkwork.load(mixed(recipe), friction=False, rotors=False)
    for quantity, plain in (("inverse_dynamics", "rnea"), ("bias", "newton-euler")):
        ours, theirs = (
            robot.compile(quantity, method=method, backend="interpreter").operations
            for method in ("shared-axes", plain)
        )
        assert ours.mul + ours.add <= theirs.mul + theirs.add, quantity
