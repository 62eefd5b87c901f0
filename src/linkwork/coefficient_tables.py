"""Inverse dynamics from tables, as Horn and Raibert proposed.

The coefficients G_i, J_ij and C_ijk of the configuration space are computed once on a grid of joint positions and
interpolated afterwards. Hollerbach (1980) names the cost: memory that grows exponentially with the number of joints,
time to fill it, and interpolation errors. :class:`Tables` shows all three for a real robot.

A coefficient is tabulated only over the joints on which it depends according to the traced program. Constants are not
tabulated. Inertia never depends on the first joint, so its tables are smaller at least by a factor of the resolution.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from .errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError
from .formulations.hollerbach.configuration_space import coefficients
from .formulations.passive_forces import passive_forces
from .function import Function, Label
from .model import Model, grouped
from .program import Op, Port, Program, optimize, trace
from .quoting import printable
from .robot import Robot
from .timing import least_seconds

CHUNK = 4096  # states filled or interpolated at a time
Progress = Callable[[int, int], None]  # (bytes filled, bytes in total); first called with 0, before any allocation


def tabulate(
    robot: Robot | Model,
    resolution: int | Sequence[int],
    *,
    limits: Mapping[str, tuple[float, float]] | None = None,
    memory_limit: int = 2**30,
    progress: Progress | None = None,
) -> Tables:
    """Tabulate the coefficients G_i, J_ij and C_ijk of a serial robot over a grid of joint positions.

    Args:
        robot: A serial robot on a fixed base; each joint has one position.
        resolution: Grid points per joint, at least 2: one number, or one for each joint.
        limits: Range (lower, upper) [rad, m] of the grid for some joints, by name. Default: the joint limits, or one
            turn for a joint without limits.
        memory_limit: Largest size of the tables in bytes; default 1 GiB.
        progress: Function ``progress(done, total)`` of the bytes filled and needed; default a progress bar on a
            terminal.

    Returns:
        The filled tables.

    Raises:
        UnsupportedError: The robot is not a serial chain on a fixed base.
        LinkworkError: The tables would exceed ``memory_limit``, or a joint has no range.
        ShapeError: ``resolution`` does not fit the robot.

    Example:
        >>> linkwork.tabulate(linkwork.load("planar2r"), 20)
        <linkwork Tables of planar2r: 20 x 20 grid, ...>
    """
    robot = robot if isinstance(robot, Robot) else Robot(robot)
    model = robot.model
    if not isinstance(model, Model):
        raise UnsupportedError("this is not a robot", got=repr(model), fix=f"linkwork.load({model!r})")
    if reason := _unfit(model):
        raise UnsupportedError(
            f"robot {robot.name!r} cannot be tabulated: {reason}",
            fix="tabulate a serial chain of independent joints on a fixed base, with one position each",
        )
    axes = _axes(model, resolution, limits or {})
    traced = _trace(model)
    parts = [_Part(joints, entries, axes) for joints, entries in _by_joints(traced).items()]
    total = sum(part.bytes for part in parts)
    if total > memory_limit:
        largest = _largest(parts, memory_limit)
        raise LinkworkError(
            f"the tables would take {_size(total)}, more than the limit of {_size(memory_limit)}",
            where=f"tabulate {robot.name!r}",
            got=f"resolution {resolution}",
            expected=f"resolution {largest} at most" if largest > 1 else "fewer joints: even resolution 2 is too much",
            fix="lower the resolution, lock joints, or raise memory_limit",
        )
    return Tables(robot, axes, traced, parts, progress or _progress_bar(total, robot.name))


@dataclass(frozen=True)
class Axis:
    """Grid points of one joint. Positions of a joint that ``turns`` without limits are taken modulo 2 pi."""

    name: str
    lower: float
    upper: float
    points: int
    turns: bool

    def place(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the grid cell of each position, and the place in the cell (0 to 1)."""
        inside = np.isfinite(q) if self.turns else (q >= self.lower) & (q <= self.upper)
        if not inside.all():
            raise LinkworkError(
                f"joint {self.name!r} is outside its table",
                got=float(q[~inside].ravel()[0]),
                expected=f"{self.lower:.6g} to {self.upper:.6g}",
                fix=f"tabulate with limits={{{self.name!r}: (lower, upper)}}",
            )
        if self.turns:
            q = self.lower + np.mod(q - self.lower, 2 * math.pi)
        at = (q - self.lower) * ((self.points - 1) / (self.upper - self.lower))
        cell = np.clip(at.astype(int), 0, self.points - 2)
        return cell, at - cell


class Tables:
    """Tables of coefficients that :func:`tabulate` fills; they have ``memory`` [bytes] and ``fill_time`` [s].

    Args:
        robot: The robot.
        axes: Grid points of each joint.
        traced: Program of all coefficients.
        parts: One table for all coefficients that depend on the same joints.
        progress: Function of the bytes filled and needed.

    Example:
        >>> tables = linkwork.tabulate(linkwork.load("planar2r"), 20)
        >>> tables.memory
        6880
    """

    def __init__(self, robot: Robot, axes: list[Axis], traced: Program, parts: list[_Part], progress: Progress):
        self.robot, self.axes = robot, axes
        self.memory = sum(part.bytes for part in parts)
        self._constant = _constants(traced)
        self._parts = parts
        progress(0, self.memory)
        start, done = time.perf_counter(), 0
        for part in parts:
            for size in part.fill(traced, robot.nv):
                done += size
                progress(done, self.memory)
        self.fill_time = time.perf_counter() - start

    def __repr__(self) -> str:
        shape = " x ".join(str(axis.points) for axis in self.axes)
        return f"<linkwork Tables of {self.robot.name}: {shape} grid, {_size(self.memory)}>"

    def coefficients(self, q: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Interpolate the coefficients of tau_i = G_i + J_ij a_j + C_ijk v_j v_k.

        Args:
            q: Joint positions (..., n) [rad, m].

        Returns:
            G (..., n), J (..., n, n) and C (..., n, n, n).

        Raises:
            LinkworkError: A position is outside the grid.
            ShapeError: ``q`` has the wrong shape.

        Example:
            >>> G, J, C = linkwork.tabulate(linkwork.load("planar2r"), 20).coefficients([0.1, 0.2])
            >>> C.shape
            (2, 2, 2)
        """
        (q,), batch = self._states(q)
        n = self.robot.nv
        flat = self._interpolate(q)
        G, J, C = np.split(flat, [n, n + n * n], axis=1)
        return G.reshape(*batch, n), J.reshape(*batch, n, n), C.reshape(*batch, n, n, n)

    def inverse_dynamics(self, q: Any, v: Any, a: Any) -> np.ndarray:
        """Compute the joint forces of a motion from the tables; friction, springs and rotor inertia are exact.

        Args:
            q: Joint positions (..., n) [rad, m].
            v: Joint velocities (..., n).
            a: Joint accelerations (..., n).

        Returns:
            Joint forces (..., n) [N m, N].

        Raises:
            LinkworkError: A position is outside the grid.
            ShapeError: An argument has the wrong shape.

        Example:
            >>> tables = linkwork.tabulate(linkwork.load("planar2r"), 20)
            >>> tables.inverse_dynamics([0.1, 0.2], [0, 0], [0, 0]).shape
            (2,)
        """
        (q, v, a), batch = self._states(q, v, a)
        tau = np.empty(q.shape)
        for start in range(0, len(q), CHUNK):
            part = slice(start, start + CHUNK)
            tau[part] = self._forces(q[part], v[part], a[part])
        return tau.reshape(*batch, self.robot.nv)

    def _forces(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        G, J, C = self.coefficients(q)
        passive = passive_forces(self.robot.model, list(q.T), list(v.T))
        passive = np.stack([np.broadcast_to(x, len(q)) for x in passive], axis=1)
        Cv = (C @ v[:, None, :, None])[..., 0]
        return G + (J @ a[..., None] + Cv @ v[..., None])[..., 0] + passive

    def _states(self, *inputs: Any) -> tuple[list[np.ndarray], tuple[int, ...]]:
        arrays = [np.asarray(x, dtype=float) for x in inputs]
        n = self.robot.nv
        for name, array in zip("qva", arrays, strict=False):
            if array.shape[-1:] != (n,):
                raise ShapeError(
                    "wrong shape", where=f"tables, input {name!r}", got=array.shape, expected=f"(..., {n})"
                )
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        return [np.broadcast_to(array, (*batch, n)).reshape(-1, n) for array in arrays], batch

    def _interpolate(self, q: np.ndarray) -> np.ndarray:
        """Return all coefficients in the order of the traced program."""
        flat = np.empty((len(q), len(self._constant)))
        flat[:] = self._constant
        places = {k: self.axes[k].place(q[:, k]) for k in {k for part in self._parts for k in part.joints}}
        for part in self._parts:
            flat[:, part.outputs] = part.at(places)[:, part.columns] * part.signs
        return flat

    def report(self, samples: int = 10_000, seed: int = 0) -> TableReport:
        """Compare the tables with the direct computation at random states within the grid.

        Args:
            samples: Number of states; default 10,000.
            seed: Seed of the random states; default 0.

        Returns:
            Errors, memory and times.

        Example:
            >>> report = linkwork.tabulate(linkwork.load("planar2r"), 20).report(samples=100)
            >>> report.max_error < 0.1
            True
        """
        rng = np.random.default_rng(seed)
        q = np.stack([rng.uniform(axis.lower, axis.upper, samples) for axis in self.axes], axis=1)
        v, a = rng.uniform(-1, 1, (2, samples, self.robot.nv))
        direct = self.robot.inverse_dynamics
        exact = direct(q, v, a)
        error = self.inverse_dynamics(q, v, a) - exact
        largest = np.abs(exact).max(axis=0)
        rms = np.sqrt((exact**2).mean(axis=0))
        loaded = largest > 0
        return TableReport(
            robot=self.robot.name,
            points=tuple(axis.points for axis in self.axes),
            memory=self.memory,
            fill_time=self.fill_time,
            max_error=float((np.abs(error).max(axis=0)[loaded] / largest[loaded]).max(initial=0.0)),
            rms_error=float((np.sqrt((error**2).mean(axis=0))[loaded] / rms[loaded]).max(initial=0.0)),
            table_time=least_seconds(lambda: self.inverse_dynamics(q, v, a), runs=3) / samples,
            direct_time=least_seconds(lambda: direct(q, v, a), runs=3) / samples,
        )


@dataclass(frozen=True)
class TableReport:
    """Errors, memory and times of tables.

    ``max_error`` and ``rms_error`` belong to the worst joint, relative to its largest and its root-mean-square exact
    force. ``table_time`` (NumPy) and ``direct_time`` (compiled) are seconds per state of a batch.
    """

    robot: str
    points: tuple[int, ...]
    memory: int
    fill_time: float
    max_error: float
    rms_error: float
    table_time: float
    direct_time: float

    def __str__(self) -> str:
        grid = " x ".join(map(str, self.points))
        return (
            f"{self.robot}, {grid} grid: {_size(self.memory)}, filled in {self.fill_time:.2g} s; "
            f"error {self.max_error:.1e} at most, {self.rms_error:.1e} rms; "
            f"{self.table_time * 1e9:.0f} ns per state from tables, {self.direct_time * 1e9:.0f} ns computed"
        )


class _Part:
    """Table of all coefficients that depend on the same joints: one axis per joint, then the coefficients.

    ``entries`` maps each value of the traced program to the outputs that are equal to it, with their signs.
    """

    def __init__(self, joints: tuple[int, ...], entries: Mapping[int, list[tuple[int, int]]], axes: Sequence[Axis]):
        self.joints, self.values = joints, list(entries)
        self.axes = [axes[k] for k in joints]
        self.shape = tuple(axis.points for axis in self.axes)
        self.outputs = [output for uses in entries.values() for output, _ in uses]
        self.signs = np.array([sign for uses in entries.values() for _, sign in uses], dtype=float)
        self.columns = [column for column, uses in enumerate(entries.values()) for _ in uses]
        self.bytes = 8 * math.prod(self.shape) * len(self.values)
        self.table = np.empty((0, 0))

    def bytes_at(self, resolution: int) -> int:
        return 8 * resolution ** len(self.joints) * len(self.values)

    def fill(self, traced: Program, n: int):
        """Compute the coefficients on the grid by native code, and yield the bytes filled at each step."""
        program = Program(
            f"tables_{'_'.join(map(str, self.joints))}",
            traced.inputs,
            (Port("coefficients", (len(self.values),)),),
            traced.constants,
            traced.instructions,
            tuple(self.values),
        )
        function = Function(optimize(program), Label("", "coefficients", "configuration-space"))
        points = math.prod(self.shape)
        self.table = np.empty((points, len(self.values)))
        for start in range(0, points, CHUNK):
            end = min(start + CHUNK, points)
            q = np.zeros((end - start, n))
            places = np.unravel_index(np.arange(start, end), self.shape)
            for k, axis, place in zip(self.joints, self.axes, places, strict=True):
                q[:, k] = axis.lower + place * ((axis.upper - axis.lower) / (axis.points - 1))
            self.table[start:end] = function(q)
            yield self.table[start:end].nbytes

    def at(self, places: Mapping[int, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Interpolate multilinearly: the weighted sum of the corners of each state's grid cell."""
        total: Any = 0.0
        for corner in product((0, 1), repeat=len(self.joints)):
            index, weight = 0, 1.0
            for k, points, side in zip(self.joints, self.shape, corner, strict=True):
                cell, within = places[k]
                index = index * points + (cell + side)
                weight = weight * (within if side else 1 - within)
            total = total + self.table[index] * np.asarray(weight)[:, None]
        return total


def _unfit(model: Model) -> str:
    """Return why a robot cannot be tabulated; empty if it can."""
    if model.moving_base:
        return "its base is floating"
    if not model.serial or model.has_mimic or not model.nv:
        return "it has branches, mimic joints, or no joints"
    several = [joint for joint in model.coordinates.joints if joint.kind.nq > 1]
    return f"its joint {several[0].name!r} is {several[0].kind.name}" if several else ""


def _axes(model: Model, resolution: int | Sequence[int], limits: Mapping[str, tuple[float, float]]) -> list[Axis]:
    points: list[Any] = list(np.full(model.nv, resolution) if np.ndim(resolution) == 0 else np.asarray(resolution))
    if len(points) != model.nv or not all(isinstance(p, (int, np.integer)) and p > 1 for p in points):
        raise ShapeError(
            "wrong resolution",
            where="tabulate",
            got=resolution,
            expected=f"an integer above 1, or {model.nv} of them",
        )
    for name in limits:
        if name not in model.joint_names:
            raise UnknownNameError("joint", name, model.joint_names, where="tabulate, limits")
    axes = []
    for joint, count in zip(model.coordinates.joints, points, strict=True):
        lower, upper = limits.get(joint.name, (joint.lower, joint.upper))
        turns = math.isinf(upper - lower) and joint.revolute
        if turns:
            lower, upper = -math.pi, math.pi
        if not (math.isfinite(upper - lower) and lower < upper):
            raise LinkworkError(
                f"joint {joint.name!r} has no range to tabulate",
                got=f"{lower} to {upper}",
                fix=f"pass limits={{{joint.name!r}: (lower, upper)}}",
            )
        axes.append(Axis(joint.name, float(lower), float(upper), int(count), turns))
    return axes


def _trace(model: Model) -> Program:
    """Trace the program that computes all G_i, J_ij and C_ijk from q."""

    def run(q: list) -> dict[str, list]:
        G, J, C = coefficients(grouped(model), q)
        rows = [*G, *(x for row in J for x in row), *(x for plane in C for row in plane for x in row)]
        return {"coefficients": rows}

    return trace("configuration_space", run, [Port("q", (model.nv,))])


def _constants(traced: Program) -> np.ndarray:
    """Return the outputs that are constants, and zero for the others."""
    constants = dict(enumerate(traced.constants, traced.n_inputs))
    return np.array([constants.get(value, 0.0) for value in traced.results])


def _by_joints(traced: Program) -> dict[tuple[int, ...], dict[int, list[tuple[int, int]]]]:
    """Return {joints: {value that depends on just these: [(output, sign), ...]}} for outputs equal to +-value."""
    depends = {k: frozenset([k]) for k in range(traced.n_inputs)}
    negated = {}
    for number, (op, *args) in traced.numbered():
        depends[number] = frozenset().union(*(depends.get(a, ()) for a in args))
        if op == Op.NEG:
            negated[number] = args[0]
    outputs: dict[tuple[int, ...], dict[int, list[tuple[int, int]]]] = {}
    for output, value in enumerate(traced.results):
        value, sign = (negated[value], -1) if value in negated else (value, 1)
        if joints := tuple(sorted(depends.get(value, ()))):
            outputs.setdefault(joints, {}).setdefault(value, []).append((output, sign))
    return outputs


def _largest(parts: Sequence[_Part], memory_limit: int) -> int:
    """Return the largest resolution that fits, the same for all joints; 1 if none does."""
    resolution = 1
    while sum(part.bytes_at(resolution + 1) for part in parts) <= memory_limit:
        resolution += 1
    return resolution


def _progress_bar(total: int, name: str) -> Progress:
    """Return a function that shows a progress bar on a terminal, and does nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda done, total: None
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bar

    bar = Bar(console=Console(stderr=True), transient=True)
    task = bar.add_task(escape(printable(f"tables of {name}, {_size(total)}")), total=total)
    bar.start()

    def show(done: int, total: int) -> None:
        bar.update(task, completed=done)
        if done == total:
            bar.stop()

    return show


def _size(number: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if number < 1000 or unit == "TB":
            return f"{number:.3g} {unit}"
        number /= 1000
    raise AssertionError
