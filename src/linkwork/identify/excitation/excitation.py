"""Excitation: a motion that was found, what it reached, and how near it comes to each limit."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control import Reference
from ...drawing import styled
from ...errors import LinkworkError
from ...sim import Trajectory
from ...sim.trajectory.plots import write_figure
from ...table import Table, notebook
from .fourier_from_rest import FourierFromRest
from .motion_path import Path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...robot import Robot

COLUMNS = {"position": "q", "velocity": "v", "acceleration": "a", "torque": "tau"}


@dataclass(frozen=True)
class Margin:
    """How near a quantity comes to its limits: it goes from ``least`` to ``most``, and may from ``lower`` to ``upper``,
    which are infinite where nothing bounds it. ``quantity``: position, velocity, acceleration or torque of a joint,
    height or clearance of a frame, regularity of loops, as a share of that at home."""

    quantity: str
    name: str
    unit: str
    lower: float
    upper: float
    least: float
    most: float

    @property
    def left(self) -> float:
        """What is left to the nearer limit, in its unit."""
        return min(self.least - self.lower, self.upper - self.most)

    @property
    def used(self) -> float | None:
        """The share of what is allowed that is used, 1 at a limit; none where one side is open."""
        half, middle = (self.upper - self.lower) / 2, (self.upper + self.lower) / 2
        return max(self.most - middle, middle - self.least) / half if math.isfinite(half) and half > 0 else None


@dataclass(frozen=True, eq=False)
class Excitation:
    """What ``excite`` found.

    ``reference``: the motion of the motors, for controllers. ``motion``: the same of ``joints``, with its coefficients.
    ``t``, ``q``, ``v``, ``a``, ``tau``: at ``rate`` samples per second. ``condition``: of the scaled regressor over a
    period; ``log_determinant``: of its information, the mean of (Y P)^T (Y P), where Y has the columns ``parameters``
    and P is ``scaling``. ``random``: the best and the median of both among random motions within the same limits.
    ``starts``: what each descent reached. ``margins``: how near each limit is. ``notes``: what was assumed.
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
    notes: tuple[str, ...]
    path: Path = field(repr=False)

    @property
    def duration(self) -> float:
        return self.motion.duration

    @property
    def start(self) -> np.ndarray:
        """Where it begins and ends, at rest: positions of all joints."""
        return self.q[0]

    @cached_property
    def trajectory(self) -> Trajectory:
        """The motion at ``rate``, as ``simulate`` would give it."""
        return self.sample(self.rate)

    t = property(lambda self: self.trajectory.t)
    q = property(lambda self: self.trajectory["q"])
    v = property(lambda self: self.trajectory["v"])
    a = property(lambda self: self.trajectory["a"])
    tau = property(lambda self: self.trajectory["tau"])

    def sample(self, rate: float) -> Trajectory:
        """The whole motion at so many samples per second: t, q of all joints, v and a of the independent ones, and the
        forces tau that the robot as it is described would need."""
        if not (math.isfinite(rate) and 0 < rate <= 1e6):
            raise LinkworkError("out of range", where="rate", got=rate, expected="above 0, at most 1e6 per second")
        t = np.arange(math.floor(self.duration * rate + 1e-9) + 1) / rate
        moved = self.path.at(*self.motion(t))
        if moved is None:
            raise LinkworkError("the loops cannot be closed along the motion", where=f"robot {self.robot.name!r}")
        coordinates, mobility = self.robot.coordinates, self.robot.model.mobility
        tau = self.robot.inverse_dynamics(moved.q, moved.v, moved.a)
        layouts = {
            "q": coordinates.positions,
            "v": coordinates.of_freedoms(mobility.independent),
            "a": coordinates.of_freedoms(mobility.independent, ("rad/s^2", "m/s^2")),
            "tau": coordinates.of_freedoms(mobility.forced, ("N m", "N")),
        }
        return Trajectory(
            {"t": t, "q": moved.q, "v": moved.v, "a": moved.a, "tau": tau},
            {name: layout.names for name, layout in layouts.items()},
            robot=self.robot.name,
            method="excite",
            dt=1 / rate,
            notes=[*self.notes, f"coefficients: {json.dumps(self.coefficients)}"],
            units={name: layout.units for name, layout in layouts.items()},
        )

    @property
    def coefficients(self) -> dict[str, Any]:
        """Of ``motion``, by the names of its fields, and the joints they are of."""
        numbers = {name: getattr(self.motion, name).tolist() for name in ("offset", "sines", "cosines")}
        rest = {name: getattr(self.motion, name) for name in ("frequency", "ramp", "periods")}
        return {"joints": list(self.joints), **numbers, **rest}

    def save(self, path: str | File) -> None:
        """Write t, q, v, a and tau at ``rate`` as .csv, .npz or .parquet: columns t, q.JOINT, v.JOINT and so on, which
        ``Log.read`` and ``Trajectory.load`` read. The coefficients stand in its notes, in the first line of a table."""
        self.trajectory.save(path)

    # -- said and drawn ----------------------------------------------------------------------------------------------

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
        return next((each for each in self.margins if (each.quantity, each.name) == (quantity, name)), None)

    def row(self, name: str) -> tuple[str, ...]:
        """The name, and which shares of its limits a joint uses."""
        found = [self.margin(quantity, name) for quantity in COLUMNS]
        used = [None if each is None else each.used for each in found]
        return name, *("" if share is None else f"{100 * share:.0f} %" for share in used)

    def plot(self, path: str | File | None = None) -> Figure:
        """Positions, velocities and forces of each joint over time, between their limits; written to ``path`` (.png,
        .svg or .pdf) if given."""
        from .excitation_plot import draw

        with styled():
            figure = draw(self)
            if path is not None:
                write_figure(figure, File(path))
        return figure
