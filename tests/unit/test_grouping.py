"""What each kind of joint counts to the parent: no force tells the difference, and nothing more could be moved."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

import linkwork
from linkwork.formulations.rnea import rnea
from linkwork.model import build, grouped
from linkwork.model.joints import JOINT_KINDS
from linkwork.parameters import base_parameters
from linkwork.spatial import Inertia
from support.evaluate import assert_close
from support.mixed_trees import KINDS, MixedRecipe, Places, joint_order, mixed, mixed_recipes
from support.pinocchio_tree import PinocchioTree

# parameters of a body that are its parent's as well
MOVED = {
    "revolute": 3, "continuous": 3, "prismatic": 6, "helical": 1, "universal": 1, "cylindrical": 1, "planar": 1,
    "spherical": 1, "floating": 0,
}  # fmt: skip


def pinocchios_rank(recipe: MixedRecipe, gravity: tuple[float, float, float] | None = None) -> int:
    """Of Pinocchio's regressor at random states: the number of parameters that act by themselves."""
    tree = PinocchioTree(mixed(recipe))
    if gravity is not None:
        tree.model.gravity.linear = np.array(gravity)
    rows = []
    for k in range(8 + 20 * tree.model.njoints // tree.model.nv):
        q, v, a = tree.places.state(1000 * recipe.seed + k)
        moving = tree.velocities(v), tree.velocities(a)
        rows.append(pin.computeJointTorqueRegressor(tree.model, tree.data, tree.positions(q), *moving).copy())
    Y = np.concatenate(list(map(np.atleast_2d, rows)))
    lengths = np.linalg.norm(Y, axis=0)
    sizes = np.linalg.svd(Y / np.maximum(lengths, 1e-3 * lengths.max()), compute_uv=False)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    assert sizes[rank - 1] > 1e-5 * sizes[0], "no clear gap"
    return rank


@pytest.mark.parametrize("kind", KINDS)
def test_largest_part_of_each_kind(kind: str):
    """Behind a floating body, where every other parameter acts."""
    recipe = MixedRecipe(seed=3, kinds=(kind,), floating=True)
    kept, moved = JOINT_KINDS[kind].grouped(Inertia.of(np.arange(1.0, 11.0)))
    assert sum(value != 0 for value in kept) == 10 - MOVED[kind]
    assert [x + y for x, y in zip(kept, moved)] == list(range(1, 11))
    assert pinocchios_rank(recipe) == 20 - MOVED[kind]


@given(mixed_recipes(joints=7))
def test_joint_forces_stay_the_same(recipe: MixedRecipe):
    model = build(mixed(recipe))
    places = Places(mixed(recipe), joint_order(model.coordinates.names))
    state = [vector.tolist() for vector in places.state(recipe.seed)]
    assert_close(rnea(grouped(model), *state), rnea(model, *state), tolerance=1e-12)


@pytest.mark.parametrize("gravity", [None, (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)], ids=["any", "along z", "none"])
@pytest.mark.parametrize("seed", range(20))
def test_number_of_base_parameters(seed: int, gravity):
    """Of random trees as many as Pinocchio's regressor has rank, and they tell the forces."""
    rng = np.random.default_rng(seed)
    kinds = tuple(rng.choice(KINDS, rng.integers(1, 5)).tolist())
    recipe = MixedRecipe(seed, kinds, reach=1 + seed % 3, coordinate=seed % 2 == 1, floating=seed % 7 == 3)
    robot = linkwork.load(mixed(recipe), gravity=gravity)
    base = base_parameters(robot.model, drives=False)
    assert len(base) == base.rank == pinocchios_rank(recipe, gravity)
    places = Places(mixed(recipe), joint_order(robot.model.coordinates.names))
    state = places.state(seed)
    Y = robot.compile("regressor", parameters="minimal", backend="interpreter")(*state)
    expected = robot.compile("inverse_dynamics", method="rnea", backend="interpreter")(*state)
    assert_close(Y @ base.values, expected, tolerance=1e-12)
    assert len(base.written) == len(base)


@pytest.mark.parametrize("seed", range(6))
def test_rotors_and_friction(seed: int):
    """Those of every freedom: a rotor of a ball joint on the ground is felt as an inertia of the ball, and so on."""
    recipe = MixedRecipe(seed, (KINDS[3 + seed], "revolute"), reach=1 + seed % 2, extras=True)
    robot = linkwork.load(mixed(recipe))
    base = base_parameters(robot.model)
    assert len(base) == base.rank < len(base.standard)
    state = Places(mixed(recipe), joint_order(robot.model.coordinates.names)).state(seed)
    Y = robot.compile("regressor", parameters="minimal", backend="interpreter")(*state)
    assert_close(Y @ base.values, robot.compile("inverse_dynamics", backend="interpreter")(*state), tolerance=1e-12)


def test_rules_tell_all_behind_a_floating_body():
    """Whatever the joints are; on the ground numbers tell the rest."""
    kinds = ("spherical", "planar", "universal")
    free, held = (linkwork.load(mixed(MixedRecipe(1, kinds, floating=floating))) for floating in (True, False))
    assert len(base_parameters(free.model)) == 10 + 9 + 9 + 9
    assert len(base_parameters(held.model)) == 9 + 9 + 9
    on_a_plane = linkwork.load(mixed(MixedRecipe(1, ("planar",))))
    assert base_parameters(on_a_plane.model).names == ("M1", "MX1", "MY1", "ZZ1")


def test_lin_is_for_revolute_and_prismatic_joints():
    robot = linkwork.load(mixed(MixedRecipe(1, ("revolute", "spherical"))))
    with pytest.raises(linkwork.UnsupportedError, match="joint2"):
        base_parameters(robot.model, "lin")
