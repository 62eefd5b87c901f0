"""The web page: connects its controls with the State, the Player and the Drawing, and shows the results."""

from __future__ import annotations

import math
import socket
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DivergedError, LinkworkError, SimulationWarning, at_door, import_optional
from ..renamed import renamed_arguments
from ..robot import Robot
from . import html
from .access import AccessGuard
from .controls import AS_TICKED, NO_TORQUE, Controls
from .drawing import Drawing
from .player import Player, motions
from .primitives import primitives
from .state import BATCH, State
from .visuals import read_visuals

LOOPBACK, PORT = "127.0.0.1", 8080
RATE = 30  # frames per second
NAMED = 12  # missing meshes that are listed
SEARCHED = (
    "A mesh package://NAME/... is looked up in folders NAME that contain the robot file or lie next to such a folder, "
    "then on ROS_PACKAGE_PATH and AMENT_PREFIX_PATH. Other meshes must be in the folder or package of the robot file."
)
DIVERGED_FIX = "Start slower, reduce the forces, or simulate with a shorter step: linkwork simulate --dt."
STEP, RECORD = 1e-3, 5e-3  # s: time step of simulations, and interval of their recorded states


@renamed_arguments(outside="allow_external_files")
def show(
    robot: Robot,
    trajectories: Sequence[Any] | Mapping[str, Any] = (),
    *,
    visuals: str | Path | None = None,
    allow_external_files: bool = False,
    host: str = LOOPBACK,
    port: int = PORT,
) -> Page:
    """Serve a web page that shows the robot, until ``Page.stop`` is called.

    Needs the optional dependencies ``pip install 'linkwork[view]'``. The page is served only to browsers that have the
    address with its access token.

    Args:
        robot: The robot to show.
        trajectories: Trajectory objects, or a dict of them by name. The first is played, the others are shown as
            ghosts; default none.
        visuals: URDF or MJCF file with the robot's meshes; default draws simple solids instead.
        allow_external_files: Whether meshes may lie outside the folder and the package of ``visuals``; default False.
        host: Network address to serve on; default this machine only, "0.0.0.0" all interfaces.
        port: Port to serve on; default 8080, 0 takes any free port.

    Returns:
        The running page. Its ``url`` opens it in a browser.

    Raises:
        UnsupportedError: viser is not installed, or a version that is not supported.
        ShapeError: A trajectory does not fit the robot.
        LinkworkError: The port is in use.

    Example:
        >>> page = linkwork.view.show(linkwork.load("planar2r"), port=0)
        >>> page.url
        'http://127.0.0.1:.../token=.../'
        >>> page.stop()
    """
    import_optional("viser", "view", "the page")
    player, state = Player(), State(robot)
    if not isinstance(trajectories, Mapping):
        trajectories = {f"trajectory {k}": each for k, each in enumerate(trajectories, 1)}
    if all_motions := [motion for name, each in trajectories.items() for motion in motions(robot, each, name)]:
        player.add(all_motions)
    shapes, missing = read_visuals(robot.model, visuals, allow_external_files) if visuals else ([], [])
    looks = {"meshes": shapes} if shapes else {}
    looks["primitives"] = primitives(robot.model, state.q)
    state.torques()  # compile before the page is opened
    _require_free(host, port)
    guard = AccessGuard(host, f"{robot.name} - linkwork")
    server = guard.start_server(port, f"linkwork: {robot.name}")
    page = Page(guard, state, player, Drawing(server, state, looks))
    page.controls.remarks.content = _missing(missing)
    return page


def _missing(meshes: Sequence[str]) -> str:
    """Return the HTML of a notice that lists missing meshes; empty if there are none."""
    if not meshes:
        return ""
    count = "1 mesh is" if len(meshes) == 1 else f"{len(meshes)} meshes are"
    more = [f"... and {len(meshes) - NAMED} more"] if len(meshes) > NAMED else []
    return html.notice(f"{count} missing; the rest is drawn.", [*meshes[:NAMED], *more, SEARCHED])


def _require_free(host: str, port: int) -> None:
    """Raise an error if the port is in use; viser would take another one without notice."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        raise LinkworkError(
            f"cannot serve the page at this address: {error.strerror or error}",
            where=f"{host}:{port}",
            fix=f"stop the program that uses this port, or choose another: {at_door('port=', '--port ')}{port + 1} "
            "(0 takes any free one)",
        ) from error


class Page:
    """Web page of a robot that ``show`` serves.

    Its ``url`` contains the access token: give it only to people who may control the page.

    Args:
        guard: Access control, with the server it has started.
        state: What is shown.
        player: The trajectories to play.
        drawing: The 3D scene.

    Example:
        >>> page = linkwork.view.show(linkwork.load("planar2r"), port=0)
        >>> page.state.move([0.3, -0.5])
        True
        >>> page.refresh()
        >>> page.stop()
    """

    def __init__(self, guard: AccessGuard, state: State, player: Player, drawing: Drawing):
        self.server, self.url = guard.server, guard.url
        self.state, self.player, self.drawing = state, player, drawing
        self.lock, self.stopped = threading.RLock(), threading.Event()
        self.largest: dict[str, float] = {}  # largest joint force so far, by unit: the scale of the bars
        self.controls = Controls(self.server.gui, state, player, drawing)
        self._bind()
        guard.on_refusal = self._refuse
        self._set_motion()
        self.refresh()
        self.clock = threading.Thread(target=self._run, daemon=True)
        self.clock.start()

    def stop(self) -> None:
        """Stop serving the page."""
        self.stopped.set()
        self.clock.join()
        with redirect_stdout(StringIO()):
            self.server.stop()

    def _run(self) -> None:
        """Play and follow the pointer, frame by frame, until the page is stopped."""
        last = time.perf_counter()
        while not self.stopped.wait(1 / RATE):
            now = time.perf_counter()
            if self.drawing.ball.due:
                self._try(self._pull)
            if self.player.playing:
                self._try(partial(self._play_on, now - last))
            last = now

    def _play_on(self, elapsed: float) -> None:
        self.player.advance(elapsed)
        self._show_moment()

    def _bind(self) -> None:
        """Connect each control with the method that it calls."""
        c = self.controls
        for handle, act in (
            (c.method, self._choose_method),
            (c.moved_by, self._choose_handles),
            (c.tip_frame, self._choose_tip),
            (c.motion, self._choose_motion),
            (c.time, self._scrub),
            (c.speed, self._set_speed),
            (c.repeat, self._set_speed),
            (c.overlay, self._set_overlay),
            (c.look, self._set_look),
            (c.follow, self._set_follow),
            *((handle, self._move) for handle in (*c.sliders, *c.velocities)),
            *((handle, self._set_forces) for handle in c.surroundings),
            *((handle, self._set_layers) for handle in c.layers.values()),
        ):
            handle.on_update(self._by_user(act))
        for handle, act in (
            (c.home, self._go_home),
            (c.go, self._move_there),
            (c.no_wrench, self._remove_wrench),
            (c.play, self._toggle),
            (c.simulate, self._simulate),
        ):
            handle.on_click(self._by_user(act))

    def _by_user(self, act: Callable[[], None]) -> Callable[[Any], None]:
        """Return a callback that acts on changes by a user only, not on changes by the page itself."""

        def callback(event: Any) -> None:
            if event.client is not None:
                self._notify("")
                self._try(act)

        return callback

    def _try(self, act: Callable[[], None]) -> None:
        """Run one action at a time. An error is shown on the page, which keeps running."""
        with self.lock:
            try:
                act()
            except DivergedError as error:
                self._notify(f"The simulation diverged (NaN or infinite) at t = {error.time:.3g} s. {DIVERGED_FIX}")
            except LinkworkError as error:
                self._notify(*str(error).split("\n"))
            except Exception as error:
                self.player.playing = False
                self._notify("This action failed; the page keeps running.", f"{type(error).__name__}: {error}"[:500])

    def _notify(self, sentence: str, *details: str) -> None:
        self.controls.notice.content = html.notice(sentence, details)

    def _refuse(self, label: str, value: Any, expected: str) -> None:
        self._notify(f"{label}: {str(value)[:40]} was not accepted; expected {expected}.")

    # -- the robot -----------------------------------------------------------------------------------------------

    def _move(self) -> None:
        c = self.controls
        self.player.playing = False
        if not self.state.move(c.values, [slider.value for slider in c.velocities]):
            c.set_sliders()
        self._notify(self.state.message)
        self.refresh()

    def _pull(self) -> None:
        self._show_moved(self.drawing.ball.follow())

    def _move_there(self) -> None:
        tip = self.drawing.tip
        goals = tip.goals(self.controls.typed_pose)
        tip.search(goals)
        self._show_moved(tip.report(goals[0], turned=True))

    def _show_moved(self, message: str) -> None:
        """Show the positions after a motion of the frame, at the velocities of the sliders."""
        state, c = self.state, self.controls
        self.player.playing = False
        v = [slider.value for slider in c.velocities]
        state.follow(state.q, v, np.zeros_like(state.a), state.commands, state.contacts)
        c.set_sliders()
        self._notify(message)
        if not self.drawing.ball.pulled:  # else the ground would move below the pointer
            self.drawing.stay_in_sight()
        self.refresh()

    def _choose_tip(self) -> None:
        self.drawing.tip.frame = self.controls.tip_frame.value
        self.refresh()

    def _go_home(self) -> None:
        fresh = State(self.state.original)
        self.player.playing = False
        self.largest.clear()
        self.state.follow(fresh.q, fresh.v, fresh.a, self.state.commands, fresh.contacts)
        for slider in self.controls.velocities:
            slider.value = 0.0
        self.controls.set_sliders()
        self.controls.set_inputs()
        self.drawing.stay_in_sight()
        self.refresh()

    def _choose_handles(self) -> None:
        self.state.moved_by = self.controls.moved_by.value
        self.controls.add_sliders()
        for slider in self.controls.sliders:
            slider.on_update(self._by_user(self._move))

    def _choose_method(self) -> None:
        self.state.choose(self.controls.method.value)
        self.refresh()

    def _set_forces(self) -> None:
        state, c = self.state, self.controls
        state.gravity = c.gravity.value if c.has_gravity.value else (0.0, 0.0, 0.0)
        state.frame = c.frame.value
        state.force, state.moment = np.array(c.force.value), np.array(c.moment.value)
        state.commands = np.array([field.value for field in c.commands])
        state.contacts = np.array([float(box.value) for box in c.contacts])
        self.refresh()

    def _remove_wrench(self) -> None:
        self.controls.force.value = self.controls.moment.value = (0.0, 0.0, 0.0)
        self._set_forces()

    def _set_layers(self) -> None:
        self.drawing.shown = {name: box.value for name, box in self.controls.layers.items()}
        self.drawing.show()

    def _set_follow(self) -> None:
        self.drawing.followed = self.controls.follow.value
        self.drawing.stay_in_sight()

    def _set_look(self) -> None:
        self.drawing.look = self.controls.look.value
        self.drawing.show()
        self._set_overlay()

    # -- motions -------------------------------------------------------------------------------------------------

    def _choose_motion(self) -> None:
        if self.player.motions:
            self.player.chosen = self.controls.motion_names.index(self.controls.motion.value)
            self._set_motion()

    def _set_motion(self) -> None:
        player = self.player
        if player.motion:
            begin, end = player.span
            player.time = min(max(player.time, begin), end)
            self.controls.set_motion()
            self._set_overlay()
            self._show_moment()

    def _toggle(self) -> None:
        player = self.player
        if not player.motion:
            fix = "simulate one, or open the page with one: --trajectories FILE, or in Python show(robot, [trajectory])"
            raise LinkworkError("there is no trajectory to play", fix=fix)
        player.playing = not player.playing
        if player.playing and player.time >= player.span[1]:
            player.time = player.span[0]
        self._show_moment()

    def _scrub(self) -> None:
        self.player.playing, self.player.time = False, self.controls.time.value
        self._show_moment()

    def _set_speed(self) -> None:
        self.player.speed, self.player.repeat = self.controls.speed.value, self.controls.repeat.value

    def _set_overlay(self) -> None:
        self.drawing.overlay(self.player.others if self.controls.overlay.value else [])
        self.drawing.follow(self.player.time)

    def _show_moment(self) -> None:
        player, c = self.player, self.controls
        if player.motion:
            c.play.label = "Pause" if player.playing else "Play"
            self.state.follow(*player.motion.at(player.time))
            c.time.value = player.time
            c.set_sliders()
            c.set_inputs()
            self.drawing.follow(player.time)
            self.drawing.stay_in_sight()
            self.refresh()

    def _simulate(self) -> None:
        state, c = self.state, self.controls
        self.player.playing, c.simulate.disabled = False, True
        try:
            torque = None if c.torque.value == NO_TORQUE else state.motor_torques()
            duration = max(round(c.duration.value / RECORD), 1) * RECORD
            options = {"torque": torque, "wrenches": state.wrenches or None, "every": round(RECORD / STEP)}
            options |= {"commands": state.commands} if len(state.commands) else {}
            if c.contact_law.value != AS_TICKED or state.contacts.any():
                options["contacts"] = state.contacts if c.contact_law.value == AS_TICKED else c.contact_law.value
            with warnings.catch_warnings():  # the page shows the trajectory's notes, which repeat the warnings
                warnings.simplefilter("ignore", SimulationWarning)
                result = state.robot.simulate(state.q, state.v, duration, STEP, **options)
            runs = sum(motion.name.startswith("simulated") for motion in self.player.motions)
            self.player.add(motions(state.robot, result, f"simulated {runs + 1}"))
            self.player.playing = True
            self._set_motion()
        finally:
            c.simulate.disabled = False

    # -- display -------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the current state: call it after ``page.state`` was changed from Python."""
        with self.lock, self.server.atomic():
            state, c = self.state, self.controls
            torques = state.torques()
            for unit, value in zip(state.torque_units, torques.values(), strict=True):
                size = abs(value) if math.isfinite(value) else 0.0  # a diverging motion may have infinite torques
                size = size if size > state.negligible[unit] else 0.0
                self.largest[unit] = max(self.largest.get(unit, 0.0), size)
            still = not (state.v.any() or state.a.any())
            c.caption.content = html.table({"Torques that hold it still" if still else "Torques of this motion": ""})
            c.bars.content = html.bars(torques, state.torque_units, state.torque_limits, self.largest)
            c.figures.content = html.table(self._figures())
            c.cost.content = html.table(self._cost())
            c.set_pose()
            self.drawing.update()

    def _figures(self) -> dict[str, str]:
        state, figures = self.state, {}
        for name, energy in state.energies().items():
            value = energy if not abs(energy) < state.negligible["J"] else 0.0  # NaN is shown as well
            figures[f"{name.capitalize()} energy"] = html.quantity(value, "J", abs(value), digits=4)
        center = state.center_of_mass()
        if center is not None:
            parts = [html.quantity(x, "m", state.size, digits=4).rpartition(" ") for x in center]
            figures["Centre of mass"] = f"{', '.join(number for number, _, _ in parts)} {parts[0][2]}"
        return figures

    def _cost(self) -> dict[str, str]:
        cost, state = self.state.cost, self.state
        rows = {
            "Method": cost.method,
            "Operations": cost.operations,
            "Time, one state": f"{1e6 * cost.seconds:.2f} µs",
            f"Time per state, batch of {BATCH}": f"{1e9 * cost.seconds_in_batch:.0f} ns",
        }
        if state.wrenches and not state.takes_wrenches:
            rows["With the wrench"] = f"by {getattr(state.robot, state.quantity).label.method}"
        return rows
