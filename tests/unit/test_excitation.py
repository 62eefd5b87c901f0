"""Exciting motions: gradients, limits, known optima, ends at rest, loops, what is refused."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork import Trajectory
from linkwork.compose import compile
from linkwork.control import ComputedTorque
from linkwork.errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from linkwork.identify.excitation.augmented_lagrangian import Problem, Weights, condition, logdet, smooth_condition
from linkwork.identify.excitation.excite import excite
from linkwork.identify.excitation.fourier_from_rest import FourierFromRest, Grid
from linkwork.identify.excitation.motion_limits import limits_of_dependents, limits_of_series, limits_of_torques
from linkwork.identify.excitation.motion_path import Path
from linkwork.identify.excitation.workspace_limits import limits_of_frames, limits_of_loops
from linkwork.model import Mimic, Motor, Transmission
from linkwork.options import ExciteOptions

QUICK = {"starts": 1, "harmonics": 3}


@pytest.fixture(scope="module")
def puma():
    return excite(linkwork.load("puma560"), starts=1, torque={"shoulder": 60.0, "elbow": 40.0})


# -- the series ------------------------------------------------------------------------------------------------------


def series(periods=2):
    rng = np.random.default_rng(1)
    return FourierFromRest(*(rng.normal(size=shape) for shape in (3, (3, 4), (3, 4))), 0.25, 0.7, periods)


def test_series_begin_and_end_at_rest():
    motion = series()
    assert motion.duration == pytest.approx(2 * 4.0 + 2 * 0.7)
    for t in (-1.0, 0.0, motion.duration, motion.duration + 1):
        q, v, a = motion(t)
        assert np.allclose(q, motion.offset, rtol=0, atol=1e-13)
        assert np.abs([v, a]).max() < 1e-12
    for knot in (0.0, 0.7, 8.7, motion.duration):  # nothing jumps
        for before, after in zip(motion(knot - 1e-9), motion(knot + 1e-9), strict=True):
            assert np.allclose(before, after, rtol=0, atol=1e-6)


def test_series_have_their_own_derivatives():
    motion, h = series(), 1e-5
    t = np.random.default_rng(0).uniform(0, motion.duration, 200)
    t = t[np.min(np.abs(t[:, None] - [0, 0.7, 8.7, motion.duration]), axis=1) > 2 * h]
    before, at, after = motion(t - h), motion(t), motion(t + h)
    assert np.allclose((after.q - before.q) / (2 * h), at.v, rtol=0, atol=1e-6)
    assert np.allclose((after.v - before.v) / (2 * h), at.a, rtol=0, atol=1e-5)


def test_series_are_the_sum_of_harmonics():
    motion = series()
    t = np.array([1.1, 3.0, 7.9])
    w = 2 * np.pi * 0.25 * np.arange(1, 5)
    phase = np.multiply.outer(t - 0.7, w)
    expected = motion.offset + np.sin(phase) @ motion.sines.T + np.cos(phase) @ motion.cosines.T
    assert np.allclose(motion(t).q, expected, rtol=0, atol=1e-12)


# -- gradients -------------------------------------------------------------------------------------------------------


def problem_of(robot, frames=(), height=None, box=None, torque=None):
    smooth = type(robot)(replace(robot.model, friction_width=0.05))
    path, limits = Path(smooth), ExciteOptions(torque=torque)
    rows = [
        *limits_of_series(path, limits, {}, []),
        *limits_of_dependents(path, 0.9),
        *limits_of_frames(path, frames, height, box),
        *limits_of_loops(path),
        *limits_of_torques(smooth, limits, []),
    ]
    n, harmonics = len(path.names), 3
    unit = np.outer(np.minimum(rows[0].scale, 0.7), np.ones(2 * harmonics + 1))
    regressor = compile(smooth.model, "regressor", parameters="minimal", drives=("FS", "FV"))
    grid = Grid.of(harmonics, 5.0, 1.0, 60)
    problem = Problem(path, rows, regressor, grid, np.ones(n, bool), unit, np.zeros_like(unit))
    middle = path.middle if path.model.permanent else (rows[0].lower + rows[0].upper) / 2
    size, rng = 0.08 if path.model.permanent else 0.2, np.random.default_rng(3)
    motions = [np.column_stack([middle, size * unit[:, 1:] * rng.normal(size=(n, 2 * harmonics))]) for _ in range(3)]
    problem.scaled_by(motions)
    _, V = np.linalg.eigh(problem.information(problem.regressors(motions[0])))
    problem.columns = problem.columns @ V[:, -12:]  # what is well excited, so that differences are exact enough
    return problem, problem.unknowns(motions[0])


def bounded_loops():
    """Motors are not its independent joints, and other joints have limits of positions and velocities."""
    described = linkwork.io.read("3rpr")
    limits = {"leg1_pivot": {"kind": "revolute", "lower": -2.0, "upper": 5.0}, "leg2_pivot": {"velocity_limit": 7.0}}
    joints = tuple(replace(joint, **limits.get(joint.name, {})) for joint in described.joints)
    return linkwork.load(replace(described, joints=joints))


BOX = ((0.2, -0.2, -1.0), (0.9, 0.4, 2.0))
ROBOTS = {
    "scara": (
        lambda: linkwork.load("scara"),
        {"frames": "flange", "height": -1.0, "box": ((0.2, -0.2, -1), (0.9, 0.4, 2))},
    ),
    "stanford": (lambda: linkwork.load("stanford"), {"torque": 30.0}),
    "3rpr": (bounded_loops, {}),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_gradients(name):
    """Against differences of fourth order, of what is asked for and of the price of limits of every kind."""
    load, options = ROBOTS[name]
    problem, z = problem_of(load(), **options)
    shape = (2, len(problem.grid.t), len(problem.lower))
    weights = np.random.default_rng(0).uniform(1, 2, shape)  # large: all rows are priced, also far inside
    d = np.random.default_rng(1).normal(size=z.shape)
    nothing = Weights(np.zeros(shape), 1e-9, -1e9)

    def price(F):
        return 0.0, np.zeros_like(F)

    judged = [
        (condition, nothing),
        (logdet, nothing),
        (smooth_condition(3), nothing),
        (price, Weights(weights, 0.3, 0.0)),
    ]
    for judge, prices in judged:
        value, gradient = problem.value(z, judge, prices)
        h = 4e-5  # friction is steep
        near = {k: problem.value(z + k * h * d, judge, prices)[0] for k in (-2, -1, 1, 2)}
        difference = (8 * (near[1] - near[-1]) - (near[2] - near[-2])) / (12 * h)
        assert math.isfinite(value)
        assert gradient @ d == pytest.approx(difference, rel=1e-6, abs=1e-6 * np.abs(gradient).max())


def test_smooth_condition_numbers_tend_to_the_condition_number():
    W = np.random.default_rng(0).normal(size=(50, 6)) * [1, 2, 3, 5, 8, 9]
    F = W.T @ W
    exact = np.log(np.linalg.cond(W))
    assert condition(F)[0] == pytest.approx(exact, rel=1e-10)
    values = [smooth_condition(k)(F)[0] for k in range(8)]
    assert np.all(np.diff(values) < 1e-12) and values[-1] == pytest.approx(exact, abs=1e-4)
    assert logdet(F)[0] == pytest.approx(-np.linalg.slogdet(F)[1] / 6, rel=1e-12)


# -- the optimum -----------------------------------------------------------------------------------------------------


def test_most_information_of_one_joint():
    """About a vertical axis a and v are the columns. Of one harmonic they are orthogonal and as large as the amplitude
    A allows, w^2 A and w A, which the velocity limit bounds: the most information is known."""
    arm = linkwork.load("planar2r", lock={"elbow": 0.0}, gravity=(0, 0, -9.81))
    options = {"drives": ("FV",), "harmonics": 1, "period": 4.0, "position": 3.0, "velocity": 1.0, "acceleration": 9.0}
    found = excite(arm, objective="logdet", starts=2, ramp=4.0, share=1.0, **options)
    amplitude = np.hypot(found.motion.sines, found.motion.cosines).item()
    w = 2 * np.pi / 4
    assert found.parameters == ("ZZ1", "FV1")
    assert amplitude == pytest.approx(1.0 / w, rel=0.01) and amplitude * w <= 1.0
    scale = np.abs(np.diag(found.scaling))
    information = np.diag([(w**2 * amplitude * scale[0]) ** 2 / 2, (w * amplitude * scale[1]) ** 2 / 2])
    assert found.log_determinant == pytest.approx(np.linalg.slogdet(information)[1], rel=1e-9)


def test_least_condition_number_of_one_joint_by_brute_force():
    """Under gravity, one harmonic: the phase does not count, so a grid of offsets and amplitudes tells the optimum."""
    arm, drives = linkwork.load("planar2r", lock={"elbow": 0.0}), ("FV", "F0")
    options = {"drives": drives, "harmonics": 1, "period": 3.0, "velocity": 4.0, "acceleration": 20.0}
    found = excite(arm, starts=6, share=1.0, ramp=3.0, **options)
    w, angle = 2 * np.pi / 3, 2 * np.pi * np.arange(40) / 40
    offsets, amplitudes = (x.reshape(-1, 1) for x in np.meshgrid(np.linspace(-3, 3, 121), np.linspace(0.05, 2, 80)))
    q, v, a = (
        x[..., None]
        for x in (
            offsets + amplitudes * np.sin(angle),
            w * amplitudes * np.cos(angle),
            -(w**2) * amplitudes * np.sin(angle),
        )
    )
    allowed = (
        (np.abs(q) < np.pi).all(axis=(1, 2)) & (np.abs(v) < 4).all(axis=(1, 2)) & (np.abs(a) < 20).all(axis=(1, 2))
    )
    Y = arm.regressor(q[allowed], v[allowed], a[allowed], "minimal", drives)[:, :, 0]
    best = np.linalg.cond(Y @ found.scaling).min()
    assert found.condition == pytest.approx(best, rel=0.02)


def test_better_than_random(puma):
    assert puma.condition < puma.random["condition"]["best"] / 2
    assert puma.random["condition"]["best"] <= puma.random["condition"]["median"] and puma.random["count"] == 20
    assert min(each["condition"] for each in puma.starts) == puma.condition
    arm = linkwork.load("planar2r")
    informed = excite(arm, objective="logdet", **QUICK)
    assert informed.log_determinant > informed.random["log_determinant"]["best"] + 2
    assert np.array_equal(informed.motion.sines, excite(arm, objective="logdet", **QUICK).motion.sines)  # the same seed


def test_condition_number_is_that_of_the_regressor(puma):
    """Of the robot with smooth friction, at other times, between which its columns are steep."""
    smooth = type(puma.robot)(replace(puma.robot.model, friction_width=0.05))
    t = puma.motion.ramp + np.linspace(0, 10, 777, endpoint=False)
    Y = smooth.regressor(*puma.motion(t), "minimal", ("IA", "FS", "FV", "F0"))
    W = Y.reshape(-1, Y.shape[-1]) @ puma.scaling
    assert np.linalg.cond(W) == pytest.approx(puma.condition, rel=0.03)
    assert np.linalg.slogdet(W.T @ W / len(t))[1] == pytest.approx(puma.log_determinant, rel=0.01)


# -- limits ----------------------------------------------------------------------------------------------------------


def reached(found, rate):
    """The largest share of any limit that the answer promises to keep, from its samples."""
    motion = found.sample(rate)
    shares = []
    for margin in found.margins:
        array = {"position": "q", "velocity": "v", "acceleration": "a", "torque": "tau"}.get(margin.quantity)
        if array and margin.name in motion.entries[array] and math.isfinite(margin.upper):
            x = motion[array][:, motion.entries[array].index(margin.name)]
            shares.append(np.abs(x - (margin.upper + margin.lower) / 2).max() / ((margin.upper - margin.lower) / 2))
    return max(shares)


def test_no_limit_is_broken(puma):
    """Looked at ten times as often as the search itself does in the end."""
    assert len(puma.t) == 1401 and reached(puma, 1000) <= 1
    model = puma.robot.model
    q, v, tau = puma.q, puma.v, puma.tau
    middle, half = (
        (model.coordinates.upper + model.coordinates.lower) / 2,
        model.coordinates.upper - model.coordinates.lower,
    )
    assert np.all(np.abs(q - middle) <= 0.45 * half) and np.abs(v).max() <= 2.7 and np.abs(puma.a).max() <= 0.9 * 12
    assert np.abs(tau[:, 1]).max() <= 54 and np.abs(tau[:, 2]).max() <= 36
    assert np.abs(tau - puma.robot.inverse_dynamics(q, v, puma.a)).max() == 0
    assert puma.margin("torque", "shoulder").upper == pytest.approx(54)
    assert puma.margin("torque", "waist").used is None and puma.margin("torque", "shoulder").used <= 1


def test_limits_by_name_and_number_and_room():
    arm = linkwork.load("panda")
    places, box = {"panda_joint1": (-0.5, 1.0), "panda_joint7": 0.7}, np.array([[0.2, -0.3, 0.0], [0.8, 0.3, 0.7]])
    limits = {"velocity": 1.0, "acceleration": {"panda_joint1": 2.0}, "position": places}
    frames = ["panda_link7", "panda_link8"]
    found = excite(arm, share=0.8, frames=frames, height=0.25, box=box, **limits, **QUICK)
    assert reached(found, 1000) <= 1
    assert found.margin("velocity", "panda_joint5").upper == pytest.approx(0.8)
    assert found.margin("acceleration", "panda_joint1").upper == pytest.approx(1.6)
    assert found.margin("acceleration", "panda_joint2").upper == pytest.approx(0.8 * 4)
    ends = [(m.lower, m.upper) for m in (found.margin("position", f"panda_joint{k}") for k in (1, 7))]
    assert np.allclose(ends, [(0.25 - 0.6, 0.25 + 0.6), (-0.56, 0.56)])
    assert found.margin("torque", "panda_joint1").upper == pytest.approx(0.8 * 87)
    assert [note for note in found.notes if "acceleration" in note and "panda_joint1" not in note]
    for frame in frames:
        place = arm.pose(frame, found.sample(500).q)[:, :3, 3]
        assert place[:, 2].min() >= 0.25
        assert ((place < box[0]) | (place > box[1])).any(axis=1).all()
        assert found.margin("height", frame).least == pytest.approx(place[:, 2].min(), abs=1e-3)
        assert found.margin("clearance", frame).left >= 0


def test_joints_that_stay_still():
    arm = linkwork.load("scara")
    found = excite(arm, still={"lift": 0.1}, **QUICK)
    assert np.abs(found.q[:, 2] - 0.1).max() == 0 and np.abs(found.v[:, 2]).max() == 0
    assert math.isfinite(found.condition) and any("act in no motion" in note for note in found.notes)
    assert found.scaling.shape[1] < len(found.parameters)
    assert excite(arm, still=["lift", "roll"], **QUICK).q[:, 2:].any() == 0


def test_transmissions():
    described = linkwork.io.read("planar2r")
    motors = (Motor("first", viscous=0.3), Motor("second", rotor_inertia=0.2))
    belt = Transmission("belt", ("shoulder", "elbow"), motors, ((1.0, 0.0), (0.5, 1.0)))
    found = excite(linkwork.load(replace(described, transmissions=(belt,))), **QUICK)
    assert found.condition < found.random["condition"]["best"] and reached(found, 1000) <= 1
    assert "FV_second" in found.parameters


def test_what_follows_a_joint_bounds_it():
    described = linkwork.io.read("planar2r")
    shoulder, elbow = (joint for joint in described.joints if joint.name in ("shoulder", "elbow"))
    other = replace(elbow, mimic=Mimic("shoulder", -2.0, 0.1), lower=-0.9, upper=1.1, velocity_limit=1.0)
    robot = linkwork.load(replace(described, joints=(shoulder, other, *described.joints[2:])))
    found = excite(robot, share=1.0, **QUICK)
    assert found.joints == ("shoulder",)
    margin, fast = found.margin("position", "shoulder"), found.margin("velocity", "shoulder")
    assert (margin.lower, margin.upper) == pytest.approx((-0.5, 0.5)) and fast.upper == pytest.approx(0.5)


# -- loops -----------------------------------------------------------------------------------------------------------


def test_loops(monkeypatch):
    monkeypatch.setattr("linkwork.identify.excitation.excite.RANDOM", 5)  # fewer, which take most of the time here
    robot = linkwork.load("3rpr")  # its motors are not its independent joints
    found = excite(robot, period=6.0, harmonics=2, starts=1, drives=None)
    assert np.abs(robot.loop_residual(found.q)).max() < 1e-9
    assert found.condition < found.random["condition"]["best"] and reached(found, 300) <= 1
    assert robot.conditioning(found.q).min() >= 0.2 * robot.conditioning(np.array(robot.home))
    motors = robot.joint_velocities(found.q, found.v)[:, list(robot.model.mobility.motors)]
    assert np.allclose(motors, found.reference(found.t).v, rtol=0, atol=1e-9)
    h = 1 / found.rate
    rates = np.gradient(found.v, h, axis=0)[2:-2]
    assert np.abs(rates - found.a[2:-2]).max() < 0.05 * np.abs(found.a).max()


def test_controllers_follow(puma):
    run = puma.robot.simulate(
        puma.start, duration=3.0, torque=ComputedTorque(100.0, 20.0), reference=puma.reference, every=10
    )
    assert np.abs(run.q - puma.q[: len(run.t)]).max() < 1e-4


# -- the answer ------------------------------------------------------------------------------------------------------


def test_files(puma, tmp_path):
    for name in ("motion.csv", "motion.npz"):
        puma.save(tmp_path / name)
        read = Trajectory.load(tmp_path / name)
        for array in ("t", "q", "v", "a", "tau"):
            assert np.array_equal(read[array], getattr(puma, array))
        told = json.loads(read.notes[-1].removeprefix("coefficients: "))
        joints = told.pop("joints")
        assert joints == list(puma.joints)
        assert np.array_equal(FourierFromRest(**told)(2.5).q, puma.reference(2.5).q)
    header = (tmp_path / "motion.csv").read_text().splitlines()[1]
    assert header.startswith("t,q.waist,q.shoulder") and header.endswith("tau.flange_roll")


def test_pictures_and_words(puma, tmp_path):
    found = excite(linkwork.load("planar2r"), **QUICK)
    figure = found.plot(tmp_path / "e.png")
    assert (tmp_path / "e.png").read_bytes()[:4] == b"\x89PNG" and len(figure.axes) == 6
    with pytest.raises(LinkworkError, match="no format of figures"):
        found.plot(tmp_path / "e.txt")
    assert "condition number" in repr(puma) and "puma560" in repr(puma)
    assert puma._repr_html_().count("<tr>") == 7 and "shoulder" in puma._repr_html_()


def test_progress():
    told = []
    excite(linkwork.load("planar2r"), progress=lambda done, total: told.append((done, total)), **QUICK)
    assert told[-1][0] == told[-1][1] and [done for done, _ in told] == sorted(done for done, _ in told)


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"objective": "speed"}, UnknownNameError, "objective"),
        ({"period": 0.0}, LinkworkError, "period"),
        ({"rate": math.nan}, LinkworkError, "rate"),
        ({"harmonics": 0}, LinkworkError, "harmonics"),
        ({"starts": 1.5}, LinkworkError, "starts"),
        ({"share": 1.2}, LinkworkError, "share"),
        ({"ramp": -1.0}, LinkworkError, "ramp"),
        ({"velocity": -1.0}, ShapeError, "not a limit"),
        ({"velocity": {"wrist": 1.0}}, UnknownNameError, "wrist"),
        ({"velocity": (1.0, 2.0)}, ShapeError, "not a limit"),
        ({"position": {"elbow": (1.0, -1.0)}}, ShapeError, "not a limit"),
        ({"still": ["wrist"]}, UnknownNameError, "wrist"),
        ({"still": ["shoulder", "elbow"]}, LinkworkError, "no joint is left"),
        ({"height": 0.0}, LinkworkError, "frames that keep clear are missing"),
        ({"frames": ["forearm"]}, LinkworkError, "nothing to keep clear of"),
        ({"frames": ["hand"], "height": 0.0}, UnknownNameError, "hand"),
        ({"frames": ["forearm"], "box": ((0, 0, 0), (1, 1, -1))}, ShapeError, "not a box"),
        ({"progress": 3}, ShapeError, "progress"),
    ],
)
def test_mistakes(options, error, words):
    robot = linkwork.load("planar2r")
    assert "forearm" in robot.frame_names
    with pytest.raises(error, match=words):
        excite(robot, **options)


def test_limits_that_no_motion_keeps():
    with pytest.raises(LinkworkError, match=r"torque of panda_joint. is beyond its limit even at rest"):
        excite(linkwork.load("panda"), torque=3.0)


@pytest.mark.parametrize(("name", "fix"), [("quadruped", 'base="fixed"'), ("flexible-arm", "lock=")])
def test_robots_that_cannot_be_told_a_motion(name, fix):
    with pytest.raises(UnsupportedError, match=fix):
        excite(linkwork.load(name))
