"""Recordings with a mistake in them are doubted, and the mistake is named; right ones are not."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.errors import IdentificationWarning
from linkwork.identify import Log
from linkwork.identify.logs.column_agreement import disagreements
from linkwork.identify.regression.log_warnings import explained, log_warnings
from support.recordings import other, swung

DEGREES = 180 / np.pi
RNG = np.random.default_rng(5)


@pytest.fixture(scope="module")
def robot():
    return linkwork.load("planar2r")


@pytest.fixture(scope="module")
def log(robot):
    right = swung(other(robot, 1), 10, 100)
    return right.noisy(1, q=2e-5, v=1e-3, a=1e-2, tau=0.01 * np.abs(right.tau).max(axis=0))


def bare(log: Log) -> Log:
    return replace(log, v=None, a=None)


def motion(log: Log, change) -> Log:
    return replace(log, q=change(log.q), v=change(log.v), a=change(log.a))


def swapped(x):
    return x[:, ::-1]


def first_reversed(x):
    return x * [-1, 1]


def late(x):
    return np.concatenate([np.repeat(x[:1], 15, axis=0), x[:-15]])


WRONG = {
    "times in ms": (lambda log: replace(log, t=1000 * log.t), "v is 1e.03 times .* are the times in milliseconds"),
    "times in ms, no v": (lambda log: bare(replace(log, t=1000 * log.t)), "0.1 samples per second.* in milliseconds"),
    "times not in ms": (lambda log: bare(replace(log, t=log.t / 1000)), "1e.05 samples per second: .* in seconds"),
    "q swapped": (
        lambda log: replace(log, q=swapped(log.q)),
        "v is the derivative of q of another joint: shoulder is that of elbow, elbow is that of shoulder",
    ),
    "motion swapped": (lambda log: motion(log, swapped), "columns of q, v and a of shoulder and elbow exchanged"),
    "tau swapped": (lambda log: replace(log, tau=swapped(log.tau)), "columns of tau of shoulder and elbow exchanged"),
    "v swapped": (lambda log: replace(log, v=swapped(log.v)), "are the columns of q or v in another order"),
    "a swapped": (lambda log: replace(log, a=swapped(log.a)), "are the columns of v or a in another order"),
    "v for a": (lambda log: replace(log, v=log.a, a=log.v), "are the columns of v and a swapped"),
    "v half": (lambda log: replace(log, v=log.v / 2), "v of shoulder, elbow is 0.5 times the derivative of q"),
    "v in rpm": (lambda log: replace(log, v=log.v * 30 / np.pi), "is v in rpm"),
    "v reversed": (lambda log: replace(log, v=first_reversed(log.v)), "v of shoulder is -1 times .* its sign wrong"),
    "v late": (lambda log: replace(log, v=late(log.v)), r"v of shoulder, elbow comes 0.15 s \(15 samples\) behind"),
    "v of another motion": (lambda log: replace(log, v=np.roll(log.v, 333, axis=0)), "v of .* is not the derivative"),
    "a reversed": (lambda log: replace(log, a=-log.a), "a of shoulder, elbow is -1 times the derivative of v"),
    "q in degrees": (lambda log: replace(log, q=DEGREES * log.q), "0.0175 times the derivative of q: is q in degrees"),
    "motion in degrees": (lambda log: motion(log, lambda x: DEGREES * x), r"turns at \d+ rad/s: is it in degrees"),
    "slow motion in degrees": (
        lambda log: replace(log, t=2 * log.t, q=DEGREES * log.q, v=DEGREES / 2 * log.v, a=DEGREES / 4 * log.a),
        "q, v and a of all joints in degrees",
    ),
    "motion reversed": (lambda log: motion(log, first_reversed), "sign of q, v and a of shoulder wrong"),
    "tau reversed": (lambda log: replace(log, tau=first_reversed(log.tau)), "forces of shoulder have the other sign"),
    "currents": (lambda log: replace(log, tau=80 * log.tau), "are they currents, or in another unit"),
    "tau at random": (
        lambda log: replace(log, tau=RNG.normal(size=log.tau.shape)),
        r"explains less than half of the squares of some forces \(\d% of shoulder, \d% of elbow\): .* mostly noise",
    ),
    "tau of another time": (lambda log: replace(log, tau=np.roll(log.tau, 333, axis=0)), "not of this motion"),
}


@pytest.mark.filterwarnings("ignore::linkwork.errors.IdentificationWarning")
@pytest.mark.parametrize("what", WRONG)
def test_planar_arm(robot, log, what):
    change, words = WRONG[what]
    with pytest.warns(IdentificationWarning, match=words):
        fit = robot.identify(change(log), width=0.05)
    assert fit.warnings and {*fit.warnings} <= {*fit.notes}


@pytest.mark.filterwarnings("ignore::linkwork.errors.IdentificationWarning")
def test_other_robots():
    """The order of six joints, and the forces of a mechanism with loops, whose positions cannot be exchanged."""
    puma = linkwork.load("puma560")
    right = swung(other(puma, 1), 8, 50)
    order = [0, 2, 3, 1, 4, 5]
    with pytest.warns(IdentificationWarning, match="of tau of elbow and wrist_roll, then shoulder and elbow exchanged"):
        puma.identify(replace(right, tau=right.tau[:, order]), "wls", width=0.05)
    bar = linkwork.load("five-bar")
    t = np.arange(0, 10, 0.01)
    q = np.stack([0.5 * np.sin(1.3 * t) + 0.2 * np.sin(2.9 * t), 0.4 * np.sin(1.9 * t + 1)], axis=1)
    whole = Log(t, q, 0 * q, joints=["left", "right"]).for_robot(bar)
    tau = other(bar, 1).inverse_dynamics(whole.q, whole.v, whole.a)
    with pytest.warns(IdentificationWarning, match="columns of tau of left and right exchanged"):
        bar.identify(replace(whole, tau=tau[:, ::-1]), "wls", width=0.05)


@pytest.mark.filterwarnings("ignore::linkwork.errors.IdentificationWarning")  # of what hardly moves
@pytest.mark.parametrize("name", ["planar2r", "scara", "puma560"])
@pytest.mark.parametrize("size", [1.0, 0.02], ids=["moving", "hardly moving"])
def test_nothing_is_said_of_right_recordings(name, size):
    robot = linkwork.load(name)
    for seed in range(2):
        right = swung(other(robot, seed), 8, 100, seed, size)
        scale = np.abs(right.tau).max(axis=0)
        noisy = right.noisy(seed, q=2e-5, v=1e-3, a=1e-2, tau=0.03 * scale)
        for log in (right, noisy, bare(noisy).smoothed(8).banded(6), noisy.without_standstill(), noisy[:120]):
            fit = robot.identify(log, "wls", width=0.05)
            assert [*log_warnings(fit.unknowns, [log.for_robot(robot)], fit.base.values)] == []


def test_free_flyers_are_compared_along_their_coordinates():
    """Angular velocities are no derivatives of quaternions."""
    robot = linkwork.load("planar2r", base="floating", gravity=[0, 0, 0])
    run = robot.simulate(v0=[0.1, 0.2, 0.3, 1.0, 0.6, -0.8, 1.1, -2.0], duration=4.0, dt=0.01, method="rk4")
    log = Log.from_trajectory(run)
    assert [*disagreements(robot, log)] == []
    v = log.v.copy()
    v[:, [3, 4]] = v[:, [4, 3]]
    assert any("base.rx is that of base.ry" in text for text in disagreements(robot, replace(log, v=v)))


def test_states_that_do_not_follow_each_other(robot):
    """Nothing is to be compared where samples are no motion, are few, or have long gaps."""
    q, v, a = np.random.default_rng(0).normal(size=(3, 400, 2))
    t = np.arange(400) / 100
    assert [*disagreements(robot, Log(t, q, q, v, a))] == []
    assert [*disagreements(robot, Log(t[:20], q[:20], q[:20], v[:20], a[:20]))] == []
    gap = np.where(t < 2, t, t + 1e6)
    assert [*disagreements(robot, Log(gap, q, q, v, a))] == []


def test_share_that_is_explained():
    """By hand: of squares, and about a large mean of what varies, but for noise."""
    t = np.linspace(0, 1, 5000)
    wave, quiet = np.sin(40 * t), np.zeros(1)
    column = lambda x: np.asarray(x)[:, None]  # noqa: E731
    assert explained(column(wave), column(0.5 * wave), quiet) == pytest.approx([0.75], abs=0.01)
    assert explained(column(10 + wave), column(10 + 0 * wave), quiet) == pytest.approx([0.0], abs=0.01)
    noise = np.random.default_rng(0).normal(size=5000) * 0.3
    assert explained(column(10 + wave + noise), column(10 + wave), np.array([0.3])) == pytest.approx([1.0], abs=0.02)
    assert explained(column(10 + noise), column(10 + 0 * wave), np.array([0.3])) > 0.99
    small = np.stack([100 * wave, noise], axis=1)
    assert explained(small, np.stack([100 * wave, 0 * wave], axis=1), np.array([0.0, 0.3])) == pytest.approx([1, 1])
