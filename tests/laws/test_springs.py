"""Springs between places, and tendons over joints, by the laws: energy, work, slopes; in every frame and back end."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import linkwork
from linkwork.errors import ModelError
from linkwork.forces import Spring
from linkwork.model import Motor, Transmission
from support.evaluate import assert_close, derivative, evaluate, rates
from support.random_loops import LoopRecipe, mechanism
from support.random_robots import Recipe, describe, random_state

TREES = {
    "tree": describe(Recipe(seed=3, joints=4, branches=True, extras=True, relations=("skew", "right angle"))),
    "floating": describe(Recipe(seed=4, joints=3, branches=True, floating=True)),
    "mimic": describe(Recipe(seed=4, joints=5, branches=True, mimic=True, extras=True)),
    "loops": mechanism(LoopRecipe(seed=1, closures=("revolute",), freedoms=2)),
}


def springs(description, damping=3.0):
    """Along two links, through several places and the world, with slack, behind pulleys."""
    first, *_, middle, last = (link.name for link in description.links)
    return (
        (last, Spring((middle,), 200.0, damping, rest=0.05)),
        (last, Spring((middle, (0.3, -0.2, 0.9), first), 60.0, damping, rest=0.4, shares=(1, 0.5, 2))),
        (middle, Spring(((1.0, 2.0, -1.5),), 40.0, 0.0, rest=0.1, slack=0.6)),
        (middle, Spring(((0.1, 0.2, 0.3), last, first), 30.0, damping, shares=(1, 0, 0.5))),
    )


def loaded(name, damping=3.0, **options):
    description = TREES[name]
    return linkwork.load(replace(description, forces=springs(description, damping)), **options)


def state_of(robot):
    q, v, a = random_state(robot.model, 1)
    return (np.array(robot.home), v, a) if robot.model.permanent else (q, v, a)


@pytest.mark.parametrize("name", [name for name in TREES if name != "loops"])
def test_forces_are_the_gradient_of_the_energy(name):
    robot, bare = loaded(name), linkwork.load(TREES[name])
    q, v, _ = state_of(robot)

    def energy(q):
        return evaluate(robot.model, "potential_energy", q) - evaluate(bare.model, "potential_energy", q)

    still = 0 * v
    found = evaluate(robot.model, "bias", q, still) - evaluate(bare.model, "bias", q, still)
    assert_close(found, derivative(energy, q, rates(robot.model, q).T), scale=100.0)
    assert np.abs(found).max() > 1


@pytest.mark.parametrize("name", TREES)
def test_damping_takes_energy_only(name):
    """Its power is minus c times the squares of the rates of the lengths, by differences of those."""
    with_damping, without = loaded(name), loaded(name, damping=0.0)
    q, v, _ = state_of(with_damping)
    forces = [evaluate(each.model, "bias", q, v) for each in (with_damping, without)]
    rate = 0.0
    if not with_damping.model.permanent:
        for frame, law in with_damping.model.forces:
            rate += law.damping * derivative(lambda q, f=frame, s=law: _length(with_damping.model, f, s, q), q,
                                             rates(with_damping.model, q) @ v) ** 2  # fmt: skip
        assert_close(v @ (forces[0] - forces[1]), rate, tolerance=1e-10)
    assert v @ (forces[0] - forces[1]) > 0


def _length(model, frame, law, q):
    """Written out by NumPy."""
    places = [frame.name, *law.to]
    points = [np.array(x) if not isinstance(x, str) else evaluate(model, "pose", q, frame=x)[:3, 3] for x in places]
    ways = [b - a for a, b in pairwise(points)]
    return sum(s * np.sqrt((way * way).sum()) for s, way in zip(law.shares or [1] * len(ways), ways))


@pytest.mark.parametrize("name", TREES)
def test_forward_undoes_inverse(name):
    robot = loaded(name)
    q, v, a = state_of(robot)
    tau = evaluate(robot.model, "inverse_dynamics", q, v, a)
    assert_close(evaluate(robot.model, "forward_dynamics", q, v, tau), a, tolerance=1e-10)


@pytest.mark.parametrize("name", ["floating", "loops"])
def test_energy_changes_by_the_work_of_the_damping(name):
    """The energy of the springs is potential energy, so their work is not counted again."""
    robot = loaded(name, friction=False)
    q, v, _ = state_of(robot)
    if robot.model.moving_base:
        q[3:7] /= np.linalg.norm(q[3:7])
    motion = robot.simulate(q, 0.3 * v, 0.05, 0.005, method="dormand-prince", tolerance=1e-13)
    assert motion.drift["energy"] < 1e-9 * (1 + np.abs(motion.energy).max())
    assert motion.work[-1] < -1e-4


def test_derivatives():
    robot = loaded("floating")
    q, v, a = state_of(robot)
    expected = derivative(lambda q: evaluate(robot.model, "inverse_dynamics", q, v, a), q, rates(robot.model, q).T)
    assert_close(robot.inverse_dynamics.derivative("q")(q, v, a), expected.T, tolerance=1e-11)
    expected = derivative(lambda v: evaluate(robot.model, "inverse_dynamics", q, v, a), v, np.eye(robot.nv))
    assert_close(robot.inverse_dynamics.derivative("v")(q, v, a), expected.T, tolerance=1e-11)


def test_two_places_that_meet_have_no_force_between_them():
    """A segment of no length has no direction; nothing becomes infinite, and the other segments pull on."""
    tip = TREES["tree"].links[-1].name
    frames = {"same": (tip, linkwork.model.Placement())}
    description = replace(TREES["tree"], frames=frames, forces=((tip, Spring(("same",), 100.0, 5.0, rest=0.2)),))
    robot, bare = linkwork.load(description), linkwork.load(TREES["tree"])
    q, v, a = state_of(robot)
    assert_close(robot.inverse_dynamics(q, v, a), bare.inverse_dynamics(q, v, a))
    assert np.isfinite(robot.inverse_dynamics.derivative("q")(q, v, a)).all()


def test_a_zero_length_spring_is_a_linear_tether():
    point = (0.2, -0.3, 0.5)
    tip = TREES["tree"].links[-1].name
    robot = linkwork.load(TREES["tree"]).with_forces({tip: Spring((point,), 80.0)})
    q, v, a = state_of(robot)
    T = robot.pose(tip, q)
    pull = T[:3, :3].T @ (np.array(point) - T[:3, 3]) * 80
    wrench = linkwork.load(TREES["tree"]).inverse_dynamics(q, v, a, wrenches={tip: [*pull, 0, 0, 0]})
    assert_close(robot.inverse_dynamics(q, v, a), wrench)


# Of a chain alone, and with elastic drives


def over(*ratios, **values):
    """A tendon over joints of the arm."""
    motor = Motor("tendon", stiffness=30.0, rest=0.2, viscous=1.5, rotor_inertia=0.4, role="passive", **values)
    joints = ("shoulder_lift_joint", "elbow_joint", "wrist_1_joint")
    arm = linkwork.io.read("ur5e")
    return replace(arm, transmissions=(Transmission("tendon", joints[: len(ratios)], (motor,), (ratios,)),))


def test_a_chain_that_a_tendon_leaves():
    robot = linkwork.load(over(1.0, -0.5, 0.3))
    with pytest.raises(ModelError, match="the spring of 'tendon' is stretched by joint 'wrist_1_joint', which is not"):
        robot.chain("forearm_link")
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    whole, bare = robot.chain("wrist_3_link"), linkwork.load("ur5e")
    assert_close(whole.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a))
    assert not robot.chain("shoulder_link").model.transmissions
    tied = bare.with_forces({"tool0": Spring(("forearm_link",), 10.0), "forearm_link": Spring(((0, 0, 1),), 10.0)})
    with pytest.raises(ModelError, match="a force law at 'tool0' reaches 'tool0', which is not on the way to"):
        tied.chain("forearm_link")


def test_a_tendon_sees_the_links_of_elastic_joints():
    """Held straight, the springs of the drives change nothing of it."""
    drive = linkwork.ElasticDrive(stiffness=1e3, motor_inertia=0.1)
    rigid = linkwork.load(over(1.0, -0.5))
    elastic = linkwork.load(over(1.0, -0.5), elastic={"elbow_joint": drive})
    q = np.random.default_rng(0).normal(size=6)
    at = list(elastic.joint_names).index("elbow_joint_motor")
    for share in (0.0, 0.3, 1.0):
        split = np.insert(q, at + 1, share * q[at])
        split[at] -= share * q[at]
        stored = 0.5 * 1e3 * (share * q[at]) ** 2
        assert_close(elastic.potential_energy(split) - stored, rigid.potential_energy(q), scale=1e3)
