"""Recordings and wishes that cannot be right: what is said, of what, and what would help."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.errors import IdentificationWarning, LinkworkError, ShapeError, UnknownNameError
from linkwork.identify import Log, drive_gains
from support.recordings import other, recorded, states, swung

LOAD = {"mass": 2.0, "center": [0.05, 0.02, 0.1], "inertia": [0.01, 0.012, 0.015]}


@pytest.fixture(scope="module")
def robot():
    return linkwork.load("planar2r")


@pytest.fixture(scope="module")
def log(robot):
    return recorded(other(robot, 1, spread=0.1), 120)


WRONG = {
    "method": ({"method": "lms"}, UnknownNameError, r"no method of identification 'lms'(.|\n)*wls"),
    "law": ({"friction": ("coulomb", "viscose")}, UnknownNameError, r"no friction law 'viscose'(.|\n)*viscous"),
    "laws of a joint": ({"friction": {"wrist": ["coulomb"]}}, UnknownNameError, r"no joint or motor 'wrist'"),
    "law of a joint": ({"friction": {"elbow": 3}}, UnknownNameError, "no friction law '3'"),
    "no laws": ({"friction": 3}, LinkworkError, r"friction: these are not friction laws\n  got: 3"),
    "nothing": (
        {"friction": (), "inertias": False, "rotors": False}, LinkworkError, r"is nothing to identify\n  fix: choose"
    ),
    "gamma zero": ({"gamma": 0.0}, LinkworkError, r"gamma: out of range\n  got: 0.0\n  expected: a number, positive"),
    "gamma below": ({"gamma": -1.0}, LinkworkError, "gamma: out of range"),
    "gamma text": ({"gamma": "1"}, LinkworkError, "gamma: out of range"),
    "gamma nan": ({"gamma": float("nan")}, LinkworkError, "gamma: out of range"),
    "width": ({"width": -0.1}, LinkworkError, r"width: out of range\n  got: -0.1\n  expected: .*zero or more"),
    "width endless": ({"width": float("inf")}, LinkworkError, "width: out of range"),
    "prior": ({"prior": "planar2r"}, LinkworkError, r"prior: the prior must be a robot\n  got: 'planar2r'"),
    "other prior": ({"prior": linkwork.load("scara")}, LinkworkError, r"prior: the prior is another robot\n  got: no "),
    "payload": ({"payload": "hand"}, UnknownNameError, "no frame 'hand'"),
    "payload on the ground": ({"payload": "base"}, LinkworkError, r"payload 'base': this frame does not move\n  fix:"),
    "held out": ({"held_out": "log.csv"}, LinkworkError, r"held_out: this is not a recording\n  got: 'l"),
    "no reference": ({"method": "iv"}, LinkworkError, r"recording 1: instrumental variables need a motion without"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_wishes(robot, log, what):
    options, kind, words = WRONG[what]
    with pytest.raises(kind, match=words):
        robot.identify(log, **options)


def test_no_recordings(robot, log):
    with pytest.raises(LinkworkError, match=r"there are no recordings\n  fix: pass a Log"):
        robot.identify([])
    with pytest.raises(
        LinkworkError, match=r"logs: this is not a recording\n  got: 3\n  expected: a Log\n  fix: .*Log.re"
    ):
        robot.identify([log, 3])
    for wrong in (None, 3, "log.csv"):
        with pytest.raises(LinkworkError, match=r"logs: this is not a recording"):
            robot.identify(wrong)


def test_too_few_samples(robot, log):
    words = r"too few samples\n  got: 4 of 2 forces, 8 equations(.|\n)*more than 13 equations(.|\n)*fix: record longer"
    with pytest.raises(LinkworkError, match=words):
        robot.identify(log[:4])
    with pytest.raises(LinkworkError, match="too few samples"):
        robot.identify(replace(log, keep=np.arange(len(log)) < 3))


def test_columns_that_do_not_fit(robot, log):
    with pytest.raises(
        ShapeError, match=r"the columns do not fit the robot(.|\n)*3 columns(.|\n)*2 \(shoulder, elbow\)"
    ):
        robot.identify(Log(log.t, np.pad(log.q, ((0, 0), (0, 1))), log.tau))
    with pytest.raises(LinkworkError, match=r"tau(.|\n)*1 column"):
        robot.identify(Log(log.t, log.q, log.tau[:, :1], log.v, log.a))
    with pytest.raises(UnknownNameError, match=r"no joint 'wrist'"):
        robot.identify(replace(log, joints=("shoulder", "wrist"), rates=(), forces=()))


# -- what a motion does not tell -----------------------------------------------------------------------------------


def test_a_joint_that_does_not_move(robot):
    """Each of its own parameters is named by itself, with the joint that would tell it."""
    truth = other(robot, 1)
    q, v, a = states(truth, 100)
    q[:, 1], v[:, 1], a[:, 1] = 0.7, 0, 0
    log = Log(np.arange(100) / 100, q, truth.inverse_dynamics(q, v, a), v, a)
    with pytest.warns(IdentificationWarning, match="do not identify all parameters; these keep their prior") as all_:
        fit = robot.identify(log, "wls", width=0.0)
    assert len(all_) == 1
    alone = [text for text in fit.unidentifiable if "together" not in text]
    for name in ("IA2", "FS2", "FV2"):
        own = [text for text in fit.unidentifiable if name in text]
        assert own == [f"{name}: would be identified by motion of elbow"], fit.unidentifiable
    assert len(alone) >= 3 and all("motion of elbow" in text for text in fit.unidentifiable)
    assert fit.condition == np.inf and "unidentifiable" in fit.base.status
    untold = dict(zip(fit.standard, fit.standard.status, strict=True))
    assert untold["elbow.FV"] == untold["elbow.IA"] == "unidentifiable" and untold["shoulder.FV"] == "alone"
    assert str(all_[0].message) == fit.warnings[0].message and fit.warnings[0] in fit.notes
    # What is told is right all the same.
    assert fit.errors["fitted"].max() < 1e-9 and fit.standard["shoulder.FV"] == pytest.approx(
        truth.parameter_values(drives=True)[list(truth.parameter_names(drives=True)).index("shoulder.FV")], rel=1e-8
    )


def test_one_position_only(robot):
    """A robot that stands still tells what it weighs there, and no more."""
    q = np.tile([0.3, 0.4], (50, 1))
    log = Log(np.arange(50) / 100, q, robot.inverse_dynamics(q, 0 * q, 0 * q), 0 * q, 0 * q)
    with pytest.warns(IdentificationWarning, match="do not identify all parameters"):
        fit = robot.identify(log)
    assert fit.is_physical and len(fit.unidentifiable) >= 10
    assert fit.robot.inverse_dynamics(q[0], 0 * q[0], 0 * q[0]) == pytest.approx(log.tau[0], rel=1e-3)


# -- what looks wrong ------------------------------------------------------------------------------------------------


LOOKS = {
    "N mm": (lambda tau: 1000 * tau, r"forces of shoulder are 1e\+03 times those expected: are they in N mm\?"),
    "kN m": (lambda tau: tau / 1000, r"forces of elbow are 0.001\d* times those expected: are they in kN m\?"),
    "sign": (lambda tau: tau * [1, -1], r"forces of elbow have the other sign than expected"),
    "zero": (lambda tau: tau * [1, 0], r"forces of elbow are always zero: were they recorded\?"),
}


@pytest.mark.parametrize("what", LOOKS)
@pytest.mark.parametrize("method", ["wls", "consistent"])
@pytest.mark.filterwarnings("ignore::linkwork.errors.IdentificationWarning")
def test_units_and_signs(robot, method, what):
    change, words = LOOKS[what]
    log = recorded(robot, 100)
    with pytest.warns(IdentificationWarning, match=words):
        fit = robot.identify(replace(log, tau=change(log.tau)), method)
    assert fit.warnings and {*fit.warnings} <= {*fit.notes}


def test_no_forces_at_all(robot, log):
    with pytest.raises(LinkworkError, match=r"all forces are zero\n  fix: were they recorded\?"):
        robot.identify(replace(log, tau=0 * log.tau))


@pytest.mark.filterwarnings("ignore::linkwork.errors.IdentificationWarning")
@pytest.mark.parametrize("method", ["wls", "irls", "consistent"])
def test_a_load_that_cannot_be(robot, log, method):
    """Forces of another robot, or of none, taken for those of a load."""
    for tau in (log.tau, 100 * np.random.default_rng(0).normal(size=log.tau.shape)):
        fit = robot.identify(replace(log, tau=tau), method, payload="tip")
        assert fit.is_physical == (method == "consistent") and fit.errors["fitted"].max() > 0.2


def test_wrenches_that_the_fit_does_not_know(robot, log):
    fit = robot.identify(log, "wls")
    with pytest.raises(LinkworkError, match=r"wrenches on other frames than in the fit\n  got: tip\n  expected: none"):
        fit.error(replace(log, wrenches={"tip": np.ones((len(log), 6))}))


def test_degrees(robot):
    log = swung(robot, 2, 100, size=2.0)
    bare = Log(log.t, np.degrees(log.q), log.tau)
    with pytest.warns(IdentificationWarning, match=r"turns at \d+ rad/s: is it in degrees\?"):
        robot.identify(bare, "wls")


def test_nothing_is_suspected_of_good_data(robot, log):
    fit = robot.identify(log, "wls")
    assert fit.warnings == () and fit.unidentifiable == ()


# -- gains -------------------------------------------------------------------------------------------------------------


def test_gains(robot, log):
    with pytest.raises(LinkworkError, match=r"one load for each recording\n  got: 1, 2 loads"):
        drive_gains(robot, [log], [None, {"tip": LOAD}])
    with pytest.raises(
        LinkworkError, match=r"gains need recordings with different loads\n  got: 2 recordings of the same load"
    ):
        drive_gains(robot, [log, log], [{"tip": LOAD}, {"tip": dict(LOAD)}])
    with pytest.raises(LinkworkError, match=r"payload at 'hand': there is no frame"):
        drive_gains(robot, [log, log], [None, {"hand": LOAD}])
