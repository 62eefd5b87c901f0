"""What can be asked of ``Robot.identify``, each against robots whose numbers are known, and what its answer says."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.errors import IdentificationWarning
from linkwork.identify import Log, drive_gains
from linkwork.identify.regression import stacked_regressor
from linkwork.identify.regression.stacked_regressor import collect
from linkwork.model import Asymmetric, Offset, Stribeck
from support.driven_robots import coupled
from support.evaluate import deviation
from support.random_robots import Recipe, describe
from support.recordings import forces, other, recorded, states, swung

LOAD = {"mass": 1.5, "center": [0.05, 0.02, -0.03], "inertia": [0.01, 0.012, 0.015]}


@pytest.fixture(scope="module")
def robot():
    return linkwork.load("planar2r")


@pytest.fixture(scope="module")
def truth(robot):
    return other(robot, 1)


@pytest.fixture(scope="module")
def log(truth):
    return recorded(truth, 150)


@pytest.fixture(scope="module")
def noisy(log):
    return log.noisy(0, tau=0.01 * np.abs(log.tau).max(axis=0))


def own(robot):
    return dict(zip(robot.parameter_names(drives=True), robot.parameter_values(drives=True), strict=True))


def assert_same(found, expected, seed=5, tolerance=1e-8, slow=0.0):
    """Forces of two robots; ``slow``: not at velocities below."""
    q, v, a = states(expected, 40, seed)
    v = np.where(np.abs(v) < slow, slow, v)
    assert deviation(forces(found, q, v, a), forces(expected, q, v, a)) < tolerance


# -- friction --------------------------------------------------------------------------------------------------------


LAWS = {
    "asymmetric": (Asymmetric(0.8, 0.3, 0.5, 1.1),),
    "stribeck": (Stribeck(0.6, 0.9), Offset(0.3)),
}


def test_asymmetric_and_stribeck(robot, truth):
    """By name, and as an object whose velocity is known; of each joint its own."""
    rubbing = truth.with_friction({"shoulder": LAWS["asymmetric"], "elbow": LAWS["stribeck"]})
    asked = {"shoulder": ["asymmetric"], "elbow": [Stribeck(0.0, 0.9), "offset"]}
    fit = robot.identify(recorded(rubbing, 150), "wls", friction=asked, width=0.0)
    assert_same(fit.robot, rubbing)
    found = {name: x for name, x in fit.standard.as_dict.items() if ".F" in name}
    expected = {name: x for name, x in own(rubbing).items() if name in found}
    assert len(found) == 6 and found == pytest.approx(expected, rel=1e-8)


def test_one_joint_alone(robot, truth):
    """The other one has the friction of its file then, which is none."""
    rubbing = truth.with_friction({"shoulder": {"viscous": 0.7}})
    smooth = rubbing.with_friction({"elbow": {}})
    fit = robot.identify(recorded(smooth, 150), "wls", friction={"shoulder": "viscous"})
    assert_same(fit.robot, smooth)
    assert [name for name in fit.standard if name.endswith((".FV", ".FS", ".F0"))] == ["shoulder.FV"]


def test_no_friction_asked_for_keeps_that_of_the_file(robot, truth):
    rubbing = {"shoulder": {"coulomb": 0.6, "viscous": 0.7, "offset": 0.2}, "elbow": LAWS["stribeck"]}
    known, stiff = robot.with_friction(rubbing), truth.with_friction(rubbing)
    fit = known.identify(recorded(stiff, 150), "wls", friction=())
    assert_same(fit.robot, stiff)
    assert not [name for name in fit.standard if ".F" in name]


def test_width_is_found(robot, truth):
    width = 0.06
    smooth = truth.with_friction(
        {
            name: {"coulomb": c, "viscous": 0.4, "width": width}
            for name, c in zip(("shoulder", "elbow"), (3.0, 2.0), strict=True)
        }
    )
    log = swung(smooth, 12, 100, size=0.3)
    log = log.noisy(0, tau=0.05)
    fit = robot.identify(log, "wls")
    widths = [body.joint.friction_width for body in fit.robot.model.bodies]
    assert widths == pytest.approx([width, width], rel=0.2)
    assert any("goes smoothly through zero" in note for note in fit.notes)
    sharp = robot.identify(log, "wls", width=0.0)
    assert [body.joint.friction_width for body in sharp.robot.model.bodies] == [0.0, 0.0]
    assert fit.errors["held out"].max() < sharp.errors["held out"].max()
    again = robot.with_parameters(fit)
    assert [body.joint.friction_width for body in again.model.bodies] == widths
    assert_same(again, fit.robot, tolerance=1e-12)


# -- what is to be found ---------------------------------------------------------------------------------------------


def test_drives_alone(robot, truth, log):
    """With inertias that are known."""
    fit = truth.identify(log, "wls", inertias=False, width=0.0)
    assert {name.rpartition(".")[2] for name in fit.standard} == {"IA", "FS", "FV", "F0"}
    assert [own(truth)[name] for name in fit.standard] == pytest.approx(list(fit.standard.values), rel=1e-8)
    assert fit.is_physical and fit.physical == {}
    assert_same(fit.robot, truth)


def test_known_rotors(robot, truth, log):
    rotors = {name: x for name, x in own(truth).items() if name.endswith(".IA")}
    fit = robot.with_parameters(rotors).identify(log, "wls", rotors=False, width=0.0)
    assert not [name for name in fit.standard if name.endswith(".IA")]
    assert_same(fit.robot, truth)


def test_springs():
    robot = linkwork.load(describe(Recipe(2, joints=3, extras=True)))
    assert any(body.joint.stiffness for body in robot.model.bodies)
    truth = other(robot, 1)
    springs = {name: 1.7 * x for name, x in own(truth).items() if name.endswith(".K") and x}
    truth = truth.with_parameters(springs) if springs else truth
    fit = robot.identify(recorded(truth, 200), "wls", springs=True, width=0.0)
    found = {name: x for name, x in fit.standard.as_dict.items() if name.endswith(".K")}
    assert found and found == pytest.approx({name: own(truth)[name] for name in found}, rel=1e-8)
    assert_same(fit.robot, truth)


@pytest.mark.parametrize("method", ["wls", "consistent"])
def test_payload(method):
    """Ten of ten, in a frame whose origin is not that of its link."""
    robot, frame = linkwork.load("panda"), "panda_link8"
    carrying = robot.with_payload({frame: LOAD})
    log = recorded(carrying, 60, reach=2)
    log = log.noisy(0, tau=1e-9)  # as good as exact
    fit = robot.identify(log, method, payload=frame)
    assert len(fit.standard) == 10 and set(fit.standard.status) == {"alone"}
    assert_same(fit.robot, carrying, tolerance=1e-5)
    assert_same(robot.with_payload(fit), fit.robot, tolerance=1e-12)
    assert fit.payload[frame]["mass"] == pytest.approx(LOAD["mass"], rel=1e-5)
    assert fit.payload[frame]["center"] == pytest.approx(LOAD["center"], abs=1e-5)
    assert np.array(fit.payload[frame]["inertia"]) == pytest.approx(np.diag(LOAD["inertia"]), abs=1e-5)


def test_transmissions():
    """A recording of motors, through ``from_drives``."""
    wrist = coupled(describe(Recipe(3, joints=4)))
    robot = linkwork.load(replace(wrist, transmissions=wrist.transmissions[:1]))
    truth, T = other(robot, 1), np.asarray(robot.transmission)
    joints = recorded(truth, 200)
    motors = Log(joints.t, joints.q @ T.T, joints.tau @ np.linalg.inv(T), joints.v @ T.T, joints.a @ T.T)
    fit = robot.identify(motors.from_drives(robot), "wls", width=0.0)
    assert_same(fit.robot, truth)
    named = replace(motors, joints=robot.drive_names, rates=robot.drive_names, forces=robot.drive_names)
    assert_same(robot.identify(named.from_drives(robot), "wls", width=0.0).robot, truth)


# -- several recordings, wrenches, held-out data ---------------------------------------------------------------------


def test_wrenches_by_name(robot, truth):
    """One recording is pushed at one link, another one at another, a third one not at all."""
    rng, logs = np.random.default_rng(0), []
    for seed, frames in enumerate((("tip",), ("forearm", "tip"), ())):
        q, v, a = states(truth, 60, seed)
        push = {frame: rng.uniform(-20, 20, (60, 6)) for frame in frames}
        tau = forces(truth, q, v, a, wrenches=push) if push else forces(truth, q, v, a)
        logs.append(Log(np.arange(60) / 100, q, tau, v, a, wrenches=push))
    fit = robot.identify(logs, "wls", width=0.0)
    assert_same(fit.robot, truth)
    assert fit.error(logs[1]).max() < 1e-9 and fit.error(logs[2]).max() < 1e-9
    blind = robot.identify([replace(each, wrenches={}) for each in logs], "wls", width=0.0)
    assert blind.errors["fitted"].min() > 0.01


def test_held_out_recordings(robot, truth, noisy):
    others = recorded(truth, 80, seed=4)
    fit = robot.identify(noisy, held_out=others, width=0.0)
    assert fit.errors["held out"] == pytest.approx(fit.error(others), rel=1e-9)
    assert any("recordings held out" in note for note in fit.notes)
    apart = robot.identify(noisy, width=0.0)
    assert any("spans held out" in note for note in apart.notes)
    assert (apart.errors["held out"] > apart.errors["fitted"]).all()
    assert not np.allclose(apart.errors["held out"], fit.errors["held out"], rtol=1e-3)


def test_a_given_weight_of_the_prior(robot, noisy):
    """The stronger, the nearer to what was thought; the weaker, the better told what was measured."""
    strong, weak = (robot.identify(noisy, gamma=gamma, width=0.0) for gamma in (np.float32(1e5), 1e-3))
    assert strong.gamma == 1e5 and weak.gamma == 1e-3
    assert sum(strong.divergence.values()) < 0.2 * sum(weak.divergence.values())
    assert (weak.errors["fitted"] < strong.errors["fitted"]).all()
    assert strong.is_physical and weak.is_physical
    near = robot.identify(noisy, gamma=1e5, width=0.0, prior=other(robot, 1))
    assert (near.errors["fitted"] < strong.errors["fitted"]).all()


# -- blocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("band", [False, True], ids=["plain", "band"])
def test_block_by_block(robot, truth, monkeypatch, band):
    log = swung(truth, 20, 100)
    log = log.noisy(0, q=1e-4, tau=0.02 * np.abs(log.tau).max(axis=0))
    log = log.banded(5.0, decimate=3) if band else log
    log = replace(log, keep=np.arange(len(log)) % 7 != 0)
    whole = robot.identify(log, "wls", width=0.0)
    expected = collect(whole.unknowns, [log.for_robot(robot)])
    monkeypatch.setattr(stacked_regressor, "BLOCK", 28 * 97)
    counted = []
    found = collect(whole.unknowns, [log.for_robot(robot)], lambda done, total: counted.append((done, total)))
    assert len(counted) > 3 and counted[-1] == (len(log), len(log))
    assert np.array_equal(found.count, expected.count) and found.power == pytest.approx(expected.power, rel=1e-9)
    squares = [np.einsum("...ji,...jk->...ik", each.R, each.R) for each in (found, expected)]
    assert np.allclose(*squares, rtol=0, atol=1e-9 * np.abs(squares[1]).max())
    parts = robot.identify(log, "wls", width=0.0)
    assert parts.base.values == pytest.approx(whole.base.values, rel=1e-6)
    assert parts.base.deviations == pytest.approx(whole.base.deviations, rel=1e-5)
    told = [np.concatenate(each) for each in zip(*parts.predictions(log), strict=True)]
    monkeypatch.undo()
    for one, other_ in zip(told, next(iter(whole.predictions(log))), strict=True):
        assert one == pytest.approx(other_, abs=1e-6 * np.abs(other_).max())


# -- the answer ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fit(robot, noisy):
    return robot.identify(noisy, width=0.0)


def test_parameters_of_a_fit(robot, fit):
    for again in (robot.with_parameters(fit), robot.with_parameters(fit.parameter_values).with_friction(fit)):
        assert_same(again, fit.robot, tolerance=1e-12)
    assert fit.unknowns.matrix @ fit.standard.values == pytest.approx(fit.base.values, rel=1e-9)
    assert fit.parameter_values == fit.standard.as_dict and fit.payload == {}
    assert [own(fit.robot)[name] for name in fit.standard] == pytest.approx(list(fit.standard.values), rel=1e-9)


def test_errors_and_predictions(robot, truth, fit, noisy):
    """Against forces of the robot that was found."""
    others = recorded(truth, 50, seed=3)
    expected = fit.robot.inverse_dynamics(others.q, others.v, others.a)
    assert fit.torque(others.q, others.v, others.a) == pytest.approx(expected, rel=1e-12)
    left = np.linalg.norm(others.tau - expected, axis=0) / np.linalg.norm(others.tau, axis=0)
    assert fit.error(others) == pytest.approx(left, rel=1e-6)
    ((t, measured, predicted),) = fit.predictions(others)
    assert np.array_equal(t, others.t) and np.array_equal(measured, others.tau)
    assert predicted == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())
    assert fit.error(noisy) == pytest.approx(fit.errors["fitted"], rel=1e-9)
    assert fit.sigma == pytest.approx(0.01 * np.abs(noisy.tau).max(axis=0), rel=0.25)


def test_correlation_and_deviations(fit):
    correlation = fit.correlation
    assert np.diag(correlation) == pytest.approx(np.ones(len(fit.base)), rel=1e-9)
    assert np.allclose(correlation, correlation.T) and np.abs(correlation).max() < 1 + 1e-9
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx(fit.base.deviations, rel=1e-12)
    assert 1 < fit.condition < 1e4


def test_velocities_outside_the_range_are_flagged(fit, noisy):
    v = np.array(noisy.v[0])
    fit.torque(noisy.q[0], v, noisy.a[0])
    v[1] = 1.2 * np.abs(noisy.v[:, 1]).max()
    with pytest.warns(IdentificationWarning, match=r"outside the range of the data.*: elbow: 3\.\d+, fitted up to"):
        fit.torque(noisy.q[0], v, noisy.a[0])
    with pytest.warns(IdentificationWarning, match="elbow"):
        fit.error(replace(noisy, v=noisy.v * [1.0, -1.3]))


def test_notes(robot, truth):
    log = swung(truth, 10, 100)
    treated = Log(log.t, log.q, log.tau).noisy(0, q=1e-5).smoothed(8.0).banded(5.0)
    fit = robot.identify([treated, treated], width=0.0)
    assert len(fit.logs) == 2
    for k in (1, 2):
        for words in ("normal noise", "low pass at 8 Hz", "low pass at 5 Hz"):
            assert any(note.startswith(f"recording {k}: ") and words in note for note in fit.notes), fit.notes
    assert any("weight of the prior" in note for note in fit.notes)


# -- gains of drives -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def currents(robot, truth):
    """Without and with a load, and their gains."""
    gains = np.array([12.5, -3.0])
    loads = [None, {"tip": LOAD}]
    both = [truth, truth.with_payload({"tip": LOAD})]
    logs = [recorded(each, 150, seed=k) for k, each in enumerate(both)]
    return [replace(each, tau=each.tau / gains) for each in logs], loads, gains


def test_gains(robot, truth, currents):
    logs, loads, gains = currents
    found = drive_gains(robot, logs, loads)
    assert found.values == pytest.approx(gains, rel=1e-8) and found.errors.max() < 1e-8
    assert found.forces == ("shoulder", "elbow")
    fit = robot.identify(found.logs[0], "wls", width=0.0)
    assert_same(fit.robot, truth, tolerance=1e-7)
    assert any("times 12.5, -3" in note for note in fit.notes)


def test_gains_with_noise(robot, currents):
    logs, loads, gains = currents
    size = [0.02 * np.abs(each.tau).max(axis=0) for each in logs]
    off = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        noisy = [each.noisy(rng, tau=own) for each, own in zip(logs, size, strict=True)]
        found = drive_gains(robot, noisy, loads)
        off.append((found.values - gains) / found.deviations)
    assert (np.abs(off) <= 3).mean() >= 0.95
    assert 0.6 < np.std(off) < 1.6
