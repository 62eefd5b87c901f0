"""Khalil's inverse and direct models, and the form with the fewest operations, against Newton-Euler and Pinocchio."""

from dataclasses import replace
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

import linkwork
from linkwork.formulations import find_method, methods
from linkwork.formulations.aba import aba
from linkwork.formulations.crba import crba
from linkwork.formulations.khalil import khalil, khalil_direct, khalil_kleinfinger
from linkwork.formulations.parallel_axes import second_moments, shared_axes
from linkwork.formulations.rnea import rnea
from linkwork.io import read
from linkwork.spatial import Force, Vector
from support.evaluate import assert_close, evaluate
from support.pinocchio_robot import PinocchioRobot
from support.random_robots import Recipe, describe, random_state, recipes, serial

TOLERANCE = 1e-12
BUNDLED = ("planar2r", "scara", "puma560", "stanford", "rx90", "ur5e", "panda", "quadruped")
FILES = {path.name: path for path in map(Path, map(str, (f.locate() for f in files("example-robot-data") or ())))}


def robot_of(pattern: str, seed: int, *relations, **more) -> linkwork.Robot:
    return linkwork.load(serial(pattern, seed, *relations, **more))


def lists(*vectors) -> list[list[float]]:
    return [list(map(float, vector)) for vector in vectors]


def wrenches_on(model, seed: int = 0) -> dict[int, Force]:
    rng = np.random.default_rng(seed)
    return {i: Force(Vector(*rng.normal(size=3)), Vector(*rng.normal(size=3))) for i in range(1, model.n_bodies + 1)}


@given(recipes(joints=7, mimic=False))
def test_random_trees_with_wrenches(recipe):
    model = linkwork.load(describe(recipe)).model
    q, v, a = lists(*random_state(model, recipe.seed))
    wrenches = wrenches_on(model, recipe.seed)
    expected = rnea(model, q, v, a, wrenches)
    assert_close(shared_axes(model, q, v, a, wrenches), expected, tolerance=TOLERANCE)
    if not model.moving_base:
        for function in (khalil, khalil_kleinfinger):
            assert_close(function(model, q, v, a, wrenches), expected, tolerance=TOLERANCE)
        qdd = aba(model, q, v, expected, wrenches)
        condition = np.linalg.cond(crba(model, q))
        found = khalil_direct(model, q, v, expected, wrenches)
        assert_close(found, qdd, scale=1.0, tolerance=TOLERANCE + 1e-15 * condition)


@pytest.mark.parametrize("method", ["khalil", "khalil-kleinfinger", "shared-axes"])
def test_mimic_joints(method: str):
    model = linkwork.load(describe(Recipe(seed=4, joints=5, branches=True, mimic=True))).model
    assert model.has_mimic
    state = random_state(model)
    assert_close(
        evaluate(model, "inverse_dynamics", *state, method=method), evaluate(model, "inverse_dynamics", *state)
    )


@pytest.mark.parametrize("pattern", ["RRR", "PRPR", "RRPRRP"])
def test_friction_of_khalil_is_the_quantitys(pattern: str):
    """(31) and (44) with friction give what the catalog adds around the method."""
    model = robot_of(pattern, 3, branches=True, extras=True).model
    still = tuple(replace(b, joint=replace(b.joint, stiffness=0.0)) for b in model.bodies)  # springs are not in (31)
    model = replace(model, bodies=still)
    q, v, a = lists(*random_state(model))
    tau = evaluate(model, "inverse_dynamics", q, v, a, method="khalil")
    assert_close(khalil(model, q, v, a, friction=True), tau)
    assert_close(khalil_direct(model, q, v, list(tau), friction=True), a, tolerance=1e-11)
    rotors = [model.joint(i).rotor_inertia * a[i - 1] for i in range(1, len(a) + 1)]
    bare = tuple(replace(b, joint=replace(b.joint, rotor_inertia=0.0)) for b in model.bodies)
    assert_close(np.array(khalil(replace(model, bodies=bare), q, v, a, friction=True)) + rotors, tau)
    assert all(rotors)


def test_friction_at_rest_is_zero():
    model = robot_of("RPR", 3, extras=True).model
    q, _, a = lists(*random_state(model))
    assert_close(khalil(model, q, [0.0] * 3, a, friction=True), khalil(model, q, [0.0] * 3, a))


def test_wrenches_are_not_changed():
    """(29), (30) accumulate: a second call with the same wrenches gives the same numbers."""
    model = robot_of("RRP", 1, branches=True).model
    q, v, a = lists(*random_state(model))
    wrenches = wrenches_on(model)
    for function in (khalil, khalil_kleinfinger, shared_axes, khalil_direct):
        assert function(model, q, v, a, wrenches) == function(model, q, v, a, wrenches)
    assert_close([x for f in wrenches.values() for x in f], [x for f in wrenches_on(model).values() for x in f])


def test_pinocchios_external_forces_act_on_the_body_too(tmp_path):
    robot = robot_of("RPRR", 2, branches=True)
    robot.write(tmp_path / "robot.urdf")
    peer = PinocchioRobot((tmp_path / "robot.urdf").read_text(), robot.model)
    state = random_state(robot.model)
    wrench = np.array([1.0, -2.0, 3.0, 0.5, 0.7, -1.1])
    link = robot.link_names[-1]
    frame = peer.model.frames[peer.model.getFrameId(link, pin.FrameType.BODY)]
    forces = [pin.Force.Zero() for _ in peer.model.joints]
    forces[frame.parentJoint] = frame.placement.act(pin.Force(wrench))
    q, v, a = state
    tau = pin.rnea(peer.model, peer.data, peer.q(q), peer.v(v), peer.v(a), forces)[peer.order]
    for method in ("khalil", "khalil-kleinfinger", "shared-axes"):
        found = evaluate(robot.model, "inverse_dynamics", *state, method=method, wrenches={link: wrench})
        assert_close(found, tau, tolerance=TOLERANCE)
    found = evaluate(robot.model, "forward_dynamics", q, v, tau, method="khalil", wrenches={link: wrench})
    assert_close(found, a, tolerance=1e-11)


def test_floating_base():
    model = linkwork.load("quadruped").model
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        with pytest.raises(linkwork.UnsupportedError, match="it is for a fixed base"):
            find_method(quantity, "khalil", model)
    with pytest.raises(linkwork.UnsupportedError, match="it is for a fixed base"):
        find_method("inverse_dynamics", "khalil-kleinfinger", model)
    assert "shared-axes" in [m.name for m in methods("inverse_dynamics") if not m.refusal(model)]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_robots(name: str):
    """Numbers and compiled counts: never more operations than ``rnea``, whatever the parameters are."""
    robot = linkwork.load(name)
    state = random_state(robot.model)
    expected = evaluate(robot.model, "inverse_dynamics", *state)
    for how in ({}, {"parameters": "standard"}, {"inputs": ["parameters"]}):
        functions = {
            method: robot.compile("inverse_dynamics", method=method, **how, backend="interpreter")
            for method in ("rnea", "shared-axes")
        }
        more = (np.array(robot.parameters),) if "inputs" in how else ()
        assert_close(functions["shared-axes"](*state, *more), expected, tolerance=TOLERANCE)
        ours, theirs = (functions[method].operations for method in ("shared-axes", "rnea"))
        assert ours.mul + ours.add <= theirs.mul + theirs.add


@pytest.mark.parametrize("name", ["ur5_robot.urdf", "panda.urdf", "kinova.urdf", "tiago.urdf", "talos_left_arm.urdf"])
def test_arms_from_files(name: str):
    robot = linkwork.load(read(FILES[name]), friction=False)
    state = random_state(robot.model)
    expected = evaluate(robot.model, "inverse_dynamics", *state)
    for method in ("khalil", "khalil-kleinfinger", "shared-axes"):
        assert_close(evaluate(robot.model, "inverse_dynamics", *state, method=method), expected, tolerance=TOLERANCE)
    counts = {
        method: robot.compile("inverse_dynamics", method=method, backend="interpreter").operations
        for method in ("rnea", "shared-axes")
    }
    best, plain = counts["shared-axes"], counts["rnea"]
    assert best.mul + best.add <= plain.mul + plain.add


@pytest.mark.parametrize("seed", range(12))
def test_no_more_operations_on_random_robots(seed: int):
    """Skew axes, where no column of U can be turned, and right angles, where it can."""
    relations = ("skew", "right angle", "parallel") if seed % 2 else ("right angle",)
    robot = robot_of("RRRRRR" if seed % 3 else "RPRRPR", seed, relations, branches=seed > 5, floating=seed > 8)
    best, plain = (
        robot.compile("inverse_dynamics", method=method, backend="interpreter").operations
        for method in ("shared-axes", "rnea")
    )
    assert best.mul + best.add <= plain.mul + plain.add


def test_second_moments():
    model = robot_of("RPRR", 1, branches=True).model
    kept = second_moments(model)
    for j, (M, MS, E) in kept.items():
        if model.joint(j).prismatic:
            assert M > 0 and not any(E)
        else:
            assert (M, MS.z, E.zz) == (0, 0, 0) and all((MS.x, E.xx, E.yy))
