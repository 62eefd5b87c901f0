"""One look for all pictures: a style sheet of matplotlib's, and names at the ends of lines."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np

from .errors import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["STYLE", "name_lines", "styled"]

STYLE = "linkwork.drawing"  # drawing.mplstyle, as matplotlib.style knows it


def __dir__() -> list[str]:
    return __all__


def styled() -> AbstractContextManager[None]:
    """What is drawn within has linkwork's look, whatever the reader's own settings are."""
    import_optional("matplotlib.figure", "plot", "drawing")
    return import_optional("matplotlib.style", "plot", "drawing").context(["default", STYLE])


def name_lines(axes: Axes, size: float = 9.0) -> None:
    """The label of each line beside its last point, in its colour, moved up or down so that none hides another."""
    figure = axes.figure.canvas.figure
    figure.draw_without_rendering()  # limits and sizes are known from here on
    names, ends = [], []
    for line in axes.get_lines():
        x, y = np.broadcast_arrays(*map(np.asarray, line.get_data()))
        seen = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        if not str(line.get_label()).startswith("_") and len(seen):
            end = axes.transAxes.inverted().transform(axes.transData.transform((x[seen[-1]], y[seen[-1]])))
            if 0 <= end[1] <= 1:  # else it leaves the picture
                names.append(line)
                ends.append(end)
    point = figure.dpi / 72 / np.array(axes.get_window_extent().size)  # in axes
    height = size * 1.3 * point[1]  # of a line of words
    heights = _apart([end[1] for end in ends], height)
    moved = any(abs(y - end[1]) > height / 4 for y, end in zip(heights, ends, strict=True))
    for line, end, y in zip(names, ends, heights, strict=True):
        lead = {"arrowstyle": "-", "color": line.get_color(), "lw": 0.6, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 0}
        axes.annotate(
            str(line.get_label()),
            xy=(end[0] + 2 * point[0], end[1]),
            xytext=(end[0] + (14 if moved else 6) * point[0], y),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=line.get_color(),
            fontsize=size,
            va="center",
            annotation_clip=False,
            arrowprops=lead if moved else None,
        )


def _apart(places: list[float], height: float) -> list[float]:
    """Places at least ``height`` apart, in the same order, moved as little as their crowd allows, between 0 and 1 if
    there is room."""
    order = np.argsort(places, kind="stable")
    groups: list[list[float]] = []  # middle and number of those that touch
    for place in np.asarray(places)[order]:
        groups.append([float(place), 1])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < height * (groups[-1][1] + groups[-2][1]) / 2:
            (b, m), (a, n) = groups.pop(), groups.pop()
            groups.append([(a * n + b * m) / (n + m), n + m])
    spread = [middle + height * (k - (count - 1) / 2) for middle, count in groups for k in range(int(count))]
    top, bottom = 1.0, 0.0
    for k in reversed(range(len(spread))):
        spread[k] = min(spread[k], top)
        top = spread[k] - height
    for k in range(len(spread)):
        spread[k] = max(spread[k], bottom)
        bottom = spread[k] + height
    result = np.empty(len(places))
    result[order] = spread
    return result.tolist()
