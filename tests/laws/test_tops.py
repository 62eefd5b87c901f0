"""Bodies that turn on a ball joint: Euler's top against its elliptic functions, the heavy top, and what both keep."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ellipj

import linkwork
from linkwork.model import Description, JointDescription, Link, LinkInertia, Placement
from support.evaluate import assert_close, rotation_of
from support.random_robots import random_rotation

MASS, MOMENTS = 2.0, np.array([0.1, 0.2, 0.3])  # the moments about the centre of mass
CENTER, GRAVITY = np.array([0.02, -0.1, 0.2]), 9.81  # of the heavy top
PLACE = Placement(random_rotation(np.random.default_rng(1)), np.array([0.3, -0.2, 0.5]))  # of the joint
START = np.array([0.1, -0.3, 0.2, 0.8]) / np.linalg.norm([0.1, -0.3, 0.2, 0.8])
SPIN = np.array([3.0, 0.0, 1.8])  # comes close to the middle axis, about which no turn is stable
ORDERS = {"semi-implicit-euler": 1, "rk4": 4, "adams-bashforth-4": 4}


def robot(center: np.ndarray, gravity: float, joints: tuple[JointDescription, ...] = ()) -> linkwork.Robot:
    """A body on a ball joint, or on other joints."""
    joints = joints or (JointDescription("ball", "spherical", "base", "top", PLACE),)
    body = LinkInertia(MASS, center, np.diag(MOMENTS))
    links = (Link("base"), *(Link(joint.child) for joint in joints[:-1]), Link("top", body))
    return linkwork.load(Description("top", links, joints, gravity=(0.0, 0.0, -gravity)))


def kept(motion, center: np.ndarray, gravity: float) -> np.ndarray:
    """Energy and angular momentum about the joint, in world axes, over time; from q and v alone."""
    J = np.diag(MOMENTS) + MASS * (center @ center * np.eye(3) - np.outer(center, center))
    R = np.array([PLACE.rotation @ rotation_of(q) for q in motion.q])
    energy = ((motion.v @ J) * motion.v).sum(axis=1) / 2 + MASS * gravity * (R @ center)[:, 2]
    return np.column_stack([energy, (R @ (motion.v @ J)[..., None])[..., 0]])


def orders(errors: list[float]) -> list[float]:
    """From errors at steps that are halved."""
    return [float(np.log2(one / other)) for one, other in pairwise(errors)]


def euler_top(t: np.ndarray) -> np.ndarray:
    """The angular velocity of the free top (Landau and Lifshitz, Mechanics, section 37)."""
    (I1, I2, I3), E2, M2 = MOMENTS, SPIN @ (MOMENTS * SPIN), (MOMENTS * SPIN) @ (MOMENTS * SPIN)
    assert M2 > E2 * I2 and SPIN[1] == 0
    m = (I2 - I1) * (E2 * I3 - M2) / ((I3 - I2) * (M2 - E2 * I1))
    sn, cn, dn, _ = ellipj(t * np.sqrt((I3 - I2) * (M2 - E2 * I1) / (I1 * I2 * I3)), m)
    a1, a2 = (np.sqrt((E2 * I3 - M2) / (I * (I3 - I))) for I in (I1, I2))
    return np.column_stack([a1 * cn, a2 * sn, np.sqrt((M2 - E2 * I1) / (I3 * (I3 - I1))) * dn])


def test_euler_top():
    free = robot(np.zeros(3), 0.0)
    motion = free.simulate(START, SPIN, 8.0, 1e-3, method="rk4")
    expected = euler_top(motion.t)
    assert np.abs(np.diff(np.sign(expected[:, 0]))).sum() >= 4  # it turns over and back
    assert_close(motion.v, expected, tolerance=1e-9)
    assert_close(
        kept(motion, np.zeros(3), 0.0), np.tile(kept(motion, np.zeros(3), 0.0)[0], (len(motion.t), 1)), tolerance=1e-9
    )


@pytest.mark.filterwarnings("ignore:the energy balance")  # of the longest steps of first order
@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.parametrize("center, gravity", [(np.zeros(3), 0.0), (CENTER, GRAVITY)], ids=["free", "heavy"])
def test_energy_and_momentum_are_kept_to_the_order_of_the_method(method: str, center: np.ndarray, gravity: float):
    """Of the heavy top, the momentum about the vertical through the joint."""
    ours, lost = robot(center, gravity), []
    for dt in (4e-3, 2e-3, 1e-3):
        motion = ours.simulate(START, SPIN, 0.512, dt, method=method)
        change = np.abs(np.diff(kept(motion, center, gravity)[[0, -1]], axis=0))[0]
        lost.append(change if not gravity else change[[0, 3]])
        assert np.abs(np.linalg.norm(motion.q, axis=1) - 1).max() < 4e-16
    for errors in np.array(lost).T:
        assert orders(list(errors))[-1] == pytest.approx(ORDERS[method], abs=0.35), lost


def test_a_ball_joint_is_three_revolute_joints():
    """The same heavy top on a ball and on three axes that meet, the links between without mass."""
    x, y, z = np.eye(3)
    axes = (("yaw", "base", "one", z), ("pitch", "one", "two", y), ("roll", "two", "top", x))
    joints = tuple(
        JointDescription(name, "revolute", parent, child, PLACE if parent == "base" else Placement(), axis)
        for name, parent, child, axis in axes
    )
    ball, gimbal = robot(CENTER, GRAVITY), robot(CENTER, GRAVITY, joints)
    angles = np.array([0.3, 0.2, -0.4])
    R = PLACE.rotation.T @ gimbal.pose("top", angles)[:3, :3]
    half = np.sqrt(1 + np.trace(R)) / 2
    q = np.array([*(R - R.T)[[2, 0, 1], [1, 2, 0]] / (4 * half), half])
    assert_close(ball.pose("top", q), gimbal.pose("top", angles), scale=1.0)
    rates = np.array([0.5, -0.3, 0.8])
    v = gimbal.jacobian("top", angles, axes="local")[3:] @ rates
    one = ball.simulate(q, v, 0.5, 1e-3, method="rk4")
    other = gimbal.simulate(angles, rates, 0.5, 1e-3, method="rk4")
    assert_close(ball.pose("top", one.q), gimbal.pose("top", other.q), scale=1.0, tolerance=1e-10)
    assert np.abs(other.q[-1] - other.q[0]).max() > 0.4


@pytest.mark.parametrize("method", ["semi-implicit-euler", "rk4"])
def test_a_million_steps(method: str):
    """Quaternions stay of length one in native loops; and with many digits the heavy top keeps what it should."""
    ours = robot(CENTER, GRAVITY)
    motion = ours.rollout(START[None], SPIN[None], dt=1e-4, steps=1_000_000, every=100_000, method=method)
    assert motion.q.shape == (1, 11, 4)
    assert np.abs(np.linalg.norm(motion.q, axis=-1) - 1).max() < 4e-16
    if method == "rk4":
        energy, *_, about_vertical = kept(motion[0], CENTER, GRAVITY).T
        for value in (energy, about_vertical):
            assert_close(value, np.full(11, value[0]), tolerance=1e-9)
