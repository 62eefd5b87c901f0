"""Friction at rest: a joint that stands still holds any force within its Coulomb friction, which the motion does not
determine. Errors of moving and standing samples are apart, against recordings whose friction at rest is known."""

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import linkwork
from linkwork.cli import app
from linkwork.errors import IdentificationWarning, LinkworkError
from linkwork.identify import Log
from linkwork.identify.regression.friction_at_rest import PARTS
from support.driven_robots import coupled
from support.random_robots import Recipe, describe

FS = np.array([120.0, 40.0])
RUBS = {name: {"coulomb": c, "viscous": 5.0, "width": 0.01} for name, c in zip(("shoulder", "elbow"), FS, strict=True)}


@pytest.fixture(scope="module")
def robot():
    return linkwork.load("planar2r").with_friction(RUBS)


def steps(held, robot, seed=0, size=1.0):
    """From place to place, with rests of half a second between, in which friction is ``held`` of Coulomb
    friction in the direction of the last motion; before the first motion it is none."""
    rng, rate = np.random.default_rng(seed), 200.0
    s = np.arange(0, 1, 1 / rate)
    turn = np.pi * s
    rise, rate1, rate2 = (1 - np.cos(turn)) / 2, np.pi / 2 * np.sin(turn), np.pi**2 / 2 * np.cos(turn)
    place, rows, friction, way = np.zeros(2), [], [], np.zeros(2)
    for k in range(13):
        rest = np.zeros((int(rate / 2), 2))
        rows.append((rest + place, rest, rest))
        friction.append(rest + held * FS * way)
        if k == 12:
            break
        change = size * rng.uniform(0.5, 1.5, 2) * rng.choice([-1, 1], 2)
        rows.append((place + np.outer(rise, change), np.outer(rate1, change), np.outer(rate2, change)))
        friction.append(np.where(s[:, None] > 0, 0.0, held * FS * way))  # the first of them still stands
        place, way = place + change, np.sign(change)
    q, v, a = (np.concatenate(each) for each in zip(*rows, strict=True))
    return Log(np.arange(len(q)) / rate, q, robot.inverse_dynamics(q, v, a) + np.concatenate(friction), v, a)


@pytest.fixture(scope="module")
def fit(robot):
    return robot.identify(steps(0.0, robot).without_standstill(), "wls", width=0.01)


def expected(log, predicted, still):
    left = log.tau - predicted
    return [np.linalg.norm(left * own, axis=0) / np.linalg.norm(log.tau * own, axis=0) for own in (~still, still)]


def test_moving_and_standing_apart(robot, fit):
    """Against the forces of the robot that was found, with the rests that the recording was made of."""
    log = steps(0.7, robot, 1, 0.7)
    parts = fit.error_parts(log)
    assert tuple(parts) == PARTS
    assert parts["moving"].max() < 1e-3  # but for the first and last samples of each motion
    assert parts["standing"].min() > 0.005 and parts["standing, beyond Coulomb"].max() < 1e-3
    still = np.abs(log.v) < 0.01 * fit.max_velocities
    moving, standing = expected(log, fit.torque(log.q, log.v, log.a), still)
    assert parts["standing"] == pytest.approx(standing, rel=0.02)
    assert parts["moving"] == pytest.approx(moving, abs=1e-3)


def test_what_is_beyond_coulomb_is_an_error(robot, fit):
    far = fit.error_parts(steps(1.5, robot, 1, 0.7))
    near = fit.error_parts(steps(0.5, robot, 1, 0.7))
    assert far["standing, beyond Coulomb"] == pytest.approx(near["standing"], rel=0.1)  # half of Coulomb friction, both
    assert far["standing"] == pytest.approx(3 * near["standing"], rel=0.1)


def test_direction_of_the_last_motion(robot, fit):
    log = steps(1.0, robot, 1, 0.7)
    parts = fit.error_parts(log)
    assert parts["standing, last motion"].max() < 0.15 * parts["standing"].min()
    with pytest.warns(IdentificationWarning, match="friction at rest"):
        smooth = fit.error(log)
    assert fit.error(log, at_rest="last motion").max() < 0.1 * smooth.min()  # but for a sample where each motion begins
    way = fit.last_direction(log)
    assert way.shape == log.v.shape and set(np.unique(way)) == {-1.0, 0.0, 1.0}
    rest = np.flatnonzero(((way != 0) & (log.v == 0)).all(axis=1))
    moved = np.flatnonzero(np.abs(log.v[: rest[0]]).min(axis=1) > 0.1)[-1]
    assert way[rest[0]].tolist() == np.sign(log.v[moved]).tolist()
    assert not way[:90].any()  # nothing has moved yet
    tau = fit.torque(log.q[rest], log.v[rest], log.a[rest], direction=way[rest])
    assert tau == pytest.approx(log.tau[rest], abs=0.02 * FS.min())
    found = np.concatenate([each for *_, each in fit.predictions(log, at_rest="last motion")])
    assert found[rest] == pytest.approx(tau, rel=1e-6)
    plain = np.concatenate([each for *_, each in fit.predictions(log)])
    assert np.abs(plain[rest] - log.tau[rest]).min(axis=0) == pytest.approx(FS, rel=0.1)


def test_in_a_band(robot, fit):
    """Friction at rest goes through the low pass of the recording as well."""
    log = steps(1.0, robot, 1, 0.7).banded(20, decimate=1)
    assert fit.error(log, at_rest="last motion").max() < 0.2 * fit.error_parts(log)["standing"].min()


def test_a_fit_of_standing_samples_says_so(robot):
    log = steps(0.9, robot)
    with pytest.warns(IdentificationWarning, match=r"friction at rest(.|\n)*shoulder(.|\n)*without_standstill"):
        fit = robot.identify(log, "wls", width=0.01)
    assert any("friction at rest" in doubt for doubt in fit.warnings)
    assert fit.errors["moving"].max() < fit.errors["fitted"].max() < fit.errors["standing"].max()
    assert re.search(r"\d moving \(\w+\), \S+ standing \(", repr(fit))
    apart = robot.identify(log.without_standstill(), "wls", width=0.01)
    assert not [doubt for doubt in apart.warnings if "rest" in doubt]
    off, biased = (np.abs([each.standard[f"{name}.FS"] for name in RUBS] - FS) for each in (apart, fit))
    assert off.max() < 0.05 and (biased > 5 * off).all()


def test_nothing_to_say(robot, fit):
    """Of joints that never stand still, that have no Coulomb friction, and of loops."""
    t = np.arange(0, 5, 0.01)
    q = np.stack([np.sin(t), np.cos(1.3 * t)], axis=1)
    v, a = np.stack([np.cos(t), -1.3 * np.sin(1.3 * t)], axis=1), -q * [1, 1.69]
    swing = Log(t, q, robot.inverse_dynamics(q, v, a), v, a)
    assert fit.error_parts(swing) == {} and not fit.last_direction(swing).any()
    crank, angle = linkwork.load("four-bar"), 3 * np.sin(np.minimum(t, 1.5 * np.pi / 2))[:, None]
    closed = Log(t, angle, 0 * angle + 1, joints=["crank"]).for_robot(crank)
    closed = replace(closed, tau=crank.inverse_dynamics(closed.q, closed.v, closed.a))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)
        found = crank.identify(closed, "wls", width=0.05)
    assert found.error_parts(closed) == {}
    with pytest.raises(LinkworkError, match="loops"):
        found.error(closed, at_rest="last motion")
    with pytest.raises(LinkworkError, match="loops"):
        found.torque(closed.q, closed.v, closed.a, direction=0 * closed.v)
    free = linkwork.load("planar2r")
    assert free.identify(steps(0.0, free), "wls", friction=("viscous",)).errors.keys() == {"fitted", "held out"}
    one = replace(steps(0.7, robot), q=steps(0.7, robot).q)
    one = replace(one, v=np.where([True, False], one.v, np.cos(np.arange(len(one)))[:, None] + 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)
        parts = fit.error_parts(one)
    assert np.isnan(parts["standing"][1]) and parts["standing"][0] > 0


def test_motors_of_transmissions():
    """Their friction acts on all of their joints, and they stand where all of these do."""
    wrist = coupled(describe(Recipe(3, joints=4)))
    robot = linkwork.load(replace(wrist, transmissions=wrist.transmissions[:1]), friction=False)
    motor = robot.model.transmissions[0].motors[0].name
    rubbing = robot.with_friction({motor: {"coulomb": 2.0, "width": 0.05}})
    fit = rubbing.identify(rubbed(rubbing), "wls", inertias=False, rotors=False, friction={motor: "coulomb"})
    row = np.asarray(robot.transmission)[[name == motor for name in robot.drive_names]][0]
    still = np.zeros((1, 4))
    added = fit.torque(still, still, still, direction=np.sign(row)[None] + (row == 0)) - fit.torque(still, still, still)
    assert added[0] == pytest.approx(2.0 * row, rel=1e-6)
    assert not np.any(fit.torque(still, still, still, direction=0 * still) - fit.torque(still, still, still))


def rubbed(robot):
    t = np.arange(0, 4, 0.01)
    w = np.linspace(1, 3, 4)
    q, v, a = np.sin(w * t[:, None]), w * np.cos(w * t[:, None]), -(w**2) * np.sin(w * t[:, None])
    return Log(t, q, robot.inverse_dynamics(q, v, a), v, a)


def test_wrong_options(fit):
    still = np.zeros((1, 2))
    for direction in ([[0.5, 0]], [1, 1, 1], [[np.nan, 0]]):
        with pytest.raises(LinkworkError, match="direction"):
            fit.torque(still, still, still, direction=direction)
    with pytest.raises(LinkworkError, match="last motion"):
        fit.error(fit.logs[0], at_rest="last")
    with pytest.raises(LinkworkError, match="last motion"):
        next(fit.predictions(fit.logs[0], at_rest="last"))


def test_page_and_command_line(robot, tmp_path):
    log = steps(0.9, robot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)
        fit = robot.identify(log, "wls", width=0.01)
    page, short = fit.report(), fit._repr_html_()
    assert "Moving and standing still" in page and "within ± Coulomb friction" in page
    for k in range(2):
        assert f"{100 * fit.errors['standing'][k]:.2f}"[:3] in page
    assert "beyond Coulomb" in short and "nan" not in page + short
    log.save(tmp_path / "log.csv")
    robot.write(tmp_path / "arm.yaml")
    command = ["identify", str(tmp_path / "arm.yaml"), str(tmp_path / "log.csv"), "--method", "wls", "--width", "0.01"]
    told = CliRunner().invoke(app, [*command, "--keep-standstill"])
    assert told.exit_code == 0 and "any force within" in told.output and "friction at rest" in told.output
    found = json.loads(CliRunner().invoke(app, [*command, "--keep-standstill", "--json"]).stdout)
    assert found["errors"]["standing"] == pytest.approx(fit.errors["standing"].tolist(), rel=1e-6)
    assert "friction at rest" not in CliRunner().invoke(app, command).output
