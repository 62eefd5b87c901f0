"""The report: what its numbers mean, that its pictures are drawings of the robot, and that the page is safe to open."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import linkwork
from linkwork.cli import report as command
from linkwork.cli.common import Source
from linkwork.errors import LinkworkError
from linkwork.forces import Rotor, Thruster
from linkwork.html import Series, chart, table
from linkwork.inspection import comparison
from linkwork.inspection.states import neutral
from linkwork.quoting import Safe
from linkwork.report import picture, sample_motion, sections, torque_parts
from linkwork.report.skeleton import Skeleton
from linkwork.table import Table
from support.html_page import Page
from support.playground import playground

app = typer.Typer()
app.command("report")(command.report)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception:
        raise result.exception
    return result.output


def assert_close(found, expected, tolerance):
    """Relative to the largest value."""
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


# -- the sample motion -------------------------------------------------------------------------------------------------


MOVED = ["panda", "scara", "four-bar", "3rpr", "gough-stewart", "flexible-arm", "space-arm", "quadruped", playground()]


@pytest.mark.parametrize("source", MOVED, ids=lambda source: getattr(source, "name", source))
def test_motion(source):
    robot = linkwork.load(source)
    model, motion = robot.model, sample_motion(robot)
    t, q, v, a = motion.t, motion.q, motion.v, motion.a
    driven = [model.mobility.independent.index(k) for k in model.mobility.driven]
    assert np.abs(v[[0, -1]][:, driven]).max() < 1e-9 and np.abs(a[[0, -1]][:, driven]).max() < 1e-9
    assert np.ptp(v[:, driven], axis=0).min() > 0.05  # every motor moves
    slope = (v[2:] - v[:-2]) / (t[2:] - t[:-2])[:, None]
    assert_close(slope[:, driven], a[1:-1, driven], 1e-4)  # central differences, 1e-3 apart
    speeds = robot.joint_velocities(q, v)
    for joint in robot.coordinates.joints:
        values, rates = (
            layout.to_dict(array)[joint.name]
            for layout, array in ((robot.coordinates.positions, q), (robot.coordinates.velocities, speeds))
        )
        assert joint.role != "active" or (joint.lower <= values.min() + 1e-9 and values.max() - 1e-9 <= joint.upper)
        assert model.permanent or np.abs(rates).max() <= joint.velocity_limit
    if model.permanent:
        assert np.abs(robot.loop_residual(q)).max() < 1e-9
    for at in robot.coordinates.quaternions:
        assert_close(np.linalg.norm(q[:, at], axis=1), np.ones(len(q)), 1e-14)


def test_motion_of_every_kind_of_joint():
    """Each freedom of a motor goes its way, gently; positions follow velocities; bodies that nothing holds fall."""
    robot = linkwork.load(playground())
    motion, coordinates = sample_motion(robot), robot.coordinates
    gone = motion.v.sum(axis=0) * motion.dt  # the trapezoidal rule: it begins and ends at rest
    for joint, own in zip(coordinates.joints, coordinates.velocity_ranges, strict=True):
        if not joint.kind.free:
            assert np.abs(gone[own]).min() > 0.1 and np.abs(gone[own]).max() <= 1.0
    q, v = motion.q, motion.v
    middle = coordinates.integrate(q[:-1], motion.dt / 2 * (v[:-1] + v[1:]))
    assert np.abs(coordinates.difference(middle, q[1:])).max() < 1e-5  # of the midpoint rule, in steps of 1e-3
    fallen = coordinates.positions.to_dict(q)["drop"][-1]
    np.testing.assert_allclose(fallen, [0, 0, -9.81 / 2 * motion.t[-1] ** 2, 0, 0, 0, 1], atol=1e-9)


def test_motion_of_a_free_flyer_keeps_its_momentum():
    robot = linkwork.load("space-arm", friction=False)
    motion = sample_motion(robot)
    moving = robot.momentum(motion.q, np.where(np.arange(robot.nv) < 6, 0.0, motion.v))  # the arm alone
    assert np.abs(moving).max() > 0.1
    assert np.abs(robot.momentum(motion.q, motion.v)).max() < 1e-9


def test_motion_of_springs_starts_at_rest_under_weight():
    robot = linkwork.load("flexible-arm")
    motion = sample_motion(robot)
    assert np.abs(motion.q[0, [1, 3]]).min() > 1e-3  # they give way
    assert np.abs(motion.a[0]).max() < 1e-6


def test_motion_of_springs_beside_commands():
    beam = linkwork.load("flexible-beam").with_forces({"tip": Thruster()})
    motion = sample_motion(beam)
    assert abs(beam.inverse_dynamics(motion.q[0], np.zeros(beam.nv), np.zeros(beam.nv))[1:]).max() < 1e-9


def test_motion_does_not_pass_a_singularity():
    robot = linkwork.load("3rrr")
    q = sample_motion(robot).q[::50]
    places = list(robot.model.mobility.independent)
    assert robot.assemble(q[:, places], guess=q).conditioning.min() > 1e-2


# -- the parts of the torque -------------------------------------------------------------------------------------------


def test_parts_of_an_arm():
    robot = linkwork.load("puma560")
    motion = sample_motion(robot)
    q, v, a = motion.q, motion.v, motion.a
    whole, parts = torque_parts(robot, motion)
    viscous, coulomb = (
        np.array([getattr(j, name) for j in robot.coordinates.joints]) for name in ("viscous", "coulomb")
    )
    expected = {
        "inertia": np.einsum("tij,tj->ti", robot.inertia_matrix(q), a),
        "Coriolis and centrifugal": np.einsum("tij,tj->ti", robot.coriolis_matrix(q, v), v),
        "gravity": robot.gravity(q),
        "friction": viscous * v + coulomb * np.sign(v),
    }
    assert list(parts) == list(expected)
    for name, part in parts.items():
        assert np.abs(part - expected[name]).max() < 1e-12 * np.abs(whole).max(), name
    assert_close(whole, robot.inverse_dynamics(q, v, a), 1e-14)


@pytest.mark.parametrize(("name", "others"), [("four-bar", ["friction"]), ("flexible-arm", ["friction", "springs"])])
def test_parts_of_structures(name, others):
    robot = linkwork.load(name)
    motion = sample_motion(robot)
    whole, parts = torque_parts(robot, motion)
    assert list(parts)[3:] == others
    assert np.abs(sum(parts.values()) - whole).max() < 1e-12 * np.abs(whole).max()
    G = robot.velocity_map(motion.q)[:, list(robot.model.mobility.forced)]
    pushed = np.einsum("tfi,tf->ti", G, parts["inertia"])
    assert_close(pushed, np.einsum("tij,tj->ti", robot.inertia_matrix(motion.q), motion.a), 1e-11)
    if "springs" in parts:
        stiffness = [joint.stiffness for joint in robot.coordinates.joints]
        assert_close(parts["springs"], motion.q * stiffness, 1e-11)
        free = [robot.model.mobility.forced.index(k) for k in robot.model.mobility.free]
        assert np.abs(whole[:, free]).max() < 1e-11 * np.abs(whole).max()  # no motor pushes a spring


def test_parts_of_a_swimmer_and_of_a_passive_joint():
    eel = linkwork.load("eel")
    few = sample_motion(eel)
    whole, parts = torque_parts(eel, few)
    assert list(parts)[3:] == ["surroundings"]
    assert np.abs(sum(parts.values()) - whole).max() < 1e-12 * np.abs(whole).max()
    model = linkwork.load("planar2r").model
    bodies = (model.bodies[0], replace(model.bodies[1], joint=replace(model.bodies[1].joint, role="passive")))
    pendulum = linkwork.Robot(replace(model, bodies=bodies))
    motion = sample_motion(pendulum)
    whole, parts = torque_parts(pendulum, motion)
    assert np.abs(motion.v[:, 1]).max() > 1  # it swings
    assert np.abs(whole[:, 1]).max() < 1e-10 * np.abs(whole).max()  # by itself


def test_parts_where_a_ball_hangs_free():
    """Of a passive joint with several freedoms, too, the parts of the force it does not have add up to none."""
    whole_robot = playground()
    free = ("shoulder", "elbow")
    joints = (replace(joint, role="passive") if joint.name in free else joint for joint in whole_robot.joints)
    robot = linkwork.load(replace(whole_robot, joints=tuple(joints)))
    motion = sample_motion(robot)
    whole, parts = torque_parts(robot, motion)
    rows = [k for name in free for k in robot.model.joint_freedoms(name)]
    assert np.abs(motion.v[:, rows]).max() > 0.5  # it swings
    assert np.abs(whole[:, rows]).max() < 1e-10 * np.abs(whole).max()
    assert np.abs(sum(parts.values()) - whole).max() < 1e-12 * max(np.abs(each).max() for each in parts.values())


# -- pictures ----------------------------------------------------------------------------------------------------------


def test_picture_of_what_stands_and_rolls():
    """Joints are where their wheels are, soles as large as they are, and a platform is a box."""
    model = linkwork.load("mobile-manipulator").model
    here = Skeleton(model, model.home)
    for wheel, rim in enumerate(here.wheels, 2):
        np.testing.assert_allclose(here.seat[wheel], rim.mean(axis=0), atol=1e-12)
    assert 1 in here.boxes
    model = linkwork.load("biped").model
    sides = [np.linalg.norm(np.diff(sole[:3], axis=0), axis=1) for sole in Skeleton(model, model.home).wheels]
    np.testing.assert_allclose(sides, [foot.kind.size for foot in model.switched], rtol=1e-12)


@pytest.mark.parametrize("name", linkwork.bundled_robots())
def test_picture_of_every_robot(name):
    model = linkwork.load(name).model
    svg = ElementTree.fromstring(picture(model, neutral(model, "q")))
    kinds = [each.get("class", "").split()[0] for each in svg if each.get("class")]
    joints = [body.joint for body in model.bodies if not (body.joint.kind.free or body.joint.kind.modes)]
    assert kinds.count("joint") == len(joints) + sum(joint.kind.name == "universal" for joint in joints)
    assert kinds.count("cut") == sum(loop.kind.closes_loop for loop in model.permanent)
    assert kinds.count("plate") >= sum(isinstance(law, Rotor) for _, law in model.forces)
    assert (kinds.count("ground") > 0) != model.moving_base
    numbers = [text for each in svg if each.get("class") == "name" for text in (each.text or "").split(",")]
    assert sorted(map(int, numbers)) == [i for i, body in enumerate(model.bodies, 1) if not body.joint.kind.free]
    width, height = map(float, svg.get("viewBox").split()[2:])
    for each in svg:
        for key, most in (("x1", width), ("x2", width), ("cx", width), ("y1", height), ("y2", height), ("cy", height)):
            assert 0 <= float(each.get(key, 0)) <= most


def test_picture_of_every_kind_of_joint():
    robot = linkwork.load(playground())
    model, q = robot.model, np.array(robot.model.home)
    text = picture(model, q)
    svg = ElementTree.fromstring(text)
    kinds = [(each.tag, each.get("class", "").split()[0]) for each in svg if each.get("class")]
    assert kinds.count(("circle", "joint")) == 1  # the ball
    assert kinds.count(("polygon", "joint")) == 6 + 2  # one each, but two for the universal joint
    assert kinds.count(("polygon", "plate")) == 3  # the cart and two free bodies, as boxes
    assert kinds.count(("polygon", "ground")) == 2  # where it stands
    numbers = [text for each in svg if each.get("class") == "name" for text in (each.text or "").split(",")]
    assert sorted(map(int, numbers)) == [*range(1, 9)]
    fallen = robot.coordinates.positions.to_dict(q.copy())
    for name in ("swing", "drop"):
        fallen[name] = fallen[name] - [0, 0, 20, 0, 0, 0, 0]
    after = robot.coordinates.positions.to_array(fallen)
    ghost, still = picture(model, q, [after]), picture(model, q, [q])
    assert ghost == still != text  # what falls is drawn in its place
    assert "kept in place" in sections.picture(robot, sample_motion(robot))
    fallen["slew"] = 0.5
    assert picture(model, q, [robot.coordinates.positions.to_array(fallen)]) != still


def test_picture_shows_lengths_and_directions():
    """A planar arm is seen at right angles, to scale: link by link as its frames have it."""
    model = linkwork.load("planar2r").model

    def tubes(q):
        svg = ElementTree.fromstring(picture(model, q))
        tube = [each for each in svg if each.get("class") == "tube"]
        ends = np.array([[float(each.get(key)) for key in ("x1", "y1", "x2", "y2")] for each in tube])
        way = ends[:, 2:] - ends[:, :2]
        long = np.linalg.norm(way, axis=1) > 1
        return way[long]

    first, second = tubes([0.0, np.pi / 2])
    assert abs(first @ second) < 1 and first[0] > 0 and second[1] < 0  # right, then up (y of SVG points down)
    assert np.linalg.norm(second) / np.linalg.norm(first) == pytest.approx(1, rel=0.01)


def test_charts():
    t = np.linspace(0, 2, 500)
    values = np.where(t > 1, np.nan, 3 * np.sin(t))
    svg = ElementTree.fromstring(chart("a < b", t, [Series("x", values, 1)], "N m"))[0]
    curve = next(each for each in svg if each.get("class") == "curve s1")
    points = np.array([list(map(float, pair.split())) for pair in re.split("[ML]", curve.get("d"))[1:]])
    assert curve.get("d").count("M") == 1 and points[-1, 0] < 0.6 * 360  # it ends where the numbers do
    ticks = [each for each in svg if each.get("text-anchor") == "end" and each.get("x") == "45"]
    (low, bottom), *_, (high, top) = ((float(each.text), float(each.get("y")) - 4) for each in ticks)
    assert points[-1, 1] == pytest.approx(bottom + (top - bottom) / (high - low) * (3 * np.sin(1) - low), abs=1)
    flat = ElementTree.fromstring(chart("", t, [Series("x", np.zeros_like(t), 1)], "N"))[0]
    assert all(np.isfinite(float(each.get("y", 0))) for each in flat)


def test_tables_escape_and_align():
    rows = [["<script>alert(1)</script>", -1.5, None], [Safe("<i>x</i>"), 2, None]]
    text = table(Table("", ["name", "<b>", "empty"], rows))
    assert "<script>" not in text and "&lt;script&gt;" in text and "<i>x</i>" in text
    assert '<td class="number">−1.5</td>' in text and "empty" not in text and "&lt;b&gt;" in text


# -- the page ----------------------------------------------------------------------------------------------------------


def test_page(tmp_path):
    out = tmp_path / "four-bar.html"
    assert f"wrote {out}" in run("four-bar", "-o", str(out)).replace("\n", "")
    text = out.read_text()
    page = Page(text)
    titles = re.findall(r"<h2>(.*?)</h2>", text)
    assert titles == ["Picture", "Frames", "Parameters", "Methods compared", "Torques of a sample motion", "Simulation"]
    assert len(text) < 1.5e6
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "form"}
    assert all(each.get("href", "#").startswith("#") for _, each in page.tags)
    assert not re.search(r"https?:|url\(|@import|\son\w+=", text)
    assert "agree: relative deviation" in page.text and "DO NOT" not in page.text and "NOT the same" not in page.text
    ids = {each["id"] for _, each in page.tags if "id" in each}
    assert {each["href"][1:] for tag, each in page.tags if tag == "a"} <= ids
    left, exchanged = map(float, re.search(r"integrator is (\S+) J; (\S+) J are exchanged", page.text).groups())
    assert left < 1e-6 * exchanged


def test_names_of_strangers(tmp_path, monkeypatch):
    """Names from a file are text on the page, wherever they stand."""
    monkeypatch.setattr(comparison, "WITH_METHODS", ("bias",))
    bad = "&lt;img src=x onerror=alert(1)&gt;"
    inertia = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    link = f'<link name="{{}}"><inertial>{inertia}</inertial></link>'
    robot = tmp_path / "bad.urdf"
    robot.write_text(
        f'<robot name="{bad}">{link.format("base")}{link.format("arm" + bad)}'
        f'<joint name="j{bad}" type="revolute"><parent link="base"/><child link="arm{bad}"/><axis xyz="1 0 0"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
    )
    run(str(robot), "-o", str(tmp_path / "bad.html"))
    text = (tmp_path / "bad.html").read_text()
    page = Page(text)
    assert "<img" not in text and page.text.count("<img src=x onerror=alert(1)>") > 5
    assert "img" not in {tag for tag, _ in page.tags}


def test_beams_contacts_forces_and_feet_are_told():
    for name, words in {
        "flexible-beam": ("Links that bend", "y1"),
        "rolling-disc": ("radius 0.2", "wheel"),
        "quadrotor": ("Forces of the surroundings", "front_left, N"),
        "quadruped": ("Feet", "rear_right"),
    }.items():
        text = sections.frames(linkwork.load(name))
        assert all(word in text for word in words)


def test_a_body_without_motors(tmp_path, monkeypatch):
    monkeypatch.setattr(comparison, "WITH_METHODS", ("bias",))
    robot = tmp_path / "box.urdf"
    robot.write_text(
        '<robot name="box"><link name="box"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    run(str(robot), "--base", "floating", "-o", str(tmp_path / "box.html"))
    page = (tmp_path / "box.html").read_text()
    assert "The robot moves without control" in page and "This robot has no motors" in page
    assert not any(title in page for title in ("<caption>Joints", "Largest values", "<caption>Combinations"))
    with pytest.raises(LinkworkError, match="does not move"):
        run(str(robot), "-o", str(tmp_path / "fixed.html"))


def test_a_place_that_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch):
    def work(self):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(Source, "load", work)
    old = tmp_path / "old.html"
    old.write_text("mine")
    for place, message in ((old, "exists"), (tmp_path, "folder"), (tmp_path / "no" / "r.html", "no such folder")):
        with pytest.raises(LinkworkError, match=message):
            run("planar2r", "-o", str(place))
    assert old.read_text() == "mine"
    with pytest.raises(AssertionError, match="begun"):
        run("planar2r", "-o", str(old), "--overwrite")


def test_what_cannot_be_simulated_is_told(monkeypatch):
    robot = linkwork.load("planar2r")
    motion = sample_motion(robot)

    def refuse(*_, **__):
        raise LinkworkError("no <luck>", where="here")

    monkeypatch.setattr(linkwork.Robot, "simulate", refuse)
    assert "could not be simulated. here: no &lt;luck&gt;" in sections.simulation(robot, motion)


def test_parts_that_do_not_add_up_are_told(monkeypatch):
    robot = linkwork.load("planar2r")
    motion = sample_motion(robot)
    whole, parts = torque_parts(robot, motion)
    monkeypatch.setattr(sections, "torque_parts", lambda *_: (whole + 1e-3, parts))
    assert "DO NOT AGREE" in sections.torques(robot, motion)


@pytest.mark.parametrize("free", [True, False])
def test_motors_of_several_freedoms_are_led_along_their_motion(free):
    whole = playground()
    joints = whole.joints if free else tuple(joint for joint in whole.joints if joint.kind != "floating")
    left = {"world", *(joint.child for joint in joints)}
    links = tuple(link for link in whole.links if link.name in left)
    robot = linkwork.load(replace(whole, joints=joints, links=links, home=whole.home if free else {}))
    text = sections.simulation(robot, sample_motion(robot))
    assert "follows the velocities" in text
    assert float(re.search(r"within (\S+) rad or m", text)[1]) < 1e-4
    assert text.count("<figure") == 2 + robot.nq - (14 if free else 0)  # energies, and what is held by joints
