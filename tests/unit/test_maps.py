"""Maps of workspaces: closed forms of areas, payloads and singular curves; limits, loops, branches, bad input."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import linkwork
from linkwork.errors import UnsupportedError
from linkwork.kinematics import Map, Pose, Position
from linkwork.kinematics.map_cells import ORIENTATIONS, Grid, Turns
from linkwork.model import describe
from linkwork.rotations import from_quaternion

FRAMES = {
    "panda": "panda_link8", "scara": "flange", "stanford": "link6", "five-bar": "tool", "3rrr": "tool",
    "delta": "tool", "gough-stewart": "platform", "hybrid-3rpr": "upper_platform", "parallelogram": "gripper",
}  # fmt: skip
PLANAR = ("five-bar", "3rrr", "hybrid-3rpr")  # they move in the plane xy


def planar(first=1.0, second=0.6, limits=(None, None), **more):
    """A planar arm with the given lengths and point masses at the ends of its links."""
    drives = [{"joint": f"j{k + 1}", "limits": list(limit)} for k, limit in enumerate(limits) if limit is not None]
    return linkwork.load({
        "name": "planar", "gravity": [0, -9.81, 0],
        "joints": [{"name": "j1", "link": "a"}, {"name": "j2", "link": "b", "d": first}],
        "links": [{"link": "a", "M": 2.0, "center": [first, 0, 0]}, {"link": "b", "M": 1.0, "center": [second, 0, 0]}],
        "drives": drives, "frames": [{"name": "tip", "link": "b", "d": second}], **more,
    })  # fmt: skip


def limited(robot, *efforts):
    return robot.with_drives({n: {"effort_limit": x} for n, x in zip(robot.motor_names, efforts, strict=True)})


def effort_limits(robot) -> np.ndarray:
    return np.array([joint.effort_limit for joint in robot.coordinates.joints if joint.name in robot.motor_names])


def centres(result: Map) -> np.ndarray:
    """Centres of the cells (..., axes)."""
    return np.stack(np.meshgrid(*result.centres.values(), indexing="ij"), axis=-1)


# -- reach -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [20, 40, 80, 160])
def test_area_of_an_annulus(cells):
    result = planar().workspace("tip", cells=cells, samples=400_000)
    true = np.pi * (1.6**2 - 0.4**2)
    assert abs(result.volume() - true) < min(result.error, 4 / cells)
    assert result.error < 60 / cells
    assert abs(result.share - true / 3.2**2) < 1 / cells
    np.testing.assert_allclose(result.box, [[-1.6, -1.6], [1.6, 1.6]], atol=1e-3)
    assert list(result.edges) == ["x", "y"] and result.at == {"z": 0}


def test_every_cell_of_the_annulus_is_found_and_no_other():
    result = planar().workspace("tip", cells=60, samples=400_000)
    away, half = np.linalg.norm(centres(result), axis=-1), result.edges["x"][1] - result.edges["x"][0]
    inside, outside = (away > 0.4 + half) & (away < 1.6 - half), (away < 0.4 - half) | (away > 1.6 + half)
    assert result.reached[inside].all() and not result.reached[outside].any()


def test_joint_limits_leave_a_sector():
    robot = planar(limits=[(0.2, 0.2 + np.pi / 2), (0, np.pi)])
    result = robot.workspace("tip", cells=120, samples=400_000)
    assert abs(result.volume() - np.pi / 4 * (1.6**2 - 0.4**2)) < min(result.error, 0.02)
    q = result.q[result.reached]
    assert (q >= robot.coordinates.lower).all() and (q <= robot.coordinates.upper).all()


@pytest.mark.parametrize("limits", [(0.5, 7.0), (-10.0, 0.0), (-9.0, 9.0)])
def test_a_whole_turn_within_wide_limits(limits):
    robot = planar(limits=[limits, (0.5, 2.0)])
    result = robot.workspace("tip", cells=30, samples=50_000)
    q = result.q[result.reached]
    assert (q >= robot.coordinates.lower).all() and (q <= robot.coordinates.upper).all()
    r = np.sqrt(1 + 0.36 + 1.2 * np.cos([0.5, 2.0]))
    assert abs(result.volume() - np.pi * (r[0] ** 2 - r[1] ** 2)) < min(result.error, 0.15)


def test_volume_of_a_scara():
    robot = linkwork.load("scara")
    result = robot.workspace("flange", cells=60)
    bend = np.linspace(0, np.radians(88), 2001)  # the elbow both ways: two sectors that overlap
    x, y = 0.325 + 0.275 * np.cos(bend), 0.275 * np.sin(bend)
    r, angle = np.hypot(x, y), np.arctan2(y, x)
    area = -np.trapezoid(r * (np.radians(100) + 2 * angle), r)
    assert abs(result.volume() - 0.21 * area) < min(result.error, 0.03 * 0.21 * area)
    assert result.missed < 100


def test_a_mimic_joint_holds_its_leader_within_its_limits():
    text = """<robot name="pair"><link name="base"/><link name="a"/><link name="b"/>
    <joint name="lead" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>
      <limit lower="0" upper="5" effort="10" velocity="1"/></joint>
    <joint name="follow" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
      <limit lower="-1" upper="0.5" effort="10" velocity="1"/><mimic joint="lead" multiplier="0.5"/></joint></robot>"""
    result = linkwork.load(text=text).workspace("b", cells=30, samples=1000)
    np.testing.assert_allclose(result.box, [[0], [1.5]], atol=0.01)  # the leader ends at 1
    assert list(result.edges) == ["x"] and abs(result.volume() - 1.5) <= result.error < 0.06
    assert result.values.shape == (30,)


@pytest.mark.parametrize(
    "name, plane",
    [(name, plane) for name in FRAMES for plane in (None, "yx", "zx") if plane != "zx" or name not in PLANAR],
)
def test_the_frame_is_in_its_cell(name, plane):
    robot = linkwork.load(name)
    quantity = "conditioning" if robot.nv == len(robot.motor_names) else "reach"
    result = robot.workspace(FRAMES[name], quantity, plane=plane, cells=12, samples=20_000)
    assert result.reached.any() and result.counts.sum() > 100
    if plane is not None:
        assert list(result.edges) == list(plane)
    q = result.q[result.reached]
    p = robot.pose(FRAMES[name], q)[:, :3, 3]
    for k, (axis, edges) in enumerate(result.edges.items()):
        at = np.nonzero(result.reached)[k]
        x = p[:, "xyz".index(axis)]
        assert (x >= edges[at] - 1e-12).all() and (x <= edges[at + 1] + 1e-12).all()
    for axis, x in result.at.items():
        np.testing.assert_allclose(p[:, "xyz".index(axis)], x, atol=1e-8)
    assert (q >= robot.coordinates.lower - 1e-12).all() and (q <= robot.coordinates.upper + 1e-12).all()
    if robot.model.constrained:
        assert np.abs(robot.loop_residual(q)).max() < 1e-8


def test_reach_agrees_with_inverse_kinematics():
    robot = linkwork.load("panda")
    result = robot.workspace("panda_link8", cells=20)
    wide = np.pad(result.counts, 1)
    around = np.stack([
        wide[tuple(slice(k, k + n) for k, n in zip(shift, result.counts.shape, strict=True))]
        for shift in itertools.product((0, 1, 2), repeat=3)
    ])  # fmt: skip
    points, rng = centres(result), np.random.default_rng(0)
    sure, never = points[(around > 0).all(axis=0)], points[(around == 0).all(axis=0)]
    assert robot.inverse_kinematics(Position("panda_link8", rng.choice(sure, 300))).solved.all()
    far = robot.inverse_kinematics(Position("panda_link8", rng.choice(never, 10)), restarts=5)
    assert not far.solved.any()


def test_errors_are_estimated():
    robot = linkwork.load("panda")
    coarse, middle, fine = (robot.workspace("panda_link8", cells=30, samples=n) for n in (100_000, 500_000, 3_000_000))
    for each in (coarse, middle):
        missing = fine.reached.sum() - each.reached.sum()
        assert missing > 300 and 0.3 < each.missed / missing < 1.2
        assert abs(each.volume() - fine.volume()) < each.error
    assert fine.missed < middle.missed < coarse.missed and fine.error < middle.error < coarse.error


def test_results_are_the_same_again_and_progress_is_reported():
    robot, calls = linkwork.load("scara"), []
    maps = [
        robot.workspace("flange", samples=100_000, cells=20, progress=progress)
        for progress in (lambda *at: calls.append(at), None)
    ]
    for name in ("values", "q", "counts", "box"):
        np.testing.assert_array_equal(*(getattr(each, name) for each in maps))
    assert calls == [(65536, 100_000), (100_000, 100_000)]


# -- dexterity ---------------------------------------------------------------------------------------------------------


def test_cells_of_orientations_have_the_same_size():
    quaternions = np.random.default_rng(0).normal(size=(200_000, 4))
    poses = np.tile(np.eye(4), (200_000, 1, 1))
    poses[:, :3, :3] = from_quaternion(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))
    counts = np.bincount(Turns(poses)(poses), minlength=ORIENTATIONS)
    assert len(counts) == ORIENTATIONS == 60
    assert np.abs(counts / counts.mean() - 1).max() < 5 * np.sqrt(60 / 200_000)


def test_dexterity_of_a_planar_arm_with_a_wrist():
    wrist = {"joints": [{"name": "j1", "link": "a"}, {"name": "j2", "link": "b", "d": 1.0},
                        {"name": "j3", "link": "c", "d": 0.6}],
             "links": [{"link": name, "M": 1.0, "central": [0.1] * 3} for name in "abc"], "frames": []}  # fmt: skip
    whole = planar(**wrist).workspace("c", "dexterity", cells=15)
    away = np.linalg.norm(centres(whole), axis=-1)
    assert (whole.values[(away > 0.5) & (away < 1.5)] == 1).all()
    still = planar(**wrist, limits=[(0, 1e-10), (0, 1e-10), (0, np.pi)])
    with pytest.raises(linkwork.LinkworkError, match="does not move"):
        still.workspace("c", "dexterity", samples=1000)
    half = planar(**wrist, limits=[(0, 0.01), (0, 0.01), (0, np.pi)]).workspace("c", "dexterity", cells=1)
    assert np.nanmax(half.values) == pytest.approx(0.5, abs=0.04)


def test_a_ball_joint_reaches_every_orientation():
    robot = linkwork.load({
        "name": "ball", "joints": [
            {"name": "x", "link": "a", "sigma": 1}, {"name": "ball", "link": "b", "kind": "spherical"}],
        "links": [{"link": name, "M": 1.0, "central": [0.1] * 3} for name in "ab"],
        "drives": [{"joint": "x", "limits": [0, 1]}],
    })  # fmt: skip
    result = robot.workspace("b", "dexterity", cells=4, samples=50_000)
    assert np.nanmin(result.values) == 1


# -- conditioning and branches -----------------------------------------------------------------------------------------


def test_conditioning_of_a_planar_arm():
    result = planar().workspace("tip", "conditioning", cells=30, samples=100_000)
    q = result.q[result.reached]
    x, y = 0.6 * np.cos(q.sum(1)), 0.6 * np.sin(q.sum(1))
    J = np.array([[-np.sin(q[:, 0]) - y, -y], [np.cos(q[:, 0]) + x, x]]).transpose(2, 0, 1)
    np.testing.assert_allclose(result.values[result.reached], 1 / np.linalg.cond(J), rtol=1e-11, atol=1e-14)


def test_conditioning_agrees_with_singular_values():
    robot = linkwork.load("panda")
    result = robot.workspace("panda_link8", "conditioning", cells=10, samples=20_000)
    sizes = robot.singular_values("panda_link8", result.q[result.reached]).translation
    np.testing.assert_allclose(result.values[result.reached], sizes[:, 2] / sizes[:, 0], rtol=1e-10, atol=1e-13)


def test_loops_stay_on_the_side_of_home():
    """The platform of a delta robot stays below its base, and motors determine the platform with the same sign."""
    robot = linkwork.load("delta")
    result = robot.workspace("tool", cells=12, samples=20_000)
    assert result.box[1, 2] < 0 and result.reached.sum() > 300
    rows = list(robot.model.mobility.motors)
    signs = np.sign(np.linalg.det(robot.velocity_map(result.q[result.reached])[:, rows]))
    assert (signs == np.sign(np.linalg.det(robot.velocity_map(robot.home)[rows]))).all()


def motor_jacobian(robot, frame, q, h=1e-5):
    """Translations, and turns about z, by the motors: differences of assembled positions."""
    places = robot.model.coordinates.places(robot.motor_names)
    columns = []
    for k in range(len(places)):
        ends = [np.array(q[places]) for _ in range(2)]
        ends[0][k] += h
        ends[1][k] -= h
        one, two = (robot.pose(frame, robot.assemble(x, guess=q, known=robot.motor_names).require()) for x in ends)
        turn = (one[:3, :3] @ two[:3, :3].T)[1, 0]
        columns.append(np.append(one[:3, 3] - two[:3, 3], turn) / (2 * h))
    return np.transpose(columns)


@pytest.mark.parametrize(("name", "length"), [("five-bar", 0.0), ("3rrr", 0.16)])
def test_conditioning_of_parallel_robots(name, length):
    robot = linkwork.load(name)
    result = robot.workspace("tool", "conditioning", start=robot.home, cells=24)
    assert result.length == pytest.approx(length)
    rng = np.random.default_rng(0)
    cells = np.argwhere(result.reached & (np.abs(result.values) > 0.1))
    for cell in map(tuple, rng.choice(cells, 20)):
        J = motor_jacobian(robot, "tool", result.q[cell]) * [[1], [1], [1], [length]]
        sizes = np.linalg.svd(J, compute_uv=False)
        assert abs(result.values[cell]) == pytest.approx(sizes[robot.nv - 1] / sizes[0], rel=1e-6)


def test_singular_curves_of_a_five_bar():
    """Locked motors do not hold the tip where both elbows meet: the tip is on a circle about that point."""
    robot = linkwork.load("five-bar")
    starts = robot.inverse_kinematics(Position("tool", [0.05, 0.3, 0]), solutions="all").require()
    assert len(starts) == 4
    meeting, modes = np.sqrt(0.2**2 - 0.06**2), set()
    for start in starts:
        result = robot.workspace("tool", "conditioning", start=start, cells=60)
        reached, q = result.reached, result.q
        elbows = np.sign(np.sin(q[reached][:, [1, 3]]))
        assert (elbows == elbows[0]).all()  # one working mode
        modes.add(tuple(elbows[0]))
        away = np.stack([np.hypot(*(centres(result) - [0, y]).transpose(2, 0, 1)) - 0.3 for y in (meeting, -meeting)])
        size = result.edges["x"][1] - result.edges["x"][0]
        crossed = [(a, b) for axis in (0, 1) for a, b in [pairs(result.values, axis)]]
        for (a, b), near in zip(crossed, [pairs(np.abs(away).min(0), axis)[0] for axis in (0, 1)], strict=True):
            assert (near[(a * b) < 0] < 1.5 * size).all()
        x, y = centres(result).transpose(2, 0, 1)
        left, right = np.hypot(x + 0.06, y), np.hypot(x - 0.06, y)
        inside = (np.minimum(left, right) > 0.1 + size) & (np.maximum(left, right) < 0.5 - size)
        assert reached[inside].all()
        assert not reached[(np.minimum(left, right) < 0.1) | (np.maximum(left, right) > 0.5)].any()
    assert len(modes) == 4


def pairs(values: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of neighbouring cells."""
    n = values.shape[axis]
    return values.take(range(n - 1), axis), values.take(range(1, n), axis)


def test_both_sides_of_a_singular_curve_are_assembly_modes():
    """The same motors hold the tip of a five-bar in two places, one on each side."""
    robot = linkwork.load("five-bar")
    starts = robot.inverse_kinematics(Position("tool", [0.05, 0.3, 0]), solutions="all").require()
    result = robot.workspace("tool", "conditioning", start=starts[1], cells=60)
    assert (result.values > 0.05).sum() > 300 < (result.values < -0.05).sum()
    tip = robot.pose("tool", result.q[result.reached])[:, :2, 3]
    angles = result.q[result.reached][:, [0, 2]]
    a, b = np.moveaxis([[-0.06, 0], [0.06, 0]] + 0.2 * np.stack([np.cos(angles), np.sin(angles)], axis=-1), 1, 0)
    side = (b - a)[:, 0] * (tip - a)[:, 1] - (b - a)[:, 1] * (tip - a)[:, 0]
    values = result.values[result.reached]
    assert (np.sign(side) == np.sign(values) * np.sign(side[0]) * np.sign(values[0])).all()


def test_working_modes_of_a_3rrr():
    robot = linkwork.load("3rrr")
    starts = robot.inverse_kinematics(Pose("tool", robot.pose("tool", robot.home)), solutions="all").require()
    modes = set()
    for start in starts:
        result = robot.workspace("tool", "conditioning", start=start, cells=24)
        elbows = np.sign(np.sin(result.q[result.reached][:, [1, 4, 6]]))
        assert (elbows == elbows[0]).all() and result.reached.sum() > 300
        poses = robot.pose("tool", result.q[result.reached])
        np.testing.assert_allclose(
            poses[:, :3, :3], robot.pose("tool", robot.home)[None, :3, :3].repeat(len(poses), 0), atol=1e-8
        )
        modes.add(tuple(elbows[0]))
    assert len(modes) == 8


def test_one_branch_of_an_arm():
    robot = linkwork.load("ur5e")
    start = np.array([0.3, -1.2, 1.4, -0.4, 1.1, 0.2])
    result = robot.workspace("tool0", "conditioning", plane="xz", start=start, cells=20)
    poses = robot.pose("tool0", result.q[result.reached])
    np.testing.assert_allclose(
        poses[:, :3, :3], np.tile(robot.pose("tool0", start)[:3, :3], (len(poses), 1, 1)), atol=1e-8
    )
    np.testing.assert_allclose(poses[:, 1, 3], robot.pose("tool0", start)[1, 3], atol=1e-8)
    elbow = np.sin(result.q[result.reached][:, [2, 4]])
    assert result.reached.sum() > 50 and (elbow > 0).all()


# -- payload and force -------------------------------------------------------------------------------------------------


def test_payload_of_a_planar_arm():
    """The mass follows from the lever arms, at the better of the two solutions for the tip."""
    robot = limited(planar(), 80.0, 25.0)
    result = robot.workspace("tip", "payload", cells=16, samples=400_000)
    q = result.q[result.reached]
    tip, elbow = np.cos(q[:, 0]) + 0.6 * np.cos(q.sum(1)), np.cos(q[:, 0])
    masses = []
    for holding, arm, limit in (
        (9.81 * (2 * elbow + tip), tip, 80), (9.81 * 0.6 * np.cos(q.sum(1)), 0.6 * np.cos(q.sum(1)), 25)
    ):  # fmt: skip
        masses.append((limit - np.sign(arm) * holding) / (9.81 * np.abs(arm)))
    np.testing.assert_allclose(result.values[result.reached], np.clip(np.min(masses, axis=0), 0, None), rtol=1e-11)
    best = {}
    for q in np.random.default_rng(0).uniform(-np.pi, np.pi, (50_000, 2)):  # another set of samples
        p = np.array([np.cos(q[0]) + 0.6 * np.cos(q.sum()), np.sin(q[0]) + 0.6 * np.sin(q.sum())])
        cell = tuple(int(np.searchsorted(edges, x)) - 1 for edges, x in zip(result.edges.values(), p, strict=True))
        levers = [p[0], 0.6 * np.cos(q.sum())]
        held = [9.81 * (2 * np.cos(q[0]) + p[0]), 9.81 * levers[1]]
        mass = min((L - np.sign(a) * h) / (9.81 * abs(a)) for L, a, h in zip((80, 25), levers, held, strict=True))
        best[cell] = max(best.get(cell, 0), mass)
    shape = result.values.shape
    checked = [c for c in best if all(0 <= k < n for k, n in zip(c, shape, strict=True)) and result.counts[c] > 500]
    checked = [c for c in checked if result.edges["x"][c[0]] > 0.4]  # nearer to the axis it has no bound
    assert len(checked) > 40 and all(result.values[c] > 0.99 * best[c] for c in checked)


@pytest.mark.parametrize("name", ["panda", "ur5e", "delta", "gough-stewart", "parallelogram"])
def test_payload_loads_one_motor_to_its_limit(name):
    robot, frame = linkwork.load(name), {**FRAMES, "ur5e": "tool0"}[name]
    result = robot.workspace(frame, "payload", cells=8, samples=20_000)
    limits = effort_limits(robot)
    zero, cells = np.zeros(robot.nv), np.argwhere(result.reached & (result.values > 0) & (result.values < 1e6))
    close = 1e-8 if robot.model.constrained else 1e-11  # loops are closed to 1e-9, and J is not exact before
    for cell in map(tuple, np.random.default_rng(0).choice(cells, 5)):
        loaded = robot.with_payload(frame, float(result.values[cell]))
        tau = loaded.inverse_dynamics(result.q[cell], zero, zero)
        assert np.max(np.abs(tau) / limits) == pytest.approx(1, rel=close)


def test_payload_is_zero_where_the_arm_falls():
    result = limited(planar(), 15.0, 100.0).workspace("tip", "payload", cells=10, samples=20_000)
    q = result.q[result.reached]
    holds = np.abs(9.81 * (3 * np.cos(q[:, 0]) + 0.6 * np.cos(q.sum(1)))) <= 15
    assert ((result.values[result.reached] > 0) == holds).all() and not holds.all()


@pytest.mark.parametrize("name", ["panda", "delta"])
def test_force_in_every_direction(name):
    robot, frame = linkwork.load(name), FRAMES[name]
    result = robot.workspace(frame, "force", cells=8, samples=20_000)
    limits = effort_limits(robot)
    rng, zero = np.random.default_rng(0), np.zeros(robot.nv)
    cells = np.argwhere(result.reached & (result.values > 0))
    for cell in map(tuple, rng.choice(cells, 5)):
        q = np.tile(result.q[cell], (4000, 1))
        R = robot.pose(frame, result.q[cell])[:3, :3]
        push = rng.normal(size=(4000, 3))
        push *= result.values[cell] / np.linalg.norm(push, axis=1, keepdims=True)
        wrench = np.concatenate([push @ R, np.zeros((4000, 3))], axis=1)
        loaded = robot.compile("inverse_dynamics", wrenches=[frame])
        use = np.max(np.abs(loaded(q, zero, zero, wrench[:, None])) / limits)
        assert 0.97 < use <= 1 + 1e-12


def test_command_inputs_are_zero():
    robot = linkwork.load("panda")
    pushed = robot.with_forces({"panda_link8": linkwork.forces.Thruster()})
    maps = [each.workspace("panda_link8", "payload", cells=5, samples=1000) for each in (robot, pushed)]
    np.testing.assert_allclose(maps[0].values, maps[1].values, rtol=1e-9)


def test_joints_without_effort_limits_are_reported():
    robot = planar().with_drives({"j1": {"effort_limit": 50.0}})
    with pytest.warns(UserWarning, match="without an effort limit hold any load: j2"):
        result = robot.workspace("tip", "payload", cells=10, samples=1000)
    assert np.isfinite(result.values[result.reached]).all()


# -- results -----------------------------------------------------------------------------------------------------------


def test_volume_of_the_better_part():
    result = planar().workspace("tip", "conditioning", cells=60, samples=200_000)
    assert result.volume(0.3) < result.volume() == result.volume(0.0)
    assert result.volume(2.0) == 0


def test_files_and_pictures(tmp_path):
    result = linkwork.load("scara").workspace("flange", cells=10, samples=5000)
    result.save(tmp_path / "map.npz")
    with np.load(tmp_path / "map.npz") as file:
        assert sorted(file.files) == ["box", "counts", "q", "values", "x", "y", "z"]
        np.testing.assert_array_equal(file["values"], result.values)
        np.testing.assert_array_equal(file["x"], result.edges["x"])
    figure = result.plot(tmp_path / "map.png")
    assert len(figure.axes) == 4 and (tmp_path / "map.png").stat().st_size > 5000
    flat = planar().workspace("tip", "conditioning", cells=10, samples=5000)
    drawn = flat.plot().axes[0].collections[0].get_array()
    np.testing.assert_array_equal(np.ma.filled(drawn, np.nan).reshape(flat.values.T.shape), flat.values.T)
    other = robot_on_a_rail().workspace("a", cells=10, samples=100).plot()
    assert other.axes[0].get_xlabel() == "z (m)"


def robot_on_a_rail(limits=(0, 1)):
    drives = [{"joint": "rail", "limits": list(limits)}] if limits else []
    return linkwork.load({"name": "rail", "joints": [{"name": "rail", "link": "a", "sigma": 1}], "drives": drives,
                          "links": [{"link": "a", "M": 1.0}]})  # fmt: skip


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "frame", "options", "message"),
    [
        ("panda", "hand", {}, "no frame 'hand'"),
        ("panda", "panda_link8", {"quantity": "lift"}, "no quantity 'lift'"),
        ("panda", "panda_link8", {"plane": "xx"}, "unknown plane"),
        ("panda", "panda_link8", {"at": 0.1}, "a coordinate needs a plane"),
        ("panda", "panda_link8", {"plane": "xz", "at": np.nan}, "finite number"),
        ("panda", "panda_link8", {"cells": 0}, "cells: wrong number"),
        ("panda", "panda_link8", {"samples": 1.5}, "samples: wrong number"),
        ("panda", "panda_link8", {"length": "1"}, "finite number"),
        ("panda", "panda_link8", {"start": [0.0] * 6}, "wrong shape"),
        ("panda", "panda_link8", {"start": [0.0, -0.5, 0, -2, 0, 1.5, 0.8]}, "leaves joints free"),
        ("panda", "panda_link8", {"plane": "xz", "at": 3.0, "samples": 1000}, "reaches no point"),
        ("panda", "panda_link0", {"samples": 1000}, "does not move"),
        ("panda", "panda_link8", {"cells": 1000}, "too large"),
        ("ur5e", "tool0", {"start": [0.0] * 6, "quantity": "dexterity"}, "one orientation"),
        ("planar2r", "tip", {"quantity": "payload"}, "no effort limits"),
        ("ur5e", "tool0", {"start": [0.3, -1.2, 1.4, -0.4, 1.1, 0.2], "plane": "xz", "at": 5.0}, "centre of its cell"),
        ("quadruped", "trunk", {}, "moves freely"),
        ("car", "chassis", {"start": [0.0] * 15}, "moves freely"),
        ("snake", "link5", {}, "no end"),
    ],
)
def test_bad_input(name, frame, options, message):
    with pytest.raises(linkwork.LinkworkError, match=message):
        linkwork.load(name).workspace(frame, **options)


def test_what_cannot_be_mapped():
    with pytest.raises(linkwork.UnsupportedError, match=r"no end[\s\S]*rail"):
        robot_on_a_rail(None).workspace("a")
    with pytest.raises(linkwork.UnsupportedError, match="without gravity"):
        linkwork.load("panda", gravity=(0, 0, 0)).workspace("panda_link8", "payload")
    with pytest.raises(linkwork.UnsupportedError, match="no motors that hold them"):
        linkwork.load("panda-elastic").workspace("panda_link8", "payload", samples=1000)


def test_joints_without_a_motor_are_no_columns_of_the_conditioning():
    """Two joints move the centre of the wrist, if the second one has no motor."""
    described = describe(linkwork.load("rx90").model)

    def conditioning(*passive):
        joints = [replace(joint, role="passive") if joint.name in passive else joint for joint in described.joints]
        robot = linkwork.load(replace(described, joints=tuple(joints)))
        return robot, robot.workspace(robot.link_names[-1], "conditioning", plane="xz", cells=5, samples=1000)

    robot, best = conditioning("joint2")
    at = best.reached
    values = np.linalg.svd(np.delete(robot.jacobian(best.frame, best.q[at])[:, :3], 1, axis=2), compute_uv=False)
    assert np.allclose(best.values[at], values[:, 1] / values[:, 0], rtol=1e-9, atol=1e-12)
    with pytest.raises(UnsupportedError, match="needs a motor for each degree of freedom"):
        conditioning(*(joint.name for joint in described.joints))


def test_a_value_that_is_no_number_does_not_hide_the_best_of_its_cell():
    grid = Grid([0], np.zeros(1), 1.0, 1, 0)
    grid.add(np.full((3, 3), 0.5), np.array([1.0, np.nan, 2.0]), np.array([[1.0], [2.0], [3.0]]), None)
    assert grid.best.tolist() == [2.0] and grid.q.tolist() == [[3.0]] and grid.counts.tolist() == [3]
