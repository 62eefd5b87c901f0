"""Maps: where a frame can be, and how well it moves or what it can carry there."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LinkworkError, ShapeError, UnknownNameError, UnsupportedError, at_door, memory_reported
from ..files import write_bytes
from ..progress import Progress
from ..workspace import Workspace
from .inverse import checked_positions
from .map_cells import MOST, ORIENTATIONS, Grid, Turns
from .map_samples import Flood, Sampler, flooded
from .map_values import VALUES, WHERE, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = "xyz"
FLAT = 1e-6  # extent of an axis, as a share of the longest, below which the map does not have it
STILL = 1e-9  # the same in m: rounding
MARGIN = 1.01  # of the cells around the first samples
SOME = 2**12  # samples that show what a robot can do at most positions


@dataclass(frozen=True)
class Map:
    """Values over cells of a plane or of space: the result of ``Robot.workspace``.

    Attributes:
        quantity: Name of the quantity.
        meaning: The quantity in words.
        unit: Unit of the values.
        robot: Name of the robot.
        frame: Name of the frame.
        edges: {axis: edges of its cells (n + 1,)} in m, for the axes x, y, z of the world that the map has.
        at: {axis: coordinate} in m, of the other axes.
        values: Best value of each cell; NaN where the frame was not found.
        q: Positions (..., nq) with this value.
        counts: Number of samples of each cell.
        box: Least and largest coordinates (2, axes) of the samples, or of cells solved one from another.
        samples: Number of samples; 0 if the cells were solved one from another.
        length: Length in m that counts as much as one rad in the conditioning; 0 for translations alone.

    Example:
        >>> reach = robot.workspace("panda_link8", cells=20, samples=100_000)
        >>> reach.values.shape, reach.volume() > 1
        ((20, 20, 18), True)
    """

    quantity: str
    meaning: str
    unit: str
    robot: str
    frame: str
    edges: dict[str, np.ndarray]
    at: dict[str, float]
    values: np.ndarray
    q: np.ndarray
    counts: np.ndarray
    box: np.ndarray
    samples: int = 0
    length: float = 0.0

    @property
    def centres(self) -> dict[str, np.ndarray]:
        """Centres of the cells along each axis, in m."""
        return {axis: (edges[1:] + edges[:-1]) / 2 for axis, edges in self.edges.items()}

    @property
    def reached(self) -> np.ndarray:
        """Whether the frame was found in each cell."""
        return self.counts > 0

    @property
    def _sizes(self) -> np.ndarray:
        """Volume, area or length of each cell inside the bounding box."""
        sides = zip(self.edges.values(), *self.box, strict=True)
        widths = np.ix_(*(np.diff(np.clip(edges, low, high)) for edges, low, high in sides))
        return np.prod(np.broadcast_arrays(*widths), axis=0)

    def volume(self, least: float = -np.inf) -> float:
        """Return the volume, area or length of the workspace, in m^3, m^2 or m.

        Samples may be anywhere in a cell, so that half of each cell at the border counts.

        Args:
            least: Value from which on cells count. Default: all that are reached.

        Returns:
            The volume.
        """
        with np.errstate(invalid="ignore"):
            inside = self.values >= least
        return float(np.sum(self._sizes * (inside - _border(inside, True) / 2 * (self.samples > 0))))

    @property
    def error(self) -> float:
        """Largest error of ``volume()`` that is expected: half the cells at the border, and those that were missed."""
        return float(np.sum(self._sizes * _border(self.reached, False)) / 2 + self._sizes.max() * self.missed)

    @property
    def missed(self) -> float:
        """Number of cells that the frame can reach, but no sample did; estimated from below (Chao 1984).

        It follows from the numbers of cells with one and with two samples.
        """
        once, twice = (int((self.counts == number).sum()) for number in (1, 2))
        return once * (once - 1) / (2 * (twice + 1)) if self.samples else 0.0

    @property
    def share(self) -> float:
        """Share of the bounding box of the workspace that the frame reaches."""
        return min(1.0, self.volume() / float(np.prod(np.ptp(self.box, axis=0))))

    def save(self, path: str | Path) -> None:
        """Write the map as a NumPy file.

        Args:
            path: The file, .npz. It has the arrays values, q, counts and box, and for each axis its edges.
        """
        buffer = io.BytesIO()
        arrays: dict[str, Any] = {"values": self.values, "q": self.q, "counts": self.counts, "box": self.box}
        np.savez_compressed(buffer, **arrays, **self.edges)  # type: ignore[arg-type]
        write_bytes(path, buffer.getvalue())

    def plot(self, path: str | Path | None = None, axes: Axes | None = None) -> Figure:
        """Draw the map: a plane as it is, space as seen along each axis.

        Seen along an axis, the reach is the share of the depth, and other quantities are the best along the line of
        sight.

        Args:
            path: File for the picture: .png, .svg or .pdf. Default: none.
            axes: Axes of matplotlib to draw into. Default: a new figure.

        Returns:
            The figure.

        Raises:
            UnsupportedError: matplotlib is not installed.
        """
        from .map_plots import plot

        return plot(self, path, axes)


def _border(inside: np.ndarray, around: bool) -> np.ndarray:
    """Return the cells inside with a neighbour, also across a corner, that is not; ``around``: cells around all."""
    wide, inner = np.pad(inside, 1, constant_values=around), inside.copy()
    for shift in product((0, 1, 2), repeat=inside.ndim):
        inner &= wide[tuple(slice(k, k + n) for k, n in zip(shift, inside.shape, strict=True))]
    return inside & ~inner


def workspace(
    robot: Workspace,
    frame: str,
    quantity: str,
    *,
    plane: str | None,
    at: float | None,
    cells: int,
    samples: int,
    start: Any,
    length: float | None,
    progress: bool | Callable[[int, int], Any] | None,
) -> Map:
    """Map a quantity; see ``Robot.workspace``."""
    model = robot.model
    model.frame(frame)
    if quantity not in VALUES:
        raise UnknownNameError("quantity", quantity, VALUES, where=WHERE)
    _check_options(quantity, plane, at, cells, samples, start, length)
    if model.moving_base:
        raise UnsupportedError(
            "a robot that moves freely has no workspace", where=f"{WHERE}, robot {model.name!r}", got="a moving base",
            fix="fix the base: " + at_door('linkwork.load(..., base="fixed")', "--base fixed"),
        )  # fmt: skip
    start = None if start is None else checked_positions(start, model.nq, f"{WHERE}, start")
    flood = None if start is None else Flood(robot, frame, start)
    home = np.array(model.home or model.coordinates.neutral()) if start is None else start
    pose = robot.compiled("pose", frame=frame)
    origin = pose(home)[:3, 3]
    normal = AXES.index(({*AXES} - {*plane}).pop()) if plane else None
    if normal is not None and at is not None:
        origin[normal] = at
    with memory_reported("this map", where=WHERE, fix="take fewer cells"):
        if flood is not None:
            flood.pose[:3, 3] = origin
            length = flood.length() if length is None else length
        sampler = Sampler(robot, frame, None if normal is None or flood else (normal, float(origin[normal])))
        value = VALUES[quantity].make(robot, frame, length or 0.0, sampler(0, SOME))
        maker = _Maker(robot, sampler, pose, normal, cells, quantity)
        grid = maker.sampled(value, samples, progress) if flood is None else maker.solved(flood, value)
    order = sorted(range(len(grid.axes)), key=lambda k: (plane or AXES).index(AXES[grid.axes[k]]))
    edges = {
        AXES[grid.axes[k]]: grid.origin[k] + (grid.low[k] + np.arange(grid.counts.shape[k] + 1)) * grid.size
        for k in order
    }
    reached = grid.counts > 0
    best = grid.seen.mean(axis=-1) if quantity == "dexterity" else grid.best
    turned = lambda x: np.ascontiguousarray(np.moveaxis(x, order, range(len(order))))  # noqa: E731
    return Map(
        quantity, VALUES[quantity].meaning, VALUES[quantity].unit, model.name, frame, edges,
        {axis: float(origin[k]) for k, axis in enumerate(AXES) if k not in grid.axes},
        turned(np.where(reached, best, np.nan)), turned(np.where(reached[..., None], grid.q, np.nan)),
        turned(grid.counts), grid.box[:, order], 0 if flood else samples, length or 0.0,
    )  # fmt: skip


@dataclass
class _Maker:
    """What makes the cells of a map, from samples or one from another."""

    robot: Workspace
    sampler: Sampler
    pose: Callable[[np.ndarray], np.ndarray]
    normal: int | None
    cells: int
    quantity: str

    def sampled(self, value: Value, samples: int, progress: Any) -> Grid:
        """Return the cells that samples reach."""
        grid, turns = None, None
        with Progress(progress, samples, "samples") as bar:
            for first in range(0, samples, self.sampler.chunk):
                count = min(self.sampler.chunk, samples - first)
                q = self.sampler(first, count)
                poses = self.pose(q)
                if len(q):
                    grid = grid or self._grid(poses[:, :3, 3])
                    turns = turns or Turns(poses)
                    grid.add(poses[:, :3, 3], value(q), q, turns(poses) if self._turning else None)
                bar.advance(count)
        if grid is None:
            raise LinkworkError(
                "the frame reaches no point", where=WHERE, got=f"{samples} samples",
                fix="take another plane or another coordinate `at`, or more samples",
            )  # fmt: skip
        return grid

    def solved(self, flood: Flood, value: Value) -> Grid:
        """Return the cells that are solved one from another; samples give their size."""
        grid = self._grid(np.concatenate([self.pose(self.sampler(0, SOME))[:, :3, 3], flood.pose[None, :3, 3]]))
        for points, q, side in flooded(flood, grid.axes, grid.origin, grid.size, MOST):
            grid.add(points, value(q) * side, q, None)
        grid.box += [[-grid.size / 2], [grid.size / 2]]
        return grid

    @property
    def _turning(self) -> bool:
        return self.quantity == "dexterity"

    def _grid(self, points: np.ndarray) -> Grid:
        """Return a grid for what these points span."""
        low, high = points.min(axis=0), points.max(axis=0)
        extent = MARGIN * (high - low)
        if self.normal is not None:
            extent[self.normal] = 0
        axes = np.flatnonzero(extent > max(FLAT * extent.max(), STILL)).tolist()
        if not axes:
            raise LinkworkError(
                "the frame does not move", where=f"{WHERE}, frame", got=f"robot {self.robot.model.name!r}"
            )
        size = float(extent.max()) / self.cells
        origin = ((low + high - self.cells * size) / 2)[axes]
        return Grid(axes, origin, size, self.robot.model.nq, ORIENTATIONS if self._turning else 0)


def _check_options(quantity: str, plane: Any, at: Any, cells: Any, samples: Any, start: Any, length: Any) -> None:
    """Raise an error for wrong options."""
    if plane is not None and plane not in ("xy", "yx", "xz", "zx", "yz", "zy"):
        raise ShapeError("unknown plane", where=WHERE, got=repr(plane), expected="xy, xz or yz, or none for space")
    if at is not None and plane is None:
        raise ShapeError(
            "a coordinate needs a plane",
            where=f"{WHERE}, at",
            got=at,
            fix="give " + at_door('plane="xz"', "--plane xz"),
        )
    for name, number, least in (("cells", cells, 1), ("samples", samples, 1)):
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < least:
            raise ShapeError("wrong number", where=f"{WHERE}, {name}", got=repr(number), expected="1, 2, 3, ...")
    for name, number in (("at", at), ("length", length)):
        if number is not None and not (isinstance(number, (int, float, np.number)) and np.isfinite(number)):
            raise ShapeError("wrong value", where=f"{WHERE}, {name}", got=repr(number), expected="a finite number, m")
    if start is not None and quantity == "dexterity":
        fix = "leave start out, to sample all orientations"
        raise ShapeError("a map from a start has one orientation", where=f"{WHERE}, start", got=quantity, fix=fix)
