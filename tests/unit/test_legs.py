"""Inverse kinematics of legs in closed form: every kind of leg, both ways of assembly, and what has none."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.assembly import Assembler
from linkwork.constraints.legs import LegSolver, form_of
from linkwork.constraints.parallel import Parallel, platform_and_legs
from linkwork.model import (
    CUT_JOINTS,
    ConstraintDescription,
    Description,
    JointDescription,
    Link,
    LinkInertia,
    Placement,
)
from support.parallel_robots import NAMES, platform_places, states, with_joints_for_balls
from support.random_loops import closed_model

BODY = LinkInertia(1.0, np.array([0.1, 0.02, -0.03]), np.diag([0.01, 0.02, 0.025]))


def solver_of(robot) -> LegSolver:
    solver = LegSolver.of(getattr(robot, "model", robot))
    assert solver is not None
    return solver


@pytest.mark.parametrize("name", NAMES)
def test_closed_form_is_what_newton_finds(name: str, monkeypatch):
    monkeypatch.setattr("linkwork.constraints.legs.BLOCK", 200)
    robot = linkwork.load(name)
    places = platform_places(robot)
    q, _, _ = states(robot, 500)
    start = np.tile(robot.home, (len(q), 1))
    start[:, places] = q[:, places]
    found = solver_of(robot)(start)
    assert np.abs(robot.loop_residual(found)).max() < 1e-14
    newton = Assembler(robot.model)(q[::50, places], guess=np.array(robot.home)).require()
    np.testing.assert_allclose(found[::50], newton, atol=1e-10)
    assert (found[:, places] == q[:, places]).all() and start is not found


def on_one_leg(kinds: str, meeting: int, planar: bool, rng: np.random.Generator) -> tuple[Description, np.ndarray]:
    """A platform with coordinates x, y, z on a leg of these joints, and positions of the leg, at random. The axes of
    joint ``meeting`` and the next meet; or, in a plane, turns are about z and shifts along x, y."""
    turn = JointDescription("angle", "revolute", "y", "platform", role="passive")
    slide = [
        JointDescription(name, "prismatic", parent, name, axis=np.eye(3)[k], role="passive")
        for k, (name, parent) in enumerate((("x", "ground"), ("y", "x"), ("z", "y")))
    ]
    joints = [*slide[:2], turn if planar else replace(slide[2], child="platform")]
    links, parent, axis = [Link("ground"), Link("x"), Link("y"), Link("platform", BODY)], "ground", np.zeros(3)
    for k, kind in enumerate(kinds):
        shift = 0.3 * axis if k == meeting + 1 else rng.uniform(-0.5, 0.5, 3)  # along the axis before, or anywhere
        axis = rng.normal(size=3)
        if planar:
            axis[:2], axis[2] = (axis[:2], 0) if kind == "P" else (0, 1)
        axis /= np.linalg.norm(axis)
        name, kind = f"joint{k}", "prismatic" if kind == "P" else "revolute"
        joints.append(JointDescription(name, kind, parent, name, Placement(translation=shift), axis, role="passive"))
        links.append(Link(name, BODY))
        parent = name
    frames = {"tip": (parent, Placement(translation=rng.uniform(0.3, 0.6, 3)))}
    return Description("leg", tuple(links), tuple(joints), frames=frames), rng.uniform(-0.8, 0.8, len(kinds))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("kinds", "meeting", "planar"),
    [("RRP", 0, False), ("PRR", 1, False), ("RRR", 1, False), ("RRR", 0, False)]
    + [(kinds, -2, True) for kinds in ("RP", "PR", "RR")],
)
def test_any_leg_with_a_pivot(kinds: str, meeting: int, planar: bool, seed: int):
    """Where its joints bring the tip, there it is told to be: the same joints come out, from a guess beside them."""
    rng = np.random.default_rng(seed)
    description, q = on_one_leg(kinds, meeting, planar, rng)
    tree, tip = linkwork.load(description), description.frames["tip"]
    step = rng.normal(size=q.shape) / 200
    home, beside = (tree.pose("tip", np.append(np.zeros(3), x))[:3, 3] for x in (q, q + step))
    hold = Placement(translation=np.array([0, 0, home[2]])) if planar else Placement()
    loop = ConstraintDescription("leg", CUT_JOINTS["revolute" if planar else "spherical"], tip, ("platform", hold))
    names = [joint.name for joint in description.joints]
    positions = np.array([*home[:2], 0.3 if planar else home[2], *q])
    model = closed_model(
        replace(description, constraints=(loop,), home=dict(zip(names, positions)), independent=tuple(names[:3]))
    )
    solver = solver_of(model)
    np.testing.assert_allclose(solver(positions[None])[0], positions, atol=1e-9)
    positions[:3] = [*beside[:2], 0.7 if planar else beside[2]]
    np.testing.assert_allclose(solver(positions[None])[0, 3:], q + step, atol=1e-9)
    whole_turns = np.array([0 if kind == "P" else -2 * np.pi for kind in kinds])
    positions[3:] += whole_turns
    np.testing.assert_allclose(solver(positions[None])[0, 3:], q + step + whole_turns, atol=1e-9)


def test_both_ways_of_assembly():
    """An elbow bent the other way, and a leg turned over at its universal joint, stay so."""
    delta = linkwork.load("delta")
    solver, home = solver_of(delta), np.array(delta.home)
    bent = home.copy()
    bent[4::3] *= -1  # the elbows
    found = solver(np.array([home, bent]))
    np.testing.assert_allclose(found[0], home, atol=1e-12)
    assert np.abs(delta.loop_residual(found[1])).max() < 1e-14
    assert (found[1, 4::3] < 0).all()
    again = solver(np.concatenate([[0.05, 0.02, -0.6], found[1, 3:]])[None])
    assert (again[0, 4::3] < 0).all() and np.abs(delta.loop_residual(again)).max() < 1e-14
    gough = linkwork.load("gough-stewart")
    over = np.array(gough.home)
    over[7] += np.pi
    over[8] = np.pi - over[8]
    np.testing.assert_allclose(solver_of(gough)(over[None])[0], over, atol=1e-12)
    over[8] += 0.2
    found = solver_of(gough)(over[None])
    assert np.abs(found[0, 7] - over[7]) < 0.1 and np.abs(gough.loop_residual(found)).max() < 1e-14


def test_legs_out_of_reach_keep_the_guess():
    robot = linkwork.load("delta")
    q = np.tile(robot.home, (2, 1))
    q[1, 2] = -1.6
    found = solver_of(robot)(q)
    np.testing.assert_allclose(found[0], robot.home, atol=1e-12)
    assert (found[1] == q[1]).all()


def test_what_has_no_closed_form():
    assert LegSolver.of(linkwork.load("four-bar").model) is None
    assert LegSolver.of(linkwork.load("panda").model) is None
    six_joints = closed_model(with_joints_for_balls(linkwork.io.read("gough-stewart"), 3))
    assert LegSolver.of(six_joints) is None
    description = linkwork.io.read("delta")
    offset = Placement(translation=np.array([0.01, 0.02, 0.05]))
    aside = [
        replace(joint, origin=joint.origin @ offset) if joint.name == "leg2_sway" else joint
        for joint in description.joints
    ]  # so the axes of its elbow do not meet
    model = closed_model(replace(description, joints=tuple(aside)))
    parts = platform_and_legs(model)
    assert isinstance(parts, Parallel)
    assert [form_of(model, leg) is None for leg in parts.legs] == [False, True, False]
    assert LegSolver.of(model) is None
