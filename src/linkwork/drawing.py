"""One style for all pictures: a matplotlib style sheet, and labels at the ends of lines."""

from __future__ import annotations

import io
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .errors import LinkworkError, import_optional
from .files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["STYLE", "name_lines", "styled"]

STYLE = "linkwork.drawing"  # drawing.mplstyle, as matplotlib.style finds it


def __dir__() -> list[str]:
    return __all__


def styled() -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws in linkwork's style, whatever the user's settings are.

    Returns:
        A context manager.

    Raises:
        UnsupportedError: matplotlib is not installed.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> with linkwork.drawing.styled():
        ...     figure, axes = plt.subplots()
    """
    import_optional("matplotlib.figure", "plot", "drawing")
    return import_optional("matplotlib.style", "plot", "drawing").context(["default", STYLE])


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure to a file, in the format of its suffix."""
    known = figure.canvas.get_supported_filetypes()
    if path.suffix[1:] not in known:
        got, expected = path.suffix or "no suffix", ", ".join(f".{name}" for name in sorted(known))
        raise LinkworkError("the suffix is no format of figures", where=str(path), got=got, expected=expected)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:])
    write_bytes(path, picture.getvalue())


def name_lines(axes: Axes, size: float = 9.0) -> None:
    """Write the label of each line next to its last point, in its colour, moved up or down so that none overlap.

    Args:
        axes: The axes with the lines; their limits must be final.
        size: Font size in points.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> figure, axes = plt.subplots()
        >>> lines = axes.plot([0, 1], [0, 1], label="q1")
        >>> linkwork.drawing.name_lines(axes)
        >>> axes.texts[0].get_text()
        'q1'
    """
    figure = axes.figure.canvas.figure
    figure.draw_without_rendering()  # computes limits and sizes
    names, ends = [], []
    for line in axes.get_lines():
        x, y = np.broadcast_arrays(*map(np.asarray, line.get_data()))
        finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        if not str(line.get_label()).startswith("_") and len(finite):
            last = finite[-1]
            end = axes.transAxes.inverted().transform(axes.transData.transform((x[last], y[last])))
            if 0 <= end[1] <= 1:  # otherwise it is outside the picture
                names.append(line)
                ends.append(end)
    point = figure.dpi / 72 / np.array(axes.get_window_extent().size)  # size of a point, in axes coordinates
    height = size * 1.3 * point[1]  # of a line of text
    heights = _spread([end[1] for end in ends], height)
    shifted = any(abs(y - end[1]) > height / 4 for y, end in zip(heights, ends, strict=True))
    for line, end, y in zip(names, ends, heights, strict=True):
        lead = {"arrowstyle": "-", "color": line.get_color(), "lw": 0.6, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 0}
        axes.annotate(
            str(line.get_label()),
            xy=(end[0] + 2 * point[0], end[1]),
            xytext=(end[0] + (14 if shifted else 6) * point[0], y),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=line.get_color(),
            fontsize=size,
            va="center",
            annotation_clip=False,
            arrowprops=lead if shifted else None,
        )


def _spread(places: list[float], height: float) -> list[float]:
    """Return places at least ``height`` apart, in the same order, moved little, between 0 and 1 if they fit."""
    order = np.argsort(places, kind="stable")
    groups: list[list[float]] = []  # middle and number of those that touch
    for place in np.asarray(places)[order]:
        groups.append([float(place), 1])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < height * (groups[-1][1] + groups[-2][1]) / 2:
            (b, m), (a, n) = groups.pop(), groups.pop()
            groups.append([(a * n + b * m) / (n + m), n + m])
    heights = [middle + height * (k - (count - 1) / 2) for middle, count in groups for k in range(int(count))]
    top, bottom = 1.0, 0.0
    for k in reversed(range(len(heights))):
        heights[k] = min(heights[k], top)
        top = heights[k] - height
    for k in range(len(heights)):
        heights[k] = max(heights[k], bottom)
        bottom = heights[k] + height
    result = np.empty(len(places))
    result[order] = heights
    return result.tolist()
