"""Excitation is decided against the noise of the recording: joints that stand still, with rounding, noise, steps of an
encoder and filters, excite nothing, whatever differentiation makes of them."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import linkwork
from linkwork.control import Point
from linkwork.errors import IdentificationWarning, LinkworkError
from linkwork.identify import Log
from linkwork.identify.logs.log_noise import noise_of, white_level
from linkwork.identify.logs.signals import derivative
from linkwork.identify.regression.noise_floor import unexcited_columns
from support.random_robots import Recipe, describe
from support.recordings import other, recorded, swung

RATE = 500.0
FEW = {"IA2", "FV2", "FS2"}  # what a still elbow does not excite
pytestmark = pytest.mark.filterwarnings("ignore::linkwork.IdentificationWarning")


@cache
def robot():
    return linkwork.load("planar2r")


@cache
def motion(still):
    """Of sines; without friction, so that all friction is zero."""
    t = np.arange(0, 4, 1 / RATE)
    w, size = 2 * np.pi * np.array([[0.4, 0.5], [0.9, 1.1]]), np.array([[0.6, 0.0 if still else 0.5], [0.3, 0.2]])
    size = size * [1.0, 0.0 if still else 1.0]
    turn = w * t[:, None, None]
    q, v, a = size * np.sin(turn), size * w * np.cos(turn), -size * w**2 * np.sin(turn)
    q, v, a = (x.sum(axis=1) for x in (q, v, a))
    q[:, 1] += 0.7
    return t, q, v, a, robot().inverse_dynamics(q, v, a)


def log_of(case):
    t, q, v, a, tau = motion(case not in MOVING)
    noise = np.random.default_rng(0).standard_normal(q.shape)
    exact, reference = Log(t, q, tau, reference=Point(q, v, a)), Point(q, v, a)
    shaken = Log(t, q + 1e-5 * noise, tau, reference=reference)
    stepped = Log(t, np.round(q / 1e-4) * 1e-4, tau, reference=reference)
    return {
        "exact": lambda: exact,
        "exact, smoothed": lambda: exact.smoothed(20),
        "noise": lambda: shaken,
        "noise, smoothed": lambda: shaken.smoothed(10),
        "encoder": lambda: stepped,
        "encoder, smoothed": lambda: stepped.smoothed(10),
        "v measured": lambda: replace(shaken, v=v + 1e-4 * noise[::-1]),
        "v measured, smoothed": lambda: replace(shaken, v=v + 1e-4 * noise[::-1]).smoothed(10),
        "v and a measured": lambda: replace(shaken, v=v + 1e-4 * noise[::-1], a=a, noise={"a": 1e-6}),
        "moving": lambda: shaken,
        "moving, smoothed": lambda: shaken.smoothed(10),
    }[case]()


MOVING = ("moving", "moving, smoothed")
STILL = (
    "exact", "exact, smoothed", "noise", "noise, smoothed", "encoder", "encoder, smoothed", "v measured",
    "v measured, smoothed", "v and a measured",
)  # fmt: skip


@pytest.mark.parametrize("method", ["ols", "wls", "irls", "iv", "consistent"])
@pytest.mark.parametrize("case", STILL)
def test_a_joint_that_stands_still(case, method):
    """Its friction and rotor stay as they were, and are named; what is well excited is found."""
    fit = robot().identify(log_of(case), method, width=0.02)
    untold = {name for name, told in zip(fit.base.names, fit.base.status, strict=True) if told == "unidentifiable"}
    assert untold >= FEW
    for name in FEW:
        assert any(text.startswith(f"{name}:") and "motion of elbow" in text for text in fit.unidentifiable), (
            fit.unidentifiable
        )
    assert any("do not identify all" in doubt for doubt in fit.warnings)
    assert abs(fit.standard["elbow.FV"]) < 0.1 and fit.standard["elbow.IA"] == pytest.approx(0, abs=200)
    if ("noise" not in case and "encoder" not in case) or "smoothed" in case:
        assert untold == FEW
        assert fit.error(log_of(case).between(0.5, 3.5)).max() < 0.02
        assert np.abs(fit.standard.values).max() < 120  # of the robot's 100 kg m^2


@pytest.mark.parametrize("method", ["ols", "wls", "irls", "iv", "consistent"])
def test_what_moves_is_found_in_spite_of_noise(method):
    fit = robot().identify(log_of("moving, smoothed").between(0.5, 3.5), method, width=0.02)
    assert fit.unidentifiable == () and fit.warnings == ()
    assert fit.errors["fitted"].max() < 0.01
    x = dict(zip(robot().parameter_names("minimal"), robot().parameter_values("minimal"), strict=True))
    assert fit.base["ZZR1"] == pytest.approx(x["ZZR1"], rel=0.01) and fit.base["MX2"] == pytest.approx(
        x["MX2"], rel=0.01
    )


def test_a_warning_of_noise_that_was_differentiated():
    """It names the low pass that helps."""
    log = log_of("moving")
    with pytest.warns(IdentificationWarning, match="made larger by differentiation"):
        fit = robot().identify(log, "wls", width=0.02)
    (note,) = (each for each in fit.warnings if each.code == "noisy-prediction")
    assert {*note.values} == {"shoulder", "elbow"} and "differentiation" in note.text
    cutoff = float(note.fix.partition("log.smoothed(")[2].partition(")")[0])
    assert f"--cutoff {cutoff:g}" in note.command_fix and 1.1 < cutoff < 40
    smooth = robot().identify(log.smoothed(cutoff).between(0.5, 3.5), "wls", width=0.02)
    assert smooth.warnings == () and smooth.errors["fitted"].max() < 0.01
    assert fit.errors["fitted"].min() > 0.3


def test_by_simulation():
    """Unknowns that the simulation found are judged in the same way."""
    t, q, *_, tau = motion(True)
    log = Log(t[:800], q[:800], tau[:800])
    asked = {"unknowns": {"viscous": ["shoulder", "elbow"]}, "horizon": 0.2}
    rubbing = robot().with_friction({"shoulder": {"viscous": 1.0}, "elbow": {"viscous": 1.0}})
    fit = rubbing.identify(log, "simulation", simulation=asked)
    assert any(text.startswith("elbow.FV:") for text in fit.unidentifiable)
    assert not any(text.startswith("shoulder.FV:") for text in fit.unidentifiable)


def test_loops_and_floating_bases():
    crank, t = linkwork.load("four-bar"), np.arange(0, 12, 0.01)
    angle = 0.3 + 0 * t[:, None]
    still = Log(t, angle, 0.5 + 0 * angle, joints=["crank"])
    for log in (still, still.noisy(0, q=1e-5), still.noisy(0, q=1e-5).smoothed(10)):
        fit = crank.identify(log, "wls", width=0.05)
        assert np.abs(fit.base.values).max() < 10
        assert {"FV1", "FS1"} <= {text.partition(":")[0] for text in fit.unidentifiable}
    swing = (2 * t + 3 * np.sin(t))[:, None]
    moving = Log(t, swing, swing, joints=["crank"]).noisy(0, q=1e-5).smoothed(10)
    placed = moving.for_robot(crank)
    assert placed.noise["q"].shape == (3,) and 5e-6 < placed.noise["q"][0] < 2e-5
    flyer, size = linkwork.load("planar2r", base="floating", gravity=[0, 0, 0]), np.r_[np.full(6, 0.3), 0.5, 0.0]
    way = size * np.sin(2 * np.pi * np.linspace(0.2, 0.9, 8) * t[:, None])
    start = np.r_[np.zeros(6), 1, 0, 0.3]
    q = flyer.coordinates.integrate(np.broadcast_to(start, (len(t), 9)), way)
    log = Log(t, q, np.zeros((len(t), 8)), joints=flyer.coordinates.names)
    log = replace(log, tau=flyer.inverse_dynamics(*(getattr(log.for_robot(flyer), kind) for kind in "qva")))
    for each in (log, log.noisy(0, q=1e-6).smoothed(10)):
        fit = flyer.identify(each, "wls", width=0.05)
        assert {"FV3", "IA3"} <= {text.partition(":")[0] for text in fit.unidentifiable}
        assert np.abs(fit.base.values).max() < 300
        assert {text.partition(":")[0] for text in fit.unidentifiable} <= {"FV3", "FS3", "IA3"}


# -- the noise of a recording ----------------------------------------------------------------------------------------


def test_levels_of_noise():
    rng, t = np.random.default_rng(0), np.arange(0, 10, 0.005)
    path = np.sin(2 * np.pi * 0.7 * t) + 0.3 * np.sin(2 * np.pi * 2.3 * t)
    slow = 0.01 * np.sin(0.5 * t)
    x = np.stack([path + 1e-4 * rng.normal(size=len(t)), path, np.round(path / 1e-3) * 1e-3,
                  np.round(slow / 1e-3) * 1e-3, 0 * t + 0.7], axis=1)  # fmt: skip
    found = white_level(x)
    assert found[0] == pytest.approx(1e-4, rel=0.1)
    assert found[1] < 1e-7 and found[4] == 0
    assert found[2:4] == pytest.approx(2 * [1e-3 / 12**0.5], rel=0.2)
    assert white_level(np.tile(x, (60, 1)))[0] == pytest.approx(1e-4, rel=0.1)  # long ones, piece by piece
    assert white_level(x[:5]).tolist() == [0.0] * 5


def test_states_that_do_not_follow_each_other_have_no_noise():
    """As a fit to single positions has: their differences are no noise."""
    truth = other(robot(), 1)
    states = recorded(truth, 100)
    assert noise_of(states) == {}
    fit = robot().identify(states, "wls", width=0.0)
    assert fit.unidentifiable == () and fit.errors["fitted"].max() < 1e-9
    followed = swung(truth, 5, 100).noisy(0, q=1e-4, v=1e-3)
    assert noise_of(followed)["q"] == pytest.approx([1e-4, 1e-4], rel=0.2)
    assert noise_of(followed)["v"] == pytest.approx([1e-3, 1e-3], rel=0.2)


def test_noise_goes_with_the_recording(tmp_path):
    """Through filters, decimation, other orders of the columns and files."""
    truth = other(robot(), 1)
    clean = swung(truth, 10, 400)
    raw = Log(clean.t, clean.q, clean.tau, joints=robot().joint_names).noisy(0, q=[1e-4, 3e-4])
    smooth = raw.smoothed(10)
    assert smooth.differentiated == ("v", "a") and smooth.noise["q"] == pytest.approx([1e-4, 3e-4], rel=0.1)
    assert (smooth.smoothed(8).noise["q"] == smooth.noise["q"]).all() and smooth.smoothed(8).differentiated == (
        "v",
        "a",
    )
    assert smooth.decimated(4).noise["q"] == pytest.approx(smooth.noise["q"] / 2, rel=1e-12)
    assert smooth.noisy(1, q=4e-4).noise["q"] == pytest.approx(np.hypot(smooth.noise["q"], 4e-4), rel=1e-12)
    turned = Log(raw.t, raw.q[:, ::-1], raw.tau[:, ::-1], joints=robot().joint_names[::-1])
    for log in (turned, turned.smoothed(10)):
        placed = log.for_robot(robot())
        assert placed.noise["q"] == pytest.approx([1e-4, 3e-4], rel=0.1) and placed.differentiated == ("v", "a")
    for suffix in ("csv", "npz", "parquet"):
        smooth.save(tmp_path / f"log.{suffix}")
        again = Log.read(tmp_path / f"log.{suffix}")
        assert again.noise["q"].tolist() == smooth.noise["q"].tolist()
        assert tuple(again.differentiated) == ("v", "a") and again.passed == smooth.passed
    wrist = linkwork.load(describe(Recipe(3, joints=4)))
    assert (
        Log(clean.t, np.zeros((len(clean), 4)), np.zeros((len(clean), 4)), noise={"q": 2.0})
        .for_robot(wrist)
        .noise["q"]
        .tolist()
        == [2.0] * 4
    )


def test_noise_in_files_of_strangers(tmp_path):
    """What does not fit the columns is left out; what cannot be is refused, with the file."""
    t, q, *_, tau = motion(True)
    log, path = Log(t[:20], q[:20], tau[:20]).smoothed(50), tmp_path / "log.csv"
    log.save(path)
    text, noise = path.read_text(), json.dumps({"q": log.noise["q"].tolist()})
    escaped = noise if noise in text else noise.replace('"', '""')
    assert escaped in text
    for odd in (
        {"q": [[1], [2, 3]]},
        {"q": [1, 2, 3]},
        {"q": None},
        7,
        {"q": [-1, 0]},
        {"q": [10**400, 0]},
        {"z": [1, 2]},
    ):
        given = json.dumps(odd) if noise in text else json.dumps(odd).replace('"', '""')
        path.write_text(text.replace(escaped, given))
        if odd == {"z": [1, 2]} or odd == 7 or len(odd["q"] or ()) != 2:
            assert Log.read(path).noise == {}
        else:
            with pytest.raises(LinkworkError, match=r"log\.csv: noise, q: this is not a standard deviation"):
                Log.read(path)


def test_noise_that_is_given():
    """Of drives that filter what they report: nothing of the noise shows in quick differences."""
    t, q, *_, tau = motion(True)
    wander = 1e-5 * np.sin(2 * np.pi * np.array([1.7, 2.3]) * t[:, None])
    log = Log(t, q + wander * [0, 1], tau)
    believed = robot().identify(log, "wls", width=0.02)
    assert not any(text.startswith("IA2") for text in believed.unidentifiable)
    given = robot().identify(replace(log, noise={"q": [0.0, 1e-5]}), "wls", width=0.02)
    assert {text.partition(":")[0] for text in given.unidentifiable} >= FEW


@pytest.mark.parametrize("noise", [{"q": -1.0}, {"q": [1.0, 2.0, 3.0]}, {"q": "much"}, {"q": np.nan}, {"tau": 1}])
def test_wrong_noise_is_refused(noise):
    t, q, *_, tau = motion(True)
    with pytest.raises(LinkworkError, match="noise"):
        Log(t, q, tau, noise=noise)


def test_derivatives_of_what_does_not_change():
    x = np.full((40, 2), 0.7)
    x[20:, 1] += 0.1
    for number in (1, 2):
        for cutoff in (None, 20.0):
            found = derivative(x, 1000.0, number, cutoff)
            assert not found[:, 0].any() and found[15:25, 1].any()


# -- directions --------------------------------------------------------------------------------------------------------


def test_directions_below_the_noise():
    """One column of noise alone, and two that differ by noise; the others are far above it."""
    rng, rows = np.random.default_rng(1), 400
    A, N = rng.normal(size=(rows, 6)), 1e-3 * rng.normal(size=(rows, 6))
    A[:, 1] = 1e-3 * rng.normal(size=rows)
    A[:, 4] = 2 * A[:, 2] + 1e-3 * rng.normal(size=rows)
    found = unexcited_columns(A, N)
    assert sorted(found.places) in ([1, 2], [1, 4])
    alone = found.directions[:, found.places.index(1)]
    assert alone.tolist() == [0, 1, 0, 0, 0, 0]
    both = found.directions[:, 1 - found.places.index(1)]
    assert np.flatnonzero(both).tolist() == [2, 4] and both[2] / both[4] == pytest.approx(-2, rel=1e-2)
    assert found.alone.places == [1]
    assert unexcited_columns(A, 1e-4 * N).places == []
    assert unexcited_columns(np.zeros((3, 2)), np.zeros((3, 2))).places == [0, 1]
