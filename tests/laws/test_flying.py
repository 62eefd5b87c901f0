"""Forces by command and forces of fluids and roads: by hand, by textbook formulas, against Pinocchio, through time."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import linkwork
from linkwork.forces import Buoyancy, Plate, Rotor, Thruster, Tyre
from linkwork.formulations import methods
from linkwork.library import eel
from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement, describe
from linkwork.spatial import Matrix, Motion, Pose, Vector
from support.evaluate import assert_close, derivative, deviation, evaluate
from support.pinocchio_robot import PinocchioRobot
from support.random_robots import inertia, random_rotation

G = 9.81
GRAVITY = Vector(0, 0, -G)


@pytest.fixture(scope="module")
def quadrotor():
    return linkwork.load("quadrotor")


@pytest.fixture(scope="module")
def aerial():
    """The quadrotor with an arm, with a thruster on its gripper and a rotor that stands aslant on its upper arm."""
    own = describe(linkwork.load("quadrotor-with-arm", friction=False, rotors=False).model)
    rng = np.random.default_rng(3)
    aslant = Placement(random_rotation(rng), rng.uniform(-0.3, 0.3, 3))
    laws = ("gripper", Thruster((1, -2, 0.5))), ("aslant", Rotor(0.3, -1, 0.02))
    frames = {**own.frames, "aslant": ("upper_arm", aslant)}
    return linkwork.load(replace(own, frames=frames, forces=(*own.forces, *laws)))


def state(robot, seed: int = 1) -> list[np.ndarray]:
    """q, v, tau (or a) and commands."""
    rng = np.random.default_rng(seed)
    sizes = robot.nv, robot.nv, len(robot.command_names)
    return [robot.coordinates.random(rng), *(rng.normal(size=n) for n in sizes)]


def apply(law, pose: Pose, velocity: Any, *commands, **more) -> np.ndarray:
    return np.array(list(law(pose, Motion(Vector(*velocity[:3]), Vector(*velocity[3:])), *commands, **more)), float)


def pose_of(rotation, origin=(0, 0, 0)) -> Pose:
    return Pose(Matrix(*(Vector(*row) for row in np.asarray(rotation).tolist())), Vector(*origin))


def body(law, own: LinkInertia, **more):
    """One floating body, the law at its frame."""
    return linkwork.load(Description("body", (Link("body", own),), (), floating=True, forces=(("body", law),), **more))


# -- thrusters and rotors ---------------------------------------------------------------------------------------------


def test_hover_and_free_fall(quadrotor):
    q, still = quadrotor.coordinates.neutral(), np.zeros(6)
    trim = np.full(4, 1.1 * G / 4)
    assert np.abs(quadrotor.forward_dynamics(q, still, still, trim)).max() < 1e-14
    up = quadrotor.rollout(q, still, dt=0.01, steps=100, commands=trim, method="rk4")
    assert np.abs(up.q - q).max() < 1e-13
    down = quadrotor.rollout(q, still, dt=0.01, steps=100, method="rk4")
    assert_close(down.q[:, 2], -G * down.t**2 / 2)
    assert_close(down.q[:, 3:], np.tile(q[3:], (101, 1)), tolerance=0)


def test_rotors_turn_the_body_against_their_own_turning(quadrotor):
    """Two of spin 1 turn to the left, so the body turns to the right, by drag times their thrust."""
    left = [law.spin == 1 for _, law in quadrotor.model.forces]
    a = quadrotor.forward_dynamics(quadrotor.coordinates.neutral(), np.zeros(6), np.zeros(6), 3.0 * np.array(left))
    assert sum(left) == 2
    assert_close(a[3:], [0, 0, -2 * 3.0 * 0.016 / 16.5e-3])


def test_speed_gives_squared_thrust():
    law, pose = Rotor(0.2, -1, 0.5), pose_of(np.eye(3))
    assert law.commands == {"speed": "rad/s"}
    assert_close(apply(law, pose, np.zeros(6), [4.0]), [0, 0, 8, 0, 0, 1.6])
    assert_close(apply(law, pose, np.zeros(6), [-4.0]), [0, 0, -8, 0, 0, -1.6])


def test_commands_against_pinocchio_with_forces_by_hand(aerial, tmp_path):
    """Wrenches on links, from where each frame stands in its link: along the frame's own axes, wherever they point."""
    linkwork.load(describe(aerial.model), base="fixed").write(tmp_path / "aerial.urdf")
    peer = PinocchioRobot((tmp_path / "aerial.urdf").read_text(), aerial.model)
    frames = describe(aerial.model).frames
    for seed in range(5):
        q, v, a, u = state(aerial, seed)
        external = [pin.Force.Zero() for _ in range(peer.model.njoints)]
        for (frame, law), command in zip(aerial.model.forces, u, strict=True):
            link, at = frames[frame.name]
            if isinstance(law, Thruster):
                force, moment = command * np.array(law.axis) / np.linalg.norm(law.axis), np.zeros(3)
            else:
                thrust = law.thrust * command * abs(command) if law.thrust else command
                force, moment = np.array([0, 0, thrust]), np.array([0, 0, -law.spin * law.drag * thrust])
            force, moment = at.rotation @ force, at.rotation @ moment
            joint = peer.model.frames[peer.model.getFrameId(link, pin.FrameType.BODY)].parentJoint
            external[joint] += pin.Force(force, moment + np.cross(at.translation, force))
        told = peer.q(q), peer.v(v)
        tau = pin.rnea(peer.model, peer.data, *told, peer.v(a), external)[peer.order]
        assert_close(aerial.inverse_dynamics(q, v, a, u), tau)
        assert_close(aerial.forward_dynamics(q, v, tau, u), a, tolerance=1e-11)


def test_commands_are_wrenches(aerial):
    """By every method, with slopes by commands that are those of forces."""
    q, v, a, u = state(aerial)
    wrenches = {}
    for (frame, law), command in zip(aerial.model.forces, u, strict=True):
        wrenches[frame.name] = apply(law, pose_of(np.eye(3)), np.zeros(6), [command])
    bare = linkwork.Robot(replace(aerial.model, forces=()))
    for quantity in ("inverse_dynamics", "forward_dynamics", "bias"):
        inputs = (q, v) if quantity == "bias" else (q, v, a)
        expected = evaluate(bare.model, quantity, *inputs, wrenches=wrenches)
        for method in methods(quantity):
            if not method.refusal(aerial.model):
                found = evaluate(aerial.model, quantity, *inputs, u, method=method.name)
                assert deviation(found, expected) < (1e-10 if quantity == "forward_dynamics" else 1e-13)
    tau, *_, by_commands = evaluate(aerial.model, "inverse_dynamics_derivatives", q, v, a, u)
    sloped = derivative(lambda u: evaluate(aerial.model, "inverse_dynamics", q, v, a, u), u, np.eye(6))
    assert_close(by_commands, sloped.T)
    *_, by_tau, by_commands = evaluate(aerial.model, "forward_dynamics_derivatives", q, v, tau, u)
    assert_close(by_commands, -by_tau @ sloped.T, tolerance=1e-11)


def test_slopes_by_commands_through_time(quadrotor):
    """Of a rollout, and of its steps, against central differences; commands are speeds, whose squares count."""
    laws = tuple((frame, replace(law, thrust=0.4)) for frame, law in quadrotor.model.forces)
    robot = linkwork.Robot(replace(quadrotor.model, forces=laws))
    q, v, _, u = state(robot)
    rng = np.random.default_rng(5)
    u, weights, h = rng.uniform(1, 3, (8, 4)), rng.normal(size=(9, 6)), 1e-5

    def run(u, **more):
        return robot.rollout(q, v, dt=0.01, steps=8, commands=u, **more)

    trajectory = run(u, checkpoint_every=1)
    gradient = trajectory.pullback(v=weights).commands
    assert gradient is not None
    for k, j in ((0, 0), (3, 3), (7, 2)):
        step = h * np.eye(32)[4 * k + j].reshape(8, 4)
        slope = ((run(u + step).v - run(u - step).v) * weights).sum() / (2 * h)
        assert gradient[k, j] == pytest.approx(slope, rel=1e-7)
    A, B = trajectory.linearised()
    at = trajectory.q[3], trajectory.v[3]
    here = robot.linearise(*at, np.zeros(6), 0.01, commands=u[3])
    assert B.shape == (8, 12, 6 + 4) and deviation(A[3], here.A) < 1e-12 and deviation(B[3], here.B) < 1e-12
    ends = [robot.rollout(*at, dt=0.01, steps=1, commands=u[3] + h * s * np.eye(4)[1]).v[-1] for s in (1, -1)]
    assert_close(B[3, 6:, 6 + 1], (ends[0] - ends[1]) / (2 * h), tolerance=1e-8)
    slow = robot.linearise(*at, np.zeros(6), commands=u[3]).B
    assert_close(slow[6:, 6:] * 0.01, B[3, 6:, 6:], tolerance=1e-12)


def test_a_controller_gives_commands(quadrotor):
    """It holds a place in the air: thrust against weight and height, moments against turns and drift."""
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * 0.127
    spins = np.array([law.spin for _, law in quadrotor.model.forces])
    moments = np.stack([np.ones(4), corners[:, 1], -corners[:, 0], -0.016 * spins])
    mix = np.linalg.inv(moments)

    def hold(t, q, v, reference):
        climb = 1.1 * (G - 4 * q[2] - 3 * v[2])
        roll, pitch, yaw = 2 * q[3], 2 * q[4], 2 * q[5]
        lean = 0.08 * q[1] + 0.12 * v[1], -0.08 * q[0] - 0.12 * v[0]
        turn = [1.2 * (lean[0] - roll) - 0.2 * v[3], 1.2 * (lean[1] - pitch) - 0.2 * v[4], -0.2 * yaw - 0.1 * v[5]]
        return {"commands": mix @ np.array([climb, *turn])}

    start = np.array([0.3, -0.2, 0.4, 0.08, -0.05, 0.1, 0])
    start[6] = math.sqrt(1 - start[3:6] @ start[3:6])
    run = quadrotor.rollout(start, np.zeros(6), hold, dt=2e-3, steps=6000, every=600, outputs=("q", "v", "commands"))
    assert np.abs(run.q[-1] - quadrotor.coordinates.neutral()).max() < 1e-3
    assert_close(run.commands[-1], np.full(4, 1.1 * G / 4), tolerance=1e-2)
    assert not run.notes


# -- fluids -----------------------------------------------------------------------------------------------------------


def test_plate_by_its_coefficients():
    """Lift across the flow and drag along it, at every angle of attack; none where wind takes the plate along."""
    law, rng = Plate(0.3, density=1.1, lift=2.4, drag=0.05, wind=(1, -2, 0.5)), np.random.default_rng(2)
    R = random_rotation(rng)
    wind = R.T @ law.wind
    for alpha in np.linspace(-1.5, 3, 7):
        along, across = (
            np.array([math.cos(alpha), 0, math.sin(alpha)]),
            np.array([math.sin(alpha), 0, -math.cos(alpha)]),
        )
        force = apply(law, pose_of(R), [*(wind + 7 * along), 0, 0, 0])
        q = 0.5 * 1.1 * 7**2 * 0.3
        lift, drag = 2.4 * math.sin(alpha) * math.cos(alpha), 0.05 + 2.4 * math.sin(alpha) ** 2
        assert_close(force[:3], q * (lift * across - drag * along))
    assert np.abs(apply(law, pose_of(R), [*wind, 0, 0, 0])).max() < 1e-12
    own = LinkInertia(0.2, np.zeros(3), 1e-3 * np.eye(3))
    falling = body(Plate(0.3, drag=0.05), own)
    terminal = math.sqrt(2 * 0.2 * G / (1.225 * 0.3 * 2.05))
    v = np.array([0, 0, -terminal, 0, 0, 0])
    assert np.abs(falling.forward_dynamics(falling.coordinates.neutral(), v, np.zeros(6))).max() < 1e-13


def test_buoyancy():
    """A body as dense as the water hangs still at any attitude; one whose volume sits above its mass swings upright."""
    rng = np.random.default_rng(4)
    own = inertia(rng)
    still = body(Buoyancy(own.mass / 1000, center=tuple(own.center)), own, gravity=(1.0, -2.0, 3.0))
    q = still.coordinates.random(rng)
    assert np.abs(still.forward_dynamics(q, np.zeros(6), np.zeros(6))).max() < 1e-13
    run = still.rollout(q, np.zeros(6), dt=0.1, steps=3, vary={"gravity": np.array([0.0, 0.0, 40.0])})
    assert np.abs(run.v).max() < 1e-12
    own = LinkInertia(2.0, np.zeros(3), 0.1 * np.eye(3))
    swinging = body(Buoyancy(2e-3, center=(0, 0, 0.05)), own)
    A, _ = swinging.linearise(swinging.coordinates.neutral(), np.zeros(6), np.zeros(6))
    rates = np.sort(np.abs(np.linalg.eigvals(A)))[-4:]
    assert_close(rates, np.full(4, math.sqrt(2 * G * 0.05 / 0.1)))


def test_buoyant_eel_at_rest_and_with_water_around_it():
    swimmer, plain = (linkwork.load(eel(5, **more)).model for more in ({"buoyancy": True, "added_mass": True}, {}))
    q = swimmer.coordinates.random(np.random.default_rng(0))
    still = np.zeros(swimmer.nv)
    assert np.abs(evaluate(swimmer, "bias", q, still)).max() < 1e-14
    assert np.abs(evaluate(swimmer, "forward_dynamics", q, still, still)).max() < 1e-12
    M, lighter = (evaluate(model, "inertia_matrix", q) for model in (swimmer, plain))
    assert np.linalg.eigvalsh(M - lighter).min() > -1e-12 and np.trace(M[:3, :3]) > 1.5 * np.trace(lighter[:3, :3])


# -- tyres ------------------------------------------------------------------------------------------------------------

B, C, MU, R, K = 9.0, 1.5, 0.9, 0.3, 2e5  # of the tyres


def wheel(slope: float = B) -> Tyre:
    return Tyre(R, K, damping=2e3, friction=MU, slope=slope, shape=C)


def magic(slip: float, slope: float = B) -> float:
    return MU * math.sin(C * math.atan(slope * slip))


def test_tyre_by_the_magic_formula():
    """Pure slip along and across, both together, none for a wheel that rolls; the wheel's own turn does not matter."""
    load, depth, speed = K * 0.01, 0.01, 20.0
    turned = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]).T  # z of the frame, the axle, points to the left
    for spin in (0.0, 1.1):
        c, s = math.cos(spin), math.sin(spin)
        rotation = turned @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        for slip, angle in ((0.0, 0.0), (0.07, 0.0), (-0.3, 0.0), (0.0, 0.05), (0.1, -0.08)):
            v = np.array([speed, -speed * math.tan(angle), 0])
            rate = speed * (1 + slip) / R  # of the wheel about its axle
            velocity = [*(rotation.T @ v), 0, 0, rate]
            found = apply(wheel(), pose_of(rotation, (3, 4, R - depth)), velocity)
            sigma = np.array([slip, math.tan(angle)]) * speed / math.hypot(speed, wheel().least)
            both = math.hypot(*sigma)
            push = load * magic(both) * sigma / both if both else np.zeros(2)
            force = np.array([*push, load])
            assert_close(rotation @ found[:3], force)
            assert_close(rotation @ found[3:], np.cross([0, 0, -R], force), scale=load * R)
    above = pose_of(turned, (0, 0, R + 1e-9))
    assert not apply(wheel(), above, [1, 2, 3, 4, 5, 6]).any()


def car(steer: float, front: float, rear: float) -> Description:
    """Four wheels on a body; the front ones stand at an angle. x is forward, with 2.8 m from axle to axle."""
    left = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], float)  # where z of a wheel points
    c, s = math.cos(steer), math.sin(steer)
    steered = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ left
    links, joints, forces = [Link("body", LinkInertia(900, np.zeros(3), np.diag([300, 1200, 1300])))], [], []
    for x, rotation, slope in ((1.2, steered, front), (-1.6, left, rear)):
        for y in (0.7, -0.7):
            name = f"wheel{len(links)}"
            links.append(Link(name, LinkInertia(15, np.zeros(3), np.diag([0.5, 0.5, 0.8]))))
            origin = Placement(rotation, np.array([x, y, -0.2]))
            joints.append(
                JointDescription(f"axle{len(joints)}", "continuous", "body", name, origin, np.array([0, 0, 1]))
            )
            forces.append((name, wheel(slope)))
    return Description("car", tuple(links), tuple(joints), floating=True, forces=tuple(forces))


@pytest.mark.filterwarnings("ignore:dt = 0.001 s is too long")  # for such a car at rest, where this one never comes
def test_steady_cornering_of_a_single_track_model():
    """Yaw rate V delta / (L + K V^2), where K = (1 / kf - 1 / kr) / g is the understeer gradient and k = B C mu the
    slip stiffness of an axle per load, which it keeps however the load is shared."""
    steer, speed, front, rear = 1e-3, 20.0, 9.0, 12.0
    robot = linkwork.load(car(steer, front, rear))
    q = robot.coordinates.neutral()
    q[2] = 0.2 + R - 960 * G / (4 * K)
    v = np.array([speed, 0, 0, 0, 0, 0, *[speed / R] * 4])
    run = robot.rollout(q, v, dt=1e-3, steps=4000, every=4000, method="rk4")
    forward, yaw = run.v[-1, 0], run.v[-1, 5]
    K_us = (1 / (front * C * MU) - 1 / (rear * C * MU)) / G
    assert yaw == pytest.approx(forward * steer / (2.8 + K_us * forward**2), rel=1e-4)


@pytest.mark.filterwarnings("ignore:dt = 0.001 s is too long")
def test_locked_wheels_brake_by_friction():
    """All slip is 1: the speed falls by mu sin(C atan B) times the load per mass, which is g but for the nodding."""
    robot = linkwork.load(car(0.0, B, B), lock={f"axle{k}": 0.0 for k in range(4)})
    q = robot.coordinates.neutral()
    q[2] = 0.2 + R - 960 * G / (4 * K)
    run = robot.rollout(q, np.eye(6)[0] * 20, dt=1e-3, steps=1500, every=500, method="rk4", outputs=("q", "momentum"))
    forward, up = run.momentum[1:, 0] / 960, run.momentum[1:, 2] / 960
    assert_close(forward, 20 - magic(1) * (G * run.t[1:] + up), tolerance=1e-5)
