"""Closed mechanisms in all joints: accelerations and forces at the cuts against Pinocchio's tree and least squares."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.integrate import solve_ivp

import linkwork
from linkwork.constraints import ConstraintEquations, row_names
from linkwork.model import describe
from support.evaluate import assert_close, evaluate
from support.kkt import Reference
from support.random_loops import LoopRecipe, closed_model, loop_recipes, mechanism


def joint_forces(model, tau):
    forces = np.zeros(model.coordinates.nv)
    forces[list(model.mobility.forced)] = tau
    return forces


@given(loop_recipes())
@settings(max_examples=40)
def test_accelerations_of_all_joints(recipe: LoopRecipe):
    description = mechanism(recipe)
    model, reference = closed_model(description), Reference(description)
    rng = np.random.default_rng(recipe.seed)
    q, tau = np.array(model.home), rng.uniform(-5, 5, len(model.mobility.forced))
    v = evaluate(model, "joint_velocities", q, rng.uniform(-1, 1, model.nv))
    assert len(model.mobility.rows) == model.coordinates.nv - model.nv
    a, forces = evaluate(model, "constrained_dynamics", q, v, tau)
    expected, _ = reference.solve(q, v, accelerations={}, forces=joint_forces(model, tau), unknown=[])
    assert_close(a, expected, tolerance=1e-9, scale=1)
    # What the cuts do to the joints, by the reference's own equations of motion.
    held = reference.inertia_matrix(q) @ expected + reference.nonlinear(q, v) - joint_forces(model, tau)
    J = np.array(ConstraintEquations.at(model, q.tolist()).J, float)
    assert_close(J.T @ forces, held, tolerance=1e-9, scale=1 + np.abs(held).max())
    assert_close(evaluate(model, "constraint_forces", q, v, tau), forces, tolerance=1e-12, scale=1)
    least = np.linalg.lstsq(J.T, held, rcond=1e-9)[0]  # of all forces that do the same, the shortest
    assert_close(forces, least, tolerance=1e-8, scale=1 + np.abs(least).max())


@pytest.mark.parametrize("name", ["four-bar", "3rrr", "delta", "gough-stewart"])
def test_forces_at_the_cuts_hold_the_open_tree(name):
    """With the cuts open, the same forces as wrenches on both frames give the same accelerations."""
    closed = linkwork.load(name)
    model = closed.model
    rng = np.random.default_rng(0)
    q = np.array(closed.home)
    v, tau = closed.joint_velocities(q, rng.normal(size=closed.nv)), rng.normal(size=len(model.mobility.forced))
    a, forces = closed.constrained_dynamics(q, v, tau)
    ends = {f"{k}{side}": getattr(loop, side) for k, loop in enumerate(model.permanent) for side in ("first", "second")}
    opened = linkwork.Robot(
        replace(model, constraints=(), home=(), closed_mobility=None, frames={**model.frames, **ends})
    )
    function = linkwork.compile(opened, "forward_dynamics", wrenches=list(ends))
    wrenches = np.zeros((len(ends), 6))
    named = dict(zip(row_names(model), forces, strict=True))
    for k, loop in enumerate(model.permanent):
        own = np.array([named.get(f"{loop.name}.{part}", 0.0) for part in ("x", "y", "z", "rx", "ry", "rz")])
        first, second = (opened.pose(f"{k}{side}", q)[:3, :3] for side in ("first", "second"))
        wrenches[2 * k] = -own
        wrenches[2 * k + 1] = np.kron(np.eye(2), second.T @ first) @ own
    free = function(q, v, joint_forces(model, tau), wrenches)
    assert_close(free, a, tolerance=1e-11, scale=np.abs(a).max())


def test_motion_through_singular_independent_joints():
    """The five-bar, whose independent joints are singular on the way, against SciPy over Pinocchio's tree."""
    robot = linkwork.load("five-bar", friction=False)
    model, reference = robot.model, Reference(describe(robot.model))
    n = model.coordinates.nv

    def rates(t, x):
        nothing = np.zeros(n)
        return np.concatenate([x[n:], reference.solve(x[:n], x[n:], accelerations={}, forces=nothing, unknown=[])[0]])

    q0 = np.array(robot.home)
    exact = solve_ivp(rates, (0, 1.0), np.concatenate([q0, 0 * q0]), method="DOP853", rtol=1e-11, atol=1e-11)
    motion = robot.simulate(duration=1.0, dt=2e-4, method="rk4")
    assert robot.conditioning(motion.q).min() < 1e-2  # it goes through
    assert np.abs(motion.q[-1] - exact.y[:n, -1]).max() < 1e-7


def test_a_leg_in_cardan_lock():
    """A leg that is singular by itself, of a platform whose loops are regular: leg 1 lies along its base's tangent."""
    robot = linkwork.load("gough-stewart")
    reference = Reference(describe(robot.model))
    base, ball, turn = np.deg2rad([10.0, 50.0, -40.0])
    along = np.array([-np.sin(base), np.cos(base), 0.0])
    tip = 0.65 * np.array([np.cos(base), np.sin(base), 0.0]) + along
    c, s = np.cos(turn), np.sin(turn)
    held = 0.4 * np.array([np.cos(ball), c * np.sin(ball), s * np.sin(ball)])
    found = robot.assemble([*(tip - held), np.sin(turn / 2), 0.0, 0.0, np.cos(turn / 2)])
    q, still = np.asarray(found.nearest), np.zeros(24)
    assert found.singular and np.abs(robot.loop_residual(q)).max() < 1e-9
    assert np.linalg.svd(reference.rows(q, still)[1], compute_uv=False)[17] > 0.1
    expected, _ = reference.solve(q, still, accelerations={}, forces=still, unknown=[])
    assert_close(robot.constrained_dynamics(q, still, np.zeros(6))[0], expected, tolerance=1e-8, scale=10)
