"""TimedPath: the fastest motion along a path, or along each of a batch of paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..control import Point, Reference
from ..drawing import styled, write_figure
from ..errors import LinkworkError, ShapeError, UnsupportedError, counted
from ..quoting import in_plot
from ..sim import Trajectory
from .splines import Splines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..function import Function
    from ..robot import Robot

Array = np.ndarray


class Limits(NamedTuple):
    """Lower and upper limits (2, n) of each quantity."""

    velocity: Array
    acceleration: Array
    torque: Array


@dataclass(frozen=True, eq=False)
class TimedPath(Reference):
    """The fastest motion along a path, or along each of a batch of paths; the result of ``Robot.time_path``.

    A single path is a reference for controllers: ``timed(t)`` returns q, v and a at a time. ``timed[k]`` is a path of a
    batch. Arrays have the leading axes of the paths; those of a path that has no motion are NaN, but for s.

    Attributes:
        robot: The robot.
        s: Parameter of the path at the points of the grid, (..., G).
        rate: Its rate ds/dt in 1/s, (..., G).
        t: Times in s, (..., G).
        q: Positions in rad (m), (..., G, n).
        v: Velocities, (..., G, n).
        a: Accelerations, (..., G, n). They jump at points of the grid; these are the later ones.
        tau: Joint forces in N m (N), (..., G, n). At rest they have the friction of the motion that begins or ends.
        shares: Largest share of each limit in each step of the grid, of velocity, acceleration and torque,
            (..., G - 1, 3, n).
        limits: Lower and upper limits (2, n) of velocity, acceleration and torque.
        problems: Why a path has no motion, by its index in the batch, () for a single path.

    Example:
        >>> timed = robot.time_path([np.zeros(7), np.full(7, 0.1), np.full(7, 0.3)])
        >>> timed.solved, timed.q.shape
        (True, (108, 7))
    """

    traceable = False

    robot: Robot
    s: Array
    rate: Array
    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    shares: Array = field(repr=False)
    limits: Limits = field(repr=False)
    problems: Mapping[tuple[int, ...], str]
    _splines: Splines = field(repr=False)
    _inverse_dynamics: Function = field(repr=False)
    _inputs: Mapping[str, Array] = field(repr=False)

    @property
    def batch(self) -> tuple[int, ...]:
        """Leading axes of the paths, () for a single one."""
        return self.t.shape[:-1]

    @property
    def duration(self) -> Any:
        """Duration in s, (...,)."""
        return self.t[..., -1] if self.batch else float(self.t[-1])

    @property
    def solved(self) -> Any:
        """Whether there is a motion, (...,)."""
        return np.isfinite(self.t[..., -1]) if self.batch else bool(np.isfinite(self.t[-1]))

    @cached_property
    def limiting(self) -> Array:
        """Limit of which each step of the grid uses the largest share, such as "torque panda_joint2", (..., G - 1)."""
        joints = self.robot.coordinates.velocity_names
        names = np.array([f"{quantity} {joint}" for quantity in Limits._fields for joint in joints] + [""])
        shares = self.shares.reshape(*self.shares.shape[:-2], -1)
        return names[np.where(np.isnan(shares[..., 0]), -1, shares.argmax(axis=-1))]

    def require(self) -> TimedPath:
        """Return this; raise an error if a path has no motion.

        Returns:
            The same object.

        Raises:
            LinkworkError: A path has no motion; the message says where and why.
        """
        if self.problems:
            (index, why), *others = self.problems.items()
            which = f"path {', '.join(map(str, index))}" if index else "the path"
            more = f"; nor have {counted(len(others), 'other path')}" if others else ""
            raise LinkworkError(f"{which} has no motion: {why}{more}", where="time_path")
        return self

    def __getitem__(self, index: Any) -> TimedPath:
        places = np.arange(prod(self.batch)).reshape(self.batch)[index]
        some = np.ravel(places)
        indices = {int(k): place for place, k in np.ndenumerate(places)}
        by_number = {int(np.ravel_multi_index(k, self.batch)) if k else 0: why for k, why in self.problems.items()}
        values = {name: getattr(self, name) for name in ("s", "rate", "t", "q", "v", "a", "tau", "shares")}
        arrays = {name: x.reshape(-1, *x.shape[len(self.batch) :])[places] for name, x in values.items()}
        return replace(
            self,
            **arrays,
            problems={place: by_number[k] for k, place in indices.items() if k in by_number},
            _splines=self._splines[some],
            _inputs={name: value[some] for name, value in self._inputs.items()},
        )

    def __call__(self, t: Any) -> Point:
        """Return the motion at times; before the start and after the end it rests.

        Args:
            t: Times in s, of any shape.

        Returns:
            Point with q, v, a of shape (..., times, n).
        """
        t = np.asarray(t)
        if t.dtype == object:
            fix = "sample it at the steps, as simulate and rollout do"
            raise UnsupportedError("a timed path cannot be traced", where="TimedPath", fix=fix)
        grids = [np.reshape(each, (-1, each.shape[-1])) for each in (self.s, self.rate, self.t)]
        flat = t.real.reshape(-1)
        s, rate, change = np.empty((3, len(grids[0]), flat.size))
        for k, (places, rates, times) in enumerate(zip(*grids, strict=True)):
            at = np.clip(np.searchsorted(times, flat, side="right") - 1, 0, len(times) - 2)
            later = np.clip(flat, 0.0, times[-1]) - times[at]
            change[k] = (rates[at + 1] - rates[at]) / (times[at + 1] - times[at])
            rate[k] = rates[at] + change[k] * later
            s[k] = places[at] + (rates[at] + 0.5 * change[k] * later) * later
        q, slope, bend = self._splines(s)
        moving = ((flat >= 0) & (flat <= np.reshape(self.duration, (-1, 1))))[..., None]
        rate, change = rate[..., None], change[..., None]
        parts = q, slope * rate * moving, (slope * change + bend * rate**2) * moving
        return Point(*(each.reshape(*self.batch, *t.shape, q.shape[-1]) for each in parts))

    def _single(self) -> TimedPath:
        if self.batch:
            message, fix = "this takes one path", "choose it: timed[0]"
            raise ShapeError(message, where="TimedPath", got=f"{prod(self.batch)} paths", fix=fix)
        return self.require()

    def trajectory(self, dt: float = 1e-3) -> Trajectory:
        """Return a single motion at equal steps of time, and at its end, as ``simulate`` would return it.

        Args:
            dt: Time step in s. Default: 0.001.

        Returns:
            A Trajectory with t, q, v, a and tau, which saves and draws itself.

        Raises:
            LinkworkError: The path has no motion.
            ShapeError: These are several paths, or the step is out of range.
        """
        if not (np.isfinite(dt) and dt > 0):
            raise ShapeError("out of range", where="dt", got=dt, expected="a positive number, in s")
        duration = self._single().duration
        t = np.append(np.arange(np.ceil(duration / dt - 1e-9)) * dt, duration)
        q, v, a = self(t)
        values: dict[str, Any] = {name: value[0] for name, value in self._inputs.items()}
        coordinates, freedoms = self.robot.coordinates, range(self.robot.nv)
        layouts = {
            "q": coordinates.positions,
            "v": coordinates.of_freedoms(freedoms),
            "a": coordinates.of_freedoms(freedoms, ("rad/s^2", "m/s^2")),
            "tau": coordinates.of_freedoms(freedoms, ("N m", "N")),
        }
        return Trajectory(
            {"t": t, "q": q, "v": v, "a": a, "tau": self._inverse_dynamics(q, v, a, **values)},
            {name: layout.names for name, layout in layouts.items()},
            robot=self.robot.name,
            method="time_path",
            dt=dt,
            units={name: layout.units for name, layout in layouts.items()},
        )

    def plot(self, path: str | File | None = None) -> Figure:
        """Draw the shares of the limits that each joint uses over time, and the rate along the path.

        Args:
            path: File to write it to as well: .png, .svg or .pdf. Default: none.

        Returns:
            A matplotlib Figure.

        Raises:
            LinkworkError: The path has no motion.
            ShapeError: These are several paths.
        """
        self._single()
        with styled():
            from matplotlib.figure import Figure

            quantities = [k for k, limit in enumerate(self.limits) if np.isfinite(limit).any()]
            figure = Figure(figsize=(10, 2.2 * len(quantities) + 2.6))
            panels = figure.subplots(len(quantities) + 1, 1)
            for panel, k in zip(panels, quantities, strict=False):
                for joint, shares in zip(self.robot.coordinates.velocity_names, self.shares[:, k].T, strict=True):
                    panel.stairs(shares, self.t, baseline=None, label=in_plot(joint), linewidth=1.3)
                panel.set(ylabel=f"share of {Limits._fields[k]}", ylim=(0, 1.08), xlabel="t [s]")
            panels[0].legend(ncols=4, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0))
            panels[-1].plot(self.s, self.rate)
            panels[-1].set(xlabel="s", ylabel="ds/dt [1/s]", ylim=(0, None))
            if path is not None:
                write_figure(figure, File(path))
        return figure

    def __repr__(self) -> str:
        if self.batch:
            solved = f"{int(np.sum(self.solved))} of {prod(self.batch)} paths have a motion"
            return f"<linkwork TimedPath of {self.robot.name}: {solved}>"
        text = f"{self.duration:.6g} s" if self.solved else self.problems[()]
        return f"<linkwork TimedPath of {self.robot.name}: {text}>"


def timed(
    robot: Robot,
    batch: tuple[int, ...],
    splines: Splines,
    grid: Array,
    rate: Array,
    inverse_dynamics: Function,
    inputs: Mapping[str, Array],
    limits: Limits,
    problems: Mapping[int, str],
) -> TimedPath:
    """Return the motion of given rates (P, G) along paths."""
    q, slope, bend = splines(grid)
    grid = np.broadcast_to(grid, rate.shape)
    steps = np.diff(grid, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):  # paths without a motion
        t = np.cumsum(np.pad(2 * steps / (rate[:, 1:] + rate[:, :-1]), ((0, 0), (1, 0))), axis=1)
    change = ((rate[:, 1:] ** 2 - rate[:, :-1] ** 2) / (2 * steps))[..., None]
    v = slope * rate[..., None]
    along = bend * rate[..., None] ** 2
    moving = slope * np.maximum(rate, 1e-9 * rate.max(axis=1, keepdims=True))[..., None]  # for the sign of friction
    values: dict[str, Any] = {name: value[:, None] for name, value in inputs.items()}
    ends = []  # of each step
    for at in (slice(None, -1), slice(1, None)):
        a = slope[:, at] * change + along[:, at]
        ends.append((v[:, at], a, inverse_dynamics(q[:, at], moving[:, at], a, **values)))
    begin, end = ends
    used = [[np.maximum(x / high, x / low) for x, (low, high) in zip(part, limits, strict=True)] for part in ends]
    a, tau = (np.concatenate([one, two[:, -1:]], axis=1) for one, two in zip(begin[1:], end[1:], strict=True))
    arrays = {
        "s": grid, "rate": rate, "t": t + 0 * rate, "q": np.where(np.isnan(rate[..., None]), np.nan, q), "v": v, "a": a,
        "tau": tau, "shares": np.maximum(*(np.stack(part, axis=2) for part in used)),
    }  # fmt: skip
    shape = {name: value.reshape(*batch, *value.shape[1:]) for name, value in arrays.items()}
    where = {tuple(map(int, np.unravel_index(k, batch))) if batch else (): text for k, text in sorted(problems.items())}
    return TimedPath(
        robot,
        **shape,
        limits=limits,
        problems=where,
        _splines=splines,
        _inverse_dynamics=inverse_dynamics,
        _inputs=inputs,
    )
