"""Motion of frames, centroidal momentum, rates of matrices, Christoffel's symbols, the regressor of Slotine and Li."""

from importlib.metadata import files
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import linkwork
from linkwork.errors import UnsupportedError
from support.evaluate import deviation
from support.pinocchio_robot import PinocchioRobot

ROBOTS = ["panda", "puma560", "quadruped", "four-bar", "gough-stewart", "car", "flexible-two-link", "biped"]


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    q = np.array(robot.model.home) if robot.model.constrained else robot.coordinates.random(rng)
    return q, *rng.normal(size=(2, robot.nv))


def close(a, b, tolerance=1e-12):
    return deviation(a, b, 1.0) < tolerance


def along(robot, q, v, step):
    """Positions after a short time: to first order, which central differences need."""
    return q + step * np.asarray(robot.coordinates.rates(q, robot.joint_velocities(q, v)))


def rate(robot, function, q, v, h=1e-6):
    return (function(along(robot, q, v, h)) - function(along(robot, q, v, -h))) / (2 * h)


@pytest.mark.parametrize("name", ROBOTS)
def test_motion_of_frames(name):
    robot = linkwork.load(name)
    q, v, a = state(robot)
    poses, jacobians = robot.frame_poses(q), robot.frame_jacobians(q)
    velocities, accelerations = robot.frame_velocities(q, v), robot.frame_accelerations(q, v, a)
    for k, frame in enumerate(robot.frame_names):
        J, T = robot.jacobian(frame, q), robot.pose(frame, q)
        assert close(poses[k], T) and close(jacobians[k], J) and close(velocities[k], J @ v)
        acceleration = J @ a + robot.jacobian_drift(frame, q, v)
        assert close(accelerations[k], acceleration)
    local = np.concatenate([T[:3, :3].T @ x for x in (acceleration[:3], acceleration[3:])])
    assert close(robot.frame_velocity(frame, q, v), J @ v)
    assert close(robot.frame_acceleration(frame, q, v, a), acceleration)
    assert close(robot.frame_acceleration(frame, q, v, a, axes="local"), local)
    assert close(robot.frame_velocity(frame, q, v, axes="local"), robot.jacobian(frame, q, axes="local") @ v)


@pytest.mark.parametrize("name", ROBOTS)
def test_rates(name):
    robot = linkwork.load(name)
    q, v, _ = state(robot)
    frame = robot.frame_names[-1]
    for axes in ("world", "local"):
        Jdot = robot.jacobian_rate(frame, q, v, axes=axes)
        assert close(Jdot @ v, robot.jacobian_drift(frame, q, v, axes=axes), 1e-12)
        assert close(Jdot, rate(robot, lambda q, axes=axes: robot.jacobian(frame, q, axes=axes), q, v), 1e-8)
    assert close(robot.inertia_matrix_rate(q, v), rate(robot, robot.inertia_matrix, q, v), 1e-8)
    Adot = robot.centroidal_momentum_matrix_rate(q, v)
    assert close(Adot, rate(robot, robot.centroidal_momentum_matrix, q, v), 1e-8)
    if not robot.model.constrained:
        C = robot.coriolis_matrix(q, v)
        assert close(robot.inertia_matrix_rate(q, v), C + C.T)


@pytest.mark.parametrize("name", ROBOTS)
def test_centroidal_momentum(name):
    robot = linkwork.load(name)
    q, v, _ = state(robot)
    A, J = robot.centroidal_momentum_matrix(q), robot.center_of_mass_jacobian(q)
    assert close(A @ v, robot.momentum(q, v))
    assert close(J @ v, rate(robot, robot.center_of_mass, q, v), 1e-8)


def test_against_pinocchio():
    names = (file for file in files("example-robot-data") or () if str(file).endswith("robots/anymal.urdf"))
    path = Path(str(next(names).locate()))
    robot = linkwork.load(path, base="floating", friction=False, rotors=False)
    peer = PinocchioRobot(path.read_text(), robot.model)
    q, v, _ = state(robot)
    x, u = peer.q(q), peer.v(v)
    pin.dccrba(peer.model, peer.data, x, u)
    assert close(robot.centroidal_momentum_matrix(q) @ v, peer.data.Ag @ u)
    assert close(robot.centroidal_momentum_matrix_rate(q, v) @ v, peer.data.dAg @ u, 1e-11)
    assert close(robot.center_of_mass_jacobian(q) @ v, pin.jacobianCenterOfMass(peer.model, peer.data, x) @ u)


@pytest.mark.parametrize("name", ["panda", "flexible-two-link", "scara", "stanford"])
def test_christoffel_symbols(name):
    robot = linkwork.load(name)
    q, v, _ = state(robot)
    c = robot.christoffel_symbols(q)
    assert close(c, c.swapaxes(1, 2))
    assert close(np.einsum("ijk,j,k", c, v, v), robot.coriolis_matrix(q, v) @ v)
    half = np.einsum("ijk,k->ij", c, v)
    assert close(half + half.T, robot.inertia_matrix_rate(q, v))


@pytest.mark.parametrize("name", ["quadruped", "four-bar"])
def test_no_christoffel_symbols(name):
    with pytest.raises(UnsupportedError, match="velocities are the rates of the positions"):
        _ = linkwork.load(name).christoffel_symbols


@pytest.mark.parametrize("name", ["panda", "quadruped", "scara", "stanford", "puma560"])
def test_regressor_of_slotine_and_li(name):
    robot = linkwork.load(name)
    q, v, a_ref = state(robot)
    v_ref = np.random.default_rng(9).normal(size=robot.nv)
    Y, theta = robot.adaptive_regressor(q, v, v_ref, a_ref), robot.parameter_values("standard", drives=["IA"])
    expected = robot.inertia_matrix(q) @ a_ref + robot.coriolis_matrix(q, v) @ v_ref + robot.gravity(q)
    assert close(Y @ theta, expected)
    links = 10 * robot.model.n_bodies
    same = robot.adaptive_regressor(q, v, v, a_ref)  # at the actual velocity it is the regressor
    assert close(same[:, :links], robot.regressor(q, v, a_ref, drives=False))


def test_no_regressor_of_loops():
    with pytest.raises(UnsupportedError, match="trees of rigid links"):
        _ = linkwork.load("four-bar").adaptive_regressor
