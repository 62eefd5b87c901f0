"""``Robot.identify`` by simulation: what it finds, and that its answer speaks as those of least squares."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.control import PD, Fourier, Point
from linkwork.errors import IdentificationWarning, UnknownNameError, UnsupportedError
from linkwork.identify import Log
from linkwork.model import ELEMENTS

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.SimulationWarning")
DT = 2e-3
LAW = PD(300.0, 30.0)
FRICTION = {
    "shoulder": {"coulomb": 1.0, "viscous": 0.5, "width": 0.1},
    "elbow": {"coulomb": 0.6, "viscous": 0.3, "width": 0.1},
}
LOAD = {
    "mass": 1.2,
    "center": [0.05, -0.03, 0.1],
    "inertia": [[0.02, 0.001, 0.0], [0.001, 0.025, -0.001], [0.0, -0.001, 0.015]],
}


def record(robot, law, duration, seed=0, size=0.2, middle=(), late=0):
    """A log of a robot that follows sums of sines, ``late`` steps behind."""
    rng, n = np.random.default_rng(seed), robot.nv
    sines, cosines = size * rng.normal(size=(2, n, 4))
    path = Fourier(middle if len(middle) else np.zeros(n), sines, cosines, frequency=0.5)
    way = [np.asarray(part) for part in path.sample(DT * np.arange(round(duration / DT) + 1))]
    acting = [np.concatenate([np.repeat(x[:1], late, axis=0), x[: len(x) - late]]) for x in way]
    run = robot.rollout(
        acting[0][0], acting[1][0], law, DT, len(acting[0]) - 1, reference=Point(*(x[:-1] for x in acting)),
        outputs=("q", "v", "a", "tau"),
    )  # fmt: skip
    return Log(t=run.t, q=run.q, tau=run.tau, v=run.v, reference=Point(*way)), run


@pytest.fixture(scope="module")
def truth():
    return linkwork.load("planar2r").with_friction(FRICTION)


@pytest.fixture(scope="module")
def log(truth):
    return record(truth, LAW, 1.0)[0]


def test_inertias_and_friction(truth, log):
    """As many numbers as least squares would find, from data without accelerations."""
    start = truth.with_parameters({"upper_arm": {"mass": 0.8 * truth.parameters[0][0]}}).with_friction(
        {name: {"coulomb": 0.8, "viscous": 0.2, "width": 0.1} for name in FRICTION}
    )
    fit = start.identify(log, "simulation", friction=("coulomb", "viscous"), rotors=False, controller=LAW)
    assert fit.method == "simulation" and fit.simulation is not None and fit.is_physical
    for joint, values in FRICTION.items():
        assert fit.standard[f"{joint}.FS"] == pytest.approx(values["coulomb"], rel=1e-4)
        assert fit.standard[f"{joint}.FV"] == pytest.approx(values["viscous"], rel=1e-4)
    rng = np.random.default_rng(1)
    q, v, a = rng.uniform(-1, 1, (3, 30, 2))
    expected = truth.inverse_dynamics(q, v, a)
    for found in (fit.robot, start.with_parameters(fit), fit.simulation.robot):
        assert found.inverse_dynamics(q, v, a) == pytest.approx(expected, abs=1e-4 * np.abs(expected).max())
    assert fit.errors["fitted"].max() < 0.05 and fit.gamma == 1.0
    assert any("simulation:" in note and "rms" in note for note in fit.notes)
    assert "simulation" in fit.report() and "planar2r" in repr(fit)


def test_widths(truth, log):
    start = truth.with_friction({name: {**own, "width": 0.05} for name, own in FRICTION.items()})
    asked = {"unknowns": ("friction_width", "viscous")}
    fit = start.identify(log, "simulation", simulation=asked, controller=LAW)
    assert fit.simulation is not None
    assert [own["friction_width"] for own in fit.simulation.drives.values()] == pytest.approx([0.1, 0.1], rel=1e-5)
    assert [body.joint.friction_width for body in fit.robot.model.bodies] == pytest.approx([0.1, 0.1], rel=1e-5)
    again = start.with_parameters(fit)
    assert [body.joint.friction_width for body in again.model.bodies] == pytest.approx([0.1, 0.1], rel=1e-5)


def test_delays(truth):
    late, _ = record(truth, LAW, 1.0, late=3)
    fit = truth.identify(late, "simulation", simulation={"unknowns": "delay"}, controller=LAW)
    assert fit.simulation is not None and fit.simulation.delay == pytest.approx(3 * DT, abs=1e-7)


@pytest.mark.parametrize("closed", [True, False], ids=["reference", "torque"])
def test_payload(closed):
    """Off the origin of its frame, and every element of it."""
    robot, frame = linkwork.load("panda"), "panda_link8"
    carrying = robot.with_payload({frame: LOAD})
    law = PD(np.array([600.0, 600, 600, 600, 250, 150, 50]), np.array([15.0, 15, 15, 15, 9, 7.5, 4.5]))
    log, run = record(carrying, law, 0.5, size=0.15, middle=np.array([0, -0.3, 0, -1.8, 0, 1.8, 0.8]))
    fit = robot.identify(log, "simulation", payload=frame, controller=law if closed else None)
    m, c = LOAD["mass"], np.array(LOAD["center"])
    about = np.array(LOAD["inertia"]) + m * (c @ c * np.eye(3) - np.outer(c, c))
    ten = [m, *(m * c), *about[np.triu_indices(3)]]
    assert list(fit.standard) == [f"{frame}.{element}" for element in ELEMENTS]
    assert fit.standard.values == pytest.approx(ten, abs=1e-5)
    found = fit.payload[frame]
    assert found["mass"] == pytest.approx(m, rel=1e-5) and found["center"] == pytest.approx(list(c), abs=1e-5)
    assert np.array(found["inertia"]) == pytest.approx(np.array(LOAD["inertia"]), abs=1e-5)
    q, v, a = (np.asarray(x)[::50] for x in (run.q, run.v, run.a))
    expected = carrying.inverse_dynamics(q, v, a)
    for again in (fit.robot, robot.with_payload(fit)):
        assert again.inverse_dynamics(q, v, a) == pytest.approx(expected, abs=1e-4 * np.abs(expected).max())
    assert fit.errors["fitted"].max() < 0.05


def test_what_is_refused(truth, log):
    with pytest.raises(
        UnsupportedError, match=r"friction: the method simulation does not identify this law\n  got: asymmetric"
    ):
        truth.identify(log, "simulation", friction=("asymmetric",), controller=LAW)
    with pytest.raises(UnknownNameError, match="'lag'"):
        truth.identify(log, "simulation", simulation={"unknowns": ("lag",)}, controller=LAW)


@pytest.mark.filterwarnings("ignore::linkwork.errors.IdentificationWarning")
def test_a_wrong_sign_is_suspected(truth, log):
    wrong = replace(log, tau=-log.tau)
    with pytest.warns(IdentificationWarning, match="other sign"):
        truth.identify(wrong, "simulation", friction=("viscous",), inertias=False, rotors=False, controller=LAW)


def test_springs_from_the_motors_alone():
    """Joint forces are not told then, and nothing is said of them."""
    arm = linkwork.load("flexible-arm", friction=False)
    t = np.arange(800) * 1e-3
    tau = np.zeros((800, 4))
    places = [arm.joint_names.index(name) for name in arm.motor_names]
    tau[:, places] = np.stack([2 * np.sin(9 * t), np.sin(15 * t)], axis=1)
    run = arm.simulate(duration=0.8, dt=1e-3, torque=tau, method="semi-implicit-euler")
    log = Log(t, run.q[:-1, places], tau[:, places], joints=arm.motor_names)
    softer = arm.with_drives({"shoulder": {"stiffness": 2000.0}, "elbow": {"stiffness": 800.0}})
    fit = softer.identify(log, "simulation", simulation={"unknowns": "stiffness"})
    assert [fit.simulation.drives[name]["stiffness"] for name in ("shoulder", "elbow")] == pytest.approx([2500, 1100])
    assert not fit.errors and not fit.unidentifiable and "By simulation" in fit.report() and "physical" in repr(fit)
