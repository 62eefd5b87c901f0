"""Linearly implicit steps: stiff robots at long steps, against SciPy's Radau; all that may stand in a state; time."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import SoftLimits
from linkwork.control import PID, Quintic
from linkwork.forces import Contact
from linkwork.model import Description, JointDescription, Link, LinkInertia
from linkwork.sim.schemes.integrators import RODAS
from support.mixed_trees import MixedRecipe, mixed
from support.random_loops import four_bar
from support.random_robots import random_state

METHOD = "rosenbrock"


def order(errors):
    """From errors at steps that are halved."""
    return np.log2(np.array(errors[:-1]) / errors[1:])


def apart(one, other):
    return max(np.abs(one.q[-1] - other.q[-1]).max(), np.abs(one.v[-1] - other.v[-1]).max())


# -- stiff robots --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:joint limits are off")
@pytest.mark.parametrize(
    ("name", "dt", "within"),
    [("panda-elastic", 2e-3, 1e-5), ("flexible-arm", 4e-3, 1e-4), ("flexible-arm", 1e-3, 1e-6)],
)
def test_elastic_arms_move_as_radau_says(name, dt, within, deviations):
    robot = linkwork.load(name)
    exact = robot.simulate(duration=0.08, dt=0.08, method="implicit", tolerance=1e-12)
    motion = robot.simulate(duration=0.08, dt=dt, method=METHOD)
    scale = np.abs(exact.v[-1]).max()
    deviations(f"{name}, dt = {dt:g}", apart(motion, exact) / scale)
    assert apart(motion, exact) < within * scale
    assert abs(motion.work[-1] - exact.work[-1]) < within * np.abs(exact.potential_energy).max()


def stiff_arm(factor):
    """An arm on springs so much stiffer, damped as before."""
    robot = linkwork.load("flexible-arm", friction=False)
    bodies = tuple(
        replace(
            b, joint=replace(b.joint, stiffness=factor * b.joint.stiffness, viscous=factor * 0.002 * b.joint.stiffness)
        )
        for b in robot.model.bodies
    )
    return linkwork.Robot(replace(robot.model, bodies=bodies))


@pytest.mark.parametrize("factor", [1.0, 1e4, 1e8])
def test_any_stiffness_at_the_same_step(factor):
    """Springs without bound make a rigid arm, whose motion the elastic one approaches; explicit methods burst."""
    dt, start = 5e-3, [0.3, 0.0, 0.4, 0.0]
    motion = stiff_arm(factor).simulate(start, duration=0.5, dt=dt, method=METHOD)
    assert np.isfinite(motion.q).all() and motion.drift["energy"] < 1e-3 * motion.kinetic_energy.max()
    rigid = stiff_arm(1e12).simulate(start, duration=0.5, dt=dt, method=METHOD)
    assert np.abs(motion.q[-1] - rigid.q[-1]).max() < 3.0 / factor + 1e-6
    if factor > 1:
        with pytest.raises(linkwork.DivergedError), pytest.warns(linkwork.SimulationWarning, match="too long for rk4"):
            stiff_arm(factor).simulate(start, duration=0.5, dt=dt, method="rk4")


def wheel(**more):
    inertia = LinkInertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    joint = JointDescription("joint", "revolute", "base", "wheel", **more)
    return linkwork.load(Description("wheel", (Link("base"), Link("wheel", inertia)), (joint,), gravity=(0, 0, 0)))


@pytest.mark.parametrize("rate", [1.0, 1e3, 1e9])
def test_one_step_of_damping_is_the_rational_function(rate):
    """x' = -rate x: the speed after a step is R(-rate dt), whatever is asked of it."""
    motion = wheel(viscous=0.1 * rate).rollout([0.0], [1.0], None, 0.01, 1, method=METHOD)
    assert abs(motion.v[-1, 0]) == pytest.approx(RODAS.growth(np.array([-rate * 0.01]))[0], rel=1e-10, abs=1e-14)


def test_hard_ground_carries_the_weight():
    """Contact of 1e8 N/m at steps of 5 ms: what lands deeper than it should comes up to where it stays."""
    inertia = LinkInertia(2.0, np.zeros(3), 0.1 * np.eye(3))
    joint = JointDescription("lift", "prismatic", "base", "body")
    slide = linkwork.load(Description("slide", (Link("base"), Link("body", inertia)), (joint,), gravity=(0, 0, -9.81)))
    ground = replace(slide.model, forces=((slide.model.frame("body"), Contact(1e8, 1e4, 0.5)),))
    depth = 2 * 9.81 / 1e8
    motion = linkwork.Robot(ground).rollout([-3 * depth], [0.0], None, 5e-3, 20, method=METHOD)
    assert motion.q[-1, 0] == pytest.approx(-depth, rel=1e-9) and abs(motion.v[-1, 0]) < 1e-9


# -- all that may stand in a state ---------------------------------------------------------------------------------


def errors_of(robot, q, v, dt, duration=0.064, **options):
    exact = robot.simulate(q, v, duration, duration, method="dormand-prince", tolerance=1e-13, **options)
    return [apart(robot.simulate(q, v, duration, dt / n, method=METHOD, **options), exact) for n in (1, 2, 4)], exact


@pytest.mark.parametrize(
    "kinds",
    [("spherical", "spherical"), ("planar", "universal"), ("floating", "helical"), ("cylindrical", "spherical")],
)
def test_every_kind_of_joint(kinds):
    robot = linkwork.load(mixed(MixedRecipe(seed=3, kinds=kinds, extras=True)))
    v = random_state(robot.model, 1)[1]
    q = robot.coordinates.random(1)
    errors, _ = errors_of(robot, q, 0.5 * v, 8e-3, friction_width=1.0)
    assert order(errors)[-1] == pytest.approx(4, abs=0.3), errors


def test_links_without_mass_beyond_a_cut():
    """The other half of the loop carries them; the tree alone would have a singular inertia matrix."""
    description = four_bar()
    links = (*description.links[:-1], replace(description.links[-1], inertia=None))
    robot = linkwork.load(replace(description, links=links))
    errors, _ = errors_of(robot, robot.home, 0.5 * np.ones(robot.nv), 8e-3, friction_width=1.0)
    assert order(errors)[-1] == pytest.approx(4, abs=0.4), errors


def test_time_and_memory():
    """Forces over time and the integral of a controller are states like others."""
    robot = linkwork.load("planar2r")
    run = {
        "torque": PID(400.0, 900.0, 40.0),
        "reference": Quintic([0.0, 0.0], [1.0, -0.5], 0.1),
        "wrenches": {robot.frame_names[-1]: lambda t: [20 * np.sin(40 * t), 10 * t, 0, 0, 0, 3 * np.cos(30 * t)]},
    }
    errors, exact = errors_of(robot, [0.1, 0.2], [0.3, -0.1], 8e-3, **run)
    assert order(errors)[-1] == pytest.approx(4, abs=0.3), errors
    work = [
        abs(robot.simulate([0.1, 0.2], [0.3, -0.1], 0.064, 8e-3 / n, method=METHOD, **run).work[-1] - exact.work[-1])
        for n in (1, 2, 4)
    ]
    assert order(work)[-1] > 3.6, work


# -- ways to run it ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["flexible-arm", "four-bar", "space-arm"])
def test_native_code_is_the_interpreter(name):
    robot = linkwork.load(name)
    v = 0.3 * np.ones(robot.nv)
    one, other = (
        robot.simulate(None, v, duration=0.02, dt=2e-3, method=METHOD, backend=backend)
        for backend in ("native", "interpreter")
    )
    for output in ("q", "v", "work"):
        np.testing.assert_allclose(one[output], other[output], rtol=1e-11, atol=1e-12)


def test_rollouts_and_steppers_give_the_same_bits():
    robot = linkwork.load("flexible-arm")
    rng = np.random.default_rng(0)
    q, v = np.zeros((5, 4)), rng.normal(size=(5, 4))
    many = robot.rollout(q, v, dt=2e-3, steps=12, method=METHOD, outputs=("q", "v", "work"))
    for k in range(5):
        assert np.array_equal(robot.simulate(q[k], v[k], duration=0.024, dt=2e-3, method=METHOD).q, many.q[k])
    few = robot.rollout(q, v, np.zeros((12, 4)), dt=2e-3, steps=12, method=METHOD)
    np.testing.assert_allclose(few.q, many.q, rtol=1e-12, atol=1e-15)  # with less in it, it is another program
    stepper = robot.stepper(5, dt=2e-3, substeps=3, q0=q, v0=v, method=METHOD)
    for _ in range(4):
        stepper.step()
    assert np.array_equal(stepper.q, few.q[:, -1])


@pytest.mark.parametrize(("name", "checkpoint_every"), [("flexible-arm", 1), ("four-bar", 4)])
def test_gradients_go_through_it(name, checkpoint_every):
    robot = linkwork.load(name)
    rng = np.random.default_rng(2)
    q = np.array(robot.home if robot.model.permanent else np.zeros(robot.nq))
    v = 0.3 * rng.normal(size=robot.nv)
    tau = rng.normal(size=(10, robot.forward_dynamics.program.inputs[2].size))
    run = {"dt": 2e-3, "steps": 10, "method": METHOD}
    motion = robot.rollout(q, v, tau, checkpoint_every=checkpoint_every, **run)
    weights = {name: rng.normal(size=motion[name].shape) for name in ("q", "v")}
    slopes = motion.pullback(**weights)

    def value(v, tau):
        moved = robot.rollout(q, v, tau, **run)
        return sum((weights[name] * moved[name]).sum() for name in weights)

    dv, dtau, h = rng.normal(size=v.shape), rng.normal(size=tau.shape), 1e-5
    difference = (value(v + h * dv, tau + h * dtau) - value(v - h * dv, tau - h * dtau)) / (2 * h)
    assert (slopes.v0 * dv).sum() + (slopes.torque * dtau).sum() == pytest.approx(difference, rel=1e-7)


# -- when it is taken ----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the energy balance")  # of a first step in which the speed is all there already
def test_taken_where_the_modes_ask_for_it():
    """The least work that bears them: a little too stiff parts the steps of an explicit method, stiff does not."""
    push = {"duration": 0.1, "torque": [1.0]}
    assert wheel(viscous=0.1 * 5e3).simulate(**push).method == "rk4"
    motion = wheel(viscous=0.1 * 1e6).simulate(**push)
    assert (motion.method, motion.dt) == (METHOD, 1e-3)
    assert any("used instead: rosenbrock" in note for note in motion.notes)
    swinging = wheel(stiffness=0.1 * 5e3**2, role="elastic").simulate([0.01], duration=0.1)
    assert swinging.method in ("rk4", "adams-bashforth-4") and swinging.drift["energy"] < 0.01 * swinging.energy[0]
    held = wheel(viscous=0.1 * 1e6).simulate(duration=0.1, torque=np.ones((100, 1)))  # which must not be parted
    assert held.method == METHOD and held.v[-1, 0] == pytest.approx(1 / (0.1 * 1e6), rel=1e-6)


@pytest.mark.filterwarnings("ignore:joint limits are off")
def test_the_elastic_panda_at_a_step_that_is_asked_for():
    motion = linkwork.load("panda-elastic").simulate(duration=1.0, dt=0.01)
    assert motion.method == METHOD
    assert motion.drift["energy"] < 0.005 * np.ptp(motion.potential_energy)


def test_soft_limits():
    robot = linkwork.load("puma560")
    motion = robot.simulate(duration=1.0, dt=1e-3, method=METHOD, limits=SoftLimits(1e4, 100.0))
    assert np.isfinite(motion.q).all() and motion.drift["energy"] < 0.01 * np.ptp(motion.potential_energy)
