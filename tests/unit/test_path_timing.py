"""The fastest motion along paths: closed forms, an LP by all its corners, inverse dynamics, and what has no motion."""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import linkwork
from linkwork.control import ComputedTorque
from linkwork.kinematics.path_timing import CHUNK
from linkwork.kinematics.splines import Splines
from linkwork.model import Stribeck


def slide(gravity=0.0, **drive):
    joints = [{"name": "slide", "kind": "prismatic", "M": 2.0, **drive}]
    return linkwork.load({"name": "slide", "gravity": [0, 0, -gravity], "joints": joints})


def random_paths(robot, number, points=5, seed=0):
    lower, upper = (np.clip(x, -2, 2) for x in (robot.coordinates.lower, robot.coordinates.upper))
    return np.random.default_rng(seed).uniform(lower, upper, (number, points, robot.nq))


def some_torques(robot, share=1.5):
    states = np.random.default_rng(1).normal(size=(3, 500, robot.nv))
    return share * np.abs(robot.inverse_dynamics(*states)).max(axis=0)


# -- splines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("points", [2, 4, 6, 7, 12])
def test_splines_are_those_of_scipy(degree, points):
    rng = np.random.default_rng(points)
    at, values = np.cumsum(rng.uniform(0.5, 1.5, (3, points)), axis=1), rng.normal(size=(3, points, 2))
    s = np.linspace(at[:, 0], at[:, -1], 21, axis=1)
    found = Splines(at, values, degree)(s)
    for k in range(3):
        spline = make_interp_spline(at[k], values[k], k=min(degree, points - 1))
        for order, each in enumerate(found):
            np.testing.assert_allclose(each[k], spline(s[k], order), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("points", [3, 5])
def test_few_points_give_a_polynomial(points):
    at = np.linspace(0, 1, points)[None]
    q, slope, bend = Splines(at, at[..., None] ** 2, 5)(np.array([[0.3, 1.0]]))
    np.testing.assert_allclose([q[0, :, 0], slope[0, :, 0], bend[0, :, 0]], [[0.09, 1], [0.6, 2], [2, 2]], rtol=1e-11)


# -- closed forms ------------------------------------------------------------------------------------------------------


def test_bang_bang():
    timed = slide().time_path([[0.0], [3.0]], torque=4.0, gridpoints=101)
    assert timed.duration == pytest.approx(2 * np.sqrt(3 / 2), rel=1e-12)
    np.testing.assert_allclose(np.abs(timed.tau), 4, rtol=1e-9)
    assert set(timed.limiting) == {"torque slide"} and (timed.tau[:50] > 0).all() and (timed.tau[50:] < 0).all()


def test_trapezoid_and_one_sided_limits():
    robot = slide()
    timed = robot.time_path([[0.0], [3.0]], torque=4.0, velocity=1.0, gridpoints=13)
    assert timed.duration == pytest.approx(3 / 1 + 1 / 2, rel=1e-12)
    assert timed.limiting[6] == "velocity slide"
    same = robot.time_path([[0.0], [3.0]], acceleration=2.0, velocity={"slide": 1.0}, gridpoints=13)
    assert same.duration == pytest.approx(timed.duration, rel=1e-12)
    slow_back = robot.time_path([[3.0], [0.0]], acceleration=2.0, velocity=[[-0.5], [1.0]], gridpoints=49)
    assert slow_back.duration == pytest.approx(3 / 0.5 + 0.5 / 2, rel=1e-12)


@pytest.mark.parametrize("way", [1, -1])
def test_gravity_helps_one_way(way):
    up, down = 30 / 2 - 9.81, 30 / 2 + 9.81
    first, last = (up, down) if way > 0 else (down, up)
    grid = np.unique([*np.linspace(0, 1, 21), last / (first + last)])
    timed = slide(9.81).time_path([[0.0], [way * 1.5]], torque=30.0, gridpoints=grid)
    assert timed.duration == pytest.approx(np.sqrt(2 * 1.5 * (up + down) / (up * down)), rel=1e-12)


def test_speeds_at_the_ends():
    """From 1 m/s to 2 m/s within 3 m at 2 m/s^2: s is in metres here."""
    timed = slide().time_path([[0.0], [3.0]], s=[0.0, 3.0], acceleration=2.0, speeds=(1.0, 2.0), gridpoints=97)
    peak = np.sqrt((2 * 2.0 * 3 + 1 + 4) / 2)
    assert timed.duration == pytest.approx((peak - 1 + peak - 2) / 2, rel=1e-3)
    assert (timed.rate[[0, -1]] == [1, 2]).all()
    exact = slide().time_path(
        [[0.0], [3.0]], s=[0, 3], acceleration=2, speeds=(1, 2), gridpoints=[0, (peak**2 - 1) / 12, 1]
    )
    assert exact.duration == pytest.approx((2 * peak - 3) / 2, rel=1e-12)


def test_a_weak_motor_must_fall():
    """It cannot hold 2 kg: its speed has a lower limit at every point, and the end needs a speed."""
    robot, weak, strong = slide(9.81), 9.81 - 15 / 2, 9.81 + 15 / 2
    share = (3**2 - 2 * weak) / (2 * (strong - weak))  # of strong acceleration, then weak, from rest to 3 m/s
    options = {"torque": 15.0, "s": [0.0, 1.0], "gridpoints": np.unique([*np.linspace(0, 1, 9), share])}
    timed = robot.time_path([[1.0], [0.0]], speeds=(0.0, 3.0), **options)
    peak = np.sqrt(2 * strong * share)
    assert timed.duration == pytest.approx(peak / strong + (3 - peak) / weak, rel=1e-12)
    for speeds, text in (
        ((0, 0), "the speeds further on and torque of slide"),
        ((0, 2), "the speeds further on and torque of slide"),
        ((0, 9), "the speed at the start is too small"),
    ):
        timed = robot.time_path([[1.0], [0.0]], speeds=speeds, **options)
        assert text in timed.problems[()], timed.problems
    timed = robot.time_path([[1.0], [0.0]], speeds=(0, 3), acceleration=1.0, **options)
    assert "acceleration of slide" in timed.problems[()] and "torque of slide" in timed.problems[()]


def test_coulomb_friction_delays_and_brakes():
    up, down = (4 - 1) / 2, (4 + 1) / 2
    for goal in (3.0, -3.0):
        grid = np.unique([*np.linspace(0, 1, 11), down / (up + down)])
        timed = slide(Fs=1.0).time_path([[0.0], [goal]], torque=4.0, gridpoints=grid)
        assert timed.duration == pytest.approx(np.sqrt(2 * 3 * (up + down) / (up * down)), rel=1e-12)


def test_viscous_friction_is_on_the_safe_side_and_converges():
    F, d, m, L = 4.0, 1.0, 2.0, 3.0

    def length(t):
        """Length and duration of a motion that accelerates for t, then brakes."""
        v = F / d * (1 - np.exp(-d * t / m))
        stop = m / d * np.log(1 + d * v / F)
        first = F / d * t - m / d * v
        return first + (v + F / d) * m / d * (1 - np.exp(-d * stop / m)) - F / d * stop, t + stop

    low, high = 0.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if length(middle)[0] < L else (low, middle)
    exact = length(low)[1]
    robot = slide(Fv=d)
    errors = []
    for gridpoints in (101, 401, 1601):
        timed = robot.time_path([[0.0], [L]], torque=F, gridpoints=gridpoints)
        assert timed.shares.max() < 1 + 1e-9
        errors.append(timed.duration / exact - 1)
    assert errors[0] < 0.01 and errors[2] < 0.001 and errors[0] > 2 * errors[1] > 4 * errors[2] > 0


def test_viscous_friction_where_the_motor_cannot_hold_the_weight():
    """A motion that is not possible without friction is not taken for one that is."""
    robot = linkwork.load("puma560")
    path = np.linspace([-0.4, -0.4, 2.8, 0.2, 2.4, 1.7], [-1.3, -1.3, 8.3, 0.5, 7.2, 5.0], 5)
    timed = robot.time_path(path, torque={"elbow": 9.7}, velocity=3.0, acceleration=20.0, gridpoints=3)
    assert "torque of elbow" in timed.problems[()]


def test_mimic_joints_count():
    """Two fingers of 2 kg; the second moves twice as far, so its limit of 1 m/s is one of 0.5 m/s of the first."""
    finger = {"kind": "prismatic", "M": 2.0, "parent": "base"}
    mimic = {"joint": "left", "multiplier": 2.0}
    joints = [{"name": "left", "velocity": 3.0, **finger}, {"name": "right", "velocity": 1.0, "mimic": mimic, **finger}]
    robot = linkwork.load({"name": "gripper", "gravity": [0, 0, 0], "joints": joints})
    timed = robot.time_path([[0.0], [1.0]], torque=10.0, gridpoints=129)
    assert robot.nv == 1 and np.abs(timed.v).max() == pytest.approx(0.5)
    acceleration = 10 / (2 + 4 * 2)
    assert timed.duration == pytest.approx(1 / 0.5 + 0.5 / acceleration, rel=1e-12)


# -- an independent solution -------------------------------------------------------------------------------------------


def corners(a, b, c):
    """All corners of the polygon a u + b x <= c, by the intersections of all pairs of lines."""
    i, j = np.triu_indices(len(a), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = a[i] * b[j] - a[j] * b[i]
        points = np.array([c[i] * b[j] - c[j] * b[i], a[i] * c[j] - a[j] * c[i]]).T / determinant[:, None]
    points = points[np.isfinite(points).all(axis=1)]
    size = np.abs(points) @ np.abs([a, b]) + np.abs(c)
    return points[(points @ [a, b] <= c + 1e-12 * size).all(axis=1)]


def squared_rates_by_corners(robot, splines, s, limits):
    """The same by polygons, from inverse dynamics of a robot without friction."""
    q, d1, d2 = (each[0] for each in splines(s[None]))
    zero = 0 * q
    C = robot.inverse_dynamics(q, zero, zero)
    A, B = robot.inverse_dynamics(q, zero, d1) - C, robot.inverse_dynamics(q, d1, d2) - C
    a, b = np.concatenate([A, d1], axis=1), np.concatenate([B, d2], axis=1)
    low, high = (np.concatenate([limits.torque[k] - C, zero + limits.acceleration[k]], axis=1) for k in (0, 1))
    top = np.min((limits.velocity[1] / np.abs(d1)) ** 2, axis=1)

    def polygon(i, interval):
        h = 2 * (s[i + 1] - s[i])
        rows = [(a[i], b[i], high[i]), (-a[i], -b[i], -low[i])]
        ahead = a[i + 1] + h * b[i + 1]
        rows += [(ahead, b[i + 1], high[i + 1]), (-ahead, -b[i + 1], -low[i + 1])]
        last = [(h, 1, interval[1]), (-h, -1, -interval[0]), (0, 1, top[i]), (0, -1, 0)]
        parts = [np.concatenate([row[k] for row in rows] + [[x[k] for x in last]]) for k in range(3)]
        scale = np.hypot(parts[0], parts[1])
        return [part / scale for part in parts]

    intervals = [(0.0, 0.0)]
    for i in reversed(range(len(s) - 1)):
        x = corners(*polygon(i, intervals[0]))[:, 1]
        intervals.insert(0, (x.min(), x.max()))
    x = [0.0]
    for i in range(len(s) - 1):
        along, across, end = polygon(i, intervals[i + 1])
        rest, bounding = end - across * x[-1], along > 1e-12
        u = np.min(rest[bounding] / along[bounding])
        x.append(np.clip(x[-1] + 2 * (s[i + 1] - s[i]) * u, *intervals[i + 1]))
    return np.array(x)


@pytest.mark.parametrize("name", ["panda", "ur5e", "stanford", "planar2r"])
def test_rates_are_those_of_polygons(name):
    robot = linkwork.load(name, friction=False)
    paths = random_paths(robot, 3)
    torque = some_torques(robot)
    timed = robot.time_path(paths, gridpoints=25, torque=torque, acceleration=20.0, velocity=3.0)
    assert timed.solved.all()
    for k in range(3):
        expected = squared_rates_by_corners(robot, timed[k]._splines, timed.s[k], timed.limits)
        np.testing.assert_allclose(timed.rate[k] ** 2, expected, rtol=1e-9, atol=1e-10 * expected.max())


# -- limits, by inverse dynamics ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["panda", "ur5e", "puma560", "rx90", "scara", "stanford", "planar2r"])
def test_limits_hold_and_some_limit_is_active(name):
    robot = linkwork.load(name)
    torque = np.minimum(some_torques(robot), [joint.effort_limit for joint in robot.coordinates.joints])
    timed = robot.time_path(random_paths(robot, 20), torque=torque, acceleration=30.0)
    assert timed.solved.all()
    for which, (quantity, (low, high)) in enumerate(zip(("v", "a", "tau"), timed.limits)):
        values = getattr(timed, quantity)
        size = np.where(np.isfinite(high), high, 1)
        assert (values <= high + 1e-7 * size).all() and (values >= low - 1e-7 * size).all(), quantity
        assert timed.shares[:, :, which].max() <= 1 + 1e-7
    most = timed.shares.max(axis=(-1, -2))
    assert (most > 0.999).mean() > 0.95  # not where forces change their sign within a step
    inner = slice(1, -1)  # at rest, friction is that of the motion
    again = robot.inverse_dynamics(timed.q, timed.v, timed.a)
    np.testing.assert_allclose(timed.tau[:, inner], again[:, inner], rtol=1e-12, atol=1e-12 * np.abs(again).max())


def test_between_grid_points_limits_hold_with_a_finer_grid():
    robot = linkwork.load("ur5e")
    path = random_paths(robot, 1)[0]
    excess, durations = [], []
    for gridpoints in (50, 200, 800):
        timed = robot.time_path(path, acceleration=20.0, gridpoints=gridpoints)
        v, tau = (np.abs(timed.trajectory(1e-3)[name]) / limit[1] for name, limit in
                  (("v", timed.limits.velocity), ("tau", timed.limits.torque)))  # fmt: skip
        excess.append(max(v.max(), tau.max()) - 1)
        durations.append(timed.duration)
    assert excess[2] < 0.01 and excess[2] < 0.5 * excess[0]
    assert np.ptp(durations[1:]) < 0.2 * np.ptp(durations[:2]) + 1e-3


def test_the_default_grid_is_finer_at_the_ends():
    robot = linkwork.load("ur5e")
    paths = random_paths(robot, 5)
    default, equal, fine = (robot.time_path(paths, acceleration=20.0, gridpoints=n) for n in (None, 100, 2000))
    assert (default.duration / fine.duration < 1.002).all() and (equal.duration / fine.duration > 1.003).all()
    assert default.t.shape == (5, 108) and robot.time_path(default.q, acceleration=20.0).t.shape == (5, 223)


def test_velocities_and_accelerations_are_those_of_the_positions():
    robot = linkwork.load("ur5e")
    timed = robot.time_path(random_paths(robot, 1)[0], degree=5)
    t = (timed.t[1:] + timed.t[:-1]) / 2
    before, now, after = (timed(t + h) for h in (-1e-5, 0, 1e-5))
    np.testing.assert_allclose((after.q - before.q) / 2e-5, now.v, atol=1e-6 * np.abs(now.v).max())
    np.testing.assert_allclose((after.v - before.v) / 2e-5, now.a, atol=1e-6 * np.abs(now.a).max())
    np.testing.assert_allclose(timed(timed.t).q, timed.q, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(timed(timed.t).v, timed.v, rtol=1e-9, atol=1e-9)
    outside = timed([-1.0, timed.duration + 1])
    np.testing.assert_allclose(outside.q, timed.q[[0, -1]], atol=1e-12)
    assert not outside.v.any() and not outside.a.any()


def test_paths_that_stop():
    """There and back: q' is zero in the middle, for all joints at once."""
    timed = slide().time_path([[0.0], [1.0], [0.0]], torque=4.0, velocity=5.0, gridpoints=201)
    assert timed.solved and timed.shares.max() < 1 + 1e-9 and np.isfinite(timed.a).all()
    assert timed.duration == pytest.approx(2 * np.sqrt(2), rel=5e-3)
    robot = linkwork.load("panda")
    there = random_paths(robot, 1, points=2)[0]
    timed = robot.time_path([*there, there[0]])
    assert timed.solved and timed.shares.max() < 1 + 1e-7


def test_a_joint_that_stands_still_has_no_limit_of_velocity():
    robot = linkwork.load("panda")
    timed = robot.time_path([np.zeros(7), [0.5, 0, 0, 0, 0, 0, 0]], acceleration=5.0)
    assert timed.solved and not timed.v[:, 1:].any()


# -- batches -----------------------------------------------------------------------------------------------------------


def test_a_path_has_the_same_bits_alone_and_in_a_batch():
    robot = linkwork.load("panda")
    paths = random_paths(robot, CHUNK + 9)
    every = robot.time_path(paths.reshape(1, -1, 5, 7), gridpoints=20)
    assert every.duration.shape == (1, CHUNK + 9)
    for k in (0, 5, CHUNK + 8):
        alone, one = robot.time_path(paths[k], gridpoints=20), every[0, k]
        assert isinstance(alone.duration, float) and alone.duration == one.duration
        assert (alone.tau == one.tau).all() and (alone(0.3).q == one(0.3).q).all()
        assert (alone.limiting == one.limiting).all() and alone.trajectory().tau.shape[1] == 7
    assert every(np.linspace(0, 1, 4)).v.shape == (1, CHUNK + 9, 4, 7)


def test_a_path_without_motion_is_reported_and_others_are_not_affected():
    robot = linkwork.load("panda")
    paths = random_paths(robot, 6) * 0.3
    good = robot.time_path(paths)
    bad = paths.copy()
    bad[1, 2, 3], bad[2, 3], bad[5] = np.nan, bad[2, 2], bad[5] * 1e160
    bad[4] = [0, 1.5, 0, -0.1, 0, 1.6, 0] + 0.1 * np.linspace(0, 1, 5)[:, None]  # stretched out: gravity needs 49 N m
    torque = {"panda_joint2": 45.0}
    timed, same = robot.time_path(bad, torque=torque), robot.time_path(paths, torque=torque)
    assert set(timed.problems) >= {(1,), (2,), (4,)} and not good.problems and same.solved[[0, 3]].all()
    assert "not finite" in timed.problems[1,] and "points 2 and 3 of the path are equal" in timed.problems[2,]
    assert "torque of panda_joint2" in timed.problems[4,] and timed.problems[4,].startswith("at s = ")
    assert "too large for numbers" in timed.problems[5,]
    for k in (0, 3):
        assert timed.problems.get((k,)) == same.problems.get((k,))
        np.testing.assert_array_equal(timed.tau[k], same.tau[k])
    assert (
        not timed.solved[4]
        and np.isnan(timed.q[4]).all()
        and np.isnan(timed.t[4]).all()
        and (timed.limiting[4] == "").all()
    )
    with pytest.raises(linkwork.LinkworkError, match="panda_joint2"):
        timed[4].require()
    with pytest.raises(linkwork.LinkworkError, match="path 1 has no motion"):
        timed.require()


def test_paths_of_a_batch_by_any_index():
    timed = linkwork.load("planar2r").time_path(
        np.random.default_rng(0).normal(size=(2, 3, 4, 2)), velocity=1, acceleration=5, torque=1e4
    )
    for index in ((..., 0), (1, ...), (0, 2), (slice(None), [2, 0]), (None, 1), timed.duration > timed.duration.mean()):
        chosen = timed[index]
        assert np.array_equal(chosen.duration, timed.duration[index])
        assert chosen.t.shape == (*chosen.batch, *timed.t.shape[2:])
        numbers = np.arange(6).reshape(2, 3)[index]
        assert np.allclose(chosen(0.1).q, timed(0.1).q.reshape(6, 2)[numbers], rtol=0, atol=1e-15)


def test_payloads_are_inputs():
    robot = linkwork.load("ur5e")
    paths = random_paths(robot, 2)
    loads = np.zeros((2, 10))
    loads[1, 0], loads[1, 3] = 3.0, 0.05
    timed = robot.time_path(paths, inputs={"payload:tool0": loads}, acceleration=20)
    loaded = robot.with_payload("tool0", 3.0, center=loads[1, 1:4])
    assert timed[0].duration == pytest.approx(robot.time_path(paths[0], acceleration=20).duration, rel=1e-12)
    expected = loaded.time_path(paths[1], acceleration=20)
    assert timed[1].duration == pytest.approx(expected.duration, rel=1e-10)
    np.testing.assert_allclose(timed[1].trajectory().tau, expected.trajectory().tau, atol=1e-6)
    same = robot.time_path(paths, inputs={"payload:tool0": loads[1]}, acceleration=20)
    assert same.duration[1] == timed.duration[1]


def test_a_simulation_follows():
    robot = linkwork.load("ur5e")
    timed = robot.time_path(random_paths(robot, 1)[0], torque=some_torques(robot), gridpoints=200)
    q0, options = timed.q[0], {"torque": ComputedTorque(kp=400, kd=40), "reference": timed, "dt": 1e-3}
    motion = robot.simulate(q0, duration=round(timed.duration, 3), **options)
    assert np.abs(motion.q - timed(motion.t).q).max() < 2e-3


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("quadruped", "floating base"),
        ("four-bar", "loops"),
        ("panda-elastic", "no motor drives panda_joint1"),
        ("flexible-two-link", "no motor drives bend1"),
    ],
)
def test_refused_robots(name, reason):
    robot = linkwork.load(name)
    with pytest.raises(linkwork.UnsupportedError, match=reason):
        robot.time_path(np.zeros((2, robot.nq)))


def test_refused_forces():
    arm = linkwork.load("planar2r")
    name = arm.joint_names[0]
    with pytest.raises(linkwork.UnsupportedError, match="not constant and viscous"):
        arm.with_drives({name: {"friction": (Stribeck(excess=0.2, velocity=0.05),)}}).time_path(np.eye(2), torque=9.0)
    with pytest.raises(linkwork.UnsupportedError, match="force laws"):
        arm.with_forces({arm.link_names[-1]: linkwork.forces.Thruster()}).time_path(np.eye(2), torque=9.0)
    with pytest.raises(linkwork.UnsupportedError, match="no input of time_path"):
        arm.time_path(np.eye(2), torque=9.0, inputs={"viscous": [1.0, 1.0]})


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"torque": 0}, "not a limit"),
        ({"torque": [1, 2, 3]}, "wrong shape"),
        ({"torque": "strong"}, "not an array of numbers"),
        ({"torque": {"elbow9": 3}}, "there is no joint 'elbow9'"),
        ({"velocity": [[1, 1], [2, 2]]}, "not a limit"),
        ({}, "nothing limits the motion"),
        ({"torque": 9, "degree": 4}, "wrong degree"),
        ({"torque": 9, "gridpoints": 1}, "wrong points of the grid"),
        ({"torque": 9, "gridpoints": [0, 0.5, 0.5, 1]}, "wrong points of the grid"),
        ({"torque": 9, "s": [0, 0]}, "wrong parameter"),
        ({"torque": 9, "speeds": (-1, 0)}, "out of range"),
        ({"torque": 9, "gridpoints": np.nan}, "wrong points of the grid"),
        ({"torque": 9, "inputs": {"gravity": [1, 2]}}, "wrong shape"),
        ({"torque": 9, "inputs": {"gravitas": [1, 2, 3]}}, "gravitas"),
        ({"torque": 9, "inputs": "gravity"}, "not a dict"),
    ],
)
def test_mistakes(options, text):
    with pytest.raises(linkwork.LinkworkError, match=text):
        linkwork.load("planar2r").time_path(np.eye(2), **options)


def test_no_paths():
    timed = linkwork.load("planar2r").time_path(np.zeros((0, 4, 2)), torque=9.0)
    assert timed.duration.shape == (0,) and timed.tau.shape == (0, 108, 2) and not timed.problems


def test_wrong_paths_and_speeds():
    arm = linkwork.load("planar2r")
    for path in (np.zeros(2), np.zeros((1, 2)), np.zeros((4, 3)), "path"):
        with pytest.raises(linkwork.ShapeError):
            arm.time_path(path, torque=9.0)
    timed = arm.time_path(np.eye(2), torque=3000.0, velocity=1.0, speeds=(0, 50.0))
    assert timed.problems == {(): "at s = 1, the speed at the end exceeds a limit of velocity"}
    timed = arm.time_path(np.eye(2), torque=3000.0, velocity=1.0, speeds=(50.0, 0))
    assert "the speed at the start is too large" in timed.problems[()] and "too large" in repr(timed)
    with pytest.raises(linkwork.ShapeError, match="this takes one path"):
        arm.time_path([np.eye(2)], torque=3000.0).trajectory()
    with pytest.raises(linkwork.ShapeError, match="out of range"):
        arm.time_path(np.eye(2), torque=3000.0).trajectory(0)
