"""Line charts as inline SVG, coloured by the style of the page, for light and dark screens and for paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..quoting import Safe, in_html

WIDTH, HEIGHT = 360, 210
LEFT, RIGHT, TOP, BOTTOM = 50, 8, 24, 34
BAND = 7  # style of a wide pale curve, under the others
DOTS = 8  # style of points that no line joins
SPANS = 160  # a curve with more points is drawn by the least and greatest of each span, so that no peak is lost


@dataclass(frozen=True)
class Series:
    """A curve: its label, its values, and the number of its style; style 0, for totals, is drawn on top."""

    label: str
    values: np.ndarray
    style: int


def chart(
    title: str,
    t: np.ndarray,
    series: Sequence[Series],
    unit: str,
    axis: str = "time (s)",
    shaded: tuple[float, float] | None = None,
) -> Safe:
    """Return a chart of curves over time, or over another ``axis``.

    Values that are not finite leave gaps. ``shaded``: an interval of the axis that is marked.
    """
    finite = [each.values[np.isfinite(each.values)] for each in series]
    low, high = _range(np.concatenate(finite))
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    start, end = float(t[0]), float(t[-1])

    def across(value: float) -> float:
        return LEFT + (value - start) / (end - start or 1.0) * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{in_html(title)}: {in_html(unit)}">']
    parts.append(f'<text class="title" x="{LEFT}" y="13">{in_html(title)}</text>')
    if shaded is not None:
        left, right = (min(max(across(x), LEFT), WIDTH - RIGHT) for x in shaded)
        height = HEIGHT - TOP - BOTTOM
        parts.append(f'<rect class="shaded" x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{height}"/>')
    for value in ticks:
        y = up(value)
        kind = "zero" if value == 0 else "axis"
        parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{_text(value)}</text>')
    for value in _ticks(start, end):
        if not start - 1e-6 * (end - start) <= value <= end + 1e-6 * (end - start):
            continue
        parts.append(
            f'<text x="{across(value):.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{_text(value)}</text>'
        )
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{in_html(axis)}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="13" text-anchor="end">{in_html(unit)}</text>')
    for each in sorted(series, key=lambda s: (s.style == 0) - (s.style == BAND)):
        path, pen, joined = [], "M", each.style != DOTS
        for k in _visible(each.values):
            if math.isfinite(each.values[k]):
                path.append(f"{pen}{across(float(t[k])):.1f} {up(float(each.values[k])):.1f}{'' if joined else 'h0'}")
                pen = "L" if joined else "M"
            else:
                pen = "M"
        parts.append(f'<path class="curve s{each.style}" d="{"".join(path)}"/>')
    return Safe("<figure>" + "".join(parts) + "</svg></figure>\n")


def legend(series: Sequence[Series]) -> Safe:
    """Return the legend of a row of charts."""
    entries = "".join(
        f'<li><svg viewBox="0 0 32 10" aria-hidden="true"><line class="s{each.style}" x1="1" x2="31" y1="5" y2="5"'
        f' stroke-width="2"/></svg>{in_html(each.label)}</li>'
        for each in series
    )
    return Safe(f'<ul class="legend">{entries}</ul>\n')


def _visible(values: np.ndarray) -> list[int]:
    """Return the indices to draw: in each of many spans the least, the greatest, and one that leaves a gap."""
    if len(values) <= 2 * SPANS:
        return list(range(len(values)))
    edges = np.linspace(0, len(values), SPANS + 1).round().astype(int).tolist()
    indices = {0, len(values) - 1}
    for first, last in pairwise(edges):
        finite = np.isfinite(values[first:last])
        part = np.where(finite, values[first:last], np.nan)
        if finite.any():
            indices |= {first + int(np.nanargmin(part)), first + int(np.nanargmax(part))}
        if not finite.all():
            indices.add(first + int(np.argmin(finite)))
    return sorted(indices)


def _range(values: np.ndarray) -> tuple[float, float]:
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if high - low > 1e-9 * max(abs(low), abs(high)):
        return low, high
    middle = low if math.isfinite(low) else 0.0
    spread = abs(middle) or 1.0
    return middle - spread, middle + spread


def _ticks(low: float, high: float) -> list[float]:
    """Return about four round numbers from one end to the other."""
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-6), math.ceil(high / step - 1e-6)
    return [step * k + 0.0 for k in range(first, last + 1)]


def _text(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
