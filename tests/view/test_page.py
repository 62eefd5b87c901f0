"""The page itself, in headless Chromium: it loads, a slider moves the arm and the torques, a trajectory plays."""

import socket
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import linkwork
from linkwork.cli import app
from linkwork.io.rpy import rotation_from_quaternion
from linkwork.model import Description, Link, LinkInertia, foot_at
from linkwork.model.rotations import rotation_from_rpy
from linkwork.rotations import pose_error
from linkwork.view import show
from linkwork.view.dragging import SINGULAR, USUAL
from support.playground import playground

pytest.importorskip("viser")


@pytest.fixture(scope="module")
def robot():
    return linkwork.load("planar2r")


@pytest.fixture
def page(robot):
    runs = [robot.simulate([0.5, 0.2], [0, v], 1.0, 1e-3, every=10) for v in (0.0, 1.0)]
    page = show(robot, runs, port=0)
    yield page
    page.stop()


def wait_for(tab, condition, seconds=20.0):
    for _ in range(int(seconds / 0.1)):
        if condition():
            return
        tab.wait_for_timeout(100)
    raise AssertionError("it did not come about")


def test_page_in_a_browser(browser, page):
    tab = browser.new_page(viewport={"width": 900, "height": 360})
    errors = []
    tab.on("pageerror", lambda error: errors.append(error))
    tab.goto(page.url)
    tab.wait_for_selector('[data-torque="elbow"]', timeout=30_000)
    canvas = tab.locator("canvas").first
    wait_for(tab, lambda: len(page.drawing.ghosts) == 1)

    def picture():
        return canvas.screenshot(timeout=60_000)

    # a slider moves the arm and the torques
    page.drawing.overlay([])
    before, bars, torques = picture(), tab.inner_html('[data-torque="elbow"]'), page.state.torques()
    shoulder = tab.locator('[role="slider"]').first
    shoulder.focus()
    tab.keyboard.press("End")
    wait_for(tab, lambda: page.state.q[0] == pytest.approx(np.pi, abs=2e-3))
    assert page.state.torques()["elbow"] != torques["elbow"]
    wait_for(tab, lambda: tab.inner_html('[data-torque="elbow"]') != bars)
    wait_for(tab, lambda: picture() != before)
    shown = float(tab.inner_text('[data-torque="elbow"]').split()[1])
    assert shown == pytest.approx(page.state.torques()["elbow"], abs=0.5)  # three digits

    # a trajectory plays, and pauses
    tab.get_by_role("tab", name="Motion").click()
    tab.get_by_role("button", name="Play").click()
    wait_for(tab, lambda: page.player.playing and page.player.time > 0.1)
    np.testing.assert_allclose(page.player.motion.at(0.0)[0], [0.5, 0.2])
    assert page.state.v.any()
    tab.get_by_role("button", name="Pause").click()
    wait_for(tab, lambda: not page.player.playing)
    expected = page.player.motion.at(page.player.time)[0]
    np.testing.assert_allclose(page.state.q, expected)
    assert not errors
    tab.close()


def test_every_kind_of_joint_in_a_browser(browser):
    """Each has its sliders; one of a ball joint, and one of a body that nothing holds, move what is drawn."""
    page = show(linkwork.load(playground()), port=0)
    try:
        tab = browser.new_page(viewport={"width": 900, "height": 360})
        errors = []
        tab.on("pageerror", lambda error: errors.append(error))
        tab.goto(page.url)
        tab.wait_for_selector('[data-torque="drop.rz"]', timeout=30_000)
        names = [slider.label for slider in page.controls.sliders]
        canvas, sliders = tab.locator("canvas").first, tab.locator('[role="slider"]')
        before = canvas.screenshot(timeout=60_000)
        for name in ("shoulder.roll", "drop.z"):
            q = page.state.q.copy()
            sliders.nth(names.index(name)).focus()
            tab.keyboard.press("Home")
            wait_for(tab, lambda name=name: page.state.values[names.index(name)] < -0.1)
            moved = [
                joint
                for joint, at in page.state.robot.coordinates.positions.places.items()
                if not np.array_equal(page.state.q[at], q[at])
            ]
            assert moved == [name.partition(".")[0]]
        wait_for(tab, lambda: canvas.screenshot(timeout=60_000) != before)
        assert not errors
        tab.close()
    finally:
        page.stop()


def test_the_ball_is_pulled_in_a_browser(browser):
    """The arm follows, its orientation kept or turned; out of reach it stops at the nearest place, and says so."""
    page = show(linkwork.load("panda"), port=0)
    try:
        page.state.move([0.0, -0.5, 0.0, -2.0, 0.0, 1.8, 0.8])
        page.refresh()
        tip = page.drawing.tip
        tab = browser.new_page(viewport={"width": 1100, "height": 500})
        errors = []
        tab.on("pageerror", lambda error: errors.append(error))
        tab.goto(page.url)
        tab.wait_for_selector("[data-torque]", timeout=30_000)
        wait_for(tab, lambda: page.server.get_clients())
        tab.wait_for_timeout(2000)  # until the scene is drawn

        def pull(right, up, key=None):
            """Pull the ball by pixels; return the pose before and where a plane through the ball is pulled to."""
            begin, (camera,) = tip.pose, (client.camera for client in page.server.get_clients().values())
            w, x, y, z = camera.wxyz
            R = rotation_from_quaternion(x, y, z, w)
            at = R.T @ (begin[:3, 3] - camera.position)
            pixel = 2 * np.tan(camera.fov / 2) / camera.image_height * at[2]
            box = tab.locator("canvas").first.bounding_box()
            x, y = at[:2] / pixel + [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
            if key:
                tab.keyboard.down(key)
            tab.mouse.move(x, y)
            tab.wait_for_timeout(500)
            tab.mouse.down()
            tab.mouse.move(x + right, y - up, steps=8)
            wait_for(tab, lambda: page.drawing.ball.pulled)
            tab.mouse.up()
            wait_for(tab, lambda: not page.drawing.ball.pulled)
            if key:
                tab.keyboard.up(key)
            return begin, begin[:3, 3] + R @ [right * pixel, -up * pixel, 0.0]

        begin, goal = pull(-40, -30)
        np.testing.assert_allclose(tip.pose[:3, 3], goal, atol=0.02)  # the plane is nearer, through the point it hit
        np.testing.assert_allclose(tip.pose[:3, :3], begin[:3, :3], atol=1e-3)
        begin, _ = pull(40, 0, "Shift")
        np.testing.assert_allclose(tip.pose[:3, 3], begin[:3, 3], atol=1e-3)
        assert 0.2 < np.linalg.norm(pose_error(tip.pose, begin)[3:]) < 3.0
        assert not page.controls.notice.content and page.drawing.ball.ball.color == USUAL
        pull(-300, 250)
        assert "Out of reach" in page.controls.notice.content and page.drawing.ball.ball.color == SINGULAR
        assert not errors
        tab.close()
    finally:
        page.stop()


class Click:
    client = object()


def press(handle):
    """As a browser would."""
    for callback in handle._impl.update_cb:
        callback(Click)


def enter(handle, value):
    handle.value = value
    press(handle)


def test_controls_without_a_browser(page):
    c, state = page.controls, page.state
    assert len(page.player.motions) == 2 and len(page.drawing.ghosts) == 1
    enter(c.sliders[0], 0.7)
    np.testing.assert_allclose(state.q, [0.7, 0.2])
    held = state.torques()
    enter(c.has_gravity, False)
    assert state.torques()["shoulder"] == pytest.approx(0, abs=1e-12)
    enter(c.has_gravity, True)
    assert state.torques() == pytest.approx(held)
    enter(c.force, (0.0, 10.0, 0.0))
    assert state.torques()["shoulder"] < held["shoulder"]
    press(c.no_wrench)
    assert state.torques() == pytest.approx(held)
    enter(c.method, "uicker-kahn")
    assert "uicker-kahn" in c.cost.content
    enter(c.layers["frames"], True)
    enter(c.time, 0.5)
    np.testing.assert_allclose(state.q, page.player.motion.at(0.5)[0])
    enter(c.motion, c.motion.options[1])
    assert page.player.chosen == 1
    press(c.home)
    np.testing.assert_array_equal(state.q, 0)


def test_a_pose_that_is_typed(page, robot):
    """Numbers that are not typed keep all their digits. A message says what is out of reach."""
    c, state, tip = page.controls, page.state, page.drawing.tip
    state.move([0.4, 1.0])
    page.refresh()
    T = robot.pose("tip", state.q)
    assert c.position.value == tuple(T[:3, 3].round(3)) and c.angles.value == (0.0, 0.0, 1.4)
    enter(c.position, (1.2, *c.position.value[1:]))
    page.refresh()  # what is typed stays
    assert c.position.value[0] == 1.2 and state.q[0] == 0.4
    press(c.go)
    np.testing.assert_allclose(tip.pose[:3, 3], [1.2, *T[1:3, 3]], atol=1e-3)
    assert "missing" in c.notice.content and c.angles.value[2] != 1.4  # two joints cannot hold the angle as well
    assert c.position.value == pytest.approx(tip.pose[:3, 3], abs=1e-3)
    assert c.sliders[0].value == pytest.approx(state.q[0], abs=1e-3)
    enter(c.position, (3.0, 0.0, 0.0))
    press(c.go)
    np.testing.assert_allclose(tip.pose[:3, 3], [2.0, 0.0, 0.0], atol=2e-3)
    assert "Out of reach" in c.notice.content and "near a singular position" in c.tip_figures.content
    assert page.drawing.ball.ball.color == SINGULAR and tip.missed is not None
    press(c.home)
    enter(c.sliders[1], 1.0)
    assert tip.missed is None and not c.notice.content and page.drawing.ball.ball.color == USUAL
    enter(c.tip_frame, "upper_arm")
    assert c.position.value == pytest.approx(robot.pose("upper_arm", state.q)[:3, 3], abs=1e-3)
    enter(c.layers["drag ball"], False)
    assert not page.drawing.ball.ball.visible


def test_a_typed_orientation_turns_an_arm():
    page = show(linkwork.load("panda"), port=0)
    try:
        c, state = page.controls, page.state
        state.move([0.0, -0.5, 0.0, -2.0, 0.0, 1.8, 0.8])
        page.refresh()
        before = page.drawing.tip.pose
        enter(c.angles, (3.0, 0.1, *c.angles.value[2:]))
        press(c.go)
        after = page.drawing.tip.pose
        np.testing.assert_allclose(after[:3, 3], before[:3, 3], atol=1e-6)  # not only to the digits that are shown
        np.testing.assert_allclose(after[:3, :3], rotation_from_rpy(*c.angles.value), atol=2e-3)
        assert c.angles.value[:2] == (3.0, 0.1) and not c.notice.content
    finally:
        page.stop()


def test_rounding_does_not_fill_the_bars(robot):
    """Without gravity, and as good as without velocity, the forces are noise."""
    page = show(robot, port=0)
    try:
        enter(page.controls.has_gravity, False)
        press(page.controls.home)
        enter(page.controls.sliders[1], 0.7)
        page.state.v[:] = 1e-9
        page.refresh()
        assert 0 < max(map(abs, page.state.torques().values())) < 1e-12
        assert page.controls.bars.content.count("width:0.00%") == 2 and ">0 N m<" in page.controls.bars.content
        enter(page.controls.has_gravity, True)
        assert "width:50.00%" in page.controls.bars.content
    finally:
        page.stop()


def test_simulation_from_here(page):
    c = page.controls
    enter(c.sliders[0], 0.7)
    enter(c.torque, c.torque.options[1])
    enter(c.duration, 0.5)
    press(c.simulate)
    motion = page.player.motion
    assert motion.name == "simulated 1" and page.player.playing and len(page.drawing.ghosts) == 2
    assert motion.t[-1] == pytest.approx(0.5)
    np.testing.assert_allclose(motion.q, np.broadcast_to([0.7, 0.2], motion.q.shape), atol=1e-6)  # held by its torques
    page.player.playing = False


def test_every_kind_of_joint_is_moved_and_simulated():
    page = show(linkwork.load(playground()), port=0)
    try:
        c, state = page.controls, page.state
        sliders = {slider.label: slider for slider in c.sliders}
        enter(sliders["shoulder.yaw"], 0.6)
        enter(sliders["drive.x"], 0.25)
        enter(sliders["swing.roll"], -0.3)
        shown = dict(zip(sliders, state.values, strict=True))
        assert (shown["shoulder.yaw"], shown["drive.x"], shown["swing.roll"]) == pytest.approx((0.6, 0.25, -0.3))
        enter(c.torque, c.torque.options[1])
        enter(c.duration, 0.2)
        page.stopped.set()  # its clock, which would go on playing
        page.clock.join()
        press(c.simulate)
        enter(c.time, 0.2)
        end = dict(zip(sliders, state.values, strict=True))
        assert end["drop.z"] == pytest.approx(-9.81 / 2 * 0.2**2, abs=1e-6)  # no motor holds it
        assert end["shoulder.yaw"] == pytest.approx(0.6, abs=1e-2) and not c.notice.content
    finally:
        page.stop()


def test_feet_stand_where_they_are_ticked_or_by_events():
    inertia = LinkInertia(1.0, np.zeros(3), 0.01 * np.eye(3))
    ball = Description("ball", (Link("ball", inertia),), (), floating=True, constraints=(foot_at("sole", "ball"),))
    page = show(linkwork.load(ball), port=0)
    try:
        c, state = page.controls, page.state
        page.stopped.set()  # its clock, which would go on playing
        page.clock.join()
        assert page.drawing.grid.position[2] == pytest.approx(0, abs=0.01 * state.size)  # and not below the ball
        enter(c.duration, 0.1)
        for on, how, height in ((True, 0, 0.0), (False, 0, -9.81 / 2 * 0.1**2), (False, 1, 0.0)):
            press(c.home)
            enter(c.contacts[0], on)
            assert state.torques()["base.z"] == pytest.approx(0.0 if on else 9.81, abs=1e-9)
            enter(c.contact_law, c.contact_law.options[how])
            press(c.simulate)
            enter(c.time, 0.1)
            assert state.q[2] == pytest.approx(height, abs=1e-9) and not c.notice.content
            assert c.contacts[0].value == bool(state.contacts[0]) == (height == 0.0)
        state.q[:3] = 1.0, 2.0, 3.0
        for following, shift in ((True, (-1, -2, 0)), (False, (0, 0, 0))):
            enter(c.follow, following)
            np.testing.assert_allclose(page.drawing.world.position, shift, atol=1e-12)
    finally:
        page.stop()


def test_nothing_to_play():
    page = show(linkwork.load("four-bar"), port=0)
    try:
        press(page.controls.play)
        assert "--trajectories" in page.controls.notice.content
        enter(page.controls.sliders[0], page.controls.sliders[0].value + 0.2)
        assert np.abs(page.state.robot.loop_residual(page.state.q)).max() < 1e-9
    finally:
        page.stop()


def test_a_port_that_is_taken(run_linkwork):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, _, text = run_linkwork("view", "planar2r", "--port", port, "--no-open")
        assert code == 1 and f"127.0.0.1:{port}" in text and f"--port {port + 1}" in text
        with pytest.raises(linkwork.LinkworkError, match=rf"127\.0\.0\.1:{port}: [^$]*: port={port + 1}"):
            show(linkwork.load("planar2r"), port=port)


def test_a_trajectory_that_is_not_there():
    result = CliRunner().invoke(app, ["view", "planar2r", "--trajectories", "gone.npz", "--no-open"])
    assert isinstance(result.exception, linkwork.LinkworkError) and "gone.npz" in str(result.exception)


def test_trajectories_are_called_as_their_files(tmp_path, robot):
    run = robot.simulate([0.5, 0.2], [0, 0], 0.1, 1e-3, every=10)
    page = show(robot, {"motion.npz": run, "other.npz": run}, port=0)
    try:
        assert page.controls.motion_names == ("motion.npz", "other.npz")
    finally:
        page.stop()
    linkwork.load("scara").simulate([0.1] * 4, [0] * 4, 0.01, 1e-3).save(tmp_path / "scara.npz")
    result = CliRunner().invoke(app, ["view", "planar2r", "--trajectories", str(tmp_path / "scara.npz"), "--no-open"])
    assert str(result.exception).startswith(f"{tmp_path / 'scara.npz'}: this trajectory does not fit this robot")


def test_without_viser(monkeypatch, robot):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(linkwork.UnsupportedError, match=r"pip install 'linkwork\[view\]'"):
        show(robot)


def test_missing_meshes_are_one_line(tmp_path):
    links = "".join(
        f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        f'</inertial><visual><geometry><mesh filename="package://gone/l{k}.stl"/></geometry></visual></link>'
        for k in range(20)
    )
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/><axis xyz="0 0 1"/></joint>'
        for k in range(1, 20)
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    page = show(linkwork.load(tmp_path / "r.urdf"), visuals=tmp_path / "r.urdf", port=0)
    try:
        remarks = page.controls.remarks.content
        line, _, folded = remarks.partition("</summary>")
        assert "20 meshes are missing" in line and "l3.stl" not in line and "<details>" in line
        assert "package://gone/l3.stl" in folded and "8 more" in folded and str(tmp_path) not in folded
        enter(page.controls.sliders[0], 0.5)
        assert page.controls.remarks.content == remarks
    finally:
        page.stop()


def test_a_divergence_is_told_calmly(page):
    c = page.controls
    enter(c.velocities[0], 1e155)
    enter(c.velocities[1], 1e155)
    press(c.simulate)
    told = c.notice.content
    assert "diverged (NaN or infinite) at t = " in told and "shorter step" in told
    assert "rollout" not in told and "got:" not in told and len(page.player.motions) == 2
    assert not c.simulate.disabled
    press(c.home)
    assert not c.notice.content


def test_what_breaks_is_told_and_the_page_goes_on(page, monkeypatch, capfd):
    def broken(*args, **how):
        raise ZeroDivisionError("deep inside")

    c = page.controls
    monkeypatch.setattr(page.state, "torques", broken)
    enter(c.sliders[0], 0.6)
    assert "the page keeps running" in c.notice.content and "deep inside" in c.notice.content
    press(c.play)
    page.player.playing = True
    page.stopped.wait(0.2)
    assert page.clock.is_alive() and not page.player.playing
    monkeypatch.undo()
    enter(c.sliders[0], 0.7)
    assert not c.notice.content and page.state.q[0] == 0.7
    assert "Traceback" not in capfd.readouterr().err


def test_doubts_about_a_simulation_are_shown():
    """The Panda falls beyond its limits."""
    page = show(linkwork.load("panda"), port=0)
    try:
        press(page.controls.simulate)
        page.player.playing = False
        assert "go beyond theirs" in page.controls.motion_notes.content and page.player.motion.notes
    finally:
        page.stop()


def test_notes_of_trajectories_are_shown(robot):
    run = robot.simulate([0.5, 0.2], [0, 0], 0.5, 1e-3, every=10)
    run.notes = ("energy <changes> by 3 J",)
    run.arrays["q"] = run.q.copy()
    run.arrays["q"][20:] = np.nan
    page = show(robot, [run], port=0)
    try:
        shown = page.controls.motion_notes.content
        assert "energy &lt;changes&gt; by 3 J" in shown and "It diverges after t = 0.19 s" in shown
        press(page.controls.simulate)
        assert "energy" not in page.controls.motion_notes.content
    finally:
        page.stop()


def test_a_trajectory_that_cannot_be_shown_is_none_of_this_robots(robot):
    """Other names for its arrays, or arrays of other shapes."""
    run = robot.simulate([0.5, 0.2], [0, 0], 0.1, 1e-3, every=10)
    run.arrays["v"] = run.v[:, :1]
    with pytest.raises(linkwork.ShapeError, match="does not fit this robot"):
        show(robot, [run], port=0)


def test_the_old_name_of_an_argument():
    with pytest.raises(TypeError, match="renamed: use 'allow_external_files'"):
        show(linkwork.load("planar2r"), port=0, outside=True)
