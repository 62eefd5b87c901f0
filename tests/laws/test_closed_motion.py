"""Motions of closed mechanisms: energy through places where the independent joints are singular, true singularities,
velocities of all joints, links that only the loop's other half carries."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import LinkworkError
from linkwork.errors import SimulationWarning
from linkwork.model import CUT_JOINTS, ConstraintDescription, JointDescription, Link, Placement
from linkwork.sim.schemes.integrators import INTEGRATORS, schemes
from support.random_loops import along_x, four_bar

ENERGY = ("q", "v", "kinetic_energy", "potential_energy", "work")
SPREAD = {"five-bar": (0.6, 2.0), "3rrr": (0.6, 2.0), "delta": (0.1, 1.0)}  # rad and rad/s; m and m/s
LOST = {"five-bar": 0, "3rrr": 0, "delta": 6}  # of 256 motions; those of the delta pass close to its own singularities


def random_starts(robot, spread, speed, samples=256):
    rng = np.random.default_rng(1)
    places = list(robot.model.mobility.independent)
    found = robot.assemble(np.array(robot.home)[places] + rng.uniform(-spread, spread, (4 * samples, robot.nv)))
    return found.q[found.solved][:samples], speed * rng.normal(size=(samples, robot.nv))


@pytest.mark.filterwarnings("ignore::linkwork.errors.SimulationWarning")
@pytest.mark.parametrize("name", LOST)
def test_energy_of_random_starts(name):
    """Off by more than a hundredth of the peak kinetic energy after two seconds."""
    robot = linkwork.load(name)
    q, v = random_starts(robot, *SPREAD[name])
    motion = robot.rollout(q, v, dt=1e-3, steps=2000, every=10, method="rk4", outputs=ENERGY, diverged="keep")
    balance = motion.energy - motion.work
    off = np.abs(balance - balance[:, :1]).max(axis=1)
    assert len(q) == 256
    assert (~(off < 0.01 * motion.kinetic_energy.max(axis=1))).sum() <= LOST[name]


@pytest.mark.parametrize("method", schemes())
def test_order_through_singular_independent_joints(method):
    """Errors against a motion of tight tolerance fall as the method's order says; the loops stay closed."""
    robot = linkwork.load("five-bar", friction=False)
    run = {"duration": 0.6}
    exact = robot.simulate(dt=0.1, method="dormand-prince", tolerance=1e-13, **run).q[-1]
    assert robot.conditioning(robot.simulate(dt=1e-3, method="rk4", **run).q).min() < 1e-2
    steps = (2e-3, 1e-3) if INTEGRATORS[method].order == 5 else (1e-3, 5e-4)
    if method == "rosenbrock":  # whose errors change their sign in between, and fall faster until they do
        steps = (2e-3, 5e-4)
    motions = [robot.simulate(dt=dt, method=method, **run) for dt in steps]
    errors = [np.abs(motion.q[-1] - exact).max() for motion in motions]
    order = np.log(errors[0] / errors[1]) / np.log(steps[0] / steps[1])
    assert -0.25 < order - INTEGRATORS[method].order < (1 if method == "rosenbrock" else 0.25)
    assert max(motion.drift["loop_residual"] for motion in motions) < 1e-10


def test_a_singular_position_of_the_mechanism_is_told():
    """A parallelogram without weight turns evenly, and lies flat on its way, where it can fold either way."""
    robot = linkwork.load(four_bar(0.5, 0.3, 0.5, 0.3, gravity=(0.0, 0.0, 0.0)), friction=False)
    with pytest.warns(SimulationWarning, match=r"close to a singular position, at t = 0\.(49|50)") as caught:
        motion = robot.rollout(robot.home, [-np.pi], dt=1e-3, steps=600, method="rk4", diverged="keep")
    assert caught[0].filename == __file__
    assert [note for note in motion.notes if note.startswith("warning: ")] == [f"warning: {caught[0].message}"]


def test_velocities_of_all_joints():
    robot = linkwork.load("five-bar", friction=False)
    q, v = np.array(robot.home), np.array([0.3, -0.2])
    every = robot.joint_velocities(q, v)
    run = {"dt": 1e-3, "steps": 50, "method": "rk4"}
    of_some, of_all = (robot.rollout(q, x, **run) for x in (v, every))
    assert np.array_equal(of_some.q, of_all.q) and np.array_equal(of_some.v, of_all.v)
    named = robot.rollout(q, dict(zip(robot.position_names, every, strict=True)), **run)
    assert np.array_equal(named.q, of_all.q)
    with pytest.raises(LinkworkError, match="would open the loops"):
        robot.rollout(q, every + np.array([0, 0, 0, 0.1]), **run)


def singular_of_independent(robot):
    """Where the independent joints of the five-bar do not tell the others: its elbows are in line with the tip."""
    motion = robot.simulate(duration=0.6, dt=1e-4, method="rk4")
    k = int(robot.conditioning(motion.q).argmin())
    q = motion.q[k]
    passive = [robot.position_names.index(name) for name in robot.position_names if name not in robot.joint_names]
    for _ in range(40):  # bring the determinant of the dependent columns to zero along the loops
        step = 1e-7
        here = determinant(robot, q, passive)
        slope = np.array([(determinant(robot, q + step * e, passive) - here) / step for e in np.eye(len(q))])
        rows = np.vstack([loop_jacobian(robot, q), slope])
        q = q - np.linalg.lstsq(rows, np.append(robot.loop_residual(q)[:2], here), rcond=None)[0]
    return q


def loop_jacobian(robot, q):
    return np.array([robot.loop_rates(q, e) for e in np.eye(len(q))]).T[:2]


def determinant(robot, q, passive):
    return np.linalg.det(loop_jacobian(robot, q)[:, passive])


def test_forward_dynamics_where_it_does_not_exist():
    robot = linkwork.load("five-bar", friction=False)
    q = singular_of_independent(robot)
    assert np.abs(robot.loop_residual(q)).max() < 1e-14
    assert not robot.conditioning(q) > 1e-9
    with np.errstate(invalid="ignore"):
        assert np.isnan(robot.forward_dynamics(q, np.zeros(2), np.ones(2))).all()
    a, forces = robot.constrained_dynamics(q, np.zeros(4), np.ones(2))  # of the mechanism it does
    assert np.isfinite(a).all() and np.isfinite(forces).all() and np.abs(a).max() < 1e4
    with pytest.raises(LinkworkError, match=r"do not determine the others.*\n.*\n.*all 4 joints"):
        robot.simulate(q, [0.1, 0.2], duration=0.01)
    rates = np.linalg.svd(loop_jacobian(robot, q))[2][-1]  # a motion the loops allow
    motion = robot.simulate(q, rates, duration=0.5, method="rk4")
    assert motion.drift["energy"] < 1e-6 * motion.kinetic_energy.max()


def test_links_that_only_the_other_half_carries():
    """A pin without mass at the tip of the cut tree, welded to the rocker: the four-bar with the loop cut there."""
    bar = four_bar()
    home = bar.home | {"hinge": bar.home["rocker"] - bar.home["crank"] - bar.home["coupler"]}
    hinge = JointDescription("hinge", "revolute", "coupler_link", "pin", along_x(0.39), role="passive")
    cut = ConstraintDescription("cut", CUT_JOINTS["weld"], ("pin", Placement()), ("rocker_link", along_x(0.306)))
    pinned = replace(bar, links=(*bar.links, Link("pin")), joints=(*bar.joints, hinge), constraints=(cut,), home=home)
    for method in ("semi-implicit-euler", "rk4"):
        one, other = (linkwork.load(x).simulate(duration=0.5, dt=1e-4, method=method) for x in (bar, pinned))
        assert np.abs(one.v[:, 0] - other.v[:, 0]).max() < (1e-10 if method == "rk4" else 1e-3)
    assert other.drift["energy"] < 1e-6


def test_forward_dynamics_by_platform_and_legs_where_a_leg_is_singular():
    """A leg of length zero does not tell which way it points."""
    robot = linkwork.load("3rpr", friction=False)
    turn = np.deg2rad([210.0, 250.0])
    x, y = np.array([0.5, -0.15]) @ np.stack([np.cos(turn), np.sin(turn)], axis=1)
    q = robot.assemble([x, y, 0.0]).nearest
    q[3:5] = 0.3, 0.0
    assert np.abs(robot.loop_residual(q)).max() < 1e-12
    with np.errstate(invalid="ignore", divide="ignore"):
        for method in ("khalil-parallel", "crba-ldl"):
            found = linkwork.compile(robot, "forward_dynamics", method=method)(q, np.zeros(3), np.ones(3))
            assert np.isnan(found).all()
    a, _ = robot.constrained_dynamics(q, np.zeros(9), np.ones(3))
    assert np.isfinite(a).all()


def test_starting_at_a_singular_position_is_told():
    robot = linkwork.load(four_bar(0.5, 0.3, 0.5, 0.3), friction=False)
    with pytest.raises(linkwork.DivergedError, match="the loops are at or near a singular position there"):
        robot.simulate([0.0, 0.0, 0.0], duration=0.01, method="rk4")


def test_an_integrator_that_is_stuck_says_so(monkeypatch):
    robot = linkwork.load("planar2r")
    monkeypatch.setattr(importlib.import_module("linkwork.sim.schemes.adaptive"), "PATIENCE", 10)
    with pytest.raises(linkwork.DivergedError, match=r"at t = 0 s: its steps become ever shorter near t = 0\.\d+ s"):
        robot.simulate(duration=1.0, every=1000, method="dormand-prince")
