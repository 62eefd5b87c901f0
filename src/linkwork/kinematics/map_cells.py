"""Cells of maps: what samples count in them, and which orientations they have."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..errors import LinkworkError
from ..rotations import exp, log
from .map_values import WHERE

ORIENTATIONS = 60  # cells of all rotations, or sectors of those about one axis
MOST = 2**21  # cells


class Grid:
    """Cells that grow with the points that come, and the best value of each.

    Args:
        axes: Indices of the axes of the world that the grid has.
        origin: A corner of a cell (axes,) in m.
        size: Edge of a cell in m.
        nq: Number of positions.
        orientations: Number of orientations that are counted.
    """

    def __init__(self, axes: list[int], origin: np.ndarray, size: float, nq: int, orientations: int):
        self.axes, self.origin, self.size = axes, origin, size
        self.low = np.zeros(len(axes), int)
        shape = (0,) * len(axes)
        self.best, self.counts = np.full(shape, -np.inf), np.zeros(shape, int)
        self.q, self.seen = np.zeros((*shape, nq)), np.zeros((*shape, orientations), bool)
        self.box = np.array([np.full(len(axes), np.inf), np.full(len(axes), -np.inf)])

    def add(self, points: np.ndarray, values: np.ndarray, q: np.ndarray, orientation: np.ndarray | None) -> None:
        """Count points (n, 3) in their cells, and keep the best values."""
        if not len(points):
            return
        points = points[:, self.axes]
        self.box = np.stack([np.minimum(self.box[0], points.min(0)), np.maximum(self.box[1], points.max(0))])
        cells = np.floor((points - self.origin) / self.size).astype(int)
        self._include(cells.min(0), cells.max(0))
        at = np.ravel_multi_index((cells - self.low).T, self.counts.shape)
        self.counts.reshape(-1)[:] += np.bincount(at, minlength=self.counts.size)
        values = np.where(np.isnan(values), -np.inf, values)  # which would be sorted last
        order = np.lexsort((values, at))
        last = order[np.append(np.diff(at[order]) > 0, True)]  # the best of each cell
        best = self.best.reshape(-1)
        last = last[values[last] > best[at[last]]]
        best[at[last]] = values[last]
        self.q.reshape(-1, q.shape[1])[at[last]] = q[last]
        if orientation is not None:
            self.seen.reshape(-1, ORIENTATIONS)[at, orientation] = True

    def _include(self, low: np.ndarray, high: np.ndarray) -> None:
        """Grow, so that there are cells from ``low`` to ``high``."""
        if self.counts.size:
            low, high = np.minimum(low, self.low), np.maximum(high, self.low + self.counts.shape - 1)
            if (low == self.low).all() and (high - low + 1 == self.counts.shape).all():
                return
        shape = tuple((high - low + 1).tolist())
        if np.prod(shape, dtype=float) > MOST:
            got, fix = f"{np.prod(shape, dtype=float):.3g} cells", "take fewer cells, or a plane"
            raise LinkworkError("the map is too large", where=WHERE, got=got, expected=f"at most {MOST}", fix=fix)
        old = tuple(slice(a, a + n) for a, n in zip(self.low - low, self.counts.shape, strict=True))
        for name, empty in (("best", -np.inf), ("counts", 0), ("q", 0), ("seen", False)):
            array = getattr(self, name)
            wider = np.full((*shape, *array.shape[len(shape) :]), empty, array.dtype)
            if array.size:
                wider[old] = array
            setattr(self, name, wider)
        self.low = low


class Turns:
    """Numbers of the orientations of poses: one of 60 cells of all rotations, or a sector about a constant axis.

    The cells are those nearest to each rotation of an icosahedron, and have the same size.
    """

    def __init__(self, poses: np.ndarray):
        self.first = poses[0, :3, :3]
        turns = log(self._relative(poses))
        longest = turns[np.argmax(np.linalg.norm(turns, axis=1))]
        self.axis = longest / max(float(np.linalg.norm(longest)), 1e-300)
        self.about_one_axis = bool(np.abs(np.cross(turns, self.axis)).max() < 1e-9)

    def _relative(self, poses: np.ndarray) -> np.ndarray:
        return self.first.T @ poses[:, :3, :3]

    def __call__(self, poses: np.ndarray) -> np.ndarray:
        R = self._relative(poses)
        if self.about_one_axis:
            return np.floor((log(R) @ self.axis / (2 * np.pi)) % 1 * ORIENTATIONS).astype(int) % ORIENTATIONS
        return np.argmax(R.reshape(-1, 9) @ self._icosahedral.reshape(-1, 9).T, axis=1)

    @cached_property
    def _icosahedral(self) -> np.ndarray:
        """Rotations (60, 3, 3) of an icosahedron: products of a fifth and a third of a turn."""
        fifth = exp(2 * np.pi / 5 * np.array([0, 1, (1 + 5**0.5) / 2]) / np.sqrt((5 + 5**0.5) / 2))
        third = exp(2 * np.pi / 3 * np.ones(3) / np.sqrt(3))
        rotations = [np.eye(3)]
        for R in rotations:
            for more in (R @ fifth, R @ third):
                if not any(np.allclose(more, other) for other in rotations):
                    rotations.append(more)
        return np.array(rotations)
