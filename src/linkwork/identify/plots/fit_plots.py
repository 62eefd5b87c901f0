"""Plots of fits with matplotlib, drawn without a display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...drawing import styled, write_figure
from ...errors import LinkworkError, UnknownNameError
from ...formulations import layouts
from ...quoting import in_plot
from .curves import Curve, FrictionCurve, curves_of, friction_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..fit import Fit, Values

PANELS = 3  # panels of the same kind in a row
NAMES = 24  # approximate number of parameters in a panel
HEIGHT, LINE = 2.4, 0.17  # height of a panel and of a parameter in inches

Row = tuple[float, int, list[Callable[["Axes"], None]]]  # height, width of a panel in sixths, panels


def plot(fit: Fit, what: Sequence[str], path: str | Path | None) -> Figure:
    kinds = {"torques": _torques, "parameters": _parameters, "friction": _friction}
    for kind in what:
        if kind not in kinds:
            raise UnknownNameError("plot", kind, kinds, where="plot")
    with styled():
        from matplotlib.figure import Figure

        rows = [row for kind in what for row in kinds[kind](fit)]
        if not rows:
            raise LinkworkError("there is nothing to draw", where="plot", got=", ".join(what) or "nothing")
        heights = [height for height, *_ in rows]
        figure = Figure(figsize=(12, sum(heights) + 0.5))
        grid = figure.add_gridspec(len(rows), 6, height_ratios=heights)
        for k, (_, wide, panels) in enumerate(rows):
            for j, panel in enumerate(panels):
                panel(figure.add_subplot(grid[k, wide * j : wide * (j + 1)]))
        figure.suptitle(f"{in_plot(fit.robot.name)}, fitted by {fit.method}")
        if path is not None:
            write_figure(figure, Path(path))
    return figure


# -- rows of panels ----------------------------------------------------------------------------------------------------


def _torques(fit: Fit) -> list[Row]:
    rows: list[Row] = []
    units = layouts(fit.robot.model)["tau"].units
    for number, log in enumerate(fit.logs if fit.errors else (), 1):
        data = curves_of(fit, log)
        for k, name in enumerate(fit.forces):
            where = f"{in_plot(name)}, recording {number}" if len(fit.logs) > 1 else in_plot(name)
            label = f"{where} [{units[k]}]"
            rest = f"residual [{units[k]}]: {100 * data.errors[k]:.3g} %"
            panels = [partial(_draw_forces, data.curves[k], label), partial(_draw_residual, data.curves[k], rest)]
            rows.append((HEIGHT, 3, panels))
    return rows


def _parameters(fit: Fit) -> list[Row]:
    panels = min(PANELS, -(-len(fit.base) // NAMES))
    parts = [part.tolist() for part in np.array_split(np.arange(len(fit.base)), panels)]
    height = 1.2 + LINE * len(parts[0])
    return [(height, 2, [partial(_draw_values, fit.base, part) for part in parts])]


def _friction(fit: Fit) -> list[Row]:
    curves = friction_curves(fit, [curves_of(fit, log) for log in fit.logs if fit.errors])
    panels = [partial(_draw_friction, curve) for curve in curves]
    return [(HEIGHT, 2, panels[k : k + PANELS]) for k in range(0, len(panels), PANELS)]


# -- panels ------------------------------------------------------------------------------------------------------------


def _draw_forces(curve: Curve, label: str, axes: Axes) -> None:
    axes.plot(curve.t, curve.measured, color="C0", linewidth=1.2, label="measured")
    axes.plot(curve.t, curve.predicted, color="C1", linewidth=1.2, label="predicted")
    axes.set_ylabel(label)
    axes.set_xlabel("t [s]")
    axes.legend(ncols=2, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)


def _draw_residual(curve: Curve, label: str, axes: Axes) -> None:
    axes.plot(curve.t, curve.residual, color="C3", linewidth=0.9)
    axes.set_ylabel(label)
    axes.set_xlabel("t [s]")


def _draw_values(values: Values, places: list[int], axes: Axes) -> None:
    """Draw parameters, each relative to its largest number."""
    x, two, before = values.values[places], 2 * values.deviations[places], values.prior[places]
    scale = np.maximum(np.abs(x) + two, np.abs(before))
    scale = np.where(scale > 0, scale, 1.0)
    at = np.arange(len(places))
    axes.barh(at, x / scale, color="C0", alpha=0.5, height=0.55, label="value")
    axes.errorbar(
        x / scale, at, xerr=two / scale, fmt="none", ecolor="0.15", elinewidth=1, capsize=2, label="±2 deviations"
    )
    axes.plot(before / scale, at, "|", color="C1", markersize=8, markeredgewidth=2, label="before")
    axes.set_yticks(at, [in_plot(values.names[k]) for k in places], fontsize=8)
    axes.set_xlim(-1.05, 1.05)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.set_xticks([0])
    axes.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, handlelength=1, columnspacing=1)


def _draw_friction(curve: FrictionCurve, axes: Axes) -> None:
    axes.axvspan(-curve.fastest, curve.fastest, color="0.95", zorder=0)
    axes.plot(curve.v, curve.before, color="C2", linestyle=":", label="before")
    axes.plot(curve.v, curve.force, color="C1", label="found")
    axes.plot(curve.seen_v, curve.seen, "o", color="C0", markersize=3, label="data")
    axes.set_title(in_plot(curve.name))
    axes.set_xlabel("velocity; shaded: of the data")
    axes.set_ylabel("friction")
    axes.legend(loc="lower right")
