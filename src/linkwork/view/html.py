"""HTML of the page: torque bars, tables and notices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..quoting import in_html

RIGHT = "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"
TEXT = "font-size:12px;padding:0 12px 6px"
EDGE = "overflow-wrap:anywhere;border-left:3px solid #edae49;margin:0 0 6px 9px"
INK, GOOD, OVER = "#5c6770", "#00798c", "#d1495b"
PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}


def quantity(value: float, unit: str, scale: float, digits: int = 3) -> str:
    """Format a value with as many digits as ``scale`` needs and an SI prefix: "-4.57 N m", "0.31 kN"."""
    if not math.isfinite(value):
        return f"not finite [{unit}]"
    size = math.floor(math.log10(scale)) if scale > 0 else 0
    power = 0 if -2 < size < 4 else 3 * (size // 3)
    if power not in PREFIXES:
        return f"{value:.{digits - 1}e} {unit}"
    places = max(0, digits - 1 - size + power) if scale > 0 else 0
    rounded = round(value / 10.0**power, places) + 0.0  # not -0.00
    return f"{rounded:.{places}f} {PREFIXES[power]}{unit}"


def bars(
    values: Mapping[str, float], units: Sequence[str], limits: Sequence[float], scales: Mapping[str, float]
) -> str:
    """Draw a bar for each value, from the middle to either side, red beyond its limit.

    ``scales`` has the value of each unit that fills half the width; where it is zero, all values are shown as zero.
    """
    rows = []
    for (name, value), unit, limit in zip(values.items(), units, limits, strict=True):
        scale = scales[unit]
        value_shown = value if scale > 0 or not math.isfinite(value) else 0.0
        share = 50 * min(abs(value_shown) / scale, 1.0) if scale > 0 and math.isfinite(value_shown) else 0.0
        left = 50 - share if value < 0 else 50
        color = OVER if abs(value) > limit else GOOD
        quoted = in_html(name)
        rows.append(
            f'<div style="display:flex;align-items:center;gap:6px;height:17px" data-torque="{quoted}">'
            f'<span style="width:36%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap" title="{quoted}">'
            f"{quoted}</span>"
            '<span style="flex:1;position:relative;height:9px;background:#8884;border-radius:2px">'
            f'<span style="position:absolute;height:9px;left:{left:.2f}%;width:{share:.2f}%;background:{color}"></span>'
            '<span style="position:absolute;left:50%;width:1px;height:9px;background:#888"></span></span>'
            f'<span style="width:30%;{RIGHT}">{quantity(value_shown, unit, scale)}</span>'
            "</div>"
        )
    return f'<div style="{TEXT}">{"".join(rows)}</div>'


def table(rows: Mapping[str, str]) -> str:
    """Draw a table of names and values."""
    cells = "".join(
        '<div style="display:flex;justify-content:space-between;gap:8px">'
        f'<span style="color:{INK};flex-shrink:0">{in_html(name)}</span>'
        f'<span style="text-align:right;font-variant-numeric:tabular-nums">{in_html(value)}</span></div>'
        for name, value in rows.items()
    )
    return f'<div style="{TEXT}">{cells}</div>'


def notice(text: str, details: Sequence[str] = ()) -> str:
    """Draw a sentence for the reader, with details folded below it."""
    if not text:
        return ""
    line = in_html(text)
    if details:
        items = "".join(f'<div style="padding:3px 0">{in_html(each)}</div>' for each in details)
        line = f'<details><summary style="cursor:pointer">{line}</summary>{items}</details>'
    return f'<div role="status" style="{TEXT};{EDGE};color:{INK}">{line}</div>'
