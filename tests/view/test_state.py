"""The state behind the page: positions by handles, torques, energies; and motions over time."""

import math
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.formulations import layouts
from linkwork.model import describe
from linkwork.sim import Trajectory
from linkwork.view import State, html
from linkwork.view.controls import _bounds
from linkwork.view.handles import Handle
from linkwork.view.player import Player, motions
from linkwork.view.state import INDEPENDENT, MOTORS
from support.evaluate import rotation_of
from support.playground import playground


@pytest.fixture(scope="module")
def panda():
    return linkwork.load("panda")


BENT = [0.3, 0.5, -0.2, -1.8, 0.1, 2.2, 0.6]


def test_torques_hold_it_against_gravity(panda):
    state = State(panda)
    assert state.move(BENT)
    np.testing.assert_allclose(list(state.torques().values()), panda.gravity(BENT), rtol=1e-12, atol=1e-12)
    assert list(state.torques()) == list(panda.joint_names)
    state.gravity = (0.0, 0.0, 0.0)
    np.testing.assert_allclose(list(state.torques().values()), 0, atol=1e-12)
    state.gravity = (0.0, 9.81, 0.0)
    sideways = linkwork.load("panda", gravity=(0.0, 9.81, 0.0)).gravity(BENT)
    np.testing.assert_allclose(list(state.torques().values()), sideways, rtol=1e-12, atol=1e-12)


def test_a_wrench_in_world_axes_acts_through_the_jacobian():
    robot = linkwork.load("scara")
    state, q = State(robot), [0.3, 0.5, -0.1, 0.7]
    state.move(q)
    state.frame, state.force, state.moment = "outer_arm", np.array([3.0, -2, 7]), np.array([0.4, 0, -1])
    expected = robot.gravity(q) - robot.jacobian("outer_arm", q).T @ [3.0, -2, 7, 0.4, 0, -1]
    taking = []
    for method in state.method_names:
        state.choose(method)
        np.testing.assert_allclose(list(state.torques().values()), expected, rtol=1e-9, atol=1e-9)
        taking.append(state.takes_wrenches)
    assert True in taking and False in taking


def test_commands_of_a_motion_act_while_it_is_shown():
    """What hovers needs nothing else; commands between two moments are between theirs."""
    robot = linkwork.load("quadrotor")
    state, names = State(robot), {"q": robot.coordinates.positions.names, "commands": robot.command_names}
    assert state.torques()["base.z"] == pytest.approx(1.1 * 9.81)
    arrays = {"t": np.array([0.0, 1]), "q": np.tile(robot.coordinates.neutral(), (2, 1))}
    arrays["commands"] = np.array([[2.0] * 4, [3.0] * 4])
    (motion,) = motions(robot, Trajectory(arrays, names, robot=robot.name, method="made", dt=1.0), "run")
    state.follow(*motion.at(0.25))
    assert state.torques()["base.z"] == pytest.approx(1.1 * 9.81 - 4 * 2.25)
    state.commands = np.full(4, 1.1 * 9.81 / 4)
    assert max(map(abs, state.torques().values())) < 1e-12


def test_feet_on_the_ground_carry_the_robot():
    """From the beginning, in motions that tell contacts, and by forces that these tell; not in flight."""
    robot = linkwork.load("quadruped")
    state, still = State(robot), np.zeros(robot.nv)
    np.testing.assert_array_equal(state.q, robot.standing_position())
    assert state.cost.method == "contact_inverse_dynamics"
    assert state.contacts.all() and np.ptp(list(state.torques().values())[:6]) < 1e-9
    weight = 9.81 * sum(body.inertia.mass for body in robot.model.bodies)
    on = np.array([[1.0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]])
    arrays = {"t": np.arange(3.0), "q": np.tile(state.q, (3, 1)), "contacts": on}
    names = {key: layouts(robot.model)[key].names for key in ("q", "contacts", "tau")}
    for tau in (None, np.outer(range(3), range(robot.nv))):
        told = arrays if tau is None else arrays | {"tau": tau}
        (motion,) = motions(robot, Trajectory(told, names, robot=robot.name, method="made", dt=1.0), "run")
        state.follow(*motion.at(0.75))
        expected = robot.contact_inverse_dynamics(state.q, still, still, on[0]).tau if tau is None else 0.75 * tau[1]
        np.testing.assert_allclose([*state.torques().values()], expected, rtol=1e-9, atol=1e-9)
        state.follow(*motion.at(1.5))
        assert state.torques()["base.z"] == pytest.approx(weight)


def test_cost_is_that_of_the_method_chosen(panda):
    state = State(panda)
    assert state.cost.method == panda.inverse_dynamics.label.method
    assert state.cost.operations == str(panda.inverse_dynamics.operations)
    state.choose("rnea")
    rnea = panda.compile("inverse_dynamics", method="rnea")
    assert (state.cost.method, state.cost.operations) == ("rnea", str(rnea.operations))
    assert 0 < state.cost.seconds_in_batch < state.cost.seconds < 1e-2
    with pytest.raises(linkwork.UnknownNameError):
        state.choose("rena")


def test_energies_and_centre_of_mass(panda):
    state = State(panda)
    v = np.arange(7) / 7
    state.move(BENT, v)
    energies, mass = state.energies(), sum(body.inertia.mass for body in panda.model.bodies)
    assert energies["kinetic"] == pytest.approx(v @ panda.inertia_matrix(BENT) @ v / 2)
    base = panda.model.base_inertia
    expected = 9.81 * (mass * state.center_of_mass()[2] + base.h.z)
    assert energies["potential"] == pytest.approx(expected)
    assert energies["total"] == pytest.approx(energies["kinetic"] + energies["potential"])
    np.testing.assert_allclose(list(state.torques().values()), panda.bias(BENT, v), rtol=1e-10, atol=1e-10)


def test_handles_are_within_the_limits(panda):
    for handle, value, joint in zip(State(panda).handles, State(panda).values, panda.model.coordinates.joints):
        assert (handle.name, handle.lower, handle.upper) == (joint.name, joint.lower, joint.upper)
        assert handle.lower <= value <= handle.upper


def test_a_slider_within_less_than_a_step():
    assert _bounds(Handle("joint", "m", 0.0001, 0.0009)) == (0.0001, 0.0009)
    assert _bounds(Handle("joint", "m", -0.0011, 0.0029)) == (-0.001, 0.002)


@pytest.mark.parametrize("way", [INDEPENDENT, MOTORS])
def test_loops_stay_assembled_and_stop_at_the_end_of_reach(way):
    robot = linkwork.load("3rpr")
    state = State(robot)
    assert way in state.ways_to_move
    state.moved_by = way
    assert [handle.name for handle in state.handles] == list(
        robot.joint_names if way == INDEPENDENT else robot.motor_names
    )
    values = state.values
    values[0] += 0.1
    assert state.move(values) and not state.message
    assert np.abs(robot.loop_residual(state.q)).max() < 1e-9
    np.testing.assert_allclose(state.values, values, atol=1e-9)
    if way == MOTORS:
        assert not state.move([values[0] + 30.0, *values[1:]])
        assert "Out of reach" in state.message
        assert values[0] < state.values[0] < values[0] + 5.0  # it went as far as it could
        assert np.abs(robot.loop_residual(state.q)).max() < 1e-9
        assert state.move(values) and not state.message


def test_forces_of_a_parallel_robot_are_those_of_its_motors():
    robot = linkwork.load("gough-stewart")
    state = State(robot)
    assert state.torque_names == robot.motor_names and set(state.torque_units) == {"N"}
    weight = 9.81 * sum(body.inertia.mass for body in robot.model.bodies)
    assert 0 < sum(state.torques().values()) < 2 * weight


def test_pose_of_a_floating_base():
    robot = linkwork.load("quadruped")
    state = State(robot)
    pose = ("x", "y", "z", "roll", "pitch", "yaw")
    assert [handle.name for handle in state.handles[:6]] == [f"base.{part}" for part in pose]
    state.contacts[:] = 0
    values = [0.1, 0.2, 0.7, 0.3, -0.4, 1.2, *state.values[6:]]
    assert state.move(values)
    np.testing.assert_allclose(state.values, values, atol=1e-12)
    torques = state.torques()
    weight = 9.81 * sum(body.inertia.mass for body in robot.model.bodies)
    pull = [torques[f"base.{axis}"] for axis in "xyz"]
    np.testing.assert_allclose(state.poses()[1][:3, :3] @ pull, [0, 0, weight], rtol=1e-9, atol=1e-9)
    assert len(state.velocity_names) == robot.nv
    np.testing.assert_array_equal(state.motor_torques()[:6], 0)


HANDLES = {  # of each joint: parts and units; turns of several axes are roll, pitch and yaw
    "drive": "x m, y m, angle rad",
    "shoulder": "roll rad, pitch rad, yaw rad",
    "elbow": "first rad, second rad",
    "wrist": "shift m, turn rad",
    "slew": "rad",
    "luff": "rad",
    "feed": "rad",
    "hoist": "m",
    "swing": "x m, y m, z m, roll rad, pitch rad, yaw rad",
    "drop": "x m, y m, z m, roll rad, pitch rad, yaw rad",
}


def test_handles_of_every_kind_of_joint():
    state = State(linkwork.load(playground()))
    expected = [
        (".".join([joint, *names]), unit)
        for joint, parts in HANDLES.items()
        for *names, unit in (part.split() for part in parts.split(", "))
    ]
    assert [(handle.name, handle.unit) for handle in state.handles] == expected
    at_home = dict(zip([name for name, _ in expected], state.values, strict=True))
    assert at_home.pop("swing.z") == -0.4 and not any(at_home.values())
    limits = {handle.name: (handle.lower, handle.upper) for handle in state.handles}
    assert limits["luff"] == (-0.8, 0.2) and limits["hoist"] == (0.0, 0.5) and limits["feed"] == (-3.0, 3.0)
    assert limits["shoulder.roll"] == limits["drive.angle"] == (-math.pi, math.pi)
    values = np.random.default_rng(2).uniform(*np.transpose([*limits.values()])).tolist()
    values[4] = 0.7  # a pitch within a quarter turn: beyond, others say the same
    values[18] = values[24] = -0.4
    assert state.move(values)
    np.testing.assert_allclose(state.values, values, atol=1e-12)


def test_handles_place_the_bodies():
    """By poses from compiled code, against rotations and shifts put together by hand."""
    robot = linkwork.load(playground())
    state = State(robot)
    names = [handle.name for handle in state.handles]
    given = {"drive.x": 0.3, "drive.y": -0.2, "drive.angle": 0.5, "shoulder.roll": 0.4, "shoulder.pitch": -0.3}
    given |= {"shoulder.yaw": 1.1, "drop.x": 0.1, "drop.z": 0.2, "drop.yaw": -0.6, "feed": 2.0}
    state.move([given.get(name, value) for name, value in zip(names, state.values, strict=True)])

    def about(axis, angle):
        return rotation_of(np.append(math.sin(angle / 2) * np.eye(3)["xyz".index(axis)], math.cos(angle / 2)))

    upper = about("z", 0.5) @ about("z", 1.1) @ about("y", -0.3) @ about("x", 0.4)
    np.testing.assert_allclose(state.frame_pose("upper")[:3, :3], upper, atol=1e-12)
    np.testing.assert_allclose(state.frame_pose("upper")[:3, 3], [0.3, -0.2, 0.25], atol=1e-12)
    np.testing.assert_allclose(state.frame_pose("crate")[:3, 3], [0.5, -0.8, 0.325], atol=1e-12)
    np.testing.assert_allclose(state.frame_pose("crate")[:3, :3], about("z", -0.6), atol=1e-12)
    np.testing.assert_allclose(state.frame_pose("nut")[:3, 3], [1.5, 0, 0.8 + 2.0 * 0.02], atol=1e-12)


def test_torques_of_every_kind_of_joint_hold_it():
    robot = linkwork.load(playground())
    state = State(robot)
    torques = state.torques()
    assert tuple(torques) == robot.coordinates.velocity_names
    assert torques["drop.z"] == pytest.approx(5 * 9.81) and torques["swing.z"] == pytest.approx(3 * 9.81)
    assert torques["feed"] == pytest.approx(9.81 * (0.4 + 0.3 + 3.0) * 0.02)  # what hangs below it, by its pitch
    assert torques["luff"] == pytest.approx(-9.81 * (2.0 * 0.3 + 3.7 * 0.6))
    motors = dict(zip(robot.coordinates.velocity_names, state.motor_torques(), strict=True))
    assert motors["feed"] == torques["feed"] and not any(motors[f"drop.{part}"] for part in "xyz")
    units = dict(zip(state.torque_names, state.torque_units, strict=True))
    assert (units["wrist.shift"], units["wrist.turn"], units["drive.rz"]) == ("N", "N m", "N m")


def test_springs_of_elastic_robots_are_handles_and_have_torques():
    state = State(linkwork.load("flexible-arm"))
    springs = [name for name, role in state.robot.roles.items() if role == "elastic"]
    values = dict(zip([handle.name for handle in state.handles], state.values, strict=True)) | {springs[0]: 0.1}
    before = state.torques()[springs[0]]
    assert state.move(list(values.values()))
    stiffness = next(joint.stiffness for joint in state.robot.model.coordinates.joints if joint.name == springs[0])
    assert abs(state.torques()[springs[0]] - before) == pytest.approx(0.1 * stiffness, rel=0.05)  # beside the weight


def test_what_no_motor_holds_is_left_free():
    description = describe(linkwork.load("planar2r").model)
    first, second = description.joints[:2]
    passive = replace(description, joints=(first, replace(second, role="passive"), *description.joints[2:]))
    state = State(linkwork.load(passive))
    state.move([0.4, -0.2])
    assert state.quantity == "hybrid_dynamics"
    expected, _ = state.robot.hybrid_dynamics([0.4, -0.2], [0, 0], [0], [0])
    assert state.torques() == {first.name: pytest.approx(float(expected[0]))}
    np.testing.assert_allclose(state.motor_torques(), [expected[0], 0])


def wave(robot, samples=(), dt=0.1, steps=10):
    t = dt * np.arange(steps + 1)
    q = np.broadcast_to(np.sin(t)[:, None] * np.ones(robot.nq), (*samples, steps + 1, robot.nq))
    return Trajectory({"t": t, "q": q}, {"q": robot.position_names}, robot=robot.name, method="made", dt=dt)


def test_a_motion_is_told_between_its_moments(panda):
    (motion,) = motions(panda, wave(panda), "wave")
    np.testing.assert_allclose(motion.at(0.25)[0], (math.sin(0.2) + math.sin(0.3)) / 2)
    np.testing.assert_allclose(motion.at(-1)[0], 0)
    np.testing.assert_allclose(motion.at(9)[0], math.sin(1.0))
    assert motion.at(0.3)[1].shape == (7,)


def test_a_motion_between_moments_turns_evenly():
    """Half-way of two quaternions, of whatever signs, is half the turn; a plane's arc is half as long."""
    robot = linkwork.load(playground())
    coordinates, rng = robot.coordinates, np.random.default_rng(4)
    q = coordinates.random(rng)
    v = rng.uniform(-0.5, 0.5, robot.nv)
    after = coordinates.integrate(q, v)
    after[coordinates.quaternions[0]] *= -1
    arrays = {"t": np.array([0.0, 1.0]), "q": np.stack([q, after])}
    run = Trajectory(arrays, {"q": coordinates.names}, robot=robot.name, method="made", dt=1.0)
    (motion,) = motions(robot, run, "turn")
    np.testing.assert_allclose(
        coordinates.difference(coordinates.integrate(q, v / 4), motion.at(0.25)[0]), 0, atol=1e-12
    )


def test_samples_of_a_batch_are_motions_of_their_own(panda):
    names = [motion.name for motion in motions(panda, wave(panda, (3,)), "wave")]
    assert names == ["wave [0]", "wave [1]", "wave [2]"]
    assert len(motions(panda, wave(panda, (5, 4)), "many")) == 8


def test_a_diverged_motion_is_shown_as_long_as_it_lasted(panda):
    run = wave(panda, (2,))
    run.arrays["q"] = run.q.copy()
    run.arrays["q"][1, 4:] = np.nan
    lengths = [len(motion.t) for motion in motions(panda, run, "wave")]
    assert lengths == [len(run.t), 4]
    assert np.isfinite(motions(panda, run, "wave")[1].at(9)[0]).all()


def test_a_trajectory_of_another_robot_is_refused(panda):
    with pytest.raises(linkwork.ShapeError, match=r"'planar2r'[^$]*'panda'"):
        motions(panda, wave(linkwork.load("planar2r")), "run.npz")


def test_player(panda):
    player = Player()
    player.advance(1.0)
    player.add(motions(panda, wave(panda), "a") + motions(panda, wave(panda), "b"))
    assert player.span == (0.0, 1.0) and [m.name for m in player.others] == ["b"]
    player.advance(0.5)
    assert player.time == 0.0  # not playing
    player.playing, player.speed = True, 0.5
    player.advance(0.5)
    assert player.time == 0.25
    player.advance(1.6)
    assert player.time == pytest.approx(0.05) and player.playing
    player.repeat = False
    player.advance(10.0)
    assert player.time == 1.0 and not player.playing


def test_motions_that_cannot_be_played(panda):
    run = wave(panda)
    run.arrays["q"] = run.q.copy()
    run.arrays["q"][0] = np.nan
    with pytest.raises(linkwork.ShapeError, match="begins with finite"):
        motions(panda, run, "run.npz")
    for bad in (np.nan, 0.0):
        run = wave(panda)
        run.arrays["t"] = run.t.copy()
        run.arrays["t"][3] = bad
        with pytest.raises(linkwork.ShapeError, match="cannot be played"):
            motions(panda, run, "run.npz")


@pytest.mark.parametrize(
    ("value", "scale", "text"),
    [
        (-4.5678, 4.6, "-4.57 N"),
        (-1e-9, 4.6, "0.00 N"),
        (130.4, 130.4, "130 N"),
        (0.7104, 0.71, "0.710 N"),
        (1234.0, 1234.0, "1234 N"),
        (-275_432.0, 6e5, "-275 kN"),
        (1.5e-3, 1.5e-3, "1.50 mN"),
        (3e-7, 3e-7, "300 nN"),
        (2e12, 2e12, "2.00e+12 N"),
        (0.0, 0.0, "0 N"),
        (math.inf, 1.0, "not finite [N]"),
        (math.nan, 0.0, "not finite [N]"),
    ],
)
def test_quantities_keep_their_width(value, scale, text):
    assert html.quantity(value, "N", scale) == text and len(text) <= 15


def test_rounding_is_no_force(panda):
    state = State(panda)
    weight = 9.81 * sum(body.inertia.mass for body in panda.model.bodies)
    assert 0 < state.negligible["N m"] < 1e-5 * weight * state.size
    text = html.bars({"a": 3e-17, "b": -1e-15, "c": math.nan}, ["N m"] * 3, [math.inf] * 3, {"N m": 0.0})
    assert text.count("width:0.00%") == 3 and text.count("0 N m") == 2 and "not finite" in text


def test_notices_are_escaped_and_folded():
    assert html.notice("") == ""
    text = html.notice("a < b", ["c & d"])
    assert "a &lt; b</summary>" in text and "c &amp; d" in text and "<details" not in html.notice("a")


def test_bars():
    text = html.bars({"a<b": -5.0, "c": 20.0}, ["N m", "N"], [math.inf, 10.0], {"N m": 20.0, "N": 20.0})
    assert "a&lt;b" in text and "-5.0 N m" in text and "20.0 N" in text
    assert "left:37.50%;width:12.50%;background:" + html.GOOD in text
    assert "left:50.00%;width:50.00%;background:" + html.OVER in text


def test_it_stops_where_the_way_of_assembly_would_be_lost():
    """Arm and lever of the parallelogram are in line at a difference of pi."""
    state = State(linkwork.load("parallelogram"))
    assert not state.move([0.0, 2.4, 0.0, -0.9])
    assert "beyond a singular position" in state.message
    np.testing.assert_allclose(state.q[2], state.q[4] - state.q[1], atol=1e-9)
