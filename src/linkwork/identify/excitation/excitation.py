"""Excitation: an exciting motion, its figures of merit, and its distance from each limit."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control import Reference
from ...drawing import styled, write_figure
from ...errors import LinkworkError
from ...notes import Note
from ...quoting import in_plot
from ...sim import Trajectory
from ...table import Table, notebook
from .fourier_from_rest import FourierFromRest
from .motion_path import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...robot import Robot


COLUMNS = {"position": "q", "velocity": "v", "acceleration": "a", "torque": "tau"}


@dataclass(frozen=True)
class Margin:
    """How near a quantity comes to its limits.

    Attributes:
        quantity: Position, velocity, acceleration or torque of a joint, height or clearance of a frame, or regularity
            of loops relative to home.
        name: Joint, motor, frame, or part of the loops.
        unit: Unit of the numbers.
        lower: Lower limit, infinite where there is none.
        upper: Upper limit, infinite where there is none.
        least: Least value along the motion.
        most: Largest value along the motion.

    Example:
        >>> margin = linkwork.identify.Margin("velocity", "elbow", "rad/s", -2.0, 2.0, -1.5, 1.0)
        >>> margin.left, margin.used
        (0.5, 0.75)
    """

    quantity: str
    name: str
    unit: str
    lower: float
    upper: float
    least: float
    most: float

    @property
    def left(self) -> float:
        """Distance to the nearer limit, in its unit."""
        return min(self.least - self.lower, self.upper - self.most)

    @property
    def used(self) -> float | None:
        """Share of the allowed range that is used, 1 at a limit; None where one side is open."""
        half, middle = (self.upper - self.lower) / 2, (self.upper + self.lower) / 2
        return max(self.most - middle, middle - self.least) / half if math.isfinite(half) and half > 0 else None


@dataclass(frozen=True, eq=False)
class Excitation:
    """An exciting motion, the result of ``excite``.

    The condition number is that of the scaled regressor Y P over a period, where Y has the columns ``parameters`` and P
    is ``scaling``.

    Attributes:
        robot: The robot.
        joints: Joints that follow the series.
        motion: Their motion, with its coefficients.
        reference: Motion of the motors, for controllers.
        objective: "condition" or "logdet".
        rate: Samples per second.
        condition: Condition number.
        log_determinant: Logarithm of the determinant of the mean of (Y P)^T (Y P).
        parameters: Names of the base parameters.
        scaling: P.
        random: Best and median of both figures among random motions within the same limits.
        starts: Figures that each descent reached.
        margins: Distance from each limit.
        notes: ``linkwork.notes.Note`` objects: what was assumed.
        path: The motion of the whole robot, given that of the joints.

    Example:
        >>> motion = linkwork.identify.excite(linkwork.load("planar2r"), starts=1, harmonics=2, period=2)
        >>> motion.duration
        2.8
    """

    robot: Robot
    joints: tuple[str, ...]
    motion: FourierFromRest
    reference: Reference
    objective: str
    rate: float
    condition: float
    log_determinant: float
    parameters: tuple[str, ...]
    scaling: np.ndarray = field(repr=False)
    random: dict[str, Any]
    starts: tuple[dict[str, float], ...]
    margins: tuple[Margin, ...]
    notes: tuple[Note, ...]
    path: Path = field(repr=False)

    @property
    def duration(self) -> float:
        """Duration in s."""
        return self.motion.duration

    @property
    def start(self) -> np.ndarray:
        """Positions of all joints (nq,) where the motion begins and ends, at rest."""
        return self.q[0]

    @cached_property
    def trajectory(self) -> Trajectory:
        """The motion at ``rate``, as ``simulate`` would return it."""
        return self.sample(self.rate)

    t = property(lambda self: self.trajectory.t, doc="Times in s, (N,).")
    q = property(lambda self: self.trajectory["q"], doc="Positions of all joints, (N, nq).")
    v = property(lambda self: self.trajectory["v"], doc="Independent velocities, (N, nv).")
    a = property(lambda self: self.trajectory["a"], doc="Independent accelerations, (N, nv).")
    tau = property(lambda self: self.trajectory["tau"], doc="Joint forces in N m (N), (N, n).")

    def sample(self, rate: float) -> Trajectory:
        """Return the whole motion at another sampling rate.

        Args:
            rate: Samples per second.

        Returns:
            Times, q of all joints, v and a of the independent ones, and the forces tau that the robot needs.

        Raises:
            LinkworkError: If the rate is out of range.
        """
        if not (math.isfinite(rate) and 0 < rate <= 1e6):
            raise LinkworkError("out of range", where="rate", got=rate, expected="above 0, at most 1e6 per second")
        t = np.arange(math.floor(self.duration * rate + 1e-9) + 1) / rate
        robot_motion = self.path.at(*self.motion(t))
        if robot_motion is None:
            raise LinkworkError("the loops cannot be closed along the motion", where=f"robot {self.robot.name!r}")
        coordinates, mobility = self.robot.coordinates, self.robot.model.mobility
        tau = self.robot.inverse_dynamics(robot_motion.q, robot_motion.v, robot_motion.a)
        layouts = {
            "q": coordinates.positions,
            "v": coordinates.of_freedoms(mobility.independent),
            "a": coordinates.of_freedoms(mobility.independent, ("rad/s^2", "m/s^2")),
            "tau": coordinates.of_freedoms(mobility.forced, ("N m", "N")),
        }
        return Trajectory(
            {"t": t, "q": robot_motion.q, "v": robot_motion.v, "a": robot_motion.a, "tau": tau},
            {name: layout.names for name, layout in layouts.items()},
            robot=self.robot.name,
            method="excite",
            dt=1 / rate,
            notes=[*self.notes, f"coefficients: {json.dumps(self.coefficients)}"],
            units={name: layout.units for name, layout in layouts.items()},
        )

    @property
    def coefficients(self) -> dict[str, Any]:
        """Coefficients of ``motion`` by the names of its fields, and its joints."""
        numbers = {name: getattr(self.motion, name).tolist() for name in ("offset", "sines", "cosines")}
        rest = {name: getattr(self.motion, name) for name in ("frequency", "ramp", "periods")}
        return {"joints": list(self.joints), **numbers, **rest}

    def save(self, path: str | File) -> None:
        """Write t, q, v, a and tau at ``rate`` to a file, which ``Log.read`` and ``Trajectory.load`` read.

        Columns are t, q.JOINT, v.JOINT and so on. The coefficients are in its notes, in the first line of a table.

        Args:
            path: File name with the suffix .csv, .npz or .parquet.
        """
        self.trajectory.save(path)

    # -- display -----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"<linkwork Excitation of {self.robot.name}: {self.duration:g} s, condition number {self.condition:.4g} "
            f"(random motions: {self.random['condition']['best']:.4g} at best)>"
        )

    def _repr_html_(self) -> str:
        title = f"{repr(self)[10:-1]}; shares of limits that are used"
        return notebook(Table(title, ["joint", *COLUMNS], [self.row(name) for name in self.names]))

    @property
    def names(self) -> tuple[str, ...]:
        """Joints and motors that have margins."""
        return tuple(dict.fromkeys(each.name for each in self.margins if each.quantity in COLUMNS))

    def margin(self, quantity: str, name: str) -> Margin | None:
        """Return how near a quantity of a joint comes to its limits.

        Args:
            quantity: "position", "velocity", "acceleration" or "torque".
            name: The joint.

        Returns:
            The margin, None if there is none.
        """
        return next((each for each in self.margins if (each.quantity, each.name) == (quantity, name)), None)

    def row(self, name: str) -> tuple[str, ...]:
        """Return the name, and the shares of its limits that a joint uses.

        Args:
            name: The joint.

        Returns:
            The name, and percentages as text.
        """
        margins = [self.margin(quantity, name) for quantity in COLUMNS]
        usage = [None if each is None else each.used for each in margins]
        return name, *("" if share is None else f"{100 * share:.0f} %" for share in usage)

    def plot(self, path: str | File | None = None) -> Figure:
        """Draw positions, velocities and forces of each joint over time, between their limits.

        Args:
            path: File to write it to as well: .png, .svg or .pdf. Default: none.

        Returns:
            A matplotlib Figure.
        """
        with styled():
            figure = draw(self)
            if path is not None:
                write_figure(figure, File(path))
        return figure


SHOWN = {"position": "q", "velocity": "v", "torque": "tau"}
HEIGHT = 1.15  # inches of a row
MOST = 30  # rows; more joints than these are not drawn
POINTS = 2000  # largest number of points of a line


def draw(excitation: Excitation) -> Figure:
    """Draw a row for each joint: its position, velocity and force between their limits."""
    from matplotlib.figure import Figure

    names = excitation.names[:MOST]
    figure = Figure(figsize=(11, HEIGHT * len(names) + 1.4))
    panels = figure.subplots(len(names), len(SHOWN), sharex=True, squeeze=False)
    for k, name in enumerate(names):
        for panel, (quantity, array) in zip(panels[k], SHOWN.items(), strict=True):
            margin = excitation.margin(quantity, name)
            if margin is None:
                panel.set_axis_off()
                continue
            _draw(panel, excitation, array, margin)
            if k == 0:
                panel.set_title({"torque": "torque or force"}.get(quantity, quantity), pad=20)
        panels[k][0].text(0, 1.04, in_plot(name), transform=panels[k][0].transAxes, fontsize=9, color="C0", va="bottom")
    for panel in panels[-1]:
        panel.set_xlabel("t [s]")
    figure.align_ylabels()
    figure.supxlabel("dashed: limits; grey: from rest to the series, and back", fontsize=8)
    best, median = (excitation.random["condition"][key] for key in ("best", "median"))
    compared = f"of {excitation.random['count']} random motions {best:.4g} at best, {median:.4g} the median"
    figure.suptitle(f"{in_plot(excitation.robot.name)}: condition number {excitation.condition:.4g}; {compared}")
    return figure


def _draw(panel: Axes, excitation: Excitation, array: str, margin: Margin) -> None:
    trajectory, motion = excitation.trajectory, excitation.motion
    entries = trajectory.entries[array]
    every = max(1, -(-len(trajectory.t) // POINTS))
    t = trajectory.t[::every]
    if margin.name in entries:
        values = np.asarray(trajectory[array])[::every, entries.index(margin.name)]
    else:  # velocities of a motor that is not independent
        values = motion(t).v[:, excitation.joints.index(margin.name)]
    for start in (0.0, motion.duration - motion.ramp):
        panel.axvspan(start, start + motion.ramp, color="0.95", linewidth=0)
    panel.plot(t, values, color="C0", linewidth=1.3)
    bounds = [bound for bound in (margin.lower, margin.upper) if math.isfinite(bound)]
    for bound in bounds:
        panel.axhline(bound, color="C1", linewidth=0.9, linestyle=(0, (4, 2)))
    ends = [*bounds, float(values.min()), float(values.max())]
    pad = 0.08 * ((max(ends) - min(ends)) or 1.0)
    panel.set_ylim(min(ends) - pad, max(ends) + pad)
    panel.set_ylabel(margin.unit, fontsize=8)
    panel.tick_params(labelsize=8)
    panel.locator_params(axis="y", nbins=4)
