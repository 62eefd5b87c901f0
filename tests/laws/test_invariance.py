"""The same robot said in another way has the same dynamics: another world frame, mimic or locked joints, a file."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from linkwork.io import read, write
from linkwork.model import Description, JointDescription, Link, Placement, build
from linkwork.model import describe as describe_model
from support import textbook
from support.evaluate import assert_close, evaluate, rotation_of
from support.random_robots import Recipe, describe, random_rotation, random_state, recipes


def assert_same_dynamics(model, other, q, v, a, other_q=None) -> None:
    """At the same joint positions; a floating base may stand elsewhere (``other_q``)."""
    other_q = q if other_q is None else other_q
    assert model.joint_names == other.joint_names
    M = evaluate(model, "inertia_matrix", q)
    assert_close(evaluate(other, "inertia_matrix", other_q), M)
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    assert_close(evaluate(other, "inverse_dynamics", other_q, v, a), tau, scale=(np.abs(M) @ np.abs(a)).max())


@given(recipes(floating=False))
def test_another_root(recipe: Recipe):
    """A new root link carries the robot on a fixed joint; gravity is told in its axes."""
    description, rng = describe(recipe), np.random.default_rng(recipe.seed)
    place = Placement(random_rotation(rng), rng.uniform(-1, 1, 3))
    mounted = replace(
        description,
        links=(*description.links, Link("table")),
        joints=(*description.joints, JointDescription("screwed", "fixed", "table", "base", place)),
        gravity=tuple(place.rotation @ description.gravity),
    )
    model, moved = build(description), build(mounted)
    q, v, a = random_state(model, recipe.seed)
    assert_same_dynamics(model, moved, q, v, a)
    expected = np.block([[place.rotation, place.translation[:, None]], [np.zeros(3), 1]])
    assert_close(
        evaluate(moved, "pose", q, frame="tool"), expected @ evaluate(model, "pose", q, frame="tool"), scale=1.0
    )


@given(recipes(floating=True))
def test_another_world_frame_of_a_floating_robot(recipe: Recipe):
    description, rng = describe(recipe), np.random.default_rng(recipe.seed)
    x, y, z, w = turn = rng.normal(size=4)
    place = Placement(rotation_of(turn), rng.uniform(-1, 1, 3))
    moved = build(description, gravity=place.rotation @ description.gravity)
    model = build(description)
    q, v, a = random_state(model, recipe.seed)
    left = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])  # product of quaternions from left
    elsewhere = np.concatenate([place.rotation @ q[:3] + place.translation, left @ q[3:7], q[7:]])
    assert_same_dynamics(model, moved, q, v, a, elsewhere)


@given(recipes(mimic=True, floating=False, joints=7))
def test_mimic_robot_is_the_full_robot_constrained(recipe: Recipe):
    description = describe(recipe)
    model, full = build(description), build(description, mimic=False)
    q, v, a = random_state(model, recipe.seed)
    tree = [joint.name for joint in textbook.moving(description)]
    G, o = textbook.coupling(description, model.joint_names)
    order = [tree.index(name) for name in full.joint_names]  # full is depth first, tree in the order of the file
    G, o = G[order], o[order]
    states = G @ q + o, G @ v, G @ a
    M, tau = evaluate(full, "inertia_matrix", states[0]), evaluate(full, "inverse_dynamics", *states)
    scale = np.abs(G.T @ np.abs(tau)).max()
    assert_close(evaluate(model, "inertia_matrix", q), G.T @ M @ G, scale=np.abs(M).max())
    assert_close(evaluate(model, "inverse_dynamics", q, v, a), G.T @ tau, scale=scale)
    assert_close(evaluate(model, "gravity", q), G.T @ evaluate(full, "gravity", states[0]), scale=scale)
    C = evaluate(full, "coriolis_matrix", *states[:2])
    assert_close(evaluate(model, "coriolis_matrix", q, v), G.T @ C @ G, scale=np.abs(C).max() + np.abs(M).max())
    for energy, inputs in (("kinetic_energy", 2), ("potential_energy", 1)):
        expected = evaluate(full, energy, *states[:inputs])
        assert_close(evaluate(model, energy, *(q, v)[:inputs]), expected, scale=10.0)
    J = evaluate(full, "jacobian", states[0], frame="tool")
    assert_close(evaluate(model, "jacobian", q, frame="tool"), J @ G, scale=1.0)
    drift = evaluate(full, "jacobian_drift", *states[:2], frame="tool")
    assert_close(evaluate(model, "jacobian_drift", q, v, frame="tool"), drift, scale=10.0)


@given(recipes(mimic=False, joints=7))
def test_locked_joints_stand_still(recipe: Recipe):
    description = describe(recipe)
    full = build(description)
    q, v, a = random_state(full, recipe.seed)
    names = full.joint_names
    locked = names[recipe.seed % 2 :: 2]
    model = build(description, lock={name: q[full.nq - len(names) + names.index(name)] for name in locked})
    assert model.joint_names == tuple(name for name in names if name not in locked)
    base = full.nv - len(names)
    kept = [*range(base), *(base + k for k, name in enumerate(names) if name not in locked)]
    still = np.isin(np.arange(full.nv), kept)
    tau = evaluate(full, "inverse_dynamics", q, v * still, a * still)
    q_kept = np.concatenate([q[: full.nq - len(names)], q[full.nq - len(names) :][still[base:]]])
    M = evaluate(full, "inertia_matrix", q)
    assert_close(
        evaluate(model, "inverse_dynamics", q_kept, v[kept], a[kept]), tau[kept], scale=(np.abs(M) @ np.abs(a)).max()
    )
    if kept:
        assert_close(evaluate(model, "inertia_matrix", q_kept), M[np.ix_(kept, kept)])
    assert_close(evaluate(model, "pose", q_kept, frame="tool"), evaluate(full, "pose", q, frame="tool"), scale=1.0)


@given(recipes(mimic=True, joints=7, floating=False))
def test_locking_a_leader_locks_its_followers(recipe: Recipe):
    description = describe(recipe)
    full = build(description)
    q, *_ = random_state(full, recipe.seed)
    model = build(description, lock={full.joint_names[0]: q[0]})
    assert model.joint_names == full.joint_names[1:]
    assert_close(evaluate(model, "pose", q[1:], frame="tool"), evaluate(full, "pose", q, frame="tool"), scale=1.0)


@pytest.mark.parametrize("suffix", ["", ".urdf", ".yaml"])
@given(recipe=recipes())
def test_written_and_read_again(tmp_path_factory, suffix: str, recipe: Recipe):
    """From Model to Description, as the writers see it, and through the files they write."""
    model = build(describe(recipe))
    again: Description = describe_model(model)
    if suffix:
        path = tmp_path_factory.mktemp("written") / f"robot{suffix}"
        write(again, path)
        again = read(path)
    other = build(again)
    q, v, a = random_state(model, recipe.seed)
    assert_same_dynamics(model, other, q, v, a)
    # ``describe`` merges what is fixed to the ground, and keeps every link as a frame
    for frame in ("tool", "link1", "base"):
        assert_close(evaluate(other, "pose", q, frame=frame), evaluate(model, "pose", q, frame=frame), scale=1.0)
