"""Logs: what they hold, what is done to them, and how they come into a robot's order."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.control import PDGravity, Point
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError
from linkwork.identify.logs.log import Band, Log
from linkwork.identify.logs.signals import zero_phase
from linkwork.model import Motor, Transmission

RATE = 200.0


def swinging(seconds=10.0, rate=RATE, joints=("hip", "knee"), t=None, **more):
    """Positions, velocities and accelerations in closed form."""
    t = np.arange(round(seconds * rate)) / rate if t is None else t
    w = np.array([2.0, 3.0])
    q, v, a = np.sin(w * t[:, None]), w * np.cos(w * t[:, None]), -w * w * np.sin(w * t[:, None])
    return Log(t, q, 5 * q, **{"v": v, "a": a, "joints": joints, **more})


def close(one, other, tolerance):
    assert np.abs(one - other).max() <= tolerance


INSIDE = slice(150, -150)


# -- what a log is -------------------------------------------------------------------------------------------------


def test_what_it_tells():
    log = swinging(notes=("a < b",))
    assert len(log) == 2000 and log.rate == pytest.approx(RATE) and log.duration == pytest.approx(9.995)
    assert log.joints == log.rates == log.forces == ("hip", "knee") and log.measured == ("q", "v", "a", "tau")
    assert repr(log) == "<Log of 2000 samples, 200 Hz, 9.995 s; q, v, a, tau; hip, knee>\n  note: a < b"
    page = log._repr_html_()
    assert '<td style="text-align:left">200 Hz</td>' in page and "a &lt; b" in page
    assert "2 joints in the robot's order" in repr(swinging(joints=()))


def test_arrays_are_not_copied(tmp_path):
    t, q = np.arange(50.0), np.zeros((50, 2))
    log = Log(t, q, q)
    assert log.t is t and log.q is q and log.tau is q
    kept = np.memmap(tmp_path / "q", float, "w+", shape=(50, 2))
    assert isinstance(Log(t, kept, q).q, np.memmap)
    assert Log(range(3), [[1], [2], [3]], np.ones((3, 1), np.float32)).tau.dtype == float


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"t": [0.0]}, "too few samples"),
        ({"t": []}, "too few samples"),
        ({"t": [[0.0, 1.0, 2.0]]}, r"t: wrong shape"),
        ({"t": [0.0, 2.0, 1.0]}, "sample 1 and sample 2: the times are not in order"),
        ({"t": [0.0, 1.0, 1.0]}, "same time"),
        ({"t": [0.0, 1.0, np.nan]}, "t, sample 2: a value is not finite"),
        ({"q": np.zeros((2, 2))}, r"q: wrong shape\n  got: \(2, 2\)\n  expected: \(3, columns\)"),
        ({"q": np.zeros(3)}, "q: wrong shape"),
        ({"q": None}, "not real numbers"),
        ({"q": [[1, 2], [3], [4]]}, "rectangular|real numbers"),
        ({"tau": np.array([[1, 2], [1, np.inf], [1, 2]])}, "tau, sample 1, column 1: a value is not finite"),
        ({"tau": np.full((3, 2), "a")}, "not real numbers"),
        ({"v": np.zeros((3, 2)), "a": np.zeros((3, 1))}, "v and a have different shapes"),
        ({"joints": ("a",)}, "2 different names"),
        ({"joints": ("a", "a")}, "2 different names"),
        ({"keep": [1, 0, 1]}, r"bool \(3,\)"),
        ({"wrenches": {"tip": np.zeros((3, 3))}}, r"\(N, 6\)"),
        ({"reference": Point(np.zeros((2, 2)), None, None)}, "reference.q"),
        ({"band": Band(9.0, 2)}, "half the rate"),
    ],
)
def test_what_it_refuses(changes, message):
    good = {"t": [0.0, 1.0, 2.0], "q": np.zeros((3, 2)), "tau": np.zeros((3, 2))}
    with pytest.raises(LinkworkError, match=message):
        Log(**{**good, **changes})


def test_parts():
    log = swinging(keep=np.arange(2000) >= 400, reference=Point(np.ones((2000, 2)), None, None))
    part = log[100:300]
    np.testing.assert_array_equal(part.q, log.q[100:300])
    assert len(part.reference.q) == len(part.keep) == 200 and part.notes == ("samples 100 to 299 of 2000 taken",)
    assert log.between(1.0, 2.0).t[[0, -1]] == pytest.approx([1, 2]) and len(log.between(end=1.0)) == 201
    first, second = log.split(0.75)
    assert first.keep.sum() == 1200 and second.keep.sum() == 400 and len(first) + len(second) == 2000
    for wrong in (lambda: log[3], lambda: log[::2], lambda: log.split(1.0)):
        with pytest.raises(ShapeError):
            wrong()
    for wrong in (lambda: log.between(20, 30), lambda: log[:410].split(0.9)):
        with pytest.raises(LinkworkError, match="too few samples"):
            wrong()


# -- derivatives and filters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("derivatives", ["central", "cubic"])
@pytest.mark.parametrize("measured", ["q", "qv", "qva"])
def test_smoothed(measured, derivatives):
    log = swinging()
    bare = replace(log, **{kind: None for kind in "va" if kind not in measured})
    found = bare.smoothed(25, 4, derivatives)
    tolerance = 1e-4 if derivatives == "central" else 0.03  # cubics bend a little less than the sine
    for kind in "qva":
        close(getattr(found, kind)[INSIDE], getattr(log, kind)[INSIDE], tolerance)
    assert found.tau is log.tau and found.rates == ("hip", "knee")
    assert found.notes[0] == f"{', '.join(measured)} through a low pass at 25 Hz, order 4, without delay"
    assert len(found.notes) == (1 if measured == "qva" else 2)


def test_smoothing_takes_noise_away():
    log = swinging()
    rough = replace(log, v=None, a=None).noisy(1, q=1e-4)
    errors = [np.abs(each.a[INSIDE] - log.a[INSIDE]).max() for each in (rough.smoothed(), rough.smoothed(90))]
    assert errors[0] < 0.5 < 5 < errors[1]
    assert "chosen from the spectrum of q" in rough.smoothed().notes[1]
    with pytest.raises(ShapeError, match="central or cubic"):
        log.smoothed(derivatives="spline")
    with pytest.raises(LinkworkError, match="half the rate"):
        log.smoothed(101)
    with pytest.raises(ShapeError, match="not a frequency"):
        log.smoothed(-1)


def test_banded():
    log = swinging().noisy(0, q=1e-4)
    found = log.banded(4, 3)
    assert found.band == Band(4.0, 3, 20) and found.q is log.q
    assert "every 20-th sample" in found.notes[-1]
    chosen = log.banded()
    assert 1 < chosen.band.cutoff < 40 and chosen.band.decimate == int(0.8 * log.rate / 2 / chosen.band.cutoff)
    smooth = log.smoothed(7)
    assert smooth.passed == 7 and smooth.banded().band.cutoff == 7 and "as q before" in smooth.banded().notes[-1]
    for options in ({"cutoff": 101}, {"cutoff": 4, "order": 0}, {"cutoff": 4, "decimate": 0}, {"decimate": 1001}):
        with pytest.raises(LinkworkError):
            log.banded(**options)
    with pytest.raises(LinkworkError, match="decimate first"):
        found.decimated(50)


def test_decimated():
    log = swinging(wrenches={"tip": np.ones((2000, 6))}, keep=np.arange(2000) > 9)
    fast = np.sin(2 * np.pi * 60 * log.t)[:, None]  # would come back as 20 Hz
    found = replace(log, tau=log.tau + fast).decimated(5)
    close(found.tau[30:-30], log.tau[::5][30:-30], 1e-6)
    close(found.a[30:-30], log.a[::5][30:-30], 1e-6)
    assert found.rate == pytest.approx(40) and found.keep.tolist() == [False] * 2 + [True] * 398
    assert found.wrenches["tip"].shape == (400, 6) and log.decimated(1) is log
    for count in (0, 1001, 2.0):
        with pytest.raises(ShapeError, match="the decimation is out of range"):
            log.decimated(count)


def test_uneven_times():
    rng = np.random.default_rng(0)
    even = np.arange(2000) / RATE
    log = swinging(t=even + rng.uniform(-0.3, 0.3, 2000) / RATE)
    assert "uneven" in repr(log)
    found = log.resampled()
    assert np.ptp(np.diff(found.t)) < 1e-12 and found.rate == pytest.approx(RATE, rel=1e-3)
    close(found.q, swinging(t=found.t).q, 1e-7)
    bare = replace(log, v=None, a=None)
    smooth = bare.smoothed(25)
    close(smooth.a[INSIDE], swinging(t=smooth.t).a[INSIDE], 1e-3)
    assert "resampled by cubic splines" in smooth.notes[0] and "0.4 of a step" in smooth.notes[0]
    wrong = replace(bare, t=even).smoothed(25)  # as if they were even
    assert np.abs(wrong.a[INSIDE] - log.a[INSIDE]).max() > 0.05


def test_small_jitter_is_noted():
    jitter = 1e-3 / RATE * np.sin(np.arange(2000) * 1.7)
    found = swinging(t=np.arange(2000) / RATE + jitter).smoothed(20)
    assert "taken as even" in found.notes[0] and "resampled" not in "".join(found.notes)
    assert len(swinging(t=np.round(np.arange(2000) / RATE, 7)).smoothed(20).notes) == 1


def test_gaps_and_bursts():
    t = np.arange(2000) / RATE
    missing = (t > 4) & (t < 4.5)
    found = swinging(t=t[~missing]).resampled()
    assert found.keep.sum() == len(found) - 99 and not found.keep[np.searchsorted(found.t, 4.2)]
    assert "99 samples in gaps do not count" in found.notes[0] and found.rate == pytest.approx(RATE)
    burst = t.copy()
    burst[500] = burst[499] + 1e-6
    noise = np.random.default_rng(0).normal(scale=1e-3, size=(2000, 2))
    log = swinging(t=burst)
    found = replace(log, q=log.q + noise).resampled()
    close(found.q, swinging(t=found.t).q, 6e-3)
    assert "1 samples left out" in found.notes[0]
    apart = np.concatenate([t, t + 1e5])
    with pytest.raises(LinkworkError, match=r"widest gap from 9\.995"):
        swinging(t=apart).resampled()


def test_another_rate():
    log = swinging()
    finer = log.resampled(1000)
    close(finer.q, swinging(t=finer.t).q, 1e-8)
    fast = np.sin(2 * np.pi * 70 * log.t)[:, None]
    coarse = replace(log, tau=log.tau + fast).resampled(50)
    close(coarse.tau[50:-50], swinging(t=coarse.t).tau[50:-50], 1e-6)
    assert log.resampled() is log and len(finer.notes) == 1 and len(coarse.notes) == 2
    with pytest.raises(ShapeError, match="not a frequency"):
        log.resampled(0)


def test_without_standstill():
    t = np.arange(2000) / RATE
    angle = np.where(t < 3, 0.0, np.where(t > 8, 5.0, t - 3))
    log = Log(t, np.stack([np.sin(angle), np.sin(2 * angle)], axis=1), np.zeros((2000, 2)))
    found = log.without_standstill()
    assert 995 <= found.keep.sum() <= 1010 and found.keep[700:1500].all() and len(found) == 2000
    assert "samples at standstill" in found.notes[0]
    assert swinging().without_standstill().keep is None
    with pytest.raises(LinkworkError, match="stands still"):
        Log(t, np.zeros((2000, 1)), np.zeros((2000, 1))).without_standstill()
    with pytest.raises(ShapeError, match="out of range"):
        log.without_standstill(share=2)


def test_noise():
    log = swinging(100)
    found = log.noisy(5, q=0.1, tau=[1.0, 0.0])
    np.testing.assert_allclose((found.q - log.q).std(axis=0), 0.1, rtol=0.02)
    np.testing.assert_allclose((found.tau - log.tau).std(axis=0), [1, 0], rtol=0.02)
    assert abs(np.corrcoef((found.q - log.q).T)[0, 1]) < 0.03 and found.v is log.v
    assert found.notes == (
        "normal noise added to q, standard deviation 0.1",
        "normal noise added to tau, standard deviation 1, 0",
    )
    np.testing.assert_array_equal(log.noisy(5, q=0.1).q, log.noisy(np.random.default_rng(5), q=0.1).q)
    with pytest.raises(ShapeError, match="none below zero"):
        log.noisy(q=-1)
    with pytest.raises(LinkworkError, match="nothing to add noise to"):
        replace(log, v=None).noisy(v=1)


# -- of a robot ----------------------------------------------------------------------------------------------------


def moved(robot, seconds=0.15):
    """Near home, by sines of the independent joints, and of the platform's place where there is one."""
    t = np.arange(round(seconds * 1000)) / 1000
    free = robot.coordinates.whole(robot.model.mobility.independent)
    w, sizes = 10 + np.arange(robot.nv), np.where(np.arange(robot.nv) < 3, 0.02, 0.0)
    y, v, a = (sizes * x for x in (np.sin(w * t[:, None]), w * np.cos(w * t[:, None]), -w * w * np.sin(w * t[:, None])))
    home = np.array(robot.home)[robot.coordinates.places(free.positions.joints)]
    q = robot.assemble(free.integrate(np.tile(home, (len(t), 1)), y)).require()
    names = {"joints": robot.coordinates.names, "rates": free.velocity_names, "forces": robot.motor_names}
    return Log(t, q, np.random.default_rng(0).normal(size=(len(t), len(robot.motor_names))), v, a, **names)


def rows_of(names, wanted):
    return [names.index(name) for name in wanted]


def agree(found, log, tolerance=1e-9):
    for kind in ("q", "v", "a", "tau"):
        scale = max(1.0, np.abs(getattr(log, kind)).max())
        close(getattr(found, kind), getattr(log, kind), tolerance * scale)
    assert (found.joints, found.rates, found.forces) == (log.joints, log.rates, log.forces)


def test_order_of_joints():
    robot = linkwork.load("puma560")
    rng = np.random.default_rng(0)
    t = np.arange(50) / 100
    q, v, a, tau, commanded = rng.normal(size=(5, 50, 6))
    names = robot.joint_names
    log = Log(t, q, tau, v, a, joints=names, reference=Point(commanded, None, None))
    order = [3, 1, 5, 0, 2, 4]
    mixed = Log(
        t, q[:, order], tau[:, ::-1], v[:, order], a[:, order], joints=[names[k] for k in order], forces=names[::-1],
        reference=Point(commanded[:, order], None, None),
    )  # fmt: skip
    found = mixed.for_robot(robot)
    agree(found, log, 0)
    np.testing.assert_array_equal(found.reference.q, commanded)
    assert found.notes == ("columns are those of puma560",)
    agree(Log(t, q, tau, v, a).for_robot(robot), log, 0)
    assert log.for_robot(robot) is log
    assert Log(t, q, tau, v, a).for_robot(robot).q is q


@pytest.mark.parametrize("named", [True, False])
def test_commanded_rates_where_none_were_measured(named):
    robot = linkwork.load("puma560")
    t = np.arange(50) / 100
    q, v, a, tau = np.random.default_rng(0).normal(size=(4, 50, 6))
    order = [3, 1, 5, 0, 2, 4] if named else [0, 1, 2, 3, 4, 5]
    reference = Point(*(x[:, order] for x in (q, v, a)))
    joints = [robot.joint_names[k] for k in order] if named else ()
    found = Log(t, q[:, order], tau[:, order], joints=joints, reference=reference).for_robot(robot)
    for each, expected in zip(found.reference, (q, v, a), strict=True):
        np.testing.assert_array_equal(each, expected)


def test_joints_the_robot_does_not_have():
    robot = linkwork.load("planar2r")
    t, q = np.arange(9.0), np.zeros((9, 2))
    first, second = robot.joint_names
    with pytest.raises(UnknownNameError, match=f"did you mean '{second}'"):
        Log(t, q, q, joints=(first, second + "s")).for_robot(robot)
    with pytest.raises(UnknownNameError, match="no joint 'x'"):
        Log(t, q, q, forces=("x", second)).for_robot(robot)
    with pytest.raises(UnknownNameError, match="no joint 'x'"):
        Log(t, q, q, q, rates=("x", second)).for_robot(robot)
    with pytest.raises(UnknownNameError, match="no frame 'nose'"):
        Log(t, q, q, wrenches={"nose": np.zeros((9, 6))}).for_robot(robot)
    with pytest.raises(LinkworkError, match=f"no positions of {second}"):
        Log(t, q[:, :1], q, joints=(first,)).for_robot(robot)
    with pytest.raises(LinkworkError, match=f"no forces of {second}"):
        Log(t, q, q[:, :1], joints=robot.joint_names, forces=(first,)).for_robot(robot)
    with pytest.raises(LinkworkError, match=f"no velocities of {second}"):
        Log(t, q, q, q[:, :1], joints=robot.joint_names, rates=(first,)).for_robot(robot)
    with pytest.raises(ShapeError, match=r"got: 3 columns\n  expected: 2"):
        Log(t, np.zeros((9, 3)), q).for_robot(robot)


def test_simulated_motions_come_back():
    robot = linkwork.load("puma560")
    law = PDGravity(kp=[200.0] * 6, kd=[40.0] * 6)
    goal = Point(np.full(6, 0.3), np.zeros(6), np.zeros(6))
    log = Log.from_trajectory(robot.simulate(duration=0.3, torque=law, reference=goal, method="rk4"))
    assert log.for_robot(robot) is log and "simulated: puma560, rk4" in log.notes[0]
    smooth = linkwork.load("puma560", friction=False)
    np.testing.assert_allclose(smooth.inverse_dynamics(log.q, log.v, log.a).shape, log.tau.shape)
    bare = replace(log, v=None, a=None).for_robot(robot)
    close(bare.v[20:-20], log.v[20:-20], 1e-3)
    rollout = robot.rollout(np.zeros(6), np.zeros(6), steps=3)
    with pytest.raises(LinkworkError, match=r"no tau.*\n.*\n  fix: .*outputs"):
        Log.from_trajectory(rollout)


@pytest.mark.parametrize("name", ["five-bar", "delta", "gough-stewart", "parallelogram"])
def test_loops_from_any_joints(name):
    robot = linkwork.load(name)
    log = moved(robot)
    assert log.for_robot(robot) is log
    motors, names = robot.motor_names, robot.coordinates.velocity_names
    v, a = robot.joint_velocities(log.q, log.v), robot.joint_accelerations(log.q, log.v, log.a)
    # of all joints, in another order
    everything = Log(log.t, log.q[:, ::-1], log.tau, v[:, ::-1], a[:, ::-1], joints=log.joints[::-1], rates=names[::-1])
    agree(replace(everything, forces=log.forces).for_robot(robot), log, 1e-12)
    # of the motors
    places = rows_of(names, motors)
    measured = Log(
        log.t, log.q[:, rows_of(log.joints, motors)], log.tau, v[:, places], a[:, places], joints=motors,
        forces=log.forces,
    )  # fmt: skip
    found = measured.for_robot(robot)
    agree(found, log, 1e-7)
    if len(motors) < len(log.joints):
        assert any("by closing the loops" in note for note in found.notes)
    # of the independent ones, without names, v and a differentiated
    own = robot.coordinates.whole(robot.model.mobility.independent)
    bare = Log(
        log.t, log.q[:, robot.coordinates.places(own.positions.joints)], log.tau, joints=own.names, forces=log.forces
    )
    found = bare.for_robot(robot)
    close(found.q, log.q, 1e-9)
    close(found.v, log.v, 1e-4 * np.abs(log.v).max())
    close(found.a[5:-5], log.a[5:-5], 1e-3 * np.abs(log.a).max())
    if name == "delta":
        with pytest.raises(LinkworkError, match=r"sample 0: 150 of 150 positions of the log cannot be assembled"):
            replace(bare, q=10 * bare.q).for_robot(robot)


def test_loops_that_measurements_leave_open():
    robot = linkwork.load("five-bar")
    log = moved(robot)
    found = log.noisy(0, q=1e-4).for_robot(robot)
    assert np.abs(robot.loop_residual(found.q)).max() < 1e-11 and any("closed again" in note for note in found.notes)


def test_passive_joints_are_not_driven():
    robot = linkwork.load("panda-elastic")
    t, rng = np.arange(5.0), np.random.default_rng(0)
    q, tau = rng.normal(size=(5, robot.nq)), rng.normal(size=(5, len(robot.motor_names)))
    found = Log(t, q, tau, q, q).for_robot(robot)
    driven = [found.forces.index(name) for name in robot.motor_names]
    np.testing.assert_array_equal(found.tau[:, driven], tau)
    assert len(driven) < robot.nv and not np.delete(found.tau, driven, axis=1).any()
    assert any("their forces are zero" in note for note in found.notes)


def test_floating_bases():
    robot = linkwork.load("space-arm", friction=False)
    rng = np.random.default_rng(2)
    torque = np.zeros(robot.nv)
    torque[6:] = rng.normal(size=robot.nv - 6)
    log = Log.from_trajectory(robot.simulate(None, rng.normal(size=robot.nv), 0.2, 1e-3, torque=torque, method="rk4"))
    q, inside = log.q.copy(), slice(20, -20)
    turned = robot.coordinates.quaternions[0]
    q[::3, turned] *= -1  # the same turns
    bare = replace(log, q=q, v=None, a=None)
    found = bare.for_robot(robot)
    close(found.v[inside], log.v[inside], 1e-9 * np.abs(log.v).max())
    close(found.a[inside], log.a[inside], 1e-7 * np.abs(log.a).max())
    smooth = bare.smoothed(200).for_robot(robot)
    np.testing.assert_allclose(np.linalg.norm(smooth.q[:, turned], axis=1), 1, atol=1e-14)
    close(smooth.v[inside], log.v[inside], 1e-4 * np.abs(log.v).max())
    halved = bare.decimated(2).for_robot(robot)
    close(halved.v[inside], log.v[::2][inside], 1e-4 * np.abs(log.v).max())


def test_mimic_joints_are_left_out(tmp_path):
    body = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = f"""<robot name="gripper"><link name="base"/>
    <link name="left">{body}</link>
    <link name="right">{body}</link>
    <joint name="lead" type="continuous"><parent link="base"/><child link="left"/><axis xyz="0 0 1"/></joint>
    <joint name="follow" type="continuous"><parent link="base"/><child link="right"/><axis xyz="0 0 1"/>
    <mimic joint="lead" multiplier="-1"/></joint></robot>"""
    (tmp_path / "robot.urdf").write_text(text)
    robot = linkwork.load(tmp_path / "robot.urdf")
    t, rng = np.arange(9.0), np.random.default_rng(0)
    q, tau, v = rng.normal(size=(3, 9, 2))
    found = Log(t, q, tau, v, v, joints=("follow", "lead")).for_robot(robot)
    np.testing.assert_array_equal(found.q, q[:, 1:])
    np.testing.assert_array_equal(found.tau, tau[:, 1:])
    assert found.joints == ("lead",)


# -- transmissions -------------------------------------------------------------------------------------------------


def test_motors_to_joints():
    motors = (Motor("motor5"), Motor("motor6"))
    wrist = Transmission("wrist", ("joint5", "joint6"), motors, ((72.0, 0.0), (13.0, 77.0)))
    robot = linkwork.load(replace(linkwork.io.read("rx90"), transmissions=(wrist,)))
    T, rng = robot.transmission, np.random.default_rng(0)
    t = np.arange(30) / 100
    q, v, a, tau_motors = rng.normal(size=(4, 30, 6))
    expected = Log(t, q, tau_motors @ T, v, a, joints=robot.joint_names)
    of_motors = Log(t, q @ T.T, tau_motors, v @ T.T, a @ T.T, joints=robot.drive_names)
    agree(of_motors.from_drives(robot).for_robot(robot), expected, 1e-12)
    agree(replace(of_motors, joints=(), rates=(), forces=()).from_drives(robot), expected, 1e-12)
    found = of_motors.from_drives(robot)
    np.testing.assert_allclose((found.tau * found.v).sum(axis=1), (of_motors.tau * of_motors.v).sum(axis=1))
    assert found.notes == ("motors to joints by the transmissions of rx90",)
    some = Log(t, of_motors.q[:, 4:], tau_motors[:, 4:], joints=("motor5", "motor6")).from_drives(robot)
    assert some.joints == ("joint5", "joint6")
    close(some.q, q[:, 4:], 1e-12)
    with pytest.raises(UnknownNameError, match="did you mean 'motor5'"):
        Log(t, q[:, :1], q[:, :1], joints=("motor55",)).from_drives(robot)
    with pytest.raises(LinkworkError, match="do not determine the positions"):
        Log(t, q[:, :1], q[:, :1], joints=("motor6",)).from_drives(robot)
    with pytest.raises(ShapeError, match="6: joint1"):
        Log(t, q[:, :3], q[:, :3]).from_drives(robot)


def test_what_equations_do_with_a_band():
    """Regressor and forces through the same filter: the noise-free equations stay true."""
    robot = linkwork.load("planar2r", friction=False)
    t = np.arange(400) / 100
    q = np.stack([np.sin(2 * t), np.cos(3 * t)], axis=1)
    v, a = np.stack([2 * np.cos(2 * t), -3 * np.sin(3 * t)], axis=1), np.stack([-4 * q[:, 0], -9 * q[:, 1]], axis=1)
    log = Log(t, q, robot.inverse_dynamics(q, v, a), v, a).banded(3.0, 4)
    regressor = zero_phase(robot.regressor(log.q, log.v, log.a), log.rate, log.band.cutoff, log.band.order)
    tau = zero_phase(log.tau, log.rate, log.band.cutoff, log.band.order)
    np.testing.assert_allclose(regressor @ robot.parameter_values(), tau, atol=1e-11 * np.abs(tau).max())
