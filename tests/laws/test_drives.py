"""Friction laws, springs and transmissions obey the laws: power, energy, slopes, FD of ID, columns of parameters."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.formulations import methods
from linkwork.model import FrictionLaw, Offset, Sliding
from linkwork.spatial.quaternions import turn_between, turn_of
from support.driven_robots import LAWS, coupled, rubbing, with_tendons
from support.evaluate import assert_close, derivative, evaluate, is_refused, rates
from support.mixed_trees import KINDS, MixedRecipe, Places, joint_order, mixed
from support.random_loops import LoopRecipe, mechanism
from support.random_robots import Recipe, random_state

TREE = Recipe(seed=3, joints=6, branches=True, extras=True, relations=("skew", "right angle"))
BARE = Recipe(seed=3, joints=6, branches=True, relations=("skew", "right angle"))
DESCRIPTIONS = {name: rubbing(TREE, laws) for name, laws in LAWS.items()}
DESCRIPTIONS["smooth"] = rubbing(TREE, LAWS["all"], friction_width=0.3)
DESCRIPTIONS["coupled"] = coupled(rubbing(TREE, LAWS["all"]))
DESCRIPTIONS["coupled, floating"] = coupled(rubbing(Recipe(seed=4, joints=5, floating=True), LAWS["stribeck"]))
DESCRIPTIONS["coupled, mimic"] = coupled(rubbing(replace(TREE, seed=4, mimic=True, joints=8), LAWS["offset"]))
DESCRIPTIONS["coupled, loops"] = coupled(mechanism(LoopRecipe(seed=1, closures=("revolute",), freedoms=2)))
DESCRIPTIONS |= {
    f"{name}, tendons": with_tendons(DESCRIPTIONS[name]) for name in ("coupled", "coupled, floating", "coupled, loops")
}
ROBOTS = {name: linkwork.load(description) for name, description in DESCRIPTIONS.items()}
OPEN = [name for name in ROBOTS if "loops" not in name]
TENDONS = [name for name in ROBOTS if name.endswith("tendons")]


def state_of(robot, seed=1):
    q, v, a = random_state(robot.model, seed)
    return (np.array(robot.home), v, a) if robot.model.permanent else (q, v, a)


@pytest.mark.parametrize("width", [0.0, 0.2])
@pytest.mark.parametrize("law", [law for laws in LAWS.values() for law in laws], ids=repr)
def test_slope_is_the_derivative_of_force(law, width):
    for v in (-2.0, -0.3, 0.4, 1.7):
        slope = derivative(lambda x: law.force(Sliding(x, width)) + 0j, np.array(v), np.array(1.0))
        assert_close(law.slope(Sliding(v, width)), slope)
        assert law.damping(Sliding(v, width)) >= max(0.0, law.slope(Sliding(v, width)) - 1e-12)


def test_every_law_is_tried():
    own = {law.name for laws in LAWS.values() for law in laws} | {"coulomb", "viscous"}
    assert own == {name for name, law in FrictionLaw.known.items() if law.__module__.startswith("linkwork.")}


def test_forces_of_the_laws():
    offset, asymmetric, stribeck = (LAWS[name][0] for name in ("offset", "asymmetric", "stribeck"))
    assert offset.force(Sliding(-3.0)) == offset.force(Sliding(0.0)) == 0.7
    assert asymmetric.force(Sliding(2.0)) == pytest.approx(0.8 + 0.5 * 2)
    assert asymmetric.force(Sliding(-2.0)) == pytest.approx(-0.3 - 1.1 * 2)
    assert asymmetric.force(Sliding(0.0)) == stribeck.force(Sliding(0.0)) == 0
    assert stribeck.force(Sliding(1e-9)) == pytest.approx(0.6, rel=1e-15)  # breaking away
    assert stribeck.force(Sliding(-0.9)) == pytest.approx(-0.3, rel=1e-15)  # half of it at vs
    assert stribeck.force(Sliding(900.0)) == pytest.approx(0.6e-6, rel=1e-5)
    way = Sliding(0.4, 0.2)  # smooth: the slope of sign(v) is
    rising = 0.2**2 / (0.4**2 + 0.2**2) ** 1.5
    assert stribeck.slope(way) < stribeck.damping(way) == 0  # it falls there
    assert stribeck.damping(Sliding(0.05, 0.2)) == stribeck.slope(Sliding(0.05, 0.2)) > 1
    assert asymmetric.damping(way) == asymmetric.slope(way) == pytest.approx(0.8 * rising + 0.5, rel=1e-14)


@pytest.mark.parametrize("name", ROBOTS)
def test_forward_dynamics_undoes_inverse_dynamics(name):
    robot = ROBOTS[name]
    model, (q, v, a) = robot.model, state_of(robot)
    tau = evaluate(model, "inverse_dynamics", q, v, a)
    tried = 0
    for method in methods("forward_dynamics"):
        if model.name != "random" and method.refusal(model):
            continue
        if not is_refused(model, "forward_dynamics", method.name):
            assert_close(evaluate(model, "forward_dynamics", q, v, tau, method=method.name), a, tolerance=1e-10)
            tried += 1
    assert tried
    if not model.permanent:
        assert_close(evaluate(model, "inertia_matrix", q) @ a + evaluate(model, "bias", q, v), tau)


@pytest.mark.parametrize("name", [name for name in ROBOTS if "coupled" in name])
def test_transmissions_have_the_energy_of_their_rotors(name):
    """1/2 v M v, and hybrid dynamics agrees with forward dynamics."""
    robot = ROBOTS[name]
    q, v, a = state_of(robot)
    M = robot.inertia_matrix(q)
    assert_close(robot.kinetic_energy(q, v), 0.5 * v @ M @ v)
    known = robot.model.mobility
    at = [known.independent.index(k) for k in known.driven], [known.independent.index(k) for k in known.free]
    if known.forced == known.independent:
        tau = robot.inverse_dynamics(q, v, a)
        assert_close(robot.hybrid_dynamics(q, v, a[at[0]], tau[at[1]]).tau, tau[at[0]], tolerance=1e-10)


def test_motors_do_the_work_of_the_joints():
    """tau = T^T tau_m and v_m = T v, so that both have the same power; rotors take T^T Ia T a."""
    robot = ROBOTS["coupled"]
    q, v, a = state_of(robot)
    T, tau = robot.transmission, robot.inverse_dynamics(q, v, a)
    assert {"motor0", "motor1", "motor2", "motor3"} < set(robot.drive_names)
    assert len(T) == len(robot.drive_names) == 5  # one of them for two joints
    M = linkwork.load(DESCRIPTIONS["coupled"], rotors=False).inertia_matrix(q)
    joints = [body.joint.rotor_inertia for body in robot.model.bodies]
    motors = {motor.name: motor.rotor_inertia for each in robot.model.transmissions for motor in each.motors}
    Ia = np.diag([motors.get(name, 0.0) for name in robot.drive_names])
    assert_close(robot.inertia_matrix(q), M + np.diag(joints) + T.T @ Ia @ T)
    wrist = linkwork.load(replace(DESCRIPTIONS["coupled"], transmissions=DESCRIPTIONS["coupled"].transmissions[:1]))
    T, tau = wrist.transmission, wrist.inverse_dynamics(q, v, a)
    assert_close(np.linalg.solve(T.T, tau) @ (T @ v), tau @ v)


@pytest.mark.parametrize("name", ["coupled", "coupled, tendons"])
def test_a_locked_joint_leaves_its_motors_to_the_others(name):
    description = DESCRIPTIONS[name]
    name = description.transmissions[0].joints[1]
    free, locked = linkwork.load(description), linkwork.load(description, lock={name: 0.3})
    k = free.joint_names.index(name)
    q, v, a = (np.insert(x, k, value) for x, value in zip(state_of(locked), (0.3, 0.0, 0.0)))
    without = [j for j in range(free.nv) if j != k]
    found = locked.inverse_dynamics(q[without], v[without], a[without])
    assert_close(found, free.inverse_dynamics(q, v, a)[without])


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("drives", [None, True])
def test_regressor_times_parameters(name, drives):
    robot = ROBOTS[name]
    state = state_of(robot, 2)
    tau = robot.inverse_dynamics(*state)
    for parameters in ("standard", "minimal"):
        Y, names = robot.regressor(*state, parameters, drives), robot.parameter_names(parameters, drives)
        assert Y.shape[1] == len(names) == len(set(names))
        assert_close(Y @ robot.parameter_values(parameters, drives), tau, tolerance=1e-11)


@pytest.mark.parametrize("name", ["all", "coupled"])
def test_base_parameters_act_each_by_itself(name):
    base = ROBOTS[name].base_parameters(drives=True)
    assert base.rank == len(base)


def test_a_robot_without_friction_is_identifiable_with_it():
    """Columns of a bare robot tell the forces of one with rotors, friction of several laws and springs."""
    asked = ("IA", "FS", "FV", "F0", "FSP", "FSN", "FVP", "FVN", "K")
    rubs = rubbing(TREE, (*LAWS["offset"], *LAWS["asymmetric"]))
    bare = replace(rubs, joints=tuple(
        replace(joint, rotor_inertia=0.0, coulomb=0.0, viscous=0.0, friction=(), stiffness=0.0) for joint in rubs.joints
    ))  # fmt: skip
    bare, rubs = linkwork.load(bare), linkwork.load(rubs)
    state = state_of(rubs, 3)
    assert bare.parameter_names(drives=asked) == rubs.parameter_names(drives=asked)
    assert not np.array(bare.parameter_values(drives=asked))[10 * 6 :].any()
    Y = bare.regressor(*state, drives=asked)
    assert_close(Y @ rubs.parameter_values(drives=asked), rubs.inverse_dynamics(*state))
    assert bare.regressor(*state).shape[1] == bare.regressor(*state, drives=False).shape[1] == 60
    assert bare.regressor(*state, drives=True).shape[1] == 60 + 3 * 6
    base = bare.base_parameters(drives=True)
    assert base.rank == len(base) and {"FS3", "FV3"} <= set(base.names)


def test_the_static_part_of_stribeck_is_identifiable_at_a_known_velocity():
    none = tuple(replace(law, excess=0.0) for law in LAWS["stribeck"])
    bare, rubs = linkwork.load(rubbing(TREE, none)), linkwork.load(rubbing(TREE, LAWS["stribeck"]))
    state = state_of(rubs, 3)
    Y = bare.regressor(*state, drives=True)
    assert_close(Y @ rubs.parameter_values(drives=True), rubs.inverse_dynamics(*state))


@pytest.mark.parametrize(
    "name", ["offset", "asymmetric", "stribeck", "all", "smooth", "coupled", "coupled, floating", *TENDONS[:2]]
)
def test_energy_changes_by_the_work_of_friction(name):
    """Asymmetric friction has a kink where a velocity changes sign, which costs the integrator some digits."""
    robot = ROBOTS[name]
    q, v, _ = state_of(robot)
    if robot.model.moving_base:
        q[3:7] /= np.linalg.norm(q[3:7])
    motion = robot.simulate(q, 0.5 * v, 0.1, 0.01, method="dormand-prince", tolerance=1e-13, friction_width=1.0)
    assert motion.drift["energy"] < 1e-9 * (1 + np.abs(motion.energy).max())
    assert np.abs(motion.work[-1]) > 1e-3  # there was some


@pytest.mark.parametrize("name", ["all", "coupled"])
def test_a_semi_implicit_step_takes_friction_at_its_end(name):
    """(M + dt D) a = tau - b with D the derivative of friction, but where Stribeck's falls, by NumPy."""
    robot, dt, width = ROBOTS[name], 1e-2, 0.1
    (q, v, a), T = state_of(robot), robot.transmission
    tau = robot.inverse_dynamics(q, v, a)
    model = replace(robot.model, friction_width=width)
    motors = {motor.name: motor for each in model.transmissions for motor in each.motors}
    joints = {joint.name: joint for joint in model.coordinates.joints}
    D = np.diag([joint.friction_damping(x, width) for joint, x in zip(joints.values(), v)])
    for name, row in zip(robot.drive_names, T):
        if name in motors:
            D = D + motors[name].friction_damping(row @ v, width) * np.outer(row, row)
    b = evaluate(model, "bias", q, v)
    after = v + dt * np.linalg.solve(robot.inertia_matrix(q) + dt * D, tau - b)
    found = robot.rollout(q, v, tau, dt, 1, friction_width=width)
    assert_close(found.v[-1], after, tolerance=1e-11)
    assert_close(found.q[-1], q + dt * after, tolerance=1e-11)


def test_stiff_friction_of_motors_is_borne():
    """Large gears make friction of motors stiff; the semi-implicit step bears it at any step."""
    description = coupled(rubbing(BARE, ()))
    wrist = description.transmissions[0]
    light = tuple(replace(motor, rotor_inertia=1e-5) for motor in wrist.motors)
    wrist = replace(wrist, matrix=((200.0, 0, 0), (30.0, -150, 0), (0, 10, 80)), motors=light)
    robot = linkwork.load(replace(description, transmissions=(wrist,)))
    q, v, _ = state_of(robot)
    at = [robot.joint_names.index(name) for name in wrist.joints]
    motion = robot.rollout(q, v, None, 1e-2, 50)
    assert np.abs(v[at]).min() > 0.1 and np.abs(motion.v[1:, at]).max() < 0.05
    with pytest.raises(linkwork.DivergedError), pytest.warns(linkwork.SimulationWarning, match="too long for rk4"):
        robot.rollout(q, v, None, 1e-2, 50, method="rk4")


@pytest.mark.parametrize("name", TENDONS)
def test_springs_of_motors_are_the_gradient_of_their_energy(name):
    """1/2 K (T q - rest)^2, written out; none of it within the slack."""
    description = DESCRIPTIONS[name]
    limp = (replace(each, motors=tuple(m.without_spring() for m in each.motors)) for each in description.transmissions)
    bare = linkwork.load(replace(description, transmissions=tuple(limp))).model
    model, (q, v, a) = ROBOTS[name].model, state_of(ROBOTS[name])
    at = model.coordinates.positions.names.index

    def energy(q):
        total = 0
        for each in description.transmissions:
            for motor, row in zip(each.motors, each.matrix):
                x = sum(ratio * q[..., at(joint)] for joint, ratio in zip(each.joints, row)) - motor.rest
                x = np.where(x.real > motor.slack, x - motor.slack, np.where(x.real < 0, x, 0))
                total = total + motor.stiffness * x * x / 2
        return total

    potential = evaluate(model, "potential_energy", q) - evaluate(bare, "potential_energy", q)
    assert_close(potential, energy(q), scale=abs(evaluate(model, "potential_energy", q)))
    if not model.permanent:
        found = evaluate(model, "inverse_dynamics", q, v, a) - evaluate(bare, "inverse_dynamics", q, v, a)
        assert_close(found, derivative(energy, q, rates(model, q).T), scale=100.0)


def test_an_offset_alone_pushes():
    robot = linkwork.load(rubbing(Recipe(seed=2, joints=1), (Offset(0.7),)), gravity=(0, 0, 0))
    assert robot.forward_dynamics([0.0], [0.0], [0.7]) == pytest.approx(0.0, abs=1e-15)


# -- joints with several freedoms --------------------------------------------------------------------------------------


def sprung(seed: int, kinds=KINDS, laws=LAWS["all"]):
    """A tree of every kind of joint, with friction in all of them, and springs where there can be some."""
    description = mixed(MixedRecipe(seed=seed, kinds=kinds, reach=3, extras=True))
    rng = np.random.default_rng(seed)
    joints = [
        replace(
            joint,
            friction=laws,
            stiffness=0.0 if joint.kind in ("planar", "floating", "fixed") else rng.uniform(1, 5),
            rest=0.0 if joint.kind in ("planar", "floating", "fixed", "spherical") else rng.uniform(-1, 1),
        )
        for joint in description.joints
    ]
    return replace(description, joints=tuple(joints))


@pytest.mark.parametrize("seed", range(3))
def test_springs_are_the_gradient_of_their_energy(seed):
    description = sprung(seed)
    slack = replace(description, joints=tuple(replace(joint, stiffness=0.0) for joint in description.joints))
    model, without = (linkwork.load(each, friction=False).model for each in (description, slack))
    places = Places(description, joint_order(model.coordinates.names))
    q, *_ = places.state(seed)
    tangents = np.array([places.rates(q, e) for e in np.eye(places.nv)])
    still = np.zeros(places.nv)
    found = evaluate(model, "bias", q, still) - evaluate(without, "bias", q, still)
    energy = derivative(
        lambda q: evaluate(model, "potential_energy", q) - evaluate(without, "potential_energy", q), q, tangents
    )
    assert_close(found, energy, scale=10.0)
    assert np.count_nonzero(found) == 3 * 1 + 1 + 2 + 2 + 3  # all but planar and floating joints


@pytest.mark.parametrize("seed", range(2))
def test_laws_act_on_every_freedom_alike(seed):
    robot = linkwork.load(sprung(seed))
    places = Places(sprung(seed), joint_order(robot.model.coordinates.names))
    q, v, a = places.state(seed)
    without = linkwork.load(sprung(seed), friction=False).bias(q, v)
    joint = robot.model.joint(1)
    drives = [each.joint for each in robot.model.bodies for _ in range(each.joint.kind.nv)]
    assert_close(robot.bias(q, v) - without, [drive.friction_force(x) for drive, x in zip(drives, v)], scale=10.0)
    assert joint.acting
    tau = robot.inverse_dynamics(q, v, a)
    assert_close(robot.forward_dynamics(q, v, tau), a, tolerance=1e-10)
    for drives in (None, True):
        Y = robot.regressor(q, v, a, drives=drives)
        assert_close(Y @ robot.parameter_values(drives=drives), tau, tolerance=1e-11)


def test_energy_of_balls_on_springs():
    """The semi-implicit step takes the largest slope of a joint's freedoms, and stays of first order."""
    description = sprung(1, ("spherical", "universal", "spherical"), LAWS["stribeck"])
    robot = linkwork.load(description)
    q, v, _ = Places(description, joint_order(robot.model.coordinates.names)).state(1)
    q = robot.coordinates.normalised(q)
    exact = robot.simulate(q, v, 0.2, 0.05, method="dormand-prince", tolerance=1e-13, friction_width=1.0)
    assert exact.drift["energy"] < 1e-9 * (1 + np.abs(exact.energy).max())
    errors = []
    for dt in (2e-3, 1e-3):
        motion = robot.simulate(q, v, 0.2, dt, method="semi-implicit-euler", friction_width=1.0)
        errors.append(np.abs(motion.v[-1] - exact.v[-1]).max())
    assert 1.7 < errors[0] / errors[1] < 2.3


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_no_springs_where_there_is_no_one_way_back(kind):
    description = mixed(MixedRecipe(kinds=(kind,)))
    joint = replace(description.joints[0], stiffness=1.0)
    with pytest.raises(linkwork.ModelError, match=f"a {kind} joint cannot have a spring"):
        linkwork.load(replace(description, joints=(joint,)))
    ball = mixed(MixedRecipe(kinds=("spherical",)))
    with pytest.raises(linkwork.ModelError, match="rests at zero rotation"):
        linkwork.load(replace(ball, joints=(replace(ball.joints[0], stiffness=1.0, rest=0.2),)))


def test_the_turn_of_a_quaternion_over_any_scalar():
    rng = np.random.default_rng(0)
    q = rng.normal(size=(2000, 4))
    q[500:1000, :3] *= 1e-8  # nearly still
    q[1000:1500, 3] *= 1e-9  # nearly half a turn
    q[-1] = [0, 0, 0, 1]
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    found = np.array(list(turn_of(list(q.T)))).T
    expected = np.array(list(turn_between([0, 0, 0, 1], list(q.T)))).T
    error = np.linalg.norm(found - expected, axis=1)
    assert (error <= 1e-15 * np.linalg.norm(expected, axis=1) + 1e-300).all()
    assert np.array(list(turn_of([1.0, 0, 0, 0]))) == pytest.approx([np.pi, 0, 0], rel=1e-15)
