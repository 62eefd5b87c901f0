"""The page: what its controls do to the State, the Player and the Drawing, and how it shows them."""

from __future__ import annotations

import math
import socket
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DivergedError, LinkworkError, SimulationWarning, UnsupportedError
from ..robot import Robot
from . import html
from .access import Door
from .controls import AS_TICKED, NO_TORQUE, Controls
from .drawing import Drawing
from .geoms import read_geoms
from .player import Player, motions
from .primitives import primitives
from .shapes import Shape
from .state import BATCH, State
from .visuals import read_visuals

LOOPBACK, PORT = "127.0.0.1", 8080
RATE = 30  # moments shown per second
NAMED = 12  # missing meshes
SEARCHED = (
    "Meshes of package://NAME/... are looked for in a folder NAME above the file or beside one of these, then on "
    "ROS_PACKAGE_PATH and AMENT_PREFIX_PATH; others beside the file, in its folder or package."
)
CALMER = "Start it slower or with smaller forces, or simulate it with a shorter step: linkwork simulate --dt."
STEP, RECORD = 1e-3, 5e-3  # s, of simulations and of what is kept of them


def show(
    robot: Robot,
    trajectories: Sequence[Any] | Mapping[str, Any] = (),
    *,
    visuals: str | Path | None = None,
    outside: bool = False,
    host: str = LOOPBACK,
    port: int = PORT,
) -> Page:
    """Serve the page of a robot until ``Page.stop``. ``trajectories``: Trajectory objects, or these by the names they
    are shown under; the first to be played and the others seen as ghosts. ``visuals``: the URDF or MJCF file with the
    robot's meshes, which may be in any folder with ``outside=True``. ``port`` 0: any free one."""
    try:
        import viser  # noqa: F401
    except ImportError as error:
        raise UnsupportedError("the page needs viser", fix="pip install 'linkwork[view]'") from error
    player, state = Player(), State(robot)
    if not isinstance(trajectories, Mapping):
        trajectories = {f"trajectory {k}": each for k, each in enumerate(trajectories, 1)}
    if found := [motion for name, each in trajectories.items() for motion in motions(robot, each, name)]:
        player.add(found)
    looks, missing = _looks(state, visuals, outside)
    state.torques()  # compiled before anyone looks
    _require_free(host, port)
    door = Door(host, f"{robot.name} - linkwork")
    server = door.open(port, f"linkwork: {robot.name}")
    page = Page(door, state, player, Drawing(server, state, looks))
    page.controls.remarks.content = _missing(missing)
    return page


def _looks(state: State, visuals: str | Path | None, outside: bool) -> tuple[dict[str, list[Shape]], list[str]]:
    read = {".urdf": read_visuals, ".xml": read_geoms, ".mjcf": read_geoms}.get(Path(visuals or "").suffix.lower())
    shapes, missing = read(state.robot.model, visuals, outside=outside) if visuals and read else ([], [])
    meshes = {"meshes": shapes} if shapes else {}
    return meshes | {"primitives": primitives(state.robot.model, state.q)}, missing


def _missing(meshes: Sequence[str]) -> str:
    if not meshes:
        return ""
    what = "1 mesh is" if len(meshes) == 1 else f"{len(meshes)} meshes are"
    more = [f"... and {len(meshes) - NAMED} more"] if len(meshes) > NAMED else []
    return html.notice(f"{what} missing; the rest is drawn.", [*meshes[:NAMED], *more, SEARCHED])


def _require_free(host: str, port: int) -> None:
    """viser would quietly take another port."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        raise LinkworkError(
            f"the page cannot be served there: {error.strerror or error}",
            where=f"{host}:{port}",
            fix=f"another port (--port {port + 1}; 0 takes any free one), or stop the program that uses this one",
        ) from error


class Page:
    """What ``show`` serves. ``url`` opens it, and is for those alone who may: it holds the token."""

    def __init__(self, door: Door, state: State, player: Player, drawing: Drawing):
        self.server, self.url = door.server, door.url
        self.state, self.player, self.drawing = state, player, drawing
        self.lock, self.stopped = threading.RLock(), threading.Event()
        self.largest: dict[str, float] = {}  # force so far, by its unit
        self.controls = Controls(self.server.gui, state, player, drawing)
        self._bind()
        door.refused = self._refuse
        self._set_motion()
        self.refresh()
        self.clock = threading.Thread(target=self._run, daemon=True)
        self.clock.start()

    def stop(self) -> None:
        self.stopped.set()
        self.clock.join()
        with redirect_stdout(StringIO()):
            self.server.stop()

    def _run(self) -> None:
        last = time.perf_counter()
        while not self.stopped.wait(1 / RATE):
            now = time.perf_counter()
            if self.player.playing:
                self._try(lambda passed=now - last: self._go_on(passed))
            last = now

    def _go_on(self, passed: float) -> None:
        self.player.advance(passed)
        self._show_moment()

    def _bind(self) -> None:
        c = self.controls
        for handle, act in (
            (c.method, self._choose_method),
            (c.moved_by, self._choose_way),
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
            (c.no_wrench, self._remove_wrench),
            (c.play, self._toggle),
            (c.simulate, self._simulate),
        ):
            handle.on_click(self._by_user(act))

    def _by_user(self, act: Callable[[], None]) -> Callable[[Any], None]:
        """A callback for what a person did: not for what the page itself has set."""

        def called(event: Any) -> None:
            if event.client is not None:
                self._say("")
                self._try(act)

        return called

    def _try(self, act: Callable[[], None]) -> None:
        """One at a time; what goes wrong is told, and the page goes on."""
        with self.lock:
            try:
                act()
            except DivergedError as error:
                self._say(f"The simulation left the finite numbers at t = {error.time:.3g} s. {CALMER}")
            except LinkworkError as error:
                self._say(str(error).partition("\n")[0], *str(error).split("\n")[1:])
            except Exception as error:
                self.player.playing = False
                self._say("This could not be done; the page goes on.", f"{type(error).__name__}: {error}"[:500])

    def _say(self, sentence: str, *details: str) -> None:
        self.controls.notice.content = html.notice(sentence, details)

    def _refuse(self, label: str, value: Any, expected: str) -> None:
        self._say(f"{label}: {str(value)[:40]} was not taken; it takes {expected}.")

    # -- the robot -----------------------------------------------------------------------------------------------

    def _move(self) -> None:
        c = self.controls
        self.player.playing = False
        reached = self.state.move(c.values, [slider.value for slider in c.velocities])
        if not reached:
            c.set_sliders()
        self._say(self.state.message)
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

    def _choose_way(self) -> None:
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
            raise LinkworkError("there is no trajectory yet", fix="simulate one, or start with --trajectories FILE")
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
            how = {"torque": torque, "wrenches": state.wrenches or None, "every": round(RECORD / STEP)}
            how |= {"commands": state.commands} if len(state.commands) else {}
            if c.contact_law.value != AS_TICKED or state.contacts.any():
                how["contacts"] = state.contacts if c.contact_law.value == AS_TICKED else c.contact_law.value
            with warnings.catch_warnings():  # its notes, which are shown, say the same
                warnings.simplefilter("ignore", SimulationWarning)
                result = state.robot.simulate(state.q, state.v, duration, STEP, **how)
            runs = sum(motion.name.startswith("simulated") for motion in self.player.motions)
            self.player.add(motions(state.robot, result, f"simulated {runs + 1}"))
            self.player.playing = True
            self._set_motion()
        finally:
            c.simulate.disabled = False

    # -- what is shown -------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the state as it is now."""
        with self.lock, self.server.atomic():
            state, c = self.state, self.controls
            torques = state.torques()
            for unit, value in zip(state.torque_units, torques.values(), strict=True):
                size = abs(value) if math.isfinite(value) else 0.0  # beyond the numbers where a motion diverges
                known = self.largest.setdefault(unit, 0.0)
                self.largest[unit] = max(known, size if size > state.negligible[unit] else 0.0)
            still = not (state.v.any() or state.a.any())
            c.caption.content = html.table({"Torques that hold it still" if still else "Torques of this motion": ""})
            c.bars.content = html.bars(torques, state.torque_units, state.torque_limits, self.largest)
            c.figures.content = html.table(self._figures())
            c.cost.content = html.table(self._cost())
            self.drawing.update()

    def _figures(self) -> dict[str, str]:
        state, figures = self.state, {}
        for name, energy in state.energies().items():
            shown = energy if not abs(energy) < state.negligible["J"] else 0.0  # also what is not finite
            figures[f"{name.capitalize()} energy"] = html.quantity(shown, "J", abs(shown), digits=4)
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
            f"Time per state of {BATCH}": f"{1e9 * cost.seconds_in_batch:.0f} ns",
        }
        if state.wrenches and not state.takes_wrenches:
            rows["With the wrench"] = f"by {getattr(state.robot, state.quantity).label.method}"
        return rows
