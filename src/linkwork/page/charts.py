"""Line charts as inline SVG, coloured by the page's style, so that they follow light, dark and paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .document import Safe, html

WIDTH, HEIGHT = 360, 210
LEFT, RIGHT, TOP, BOTTOM = 50, 8, 24, 34
BAND = 7  # style of a wide pale curve, under the others
POINTS = 160  # of a curve: more than the eye needs


@dataclass(frozen=True)
class Series:
    """A curve: its label, its values, and which of the page's styles it has: 0 for totals, on top of the others."""

    label: str
    values: np.ndarray
    style: int


def chart(title: str, t: np.ndarray, series: Sequence[Series], unit: str) -> Safe:
    """Curves over time; values that are not finite leave gaps."""
    finite = [each.values[np.isfinite(each.values)] for each in series]
    low, high = _range(np.concatenate(finite))
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    start, end = float(t[0]), float(t[-1])

    def across(value: float) -> float:
        return LEFT + (value - start) / (end - start or 1.0) * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html(title)}: {html(unit)}">']
    parts.append(f'<text class="title" x="{LEFT}" y="13">{html(title)}</text>')
    for value in ticks:
        y = up(value)
        kind = "zero" if value == 0 else "axis"
        parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{_text(value)}</text>')
    for value in _ticks(start, end):
        parts.append(
            f'<text x="{across(value):.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{_text(value)}</text>'
        )
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">time (s)</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="13" text-anchor="end">{html(unit)}</text>')
    chosen = np.unique(np.linspace(0, len(t) - 1, POINTS).round().astype(int))
    for each in sorted(series, key=lambda s: (s.style == 0) - (s.style == BAND)):
        path, pen = [], "M"
        for k in chosen:
            if math.isfinite(each.values[k]):
                path.append(f"{pen}{across(float(t[k])):.1f} {up(float(each.values[k])):.1f}")
                pen = "L"
            else:
                pen = "M"
        drawn = "".join(path)
        parts.append(f'<path class="curve s{each.style}" d="{drawn}"/>')
    return Safe("<figure>" + "".join(parts) + "</svg></figure>\n")


def legend(series: Sequence[Series]) -> Safe:
    """What the curves of a row of charts are."""
    entries = "".join(
        f'<li><svg viewBox="0 0 32 10" aria-hidden="true"><line class="s{each.style}" x1="1" x2="31" y1="5" y2="5"'
        f' stroke-width="2"/></svg>{html(each.label)}</li>'
        for each in series
    )
    return Safe(f'<ul class="legend">{entries}</ul>\n')


def _range(values: np.ndarray) -> tuple[float, float]:
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if high - low > 1e-9 * max(abs(low), abs(high)):
        return low, high
    middle = low if math.isfinite(low) else 0.0
    spread = abs(middle) or 1.0
    return middle - spread, middle + spread


def _ticks(low: float, high: float) -> list[float]:
    """About four round numbers that reach from one end to the other."""
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-6), math.ceil(high / step - 1e-6)
    return [step * k + 0.0 for k in range(first, last + 1)]


def _text(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
