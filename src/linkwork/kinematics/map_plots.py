"""Pictures of maps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawing import styled, write_figure
from ..quoting import in_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .maps import Map

UNREACHED = "#EAEAEA"
HIGHEST = 98  # percentile of the values at which the colours end


def plot(result: Map, path: str | Path | None, axes: Axes | None) -> Figure:
    """Draw a map; see ``Map.plot``."""
    from matplotlib.figure import Figure

    if axes is not None:
        _panel(axes, result, [*result.edges], result.values)
        return axes.figure.canvas.figure
    with styled():
        views = [("x", "z"), ("y", "z"), ("x", "y")] if len(result.edges) == 3 else [tuple(result.edges)]
        figure = Figure(figsize=(4.6 * len(views) + 1, 4.2 * _tallest(result, views) + 0.8))
        for k, view in enumerate(views):
            panel = figure.add_subplot(1, len(views), k + 1)
            _panel(panel, result, view, _seen(result, view), bar=k + 1 == len(views))
        figure.suptitle(f"{in_plot(result.robot)}, {in_plot(result.frame)}: {result.meaning}{_plane(result)}")
        if path is not None:
            write_figure(figure, Path(path))
    return figure


def _tallest(result: Map, views: Sequence[Any]) -> float:
    """Return the largest height of a view, relative to its width."""
    extent = {axis: float(np.ptp(edges)) for axis, edges in result.edges.items()}
    ratios = [extent[view[1]] / extent[view[0]] if len(view) == 2 else 0.7 for view in views]
    return min(max(0.4, *ratios), 2.0)


def _plane(result: Map) -> str:
    """Return where the plane of a map is, for its title."""
    return "".join(f", {axis} = {coordinate:.3g} m" for axis, coordinate in result.at.items())


def _seen(result: Map, view: Any) -> np.ndarray:
    """Return the values as seen along the axis that a view does not have."""
    if len(result.edges) < 3:
        return result.values
    along = next(k for k, axis in enumerate(result.edges) if axis not in view)
    if result.quantity == "reach":
        depth = result.reached.mean(axis=along)
        return np.where(depth > 0, depth, np.nan)
    best = np.where(result.reached, result.values, -np.inf).max(axis=along)
    return np.where(result.reached.any(axis=along), best, np.nan)


def _panel(axes: Axes, result: Map, view: Any, values: np.ndarray, bar: bool = True) -> None:
    name = "share of the depth" if result.quantity == "reach" else result.meaning
    name += f" ({result.unit})" if result.unit else ""
    if len(view) == 1:
        axes.stairs(values, result.edges[view[0]], fill=result.quantity == "reach")
        axes.set(xlabel=f"{view[0]} (m)", ylabel=name)
        return
    first, second = view
    if [first, second] != [axis for axis in result.edges if axis in view]:
        values = values.T
    finite = values[np.isfinite(values)]
    signed, share = bool((finite < 0).any()), result.quantity in ("reach", "dexterity")
    high = 1.0 if share else float(np.percentile(np.abs(finite), HIGHEST))
    colours: dict[str, Any] = {"vmin": -high if signed else 0, "vmax": high, "cmap": "RdBu" if signed else "viridis"}
    axes.grid(False)
    axes.set_facecolor(UNREACHED)
    mesh = axes.pcolormesh(result.edges[first], result.edges[second], values.T, rasterized=True, **colours)
    if signed:
        centres = result.centres
        axes.contour(centres[first], centres[second], values.T, levels=[0], colors="black", linewidths=1.2)
    axes.set(xlabel=f"{first} (m)", ylabel=f"{second} (m)", aspect="equal")
    if bar and (result.quantity != "reach" or len(result.edges) == 3):
        over = "max" if np.nanmax(np.abs(values)) > high else "neither"
        axes.figure.colorbar(mesh, ax=axes, label=name, extend=over, shrink=0.85)
