"""A Trajectory in a notebook: a table of facts, and small plots of its positions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...quoting import Safe, in_html
from ...table import Column, Table, notebook

if TYPE_CHECKING:
    from .trajectory import Trajectory

POINTS, LINES = 80, 8  # points of a plot, and largest number of plots
SMALL = 2**22  # largest number of entries that are read to check for drift; larger arrays may be on disk
DRIFTS = {
    "energy": "energy drift [J]",
    "loop_residual": "loop residual",
    "loop_rates": "slipping",
    "quaternion": "quaternion drift",
    "momentum_change": "momentum change",
}
WIDTH, HEIGHT = 160, 18
NOISE = 1e-12  # rad or m: less is rounding


def to_html(trajectory: Trajectory) -> str:
    """Return the HTML of a trajectory."""
    t = trajectory.arrays["t"]
    span = f"{len(t)} times, {t[0]:g} to {t[-1]:g} s" if len(t) else "no times"
    samples = " x ".join(map(str, trajectory.batch)) if trajectory.batch else "one motion"
    rows = {"method": f"{trajectory.method}, dt {trajectory.dt:g} s", "times": span, "samples": samples}
    rows["arrays"] = ", ".join(f"{name} {tuple(x.shape)}" for name, x in trajectory.arrays.items())
    if sum(math.prod(x.shape) for x in trajectory.arrays.values()) <= SMALL:
        with np.errstate(all="ignore"):  # of motions that diverged
            rows |= {DRIFTS[name]: f"{value:.3g}" for name, value in trajectory.drift.items()}
    facts = [*rows.items(), *(("note", note) for note in trajectory.notes), *_positions(trajectory)]
    title = Safe(f"<b>Trajectory of {in_html(trajectory.robot)}</b>")
    return notebook(Table(title, [Column("", align="left")] * 2, facts))


def _positions(trajectory: Trajectory) -> list[tuple[str, Safe]]:
    """A small plot of each of the first positions, of the first sample."""
    names = trajectory.entries.get("q", ())[:LINES]
    if not (names and len(trajectory.arrays["t"]) and trajectory.n_samples):
        return []
    step = -(-len(trajectory.arrays["t"]) // POINTS)
    first = (0,) * len(trajectory.batch)
    q = np.asarray(trajectory.arrays["q"][(*first, slice(None, None, step))], float)
    units = trajectory.units.get("q", ("",) * len(names))
    return [(f"q {name}", _line(q[:, k], unit)) for k, (name, unit) in enumerate(zip(names, units, strict=False))]


def _line(values: np.ndarray, unit: str) -> Safe:
    """An inline SVG plot, and the range of values."""
    finite = np.isfinite(values)
    if not finite.any():
        return Safe("not finite")
    values = np.where(np.abs(values) < NOISE, 0.0, values)
    low, high = float(values[finite].min()), float(values[finite].max())
    x = np.linspace(0, WIDTH, len(values))[finite]
    y = HEIGHT - 1 - (HEIGHT - 2) * (values[finite] - low) / ((high - low) or 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return Safe(
        f'<svg width="{WIDTH}" height="{HEIGHT}" style="vertical-align:middle"><polyline points="{points}" fill="none" '
        f'stroke="#00798c" stroke-width="1.5"/></svg> {low:.3g} ... {high:.3g} {in_html(unit)}'
    )
