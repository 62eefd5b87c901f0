"""Impacts with friction: the impulse is within its cone, and against the slip that it leaves."""

import numpy as np
import pytest
from scipy.optimize import brentq, nnls

import linkwork
from linkwork.model import Description, Link, LinkInertia, foot_at
from linkwork.sim.contact.contact_modes import ContactDynamics, Ground
from linkwork.sim.contact.coulomb_impact import coulomb_impulses
from support.random_robots import inertia

STILL = [0.0, 0, 0, 0, 0, 0, 1]


def lump(rng, friction, restitution=0.0) -> linkwork.Robot:
    """A body of any inertia whose foot, its origin, is away from the centre of mass."""
    return linkwork.load(
        Description(
            "lump", (Link("lump", inertia(rng)),), (), floating=True, gravity=(0.0, 0.0, 0.0),
            constraints=(foot_at("lump", "lump", friction=friction, restitution=restitution),),
        )
    )  # fmt: skip


def effective(robot: linkwork.Robot) -> np.ndarray:
    """W: what an impulse on the foot does to its velocity; all at the base's origin, in axes of the world."""
    return np.linalg.inv(robot.inertia_matrix(STILL))[:3, :3]


def one_contact(W, u, mu, e=0.0) -> np.ndarray:
    """The impulse by brute force: stick if the cone allows it, else all directions of the slip after the impact that
    agree with themselves."""
    goal = np.array([0, 0, -e * u[2]])
    stick = np.linalg.solve(W, goal - u)
    if np.hypot(*stick[:2]) <= mu * stick[2]:
        return stick

    def along(angle):
        ray = np.array([-mu * np.cos(angle), -mu * np.sin(angle), 1.0])
        return ray * (goal[2] - u[2]) / (W[2] @ ray)

    def turned(angle):
        slip = u + W @ along(angle)
        return slip[1] * np.cos(angle) - slip[0] * np.sin(angle)

    angles = np.linspace(0, 2 * np.pi, 721)
    values = np.array([turned(angle) for angle in angles])
    roots = [
        brentq(turned, a, b, xtol=1e-15) for a, b, x, y in zip(angles, angles[1:], values, values[1:]) if x * y < 0
    ]
    found = [along(x) for x in roots if (u + W @ along(x))[:2] @ [np.cos(x), np.sin(x)] > 0 and along(x)[2] > 0]
    assert len(found) == 1
    return found[0]


def after(robot: linkwork.Robot, u, w) -> np.ndarray:
    """Velocities of the body after its foot has struck the ground with the velocity u."""
    run = robot.simulate(STILL, [*u, *w], 1e-9, 1e-9, contacts="coulomb")
    assert run.events[0].what == "touchdown"
    return run.v[0]


def struck(W, u, mu, e=0.0) -> np.ndarray:
    """Velocities of one foot after its impact, whose own velocities are the coordinates."""
    here = situation(np.linalg.inv(W), u, np.eye(3)[None])
    return Ground(np.array([mu]), np.array([e]), [[0]], slides=True).impact(here, [0])


def situation(M, v, J) -> ContactDynamics:
    n, feet = len(v), len(J)
    still = np.zeros((feet, 3))
    return ContactDynamics(M, np.zeros(n), v, np.zeros((0, n)), np.zeros(0), J, still, still)


def angle_between(a, b) -> float:
    return np.degrees(np.arccos(np.clip(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)), -1, 1)))


@pytest.mark.parametrize("mu", [0.02, 0.2, 0.5])
def test_one_foot(mu):
    """Slips that the sticking impulse is 7 to 46 degrees off, and those that turn round, are among the cases."""
    off, turned = [], 0
    for seed in range(40):
        W, u = foot(np.random.default_rng(seed))
        p, stick = one_contact(W, u, mu), np.linalg.solve(W, -u)
        expected = u + W @ p
        np.testing.assert_allclose(struck(W, u, mu), expected, rtol=0, atol=1e-10)
        if np.abs(expected[:2]).max() > 1e-9:
            off.append(angle_between(stick[:2], -expected[:2]))
            turned += expected[:2] @ u[:2] < 0
    assert max(off) > 46 and sum(angle > 7 for angle in off) > 5 and turned > 0


def foot(rng) -> tuple[np.ndarray, np.ndarray]:
    """The inverse W of the effective mass, and the velocity before."""
    A = rng.normal(size=(3, 3))
    return A @ A.T + 0.5 * np.eye(3), np.array([*(0.6 * rng.normal(size=2)), -1.0])


def test_one_foot_that_bounces():
    kept = 0
    for seed in range(20):
        W, u = foot(np.random.default_rng(seed))
        expected = u + W @ one_contact(W, u, 0.2, 0.4)
        if expected @ np.linalg.solve(W, expected) < u @ np.linalg.solve(W, u):  # else it bounces less
            np.testing.assert_allclose(struck(W, u, 0.2, 0.4), expected, rtol=0, atol=1e-10)
            kept += 1
    assert kept > 10


def test_a_body_that_comes_down():
    """The same in a simulation, where the sticking impulse is 28 degrees off."""
    rng = np.random.default_rng(6)
    robot, w = lump(rng, 0.2), rng.normal(size=3)
    W, u = effective(robot), np.array([0.5, -0.8, -1.0])
    p = one_contact(W, u, 0.2)
    expected = np.array([*u, *w]) + np.linalg.solve(robot.inertia_matrix(STILL), [*p, 0, 0, 0])
    np.testing.assert_allclose(after(robot, u, w), expected, rtol=0, atol=1e-10)
    assert angle_between(expected[:2], np.linalg.solve(W, u)[:2]) > 28


def test_limits():
    """Without friction nothing acts along the ground; with much of it the foot stops, as ``impact`` has it; one that
    comes straight down sticks or slides from rest."""
    u, w = np.array([0.6, -0.4, -1.0]), np.array([0.3, 0.2, -0.5])
    smooth, rough = (lump(np.random.default_rng(0), mu) for mu in (0.0, 50.0))
    change = smooth.inertia_matrix(STILL) @ (after(smooth, u, w) - [*u, *w])
    np.testing.assert_allclose(change[[0, 1, 3, 4, 5]], 0, atol=1e-12)
    stopped = rough.impact(STILL, [*u, *w], [1], [0]).v_after
    np.testing.assert_allclose(after(rough, u, w), stopped, atol=1e-12)
    for seed in range(10):
        W, down = foot(np.random.default_rng(seed))[0], np.array([0, 0, -1.0])
        np.testing.assert_allclose(struck(W, down, 0.1), down + W @ one_contact(W, down, 0.1), atol=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_several_feet(seed):
    """Each impulse is in its cone and against its slip, and each foot that pushes stops along the normal."""
    rng = np.random.default_rng(seed)
    A, J, mu = rng.normal(size=(12, 12)), rng.normal(size=(3, 3, 12)), rng.uniform(0.05, 0.5, 3)
    M, rows = A @ A.T + np.eye(12), J.reshape(9, 12)
    v = np.linalg.lstsq(rows, np.array([[*rng.normal(size=2), -1.0] for _ in mu]).ravel())[0]
    found = Ground(mu, np.zeros(3), [[0], [1], [2]], slides=True).impact(situation(M, v, J), range(3))
    p = np.linalg.lstsq(rows.T, M @ (found - v))[0].reshape(3, 3)
    np.testing.assert_allclose(rows.T @ p.ravel(), M @ (found - v), atol=1e-10)
    u = J @ found
    assert (p[:, 2] > -1e-10).all() and (u[:, 2] > -1e-10).all() and np.abs(p[:, 2] * u[:, 2]).max() < 1e-10
    assert (np.hypot(*p[:, :2].T) <= mu * p[:, 2] + 1e-10).all()
    lost = np.einsum("ij,ij->i", p[:, :2], u[:, :2]) + mu * p[:, 2] * np.hypot(*u[:, :2].T)
    np.testing.assert_allclose(lost, 0, atol=1e-10)  # against the slip, with all of friction
    assert found @ M @ found < v @ M @ v


def test_a_sole_that_turns_and_slides():
    """Each corner rubs against its own slip: no energy is made, and what all of them do is a wrench of that law."""
    rng = np.random.default_rng(3)
    robot = linkwork.load(Description(
        "plate", (Link("plate", LinkInertia(2.0, np.array([0.05, -0.02, 0.1]), np.diag([0.02, 0.03, 0.04]))),), (),
        floating=True, gravity=(0.0, 0.0, 0.0), constraints=(foot_at("plate", "plate", size=(0.4, 0.2), friction=0.3),),
    ))  # fmt: skip
    M = robot.inertia_matrix(STILL)
    for _ in range(4):
        v = np.array([*rng.normal(size=2), -1.0, 0, 0, 5 * rng.normal()])
        run = robot.simulate(STILL, v, 1e-9, 1e-9, contacts="coulomb")
        found = run.v[0]
        impulse = M @ (found - v)
        corners = np.array([[x, y] for x in (0.2, -0.2) for y in (0.1, -0.1)])
        slips = found[:2] + found[5] * corners[:, ::-1] * [-1, 1]
        rays = -0.3 * slips / np.hypot(*slips.T)[:, None]
        # what four corners do that push and rub so
        wrench = np.array([
            [*rays.T[0]], [*rays.T[1]], np.ones(4), corners[:, 1], -corners[:, 0],
            corners[:, 0] * rays[:, 1] - corners[:, 1] * rays[:, 0],
        ])  # fmt: skip
        assert nnls(wrench, impulse)[1] < 1e-10
        assert found @ M @ found < v @ M @ v


def test_rubbing_by_itself():
    """Of one foot without coupling that comes down: as much as mu N, or what stops it."""
    u, W = np.array([[3.0, 4.0, -2.0]]), np.diag([2.0, 2.0, 1.0])
    np.testing.assert_allclose(coulomb_impulses(u, W, np.array([0.25])), [[-0.3, -0.4, 2.0]], atol=1e-14)
    np.testing.assert_allclose(coulomb_impulses(u, W, np.array([9.0])), [[-1.5, -2.0, 2.0]], atol=1e-14)


@pytest.mark.parametrize("seed", [9, 14, 39, 40, 88, 93])
def test_a_foot_at_rest_begins_to_slip_where_another_slides(seed):
    """It would pull if it stuck, and sink if it were left out: it slips, and friction is against its acceleration."""
    rng, n = np.random.default_rng(seed), 8
    A, J = rng.normal(size=(n, n)), rng.normal(size=(2, 3, n))
    M, v, held = A @ A.T + 0.3 * np.eye(n), rng.normal(size=n), np.vstack([J[0, 2:], J[1]])
    v -= np.linalg.pinv(held) @ held @ v  # the first foot slides, the second is at rest
    f, p = 3 * rng.normal(size=n), rng.normal(size=(2, 3))
    here = ContactDynamics(M, f, v, np.zeros((0, n)), np.zeros(0), J, np.zeros((2, 3)), p)
    ground = Ground(rng.uniform(0.2, 1.2, 2), np.zeros(2), [[0], [1]], slides=True)
    mode = ground.choose_mode(here, [0, 1], (), (), ())
    assert mode is not None and mode[1] is not None
    a, F = ground.accelerations(here, mode)
    slip, rising = (J @ a)[1, :2], (J @ a)[:, 2]
    assert F[1, 2] > 0 and F[0, 2] >= 0 and (0 in mode or rising[0] > 0)
    np.testing.assert_allclose(F[1, :2], -ground.friction[1] * F[1, 2] * slip / np.hypot(*slip), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(M @ a, f + np.einsum("fkn,fk->n", J, F), rtol=1e-9, atol=1e-9)
