"""Torque bars and figures as HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

RIGHT = "text-align:right;font-variant-numeric:tabular-nums"
INK, GOOD, OVER = "#5c6770", "#00798c", "#d1495b"


def bars(
    values: Mapping[str, float], units: Sequence[str], limits: Sequence[float], scales: Mapping[str, float]
) -> str:
    """A bar for each value, from the middle to either side; its unit's scale fills a half. Red beyond its limit."""
    rows = []
    for (name, value), unit, limit in zip(values.items(), units, limits, strict=True):
        scale = scales[unit]
        digits = max(0, 2 - math.floor(math.log10(scale))) if scale > 0 else 0  # three of the largest
        value = 0.0 if abs(value) < 0.5 * 10**-digits else value  # not -0.00
        share = min(abs(value) / scale, 1.0) * 50 if scale > 0 else 0.0
        left = 50 - share if value < 0 else 50
        color = OVER if abs(value) > limit else GOOD
        rows.append(
            f'<div style="display:flex;align-items:center;gap:6px;height:17px" data-torque="{escape(name)}">'
            f'<span style="width:38%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap" title="{escape(name)}">'
            f"{escape(name)}</span>"
            '<span style="flex:1;position:relative;height:9px;background:#8884;border-radius:2px">'
            f'<span style="position:absolute;height:9px;left:{left:.2f}%;width:{share:.2f}%;background:{color}"></span>'
            '<span style="position:absolute;left:50%;width:1px;height:9px;background:#888"></span></span>'
            f'<span style="width:26%;{RIGHT};white-space:nowrap">{value:.{digits}f} {unit}</span>'
            "</div>"
        )
    return f'<div style="font-size:12px;padding:0 12px 6px">{"".join(rows)}</div>'


def table(rows: Mapping[str, str]) -> str:
    """Names and values."""
    cells = "".join(
        f'<div style="display:flex;justify-content:space-between"><span style="color:{INK}">{escape(name)}</span>'
        f'<span style="{RIGHT}">{escape(value)}</span></div>'
        for name, value in rows.items()
    )
    return f'<div style="font-size:12px;padding:0 12px 6px">{cells}</div>'


def notice(text: str) -> str:
    return (
        f'<div role="status" style="font-size:12px;color:{OVER};padding:0 12px 6px">{escape(text)}</div>'
        if text
        else ""
    )
