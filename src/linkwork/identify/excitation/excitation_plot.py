"""Pictures of exciting motions: a row for each joint, its position, velocity and force between their limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...quoting import in_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .excitation import Excitation, Margin

SHOWN = {"position": "q", "velocity": "v", "torque": "tau"}
HEIGHT = 1.15  # inches of a row
MOST = 30  # rows; more joints than these are not drawn
POINTS = 2000  # of a line at most, which is more than a picture shows


def draw(excitation: Excitation) -> Figure:
    from matplotlib.figure import Figure

    names = excitation.names[:MOST]
    figure = Figure(figsize=(11, HEIGHT * len(names) + 1.4))
    panels = figure.subplots(len(names), len(SHOWN), sharex=True, squeeze=False)
    for k, name in enumerate(names):
        for panel, (quantity, array) in zip(panels[k], SHOWN.items(), strict=True):
            margin = excitation.margin(quantity, name)
            if margin is None:
                panel.set_axis_off()
                continue
            _draw(panel, excitation, array, margin)
            if k == 0:
                panel.set_title({"torque": "torque or force"}.get(quantity, quantity), pad=20)
        panels[k][0].text(0, 1.04, in_plot(name), transform=panels[k][0].transAxes, fontsize=9, color="C0", va="bottom")
    for panel in panels[-1]:
        panel.set_xlabel("t [s]")
    figure.align_ylabels()
    figure.supxlabel("dashed: limits; grey: from rest to the series, and back", fontsize=8)
    best, median = (excitation.random["condition"][key] for key in ("best", "median"))
    compared = f"of {excitation.random['count']} random motions {best:.4g} at best, {median:.4g} the median"
    figure.suptitle(f"{in_plot(excitation.robot.name)}: condition number {excitation.condition:.4g}; {compared}")
    return figure


def _draw(panel: Axes, excitation: Excitation, array: str, margin: Margin) -> None:
    trajectory, motion = excitation.trajectory, excitation.motion
    entries = trajectory.entries[array]
    every = max(1, -(-len(trajectory.t) // POINTS))
    t = trajectory.t[::every]
    if margin.name in entries:
        values = np.asarray(trajectory[array])[::every, entries.index(margin.name)]
    else:  # velocities of a motor that is not independent
        values = motion(t).v[:, excitation.joints.index(margin.name)]
    for start in (0.0, motion.duration - motion.ramp):
        panel.axvspan(start, start + motion.ramp, color="0.95", linewidth=0)
    panel.plot(t, values, color="C0", linewidth=1.3)
    bounds = [bound for bound in (margin.lower, margin.upper) if math.isfinite(bound)]
    for bound in bounds:
        panel.axhline(bound, color="C1", linewidth=0.9, linestyle=(0, (4, 2)))
    ends = [*bounds, float(values.min()), float(values.max())]
    pad = 0.08 * ((max(ends) - min(ends)) or 1.0)
    panel.set_ylim(min(ends) - pad, max(ends) + pad)
    panel.set_ylabel(margin.unit, fontsize=8)
    panel.tick_params(labelsize=8)
    panel.locator_params(axis="y", nbins=4)
