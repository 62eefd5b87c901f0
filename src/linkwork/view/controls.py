"""The controls of the page in viser; what they do is in ``app``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..model.rotations import rotation_from_rpy, rpy_from_rotation
from ..rotations import make_pose
from ..sim.contact.events import KINDS as EVENTS
from . import html
from .dragging import NEAR_SINGULAR, Tip
from .drawing import Drawing
from .player import Player
from .state import Handle, State

NO_TORQUE, AS_SHOWN = "none", "constant, as shown"
AS_TICKED = "fixed, as ticked"  # contacts stay as ticked; the other choices are laws of contact events
DIGITS = 3  # of positions on sliders, and of the pose of a frame
NONE_YET = "(none yet: load or simulate one)"


class Controls:
    """Panels of the page: torques and energies on the left; joints, forces, motion and display on the right."""

    def __init__(self, gui: Any, state: State, player: Player, drawing: Drawing):
        self.gui, self.state, self.player = gui, state, player
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 121, 140))
        panel = gui.add_panel()
        with panel.add_tab("Torques"):
            self._torques()
        panel.dock_left()
        panel.set_width(330)
        gui.main_panel.dock_right()
        self.notice = gui.add_html("")  # result of the last action
        self.remarks = gui.add_html("")
        tabs = gui.add_tab_group()
        with tabs.add_tab("Joints"):
            self._joints()
        with tabs.add_tab("Pose"):
            self._pose(drawing.tip)
        with tabs.add_tab("Forces"):
            self._forces()
        with tabs.add_tab("Motion"):
            self._motion()
        with tabs.add_tab("Show"):
            self.look = gui.add_dropdown("Robot as", tuple(drawing.looks), initial_value=drawing.look)
            self.follow = gui.add_checkbox("Follow the base", drawing.followed)
            self.layers = {name: gui.add_checkbox(name.capitalize(), shown) for name, shown in drawing.shown.items()}

    def _torques(self) -> None:
        gui, state = self.gui, self.state
        self.caption = gui.add_html("")
        self.bars = gui.add_html("")
        gui.add_divider()
        self.figures = gui.add_html("")
        gui.add_divider()
        self.method = gui.add_dropdown("Formulation", state.method_names, initial_value=state.method)
        self.cost = gui.add_html("")

    def _joints(self) -> None:
        gui, state = self.gui, self.state
        self.home = gui.add_button("Home")
        self.moved_by = gui.add_dropdown("Move by", state.ways_to_move, visible=len(state.ways_to_move) > 1)
        self.positions = gui.add_folder("Positions")
        self.sliders: list[Any] = []
        self.add_sliders()
        with gui.add_folder("Velocities", expand_by_default=False):
            self.velocities = [gui.add_slider(name, -5.0, 5.0, 0.01, 0.0) for name in state.velocity_names]

    def add_sliders(self) -> None:
        """Replace the sliders by one for each handle of the state."""
        for slider in self.sliders:
            slider.remove()
        with self.positions:
            self.sliders = [
                self.gui.add_slider(
                    handle.name,
                    *_bounds(handle),
                    10**-DIGITS,
                    _within(value, *_bounds(handle)),
                    hint=f"in {handle.unit}",
                )
                for handle, value in zip(self.state.handles, self.state.values, strict=True)
            ]

    def set_sliders(self) -> None:
        """Set the sliders to the state's values."""
        for slider, value in zip(self.sliders, self.state.values, strict=True):
            slider.value = _within(value, slider.min, slider.max)

    def set_inputs(self) -> None:
        """Set the controls of commands and contacts to the state's values."""
        for box, on in zip(self.contacts, self.state.contacts.astype(bool).tolist(), strict=True):
            box.value = on
        for field, value in zip(self.commands, self.state.commands.tolist(), strict=True):
            field.value = _within(value, field.min, field.max)

    @property
    def values(self) -> list[float]:
        """Values of the handles: the state's exact ones, except for sliders that were moved."""
        pairs = zip(self.sliders, self.state.values, strict=True)
        return [x if slider.value == _within(x, slider.min, slider.max) else slider.value for slider, x in pairs]

    def _pose(self, tip: Tip) -> None:
        gui = self.gui
        self.tip, self.shown = tip, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        self.tip_frame = gui.add_dropdown("Frame", tip.robot.frame_names, initial_value=tip.frame)
        self.position = gui.add_vector3("Position [m]", self.shown[0], step=10**-DIGITS, **_either_way(1e4))
        self.angles = gui.add_vector3("Roll, pitch, yaw [rad]", self.shown[1], step=10**-DIGITS, **_either_way(10.0))
        self.go = gui.add_button("Move there")
        self.tip_figures = gui.add_html("")
        self.set_pose()

    def set_pose(self) -> None:
        """Show the pose of the frame; what is typed stays as long as the pose is the same."""
        pose = self.tip.pose
        parts = pose[:3, 3], rpy_from_rotation(pose[:3, :3])
        shown = tuple(tuple(round(float(x), DIGITS) + 0.0 for x in part) for part in parts)
        if shown != self.shown:
            self.shown = self.position.value, self.angles.value = shown
        singular = self.tip.conditioning()
        note = ", near a singular position" if singular < NEAR_SINGULAR else ""
        self.tip_figures.content = html.table({"Conditioning": f"{singular:.3f}{note}"})

    @property
    def typed_pose(self) -> np.ndarray:
        """The pose in the controls, with all digits where it is as shown."""
        pose, (position, angles) = self.tip.pose, self.shown
        p = np.where(np.equal(self.position.value, position), pose[:3, 3], self.position.value)
        as_shown = np.array_equal(self.angles.value, angles)
        return make_pose(pose[:3, :3] if as_shown else rotation_from_rpy(*self.angles.value), p)

    def _forces(self) -> None:
        gui, state = self.gui, self.state
        with gui.add_folder("Gravity [m/s²]"):
            self.has_gravity = gui.add_checkbox("On", bool(state.gravity.any()))
            usual = tuple(state.gravity) if state.gravity.any() else (0.0, 0.0, -9.81)
            self.gravity = gui.add_vector3("Vector", usual, step=0.01, **_either_way(max(1e3, *map(abs, usual))))
        with gui.add_folder("External wrench, in world axes"):
            self.frame = gui.add_dropdown("On frame", state.robot.frame_names, initial_value=state.frame)
            self.force = gui.add_vector3("Force [N]", (0.0, 0.0, 0.0), step=1.0, **_either_way(1e6))
            self.moment = gui.add_vector3("Moment [N m]", (0.0, 0.0, 0.0), step=1.0, **_either_way(1e6))
            self.no_wrench = gui.add_button("Remove")
        self.contacts: list[Any] = []
        if switched := state.robot.model.switched:
            with gui.add_folder("Contacts on the ground"):
                pairs = zip(switched, state.contacts, strict=True)
                self.contacts = [gui.add_checkbox(contact.name, bool(on)) for contact, on in pairs]
        self.commands: list[Any] = []
        if (layout := state.robot.model.commands).size:
            with gui.add_folder("Commands"):
                labels = (f"{name} [{unit}]" for name, unit in zip(layout.names, layout.units, strict=True))
                self.commands = [gui.add_number(label, 0.0, min=-1e6, max=1e6, step=0.1) for label in labels]

    def _motion(self) -> None:
        gui, player = self.gui, self.player
        self.motion = gui.add_dropdown("Trajectory", self.motion_names)
        self.motion_notes = gui.add_html("")
        self.play = gui.add_button("Play")
        self.time = gui.add_slider("Time [s]", 0.0, 1.0, 1e-3, 0.0)
        self.speed = gui.add_slider("Speed", 0.05, 4.0, 0.05, player.speed)
        self.repeat = gui.add_checkbox("Repeat", player.repeat)
        self.overlay = gui.add_checkbox("Others as ghosts", True)
        with gui.add_folder("Simulate from here"):
            self.duration = gui.add_number("Duration [s]", 2.0, min=0.01, max=600.0, step=0.01)
            self.torque = gui.add_dropdown("Torque", (NO_TORQUE, AS_SHOWN))
            self.contact_law = gui.add_dropdown("Contacts", (AS_TICKED, *EVENTS), visible=bool(self.contacts))
            self.simulate = gui.add_button("Simulate")

    @property
    def motion_names(self) -> tuple[str, ...]:
        """Names of the motions, with numbers only where two have the same name."""
        names = [motion.name for motion in self.player.motions]
        return tuple(x if names.count(x) == 1 else f"{k} {x}" for k, x in enumerate(names, 1)) or (NONE_YET,)

    def set_motion(self) -> None:
        """Set the controls to the motion that the player has chosen."""
        begin, end = self.player.span
        self.motion.options = self.motion_names
        self.motion.value = self.motion.options[self.player.chosen]
        self.motion_notes.content = "".join(map(html.notice, self.player.motions[self.player.chosen].notes))
        self.time.max = max(end, begin + 1e-3)
        self.time.min = begin

    @property
    def surroundings(self) -> Iterator[Any]:
        """Controls of gravity, wrench, contacts and commands."""
        wrench = self.frame, self.force, self.moment
        return iter((self.has_gravity, self.gravity, *wrench, *self.contacts, *self.commands))


def _bounds(handle: Handle) -> tuple[float, float]:
    """Return the bounds of a slider: the limits, rounded inward to whole steps if a step lies between them."""
    scale = 10**DIGITS
    lower, upper = math.ceil(handle.lower * scale - 1e-9) / scale, math.floor(handle.upper * scale + 1e-9) / scale
    return (lower, upper) if lower <= upper else (handle.lower, handle.upper)


def _within(value: float, lower: float, upper: float) -> float:
    """Return a value as a slider shows it."""
    return float(min(max(round(value, DIGITS), lower), upper))


def _either_way(most: float) -> dict[str, tuple[float, float, float]]:
    """Return the symmetric bounds of a vector control."""
    return {"min": (-most, -most, -most), "max": (most, most, most)}
