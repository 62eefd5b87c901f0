"""Small drawings as inline SVG: bars with error bars for table rows, and maps of matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..quoting import Safe, in_html

HALF, BAR = 50, 12  # half the width of a bar, and its height
CELL, LABEL = 10, 62  # size of a cell of a map, and width of its labels
LEVELS = (0.2, 0.4, 0.6, 0.8, 0.95)  # absolute values at which the colour of a cell becomes darker


def deviation_bar(value: float, deviation: float, before: float | None = None) -> Safe:
    """Return a bar from zero in the middle to a value, with an error bar of two deviations to each side and a mark at
    the value before; each bar has its own scale."""
    reach = max(abs(value) + 2 * deviation, abs(before or 0.0))
    if not (0 < reach < np.inf):
        return Safe("")

    def at(x: float) -> float:
        return HALF + (HALF - 2) * x / reach

    low, high, middle = at(value - 2 * deviation), at(value + 2 * deviation), BAR / 2
    left, right = sorted((float(HALF), at(value)))
    parts = [
        f'<line class="axis" x1="{HALF}" x2="{HALF}" y1="0" y2="{BAR}"/>',
        f'<rect class="value" x="{left:.1f}" y="3" width="{right - left:.1f}" height="{BAR - 6}"/>',
    ]
    if before is not None:
        parts.append(f'<line class="before" x1="{at(before):.1f}" x2="{at(before):.1f}" y1="0" y2="{BAR}"/>')
    if deviation > 0:
        ends = "".join(f"M{x:.1f} 3.5v{BAR - 7}" for x in (low, high))
        parts.append(f'<path class="deviation" d="M{low:.1f} {middle:g}H{high:.1f}{ends}"/>')
    return Safe(
        f'<svg class="spread" viewBox="0 0 {2 * HALF} {BAR}" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def share_bar(share: float) -> Safe:
    """Return a bar for a fraction from 0 to 1."""
    return Safe(f'<span class="bar"><span style="width:{100 * min(max(share, 0.0), 1.0):.0f}%"></span></span>')


def triangle_map(title: str, names: Sequence[str], matrix: np.ndarray) -> Safe:
    """Return a map of the entries, between -1 and 1, below the diagonal of a symmetric matrix: blue if positive, orange
    if negative, darker with their size. The names of rows and columns are at the diagonal."""
    sizes = np.digitize(np.abs(matrix), LEVELS)
    size = CELL * len(names)
    parts = [f'<path class="grid" d="M0 0L{size} {size}H0Z"/>']
    for level in range(1, len(LEVELS) + 1):
        for kind, sign in (("positive", 1), ("negative", -1)):
            rows, columns = np.nonzero(np.tril((sizes == level) & (np.sign(matrix) == sign), -1))
            cells = "".join(
                f"M{CELL * j} {CELL * i}h{CELL}v{CELL}h-{CELL}z" for i, j in zip(rows, columns, strict=True)
            )
            if cells:
                parts.append(f'<path class="{kind}" fill-opacity="{level / len(LEVELS):g}" d="{cells}"/>')
    parts += [
        f'<text x="{CELL * i + CELL + 2}" y="{CELL * i + CELL - 2}">{in_html(name)}</text>'
        for i, name in enumerate(names)
    ]
    width = size + LABEL
    wide = f"{1.15 * width:.0f}px"
    return Safe(
        f'<figure class="scroll" tabindex="0"><svg class="map" viewBox="0 0 {width} {size + 2}" role="img"'
        f' aria-label="{in_html(title)}" style="width:{wide};min-width:min(34rem, {wide})">{"".join(parts)}'
        "</svg></figure>\n"
    )
